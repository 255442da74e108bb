package brute

import "math/rand/v2"

// Commits makes a random program like Small, in which threads commit: a tcgen05.commit with
// nothing to track is an arrival that comes some time later, at a barrier of its CTA or of
// another, after those of the thread's earlier commits (ISA 9.7.18.6.1). Threads wait for some
// of a thread's commits alone, and go on as if they had waited for those before, as kernels do.
func Commits(r *rand.Rand) *Program {
	for {
		g := newGenerator(r)
		g.small, g.commits = true, true
		if g.careful = 1; r.IntN(3) == 0 {
			g.careful = 0.9
		}
		if r.IntN(4) > 0 { // a commit alone completes a phase
			for b := range g.p.Counts {
				g.p.Counts[b], g.bars[b] = 1, bar{pend: 1, next: 1}
			}
		}
		g.p.Join, g.p.Spin = 0, uint8(r.IntN(2))
		g.p.Place = Warps
		if r.IntN(3) == 0 {
			g.p.Place = Cluster
		}
		if len(g.p.Counts) > 1 && r.IntN(4) > 0 {
			g.row()
		}
		g.walk()
		p := g.finish()
		if p == nil {
			continue
		}
		if r.IntN(6) == 0 {
			p.mutate(r)
		}
		if p.commits() > 1 && p.visible() <= SmallOps-2 && p.waits() && p.conflicts() && p.ends(r) {
			return p
		}
	}
}

func (p *Program) commits() (n int) {
	for _, ops := range p.Threads {
		for _, o := range ops {
			if o.Kind == Arrival {
				n++
			}
		}
	}
	return n
}

// row begins with a thread's commits at two barriers. One thread waits for the second alone,
// another for the first, and arrives there again, perhaps after a store.
func (g *generator) row() {
	who := g.r.Perm(len(g.p.Threads))
	bars := g.r.Perm(len(g.p.Counts))
	first, second := uint8(bars[0]), uint8(bars[1])
	g.commit(who[0], first)
	g.commit(who[0], second)
	for len(g.flights) > 0 {
		n := len(g.flights)
		if g.land(0); len(g.flights) == n {
			return
		}
	}
	g.wait(who[1], second)
	u := who[len(who)-1]
	g.wait(u, first)
	if g.r.IntN(2) == 0 {
		g.access(u)
	}
	if g.r.IntN(3) > 0 {
		g.arrive(u, first)
		g.wait(who[1], first)
		g.access(who[1])
	}
}

// commit adds a commit.
func (g *generator) commit(t int, b uint8) {
	if g.keep() && !g.follows(t, b) {
		return
	}
	g.emit(t, Op{Kind: Arrival, Bar: b})
	f := flight{kind: Arrival, bar: b, clk: g.know[t], by: t}
	clear(f.clk[:MaxThreads]) // what threads did, it does not hand on
	g.flights = append(g.flights, f)
}

// follows reports whether a commit is of the phase that is open: its thread has seen those
// before, or its own commits were all that they count.
func (g *generator) follows(t int, b uint8) bool {
	return g.seen[t][b] == g.bars[b].phase || g.bars[b].next == 1 && g.made[t][b] == g.bars[b].phase
}
