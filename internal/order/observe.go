package order

import "muster/internal/machine"

// Observation order (ISA 8.9.2): a write precedes a read that returns its value, or
// that of the last of a chain of read-modify-writes behind it, each link morally
// strong. What follows that read in base causality then follows the write too, at
// their bytes (8.9.5), without release or acquire: a thread that read a flag may read
// it again plainly, and the last to count may reset the counter.
//
// So the writes of a segment since the last weak one are numbered (turns), and a
// strong access stores the turns that it observed: from root, where the chain begins,
// to its own, less one if it writes. They are consulted only where nothing else
// orders two accesses.

// observer marks an access kept only for what it observed: in races another stamp
// stands for it.
const observer = uint8(machine.Update << 4)

// lastTurn is the turn after which all turns are lowered by half (goBack).
const lastTurn = 1<<8 - 1

// sees gives a strong read the turns that it observes.
func (t *Tracker) sees(ac *access, last *stamp) {
	ac.st.turn, ac.st.root = 0, 0
	if last.turn != 0 && !ac.loose && t.linked(last, ac) {
		ac.st.turn, ac.st.root = last.turn, last.root
	}
}

// number gives a strong write its turn. A weak write has turn 1, since everything
// before it is forgotten. Earlier reads that observed a write still kept are kept
// too; the others lose their turns.
func (t *Tracker) number(ac *access, last *stamp) {
	kept := len(t.buf)
	for i := range t.gone {
		p := &t.gone[i]
		if p.what&uint8(machine.Read|machine.Update) != 0 && !t.supersedes(&ac.st, p) && p.observesAny(t.buf[:kept]) {
			p.what |= observer
			t.buf = append(t.buf, *p)
		}
	}
	for i := range t.buf[:kept] {
		if p := &t.buf[i]; p.turn != 0 && !p.writes() && !p.observesAny(t.buf[:kept]) {
			p.turn, p.root = 0, 0
		}
	}
	if last.turn == lastTurn {
		root := last.root
		last.goBack(root)
		for i := range t.buf {
			t.buf[i].goBack(root)
		}
	}
	if ac.st.what&uint8(machine.Read|machine.Update) == uint8(machine.Update) {
		t.reds = true
	}
	n := last.turn + 1
	ac.st.turn, ac.st.root = n, n
	if n != 1 && ac.st.what&uint8(machine.Update) != 0 && !ac.loose && t.linked(last, ac) {
		ac.st.root = last.root
	}
}

// goBack lowers a stamp's turns by half their range. Older writes of the unbroken
// chain from root to the last write all get turn 1: later accesses may still observe
// them, but they observe nothing, nor do reads of that time. Writes before the chain
// get turn 0: they are no longer tracked.
func (s *stamp) goBack(root uint8) {
	const half = lastTurn/2 + 1
	switch {
	case s.turn == 0:
	case s.turn > half:
		s.turn, s.root = s.turn-half, max(s.root, half+1)-half
	case s.writes() && s.turn >= root:
		s.turn, s.root = 1, 1
	default:
		s.turn, s.root = 0, 0
	}
}

// linked reports whether an access is morally strong with the last write.
func (t *Tracker) linked(last *stamp, ac *access) bool {
	if last.shift() != ac.st.shift() || last.isOp() || ac.st.isOp() {
		return false
	}
	if last.strong() {
		if last.who-ac.base < ac.warps {
			return true // one CTA's
		}
		owner, _ := t.split(last.who)
		need := uint8(t.needed(owner, ac.home.index))
		return last.scope() >= need && ac.st.scope() >= need
	}
	return last.who == ac.st.who && last.lanes == ac.st.lanes && last.layout() == ac.st.layout() &&
		(!last.byMask() || last.lanes&(last.lanes-1) == 0) // one thread's
}

// observed reports whether write p precedes an access at byte x because the access
// follows a strong read that observed p.
func (t *Tracker) observed(s *seg, ac *access, p *stamp, x int) bool {
	if !p.writes() {
		return false
	}
	if p.what&uint8(machine.Update) == 0 {
		if l := p.lanesAt(x); l&(l-1) != 0 {
			return false // stores of several lanes: one of them
		}
	}
	if t.observes(ac, &s.write, p, x) || t.observes(ac, &s.read, p, x) || t.sighted(ac, p, x) {
		return true
	}
	if s.more != nil {
		for i := range s.more.list {
			if t.observes(ac, &s.more.list[i], p, x) {
				return true
			}
		}
	}
	return false
}

// saw reports whether a strong read observed the write with that turn.
func (s *stamp) saw(turn uint8) bool {
	return s.turn != 0 && s.root <= turn && turn <= s.turn && (turn < s.turn || !s.writes())
}

// observesAny reports whether a strong read observed any of the writes in list.
func (s *stamp) observesAny(list []stamp) bool {
	for i := range list {
		if p := &list[i]; p.turn != 0 && p.writes() && s.saw(p.turn) {
			return true
		}
	}
	return false
}

// observes reports whether z is a read that observed p, and comes before the
// access.
func (t *Tracker) observes(ac *access, z, p *stamp, x int) bool {
	if !z.strong() || z.what&uint8(machine.Read|machine.Update) == 0 || !z.saw(p.turn) {
		return false
	}
	if z.what&uint8(machine.Read) == 0 && !t.cfg.Executions && p.lanesAt(x)&^t.told(ac, p) != 0 {
		return false
	}
	return z.lanesAt(x)&t.knownAt(ac, z, x) != 0
}

// knownAt returns the lanes of an earlier access by lanes that an access knows
// at a byte.
func (t *Tracker) knownAt(ac *access, p *stamp, x int) uint32 {
	known := t.knownOf(ac, p)
	if t.byOrder(ac, p) {
		if cur := ac.lanesAt(x); cur&(cur-1) == 0 {
			known |= cur
		}
	}
	return known
}
