// Package flow computes the outcomes of a small program, by the axioms of the PTX
// memory consistency model (ISA chapter 8) taken literally. It is the reference for
// whole checks: a launch with a bad outcome must not be reported clean.
//
// Package axiom decides which accesses of a litmus test race, over all proxies.
// This package tracks data flow: the value of a read may be stored, added, compared,
// used as an address, decide a branch or end a loop. Its Programs have only the generic
// proxy.
//
// A Program has warps that execute segments of code in some of their lanes,
// between barriers. Each lane is a thread of its own: only collectives
// join lanes (ISA 3.2). PTX emits it as PTX, and Launch describes its launch.
//
// A Test is a litmus test, whose threads stand in any CTA, cluster and GPU, with jumps,
// aliases, the proxies of textures, surfaces and constants, and barriers with a quorum
// (litmus.go, proxy.go, barrier.go). Package litmus reads such tests from files.
//
// # Two semantics
//
// Allowed and Worst enumerate executions (search.go) and keep those that the
// axioms allow (graph.go). Interleave enumerates all interleavings over sequentially
// consistent memory, one lane and one element at a time
// (interleave.go). The axioms must allow every outcome of an interleaving; the tests
// check this, and compare both with the litmus tests printed in the ISA, those of
// Dat3M, and package axiom.
//
// A bad outcome is a data race (8.7.1), a trap, an access out of bounds or
// misaligned, an infinite wait, or a final memory that no interleaving
// produces.
//
// # Choices where the text is open
//
//  1. A vector access is one access per element, unordered (8.2.4), also in
//     program order.
//  2. Code after a branch depends on its condition, and code after an access
//     depends on its address, since it might be out of bounds. So a store may
//     overtake an earlier load (load buffering), but no branch and no address. The
//     ISA lets an implementation reason further (8.10.4), which allows more.
//  3. An atomic operation is one operation, a read and a write (8.2): if it
//     precedes a write in causality order it cannot read from it (8.10.6). Dat3M has
//     two events, and allows that.
//  4. A compare-and-swap that fails is a read (8.4, Table 20: "if they result in a
//     write").
//  5. A poll that ends is represented by its last iteration: reads of earlier ones
//     allow no further outcomes and add no order. A poll that never ends reads
//     the last write of its word: every write eventually becomes visible.
//  6. A poll that traps after a number of iterations is treated as an infinite one:
//     a check assumes, and says, that timeouts do not expire. A trap behind a poll
//     that gives up is that too, where the check says so.
//  7. Decisions 10, 11 and 13 of package axiom: bar.warp.sync orders, base causality
//     is acyclic, and strong accesses before an observed write, in its CTA and with
//     its scope, are ordered with it.
//  8. Two unordered weak stores of the same value are not a bad outcome,
//     though by the letter they race (8.7.1): a check allows them, and says so
//     (schedules.md, C8).
//  9. A proxy fence counts for accesses by its proxy from its own CTA; from one non-generic
//     proxy to another both fences are needed, the earlier's first, and between virtual
//     addresses an alias fence in between (Lustig, Cooksey and Giroux, ISCA 2022; the ISA's
//     8.9.5 names the alias fence alone).
//  10. CTAs that wait for each other run together, as schedules.md assumes.
//
// # What is not modelled
//
// The asynchronous proxy and its operations, mbarriers and cluster barriers, shared
// memory of another CTA, packed types, elements of 1, 2 or 16 bytes, in Programs
// named barriers with counts, shuffles and votes, and execution after a
// trap.
//
// # The campaign
//
//	go test ./internal/axiom/flow -run TestLaunches -axiom.launches 20000
//
// generates programs by number, checks each as a whole launch, and compares. With
// -axiom.show N it shrinks the first N programs with a wrong verdict,
// and prints one of each kind. Counters generates others, for the proofs of package prove.
package flow
