package rules

import (
	"fmt"

	"muster/internal/machine"
)

var outsideMask = register(Kind{
	Name:     "outside-mask",
	Severity: Error,
	Title:    "a lane that executes a collective whose member mask lacks it",
	Section:  "9.7.9.6, 9.7.13.2, 9.7.13.9, 9.7.13.10, 9.7.13.12, 9.7.13.14",
	Text: `shfl.sync, vote.sync, match.sync, redux.sync, elect.sync and bar.warp.sync take a mask
of the lanes that perform them together. The behaviour is undefined if the executing
thread is not in the mask (ISA 9.7.9.6, 9.7.13.2, 9.7.13.9, 9.7.13.10, 9.7.13.12,
9.7.13.14). Nothing is ordered for such a lane: bar.warp.sync 0xffff by 32 lanes orders
what the lanes 0 to 15 wrote and read, and leaves the others racing.

An H200 mostly ignores the mask where the lanes come together: all 32 lanes take part
in vote, match, redux and shfl, elect.sync 0xffff0000 elects lane 0, and
bar.warp.sync 0xffff makes 32 lanes wait. Lanes that come alone, with a mask that has
none of them, pass at once (internal/rules/testdata/h200). Nothing promises either.

A member that has exited is no mistake: shfl, vote, match and redux wait for the threads
of the mask that have not exited. For bar.warp.sync and elect.sync the text says only
"all threads"; an H200 waits for those that live, and goes on when a member exits.

Usual causes: a mask that is a constant where the branch depends on data, a mask of one
half of the warp in code that both halves run, and a mask from a ballot that was taken
before the lanes parted.

Mend it by naming in the mask the lanes that execute the instruction: -1 before lanes
part, the ballot of the branch's condition inside the branch.`,
})

// outside reports lanes that execute a collective whose mask lacks them.
func (j *Judge) outside(ev *machine.Event) {
	j.note(outsideMask, -1, ev.PC, func() Finding {
		return Finding{
			Headline: fmt.Sprintf("%s: %s of warp %d of CTA %d %s not in the member mask %#x", j.at(ev.PC), laneNames(ev.Mask), ev.Warp, ev.CTA, isOrAre(ev.Mask), ev.Members),
			Sites:    []Site{eventSite("executes", ev)},
			Missing:  "a thread that executes the instruction must be in its member mask; only members are ordered",
			Fix:      "name in the mask all lanes that execute the instruction, or let only the lanes of the mask execute it",
		}
	})
}
