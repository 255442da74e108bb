package muster

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/prove"
	"muster/internal/resolve"
	"muster/internal/timeline"
	"muster/internal/trial"
	"muster/report"
)

// Attempt returns the result of the attempt to prove a launch, also if the report has
// findings.
func Attempt(l *Launch) *report.Proof {
	p, _ := prove.Try(l.subject, l.subject.Budget(context.Background()), 1, false)
	r := l.proved(p)
	if p.Residency { // the reasons, and that it holds given residency alone
		r.All, r.Reasons = false, l.reasons(p)
	}
	return r
}

// ProveAlone attempts a proof as a check does, on one processor.
func ProveAlone(l *Launch) *report.Proof {
	p, _ := prove.Try(l.subject, l.subject.Budget(context.Background()), 1, l.subject.Skips())
	return l.proved(p)
}

// RunAlone is one checked run of the schedule by which proofs are made, on one
// processor.
func RunAlone(l *Launch) error {
	list := []trial.Schedule{trial.ProofSchedule}
	return l.subject.All(l.subject.Budget(context.Background()), list, 1, l.subject.Skips())[0].Err
}

// PredictionNames names what prediction makes of a launch, whether or not it is proven:
// the condition that fails, and the schedule.
func PredictionNames(l *Launch) []string { return l.predictor.Names(context.Background()) }

// Refused reports whether the driver would refuse the launch: it is not run.
func Refused(l *Launch) bool { return len(l.findings) > 0 }

// Tripping returns a context in which the time limit runs out when it is looked at
// for the nth time, and a function that tells how often it has been.
func Tripping(ctx context.Context, n int64) (context.Context, func() int64) {
	var looks atomic.Int64
	return trial.Tripping(ctx, func() bool { return looks.Add(1) >= n }), looks.Load
}

// LimitInstrs is a launch with another limit on instructions.
func LimitInstrs(l *Launch, n int64) *Launch {
	other := *l
	other.limits.Instrs, other.config.MaxInstrs = n, n
	if err := other.makeSubject(); err != nil {
		panic(err)
	}
	return &other
}

// SetPace has the runs of a launch look at their limits every so many instructions.
func SetPace(l *Launch, instrs int64) { l.subject.Start.SetPace(instrs) }

// Extrapolate proves the launch and those with other values of an argument, and holds
// what it says of the given values against runs of theirs.
func Extrapolate(l *Launch, argument int, values ...int64) error {
	f, err := l.family(argument)
	if err != nil {
		return err
	}
	return f.Verify(context.Background(), values...)
}

// Explicit are the explicit choices of a schedule, and how many of them are switches.
func Explicit(s Schedule) (choices, switches int) {
	return len(s.of.Prefix), explore.Switches(s.of.Prefix)
}

// Exactly are schedules as package explore has them.
func Exactly(list ...explore.Schedule) []Schedule {
	var out []Schedule
	for _, s := range list {
		out = append(out, Schedule{s})
	}
	return out
}

// RunWhole runs the launch with all clusters in one run, and returns a hash of global
// memory and how many instructions ran. RunApart does it part by part, jobs at a time,
// and also returns whether that did.
func RunWhole(l *Launch, s Schedule) (hash uint64, instrs int64) {
	m := l.subject.Machine(nil, nil)
	if _, err := l.subject.Follow(l.subject.Budget(context.Background()), m, s.of); err != nil {
		panic(err)
	}
	instrs, _ = m.Instrs()
	return m.GlobalHash(), instrs
}

func RunApart(l *Launch, s Schedule, jobs int) (hash uint64, instrs int64, apart bool) {
	m := l.subject.SideBySide(l.subject.Budget(context.Background()), s.of, jobs)
	if m == nil {
		return 0, 0, false
	}
	instrs, _ = m.Instrs()
	return m.GlobalHash(), instrs, true
}

// A PartOf is what a proof's run of one part of a launch showed.
type PartOf struct {
	Reasons  []report.Reason
	Findings []string // with counts
}

// ProveParts proves each part of a launch by itself, and returns what each showed, with
// the parts that count as alike. Both are nil if the clusters run together.
func ProveParts(l *Launch) (each []PartOf, class []int) {
	w, skip := l.subject.Budget(context.Background()), l.subject.Skips()
	of := l.subject.Clusters(w, 0, skip)
	if of.N == 1 {
		return nil, nil
	}
	for k := range of.N {
		s := prove.Watch(l.subject, nil)
		m := l.subject.Part(s.Observers(), skip, k, of.N)
		m.ShowCollectives()
		m.FailPeeks()
		part, equal := s.Follow(w, m, skip, true)
		var p prove.Proof
		p.Take(l.subject, &part)
		p.Found(l.subject, &part.Result)
		out := PartOf{Reasons: l.proved(p).Reasons}
		for i := range part.Findings {
			f := &part.Findings[i]
			out.Findings = append(out.Findings, fmt.Sprint(f.Key(), f.Severity, f.Count))
		}
		if slices.Sort(out.Findings); len(equal) > 0 {
			out.Findings = append(out.Findings, "values")
		}
		each = append(each, out)
	}
	return each, of.Class
}

// CompareClusters compares the clusters of a launch; if rows is set, runs may stand for
// others. It also returns how many clusters ran.
func CompareClusters(l *Launch, rows bool) (trial.Parts, int) {
	least := math.MaxInt
	if rows {
		least = 2
	}
	return l.subject.Compare(l.subject.Budget(context.Background()), 1, l.subject.Skips(), least)
}

// ExploreAlone explores a launch as a check does that has no proof.
func ExploreAlone(l *Launch, schedules int) *report.Report {
	o := CheckOptions{Schedules: Handful(DefaultRandom), Explore: ExploreOptions{Schedules: schedules}}
	c := &checking{Launch: l, o: o, list: inner(o.Schedules), few: true, explore: o.Explore.options(l), ctx: context.Background(), budget: l.subject.Budget(context.Background())}
	if err := c.explore.Begin(); err != nil {
		panic(err)
	}
	c.proof = &report.Proof{}
	for _, stage := range []func() error{c.runs, c.predicts, c.explores, c.undefined} {
		if err := stage(); err != nil {
			panic(err)
		}
	}
	return l.report(o, c.list, c.merged)
}

// A Viewed is the run that a view shows, for a machine of the test's own.
type Viewed struct {
	Run   []machine.Choice
	Names *resolve.Resolver
	Sites []timeline.Site
	Start func(machine.Observer) *machine.Machine
}

// ViewedRun returns the run that View shows.
func ViewedRun(l *Launch, run ViewRun) (Viewed, error) {
	s := run.Schedule
	if with, rest, ok := l.chosen([]Schedule{s}); ok {
		l, s = with, rest[0]
	}
	w := l.subject.Budget(context.Background())
	shown, _, err := l.traced(context.Background(), w, s, TraceOptions{Finding: run.Finding})
	stop, _ := w.Stop()
	return Viewed{shown.Run, &l.resolver, l.traceSites(shown, stop), func(o machine.Observer) *machine.Machine {
		return shown.Launch.Part(o, false, 0, 1)
	}}, err
}
