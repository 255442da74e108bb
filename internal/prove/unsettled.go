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

// Unsettled tries the proof by the classes of orders in which numbers are drawn, and lists the
// strong loads whose values may depend on the schedule, if that is all that it lacks: what else
// the runs access is in order in all schedules in which these loads give what they gave.
func Unsettled(l *trial.Subject, w *trial.Budget, jobs int, skip bool) (list []int32) {
	p, r, _ := byClasses(l, w, jobs, skip, longOrder)
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
