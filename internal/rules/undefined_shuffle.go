package rules

import (
	"fmt"

	"muster/internal/machine"
)

var undefinedShuffle = register(Kind{
	Name:     "undefined-shuffle",
	Severity: Warning,
	Title:    "a value that shfl.sync takes from a lane that takes no part",
	Section:  "9.7.9.6",
	Text: `Results are undefined if a thread sources a register from an inactive thread or a thread
that is not in the member mask (ISA 9.7.9.6). A lane that has exited, one that is
elsewhere in the program, and one that the launch does not have are inactive. A source
lane beyond the segment is something else: the lane then gets its own value, and the
predicate says so.

Reductions often take such values into lanes whose result nobody reads; that is right,
and nothing is reported. It is an error where the value reaches an output, a branch or
an address: the check runs the schedule once more and follows, bit by bit, what is
defined. It stays a warning where that run cannot be made.

An H200 gives 0 for a lane that has exited or is elsewhere, and the lane's own register
for one that executes the same shfl outside of the mask (internal/rules/testdata/h200).

Mend it by letting all lanes that are read execute the shfl (with a neutral value, where
they have none), by naming them in the mask, or by a condition on the source lane.`,
})

// undefinedSource reports a shfl that gives lanes undefined values. The check traces
// whether they matter.
func (j *Judge) undefinedSource(ev *machine.Event) {
	j.note(undefinedShuffle, -1, ev.PC, func() Finding {
		w := j.warp(ev.CTA, ev.Warp)
		gone := uint32(0)
		for _, e := range w.exits {
			gone |= e.mask
		}
		why := "not all of which take part"
		switch {
		case ev.Sources&^gone == 0:
			why = "which exited before"
		case ev.Sources&ev.Members == 0:
			why = fmt.Sprintf("outside of the member mask %#x", ev.Members)
		case ev.Sources&gone == 0:
			why = "which the launch does not have"
		}
		return Finding{
			Headline: fmt.Sprintf("%s: %s of warp %d of CTA %d take a value from %s, %s", j.at(ev.PC), laneNames(ev.Mask), ev.Warp, ev.CTA, laneNames(ev.Sources), why),
			Sites:    []Site{eventSite("reads", ev)},
			Missing:  "a lane whose register is read must execute the shfl and be in its member mask",
			Fix:      "let the lanes that are read execute the shfl, with a neutral value where they have none, and name them in the mask; or read only from lanes that do",
		}
	})
}
