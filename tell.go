package muster

import (
	"context"
	"fmt"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/story"
)

// A Story is a run, told step by step.
type Story = story.Story

// TellOptions say what to tell of a run.
type TellOptions struct {
	// Finding is the ID of what is to be explained; empty to tell the run.
	Finding string
	// All tells every step, up to MostTold of them.
	All bool
	// Until is the step after which to stop and show the state; 0 for the end.
	Until int
	// Print says what of the state is shown besides where every split stands:
	// "barriers", "ops", "memory:NAME[i:j]".
	Print []string
}

// MostTold is how many steps All tells at most.
const MostTold = 1 << 16

// Tell runs the launch under a schedule and tells the run. It runs it twice,
// and fails if the runs differ.
func (l *Launch) Tell(ctx context.Context, s Schedule, o TellOptions) (*Story, error) {
	w := l.watch(ctx)
	whole, f, run, err := l.record(w, s, o.Finding)
	if err != nil {
		return nil, err
	}
	if o.Until < 0 || o.Until > len(run) {
		return nil, fmt.Errorf("--until %d: this run has steps 1 to %d", o.Until, len(run))
	}
	until := o.Until
	if until == 0 {
		until = len(run)
	}
	if o.All && until > MostTold {
		return nil, fmt.Errorf("%d steps are too many to tell all; --until stops at one of the first %d", until, MostTold)
	}
	prints, err := story.ParsePrints(&l.resolver, o.Print)
	if err != nil {
		return nil, err
	}
	scout := story.NewScout(f)
	var observer machine.Observer = scout
	if f != nil {
		seer := newSeer(rules.NewJudge(l.shape), f)
		if seer.sees(f.Kind) {
			observer, scout.Shown = observers{seer, scout}, func() bool { return seer.seen }
		}
	}
	scout.Go(l.part(observer, l.skips(), 0, 1), run, until)
	steps := scout.Told(until)
	if o.All {
		steps = story.All(until)
	}
	teller := story.NewTeller(&l.resolver, steps)
	m := l.part(teller, l.skips(), 0, 1)
	told := teller.Go(m, run, until)
	if !scout.Same(&teller.Print) {
		return nil, fmt.Errorf("BUG: two runs of schedule %s differ", brief(whole.String()))
	}
	told.Schedule, told.Finding = whole.String(), o.Finding
	if f != nil {
		told.Roles(f)
	}
	if o.Until > 0 || len(prints) > 0 {
		told.State = teller.State(m, prints)
	}
	return told, ctx.Err()
}

// skips reports whether matrix arithmetic cannot change the course of a run.
func (l *Launch) skips() bool { return l.config.Program.Reaches(machine.FromMatrices) < 0 }

// record returns every choice of a run, of the schedule that shows the finding
// if one is named.
func (l *Launch) record(w *watch, s Schedule, id string) (Schedule, *rules.Finding, []machine.Choice, error) {
	var f *rules.Finding
	if id != "" {
		var err error
		if s, f, err = l.whole(w, s, id); err != nil {
			return s, nil, nil, err
		}
	}
	m := l.part(nil, l.skips(), 0, 1)
	if err := offered(l.machine(nil, nil), s); err != nil {
		return s, nil, nil, err
	}
	stop, why := w.stop()
	run, ok := explore.Record(m, s, stop)
	if !ok {
		return s, nil, nil, fmt.Errorf("%s before schedule %s was over", why(), brief(s.String()))
	}
	return s, f, run, nil
}
