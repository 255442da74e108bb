package axiom

import "fmt"

// A skeleton is the part of an execution fixed by a choice of control: its events, and
// their order independent of reads-from.
type skeleton struct {
	p  *Program
	ev []event
	po relation // immediate program order, of threads only
	// sync is the synchronization by barriers of ISA 8.9.4, independent of reads-from;
	// narrow is that through restricted fences.
	sync   relation
	narrow []edge
	// done lists, for each access of an asynchronous operation, the events that show its
	// completion: one of each list is required.
	done [][][]int
	at   [][]int // by thread and operation: the first event; -1 if none
	init map[Loc]int
	// release and acquire patterns on locations (ISA 8.8).
	releases, acquires []pattern
}

// A pattern's first and last events; on is its write or read, which pairs with the other
// side.
type pattern struct{ first, last, on int }

// An edge is a synchronization by restricted fences: for the shared memory of one CTA, or
// of all if it is -1; with proxy, only from the generic proxy to the asynchronous one.
type edge struct {
	from, to, cta int
	proxy         bool
}

func (c *control) skeleton() (*skeleton, error) {
	s := &skeleton{p: c.p, init: map[Loc]int{}}
	for t := range c.p.Threads {
		s.at = append(s.at, make([]int, len(c.p.Threads[t].Ops)))
		for i := range c.p.Threads[t].Ops {
			s.at[t][i] = -1
			if c.executed(t, i) {
				s.enter(t, i, i < c.passed[t])
			}
		}
	}
	for i := range s.ev {
		if e := &s.ev[i]; e.kind == access {
			if _, ok := s.init[e.loc]; !ok {
				s.init[e.loc] = len(s.ev)
				s.ev = append(s.ev, event{thread: -1, kind: access, write: true, loc: e.loc, gran: 15, issue: -1})
			}
		}
	}
	if len(s.ev) > maxEvents {
		return nil, fmt.Errorf("%s: %d events; at most %d are taken", c.p.Name, len(s.ev), maxEvents)
	}
	if len(s.init) > maxLocs {
		return nil, fmt.Errorf("%s: %d locations; at most %d are taken", c.p.Name, len(s.init), maxLocs)
	}
	n := len(s.ev)
	s.po, s.sync = make(relation, n), make(relation, n)
	s.done = make([][][]int, n)
	s.order()
	s.barriers()
	s.phases()
	s.completions()
	s.patterns()
	return s, nil
}

// enter adds the events of an operation. passed: the thread completed it.
func (s *skeleton) enter(t, i int, passed bool) {
	o := &s.p.Threads[t].Ops[i]
	e := event{thread: t, op: i, sem: o.Sem, scope: o.Scope, issue: -1, bar: o.Bar, home: o.Home}
	s.at[t][i] = len(s.ev)
	add := func(k kind) {
		e.kind = k
		s.ev = append(s.ev, e)
	}
	switch o.Kind {
	case Load, Store, Exch, Add, Red:
		e.loc, e.gran, e.alias = o.Loc, 1, o.Alias
		if o.Size == 8 {
			e.gran = 3
		}
		e.rmw = o.Kind >= Exch
		e.read, e.write = o.Kind != Store, o.Kind != Load
		if e.strong = o.Sem != Weak; o.Sem == Volatile {
			e.sem, e.scope = Relaxed, Sys // ISA 8.4.2
		}
		add(access)
	case Fence:
		add(fence)
	case SharedFence:
		e.scope = Cluster
		add(sharedFence)
	case ProxyFence:
		e.scope = Cluster // scope of the one-way forms
		add(proxyFence)
	case AliasFence:
		add(aliasFence)
	case MapReplace:
		e.loc, e.gran, e.write, e.sem = MapLoc, 15, true, Weak
		add(access)
	case MapRelease:
		add(mapRelease)
	case MapAcquire:
		add(mapAcquire)
	case BarSync, WarpSync:
		add(arrive)
		if passed {
			add(pass)
		}
	case BarArrive, ClusterArrive:
		e.scope = Cluster
		add(arrive)
	case ClusterWait:
		if e.scope, e.sem = Cluster, Acquire; passed {
			add(pass)
		} else {
			s.at[t][i] = -1
		}
	case MbarArrive:
		if e.scope == Defaulted {
			e.scope = Sys // honoured: see doc.go, decision 4
		}
		add(mbarArrive)
	case MbarWait:
		if e.scope == Defaulted {
			e.scope = Sys
		}
		if passed {
			add(mbarWait)
		} else {
			s.at[t][i] = -1
		}
	case BulkWait, CpAsyncWait:
		add(groupWait)
	case CpAsyncArrive:
		add(issued)
	default:
		add(issued)
		s.enterCopy(e, o)
	}
}

// enterCopy adds the accesses of an asynchronous operation.
func (s *skeleton) enterCopy(e event, o *Op) {
	e.kind, e.sem, e.gran = access, Weak, 15
	e.issue = len(s.ev) - 1
	e.async = o.Kind != CpAsync
	e.read, e.loc = true, o.Src
	s.ev = append(s.ev, e)
	if o.Map {
		m := e
		m.loc, m.async, m.viaMap = MapLoc, false, true
		s.ev = append(s.ev, m)
	}
	e.read, e.write, e.loc = false, true, o.Loc
	if o.Kind == BulkReduce {
		e.rmw, e.strong, e.scope = true, true, GPU
	}
	for _, h := range s.p.homes(e.thread, o) {
		if o.Mask != 0 {
			e.loc.CTA = h
		}
		s.ev = append(s.ev, e)
	}
}

func (s *skeleton) opOf(i int) *Op {
	if s.ev[i].thread < 0 {
		return nil
	}
	return &s.p.Threads[s.ev[i].thread].Ops[s.ev[i].op]
}

// ofThread reports whether an event is in its thread's program order: not an asynchronous
// operation's access, nor an initial write.
func (e *event) ofThread() bool { return e.thread >= 0 && e.issue < 0 }

func (s *skeleton) order() {
	for i := range s.ev {
		if !s.ev[i].ofThread() {
			continue
		}
		for j := i + 1; j < len(s.ev); j++ {
			if s.ev[j].ofThread() && s.ev[j].thread == s.ev[i].thread {
				s.po.add(i, j)
			}
		}
	}
}

// barriers adds the order by bar, bar.warp.sync and barrier.cluster.
func (s *skeleton) barriers() {
	for i := range s.ev {
		a := &s.ev[i]
		if a.kind != arrive {
			continue
		}
		x := s.opOf(i)
		for j := range s.ev {
			b := &s.ev[j]
			if b.kind != pass || b.bar != a.bar {
				continue
			}
			y := s.opOf(j)
			p, q := s.p.Threads[a.thread].Place, s.p.Threads[b.thread].Place
			named := func(k Kind) bool { return k == BarSync || k == BarArrive }
			switch {
			case named(x.Kind) && named(y.Kind) && p.CTA == q.CTA,
				x.Kind == WarpSync && y.Kind == WarpSync && p.CTA == q.CTA && p.Warp == q.Warp:
				s.sync.add(i, j)
			case x.Kind == ClusterArrive && y.Kind == ClusterWait && s.p.cluster(p.CTA) == s.p.cluster(q.CTA):
				s.meet(i, j, x.Sem != Relaxed, true)
			}
		}
	}
}

// phases adds the order from the arrivals at an mbarrier to the waits that find the phase
// complete.
func (s *skeleton) phases() {
	for i := range s.ev {
		for j := range s.ev {
			a, b := &s.ev[i], &s.ev[j]
			if a.kind == mbarArrive && b.kind == mbarWait && a.bar == b.bar && a.home == b.home && s.reaches(i, j) {
				s.meet(i, j, a.sem != Relaxed, b.sem != Relaxed)
			}
		}
	}
}

// meet adds the synchronization of every release pattern that ends in arrival i with
// every acquire pattern that begins with wait j.
func (s *skeleton) meet(i, j int, releases, acquires bool) {
	var first, last []int
	if releases {
		first = append(first, i)
	}
	if acquires {
		last = append(last, j)
	}
	for k := range s.ev {
		e := &s.ev[k]
		fences := e.fences()
		again := e.kind == s.ev[i].kind && e.bar == s.ev[i].bar && e.home == s.ev[i].home
		if s.po[k].has(i) && (fences && e.sem.releases() || again && e.kind == mbarArrive && e.sem.releases()) {
			first = append(first, k)
		}
		if s.po[j].has(k) && (fences && e.sem.acquires() || e.kind == mbarWait && s.ev[j].kind == mbarWait && e.bar == s.ev[j].bar && e.sem.acquires()) {
			last = append(last, k)
		}
	}
	for _, f := range first {
		for _, l := range last {
			if s.reaches(f, l) {
				s.synchronize(f, l)
			}
		}
	}
}

// fences reports whether an event can begin or end a pattern as a fence.
func (e *event) fences() bool {
	return e.kind == fence || e.kind == sharedFence || e.kind == proxyFence
}

func (s *skeleton) synchronize(f, l int) {
	switch e, meet, restricted := s.restriction(f, l); {
	case !meet:
	case restricted:
		s.narrow = append(s.narrow, e)
	default:
		s.sync.add(f, l)
	}
}

// restriction reports whether a release pattern that begins with event f may pair with an
// acquire pattern that ends with l, and with which restriction: proxy fences pair only
// with each other, and a release restricted to shared::cta covers only the shared memory
// of its own CTA.
func (s *skeleton) restriction(f, l int) (e edge, meet, restricted bool) {
	a, b := s.ev[f].kind, s.ev[l].kind
	if (a == proxyFence) != (b == proxyFence) {
		return edge{}, false, false
	}
	e = edge{from: f, to: l, cta: -1, proxy: a == proxyFence}
	if a == proxyFence || a == sharedFence {
		e.cta = s.p.Threads[s.ev[f].thread].CTA
	}
	return e, true, e.cta >= 0 || b == sharedFence
}

// completions finds the events that show operations complete. A copy that completes on
// several mbarriers has written to a CTA once that CTA's does, and read its source once
// all do.
func (s *skeleton) completions() {
	for i := range s.ev {
		a := &s.ev[i]
		if a.issue < 0 || a.kind != access {
			continue
		}
		homes := s.p.homes(a.thread, s.opOf(i))
		if a.write && len(homes) > 1 {
			homes = []int{a.loc.CTA}
		}
		for _, h := range homes {
			var known []int
			for j := range s.ev {
				if s.waitsFor(i, j, h) {
					known = append(known, s.acquiring(j, a.loc.Shared)...)
				}
			}
			s.done[i] = append(s.done[i], known)
		}
	}
}

// waitsFor reports whether wait j covers access i of an operation, by the mbarrier of CTA
// home if it completes on one.
func (s *skeleton) waitsFor(i, j, home int) bool {
	a, b := &s.ev[i], &s.ev[j]
	x, y := s.opOf(i), s.opOf(j)
	switch b.kind {
	case groupWait:
		return s.groupCovers(a, b, x, y)
	case mbarWait:
		if x.Kind == BulkLoad {
			return home == b.home && x.Bar == b.bar
		}
		if x.Kind != CpAsync {
			return false
		}
		for k := a.op + 1; k < len(s.at[a.thread]); k++ {
			z := &s.p.Threads[a.thread].Ops[k]
			if z.Kind == CpAsyncArrive && z.Home == b.home && z.Bar == b.bar && s.at[a.thread][k] >= 0 {
				return true
			}
		}
	}
	return false
}

// groupCovers reports whether group wait b covers an access of an operation.
func (s *skeleton) groupCovers(a, b *event, x, y *Op) bool {
	if a.thread != b.thread || b.op < a.op || (y.Kind == CpAsyncWait) != (x.Kind == CpAsync) || x.Kind == BulkLoad {
		return false
	}
	if y.Kind == BulkWait && y.Read && a.write {
		return false
	}
	later := 0
	for k := a.op + 1; k < b.op; k++ {
		if z := s.p.Threads[a.thread].Ops[k].Kind; (z == CpAsync) == (x.Kind == CpAsync) && z.async() && z != BulkLoad {
			// The group is committed even if its operation is skipped.
			later++
		}
	}
	return later >= y.N
}

// acquiring lists the events at which a wait acquires: the wait itself, or, if it is
// relaxed, the events that complete its pattern; for shared memory these include
// restricted fences.
func (s *skeleton) acquiring(j int, shared bool) []int {
	if s.ev[j].kind == groupWait || s.ev[j].sem != Relaxed {
		return []int{j}
	}
	var list []int
	for k := range s.ev {
		e := &s.ev[k]
		fences := e.kind == fence || e.kind == sharedFence && shared
		if s.po[j].has(k) && (fences && e.sem.acquires() || e.kind == mbarWait && e.bar == s.ev[j].bar && e.sem.acquires()) {
			list = append(list, k)
		}
	}
	return list
}

// patterns collects the release and acquire patterns on locations.
func (s *skeleton) patterns() {
	for i := range s.ev {
		e := &s.ev[i]
		if e.kind != access || !e.strong || e.issue >= 0 {
			continue
		}
		if e.write {
			s.releasing(i)
		}
		if e.read && !(e.rmw && s.opOf(i).Kind == Red) {
			s.acquirePatterns(i)
		}
	}
}

func (s *skeleton) releasing(w int) {
	if s.ev[w].sem.releases() {
		s.releases = append(s.releases, pattern{first: w, last: w, on: w})
	}
	for k := range s.ev {
		e := &s.ev[k]
		if !s.po[k].has(w) || !e.sem.releases() {
			continue
		}
		switch {
		case e.fences():
			s.releases = append(s.releases, pattern{first: k, last: w, on: w})
		case e.kind == access && e.write && s.sameLocation(k, w):
			s.releases = append(s.releases, pattern{first: k, last: w, on: w})
		}
	}
}

func (s *skeleton) acquirePatterns(r int) {
	if s.ev[r].sem.acquires() {
		s.acquires = append(s.acquires, pattern{first: r, last: r, on: r})
	}
	for k := range s.ev {
		e := &s.ev[k]
		if !s.po[r].has(k) || !e.sem.acquires() {
			continue
		}
		switch {
		case e.fences():
			s.acquires = append(s.acquires, pattern{first: r, last: k, on: r})
		case e.kind == access && e.read && s.sameLocation(k, r):
			s.acquires = append(s.acquires, pattern{first: r, last: k, on: r})
		}
	}
}

// sameLocation is complete overlap (ISA 8.2.1).
func (s *skeleton) sameLocation(a, b int) bool {
	return s.ev[a].loc == s.ev[b].loc && s.ev[a].gran == s.ev[b].gran
}

func (s *skeleton) overlap(a, b int) uint8 {
	if s.ev[a].kind != access || s.ev[b].kind != access || s.ev[a].loc != s.ev[b].loc {
		return 0
	}
	return s.ev[a].gran & s.ev[b].gran
}

// reaches reports whether each event's scope includes the other's thread, or both are in
// one thread.
func (s *skeleton) reaches(a, b int) bool {
	x, y := &s.ev[a], &s.ev[b]
	if x.thread == y.thread {
		return true
	}
	return s.p.includes(x.scope, x.thread, y.thread) && s.p.includes(y.scope, y.thread, x.thread)
}

// morallyStrong is ISA 8.7.
func (s *skeleton) morallyStrong(a, b int) bool {
	x, y := &s.ev[a], &s.ev[b]
	if x.thread < 0 || y.thread < 0 {
		return false
	}
	if x.kind == access && y.kind == access && (x.async != y.async || x.viaMap != y.viaMap || x.alias != y.alias || !s.sameLocation(a, b)) {
		return false
	}
	if x.ofThread() && y.ofThread() && x.thread == y.thread {
		return true
	}
	strong := func(e *event) bool { return e.kind == fence || e.strong }
	return strong(x) && strong(y) && s.reaches(a, b)
}
