package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Locks, with MustOnly. Threads hold a lock one after the other, in an order that the schedule
// decides: what one hands on to the next is in no order that every schedule has. But it is enough
// for what the lock guards. A Tracker that is given Locks takes each access to guarded bytes for one
// to bytes of that section alone, and shows whether it is covered: it follows the acquisition of
// the lock, by what the acquisition synchronizes with whoever gave the lock, and the release hands
// it on. Then two such accesses in two sections of one lock are in order in every schedule, whichever
// section comes first.
//
// An acquisition is covered by a token: it is as if whoever gave the lock before had handed the token
// on, by the same instructions as all do (Hand), and nothing else.

// A LockOp is what an access to the word of a lock is.
type LockOp uint8

const (
	// NoLock: the access is none of a lock's.
	NoLock LockOp = iota
	// LockTried: it leaves the lock as it is.
	LockTried
	// LockTaken: the lane has the lock from now on.
	LockTaken
	// LockGiven: the lane gives the lock.
	LockGiven
)

// Locks are the locks of a run.
type Locks struct {
	// Op says what an access is, and to which section it belongs.
	Op func(ev *machine.Event, lane int) (op LockOp, section int)
	// Guards returns the section of whoever accesses bytes that a lock guards; inside: there is one
	// that is open. Nil: no bytes are guarded.
	Guards func(cta int32, addr, n uint64) (section int, guarded, inside bool)
	// Lock names the lock of a section.
	Lock func(section int) int
	// Raced is called with bytes at which accesses are in no order.
	Raced func(machine.Span)
	// Hands has what the sections of each lock hand on, from another run; nil: nothing is known.
	Hands map[int]Hand

	given    map[int]Hand
	sections map[int]*lockSection
	covered  map[int]uint32 // by lock: the parts of its Hand that cover all accesses
	bad      bool
}

// A Hand is how a lock is given: by contributions of these kinds, of which each may say what
// fence.sc passed, too (fencesc.go). Each of both is a part, and what it hands on is told apart.
type Hand struct {
	kinds []contrib // without knowledge
	sc    [][]view  // of each kind: what its views of that are
	scope machine.Scope
}

// scPart is the part of what fence.sc passed.
func scPart(kind int) int { return maxHands + kind }

// A lockSection is what a thread does while it has a lock.
type lockSection struct {
	shadow shadow
	seen   []guardedAccess
}

type guardedAccess struct {
	cta, warp int32
	time      uint32
	lanes     uint32
}

// maxHands bounds the kinds of contributions by which one lock is given.
const maxHands = 8

// Given returns how each lock is given, if each section of a lock gives it in the same way.
func (l *Locks) Given() (map[int]Hand, bool) { return l.given, !l.bad }

// Covered reports whether all accesses that a lock guards are covered.
func (l *Locks) Covered(lock int) bool { return !l.bad && l.covered[lock] != 0 }

// begin prepares for a run.
func (l *Locks) begin() {
	l.given, l.sections, l.covered, l.bad = map[int]Hand{}, map[int]*lockSection{}, map[int]uint32{}, false
	for lock, h := range l.Hands {
		for i, k := range h.kinds {
			if k.async || k.link != whole {
				continue
			}
			if !k.relaxed {
				l.covered[lock] |= 1 << i
			}
			if len(h.sc[i]) == 1 {
				l.covered[lock] |= 1 << scPart(i)
			}
		}
	}
}

func (l *Locks) section(n int) *lockSection {
	s := l.sections[n]
	if s == nil {
		s = &lockSection{}
		l.sections[n] = s
	}
	return s
}

// lockWord takes a lane's access to a location, if that is a lock's.
func (t *Tracker) lockWord(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope) bool {
	l := t.cfg.Locks
	op, n := l.Op(ev, lane)
	switch op {
	case NoLock:
		return false
	case LockTaken:
		t.takeLock(c, ev, lane, loc, scope, n)
	case LockGiven:
		t.giveLock(c, ev, lane, loc, scope, n)
	}
	return true
}

// tokenOf is the agent whose knowledge is the token of a section: no CTA, and no launch's
// completion.
func (t *Tracker) tokenOf(section int) int32 { return t.completion(1<<16) + int32(section) }

// takeLock has a lane know the tokens of its section, one for each way in which the lock is given.
func (t *Tracker) takeLock(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope, n int) {
	h, ok := t.cfg.Locks.Hands[t.cfg.Locks.Lock(n)]
	if !ok {
		return
	}
	s := locState{loc: loc, writer: t.farthest(c.index), scope: h.scope}
	for i, k := range h.kinds {
		k.cta = s.writer
		k.know.gen.raise(t.tokenOf(n), i, 1)
		for _, v := range h.sc[i] {
			k.know.make(v).raise(t.tokenOf(n), scPart(i), 1)
		}
		s.set.list = append(s.set.list, k)
	}
	t.readState(c, ev, lane, loc, scope, everything, &s)
}

// farthest returns a CTA that needs the widest scope with another.
func (t *Tracker) farthest(cta int32) int32 {
	far, need := cta, machine.NoScope
	for o := range int32(t.cfg.CTAs) {
		if s := t.needed(cta, o); o != cta && s > need {
			far, need = o, s
		}
	}
	return far
}

// giveLock takes what a lane hands on with the lock.
func (t *Tracker) giveLock(c *cta, ev *machine.Event, lane int, loc location, scope machine.Scope, n int) {
	l := t.cfg.Locks
	if s := t.locs.find(loc); s != nil {
		t.writeLocs().find(loc).set.reset() // of earlier sections nothing is handed on
	}
	t.writeLocation(c, ev, lane, loc, scope)
	h := Hand{scope: scope}
	var list []contrib
	if s := t.locs.find(loc); s != nil {
		list = s.set.list
	}
	for i := range list {
		k := list[i]
		var sc []view
		for j := range k.know.rows {
			if v := k.know.rows[j].view; v.kind == scPassed {
				sc = append(sc, v)
			}
		}
		k.know, k.last, k.version = know{}, 0, 0
		h.kinds, h.sc = append(h.kinds, k), append(h.sc, sc)
	}
	lock := l.Lock(n)
	old, known := l.given[lock]
	switch {
	case len(list) > maxHands || known && !old.alike(&h):
		l.bad = true
	case !known:
		l.given[lock] = h
	}
	if l.Hands == nil || l.bad {
		return
	}
	if want := l.Hands[lock]; !want.alike(&h) {
		l.bad = true
		return
	}
	s := l.section(n)
	hands := func(clk *clock, part int) {
		ok := clk.at(t.tokenOf(n), part) != 0
		for _, a := range s.seen {
			ok = ok && a.lanes&^t.knownLanes(clk, a.cta, a.warp, a.time) == 0
		}
		if !ok {
			l.covered[lock] &^= 1 << part
		}
	}
	for i := range list {
		hands(&list[i].know.gen, i)
		for _, v := range h.sc[i] {
			hands(list[i].know.row(v), scPart(i))
		}
	}
	*s = lockSection{}
}

// alike reports whether two sections give a lock in the same way, whoever they are.
func (h *Hand) alike(o *Hand) bool {
	if h.scope != o.scope || len(h.kinds) != len(o.kinds) {
		return false
	}
	for i := range h.kinds {
		a, b := &h.kinds[i], &o.kinds[i]
		if a.scope != b.scope || a.defaulted != b.defaulted || a.relaxed != b.relaxed || a.async != b.async || a.began != b.began || a.link != b.link || !slices.Equal(h.sc[i], o.sc[i]) {
			return false
		}
	}
	return true
}

// guards takes an access of lanes to global memory, if it is to guarded bytes, and returns the
// shadow of the section. All lanes that take part must be of one section.
func (t *Tracker) guards(ac *access, ev *machine.Event, sh *shadow) *shadow {
	l := t.cfg.Locks
	section, some, all := 0, false, true
	for m := ev.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		addr := ev.Addr[lane]
		if ev.Row {
			addr = ev.Addr[0] + uint64(lane)*uint64(ev.Size)
		}
		n, guarded, inside := l.Guards(ev.CTA, addr, uint64(ev.Size))
		l.bad = l.bad || guarded && (!inside || some && n != section)
		some, all = some || guarded, all && guarded
		if guarded {
			section = n
		}
	}
	if !some {
		return sh
	}
	if !all || l.bad || ev.Proxy != machine.Generic {
		l.bad = true
		return sh
	}
	lock, s := l.Lock(section), l.section(section)
	for i := range ac.warp.groups {
		g := &ac.warp.groups[i]
		if g.mask&ev.Mask == 0 {
			continue
		}
		for k := range 2 * maxHands {
			if l.covered[lock]>>k&1 != 0 && g.know.gen.at(t.tokenOf(section), k) == 0 {
				l.covered[lock] &^= 1 << k
			}
		}
	}
	if a := (guardedAccess{ev.CTA, ev.Warp, ac.st.time, ev.Mask}); len(s.seen) == 0 || s.seen[len(s.seen)-1] != a {
		s.seen = append(s.seen, a)
	}
	return &s.shadow
}
