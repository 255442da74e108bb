package order

import (
	"math/bits"

	"muster/internal/machine"
)

// What a read did not see yet forces an order of fence.sc too: let F come before
// an access in base causality, which comes before write W in coherence or
// communication order, and W before G in base causality. Were G before F in
// Fence-SC order, W would come before that access, which then could not read
// what it read, nor be overwritten by W (ISA 8.9.4, 8.9.7, 8.10.1, 8.10.6). W may
// also be seen by a strong read before G: then it comes before that access in
// causality order all the same (8.9.5).
//
// So a write that comes after an access, with nothing to order the two, learns
// what came before the fence.sc before that access (scUnseen), and a fence.sc
// takes it (unseen). It counts for an access that has heard, by whatever strong
// read or plain one, of the access that it is to follow, and so does what a red
// observed. For let Y follow X by such an order alone, and have heard nothing of X.
// Leave X out of the run, with all that heard of it: whoever is left reads what
// it read, and Y comes to the same place with X still to come. So another schedule
// has X and Y side by side, a race; and to report it in this one, where somebody
// only happened to look early or to count late, is right.

// unseenBy lets a write take note of the fence.sc before an access that it
// comes after without being seen.
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

// before reports whether a write comes after an access that nothing orders it
// with in coherence or communication order, and unseen: after a strong write, or
// after what the access read.
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

// A lesson is what some lanes alone have learned of fence.sc: what one of them
// reads or writes precedes no fence of another.
type lesson struct {
	lanes uint32
	view  view
	clk   clock
	first bool // what did not see the write saw no other: it sees no later one
}

// mostLessons bounds what is kept apart. What is forgotten orders nothing.
const mostLessons = 8

func (t *Tracker) learn(ac *access, lanes uint32, v view, clk *clock) {
	if ac.group.know.gen.covers(clk) {
		return
	}
	if v.kind == scUnseen {
		t.over = append(t.over, lesson{lanes: lanes, view: v, clk: clk.clone()})
	}
	ac.warp.learn(ac.group, lanes, v, clk)
}

// learn teaches lanes of a group.
func (w *warp) learn(g *group, lanes uint32, v view, clk *clock) {
	if r := g.know.row(v); r != nil && r.covers(clk) {
		return
	}
	sc := w.fences()
	for i := range sc.lessons {
		if l := &sc.lessons[i]; l.lanes == lanes && l.view == v {
			l.clk.join(clk)
			return
		}
	}
	if len(sc.lessons) == mostLessons {
		sc.lessons = append(sc.lessons[:0], sc.lessons[1:]...)
	}
	sc.lessons = append(sc.lessons, lesson{lanes: lanes, view: v, clk: clk.clone()})
}

// passed adds to a location what a lane's write passed unseen. That of the
// writes before it stays: what did not see them did not see this one. But a write
// that races with the last is not after it in coherence order.
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
		if t.over[i].lanes>>lane&1 != 0 && len(s.over) < mostLessons {
			s.over = append(s.over, t.over[i])
		}
	}
}

// passedWeakly keeps for the next strong writes what a weak one passed unseen.
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

// tell adds to k what lanes of a warp have learned.
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

// splitLessons parts the groups that are only partly of lanes in mask that
// learned something.
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

// knownUnseen returns the lanes of an earlier access that an access follows by
// what was not seen.
func (t *Tracker) knownUnseen(ac *access, p *stamp) uint32 {
	c := ac.group.know.of(unseen)
	if c == nil || ac.proxy != machine.Generic {
		return 0
	}
	owner, w := t.split(p.who)
	return t.knownLanes(c, owner, w, p.time) & t.told(ac, p)
}

// told returns the lanes of an earlier access of which an access has heard.
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

// heard joins what lanes of a warp have heard into r, but for a group's, whose r
// is. (What they heard since what they tell is taken with it.)
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

// signalHeard has an operation that signals a phase tell what its issuer heard.
// Its completion orders its own accesses alone, but who waits for it knows that
// it was issued.
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

// waitHeard tells lanes that found a phase complete.
func (t *Tracker) waitHeard(b *mbar, phase int64, w *warp, mask uint32) {
	s := &b.sets[uint64(phase)%uint64(len(b.sets))]
	if b.done(phase) == nil || len(s.heard.parts) == 0 {
		return
	}
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&mask != 0 {
			g.know.make(view{kind: rumour}).join(&s.heard)
			w.learned(g)
		}
	}
}
