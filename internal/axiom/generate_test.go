package axiom_test

import (
	"math/rand/v2"
	"slices"

	"muster/internal/axiom"
)

// A generator draws a litmus test from a seed: threads in random places,
// random accesses to few locations, and one or two ways of synchronizing, each
// with random qualifiers, woven into the threads at random.
type generator struct {
	*rand.Rand
	p       axiom.Program
	threads [][]*step
	value   uint32
	bars    int
	mbars   map[int]int
}

// A step is an operation whose guard is not yet a number.
type step struct {
	axiom.Op
	guard *step
	wants *step // the write whose value the guard wants; nil: the initial 0
}

const maxOps = 4 // a thread, barriers and waits not counted

// generate draws the litmus test of a seed: of sixteen, four are random
// throughout, one is a story of the tensor map, two are of what is not seen, one
// is of restricted fences, and the others of data.
func generate(seed uint64) *axiom.Program {
	for try := uint64(0); ; try++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, try)), mbars: map[int]int{}}
		draw := g.program
		if seed%4 != 0 {
			draw = g.story
		}
		switch seed % 16 {
		case 3:
			draw = g.rewritten
		case 7:
			draw = g.overlooked
		case 11:
			draw = g.counted
		case 15:
			draw = g.restricted
		}
		if p := draw(); p != nil && p.Check() == nil {
			return p
		}
	}
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) program() *axiom.Program {
	g.layout(2 + g.IntN(2))
	family := g.IntN(4)
	n := 1 + g.IntN(2)
	for range n {
		switch {
		case family == 0 || g.chance(25):
			g.message()
		case family == 1:
			g.barrier()
		default:
			pick(g, g.barrier, g.phase, g.copyPhase, g.copyGroup, g.copyGroup, g.cpAsync)()
		}
	}
	for t := range g.threads {
		for range 1 + g.IntN(2) {
			g.weave(t, g.data(t))
		}
		if family >= 2 && g.chance(60) {
			g.weave(t, g.proxyFence())
		}
		if family == 0 && g.chance(30) {
			g.weave(t, g.fence())
		}
	}
	return g.finish()
}

func (g *generator) layout(n int) {
	g.p.ClusterSize = pick(g, 1, 1, 2)
	for len(g.p.Threads) < n {
		at := axiom.Place{CTA: pick(g, 0, 0, 1, 2), Warp: g.IntN(2), Lane: g.IntN(2)}
		if g.p.ClusterSize == 2 {
			at.CTA = pick(g, 0, 1, 1, 2)
		}
		if slices.ContainsFunc(g.p.Threads, func(t axiom.Thread) bool { return t.Place == at }) {
			continue
		}
		g.p.Threads = append(g.p.Threads, axiom.Thread{Place: at})
	}
	for _, t := range g.p.Threads {
		g.p.CTAs = max(g.p.CTAs, t.CTA+1)
	}
	if g.p.CTAs%g.p.ClusterSize != 0 {
		g.p.CTAs++
	}
	g.threads = make([][]*step, n)
}

// weave puts steps into a thread, in their order, at random places.
func (g *generator) weave(t int, steps ...*step) {
	from := 0
	tight := g.chance(50)
	for i, s := range steps {
		at := from + g.IntN(len(g.threads[t])-from+1)
		if i > 0 && tight {
			at = from
		}
		g.threads[t] = slices.Insert(g.threads[t], at, s)
		from = at + 1
	}
}

func (g *generator) scope() axiom.Scope {
	return pick(g, axiom.CTA, axiom.CTA, axiom.Cluster, axiom.GPU, axiom.GPU, axiom.Sys)
}

// reachable draws a memory that all of the threads reach: global, or the
// shared memory of the first one's CTA.
func (g *generator) reachable(shared int, threads ...int) axiom.Loc {
	first := g.p.Threads[threads[0]].CTA
	for _, t := range threads {
		if g.p.Threads[t].CTA/g.p.ClusterSize != first/g.p.ClusterSize {
			return axiom.Loc{}
		}
	}
	if g.chance(shared) {
		return axiom.Loc{Shared: true, CTA: first}
	}
	return axiom.Loc{}
}

func (g *generator) all() []int {
	var all []int
	for t := range g.threads {
		all = append(all, t)
	}
	return all
}

// data draws a plain or strong access to one of two locations of one memory.
func (g *generator) data(t int) *step {
	l := g.reachable(40, append([]int{t}, g.all()...)...)
	if l.Shared {
		l.CTA = g.p.Threads[0].CTA
	}
	l.N = pick(g, 0, 0, 0, 1)
	return g.access(l, 60)
}

func (g *generator) access(l axiom.Loc, weak int) *step {
	s := &step{Op: axiom.Op{Kind: pick(g, axiom.Load, axiom.Load, axiom.Store, axiom.Store, axiom.Exch, axiom.Add, axiom.Red), Loc: l, Scope: g.scope()}}
	switch s.Kind {
	case axiom.Load:
		s.Sem = pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Acquire, axiom.Volatile)
	case axiom.Store:
		s.Sem = pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Release, axiom.Volatile)
	case axiom.Red:
		s.Sem = pick(g, axiom.Relaxed, axiom.Release)
	default:
		s.Sem = pick(g, axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel)
	}
	if s.Kind < axiom.Exch && g.chance(weak) {
		s.Sem = axiom.Weak
	}
	if g.chance(10) {
		s.Size = 8
	}
	if g.value++; s.Kind != axiom.Load {
		s.Value = g.value
	}
	return s
}

func (g *generator) fence() *step {
	if g.p.ClusterSize > 1 && g.chance(20) {
		return &step{Op: axiom.Op{Kind: axiom.SharedFence, Sem: pick(g, axiom.Acquire, axiom.Release)}}
	}
	return &step{Op: axiom.Op{Kind: axiom.Fence, Sem: pick(g, axiom.AcqRel, axiom.AcqRel, axiom.SC, axiom.SC, axiom.Acquire, axiom.Release), Scope: g.scope()}}
}

func (g *generator) proxyFence() *step {
	s := &step{Op: axiom.Op{Kind: axiom.ProxyFence, Space: pick(g, axiom.AllSpaces, axiom.SpaceGlobal, axiom.SpaceSharedCTA, axiom.SpaceSharedCluster)}}
	if g.chance(20) {
		s.Sem = pick(g, axiom.Acquire, axiom.Release)
	}
	return s
}

// message weaves a flag that one thread writes and another looks at, what
// comes after guarded by what it saw.
func (g *generator) message() {
	n := len(g.threads)
	a := g.IntN(n)
	b := (a + 1 + g.IntN(n-1)) % n
	l := g.reachable(25, a, b)
	l.N = 2 + g.IntN(2)
	w, r := g.access(l, 8), g.access(l, 8)
	for w.Kind == axiom.Load {
		w = g.access(l, 8)
	}
	for r.Kind == axiom.Store || r.Kind == axiom.Red {
		r = g.access(l, 8)
	}
	r.Size = w.Size
	var before, after []*step
	if g.chance(60) {
		before = append(before, g.fence())
	}
	if g.chance(60) {
		after = append(after, g.fence())
	}
	g.weave(a, append(before, w)...)
	g.weave(b, append([]*step{r}, after...)...)
	if n == 3 && g.chance(50) {
		// A third hand on the flag, between the two or after.
		c := 3 - a - b
		z := g.access(l, 8)
		z.Size = w.Size
		if l.Shared && g.p.Threads[c].CTA/g.p.ClusterSize != l.CTA/g.p.ClusterSize {
			return
		}
		g.weave(c, z)
		if z.Kind != axiom.Load && g.chance(60) {
			w = z
		}
	}
	if g.chance(85) {
		r.wants = w
		g.guardAfter(b, r)
	}
}

// guardAfter guards what a thread does after a read.
func (g *generator) guardAfter(t int, r *step) {
	for _, s := range g.threads[t] {
		if s.guard == nil && s != r {
			s.guard = r
		}
	}
}

func (g *generator) barrier() {
	n := len(g.threads)
	a := g.IntN(n)
	b := (a + 1 + g.IntN(n-1)) % n
	x, y := g.p.Threads[a].Place, g.p.Threads[b].Place
	switch {
	case g.p.ClusterSize > 1 && g.chance(50):
		g.bars++
		for t := range g.threads {
			if g.p.Threads[t].CTA/2 == x.CTA/2 && !g.has(t, axiom.ClusterArrive) {
				s := &step{Op: axiom.Op{Kind: axiom.ClusterArrive, Sem: pick(g, axiom.Release, axiom.Release, axiom.Relaxed)}}
				steps := []*step{s, {Op: axiom.Op{Kind: axiom.ClusterWait}}}
				if s.Sem == axiom.Relaxed && g.chance(60) {
					steps = append([]*step{g.fence()}, steps...)
				}
				g.weave(t, steps...)
			}
		}
	case x.CTA == y.CTA && x.Warp == y.Warp && g.chance(70):
		g.bars++
		for t := range g.threads {
			if p := g.p.Threads[t].Place; p.CTA == x.CTA && p.Warp == x.Warp {
				g.weave(t, &step{Op: axiom.Op{Kind: axiom.WarpSync, Bar: g.bars}})
			}
		}
	case x.CTA == y.CTA:
		g.bars++
		half := g.chance(30) && x.Warp != y.Warp
		for t := range g.threads {
			p := g.p.Threads[t].Place
			if p.CTA != x.CTA || p.Warp != x.Warp && p.Warp != y.Warp {
				continue
			}
			k := axiom.BarSync
			if half && p.Warp == x.Warp {
				k = axiom.BarArrive
			}
			g.weave(t, &step{Op: axiom.Op{Kind: k, Bar: g.bars}})
		}
	default:
		g.message()
	}
}

func (g *generator) has(t int, k axiom.Kind) bool {
	return slices.ContainsFunc(g.threads[t], func(s *step) bool { return s.Kind == k })
}

// mbar draws an mbarrier of a CTA.
func (g *generator) mbar(cta int) int {
	if n := g.mbars[cta]; n > 0 && g.chance(30) {
		return n - 1
	}
	g.mbars[cta]++
	return g.mbars[cta] - 1
}

func (g *generator) wait(t, bar int) []*step {
	w := &step{Op: axiom.Op{Kind: axiom.MbarWait, Bar: bar, Home: g.p.Threads[t].CTA}}
	if g.chance(60) {
		w.Sem, w.Scope = pick(g, axiom.Acquire, axiom.Acquire, axiom.Relaxed), pick(g, axiom.CTA, axiom.Cluster)
	}
	if w.Sem == axiom.Relaxed && g.chance(60) {
		return []*step{w, g.fence()}
	}
	return []*step{w}
}

// phase weaves arrivals at an mbarrier and a wait.
func (g *generator) phase() {
	n := len(g.threads)
	b := g.IntN(n)
	home := g.p.Threads[b].CTA
	bar := g.mbar(home)
	for t := range g.threads {
		if g.p.Threads[t].CTA/g.p.ClusterSize != home/g.p.ClusterSize || !g.chance(60) || t == b && n > 2 {
			continue
		}
		a := &step{Op: axiom.Op{Kind: axiom.MbarArrive, Bar: bar, Home: home}}
		steps := []*step{a}
		if g.chance(60) {
			a.Sem, a.Scope = pick(g, axiom.Release, axiom.Release, axiom.Relaxed), pick(g, axiom.CTA, axiom.Cluster)
		}
		if a.Sem == axiom.Relaxed && g.chance(60) {
			steps = []*step{g.fence(), a}
		}
		g.weave(t, steps...)
	}
	g.weave(b, g.wait(b, bar)...)
}

// cell draws a location of data in the shared memory of a CTA, or in global.
func (g *generator) cell(shared bool, cta int) axiom.Loc {
	l := axiom.Loc{Shared: shared, N: pick(g, 0, 0, 1)}
	if shared {
		l.CTA = cta
	}
	return l
}

// copyPhase weaves in a bulk copy into shared memory and its waiters.
func (g *generator) copyPhase() {
	t := g.IntN(len(g.threads))
	cta := g.p.Threads[t].CTA
	to := cta
	if g.p.ClusterSize > 1 && g.chance(40) {
		to = g.p.Threads[g.IntN(len(g.threads))].CTA
		if to/g.p.ClusterSize != cta/g.p.ClusterSize {
			to = cta
		}
	}
	bar := g.mbar(to)
	c := &step{Op: axiom.Op{Kind: axiom.BulkLoad, Src: g.cell(g.chance(30), cta), Loc: g.cell(true, to), Bar: bar, Home: to}}
	if c.Src == c.Loc {
		c.Src = axiom.Loc{}
	}
	dest := g.spread(t, c)
	g.weave(t, c)
	for u := range g.threads {
		if slices.Contains(dest, g.p.Threads[u].CTA) && g.chance(70) {
			g.weave(u, g.wait(u, bar)...)
		}
	}
}

// spread makes a copy from global memory a multicast, or one through the tensor
// map, now and then, and returns the CTAs that it writes to.
func (g *generator) spread(t int, c *step) []int {
	cta := g.p.Threads[t].CTA
	if c.Src.Shared {
		return []int{c.Home}
	}
	if c.Loc.N == 0 && g.chance(35) {
		c.Map = true
		g.mapped(t, c)
	}
	if n := g.p.ClusterSize; n > 1 && c.Home == cta && c.Loc.CTA == cta && g.chance(40) {
		c.Mask = pick(g, 3, 3, 1, 2)
		var list []int
		for i := range n {
			if c.Mask>>i&1 != 0 {
				g.mbars[cta/n*n+i] = max(g.mbars[cta/n*n+i], c.Bar+1)
				list = append(list, cta/n*n+i)
			}
		}
		return list
	}
	return []int{c.Home}
}

// mapped weaves in a thread that rewrites the map of a copy, with its fences.
func (g *generator) mapped(t int, c *step) {
	u := g.IntN(len(g.threads))
	replace := &step{Op: axiom.Op{Kind: axiom.MapReplace}}
	release := &step{Op: axiom.Op{Kind: axiom.MapRelease, Scope: g.scope()}}
	acquire := &step{Op: axiom.Op{Kind: axiom.MapAcquire, Scope: g.scope()}}
	switch {
	case g.chance(20):
	case g.chance(30):
		g.weave(u, replace)
	default:
		g.weave(u, replace, release)
		g.weave(t, acquire)
	}
}

// copyGroup weaves a bulk copy or reduction from shared memory, and a wait.
func (g *generator) copyGroup() {
	t := g.IntN(len(g.threads))
	c := &step{Op: axiom.Op{Kind: pick(g, axiom.BulkStore, axiom.BulkStore, axiom.BulkReduce), Src: g.cell(true, g.p.Threads[t].CTA), Loc: g.cell(false, 0)}}
	steps := []*step{c}
	if g.chance(80) {
		steps = append(steps, &step{Op: axiom.Op{Kind: axiom.BulkWait, N: pick(g, 0, 0, 0, 1), Read: g.chance(40)}})
	}
	g.weave(t, steps...)
}

func (g *generator) cpAsync() {
	t := g.IntN(len(g.threads))
	cta := g.p.Threads[t].CTA
	c := &step{Op: axiom.Op{Kind: axiom.CpAsync, Src: g.cell(false, 0), Loc: g.cell(true, cta)}}
	switch {
	case g.chance(40):
		bar := g.mbar(cta)
		g.weave(t, c, &step{Op: axiom.Op{Kind: axiom.CpAsyncArrive, Bar: bar, Home: cta}})
		for u := range g.threads {
			if g.p.Threads[u].CTA == cta && g.chance(70) {
				g.weave(u, g.wait(u, bar)...)
			}
		}
	case g.chance(80):
		g.weave(t, c, &step{Op: axiom.Op{Kind: axiom.CpAsyncWait, N: pick(g, 0, 0, 0, 1)}})
	default:
		g.weave(t, c)
	}
}

// finish numbers the guards. It returns nil if a thread is empty or too long.
func (g *generator) finish() *axiom.Program {
	for t, list := range g.threads {
		n := 0
		for _, s := range list {
			if !barrierKind(s.Kind) {
				n++
			}
		}
		if n > maxOps || len(list) > maxOps+2 || len(list) == 0 {
			return nil
		}
		place := map[*step]int{}
		for i, s := range list {
			place[s] = i
			op := s.Op
			if r, ok := place[s.guard]; ok && !barrierKind(op.Kind) {
				want := uint32(0)
				if s.guard.wants != nil {
					want = s.guard.wants.Value
				}
				op.Guard = &axiom.Guard{Read: r, Value: want}
			}
			g.p.Threads[t].Ops = append(g.p.Threads[t].Ops, op)
		}
	}
	return &g.p
}

func barrierKind(k axiom.Kind) bool {
	switch k {
	case axiom.BarSync, axiom.BarArrive, axiom.WarpSync, axiom.ClusterArrive, axiom.ClusterWait, axiom.MbarWait,
		axiom.BulkWait, axiom.CpAsyncWait, axiom.CpAsyncArrive:
		return true
	}
	return false
}
