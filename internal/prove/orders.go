package prove

import (
	"maps"
	"slices"

	"muster/internal/confluence"
	"muster/internal/lanes"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/outcome"
	"muster/internal/rules"
	"muster/internal/trial"
)

// Where the order of strong accesses matters (which thread gets which ticket, which
// one is last, what a flag says when it is read), a run can still decide for every
// schedule with its order. So a proof may go through the orders: everything else runs
// until it blocks, and then one of the remaining strong accesses comes next. Sleep
// sets (Godefroid 1996) merge orders that differ only in accesses to different words,
// reads, or reductions of one kind. Every run must hold for its order, all must leave
// the same memory, and only one word may have more than one order: for one word
// coherence makes an order in every execution of the weak memory model, for several
// words together it does not.

// maxOrders bounds how many orders a proof goes through, maxPoints how many
// accesses are ordered in one run.
const (
	maxOrders = 32
	maxPoints = 256
)

// An orders enumerates the orders, depth first.
type orders struct {
	l      *trial.Subject
	points map[int32]bool
	facts  *outcome.Facts
	path   []*fork
	runs   int
}

// A fork is a state in which only strong accesses are left to do.
type fork struct {
	ways  []machine.Choice
	taken machine.Choice
	step  footprint
	sleep map[machine.Choice]footprint // choices that another order has tried
}

// A footprint is what one step accesses strongly.
type footprint []touched

type touched struct {
	mem   machine.MemID
	addr  uint64 // of 4 bytes
	write bool
	kind  string // of a reduction
}

func (f footprint) apart(g footprint) bool {
	for _, a := range f {
		for _, b := range g {
			if a.mem == b.mem && a.addr == b.addr && (a.write || b.write) && (a.kind == "" || a.kind != b.kind) {
				return false
			}
		}
	}
	return true
}

// longOrder is how many warp instructions a run may take at least.
const longOrder = 1 << 23

// byOrders tries to decide every schedule by one run for each order. A run that takes more
// than most warp instructions does not end: what a thread spins for comes with an access that
// the run puts off.
func byOrders(l *trial.Subject, w *trial.Budget, most int64) (p Proof, r trial.Result, ok bool) {
	prog := l.Program
	o := &orders{l: l, points: prog.Points(), facts: l.Facts(lanes.Deciders(l.Program))}
	decided := maps.Clone(o.points)
	maps.Copy(decided, prog.Peeks())
	if len(o.points) == 0 || len(prog.DependencesBut(decided)) > 0 {
		return p, r, false
	}
	stop, _ := w.Stop()
	var words outcome.Summary
	memory, ended := uint64(0), 0
	w.Meter.StageAtMost("proof by the orders of accesses", "order", maxOrders)
	for again := true; again; again = o.next() {
		w.Meter.Did(min(o.runs, 1))
		if o.runs++; o.runs > maxOrders || stop() {
			return p, r, false
		}
		part, m, whole := o.run(w, most)
		if !whole {
			continue // equivalent to another
		}
		p.Take(l, &part.Part)
		p.Found(l, &part.Result)
		if part.Err != nil || len(p.Reasons) > 0 || !m.Done() || len(o.path) > maxPoints {
			return p, r, false
		}
		if h := m.GlobalHash(); ended == 0 {
			memory = h
		} else if h != memory {
			return p, r, false
		}
		ended++
		words.Add(part.words)
		r.Add(&part.Result)
	}
	p.Holds = ended > 0 && !words.Over && len(words.Beyond()) == 0 && len(words.Parts()) == 0
	p.Contents = true // the order may depend on the contents of the buffers
	p.Orders = true
	return p, r, p.Holds
}

type orderedPart struct {
	Part
	words outcome.Summary
}

// run makes one run that takes the choices of the path, and then any that are not
// asleep, of at most so many warp instructions. whole is false if only sleeping ones are left.
func (o *orders) run(w *trial.Budget, most int64) (part orderedPart, m *machine.Machine, whole bool) {
	l := o.l
	c := l.Rules()
	c.MustOnly = true
	c.Ends = func(_ order.Memory, ev *machine.Event, _ int) bool { return o.points[ev.PC] }
	polls := l.Program.Polls()
	c.Looks = func(pc int32) bool { return polls[pc] != nil }
	j, words := trial.JudgeWords(o.facts, c)
	p := confluence.New(confluence.Config{Shape: l.Shape,
		Program: l.Program, Polls: polls, Ordered: o.points, Peeks: l.Program.PeekWaits()})
	s := &strongAccesses{prog: l.Program, ordered: o.points, polls: polls}
	t := &toucher{prog: l.Program, points: o.points}
	orders := lanes.NewOrders(l.Program, lanes.Deciders(l.Program))
	m = l.Part(trial.Observers{words, j, p, s, t, orders}, false, 0, 1)
	m.ShowMeetings()
	m.FailPeeks()
	m.KeepApart()
	over, why := w.Stop()
	stop := func() bool {
		n, _ := m.Instrs()
		return over() || n > most || n > refuted && j.Wrong()
	}
	m.StopWhen(stop)
	whole = o.follow(m, t, stop)
	if !whole {
		return part, m, false
	}
	part.Findings, part.Gaps = j.Finish(m)
	if g, ok := l.LimitGap(m.Stopped()); ok {
		part.Gaps = append(trial.WithoutLimits(part.Gaps, m.Stopped()), g)
	}
	if reason := why(); reason != "" {
		part.Gaps = append(part.Gaps, rules.Gap{What: reason, PC: -1})
	}
	part.Gaps = append(part.Gaps, orders.Gaps()...)
	part.failures, part.mixed, part.contents, part.earlier = p.Finish(), s.mixed, true, p.WaitsForEarlier()
	part.sums, part.joint = s.sums, s.joint
	part.mixed = append(part.mixed, s.sumsRead...)
	part.equalStores(l.Program, j.Order.Conflicts(), nil, false)
	part.words = words.Summary()
	return part, m, true
}

// follow takes steps until the run is over; false if only sleeping choices are left.
func (o *orders) follow(m *machine.Machine, t *toucher, stop func() bool) bool {
	depth := 0
	sleep := map[machine.Choice]footprint{}
	var buf []machine.Choice
	for steps := 0; ; steps++ {
		if steps%1024 == 0 && stop() {
			return true
		}
		buf = m.Enabled(buf[:0])
		if len(buf) == 0 || buf[0].Kind == machine.GiveUp {
			// Waiting splits would have to give up: the run does not complete.
			m.Conclude()
			return true
		}
		if c, ok := o.other(m, buf); ok {
			m.Step(c)
			continue
		}
		if depth == len(o.path) {
			i := slices.IndexFunc(buf, func(c machine.Choice) bool { _, asleep := sleep[c]; return !asleep })
			if i < 0 {
				return false
			}
			if depth > maxPoints {
				return true
			}
			o.path = append(o.path, &fork{ways: slices.Clone(buf), taken: buf[i], sleep: sleep})
		}
		f := o.path[depth]
		depth++
		t.print = nil
		m.Step(f.taken)
		f.step = t.print
		sleep = map[machine.Choice]footprint{}
		for c, print := range f.sleep {
			if print.apart(f.step) {
				sleep[c] = print
			}
		}
	}
}

// other returns a choice other than an ordered strong access, if there is one. Splits go
// before milestones, which come as late as possible.
func (o *orders) other(m *machine.Machine, list []machine.Choice) (machine.Choice, bool) {
	best := -1
	for i, c := range list {
		switch c.Kind {
		case machine.Start:
			return c, true
		case machine.Run:
			if pc, performs := m.Standing(c); !performs || !o.points[pc] {
				return c, true
			}
		case machine.Milestone:
			if best < 0 {
				best = i
			}
		}
	}
	if best < 0 {
		return machine.Choice{}, false
	}
	return list[best], true
}

// next goes back to the last fork at which a choice is left to try.
func (o *orders) next() bool {
	for len(o.path) > 0 {
		f := o.path[len(o.path)-1]
		f.sleep = maps.Clone(f.sleep)
		f.sleep[f.taken] = f.step
		for _, c := range f.ways {
			if _, asleep := f.sleep[c]; !asleep {
				f.taken = c
				return true
			}
		}
		o.path = o.path[:len(o.path)-1]
	}
	return false
}

// A toucher records what a step accesses strongly.
type toucher struct {
	prog   *machine.Program
	points map[int32]bool
	print  footprint
}

func (t *toucher) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || !t.points[ev.PC] {
		return
	}
	kind := ""
	if ev.Access == machine.Write|machine.Update && t.prog.Commutes(ev.PC) == "" {
		kind = t.prog.Operation(ev.PC)
	}
	for lane := range 32 {
		if ev.Mask>>lane&1 == 0 {
			continue
		}
		for a := ev.Addr[lane] &^ 3; a < ev.Addr[lane]+uint64(ev.Size); a += 4 {
			t.print = append(t.print, touched{ev.Mem, a, ev.Access&machine.Write != 0, kind})
		}
	}
}
