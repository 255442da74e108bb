package rules

import (
	"fmt"

	"muster/internal/order"
)

var tensorOrder = register(Kind{
	Name:     "tensor-order",
	Severity: Warning,
	Order:    Conflict,
	Title:    "a tcgen05.mma or cp overwrites what an mma before it reads, and only the order of issue is between (contested)",
	Section:  "9.7.18.6.2",
	Text: `A thread issues a tcgen05.mma that reads tensor memory (its A, or scales), and then a
tcgen05.mma or tcgen05.cp that writes there. The two are no pipeline, and nothing shows
that the first is complete.

Who disagrees. By the letter only certain pairs "are guaranteed to execute in the same order
as the instructions that issued them": an mma behind an mma with the same accumulator and
shape, or behind a cp (ISA 9.7.18.6.2). An mma into other columns, or a cp behind an mma, is
none of them, and TIRx's kernels wait for the mma before they copy scales over those that it
reads. But CUTLASS's attention writes the next S over the P that the mma before reads, and so
does FlashAttention's, where a question about it was closed without a change; the block-scaled
GEMMs of CUTLASS and DeepGEMM copy scales over those of the mma before; Triton's documents say
that tcgen05 operations of one thread execute in the order of issue, and its compiler relies on
that. We know of no failure on a card. So it is a warning, and runs keep the order of issue
here. Where the second writes what the first writes, or another thread issues it, it is the
error race-tensor.

To follow the letter, put tcgen05.commit behind the first, and wait for its mbarrier before the
second; or give the two different columns.`,
})

// queueOrder is the finding for operations that only the order of issue puts in order.
func (j *Judge) queueOrder(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s and then %s of the same thread %s, and only the order of issue is between", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("%s and %s are no pipeline, and no commit between them was waited for", j.instr(a), j.instr(b)),
		Fix:      completion(a, j.instr(a), j.instr(b)),
		Notes:    []string{"contested: the letter of the ISA leaves the order of the two open, CUTLASS, FlashAttention and Triton rely on it, and we know of no failure on a card"},
	}
}
