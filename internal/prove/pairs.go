package prove

import (
	"muster/internal/order"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Pairs returns which instructions' conflicting accesses are in order in a run under a
// schedule of at most so many warp instructions, by what the run of a proof counts: nothing
// that only this schedule decided, such as which write a strong read saw. For ProofSchedule it
// is the run of a proof. It also returns how many warp instructions the run took, and whether
// it came to its end.
func Pairs(l *trial.Subject, w *trial.Budget, by trial.Schedule, most int64, skip bool) (p *order.Pairs, took int64, ended bool) {
	p = order.NewPairs()
	s := watch(l, nil, func(c *rules.Config) {
		strong := c.Strong
		c.Pairs, c.Strong = p, func(q order.Pair) {
			p.Leave(q.Prior, q.Cur)
			if strong != nil {
				strong(q)
			}
		}
	})
	m := l.Part(s.Observers(), skip, 0, 1)
	m.ShowCollectives()
	if by.Policy == trial.ProofSchedule.Policy && by.Prefix == nil {
		m.FailPeeks()
	}
	m.LimitInstrs(min(most, l.Limits.Instrs))
	gap, err := l.Follow(w, m, by)
	conflicts := s.judge.Order.Conflicts()
	for i := range conflicts {
		p.Leave(conflicts[i].Prior.PC, conflicts[i].Cur.PC)
	}
	took, _ = m.Instrs()
	return p, took, err == nil && gap == nil && m.Over()
}
