package flow

import "math/bits"

// perLocation is Sequential Consistency per Location (8.10.5): among overlapping
// operations that are pairwise morally strong, program order and communication order form
// no cycle.
func (g *graph) perLocation() bool {
	n := len(g.ev)
	var com relation
	var any set
	for a := range n {
		x := &g.ev[a]
		if x.kind != access {
			continue
		}
		for b := range n {
			y := &g.ev[b]
			if a == b || y.kind != access || !g.overlap(a, b) || !g.morally(a, b) {
				continue
			}
			if g.po(a, b) || g.communicates(a, b) {
				com.add(a, b)
				any |= 1 << uint(a)
			}
		}
	}
	// Usually there is no cycle at all.
	all := com
	if all.close(n) {
		return true
	}
	for rest := any; rest != 0; {
		a := trailing(rest)
		rest &^= 1 << uint(a)
		if !all[a].has(a) {
			continue
		}
		var ring set // what is on a cycle with a
		for s := all[a]; s != 0; s &= s - 1 {
			if b := trailing(s); all[b].has(a) {
				ring |= 1 << uint(b)
			}
		}
		rest &^= ring
		if g.contradicts(&com, ring) {
			return false
		}
	}
	return true
}

// contradicts reports whether some of these events, pairwise morally strong, have a cycle:
// whether one of the largest sets of pairwise morally strong events has.
func (g *graph) contradicts(com *relation, among set) bool {
	var strong relation
	for s := among; s != 0; s &= s - 1 {
		a := trailing(s)
		for r := among &^ (1 << uint(a)); r != 0; r &= r - 1 {
			if b := trailing(r); g.morally(a, b) {
				strong.add(a, b)
			}
		}
	}
	return cliques(&strong, 0, among, 0, func(c set) bool { return com.cyclic(c) })
}

// cliques calls f with each maximal set of which each two are related, by the algorithm of
// Bron and Kerbosch, until f returns true.
func cliques(r *relation, in, may, not set, f func(set) bool) bool {
	if may == 0 {
		return not == 0 && f(in)
	}
	pivot, best := 0, -1
	for s := may | not; s != 0; s &= s - 1 {
		if v := trailing(s); bits.OnesCount64(uint64(may&r[v])) > best {
			pivot, best = v, bits.OnesCount64(uint64(may&r[v]))
		}
	}
	for s := may &^ r[pivot]; s != 0; s &= s - 1 {
		v := trailing(s)
		if cliques(r, in|1<<uint(v), may&r[v], not&r[v], f) {
			return true
		}
		may &^= 1 << uint(v)
		not |= 1 << uint(v)
	}
	return false
}

// cyclic reports whether a relation has a cycle among some events.
func (r *relation) cyclic(among set) bool {
	for left := among; ; {
		// What has no successor left is on no cycle.
		gone := set(0)
		for s := left; s != 0; s &= s - 1 {
			if a := trailing(s); r[a]&left == 0 {
				gone |= 1 << uint(a)
			}
		}
		if gone == 0 {
			return left != 0
		}
		left &^= gone
	}
}

// communicates is communication order (8.9.7).
func (g *graph) communicates(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	if x.writes() && y.writes() && g.co[a].has(b) {
		return true
	}
	for k := range y.words {
		if x.writes() && y.read && y.src[k] == a {
			return true
		}
	}
	if x.read && y.writes() {
		for k := range x.words {
			at := x.at + k
			if at >= y.at && at < y.at+y.words && x.src[k] != b && g.older(x.src[k], b) {
				return true
			}
		}
	}
	return false
}
