package muster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"muster/internal/evidence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/story"
	"muster/internal/timeline"
	"muster/internal/trial"
	"muster/report"
)

// TraceOptions say what a trace shows.
type TraceOptions struct {
	// Finding is the ID of a finding whose places to mark; empty for none.
	Finding string
	// Steps is the most that are traced; 0 for MostTraced.
	Steps int
}

// A Traced says what a trace has.
type Traced struct {
	Schedule string
	Finding  string // whose places are marked
	Steps    int
	// Marked: the finding's places are marked.
	Marked bool
	// Cut says why the trace ends before the run does; empty if it does not.
	Cut string
}

// MostTraced bounds the steps of a trace; a longer run is traced that far.
const MostTraced = explore.MostSteps

// Trace runs the launch under a schedule and shows the run to a tracer: what each warp does
// and waits for, operations in flight, mbarriers with their phases and counts, and arrows
// from what completes a phase to the waits that it wakes. Matrix products are computed only
// where their values may decide something.
func (l *Launch) Trace(ctx context.Context, s Schedule, o TraceOptions, to report.Tracer) (Traced, error) {
	got, _, err := l.follow(ctx, s, o, to, nil)
	return got, err
}

// follow runs the launch under a schedule, and shows the run to a tracer. It tells attach, unless
// nil, the machine before it starts, and returns the launch that ran: one with a size of clusters.
func (l *Launch) follow(ctx context.Context, s Schedule, o TraceOptions, to report.Tracer, attach func(*machine.Machine)) (Traced, *Launch, error) {
	if len(l.findings) > 0 {
		return Traced{}, nil, &Untold{"the launch itself is wrong, so that there is no run"}
	}
	if with, rest, ok := l.chosen([]Schedule{s}); ok {
		l, s = with, rest[0]
	}
	w := l.subject.Budget(ctx)
	shown, cut, err := l.traced(ctx, w, s, o)
	if err != nil {
		return Traced{}, nil, err
	}
	stop, why := w.Stop()
	sites := l.traceSites(shown, stop)
	out := Traced{Schedule: l.written(shown.Schedule).String(), Steps: len(shown.Run), Marked: len(sites) > 0, Cut: cut}
	m, err := l.show(shown, sites, timeline.Run{Kernel: l.Name(), Schedule: out.Schedule, Finding: o.Finding, Cut: cut}, to, attach, stop)
	if err != nil {
		return out, l, err
	}
	if why() != "" {
		return out, l, cmp.Or(ctx.Err(), error(&Untold{why()}))
	}
	out.Cut = cmp.Or(out.Cut, l.cutShort(m))
	return out, l, ctx.Err()
}

// show shows a run to a tracer, and returns the machine at its end.
func (l *Launch) show(shown evidence.Shown, sites []timeline.Site, about timeline.Run, to report.Tracer, attach func(*machine.Machine), stop func() bool) (*machine.Machine, error) {
	r := timeline.New(to, &l.resolver, sites)
	r.Slots(true)
	m := shown.Launch.Part(r, shown.Launch.Skips(), 0, 1)
	m.StopWhen(stop)
	if attach != nil {
		attach(m)
	}
	return m, r.Go(m, shown.Run, about)
}

// traceSites returns the places of the finding that a run shows.
func (l *Launch) traceSites(shown evidence.Shown, stop func() bool) (sites []timeline.Site) {
	f := shown.Finding
	if f == nil {
		return nil
	}
	found := l.resolver.Finding(f)
	for _, at := range l.places(shown, stop) {
		sites = append(sites, timeline.Site{Step: at.Step, Site: at.Site, Kind: f.Kind, Role: f.Sites[at.Site].Role, Headline: found.Headline, Op: f.Sites[at.Site].Op != ""})
	}
	return sites
}

// traced returns a run, or the first steps of one that is too long; cut then says so. If
// a finding is named it is a run that shows it, where there is one.
func (l *Launch) traced(ctx context.Context, w *trial.Budget, s Schedule, o TraceOptions) (shown evidence.Shown, cut string, err error) {
	most := MostTraced
	if o.Steps > 0 {
		most = min(o.Steps, most)
	}
	if o.Finding != "" {
		shown, err = l.record(ctx, w, s, o.Finding)
		var untold *Untold
		var not *NotShown
		if err == nil || ctx.Err() != nil || !errors.As(err, &untold) && !errors.As(err, &not) {
			return limited(shown, most), cutAt(len(shown.Run), most), err
		}
	}
	stop, why := w.Stop()
	if err := l.subject.Offers(s.of, stop); err != nil {
		return shown, "", err
	}
	run, ok := explore.Record(l.subject.Part(nil, l.subject.Skips(), 0, 1), s.of, stop)
	if why() != "" {
		return shown, "", cmp.Or(ctx.Err(), error(&Untold{why()}))
	}
	shown = evidence.Shown{Launch: l.subject, Schedule: s.of, Run: run}
	if !ok {
		most = min(most, len(run)-1)
	}
	return limited(shown, most), cutAt(len(run), most), nil
}

func limited(shown evidence.Shown, most int) evidence.Shown {
	shown.Run = shown.Run[:min(len(shown.Run), most)]
	return shown
}

// cutAt says why a trace of a run of so many steps ends before the run does; empty if it does
// not.
func cutAt(steps, most int) string {
	if steps <= most {
		return ""
	}
	return fmt.Sprintf("it has more than %d steps, which is all that the trace takes", most)
}

// cutShort says what ended a run before its own end, a limit or what is not modelled, once it
// has taken its last step; empty if nothing did.
func (l *Launch) cutShort(m *machine.Machine) string {
	g, ok := l.subject.LimitGap(m.Stopped())
	if !ok {
		return ""
	}
	if where, _ := l.resolver.Where(g.PC); where != "" {
		return fmt.Sprintf("at %s: %s", where, g.What)
	}
	return g.What
}

// places returns the steps of a run that are places of the finding that it shows.
func (l *Launch) places(shown evidence.Shown, stop func() bool) []story.SiteStep {
	scout, observer := newScout(shown)
	m := shown.Launch.Part(observer, shown.Launch.Skips(), 0, 1)
	m.StopWhen(stop)
	scout.Go(m, shown.Run, len(shown.Run))
	return scout.Sites(len(shown.Run))
}

// newScout returns a scout for a run, and what is to observe it.
func newScout(shown evidence.Shown) (*story.Scout, machine.Observer) {
	scout := story.NewScout(shown.Finding)
	if f := shown.Finding; f != nil {
		early := evidence.NewEarlyStop(rules.NewJudge(shown.Launch.Rules()), f)
		if early.Sees(f.Kind) {
			scout.Shown = func() bool { return early.Seen }
			return scout, trial.Observers{early, scout}
		}
	}
	return scout, scout
}
