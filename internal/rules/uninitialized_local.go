package rules

import (
	"fmt"

	"muster/internal/diag"
	"muster/internal/machine"
)

var uninitializedLocal = register(Kind{
	Name:     "uninitialized-local",
	Severity: Error,
	Title:    "local memory that its thread never wrote decides something",
	Section:  "5.1.5",
	Text: `A thread reads bytes of its local memory, or of a function's parameter, that it has
not written in this call of the function, and the value matters: it reaches a branch,
an address, an operand of synchronization or an output. Local memory holds what an
earlier call, or an earlier kernel, left there.

Reads whose value does not matter are no findings: compilers copy the padding of
structures. A run of the same schedule that follows the value, bit by bit, tells which
they are.

Mend it by writing the variable before, on every way to where it is read, or by reading
only what was written.`,
})

func (j *Judge) unsetLocal(ev *machine.Event) Finding {
	s := eventSite("reads", ev)
	s.Mem, s.Addr, s.Len = machine.Local, ev.Gen, uint64(ev.Size)
	what := diag.Bytes(s.Len) + " of local memory"
	if v, at := j.Program.LocalAt(ev.PC, ev.Gen-uint64(ev.Count)); v != nil {
		what = fmt.Sprintf("%s at %s+%d, declared at %s,", diag.Bytes(s.Len), v.Name, at, j.Program.LineAt(ev.PC, v.Pos))
	}
	return Finding{
		Severity: Warning, // an error if it matters
		Headline: fmt.Sprintf("%s reads %s that its thread has not written", j.at(ev.PC), what),
		Sites:    []Site{s},
		Missing:  "no store of this thread has written these bytes before the read",
		Fix:      "write the variable before, on every way to where it is read",
	}
}
