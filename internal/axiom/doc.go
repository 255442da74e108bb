// Package axiom decides which accesses of a litmus test race, by the axioms of the PTX
// memory consistency model (ISA chapter 8), taken literally and extended by the
// asynchronous proxy. It is the reference for package order, shares no code with it, and
// imports nothing of this module: order follows one run with vector clocks, this package
// enumerates executions without clocks.
//
// A Program has a few threads in given places, each a straight line of operations, some
// guarded by the result of an earlier read. A candidate execution is a choice of the
// guards that hold (control.go), of the source of each read, of an order for each two
// morally strong fence.sc (enumerate.go), and of coherence where moral strength requires
// it and causality leaves it open. The candidates that satisfy the axioms (axioms.go) are
// the program's executions. Two accesses race if in one execution they conflict, are not
// morally strong, and are not in causality order (ISA 8.7.1).
//
// A thread before a barrier or a wait that never completes stops there for good; all
// earlier operations count. So a race after a wait requires that the wait can complete. A
// barrier.arrive also waits, for the lanes of its own warp (ISA 9.7.13.1), although that
// orders nothing.
//
// An execution is sequential if some interleaving produces it. A machine that is
// sequentially consistent within a schedule cannot show the others, so the comparison
// distinguishes the two.
//
// # Axioms for what chapter 8 leaves open
//
//  1. An operation's accesses follow its issue, and all that precedes that in base
//     causality order; they are not in its thread's program order (8.9.1.1).
//  2. Its completion orders only its own accesses before the events after the
//     completion (8.9.1.1: 'not transitively'): no path leads through them.
//     Completion is a group wait by the issuing thread, with .read only of its
//     reads (9.7.9.25.6.2); or a wait that finds the phase of its mbarrier
//     complete and acquires, by itself or with a later acquire fence (8.8).
//     For cp.async that is the mbarrier of a later cp.async.mbarrier.arrive of
//     the thread (9.7.13.15.15).
//  3. Such a wait needs no scope: the prose of the completion mechanism
//     (9.7.9.25.1.2) speaks of all threads that take part.
//  4. A scope left out of an mbarrier operation between CTAs is honoured.
//     (By the letter it is .cta; public pipelines rely on more.)
//  5. Every arrival of a phase synchronizes with every wait that finds the phase
//     complete, if their scopes include each other (9.7.13.15.16), in any order
//     of arrivals.
//  6. Two accesses by different proxies need a proxy fence for their state
//     space on the base causality path between them, in whichever thread
//     (8.6, 9.7.13.4): shared::cluster covers all shared memory of the
//     cluster, shared::cta the fencing thread's CTA's. Completion counts as one
//     for the operation's own accesses (9.7.9.25.2). The one-way forms count
//     as fences of shared::cluster (acquire) and shared::cta (release). They also
//     form a release and an acquire pattern that synchronize only with each
//     other (9.7.13.4): for the shared memory of the releasing
//     CTA, before accesses by the asynchronous proxy. Operations complete before
//     the release are included. (The ISA's loop of clusterlaunchcontrol.try_cancel,
//     9.7.13.17, overwrites what its asynchronous operation wrote.)
//  7. Two accesses by the asynchronous proxy need none in one CTA (8.9.5).
//     Between CTAs they do, unless the earlier is a copy that signals an
//     mbarrier of the later's CTA, or the later a copy into shared memory of
//     the earlier's CTA that signals one there. (The letter has no such
//     exception; distributed-shared and multicast pipelines are built on it.)
//  8. cp.async is generic. Each element of a bulk reduction is a relaxed
//     read-modify-write at GPU scope in the asynchronous proxy
//     (9.7.9.25.4.2), so reductions among each other are morally strong.
//  9. A fence with .sync_restrict forms patterns like other fences, but only for
//     accesses to shared memory: a release for its own CTA's (shared::cta), an
//     acquire for all of the cluster's (9.7.13.4).
//  10. bar.warp.sync orders its threads' earlier accesses (9.7.13.2). The warp
//     is not a scope.
//  11. A cycle of base causality makes an execution inconsistent. (It follows
//     from the axioms where the cycle goes through reads-from or Fence-SC.)
//  12. Causality order is transitive through an asynchronous write if all three
//     accesses overlap: by coherence, an access after its completion cannot observe
//     an access before it. (By the letter it is not, since a completion orders only
//     its own accesses.) It is not transitive through the operation's read.
//  13. Events after a read that observed a write also follow the strong accesses
//     before that write in its CTA, at the same location and with
//     the same scope. (By the letter they follow only the write, 8.9.5. Coherence
//     orders the others before it, so a reader of the write cannot observe them.)
//  14. A multicast copy has written to a CTA once that CTA's mbarrier completes, and
//     read its source once all do (9.7.9.25.4.1).
//  15. A load through a tensor map that another proxy wrote needs a release and
//     then an acquire of that map on the base causality path (9.7.13.4), whose
//     scopes include each other. Its completion shows that the map is read.
//
// # The comparison
//
// The tests emit each litmus test as PTX, run it on package machine under every
// schedule that sleep sets do not prune as equivalent, and compare the
// pairs that a Tracker reports in any of them with the pairs that race. The tests
// are those printed in the ISA, coherence tests and the classics in every
// place and scope, each barrier and proxy by itself, and random ones, 2,000 by
// default, or the number given by
//
//	go test ./internal/axiom -run TestGenerated -axiom.n 12000 -timeout 1h
//
// A reported race must exist in some execution; a race in a sequential
// execution must be reported, unless another reported race hides it.
// known_test.go holds the smallest test of each kind of past difference,
// and the random tests fail on any. If accesses of different sizes
// race, the axioms do not apply (8.7.2), so those tests are not compared;
// and a lane that read a flag is assumed to have told its warp (by shfl), so
// a fence.sc of another lane counts as a later one. Two further kinds
// remain (TestRacingFlag): a false alarm where a flag that races itself would force
// the order of two fence.sc, over a third thread. They are counted by name.
//
// # What it does not model
//
// wgmma, st.async and red.async, more than one tensor map, vectors,
// ld.global.nc, more than one phase or generation of a barrier, re-initialized
// barriers, accesses of several lanes by one instruction, branches and loops except
// guards, compare-and-swap, mmio, and the start and end of CTAs. Values are
// tracked in the low four bytes of a location. Copies access cells of 16 bytes,
// the granularity of locations.
package axiom
