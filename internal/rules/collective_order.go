package rules

import (
	"fmt"

	"muster/internal/order"
)

var collectiveOrder = register(Kind{
	Name:     "collective-order",
	Severity: Warning,
	Order:    Conflict,
	Title:    "accesses that only the warps of a warpgroup order, by issuing a wgmma together",
	Section:  "9.7.15.4, 9.7.15.5, 9.7.15.7",
	Text: `A wgmma is performed by all threads of a warpgroup collectively: it begins
once the fourth warp has issued it, and a wait for it ends after that. So what one
warp did before it issued its part comes before what another warp of the group does
after its wait. The ISA's memory consistency model has no such edge: wgmma.mma_async
and wgmma.wait_group synchronize nothing but the accesses of the wgmma itself, and no
barrier, mbarrier or fence leads from the one access to the other.

Who disagrees. An H200 holds the four warps together at each mma_async and each
wait_group: in 50,000 runs each nothing stale was read, with a warp held back and
without. Nothing promises that for the next card.

The usual shapes:
  - one warp waits for a stage's barrier, and the others multiply without waiting;
  - each warp writes its part of an operand, with its proxy fence, and no barrier
    stands before the wgmma, whose parts read what other warps wrote;
  - the warps read something else of a stage (scales beside a tile) by ordinary
    loads, and one thread gives the stage back after its own wgmma.wait_group. That
    wait covers what the wgmma read in all four warps, and not their loads.

Mend it: let every warp wait for the stage's barrier; put a barrier of the 128
threads (bar.sync with a number of its own) between the writes and the wgmma, or
between the loads and the release; or let each warp arrive at the stage's barrier.`,
})

func (j *Judge) collective(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s what %s %s, ordered only by the wgmma that their warpgroup issues together", place(c.Span), agent(b), verb(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no barrier, mbarrier or fence leads from %s to %s", j.instr(a), j.instr(b)),
		Fix:      fmt.Sprintf("%s between %s and %s", j.syncBetween(a, b), j.instr(a), j.instr(b)),
		Notes:    []string{"an H200 orders the two, since the four warps begin and end a wgmma together; the ISA's memory model has no such edge"},
	}
}
