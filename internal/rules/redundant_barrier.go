package rules

var redundantBarrier = register(Kind{
	Name:     "redundant-barrier",
	Severity: Note,
	Title:    "a barrier every ordering of which something else already gives",
	Section:  "9.7.13.1, 9.7.13.2",
	Text: `A barrier orders what its participants did before it before what they do after it
(bar, barrier: ISA 9.7.13.1; bar.warp.sync: ISA 9.7.13.2), and all of them wait for
the slowest. Here every such order that matters is there without it: this launch is
proven for all schedules (docs/schedules.md), and the proof stands, with no race and
nothing found, where this barrier is left out of everything that it looks at.
Instructions that meet at one barrier are left out together.

That costs time and breaks nothing. It is said on request (muster check --cost), and
of this launch alone: with another grid, another number of turns or another path
through the kernel the barrier may be needed. A barrier also does what is no order:
it brings lanes together that were apart, and keeps warps near each other, so that
they share what is cached. Barriers at which lanes meet that were apart, and
reductions (bar.red), are not judged.

The usual causes: __syncthreads() after a wait on an mbarrier that every thread does
itself; a second __syncthreads() with nothing shared between the two; __syncwarp()
before a barrier of the whole CTA; one at the end of the last turn of a loop.

Mend it by removing it. Then check again: of two barriers of which either would do,
both are named, and a note on the second says so.`,
})

// RedundantBarrier is a barrier whose orderings other synchronization provides.
func RedundantBarrier(r Redundant) Finding {
	return r.finding(redundantBarrier,
		"remove it, unless it is there to keep warps in step: without it this launch is proven for all schedules just so")
}
