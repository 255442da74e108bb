package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// An access is the access being checked and entered: one set of lanes, or one
// operation, over any number of bytes.
type access struct {
	home  *cta
	warp  *warp
	wi    int32
	group *group
	own   []uint32 // the group's clock of its own CTA
	base  uint32   // the number (Tracker.who) of the CTA's warp 0
	warps uint32   // in the CTA
	st    stamp
	write bool
	mem   machine.MemID
	// Of an operation: its proxy's views of mem. An asynchronous access must know
	// every earlier conflicting access through one of them.
	proxy machine.Proxy
	views [3]*clock
	lane  uint32 // of an operation: its issuer's bit; of wgmma, the warp's bits
	// crossed: until when the issuer's own accesses passed its own proxy fences.
	crossed [3]*crossing
	// Of a part of a wgmma: what its issuer knew when it issued it, and what any of the
	// warpgroup's warps did.
	moment *moment
	all    *know
	// settled is an earlier operation, and its kind of access, that this operation
	// was found to follow in mem; the result holds at every byte.
	settled     uint32
	settledWhat uint8
	settledMem  machine.MemID
	// The address of the row being touched.
	rowAddr uint64
	// from is the byte of the row from which on the access is related to an earlier one.
	from int
	// half: the first dealloc of a pair, whose second is checked against the same.
	half bool
	// loose: see Tracker.loosely.
	loose bool
}

func (t *Tracker) who(c, w int32) uint32 { return uint32(c)*uint32(t.cfg.Warps) + uint32(w) + 1 }

// begin resets the scratch access and fills in the fields of the warp.
func (t *Tracker) begin(c *cta, w int32) *access {
	ac := &t.ac
	ac.home, ac.wi, ac.warp = c, w, &c.warps[w]
	ac.base, ac.warps = t.who(c.index, 0), uint32(t.cfg.Warps)
	ac.proxy = machine.Generic
	ac.views = [3]*clock{}
	ac.lane, ac.crossed = 0, [3]*crossing{}
	ac.moment, ac.all = nil, nil
	ac.settled, ac.half, ac.loose = 0, false, false
	ac.st = stamp{who: t.who(c.index, w), time: ac.warp.time}
	return ac
}

func (ac *access) as(g *group) {
	ac.group = g
	ac.own = g.know.gen.vec(ac.home.index)
}

func strength(sem machine.Sem, scope machine.Scope) uint8 {
	switch sem {
	case machine.Weak:
		return 0
	case machine.Volatile:
		return uint8(machine.ScopeSys) // ISA 8.4.2
	case machine.MMIO:
		if scope == machine.NoScope {
			return uint8(machine.ScopeSys)
		}
	}
	return uint8(max(scope, machine.ScopeCTA))
}

func (t *Tracker) onAccess(ev *machine.Event) {
	c := t.ctas[ev.CTA]
	if c == nil || c.owner != t.id {
		c = t.at(ev.CTA)
	}
	ac := t.begin(c, ev.Warp)
	w := ac.warp
	w.dirty = true
	w.touched |= ev.Mask
	ac.mem = ev.Mem
	ac.write = ev.Access&machine.Write != 0
	ac.st.pc = ev.PC
	ac.st.what = uint8(ev.Access)
	ac.st.shape = shapeOfLanes(byRun, bits.TrailingZeros32(uint32(ev.Size)), strength(ev.Sem, ev.Scope))
	if ac.write && !ac.st.strong() && !t.cfg.MustOnly {
		ac.st.turn, ac.st.root = 1, 1
	}
	ac.loose = ac.st.strong() && t.loosely(ev)
	if ev.Proxy == machine.Constant {
		ac.proxy = machine.Constant
		ac.st.what |= constantRead
	}
	sh := t.shadowOf(ev)
	if sh == nil {
		return
	}
	if ev.Whole > 0 {
		w.beginVector(ev)
		w.begun = false
		ac.st.time = w.time
		w.dirty = true
	}
	if acquires(ev.Sem) && ev.Whole == 0 && !t.cfg.MustOnly && (len(t.locs.m) > 0 || len(w.pending.list) > 0) {
		t.acquireFirst(c, ev)
	}
	if t.cfg.Locks != nil && t.cfg.Locks.Guards != nil && ev.Mem == machine.Global {
		sh = t.guards(ac, ev, sh)
	}
	if ev.Row && len(w.groups) == 1 {
		ac.as(&w.groups[0])
		t.run(sh, ac, 0, 32, ev.Addr[0])
	} else {
		for i := range w.groups {
			if m := w.groups[i].mask & ev.Mask; m != 0 {
				ac.as(&w.groups[i])
				t.runs(sh, ac, ev, m)
			}
		}
	}
	if ac.st.strong() {
		t.strongAccess(c, ev)
	} else if len(t.over) > 0 {
		t.passedWeakly(c, ev)
	}
	if len(t.over) > 0 {
		t.over = t.over[:0]
	}
}

// shadowOf returns the shadow of the event's memory, nil if that is gone.
func (t *Tracker) shadowOf(ev *machine.Event) *shadow {
	if ev.Mem == machine.Global {
		return &t.global
	}
	if ev.Mem == machine.SharedOf(ev.CTA) {
		return &t.ctas[ev.CTA].shared
	}
	owner := t.at(ev.Mem.CTA())
	t.visit(t.ctas[ev.CTA], owner, ev.Warp, ev.Mask, ev.PC, 0, 0)
	if owner.ended {
		return nil
	}
	return &owner.shared
}

// runs splits the lanes in mask into runs over consecutive bytes and sets of lanes at
// one address.
func (t *Tracker) runs(sh *shadow, ac *access, ev *machine.Event, mask uint32) {
	size := uint64(ev.Size)
	for mask != 0 {
		l := bits.TrailingZeros32(mask)
		addr := ev.Addr[l]
		n := 1
		for l+n < 32 && mask>>(l+n)&1 != 0 && ev.Addr[l+n] == addr+uint64(n)*size {
			n++
		}
		if n > 1 {
			mask &^= (1<<n - 1) << l
			t.run(sh, ac, l, n, addr)
			continue
		}
		same := uint32(0)
		for m := mask; m != 0 && ev.Addr[bits.TrailingZeros32(m)] == addr; m &= m - 1 {
			same |= m & -m
		}
		mask &^= same
		t.together(sh, ac, same, addr, size)
	}
}

// run touches the bytes of n consecutive lanes.
func (t *Tracker) run(sh *shadow, ac *access, first, n int, addr uint64) {
	ac.st.shape &^= byMask
	end := addr + uint64(n)<<ac.st.shift()
	for at := addr &^ (rowBytes - 1); at < end; at += rowBytes {
		ac.rowAddr = at
		ac.st.lanes = uint32(int32(first) + int32((int64(at)-int64(addr))>>ac.st.shift()))
		a, b := 0, rowBytes
		if at < addr {
			a = int(addr - at)
		}
		if at+rowBytes > end {
			b = int(end - at)
		}
		t.touchRow(sh.row(t.id, at), ac, a, b)
	}
}

// together touches bytes that all lanes in mask access.
func (t *Tracker) together(sh *shadow, ac *access, mask uint32, addr, size uint64) {
	ac.st.shape, ac.st.lanes = ac.st.shape|byMask, mask
	if ac.write && !ac.st.strong() && mask&(mask-1) != 0 {
		t.sameInstruction(ac, addr, size)
	}
	t.span(sh, ac, addr, size)
}

// span touches any range with the access's stamp as it is.
func (t *Tracker) span(sh *shadow, ac *access, addr, n uint64) {
	end := addr + n
	for at := addr &^ (rowBytes - 1); at < end; at += rowBytes {
		ac.rowAddr = at
		a, b := 0, rowBytes
		if at < addr {
			a = int(addr - at)
		}
		if at+rowBytes > end {
			b = int(end - at)
		}
		t.touchRow(sh.row(t.id, at), ac, a, b)
	}
}

func (t *Tracker) touchRow(r *row, ac *access, a, b int) {
	if t.rereadRow(r, ac, a, b) {
		return
	}
	if r.guarded != 0 {
		t.touchGuarded(ac, a, b)
	}
	if r.syncs && ac.write && !t.cfg.AllVersions {
		t.cutLocations(ac, a, b)
	}
	if len(r.segs) == 0 && a == 0 && b == rowBytes {
		t.touch(&r.one, ac, 0, rowBytes)
		return
	}
	segs, first := r.cover(a, b)
	for i := range segs {
		s := &segs[i]
		t.touch(s, ac, int(s.off), int(s.off)+int(s.n))
	}
	r.fuse(first, first+len(segs))
}

// touch checks an access against one segment, which it covers, and enters it.
func (t *Tracker) touch(s *seg, ac *access, a, b int) {
	if t.cfg.Pairs != nil {
		t.cfg.Pairs.meet(s, ac, a, b)
	}
	if ac.st.isOp() && !ac.st.strong() {
		t.touchByOp(s, ac, a, b)
		return
	}
	t.touchNew(s, ac, a, b)
}

func (t *Tracker) touchNew(s *seg, ac *access, a, b int) {
	if !ac.write {
		if s.write.who != 0 && !ac.follows(&s.write) && t.relate(s, ac, &s.write, a, b) == racing {
			t.sawRacing(s, ac, &s.write, a, b)
		}
		if s.more != nil && s.more.writes {
			t.checkSet(s, ac, a, b)
		}
		t.enterRead(s, ac)
		return
	}
	if t.keepsAll(ac) {
		t.touchEqual(s, ac, a, b)
		return
	}
	t.buf, t.gone, t.raced = t.buf[:0], t.gone[:0], false
	if s.write.who != 0 {
		t.hold(s, ac, &s.write, a, b)
	}
	if s.read.who != 0 {
		t.hold(s, ac, &s.read, a, b)
	}
	if s.more != nil {
		for i := range s.more.list {
			t.hold(s, ac, &s.more.list[i], a, b)
		}
		t.freeSet(s.more)
		s.more = nil
	}
	if ac.st.strong() && !t.cfg.MustOnly {
		t.number(ac, &s.write)
	}
	kept := t.buf
	s.write, s.read = ac.st, stamp{}
	for i := range kept {
		kept[i].what &^= current
		t.keep(s, ac, &kept[i])
	}
}

// hold checks a write against p: p goes to t.buf if it outlives the write, to t.gone
// if only what it observed may still count.
func (t *Tracker) hold(s *seg, ac *access, p *stamp, a, b int) {
	switch {
	case p.what&observer == 0 && t.outlives(s, ac, p, a, b):
		t.buf = append(t.buf, *p)
	case p.turn != 0 && p.strong() && ac.st.strong():
		t.gone = append(t.gone, *p)
	}
}

func (t *Tracker) newSet() *stampSet {
	n := len(t.set)
	if n == 0 {
		return new(stampSet)
	}
	s := t.set[n-1]
	t.set = t.set[:n-1]
	return s
}

// freeSet keeps a set of this Tracker's own pages for reuse, if it is small.
func (t *Tracker) freeSet(s *stampSet) {
	if len(t.set) < 256 && cap(s.list) <= 64 && !s.shared {
		s.list, s.writes = s.list[:0], false
		t.set = append(t.set, s)
	}
}

// outlives checks a write against an earlier access p and reports whether p must be
// kept beside it: p is unordered but morally strong with it, or a later strong access
// may race with p but not with the write, which is strong.
func (t *Tracker) outlives(s *seg, ac *access, p *stamp, a, b int) bool {
	if ac.follows(p) {
		return ac.half || ac.st.strong() && !t.speaksFor(ac, p)
	}
	if ac.half {
		t.relate(s, ac, p, a, b)
		return true
	}
	switch how := t.relate(s, ac, p, a, b); how {
	case morallyStrong:
		if t.fenced {
			t.unseenBy(s, ac, p, a, b, how)
		}
		return true
	case inferred:
		if t.fenced {
			t.unseenBy(s, ac, p, a, b, how)
		}
		fallthrough
	case ordered:
		return ac.st.strong() && !t.speaksFor(ac, p)
	}
	t.overRace(s, ac, p, a, b)
	return false
}

// overRace records what a write learns of fence.sc from an access that it races with.
func (t *Tracker) overRace(s *seg, ac *access, p *stamp, a, b int) {
	if p == &s.write {
		t.raced = true
		if ac.st.what&uint8(machine.Read) != 0 {
			t.sawRacing(s, ac, p, a, b)
		}
	}
	if t.fenced {
		t.unseenBy(s, ac, p, a, b, racing)
	}
}

// speaksFor reports whether the accesses morally strong with a strong write are those
// morally strong with p, an earlier one: p has the same scope, width and proxy. An
// access of another CTA fails, since some accesses need a wider scope with it; but
// all accesses of the asynchronous proxy have one scope.
func (t *Tracker) speaksFor(ac *access, p *stamp) bool {
	if p.scope() != ac.st.scope() || p.shift() != ac.st.shift() {
		return false
	}
	if !p.isOp() {
		return p.who-ac.base < ac.warps
	}
	r := &t.ops.recs[p.op()]
	return r.proxy == ac.proxy && (ac.proxy == machine.Async || r.cta == ac.home.index)
}

// keep adds p, which the new write does not follow, to the segment's set, unless the
// write supersedes it.
func (t *Tracker) keep(s *seg, ac *access, p *stamp) {
	if t.supersedes(&ac.st, p) {
		return
	}
	if s.more == nil {
		s.more = t.newSet()
	}
	t.add(s.more, p)
}

// follows is the fast path of ordered, for generic accesses within a CTA: the group
// knows all lanes of the other warp at that time, or each lane follows its own access
// in program order.
func (ac *access) follows(p *stamp) bool {
	if ac.views[0] != nil || ac.proxy != machine.Generic {
		return false
	}
	i := p.who - ac.base
	if i >= ac.warps {
		return false
	}
	if ac.own[1+i] >= p.time {
		return true
	}
	return p.who == ac.st.who && p.lanes == ac.st.lanes && p.layout() == ac.st.layout() && !p.byMask()
}

func (t *Tracker) checkSet(s *seg, ac *access, a, b int) {
	for i := range s.more.list {
		if p := &s.more.list[i]; p.writes() && p.what&observer == 0 && !ac.follows(p) {
			t.relate(s, ac, p, a, b)
		}
	}
}

// enterRead adds a read, replacing earlier reads of the same lanes and those that it
// is ordered after: a clock that knows the new read knows them.
func (t *Tracker) enterRead(s *seg, ac *access) {
	if ac.st.strong() && !t.cfg.MustOnly {
		t.sees(ac, &s.write)
	}
	r := &s.read
	if r.who == 0 || t.supersedes(&ac.st, r) || t.replaces(ac, r) {
		*r = ac.st
		return
	}
	if *r == ac.st {
		return
	}
	old := s.more
	if old == nil || old.shared {
		s.more = t.newSet()
	}
	if old != nil && len(old.list) <= 8 {
		out := s.more.list[:0]
		for i := range old.list {
			if p := old.list[i]; p.writes() || !t.replaces(ac, &p) {
				out = append(out, p)
			}
		}
		s.more.list, s.more.writes = out, old.writes
	} else if old != s.more && old != nil {
		s.more.list, s.more.writes = append(s.more.list[:0], old.list...), old.writes
	}
	t.add(s.more, &ac.st)
}

func (t *Tracker) replaces(ac *access, r *stamp) bool {
	if r.what&constantRead != 0 || ac.proxy == machine.Constant || ac.st.strong() {
		return false // a strong read does not stand for a weak one
	}
	if r.turn != 0 && r.strong() {
		return false // nor a weak one for what that observed
	}
	if ac.st.isOp() {
		if !t.standsFor(&ac.st, r) {
			return false
		}
		return r.isOp() && t.opKnownTo(ac, r, &ac.group.know.gen, ac.lane) && t.completesWith(ac, r)
	}
	if i := r.who - ac.base; i < ac.warps {
		return ac.own[1+i] >= r.time
	}
	if r.isOp() {
		return t.opKnownTo(ac, r, &ac.group.know.gen, 0)
	}
	owner, w := t.split(r.who)
	return t.knownLanes(&ac.group.know.gen, owner, w, r.time) == ^uint32(0)
}

// completesWith reports whether an agent that knows the current operation complete
// also knows p complete, which the issuer knew, without another fence. Completion is
// not transitive (ISA 8.9.1.1), but group waits follow program order, and phases of a
// barrier are ordered. A cp.async may complete by a group or on a barrier: that shows
// later.
func (t *Tracker) completesWith(ac *access, p *stamp) bool {
	cur, old := &t.ops.recs[ac.st.op()], &t.ops.recs[p.op()]
	if cur.team != 0 && (old.team == 0 || old.warp/machine.WarpgroupSize != cur.warp/machine.WarpgroupSize) {
		return false // another warp's wait shows that cur has read
	}
	if cur.cta != old.cta || cur.kind == machine.OpCpAsync {
		return false
	}
	return len(cur.bars) == 0 || slices.EqualFunc(cur.bars, old.bars, func(a, b opBar) bool { return a.ref == b.ref })
}

// split decodes a warp's number (Tracker.who) into CTA and warp.
func (t *Tracker) split(who uint32) (cta, w int32) {
	n := uint32(t.cfg.Warps)
	return int32((who - 1) / n), int32((who - 1) % n)
}
