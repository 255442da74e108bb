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

It is a warning where the lanes are in different turns of a loop: some of them alone have
executed an instruction that a guard kept from the others, say, those went round the loop
meanwhile, and met again where both test an mbarrier. By the letter they may then execute the
branch together, with the results of different turns. That is contested: ThunderKittens,
TileLang, Triton and JAX's Mosaic end their waits by .uni behind such instructions, the ISA's
own examples and CUTLASS do without it, and we know of no failure on a card.

Mend it by leaving .uni out, or by a condition that is the same in all lanes.`,
})

// parted reports lanes that a branch with .uni divides.
func (j *Judge) parted(ev *machine.Event) {
	j.note(divergentUni, -1, ev.PC, func() Finding {
		what := "go another way"
		if in := j.Program.Inst(ev.PC); in != nil && in.Effect().Has(ptx.Calls|ptx.Returns) {
			what = "do not"
		}
		f := Finding{
			Headline: fmt.Sprintf("%s: %s of warp %d of CTA %d take it, and %s, which execute it with them, %s", j.at(ev.PC), laneNames(ev.Mask), ev.Warp, ev.CTA, laneNames(ev.Members), what),
			Sites:    []Site{eventSite("executes", ev)},
			Missing:  "by .uni all active lanes that execute the instruction have the same guard and the same target",
			Fix:      "leave .uni out, or branch on what is the same in all lanes of the warp",
		}
		if ev.Chance {
			f.Severity = Warning
			f.Notes = append(f.Notes, "contested: the lanes are in different turns of a loop, since a guard or a branch has parted them before; by the letter they may stand together again, shipped kernels end waits by .uni all the same, and we know of no failure on a card")
		}
		return f
	})
}
