package rules

import (
	"fmt"
	"strings"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

var raceTensor = register(Kind{
	Name:     "race-tensor",
	Severity: Error,
	Order:    Conflict,
	Title:    "two accesses to tensor memory that nothing orders",
	Section:  "9.7.18.6",
	Text: `Two tcgen05 operations touch the same cells of tensor memory, at least one of them
writes, and nothing puts them in order. All of tcgen05.mma, cp, ld and st are
asynchronous: in one thread, too, the later may run before the earlier, or beside it.

Only these follow each other without more: an mma that adds to the accumulator of the
mma before it, in the same shape and kind; and an mma that follows a cp (ISA
9.7.18.6.2). That a thread's mma or cp overwrites what its mma before reads is contested
(tensor-order). Everything else needs the completion of the earlier operation first:

  mma, cp   tcgen05.commit by the thread that issued them, and a wait for its mbarrier
  ld        tcgen05.wait::ld in the same threads
  st        tcgen05.wait::st in the same threads

Within one mma nothing is ordered either: its A may not lie in columns of its D.

Between threads tcgen05.fence::before_thread_sync, an arrival, a wait and
tcgen05.fence::after_thread_sync follow (commit implies the first). What synchronizes the
threads may then be relaxed; without the two fences a relaxed one orders nothing.`,
})

// tensorRace is the finding for tcgen05 operations that nothing orders.
func (j *Judge) tensorRace(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s and %s %s, in no order", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
	}
	switch {
	case c.Why&order.IfNotRelaxed != 0:
		f.Missing = fmt.Sprintf("relaxed operations alone lead from %s to %s, and no tcgen05.fence::before_thread_sync and after_thread_sync around them", j.instr(a), j.instr(b))
		f.Fix = fmt.Sprintf("put tcgen05.fence::before_thread_sync between %s and the arrival, and tcgen05.fence::after_thread_sync between the wait and %s", j.instr(a), j.instr(b))
	case c.Why&order.IfScopeWider != 0:
		f.Missing = fmt.Sprintf("the scopes of what leads from %s to %s are too narrow", j.instr(a), j.instr(b))
		f.Fix = "name .cluster between CTAs of a pair"
	case c.Why&order.IssueKnown != 0:
		f.Missing = fmt.Sprintf("%s comes after the issue of %s, and not after its completion", j.instr(b), j.instr(a))
		f.Fix = completion(a, j.instr(a), j.instr(b))
	default:
		f.Missing = fmt.Sprintf("no synchronization leads from %s to %s, or back", j.instr(a), j.instr(b))
		f.Fix = j.tensorFix(c)
	}
	return f
}

// flows returns two accesses that nothing orders, that which comes first as control flows
// before the other; where it does not tell, as they came in this schedule.
func (j *Judge) flows(a, b *order.AccessRef) (first, then *order.AccessRef) {
	if !j.Program.Reach(a.PC + 1)[b.PC] && j.Program.Reach(b.PC + 1)[a.PC] {
		return b, a
	}
	return a, b
}

// tensorFix says how to order two operations that nothing orders. Those of two warps need a
// synchronization besides the completion of the first, which may be waited for already.
func (j *Judge) tensorFix(c *order.Conflict) string {
	a, b := j.flows(&c.Prior, &c.Cur)
	wait := map[machine.Group]string{machine.GroupTensorLoad: "tcgen05.wait::ld, ", machine.GroupTensorStore: "tcgen05.wait::st, "}[a.Group]
	if wait == "" || c.Apart <= order.OneWarp {
		return completion(a, j.instr(a), j.instr(b))
	}
	if j.waits(a) {
		wait = ""
	}
	return fmt.Sprintf("after %s and before %s, put %stcgen05.fence::before_thread_sync, a synchronization (%s) and tcgen05.fence::after_thread_sync",
		j.instr(a), j.instr(b), wait, strings.TrimSuffix(syncBetween(c.Apart), ","))
}

// waits reports whether a wait for the group of a load or a store stands behind it, before any
// barrier.
func (j *Judge) waits(a *order.AccessRef) bool {
	barrier := func(in *ptx.Inst) bool { return in.IsOf(ptx.ClassBarrier) || in.IsOf(ptx.ClassMbarrier) }
	for pc, on := range j.Program.ReachWithout(barrier, a.PC+1) {
		if g, ok := j.Program.WaitsFor(int32(pc)); on && ok && g == a.Group {
			return true
		}
	}
	return false
}

// completion says how a thread learns that a tcgen05 operation is complete.
func completion(r *order.AccessRef, name, next string) string {
	how := "tcgen05.commit by the thread that issues " + name + ", and wait for its mbarrier"
	switch r.Group {
	case machine.GroupTensorLoad:
		how = "tcgen05.wait::ld after " + name
	case machine.GroupTensorStore:
		how = "tcgen05.wait::st after " + name
	}
	return "put " + how + ", before " + next + "; in another thread, with tcgen05.fence::before_thread_sync, a synchronization and tcgen05.fence::after_thread_sync between"
}
