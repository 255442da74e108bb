package undefined

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Passing reports whether a finding is about a value that a shfl takes from a lane
// that does not take part: no defect where the value reaches nothing.
func Passing(f rules.Finding) bool {
	return f.Kind == "undefined-shuffle" && f.Severity == rules.Warning
}

// ThrownAway drops from a proof run's findings those about values of shfl that reach
// nothing: they are no reason to run other schedules.
func ThrownAway(l *trial.Subject, w *trial.Budget, fs []rules.Finding) []rules.Finding {
	if !slices.ContainsFunc(fs, Passing) {
		return fs
	}
	run := follow(l, w, trial.ProofSchedule)
	if run.why != "" || run.others || slices.ContainsFunc(run.reached, func(to machine.UndefinedReach) bool { return to.From.Kind == machine.UndefinedShuffle }) {
		return fs
	}
	return slices.DeleteFunc(fs, Passing)
}
