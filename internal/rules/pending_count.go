package rules

import (
	"fmt"

	"muster/internal/machine"
)

var pendingCountKind = register(Kind{
	Name:     "pending-count",
	Severity: Error,
	Title:    "the pending count of a state that no .noComplete arrival returned",
	Section:  "9.7.13.15.17",
	Text: `mbarrier.pending_count takes a state that must be the result of a prior
mbarrier.arrive.noComplete or mbarrier.arrive_drop.noComplete; otherwise the behaviour is
undefined (ISA 9.7.13.15.17).

An H200 answers for any token: with the count that was pending before the arrival, as the
token's bits have it (internal/rules/testdata/h200).

Mend it by arriving with .noComplete where the arrival cannot complete the phase, or by
doing without the count: who completes a phase is shown by a wait.`,
})

// pendingCount reports a pending_count of a state that no .noComplete arrival returned.
func (j *Judge) pendingCount(ev *machine.Event) {
	t := ev.Token
	from := int32(-1)
	if t.Known {
		from = t.PC
	}
	j.note(pendingCountKind, from, ev.PC, func() Finding {
		f := Finding{
			Headline: fmt.Sprintf("%s by %s takes the count of a state that no .noComplete arrival returned", j.at(ev.PC), wordAgent(ev)),
			Sites:    []Site{eventSite("asks", ev)},
			Missing:  "the state must be the result of mbarrier.arrive.noComplete or mbarrier.arrive_drop.noComplete",
			Fix:      "use .noComplete at the arrival whose state is asked, if it never completes the phase; or leave the count out",
		}
		if t.Known {
			s := eventSite("arrives", ev)
			s.PC, s.Mem, s.Addr, s.Len = t.PC, t.Bar.Mem, t.Bar.Addr, 8
			f.Sites = []Site{s, f.Sites[0]}
		}
		return f
	})
}
