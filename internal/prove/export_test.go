package prove

import "muster/internal/trial"

// ByLocks is byLocks.
func ByLocks(l *trial.Subject, w *trial.Budget) (Proof, trial.Result, bool) {
	return byLocks(l, w, 1, false, 1<<20)
}
