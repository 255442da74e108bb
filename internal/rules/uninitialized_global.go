package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
)

var uninitializedGlobal = register(Kind{
	Name:     "uninitialized-global",
	Severity: Error,
	Order:    Effect,
	Title:    "a buffer that nobody filled decides something",
	Section:  "5.1.4",
	Text: `A thread, or an asynchronous copy, reads bytes of a buffer that the launch file leaves
uninitialized and that the kernel has not written, and the value matters: it reaches a
branch, an address, an operand of synchronization or an output. Such a buffer holds what
was there before.

Reads whose value does not matter are no findings: tiles at an edge are often loaded
whole. A run that follows the value, bit by bit, tells which they are. A buffer that the
host fills before the launch needs a fill, or data, in the launch file.

Mend it by writing the bytes first, by reading only what was written, or by giving the
buffer its contents.`,
})

// unwrittenGlobal reports an access with which some lanes read unwritten bytes of global
// memory.
func (j *Judge) unwrittenGlobal(ev *machine.Event) {
	if j.watch.ctas == nil {
		j.begin()
	}
	j.note(uninitializedGlobal, -1, ev.PC, func() Finding {
		saw := ev.Mask &^ ev.Init
		s := eventSite("reads", ev)
		s.Lanes, s.Mem, s.Len = saw, ev.Mem, uint64(ev.Size)
		s.Addr = ev.Addr[bits.TrailingZeros32(saw)&31]
		return j.globalFinding(s, "reads")
	})
}

// copiesUnwrittenGlobal reports an asynchronous operation whose source in global memory
// has unwritten bytes.
func (j *Judge) copiesUnwrittenGlobal(ev *machine.Event) {
	if len(ev.Op.Writes) == 0 {
		return
	}
	if j.watch.ctas == nil {
		j.begin()
	}
	j.note(uninitializedGlobal, -1, ev.PC, func() Finding {
		s := eventSite("copies", ev)
		s.Mem, s.Addr, s.Len = ev.Op.Reads[0].Mem, ev.Op.Reads[0].Addr, ev.Op.Reads[0].Len
		s.Op = fmt.Sprintf("operation %d", ev.Op.ID)
		return j.globalFinding(s, "copies")
	})
}

func (j *Judge) globalFinding(s Site, does string) Finding {
	return Finding{
		Severity: Warning, // an error if it matters
		Headline: fmt.Sprintf("%s %s %s of a buffer, some of which nobody has written", j.at(s.PC), does, place(machine.Span{Mem: s.Mem, Addr: s.Addr, Len: s.Len})),
		Sites:    []Site{s},
		Missing:  "the launch file leaves the buffer uninitialized, and nothing has written these bytes before",
		Fix:      "write the bytes first, or fill the buffer in the launch file",
	}
}
