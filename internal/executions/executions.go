// Package executions explores the executions of a launch that the memory consistency model of
// the ISA (chapter 8) allows, those that are no interleavings among them: a strong read may
// return a value that was overwritten, a strong write may come before others in coherence order.
//
// What exploration takes is explained in package explore (execution.go there), what the axioms
// allow in package coherence. This package judges each execution, compares what it leaves in
// memory with what interleavings leave, and names what was not looked at: load buffering.
package executions

import (
	"cmp"
	"slices"

	"muster/internal/coherence"
	"muster/internal/explore"
	"muster/internal/lanes"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Options bound an exploration.
type Options struct {
	Schedules int   // runs
	Steps     int64 // of all runs together
	// WeakFences takes each fence.sc for a fence.acq_rel: more executions, and no orders of
	// fences. It ends with the first thing that is not right.
	WeakFences bool
	// Interleavings is how many may run, where executions are sampled, to know what they leave in
	// memory.
	Interleavings int
	// Begin, if set, prepares the machine of each run.
	Begin func(*machine.Machine)
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
	// Loose are the instructions at which load buffering may lead to executions that were not
	// explored.
	Loose []coherence.Open
	// Sampled is how many executions were sampled, since there are too many; Doubts are those
	// that leave a memory which no interleaving leaves that was run, where not all of these are
	// known.
	Sampled int
	Doubts  []Found
	// Finals is how many memories interleavings leave, where these were explored by themselves.
	Finals int
}

// An explorer explores one launch.
type explorer struct {
	o Options
	// decides reports whether what is read at a PC decides anything.
	decides func(pc int32) bool
	seen    map[string]bool // keys of findings
	plain   map[uint64]bool // hashes of what interleavings leave in global memory
	stale   []staleRun      // the others, the shortest of each memory and place
	// fork returns the machine at the beginning of the launch, and tried counts the steps of
	// lanes alone (depend.go).
	fork  func(machine.Observer) *machine.Machine
	tried int
	ahead int64 // steps of what was tried
	// wrong: there is an error; samples: what runs now are samples.
	wrong, samples bool
	// promises are those that were tried before (promise.go).
	promises map[promiseKey]bool
	space    *explore.Space
	judge    func() rules.Config
	Result
}

// A staleRun is an execution that is no interleaving.
type staleRun struct {
	left     uint64 // hash of what it leaves in global memory
	finding  rules.Finding
	schedule trial.Schedule
}

// A watcher follows one run.
type watcher struct {
	*rules.Judge
	x *explorer
}

func (w *watcher) End(m *machine.Machine, path []machine.Choice) {
	x := w.x
	findings, gaps := w.Finish(m)
	taken := path
	if m.KeepsApart() {
		path = slices.Insert(slices.Clone(path), 0, machine.Choice{Kind: machine.Part})
	}
	s := trial.Schedule{Policy: explore.Latest, Prefix: path}
	for i := range findings {
		if !rules.IsStale(&findings[i]) {
			x.add(findings[i], s)
		}
	}
	for _, g := range gaps {
		x.gap(g)
	}
	if pc := m.Exhausted(); pc >= 0 && x.decides(pc) {
		x.gap(rules.Gap{What: "what more failed tests in a row lead to was not looked at", PC: pc})
	}
	if w.Words.Over() {
		x.gap(rules.Gap{What: "a run has more strong accesses than are followed", PC: -1})
	}
	// With an error, or where executions are only sampled, what else there may be decides nothing.
	x.wrong = x.wrong || slices.ContainsFunc(findings, func(f rules.Finding) bool { return f.Severity == rules.Error && !rules.IsStale(&f) })
	if !x.wrong && !x.samples {
		x.buffers(w.Words, taken)
	}
	if !m.Done() {
		return
	}
	if x.o.Final != nil {
		x.o.Final(m)
	}
	left := m.GlobalHash()
	if i := slices.IndexFunc(findings, func(f rules.Finding) bool { return rules.IsStale(&f) }); i >= 0 {
		x.keep(staleRun{left, findings[i], s})
	} else if !rules.Erred(findings) {
		x.plain[left] = true
	}
}

// buffers notes where a run shows that there may be load buffering.
func (x *explorer) buffers(words *coherence.Run, path []machine.Choice) {
	d := &depending{x: x, words: words, path: path, tried: map[int]*alone{}}
	for _, o := range words.Loose(x.Loose, func(read, write int) bool {
		return words.Strays(read, write) && !words.Leads(read, write, d.on) && x.reads(d, read, write)
	}) {
		if !slices.ContainsFunc(x.Loose, func(known coherence.Open) bool { return known.PC == o.PC }) {
			x.Loose = append(x.Loose, o)
		}
	}
}

// keep keeps an execution that is no interleaving, unless there is a shorter one like it.
func (x *explorer) keep(r staleRun) {
	for i := range x.stale {
		o := &x.stale[i]
		if o.left == r.left && o.finding.Key() == r.finding.Key() {
			if len(r.schedule.Prefix) < len(o.schedule.Prefix) {
				*o = r
			}
			return
		}
	}
	if len(x.stale) < maxStale {
		x.stale = append(x.stale, r)
	} else {
		x.gap(rules.Gap{What: "more different executions that are no interleavings than are kept", PC: r.finding.Sites[0].PC})
	}
}

// maxStale bounds the executions that are kept until all interleavings are known.
const maxStale = 10_000

// Right reports whether nothing is wrong or open.
func (r *Result) Right() bool { return len(r.Findings)+len(r.Gaps)+len(r.Loose) == 0 }

func (x *explorer) add(f rules.Finding, s trial.Schedule) {
	if k := f.Key(); !x.seen[k] {
		x.seen[k] = true
		x.Findings = append(x.Findings, Found{f, s})
	}
}

func (x *explorer) gap(g rules.Gap) {
	if !slices.Contains(x.Gaps, g) {
		x.Gaps = append(x.Gaps, g)
	}
}

func newExplorer(l *trial.Subject, o Options) *explorer {
	return &explorer{o: o, decides: lanes.Deciders(l.Program), seen: map[string]bool{}, promises: map[promiseKey]bool{}, plain: map[uint64]bool{}}
}

// Explore explores the executions of a launch.
func Explore(w *trial.Budget, l *trial.Subject, o Options) *Result {
	x := newExplorer(l, o)
	over, why := w.Stop()
	space := x.spaceOf(l.Executing(), over)
	limits := explore.Limits{Schedules: o.Schedules, Steps: o.Steps, Length: maxLength}
	x.Coverage = explore.NewSearch(space, limits).Run(func() bool { return over() || o.WeakFences && !x.Right() })
	if reason := why(); reason != "" {
		x.Coverage.Why = reason
	}
	switch {
	case x.Coverage.Complete:
		x.settle(true)
	case o.WeakFences: // some of these are no executions
	case explore.Spent(x.Coverage.Why):
		x.sample(l, space, limits, over)
	}
	slices.SortFunc(x.Loose, func(a, b coherence.Open) int { return cmp.Compare(a.PC, b.PC) })
	return &x.Result
}

// spaceOf is that of the executions of a launch.
func (x *explorer) spaceOf(l *trial.Subject, over func() bool) *explore.Space {
	x.fork = func(o machine.Observer) *machine.Machine {
		m := l.Machine(o, nil)
		m.ShowMeetings()
		if x.o.Begin != nil {
			x.o.Begin(m)
		}
		return m
	}
	x.judge = l.Rules
	x.space = &explore.Space{
		Fork: x.fork,
		Watch: func() explore.Watcher {
			c := l.Rules()
			c.WeakFences = x.o.WeakFences
			return &watcher{rules.NewJudge(c), x}
		},
		Allows: func(w explore.Watcher, m *machine.Machine, c machine.Choice) bool {
			return w.(*watcher).Words.Allows(m, c)
		},
		Stop:       over,
		WeakFences: x.o.WeakFences,
	}
	return x.space
}

// settle tells the executions that leave what no interleaving leaves. Where not all interleavings
// are known, they are in doubt.
func (x *explorer) settle(known bool) {
	for i := range x.stale {
		r := &x.stale[i]
		switch {
		case x.plain[r.left]:
		case known:
			x.add(r.finding, r.schedule)
		default:
			x.Doubts = append(x.Doubts, Found{r.finding, r.schedule})
		}
	}
}

// maxLength bounds the steps of a run that is explored.
const maxLength = 5_000
