package rules

import (
	"fmt"

	"muster/internal/order"
)

var tensorAddress = register(Kind{
	Name:     "tensor-address",
	Severity: Warning,
	Order:    Conflict,
	Title:    "the address that tcgen05.alloc stored is read behind a tcgen05.commit alone (contested)",
	Section:  "9.7.18.7.1, 9.7.18.12.1, 8.9.1.1",
	Text: `tcgen05.alloc stores the address of its columns to shared memory, and a thread of the
same CTA reads it. All that leads from the one to the other begins with the arrival of a
tcgen05.commit by the thread that allocated.

Who disagrees. "The store operation in tcgen05.alloc is treated as a weak memory operation"
(ISA 9.7.18.7.1), and commit makes an mbarrier track "all the prior asynchronous tcgen05
operations" (9.7.18.12.1), no other accesses of its thread; of other operations that signal an
mbarrier the text says that they do "not transitively establish ordering with respect to prior
instructions from the issuing thread" (8.9.1.1). But the store is complete before the warp
goes on, and the arrival comes later still; CUTLASS's attention frees its columns by an address
that is read so. A change proposed for it says that the barriers between the warps make the
address visible, and mends only the path on which there is none. We know of no failure on a
card where a commit leads there. So it is a warning; with nothing at all between it is the error
race-shared, and so it is for other stores than alloc's.

To follow the letter, put bar.sync, or an mbarrier that the warp arrives at itself, between alloc
and the first read; or free the columns in the warp that allocated them.`,
})

// committedAddress is the finding for an address that only a commit hands on.
func (j *Judge) committedAddress(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s and then %s %s, and only tcgen05.commit leads from one to the other", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("the arrival of a tcgen05.commit does not release %s, and nothing else leads to %s", j.instr(a), j.instr(b)),
		Fix:      fmt.Sprintf("put bar.sync, or an mbarrier that the thread of %s arrives at, between it and %s", j.instr(a), j.instr(b)),
		Notes:    []string{"contested: the letter of the ISA gives a commit no such effect, CUTLASS's attention relies on it, and we know of no failure on a card"},
	}
}
