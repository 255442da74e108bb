package lanes

import "slices"

// A state is comparable, so that it can be a map's key. Its runner lays out its bytes:
// program counters, registers, words, tokens, operations in flight, mbarriers, named
// barriers, and the warps that wait at one of these.
type state [maxState]uint8

const maxState = 104

// A code is an operation of one lane.
type code struct {
	Op
	word    int   // offset in a state of the word that it accesses, less than 0 for none
	any     []int // the offsets, where the register says which
	bar     int   // offset of its barrier
	k       uint8
	value   uint8 // what it writes, but for FromReg
	private bool  // no other lane notices
	writes  bool
	strong  bool
	met     int // the phase that it was charged to first, less than 0 for none
}

// A thread is an active lane.
type thread struct {
	warp, lane int
	code       []code
	flights    []int // the asynchronous operations of its code
}

// A global is a word of global memory: its offset in a state, its area and index.
type global struct{ at, area, index int }

// A runner steps states of one program.
type runner struct {
	p       *Program
	threads []thread
	regs    int // offsets
	words   int
	tokens  int // of each thread
	flying  int // of each thread, a bit for each flight
	mbars   int // of each CTA
	named   int // arrivals, of each CTA
	stopped int // warps
	size    int
	initial []uint8
	global  []global
	phases  bool // see Result
	loose   bool // see Result
}

// newRunner lays out the states of a program; nil if they are too large.
func newRunner(p *Program) *runner {
	r := &runner{p: p}
	for w := range p.Warps {
		for lane := range p.Lanes {
			r.threads = append(r.threads, thread{warp: w, lane: lane})
		}
	}
	r.regs = len(r.threads)
	r.words = r.regs + Regs*len(r.threads)
	n := r.place()
	r.tokens = r.words + n
	r.flying = r.tokens + len(r.threads)
	r.mbars = r.flying + len(r.threads)
	r.named = r.mbars + barSize*len(p.Counts)*p.CTAs
	r.stopped = r.named + MaxBars*p.CTAs
	r.size = r.stopped + 1
	if r.size > maxState {
		return nil
	}
	for i := range r.threads {
		if len(r.threads[i].flights) > 8 {
			return nil
		}
		for j := range r.threads[i].code {
			if c := &r.threads[i].code[j]; c.bar >= 0 {
				c.bar += r.mbars
				if c.Kind == Sync || c.Kind == BarArrive {
					c.bar += r.named - r.mbars
				}
			}
		}
	}
	return r
}

// code returns a warp's operations, turn after turn.
func (p *Program) code(warp int) []Op {
	var all []Op
	for range p.Turns {
		all = append(all, p.Warps[warp]...)
	}
	return all
}

// turned returns an operation as it is in a turn.
func (o Op) turned(turn int) Op {
	grown := o.Turn * uint8(turn)
	switch o.Kind {
	case Poll, Skip, Trap, Vote:
		o.K += grown
	case Wait, Test:
		o.N = (o.N + grown) & 1
	case Store, StoreStrong, Red, Atom:
		o.N += grown
	}
	return o
}

// place gives every word that is accessed an offset, and the lanes their code.
func (r *runner) place() int {
	p := r.p
	shared := p.shared()
	known := map[[3]int]int{}
	for i := range r.threads {
		t := &r.threads[i]
		for n, o := range p.code(t.warp) {
			o = o.turned(n / max(1, len(p.Warps[t.warp])))
			c := code{Op: o, word: -1, bar: -1, k: o.K, value: o.N, met: -1}
			var memory bool
			memory, c.writes, c.strong = o.touches()
			if memory && o.Only>>t.lane&1 != 0 {
				c.private = !o.copies()
				for _, i := range p.words(o, t.warp, t.lane) {
					key := [3]int{int(o.Area), p.copy(int(o.Area), t.warp), i}
					at, ok := known[key]
					if !ok {
						at = r.words + len(known)
						known[key] = at
						r.initial = append(r.initial, p.Areas[o.Area].Init)
						if !p.Areas[o.Area].Shared {
							r.global = append(r.global, global{at, key[0], key[2]})
						}
					}
					c.word = at
					c.any = append(c.any, at)
					c.private = c.private && shared.private(key[0], key[1], key[2])
				}
			}
			cta := t.warp / p.perCTA()
			switch {
			case o.atBarrier():
				c.Bar = o.bar(t.lane)
				c.bar = barSize * (len(p.Counts)*cta + int(c.Bar))
			case o.Kind == Sync || o.Kind == BarArrive:
				c.bar = MaxBars*cta + int(o.Bar)
			}
			if o.flies() {
				t.flights = append(t.flights, len(t.code))
			}
			if o.KLane {
				c.k += uint8(t.lane)
			}
			switch o.Value {
			case ByLane:
				c.value += uint8(t.lane)
			case LaneBit:
				c.value = 1 << t.lane
			}
			t.code = append(t.code, c)
		}
	}
	return len(known)
}

// start returns the first state; false is a trap on the way to it.
func (r *runner) start() (state, bool) {
	var s state
	copy(s[r.words:], r.initial)
	for cta := range r.p.CTAs {
		for b, n := range r.p.Counts {
			bar := s[r.mbars+barSize*(len(r.p.Counts)*cta+b):]
			bar[pending], bar[expected], bar[alive] = n, n, 1
		}
	}
	for t := range r.threads {
		if !r.settle(&s, t) {
			return s, false
		}
	}
	return s, r.meet(&s)
}

// at returns a thread's next operation, nil at its end.
func (r *runner) at(s *state, t int) *code {
	if pc := int(s[t]); pc < len(r.threads[t].code) {
		return &r.threads[t].code[pc]
	}
	return nil
}

// word returns the offset of the word that a thread's operation accesses.
func (r *runner) word(s *state, t int, c *code) int {
	if c.At != ByReg || c.word < 0 {
		return c.word
	}
	// any begins with the word of register value 0.
	return c.any[*r.reg(s, t, c.Reg)%Indexed]
}

func (r *runner) reg(s *state, t int, n uint8) *uint8 { return &s[r.regs+Regs*t+int(n)] }

// settle takes the steps of a thread that no other lane notices; false is a trap.
func (r *runner) settle(s *state, t int) bool {
	for {
		c := r.at(s, t)
		if c == nil {
			return true
		}
		mine := c.Only>>r.threads[t].lane&1 != 0
		switch {
		case c.Kind == Skip:
			if !mine || !c.Cmp.holds(*r.reg(s, t, c.Reg), c.k) {
				s[t] += c.N
			}
		case !mine:
		case c.Kind == Trap:
			if c.Cmp.holds(*r.reg(s, t, c.Reg), c.k) {
				return false
			}
		case c.private && r.enabled(s, t):
			r.access(s, t, c)
		default:
			return true
		}
		s[t]++
	}
}

// together reports whether all lanes that execute a join stand at it, as t does.
func (r *runner) together(s *state, t int) bool {
	first := t - r.threads[t].lane
	only := r.at(s, t).Only
	for i := range r.p.Lanes {
		if only>>i&1 != 0 && s[first+i] != s[t] {
			return false
		}
	}
	return true
}

// pass moves the lanes that execute the join at which t stands past it.
func (r *runner) pass(s *state, t int) bool {
	first := t - r.threads[t].lane
	only := r.at(s, t).Only
	r.tell(s, t)
	for i := range r.p.Lanes {
		if only>>i&1 != 0 {
			s[first+i]++
		}
	}
	for i := range r.p.Lanes {
		if only>>i&1 != 0 && !r.settle(s, first+i) {
			return false
		}
	}
	return true
}

// tell performs the vote or the shfl at which lanes stand together, each at its code. t
// is the thread of one of them.
func (r *runner) tell(s *state, t int) {
	first, c := t-r.threads[t].lane, r.at(s, t)
	if !c.tells() {
		return
	}
	result := uint8(0)
	if c.Kind == Shuffle {
		result = *r.reg(s, first+int(c.N), c.Reg)
	}
	for i := range r.p.Lanes {
		if o := r.at(s, first+i); c.Kind == Vote && c.Only>>i&1 != 0 && o.Cmp.holds(*r.reg(s, first+i, c.Reg), o.k) {
			result |= 1 << i
		}
	}
	if c.Kind == Vote && c.N != Ballot {
		result = one(result != 0 && (c.N == Any || result == c.Only))
	}
	for i := range r.p.Lanes {
		if c.Only>>i&1 != 0 {
			*r.reg(s, first+i, c.Reg) = result
		}
	}
}

func one(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// meet takes every complete bar.warp.sync, vote and shfl. They depend on nothing else.
func (r *runner) meet(s *state) bool {
	for t := 0; t < len(r.threads); {
		if c := r.at(s, t); c == nil || !c.meets() || !r.together(s, t) {
			t++
			continue
		}
		if !r.pass(s, t) {
			return false
		}
		t -= r.threads[t].lane
	}
	return true
}

// enabled reports whether a thread can take its next step. A join is a step of its
// warp's first lane.
func (r *runner) enabled(s *state, t int) bool {
	c := r.at(s, t)
	if c == nil {
		return false
	}
	if r.p.Joint && c.acts() {
		return r.together(s, t) && r.all(s, t, r.over)
	}
	switch c.Kind {
	case Poll:
		return c.Cmp.holds(s[c.word], c.k)
	case Lock:
		return s[r.word(s, t, c)] == 0
	case Wait, WaitToken:
		return r.over(s, t)
	case Drain:
		return !r.copying(s, t)
	case WarpSync, Vote, Shuffle:
		return false // meet takes it
	case Sync, BarArrive:
		w := r.threads[t].warp
		return r.threads[t].lane == 0 && s[r.stopped]>>w&1 == 0 && r.together(s, t)
	}
	return true
}

// over reports whether a thread's operation at an mbarrier need not wait, or no longer.
func (r *runner) over(s *state, t int) bool {
	switch c := r.at(s, t); c.Kind {
	case WaitToken:
		return token(s[c.bar], c.Bar) != s[r.tokens+t]
	case Wait:
		return s[c.bar]&1 != c.N
	}
	return true
}

// all reports whether something holds for every lane that executes what t stands at.
func (r *runner) all(s *state, t int, holds func(*state, int) bool) bool {
	first := t - r.threads[t].lane
	for i := range r.p.Lanes {
		if r.at(s, t).Only>>i&1 != 0 && !holds(s, first+i) {
			return false
		}
	}
	return true
}

// access takes an access to memory.
func (r *runner) access(s *state, t int, c *code) {
	m := &s[r.word(s, t, c)]
	v := c.value
	if c.Value == FromReg {
		v = *r.reg(s, t, c.Reg) + c.N
	}
	old := *m
	switch c.Kind {
	case Store, StoreStrong:
		*m = v
	case Load, LoadStrong, Poll:
		*r.reg(s, t, c.Reg) = old
	case Lock:
		*m = 1
	case Red, Atom:
		switch c.Do {
		case Add:
			*m += v
		case Min:
			*m = min(old, v)
		case Max:
			*m = max(old, v)
		case Or:
			*m |= v
		case Exch:
			*m = v
		case Inc:
			*m++
			if old >= v {
				*m = 0
			}
		case Cas:
			if old == c.k {
				*m = v
			}
		}
		if c.Kind == Atom {
			*r.reg(s, t, c.Reg) = old
		}
	}
}

// step takes a thread's next operation; false is a trap.
func (r *runner) step(s *state, t int) bool {
	c := r.at(s, t)
	switch c.Kind {
	case Sync, BarArrive:
		return r.bar(s, t, c) && r.meet(s)
	default:
		if r.p.Joint && c.acts() {
			r.all(s, t, func(s *state, t int) bool { r.barrier(s, t, r.at(s, t)); return true })
			return r.pass(s, t) && r.meet(s)
		}
		if c.flies() {
			s[r.flying+t] |= 1 << slices.Index(r.threads[t].flights, int(s[t]))
		}
		switch {
		case c.atBarrier():
			r.barrier(s, t, c)
		case c.word >= 0 && !c.copies():
			r.access(s, t, c)
		}
	}
	s[t]++
	return r.settle(s, t) && r.meet(s)
}

// bar has a warp arrive at a named barrier.
func (r *runner) bar(s *state, t int, c *code) bool {
	s[c.bar]++
	full := s[c.bar] == c.N
	if c.Kind == Sync {
		s[r.stopped] |= 1 << r.threads[t].warp
	}
	if full {
		s[c.bar] = 0
		for w := range r.p.Warps {
			if s[r.stopped]>>w&1 == 0 {
				continue
			}
			first := w * r.p.Lanes
			if r.at(s, first).bar == c.bar {
				s[r.stopped] &^= 1 << w
				if !r.pass(s, first) {
					return false
				}
			}
		}
	}
	if c.Kind == BarArrive {
		return r.pass(s, t)
	}
	return true
}

// races reports whether the next steps of two threads race.
func (r *runner) races(s *state, t, u int) bool {
	a, b := r.at(s, t), r.at(s, u)
	if a == nil || b == nil || a.word < 0 || b.word < 0 || a.copies() || b.copies() ||
		!a.writes && !b.writes || a.strong && b.strong || r.word(s, t, a) != r.word(s, u, b) {
		return false
	}
	return a.Kind != Store || b.Kind != Store || r.stores(s, t, a) != r.stores(s, u, b)
}

func (r *runner) stores(s *state, t int, c *code) uint8 {
	if c.Value == FromReg {
		return *r.reg(s, t, c.Reg) + c.N
	}
	return c.value
}
