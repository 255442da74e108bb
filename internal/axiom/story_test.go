package axiom_test

import (
	"slices"

	"muster/internal/axiom"
)

// A story is a litmus test that is right, or nearly: one thread after another
// uses the same data, by ordinary accesses or by copies, and hands it on by a
// flag or a barrier with all that the ISA asks for. Then a few qualifiers,
// places or operations are changed at random.
func (g *generator) story() *axiom.Program {
	g.layout(2 + g.IntN(2))
	data := g.reachable(50, g.all()...)
	if data.Shared {
		data.CTA = g.p.Threads[0].CTA
	}
	h := g.IntN(len(g.threads))
	async := g.chance(45)
	fenced := g.use(h, data, async)
	for range 1 + g.IntN(2) {
		to := (h + 1 + g.IntN(len(g.threads)-1)) % len(g.threads)
		copies := async && g.chance(60)
		if copies && !fenced && g.chance(50) {
			g.put(h, g.crossing(data))
			fenced = true
		}
		g.handOver(h, to)
		if h = to; copies && !fenced {
			g.put(h, g.crossing(data))
		}
		fenced = g.use(h, data, copies)
	}
	for range g.IntN(4) {
		g.change(data)
	}
	return g.finish()
}

// rewritten is a story of the tensor map: one thread rewrites it and hands it
// over, and another copies through it; it may be rewritten again after.
func (g *generator) rewritten() *axiom.Program {
	g.layout(2 + g.IntN(2))
	a := g.IntN(len(g.threads))
	b := (a + 1 + g.IntN(len(g.threads)-1)) % len(g.threads)
	cta := g.p.Threads[b].CTA
	fence := func(k axiom.Kind) *step { return &step{Op: axiom.Op{Kind: k, Scope: g.wide(a, b)}} }
	g.put(a, &step{Op: axiom.Op{Kind: axiom.MapReplace}})
	early := g.chance(70)
	if early {
		g.put(a, fence(axiom.MapRelease))
	}
	g.handOver(a, b)
	if !early {
		g.put(b, fence(axiom.MapRelease))
	}
	bar := g.mbar(cta)
	c := &step{Op: axiom.Op{Kind: axiom.BulkLoad, Map: true, Loc: axiom.Loc{Shared: true, CTA: cta}, Bar: bar, Home: cta}}
	g.put(b, fence(axiom.MapAcquire), c)
	g.put(b, g.wait(b, bar)...)
	if g.chance(50) {
		g.put(b, g.access(c.Loc, 80))
	} else {
		g.put(b, &step{Op: axiom.Op{Kind: axiom.MapReplace}})
	}
	for range g.IntN(3) {
		g.change(c.Loc)
	}
	return g.finish()
}

// put appends steps to a thread, guarded by the last flag that it looked at.
func (g *generator) put(t int, steps ...*step) {
	for _, s := range steps {
		for _, r := range slices.Backward(g.threads[t]) {
			if r.wants != nil {
				s.guard = r
				break
			}
		}
		g.threads[t] = append(g.threads[t], s)
	}
}

// crossing is a proxy fence that covers a location.
func (g *generator) crossing(l axiom.Loc) *step {
	s := &step{Op: axiom.Op{Kind: axiom.ProxyFence, Space: pick(g, axiom.AllSpaces, axiom.SpaceSharedCluster)}}
	if !l.Shared {
		s.Space = pick(g, axiom.AllSpaces, axiom.SpaceGlobal)
	}
	return s
}

// use has a thread use the data, by a copy if it may, and wait for that. It
// reports whether what follows may be a copy with no proxy fence.
func (g *generator) use(t int, data axiom.Loc, copies bool) bool {
	cta := g.p.Threads[t].CTA
	reach := !data.Shared || data.CTA/g.p.ClusterSize == cta/g.p.ClusterSize
	if !reach || !copies {
		for range 1 + g.IntN(4)/3 {
			g.put(t, g.access(data, 80))
		}
		return false
	}
	wait := &step{Op: axiom.Op{Kind: axiom.BulkWait, Read: g.chance(15)}}
	other := axiom.Loc{Shared: true, CTA: cta, N: 1}
	kind := pick(g, axiom.BulkStore, axiom.BulkStore, axiom.BulkReduce)
	switch {
	case !data.Shared && g.chance(50):
		g.put(t, &step{Op: axiom.Op{Kind: kind, Src: other, Loc: data}}, wait)
	case !data.Shared && g.chance(40):
		g.put(t, &step{Op: axiom.Op{Kind: axiom.CpAsync, Src: data, Loc: other}}, &step{Op: axiom.Op{Kind: axiom.CpAsyncWait}})
		return false
	case !data.Shared:
		bar := g.mbar(cta)
		c := &step{Op: axiom.Op{Kind: axiom.BulkLoad, Src: data, Loc: other, Bar: bar, Home: cta}}
		dest := g.spread(t, c)
		g.put(t, c)
		for u := range g.threads {
			if slices.Contains(dest, g.p.Threads[u].CTA) && (u == t || g.chance(70)) {
				g.put(u, g.wait(u, bar)...)
			}
		}
	case data.CTA == cta && g.chance(50):
		g.put(t, &step{Op: axiom.Op{Kind: kind, Src: data, Loc: axiom.Loc{N: 1}}}, wait)
	case data.CTA == cta && g.chance(30):
		g.put(t, &step{Op: axiom.Op{Kind: axiom.CpAsync, Src: axiom.Loc{N: 1}, Loc: data}}, &step{Op: axiom.Op{Kind: axiom.CpAsyncWait}})
		return false
	default:
		bar := g.mbar(data.CTA)
		src := pick(g, axiom.Loc{N: 1}, other)
		g.put(t, &step{Op: axiom.Op{Kind: axiom.BulkLoad, Src: src, Loc: data, Bar: bar, Home: data.CTA}})
		for u := range g.threads {
			if g.p.Threads[u].CTA == data.CTA && (u == t || g.chance(50)) {
				g.put(u, g.wait(u, bar)...)
			}
		}
	}
	return true
}

// handOver orders what one thread did before what another does.
func (g *generator) handOver(a, b int) {
	x, y := g.p.Threads[a].Place, g.p.Threads[b].Place
	together := x.CTA/g.p.ClusterSize == y.CTA/g.p.ClusterSize
	switch n := g.IntN(10); {
	case n < 3 && x.CTA == y.CTA:
		g.bars++
		warp := x.Warp == y.Warp && g.chance(60)
		half := x.Warp != y.Warp && g.chance(40)
		for t := range g.threads {
			p := g.p.Threads[t].Place
			s := &step{Op: axiom.Op{Kind: axiom.BarSync, Bar: g.bars}}
			switch {
			case p.CTA != x.CTA || p.Warp != x.Warp && p.Warp != y.Warp:
				continue
			case warp:
				s.Kind = axiom.WarpSync
			case half && p.Warp == x.Warp:
				s.Kind = axiom.BarArrive
			}
			g.put(t, s)
		}
	case n < 4 && g.p.ClusterSize > 1 && together && !g.has(a, axiom.ClusterArrive):
		for t := range g.threads {
			if g.p.Threads[t].CTA/2 != x.CTA/2 {
				continue
			}
			s := &step{Op: axiom.Op{Kind: axiom.ClusterArrive, Sem: axiom.Release}}
			if g.chance(30) {
				s.Sem = axiom.Relaxed
				g.put(t, g.releasing(axiom.Cluster))
			}
			g.put(t, s, &step{Op: axiom.Op{Kind: axiom.ClusterWait}})
		}
	case n < 6 && together:
		g.phaseFrom(a, b)
	default:
		g.flag(a, b)
	}
}

// wide is a scope that holds both threads, seldom wider than needed.
func (g *generator) wide(a, b int) axiom.Scope {
	x, y := g.p.Threads[a].CTA, g.p.Threads[b].CTA
	s := axiom.GPU
	switch {
	case x == y:
		s = axiom.CTA
	case x/g.p.ClusterSize == y/g.p.ClusterSize:
		s = axiom.Cluster
	}
	if g.chance(30) {
		s = max(s, pick(g, axiom.Cluster, axiom.GPU, axiom.Sys))
	}
	return s
}

func (g *generator) releasing(s axiom.Scope) *step {
	return &step{Op: axiom.Op{Kind: axiom.Fence, Sem: pick(g, axiom.Release, axiom.AcqRel, axiom.SC), Scope: s}}
}

func (g *generator) phaseFrom(a, b int) {
	home := g.p.Threads[b].CTA
	bar := g.mbar(home)
	scope := min(g.wide(a, b), axiom.Cluster)
	s := &step{Op: axiom.Op{Kind: axiom.MbarArrive, Bar: bar, Home: home, Sem: axiom.Release, Scope: scope}}
	w := &step{Op: axiom.Op{Kind: axiom.MbarWait, Bar: bar, Home: home, Sem: axiom.Acquire, Scope: scope}}
	if g.chance(30) {
		s.Sem, s.Scope = axiom.Weak, axiom.Defaulted
	} else if g.chance(30) {
		s.Sem = axiom.Relaxed
		g.put(a, g.releasing(g.wide(a, b)))
	}
	if g.chance(30) {
		w.Sem, w.Scope = axiom.Weak, axiom.Defaulted
	}
	g.put(a, s)
	if w.Sem == axiom.Acquire && g.chance(30) {
		w.Sem = axiom.Relaxed
		g.put(b, w, &step{Op: axiom.Op{Kind: axiom.Fence, Sem: pick(g, axiom.Acquire, axiom.AcqRel, axiom.SC), Scope: g.wide(a, b)}})
		return
	}
	g.put(b, w)
}

// flag hands over by a location: the writer releases, the reader acquires, by
// operations or by fences; now and then the flag is written twice, read twice,
// or passes through another thread's hands on the way.
func (g *generator) flag(a, b int) {
	l := g.reachable(20, append([]int{a, b}, g.all()...)...)
	l.N = 2 + g.IntN(2)
	write := func(t int, k axiom.Kind, sem axiom.Sem, s axiom.Scope) *step {
		g.value++
		w := &step{Op: axiom.Op{Kind: k, Loc: l, Sem: sem, Scope: s, Value: 100 * g.value}}
		g.put(t, w)
		return w
	}
	kind := pick(g, axiom.Store, axiom.Store, axiom.Exch, axiom.Add, axiom.Red)
	var w *step
	switch {
	case g.chance(50):
		g.put(a, g.releasing(g.wide(a, b)))
		w = write(a, kind, axiom.Relaxed, g.wide(a, b))
	default:
		w = write(a, kind, axiom.Release, g.wide(a, b))
		if g.chance(30) {
			w = write(a, pick(g, axiom.Store, axiom.Exch), axiom.Relaxed, g.wide(a, b))
		}
	}
	want := w
	if c := 3 - a - b; len(g.threads) == 3 && g.chance(40) {
		z := write(c, pick(g, axiom.Add, axiom.Exch, axiom.Red, axiom.Store), axiom.Relaxed, max(g.wide(a, c), g.wide(c, b)))
		switch {
		case z.Kind == axiom.Store:
		case z.Kind == axiom.Exch:
			want = z
		default:
			want = &step{Op: axiom.Op{Value: w.Value + z.Value}}
		}
	}
	r := &step{Op: axiom.Op{Kind: pick(g, axiom.Load, axiom.Load, axiom.Add), Loc: l, Sem: axiom.Acquire, Scope: g.wide(a, b)}, wants: want}
	switch {
	case g.chance(50):
		r.Sem = axiom.Relaxed
		g.put(b, r, &step{Op: axiom.Op{Kind: axiom.Fence, Sem: pick(g, axiom.Acquire, axiom.AcqRel, axiom.SC), Scope: g.wide(a, b)}})
	case g.chance(25):
		r.Sem = axiom.Relaxed
		g.put(b, r, &step{Op: axiom.Op{Kind: axiom.Load, Loc: l, Sem: axiom.Acquire, Scope: g.wide(a, b)}})
	default:
		g.put(b, r)
	}
}

// change alters one thing.
func (g *generator) change(data axiom.Loc) {
	t := g.IntN(len(g.threads))
	list := g.threads[t]
	if len(list) == 0 {
		return
	}
	i := g.IntN(len(list))
	s := list[i]
	switch g.IntN(8) {
	case 0:
		if s.Scope != axiom.Defaulted && s.Kind != axiom.MbarArrive && s.Kind != axiom.MbarWait {
			s.Scope = g.scope()
		}
	case 1:
		switch {
		case s.Kind == axiom.Load || s.Kind == axiom.Store:
			s.Sem, s.Scope = pick(g, axiom.Weak, axiom.Relaxed, axiom.Volatile), g.scope()
		case s.Kind < axiom.Fence && s.Kind > axiom.Store:
			s.Sem = axiom.Relaxed
		case s.Kind == axiom.Fence:
			s.Sem = pick(g, axiom.AcqRel, axiom.SC, axiom.Acquire, axiom.Release)
		}
	case 2:
		if !barrierKind(s.Kind) && s.wants == nil {
			g.threads[t] = slices.Delete(list, i, i+1)
		}
	case 3, 4:
		if i > 0 && s.guard != list[i-1] && !(barrierKind(s.Kind) && barrierKind(list[i-1].Kind)) {
			list[i], list[i-1] = list[i-1], s
		}
	case 5:
		s.guard = nil
	case 6:
		if s.Kind <= axiom.Red {
			s.Size = 8
		} else if s.Kind == axiom.ProxyFence {
			s.Space = pick(g, axiom.SpaceGlobal, axiom.SpaceSharedCTA, axiom.SpaceSharedCluster)
			s.Sem = pick(g, axiom.Weak, axiom.Acquire, axiom.Release)
		}
	case 7:
		l := data
		if l.Shared && l.CTA/g.p.ClusterSize != g.p.Threads[t].CTA/g.p.ClusterSize {
			return
		}
		if x := g.threads[g.IntN(len(g.threads))]; len(x) > 0 && g.chance(50) {
			if y := x[g.IntN(len(x))]; y.Kind <= axiom.Red && !y.Loc.Shared {
				l = y.Loc
			}
		}
		g.threads[t] = slices.Insert(list, i, g.access(l, 40))
	}
}
