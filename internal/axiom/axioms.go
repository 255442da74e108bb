package axiom

// consistent reports whether the candidate, with its coherence order, satisfies the
// axioms of ISA 8.10. Fence-SC holds by construction: a fence order that contradicts
// causality makes base causality cyclic, and synchronize rejects it. No-Thin-Air is
// decided before, by thinAir.
func (c *candidate) consistent() bool {
	return c.coherence() && c.atomicity() && c.causality() && c.perLocation()
}

// coherence: causality order between overlapping writes is contained in coherence order,
// which is acyclic.
func (c *candidate) coherence() bool {
	for w := range c.ev {
		if !c.ev[w].write {
			continue
		}
		bad := false
		c.causal[w].each(func(v int) { bad = bad || c.ev[v].write && !c.co[w].has(v) })
		if bad || c.co[w].has(w) {
			return false
		}
	}
	return true
}

// atomicity checks single-copy atomicity, and that of read-modify-writes.
func (c *candidate) atomicity() bool {
	for _, r := range c.reads {
		for w := range c.ev {
			if !c.ev[w].write || w == r || c.overlap(r, w) == 0 || !c.morallyStrong(r, w) {
				continue
			}
			reads, older := false, false
			for g, v := range c.from[r] {
				if v < 0 || c.overlap(r, w)>>uint(g)&1 == 0 {
					continue
				}
				reads = reads || v == w
				older = older || c.co[v].has(w)
			}
			if older && (reads || c.ev[r].rmw && c.co[w].has(r)) {
				return false
			}
		}
	}
	return true
}

// causality: no read returns a write that follows it in causality order, nor one older
// than a write that precedes it.
func (c *candidate) causality() bool {
	for _, r := range c.reads {
		for g, v := range c.from[r] {
			if v < 0 {
				continue
			}
			if c.causal[r].has(v) {
				return false
			}
			for w := range c.ev {
				if c.ev[w].write && c.overlap(r, w)>>uint(g)&1 != 0 && c.causal[w].has(r) && c.co[v].has(w) {
					return false
				}
			}
		}
	}
	return true
}

// perLocation is sequential consistency per location: among overlapping operations that
// are pairwise morally strong, program order and communication order form no cycle.
func (c *candidate) perLocation() bool {
	n := len(c.ev)
	com := make(relation, n)
	edge := func(a, b int) {
		if a != b && c.morallyStrong(a, b) {
			com.add(a, b)
		}
	}
	for w := range c.ev {
		if c.ev[w].write {
			c.co[w].each(func(v int) {
				if c.overlap(w, v) != 0 {
					edge(w, v)
				}
			})
		}
	}
	for _, r := range c.reads {
		for g, v := range c.from[r] {
			if v < 0 {
				continue
			}
			edge(v, r)
			c.co[v].each(func(w int) {
				if c.overlap(r, w)>>uint(g)&1 != 0 {
					edge(r, w)
				}
			})
		}
	}
	for x := range c.ev {
		if c.ev[x].kind != access {
			continue
		}
		c.po[x].each(func(y int) {
			if c.overlap(x, y) != 0 {
				edge(x, y)
			}
		})
	}
	for x := range c.ev {
		if com[x] != 0 && c.cycle(com, []int{x}) {
			return false
		}
	}
	return true
}

// cycle searches for a path from the last event of path back to its first, through events
// that are morally strong with all events on the path.
func (c *candidate) cycle(com relation, path []int) bool {
	next := com[path[len(path)-1]]
	if next.has(path[0]) {
		return true
	}
	found := false
	next.each(func(y int) {
		if found || y < path[0] {
			return // each cycle is found from its least event
		}
		for _, x := range path {
			if x == y || !c.morallyStrong(x, y) {
				return
			}
		}
		found = c.cycle(com, append(path[:len(path):len(path)], y))
	})
	return found
}
