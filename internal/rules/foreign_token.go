package rules

import (
	"fmt"

	"muster/internal/machine"
)

var foreignTokenKind = register(Kind{
	Name:     "foreign-token",
	Severity: Error,
	Title:    "a wait with a token that an arrival at another mbarrier returned",
	Section:  "9.7.13.15.16",
	Text: `test_wait and try_wait take a token "which was returned by an mbarrier.arrive instruction
on the same mbarrier object during the current or the immediately preceding phase" (ISA
9.7.13.15.16). A token is opaque; nothing says what another barrier makes of it.

On the card a token holds little but the parity and the counts of its phase. A wait with
another barrier's token works by luck as long as the two barriers run in step, and
sleeps, or passes at once, when one of them is a phase ahead
(internal/rules/testdata/h200). A mbarrier that was invalidated and initialized again is
another one.

Usual causes: the token of one slot of a ring used with the next slot's barrier, and two
tokens mixed up.

Mend it by keeping a token beside the barrier that it is of, or by waiting by parity.`,
})

// foreignToken takes a test with another barrier's token.
func (j *Judge) foreignToken(ev *machine.Event) {
	t := ev.Token
	j.note(foreignTokenKind, t.PC, ev.PC, func() Finding {
		arrival := eventSite("arrives", ev)
		arrival.PC, arrival.Mem, arrival.Addr, arrival.Len = t.PC, t.Bar.Mem, t.Bar.Addr, 8
		of := barName(t.Bar)
		if t.Bar.Mem == ev.Mbar.Bar.Mem && t.Bar.Addr == ev.Mbar.Bar.Addr {
			of = "an mbarrier that was at the same place before it was initialized anew"
		}
		return Finding{
			Headline: fmt.Sprintf("%s by %s: a wait at %s uses a token of %s", j.at(ev.PC), wordAgent(ev), barName(ev.Mbar.Bar), of),
			Sites:    []Site{arrival, wordSite("waits", ev)},
			Missing:  "the token must come from an arrival at the mbarrier that is waited for",
			Fix:      "wait with the token that the arrival at this mbarrier returned, or wait by parity",
		}
	})
}
