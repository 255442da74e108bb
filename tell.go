package muster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"muster/internal/evidence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/story"
	"muster/internal/trial"
	"muster/report"
)

// A Story is a run, told step by step.
type Story = report.Story

// TellOptions say what to tell of a run.
type TellOptions struct {
	// Finding is the ID of the finding to explain; empty to tell the run.
	Finding string
	// All tells every step, up to MostTold of them.
	All bool
	// Until is the step after which to stop and show the state; 0 for the run's end.
	Until int
	// Print selects state to show in addition to each split's position: "barriers",
	// "ops", "memory:NAME[i:j]".
	Print []string
}

// MostTold bounds the steps that All tells.
const MostTold = 1 << 16

// An Untold is the error of a run that cannot be told step by step: it is too
// long, or a limit ran out before its end.
type Untold struct{ Reason string }

func (e *Untold) Error() string { return "no story: " + e.Reason }

func untold(steps int, why string) error {
	if steps > explore.MostSteps {
		return &Untold{fmt.Sprintf("the run has more than %d steps", explore.MostSteps)}
	}
	return &Untold{why}
}

// Tell runs the launch under a schedule and tells the run step by step. It runs it twice,
// and fails if the runs differ.
func (l *Launch) Tell(ctx context.Context, s Schedule, o TellOptions) (*Story, error) {
	if with, rest, ok := l.chosen([]Schedule{s}); ok {
		l, s = with, rest[0]
	}
	w := l.subject.Budget(ctx)
	w.Meter.Stage("telling the run", "", 0)
	shown, err := l.record(ctx, w, s, o.Finding)
	if err != nil {
		return nil, err
	}
	run := shown.Run
	if o.Until < 0 || o.Until > len(run) {
		return nil, fmt.Errorf("TellOptions.Until %d: this run has steps 1 to %d", o.Until, len(run))
	}
	until := o.Until
	if until == 0 {
		until = len(run)
	}
	if o.All && until > MostTold {
		return nil, fmt.Errorf("%d steps are too many to tell all; TellOptions.Until stops at one of the first %d", until, MostTold)
	}
	prints, err := story.ParsePrints(&l.resolver, o.Print)
	if err != nil {
		return nil, err
	}
	told, teller, m, err := l.story(ctx, w, shown, until, o.All)
	if err != nil {
		return nil, err
	}
	told.Finding = o.Finding
	if o.Until > 0 || len(prints) > 0 {
		told.State = teller.State(m, prints)
	}
	return told, ctx.Err()
}

// story tells a run to a step, all of its steps or those that matter. It also returns what
// told it, and the machine in the state that it was told to.
func (l *Launch) story(ctx context.Context, w *trial.Budget, shown evidence.Shown, until int, every bool) (*Story, *story.Teller, *machine.Machine, error) {
	subject, f, run := shown.Launch, shown.Finding, shown.Run
	scout, observer := newScout(shown)
	stop, why := w.Stop()
	first := subject.Part(observer, subject.Skips(), 0, 1)
	first.StopWhen(stop)
	scout.Go(first, run, until)
	steps := scout.Told(until)
	if every {
		steps = story.All(until)
	}
	teller := story.NewTeller(&l.resolver, steps)
	m := subject.Part(teller, subject.Skips(), 0, 1)
	m.StopWhen(stop)
	told := teller.Go(m, run, until)
	if why() != "" {
		return nil, nil, nil, cmp.Or(ctx.Err(), error(&Untold{why()}))
	}
	if !scout.Same(&teller.Print) {
		return nil, nil, nil, fmt.Errorf("BUG: two runs of schedule %s differ", brief(shown.Schedule.String()))
	}
	told.Schedule = l.written(shown.Schedule).String()
	if f != nil {
		told.Roles(roles(f))
	}
	return told, teller, m, nil
}

// roles are those of a finding's sites.
func roles(f *rules.Finding) []string {
	list := make([]string, len(f.Sites))
	for i := range f.Sites {
		list[i] = f.Sites[i].Role
	}
	return list
}

// record returns a run with every choice; if a finding is named, a run that shows it.
func (l *Launch) record(ctx context.Context, w *trial.Budget, s Schedule, id string) (evidence.Shown, error) {
	var f *rules.Finding
	if id != "" {
		got, err := l.shown(w, s, id)
		if err == nil {
			return got, nil
		}
		var not *NotShown
		if !errors.As(err, &not) {
			return got, err
		}
		if f, err = l.reported(ctx, s, id); err != nil {
			return got, err
		}
	}
	stop, why := w.Stop()
	if err := l.subject.Offers(s.of, stop); err != nil {
		return evidence.Shown{}, err
	}
	run, ok := explore.Record(l.subject.Part(nil, l.subject.Skips(), 0, 1), s.of, stop)
	if !ok {
		return evidence.Shown{}, untold(len(run), why())
	}
	return evidence.Shown{Launch: l.subject, Schedule: s.of, Finding: f, Run: run}, nil
}

// reported returns a finding that a check of this schedule reports but the run alone does
// not show, with the sites that the report gives.
func (l *Launch) reported(ctx context.Context, s Schedule, id string) (*rules.Finding, error) {
	r, err := l.Check(ctx, CheckOptions{Schedules: []Schedule{s}, Jobs: 1, Mode: OnlySchedules})
	if err != nil {
		return nil, err
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !f.Is(id) {
			continue
		}
		out := &rules.Finding{Kind: f.Kind}
		for k := range f.Sites {
			out.Sites = append(out.Sites, l.unresolved(&f.Sites[k]))
		}
		return out, nil
	}
	return nil, &NotShown{s, id}
}

// unresolved converts a report's site back to a site of package rules.
func (l *Launch) unresolved(s *report.Site) rules.Site {
	linear := func(c [3]uint32) int32 {
		g := l.config.Grid
		return int32(c[0] + g[0]*(c[1]+g[1]*c[2]))
	}
	out := rules.Site{Role: s.Role, PC: -1, CTA: -1, Warp: s.Warp, Op: s.Operation}
	if s.CTA != nil {
		out.CTA = linear(*s.CTA)
	}
	prog := l.config.Program
	for pc := range int32(prog.Len()) {
		if p := prog.Pos(pc); s.PTX != nil && int(p.Line) == s.PTX.Line && int(p.Col) == s.PTX.Col && l.resolver.File(pc) == s.PTX.File {
			out.PC = pc
			break
		}
	}
	if m := s.Memory; m != nil {
		out.Mem, out.Len = machine.Global, m.Bytes
		if m.CTA != nil {
			out.Mem = machine.SharedOf(linear(*m.CTA))
		}
		out.Addr, _ = strconv.ParseUint(m.Address, 0, 64)
	}
	return out
}
