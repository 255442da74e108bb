package order

import "muster/internal/machine"

// Tensor memory and tcgen05 (ISA 9.7.18.6).
//
// Only tcgen05 operations access tensor memory, and all but alloc and dealloc are
// asynchronous. Of two that conflict, one comes first if
//
//   - they form a pipeline, and the one is issued before the other; or
//   - the one is known to be complete where the other is issued: by tcgen05.wait in the
//     same thread, or by the phase of an mbarrier that a tcgen05.commit of its thread
//     signalled.
//
// What is known of another thread's operation counts where tcgen05.fence::before_thread_sync,
// which commit implies, and after_thread_sync stand around the operations that order the
// threads. These may be relaxed: so the view tensorSent travels by every release, relaxed
// ones too, and whatever its scope. tensorTaken is what after_thread_sync has made of it.
// "The standard memory consistency model synchronization mechanisms also apply" (9.7.18.6.3):
// what the generic view knows without these fences is told apart, as IfTensorFence.

// shadow returns the shadow of a memory of the CTA.
func (c *cta) shadow(mem machine.MemID) *shadow {
	if mem.Kind() == machine.TensorMemory {
		return &c.tensor
	}
	return &c.shared
}

// bars returns the record of a barrier that an operation signals.
func (t *Tracker) bars(b opBar) *mbar {
	m, _ := t.bar(b.ref)
	return m
}

// tensorBefore lets what the lanes' tcgen05 operations did so far come before what follows.
func (t *Tracker) tensorBefore(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	dirty := w.dirty
	upto := w.publish()
	w.cross(view{kind: tensorSent}).pass(mask, upto)
	return dirty
}

// tensorAfter lets what is known to come before come before later tcgen05 operations.
func (t *Tracker) tensorAfter(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	w.split(mask)
	news := false
	for i := range w.groups {
		g := &w.groups[i]
		sent := g.know.of(tensorSent)
		if g.mask&mask == 0 || sent == nil {
			continue
		}
		copied := sent.clone() // make may move the rows
		if g.know.make(view{kind: tensorTaken}).join(&copied) {
			news = true
			w.learned(g)
		}
	}
	if len(w.groups) > 4 {
		w.merge()
	}
	return news
}

// joinTensor adds what src says of tcgen05 operations, and reports whether it was new.
func (k *know) joinTensor(src *know) bool {
	r := src.of(tensorSent)
	return r != nil && k.make(view{kind: tensorSent}).join(r)
}

// onColumns enters an alloc or a dealloc as a write of its columns. It is synchronous.
func (t *Tracker) onColumns(ev *machine.Event) {
	c := t.at(ev.CTA)
	ac := t.begin(c, ev.Warp)
	ac.warp.mark(ev.Mask)
	ac.as(t.issuers(ac.warp, ev.Mask))
	ac.write, ac.mem = true, ev.Span.Mem
	ac.st.pc, ac.st.shape, ac.st.lanes = ev.PC, shapeOfLanes(byMask, 2, 0), ev.Mask
	ac.st.what = uint8(machine.Write)
	t.span(&c.tensor, ac, ev.Span.Addr, ev.Span.Len)
}

// relateTensor is relateOp for tensor memory.
func (t *Tracker) relateTensor(ac *access, p *stamp, r *opRec, a, b int) relation {
	if p.who == ac.st.who || p.who == ac.settled && p.what == ac.settledWhat && ac.mem == ac.settledMem {
		return ordered
	}
	lanes := ac.lanesIn(a, b)
	k := &ac.group.know
	if t.tensorKnown(ac, p, r, k.of(tensorTaken), lanes) || !ac.st.isOp() && (t.opKnownTo(ac, p, &k.gen, lanes) || t.knownBy(ac, p, k.of(tensorSent), lanes)) {
		if ac.st.isOp() {
			ac.settled, ac.settledWhat, ac.settledMem = p.who, p.what, ac.mem
		}
		return ordered
	}
	why := InFlight
	switch {
	case t.tensorKnown(ac, p, r, &k.gen, lanes):
		why = IfTensorFence
	case t.knownBy(ac, p, k.wide(), lanes):
		why = IfScopeWider
	case t.knownBy(ac, p, k.strong(), lanes), t.knownBy(ac, p, k.of(tensorSent), lanes):
		why = IfNotRelaxed
	case r.laneKnown(t, ac):
		why |= SameWarpLanes
	}
	if why&InFlight != 0 && t.issueKnown(r, ac, lanes) {
		why |= IssueKnown
	}
	t.conflict(ac, p, a, b, why)
	return racing
}

// knownBy is opKnownTo for a clock that may be absent.
func (t *Tracker) knownBy(ac *access, p *stamp, c *clock, lanes uint32) bool {
	return c != nil && t.opKnownTo(ac, p, c, lanes)
}

// tensorKnown reports whether an access follows an operation, by what a clock and program
// order know of it: it is complete, or was issued before in a pipeline.
func (t *Tracker) tensorKnown(ac *access, p *stamp, r *opRec, c *clock, lanes uint32) bool {
	if c == nil {
		c = &nothingKnown
	}
	if t.opKnownTo(ac, p, c, lanes) {
		return true
	}
	if !ac.st.isOp() {
		return false
	}
	cur := &t.ops.recs[ac.st.op()]
	if cur.op == nil || r.op == nil || !cur.op.PipelinedBefore(r.op) {
		return false
	}
	if r.cta == cur.cta && r.warp == cur.warp && cur.lanes&^r.lanes == 0 {
		return true
	}
	return t.knownLanes(c, r.cta, r.warp, r.issued)&r.lanes != 0
}
