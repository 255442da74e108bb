package flow

import "muster/internal/axiom"

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

// mix has threads do different things with their numbers: one writes before it draws, some read
// that, or write there, too, if they come late enough; some change the counter besides.
func (c *counting) mix() stage {
	if c.alike {
		return c.last()
	}
	n := uint32(c.n)
	parts, count, out := c.word(n), c.word(1), c.word(n)
	d, sem := c.draws(c.n), pick(c.generator, axiom.Weak, axiom.Weak, axiom.Relaxed)
	c.begin(count, d.init)
	if c.chance(20) {
		d = draw{op: Max, by: func(a *party) []Value { return []Value{a.of(1, 1)} }}
	}
	writer, same := uint32(c.IntN(c.n)), c.chance(60)
	type role struct {
		writes, ordered bool
		reads           uint32 // whose
		cmp             Cmp
		from            uint32
		does, besides   int
	}
	roles := make([]role, n)
	for i := range roles {
		r := role{uint32(i) == writer, c.chance(80), writer, pick(c.generator, Ne, Ne, Ge, Eq, Lt), uint32(c.IntN(c.n + 1)), pick(c.generator, 0, 1, 1, 1, 2, 3, 4, 4, 4), c.IntN(8)}
		if c.chance(35) { // whatever its number, it does the same
			r.cmp, r.from = Eq, n+7
		}
		if d.op == Max && c.chance(40) { // a number of no order but one
			r.cmp, r.from = Eq, n
		}
		if c.chance(20) {
			r.writes, r.reads = true, uint32(c.IntN(c.n))
		}
		roles[i] = r
	}
	return func(a *party) {
		k := uint32(a.cta*c.per + a.k)
		r := roles[k]
		if r.writes {
			a.add(c.write(V(parts.Const+k), V(k+1), sem))
		}
		s := axiom.Relaxed
		if r.ordered {
			s = axiom.AcqRel
		}
		in := c.update(Atom, d.op, count, s, d.by(a)...)
		switch t := c.reg(); r.besides { // of which nothing is read
		case 0:
			other := in
			other.Dst = []int{t}
			a.add(other)
		case 1:
			other := c.update(pick(c.generator, Atom, Red), pick(c.generator, Add, Max, Or), count, axiom.Relaxed, V(1))
			a.add(other)
		}
		a.add(in)
		if r.besides == 2 {
			a.add(c.update(pick(c.generator, Atom, Red), pick(c.generator, d.op, Add, Exch), count, axiom.Relaxed, d.by(a)...))
		}
		t := in.Dst[0]
		var body []Instr
		q := c.reg()
		switch at := V(parts.Const + r.reads); r.does {
		case 0:
			return
		case 1:
			body = []Instr{c.read(q, at, sem)}
		case 2:
			body = []Instr{c.read(q, at, sem), c.write(V(out.Const+k), R(q), axiom.Weak)}
		case 3:
			body = []Instr{c.write(at, V(8), sem)}
		case 4: // which nobody else touches
			body = []Instr{c.write(V(out.Const+k), V(6), axiom.Weak)}
			if same {
				body = append(body, c.write(V(out.Const+k), V(0), axiom.Weak))
			}
		}
		a.add(Instr{Kind: If, Cmp: r.cmp, Src: []Value{R(t), V(r.from)}, Body: body})
	}
}
