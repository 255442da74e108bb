package muster

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
)

// Prediction. Where one run does not decide for every schedule, the conditions
// that fail say where two steps could come the other way round. That is no
// defect yet: something that the order of control does not know of, such as a
// flag in memory, may keep them apart. So a directed run tries: it makes the first
// run again up to one of the two, holds that one back, and lets everything else
// go on. If the other step then comes to another phase than before, it is a
// finding, with the directed run as its schedule; if it does not, nothing is
// said but the reason why there is no proof.
//
// A step is known again by what its lane did before it, so that where the
// schedule decides what a lane does, nothing is compared that is not alike.

// The limits of what prediction may cost. They count steps and instructions, so
// that they are the same everywhere.
const (
	mostLogged   = 1 << 21 // choices of the run that is looked at
	mostWritten  = 1 << 16 // explicit choices of a schedule
	mostAttempts = 64      // directed runs in one check
	mostHolds    = 6       // things held back in turn for one failure
	mostShrinks  = 100     // runs that a schedule is shortened by,
	mostShrunk   = 1 << 16 // and their steps together
)

// A prediction is something that goes another way in a directed run.
type prediction struct {
	aim
	held     rules.Site
	schedule Schedule
}

// A foresight is what prediction makes of a launch, once.
type foresight struct {
	sync.Mutex
	done        bool
	predictions []prediction
}

// A foretold is what one schedule shows of what was predicted.
type foretold struct {
	rest   result // what else it shows
	found  []rules.Finding
	bars   []machine.BarRef // of found
	folded []string         // keys of the hangs that follow from it
}

// predict adds to all what prediction finds, and returns the schedules with those
// that show it. A schedule that was asked for is watched for the same.
func (l *Launch) predict(ctx context.Context, o CheckOptions, all *merged) []Schedule {
	schedules := slices.Clip(o.Schedules)
	switch {
	case o.Prove:
		list, _ := l.predictions(ctx)
		for _, p := range list {
			if index(schedules, p.schedule) < 0 {
				schedules = append(schedules, p.schedule)
			}
		}
	case len(schedules) != 1:
		return schedules // only a replay asks again
	}
	w := l.watch(ctx)
	shown := make([]foretold, len(schedules))
	parallel.Each(o.Jobs, len(schedules), func(i int) {
		if i >= len(o.Schedules) || !o.Prove || l.predicted(ctx, schedules[i]) {
			shown[i] = l.foretell(w, schedules[i])
		}
	})
	_, cut := l.predictions(ctx)
	if cut != "" {
		all.addGap(rules.Gap{What: cut, PC: -1})
	}
	for i := range shown {
		t := &shown[i]
		if cut != "" {
			t.rest.findings = slices.DeleteFunc(t.rest.findings, rules.MayFollow)
		}
		r := result{findings: t.found}
		if schedules[i].Prefix == nil {
			t.folded = nil // a hang that needs no directed run is told by itself
		}
		if i >= len(o.Schedules) {
			r.findings, r.gaps = append(r.findings, slices.DeleteFunc(t.rest.findings, t.folds)...), t.rest.gaps
		} else if !o.Prove {
			all.findings = slices.DeleteFunc(all.findings, t.folds)
			if s := schedules[i]; s.Prefix != nil && w.over() != "" {
				all.findings = slices.DeleteFunc(all.findings, rules.MayFollow)
			}
		}
		all.add(i, &r)
	}
	return schedules
}

// index finds a schedule in a list; -1 if it is not there.
func index(list []Schedule, s Schedule) int {
	return slices.IndexFunc(list, func(o Schedule) bool { return o.String() == s.String() })
}

// predicted reports whether a prediction names a schedule.
func (l *Launch) predicted(ctx context.Context, s Schedule) bool {
	list, _ := l.predictions(ctx)
	return slices.ContainsFunc(list, func(p prediction) bool { return p.schedule.String() == s.String() })
}

// predictions finds them the first time that it is asked. If a limit ran out before
// all were found, cut says which; then the next one to ask looks again.
func (l *Launch) predictions(ctx context.Context) (list []prediction, cut string) {
	l.foresight.Lock()
	defer l.foresight.Unlock()
	if l.foresight.done {
		return l.foresight.predictions, ""
	}
	stop, why := l.watch(ctx).stop()
	if stop() {
		return nil, why()
	}
	list = (&diviner{l: l, stop: stop}).all()
	if cut = why(); cut == "" {
		l.foresight.done, l.foresight.predictions = true, list
	}
	return list, cut
}

// foretell runs one schedule, watched by a judge and for everything that was
// predicted.
func (l *Launch) foretell(w *watch, s Schedule) foretold {
	if list, _ := l.predictions(w.ctx); len(list) == 0 {
		return foretold{}
	}
	x := l.witness(w.ctx, "")
	m := l.machine(x, nil)
	r, _ := l.runPart(w, x.Judge, m, s)
	t := x.told()
	t.rest = r
	t.fold()
	return t
}

// A witness judges a run, and sees what was predicted come true in it.
type witness struct {
	*rules.Judge
	l      *Launch
	sights []*sight
}

// witness returns one for a run that is to show a finding, named by its kind and
// whatever comes after; for any if the name is empty.
func (l *Launch) witness(ctx context.Context, finding string) *witness {
	x := &witness{Judge: rules.NewJudge(l.shape), l: l}
	if finding != "" && !slices.ContainsFunc(foreseenKinds, func(k string) bool { return strings.HasPrefix(finding, k) }) {
		return x
	}
	list, _ := l.predictions(ctx)
	for _, p := range list {
		s := p.sight()
		s.held = p.held
		x.sights = append(x.sights, s)
	}
	return x
}

// Observe makes a witness a machine.Observer.
func (x *witness) Observe(m *machine.Machine, ev *machine.Event) {
	x.Judge.Observe(m, ev)
	for _, s := range x.sights {
		s.Observe(m, ev)
	}
}

// Finish is the judge's, with what was predicted and came true.
func (x *witness) Finish(m *machine.Machine) ([]rules.Finding, []rules.Gap) {
	t := x.told()
	t.rest.findings, t.rest.gaps = x.Judge.Finish(m)
	t.fold()
	list := append(t.found, slices.DeleteFunc(t.rest.findings, t.folds)...)
	rules.Sort(list)
	return list, t.rest.gaps
}

// told is what the sights saw.
func (x *witness) told() foretold {
	var t foretold
	for _, s := range x.sights {
		if s.hit != nil {
			t.add(x.l, s)
		}
	}
	return t
}

// add enters what a sight saw.
func (t *foretold) add(l *Launch, x *sight) {
	f := rules.Foreseen{Program: l.config.Program, Bar: x.bar, Phase: x.phase, Came: x.hit.came, Act: x.hit.act, By: x.hit.by, Word: x.hit.word, Open: x.hit.open, Then: x.hit.then}
	var found rules.Finding
	switch x.condition {
	case residency:
		found = rules.NeedsCoresidency(rules.Stuck{Program: l.config.Program, At: x.hit.stuck, Started: x.hit.started, All: l.shape.CTAs})
	case confluence.C1:
		found = rules.PhaseMixing(f)
	case confluence.C2:
		found = rules.ExpectLate(f)
	case confluence.C3Early:
		found = rules.EarlyWait(f)
	case confluence.C3Late:
		found = rules.LappedWait(f)
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
	t.found, t.bars = append(t.found, found), append(t.bars, x.bar)
}

// fold makes the hangs that follow from what was predicted a part of it.
func (t *foretold) fold() {
	for i := range t.found {
		for k := range t.rest.findings {
			if f := &t.rest.findings[k]; rules.Hangs(f, t.bars[i]) {
				t.found[i].Hang(f)
				t.folded = append(t.folded, f.Key())
			}
		}
	}
}

func (t *foretold) folds(f rules.Finding) bool { return slices.Contains(t.folded, f.Key()) }

// foreseen begins runs that show a finding which was predicted; nil for a finding
// that a judge makes.
func (l *Launch) foreseen(ctx context.Context, f *rules.Finding) explore.Trial {
	if !slices.Contains(foreseenKinds, f.Kind) {
		return nil
	}
	key := f.Key()
	return func() (*machine.Machine, explore.Question) {
		x := l.witness(ctx, f.Kind)
		watch := observers{}
		for _, s := range x.sights {
			watch = append(watch, s)
		}
		hits := 0
		shown := func() bool {
			n := 0
			for _, s := range x.sights {
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
		return l.part(watch, l.skips(), 0, 1), q
	}
}
