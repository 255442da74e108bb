package axiom

// An Access is a static access: an operation's, or for a copy its source (Part 0), its
// destinations (Part 1) or its tensor map (Part 2).
type Access struct{ Thread, Op, Part int }

// A Pair is two accesses, the lesser first.
type Pair struct{ A, B Access }

// NewPair orders two accesses.
func NewPair(a, b Access) Pair {
	if b.less(a) {
		a, b = b, a
	}
	return Pair{a, b}
}

func (a Access) less(b Access) bool {
	if a.Thread != b.Thread {
		return a.Thread < b.Thread
	}
	if a.Op != b.Op {
		return a.Op < b.Op
	}
	return a.Part < b.Part
}

// A Strength says in which executions a pair races.
type Strength uint8

const (
	// Ever: in some consistent execution.
	Ever Strength = 1 << iota
	// Sequential: in one that some interleaving produces.
	Sequential
)

func (s *skeleton) access(i int) Access {
	e := &s.ev[i]
	a := Access{e.thread, e.op, 0}
	switch {
	case e.issue >= 0 && e.write:
		a.Part = 1
	case e.viaMap:
		a.Part = 2
	}
	return a
}

// races lists the pairs in a data race (ISA 8.7.1).
func (c *candidate) races() []Pair {
	var list []Pair
	for x := range c.ev {
		for y := range x {
			a, b := &c.ev[x], &c.ev[y]
			if c.overlap(x, y) == 0 || a.thread < 0 || b.thread < 0 || !a.write && !b.write {
				continue
			}
			if !c.causal[x].has(y) && !c.causal[y].has(x) && !c.morallyStrong(x, y) {
				list = append(list, NewPair(c.access(x), c.access(y)))
			}
		}
	}
	return list
}

// Races finds every pair of accesses that races in some consistent execution.
func (p *Program) Races() (map[Pair]Strength, error) {
	found := map[Pair]Strength{}
	err := p.each(false, func(c *candidate) bool {
		races := c.races()
		news := Strength(0)
		for _, r := range races {
			news |= ^found[r] & (Ever | Sequential)
		}
		if news == 0 {
			return true
		}
		c.coherent(func() bool {
			how := Ever
			if c.sequential() {
				how |= Sequential
			}
			for _, r := range races {
				found[r] |= how
			}
			return how&Sequential == 0
		})
		return true
	})
	return found, err
}

// Together calls f with the races of each consistent execution that some interleaving
// produces; before is the causality order of accesses to common bytes.
func (p *Program) Together(f func(races []Pair, before func(a, b Access) bool)) error {
	return p.each(false, func(c *candidate) bool {
		races := c.races()
		c.coherent(func() bool {
			if !c.sequential() {
				return true
			}
			f(races, c.before)
			return false
		})
		return true
	})
}

func (c *candidate) before(a, b Access) bool {
	x, y := -1, -1
	for i := range c.ev {
		if c.ev[i].kind != access {
			continue
		}
		switch c.access(i) {
		case a:
			x = i
		case b:
			y = i
		}
	}
	return x >= 0 && y >= 0 && c.causal[x].has(y)
}

// An Outcome is the values that the reads of an execution returned, by thread and
// operation, and for each location its possible final values: those of writes last in
// coherence order, several if they race.
type Outcome struct {
	Read map[[2]int]uint32
	Last map[Loc][]uint32
}

// Outcomes calls f with the outcome of every consistent execution.
func (p *Program) Outcomes(f func(Outcome)) error {
	return p.each(true, func(c *candidate) bool {
		c.coherent(func() bool {
			o := Outcome{map[[2]int]uint32{}, map[Loc][]uint32{}}
			for _, r := range c.reads {
				o.Read[[2]int{c.ev[r].thread, c.ev[r].op}], _ = c.value(c.from[r][0], len(c.ev))
			}
			c.last(&o)
			f(o)
			return true
		})
		return true
	})
}

func (c *candidate) last(o *Outcome) {
	for w := range c.ev {
		if c.ev[w].write && c.co[w] == 0 {
			v, _ := c.value(w, len(c.ev))
			o.Last[c.ev[w].loc] = append(o.Last[c.ev[w].loc], v)
		}
	}
}

// Conflicting counts the pairs of overlapping static accesses, at least one a write, of
// different threads, or of an asynchronous operation and another.
func (p *Program) Conflicting() int {
	type one struct {
		Access
		loc   Loc
		gran  uint8
		write bool
		async bool
	}
	var all []one
	for t := range p.Threads {
		for i := range p.Threads[t].Ops {
			o := &p.Threads[t].Ops[i]
			switch {
			case o.Kind <= Red:
				g := uint8(1)
				if o.Size == 8 {
					g = 3
				}
				all = append(all, one{Access{t, i, 0}, o.Loc, g, o.Kind != Load, false})
			case o.Kind == MapReplace:
				all = append(all, one{Access{t, i, 0}, MapLoc, 15, true, false})
			case o.Kind.async():
				all = append(all, one{Access{t, i, 0}, o.Src, 15, false, true})
				if o.Map {
					all = append(all, one{Access{t, i, 2}, MapLoc, 15, false, true})
				}
				for _, h := range p.homes(t, o) {
					to := o.Loc
					if o.Mask != 0 {
						to.CTA = h
					}
					all = append(all, one{Access{t, i, 1}, to, 15, true, true})
				}
			}
		}
	}
	n := 0
	for i, a := range all {
		for _, b := range all[:i] {
			own := a.Thread == b.Thread && (a.Op == b.Op || !a.async && !b.async)
			if a.loc == b.loc && a.gran&b.gran != 0 && (a.write || b.write) && !own {
				n++
			}
		}
	}
	return n
}
