package rules

import (
	"fmt"

	"muster/internal/order"
)

var commitRelease = register(Kind{
	Name:     "commit-release",
	Severity: Warning,
	Order:    Conflict,
	Title:    "two accesses to shared memory that only the arrival of a tcgen05.commit orders (contested)",
	Section:  "9.7.18.12.1, 8.9.1.1",
	Text: `A thread accesses shared memory and releases; a thread that acquired this issues a
tcgen05.commit; and a third, which waits for the commit's mbarrier, accesses the same bytes.
All are of one CTA, or the commit of a pair's other one.

Who disagrees. Commit makes an mbarrier track "all the prior asynchronous tcgen05 operations"
of its thread (ISA 9.7.18.12.1), and no other accesses; of other operations that signal an
mbarrier the text says that they do "not transitively establish ordering with respect to prior
instructions from the issuing thread" (8.9.1.1). So by the letter nothing leads through it. But
the text names a scope for the arrival, which it would not need if it released nothing; and what
the committing thread had acquired is complete before it issues the commit, whose arrival comes
later still. CUTLASS's latent attention exchanges the maxima and sums of its rows through shared
memory in this way: its warps read the one behind a barrier, and write the other behind the
commit of a product that follows. We know of no failure on a card.

What the committing thread did itself no acquire shows to be complete: that is the error
race-shared, and so is what it had not acquired where it issued the commit.

To follow the letter, put bar.sync, or an mbarrier that the first thread arrives at and the last
one waits for, between the two.`,
})

// relayedRace is the finding for accesses that only a commit of a thread between them orders.
func (j *Judge) relayedRace(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s and then %s %s, and the way between them leads through tcgen05.commit", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("the arrival of a tcgen05.commit does not release %s, which its thread had acquired, and nothing else leads to %s", j.instr(a), j.instr(b)),
		Fix:      fmt.Sprintf("put bar.sync, or an mbarrier that the thread of %s arrives at, between it and %s", j.instr(a), j.instr(b)),
		Notes:    []string{"contested: the letter of the ISA gives a commit no such effect, CUTLASS's latent attention relies on it, and we know of no failure on a card"},
	}
}
