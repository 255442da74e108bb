// Package order decides which accesses of a run are ordered, by the PTX
// memory consistency model (ISA chapter 8) and, where that chapter is silent
// on the asynchronous proxy, by the prose of the instructions.
//
// # What it models
//
// A Tracker observes the events of one run of package machine. It keeps, for
// every agent, what that agent knows, and, for every byte touched, its last
// accesses; an access that conflicts with one that its agent does not know is a
// Conflict. The Tracker executes nothing, knows no PTX text (a PC is an opaque
// number) and assigns no severity: it says which edge is missing, and package
// rules names the defect.
//
// Agents are lanes and asynchronous operations. A lane's knowledge is a vector
// clock over warps, not lanes: component w holding c means 'every access of
// every lane of warp w up to time c'. Warp time advances only at releases and
// warp-wide synchronization. The warp is no scope, so lanes are told apart
// where that matters: a release by some lanes raises components of those lanes
// alone, allotted on demand, and lanes that learn something alone leave their
// group until the warp synchronizes. shfl, vote, elect and convergence order
// nothing. An access of a lane's own is known to it by program order, with no
// component.
//
// An asynchronous operation (cp.async, cp.async.bulk, ...) is an agent of its own.
// Its accesses may happen at any time after its issue, and it starts from what its
// issuer knew. Only an agent that knows its completion knows its accesses (completion
// is not transitive, ISA 8.9.1.1): its clock reached the phase of the operation's
// mbarrier, or knows the issuing lane up to the group wait that covers the operation.
//
// Knowledge is a table of views (view.go). The generic view is base causality. Others
// hold what has also passed a proxy fence, for one memory; a synchronization carries
// all of them. Two views exist for diagnosis only: what would be known if scopes were
// wide enough, and if relaxed operations synchronized. They have a row only while
// they differ from the generic view.
//
// Shadow memory (shadow.go) is byte-exact. A run of consecutive lanes over
// consecutive bytes is one stamp, whichever its width; rows of 128 bytes split
// into segments only where accesses differ, and collapse again.
//
// # Decisions where the ISA is open
//
//   - fence.proxy.async::generic.acquire and .release each join generic into
//     asynchronous knowledge where they stand, for their state space. (The ISA
//     shows the acquire form alone completing an ordinary release.) A release and
//     an acquire form also synchronize with each other, and with nothing else,
//     over relaxed operations too (9.7.13.4): what the releasing lane knows of its
//     own CTA's shared memory, completed copies included, is then known to the
//     asynchronous proxy, and to that proxy alone. The ISA places them so around a
//     relaxed cluster barrier (9.7.13.17).
//   - A fence restricted to shared::cta releases what concerns the shared memory
//     of its own CTA, not what it did to a peer's: 'local shared memory' (9.7.13.4).
//   - The completion of an operation seen by an acquiring wait on its own
//     mbarrier needs no scope: the prose of the completion mechanism has none. What
//     another CTA's tcgen05.commit tracks needs one of both: the text's examples write it.
//   - The issue of a tcgen05 operation of both CTAs of a pair comes before the other's
//     end (9.7.18.5) by whatever leads there, an alloc of the pair included: neither CTA
//     goes on from that before the other came. A dealloc of the pair only may wait so.
//   - The tcgen05.commits of one thread arrive in the order of their issue, at all their
//     targets (9.7.18.6.1): who knows of one knows that those before it have arrived.
//   - An asynchronous write hides the accesses before it that its issuer knew,
//     as an ordinary write does, although by the letter its completion does not
//     order them before the waiter: coherence does.
//   - A non-coherent read (ld.global.nc) of anything written in this launch
//     is a conflict even when ordered. A write ordered after such a read is not.
//   - Observation order (observe.go) orders a write before what follows a read
//     that saw it, at the common bytes; of a thread's strong accesses to a place,
//     at one scope, the last stands for all.
//   - Reads-from is that of the observed run. With Config.MustOnly no
//     knowledge flows over it, and the remaining order holds in every schedule
//     that has the same barrier phases.
//   - Fence-SC order counts where it is forced, by what a read saw
//     (Tracker.scFence) or did not see yet (unseen.go), and not as the run
//     happened to have it. It is total, so whichever of two fence.sc
//     ran first would hide the race of a kernel that fences on both sides and
//     never looks: "value, flag, fence" met by "flag, fence, value".
//   - An order that no read shows applies only to agents that observed the earlier
//     access: the order of fences by what was not seen yet, and observation by a
//     red, whose value no thread receives (unseen.go).
//   - A weak vector access is one location of its whole width; a strong one is
//     an event for each of its elements (ISA 8.2.4).
//   - The fences of the tensor-map proxy need ordinary synchronization between
//     them. By ISA 9.7.13.4 a release and an acquire of that proxy also
//     synchronize, for it alone, where relaxed operations meet between them.
//
// # What it does not model
//
// Virtual aliases (fence.proxy.alias is ignored), textures and surfaces, and
// accumulator registers of wgmma.
package order
