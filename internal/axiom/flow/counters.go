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
	mixed := c.chance(15)
	if mixed {
		c.ctas, c.per, c.alike, c.shared = pick(c.generator, 2, 3, 3, 3), 1, false, false
	}
	c.n, c.inner = c.ctas*c.per, axiom.GPU
	var stages []stage
	for i := range pick(c.generator, 1, 1, 1, 1, 1, 2, 2, 3) {
		s := c.stage
		if i == 0 && mixed {
			s = c.mix
		}
		if s := s(); c.words < 28 {
			stages = append(stages, s)
		}
	}
	c.p.Init = c.p.Init[:min(len(c.p.Init), c.p.Words)] // of a stage that was left out
	c.emit(stages)
	for range pick(c.generator, 0, 0, 0, 1, 1, 1, 2, 3) {
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
			c.regs = 0
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
		c.barrier, c.handOn, c.turns, c.told, c.told, c.within, c.look, c.mix}
	return list[c.IntN(len(list))]()
}

// A draw is how a thread draws a number, by what, and which value of what prepare makes of it says
// that nobody comes later. init is the word's initial value.
type draw struct {
	op      Op
	by      func(a *party) []Value
	prepare func(a *party, r int) (code []Instr, last Value, want uint32)
	init    uint32
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
		return draw{op: Add, by: v(1), prepare: is(m)}
	case 5, 6:
		return draw{op: Inc, by: v(m), prepare: is(m)}
	case 7:
		return draw{op: Inc, by: v(m + 3), prepare: is(m)}
	case 8:
		return draw{op: Add, by: v(3), prepare: is(3 * m)}
	case 9:
		return draw{op: Add, by: v(math.MaxUint32), prepare: is(1), init: m + 1}
	case 10:
		if n == 2 {
			return draw{op: Or, by: func(a *party) []Value { return []Value{a.of(1, 1)} },
				prepare: func(a *party, r int) ([]Instr, Value, uint32) {
					return []Instr{move(Or, r, R(r), a.of(1, 1))}, R(r), 3
				}}
		}
		return draw{op: Xor, by: v(1), prepare: is(m & 1)}
	}
	return draw{op: Max, by: func(a *party) []Value { return []Value{a.of(1, 1)} }, prepare: is(m)}
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
