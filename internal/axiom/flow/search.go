package flow

import (
	"fmt"
	"math/bits"

	"muster/internal/axiom"
)

// The source of a word of a read, if not an event.
const (
	initial = -1 // not yet decided
	open    = -2 // it is not yet decided
)

// An event is a memory operation on one scalar, a fence, or a barrier's arrival or
// passing.
type event struct {
	thread, serial int // equal serials in a thread: elements of one vector
	kind           eventKind
	sem            axiom.Sem
	scope          axiom.Scope
	// Of an access.
	strong, read, write, rmw bool
	result                   bool // a read operation (ISA 8.4: not red)
	at, words                int  // places
	proxy                    Proxy
	virtual                  int // 0, or the alias by which a place is accessed
	pc                       int
	src                      [2]int
	since                    [2]int // for an open source: it becomes ready after this time; -1: not yet considered
	op                       Op
	val                      [2]*expr // written; nil for an RMW whose result is not yet known
	args                     []*expr  // of an RMW
	ready                    int      // when its value became known, 0 if unknown
	// For a poll's first word: the awaited value, and whether it waits for ever.
	poll, stuck bool
	cmp         Cmp
	want        uint32
	// Of a barrier: met is the generation that a barrier of a litmus test is part of, counting
	// from 1, 0 if none yet.
	group, bar, quorum, met int
}

type eventKind uint8

const (
	access eventKind = iota
	fence
	arrive
	pass
	proxyFence
)

// An expr is a value that may depend on reads. With b it is an operation, else a
// constant, or with event > 0 a word that event - 1 read.
type expr struct {
	c           uint32
	event, word int
	op          Op
	a, b        *expr
}

func constant(c uint32) *expr { return &expr{c: c} }

// A state is a partial execution: each thread has advanced as far as possible without
// unknown values.
type state struct {
	p     *Program
	ev    []event
	th    []runner
	clock int
	trap  bool
	out   bool
	// assumed are the ways that branches went before their conditions were known.
	assumed []assumption
}

type runner struct {
	pc, serial int
	regs       [MaxRegs]*expr
	bar        int // index of the current barrier
	at         int // its event, + 1
	wait       int // the read whose poll the thread waits for, + 1
	in, done   bool
	stuck      bool
	loops      int
	guess      guess // how the branch at hand goes
}

func (s *state) clone() *state {
	t := *s
	t.ev = append(make([]event, 0, len(s.ev)+8), s.ev...)
	t.th = append([]runner(nil), s.th...)
	t.assumed = s.assumed[:len(s.assumed):len(s.assumed)]
	return &t
}

// know evaluates an expression, if its value is known.
func (s *state) know(e *expr) (uint32, bool) {
	switch {
	case e == nil:
		return 0, true // a register never written: the program starts with zeros
	case e.b != nil:
		a, ok := s.know(e.a)
		b, ok2 := s.know(e.b)
		if !ok || !ok2 {
			return s.masked(e)
		}
		return apply(e.op, a, b), true
	case e.event == 0:
		return e.c, true
	}
	return s.loaded(e.event-1, e.word)
}

// loaded returns the value that an event read in one of its words.
func (s *state) loaded(i, word int) (uint32, bool) {
	r := &s.ev[i]
	switch w := r.src[word]; w {
	case open:
		return 0, false
	case initial:
		return s.p.start(r.at + word), true
	default:
		v := &s.ev[w]
		if v.ready == 0 {
			return 0, false
		}
		return s.know(v.val[r.at+word-v.at])
	}
}

func (s *state) eval(v Value, t *runner) *expr {
	if v.Reg == 0 {
		return constant(v.Const)
	}
	r := t.regs[v.Reg-1]
	if k, ok := s.know(r); ok {
		return constant(k + v.Const)
	}
	if v.Const == 0 {
		return r
	}
	return &expr{op: Add, a: r, b: constant(v.Const)}
}

// A search enumerates the executions of a program that the axioms allow.
//
// No-Thin-Air (ISA 8.10.4) makes reads-from and dependencies acyclic, so every execution
// can be built in an order in which a read follows the write that it reads from, and
// dependent events follow a read: by data, addresses and branches. So a thread continues
// past a read whose value is not needed yet, which produces load buffering, and stops at
// a branch or an address that depends on it. Code after a branch, or after an access that
// might be out of bounds, depends on it (an implementation may know better, which allows
// more).
//
// A read is decided once: it takes a write that is ready then, or one that becomes ready
// later. So each execution is found exactly once.
type search struct {
	p    *Program
	th   []thread
	may  [][]uint64 // by thread and pc: words that may still be written
	most int        // graphs
	// found is called with each execution and a coherence order; it returns false to end
	// the search.
	found func(*graph) bool
	loops int // bound on a thread's backward jumps
	// free: branches are no dependence.
	free bool
	// looped says that the bound left executions out. stop, if set, is asked now and then.
	looped bool
	why    string // of cut
	stop   func() bool
	graph  int
	states int
	cut    bool
	end    bool
	err    error
}

func (x *search) prepare() {
	for i := range x.th {
		code := x.th[i].code
		may := make([]uint64, len(code)+1)
		for again := true; again; {
			again = false
			for pc := len(code) - 1; pc >= 0; pc-- {
				in := &code[pc]
				old := may[pc]
				if in.Kind != Halt {
					may[pc] |= may[pc+1]
				}
				if in.Kind == Jump {
					may[pc] |= may[in.Target]
				}
				if k := in.Kind; k == Store || k == Atom || k == Red || k == Poll && in.By != Load {
					may[pc] |= x.written(i, in)
				}
				again = again || may[pc] != old
			}
		}
		x.may = append(x.may, may)
	}
}

func (x *search) written(i int, in *Instr) uint64 {
	if in.At.Reg > 0 {
		return ^uint64(0)
	}
	at := in.At.Const
	if in.Bytes {
		at /= 4
	}
	if !x.p.within(in, at) {
		return 0
	}
	n := in.elements() * in.width()
	return (1<<n - 1) << x.p.place(x.th[i].cta, in.Shared, at)
}

const (
	maxEvents = 64
	maxPlaces = 64
)

func (x *search) run() {
	if x.p.places() > maxPlaces {
		x.err = fmt.Errorf("%d words; at most %d are taken", x.p.places(), maxPlaces)
		return
	}
	x.prepare()
	x.branch(&state{p: x.p, th: make([]runner, len(x.th)), clock: 1})
}

// over reports whether the search has ended. It asks stop now and then.
func (x *search) over() bool {
	if x.states++; x.stop != nil && x.states%64 == 0 && x.stop() {
		x.cut, x.why = true, Stopped
	}
	return x.end || x.cut || x.err != nil
}

// branch continues from a state in every way.
func (x *search) branch(s *state) {
	if x.over() || !x.advance(s) {
		return
	}
	if len(s.ev) > maxEvents {
		x.cut, x.why = true, fmt.Sprintf("an execution has more than %d events", maxEvents)
		return
	}
	g := &graph{p: x.p, th: x.th, state: s}
	if !s.asAssumed(false) || !g.plausible() || x.free && x.guesses(s) {
		return
	}
	r, word := x.next(s)
	if r < 0 {
		if !x.gather(s) {
			x.leaf(s)
		}
		return
	}
	e := &s.ev[r]
	since := e.since[word]
	s.clock++
	take := func(w int) {
		t := s.clone()
		if x.assign(t, r, word, w) {
			x.branch(t)
		}
	}
	if since < 0 {
		take(initial)
	}
	at := e.at + word
	for w := range s.ev {
		if v := &s.ev[w]; v.write && v.ready > max(since, 0) && w != r && at >= v.at && at < v.at+v.words {
			take(w)
		}
	}
	if e.poll && word == 0 && since < 0 {
		t := s.clone()
		f := &t.ev[r]
		f.stuck, f.write, f.rmw = true, false, false
		f.since[0] = t.clock
		t.th[e.thread].stuck = true
		t.th[e.thread].done = true
		x.branch(t)
	}
	if x.later(s, r, word) {
		t := s.clone()
		t.ev[r].since[word] = t.clock
		x.branch(t)
	}
}

// assign sets the source of a read's word to a write.
func (x *search) assign(s *state, r, word, w int) bool {
	e := &s.ev[r]
	e.src[word] = w
	if e.poll && word == 0 {
		v, _ := s.loaded(r, 0)
		if e.cmp.holds(v, e.want) == e.stuck {
			return false
		}
	}
	s.settle()
	return true
}

// combine computes the value that a read-modify-write writes, if any.
func (s *state) combine(r int) bool {
	e := &s.ev[r]
	if e.stuck {
		return true
	}
	var old, src [4]uint32
	for k := range e.words {
		v, ok := s.loaded(r, k)
		if !ok && !(s.p.reasons && e.op == Exch) {
			return false
		}
		old[k] = v
	}
	for k, a := range e.args {
		v, ok := s.know(a)
		if !ok {
			return false
		}
		src[k] = v
	}
	v, wrote := combine(e.op, old[:e.words], src[:len(e.args)])
	if !wrote {
		e.write, e.rmw = false, false
		return true
	}
	for k := range e.words {
		e.val[k] = constant(v[k])
	}
	return true
}

// settle records writes whose values have become known.
func (s *state) settle() {
	for again := true; again; {
		again = false
		for i := range s.ev {
			e := &s.ev[i]
			if e.kind != access || !e.write || e.ready > 0 || e.stuck {
				continue
			}
			if e.rmw && e.val[0] == nil && !s.combine(i) || !e.write {
				again = again || !e.write
				continue
			}
			known := true
			for k := range e.words {
				if e.val[k] == nil {
					known = false
				} else if v, ok := s.know(e.val[k]); ok {
					e.val[k] = constant(v)
				} else {
					known = false
				}
			}
			if known {
				e.ready, again = s.clock, true
			}
		}
	}
}

// next picks the read to decide: one not considered yet, or one that waits for a later
// write that may exist.
func (x *search) next(s *state) (r, word int) {
	for i := range s.ev {
		e := &s.ev[i]
		if e.kind != access || !e.read || e.stuck {
			continue
		}
		for k := range e.words {
			if e.src[k] == open && e.since[k] < 0 {
				return i, k
			}
		}
	}
	for i := range s.ev {
		e := &s.ev[i]
		if e.kind != access || !e.read || e.stuck {
			continue
		}
		for k := range e.words {
			if e.src[k] != open {
				continue
			}
			for w := range s.ev {
				if v := &s.ev[w]; v.write && v.ready > e.since[k] && w != i && e.at+k >= v.at && e.at+k < v.at+v.words {
					return i, k
				}
			}
		}
	}
	return -1, 0
}

// later reports whether a write of a word may still become ready.
func (x *search) later(s *state, r, word int) bool {
	at := s.ev[r].at + word
	for i := range s.ev {
		e := &s.ev[i]
		if e.kind == access && e.write && e.ready == 0 && !e.stuck && i != r && at >= e.at && at < e.at+e.words {
			return true
		}
	}
	for i := range s.th {
		if t := &s.th[i]; !t.done && x.may[i][t.pc]>>at&1 != 0 && i != s.ev[r].thread {
			return true
		}
	}
	return false
}

// leaf completes a state in which only the polls that never end are undecided: each reads
// the last write of its word for ever.
func (x *search) leaf(s *state) {
	for i := range s.ev {
		e := &s.ev[i]
		if e.kind != access || !e.read {
			continue
		}
		for k := range e.words {
			if e.src[k] != open {
				continue
			}
			if !e.stuck {
				return // it waits for a write that never happens
			}
			s.take(x, i, k)
			return
		}
	}
	for i := range s.ev {
		if e := &s.ev[i]; e.kind == access && e.write && e.ready == 0 && !e.stuck {
			return // a value that is its own cause
		}
	}
	if s.asAssumed(true) {
		x.judge(s)
	}
}

func (s *state) take(x *search, r, word int) {
	for w := initial; w < len(s.ev); w++ {
		e := &s.ev[r]
		at := e.at + word
		if w >= 0 {
			if v := &s.ev[w]; !v.write || v.stuck || w == r || at < v.at || at >= v.at+v.words || v.ready == 0 {
				continue
			}
		}
		t := s.clone()
		if x.assign(t, r, word, w) {
			x.leaf(t)
		}
	}
}

// A set is a set of events.
type set uint64

func (s set) has(i int) bool { return s>>uint(i)&1 != 0 }

func trailing(s set) int { return bits.TrailingZeros64(uint64(s)) }
