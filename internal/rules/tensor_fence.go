package rules

import (
	"fmt"

	"muster/internal/order"
)

var tensorFence = register(Kind{
	Name:     "tensor-fence",
	Severity: Warning,
	Order:    Conflict,
	Title:    "tcgen05 operations ordered by a synchronization without tcgen05 fences (contested)",
	Habit:    true,
	Section:  "9.7.18.6.3",
	Text: `A tcgen05 operation follows one of another thread, or one that a commit showed to be
complete, by a release and an acquire, and tcgen05.fence::before_thread_sync or
after_thread_sync is missing beside them.

Whether they are needed is contested. For: "An asynchronous tcgen05 operation subsequent to a
tcgen05.fence::after_thread_sync is ordered after all the prior tcgen05 and the execution
ordering operations" (ISA 9.7.18.6.3), and the canonical patterns of 9.7.18.6.4 have both
fences, with relaxed operations of an mbarrier. Against: "The standard memory consistency
model synchronization mechanisms also apply to the tcgen05 family of instructions"
(9.7.18.6.3); CUTLASS's pipelines wait for an mbarrier with .acquire and have no such fence
(an issue asks for them, and has no answer). So it is a warning; behind a relaxed wait it is
the error race-tensor.

Mend it by tcgen05.fence::before_thread_sync before the arrival (tcgen05.commit implies it)
and tcgen05.fence::after_thread_sync after the wait. Neither costs anything on a card.`,
})

// fencelessTensor is the finding for operations that only the generic rules order.
func (j *Judge) fencelessTensor(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s and then %s %s, without tcgen05 fences around what orders them", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no tcgen05.fence::before_thread_sync behind %s, or no tcgen05.fence::after_thread_sync before %s", j.instr(a), j.instr(b)),
		Fix:      fmt.Sprintf("put tcgen05.fence::after_thread_sync after the wait that %s follows, and tcgen05.fence::before_thread_sync before the arrival that follows %s, unless it is tcgen05.commit", j.instr(b), j.instr(a)),
	}
}
