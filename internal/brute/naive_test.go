package brute_test

import (
	"fmt"
	"slices"

	"muster/internal/brute"
	"muster/internal/machine"
)

// An outcome holds the outcomes of a program that both brute force and the machine
// define: global memory and the loads' values of runs that end; the places where
// threads are stuck; and the operations that race.
type outcome struct {
	finals   map[brute.Memory]bool
	stuck    map[brute.Stand]bool
	races    map[[2]int]bool
	faults   bool
	complete bool
	states   int
}

func newOutcome() *outcome {
	return &outcome{finals: map[brute.Memory]bool{}, stuck: map[brute.Stand]bool{}, races: map[[2]int]bool{}}
}

// byBrute is the outcome of brute force.
func byBrute(p *brute.Program, limit int) (*outcome, *brute.Result) {
	r := brute.Explore(p, true, limit)
	o := newOutcome()
	for _, m := range r.Final {
		o.finals[m] = true
	}
	for _, s := range r.Stands {
		o.stuck[s] = true
	}
	for _, q := range r.Pairs {
		o.races[q] = true
	}
	o.faults, o.complete, o.states = r.Fault, r.Complete && r.Memories < brute.MostMemories, r.States
	return o, &r
}

// differ says how two outcomes are not the same; empty if they are.
func (o *outcome) differ(q *outcome, left, right string) string {
	text := ""
	text += differ("final memory", left, o.finals, q.finals) + differ("final memory", right, q.finals, o.finals)
	text += differ("stuck state", left, o.stuck, q.stuck) + differ("stuck state", right, q.stuck, o.stuck)
	text += differ("race", left, o.races, q.races) + differ("race", right, q.races, o.races)
	if o.faults != q.faults {
		text += fmt.Sprintf("faults: %s %v, %s %v\n", left, o.faults, right, q.faults)
	}
	return text
}

func differ[K comparable](what, who string, a, b map[K]bool) string {
	n, example := 0, ""
	for k := range a {
		if !b[k] {
			n++
			if s := fmt.Sprint(k); example == "" || s < example {
				example = s
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s only of %s, like %s\n", n, what, who, example)
}

// A subject is a program as a launch of the machine.
type subject struct {
	p       *brute.Program
	cfg     machine.Config
	op      []int // of each instruction, -1 for none
	slots   uint64
	threads map[[2]int32]int // thread by CTA and warp
	base    uint64           // of buffer data
	out     uint64
}

func newSubject(p *brute.Program) (*subject, error) {
	text, lines := p.Kernel()
	cfg, err := configText(p, text)
	if err != nil {
		return nil, err
	}
	x := &subject{p: p, cfg: cfg, threads: map[[2]int32]int{}}
	for pc := range cfg.Program.Len() {
		op := -1
		if line := cfg.Program.Pos(int32(pc)).Line; line > 0 {
			op = lines[line-1]
		}
		x.op = append(x.op, op)
	}
	for _, s := range cfg.Program.Symbols() {
		if s.Name == "slots" {
			x.slots = s.Addr
		}
	}
	for t := range p.Threads {
		cta, warp := p.Where(t)
		x.threads[[2]int32{int32(cta), int32(warp)}] = t
	}
	for _, b := range cfg.Buffers {
		if b.Name == "data" {
			x.base = b.Base
		} else {
			x.out = b.Base
		}
	}
	return x, nil
}

// final is what a machine whose run has ended left.
func (x *subject) final(m *machine.Machine) brute.Memory {
	var f brute.Memory
	var data [16 * (brute.Slots - brute.FirstGlob)]byte
	var out [4 * brute.MaxOps]byte
	if !m.ReadGlobal(x.base, data[:]) || !m.ReadGlobal(x.out, out[:]) {
		panic("BUG: a buffer is gone")
	}
	for i := brute.FirstGlob; i < brute.Slots; i++ {
		f.Slots[i] = data[16*(i-brute.FirstGlob)]
	}
	for i := range f.Seen {
		f.Seen[i] = out[4*i]
	}
	return f
}

// stand is where a deadlocked machine stands.
func (x *subject) stand(m *machine.Machine) brute.Stand {
	var s brute.Stand
	for t := range s.At {
		s.At[t] = -1
	}
	for _, w := range m.Waiting() {
		s.At[x.threads[[2]int32{w.CTA, w.Warp}]] = int8(x.op[w.PC])
	}
	for i := range s.Slots {
		mem, addr := machine.Global, x.base+uint64(16*(i-brute.FirstGlob))
		if i < brute.FirstGlob {
			mem, addr = machine.SharedOf(int32(x.p.SlotHome(i))), x.slots+uint64(16*i)
		}
		v, _ := m.Peek(mem, addr, 4)
		s.Slots[i] = uint8(v)
	}
	return s
}

// A touch is bytes that one step of the machine reads or writes.
type touch struct {
	mem                  machine.MemID
	from, to             uint64
	write, strong, async bool
}

// A recorder keeps what the last step touched.
type recorder struct{ touches []touch }

func (r *recorder) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess:
		for l := range 32 {
			if ev.Mask>>l&1 != 0 {
				r.touches = append(r.touches, touch{ev.Mem, ev.Addr[l], ev.Addr[l] + uint64(ev.Size),
					ev.Access&machine.Write != 0, ev.Sem != machine.Weak, ev.Proxy != machine.Generic})
			}
		}
	case machine.EvSource:
		for _, s := range ev.Op.Reads {
			r.touches = append(r.touches, touch{s.Mem, s.Addr, s.Addr + s.Len, false, false, ev.Op.Proxy != machine.Generic})
		}
	case machine.EvWritten:
		for _, s := range ev.Op.Writes {
			r.touches = append(r.touches, touch{s.Mem, s.Addr, s.Addr + s.Len, true, ev.Op.Kind == machine.OpBulkReduce, ev.Op.Proxy != machine.Generic})
		}
	}
}

func conflict(a, b []touch) bool {
	for _, x := range a {
		for _, y := range b {
			if x.mem == y.mem && x.from < y.to && y.from < x.to && (x.write || y.write) && !(x.strong && y.strong && x.async == y.async) {
				return true
			}
		}
	}
	return false
}

// opOf is the operation that a choice belongs to, -1 for none.
func (x *subject) opOf(m *machine.Machine, at []machine.WaitingSplit, c machine.Choice) int {
	switch c.Kind {
	case machine.Start:
		return -1
	case machine.Milestone:
		for _, op := range m.InFlight() {
			if op.ID == c.Op {
				return x.op[op.PC]
			}
		}
	}
	for i := range at {
		if w := &at[i]; w.CTA == c.CTA && w.Warp == c.Warp && w.Mask>>c.Lane&1 != 0 {
			return x.op[w.PC]
		}
	}
	panic("BUG: a choice of nobody")
}

// quiet reports whether a choice is a step that commutes with all others and disables
// none, so that it may come first: a step before or behind the operations, a fence, or
// the end of an operation that signals no barrier.
func (x *subject) quiet(m *machine.Machine, c machine.Choice, op int) bool {
	if op < 0 || x.p.Operation(op).Kind == brute.Fence {
		return true
	}
	if c.Kind == machine.Milestone {
		for _, o := range m.InFlight() {
			if o.ID == c.Op {
				return o.Stage == machine.Written && len(o.Bars) == 0
			}
		}
	}
	return false
}

// byMachine takes the machine through every interleaving of what is not quiet.
func byMachine(x *subject, limit int) (*outcome, error) {
	first, err := machine.New(x.cfg)
	if err != nil {
		return nil, err
	}
	rec := &recorder{}
	o := newOutcome()
	seen := map[uint64]bool{}
	var todo []*machine.Machine
	arrive := func(m *machine.Machine) {
		x.settle(m)
		if h := m.Hash(); !seen[h] {
			seen[h] = true
			todo = append(todo, m)
		}
	}
	arrive(first.Fork(rec, nil))
	for len(todo) > 0 {
		if len(seen) > limit {
			return o, nil
		}
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		choices := m.Enabled(nil)
		if len(choices) == 0 {
			o.end(x, m)
			continue
		}
		at := m.Waiting()
		touches := make([][]touch, len(choices))
		for i, c := range choices {
			n := m.Clone()
			rec.touches = nil
			n.Step(c)
			touches[i] = slices.Clip(rec.touches)
			arrive(n)
		}
		for i := range choices {
			for j := range i {
				if conflict(touches[i], touches[j]) {
					a, b := x.opOf(m, at, choices[i]), x.opOf(m, at, choices[j])
					o.races[[2]int{min(a, b), max(a, b)}] = true
				}
			}
		}
	}
	o.complete, o.states = true, len(seen)
	return o, nil
}

// settle takes the quiet steps, and, where nothing else is left, lets tests fail: each
// returns to itself.
func (x *subject) settle(m *machine.Machine) {
	for {
		choices := m.Enabled(nil)
		if len(choices) == 0 {
			return
		}
		at := m.Waiting()
		i := slices.IndexFunc(choices, func(c machine.Choice) bool {
			return c.Kind == machine.GiveUp || x.quiet(m, c, x.opOf(m, at, c))
		})
		if i < 0 {
			return
		}
		m.Step(choices[i])
	}
}

// end enters a machine that has no choice left.
func (o *outcome) end(x *subject, m *machine.Machine) {
	m.Conclude()
	switch s := m.Stopped(); {
	case s == nil:
		o.finals[x.final(m)] = true
	case s.Kind == machine.Deadlock:
		o.stuck[x.stand(m)] = true
	default:
		o.faults = true
	}
}
