package order

import (
	"cmp"
	"maps"
	"slices"
)

// A Half says on which side of a relaxed synchronization the fence is missing that
// would order a conflict (IfNotRelaxed), if the state at the later access still shows
// it.
type Half struct {
	Side Side
	// Op is the PC of the operation that handed on the release, or would have; -1 if
	// it is not known.
	Op int32
	// CTA, Warp and Lanes name the lanes that lack the fence; Warp is -1 and Lanes 0
	// where only their CTA is known.
	CTA, Warp int32
	Lanes     uint32
}

// A Side is one of the two of a synchronization.
type Side uint8

const (
	UnknownSide Side = iota
	// NoAcquire: a release handed the earlier access on, and the lanes that observed
	// it have not acquired it.
	NoAcquire
	// LateAcquire: those lanes acquired it, but after they signalled the later lanes.
	LateAcquire
	// NoRelease: the operation that handed the earlier access on is relaxed, with no
	// release fence before it.
	NoRelease
)

// half looks for a release without an acquire, or an acquire without a release, between
// two accesses, the later one by lanes.
func (t *Tracker) half(ac *access, p *stamp, at int) Half {
	owner, w := t.split(p.who)
	lanes := p.lanesAt(at)
	released := func(e *contrib) bool {
		return !e.relaxed && !e.async && lanes&^t.knownLanes(&e.know.gen, owner, w, p.time) == 0
	}
	for i := range ac.home.warps {
		for k := range ac.home.warps[i].pending.list {
			if e := &ac.home.warps[i].pending.list[k]; released(e) {
				return Half{NoAcquire, e.pc, ac.home.index, int32(i), e.lanes}
			}
		}
	}
	known := func(k *know) bool {
		return owner != ac.home.index && lanes&^t.knownLanes(&k.gen, owner, w, p.time) == 0
	}
	for i := range ac.home.warps {
		for k := range ac.home.warps[i].groups {
			if g := &ac.home.warps[i].groups[k]; known(&g.know) {
				return Half{LateAcquire, -1, ac.home.index, int32(i), g.mask}
			}
		}
	}
	if known(&ac.home.gone) { // lanes that have exited since
		return Half{LateAcquire, -1, ac.home.index, -1, 0}
	}
	half := Half{Op: -1}
	t.contributions(owner, ac.home.index, func(e *contrib) bool {
		switch {
		case released(e):
			half = Half{UnknownSide, e.pc, 0, 0, 0} // whose acquire is missing cannot be told
			return false
		case half.Op < 0 && e.relaxed && lanes&^t.knownLanes(&e.know.gen, owner, w, p.time) == 0:
			half = Half{NoRelease, e.pc, e.cta, -1, 0}
			if e.warp > 0 {
				_, half.Warp = t.split(uint32(e.warp))
				half.Lanes = e.lanes
			}
		}
		return true
	})
	return half
}

// contributions calls f for each contribution held by a location in memory or by an
// mbarrier of two CTAs, until f returns false.
func (t *Tracker) contributions(a, b int32, f func(*contrib) bool) {
	all := func(r *relSet) bool {
		for i := range r.list {
			if !f(&r.list[i]) {
				return false
			}
		}
		return true
	}
	byPlace := func(x, y granule) int { return cmp.Or(cmp.Compare(x.mem, y.mem), cmp.Compare(x.n, y.n)) }
	for _, g := range slices.SortedFunc(maps.Keys(t.locs.m), byPlace) {
		for i := range t.locs.m[g] {
			if !all(&t.locs.m[g][i].set) {
				return
			}
		}
	}
	for _, c := range []int32{a, b} {
		if t.ctas[c] == nil {
			continue
		}
		for _, at := range slices.Sorted(maps.Keys(t.ctas[c].bars)) {
			for i := range t.ctas[c].bars[at].sets {
				if !all(&t.ctas[c].bars[at].sets[i].set) {
					return
				}
			}
		}
	}
}
