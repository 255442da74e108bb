// Package executions explores the executions of a launch that the memory consistency model of
// the ISA (chapter 8) allows, those that are no interleavings among them: a strong read may
// return a value that was overwritten, a strong write may come before others in coherence order.
package executions

import (
	"context"
	"muster/internal/coherence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Options bound an exploration.
type Options struct {
	Schedules int   // runs
	Steps     int64 // of all runs together
	// Final, if set, is called with the machine of each run that comes to its end.
	Final func(*machine.Machine)
}

// A Found is a finding, and a schedule that shows it.
type Found struct {
	rules.Finding
	Schedule trial.Schedule
}

// A Result is what an exploration showed.
type Result struct {
	Coverage explore.Coverage
	Findings []Found
	Gaps     []rules.Gap
}

// An explorer explores one launch.
type explorer struct {
	l    *trial.Subject
	o    Options
	seen map[string]bool // keys of findings
	Result
}

// A watcher follows one run.
type watcher struct {
	x     *explorer
	judge *rules.Judge
	words *coherence.Run
}

func (w *watcher) Observe(m *machine.Machine, ev *machine.Event) {
	w.words.Observe(m, ev)
	w.judge.Observe(m, ev)
}

func (w *watcher) End(m *machine.Machine, path []machine.Choice) {
	findings, gaps := w.judge.Finish(m)
	s := trial.Schedule{Policy: explore.Latest, Prefix: path}
	for _, f := range findings {
		if k := f.Key(); !w.x.seen[k] {
			w.x.seen[k] = true
			w.x.Findings = append(w.x.Findings, Found{f, s})
		}
	}
	for _, g := range gaps {
		w.x.Gaps = append(w.x.Gaps, g)
	}
	if w.x.o.Final != nil && m.Done() {
		w.x.o.Final(m)
	}
}

// Explore explores the executions of a launch.
func Explore(ctx context.Context, l *trial.Subject, o Options) *Result {
	x := &explorer{l: l, o: o, seen: map[string]bool{}}
	s := explore.NewSearch(&explore.Space{
		Fork: func(o machine.Observer) *machine.Machine {
			m := l.Machine(o, nil)
			m.KeepVersions()
			m.ShowMeetings()
			return m
		},
		Watch: func() explore.Watcher {
			c := l.Rules()
			c.Executions = true
			j := rules.NewJudge(c)
			return &watcher{x, j, coherence.NewRun(j.Order)}
		},
		Allows: func(w explore.Watcher, m *machine.Machine, c machine.Choice) bool {
			return w.(*watcher).words.Allows(m, c)
		},
	}, explore.Limits{Schedules: o.Schedules, Steps: o.Steps, Length: maxLength})
	x.Coverage = s.Run(func() bool { return ctx.Err() != nil })
	return &x.Result
}

// maxLength bounds the steps of a run that is explored.
const maxLength = 20_000
