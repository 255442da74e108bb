package rules

import (
	"fmt"

	"muster/internal/order"
)

var tensorWait = register(Kind{
	Name:     "tensor-wait",
	Severity: Warning,
	Order:    Conflict,
	Title:    "tensor memory is overwritten or freed after a load whose registers were used, without tcgen05.wait::ld (contested)",
	Habit:    true,
	Section:  "9.7.18.6.4.5, 9.7.18.8.5",
	Text: `A tcgen05.ld reads tensor memory that is overwritten or freed later. Its registers were
used before, and so its data had come; but no tcgen05.wait::ld stands between.

Who disagrees. By the letter a register dependency makes the registers valid and orders
nothing else (ISA 9.7.18.6.4.5): the load is complete for other operations only behind
tcgen05.wait::ld. But what is in the registers has been read, and CuTe's tutorials free
their columns behind a barrier without such a wait. We know of no failure on a card. That
is why this is a warning, where the same with registers that nothing has used is an error
(race-tensor, tensor-unallocated).

Mend it by tcgen05.wait::ld after the last load, before the barrier that leads to what
overwrites or frees the columns. It waits for nothing that the registers did not wait for.`,
})

// waitlessLoad is the finding for a load that its registers alone show to be complete.
func (j *Judge) waitlessLoad(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s and then %s %s, and only the use of the registers shows that the load has read", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no tcgen05.wait::ld between %s and %s", j.instr(a), j.instr(b)),
		Fix:      fmt.Sprintf("put tcgen05.wait::ld after %s, in the same threads, before what leads to %s", j.instr(a), j.instr(b)),
		Notes:    []string{"contested: the letter of the ISA asks for the wait, CuTe's tutorials leave it out, and we know of no failure on a card"},
	}
}
