package axiom

import "slices"

// A candidate is a choice of reads-from and of a fence.sc order, on top of a choice of
// control.
type candidate struct {
	*skeleton
	// from holds, for each enumerated read and each word it covers, the write
	// it reads from; reads lists those reads.
	from  [][2]int
	reads []int
	// obs is observation order (ISA 8.9.2), base base causality order among events of
	// threads, and causal causality order among overlapping accesses.
	obs, base, causal relation
	// near is base plus the synchronization of restricted fences, by the CTA whose shared
	// memory it applies to; the second relation is for accesses of the asynchronous
	// proxy. It is nil if they add nothing.
	near [][2]relation
	// co is coherence order, com the part of communication order that starts at reads;
	// the axioms fill them in.
	co relation
}

// sources lists the writes that may be the source of a word of a read.
func (s *skeleton) sources(r int, word uint) []int {
	var list []int
	for w := range s.ev {
		if e := &s.ev[w]; w != r && e.kind == access && e.write && e.loc == s.ev[r].loc && e.gran>>word&1 != 0 {
			list = append(list, w)
		}
	}
	return list
}

// value returns the low four bytes that a write stores. steps bounds the chain of
// read-modify-writes, to detect a cyclic one.
func (c *candidate) value(w, steps int) (uint32, bool) {
	e := &c.ev[w]
	switch {
	case e.thread < 0:
		return 0, true
	case e.issue >= 0:
		return 0, true // no guard reads it: see Check
	case steps == 0:
		return 0, false
	}
	o := c.opOf(w)
	if o.Kind == Store || o.Kind == Exch {
		return o.Value, true
	}
	old, ok := c.value(c.from[w][0], steps-1)
	return old + o.Value, ok
}

// thinAir reports whether a value depends on itself (ISA 8.10.4): a cycle of reads-from
// and dependencies on a read: the result of an addition and guarded operations. A
// read-modify-write is two nodes, its read and, n further on, its write, since the value
// of an exchange depends on no read.
func (c *candidate) thinAir() bool {
	n := len(c.ev)
	dep := make([][]int, 2*n)
	for _, r := range c.reads {
		for _, w := range c.from[r] {
			if w >= 0 {
				dep[w+n] = append(dep[w+n], r)
			}
		}
	}
	for i := range c.ev {
		o := c.opOf(i)
		if o == nil {
			continue
		}
		if o.Kind == Add || o.Kind == Red {
			dep[i] = append(dep[i], i+n)
		}
		if o.Guard != nil {
			if g := c.at[c.ev[i].thread][o.Guard.Read]; g >= 0 {
				dep[g] = append(dep[g], i, i+n)
			}
		}
	}
	mark := make([]uint8, 2*n) // 1: on the stack, 2: done
	for i := range dep {
		if mark[i] == 0 && circular(dep, mark, i) {
			return true
		}
	}
	return false
}

func circular(dep [][]int, mark []uint8, i int) bool {
	mark[i] = 1
	for _, j := range dep[i] {
		if mark[j] == 1 || mark[j] == 0 && circular(dep, mark, j) {
			return true
		}
	}
	mark[i] = 2
	return false
}

// observe computes observation order: from a write to a read along a chain of atomic
// operations, each link morally strong.
func (c *candidate) observe() {
	c.obs = make(relation, len(c.ev))
	for _, r := range c.reads {
		for _, w := range c.from[r] {
			if w >= 0 && c.morallyStrong(w, r) {
				c.obs.add(w, r)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for w := range c.obs {
			old := c.obs[w]
			old.each(func(z int) {
				if c.ev[z].rmw {
					c.obs[w] |= c.obs[z]
				}
			})
			changed = changed || c.obs[w] != old
		}
	}
}

// synchronize computes base causality order, given the order of fence.sc. It reports
// whether the result is acyclic.
func (c *candidate) synchronize(sc relation) bool {
	c.base = c.po.clone()
	c.near = nil
	for i := range c.base {
		c.base[i] |= c.sync[i]
		if sc != nil {
			c.base[i] |= sc[i]
		}
	}
	narrow := c.narrow
	for _, x := range c.releases {
		for _, y := range c.acquires {
			if !c.obs[x.on].has(y.on) || !c.reaches(x.first, y.last) {
				continue
			}
			switch e, meet, restricted := c.restriction(x.first, y.last); {
			case !meet:
			case restricted:
				narrow = append(narrow[:len(narrow):len(narrow)], e)
			default:
				c.base.add(x.first, y.last)
			}
		}
	}
	if !c.base.close() {
		return false
	}
	if len(narrow) == 0 {
		return true
	}
	for cta := range c.p.CTAs {
		r := [2]relation{c.base.clone(), c.base.clone()}
		for _, e := range narrow {
			if e.cta >= 0 && e.cta != cta {
				continue
			}
			if !e.proxy {
				r[0].add(e.from, e.to)
			}
			r[1].add(e.from, e.to)
		}
		if !r[0].close() {
			return false
		}
		r[1].close() // a cycle through two proxies is not one of base causality
		c.near = append(c.near, r)
	}
	return true
}

// within returns the base causality order for accesses of a location; async: the later
// one is by the asynchronous proxy.
func (c *candidate) within(l Loc, async bool) relation {
	switch {
	case !l.Shared || c.near == nil:
		return c.base
	case async:
		return c.near[l.CTA][1]
	}
	return c.near[l.CTA][0]
}

// starts returns the thread's event that precedes an access: the access itself, or its
// operation's issue.
func (c *candidate) starts(i int) int {
	if c.ev[i].issue >= 0 {
		return c.ev[i].issue
	}
	return i
}

// ends lists the events that show an access complete, one from each list.
func (c *candidate) ends(i int) [][]int {
	if c.ev[i].issue >= 0 {
		return c.done[i]
	}
	return [][]int{{i}}
}

// preserved is proxy-preserved base causality order between two overlapping accesses (ISA
// 8.9.5, and doc.go for the asynchronous proxy).
func (c *candidate) preserved(x, y int) bool {
	a, b := &c.ev[x], &c.ev[y]
	if a.thread < 0 {
		return b.thread >= 0
	}
	if b.thread < 0 {
		return false
	}
	if a.issue >= 0 && a.issue == b.issue {
		return a.read && b.write && !a.write
	}
	base := c.within(a.loc, b.async)
	to := c.starts(y)
	for _, any := range c.ends(x) {
		known := func(e int) bool { return (e == to || base[e].has(to)) && c.crosses(base, x, y, e, to) }
		if !slices.ContainsFunc(any, known) {
			return false
		}
	}
	return true
}

// crosses reports whether the proxy fences required between two accesses exist on the
// path from one event to another.
func (c *candidate) crosses(base relation, x, y, from, to int) bool {
	a, b := &c.ev[x], &c.ev[y]
	switch {
	case b.viaMap:
		return c.mapFenced(base, from, to)
	case b.async && a.async && c.sameSide(x, y):
		return true
	case b.async:
		return c.fenced(base, from, to, a.loc)
	case a.alias != b.alias && a.issue < 0 && b.issue < 0:
		return c.aliased(base, from, to)
	}
	return true
}

// mapFenced reports whether the map is released and acquired on the path.
func (c *candidate) mapFenced(base relation, from, to int) bool {
	for r := range c.ev {
		if c.ev[r].kind != mapRelease || r != from && !base[from].has(r) {
			continue
		}
		for a := range c.ev {
			if c.ev[a].kind == mapAcquire && base[r].has(a) && base[a].has(to) && c.reaches(r, a) {
				return true
			}
		}
	}
	return false
}

// sameSide reports whether two accesses of the asynchronous proxy belong to one CTA, or
// one is a copy between CTAs that signals a barrier of the CTA in whose memory they
// overlap, and the other is that CTA's.
func (c *candidate) sameSide(x, y int) bool {
	p, q := c.p.Threads[c.ev[x].thread].CTA, c.p.Threads[c.ev[y].thread].CTA
	if p == q {
		return true
	}
	own := func(i, cta int) bool {
		o := c.opOf(i)
		return o.Kind == BulkLoad && slices.Contains(c.p.homes(c.ev[i].thread, o), cta)
	}
	return own(x, q) || c.ev[y].loc.Shared && c.ev[y].loc.CTA == p && own(y, p)
}

// fenced reports whether a proxy fence for a location's memory is on the path from one
// event to another.
func (c *candidate) fenced(base relation, from, to int, l Loc) bool {
	for f := range c.ev {
		if c.ev[f].kind == proxyFence && (f == from || base[from].has(f)) && base[f].has(to) && c.covers(f, l) {
			return true
		}
	}
	return false
}

func (c *candidate) covers(f int, l Loc) bool {
	o := c.opOf(f)
	space := o.Space
	switch o.Sem {
	case Acquire:
		space = SpaceSharedCluster
	case Release:
		space = SpaceSharedCTA
	}
	switch space {
	case AllSpaces:
		return true
	case SpaceGlobal:
		return !l.Shared
	case SpaceSharedCTA:
		return l.Shared && l.CTA == c.p.Threads[c.ev[f].thread].CTA
	}
	return l.Shared
}

func (c *candidate) aliased(base relation, from, to int) bool {
	for f := range c.ev {
		if c.ev[f].kind == aliasFence && base[from].has(f) && base[f].has(to) {
			return true
		}
	}
	return false
}

// coveredBy reports whether an access before a write is ordered whenever the write is:
// doc.go, decision 13.
func (c *candidate) coveredBy(x, w int) bool {
	a, b := &c.ev[x], &c.ev[w]
	return a.strong && a.scope == b.scope && a.thread >= 0 && b.thread >= 0 &&
		c.p.Threads[a.thread].CTA == c.p.Threads[b.thread].CTA && c.morallyStrong(x, w)
}

// cause computes causality order between overlapping accesses.
func (c *candidate) cause() {
	n := len(c.ev)
	kept := make(relation, n)
	for x := range c.ev {
		for y := range c.ev {
			if x != y && c.overlap(x, y) != 0 && c.preserved(x, y) {
				kept.add(x, y)
			}
		}
	}
	// Accesses before an asynchronous write precede those after it, if the three overlap:
	// doc.go, decision 12.
	for w := range c.ev {
		if c.ev[w].issue < 0 || !c.ev[w].write {
			continue
		}
		for x := range c.ev {
			if kept[x].has(w) {
				kept[w].each(func(y int) {
					if x != y && c.overlap(x, y) != 0 {
						kept.add(x, y)
					}
				})
			}
		}
	}
	c.causal = kept.clone()
	for w := range c.ev {
		after := set(0)
		c.obs[w].each(func(z int) {
			after |= kept[z]
		})
		for x := range c.ev {
			if after != 0 && (x == w || kept[x].has(w) && c.coveredBy(x, w)) {
				c.causal[x] |= after
			}
		}
	}
}
