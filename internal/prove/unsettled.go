package prove

import (
	"muster/internal/trial"
)

// Tickets lists the atomic operations whose results the proofs by drawn numbers follow.
func Tickets(l *trial.Subject) (list []int32) {
	for pc := range drawers(l.Program) {
		list = append(list, pc)
	}
	return list
}

// unsettledIn lists the strong loads whose values may depend on the schedule, if that is all that
// a proof by classes lacks: what else its runs access is in order in all schedules in which these
// loads give what they gave.
func unsettledIn(p *Proof, r *trial.Result) (list []int32) {
	if len(r.Findings) > 0 {
		return nil
	}
	for _, why := range p.Reasons {
		if !why.load {
			return nil
		}
		list = append(list, why.PC)
	}
	return list
}
