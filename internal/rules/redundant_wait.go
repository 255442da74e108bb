package rules

var redundantWait = register(Kind{
	Name:     "redundant-wait",
	Severity: Note,
	Title:    "a wait for a group of asynchronous operations that nothing relies on",
	Section:  "9.7.9.25.6.2, 9.7.15.7.3",
	Text: `wgmma.wait_group, cp.async.wait_group, cp.async.bulk.wait_group and tcgen05.wait hold
their thread, or warp, until operations that it issued are complete, or have read their
sources. Here nothing relies on that: this launch is proven for all schedules
(docs/schedules.md), and the proof stands, with no race, no register touched too early
and nothing else found, where the machine passes over this wait.

That costs time and breaks nothing. It is said on request (muster check --cost), and of
this launch alone: with another number of turns or another path through the kernel the
wait may be needed.

The usual causes: a wait in a thread that committed no group, as in all threads where one
issues the copies (groups belong to the thread that commits them); a wait left behind
where a stricter one was put before it; wait_group 0 behind the last turn of a loop that
already waited; a wait before a barrier where a later wait covers the same groups before
anything is read.

Mend it by removing it. Where it was left behind by a mend, the mend has moved it. Then
check again: of two waits of which either would do, both are named, and a note on each says
whether the two can go together.`,
})

// RedundantWait is a wait for groups that nothing relies on.
func RedundantWait(r Redundant) Finding {
	f := r.finding(redundantWait, "remove it: without it this launch is proven for all schedules just so")
	f.Headline = "nothing relies on what " + r.line(r.Sites[0].PC) + " waits for"
	return f
}
