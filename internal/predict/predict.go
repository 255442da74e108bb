// Package predict finds the defects that the failing conditions of a proof warn of.
//
// Where one run does not decide for every schedule, the conditions that fail say
// where two steps could come in the other order. That is no defect yet: something
// that the order of control does not contain, for example a flag in memory, may order
// them. So a directed run tries: it repeats the first run up to one of the two,
// holds that one back, and lets everything else go on. If the other step then falls
// into another phase than before, it is a finding, with the directed run as its
// schedule; if it does not, only the reason why there is no proof is reported.
//
// A step is identified by what its lane did before it, so that where the schedule
// decides what a lane does, only like steps are compared.
package predict

import (
	"context"
	"slices"
	"strings"
	"sync"

	"muster/internal/confluence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/trial"
)

// The limits of what prediction may cost. They count steps and instructions, so
// that they are the same everywhere.
const (
	maxLogged   = 1 << 21 // choices of the run that is looked at
	maxWritten  = 1 << 16 // explicit choices of a schedule
	maxAttempts = 64      // directed runs in one check
	maxHolds    = 6       // things held back in turn for one failure
)

// MaxShrinks bounds the runs in which a check shortens a schedule, MaxShrunk their
// steps together.
const (
	MaxShrinks = 100
	MaxShrunk  = 1 << 16
)

// A prediction is a target that a directed run met.
type prediction struct {
	target
	held     rules.Site
	schedule trial.Schedule
}

// A Predictor predicts for one launch, once.
type Predictor struct {
	l *trial.Subject

	mu          sync.Mutex
	done        bool
	predictions []prediction
}

// New returns a predictor.
func New(l *trial.Subject) *Predictor { return &Predictor{l: l} }

// A confirmed holds the predictions that came true under one schedule.
type confirmed struct {
	rest   trial.Result // what else it shows
	found  []rules.Finding
	bars   []machine.BarRef // of found
	folded []string         // keys of the hangs that follow from it
}

// Add adds to all what prediction finds, and returns the schedules with those that
// show it. Only a replay, of one schedule, calls it without search: that schedule is
// watched for the predictions.
func (p *Predictor) Add(w *trial.Budget, asked []trial.Schedule, jobs int, search bool, all *trial.Merged) []trial.Schedule {
	schedules := slices.Clip(asked)
	switch {
	case search:
		list, _ := p.list(w.Context)
		for _, p := range list {
			if trial.Index(schedules, p.schedule) < 0 {
				schedules = append(schedules, p.schedule)
			}
		}
	case len(schedules) != 1:
		return schedules
	}
	shown := make([]confirmed, len(schedules))
	w.Meter.Stage("watching for what was predicted", "schedule", len(schedules))
	parallel.Each(jobs, len(schedules), func(i int) {
		if i >= len(asked) || !search || p.names(w.Context, schedules[i]) {
			shown[i] = p.confirm(w, schedules[i])
		}
		w.Meter.Did(1)
	})
	_, cut := p.list(w.Context)
	if cut != "" {
		all.AddGap(rules.Gap{What: cut, PC: -1})
	}
	for i := range shown {
		t := &shown[i]
		if cut != "" {
			t.rest.Findings = slices.DeleteFunc(t.rest.Findings, rules.MayFollow)
		}
		r := trial.Result{Findings: t.found}
		if schedules[i].Prefix == nil {
			t.folded = nil // a hang that needs no directed run is reported by itself
		}
		if i >= len(asked) {
			r.Findings, r.Gaps = append(r.Findings, slices.DeleteFunc(t.rest.Findings, t.folds)...), t.rest.Gaps
		} else if !search {
			all.Findings = slices.DeleteFunc(all.Findings, t.folds)
			if s := schedules[i]; s.Prefix != nil && w.Over() != "" {
				all.Findings = slices.DeleteFunc(all.Findings, rules.MayFollow)
			}
		}
		all.Add(i, &r)
	}
	return schedules
}

// names reports whether a prediction names a schedule.
func (p *Predictor) names(ctx context.Context, s trial.Schedule) bool {
	list, _ := p.list(ctx)
	return slices.ContainsFunc(list, func(p prediction) bool { return p.schedule.String() == s.String() })
}

// list computes the predictions on its first call. If a limit ran out before all were
// found, cut says which, and the next call searches again.
func (p *Predictor) list(ctx context.Context) (list []prediction, cut string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return p.predictions, ""
	}
	w := p.l.Budget(ctx)
	stop, why := w.Stop()
	if stop() {
		return nil, why()
	}
	list = (&searcher{l: p.l, stop: stop, meter: w.Meter}).all()
	if cut = why(); cut == "" {
		p.done, p.predictions = true, list
	}
	return list, cut
}

// Names lists what is predicted: the condition that fails, and the schedule.
func (p *Predictor) Names(ctx context.Context) []string {
	var list []string
	found, _ := p.list(ctx)
	for _, f := range found {
		name := "residency"
		if f.condition != residency {
			name = f.condition.String()
		}
		list = append(list, name+" in "+f.schedule.String())
	}
	return list
}

// confirm runs one schedule, watched by a judge and for everything that was predicted.
func (p *Predictor) confirm(w *trial.Budget, s trial.Schedule) confirmed {
	if list, _ := p.list(w.Context); len(list) == 0 {
		return confirmed{}
	}
	x := p.Witness(w.Context, p.l, "")
	r, _ := p.l.RunPart(w, x.Judge, p.l.Machine(x, nil), s)
	t := x.told()
	t.rest = r
	t.fold()
	return t
}

// A Witness judges a run, and sees which predictions come true in it.
type Witness struct {
	*rules.Judge
	l        *trial.Subject
	monitors []*monitor
}

// Witness returns a Witness for a run of l that is to show a finding, whose name
// begins with its kind; for any finding if the name is empty. l is the predictor's
// launch, perhaps with more attentive judges.
func (p *Predictor) Witness(ctx context.Context, l *trial.Subject, finding string) *Witness {
	x := &Witness{Judge: rules.NewJudge(l.Rules()), l: l}
	if finding != "" && !slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(finding, k) }) {
		return x
	}
	list, _ := p.list(ctx)
	for _, p := range list {
		s := p.monitor()
		s.held = p.held
		x.monitors = append(x.monitors, s)
	}
	return x
}

// Observe makes a Witness a machine.Observer.
func (x *Witness) Observe(m *machine.Machine, ev *machine.Event) {
	x.Judge.Observe(m, ev)
	for _, s := range x.monitors {
		s.Observe(m, ev)
	}
}

// Finish is the judge's Finish, with the predictions that came true.
func (x *Witness) Finish(m *machine.Machine) ([]rules.Finding, []rules.Gap) {
	t := x.told()
	t.rest.Findings, t.rest.Gaps = x.Judge.Finish(m)
	t.fold()
	list := append(t.found, slices.DeleteFunc(t.rest.Findings, t.folds)...)
	rules.Sort(list)
	return list, t.rest.Gaps
}

// told returns what the monitors saw.
func (x *Witness) told() confirmed {
	var t confirmed
	for _, s := range x.monitors {
		if s.hit != nil {
			t.add(x.l, s, x.Judge)
		}
	}
	return t
}

// add makes a finding of what a monitor saw, and keeps it.
func (t *confirmed) add(l *trial.Subject, x *monitor, j *rules.Judge) {
	f := rules.Predicted{Program: l.Program, Bar: x.bar, Phase: x.phase, Came: x.hit.came, Act: x.hit.act, By: x.hit.by, Word: x.hit.word, Open: x.hit.open, Mates: x.mates, Then: x.hit.then}
	var found rules.Finding
	switch x.condition {
	case residency:
		found = rules.NeedsCoresidency(rules.Stuck{Program: l.Program, At: x.hit.stuck, Started: x.hit.started, All: l.Shape.CTAs, Several: len(l.Shape.Grids) > 0})
	case confluence.C1:
		if found = rules.PhaseMixing(f); f.Mates != 0 {
			found = rules.MixedLanes(f)
		}
	case confluence.C2:
		found = rules.ExpectLate(f)
	case confluence.C3Early:
		found = rules.EarlyWait(f)
	case confluence.C3Late:
		if found = rules.LappedWait(f); f.Mates != 0 {
			found = rules.LappedLanes(f)
		}
	case confluence.C4:
		if found = rules.PhaseMixing(f); !x.async {
			found = rules.ExpectLate(f)
		}
	default:
		return // the judge names it
	}
	for i := range t.found {
		if t.found[i].Key() == found.Key() {
			t.found[i].Count++
			return
		}
	}
	found.Ties = j.Ties(&found)
	t.found, t.bars = append(t.found, found), append(t.bars, x.bar)
}

// fold merges into the predicted findings the hangs that follow from them: those at
// their barriers, and others, since threads that went on in the wrong phase hang
// wherever they came to.
func (t *confirmed) fold() {
	for k := range t.rest.Findings {
		f := &t.rest.Findings[k]
		if len(t.found) == 0 || !rules.MayFollow(*f) {
			continue
		}
		elsewhere := true
		for i := range t.found {
			if rules.Hangs(f, t.bars[i]) {
				t.found[i].Hang(f)
				elsewhere = false
			}
		}
		first := max(slices.IndexFunc(t.found, func(f rules.Finding) bool { return f.Severity == rules.Error }), 0)
		if elsewhere && len(t.found[first].Waiting) == 0 {
			t.found[first].Hang(f)
		}
		t.folded = append(t.folded, f.Key())
	}
}

func (t *confirmed) folds(f rules.Finding) bool { return slices.Contains(t.folded, f.Key()) }

// Trial returns a Trial of l for a finding that was predicted; nil for one that a
// judge makes.
func (p *Predictor) Trial(ctx context.Context, l *trial.Subject, f *rules.Finding) explore.Trial {
	if !slices.Contains(kinds, f.Kind) {
		return nil
	}
	key := f.Key()
	return func() (*machine.Machine, explore.Question) {
		x := p.Witness(ctx, l, f.Kind)
		watch := trial.Observers{}
		for _, s := range x.monitors {
			watch = append(watch, s)
		}
		hits := 0
		shown := func() bool {
			n := 0
			for _, s := range x.monitors {
				if s.hit != nil {
					n++
				}
			}
			if n == hits {
				return false
			}
			hits = n
			t := x.told()
			return slices.ContainsFunc(t.found, func(g rules.Finding) bool { return g.Key() == key })
		}
		seen := false
		q := explore.Question{Shown: func() bool { seen = seen || shown(); return seen }}
		q.Bad = func(*machine.Machine) bool { return q.Shown() }
		return l.Part(watch, l.Skips(), 0, 1), q
	}
}
