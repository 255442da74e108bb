package prove

import (
	"muster/internal/order"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Pairs returns which instructions' conflicting accesses are in order in a run under a
// schedule of at most so many warp instructions, by what the run of a proof counts: nothing
// that only this schedule decided, such as which write a strong read saw. For ProofSchedule it
// is the run of a proof. It also returns how many warp instructions its runs took, two where
// something is in no order, and whether they came to their ends.
func Pairs(l *trial.Subject, w *trial.Budget, by trial.Schedule, most int64, skip bool) (p *order.Pairs, took int64, ended bool) {
	p = order.NewPairs()
	took, ended = pairs(l, w, by, most, skip, p)
	if again := p.Again(); again != nil {
		more, _ := pairs(l, w, by, most, skip, again)
		p.Shared(again)
		took += more
	}
	return p, took, ended
}

func pairs(l *trial.Subject, w *trial.Budget, by trial.Schedule, most int64, skip bool, p *order.Pairs) (took int64, ended bool) {
	s := watch(l, nil, func(c *rules.Config) { c.Pairs = p })
	m := l.Part(s.Observers(), skip, 0, 1)
	m.ShowCollectives()
	if by.Policy == trial.ProofSchedule.Policy && by.Prefix == nil {
		m.FailPeeks()
	}
	m.LimitInstrs(min(most, l.Limits.Instrs))
	gap, err := l.Follow(w, m, by)
	took, _ = m.Instrs()
	return took, err == nil && gap == nil && m.Over()
}
