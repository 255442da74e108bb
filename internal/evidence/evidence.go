// Package evidence looks for runs that show a finding, and detects as early as it can
// that a run does.
package evidence

import (
	"context"
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/predict"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Trial returns an explore.Trial that makes runs of the whole launch, and calls a run bad
// if it shows the finding.
func Trial(ctx context.Context, l *trial.Subject, p *predict.Predictor, f *rules.Finding) explore.Trial {
	if t := p.Trial(ctx, l, f); t != nil {
		return t
	}
	key := f.Key()
	return func() (*machine.Machine, explore.Question) {
		j := rules.NewJudge(l.Rules())
		early := NewEarlyStop(j, f)
		m := l.Part(early, false, 0, 1)
		q := explore.Question{Bad: func(m *machine.Machine) bool {
			found, _ := j.Finish(m)
			for i := range found {
				if found[i].Key() == key && found[i].Severity >= f.Severity {
					return true
				}
			}
			return false
		}}
		if early.Sees(f.Kind) {
			q.Shown = func() bool { return early.Seen }
		}
		return m, q
	}
}

// An EarlyStop detects in the middle of a run that it shows a finding, where package
// order reports it at once: races, and the lives of barriers and CTAs. The judge is
// asked only at the end, and may drop what was seen.
type EarlyStop struct {
	judge *rules.Judge
	kind  string
	race  bool
	pcs   []int32 // the finding's instructions
	known int     // conflicts or facts looked at
	Seen  bool
}

// NewEarlyStop returns one for a finding; j judges the run.
func NewEarlyStop(j *rules.Judge, f *rules.Finding) *EarlyStop {
	s := &EarlyStop{judge: j, kind: f.Kind}
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

// Sees reports whether the finding is one that can be seen early.
func (s *EarlyStop) Sees(kind string) bool { return s.race || slices.Contains(factKinds, kind) }

// Observe makes an EarlyStop a machine.Observer.
func (s *EarlyStop) Observe(m *machine.Machine, ev *machine.Event) {
	s.judge.Observe(m, ev)
	if s.Seen || ev.Kind != machine.EvEnd && !slices.Contains(s.pcs, ev.PC) {
		return
	}
	if s.race {
		all := s.judge.Order.Conflicts()
		for _, c := range all[s.known:] {
			s.Seen = s.Seen || s.is(&c)
		}
		s.known = len(all)
		return
	}
	all := s.judge.Order.FactList()
	for _, f := range all[s.known:] {
		s.Seen = s.Seen || slices.Contains(s.pcs, f.A.PC) || slices.Contains(s.pcs, f.B.PC)
	}
	s.known = len(all)
}

// is reports whether a conflict is of the finding's kind and instructions: two instructions
// may lack an order in one place, and only a fence in another.
func (s *EarlyStop) is(c *order.Conflict) bool {
	return slices.Contains(s.pcs, c.Prior.PC) && slices.Contains(s.pcs, c.Cur.PC) && (c.Prior.PC != c.Cur.PC || s.pcs[0] == s.pcs[1]) &&
		s.judge.KindOf(c) == s.kind
}

// A Sought is a finding that a run is to show: its ID in a report, and a test for it.
type Sought struct {
	ID string
	Is func(*rules.Finding) bool
}

// A Shown is a run of the whole launch that shows a finding.
type Shown struct {
	Launch   *trial.Subject // for judges as attentive as the finding needs
	Schedule trial.Schedule
	Finding  *rules.Finding
	Run      []machine.Choice
}

// A Cut is the error of a run that was broken off before its end.
type Cut struct {
	Steps int
	Why   string
}

func (e *Cut) Error() string { return e.Why }

// Whole returns a run of the whole launch that shows a finding; its Finding is nil if
// there is none. A check runs clusters that do not interact one by one, so that what
// s shows there may be hidden in a run of all, in which the CTAs draw other choices.
// Then the choices of the part that shows it are made explicit.
func Whole(l *trial.Subject, p *predict.Predictor, w *trial.Budget, s trial.Schedule, what Sought) (Shown, error) {
	got, err := find(l, p, w, s, what, 0, 1)
	if got.Finding != nil || err != nil {
		return got, err
	}
	n := l.Parts()
	if s.Prefix != nil {
		n = 1
	}
	for k := 0; n > 1 && k < n; k++ {
		part, err := find(l, p, w, s, what, k, n)
		if err != nil {
			return Shown{}, err
		}
		if part.Finding == nil {
			continue
		}
		explicit := trial.Schedule{Policy: explore.Latest, Prefix: append(starts(l, k*l.Start.ClusterCount()/n), part.Run...)}
		if got, err := find(l, p, w, explicit, what, 0, 1); got.Finding != nil || err != nil {
			return got, err
		}
		break
	}
	return Shown{}, nil
}

// starts returns the choices that start the first n clusters.
func starts(l *trial.Subject, n int) []machine.Choice {
	m := l.Machine(nil, nil)
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

// find runs part k of n of the launch under a schedule, and looks for a finding.
func find(l *trial.Subject, p *predict.Predictor, w *trial.Budget, s trial.Schedule, what Sought, k, n int) (Shown, error) {
	stop, why := w.Stop()
	if n == 1 {
		if err := l.Offers(s, stop); err != nil {
			return Shown{}, err
		}
	}
	for {
		j := p.Witness(w.Context, l, what.ID)
		m := l.Part(j, false, k, n)
		run, ok := explore.Record(m, s, stop)
		if !ok {
			return Shown{}, &Cut{len(run), why()}
		}
		found, _ := j.Finish(m)
		for i := range found {
			if what.Is(&found[i]) {
				return Shown{l, s, &found[i], run}, nil
			}
		}
		more := l.Overlooked(j.Judge)
		if len(more) == 0 {
			return Shown{l, s, nil, run}, nil
		}
		l = l.Attentive(more)
	}
}

// In reports whether a run of a launch shows the finding sought.
func In(l *trial.Subject, p *predict.Predictor, w *trial.Budget, s trial.Schedule, what Sought) bool {
	stop, _ := w.Stop()
	for {
		j := p.Witness(w.Context, l, what.ID)
		m := l.Part(j, false, 0, 1)
		if !explore.Run(m, s, stop) {
			return false
		}
		found, _ := j.Finish(m)
		for i := range found {
			if what.Is(&found[i]) {
				return true
			}
		}
		more := l.Overlooked(j.Judge)
		if len(more) == 0 {
			return false
		}
		l = l.Attentive(more)
	}
}
