package rules

import (
	"fmt"

	"muster/internal/order"
)

var sameValue = register(Kind{
	Name:     "same-value",
	Severity: Note,
	Order:    Conflict,
	Title:    "unordered stores of equal values",
	Section:  "8.7.1",
	Text: `Two plain stores that nothing orders write the same bytes with the same
values. By the letter that is a data race (ISA 8.7.1). In practice whichever comes
last leaves the same bytes behind, and kernels do it on purpose: every thread
writes the one flag, every CTA the one constant.

It is a note, since nothing can come out wrong as long as the values are equal in
every run. In this run they were; nothing proves that they are for other inputs.

To be rid of it, let one thread store.`,
})

func (j *Judge) equalStores(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{
		Headline: fmt.Sprintf("%s: %s and %s write the same value, in no order", place(c.Span), agent(a), agent(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s", j.instr(a), j.instr(b)),
		Fix:      "let one thread store, if the values may ever differ",
	}
	if a.PC == b.PC && a.CTA == b.CTA && a.Warp == b.Warp {
		f.Headline = fmt.Sprintf("%s: lanes of warp %d of CTA %d write the same value by one instruction", place(c.Span), a.Warp, a.CTA)
	}
	canonical(&f)
	return f
}
