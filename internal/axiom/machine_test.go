package axiom_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"muster/internal/axiom"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// A place names a lane's split.
type split struct {
	cta, warp int32
	lane      int8
}

// An explorer runs a litmus test on the machine under every schedule that
// differs in more than the order of steps that do not touch the same bytes
// (sleep sets), with a Tracker, and collects the Tracker's conflicts. Exits
// are left out: after one, a CTA's shared memory may be gone.
type explorer struct {
	t      testing.TB
	l      *listing
	prog   *machine.Program
	found  map[axiom.Pair]bool
	runs   int // schedules
	steps  int
	all    bool // every interleaving, with no reduction
	broken string
}

// touches are the bytes that a step read or wrote.
type touches []touch

type touch struct {
	mem    machine.MemID
	lo, hi uint64
	write  bool
}

const syncMem = machine.MemID(-100) // not a memory: what steps meet at otherwise

func (a touches) meets(b touches) bool {
	for _, x := range a {
		for _, y := range b {
			if x.mem == y.mem && x.lo < y.hi && y.lo < x.hi && (x.write || y.write) {
				return true
			}
		}
	}
	return false
}

// A watcher feeds a Tracker and notes what a step touches.
type watcher struct {
	tr     *order.Tracker
	foot   touches
	exited bool // lanes exited
	other  bool // something else happened
	passed map[split]bool
}

func (w *watcher) Observe(m *machine.Machine, ev *machine.Event) {
	w.tr.Observe(m, ev)
	span := func(s machine.Span, write bool) {
		w.foot = append(w.foot, touch{s.Mem, s.Addr, s.Addr + s.Len, write})
	}
	if ev.Kind == machine.EvExit {
		w.exited = true
	} else if ev.Kind != machine.EvEnd {
		w.other = true
	}
	group := func(cta, warp int32, lane int8, write bool) {
		id := uint64(cta)<<20 | uint64(warp)<<8 | uint64(lane)
		w.foot = append(w.foot, touch{syncMem, id, id + 1, write})
	}
	switch ev.Kind {
	case machine.EvAccess:
		for m := ev.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			span(machine.Span{Mem: ev.Mem, Addr: ev.Addr[l], Len: uint64(ev.Size)}, ev.Access&machine.Write != 0)
		}
	case machine.EvIssue, machine.EvSource, machine.EvWritten, machine.EvSignal:
		if ev.Kind == machine.EvIssue || ev.Kind == machine.EvSource {
			for _, s := range ev.Op.Reads {
				span(s, false)
			}
		}
		if ev.Kind == machine.EvIssue || ev.Kind == machine.EvWritten {
			for _, s := range ev.Op.Writes {
				span(s, true)
			}
		}
		if ev.Kind != machine.EvIssue {
			group(ev.Op.CTA, ev.Op.Warp, ev.Op.Lane, true)
		}
	case machine.EvGroupWait:
		group(ev.CTA, ev.Warp, ev.Lane, false)
	case machine.EvBarPass:
		if ev.Bar == 15 {
			w.pass(ev)
		}
	case machine.EvClusterWait:
		w.pass(ev)
	}
}

func (w *watcher) pass(ev *machine.Event) {
	for m := ev.Mask; m != 0; m &= m - 1 {
		w.passed[split{ev.CTA, ev.Warp, int8(bits.TrailingZeros32(m))}] = true
	}
}

// explore runs a litmus test under every schedule.
func explore(t testing.TB, p *axiom.Program, all bool) *explorer {
	l := emit(p)
	mod, err := ptx.Parse(p.Name, []byte(l.b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, l.b.String())
	}
	prog, err := machine.Decode(mod, "litmus")
	if err != nil {
		t.Fatalf("%v\n%s", err, l.b.String())
	}
	x := &explorer{t: t, l: l, prog: prog, found: map[axiom.Pair]bool{}, all: all}
	cs := uint32(max(p.ClusterSize, 1))
	cfg := machine.Config{
		Program: prog, Grid: [3]uint32{uint32(p.CTAs), 1, 1}, Block: [3]uint32{uint32(32 * l.warps), 1, 1},
		Cluster: [3]uint32{cs, 1, 1}, MaxInstrs: 1 << 20,
	}
	tr := order.New(order.Config{Shape: machine.Shape{CTAs: p.CTAs, Warps: l.warps, Cluster: int(cs)}, Sink: x.conflict})
	w := &watcher{tr: tr, passed: map[split]bool{}}
	cfg.Observer = w
	m, err := machine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	x.start(m, w)
	x.from(m, w.tr, nil, nil)
	return x
}

func (x *explorer) conflict(c *order.Conflict) {
	a, okA := x.access(&c.Prior, c)
	b, okB := x.access(&c.Cur, c)
	if !okA || !okB {
		x.broken = fmt.Sprintf("a conflict between no operations of the test: %+v", c)
		return
	}
	x.found[axiom.NewPair(a, b)] = true
}

func (x *explorer) access(r *order.AccessRef, c *order.Conflict) (axiom.Access, bool) {
	a, ok := x.l.ops[int(x.prog.Pos(r.PC).Line)]
	switch {
	case r.Op >= 0 && r.Access&machine.Write != 0:
		a.Part = 1
	case r.Proxy == machine.TensorMap:
		a.Part = 2
	}
	return a, ok
}

// start brings every thread of the test to its first operation: clusters
// start, idle lanes exit, and the prologue runs, under one schedule, since
// nothing before its barrier touches what the test does.
func (x *explorer) start(m *machine.Machine, w *watcher) {
	mine := map[split]bool{}
	for _, th := range x.l.p.Threads {
		mine[split{int32(th.CTA), int32(th.Warp), int8(th.Lane)}] = true
	}
	prologue := len(mbarriers(x.l.p)) > 0
	var buf []machine.Choice
	for step := true; step; {
		step = false
		buf = m.Enabled(buf[:0])
		for _, c := range buf {
			at := split{c.CTA, c.Warp, c.Lane}
			switch c.Kind {
			case machine.Start:
			case machine.Run:
				if mine[at] && (!prologue || w.passed[at]) {
					continue
				}
			default:
				continue
			}
			m.Step(c)
			step = true
			break
		}
	}
	if prologue {
		for at := range mine {
			if !w.passed[at] {
				x.t.Fatalf("%v never left the prologue: %v\n%s", at, m.Stopped(), x.l.b.String())
			}
		}
	}
}

// A sleeper is a choice that need not be taken, with what it would touch.
type sleeper struct {
	c    machine.Choice
	foot touches
}

const maxSteps = 400_000

// from explores the states after m. gone are the splits that would exit.
func (x *explorer) from(m *machine.Machine, tr *order.Tracker, asleep []sleeper, gone []machine.Choice) {
	if x.steps > maxSteps {
		return
	}
	if st := m.Stopped(); st != nil {
		x.broken = fmt.Sprintf("stopped: %+v", *st)
		return
	}
	type next struct {
		c  machine.Choice
		m  *machine.Machine
		w  *watcher
		at touches
	}
	var list []next
	gone = slices.Clone(gone)
	for _, c := range m.Enabled(nil) {
		if c.Kind == machine.GiveUp || slices.Contains(gone, c) {
			continue
		}
		if slices.ContainsFunc(asleep, func(s sleeper) bool { return s.c == c }) {
			continue
		}
		w := &watcher{tr: tr.Clone(), passed: map[split]bool{}}
		n := m.Fork(w, nil)
		n.Step(c)
		x.steps++
		if w.exited && !w.other && c.Kind == machine.Run {
			gone = append(gone, c)
			continue
		}
		if len(w.foot) == 0 && !x.all {
			// It touches nothing shared: every schedule may as well take it first.
			x.from(n, w.tr, asleep, gone)
			return
		}
		list = append(list, next{c, n, w, w.foot})
	}
	if len(list) == 0 {
		x.runs++
		return
	}
	for _, n := range list {
		var still []sleeper
		for _, s := range asleep {
			if !x.all && !s.foot.meets(n.at) {
				still = append(still, s)
			}
		}
		x.from(n.m, n.w.tr, still, gone)
		if !x.all {
			asleep = append(slices.Clip(asleep), sleeper{n.c, n.at})
		}
	}
}
