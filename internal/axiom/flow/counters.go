package flow

import (
	"math"
	"math/rand/v2"

	"muster/internal/axiom"
)

// Counters returns a drawn program whose CTAs talk to each other through words that they change
// by atomic operations: last and first arrivers, slots of a list, schedulers, sums, barriers of
// the grid, words that are handed on. One to three stages follow each other, right at first, and
// then there may be changes that break something.
func Counters(seed uint64) *Program {
	c := &counting{generator: &generator{Rand: rand.New(rand.NewPCG(seed, 0x636f756e74)), p: &Program{Words: 32}}}
	c.ctas = pick(c.generator, 2, 2, 2, 2, 3, 3, 4)
	c.per = 1
	if c.ctas < 4 && c.chance(30) {
		c.per, c.lanes = 2, c.chance(40)
		c.shared = c.chance(80)
	}
	c.alike, c.varied = c.chance(65), c.chance(25)
	c.n, c.inner = c.ctas*c.per, axiom.GPU
	var stages []stage
	for i := range pick(c.generator, 1, 1, 1, 1, 1, 2, 2, 3) {
		if i > 0 && Only >= 0 {
			break
		}
		if s := c.stage(); s != nil && c.words < 28 {
			stages = append(stages, s)
		}
	}
	c.emit(stages)
	for range pick(c.generator, 0, 0, 0, 1, 1, 1, 2, 3) {
		if Only >= 0 {
			break
		}
		c.damage()
	}
	c.p.Share()
	return c.p
}

// Share gives all CTAs the code of the first one, if they are alike.
func (p *Program) Share() {
	if !p.Alike {
		return
	}
	var all []Warp
	for cta := range p.CTAs {
		for _, w := range p.Warps {
			if w.CTA == 0 {
				w.CTA = cta
				all = append(all, w)
			}
		}
	}
	p.Warps = all
	*p = *p.Clone()
}

// A counting draws programs with counters.
type counting struct {
	*generator
	ctas, per, n int
	lanes        bool // threads of a CTA are lanes of one warp
	alike        bool // CTAs have the same code
	varied       bool // each thread draws how it does what it does
	inner        axiom.Scope
	numbers      []int // registers with numbers
}

// A party is a thread.
type party struct {
	c      *counting
	cta, k int // thread k of the CTA
	me     Value
	phases [][]Instr
}

// A stage is what all threads do, one after the other.
type stage func(a *party)

func (a *party) add(code ...Instr) {
	last := len(a.phases) - 1
	a.phases[last] = append(a.phases[last], code...)
}

// join is a barrier of the CTA.
func (a *party) join() {
	if a.c.per > 1 {
		a.phases = append(a.phases, nil)
	}
}

// of is a value that differs from thread to thread: from, and step more for each.
func (a *party) of(from, step uint32) Value {
	me := a.me
	return Value{Const: from + step*me.Const, CTA: step * me.CTA}
}

// emit writes the code of all threads.
func (c *counting) emit(stages []stage) {
	c.p.CTAs, c.p.Alike, c.p.Literal = c.ctas, c.alike, c.chance(75)
	if c.shared {
		c.p.Shared = 4
	}
	seed := c.Uint64()
	codes := c.ctas
	if c.alike {
		codes = 1
	}
	for cta := range codes {
		var parties []*party
		for k := range c.per {
			if !c.varied {
				c.Rand = rand.New(rand.NewPCG(seed, 0))
			}
			a := &party{c: c, cta: cta, k: k, me: V(uint32(cta*c.per + k)), phases: [][]Instr{nil}}
			if c.alike {
				a.me = Value{Const: uint32(k), CTA: uint32(c.per)}
			}
			c.regs, c.numbers = 0, nil
			for _, s := range stages {
				s(a)
			}
			parties = append(parties, a)
		}
		c.warps(cta, parties)
	}
}

// warps makes warps of the threads of a CTA.
func (c *counting) warps(cta int, parties []*party) {
	var list []Warp
	for k, a := range parties {
		if k == 0 || !c.lanes {
			list = append(list, Warp{CTA: cta, Index: len(list)})
		}
		w := &list[len(list)-1]
		first := 0
		if c.lanes {
			first = k
		}
		for i, code := range a.phases {
			if first == 0 {
				if i > 0 {
					w.Steps = append(w.Steps, Step{Kind: Barrier})
				}
				w.Steps = append(w.Steps, Step{})
			}
			s := &w.Steps[2*i]
			s.Roles = append(s.Roles, Role{First: first, Lanes: 1, Code: code})
		}
	}
	c.p.Warps = append(c.p.Warps, list...)
}

// scoped is the scope of most operations.
func (c *counting) scoped() axiom.Scope {
	if c.chance(4) {
		return axiom.Sys
	}
	return c.inner
}

func (c *counting) access(k Kind, s axiom.Sem, at Value) Instr {
	return Instr{Kind: k, Sem: s, Scope: c.scoped(), At: at}
}

func (c *counting) read(dst int, at Value, s axiom.Sem) Instr {
	in := c.access(Load, s, at)
	in.Dst = []int{dst}
	return in
}

func (c *counting) write(at, v Value, s axiom.Sem) Instr {
	in := c.access(Store, s, at)
	in.Src = []Value{v}
	return in
}

func (c *counting) update(k Kind, o Op, at Value, s axiom.Sem, v ...Value) Instr {
	in := c.access(k, s, at)
	in.Op, in.Src = o, v
	if k == Atom {
		in.Dst = []int{c.reg()}
	}
	return in
}

func move(o Op, dst int, a, b Value) Instr {
	return Instr{Kind: Move, Op: o, Dst: []int{dst}, Src: []Value{a, b}}
}

// fences draws a fence, or none.
func (c *counting) fences(percent int) []Instr {
	if !c.chance(percent) {
		return nil
	}
	return []Instr{{Kind: Fence, Sem: pick(c.generator, axiom.AcqRel, axiom.SC), Scope: c.scoped()}}
}

func (c *counting) stage() stage {
	list := []func() stage{c.last, c.last, c.last, c.last, c.first, c.slots, c.slots, c.schedule, c.schedule, c.schedule, c.total, c.total,
		c.barrier, c.handOn, c.turns, c.told, c.told, c.within, c.look}
	if Only >= 0 {
		return []func() stage{c.last, c.first, c.slots, c.schedule, c.total, c.barrier, c.handOn, c.turns, c.told, c.within, c.look}[Only]()
	}
	return list[c.IntN(len(list))]()
}

var Only = -1
var Families = []string{"last", "first", "slots", "schedule", "total", "barrier", "handOn", "turns", "told", "within", "look"}

// A draw is how a thread draws a number: atomic operations, which change the word so that last
// and first say who came last and first, and slot is a number of its own.
type draw struct {
	op         Op
	by         func(a *party) []Value
	prepare    func(a *party, r int) (code []Instr, last Value, want uint32)
	first      uint32
	slot       bool // 0, 1, 2 …
	init       uint32
	afterwards uint32
}

// draws draws one.
func (c *counting) draws(n int) draw {
	v := func(x uint32) func(*party) []Value { return func(*party) []Value { return []Value{V(x)} } }
	is := func(x uint32) func(*party, int) ([]Instr, Value, uint32) {
		return func(_ *party, r int) ([]Instr, Value, uint32) { return nil, R(r), x }
	}
	m := uint32(n - 1)
	switch c.IntN(12) {
	case 0, 1, 2, 3, 4:
		return draw{op: Add, by: v(1), prepare: is(m), slot: true, afterwards: m + 1}
	case 5, 6:
		return draw{op: Inc, by: v(m), prepare: is(m), slot: true}
	case 7:
		return draw{op: Inc, by: v(m + 3), prepare: is(m), slot: true, afterwards: m + 1}
	case 8:
		return draw{op: Add, by: v(3), prepare: is(3 * m), afterwards: 3 * (m + 1)}
	case 9:
		return draw{op: Add, by: v(math.MaxUint32), prepare: is(1), init: m + 1, first: m + 1}
	case 10:
		if n == 2 {
			return draw{op: Or, by: func(a *party) []Value { return []Value{a.of(1, 1)} }, afterwards: 3,
				prepare: func(a *party, r int) ([]Instr, Value, uint32) {
					return []Instr{move(Or, r, R(r), a.of(1, 1))}, R(r), 3
				}}
		}
		return draw{op: Xor, by: v(1), prepare: is(m & 1), afterwards: uint32(n) & 1}
	}
	return draw{op: Max, by: func(a *party) []Value { return []Value{a.of(1, 1)} }, prepare: is(m), afterwards: m + 1}
}

// arrive is the draw with what orders it.
func (a *party) arrive(d *draw, count Value, both bool) int {
	c := a.c
	sem := axiom.Relaxed
	fenced := both
	if c.chance(40) {
		sem, fenced = axiom.AcqRel, false
	}
	if fenced {
		a.add(c.fences(100)...)
	}
	in := c.update(Atom, d.op, count, sem, d.by(a)...)
	a.add(in)
	if fenced {
		a.add(c.fences(100)...)
	}
	return in.Dst[0]
}

// begin sets the initial value of a word.
func (c *counting) begin(at Value, v uint32) {
	if v == 0 {
		return
	}
	for len(c.p.Init) <= int(at.Const) {
		c.p.Init = append(c.p.Init, 0)
	}
	c.p.Init[at.Const] = v
}

// decided is code under a condition on a number, in one of several ways.
func (a *party) decided(v Value, want uint32, then, otherwise []Instr) []Instr {
	c := a.c
	switch c.IntN(10) {
	case 9: // as a number that wraps
		r, k := c.reg(), -pick(c.generator, want, want, 1, 2)
		return []Instr{move(Add, r, v, V(k)), {Kind: If, Cmp: Eq, Src: []Value{R(r), V(k + want)}, Body: then, Else: otherwise}}
	case 0:
		return []Instr{{Kind: If, Cmp: Ge, Src: []Value{v, V(want)}, Body: then, Else: otherwise}}
	case 1:
		return []Instr{{Kind: If, Cmp: Lt, Src: []Value{v, V(want)}, Body: otherwise, Else: then}}
	case 2:
		r := c.reg()
		return []Instr{move(Sub, r, V(want), v), {Kind: If, Cmp: Eq, Src: []Value{R(r), V(0)}, Body: then, Else: otherwise}}
	case 3:
		r := c.reg()
		return []Instr{move(IsEq, r, v, V(want)), {Kind: If, Cmp: Ne, Src: []Value{R(r), V(0)}, Body: then, Else: otherwise}}
	case 4:
		r, k := c.reg(), uint32(pick(c.generator, 2, 3, 4))
		return []Instr{move(Mul, r, v, V(k)), {Kind: If, Cmp: Eq, Src: []Value{R(r), V(k * want)}, Body: then, Else: otherwise}}
	case 5:
		return []Instr{{Kind: If, Cmp: Ne, Src: []Value{v, V(want)}, Body: otherwise, Else: then}}
	}
	return []Instr{{Kind: If, Cmp: Eq, Src: []Value{v, V(want)}, Body: then, Else: otherwise}}
}

// data is the semantics of accesses to data.
func (c *counting) dataSem() axiom.Sem {
	return pick(c.generator, axiom.Weak, axiom.Weak, axiom.Weak, axiom.Relaxed, axiom.Volatile)
}

// gather reads some words and adds them up.
func (a *party) gather(from Value, n int, s axiom.Sem) (code []Instr, sum int) {
	c := a.c
	sum, t := c.reg(), c.reg()
	for i := range n {
		at := V(from.Const + uint32(i))
		if i == 0 {
			code = append(code, c.read(sum, at, s))
			continue
		}
		code = append(code, c.read(t, at, s), move(Add, sum, R(sum), R(t)))
	}
	return code, sum
}

// shows is what is done with a result.
func (a *party) shows(sum int, want uint32, out Value) []Instr {
	c := a.c
	switch c.IntN(5) {
	case 0:
		return []Instr{when(Ne, R(sum), V(want), Instr{Kind: Trap})}
	case 1:
		return []Instr{c.update(Red, Add, out, axiom.Relaxed, R(sum))}
	}
	return []Instr{c.write(out, R(sum), c.dataSem())}
}

// last has each thread write its part, and the last one gather them.
func (c *counting) last() stage {
	n := uint32(c.n)
	parts, count, out := c.word(n), c.word(1), c.word(1)
	d, sem, reset := c.draws(c.n), c.dataSem(), c.chance(25)
	c.begin(count, d.init)
	again, before := c.chance(20), c.chance(15)
	return func(a *party) {
		a.add(c.write(a.of(parts.Const, 1), a.of(1, 1), sem))
		if before { // another thread's part, which is not there yet
			r := c.reg()
			a.add(c.read(r, a.of(parts.Const, 1), axiom.Weak))
		}
		r := a.arrive(&d, count, true)
		c.numbers = append(c.numbers, r)
		code, v, want := d.prepare(a, r)
		a.add(code...)
		then, sum := a.gather(parts, int(n), sem)
		then = append(then, a.shows(sum, n*(n+1)/2, out)...)
		if reset {
			then = append(then, c.write(count, V(d.init), pick(c.generator, axiom.Weak, axiom.Relaxed)))
		}
		if again { // something that belongs to the last one
			then = append(then, c.write(V(parts.Const), V(7), sem))
		}
		var otherwise []Instr
		if c.chance(20) {
			otherwise = a.beside(r)
		}
		a.add(a.decided(v, want, then, otherwise)...)
	}
}

// beside is what others do, with or without harm.
func (a *party) beside(r int) []Instr {
	c := a.c
	switch c.IntN(4) {
	case 0:
		return []Instr{move(Add, c.reg(), R(r), V(1))}
	case 1:
		return []Instr{{Kind: Fence, Sem: axiom.AcqRel, Scope: c.scoped()}}
	case 2:
		return []Instr{c.write(V(31), V(5), pick(c.generator, axiom.Weak, axiom.Relaxed))}
	}
	return []Instr{c.write(a.of(uint32(c.words)%16, 1), V(3), axiom.Weak)}
}

// first has the first one do something, found by any operation that tells.
func (c *counting) first() stage {
	flag, out := c.word(1), c.word(1)
	op := pick(c.generator, Exch, Exch, Cas, Cas, Add, Or, Max, Inc)
	sem := c.dataSem()
	same := c.chance(70)
	return func(a *party) {
		v := V(1)
		if !same {
			v = a.of(1, 1)
		}
		src := []Value{v}
		switch op {
		case Cas:
			src = []Value{V(0), v}
		case Inc:
			src = []Value{V(uint32(c.n + 3))}
		}
		in := c.update(Atom, op, flag, pick(c.generator, axiom.Relaxed, axiom.AcqRel, axiom.Acquire), src...)
		c.numbers = append(c.numbers, in.Dst[0])
		a.add(in)
		a.add(a.decided(R(in.Dst[0]), 0, []Instr{c.write(out, V(9), sem)}, nil)...)
	}
}

// slots has each thread store something at the place that its number says.
func (c *counting) slots() stage {
	n := uint32(c.n)
	step := uint32(pick(c.generator, 1, 1, 1, 2))
	count, list := c.word(1), c.word(1)
	c.words += int(n*step) - 1
	sem, most := c.dataSem(), c.IntN(4) == 0
	what, op := c.IntN(5), pick(c.generator, Add, Add, Add, Inc)
	return func(a *party) {
		by := V(1)
		if op == Inc {
			by = V(n + 2)
		}
		in := c.update(Atom, op, count, pick(c.generator, axiom.Relaxed, axiom.AcqRel), by)
		a.add(in)
		t := in.Dst[0]
		c.numbers = append(c.numbers, t)
		at := t
		if step > 1 {
			at = c.reg()
			a.add(move(Mul, at, R(t), V(step)))
		}
		v := a.of(1, 1)
		switch what {
		case 0:
			v = V(4)
		case 1:
			v = Value{Const: 1, Reg: t + 1}
		}
		place := Value{Const: list.Const, Reg: at + 1}
		code := []Instr{c.write(place, v, sem)}
		switch what {
		case 2: // reads it again
			r := c.reg()
			code = append(code, c.read(r, place, sem), c.write(place, Value{Const: 1, Reg: r + 1}, sem))
		case 3:
			code = append(code, c.read(c.reg(), place, sem))
		}
		if most {
			code = []Instr{when(Lt, R(t), V(n-1), code...)}
		}
		a.add(code...)
	}
}

// schedule is a loop over tiles that are drawn one by one.
func (c *counting) schedule() stage {
	tiles := uint32(1 + c.IntN(3))
	count, out, done, end := c.word(1), c.word(tiles), c.word(1), c.word(1)
	sem, what := c.dataSem(), c.IntN(6)
	static := c.chance(20)
	begins := uint32(0)
	if static {
		begins = uint32(c.n)
		c.begin(count, begins)
	}
	op := pick(c.generator, Add, Add, Add, Inc)
	return func(a *party) {
		by := V(1)
		if op == Inc {
			by = V(1000)
		}
		in := c.update(Atom, op, count, pick(c.generator, axiom.Relaxed, axiom.Relaxed, axiom.AcqRel), by)
		t := in.Dst[0]
		c.numbers = append(c.numbers, t)
		at := Value{Const: out.Const - begins, Reg: t + 1}
		work := []Instr{c.write(at, Value{Const: 5, Reg: t + 1}, sem)}
		switch what {
		case 0: // who does it shows
			work[0].Src = []Value{a.of(1, 1)}
		case 1: // an addition
			work = []Instr{c.update(Red, Add, at, axiom.Relaxed, V(2))}
		case 2: // read and written
			r := c.reg()
			work = []Instr{c.read(r, at, sem), c.write(at, Value{Const: 1, Reg: r + 1}, sem)}
		case 3: // the sum over all tiles
			work = append(work, c.update(Red, Add, done, axiom.Relaxed, Value{Const: 1, Reg: t + 1}))
		case 4: // the last tile to be done ends it
			q := c.reg()
			tell := c.update(Atom, Add, done, axiom.AcqRel, V(1))
			tell.Dst = []int{q}
			code, sum := a.gather(out, int(tiles), sem)
			code = append(code, c.write(end, R(sum), sem))
			work = append(work, tell, when(Eq, R(q), V(tiles-1), code...))
		}
		limit := V(tiles + begins)
		a.add(Instr{Kind: Loop, Cmp: Lt, Src: []Value{R(t), limit}, Body: []Instr{in, when(Lt, R(t), limit, work...)}})
	}
}

// total has threads add to a word, and the last one read the sum.
func (c *counting) total() stage {
	sum, count, out := c.word(1), c.word(1), c.word(1)
	float := c.chance(50)
	d := c.draws(c.n)
	c.begin(count, d.init)
	values := []float32{1, 1 << 24, -(1 << 24), 1, 0.5, 3, 1, 1}
	what, sem := c.IntN(5), pick(c.generator, axiom.Weak, axiom.Relaxed, axiom.Volatile)
	kind := pick(c.generator, Red, Red, Red, Atom)
	return func(a *party) {
		in := c.update(kind, Add, sum, axiom.Relaxed, a.of(1, 1))
		if float {
			in.Op, in.Src = FAdd, []Value{V(math.Float32bits(values[(a.cta*c.per+a.k)%len(values)]))}
			if c.alike {
				in.Src = []Value{V(math.Float32bits(1.25))}
				if c.chance(60) { // the numbers of two threads have different magnitudes
					in.Src = []Value{a.of(math.Float32bits(1.25), 0x0bfffff1)}
				}
			}
		}
		a.add(in)
		if what == 0 {
			return // nobody reads it
		}
		r := a.arrive(&d, count, true)
		c.numbers = append(c.numbers, r)
		code, v, want := d.prepare(a, r)
		a.add(code...)
		q := c.reg()
		then := []Instr{c.read(q, sum, sem)}
		switch what {
		case 1:
			then = append(then, when(Lt, R(q), V(uint32(3+c.IntN(4))), c.write(out, V(1), axiom.Weak)))
		case 2:
			t := c.reg()
			o := Add
			if float {
				o = FAdd
			}
			then = append(then, move(o, t, R(q), R(q)), c.write(out, R(t), axiom.Weak))
		default:
			then = append(then, c.write(out, R(q), axiom.Weak))
		}
		a.add(a.decided(v, want, then, nil)...)
	}
}

// barrier is one of all threads, once or twice.
func (c *counting) barrier() stage {
	n := uint32(c.n)
	count, data := c.word(1), c.word(n)
	sem, rounds := c.dataSem(), 1+c.IntN(2)
	up := c.chance(70)
	return func(a *party) {
		for round := range uint32(rounds) {
			a.add(c.write(a.of(data.Const, 1), a.of(1+round, 1), sem))
			fenced := c.chance(50)
			s := axiom.Release
			if fenced {
				a.add(c.fences(100)...)
				s = axiom.Relaxed
			}
			in := c.update(pick(c.generator, Red, Atom), Add, count, s, V(1))
			if in.Kind == Atom {
				c.numbers = append(c.numbers, in.Dst[0])
			}
			a.add(in)
			w := c.read(c.reg(), count, axiom.Acquire)
			w.Kind, w.By, w.Cmp, w.Want = Poll, Load, Eq, V(n*(round+1))
			if up || int(round) < rounds-1 {
				w.Cmp = Ge
			}
			if fenced {
				w.Sem = axiom.Relaxed
			}
			a.add(w)
			if fenced {
				a.add(c.fences(100)...)
			}
			code, sum := a.gather(data, int(n), sem)
			if int(round) == rounds-1 {
				code = append(code, c.write(a.of(20, 1), R(sum), axiom.Weak))
			} else if c.chance(70) { // before the next write
				code = nil
			}
			a.add(code...)
		}
		c.words = max(c.words, 20+c.n)
	}
}

// handOn has each thread wait for the one before it.
func (c *counting) handOn() stage {
	word, data := c.word(1), c.word(1)
	sem := c.dataSem()
	op := pick(c.generator, Store, Store, Red, Atom)
	return func(a *party) {
		w := c.read(c.reg(), word, axiom.Acquire)
		w.Kind, w.By, w.Cmp, w.Want = Poll, Load, pick(c.generator, Eq, Eq, Ge), a.me
		fenced := c.chance(40)
		if fenced {
			w.Sem = axiom.Relaxed
		}
		a.add(w)
		if fenced {
			a.add(c.fences(100)...)
		}
		r := c.reg()
		a.add(c.read(r, data, sem), c.write(data, Value{Const: 2, Reg: r + 1}, sem))
		s := axiom.Release
		if fenced {
			a.add(c.fences(100)...)
			s = axiom.Relaxed
		}
		if op == Store {
			a.add(c.write(word, a.of(1, 1), s))
		} else {
			a.add(c.update(op, Add, word, s, V(1)))
		}
	}
}

// turns is a lock by tickets.
func (c *counting) turns() stage {
	next, serving, data := c.word(1), c.word(1), c.word(1)
	sem := c.dataSem()
	return func(a *party) {
		in := c.update(Atom, Add, next, axiom.Relaxed, V(1))
		t := in.Dst[0]
		w := c.read(c.reg(), serving, axiom.Acquire)
		w.Kind, w.By, w.Cmp, w.Want = Poll, Load, Eq, R(t)
		r := c.reg()
		a.add(in, w, c.read(r, data, sem), c.write(data, Value{Const: 1, Reg: r + 1}, sem), c.write(serving, Value{Const: 1, Reg: t + 1}, axiom.Release))
	}
}

// told is last by one thread of each CTA, which tells the others.
func (c *counting) told() stage {
	if !c.shared || c.per < 2 {
		return c.last()
	}
	n, m := uint32(c.n), c.ctas
	parts, count, out := c.word(n), c.word(1), c.word(uint32(c.per))
	d, sem, at := c.draws(m), c.dataSem(), V(uint32(c.IntN(2)))
	c.begin(count, d.init)
	flag := c.chance(50)
	return func(a *party) {
		a.add(c.write(a.of(parts.Const, 1), a.of(1, 1), sem))
		a.add(c.fences(50)...)
		a.join()
		told := c.reg()
		if a.k == 0 {
			lead := &party{c: c, cta: a.cta, k: 0, me: V(uint32(a.cta)), phases: [][]Instr{nil}}
			if c.alike {
				lead.me = Value{CTA: 1}
			}
			r := lead.arrive(&d, count, true)
			code, v, want := d.prepare(lead, r)
			lead.add(code...)
			c.numbers = append(c.numbers, r)
			if flag {
				lead.add(move(IsEq, told, v, V(want)))
			} else {
				lead.add(move(Sub, told, v, V(want-1)))
			}
			st := c.write(at, R(told), axiom.Weak)
			st.Shared = true
			a.add(lead.phases[0]...)
			a.add(st)
		}
		a.join()
		ld := c.read(told, at, axiom.Weak)
		ld.Shared = true
		a.add(ld)
		a.add(c.fences(20)...)
		then, sum := a.gather(parts, int(n), sem)
		then = append(then, c.write(V(out.Const+uint32(a.k)), R(sum), axiom.Weak))
		a.add(a.decided(R(told), 1, then, nil)...)
	}
}

// within has the threads of a CTA draw from a counter in its shared memory, and each store at the
// place that its number says, or the last of them gather what the CTA wrote.
func (c *counting) within() stage {
	if !c.shared || c.per < 2 {
		return c.slots()
	}
	count, parts, out := V(uint32(2+c.IntN(2))), c.word(uint32(c.n)), c.word(uint32(c.ctas))
	sem, gather := pick(c.generator, axiom.Weak, axiom.Relaxed), c.chance(50)
	return func(a *party) {
		of := Value{Const: parts.Const + uint32(a.cta*c.per)}
		result := Value{Const: out.Const + uint32(a.cta)}
		if c.alike {
			of, result = Value{Const: parts.Const, CTA: uint32(c.per)}, Value{Const: out.Const, CTA: 1}
		}
		if gather {
			a.add(c.write(a.of(parts.Const, 1), a.of(1, 1), sem))
		}
		in := c.update(Atom, Add, count, pick(c.generator, axiom.Relaxed, axiom.AcqRel), V(1))
		in.Shared, in.Scope = true, pick(c.generator, axiom.CTA, axiom.GPU)
		t := in.Dst[0]
		if in.Sem == axiom.Relaxed && gather {
			f := Instr{Kind: Fence, Sem: axiom.AcqRel, Scope: axiom.CTA}
			a.add(f, in, f)
		} else {
			a.add(in)
		}
		if !gather {
			of.Reg = t + 1
			a.add(c.write(of, a.of(1, 1), axiom.Weak))
			return
		}
		r, q := c.reg(), c.reg()
		other := of
		other.Const++
		a.add(a.decided(R(t), uint32(c.per-1), []Instr{c.read(r, of, sem), c.read(q, other, sem), move(Add, r, R(r), R(q)), c.write(result, R(r), axiom.Weak)}, nil)...)
	}
}

// look has threads read a word that another one writes, without waiting for it.
func (c *counting) look() stage {
	word, data, out := c.word(1), c.word(1), c.word(uint32(c.n))
	sem, tells := pick(c.generator, axiom.Relaxed, axiom.Volatile, axiom.Acquire), c.chance(50)
	return func(a *party) {
		if a.cta == 0 && a.k == 0 && !c.alike {
			a.add(c.write(data, V(1), axiom.Relaxed))
			a.add(c.write(word, V(1), pick(c.generator, axiom.Relaxed, axiom.Release)))
			return
		}
		if c.alike {
			a.add(c.update(pick(c.generator, Red, Atom), pick(c.generator, Add, Max, Or), word, axiom.Relaxed, V(1)))
		}
		r := c.reg()
		a.add(c.read(r, word, sem))
		switch {
		case tells:
			a.add(c.write(a.of(out.Const, 1), R(r), axiom.Weak))
		case c.chance(50):
			a.add(when(Ne, R(r), V(0), c.read(c.reg(), data, axiom.Relaxed)))
		}
	}
}
