package muster

import (
	"context"
	"fmt"
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
)

// A Shrunk is the smallest schedule that Shrink found, with its size.
type Shrunk = explore.Shrunk

// ShrinkOptions bound the work of Shrink.
type ShrinkOptions = explore.ShrinkOptions

// A NotShown is the error of a schedule that does not show a finding.
type NotShown struct {
	Schedule Schedule
	ID       string
}

func (e *NotShown) Error() string {
	return fmt.Sprintf("schedule %v does not show %s: the kernel, the launch or muster is another than when it was found", brief(e.Schedule.String()), e.ID)
}

// brief cuts a schedule that an error quotes.
func brief(text string) string {
	if len(text) > 120 {
		return text[:60] + "…" + text[len(text)-50:]
	}
	return text
}

// Shrink looks for the smallest schedule that shows a finding: the fewest
// switches from one split or operation to another, then the fewest steps. The
// finding is named by its ID, in a report of this launch, and s shows it. What
// is returned shows it too, and is the same on every machine, unless ctx or a
// limit on time ends the search early.
func (l *Launch) Shrink(ctx context.Context, s Schedule, id string, o ShrinkOptions) (Shrunk, error) {
	if with, rest, ok := l.leads([]Schedule{s}); ok {
		got, err := with.Shrink(ctx, rest[0], id, o)
		got.Schedule = with.written(got.Schedule)
		return got, err
	}
	w := l.watch(ctx)
	l, whole, f, _, err := l.whole(w, s, id)
	if err != nil {
		return Shrunk{}, err
	}
	stop, _ := w.stop()
	if o.Stop != nil {
		given := o.Stop
		limit := stop
		stop = func() bool { return given() || limit() }
	}
	o.Stop = stop
	got, ok := explore.Shrink(l.trial(w.ctx, f), whole, o)
	if err := ctx.Err(); err != nil {
		return got, err
	}
	if !ok {
		return got, &NotShown{s, id}
	}
	return got, nil
}

// trial begins runs of the whole launch that are bad if they show a finding.
func (l *Launch) trial(ctx context.Context, f *rules.Finding) explore.Trial {
	if t := l.foreseen(ctx, f); t != nil {
		return t
	}
	key := f.Key()
	return func() (*machine.Machine, explore.Question) {
		j := rules.NewJudge(l.shape)
		seer := newSeer(j, f)
		m := l.part(seer, false, 0, 1)
		q := explore.Question{Bad: func(m *machine.Machine) bool {
			found, _ := j.Finish(m)
			for i := range found {
				if found[i].Key() == key && found[i].Severity >= f.Severity {
					return true
				}
			}
			return false
		}}
		if seer.sees(f.Kind) {
			q.Shown = func() bool { return seer.seen }
		}
		return m, q
	}
}

// A seer sees when a finding comes to be, where order tells it in the middle of
// a run: races, and what concerns the lives of barriers and CTAs. The judge is
// asked only at the end. What a seer sees may still come to nothing.
type seer struct {
	judge *rules.Judge
	race  bool
	pcs   []int32 // the finding's instructions
	known int     // conflicts or facts looked at
	seen  bool
}

func newSeer(j *rules.Judge, f *rules.Finding) *seer {
	s := &seer{judge: j}
	for i := range f.Sites {
		if pc := f.Sites[i].PC; pc >= 0 {
			s.pcs = append(s.pcs, pc)
		}
	}
	if len(f.Sites) == 2 {
		a, b := &f.Sites[0], &f.Sites[1]
		s.race = a.Len > 0 && b.Len > 0 && a.Mem == b.Mem && a.Addr < b.Addr+b.Len && b.Addr < a.Addr+a.Len
	}
	return s
}

// factKinds are the findings that order's facts become.
var factKinds = []string{"exit-before-remote", "remote-before-start", "exit-in-flight", "init-not-ordered"}

// sees reports whether the finding is one that a seer can see.
func (s *seer) sees(kind string) bool { return s.race || slices.Contains(factKinds, kind) }

func (s *seer) Observe(m *machine.Machine, ev *machine.Event) {
	s.judge.Observe(m, ev)
	if s.seen || ev.Kind != machine.EvEnd && !slices.Contains(s.pcs, ev.PC) {
		return
	}
	if s.race {
		all := s.judge.Order.Conflicts()
		for _, c := range all[s.known:] {
			s.seen = s.seen || slices.Contains(s.pcs, c.Prior.PC) && slices.Contains(s.pcs, c.Cur.PC) && (c.Prior.PC != c.Cur.PC || s.pcs[0] == s.pcs[1])
		}
		s.known = len(all)
		return
	}
	all := s.judge.Order.FactList()
	for _, f := range all[s.known:] {
		s.seen = s.seen || slices.Contains(s.pcs, f.A.PC) || slices.Contains(s.pcs, f.B.PC)
	}
	s.known = len(all)
}

// whole returns a schedule of the whole launch that shows a finding, with the
// finding and the run as they are there. Check runs clusters that do not meet
// one by one, so that what s shows there may be hidden in a run of all: the CTAs
// draw other choices. Then it is the part that shows it whose choices are made
// explicit. The launch that it returns is l for judges as attentive as the finding
// needs.
func (l *Launch) whole(w *watch, s Schedule, id string) (*Launch, Schedule, *rules.Finding, []machine.Choice, error) {
	seen, f, run, err := l.find(w, s, id, 0, 1)
	if f != nil || err != nil {
		return seen, s, f, run, err
	}
	n := l.parts()
	if s.Prefix != nil {
		n = 1
	}
	for k := 0; n > 1 && k < n; k++ {
		_, f, run, err := l.find(w, s, id, k, n)
		if err != nil {
			return l, s, nil, nil, err
		}
		if f == nil {
			continue
		}
		explicit := Schedule{Policy: explore.Latest, Prefix: append(l.starts(k*l.start.ClusterCount()/n), run...)}
		if seen, f, run, err := l.find(w, explicit, id, 0, 1); f != nil || err != nil {
			return seen, explicit, f, run, err
		}
		break
	}
	return l, s, nil, nil, &NotShown{s, id}
}

// starts are the choices that start the first n clusters.
func (l *Launch) starts(n int) []machine.Choice {
	m := l.machine(nil, nil)
	var list []machine.Choice
	for range n {
		c, ok := m.StartChoice()
		if !ok {
			break
		}
		m.Step(c)
		list = append(list, c)
	}
	return list
}

// find runs part k of n of the launch under a schedule, and returns the finding
// of that ID, nil if there is none, and the run, with the launch for judges as
// attentive as it needed.
func (l *Launch) find(w *watch, s Schedule, id string, k, n int) (*Launch, *rules.Finding, []machine.Choice, error) {
	stop, why := w.stop()
	if n == 1 {
		if err := offered(l.machine(nil, nil), s, stop); err != nil {
			return l, nil, nil, err
		}
	}
	for {
		j := l.witness(w.ctx, id)
		m := l.part(j, false, k, n)
		run, ok := explore.Record(m, s, stop)
		if !ok {
			return l, nil, nil, untold(run, why())
		}
		found, _ := j.Finish(m)
		for i := range found {
			if f := l.resolver.Finding(&found[i]); f.Is(id) {
				return l, &found[i], run, nil
			}
		}
		more := l.overlooked(j.Judge)
		if len(more) == 0 {
			return l, nil, run, nil
		}
		l = l.attentive(more)
	}
}

// offered reports the first explicit choice that is not possible.
func offered(m *machine.Machine, s Schedule, stop func() bool) error {
	m.StopWhen(stop)
	return prefix(m, s)
}
