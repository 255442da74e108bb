package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// A write that a read did not see yet forces an order of fence.sc, too: let F precede
// an access A in base causality, A precede write W in coherence or communication
// order, and W precede G in base causality. Were G before F in Fence-SC order, W
// would precede A, which then could not read what it read, nor be overwritten by W
// (ISA 8.9.4, 8.9.7, 8.10.1, 8.10.6). W may also be seen by a strong read before G:
// it then still precedes A in causality order (8.9.5).
//
// So a write that follows an access, unordered with it, learns what came before the
// fence.sc before that access (scUnseen), and a fence.sc takes it over (unseen). Such
// an order applies to an access only if its agent has heard, through any strong or
// plain read, of the access that it is to follow; so does observation by a red. The
// reason: let Y follow X by such an order alone, and have heard nothing of X. Remove X
// from the run, with all that heard of it: the rest reads the same values, and Y
// reaches the same place before X. So another schedule has X and Y adjacent, a race;
// it is right to report it in this one, where a thread only happened to look early or
// to count late.

// unseenBy records, at a write, the fence.sc before an earlier access that did not see
// the write.
func (t *Tracker) unseenBy(s *seg, ac *access, p *stamp, a, b int, how relation) {
	if p.isOp() || ac.st.isOp() || !t.before(s, ac, p, how) {
		return
	}
	from := len(t.over)
	t.fencesBefore(ac, p, a, b, scUnseen)
	if s.write.who == 0 || p.what&uint8(machine.Update) != 0 && p.turn == 1 {
		for i := from; i < len(t.over); i++ {
			t.over[i].first = true
		}
	}
}

// before reports whether a write follows an access in coherence or communication
// order alone, unseen by it: the access is a strong write, or a read of what the
// write overwrites.
func (t *Tracker) before(s *seg, ac *access, p *stamp, how relation) bool {
	switch {
	case !p.writes():
		return !t.raced
	case how == racing:
		return p == &s.write && p.what&uint8(machine.Update) != 0 && p.turn == 1
	}
	seen := ac.st.what&uint8(machine.Read) != 0 && p.turn != 0 && s.write.root <= p.turn && t.linked(&s.write, ac)
	return !seen
}

// A lesson is what some lanes, apart from their group, learned of fence.sc: what one
// lane reads or writes precedes no fence of another.
type lesson struct {
	lanes uint32
	view  view
	clk   clock
	first bool // the access that did not see the write saw none: it sees no later one
}

// maxLessons bounds the lessons of a warp or a location. A forgotten one orders
// nothing.
const maxLessons = 8

func (t *Tracker) learn(ac *access, lanes uint32, v view, clk *clock) {
	if ac.group.know.gen.covers(clk) {
		return
	}
	if v.kind == scUnseen {
		t.over = append(t.over, lesson{lanes: lanes, view: v, clk: clk.clone()})
	}
	ac.warp.learn(ac.group, lanes, v, clk)
}

// learn enters a lesson for lanes of a group.
func (w *warp) learn(g *group, lanes uint32, v view, clk *clock) {
	if r := g.know.row(v); r != nil && r.covers(clk) {
		return
	}
	w.keep(lanes, v, clk)
}

// keep enters a lesson for lanes.
func (w *warp) keep(lanes uint32, v view, clk *clock) {
	sc := w.fences()
	for i := range sc.lessons {
		if l := &sc.lessons[i]; l.lanes == lanes && l.view == v {
			l.clk.join(clk)
			return
		}
	}
	if len(sc.lessons) == maxLessons {
		sc.lessons = append(sc.lessons[:0], sc.lessons[1:]...)
	}
	sc.lessons = append(sc.lessons, lesson{lanes: lanes, view: v, clk: clk.clone()})
}

// onCollective takes a collective that orders no memory: a lane that counts tells its
// warp by shfl, and then every lane fences. By the letter shfl orders nothing. But if
// a lane was told the value that another read, its fence cannot precede the write of
// that value (on every card: the lanes go on together). An elect.sync passes no value.
// A lane does not share what it knows of its own warp.
func (t *Tracker) onCollective(ev *machine.Event) {
	t.tellTogether(ev)
	if c := t.ctas[ev.CTA]; !ev.Tells || c == nil || c.warps[ev.Warp].sc == nil || len(c.warps[ev.Warp].sc.lessons) == 0 {
		return
	}
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	for _, l := range slices.Clone(w.sc.lessons) {
		if others := ev.Mask &^ l.lanes; l.lanes&ev.Mask != 0 && others != 0 && l.view.kind == scSeen {
			told := l.clk.clone()
			c.forget(&told, ev.Warp)
			w.keep(others, l.view, &told)
		}
	}
}

// passed adds to a location the lessons of a lane's write. Those of earlier writes
// stay: an access that did not see them did not see this one. But a write that races
// with the last does not follow it in coherence order.
func (t *Tracker) passed(w *warp, s *locState, lane int) {
	kept := s.over[:0]
	for _, l := range s.over {
		if l.first {
			w.learn(w.group(lane), 1<<lane, l.view, &l.clk)
		}
		if l.first || !t.raced {
			kept = append(kept, l)
		}
	}
	s.over = kept
	for i := range t.over {
		if t.over[i].lanes>>lane&1 != 0 && len(s.over) < maxLessons {
			s.over = append(s.over, t.over[i])
		}
	}
}

// passedWeakly keeps the lessons of a weak write for the next strong writes.
func (t *Tracker) passedWeakly(c *cta, ev *machine.Event) {
	for m := ev.Mask; m != 0 && t.locs.lax < maxLax; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		loc := location{ev.Mem, ev.Addr[l], ev.Size}
		tab := t.writeLocs()
		s := tab.find(loc)
		if s == nil {
			s = t.newLocation(tab, loc)
			tab.lax++
		}
		s.writer, s.scope = c.index, machine.NoScope
		t.passed(&c.warps[ev.Warp], s, l)
	}
}

// tell joins into k the lessons of the lanes in mask.
func (w *warp) tell(k *know, mask uint32) {
	if w.sc == nil {
		return
	}
	for i := range w.sc.lessons {
		if l := &w.sc.lessons[i]; l.lanes&mask != 0 {
			k.make(l.view).join(&l.clk)
		}
	}
}

// splitLessons splits groups in which only some of mask's lanes have a lesson (type
// lesson).
func (w *warp) splitLessons(mask uint32) {
	if w.sc == nil {
		return
	}
	for i := range w.sc.lessons {
		if in := w.sc.lessons[i].lanes & mask; in != 0 {
			w.split(in)
		}
	}
}

// knownUnseen returns the lanes of an earlier access that an access follows by the
// unseen view.
func (t *Tracker) knownUnseen(ac *access, p *stamp) uint32 {
	c := ac.group.know.of(unseen)
	if c == nil || ac.proxy != machine.Generic {
		return 0
	}
	owner, w := t.split(p.who)
	return t.knownLanes(c, owner, w, p.time) & t.told(ac, p)
}

// told returns the lanes of an earlier access that the later one's agent knows of, by
// racing reads too.
func (t *Tracker) told(ac *access, p *stamp) uint32 {
	owner, w := t.split(p.who)
	known := t.knownLanes(ac.group.know.strong(), owner, w, p.time)
	if r := ac.group.know.of(rumour); r != nil {
		known |= t.knownLanes(r, owner, w, p.time)
	}
	return known
}

// hear takes a racing read: it learns what its writer had done, and knew, when it wrote;
// and where that was a read-modify-write, what the writers before it had.
func (t *Tracker) hear(s *seg, ac *access, p *stamp, a int) {
	t.hearOf(ac, p, a)
	if s.more == nil || p.what&uint8(machine.Update) == 0 {
		return
	}
	for i := range s.more.list {
		if q := &s.more.list[i]; q.writes() && !q.isOp() && q.turn != 0 && p.root <= q.turn {
			t.hearOf(ac, q, a)
		}
	}
}

func (t *Tracker) hearOf(ac *access, p *stamp, a int) {
	owner, wi := t.split(p.who)
	c := t.ctas[owner]
	lanes := p.lanesAt(a)
	if c == nil || c.ended || lanes&^t.told(ac, p) == 0 {
		return
	}
	r := ac.group.know.make(view{kind: rumour})
	c.markKnown(r, wi, lanes, p.time)
	c.warps[wi].heard(r, ac.group, lanes)
	ac.warp.learned(ac.group)
}

// heard joins into r what lanes of a warp have heard, except the group of, which owns
// r. (What they heard after the write at hand is included.)
func (w *warp) heard(r *clock, of *group, lanes uint32) {
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&lanes != 0 && g != of {
			r.join(g.know.strong())
			if more := g.know.of(rumour); more != nil {
				r.join(more)
			}
		}
	}
}

// signalHeard adds to the phase that an operation signals what its issuer had heard.
// Completion orders only the operation's own accesses, but a waiter knows that it was
// issued.
func (t *Tracker) signalHeard(b *mbar, phase int64, r *opRec) {
	if !t.fenced && !t.reds {
		return
	}
	c := t.at(r.cta)
	b.at(phase)
	s := &b.sets[uint64(phase)%uint64(len(b.sets))]
	c.warps[r.warp].heard(&s.heard, nil, r.lanes)
	c.markKnown(&s.heard, r.warp, r.lanes, r.issued)
}

// waitHeard passes on what a phase's issuers heard to lanes that found it complete.
func (t *Tracker) waitHeard(b *mbar, phase int64, w *warp, mask uint32) {
	s := &b.sets[uint64(phase)%uint64(len(b.sets))]
	if b.done(phase) == nil || s.heard.empty() {
		return
	}
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&mask != 0 {
			g.know.make(view{kind: rumour}).join(&s.heard)
			w.learned(g)
		}
	}
}
