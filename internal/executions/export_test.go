package executions

import (
	"muster/internal/explore"
	"muster/internal/trial"
)

// Interleavings explores the executions that are interleavings alone.
func Interleavings(w *trial.Budget, l *trial.Subject, o Options) explore.Coverage {
	x := newExplorer(l, o)
	over, _ := w.Stop()
	return interleavings(*x.space(l.Executing(), over), explore.Limits{Schedules: o.Schedules, Steps: o.Steps, Length: maxLength}, over)
}
