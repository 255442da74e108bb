package order

import (
	"maps"
	"math/bits"

	"muster/internal/machine"
)

// A cta is what the Tracker keeps of one CTA: its slots in the clocks, its warps,
// barriers and shared memory.
type cta struct {
	owner *identity
	index int32
	ended bool
	// Slots: 0 is the CTA's start, 1+w its warp w; the rest on demand.
	slots  int
	lanes  []int // by warp: the first of its 32 lane slots, 0 for none
	warps  []warp
	bars   map[uint64]*mbar
	queues map[machine.CommitQueue]queue // of its threads
	named  []generation
	shared shadow
	tensor shadow    // of its tensor memory
	remote []visitor // peers that touched its shared memory
	gone   know      // what lanes that exited knew
	// allocs are the last tcgen05.alloc of each warp, relinquished is the first
	// relinquish_alloc_permit. Clones share them.
	allocs       []stamp
	relinquished stamp
	// requests are the last ones of its lanes for clusters that have not started.
	requests []request
}

// A warp's time advances at releases and warp-wide synchronization only, and
// only if something was stamped since.
type warp struct {
	time  uint32
	dirty bool // something is stamped with time
	// vector is the time before the current vector access. Its elements have no order
	// (ISA 8.2.4): each releases what precedes all of them, and what one acquires
	// precedes what follows all of them.
	vector uint32
	begun  bool   // the current vector access is to come, and its time has begun: Moment
	live   uint32 // lanes that have not exited
	// touched are the lanes that accessed memory since the warp last synchronized as
	// a whole; lost are those of them that exited: no clock knows what they did, and
	// the warp's own slot may no longer stand for all lanes.
	touched, lost uint32
	groups        []group
	versions      uint64
	queues        []opQueue
	// fenced is what release fences made ready for later strong writes of
	// the same lanes, pending what strong reads and relaxed waits saw for a
	// later acquire fence of theirs.
	fenced  []fenced
	pending relSet
	crossed []crossing
	sc      *scState // nil until a fence.sc concerns it
	moment  *moment  // what it knew at its last wgmma
}

// A group is the lanes of a warp that know the same.
type group struct {
	mask uint32
	know know
	// version names the knowledge within the warp: groups of equal version
	// know the same. It lets a barrier skip a contribution that it has.
	version uint64
}

func newCTA(t *Tracker, index int32) *cta {
	w := t.cfg.Warps
	c := &cta{owner: t.id, index: index, slots: 1 + w, lanes: make([]int, w), warps: make([]warp, w)}
	left := t.cfg.Threads
	if len(t.cfg.Grids) > 0 {
		left = t.cfg.Grids[t.cfg.GridOf(index)].Threads
	}
	for i := range c.warps {
		n := max(min(left, 32), 0)
		left -= n
		mask := uint32(1<<n - 1)
		g := group{mask: mask}
		g.know.gen.raise(index, 0, 1)
		g.know.gen.ensure(index, 1+w)
		c.warps[i] = warp{time: 1, live: mask, groups: []group{g}}
	}
	return c
}

// slot allots a new slot.
func (c *cta) slot() int {
	c.slots++
	return c.slots - 1
}

// laneSlots returns the first of a warp's 32 lane slots.
func (c *cta) laneSlots(w int32) int {
	if c.lanes[w] == 0 {
		c.lanes[w] = c.slots
		c.slots += 32
	}
	return c.lanes[w]
}

// publish closes the warp's current time, if anything happened in it. It returns the
// number of the last closed time.
func (w *warp) publish() uint32 {
	if w.dirty {
		w.dirty = false
		w.time++
	}
	return w.time - 1
}

// beginVector closes the time before the first word of an access to several, which are in no
// order: what one of them hands on is what came before all of them.
func (w *warp) beginVector(ev *machine.Event) {
	if ev.Kind == machine.EvAccess && ev.Whole > 0 && ev.First && !w.begun {
		w.vector, w.begun = w.publish(), true
	}
}

// mark stamps the current time, so that the next release ends it and includes it.
func (w *warp) mark(mask uint32) {
	w.dirty = true
	w.touched |= mask
}

// markKnown raises a clock to know the lanes in mask of a warp up to time upto. All
// live lanes together are the warp's own slot, unless lanes exited with accesses that
// no clock knows (lost).
func (c *cta) markKnown(clk *clock, w int32, mask, upto uint32) {
	p := clk.ensure(c.index, 1+len(c.warps))
	if p.v[1+w] >= upto {
		return
	}
	wp := &c.warps[w]
	if mask&wp.live == wp.live && wp.lost == 0 {
		p.v[1+w] = upto
		return
	}
	base := c.laneSlots(w)
	p = clk.ensure(c.index, base+32)
	lanes := p.v[base : base+32]
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		lanes[l] = max(lanes[l], upto)
	}
	if top := 31 - bits.LeadingZeros32(wp.live|1); wp.lost == 0 && mask>>top&1 != 0 {
		p.v[1+w] = max(p.v[1+w], minOf(lanes, wp.live))
	}
}

// forget clears in a clock what lanes of a warp did.
func (c *cta) forget(clk *clock, w int32) {
	v := clk.lowered(c.index)
	if 1+int(w) < len(v) {
		v[1+w] = 0
	}
	if base := c.lanes[w]; base != 0 && base < len(v) {
		clear(v[base:min(base+32, len(v))])
	}
}

func minOf(v []uint32, mask uint32) uint32 {
	least := ^uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		least = min(least, v[bits.TrailingZeros32(m)])
	}
	return least
}

// markKnow is markKnown for the generic and diagnostic views of k, and for the others
// up to the lanes' own proxy fences.
func (c *cta) markKnow(k *know, w int32, mask, upto uint32) {
	c.markOwn(k, w, mask, upto)
	c.markCrossed(k, c.warps[w].crossed, w, mask)
	if c.warps[w].sc != nil {
		c.warps[w].tell(k, mask)
	}
}

// markOwn is markKnow for the generic view and those that contain it alone.
func (c *cta) markOwn(k *know, w int32, mask, upto uint32) {
	if upto == 0 {
		return
	}
	c.markKnown(&k.gen, w, mask, upto)
	for i := range k.rows {
		if k.rows[i].view.kind.overGeneric() {
			c.markKnown(&k.rows[i].clk, w, mask, upto)
		}
	}
}

// knownLanes returns the lanes of warp w of a CTA that a clock knows up to
// time upto.
func (t *Tracker) knownLanes(clk *clock, index, w int32, upto uint32) uint32 {
	v := clk.vec(index)
	if int(1+w) < len(v) && v[1+w] >= upto {
		return ^uint32(0)
	}
	c := t.ctas[index]
	if c == nil || c.lanes[w] == 0 {
		return 0
	}
	base, known := c.lanes[w], uint32(0)
	for l := 0; l < 32 && base+l < len(v); l++ {
		if v[base+l] >= upto {
			known |= 1 << l
		}
	}
	return known
}

// split splits the groups that are only partly in mask.
func (w *warp) split(mask uint32) {
	for i := 0; i < len(w.groups); i++ {
		in := w.groups[i].mask & mask
		if in == 0 || in == w.groups[i].mask {
			continue
		}
		g := w.groups[i].clone()
		g.mask = in
		w.groups[i].mask &^= in
		w.groups = append(w.groups, g)
	}
}

// group returns the group of a lane.
func (w *warp) group(lane int) *group {
	for i := range w.groups {
		if w.groups[i].mask>>lane&1 != 0 {
			return &w.groups[i]
		}
	}
	panic("BUG: a lane in no group")
}

// merge joins groups that know the same, so that lanes which acquired one by
// one cost no more than those that did together.
func (w *warp) merge() {
	for i := 0; i < len(w.groups); i++ {
		for j := i + 1; j < len(w.groups); j++ {
			if w.groups[i].same(&w.groups[j]) {
				w.groups[i].mask |= w.groups[j].mask
				w.drop(j)
				j--
			}
		}
	}
}

func (w *warp) drop(i int) {
	copy(w.groups[i:], w.groups[i+1:])
	w.groups = w.groups[:len(w.groups)-1]
}

func (g *group) same(h *group) bool {
	return g.version == h.version || g.know.covers(&h.know) && h.know.covers(&g.know)
}

// learned gives a group whose knowledge changed a version of its own.
func (w *warp) learned(g *group) {
	w.versions++
	g.version = w.versions
}

// unite makes the lanes in mask one group that knows what any of them knew or did.
func (c *cta) unite(w int32, mask uint32) *group {
	wp := &c.warps[w]
	mask &= wp.live
	upto := wp.publish()
	whole := mask == wp.live
	if whole {
		wp.touched = 0
	}
	if len(wp.groups) > 1 {
		wp.split(mask)
	}
	first := -1
	for i := 0; i < len(wp.groups); i++ {
		switch g := &wp.groups[i]; {
		case g.mask&wp.live&mask == 0:
		case first < 0:
			first = i
		default:
			f := &wp.groups[first]
			f.mask |= g.mask
			f.know.unite(&g.know)
			wp.drop(i)
			i--
		}
	}
	if first < 0 {
		return nil
	}
	g := &wp.groups[first]
	if len(wp.groups) == 1 && g.mask != mask && !whole {
		wp.split(mask)
		g = wp.group(bits.TrailingZeros32(mask))
	}
	c.markKnow(&g.know, w, mask, upto)
	wp.learned(g)
	return g
}

func (g *group) clone() group {
	d := *g
	d.know = g.know.clone()
	return d
}

func (c *cta) clone(id *identity) *cta {
	d := *c
	d.owner = id
	d.lanes = append([]int(nil), c.lanes...)
	d.warps = append([]warp(nil), c.warps...)
	for i := range d.warps {
		w := &d.warps[i]
		w.groups = append([]group(nil), w.groups...)
		for j := range w.groups {
			w.groups[j] = w.groups[j].clone()
		}
		w.queues = append([]opQueue(nil), w.queues...)
		for j := range w.queues {
			w.queues[j] = w.queues[j].clone()
		}
		w.fenced = append([]fenced(nil), w.fenced...)
		for j := range w.fenced {
			w.fenced[j].know = w.fenced[j].know.clone()
			w.fenced[j].crossed = append([]crossing(nil), w.fenced[j].crossed...)
		}
		w.pending = w.pending.clone()
		w.crossed = append([]crossing(nil), w.crossed...)
		w.sc = w.sc.clone()
	}
	if c.bars != nil {
		d.bars = make(map[uint64]*mbar, len(c.bars))
		for a, b := range c.bars {
			d.bars[a] = b.clone()
		}
	}
	d.queues = maps.Clone(c.queues)
	d.named = append([]generation(nil), c.named...)
	for i := range d.named {
		d.named[i].know = c.named[i].know.clone()
	}
	d.shared, d.tensor = c.shared.clone(), c.tensor.clone()
	d.remote = append([]visitor(nil), c.remote...)
	d.requests = append([]request(nil), c.requests...)
	d.gone = c.gone.clone()
	return &d
}

// lanesOf returns the lanes of an event: Mask, or the one Lane.
func lanesOf(ev *machine.Event) uint32 {
	if ev.Mask != 0 {
		return ev.Mask
	}
	return 1 << uint(ev.Lane&31)
}
