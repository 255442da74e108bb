package axiom

// each calls f with every candidate of the program whose values agree with its control,
// before coherence order is chosen; f returns false to stop. With every, all reads by
// threads are enumerated; else only strong ones and those that guards use. The others are
// weak and nothing depends on them: a consistent source always exists for them, the
// coherence-latest of the writes before them in causality order, and their reads-from
// orders nothing.
func (p *Program) each(every bool, f func(c *candidate) bool) error {
	if err := p.Check(); err != nil {
		return err
	}
	ctl := newControl(p)
	for h := uint(0); h < 1<<len(ctl.wants); h++ {
		ctl.holds = h
		if !ctl.canonical() {
			continue
		}
		ctl.reach()
		s, err := ctl.skeleton()
		if err != nil {
			return err
		}
		c := &candidate{skeleton: s, from: make([][2]int, len(s.ev))}
		looked := make(map[[2]int]bool)
		for _, w := range ctl.wants {
			looked[[2]int{w.thread, w.read}] = true
		}
		for i := range s.ev {
			c.from[i] = [2]int{-1, -1}
			if e := &s.ev[i]; e.kind == access && e.read && e.issue < 0 && (every || e.strong || looked[[2]int{e.thread, e.op}]) {
				c.reads = append(c.reads, i)
			}
		}
		if !c.choose(ctl, 0, f) {
			return nil
		}
	}
	return nil
}

// canonical reports whether the assumed conditions are consistent and none is redundant.
func (c *control) canonical() bool {
	for i, w := range c.wants {
		if c.holds>>uint(i)&1 == 0 {
			continue
		}
		if !c.runs(w.thread, w.read) {
			return false
		}
		for j := range i {
			if v := c.wants[j]; c.holds>>uint(j)&1 != 0 && v.thread == w.thread && v.read == w.read {
				return false
			}
		}
	}
	return true
}

// choose picks sources for the reads from number k on, word by word.
func (c *candidate) choose(ctl *control, k int, f func(*candidate) bool) bool {
	if k == 2*len(c.reads) {
		return !c.agrees(ctl) || c.thinAir() || c.fences(f)
	}
	r, word := c.reads[k/2], uint(k%2)
	if c.ev[r].gran>>word&1 == 0 {
		return c.choose(ctl, k+1, f)
	}
	for _, w := range c.sources(r, word) {
		if c.po[r].has(w) {
			continue // causality
		}
		c.from[r][word] = w
		if !c.choose(ctl, k+1, f) {
			return false
		}
	}
	c.from[r][word] = -1
	return true
}

// agrees reports whether the reads return the values that control assumed.
func (c *candidate) agrees(ctl *control) bool {
	for i, w := range ctl.wants {
		r := c.at[w.thread][w.read]
		if r < 0 {
			if ctl.holds>>uint(i)&1 != 0 {
				return false // its thread did not reach it
			}
			continue
		}
		v, ok := c.value(c.from[r][0], len(c.ev))
		if !ok || (v == w.value) != (ctl.holds>>uint(i)&1 != 0) {
			return false
		}
	}
	return true
}

// fences picks an order for each two morally strong fence.sc.
func (c *candidate) fences(f func(*candidate) bool) bool {
	c.observe()
	if !c.synchronize(nil) {
		return true
	}
	var pairs [][2]int
	for a := range c.ev {
		for b := range a {
			if c.scFence(a) && c.scFence(b) && c.ev[a].thread != c.ev[b].thread && c.morallyStrong(a, b) {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	sc := make(relation, len(c.ev))
	for way := uint(0); way < 1<<len(pairs); way++ {
		clear(sc)
		for i, p := range pairs {
			if way>>uint(i)&1 != 0 {
				p[0], p[1] = p[1], p[0]
			}
			sc.add(p[0], p[1])
		}
		if !c.synchronize(sc) {
			continue
		}
		c.cause()
		if !f(c) {
			return false
		}
	}
	return true
}

func (c *candidate) scFence(i int) bool { return c.ev[i].kind == fence && c.ev[i].sem == SC }

// coherent calls f with every coherence order for which the candidate is consistent. The
// order relates the writes that causality or moral strength relates (ISA 8.9.6), and is
// transitively closed.
func (c *candidate) coherent(f func() bool) bool {
	n := len(c.ev)
	forced := make(relation, n)
	var free [][2]int
	for a := range c.ev {
		for b := range c.ev {
			if a == b || !c.ev[a].write || !c.ev[b].write || c.overlap(a, b) == 0 {
				continue
			}
			if c.causal[a].has(b) {
				forced.add(a, b)
			} else if a < b && !c.causal[b].has(a) && c.morallyStrong(a, b) {
				free = append(free, [2]int{a, b})
			}
		}
	}
	for way := uint(0); way < 1<<len(free); way++ {
		c.co = forced.clone()
		for i, p := range free {
			if way>>uint(i)&1 != 0 {
				p[0], p[1] = p[1], p[0]
			}
			c.co.add(p[0], p[1])
		}
		if c.co.close() && c.consistent() && !f() {
			return false
		}
	}
	return true
}
