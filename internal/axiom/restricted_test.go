package axiom_test

import "muster/internal/axiom"

// restricted generates hand-overs of shared memory in a cluster: by relaxed
// operations between fences that are restricted to shared memory or to one
// proxy.
func (g *generator) restricted() *axiom.Program {
	g.p.ClusterSize, g.p.CTAs = 2, 2
	n := 2 + g.IntN(2)
	for t := range n {
		at := axiom.Place{CTA: t % 2, Warp: t / 2}
		if t == 2 {
			at = pick(g, axiom.Place{Warp: 1}, axiom.Place{CTA: 1, Warp: 1}, axiom.Place{CTA: 1, Lane: 1})
		}
		g.p.Threads = append(g.p.Threads, axiom.Thread{Place: at})
	}
	g.threads = make([][]*step, n)
	data := axiom.Loc{Shared: true, CTA: g.IntN(2)}
	if g.chance(15) {
		data = axiom.Loc{}
	}
	h := g.IntN(n)
	if g.use(h, data, g.chance(30)); g.chance(30) {
		g.put(h, g.crossing(data))
	}
	for i := range 1 + g.IntN(2) {
		to := (h + 1 + g.IntN(n-1)) % n
		if g.chance(20) {
			g.handOver(h, to)
		} else {
			g.relaxedHandOver(h, to)
		}
		if h = to; i == 0 && n == 3 && g.chance(50) {
			continue // which hands on what it was told
		}
		g.use(h, data, g.chance(75))
	}
	for range g.IntN(3) {
		g.change(data)
	}
	return g.finish()
}

// half draws the fence of one side, for which Acquire or Release says which:
// that of the asynchronous proxy, restricted to shared memory, whole, or none.
func (g *generator) half(sem axiom.Sem, which int) []*step {
	switch which {
	case 0, 1, 2:
		return []*step{{Op: axiom.Op{Kind: axiom.ProxyFence, Sem: sem}}}
	case 3, 4:
		return []*step{{Op: axiom.Op{Kind: axiom.SharedFence, Sem: sem}}}
	case 5:
		return []*step{{Op: axiom.Op{Kind: axiom.Fence, Sem: pick(g, sem, axiom.AcqRel), Scope: axiom.Cluster}}}
	case 6:
		return []*step{
			{Op: axiom.Op{Kind: axiom.SharedFence, Sem: sem}},
			{Op: axiom.Op{Kind: axiom.ProxyFence, Space: pick(g, axiom.AllSpaces, axiom.SpaceSharedCTA, axiom.SpaceSharedCluster)}},
		}
	}
	return nil
}

// relaxedHandOver orders what one thread did before what another does, or
// nearly.
func (g *generator) relaxedHandOver(a, b int) {
	before := g.IntN(8)
	after := before
	if g.chance(30) {
		after = g.IntN(8)
	}
	weaken := func(s axiom.Sem) axiom.Sem {
		if g.chance(75) {
			return axiom.Relaxed
		}
		return s
	}
	home := g.p.Threads[b].CTA
	switch n := g.IntN(3); {
	case n == 0 && !g.has(a, axiom.ClusterArrive):
		for t := range g.threads {
			if t == a || g.chance(30) {
				g.put(t, g.half(axiom.Release, before)...)
			}
			g.put(t, &step{Op: axiom.Op{Kind: axiom.ClusterArrive, Sem: weaken(axiom.Release)}}, &step{Op: axiom.Op{Kind: axiom.ClusterWait}})
		}
	case n == 1:
		bar := g.mbar(home)
		g.put(a, g.half(axiom.Release, before)...)
		g.put(a, &step{Op: axiom.Op{Kind: axiom.MbarArrive, Bar: bar, Home: home, Sem: weaken(axiom.Release), Scope: pick(g, axiom.Cluster, axiom.Cluster, axiom.CTA)}})
		g.put(b, &step{Op: axiom.Op{Kind: axiom.MbarWait, Bar: bar, Home: home, Sem: weaken(axiom.Acquire), Scope: pick(g, axiom.Cluster, axiom.Cluster, axiom.CTA)}})
	default:
		g.value++
		flag := axiom.Loc{Shared: g.chance(30), CTA: home, N: 2 + g.IntN(2)}
		if !flag.Shared {
			flag.CTA = 0
		}
		w := &step{Op: axiom.Op{Kind: pick(g, axiom.Store, axiom.Exch, axiom.Red), Loc: flag, Sem: weaken(axiom.Release), Scope: pick(g, axiom.Cluster, axiom.GPU, axiom.CTA), Value: 100 * g.value}}
		r := &step{Op: axiom.Op{Kind: pick(g, axiom.Load, axiom.Load, axiom.Add), Loc: flag, Sem: weaken(axiom.Acquire), Scope: pick(g, axiom.Cluster, axiom.GPU, axiom.CTA)}, wants: w}
		g.put(a, g.half(axiom.Release, before)...)
		g.put(a, w)
		g.put(b, r)
	}
	g.put(b, g.half(axiom.Acquire, after)...)
}
