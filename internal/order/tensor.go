package order

import (
	"slices"

	"muster/internal/machine"
)

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
// threads. These may be relaxed: so the view tensorSent travels by every release, and by
// relaxed ones into tensorHeard. Their scopes must include each other's side all the same: what
// orders threads is "morally strong" (9.7.18.6.3; 8.7), and the text's examples of relaxed
// operations write .cluster. after_thread_sync makes both tensorTaken, and before_thread_sync
// makes that tensorSent again.
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
	news := w.dirty
	upto := w.publish()
	w.split(mask)
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&mask != 0 && g.know.pass(tensorTaken, tensorSent) {
			news = true
			w.learned(g)
		}
	}
	w.cross(view{kind: tensorSent}).pass(mask, upto)
	return news
}

// pass joins what one view says into another.
func (k *know) pass(from, to viewKind) bool {
	c := k.of(from)
	if c == nil {
		return false
	}
	copied := c.clone() // make may move the rows
	return k.make(view{kind: to}).join(&copied)
}

// tensorAfter lets what is known to come before come before later tcgen05 operations.
func (t *Tracker) tensorAfter(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	w.split(mask)
	news := false
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&mask == 0 {
			continue
		}
		sent, heard := g.know.pass(tensorSent, tensorTaken), g.know.pass(tensorHeard, tensorTaken)
		if sent || heard {
			news = true
			w.learned(g)
		}
	}
	if len(w.groups) > 4 {
		w.merge()
	}
	return news
}

// hears adds what src says of tcgen05 operations, by relaxed operations whose scopes reach so
// far, and reports whether it was new.
func (k *know) hears(src *know, how reach) bool {
	to := tensorHeard
	if how == tooNarrow {
		to = tensorIfWide
	}
	r := src.of(tensorSent)
	return r != nil && k.make(view{kind: to}).join(r)
}

// relateTensor is relateOp for tensor memory.
func (t *Tracker) relateTensor(s *seg, ac *access, p *stamp, r *opRec, a, b int) relation {
	if p.who == ac.st.who || p.who == ac.settled && p.what == ac.settledWhat && ac.mem == ac.settledMem {
		return ordered
	}
	lanes := ac.lanesIn(a, b)
	k := &ac.group.know
	if t.tensorKnown(ac, p, r, k.of(tensorTaken), lanes) || !ac.st.isOp() && t.knownWithoutFence(ac, p, lanes) {
		if ac.st.isOp() {
			ac.settled, ac.settledWhat, ac.settledMem = p.who, p.what, ac.mem
		}
		return ordered
	}
	why := InFlight
	switch {
	case t.tensorKnown(ac, p, r, &k.gen, lanes), t.tensorKnown(ac, p, r, k.of(committed), lanes):
		why = IfTensorFence
	case t.knownBy(ac, p, k.wide(), lanes), k.of(tensorIfWide) != nil && t.tensorKnown(ac, p, r, k.of(tensorIfWide), lanes):
		why = IfScopeWider
	case t.knownBy(ac, p, k.strong(), lanes), t.knownBy(ac, p, k.of(tensorSent), lanes), t.knownBy(ac, p, k.of(tensorHeard), lanes):
		why = IfNotRelaxed
	case r.laneKnown(t, ac):
		why |= SameWarpLanes
	}
	if why&InFlight != 0 && t.issueKnown(r, ac, lanes) {
		why |= IssueKnown
	}
	if why&InFlight != 0 && t.queued(s, ac, p, r) {
		why = IfQueued
	}
	if why&InFlight != 0 && t.dataCame(ac, r) {
		why = IfDataCame
	}
	t.conflict(ac, p, a, b, why)
	return racing
}

// knownWithoutFence reports whether an alloc or dealloc follows an operation that is known
// where it is executed. Both are synchronous: tcgen05.fence::after_thread_sync is needed "as
// tcgen05.ld is an asynchronous operation" (ISA 9.7.18.6.4.2), and what ordered the threads
// may be relaxed.
func (t *Tracker) knownWithoutFence(ac *access, p *stamp, lanes uint32) bool {
	k := &ac.group.know
	return t.opKnownTo(ac, p, &k.gen, lanes) || t.knownBy(ac, p, k.of(tensorSent), lanes) || t.knownBy(ac, p, k.of(tensorHeard), lanes) ||
		t.knownBy(ac, p, k.of(committed), lanes)
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

// queued reports whether an operation overwrites what an earlier one of its thread reads, and
// the order of issue alone says that it comes after; or overwrites what a copy before such a one in
// its pipeline has written.
func (t *Tracker) queued(s *seg, ac *access, p *stamp, r *opRec) bool {
	if !ac.st.isOp() || !ac.write {
		return false
	}
	cur := &t.ops.recs[ac.st.op()]
	behind := func(r *opRec) bool {
		return cur.op != nil && r.op != nil && r.cta == cur.cta && r.warp == cur.warp && r.lanes == cur.lanes && cur.op.QueuedBehind(r.op)
	}
	if !p.writes() {
		return behind(r)
	}
	read := func(q *stamp) bool {
		if q.who == 0 || !q.isOp() || q.writes() || r.op == nil {
			return false
		}
		m := &t.ops.recs[q.op()]
		return m.id > r.id && behind(m) && m.op.PipelinedBefore(r.op)
	}
	if read(&s.read) || s.more != nil && slices.ContainsFunc(s.more.list, func(q stamp) bool { return read(&q) }) {
		return true
	}
	// Of what both write, such a one may read a part: factors come in blocks of four columns.
	return r.op != nil && slices.ContainsFunc(t.ops.recs, func(m opRec) bool {
		return m.used && m.id > r.id && behind(&m) && m.op.PipelinedBefore(r.op) && cur.op.Overwrites(m.op)
	})
}

// onUsed notes that a warp used registers of a load.
func (t *Tracker) onUsed(ev *machine.Event) {
	i, ok := t.ops.byID[ev.Load]
	if !ok {
		return
	}
	w := &t.at(ev.CTA).warps[ev.Warp]
	w.mark(ev.Mask)
	if r := &t.ops.recs[i]; r.came == 0 {
		r.came = w.time
	}
}

// dataCame reports whether an access follows the use of a load's registers.
func (t *Tracker) dataCame(ac *access, r *opRec) bool {
	if r.came == 0 {
		return false
	}
	if r.cta == ac.home.index && r.warp == ac.wi {
		return true
	}
	k := &ac.group.know
	for _, c := range [...]*clock{&k.gen, k.of(tensorSent), k.of(tensorTaken)} {
		if c != nil && t.knownLanes(c, r.cta, r.warp, r.came) != 0 {
			return true
		}
	}
	return false
}
