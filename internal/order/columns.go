package order

import (
	"maps"

	"muster/internal/machine"
)

// Columns of tensor memory (ISA 9.7.18.7.1).

// onColumns enters an alloc or a dealloc as a write of its columns. It is synchronous.
func (t *Tracker) onColumns(ev *machine.Event) {
	c := t.at(ev.CTA)
	ac := t.onPermit(c, ev)
	if ev.Kind == machine.EvTensorAlloc {
		t.noteAlloc(c, ac)
	}
	if ev.Kind == machine.EvTensorFree && ev.With != nil {
		t.freePair(c, ac, ev)
		return
	}
	t.span(&c.tensor, ac, ev.Span.Addr, ev.Span.Len)
	if ev.Second {
		t.pairColumns(ev, ev.With)
	}
}

// freePair enters a dealloc of one CTA of a pair as a write of the columns of both: "issuing warp
// and peer CTA warp must synchronize tensor memory accesses before attempting to collectively
// deallocate" (ISA 9.7.18.7.1). It need not wait for the other, so what that comes after counts
// for that alone; and what the first comes after is kept for the second.
func (t *Tracker) freePair(c *cta, ac *access, ev *machine.Event) {
	ac.half = !ev.Second
	for _, o := range [...]*cta{c, t.at(ev.With.CTA)} {
		ac.mem = machine.TensorOf(o.index)
		t.span(&o.tensor, ac, ev.Span.Addr, ev.Span.Len)
	}
}

// onPermit begins the access of a warp that allocates or frees columns, or relinquishes the
// permit to allocate.
func (t *Tracker) onPermit(c *cta, ev *machine.Event) *access {
	ac := t.begin(c, ev.Warp)
	ac.warp.mark(ev.Mask)
	ac.st.time = ac.warp.time
	ac.as(t.issuers(ac.warp, ev.Mask))
	ac.write, ac.mem = true, ev.Span.Mem
	ac.st.pc, ac.st.shape, ac.st.lanes = ev.PC, shapeOfLanes(byMask, 2, 0), ev.Mask
	ac.st.what = uint8(machine.Write)
	return ac
}

// noteAlloc notes an alloc, which may not come after a relinquish_alloc_permit of its CTA. One
// that was asked for before it, and then waited, is not ordered before it either.
func (t *Tracker) noteAlloc(c *cta, ac *access) {
	t.allocs = maps.Clone(t.allocs) // shared with clones
	if t.allocs == nil {
		t.allocs = map[int32]bool{}
	}
	t.allocs[ac.st.pc] = true
	what := ac.st.what
	ac.st.what = uint8(machine.Read) // of the permit
	if c.relinquished.who != 0 {
		t.permitConflict(ac, &c.relinquished)
	}
	list := []stamp{ac.st}
	ac.st.what = what
	for _, p := range c.allocs {
		if p.who != ac.st.who {
			list = append(list, p)
		}
	}
	c.allocs = list
}

// onRelinquish checks that a CTA's allocs come before its relinquish_alloc_permit: "it is illegal
// for a CTA to perform tcgen05.alloc after any of its constituent threads execute" that (ISA
// 9.7.18.7.1).
func (t *Tracker) onRelinquish(ev *machine.Event) {
	c := t.at(ev.CTA)
	ac := t.onPermit(c, ev)
	for i := range c.allocs {
		if p := &c.allocs[i]; !t.followsColumns(ac, p) && !t.heardOf(ac, p) {
			t.permitConflict(ac, p)
		}
	}
	if c.relinquished.who == 0 {
		c.relinquished = ac.st
	}
}

// heardOf reports whether an access follows an alloc by anything that ordered their threads in
// time, if by relaxed operations or in too narrow a scope: an alloc is synchronous.
func (t *Tracker) heardOf(ac *access, p *stamp) bool {
	owner, w := t.split(p.who)
	k := &ac.group.know
	for _, c := range [...]*clock{k.wide(), k.strong(), k.of(tensorHeard)} {
		if c != nil && t.knownLanes(c, owner, w, p.time)&p.lanes != 0 {
			return true
		}
	}
	return false
}

func (t *Tracker) permitConflict(ac *access, p *stamp) {
	at, n := ac.rowAddr, ac.mem
	permit := machine.Permit(ac.home.index)
	ac.mem, ac.rowAddr = permit.Mem, permit.Addr
	t.conflict(ac, p, 0, int(permit.Len), NoEdge)
	ac.rowAddr, ac.mem = at, n
}

// freedBefore reports whether an access is an alloc or dealloc, and the earlier one a dealloc of
// the same columns. An alloc "unblocks as soon as the requested amount of tensor memory becomes
// available" (ISA 9.7.18.7.1), and comes after what freed it. Two deallocs are a pair's.
func (t *Tracker) freedBefore(ac *access, p *stamp) bool {
	return !ac.st.isOp() && !t.allocs[p.pc]
}

// followsColumns reports whether an access follows an alloc or dealloc in its warp's order, or
// by what tcgen05 operations are told: the whole warp executes it, and it is synchronous.
func (t *Tracker) followsColumns(ac *access, p *stamp) bool {
	owner, w := t.split(p.who)
	if owner == ac.home.index && w == ac.wi {
		return true
	}
	k := &ac.group.know
	for _, c := range [...]*clock{&k.gen, k.of(tensorSent), k.of(tensorTaken), k.of(committed)} {
		if c != nil && t.knownLanes(c, owner, w, p.time)&p.lanes != 0 {
			return true
		}
	}
	return false
}

// onAsk checks that a warp that allocates columns for a pair knows that the other CTA runs:
// else what it does is undefined (ISA 9.7.18.7.1).
func (t *Tracker) onAsk(ev *machine.Event) {
	c := t.at(ev.CTA)
	c.warps[ev.Warp].mark(ev.Mask)
	if ev.Peer != nil && ev.Permit != nil { // what is freed was allocated before
		t.visitStarted(c, t.at(*ev.Peer), ev.Warp, ev.Mask, ev.PC, false)
	}
}

// pairColumns makes what both CTAs of a pair allocated known to both, where tcgen05 operations
// ask: neither has gone on before the other came.
func (t *Tracker) pairColumns(a, b *machine.Event) {
	for _, x := range [...][2]*machine.Event{{a, b}, {b, a}} {
		from, to := t.at(x[0].CTA), t.at(x[1].CTA)
		upto := from.warps[x[0].Warp].publish()
		w := &to.warps[x[1].Warp]
		w.split(x[1].Mask)
		for i := range w.groups {
			if g := &w.groups[i]; g.mask&x[1].Mask != 0 {
				from.issuedBefore(g.know.make(view{kind: paired}), x[0], upto)
				from.markKnown(g.know.make(view{kind: tensorSent}), x[0].Warp, x[0].Mask, upto)
				from.markKnown(g.know.make(view{kind: tensorTaken}), x[0].Warp, x[0].Mask, upto)
				w.learned(g)
			}
		}
	}
}

// issuedBefore adds what lanes at an alloc of a pair did, and know to have been
// done, in any way.
func (c *cta) issuedBefore(to *clock, ev *machine.Event, upto uint32) {
	c.markKnown(to, ev.Warp, ev.Mask, upto)
	w := &c.warps[ev.Warp]
	for i := range w.groups {
		if k := &w.groups[i].know; w.groups[i].mask&ev.Mask != 0 {
			to.join(k.strong())
			to.joinOf(k, paired)
		}
	}
}
