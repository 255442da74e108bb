package flow

import (
	"fmt"

	"muster/internal/axiom"
)

// A relation holds each event's successors.
type relation [maxEvents]set

func (r *relation) add(a, b int) { r[a] |= 1 << uint(b) }

// close makes the relation among n events transitive and reports whether it is acyclic.
func (r *relation) close(n int) bool {
	for k := range n {
		kk := r[k]
		if kk == 0 {
			continue
		}
		for i := range n {
			if r[i].has(k) {
				r[i] |= kk
			}
		}
	}
	for i := range n {
		if r[i].has(i) {
			return false
		}
	}
	return true
}

// A graph is a state with the relations of the axioms.
type graph struct {
	*state
	p  *Program
	th []thread

	obs    relation // observation order (ISA 8.9.2)
	base   relation // base causality order (8.9.5)
	causal relation // causality order between overlapping accesses
	co     relation // coherence order (8.9.6), among events
	sc     relation // Fence-SC order (8.9.3)
}

func (e *event) writes() bool { return e.kind == access && e.write && e.ready > 0 }

// overlap reports whether two accesses have a word in common.
func (g *graph) overlap(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	return x.kind == access && y.kind == access && x.at < y.at+y.words && y.at < x.at+x.words
}

// same is complete overlap (ISA 8.2.1), by one proxy: a virtual address is like one (8.6).
func (g *graph) same(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	return x.at == y.at && x.words == y.words && x.proxy == y.proxy && x.virtual == y.virtual
}

// po is program order (ISA 8.9.1). Elements of a vector are in none (8.2.4).
func (g *graph) po(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	return x.thread == y.thread && x.serial < y.serial
}

// reaches reports whether each event's scope includes the other's thread, or they
// are one thread's.
func (g *graph) reaches(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	if x.thread == y.thread {
		return true
	}
	c, d := &g.th[x.thread], &g.th[y.thread]
	return g.p.includes(x.scope, c, d) && g.p.includes(y.scope, d, c)
}

// morally reports whether two events are morally strong relative to each other
// (ISA 8.7). Fences are of the generic proxy.
func (g *graph) morally(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	if x.kind == access && y.kind == access && !g.same(a, b) {
		return false
	}
	if x.kind == proxyFence || y.kind == proxyFence || (x.proxy != y.proxy) {
		return false
	}
	if x.thread == y.thread {
		return true
	}
	return (x.kind == fence || x.strong) && (y.kind == fence || y.strong) && g.reaches(a, b)
}

// observe computes observation order (ISA 8.9.2): from a write to a morally strong read
// of it, and along chains of atomic operations.
func (g *graph) observe() {
	g.obs = relation{}
	for r := range g.ev {
		e := &g.ev[r]
		if e.kind != access || !e.read {
			continue
		}
		for k := range e.words {
			if w := e.src[k]; w >= 0 && (g.morally(w, r) || g.lacks(WithoutStrongObservation)) {
				g.obs.add(w, r)
			}
		}
	}
	for again := !g.lacks(WithoutChains); again; {
		again = false
		for w := range g.ev {
			old := g.obs[w]
			all := old
			for s := old; s != 0; s &= s - 1 {
				z := trailing(s)
				if g.ev[z].rmw && g.ev[z].write {
					all |= g.obs[z]
				}
			}
			if g.obs[w] = all; all != old {
				again = true
			}
		}
	}
}

// order computes base causality order, given an order of fence.sc. It reports whether the
// result is acyclic: a cycle always contradicts an axiom.
func (g *graph) order(sc *relation) bool {
	n := len(g.ev)
	g.base = relation{}
	for a := range n {
		x := &g.ev[a]
		for b := a + 1; b < n; b++ {
			y := &g.ev[b]
			if x.thread == y.thread && x.serial < y.serial {
				g.base.add(a, b)
			}
			if x.thread == y.thread || g.lacks(WithoutBarriers) {
				continue
			}
			// Barriers (8.9.4; bar.warp.sync: 9.7.13.2).
			if x.kind == arrive && y.kind == pass && g.meet(x, y) {
				g.base.add(a, b)
			} else if y.kind == arrive && x.kind == pass && g.meet(x, y) {
				g.base.add(b, a)
			}
		}
		if sc != nil {
			g.base[a] |= sc[a]
		}
	}
	g.synchronize()
	return g.base.close(n)
}

func (g *graph) meet(x, y *event) bool {
	if x.met != y.met {
		return false
	}
	return x.group == y.group && x.bar == y.bar && (g.th[x.thread].meets(&g.th[y.thread], x.group) || g.lacks(WithoutBarrierScope))
}

// synchronize adds the order between release patterns and acquire patterns (ISA 8.8,
// 8.9.4).
func (g *graph) synchronize() {
	for w := range g.ev {
		if !g.ev[w].writes() || !g.ev[w].strong || g.obs[w] == 0 {
			continue
		}
		first := g.releases(w)
		if first == 0 {
			continue
		}
		for s := g.obs[w]; s != 0; s &= s - 1 {
			r := trailing(s)
			if !g.ev[r].strong || !g.ev[r].result && !g.lacks(WithoutReductions) {
				continue // 8.8, 8.11.1: a reduction's read forms no acquire pattern
			}
			last := g.acquires(r)
			for f := first; f != 0; f &= f - 1 {
				for l := last; l != 0; l &= l - 1 {
					if a, b := trailing(f), trailing(l); g.ev[a].thread != g.ev[b].thread && g.morallyEnds(a, b) {
						g.base.add(a, b)
					}
				}
			}
		}
	}
}

// morallyEnds reports whether the first operation of a release pattern and the
// last of an acquire pattern are morally strong.
func (g *graph) morallyEnds(a, b int) bool {
	return g.morally(a, b) || g.lacks(WithoutStrongPatterns)
}

// releases returns the first events of the release patterns that end with strong write w.
func (g *graph) releases(w int) set {
	var all set
	e := &g.ev[w]
	if releases(e.sem) && !g.lacks(WithoutRelease) {
		all |= 1 << uint(w)
	}
	for f := range g.ev {
		x := &g.ev[f]
		if x.thread != e.thread || x.serial >= e.serial || !releases(x.sem) {
			continue
		}
		if x.kind == fence && !g.lacks(WithoutReleaseFence) || x.writes() && g.same(f, w) && !g.lacks(WithoutReleaseBefore) {
			all |= 1 << uint(f)
		}
	}
	return all
}

func (g *graph) acquires(r int) set {
	var all set
	e := &g.ev[r]
	if acquires(e.sem) && !g.lacks(WithoutAcquire) {
		all |= 1 << uint(r)
	}
	for f := range g.ev {
		x := &g.ev[f]
		if x.thread != e.thread || x.serial <= e.serial || !acquires(x.sem) {
			continue
		}
		if x.kind == fence && !g.lacks(WithoutAcquireFence) || x.kind == access && x.result && g.same(f, r) && !g.lacks(WithoutAcquireBehind) {
			all |= 1 << uint(f)
		}
	}
	return all
}

// cause computes causality order between overlapping accesses (ISA 8.9.5): base causality
// order, and from a write to the events after a read that observes it. Strong accesses
// before that write, in its CTA and with its scope, are included, as in package axiom
// (decision 13).
func (g *graph) cause() {
	n := len(g.ev)
	var kept relation
	for x := range n {
		if g.ev[x].kind != access {
			continue
		}
		for s := g.base[x]; s != 0; s &= s - 1 {
			if y := trailing(s); g.overlap(x, y) && g.preserved(x, y) {
				kept.add(x, y)
			}
		}
	}
	g.causal = kept
	for w := range n {
		after := set(0)
		for s := g.obs[w]; s != 0; s &= s - 1 {
			after |= kept[trailing(s)]
		}
		if after == 0 || g.lacks(WithoutObservation) {
			continue
		}
		for x := range n {
			if x == w || kept[x].has(w) && g.covered(x, w) {
				for s := after &^ (1 << uint(x)); s != 0; s &= s - 1 {
					if y := trailing(s); g.overlap(x, y) {
						g.causal.add(x, y)
					}
				}
				if x == w && after.has(w) {
					g.causal.add(w, w)
				}
			}
		}
	}
}

func (g *graph) covered(x, w int) bool {
	a, b := &g.ev[x], &g.ev[w]
	return a.strong && a.scope == b.scope && g.th[a.thread].cta == g.th[b.thread].cta && g.morally(x, w)
}

// plausible reports whether a partial execution does not yet contradict the axioms. The
// check is monotone: contradictions remain as the execution grows.
func (g *graph) plausible() bool {
	g.observe()
	if !g.order(nil) {
		return false
	}
	g.cause()
	g.co = g.writesIn(&g.causal)
	return g.co.close(len(g.ev)) && g.consistent()
}

func (g *graph) writesIn(r *relation) relation {
	var c relation
	var w set
	if g.lacks(WithoutCoherence) {
		return c
	}
	for i := range g.ev {
		if g.ev[i].writes() {
			w |= 1 << uint(i)
		}
	}
	for i := range g.ev {
		if w.has(i) {
			c[i] = r[i] & w
		}
	}
	return c
}

// older reports whether the source of a word is before a write in coherence order. The
// initial write is before all others.
func (g *graph) older(src, w int) bool { return src == initial || src >= 0 && g.co[src].has(w) }

// consistent reports whether the known part of coherence order satisfies the axioms of
// ISA 8.10: Coherence (by construction), Atomicity, Causality, SC-per-Location.
func (g *graph) consistent() bool {
	return g.reads() && (g.lacks(WithoutPerLocation) || g.perLocation())
}

// reads checks Causality (8.10.6) and Atomicity (8.10.3) for every read.
func (g *graph) reads() bool {
	for r := range g.ev {
		e := &g.ev[r]
		if e.kind != access || !e.read {
			continue
		}
		for k := range e.words {
			src := e.src[k]
			if src == open {
				continue
			}
			if src >= 0 && !g.lacks(WithoutCausality) && (g.causal[r].has(src) || g.causal[r].has(r)) {
				return false // it reads a write that follows it
			}
			at := e.at + k
			for w := range g.ev {
				v := &g.ev[w]
				if w == r || w == src || !v.writes() || at < v.at || at >= v.at+v.words {
					continue
				}
				if !g.older(src, w) {
					continue
				}
				if g.causal[w].has(r) && !g.lacks(WithoutCausality) {
					return false // it reads a write older than one that precedes it
				}
				if g.morally(r, w) && (e.rmw && e.write && g.co[w].has(r) && !g.lacks(WithoutAtomicity) || g.mixes(e, w)) {
					return false
				}
			}
		}
	}
	return true
}

// mixes reports whether a read takes a word from write w (single-copy atomicity).
func (g *graph) mixes(e *event, w int) bool {
	return e.words == 2 && (e.src[0] == w || e.src[1] == w)
}

// judge enumerates the orders of fence.sc, and for each the coherence orders that the
// axioms allow.
func (x *search) judge(s *state) {
	g := &graph{p: x.p, th: x.th, state: s}
	g.observe()
	var fences [][2]int
	var sc relation
	for a := range g.ev {
		for b := range a {
			if isSC(&g.ev[a]) && isSC(&g.ev[b]) && (g.morally(a, b) || g.lacks(WithoutStrongFences)) && !g.lacks(WithoutFenceSC) {
				if g.ev[a].thread == g.ev[b].thread {
					sc.add(b, a)
				} else {
					fences = append(fences, [2]int{b, a})
				}
			}
		}
	}
	x.fences(g, &sc, fences)
}

func isSC(e *event) bool { return e.kind == fence && e.sem == axiom.SC }

// fences orders each two morally strong fence.sc (ISA 8.9.3). An order that contradicts
// causality makes base causality cyclic (8.10.2).
func (x *search) fences(g *graph, sc *relation, open [][2]int) {
	if x.over() || !g.order(sc) {
		return
	}
	for len(open) > 0 && (g.base[open[0][0]].has(open[0][1]) || g.base[open[0][1]].has(open[0][0])) {
		open = open[1:]
	}
	if len(open) > 0 {
		for way := range 2 {
			more := *sc
			more.add(open[0][way], open[0][1-way])
			x.fences(g, &more, open[1:])
		}
		return
	}
	if x.graph++; x.graph > x.most {
		x.cut, x.why = true, fmt.Sprintf("there are more than %d executions", x.most)
		return
	}
	g.sc = *sc
	g.cause()
	g.co = g.writesIn(&g.causal)
	if !g.co.close(len(g.ev)) {
		return // coherence: 8.10.1
	}
	var pairs [][2]int
	for a := range g.ev {
		for b := range a {
			// 8.9.6: morally strong or in causality order. Other pairs race.
			if g.ev[a].writes() && g.ev[b].writes() && g.overlap(a, b) && g.morally(a, b) {
				pairs = append(pairs, [2]int{b, a})
			}
		}
	}
	x.cohere(g, pairs)
}

// cohere orders the remaining pairs of writes, in every way that the axioms allow.
func (x *search) cohere(g *graph, pairs [][2]int) {
	if x.over() || !g.consistent() {
		return
	}
	for len(pairs) > 0 && (g.co[pairs[0][0]].has(pairs[0][1]) || g.co[pairs[0][1]].has(pairs[0][0])) {
		pairs = pairs[1:]
	}
	if len(pairs) == 0 {
		if g.stuckLast() && !x.found(g) {
			x.end = true
		}
		return
	}
	old := g.co
	for way := range 2 {
		g.co = old
		g.co.add(pairs[0][way], pairs[0][1-way])
		if g.co.close(len(g.ev)) {
			x.cohere(g, pairs[1:])
		}
	}
	g.co = old
}

// stuckLast reports whether polls that never end read the last write of their word: every
// write eventually becomes visible.
func (g *graph) stuckLast() bool {
	for r := range g.ev {
		e := &g.ev[r]
		if !e.stuck {
			continue
		}
		for w := range g.ev {
			if v := &g.ev[w]; v.writes() && e.at >= v.at && e.at < v.at+v.words && w != e.src[0] && g.older(e.src[0], w) {
				return false
			}
		}
	}
	return true
}

// races returns two accesses that conflict, are not morally strong and not in causality
// order (ISA 8.7.1), if there are any.
func (g *graph) races() (a, b int, any bool) {
	for a := range g.ev {
		for b := range a {
			x, y := &g.ev[a], &g.ev[b]
			if !g.overlap(a, b) || !x.writes() && !y.writes() || x.thread == y.thread {
				continue
			}
			if !g.morally(a, b) && !g.causal[a].has(b) && !g.causal[b].has(a) && !g.equal(a, b) {
				return b, a, true
			}
		}
	}
	return 0, 0, false
}

// equal reports whether two weak accesses store equal values: doc.go, decision 8.
func (g *graph) equal(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	if x.read || y.read || x.strong || y.strong || !g.same(a, b) {
		return false
	}
	for k := range x.words {
		v, _ := g.know(x.val[k])
		w, _ := g.know(y.val[k])
		if v != w {
			return false
		}
	}
	return true
}

// final returns the final words of an execution without racing writes.
func (g *graph) final() []uint32 {
	mem := make([]uint32, g.p.places())
	for at := range mem {
		mem[at] = g.p.start(at)
		last := -1
		for w := range g.ev {
			v := &g.ev[w]
			if v.writes() && at >= v.at && at < v.at+v.words && (last < 0 || g.co[last].has(w)) {
				last = w
			}
		}
		if last >= 0 {
			mem[at], _ = g.know(g.ev[last].val[at-g.ev[last].at])
		}
	}
	return mem
}
