// Package flow says how a small program can end, by the axioms of the PTX memory
// consistency model (ISA chapter 8) taken at their word. It is the measure for
// whole checks: a launch that can end badly must not be called clean.
//
// Package axiom decides which accesses of a litmus test race, over all proxies.
// Here there is the generic proxy alone, but values flow: what a read returns may
// be stored, added, compared, be an address, decide a branch or end a loop.
//
// A Program has warps that go through segments of code for some of their lanes,
// between barriers. Each lane is a thread of its own: nothing but collectives
// joins lanes (ISA 3.2). It is emitted as PTX by PTX, and launched by Launch.
//
// # Two semantics
//
// Allowed and Worst enumerate executions (search.go) and keep those that the
// axioms allow (graph.go). Interleave goes through all interleavings in memory
// that is sequentially consistent, one lane and one element at a time
// (interleave.go). Whatever an interleaving shows, the axioms must allow; the tests
// hold the two to that, to the litmus tests that the ISA prints, to those of
// Dat3M, and to package axiom.
//
// A bad outcome is a data race (8.7.1), a trap, an access out of bounds or
// misaligned, somebody who waits for ever, or a final memory that no interleaving
// leaves.
//
// # What was chosen where the text leaves something open
//
//  1. A vector access is one access for each element, in no order (8.2.4), also of
//     program order.
//  2. What follows a branch depends on what decides it, and what follows an access
//     depends on its address, since it might be out of bounds. So a store may
//     overtake an earlier load (load buffering), but no branch and no address. The
//     ISA lets an implementation reason further (8.10.4) and then allows more.
//  3. An atomic operation is one operation, a read and a write (8.2): where it
//     precedes a write in causality order it cannot read from it (8.10.6). Dat3M has
//     two events, and allows that.
//  4. A compare-and-swap that fails is a read (8.4, Table 20: "if they result in a
//     write").
//  5. A poll that ends is its last turn alone: what earlier turns read allows no
//     more, and orders nothing that the last does not. A poll that never ends reads
//     the last write of its word: a write becomes visible in the end.
//  6. A poll that traps when it has looked often enough is one that looks for ever:
//     a check assumes, and says, that timeouts do not strike.
//  7. Decisions 10, 11 and 13 of package axiom: bar.warp.sync orders, base causality
//     is no cycle, and what precedes an observed write in its CTA, strong and of its
//     scope, counts with it.
//  8. Two weak stores of the same value that nothing orders are no bad outcome,
//     though by the letter they race (8.7.1): a check allows them, and says so
//     (schedules.md, C8).
//  9. CTAs that wait for each other run together, as schedules.md assumes.
//
// # What is not modelled
//
// Other proxies and asynchronous operations, mbarriers and cluster barriers, shared
// memory of another CTA, packed types, elements of 1, 2 or 16 bytes, loops but
// polls, named barriers with counts, shuffles and votes, and what comes after a
// trap.
//
// # The campaign
//
//	go test ./internal/axiom/flow -run TestLaunches -axiom.launches 20000
//
// draws programs by number, checks each as a whole launch, and compares. With
// -axiom.show N it makes the first N programs that the check is wrong about small,
// and prints one of each kind.
package flow
