package brute_test

import (
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/rules"
)

// excused are conflicts that brute force does not model: they are ordered except for
// a proxy fence, a scope or a strength.
const excused = order.IfProxyFence | order.IfScopeWider | order.IfNotRelaxed | order.BothAsyncOtherCTA

// A searcher collects the results of a search's runs.
type searcher struct {
	x     *subject
	rules rules.Config
	out   *outcome
}

// A watcher judges one run.
type watcher struct {
	*rules.Judge
	s *searcher
}

func (w *watcher) End(m *machine.Machine, path []machine.Choice) {
	w.s.out.end(w.s.x, m)
	for _, c := range w.Order.Conflicts() {
		if c.Why&excused == 0 {
			a, b := w.s.x.op[c.Prior.PC], w.s.x.op[c.Cur.PC]
			w.s.out.races[[2]int{min(a, b), max(a, b)}] = true
		}
	}
}

// bySearch is the outcome of one run of each kind of schedule, each judged.
func bySearch(x *subject, limits explore.Limits) (*outcome, explore.Coverage, error) {
	start, err := machine.New(x.cfg)
	if err != nil {
		return nil, explore.Coverage{}, err
	}
	s := &searcher{x: x, out: newOutcome(), rules: rules.Config{Shape: start.Shape(), Program: x.cfg.Program}}
	limits.Length = 1000
	search := explore.NewSearch(&explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
		Watch: func() explore.Watcher { return &watcher{rules.NewJudge(s.rules), s} },
	}, limits)
	c := search.Run(nil)
	s.out.complete, s.out.states = c.Complete, c.Schedules
	return s.out, c, nil
}
