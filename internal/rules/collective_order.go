package rules

import (
	"fmt"

	"muster/internal/order"
	"muster/ptx"
)

var collectiveOrder = register(Kind{
	Name:     "collective-order",
	Severity: Warning,
	Order:    Conflict,
	Title:    "accesses that only what warps or lanes execute together puts in order",
	Section:  "9.7.15.4, 9.7.15.5, 9.7.15.7, 9.7.9.6, 9.7.13.9",
	Text: `Warps and lanes wait for each other at instructions that synchronize no memory.

A wgmma is performed by all threads of a warpgroup collectively: mma_async returns once
the fourth warp has issued it, and a wait for it ends after that. So what one warp did
before it issued its part comes before what another warp of the group does after its
own. The ISA's memory consistency model has no such edge: wgmma.mma_async and
wgmma.wait_group synchronize nothing but the accesses of the wgmma itself.

Lanes go on from shfl, vote, match and redux once all members have come. So what one
lane acquired before comes before what the others do after. The ISA gives this edge to
bar.warp.sync alone.

No barrier, mbarrier or fence leads from the one access to the other.

Who disagrees. An H200 holds the four warps together at each mma_async and each
wait_group: in 50,000 runs each nothing stale was read, with a warp held back and
without. Cooperative groups (reduce of several warps) and others tell a warp by shfl
what one of its lanes acquired. Nothing promises that for the next card, nor that a
compiler leaves a load behind the shfl.

The usual shapes:
  - one warp waits for a stage's barrier, and the others multiply without waiting;
  - each warp writes its part of an operand, with its proxy fence, and no barrier
    stands before the wgmma, whose parts read what other warps wrote;
  - the warps read something else of a stage (scales beside a tile) by ordinary
    loads, and one thread gives the stage back after its own wgmma.wait_group. That
    wait covers what the wgmma read in all four warps, and not their loads;
  - one lane counts by an atomic or waits for a flag, tells the others by shfl, and
    they read what other warps wrote.

Mend it: let every warp wait for the stage's barrier; put a barrier of the 128
threads (bar.sync with a number of its own) between the writes and the wgmma, or
between the loads and the release; or let each warp arrive at the stage's barrier.
After a shfl, bar.warp.sync.`,
})

func (j *Judge) collective(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	by, note := "the wgmma that their warpgroup issues together", "an H200 orders the two, since the four warps begin and end a wgmma together; the ISA's memory model has no such edge"
	fix := fmt.Sprintf("%s between %s and %s", syncBetween(c.Apart), j.instr(a), j.instr(b))
	switch wgmma, tells := j.collects(); {
	case wgmma && tells:
		by, note = "what their warpgroup or warp executes together (wgmma, shfl, votes)", "warps begin and end a wgmma together on an H200, and lanes go on together from a shfl; the ISA's memory model has no such edge"
	case tells:
		by, note = "a shfl or a vote of lanes, one of which has synchronized", "the lanes go on from it together, so that no card is known to part the two; the ISA's memory model has no such edge"
		fix = fmt.Sprintf("bar.warp.sync after the shfl or the vote, and before %s", j.instr(b))
	}
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s what %s %s, ordered only by %s", place(c.Span), agent(b), verb(b), agent(a), past(a), by),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no barrier, mbarrier or fence leads from %s to %s", j.instr(a), j.instr(b)),
		Fix:      fix,
		Notes:    []string{note},
	}
}

// collects reports whether the program has wgmma, and what tells lanes each other's values.
func (j *Judge) collects() (wgmma, tells bool) {
	for pc := range int32(j.Program.Len()) {
		if in := j.Program.Inst(pc); in != nil {
			wgmma = wgmma || in.Effect().Has(ptx.Warpgroup)
			tells = tells || in.Effect().Has(ptx.Exchanges)
		}
	}
	return wgmma, tells
}
