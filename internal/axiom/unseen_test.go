package axiom_test

import "muster/internal/axiom"

// overlooked generates two fence.sc whose order shows only in a write that was not
// seen: one thread fences, reads without seeing another's write, and signals that;
// the other wrote before its fence, and receives the signal.
func (g *generator) overlooked() *axiom.Program {
	g.layout(2 + g.IntN(2))
	n := len(g.threads)
	a := g.IntN(n)
	b := (a + 1 + g.IntN(n-1)) % n
	look, set := a, b // the thread that looks, and the one whose write it does not see
	if n == 3 && g.chance(30) {
		look = 3 - a - b
	} else if n == 3 && g.chance(30) {
		set = 3 - a - b
	}
	sc := func(t int) *step {
		return &step{Op: axiom.Op{Kind: axiom.Fence, Sem: axiom.SC, Scope: g.wide(a, b)}}
	}
	strong := func(t, u int, k axiom.Kind, l int) *step {
		s := &step{Op: axiom.Op{Kind: k, Loc: axiom.Loc{N: l}, Sem: axiom.Relaxed, Scope: g.wide(t, u)}}
		if k == axiom.Load || k == axiom.Store {
			if g.chance(15) {
				s.Sem = axiom.Weak
			}
		}
		if k != axiom.Load {
			g.value++
			s.Value = 10 * g.value
		}
		return s
	}
	writes := func() axiom.Kind { return pick(g, axiom.Store, axiom.Store, axiom.Exch, axiom.Add, axiom.Red) }
	g.put(a, g.access(axiom.Loc{}, 70), sc(a))
	if look != a {
		g.handOver(a, look)
	}
	r := strong(look, set, pick(g, axiom.Load, axiom.Load, axiom.Exch, axiom.Add), 2)
	r.wants = &step{}
	g.put(look, r)
	g.put(set, strong(look, set, writes(), 2))
	if set != b {
		g.handOver(set, b)
	}
	g.put(b, sc(b))
	tell := strong(look, b, writes(), 3)
	g.put(look, tell)
	hear := strong(look, b, pick(g, axiom.Load, axiom.Load, axiom.Exch), 3)
	hear.wants = tell
	g.put(b, hear, g.access(axiom.Loc{}, 70))
	for range g.IntN(3) {
		g.change(axiom.Loc{})
	}
	return g.finish()
}

// counted is a story of a location that one thread writes and another counts
// up by a red, which returns nothing, before a third looks.
func (g *generator) counted() *axiom.Program {
	g.layout(2 + g.IntN(2))
	n := len(g.threads)
	a := g.IntN(n)
	b := (a + 1 + g.IntN(n-1)) % n
	c := 3 - a - b
	if n == 2 {
		c = pick(g, a, b)
	}
	write := func(t, u int, k axiom.Kind) *step {
		g.value++
		return &step{Op: axiom.Op{Kind: k, Sem: axiom.Relaxed, Scope: g.wide(t, u), Value: 10 * g.value}}
	}
	w := write(a, b, pick(g, axiom.Store, axiom.Exch, axiom.Add, axiom.Red))
	g.put(a, w)
	if g.chance(70) {
		y := write(a, b, axiom.Store)
		y.Loc.N = 1
		g.put(a, y)
		hear := &step{Op: axiom.Op{Kind: axiom.Load, Loc: y.Loc, Sem: axiom.Relaxed, Scope: g.wide(a, b)}, wants: y}
		g.put(b, hear)
	}
	red := write(b, a, pick(g, axiom.Red, axiom.Red, axiom.Red, axiom.Add))
	red.Sem = pick(g, axiom.Relaxed, axiom.Release)
	g.put(b, red)
	if c != b {
		g.handOver(b, c)
	}
	g.put(c, g.access(axiom.Loc{}, 80))
	for range g.IntN(3) {
		g.change(axiom.Loc{})
	}
	return g.finish()
}
