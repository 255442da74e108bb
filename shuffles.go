package muster

import (
	"context"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
)

// passing reports whether a finding is about a value that a shfl takes from a lane which
// takes no part: it is none where its value reaches nothing.
func passing(f rules.Finding) bool {
	return f.Kind == "undefined-shuffle" && f.Severity == rules.Warning
}

// thrownAway drops from what a proof's run found the values of shfl that reach nothing:
// they are no reason to run other schedules.
func (l *Launch) thrownAway(ctx context.Context, fs []rules.Finding) []rules.Finding {
	if !slices.ContainsFunc(fs, passing) {
		return fs
	}
	run := l.undefinedIn(l.watch(ctx), proofSchedule)
	if run.why != "" || run.others || slices.ContainsFunc(run.reached, func(to machine.UndefinedReach) bool { return to.From.Kind == machine.UndefinedShuffle }) {
		return fs
	}
	return slices.DeleteFunc(fs, passing)
}
