package muster

import (
	"context"
	"sync/atomic"

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
	found, _ := l.predictions(context.Background())
	for _, p := range found {
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

// Tripping returns a context in which the time limit runs out when it is looked at
// for the nth time, and a function that tells how often it has been.
func Tripping(ctx context.Context, n int64) (context.Context, func() int64) {
	var looks atomic.Int64
	return context.WithValue(ctx, trip{}, func() bool { return looks.Add(1) >= n }), looks.Load
}

// LimitInstrs is a launch with another limit on instructions.
func LimitInstrs(l *Launch, n int64) *Launch {
	other := *l
	other.limits.Instrs, other.config.MaxInstrs = n, n
	if err := other.probe(); err != nil {
		panic(err)
	}
	return &other
}

// SetPace has the runs of a launch look at their limits every so many instructions.
func SetPace(l *Launch, instrs int64) { l.start.SetPace(instrs) }
