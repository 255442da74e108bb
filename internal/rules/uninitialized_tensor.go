package rules

import (
	"fmt"

	"muster/internal/machine"
)

var uninitializedTensor = register(Kind{
	Name:     "uninitialized-tensor",
	Severity: Warning,
	Order:    Effect,
	Title:    "tensor memory read before anyone wrote it",
	Section:  "9.7.18.7.1",
	Text: `A tcgen05.ld, or a tcgen05.mma that adds to D or has A in tensor memory, reads cells that
nothing has written since they were allocated, and the value reaches an output, a branch or
an address: the check runs the schedule once more and follows, bit by bit, what is defined.
What tcgen05.alloc returns holds what the last owner left there. It is a warning where that
run cannot tell.

The first of the multiplications that make up a product has enable-input-d false, so that D
is written and not added to. With M of 64 the accumulator has 16 of each 32 lanes, and what a
disable-output-lane word leaves out is not written either.`,
})

// readsUnwrittenTensor reports an operation of tcgen05 that has read unwritten memory.
func (j *Judge) readsUnwrittenTensor(m *machine.Machine, ev *machine.Event) {
	op := ev.Op
	list := m.Unwritten(op)
	if len(list) == 0 {
		panic("BUG: an unwritten operand without unwritten bytes")
	}
	var shared, tensor bool
	for _, u := range list {
		if u.Mem.Kind() == machine.SharedMemory && !shared {
			shared = true
			j.note(uninitializedShared, -1, ev.PC, func() Finding { return j.multipliesUnwritten(m, ev) })
		}
		if u.Mem.Kind() != machine.TensorMemory || tensor {
			continue
		}
		tensor = true
		j.note(uninitializedTensor, -1, ev.PC, func() Finding {
			s := eventSite("reads", ev)
			s.Mem, s.Addr, s.Len = u.Mem, u.Addr, u.Len
			s.Op = fmt.Sprintf("operation %d", op.ID)
			what := place(u.Span)
			if u.Operand != "" {
				what += ", of " + u.Operand + ","
			}
			return Finding{
				Headline: fmt.Sprintf("%s reads %s that nobody has written", j.at(ev.PC), what),
				Sites:    []Site{s},
				Missing:  "no tcgen05.mma, cp or st has written these cells since tcgen05.alloc",
				Fix:      "write them first: the first tcgen05.mma of a product has a false enable-input-d",
			}
		})
	}
}
