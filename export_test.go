package muster

import (
	"context"

	"muster/internal/report"
)

// Attempt is what became of the attempt to prove a launch, also where a report has
// findings to speak of.
func Attempt(l *Launch) *report.Proof {
	p, _ := l.prove(context.Background(), CheckOptions{Jobs: 1}, false)
	return l.proved(p)
}

// ProveAlone attempts a proof as a check does, on one processor.
func ProveAlone(l *Launch) *report.Proof {
	p, _ := l.prove(context.Background(), CheckOptions{Jobs: 1}, l.skips())
	return l.proved(p)
}

// RunAlone is one checked run of the schedule by which proofs are made, on one
// processor.
func RunAlone(l *Launch) error {
	o := CheckOptions{Jobs: 1, Schedules: []Schedule{proofSchedule}}
	_, err := l.all(context.Background(), o, l.skips())
	return err
}

// Foreseen names what prediction makes of a launch, whether or not it is proven:
// the condition that fails, and the schedule.
func Foreseen(l *Launch) []string {
	var list []string
	for _, p := range l.predictions(context.Background()) {
		name := "residency"
		if p.condition != residency {
			name = p.condition.String()
		}
		list = append(list, name+" in "+p.schedule.String())
	}
	return list
}

// Refused reports whether the driver would refuse the launch: it is not run.
func Refused(l *Launch) bool { return len(l.findings) > 0 }
