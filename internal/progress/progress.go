// Package progress tells how far work has come: its stage, how much of its budget is used,
// and how long it may still take, where that can be said.
//
// Work carries a Meter in its context. Without one nothing is told: the methods of a nil
// Meter do nothing. What is told depends on the clock; what work comes to never depends on
// what is told.
package progress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/diag"
)

// A Progress is how far work has come.
type Progress struct {
	// Within says of which larger work this is a part, the largest first: "launch 2 of 5".
	Within []string
	// Stage says what is done.
	Stage string
	// Done of Of parts of the stage are done, each of which is a Part: "schedule". With AtMost
	// there may be fewer. Of is 0 where their number is not known.
	Part     string
	Done, Of int
	AtMost   bool
	// Schedules and Steps of an exploration, or steps of a run, and what they are limited to;
	// 0: there is none.
	Schedules, MaxSchedules int
	Steps, MaxSteps         int64
	// Instrs are the warp instructions of the run that told last, MaxInstrs their limit.
	Instrs, MaxInstrs int64
	// Units are the shares of the work that the first runs of an exploration left, UnitsDone
	// of them done.
	Units, UnitsDone int
	Findings         int // of the stage
	// Time is what is used of MaxTime, Limits.Time.
	Time, MaxTime time.Duration
	// Left estimates how long the stage still takes, at the rate so far; with LeftAtMost it may
	// end before, as at a limit that it need not reach. 0 where nothing can be said.
	Left       time.Duration
	LeftAtMost bool
}

// String gives all but Time in one line.
func (p Progress) String() string {
	var b strings.Builder
	for _, w := range p.Within {
		b.WriteString(w + ": ")
	}
	b.WriteString(p.Stage)
	if p.Left > 0 {
		fmt.Fprintf(&b, ", about %v left", Short(p.Left)) // by the rate so far, which bounds nothing
	}
	sep := ": "
	add := func(format string, args ...any) {
		fmt.Fprintf(&b, sep+format, args...)
		sep = ", "
	}
	if p.Of > 0 {
		add("%s %s of %s%s", p.Part, diag.Group(int64(min(p.Done+1, p.Of))), atMost(p.AtMost), diag.Group(int64(p.Of)))
	}
	if p.MaxSchedules > 0 {
		add("%s of at most %s schedules", diag.Group(int64(p.Schedules)), diag.Group(int64(p.MaxSchedules)))
	}
	if p.MaxSteps > 0 {
		add("%s of at most %s steps", diag.Group(p.Steps), diag.Group(p.MaxSteps))
	}
	if p.Instrs > 0 && p.MaxInstrs > 0 {
		add("%s of at most %s warp instructions", diag.Group(p.Instrs), diag.Group(p.MaxInstrs))
	}
	if p.Units > 0 {
		add("%s of %s parts done", diag.Group(int64(p.UnitsDone)), diag.Group(int64(p.Units)))
	}
	if p.Findings > 0 {
		add("%s", diag.Plural(p.Findings, "finding"))
	}
	return b.String()
}

func atMost(yes bool) string {
	if yes {
		return "at most "
	}
	return ""
}

// Short is a duration as far as a reader wants to know it: 1h5m, 10m, 12s.
func Short(d time.Duration) string {
	switch {
	case d >= time.Hour:
		d = d.Round(time.Minute)
	case d >= time.Second:
		d = d.Round(time.Second)
	default:
		d = d.Round(100 * time.Millisecond)
	}
	text := d.String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	return text
}

// often is the least time between two times that a stage tells, other than at its beginning.
const often = 20 * time.Millisecond

// A teller is where the meters of one context tell.
type teller struct {
	tell  func(Progress)
	now   func() time.Time
	mu    sync.Mutex
	told  time.Time
	end   time.Time // of the time limit
	limit time.Duration
}

// A Meter is the progress of one piece of work; the pieces that it consists of have meters
// of their own.
type Meter struct {
	*teller
	p     Progress
	began time.Time // the stage
}

type key struct{}

// With returns a context whose work tells its progress, by a clock. tell is called by one
// goroutine at a time.
func With(ctx context.Context, tell func(Progress), now func() time.Time) context.Context {
	return context.WithValue(ctx, key{}, &Meter{teller: &teller{tell: tell, now: now}})
}

// Of returns the Meter of a context; nil if it has none.
func Of(ctx context.Context) *Meter {
	m, _ := ctx.Value(key{}).(*Meter)
	return m
}

// In returns a context for a piece of the context's work.
func In(ctx context.Context, what string) context.Context {
	m := Of(ctx)
	if m == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, &Meter{teller: m.teller, p: Progress{Within: append(slices.Clip(m.p.Within), what)}})
}

// Hidden returns a context whose work tells nothing: pieces that go on side by side, which
// their whole counts.
func Hidden(ctx context.Context) context.Context {
	if Of(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*Meter)(nil))
}

// Until says when the work's time is over. The latest time holds: pieces may have less.
func (m *Meter) Until(end time.Time, limit time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if end.After(m.end) {
		m.end, m.limit = end, limit
	}
}

// Stage begins a stage of so many parts; 0: not known.
func (m *Meter) Stage(name, part string, of int) { m.stage(name, part, of, false) }

// StageAtMost begins a stage of at most so many parts.
func (m *Meter) StageAtMost(name, part string, of int) { m.stage(name, part, of, true) }

func (m *Meter) stage(name, part string, of int, atMost bool) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p = Progress{Within: m.p.Within, Stage: name, Part: part, Of: of, AtMost: atMost}
	m.began = m.now()
	m.say(m.began)
}

// Did says that n more parts of the stage are done.
func (m *Meter) Did(n int) { m.Set(func(p *Progress) { p.Done += n; p.Instrs = 0 }) }

// Ran says how many warp instructions of a run were executed, of a limit.
func (m *Meter) Ran(n, limit int64) { m.Set(func(p *Progress) { p.Instrs, p.MaxInstrs = n, limit }) }

// Set changes what the stage tells.
func (m *Meter) Set(change func(*Progress)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.p)
	if now := m.now(); now.Sub(m.told) >= often {
		m.say(now)
	}
}

// Due reports whether it is time to tell: for what takes time to find.
func (m *Meter) Due() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now().Sub(m.told) >= often
}

func (m *Meter) say(now time.Time) {
	m.told = now
	p := m.p
	p.Within = slices.Clone(p.Within)
	if m.limit > 0 {
		p.MaxTime, p.Time = m.limit, m.limit-m.end.Sub(now)
	}
	p.estimate(now.Sub(m.began))
	m.tell(p)
}

// least is how many parts of a stage say how long the others take, and how long they must
// have taken.
const (
	leastParts = 2
	leastTime  = 100 * time.Millisecond
)

// estimate says how long a stage still takes which has lasted so long: its parts are alike,
// and so are the schedules of an exploration, which ends at the first limit if not before.
func (p *Progress) estimate(lasted time.Duration) {
	done := 0.0
	switch {
	case p.MaxSchedules > 0 && p.Schedules >= leastParts:
		done, p.LeftAtMost = float64(p.Schedules)/float64(p.MaxSchedules), true
		if p.MaxSteps > 0 {
			done = max(done, float64(p.Steps)/float64(p.MaxSteps))
		}
	case p.Of > 0 && p.Done >= leastParts:
		done, p.LeftAtMost = float64(p.Done)/float64(p.Of), p.AtMost
	}
	if done <= 0 || done >= 1 || lasted < leastTime {
		p.LeftAtMost = false
		return
	}
	p.Left = time.Duration(float64(lasted) * (1 - done) / done)
	if over := p.MaxTime - p.Time; p.MaxTime > 0 && p.Left > over {
		p.Left, p.LeftAtMost = max(over, 0), true // then it ends, done or not
	}
}
