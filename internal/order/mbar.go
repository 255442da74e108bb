package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// An mbar is what the Tracker keeps of one mbarrier word: what its phases
// release, and the access that initialized it.
//
// The barrier has a slot in the clocks of the CTA that holds it. A clock with
// value n there knows that the first n phases are complete, counted over all
// lives of the word, and with that the accesses of every operation signalled
// in one of them.
type mbar struct {
	slot int
	base uint32 // phases counted before this life
	top  uint32 // highest value that a clock may hold
	live bool
	// commits: a tcgen05.commit has signalled it.
	commits bool
	init    ref // the access that initialized it
	// sets holds the contributions of the phase filling up and the last ones
	// complete. A wait acquires from its own phase only, however far the barrier has
	// advanced since.
	sets [4]phaseSet
	// users are the lanes that used it in this life, with when they last did;
	// kept with Config.Invals.
	users []user
}

// A user is a warp that used a barrier.
type user struct {
	cta, warp int32
	last      [32]uint32 // time of each lane's last use; 0: none
	pc        [32]int32
	commits   uint32 // lanes whose last use is a tcgen05.commit
	turns     []turn // of these, by lane; nil: none so far
}

type phaseSet struct {
	phase int64
	used  bool
	set   relSet
	heard clock // what issuers of its operations had heard: unseen.go
	came  clock // which commits it counts: commits.go
}

// A ref is an operation of lanes at a time.
type ref struct {
	cta, warp int32
	lanes     uint32
	time      uint32
	pc        int32
	known     bool // false: no such operation
}

// value returns the slot value of a clock that knows phase n complete.
func (b *mbar) value(n int64) uint32 { return b.base + uint32(n+1) }

// at returns the contributions to phase n.
func (b *mbar) at(n int64) *relSet {
	s := &b.sets[uint64(n)%uint64(len(b.sets))]
	if !s.used || s.phase != n {
		s.set.reset()
		s.heard.reset()
		s.came.reset()
		s.phase, s.used = n, true
	}
	return &s.set
}

func (b *mbar) done(n int64) *relSet {
	s := &b.sets[uint64(n)%uint64(len(b.sets))]
	if n < 0 || !s.used || s.phase != n {
		return nil
	}
	return &s.set
}

func (b *mbar) clone() *mbar {
	d := *b
	for i := range d.sets {
		d.sets[i].set = b.sets[i].set.clone()
		d.sets[i].heard = b.sets[i].heard.clone()
		d.sets[i].came = b.sets[i].came.clone()
	}
	d.users = append([]user(nil), b.users...)
	for i := range d.users {
		d.users[i].turns = slices.Clone(d.users[i].turns)
	}
	return &d
}

// bar returns the record of a barrier, nil if it is not in the shared memory
// of a CTA that still runs.
func (t *Tracker) bar(r machine.BarRef) (*mbar, *cta) {
	if r.Mem.Kind() != machine.SharedMemory || int(r.Mem.CTA()) >= len(t.ctas) {
		return nil, nil
	}
	c := t.at(r.Mem.CTA())
	if c.ended {
		return nil, c
	}
	b := c.bars[r.Addr]
	if b == nil {
		if c.bars == nil {
			c.bars = make(map[uint64]*mbar)
		}
		b = &mbar{slot: c.slot()}
		c.bars[r.Addr] = b
	}
	return b, c
}

func (t *Tracker) onMbar(ev *machine.Event) {
	home := t.at(ev.CTA)
	m := &ev.Mbar
	b, owner := t.bar(m.Bar)
	if ev.Op != nil || m.Op == machine.MbarAsyncArrive {
		// The operation signals here, not the lane; it was checked at its issue.
		if b != nil {
			b.top = max(b.top, b.value(m.Phase)+1)
		}
		return
	}
	lane := uint32(1) << uint(ev.Lane&31)
	t.visitBar(home, owner, b, ev)
	if b == nil {
		return
	}
	switch m.Op {
	case machine.MbarInit:
		t.initBar(b, home, owner, ev)
		return
	case machine.MbarInval:
		t.usesBar(b, owner, home, ev.Warp, lane, ev.PC)
		t.invalidates(b, home, ev, lane)
		t.wordWrite(home, ev, lane)
		b.live = false
		owner.shared.unguard(t.id, m.Bar.Addr, 8)
		return
	}
	t.usesBar(b, owner, home, ev.Warp, lane, ev.PC)
	b.top = max(b.top, b.value(m.Phase)+1)
	switch m.Op {
	case machine.MbarArrive, machine.MbarArriveDrop, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
		t.arrive(b, home, ev, lane)
	}
}

// arrive adds what a lane knows and did to the phase that its arrival is
// charged to.
func (t *Tracker) arrive(b *mbar, home *cta, ev *machine.Event, lane uint32) {
	c := contrib{cta: home.index, scope: ev.Scope, defaulted: ev.ScopeDefaulted, pc: ev.PC, relaxed: ev.Sem == machine.Relaxed}
	if c.scope == machine.NoScope {
		c.scope, c.defaulted = machine.ScopeCTA, true
	}
	set := b.at(ev.Mbar.Phase)
	t.contribute(set, &c, home, ev.Warp, lane)
	t.handOn(set, &c, home, ev.Warp, lane, c.beyond())
}

func (t *Tracker) initBar(b *mbar, home, owner *cta, ev *machine.Event) {
	lanes := lanesOf(ev)
	t.wordWrite(home, ev, lanes)
	w := &home.warps[ev.Warp]
	w.mark(lanes)
	b.base = max(b.base, b.top)
	b.top = b.base
	for i := range b.sets {
		b.sets[i].used = false
		b.sets[i].set.reset()
	}
	b.live, b.users = true, b.users[:0]
	b.init = ref{cta: home.index, warp: ev.Warp, lanes: lanes, time: w.time, pc: ev.PC, known: true}
	owner.shared.guard(t.id, ev.Mbar.Bar.Addr, 8)
}

// onMbarWait lets the lanes that found a phase complete acquire what it
// released, and the accesses of the operations it tracked.
func (t *Tracker) onMbarWait(ev *machine.Event) {
	home := t.at(ev.CTA)
	b, owner := t.bar(ev.Mbar.Bar)
	if b == nil {
		return
	}
	mask := lanesOf(ev)
	t.usesBar(b, owner, home, ev.Warp, mask, ev.PC)
	n := ev.Mbar.Phase
	if !ev.Mbar.OK || n < 0 {
		return
	}
	b.top = max(b.top, b.value(n))
	a := acquirer{home: home, warp: ev.Warp, mask: mask, pc: ev.PC, scope: ev.Scope, defaulted: ev.ScopeDefaulted}
	if a.scope == machine.NoScope {
		a.scope, a.defaulted = machine.ScopeCTA, true
	}
	done := contrib{cta: owner.index, scope: machine.ScopeSys, pc: -1}
	done.know = t.tmp
	done.know.reset()
	done.know.gen.raise(owner.index, b.slot, b.value(n))
	set := b.done(n)
	if set != nil && t.commitsLeftOut(b.came(n), &a) {
		done.scope = machine.NoScope
	}
	if b.commits {
		sent := done.know.make(view{kind: tensorSent})
		sent.raise(owner.index, b.slot, b.value(n))
		if set != nil {
			came := b.came(n)
			done.know.gen.join(came)
			sent.join(came)
		}
	}
	relaxed := ev.Sem == machine.Relaxed
	for i := 0; set != nil && i < len(set.list); i++ {
		if relaxed {
			t.see(&set.list[i], &a, location{})
		} else {
			t.acquire(&set.list[i], &a)
		}
	}
	if relaxed {
		a.scope = machine.ScopeSys
		t.see(&done, &a, location{})
	} else {
		t.acquire(&done, &a)
	}
	t.tmp = done.know
	t.waitHeard(b, n, &home.warps[ev.Warp], mask)
	if w := &home.warps[ev.Warp]; len(w.groups) > 2 {
		w.merge()
	}
}

// usesBar checks that the lanes know the barrier's init, and reports a Fact if not.
// The init, and an operation's use of its mbarrier operand, are generic accesses.
func (t *Tracker) usesBar(b *mbar, owner, home *cta, w int32, mask uint32, pc int32) {
	if t.cfg.Invals {
		t.keepUse(b, home, w, mask, pc)
	}
	in := &b.init
	if !in.known {
		return
	}
	wp := &home.warps[w]
	for i := range wp.groups {
		g := &wp.groups[i]
		lanes := g.mask & mask
		if lanes == 0 {
			continue
		}
		if v := g.know.gen.vec(in.cta); int(1+in.warp) < len(v) && v[1+in.warp] >= in.time {
			continue
		}
		if in.cta == home.index && in.warp == w && in.lanes&(in.lanes-1) == 0 {
			lanes &^= in.lanes // its own
		}
		if lanes == 0 || t.refKnown(&g.know, in, owner.index) {
			continue
		}
		t.initNotOrdered(b, g, home, w, lanes, pc)
	}
}

// keepUse notes that lanes use a barrier now.
func (t *Tracker) keepUse(b *mbar, home *cta, w int32, mask uint32, pc int32) {
	wp := &home.warps[w]
	wp.mark(mask)
	var u *user
	for i := range b.users {
		if b.users[i].cta == home.index && b.users[i].warp == w {
			u = &b.users[i]
		}
	}
	if u == nil {
		b.users = append(b.users, user{cta: home.index, warp: w})
		u = &b.users[len(b.users)-1]
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		u.last[l], u.pc[l] = wp.time, pc
	}
	u.commits &^= mask
}

// invalidates checks that the end of a barrier's life comes after every use of
// it. Control order decides: scopes and relaxed forms do not matter, and
// collectives order lanes of a warp like bar.warp.sync, but the Tracker does not
// see them. So one lane's use that is known stands for its warp's.
func (t *Tracker) invalidates(b *mbar, home *cta, ev *machine.Event, lane uint32) {
	g := home.warps[ev.Warp].group(int(ev.Lane & 31))
	// Who knows all phases that anything was charged to knows that commits have arrived; who
	// knows that of a later one of the same thread, too.
	arrived := b.top > 0 && g.know.strong().at(home.index, b.slot) >= b.top-1
	for i := range b.users {
		u := &b.users[i]
		for l := range 32 {
			if u.last[l] == 0 || u.cta == home.index && u.warp == ev.Warp {
				continue
			}
			if u.commits>>l&1 != 0 && (arrived || u.turns[l].knownTo(g.know.strong())) {
				continue
			}
			if t.knownLanes(g.know.strong(), u.cta, u.warp, u.last[l]) == 0 {
				t.fact(&Fact{Kind: InvalNotOrdered, A: laneRef(u.cta, u.warp, 1<<l, u.pc[l]), B: laneRef(home.index, ev.Warp, lane, ev.PC)})
				break
			}
		}
	}
}

// refKnown reports whether r, an mbarrier.init in the shared memory of a CTA,
// is known.
func (t *Tracker) refKnown(k *know, r *ref, owner int32) bool {
	known := t.knownIn(k, machine.SharedOf(owner), r.cta, r.warp, r.time)
	if c := k.row(view{kind: initIn, mem: machine.SharedOf(owner)}); c != nil {
		known |= t.knownLanes(c, r.cta, r.warp, r.time)
	}
	return r.lanes&^known == 0
}
