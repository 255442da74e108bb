package trial

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/parallel"
)

// One run for clusters of a row. A row is the clusters whose places in the grid differ
// along one axis. Where the addresses of the first grow evenly from cluster to cluster,
// and nothing else that an event shows depends on its place or on a loaded value
// (machine/row.go), the next ones have the same events at addresses that are moved: by
// the same number of bytes for all accesses to a region, so that addresses relative to
// the first in a region are the same. Then they are alike, and the bytes that they touch
// are known. This holds for as many clusters as every comparison comes out alike, no
// integer wraps, and no address leaves its region.

// leastRow is the least number of clusters for which a row is tried: a run that is
// followed takes as long as a few that are not.
const leastRow = 4

// maxLone bounds how often a run that is followed may stand for itself alone.
const maxLone = 2

// A stretch is parts of a row of which the first ran: from, from+step, and so on, n of
// them.
type stretch struct {
	*trace
	from, n, step int
	by            map[int]int64 // bytes by which regions move from part to part
}

// A comparer runs parts for their traces.
type comparer struct {
	s        *Subject
	b        *Budget
	skip     bool
	n        int // parts
	interact atomic.Bool
	// most bounds the instructions of a run that is followed: it does not see that it
	// goes round for ever.
	most int64
}

// all returns stretches that cover all parts, unless a run does not come to its end.
func (c *comparer) all(jobs, least int) []*stretch {
	axis, long := c.s.Start.LongestAxis()
	if long < least || c.n != c.s.Start.ClusterCount() {
		return c.each(jobs, series(0, 1, c.n))
	}
	m := c.machine(nil, 0)
	if !c.ends(m, explore.RunAlike) {
		c.interact.Store(true)
		return nil
	}
	instrs, _ := m.Instrs()
	c.most = 2 * instrs
	step, count := c.s.Start.AxisStep(axis), c.n/long
	lists, rests := make([][]*stretch, count), make([][]int, count)
	row := func(i int) { lists[i], rests[i] = c.row(axis, i/step*step*long+i%step, step, long) }
	if row(0); len(rests[0]) >= long-maxLone {
		// Other rows are taken to be no better.
		return c.each(jobs, series(0, 1, c.n))
	}
	parallel.Each(jobs, count-1, func(i int) { row(i + 1) })
	return append(slices.Concat(lists...), c.each(jobs, slices.Concat(rests...))...)
}

// series returns n numbers.
func series(from, step, n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = from + k*step
	}
	return list
}

// each runs parts by themselves.
func (c *comparer) each(jobs int, parts []int) []*stretch {
	list := make([]*stretch, len(parts))
	parallel.Each(jobs, len(parts), func(i int) {
		t := &trace{touched: newTouched()}
		if !c.ends(c.machine(t, parts[i]), explore.RunAlike) {
			c.interact.Store(true)
			return
		}
		list[i] = &stretch{trace: t, from: parts[i], n: 1}
	})
	return list
}

// machine returns a machine for a part.
func (c *comparer) machine(o machine.Observer, part int) *machine.Machine {
	m := c.s.Part(o, c.skip, part, c.n)
	m.ShowCollectives()
	m.FailPeeks()
	return m
}

func (c *comparer) ends(m *machine.Machine, run runner) bool {
	return c.s.ends(c.b, m, ProofSchedule, run, &c.interact)
}

// row returns stretches of a row, and the parts that they leave out.
func (c *comparer) row(axis, from, step, n int) (list []*stretch, rest []int) {
	for lone := 0; n > 0 && lone < maxLone; {
		t := c.follow(axis, from, step, n)
		if t == nil {
			break
		}
		if t.n == 1 {
			lone++
		}
		list = append(list, t)
		from, n = from+t.n*step, n-t.n
	}
	return list, series(from, step, n)
}

// follow runs a part and returns the stretch of up to n parts that begins there; nil if
// what the part does depends on its place otherwise, or on a loaded value.
func (c *comparer) follow(axis, from, step, n int) *stretch {
	t := &mover{trace: trace{touched: newTouched()}, regions: map[int]*moved{}, maps: map[int]bool{}}
	m := c.machine(t, from)
	t.f = machine.FollowRow(m, axis, int64(n-1))
	ended := c.ends(m, func(m *machine.Machine, by Schedule, stop func() bool) bool {
		return explore.RunAlike(m, by, func() bool {
			instrs, _ := m.Instrs()
			return instrs > c.most || t.failed || stop()
		})
	})
	most, ok := t.most(c.s.Start)
	if !ended || !ok {
		return nil
	}
	out := &stretch{trace: &t.trace, from: from, n: int(most) + 1, step: step, by: map[int]int64{}}
	for i, r := range t.regions {
		out.by[i] = r.by
	}
	return out
}

// A mover is a trace of a run that is followed.
type mover struct {
	trace
	f       *machine.Follower
	regions map[int]*moved
	maps    map[int]bool // regions in which tensor maps were read
	failed  bool
}

// A moved is how the accesses to a region move from cluster to cluster, and where they
// are in the first.
type moved struct {
	by     int64
	lo, hi uint64
}

// most returns for how many more clusters the run stands; not ok: what it does depends on
// its place otherwise, or on a loaded value.
func (t *mover) most(start *machine.Machine) (most int64, ok bool) {
	causes, _ := t.f.Failed()
	if t.failed || t.odd || len(causes) > 0 {
		return 0, false
	}
	for i := range t.written() {
		if t.maps[i] {
			return 0, false
		}
	}
	most, _ = t.f.Most()
	for i, r := range t.regions {
		if r.by == 0 {
			continue
		}
		base, size, uniform := start.Region(i)
		switch {
		case !uniform:
			return 0, false
		case r.by > 0:
			most = min(most, int64(base+size-r.hi)/r.by)
		default:
			most = min(most, int64(r.lo-base)/-r.by)
		}
	}
	return most, true
}

// Observe makes a mover a machine.Observer.
func (t *mover) Observe(m *machine.Machine, ev *machine.Event) {
	t.trace.Observe(m, ev)
	switch {
	case t.failed:
	case ev.Kind == machine.EvAccess && ev.Mem == machine.Global:
		for k := ev.Mask; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k)
			by, known := t.f.Moves(m, ev, l)
			t.moves(m, ev.Addr[l], uint64(ev.Size), by, known && by%int64(max(ev.Size, ev.Whole)) == 0)
		}
	case ev.Kind == machine.EvIssue:
		by, known := t.f.Moves(m, ev, int(ev.Op.Lane))
		if !known {
			t.failed = true
		}
		for _, list := range [][]machine.Span{ev.Op.Reads, ev.Op.Writes} {
			for _, s := range list {
				if s.Mem == machine.Global && s.Len > 0 {
					t.moves(m, s.Addr, s.Len, by, by%16 == 0)
				}
			}
		}
		if at := ev.Op.Map; at.Len > 0 {
			t.maps[m.RegionOf(at.Addr)] = true
		}
	}
}

// moves enters n bytes that move from cluster to cluster.
func (t *mover) moves(m *machine.Machine, addr, n uint64, by int64, known bool) {
	i := m.RegionOf(addr)
	if !known || i < 0 {
		t.failed = true
		return
	}
	r := t.regions[i]
	if r == nil {
		r = &moved{by, addr, addr + n}
		t.regions[i] = r
	}
	t.failed = t.failed || r.by != by
	r.lo, r.hi = min(r.lo, addr), max(r.hi, addr+n)
}

// disjoint reports whether no part writes what another touches.
func disjoint(list []*stretch) bool {
	written := map[int]bool{}
	for _, t := range list {
		for i := range t.written() {
			written[i] = true
		}
	}
	all := newTouched()
	for _, t := range list {
		for k := range t.n {
			if !all.joinMoved(t.touched, func(region int) (int64, bool) { return int64(k) * t.by[region], written[region] }) {
				return false
			}
		}
	}
	return true
}
