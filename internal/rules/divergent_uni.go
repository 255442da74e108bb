package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/ptx"
)

var divergentUni = register(Kind{
	Name:     "divergent-uni",
	Severity: Error,
	Title:    "a branch that promises by .uni not to part lanes, and parts them",
	Section:  "9.7.12.3, 9.7.12.4, 9.7.12.5, 9.7.12.6",
	Text: `bra.uni, brx.idx.uni, call.uni and ret.uni are guaranteed to be non-divergent: all active
threads of a warp that execute the instruction have the same guard and the same target
(ISA 9.7.12.3 to 9.7.12.6). The compiler may take the guard of any lane for that of all,
so that lanes go where their own guard does not send them.

Lanes that execute it are those that come to it together. Lanes that a branch before has
parted, and of which only one side comes to it, may well go one way: .uni asks nothing of
those that do not execute it.

Mend it by leaving .uni out, or by a condition that is the same in all lanes.`,
})

// parted reports lanes that a branch with .uni divides.
func (j *Judge) parted(ev *machine.Event) {
	j.note(divergentUni, -1, ev.PC, func() Finding {
		what := "go another way"
		if in := j.Program.Inst(ev.PC); in != nil && in.Effect().Has(ptx.Calls|ptx.Returns) {
			what = "do not"
		}
		return Finding{
			Headline: fmt.Sprintf("%s: %s of warp %d of CTA %d take it, and %s, which execute it with them, %s", j.at(ev.PC), laneNames(ev.Mask), ev.Warp, ev.CTA, laneNames(ev.Members), what),
			Sites:    []Site{eventSite("executes", ev)},
			Missing:  "by .uni all active lanes that execute the instruction have the same guard and the same target",
			Fix:      "leave .uni out, or branch on what is the same in all lanes of the warp",
		}
	})
}
