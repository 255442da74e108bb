package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// An opRec is what the Tracker keeps of an asynchronous operation while a
// stamp may name it or its completion is open.
type opRec struct {
	used      bool
	marked    bool
	id        int64
	kind      machine.OpKind
	stage     machine.Stage
	proxy     machine.Proxy
	group     machine.Group
	scope     uint8
	cta, warp int32
	lane      int8
	lanes     uint32 // that issued it: the lane, or of wgmma the warp
	pc        int32
	seq       uint32
	after     uint32
	tracks    machine.Group // of an arrive-on: whose operations it waits for
	knew      *clock        // of tcgen05.commit: phases that its issuer knew to be complete
	behind    *issuer       // of tcgen05.commit: what its issuer did and knew
	turn      turn          // of tcgen05.commit: its own; of what one tracks, that of the first
	op        *machine.Op   // of tcgen05
	// issued is the time of the issuer's warp at which it was issued.
	issued uint32
	// read and done are the times of the issuer's warp at which its lane first
	// knew the source reads, and all of it, complete by a group wait; 0 if not.
	read, done uint32
	// came is the time of the issuer's warp at which it first used registers of a tcgen05.ld.
	came uint32
	// mapSeq is the machine's MapSeq, mapRead the time at which a group wait
	// showed the lane that the map was read.
	mapSeq, mapRead uint32
	team            int32 // of wgmma: its index, plus 1
	twin            int64 // machine.Op.Twin, or its own ID
	bars            []opBar
	reads           []machine.MemID
	writes          []machine.MemID
}

// An opBar is an mbarrier that an operation signals.
type opBar struct {
	ref   machine.BarRef
	slot  int
	value uint32 // slot value of a clock that knows the phase complete; 0: not signalled
}

type opTable struct {
	recs []opRec
	free []int32
	byID map[int64]int32
	used int
	next int // records in use that start a sweep
}

// An opQueue is one lane's operations under one mechanism that no full wait
// covers yet, oldest first.
type opQueue struct {
	list []int32
	read int // how many a .read wait covers
	// arrives counts the lane's arrive-ons that have not signalled yet (of cp.async),
	// waited are the operations that a full wait covers and that these may still charge.
	arrives int
	waited  []int32
}

// maxWaited bounds opQueue.waited: what is left out is known by the wait alone.
const maxWaited = 64

func (q *opQueue) clone() opQueue {
	return opQueue{list: slices.Clone(q.list), read: q.read, arrives: q.arrives, waited: slices.Clone(q.waited)}
}

func (w *warp) queue(lane int8, g machine.Group) *opQueue {
	if w.queues == nil {
		w.queues = make([]opQueue, 32*int(machine.Groups))
	}
	return &w.queues[int(g)*32+int(lane&31)]
}

// take allots a record.
func (o *opTable) take(op *machine.Op, lanes uint32) int32 {
	var i int32
	if n := len(o.free); n > 0 {
		i = o.free[n-1]
		o.free = o.free[:n-1]
	} else {
		i = int32(len(o.recs))
		o.recs = append(o.recs, opRec{})
	}
	r := &o.recs[i]
	*r = opRec{
		used: true, id: op.ID, kind: op.Kind, stage: op.Stage, proxy: op.Proxy, group: op.Group,
		cta: op.CTA, warp: op.Warp, lane: op.Lane, lanes: lanes, pc: op.PC, seq: op.Seq, after: op.After, tracks: op.Tracks,
		bars: r.bars[:0], reads: r.reads[:0], writes: r.writes[:0],
	}
	if o.byID == nil {
		o.byID = make(map[int64]int32)
	}
	o.byID[op.ID] = i
	o.used++
	return i
}

func (o *opTable) clone() opTable {
	d := *o
	d.recs = append([]opRec(nil), o.recs...)
	for i := range d.recs {
		r := &d.recs[i]
		r.bars = append([]opBar(nil), r.bars...)
		r.reads = append([]machine.MemID(nil), r.reads...)
		r.writes = append([]machine.MemID(nil), r.writes...)
	}
	d.free = append([]int32(nil), o.free...)
	if o.byID != nil {
		d.byID = make(map[int64]int32, len(o.byID))
		for k, v := range o.byID {
			d.byID[k] = v
		}
	}
	return d
}

// ref describes an operation.
func (o *opTable) ref(i int32) AccessRef {
	r := &o.recs[i]
	ref := AccessRef{
		CTA: r.cta, Warp: r.warp, Lanes: r.lanes, PC: r.pc, Proxy: r.proxy,
		Strong: r.scope != 0, Scope: machine.Scope(r.scope),
		Op: r.id, Kind: r.kind, Stage: r.stage, Group: r.group, ReadDone: r.read != 0,
	}
	if len(r.bars) > 0 {
		ref.Barrier, ref.Bar = true, r.bars[0].ref
	}
	return ref
}

// refIn is ref, with the barrier that lies in a memory, if one does: a
// multicast copy signals one in each CTA.
func (o *opTable) refIn(i int32, mem machine.MemID) AccessRef {
	ref := o.ref(i)
	for _, b := range o.recs[i].bars {
		if b.ref.Mem == mem {
			ref.Bar = b.ref
			break
		}
	}
	return ref
}

func (t *Tracker) onIssue(ev *machine.Event) {
	op := ev.Op
	home := t.at(op.CTA)
	t.sweepOps()
	w := &home.warps[op.Warp]
	lane := uint32(1) << uint(op.Lane&31)
	if op.Kind.ByWarp() {
		lane = ev.Mask
	}
	i := t.ops.take(op, lane)
	r := &t.ops.recs[i]
	if op.Tensor() {
		r.op = op.Issued()
	}
	if r.twin = op.Twin; r.twin == 0 {
		r.twin = op.ID
	}
	if r.issued = w.time; op.Kind != machine.OpWgmma {
		w.dirty = true
	}
	if q, ok := op.CommitQueue(); ok {
		r.turn = home.enqueue(q)
	}
	if op.Kind == machine.OpCancel {
		home.asks(op, op.PC)
	}
	if other, ok := op.Pair(); ok {
		t.visitPair(home, t.at(other), op, r.turn)
	}
	for _, ref := range op.Bars {
		b, owner := t.bar(ref)
		if r.turn.n != 0 && owner != nil && owner != home {
			t.visitStarted(home, owner, op.Warp, lane, op.PC, false) // of other operations the target says it
		}
		if b == nil {
			continue
		}
		r.bars = append(r.bars, opBar{ref: ref, slot: b.slot})
		t.usesBar(b, owner, home, op.Warp, lane, op.PC)
		b.committed(home, op, r.turn, t.cfg.Invals)
	}
	if op.Group != machine.NoGroup {
		q := w.queue(op.Lane, op.Group)
		q.list = append(q.list, i)
	}
	if r.mapSeq = op.MapSeq; r.mapSeq != 0 {
		// No other wait concerns these, so they may be forgotten (markQueue).
		q := w.queue(op.Lane, machine.NoGroup)
		q.list = append(q.list, i)
		q.read = len(q.list)
	}
	if op.Kind == machine.OpMbarArrive {
		w.queue(op.Lane, op.Tracks).arrives++
		if op.Tracks == machine.GroupTensor {
			r.knew = t.phasesKnown(home, w.group(int(op.Lane)))
			r.behind = issuedBy(home, w, op, lane)
		}
	}
	r.scope = reductionScope(op.Kind)
	if op.Kind == machine.OpBulkPrefetch || op.Kind == machine.OpMbarArrive {
		return
	}
	if op.Kind == machine.OpWgmma {
		t.issuePart(home, i, op, lane)
		return
	}
	t.enterOp(home, i, op, lane, nil)
}

// reductionScope returns the scope of the read-modify-writes of a reduction, 0 for
// other operations.
func reductionScope(k machine.OpKind) uint8 {
	switch k {
	case machine.OpBulkReduce:
		return uint8(machine.ScopeGPU)
	case machine.OpRedAsync:
		return uint8(machine.ScopeCluster)
	}
	return 0
}

// enterOp checks an operation's accesses against what its issuer knows, and
// enters them: from now on they may happen at any time until its completion
// is known. Given from, its issuer knows what it knew then.
func (t *Tracker) enterOp(home *cta, i int32, op *machine.Op, lane uint32, from *moment) {
	ac := t.begin(home, op.Warp)
	if from != nil {
		ac.as(&from.group)
		ac.moment, ac.all = from, t.teams.list[t.ops.recs[i].team-1].all
	} else {
		ac.as(t.issuers(ac.warp, lane))
	}
	ac.proxy, ac.lane = op.Proxy, lane
	ac.st = stamp{who: asOp | uint32(i), pc: op.PC, lanes: lane}
	t.alike.begin(op)
	if op.Map.Len != 0 {
		ac.write, ac.proxy, ac.settled = false, machine.TensorMap, 0
		ac.st.what, ac.st.shape = uint8(machine.Read)|mapRead, shapeOfLanes(byMask, opShift, 0)
		t.ops.recs[i].reads = appendMem(t.ops.recs[i].reads, op.Map.Mem)
		t.enterSpan(ac, op.Map)
		ac.proxy, ac.settled, ac.views[0] = op.Proxy, 0, nil
		t.alike.forget()
	}
	for _, s := range op.Reads {
		if s.Len == 0 {
			continue
		}
		ac.write, ac.proxy = false, proxyIn(op, s)
		ac.st.what, ac.st.shape = uint8(machine.Read), shapeOfLanes(byMask, opShift, 0)
		t.ops.recs[i].reads = appendMem(t.ops.recs[i].reads, s.Mem)
		t.enterSpan(ac, s)
	}
	t.alike.forget()
	for _, s := range op.Writes {
		if s.Len == 0 {
			continue
		}
		ac.write, ac.proxy = true, proxyIn(op, s)
		ac.st.what, ac.st.shape = uint8(machine.Write), shapeOfLanes(byMask, opShift, 0)
		if scope := t.ops.recs[i].scope; scope != 0 {
			ac.st.what |= uint8(machine.Update)
			ac.st.shape = shapeOfLanes(byMask, bits.TrailingZeros32(uint32(op.Element)), scope)
		}
		t.ops.recs[i].writes = appendMem(t.ops.recs[i].writes, s.Mem)
		t.enterSpan(ac, s)
	}
}

// proxyIn is the proxy of an operation's access. Tensor memory has one way to it.
func proxyIn(op *machine.Op, s machine.Span) machine.Proxy {
	if s.Mem.Kind() == machine.TensorMemory {
		return machine.Generic
	}
	return op.Proxy
}

// issuers returns the group whose knowledge an operation of those lanes starts from.
// An operation of a whole warp starts from the join over its lanes, which issue it
// together.
func (t *Tracker) issuers(w *warp, lanes uint32) *group {
	first := w.group(bits.TrailingZeros32(lanes))
	if lanes&^first.mask == 0 {
		return first
	}
	t.tmp.reset()
	for i := range w.groups {
		if w.groups[i].mask&lanes != 0 {
			t.tmp.unite(&w.groups[i].know)
		}
	}
	return &group{mask: lanes, know: t.tmp}
}

func appendMem(l []machine.MemID, m machine.MemID) []machine.MemID {
	for _, x := range l {
		if x == m {
			return l
		}
	}
	return append(l, m)
}

func (t *Tracker) enterSpan(ac *access, s machine.Span) {
	sh := &t.global
	if s.Mem != machine.Global {
		owner := t.at(s.Mem.CTA())
		if owner.index != ac.home.index {
			t.visitStarted(ac.home, owner, ac.wi, ac.lane, ac.st.pc, false)
		}
		if owner.ended {
			return
		}
		sh = owner.shadow(s.Mem)
	}
	if ac.mem != s.Mem || ac.proxy == machine.TensorMap || ac.views[0] == nil {
		ac.mem = s.Mem
		ac.lookThrough(s)
		t.alike.forget()
	}
	t.span(sh, ac, s.Addr, s.Len)
}

// opShift is the shift of an operation's accesses, which have no fixed width, but for
// the elements of a reduction.
const opShift = 7

var nothingKnown clock

// lookThrough selects the views of the operation's proxy for a span's memory: what
// its issuer was told, and which of the issuer's own accesses crossed. An access with
// views ignores the generic one.
func (ac *access) lookThrough(s machine.Span) {
	ac.views, ac.crossed = [3]*clock{&nothingKnown}, [3]*crossing{}
	switch {
	case ac.proxy == machine.TensorMap:
		ac.through(view{kind: mapAcquired, addr: s.Addr}, 1)
	case ac.proxy != machine.Async:
		ac.views[0] = nil
	case s.Mem == machine.Global:
		ac.through(view{kind: asyncGlobal}, 1)
	default:
		ac.through(view{kind: asyncShared}, 1)
		ac.through(view{kind: asyncIn, mem: s.Mem}, 2)
	}
}

func (ac *access) through(v view, i int) {
	ac.views[i] = ac.group.know.row(v)
	ac.crossed[i] = ac.warp.crossing(v)
	if ac.moment != nil {
		ac.crossed[i] = ac.moment.crossing(v)
	}
}

// passed returns the issuing lanes whose own accesses up to a time have passed a
// proxy fence of theirs.
func (ac *access) passed(time uint32) uint32 {
	lanes := uint32(0)
	for _, x := range ac.crossed {
		for m := ac.lane; x != nil && m != 0; m &= m - 1 {
			if x.upto[bits.TrailingZeros32(m)] >= time {
				lanes |= m & -m
			}
		}
	}
	return lanes
}

// relateOp is relate for an earlier access by an operation.
func (t *Tracker) relateOp(s *seg, ac *access, p *stamp, a, b int) relation {
	if p.who == ac.st.who || p.who == ac.settled && p.what == ac.settledWhat && ac.mem == ac.settledMem {
		return ordered // its own reads and writes, or known
	}
	r := &t.ops.recs[p.op()]
	if ac.mem.Kind() == machine.TensorMemory {
		return t.relateTensor(s, ac, p, r, a, b)
	}
	if ac.st.isOp() && ac.write && p.writes() && r.twin == t.ops.recs[ac.st.op()].twin {
		return morallyStrong // the same bytes, by lanes of one instruction: both are kept
	}
	k := &ac.group.know
	if t.opKnownTo(ac, p, &k.gen, 0) {
		rel := t.relateDone(ac, p, r, a, b)
		if rel == ordered && ac.st.isOp() {
			ac.settled, ac.settledWhat, ac.settledMem = p.who, p.what, ac.mem
		}
		return rel
	}
	lanes := ac.lanesIn(a, b)
	known := t.opKnownTo(ac, p, &k.gen, lanes)
	for i := range k.rows {
		known = known || k.rows[i].view.restrictedTo(ac.mem) && t.opKnownTo(ac, p, &k.rows[i].clk, lanes)
	}
	if ac.proxy == machine.Async {
		for _, v := range ac.views {
			known = known || v != nil && t.opKnownTo(ac, p, v, lanes)
		}
	}
	if known {
		return t.relateDone(ac, p, r, a, b)
	}
	if ac.st.strong() && p.strong() && t.strongOps(ac, p, r) {
		if t.cfg.Strong != nil && !ac.st.isOp() {
			t.cfg.Strong(Pair{Prior: p.pc, Cur: ac.st.pc, CTA: r.cta, Warp: r.warp, Async: true, At: machine.Span{Mem: ac.mem, Addr: ac.rowAddr + uint64(a), Len: uint64(b - a)}})
		}
		return morallyStrong
	}
	if why := t.opKnownTogether(ac, p, lanes); why != 0 {
		t.conflictTogether(ac, p, a, b, why|t.shape(ac, p, a))
		return racing
	}
	why := InFlight
	switch {
	case ac.st.strong() && p.strong() && t.strongScopes(ac, p, r):
		why = 0 // elements of different sizes
	case t.opKnownTo(ac, p, k.wide(), lanes):
		why = IfScopeWider
	case t.opKnownTo(ac, p, k.strong(), lanes):
		why = IfNotRelaxed
	case r.laneKnown(t, ac):
		why |= SameWarpLanes
	}
	if why&InFlight != 0 && t.issueKnown(r, ac, lanes) {
		why |= IssueKnown
	}
	at := a
	for x := a; x < b && !ac.st.isOp() && r.cta == ac.home.index && r.warp == ac.wi; x++ {
		if ac.lanesAt(x)&^r.lanes != 0 {
			at = x // not the issuer, who may know more
			break
		}
	}
	t.conflict(ac, p, at, b, why|t.shape(ac, p, at))
	return racing
}

// issueKnown reports whether an access is ordered after an operation's issue.
func (t *Tracker) issueKnown(r *opRec, ac *access, lanes uint32) bool {
	if r.cta == ac.home.index && r.warp == ac.wi && lanes&^r.lanes == 0 {
		return true
	}
	return t.knownLanes(&ac.group.know.gen, r.cta, r.warp, r.issued)&r.lanes != 0
}

// lanesIn returns the lanes that access any of bytes [a, b).
func (ac *access) lanesIn(a, b int) uint32 {
	lanes := ac.lanesAt(a)
	for x := a + 1; x < b && !ac.st.isOp(); x++ {
		lanes |= ac.lanesAt(x)
	}
	return lanes
}

// laneKnown reports whether the issuer waited, and the access is by its own warp.
func (r *opRec) laneKnown(t *Tracker, ac *access) bool {
	return (r.done != 0 || r.read != 0 && ac.write) && r.cta == ac.home.index && r.warp == ac.wi
}

// relateDone relates an access to an operation that it knows complete: only a proxy
// fence may still be missing. Completion acts as a proxy fence for the operation's
// own accesses, if they were asynchronous (ISA 9.7.9.25.2).
func (t *Tracker) relateDone(ac *access, p *stamp, r *opRec, a, b int) relation {
	if ac.proxy != machine.Async && ac.proxy != machine.TensorMap {
		return ordered
	}
	if r.proxy == machine.Async && ac.proxy == machine.Async && t.sameSide(ac, r) {
		return ordered
	}
	for _, v := range ac.views {
		if v != nil && t.opKnownTo(ac, p, v, 0) {
			return ordered
		}
	}
	if by := r.knownFrom(p); by != 0 && ac.passed(by) != 0 && r.byLane(ac) {
		return ordered
	}
	if ac.st.strong() && p.strong() && t.strongOps(ac, p, r) {
		return morallyStrong
	}
	if r.proxy == machine.Async && ac.proxy == machine.Async {
		t.conflict(ac, p, a, b, BothAsyncOtherCTA)
	} else {
		t.conflict(ac, p, a, b, IfProxyFence)
	}
	return racing
}

// sameSide reports whether two asynchronous operations need no proxy fence between
// them: they are of one CTA (ISA 8.9.3), or one is a copy between CTAs that signals a
// barrier of the CTA whose memory it writes, and the other is that CTA's own use of
// the memory.
func (t *Tracker) sameSide(ac *access, r *opRec) bool {
	if r.cta == ac.home.index || r.ownBarrier(ac.home.index) {
		return true
	}
	cur := &t.ops.recs[ac.st.op()]
	return ac.mem == machine.SharedOf(r.cta) && cur.ownBarrier(r.cta)
}

// ownBarrier reports whether the operation signals a barrier of that CTA: a
// multicast or distributed-shared copy that the CTA itself waits for.
func (r *opRec) ownBarrier(cta int32) bool {
	for i := range r.bars {
		if r.bars[i].ref.Mem.CTA() == cta {
			return true
		}
	}
	return false
}

// strongOps applies moral strength to a reduction's elements: each is a
// read-modify-write of its size (ISA 8.7).
func (t *Tracker) strongOps(ac *access, p *stamp, r *opRec) bool {
	return ac.st.shift() == p.shift() && t.strongScopes(ac, p, r)
}

// strongScopes reports whether a reduction and an access would be morally strong if
// they were of one size.
func (t *Tracker) strongScopes(ac *access, p *stamp, r *opRec) bool {
	need := uint8(t.needed(r.cta, ac.home.index))
	return r.proxy == ac.proxy && ac.st.scope() >= need && p.scope() >= need
}

// opKnownTo reports whether a clock, or the program order of the lanes in
// lanes, knows the accesses that a stamp of an operation stands for.
func (t *Tracker) opKnownTo(ac *access, p *stamp, c *clock, lanes uint32) bool {
	r := &t.ops.recs[p.op()]
	if by := r.knownFrom(p); by != 0 {
		if lanes != 0 && lanes&^r.lanes == 0 && r.cta == ac.home.index && r.warp == ac.wi {
			return true
		}
		if t.knownLanes(c, r.cta, r.warp, by)&r.lanes != 0 {
			return true
		}
	}
	if r.team != 0 {
		return t.teamKnownTo(ac, r, c, lanes)
	}
	return r.signalledTo(c, p.writes(), ac.mem)
}

// knownFrom is the time of the issuer's group wait that covers the accesses
// that a stamp stands for, 0 if there is none. Reads are covered from the first
// wait on, .read or not, whatever the issuer waited for after that.
func (r *opRec) knownFrom(p *stamp) uint32 {
	if p.what&mapRead != 0 && r.mapRead != 0 {
		return r.mapRead
	}
	return r.waited(p.writes())
}

// waited is the time of the issuer's group wait that covers what the operation
// read, or also what it wrote; 0 if there is none.
func (r *opRec) waited(writes bool) uint32 {
	if writes {
		return r.done
	}
	return r.read // a full wait sets it too
}

// byLane reports whether the access is an operation of the same issuer.
func (r *opRec) byLane(ac *access) bool {
	return r.cta == ac.home.index && r.warp == ac.wi && ac.lane&^r.lanes == 0
}

// signalledTo reports whether a clock knows the phases that the operation was charged
// to: for a write, that of the barrier in the memory written, or any if there is none
// there; for a read, all. For a cp.async, and for what tcgen05.commit tracks, any one
// suffices: each belongs to an arrive-on that followed it; and so does that a commit which
// follows it has arrived.
func (r *opRec) signalledTo(c *clock, write bool, mem machine.MemID) bool {
	if r.turn.knownTo(c) {
		return true
	}
	tracked := r.group == machine.GroupCpAsync || r.group == machine.GroupTensor
	if write || tracked {
		for i := range r.bars {
			if b := &r.bars[i]; b.ref.Mem == mem && !tracked {
				return b.knownTo(c)
			}
		}
		for i := range r.bars {
			if r.bars[i].knownTo(c) {
				return true
			}
		}
		return false
	}
	for i := range r.bars {
		if !r.bars[i].knownTo(c) {
			return false
		}
	}
	return len(r.bars) > 0
}

func (b *opBar) knownTo(c *clock) bool {
	return b.value != 0 && c.at(b.ref.Mem.CTA(), b.slot) >= b.value
}

// onMilestone records an operation's stage, and at its signal the phases charged.
func (t *Tracker) onMilestone(ev *machine.Event) {
	i, ok := t.ops.byID[ev.Op.ID]
	if !ok {
		return
	}
	r := &t.ops.recs[i]
	r.stage = ev.Op.Stage
	if ev.Kind != machine.EvSignal {
		return
	}
	for j := range r.bars {
		b, _ := t.bar(r.bars[j].ref)
		k := slices.Index(ev.Op.Bars, r.bars[j].ref) // not j, if a target had ended at the issue
		if b == nil || k < 0 {
			continue
		}
		phase := ev.Op.Phases[k]
		r.bars[j].value = b.value(phase)
		b.top = max(b.top, r.bars[j].value+1)
		t.signalHeard(b, phase, r)
		if r.kind == machine.OpMbarArrive {
			t.chargeCopies(r, r.bars[j])
		}
		if r.knew != nil {
			t.commits(r, b, phase, r.bars[j].ref)
		}
	}
	if r.kind == machine.OpCancel {
		t.at(r.cta).answers(r)
	}
	if r.kind == machine.OpMbarArrive {
		q := t.at(r.cta).warps[r.warp].queue(r.lane, r.tracks)
		if q.arrives--; q.arrives == 0 {
			q.waited = q.waited[:0]
		}
	}
}

// chargeCopies makes the operations that an arrive-on waited for known with the phase
// that it was charged to. Arrive-ons on several barriers may follow one operation, and
// be signalled in any order: the first phase of each barrier counts.
func (t *Tracker) chargeCopies(arrive *opRec, b opBar) {
	if arrive.tracks == machine.GroupTensor {
		t.bars(b).commits = true
	}
	q := t.at(arrive.cta).warps[arrive.warp].queue(arrive.lane, arrive.tracks)
	for _, list := range [][]int32{q.waited, q.list} {
		for _, i := range list {
			r := &t.ops.recs[i]
			if r.seq > arrive.after {
				continue
			}
			if r.turn.n == 0 {
				r.turn = arrive.turn
			}
			if !r.signals(b.ref) {
				r.bars = append(r.bars, b)
			}
		}
	}
	// A kernel that waits for barriers alone never empties the queue.
	for len(q.list) > 64 && len(t.ops.recs[q.list[0]].bars) > 0 {
		q.list = q.list[1:]
		q.read = max(q.read-1, 0)
	}
}

// signals reports whether the operation is known to signal a barrier.
func (r *opRec) signals(bar machine.BarRef) bool {
	for i := range r.bars {
		if r.bars[i].ref == bar {
			return true
		}
	}
	return false
}

func (t *Tracker) onGroupWait(ev *machine.Event) {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	if w.queues == nil {
		return
	}
	w.mark(ev.Mask)
	var last *team
	for m := ev.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if ev.Group == machine.GroupBulk {
			t.mapsRead(w, int8(l), ev.Done[l])
		}
		q := w.queue(int8(l), ev.Group)
		if ev.Read {
			for ; q.read < len(q.list) && t.ops.recs[q.list[q.read]].seq <= ev.Done[l]; q.read++ {
				t.ops.recs[q.list[q.read]].read = w.time
			}
			continue
		}
		n := 0
		for n < len(q.list) && t.ops.recs[q.list[n]].seq <= ev.Done[l] {
			r := &t.ops.recs[q.list[n]]
			r.done = w.time
			if r.read == 0 {
				r.read = w.time
			}
			if tm := t.waitedTogether(w, r); tm != nil {
				last = tm
			}
			n++
		}
		if q.arrives > 0 {
			q.waited = append(q.waited, q.list[:n]...)
			q.waited = q.waited[max(0, len(q.waited)-maxWaited):]
		}
		q.list = append(q.list[:0], q.list[n:]...)
		q.read = max(q.read-n, 0)
	}
	t.learnTogether(w, last)
}

// mapsRead notes that loads of a lane, up to a number, have read their maps.
func (t *Tracker) mapsRead(w *warp, lane int8, upto uint32) {
	q := w.queue(lane, machine.NoGroup)
	n := 0
	for n < len(q.list) && t.ops.recs[q.list[n]].mapSeq <= upto {
		t.ops.recs[q.list[n]].mapRead = w.time
		n++
	}
	q.list = append(q.list[:0], q.list[n:]...)
	q.read = len(q.list)
}

// sweepOps frees the records that no stamp names and whose completion is no
// longer open, once there may be many of them. Its cost is the shadow's size,
// so it waits for a number of operations in proportion.
func (t *Tracker) sweepOps() {
	o := &t.ops
	if o.next == 0 {
		o.next = 1024
	}
	if o.used < o.next {
		return
	}
	pages := t.markOps(&t.global)
	for _, c := range t.ctas {
		if c == nil {
			continue
		}
		pages += t.markOps(&c.shared) + t.markOps(&c.tensor)
		for w := range c.warps {
			for q := range c.warps[w].queues {
				t.markQueue(&c.warps[w].queues[q])
			}
		}
	}
	for i := range o.recs {
		r := &o.recs[i]
		if !r.used || r.marked || r.open() {
			r.marked = false
			continue
		}
		r.used = false
		t.teams.leave(r)
		delete(o.byID, r.id)
		o.free = append(o.free, int32(i))
		o.used--
	}
	o.next = max(1024, 2*o.used, pages)
}

// markQueue keeps what a later full wait may still complete, and lets go of
// what only .read waits ever covered, unless a stamp names it.
func (t *Tracker) markQueue(q *opQueue) {
	n := 0
	for n < q.read && !t.ops.recs[q.list[n]].marked {
		n++
	}
	if n > 0 {
		q.list = append(q.list[:0], q.list[n:]...)
		q.read -= n
	}
	for _, list := range [][]int32{q.waited, q.list} {
		for _, i := range list {
			t.ops.recs[i].marked = true
		}
	}
}

// open reports whether the operation may still touch memory, by the events that the
// Tracker observed.
func (r *opRec) open() bool {
	if r.done != 0 || r.read != 0 && r.stage >= machine.Written {
		return false
	}
	for i := range r.bars {
		if r.bars[i].value == 0 {
			return true
		}
	}
	return len(r.bars) == 0 && r.kind != machine.OpBulkPrefetch
}

func (t *Tracker) markOps(s *shadow) (pages int) {
	for _, p := range s.pages {
		for i := range p.rows {
			r := &p.rows[i]
			t.markSeg(&r.one)
			for j := range r.segs {
				t.markSeg(&r.segs[j])
			}
		}
	}
	return len(s.pages)
}

func (t *Tracker) markSeg(s *seg) {
	t.markStamp(&s.write)
	t.markStamp(&s.read)
	if s.more != nil {
		for i := range s.more.list {
			t.markStamp(&s.more.list[i])
		}
	}
}

func (t *Tracker) markStamp(s *stamp) {
	if s.isOp() {
		t.ops.recs[s.op()].marked = true
	}
}
