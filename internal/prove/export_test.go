package prove

import "muster/internal/trial"

// ByOne, ByPlaces, ByClasses, ByTickets and ByOrders try one kind of proof each.
func ByOne(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	p, r := one(l, w, 1, false)
	return p, r, p.Decides()
}

func ByPlaces(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	return byPlaces(l, w, 1, false)
}

func ByClasses(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	return byClasses(l, w, 1, false, longOrder)
}

func ByTickets(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	return byTickets(l, w, 1, false, longOrder)
}

func ByOrders(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	return byOrders(l, w, longOrder)
}

// Drawings lists the additions whose results a proof by one run follows.
func Drawings(l *trial.Subject) int { return len(drawings(l.Program)) }

// ByLocks is byLocks.
func ByLocks(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	return byLocks(l, w, 1, false, 1<<20)
}
