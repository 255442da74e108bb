package rules

import (
	"fmt"

	"muster/internal/machine"
)

var uninitializedRegister = register(Kind{
	Name:     "uninitialized-register",
	Severity: Error,
	Title:    "a register that nobody wrote decides something",
	Section:  "5.1.1",
	Text: `An instruction reads a register that nothing has written in this call of its
function, and its value matters: it reaches a branch, an address, an operand of
synchronization or an output. A register holds no value before it is written. ptxas
may give it any, and another one at each place where it is read.

Reads whose value does not matter are no findings: compilers make them, of selp whose
other side is taken, of vectors that are filled in part, of accumulators that are not
added to. A run of the same schedule that follows the value, bit by bit, tells which
they are.

The usual causes: a register that one side of a branch writes and both sides use; an
accumulator that is not zeroed before a wgmma with scale-d true; a loop whose first
turn reads what the last one leaves.

Mend it by writing the register before, on every way to where it is read.`,
})

// unset reports a read of an unwritten register. The value is not tracked here.
func (j *Judge) unset(ev *machine.Event) {
	if j.watch.ctas == nil {
		j.begin()
	}
	if ev.Unset == machine.UnsetLocal {
		j.note(uninitializedLocal, -1, ev.PC, func() Finding { return j.unsetLocal(ev) })
		return
	}
	if ev.Unset == machine.UnsetResult {
		j.undefinedResult(ev)
		return
	}
	j.note(uninitializedRegister, ev.Unset, ev.PC, func() Finding {
		r := &j.Program.Unset()[ev.Unset-1]
		return Finding{
			Severity: Warning, // an error if it matters
			Headline: fmt.Sprintf("%s reads %s, declared at %s, which nobody has written", j.at(ev.PC), r.Name, j.Program.LineAt(ev.PC, r.Pos)),
			Sites:    []Site{eventSite("reads", ev)},
			Missing:  fmt.Sprintf("no instruction has written %s on the way to %s", r.Name, j.at(ev.PC)),
			Fix:      fmt.Sprintf("write %s before, on every way to where it is read", r.Name),
			Register: ev.Unset,
		}
	})
}
