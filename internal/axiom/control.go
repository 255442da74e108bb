package axiom

// A control is a choice of the program's guards that hold. reach computes the operations
// then executed: a thread stops for good before a barrier or a wait that never completes;
// its earlier operations remain.
type control struct {
	p *Program
	// wants lists the guards' conditions, holds the set of those assumed true.
	wants []want
	holds uint
	// came counts the operations that a thread reached, passed those that it completed;
	// they differ by one at most, if it waits.
	came, passed []int
}

type want struct {
	thread, read int
	value        uint32
}

func newControl(p *Program) *control {
	c := &control{p: p}
	for t := range p.Threads {
		for i := range p.Threads[t].Ops {
			if g := p.Threads[t].Ops[i].Guard; g != nil && c.find(t, g) < 0 {
				c.wants = append(c.wants, want{t, g.Read, g.Value})
			}
		}
	}
	return c
}

func (c *control) find(t int, g *Guard) int {
	for i, w := range c.wants {
		if w == (want{t, g.Read, g.Value}) {
			return i
		}
	}
	return -1
}

// runs reports whether an operation is executed if its thread reaches it.
func (c *control) runs(t, i int) bool {
	g := c.p.Threads[t].Ops[i].Guard
	return g == nil || c.runs(t, g.Read) && c.holds>>uint(c.find(t, g))&1 != 0
}

// executed reports whether an operation was reached and not skipped.
func (c *control) executed(t, i int) bool { return i < c.came[t] && c.runs(t, i) }

// reach advances all threads as far as possible.
func (c *control) reach() {
	n := len(c.p.Threads)
	c.came, c.passed = make([]int, n), make([]int, n)
	for moved := true; moved; {
		moved = false
		for t := range c.p.Threads {
			for i := c.passed[t]; i < len(c.p.Threads[t].Ops); i++ {
				if c.came[t] <= i {
					c.came[t], moved = i+1, true
				}
				if c.runs(t, i) && !c.completes(t, i) {
					break
				}
				c.passed[t], moved = i+1, true
			}
		}
	}
}

// completes reports whether a thread that reached operation i completes it.
func (c *control) completes(t, i int) bool {
	o := &c.p.Threads[t].Ops[i]
	at := c.p.Threads[t].Place
	switch o.Kind {
	case BarSync:
		return c.all(func(u int, x *Op) bool {
			return c.p.Threads[u].CTA == at.CTA && (x.Kind == BarSync || x.Kind == BarArrive) && x.Bar == o.Bar
		})
	case BarArrive:
		// It waits only for the lanes of its own warp (ISA 9.7.13.1).
		return c.all(func(u int, x *Op) bool {
			return c.p.oneWarp(t, u) && (x.Kind == BarSync || x.Kind == BarArrive) && x.Bar == o.Bar
		})
	case WarpSync:
		return c.all(func(u int, x *Op) bool { return c.p.oneWarp(t, u) && x.Kind == WarpSync && x.Bar == o.Bar })
	case ClusterWait:
		return c.all(func(u int, x *Op) bool {
			return c.p.cluster(c.p.Threads[u].CTA) == c.p.cluster(at.CTA) && x.Kind == ClusterArrive && x.Bar == o.Bar
		})
	case MbarWait:
		return c.all(func(u int, x *Op) bool { return c.p.signals(u, x, o.Home, o.Bar) })
	}
	return true
}

// all reports whether every operation of a kind was executed.
func (c *control) all(of func(t int, o *Op) bool) bool {
	for t := range c.p.Threads {
		for i := range c.p.Threads[t].Ops {
			if of(t, &c.p.Threads[t].Ops[i]) && !c.executed(t, i) {
				return false
			}
		}
	}
	return true
}
