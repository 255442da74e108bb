package order

import (
	"slices"

	"muster/internal/machine"
)

// A visitor is lanes of another CTA's warp that touched a CTA's shared memory or one of its
// barriers, with the time and PC of the latest access; or a tcgen05.commit, also of the CTA
// itself, that arrived at one.
type visitor struct {
	cta, warp int32
	lanes     uint32
	slot      int // of the barrier whose phase the access was charged to; 0: none
	value     uint32
	time      uint32
	pc        int32
	commit    int64          // of a tcgen05.commit: its operation
	turn      turn           // of a commit
	bar       machine.BarRef // of a commit
	// issue: the visit is that an operation of both CTAs of a pair was issued; turn is then
	// that of a commit that shows it.
	issue bool
}

// visit notes that lanes touch a memory that is not their CTA's, and checks
// that its CTA is known to have started and has not ended. A CTA's start is a
// pseudo-write to its window, known through synchronization alone; its end is
// one that must follow every visit. Who knows a phase complete knows that all that was
// charged to it has happened, without synchronizing with it: a complete-tx is relaxed
// and releases nothing.
func (t *Tracker) visit(home, owner *cta, w int32, mask uint32, pc int32, slot int, value uint32) {
	if owner == nil || owner.index == home.index {
		return
	}
	wp := &home.warps[w]
	wp.mark(mask)
	t.visitStarted(home, owner, w, mask, pc, false)
	for i := range owner.remote {
		if v := &owner.remote[i]; v.cta == home.index && v.warp == w && v.lanes == mask && v.slot == slot && !v.issue {
			v.value, v.time, v.pc = max(v.value, value), wp.time, pc
			return
		}
	}
	owner.remote = append(owner.remote, visitor{cta: home.index, warp: w, lanes: mask, slot: slot, value: value, time: wp.time, pc: pc})
}

// visitPair is visit for the issue of a tcgen05 operation of both CTAs of a pair: "when the
// current CTA issues the operation, the peer CTA should be active and should not have exited"
// (ISA 9.7.18.5), also where it touches nothing there. The arrival of that thread's next commit
// shows the issue.
func (t *Tracker) visitPair(home, other *cta, op *machine.Op, at turn) {
	wp := &home.warps[op.Warp]
	v := visitor{cta: home.index, warp: op.Warp, lanes: 1 << uint(op.Lane&31), time: wp.time, pc: op.PC, turn: at, issue: true}
	if v.turn.n == 0 {
		v.turn = home.upcoming(op)
	}
	wp.mark(v.lanes)
	if t.visitStarted(home, other, op.Warp, v.lanes, op.PC, true); other.ended {
		return
	}
	for i := range other.remote {
		if o := &other.remote[i]; o.issue && o.cta == v.cta && o.warp == v.warp && o.lanes == v.lanes {
			*o = v
			return
		}
	}
	other.remote = append(other.remote, v)
}

// visitBar is visit for an operation at a barrier.
func (t *Tracker) visitBar(home, owner *cta, b *mbar, ev *machine.Event) {
	slot, value := 0, uint32(0)
	switch ev.Mbar.Op {
	case machine.MbarInit, machine.MbarInval, machine.MbarExpectTx: // no phase needs them
	default:
		if b != nil && b.live {
			slot, value = b.slot, b.value(ev.Mbar.Phase)
		}
	}
	t.visit(home, owner, ev.Warp, 1<<uint(ev.Lane&31), ev.PC, slot, value)
}

func (t *Tracker) visitStarted(home, owner *cta, w int32, mask uint32, pc int32, issue bool) {
	if owner.ended {
		t.fact(&Fact{Kind: ExitBeforeRemote, A: AccessRef{CTA: owner.index, Op: -1}, B: laneRef(home.index, w, mask, pc), Issue: issue})
		return
	}
	wp := &home.warps[w]
	for i := range wp.groups {
		g := &wp.groups[i]
		if g.mask&mask != 0 && g.know.strong().at(owner.index, 0) == 0 {
			t.fact(&Fact{Kind: RemoteBeforeStart, A: AccessRef{CTA: owner.index, Op: -1}, B: laneRef(home.index, w, g.mask&mask, pc)})
		}
	}
}

func laneRef(cta, w int32, mask uint32, pc int32) AccessRef {
	return AccessRef{CTA: cta, Warp: w, Lanes: mask, PC: pc, Op: -1}
}

// onExit joins what the exiting lanes know into the CTA's gone, for its end, and
// marks as lost the lanes with accesses that no release has published.
func (t *Tracker) onExit(ev *machine.Event) {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	t.groupsLeft(c, ev)
	if len(t.cfg.Grids) > 0 {
		t.exitLaunch(c, ev)
	}
	w.lost |= ev.Mask & w.touched
	w.live &^= ev.Mask
	for i := 0; i < len(w.groups); i++ {
		g := &w.groups[i]
		if g.mask&ev.Mask == 0 {
			continue
		}
		c.gone.join(&g.know)
		if len(w.groups) > 1 && g.mask&w.live == 0 {
			w.drop(i)
			i--
		}
	}
}

// groupsLeft reports bulk groups that their thread never waited for.
func (t *Tracker) groupsLeft(c *cta, ev *machine.Event) {
	w := &c.warps[ev.Warp]
	if w.queues == nil {
		return
	}
	for l := int8(0); l < 32; l++ {
		q := w.queue(l, machine.GroupBulk)
		if ev.Mask>>uint(l)&1 == 0 || q.read >= len(q.list) {
			continue
		}
		t.fact(&Fact{Kind: GroupLeft, A: t.ops.ref(q.list[q.read]), B: laneRef(c.index, ev.Warp, 1<<uint(l), ev.PC)})
	}
}

// onEnd checks that nothing may still touch the CTA's shared memory, and
// drops what is kept of the CTA.
func (t *Tracker) onEnd(ev *machine.Event) {
	c := t.at(ev.CTA)
	for i := range c.warps {
		for j := range c.warps[i].groups {
			c.gone.join(&c.warps[i].groups[j].know)
		}
	}
	t.opsInFlight(c)
	known := c.gone.strong()
	t.visitsLeft(c, known)
	c.ended = true
	delete(t.begins, c.index)
	c.shared, c.tensor, c.bars, c.named, c.remote, c.gone = shadow{}, shadow{}, nil, nil, nil, know{}
	for i := range c.warps {
		c.warps[i] = warp{}
	}
	if len(t.locs.m) > 0 {
		t.dropLocations(machine.SharedOf(c.index))
	}
}

// visitsLeft reports the latest visit of each visitor that may come after the CTA's end.
func (t *Tracker) visitsLeft(c *cta, known *clock) {
	var left []visitor
	for _, v := range c.remote {
		if v.lanes&^t.knownLanes(known, v.cta, v.warp, v.time) == 0 || v.slot > 0 && known.at(c.index, v.slot) >= v.value || v.turn.knownTo(known) {
			continue
		}
		if p := c.gone.of(paired); v.issue && p != nil && (t.knownLanes(p, v.cta, v.warp, v.time)&v.lanes != 0 || v.turn.knownTo(p)) {
			continue
		}
		same := func(o visitor) bool { return o.cta == v.cta && o.warp == v.warp && o.lanes == v.lanes }
		if i := slices.IndexFunc(left, same); i < 0 {
			left = append(left, v)
		} else if left[i].time <= v.time {
			left[i] = v
		}
	}
	for _, v := range left {
		if v.cta == c.index { // its own commit
			t.fact(&Fact{Kind: ExitInFlight, A: AccessRef{CTA: v.cta, Warp: v.warp, Lanes: v.lanes, PC: v.pc, Op: v.commit, Kind: machine.OpMbarArrive, Barrier: true, Bar: v.bar}, B: AccessRef{CTA: c.index, Op: -1}})
			continue
		}
		t.fact(&Fact{Kind: ExitBeforeRemote, A: AccessRef{CTA: c.index, Op: -1}, B: laneRef(v.cta, v.warp, v.lanes, v.pc), Issue: v.issue})
	}
}

func (t *Tracker) dropLocations(mem machine.MemID) {
	var tab *locTable
	for g := range t.locs.m {
		if g.mem == mem {
			tab = t.writeLocs()
			break
		}
	}
	if tab == nil {
		return
	}
	for g := range tab.m {
		if g.mem == mem {
			delete(tab.m, g)
		}
	}
}

// opsInFlight reports operations that touch the CTA's shared memory and whose
// completion no thread of it knew when it left.
func (t *Tracker) opsInFlight(c *cta) {
	known := c.gone.strong()
	mem := machine.SharedOf(c.index)
	for i := range t.ops.recs {
		r := &t.ops.recs[i]
		if !r.used {
			continue
		}
		reads, writes := holds(r.reads, mem), holds(r.writes, mem)
		if r.toSignal(c) {
			f := Fact{Kind: ExitInFlight, A: t.ops.refIn(int32(i), mem), B: AccessRef{CTA: c.index, Op: -1}}
			for _, b := range r.bars {
				if b.ref.Mem == mem && b.value == 0 {
					f.A.Barrier, f.A.Bar = true, b.ref
				}
			}
			t.fact(&f)
			continue
		}
		if !reads && !writes || r.waitedBy(c, writes) || t.endKnows(r, known, writes, mem) {
			continue
		}
		// A commit hands on, to the asynchronous proxy, which phases its thread knew.
		if committed := c.gone.of(asyncShared); committed != nil && r.signalledTo(committed, writes, mem) {
			continue
		}
		f := Fact{Kind: ExitInFlight, A: t.ops.refIn(int32(i), mem), B: AccessRef{CTA: c.index, Op: -1}}
		f.A.Access = machine.Read
		if writes {
			f.A.Access = machine.Write
		}
		t.fact(&f)
	}
}

func holds(l []machine.MemID, m machine.MemID) bool {
	for _, x := range l {
		if x == m {
			return true
		}
	}
	return false
}

// toSignal reports whether a tcgen05.commit has still to signal an mbarrier of this CTA.
func (r *opRec) toSignal(c *cta) bool {
	return r.knew != nil && slices.ContainsFunc(r.bars, func(b opBar) bool { return b.ref.Mem == machine.SharedOf(c.index) && b.value == 0 })
}

// waitedBy reports whether the issuer is a thread of that CTA and waited.
func (r *opRec) waitedBy(c *cta, writes bool) bool {
	return r.cta == c.index && r.waited(writes) != 0
}

func (t *Tracker) endKnows(r *opRec, known *clock, writes bool, mem machine.MemID) bool {
	if by := r.waited(writes); by != 0 && t.knownLanes(known, r.cta, r.warp, by)&r.lanes != 0 {
		return true
	}
	return r.signalledTo(known, writes, mem)
}
