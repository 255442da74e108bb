package flow

import "muster/internal/axiom"

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
