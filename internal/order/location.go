package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// A location is where a release and an acquire may meet: the same bytes,
// exactly (complete overlap, ISA 8.2.1).
type location struct {
	mem  machine.MemID
	addr uint64
	size int32
}

// A locState is what a location hands to a strong read that sees its last write: the
// contributions of the release pattern that the write ends, and of those before it
// through an unbroken chain of read-modify-writes. over holds what the write, and
// those before it in coherence order, learned of accesses that did not see them.
type locState struct {
	loc location
	// With Config.Executions:
	name machine.Version
	versionOf
	set    relSet
	over   []lesson
	writer int32 // CTA of the last write
	scope  machine.Scope
	// round is that of the last write, by Config.Round, and kept the state before the round's
	// first; nil before round 1. What kept points to does not change.
	round int
	kept  *locState
}

// keep begins another round.
func (s *locState) keep(round int) {
	old := *s
	old.set, old.over, old.kept = s.set.clone(), slices.Clone(s.over), nil
	s.round, s.kept = round, &old
}

// A locTable finds locations by 16-byte granule, the widest access.
type locTable struct {
	owner *identity
	m     map[granule][]locState
	lax   int // locations that hold relaxed contributions alone
}

type granule struct {
	mem machine.MemID
	n   uint64
}

// nobody matches no warp's number.
const nobody = -1

// maxLax bounds the locations that are kept for diagnosis alone.
const maxLax = 512

func (l *location) granule() granule { return granule{l.mem, l.addr / 16} }

func (l *location) overlaps(addr, n uint64) bool {
	return l.addr < addr+n && addr < l.addr+uint64(l.size)
}

func (l *locTable) clone() locTable { return *l }

// writeLocs returns the table for writing, copied if it is not this Tracker's own.
func (t *Tracker) writeLocs() *locTable {
	l := &t.locs
	if l.owner == t.id && l.m != nil {
		return l
	}
	m := make(map[granule][]locState, len(l.m))
	for g, list := range l.m {
		d := append([]locState(nil), list...)
		for i := range d {
			d[i].set = list[i].set.clone()
			d[i].over = slices.Clone(list[i].over) // what they say does not change
			d[i].seen = slices.Clone(list[i].seen)
		}
		m[g] = d
	}
	l.owner, l.m = t.id, m
	return l
}

// find returns a location's state, nil if it holds nothing.
func (l *locTable) find(loc location) *locState {
	list := l.m[loc.granule()]
	for i := range list {
		if list[i].loc == loc {
			return &list[i]
		}
	}
	return nil
}

// strongAccess synchronizes through memory, lane by lane: the schedule orders
// the lanes of one atomic instruction, and each passes on what the lanes before
// it did.
func (t *Tracker) strongAccess(c *cta, ev *machine.Event) {
	if ev.Proxy != machine.Generic {
		return
	}
	scope := machine.Scope(t.ac.st.scope())
	if t.cfg.MustOnly {
		t.mustAccess(c, ev, scope)
		return
	}
	if ev.Whole > 0 && ev.Access&machine.Read != 0 {
		t.readVector(c, ev, scope)
	}
	for m := ev.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		loc := location{ev.Mem, ev.Addr[l], ev.Size}
		if ev.Access&machine.Read != 0 && ev.Whole == 0 {
			what := everything
			if ev.Access&machine.Write == 0 || ev.Mask&(ev.Mask-1) == 0 {
				what = rest
			}
			t.readLocation(c, ev, l, loc, scope, what)
		}
		if ev.Access&machine.Write != 0 {
			t.writeLocation(c, ev, l, loc, scope)
		}
	}
}

// readVector reads the locations of all elements when a vector access's last one
// comes.
func (t *Tracker) readVector(c *cta, ev *machine.Event, scope machine.Scope) {
	if ev.Part+ev.Size < ev.Whole {
		return
	}
	for m := ev.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for part := int32(0); part < ev.Whole; part += ev.Size {
			t.readLocation(c, ev, l, location{ev.Mem, ev.Addr[l] - uint64(ev.Part-part), ev.Size}, scope, everything)
		}
	}
}

// mustAccess is strongAccess for MustOnly: no lane of an instruction has seen what
// another lane of it did, and an operation of Config.Looks releases nothing of its
// own.
func (t *Tracker) mustAccess(c *cta, ev *machine.Event, scope machine.Scope) {
	if t.cfg.Locks != nil && ev.Mask&(ev.Mask-1) == 0 && ev.Whole == 0 {
		if l := bits.TrailingZeros32(ev.Mask); t.lockWord(c, ev, l, location{ev.Mem, ev.Addr[l], ev.Size}, scope) {
			return
		}
	}
	if ev.Access&machine.Read != 0 && t.cfg.Ends != nil && ev.Whole == 0 {
		for m := ev.Mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); t.cfg.Ends(t.mem, ev, l) {
				t.readRound(c, ev, l, location{ev.Mem, ev.Addr[l], ev.Size}, scope)
			}
		}
	}
	if ev.Access&machine.Write == 0 {
		return
	}
	looks := t.cfg.Looks != nil && t.cfg.Looks(ev.PC)
	for m := ev.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		loc := location{ev.Mem, ev.Addr[l], ev.Size}
		if !looks {
			round := 0
			if t.cfg.Round != nil {
				round, _ = t.cfg.Round(ev, l)
			}
			if s := t.locs.find(loc); s != nil && s.round < round {
				t.writeLocs().find(loc).keep(round)
			}
			t.writeLocation(c, ev, l, loc, scope)
			if s := t.locs.find(loc); s != nil && s.round < round { // of earlier rounds nothing is kept
				s.round, s.kept = round, &locState{loc: loc}
			}
		} else if s := t.locs.find(loc); s != nil {
			t.chain(t.writeLocs().find(loc), c.index, scope)
		}
	}
}

// readRound is readLocation for a read that ends a wait; one for a round of a counter sees
// nothing of the next.
func (t *Tracker) readRound(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope) {
	round, ok := 0, false
	if t.cfg.Round != nil {
		round, ok = t.cfg.Round(ev, lane)
	}
	if ok && ev.Access&machine.Write != 0 {
		round-- // an update sees what was there before its own round
	}
	if !ok {
		t.readLocation(c, ev, lane, loc, scope, everything)
		return
	}
	switch s := t.locs.find(loc); {
	case s == nil:
	case s.round == round:
		t.readLocation(c, ev, lane, loc, scope, everything)
	case s.round == round+1 && s.kept != nil:
		old := *s.kept
		old.set, old.over = old.set.clone(), slices.Clone(old.over)
		t.readState(c, ev, lane, loc, scope, everything, &old)
	}
}

func acquires(s machine.Sem) bool {
	return s == machine.Acquire || s == machine.AcqRel || s == machine.SC
}

func releases(s machine.Sem) bool {
	return s == machine.Release || s == machine.AcqRel || s == machine.SC
}

// acquireFirst applies what an acquire operation synchronizes with before the
// operation itself is checked: it is the last operation of its pattern, and what
// precedes the first of the release pattern precedes it too (ISA 8.9.4, 8.9.5).
func (t *Tracker) acquireFirst(c *cta, ev *machine.Event) {
	scope := machine.Scope(t.ac.st.scope())
	for m := ev.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		loc := location{ev.Mem, ev.Addr[l], ev.Size}
		t.readLocation(c, ev, l, loc, scope, acquired)
		if len(c.warps[ev.Warp].pending.list) > 0 {
			t.acquireEarlier(&acquirer{home: c, warp: ev.Warp, mask: 1 << l, pc: ev.PC, scope: scope}, loc)
		}
	}
}

// A share selects part of what a strong read sees: what an acquire operation
// acquires, or the rest.
type share uint8

const (
	everything share = iota
	acquired
	rest
)

// readLocation lets a lane see what its strong read's writer released: an acquire
// knows it at once, another read only after a later fence.
func (t *Tracker) readLocation(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope, what share) {
	if len(t.locs.m) == 0 {
		return
	}
	find := t.locs.find
	if t.cfg.Executions {
		find = func(l location) *locState { return t.locs.version(l, ev, lane) }
	}
	s := find(loc)
	if s == nil {
		return
	}
	if t.locs.owner != t.id {
		t.writeLocs()
		s = find(loc)
	}
	t.readState(c, ev, lane, loc, scope, what, s)
}

// readState is readLocation for a state of the location.
func (t *Tracker) readState(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope, what share, s *locState) {
	a := acquirer{home: c, warp: ev.Warp, mask: 1 << lane, pc: ev.PC, scope: scope}
	need := t.needed(s.writer, c.index)
	heard := s.scope >= need && scope >= need // reads-from by morally strong operations
	if heard && t.cfg.Executions && what != acquired {
		t.sights(s, lane)
	}
	if heard && what != acquired {
		for i := range s.over {
			w := &c.warps[ev.Warp]
			w.learn(w.group(lane), 1<<lane, s.over[i].view, &s.over[i].clk)
		}
	}
	for i := range s.set.list {
		e := &s.set.list[i]
		if e.link == idle {
			continue
		}
		seen := *e
		if !heard || e.link == narrow {
			seen.scope = machine.NoScope
		}
		if !acquires(ev.Sem) || e.async {
			later := a
			later.scope = machine.ScopeSys // it is the later fence whose scope must reach
			t.see(&seen, &later, loc)
			continue
		}
		if what == everything || (what == acquired) == (!e.relaxed && t.reaches(&seen, c.index, scope, false) == reached) {
			t.acquire(&seen, &a)
		}
	}
}

// acquireEarlier completes strong reads of the same location before an
// acquire operation (ISA 8.8, second acquire pattern).
func (t *Tracker) acquireEarlier(a *acquirer, loc location) {
	w := &a.home.warps[a.warp]
	for i := range w.pending.list {
		if e := &w.pending.list[i]; e.loc == loc && e.lanes&a.mask != 0 && !e.relaxed && !e.async {
			b := *a
			b.mask &= e.lanes
			t.acquire(e, &b)
		}
	}
}

// writeLocation makes a lane's strong write the one that later reads see.
func (t *Tracker) writeLocation(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope) {
	if t.cfg.Executions {
		t.writeState(c, ev, lane, scope, t.newVersion(ev, lane, loc))
		return
	}
	w := &c.warps[ev.Warp]
	lax := !releases(ev.Sem) && !w.fencedBy(1<<lane)
	s := t.locs.find(loc)
	if s == nil && lax && t.locs.lax >= maxLax {
		return
	}
	if t.locs.owner != t.id || s == nil {
		if tab := t.writeLocs(); s != nil {
			s = tab.find(loc)
		} else {
			s = t.newLocation(tab, loc)
			if lax {
				tab.lax++
			}
		}
	}
	t.writeState(c, ev, lane, scope, s)
}

// writeState makes the state of a location that of a lane's strong write.
func (t *Tracker) writeState(c *cta, ev *machine.Event, lane int, scope machine.Scope, s *locState) {
	w := &c.warps[ev.Warp]
	rmw := ev.Access&machine.Update != 0
	who := int32(t.who(c.index, ev.Warp))
	if rmw {
		t.chain(s, c.index, scope)
	} else {
		s.set.cut(who, 1<<lane)
	}
	if len(s.over)+len(t.over) > 0 {
		t.passed(w, s, lane)
	}
	s.set.resume(who, 1<<lane)
	s.writer, s.scope = c.index, scope
	k := contrib{cta: c.index, scope: scope, pc: ev.PC, relaxed: !releases(ev.Sem)}
	k.began = !k.relaxed
	if !rmw || k.began {
		k.warp, k.lanes = who, 1<<lane
	}
	t.contribute(&s.set, &k, c, ev.Warp, 1<<lane)
	// In a fence's pattern the write is only a link to the next reader: its own scope
	// need not reach the acquirer. See readLocation and chain.
	beyond := machine.NoScope
	if k.began {
		beyond = scope
	}
	k.began, k.scope = false, machine.ScopeSys
	t.handOn(&s.set, &k, c, ev.Warp, 1<<lane, beyond)
}

func (w *warp) fencedBy(lane uint32) bool {
	for i := range w.fenced {
		if w.fenced[i].lanes&lane != 0 {
			return true
		}
	}
	return false
}

// newLocation adds a location and marks the rows that it lies in.
func (t *Tracker) newLocation(tab *locTable, loc location) *locState {
	g := loc.granule()
	tab.m[g] = append(tab.m[g], locState{loc: loc})
	if sh := t.shadowIn(loc.mem); sh != nil {
		sh.row(t.id, loc.addr).syncs = true
	}
	list := tab.m[g]
	return &list[len(list)-1]
}

func (t *Tracker) shadowIn(mem machine.MemID) *shadow {
	if mem == machine.Global {
		return &t.global
	}
	if c := t.at(mem.CTA()); !c.ended {
		return &c.shared
	}
	return nil
}

// chain lets contributions pass through a read-modify-write: it reads the
// write before it, which makes a link only if the two are morally strong.
func (t *Tracker) chain(s *locState, cta int32, scope machine.Scope) {
	need := t.needed(s.writer, cta)
	if s.scope >= need && scope >= need {
		return
	}
	for i := range s.set.list {
		if e := &s.set.list[i]; e.link == whole {
			e.link = narrow
		}
	}
}

// cut removes the contributions that a plain strong store ends: all except those of
// the same lane's stores to the location. One begun by a release operation of the
// location stays, idle, until the next strong write of its lane.
func (r *relSet) cut(who int32, lane uint32) {
	for i := 0; i < len(r.list); i++ {
		switch e := &r.list[i]; {
		case e.warp == who && e.lanes == lane:
		case e.began:
			e.link = idle
		default:
			r.remove(i)
			i--
		}
	}
}

// resume lets a lane's strong write hand on what its release operations of the
// location began, whatever others wrote since (ISA 8.8, second release
// pattern).
func (r *relSet) resume(who int32, lane uint32) {
	for i := range r.list {
		if e := &r.list[i]; e.began && e.warp == who && e.lanes == lane {
			e.link = whole
		}
	}
}

// cutLocations cuts the contributions of the locations that a write overlaps, except
// for a strong write of exactly that location: a reader of this write does not read
// what they released. A location at which no release operation began is forgotten.
func (t *Tracker) cutLocations(ac *access, a, b int) {
	lo, hi := ac.rowAddr+uint64(a), ac.rowAddr+uint64(b)
	for at := lo &^ 15; at < hi; at += 16 {
		g := granule{ac.mem, at / 16}
		list := t.locs.m[g]
		for i := 0; i < len(list); i++ {
			l := &list[i].loc
			if !l.overlaps(lo, hi-lo) || t.isAt(ac, l) {
				continue
			}
			tab := t.writeLocs()
			list = tab.m[g]
			list[i].over = list[i].over[:0]
			lax := list[i].set.relaxedOnly()
			if list[i].set.cut(nobody, 0); len(list[i].set.list) > 0 {
				continue
			}
			if lax {
				tab.lax--
			}
			list[i] = list[len(list)-1]
			list = list[:len(list)-1]
			tab.m[g] = list
			if len(list) == 0 {
				delete(tab.m, g)
			}
			i--
		}
	}
}

// isAt reports whether a strong access has a lane exactly at a location.
func (t *Tracker) isAt(ac *access, l *location) bool {
	if !ac.st.strong() || ac.st.isOp() || int32(1)<<ac.st.shift() != l.size {
		return false
	}
	return true // naturally aligned, of equal size, and overlapping: the same
}

func (r *relSet) relaxedOnly() bool {
	for i := range r.list {
		if !r.list[i].relaxed {
			return false
		}
	}
	return true
}
