package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var raceLanes = register(Kind{
	Name:     "race-lanes",
	Severity: Error,
	Order:    Conflict,
	Title:    "lanes of one warp that nothing orders",
	Section:  "8.9.5, 9.7.13.2",
	Text: `Lanes of a warp are threads like any others: since sm_70 they need not run
in step, and the memory model has no scope 'warp' (ISA 8.5). What a lane wrote is
ordered before what its neighbour does by bar.warp.sync, or by a wider barrier,
and by nothing else: shfl, vote, elect, match, redux and a branch that meets
again make lanes wait for each other and order no memory.

The usual shape: thirty-two lanes store, one elected lane arrives at an mbarrier,
sets a flag or issues the bulk store, and nobody synced the warp. The elected
lane releases what it did itself, and nothing that the other thirty-one did.

Converged lanes store in one instruction, which hides it; where the compiler or a
branch splits the warp, nothing does.

Mend it by bar.warp.sync (__syncwarp) with the mask of the lanes that stored,
after their stores and before the elected lane's release.`,
})

func (j *Judge) laneRace(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{Sites: j.pair(c)}
	switch {
	case a.PC == b.PC && a.CTA == b.CTA && a.Warp == b.Warp && a.Op < 0 && b.Op < 0:
		f.Headline = fmt.Sprintf("%s: lanes of warp %d of CTA %d write different values by one instruction", place(c.Span), a.Warp, a.CTA)
		f.Missing = fmt.Sprintf("nothing decides which lane's store by %s stays", j.instr(a))
		f.Fix = "let one lane store, or give each lane its own place"
		return f
	case oneWarpOnly(c):
		f.Headline = fmt.Sprintf("%s: %s %s what another lane of its warp %s, in no order", place(c.Span), agent(b), verb(b), past(a))
		f.Missing = fmt.Sprintf("no bar.warp.sync between %s and %s", j.instr(a), j.instr(b))
		f.Fix = fmt.Sprintf("bar.warp.sync with the mask of all lanes that take part, after %s and before %s", j.instr(a), j.instr(b)) + j.crossing(c, a, b)
	default:
		f.Headline = fmt.Sprintf("%s: %s %s what %s %s; another lane of that warp published it", place(c.Span), agent(b), verb(b), agent(a), past(a))
		f.Missing = fmt.Sprintf("no bar.warp.sync in warp %d of CTA %d between %s and the release by one of its lanes that %s follows", a.Warp, a.CTA, j.instr(a), agent(b))
		f.Fix = fmt.Sprintf("bar.warp.sync with the mask of all lanes that take part, after %s and before the elected lane arrives or releases", j.instr(a)) + j.crossing(c, a, b)
	}
	canonical(&f)
	return f
}

func past(r *order.AccessRef) string {
	switch {
	case r.Access&machine.Update != 0:
		return "updated"
	case writes(r):
		return "wrote"
	}
	return "read"
}
