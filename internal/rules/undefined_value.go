package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/ptx"
)

var undefinedValue = register(Kind{
	Name:     "undefined-value",
	Severity: Error,
	Title:    "a value that the ISA leaves undefined decides something",
	Section:  "9.7.1.7",
	Text: `An instruction gives a value that the ISA does not define, and the value matters: it
reaches a branch, an address, an operand of synchronization or an output. Division of
integers by zero, and the remainder, give a value that the machine chooses (ISA 9.7.1.7,
9.7.1.8). What the performance counters %pm0 to %pm7 hold is undefined (ISA 10).

Such values are no findings where they are thrown away. A run that follows them, bit by
bit, tells.

Mend it by testing the divisor before, or by not asking.`,
})

// undefinedResult reports an instruction that gives an undefined value.
func (j *Judge) undefinedResult(ev *machine.Event) {
	j.note(undefinedValue, -1, ev.PC, func() Finding {
		why, fix := "reads a performance counter, whose value is undefined", "do not use what performance counters hold"
		if in := j.Program.Inst(ev.PC); in != nil && in.Effect().Has(ptx.Divides) {
			why, fix = "divides by zero, which gives an unspecified value", "test the divisor before the division, and leave out its result where it is zero"
		}
		return Finding{
			Severity: Warning, // an error if it matters
			Headline: fmt.Sprintf("%s %s", j.at(ev.PC), why),
			Sites:    []Site{eventSite("executes", ev)},
			Missing:  "the ISA does not say what the result is",
			Fix:      fix,
		}
	})
}
