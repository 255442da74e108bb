package order

import (
	"math/bits"

	"muster/internal/machine"
)

// fenced is what a release fence made ready: a later strong write, or relaxed
// arrive, of one of its lanes hands it on (ISA 8.8).
type fenced struct {
	lanes uint32
	scope machine.Scope
	upto  uint32 // time up to which the lanes' own accesses are released
	inits bool   // releases mbarrier.init operations of the lanes alone
	only  bool   // releases what concerns the CTA's shared memory alone
	async bool   // the same, for the asynchronous proxy alone
	note  int    // index in Tracker.fences
	used  bool   // a later operation handed it on
	know  know
	// crossed is the lanes' own crossings when they fenced.
	crossed []crossing
}

// A crossing says up to which time each lane's own accesses have passed a
// proxy fence of its own, for one view. Like program order it is the lane's
// alone until it is released: lanes that fence together do not thereby know
// each other.
type crossing struct {
	view view
	upto [32]uint32
}

// cross returns the warp's crossings for a view.
func (w *warp) cross(v view) *crossing {
	if c := w.crossing(v); c != nil {
		return c
	}
	w.crossed = append(w.crossed, crossing{view: v})
	return &w.crossed[len(w.crossed)-1]
}

// crossing is cross for reading: nil if there are none.
func (w *warp) crossing(v view) *crossing {
	for i := range w.crossed {
		if w.crossed[i].view == v {
			return &w.crossed[i]
		}
	}
	return nil
}

// pass notes a fence of the lanes in mask.
func (x *crossing) pass(mask, upto uint32) {
	for m := mask; m != 0; m &= m - 1 {
		x.upto[bits.TrailingZeros32(m)] = upto
	}
}

// markCrossed raises the views of k by the crossings of the lanes in mask.
func (c *cta) markCrossed(k *know, crossed []crossing, w int32, mask uint32) {
	for i := range crossed {
		x := &crossed[i]
		for rest := mask; rest != 0; {
			upto := x.upto[bits.TrailingZeros32(rest)]
			same := uint32(0)
			for m := rest; m != 0; m &= m - 1 {
				if x.upto[bits.TrailingZeros32(m)] == upto {
					same |= m & -m
				}
			}
			rest &^= same
			if upto == 0 {
				continue
			}
			if v, ok := x.view.together(); ok && k.row(v) != nil {
				c.markKnown(k.row(v), w, same, upto)
			}
			c.markKnown(k.make(x.view), w, same, upto)
		}
	}
}

// A FenceNote counts what the fences at one PC did.
type FenceNote struct {
	PC    int32
	Count int
	// Ordered counts the executions that added knowledge, and the releases that a
	// later write or arrive handed on.
	Ordered int
}

func (t *Tracker) onFence(ev *machine.Event) {
	c, mask := t.at(ev.CTA), lanesOf(ev)
	note := t.fenceNote(ev.PC)
	ordered := false
	switch ev.Fence {
	case machine.FenceMemory:
		ordered = t.memoryFence(c, ev, mask, note)
	case machine.FenceProxyAsync:
		ordered = t.proxyFence(c, ev, mask)
	case machine.FenceProxyAsyncGenericAcquire:
		ordered = t.acquireAsync(c, ev, mask)
		ordered = t.proxyFence(c, ev, mask) || ordered
	case machine.FenceProxyAsyncGenericRelease:
		ordered = t.proxyFence(c, ev, mask)
		t.release(c, ev.Warp, fenced{lanes: mask, scope: machine.ScopeCluster, async: true, note: note})
	case machine.FenceMbarrierInit:
		t.release(c, ev.Warp, fenced{lanes: mask, scope: machine.ScopeCluster, inits: true, note: note})
	case machine.FenceProxyTensorMapRelease:
		ordered = t.mapRelease(c, ev, mask)
	case machine.FenceProxyTensorMapAcquire:
		ordered = t.mapAcquire(c, ev, mask)
	case machine.FenceTensorBefore:
		ordered = t.tensorBefore(c, ev, mask)
	case machine.FenceTensorAfter:
		ordered = t.tensorAfter(c, ev, mask)
	case machine.FenceProxyAlias:
	}
	if ordered {
		t.fences[note].Ordered++
	}
}

func (t *Tracker) fenceNote(pc int32) int {
	for i := range t.fences {
		if t.fences[i].PC == pc {
			t.fences[i].Count++
			return i
		}
	}
	t.fences = append(t.fences, FenceNote{PC: pc, Count: 1})
	return len(t.fences) - 1
}

// Fences returns a note for each fence, in the order of first execution.
func (t *Tracker) Fences() []FenceNote { return append([]FenceNote(nil), t.fences...) }

// memoryFence handles fence and membar (FenceMemory). A restricted one
// (.sync_restrict) has Space set to less than all.
func (t *Tracker) memoryFence(c *cta, ev *machine.Event, mask uint32, note int) bool {
	ordered := false
	acquires := ev.Sem != machine.Release
	releases := ev.Sem != machine.Acquire
	if acquires {
		a := acquirer{home: c, warp: ev.Warp, mask: mask, pc: ev.PC, scope: ev.Scope}
		ordered = t.acquirePending(&a, restricted(ev.Space))
	}
	if ev.Sem == machine.SC {
		ordered = t.scFence(c, ev, mask) || ordered
	}
	if releases {
		t.release(c, ev.Warp, fenced{lanes: mask, scope: ev.Scope, only: restricted(ev.Space), note: note})
	}
	return ordered
}

func restricted(s machine.Spaces) bool { return s != 0 && s&machine.SpaceGlobal == 0 }

// acquirePending completes the acquire patterns that the lanes began with
// strong reads and relaxed waits.
func (t *Tracker) acquirePending(a *acquirer, sharedAlone bool) bool {
	w := &a.home.warps[a.warp]
	found := false
	for i := 0; i < len(w.pending.list); i++ {
		e := &w.pending.list[i]
		lanes := e.lanes & a.mask
		if lanes == 0 || e.relaxed || e.async {
			continue
		}
		found = true
		b := *a
		b.mask = lanes
		if sharedAlone {
			only := contrib{cta: e.cta, scope: e.scope, defaulted: e.defaulted, pc: e.pc}
			only.know.toShared(&e.know)
			t.acquire(&only, &b)
			continue
		}
		t.acquire(e, &b)
		if t.reaches(e, a.home.index, a.scope, false) != tooNarrow {
			if e.lanes &^= lanes; e.lanes == 0 {
				w.pending.remove(i)
				i--
			}
		}
	}
	w.merge()
	return found
}

// acquireAsync makes known to the asynchronous proxy what that proxy's release fences
// handed on by operations that the lanes observed.
func (t *Tracker) acquireAsync(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	news := false
	for i := 0; i < len(w.pending.list); i++ {
		e := &w.pending.list[i]
		lanes := e.lanes & mask
		if lanes == 0 || !e.async || t.reaches(e, c.index, machine.ScopeCluster, false) == tooNarrow {
			continue
		}
		w.split(lanes)
		for j := range w.groups {
			if g := &w.groups[j]; g.mask&lanes != 0 {
				news = g.know.join(&e.know) || news
				w.learned(g)
			}
		}
		if e.lanes &^= lanes; e.lanes == 0 {
			w.pending.remove(i)
			i--
		}
	}
	w.merge()
	return news
}

// toShared joins into k what src knows of shared memory: what an acquire fence
// restricted to shared::cluster acquires.
func (k *know) toShared(src *know) {
	k.make(view{kind: sharedOnly}).join(&src.gen)
	for i := range src.rows {
		switch r := &src.rows[i]; r.view.kind {
		case sharedOnly, sharedIn, asyncShared, asyncIn, initIn:
			k.make(r.view).join(&r.clk)
		}
	}
}

// toOwn joins into k what src knows of a CTA's shared memory: what its release fences
// restricted to shared::cta hand on.
func (k *know) toOwn(src *know, own machine.MemID) {
	k.make(view{kind: sharedIn, mem: own}).join(&src.gen)
	for i := range src.rows {
		r := &src.rows[i]
		switch {
		case r.view.restrictedTo(own):
			k.make(view{kind: sharedIn, mem: own}).join(&r.clk)
		case r.view.asyncOf(own):
			k.make(view{kind: asyncIn, mem: own}).join(&r.clk)
		case r.view.kind == initIn && r.view.mem == own:
			k.make(r.view).join(&r.clk)
		}
	}
}

// toAsync joins into k what src's asynchronous views know of a CTA's shared memory.
func (k *know) toAsync(src *know, own machine.MemID) {
	to := k.make(view{kind: asyncIn, mem: own})
	for i := range src.rows {
		if r := &src.rows[i]; r.view.asyncOf(own) {
			to.join(&r.clk)
		}
	}
}

// keepOwn returns the crossings for the shared memory of one CTA.
func keepOwn(crossed []crossing, mem machine.MemID) []crossing {
	kept := crossed[:0]
	for _, x := range crossed {
		if x.view.asyncOf(mem) {
			x.view = view{kind: asyncIn, mem: mem}
			kept = append(kept, x)
		}
	}
	return kept
}

// release records what a fence releases, per group where the warp's lanes know
// different things.
func (t *Tracker) release(c *cta, wi int32, f fenced) {
	w := &c.warps[wi]
	mem := machine.SharedOf(c.index)
	f.upto = w.publish()
	w.unfence(&f)
	for i := range w.groups {
		g := &w.groups[i]
		in := g.mask & f.lanes
		if in == 0 {
			continue
		}
		one := w.newFenced()
		k, x := one.know, one.crossed
		*one = f
		one.lanes, one.know, one.crossed = in, k, append(x[:0], w.crossed...)
		switch {
		case f.inits:
		case f.only:
			one.know.toOwn(&g.know, mem)
			one.crossed = keepOwn(one.crossed, mem)
		case f.async:
			one.know.toAsync(&g.know, mem)
			one.crossed = keepOwn(one.crossed, mem)
		default:
			one.know.join(&g.know)
			w.tell(&one.know, in)
		}
	}
}

// newFenced adds an empty entry, in reused storage if there is any.
func (w *warp) newFenced() *fenced {
	n := len(w.fenced)
	if n < cap(w.fenced) {
		w.fenced = w.fenced[:n+1]
	} else {
		w.fenced = append(w.fenced, fenced{})
	}
	w.fenced[n].know.reset()
	return &w.fenced[n]
}

// unfence removes lanes from earlier fences that a new one, of the same kind and of
// equal or wider scope, makes redundant.
func (w *warp) unfence(by *fenced) {
	for i := 0; i < len(w.fenced); i++ {
		f := &w.fenced[i]
		if f.scope <= by.scope && f.inits == by.inits && f.only == by.only && f.async == by.async {
			f.lanes &^= by.lanes
		}
		if f.lanes == 0 {
			n := len(w.fenced) - 1
			w.fenced[i], w.fenced[n] = w.fenced[n], w.fenced[i]
			w.fenced = w.fenced[:n]
			i--
		}
	}
}

// beyond returns the scope up to which an arrival releases its lanes' knowledge
// without a fence.
func (c *contrib) beyond() machine.Scope {
	if c.relaxed {
		return machine.NoScope
	}
	return machine.ScopeSys
}

// handOn adds to a release set what earlier fences of the lanes released, for a
// strong write or a relaxed arrive with the given scope: only fences of a scope wider
// than beyond. Fences for the asynchronous proxy alone always count, because no such
// operation releases to that proxy itself.
func (t *Tracker) handOn(r *relSet, c *contrib, home *cta, w int32, lanes uint32, beyond machine.Scope) {
	wp := &home.warps[w]
	for i := range wp.fenced {
		f := &wp.fenced[i]
		in := f.lanes & lanes
		if in == 0 || f.scope <= beyond && !f.async {
			continue
		}
		if !f.used {
			f.used = true
			t.fences[f.note].Ordered++
		}
		k := *c
		k.scope = min(c.scope, f.scope)
		if c.defaulted {
			k.scope = f.scope
		}
		k.relaxed, k.async = false, f.async
		e := r.slot(&k)
		mem := machine.SharedOf(home.index)
		if f.inits {
			home.markKnown(e.know.make(view{kind: initIn, mem: mem}), w, in, f.upto)
			continue
		}
		e.know.join(&f.know)
		switch {
		case f.only:
			home.markKnown(e.know.make(view{kind: sharedIn, mem: mem}), w, in, f.upto)
		case !f.async: // async: only own accesses that have crossed
			home.markOwn(&e.know, w, in, f.upto)
		}
		home.markCrossed(&e.know, f.crossed, w, in)
	}
}

// proxyFence lets what the lanes know of the generic proxy pass to the
// asynchronous one, for the fence's spaces. The generic view contains the
// asynchronous ones (an operation's completion is generic knowledge), so the
// other direction needs nothing.
func (t *Tracker) proxyFence(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	upto := w.publish()
	w.split(mask)
	news := false
	views, n := fenceViews(c, ev)
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&mask == 0 {
			continue
		}
		for _, v := range views[:n] {
			if to, ok := v.together(); ok && (g.know.of(ifTogether) != nil || g.know.row(to) != nil) {
				g.know.make(to).join(g.know.said(view{kind: ifTogether}))
			}
			row := g.know.make(v)
			if row.join(&g.know.gen) {
				news = true
			}
		}
		news = g.know.crossRestricted(views[:n]) || news
		w.learned(g)
	}
	for _, v := range views[:n] {
		w.cross(v).pass(mask, upto)
	}
	if len(w.groups) > 4 {
		w.merge()
	}
	return news
}

// crossRestricted passes knowledge restricted to shared memories on to the
// asynchronous proxy's views of these, and reports whether it was new.
func (k *know) crossRestricted(views []view) bool {
	news := false
	for i := 0; i < len(k.rows); i++ {
		from := k.rows[i].view
		for _, v := range views {
			switch {
			case v.kind == asyncIn && from.restrictedTo(v.mem), v.kind == asyncShared && from.kind == sharedOnly:
			case v.kind == asyncShared && from.kind == sharedIn:
				v = view{kind: asyncIn, mem: from.mem}
			default:
				continue
			}
			to := k.make(v)
			news = to.join(&k.rows[i].clk) || news
		}
	}
	return news
}

// fenceViews lists the views that a proxy fence feeds.
func fenceViews(c *cta, ev *machine.Event) (views [2]view, n int) {
	spaces := ev.Space
	if spaces == 0 {
		spaces = machine.AllSpaces
		switch ev.Fence {
		case machine.FenceProxyAsyncGenericAcquire:
			spaces = machine.SpaceSharedCluster
		case machine.FenceProxyAsyncGenericRelease:
			spaces = machine.SpaceSharedCTA
		}
	}
	if spaces&machine.SpaceGlobal != 0 {
		views[0], n = view{kind: asyncGlobal}, 1
	}
	switch {
	case spaces&machine.SpaceSharedCluster != 0:
		views[n] = view{kind: asyncShared}
		n++
	case spaces&machine.SpaceSharedCTA != 0:
		views[n] = view{kind: asyncIn, mem: machine.SharedOf(c.index)}
		n++
	}
	return views, n
}

// mapRelease releases what the lanes know to the tensor-map proxy, at the
// fence's scope.
func (t *Tracker) mapRelease(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	upto := w.publish()
	w.split(mask)
	news := false
	v := view{kind: mapReleased, mem: machine.SharedOf(c.index), addr: uint64(ev.Scope)}
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&mask != 0 {
			news = g.know.make(v).join(&g.know.gen) || news
			w.learned(g)
		}
	}
	w.cross(v).pass(mask, upto)
	return news
}

// mapAcquire makes known to the tensor-map proxy, for the 128 bytes at the fence's
// address, what tensor-map fences released whose scope, like this one's, includes
// both CTAs.
func (t *Tracker) mapAcquire(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	w.split(mask)
	news := false
	for m := mask; m != 0 && ev.Addr != nil; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		g := w.group(l)
		v := view{kind: mapAcquired, addr: ev.Addr[l]}
		row := g.know.make(v)
		for i := range g.know.rows {
			from := &g.know.rows[i]
			if from.view.kind == mapReleased && min(machine.Scope(from.view.addr), ev.Scope) >= t.needed(from.view.mem.CTA(), c.index) {
				news = row.join(&from.clk) || news
			}
		}
		upto := uint32(0)
		for i := range w.crossed {
			if own := &w.crossed[i]; own.view.kind == mapReleased {
				upto = max(upto, own.upto[l])
			}
		}
		if upto != 0 {
			w.cross(v).pass(1<<l, upto)
		}
		w.learned(g)
	}
	return news
}

// mapHalves tells which of the two fences of the tensor-map proxy precede a copy's read of its
// map: a release of what wrote the map, an acquire of it.
func (t *Tracker) mapHalves(ac *access, p *stamp, at int) Why {
	var why Why
	if ac.views[1] != nil || ac.crossed[1] != nil {
		why = MapAcquired
	}
	owner, w := t.split(p.who)
	for i := range ac.group.know.rows {
		r := &ac.group.know.rows[i]
		if r.view.kind != mapReleased || machine.Scope(r.view.addr) < t.needed(r.view.mem.CTA(), ac.home.index) {
			continue
		}
		if p.isOp() && t.opKnownTo(ac, p, &r.clk, 0) || !p.isOp() && p.lanesAt(at)&^t.knownLanes(&r.clk, owner, w, p.time) == 0 {
			why |= MapReleased
		}
	}
	for i := range ac.warp.crossed {
		own := &ac.warp.crossed[i]
		if own.view.kind == mapReleased && !p.isOp() && owner == ac.home.index && w == ac.wi && p.lanesAt(at)&^ac.lane == 0 && ac.lane&(ac.lane-1) == 0 &&
			own.upto[bits.TrailingZeros32(ac.lane)] >= p.time {
			why |= MapReleased
		}
	}
	return why
}
