package flow

import (
	"math"

	"muster/internal/axiom"
)

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
	// Each thread has places of its own for the numbers, or draws none.
	var shifts, roles []uint32
	if !c.alike && c.chance(70) {
		for range n {
			shifts, roles = append(shifts, uint32(c.IntN(3))), append(roles, pick(c.generator, uint32(0), 0, 0, 1, 2))
		}
		c.words += 2
		what, op, sem = pick(c.generator, 0, 4), Add, axiom.Weak
	}
	return func(a *party) {
		by := V(1)
		if op == Inc {
			by = V(n + 2)
		}
		in := c.update(Atom, op, count, pick(c.generator, axiom.Relaxed, axiom.AcqRel), by)
		k := a.cta*c.per + a.k
		if roles != nil && roles[k] > 0 {
			if a.add(c.write(V(list.Const+shifts[k]), V(8), sem)); roles[k] == 1 {
				a.add(c.update(Red, Add, count, axiom.Relaxed, V(1)))
			}
			return
		}
		a.add(in)
		t := in.Dst[0]
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
		if shifts != nil {
			place.Const += shifts[k]
		}
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
