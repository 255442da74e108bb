// Package axiom says which accesses of a litmus test race, by the axioms of
// the PTX memory consistency model (ISA chapter 8) taken at their word and
// extended by the asynchronous proxy. It is the measure for package order,
// shares no code with it, and imports nothing of this module: order follows
// one run with clocks, this package enumerates executions and has none.
//
// A Program has a few threads in given places, each a straight line of
// operations, some guarded by what an earlier read returned. A candidate
// execution is a choice of which guards hold (control.go), of what each read
// returns, of an order of every two morally strong fence.sc (enumerate.go),
// and of coherence where moral strength wants it and causality leaves it open.
// Those that the axioms allow (axioms.go) are the program's executions. A pair
// of accesses races if in one of them the two conflict, are not morally
// strong, and are not in causality order (ISA 8.7.1).
//
// A thread before a barrier or a wait that never completes stops there for
// good; what all did until then counts. So a race after a wait is one only if
// the wait can complete. A barrier.arrive waits too, for the lanes of its own
// warp (ISA 9.7.13.1), though nothing is ordered by that.
//
// An execution is called sequential if some interleaving makes it. A machine
// that is sequentially consistent within a schedule cannot show the others, so
// a comparison tells the two apart.
//
// # Axioms for what chapter 8 leaves open
//
//  1. An operation's accesses follow its issue, and what precedes that in base
//     causality order; they are not in its thread's program order (8.9.1.1).
//  2. Its completion orders its own accesses alone before what follows the
//     completion (8.9.1.1: 'not transitively'): no path leads through them.
//     Completion is a group wait by the issuing thread, with .read of its reads
//     alone (9.7.9.25.6.2); or a wait that finds the phase of its mbarrier
//     complete and acquires, by itself or with a later acquire fence (8.8).
//     For cp.async that is the mbarrier of a later cp.async.mbarrier.arrive of
//     the thread (9.7.13.15.15).
//  3. Such a wait needs no scope: the prose of the completion mechanism
//     (9.7.9.25.1.2) speaks of all threads that take part.
//  4. A scope left out of an mbarrier operation between CTAs is honoured.
//     (By the letter it is .cta; public pipelines rely on more.)
//  5. Every arrival charged to a phase meets every wait that finds the phase
//     complete, if their scopes include each other (9.7.13.15.16), whichever
//     arrived last.
//  6. Two accesses by different proxies need a proxy fence for their state
//     space on the base causality path between them, in whichever thread
//     (8.6, 9.7.13.4): shared::cluster covers all shared memory of the
//     cluster, shared::cta the fencing thread's CTA's. Completion counts as one
//     for the operation's own accesses (9.7.9.25.2). The one-way forms count
//     as fences of shared::cluster (acquire) and shared::cta (release). Besides,
//     they make a release and an acquire pattern that synchronize with each
//     other, and no others (9.7.13.4): for the shared memory of the releasing
//     CTA, before accesses by the asynchronous proxy. What is known complete at
//     the release goes with it. (The ISA's loop of clusterlaunchcontrol.try_cancel,
//     9.7.13.17, writes anew what such an operation wrote.)
//  7. Two accesses by the asynchronous proxy need none in one CTA (8.9.5).
//     Between CTAs they do, unless the earlier is a copy that signals an
//     mbarrier of the later's CTA, or the later a copy into shared memory of
//     the earlier's CTA that signals one there. (The letter has no such
//     exception; distributed-shared and multicast pipelines are built on it.)
//  8. cp.async is generic. Each element of a bulk reduction is a relaxed
//     read-modify-write at GPU scope in the asynchronous proxy
//     (9.7.9.25.4.2), so reductions among each other are morally strong.
//  9. A fence with .sync_restrict makes patterns as others do, for accesses to
//     shared memory alone: the release to that of its own CTA (shared::cta), the
//     acquire to all of the cluster's (9.7.13.4).
//  10. bar.warp.sync orders what its threads did before it (9.7.13.2). The warp
//     is no scope.
//  11. A cycle of base causality makes an execution inconsistent. (It follows
//     from the axioms where the cycle goes through reads-from or Fence-SC.)
//  12. Causality order goes through an asynchronous write where all three
//     accesses overlap: coherence leaves what precedes it and what follows its
//     completion nothing to see of each other. (By the letter it does not, its
//     completion being no more than its own.) Through its read it does not.
//  13. What follows a read that observed a write follows the strong accesses
//     too that came before that write in its CTA, at the same location and of
//     the same scope. (By the letter the write alone, 8.9.5. Coherence has
//     them before it, so who saw the one can see nothing of the others.)
//  14. A multicast copy has written to a CTA when that one's mbarrier says so, and
//     read its source when all do (9.7.9.25.4.1).
//  15. A load through a tensor map that another proxy wrote needs a release and
//     then an acquire of that map on the base causality path (9.7.13.4), whose
//     scopes include each other. Its completion shows that the map is read.
//
// # The comparison
//
// The tests emit each litmus test as PTX, run it on package machine under every
// schedule that sleep sets do not show to be like another, and compare the
// pairs that a Tracker reports in any of them with the pairs that race:
// those printed in the ISA, the tests of coherence and the classics in every
// place and scope, each barrier and proxy by itself, and drawn ones, 2,000 by
// default and as many as
//
//	go test ./internal/axiom -run TestGenerated -axiom.n 12000 -timeout 1h
//
// says. Reported must mean that some execution has the race; that a sequential
// execution has it must mean reported, unless another reported race hides it.
// known_test.go holds the smallest test of each kind of difference that there
// was, and the drawn tests fail on any. But where accesses of different sizes
// race the axioms do not apply (8.7.2), so nothing is held against them there;
// and a lane that looked at a flag is taken to have told its warp (by shfl), so
// a fence.sc of another lane counts as one that comes after. Two further kinds
// stay (TestRacingFlag): a false alarm where a flag that races itself would force
// the order of two fence.sc, over a third thread. They are counted by name.
//
// # What it does not model
//
// wgmma, st.async and red.async, more than one tensor map, vectors,
// ld.global.nc, more than one phase or generation of a barrier, re-initialized
// barriers, accesses of several lanes by one instruction, branches and loops but
// for guards, compare-and-swap, mmio, and the start and end of CTAs. Values are
// followed in the low four bytes of a location. Copies touch cells of 16 bytes,
// the unit in which the locations lie.
package axiom
