package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var tensorAlloc = register(Kind{
	Name:     "tensor-alloc",
	Severity: Error,
	Title:    "columns of tensor memory that are not allocated or freed as they must be",
	Section:  "9.7.18.7.1",
	Text: `Tensor memory is allocated by columns: a power of two from 32 to 512 at a time, no more
than the CTA's last alloc asked for, and none after any thread of the CTA has executed
tcgen05.relinquish_alloc_permit: an alloc of another warp must be ordered before it. What is
allocated is freed before the kernel ends, by tcgen05.dealloc with the address and the number
of columns of the alloc. All tcgen05 instructions of a kernel have the same cta_group, and
with cta_group::2 a warp of each CTA of the pair takes part in each of these.

What is not freed is missing to the next kernel on the multiprocessor, whose alloc then waits
for ever.`,
})

// columnsLeft reports columns that a CTA does not free.
func (j *Judge) columnsLeft(ev *machine.Event) {
	j.note(tensorAlloc, -1, ev.PC, func() Finding {
		s := eventSite("allocates", ev)
		s.Mem, s.Addr, s.Len = ev.Span.Mem, ev.Span.Addr, ev.Span.Len
		return Finding{
			Headline: fmt.Sprintf("CTA %d ends, and %d columns of tensor memory that %s allocated are not freed", ev.CTA, ev.Count, j.at(ev.PC)),
			Sites:    []Site{s},
			Missing:  "no tcgen05.dealloc frees them",
			Fix:      "let one warp execute tcgen05.dealloc with that address and number of columns after the last access to them",
		}
	})
}

// permitRace is the finding for an alloc and a relinquish of one CTA that nothing orders: in
// some schedule the alloc comes too late.
func (j *Judge) permitRace(c *order.Conflict) Finding {
	alloc, up := &c.Prior, &c.Cur
	if writes(alloc) {
		alloc, up = up, alloc
	}
	a, b := j.site(alloc, machine.Span{}), j.site(up, machine.Span{})
	a.Role, b.Role = "allocates", "relinquishes"
	return Finding{
		Headline: fmt.Sprintf("%s allocates columns of tensor memory, and %s relinquishes the permit to allocate, in no order", agent(alloc), agent(up)),
		Sites:    []Site{a, b},
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s: an alloc behind it is illegal, whichever warp executes it", j.instr(alloc), j.instr(up)),
		Fix:      "let the warp that allocates last relinquish the permit, or let a barrier stand between the two",
	}
}
