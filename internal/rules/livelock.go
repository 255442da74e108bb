package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/machine"
)

var livelock = register(Kind{
	Name:     "livelock",
	Severity: Error,
	Order:    Effect,
	Title:    "threads that run on for ever, through the same states",
	Section:  "3.1",
	Text: `Threads run, write memory and change it back, and after some instructions the whole
launch is as it was before: registers, memory, barriers and operations in flight.
From there no schedule leads to its end: every state that can follow has been looked
at, whoever of those that can run goes next, and in none of them has the launch
ended. The ISA schedules threads (ISA 3.1) and promises no more: a kernel that
never ends is not undefined, and of no use. On an H200 it runs until someone kills
it.

The usual causes: two roles that hand a flag to and fro and both wait for a third
value, or for a flag that nobody sets; a retry that undoes what it did and tries the
same again; a loop around a barrier whose condition never changes.

A loop that counts, in a register or in memory, is not found this way, for no state
comes again: a run that such a loop does not let end comes to its limit, and the
verdict is incomplete.

Mend it by the way out: let one of the roles count its turns, or leave when the
other says that it is done.`,
})

// roundAndRound returns the finding livelock.
func (d *stuck) roundAndRound(c *machine.Circle) Finding {
	f := Finding{
		Missing: "none of the states that can follow, whoever goes next, is the end of the launch",
		Fix:     "give the loops a way out: let one of those who run count its turns, or leave when another says that it is done",
	}
	var who []string
	lanes := slices.Clone(c.Lanes)
	slices.SortStableFunc(lanes, func(a, b machine.WaitingSplit) int {
		return cmp.Or(cmp.Compare(a.CTA, b.CTA), cmp.Compare(a.Warp, b.Warp))
	})
	for i := range lanes {
		v := &lanes[i]
		f.Sites = enter(f.Sites, Site{Role: "runs on", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: v.Mask})
		if name := lanesOfWarp(v.Mask, v.Warp, v.CTA); !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	f.Headline = fmt.Sprintf("%s for ever: %d instructions into this schedule the launch goes round among %d states, and no schedule leads out of them",
		runOn(who), c.After, c.States)
	return f
}

func runOn(who []string) string {
	if len(who) == 1 {
		return who[0] + " runs on"
	}
	if n := len(who); n > 4 {
		return fmt.Sprintf("%s and %d more run on", strings.Join(who[:4], ", "), n-4)
	}
	return strings.Join(who[:len(who)-1], ", ") + " and " + who[len(who)-1] + " run on"
}
