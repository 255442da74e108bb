package axiom

// sequential reports whether some interleaving of the threads and of their asynchronous
// operations, over one memory, produces this execution: then a machine that is
// sequentially consistent within a schedule can show it.
func (c *candidate) sequential() bool {
	before := make([]set, len(c.ev)) // predecessors of each event
	edge := func(a, b int) { before[b] |= 1 << uint(a) }
	for i := range c.ev {
		c.po[i].each(func(j int) { edge(i, j) })
		c.co[i].each(func(j int) { edge(i, j) })
		if e := &c.ev[i]; e.issue >= 0 {
			edge(e.issue, i)
			switch {
			case e.write:
				edge(e.issue+1, i) // the source is read first
			case e.loc == MapLoc:
				edge(i, e.issue+1) // and the map before it
			}
		}
		switch c.ev[i].kind {
		case arrive:
			// Operations after a barrier.arrive follow the arrivals of its whole warp.
			for j := range c.ev {
				if c.opOf(i).Kind == BarArrive && c.joins(j, i) && c.p.oneWarp(c.ev[j].thread, c.ev[i].thread) {
					c.po[i].each(func(k int) { edge(j, k) })
				}
			}
		case pass:
			for j := range c.ev {
				if c.joins(j, i) {
					edge(j, i)
				}
			}
		case mbarWait:
			for j := range c.ev {
				if o := c.opOf(j); o != nil && c.p.signals(c.ev[j].thread, o, c.ev[i].home, c.ev[i].bar) {
					edge(j, i)
				}
			}
			c.waited(i, edge)
		case groupWait:
			c.waited(i, edge)
		}
	}
	s := search{c: c, before: before, seen: map[state]bool{}}
	return s.from(state{})
}

// joins reports whether arrival j is at the barrier that i passes or arrives at.
func (c *candidate) joins(j, i int) bool {
	if c.ev[j].kind != arrive || c.ev[j].bar != c.ev[i].bar {
		return false
	}
	t, u := c.ev[j].thread, c.ev[i].thread
	x, y := c.opOf(j), c.opOf(i)
	p, q := c.p.Threads[t].Place, c.p.Threads[u].Place
	switch y.Kind {
	case ClusterWait:
		return x.Kind == ClusterArrive && c.p.cluster(p.CTA) == c.p.cluster(q.CTA)
	case WarpSync:
		return x.Kind == WarpSync && c.p.oneWarp(t, u)
	}
	return (x.Kind == BarSync || x.Kind == BarArrive) && p.CTA == q.CTA
}

func (c *candidate) waited(i int, edge func(a, b int)) {
	for j := range c.ev {
		if c.ev[j].issue >= 0 && c.ev[j].kind == access && c.waitsFor(j, i, c.ev[i].home) {
			edge(j, i)
		}
	}
}

const maxLocs = 8

// A state of the search: the events that happened, and the last write to each word of
// each location.
type state struct {
	done set
	last [maxLocs][2]int8 // by location, event + 1; 0: the initial write
}

type search struct {
	c      *candidate
	before []set
	seen   map[state]bool
	locs   []Loc
}

func (s *search) loc(l Loc) int {
	for i, x := range s.locs {
		if x == l {
			return i
		}
	}
	s.locs = append(s.locs, l)
	return len(s.locs) - 1
}

func (s *search) from(at state) bool {
	if s.seen[at] {
		return false
	}
	s.seen[at] = true
	all := true
	for i := range s.c.ev {
		if at.done.has(i) {
			continue
		}
		e := &s.c.ev[i]
		if e.thread < 0 {
			at.done |= 1 << uint(i)
			continue
		}
		all = false
	}
	if all {
		return true
	}
	for i := range s.c.ev {
		if s.ready(at, i) && s.c.ev[i].kind != access {
			next, _ := s.step(at, i)
			return s.from(next) // it blocks no other event
		}
	}
	for i := range s.c.ev {
		if !s.ready(at, i) {
			continue
		}
		if next, ok := s.step(at, i); ok && s.from(next) {
			return true
		}
	}
	return false
}

func (s *search) ready(at state, i int) bool { return !at.done.has(i) && s.before[i]&^at.done == 0 }

// step performs an event, unless it would read from the wrong write.
func (s *search) step(at state, i int) (state, bool) {
	e := &s.c.ev[i]
	at.done |= 1 << uint(i)
	if e.kind != access {
		return at, true
	}
	l := s.loc(e.loc)
	for g := range 2 {
		if e.gran>>uint(g)&1 == 0 {
			continue
		}
		if want := s.c.from[i][g]; want >= 0 {
			if s.c.ev[want].thread < 0 {
				want = -1
			}
			if int(at.last[l][g]) != want+1 {
				return at, false
			}
		}
		if e.write {
			at.last[l][g] = int8(i + 1)
		}
	}
	return at, true
}
