package machine

import (
	"math/bits"
)

// This file advances the machine. Between visible operations a split runs
// undisturbed, so that between steps every split stands before a visible
// instruction, waits, or is gone. Step performs one visible operation of one
// split, or one milestone, or starts a cluster, and then settles: every split of
// that warp that can run runs on to its next visible instruction, the one
// furthest behind first, and splits that meet at one program counter merge.

// A verdict is the outcome of performing a visible instruction.
type verdict uint8

const (
	performed verdict = iota // go on with the next instruction
	jumped                   // the instruction set the program counter itself
	parked                   // it has done its part; the split is waiting
	halted                   // the run has stopped, or the split is gone
)

// A visitFn performs a visible instruction for the lanes in mask.
type visitFn func(x *ctx, in *instr, mask uint32) verdict

// ctx is where an instruction finds its operands: the running split's frame.
type ctx struct {
	m   *Machine
	c   *cta
	w   *warp
	s   *split
	r32 [][32]uint32
	r64 [][32]uint64
	p   []uint32
	k32 [][32]uint32
	k64 [][32]uint64
	// giveUp: a test that would wait comes out false.
	giveUp bool
	// quiet: the visible instruction has no effect that another agent, or a
	// later test of this split, could see.
	quiet bool
	// idle: the instruction has no effect on others, and what it returned is
	// recorded in the split's turn (look), or was known before.
	idle bool
	// took is the versions that an access takes of its words; nil: the last of each.
	took []Version
}

// w32 and w64 return a register's row, a32 and a64 a source's: a register or
// a constant.
func (x *ctx) w32(r reg) *[32]uint32 { return &x.r32[r] }

func (x *ctx) w64(r reg) *[32]uint64 { return &x.r64[r] }

func (x *ctx) a32(r reg) *[32]uint32 {
	if r >= 0 {
		return &x.r32[r]
	}
	return &x.k32[^r]
}

func (x *ctx) a64(r reg) *[32]uint64 {
	if r >= 0 {
		return &x.r64[r]
	}
	return &x.k64[^r]
}

// active returns the lanes of the split for which in's guard holds.
func (x *ctx) active(in *instr) uint32 {
	if in.guard == noGuard {
		return x.s.mask
	}
	if in.unset != nil && in.unset.guard >= 0 {
		x.readUnset(in.unset.guard, x.s.mask)
	}
	if in.not {
		return x.s.mask &^ x.p[in.guard]
	}
	return x.s.mask & x.p[in.guard]
}

// enter points x at a split.
func (m *Machine) enter(w *warp, s *split) *ctx {
	x := &m.x
	x.m, x.c, x.w, x.s = m, m.ctas[w.cta], w, s
	x.r32, x.r64, x.p = w.r32[s.base32:], w.r64[s.base64:], w.p[s.basep:]
	x.k32, x.k64 = m.prog.k32, m.prog.k64
	x.giveUp, x.quiet, x.idle, x.took = false, false, false, nil
	return x
}

// emit shows an event to the observer.
func (m *Machine) emit(ev Event) {
	if m.cfg.Observer != nil {
		m.ev = ev
		m.cfg.Observer.Observe(m, &m.ev)
	}
}

// halt ends the run.
func (m *Machine) halt(s Stop) verdict {
	if m.stop == nil {
		m.stop = &s
	}
	return halted
}

// settle runs the splits of w until each stands before a visible
// instruction, waits, or is gone.
func (m *Machine) settle(w *warp) {
	r := plainRun{from: m.instrs, until: m.instrs + stuckAfter}
	for m.stop == nil {
		i := w.behind()
		if i < 0 {
			return
		}
		if m.cfg.follower != nil {
			m.runFollowed(w, w.splits[i])
			continue
		}
		r.ran |= w.splits[i].mask
		if len(w.splits) == 1 {
			m.runAlone(w, w.splits[i], m.leash(&r))
		} else {
			m.runAmong(w, w.splits[i], m.leash(&r))
		}
		m.goOn(w, &r)
	}
}

// behind returns the running split to run next: the deepest call first, then
// the lowest program counter; -1 if none runs.
func (w *warp) behind() int {
	best := -1
	for i, s := range w.splits {
		if s.state != running {
			continue
		}
		if best < 0 || s.before(w.splits[best]) {
			best = i
		}
	}
	return best
}

func (s *split) before(o *split) bool {
	if len(s.frames) != len(o.frames) {
		return len(s.frames) > len(o.frames)
	}
	return s.pc < o.pc
}

// runAlone runs the warp's only split to its next visible instruction, or to a
// branch after limit instructions.
func (m *Machine) runAlone(w *warp, s *split, limit int64) {
	x := m.enter(w, s)
	code := m.prog.code
	n, lanes := int64(0), int64(0)
	from := s.pc // of instructions that follow each other
	for {
		in := &code[s.pc]
		mask := s.mask
		if in.guard != noGuard {
			mask = x.active(in)
		}
		switch in.class {
		case plain:
			if mask != 0 {
				in.exec(x, in, mask)
			}
			s.pc++
		case branch:
			if n > limit {
				m.account(n, lanes)
				m.counted(w, from, s.pc)
				m.goesOn(w, s)
				return
			}
			if mask == 0 {
				s.pc++
				break
			}
			if in.uni != nil {
				x.keepsPromise(in, mask)
			}
			at := s.pc
			in.exec(x, in, mask)
			m.counted(w, from, at+1)
			from = s.pc
			if len(w.splits) != 1 || s.state != running || m.stop != nil {
				m.account(n+1, lanes+int64(bits.OnesCount32(mask)))
				return
			}
		default:
			if at := s.pc; !m.point(w, s, in, mask) {
				m.account(n, lanes)
				m.counted(w, from, at)
				return
			}
		}
		n++
		lanes += int64(bits.OnesCount32(mask))
	}
}

// runAmong runs s, which is furthest behind, until it meets or passes
// another split, or to a branch after limit instructions.
func (m *Machine) runAmong(w *warp, s *split, limit int64) {
	x := m.enter(w, s)
	code := m.prog.code
	stop := w.meets(s)
	n, lanes := int64(0), int64(0)
	from := s.pc // of instructions that follow each other
	for {
		if s.pc >= stop {
			if m.merge(w, s) || s.pc > stop {
				break
			}
			stop = w.meets(s)
		}
		in := &code[s.pc]
		mask := x.active(in)
		if in.class == plain {
			if mask != 0 {
				in.exec(x, in, mask)
			}
			s.pc++
		} else if in.class == branch {
			if n > limit {
				m.account(n, lanes)
				m.counted(w, from, s.pc)
				m.goesOn(w, s)
				return
			}
			if mask == 0 {
				s.pc++
			} else {
				k, depth := len(w.splits), len(s.frames)
				if in.uni != nil {
					x.keepsPromise(in, mask)
				}
				at := s.pc
				in.exec(x, in, mask)
				m.counted(w, from, at+1)
				from = s.pc
				if len(w.splits) != k || s.state != running || len(s.frames) != depth || m.stop != nil {
					n++
					break
				}
				// A jump back may lead to where another split waits.
				stop = w.meets(s)
			}
		} else if at := s.pc; !m.point(w, s, in, mask) {
			m.counted(w, from, at)
			from = s.pc
			break
		}
		n++
		lanes += int64(bits.OnesCount32(mask))
	}
	m.account(n, lanes)
	m.counted(w, from, s.pc)
}

// meets returns the lowest program counter at or above s's at which another
// split of the same depth stands.
func (w *warp) meets(s *split) int32 {
	stop := int32(1<<31 - 1)
	for _, o := range w.splits {
		if o != s && o.pc >= s.pc && o.pc < stop && len(o.frames) == len(s.frames) && o.state != waiting {
			stop = o.pc
		}
	}
	return stop
}

// merge absorbs into s the other splits at its program counter, and reports whether s
// stopped running. Splits that stand before a collective stay apart until it is
// performed: their member masks may differ.
func (m *Machine) merge(w *warp, s *split) bool {
	for i := 0; i < len(w.splits); i++ {
		o := w.splits[i]
		if o == s || o.pc != s.pc || o.state == waiting || o.state == collect || !sameFrames(s, o) || m.staysApart(w, o) {
			continue
		}
		s.mask |= o.mask
		s.room = max(s.room, o.room)
		s.awaits, s.gaveUp, s.spun = nil, 0, false
		s.joinTurn(o)
		s.joinBy(o)
		w.splits = append(w.splits[:i], w.splits[i+1:]...)
		i--
	}
	w.apart = w.apart && len(w.splits) > 1
	return s.state != running
}

func sameFrames(a, b *split) bool {
	if len(a.frames) != len(b.frames) || a.base32 != b.base32 || a.base64 != b.base64 || a.basep != b.basep || a.lbase != b.lbase {
		return false
	}
	for i := range a.frames {
		if a.frames[i] != b.frames[i] {
			return false
		}
	}
	return true
}

func (m *Machine) account(n, lanes int64) {
	m.instrs += n
	m.lanes += lanes
	m.clock += n
	m.left -= n
}

// counted records instructions that follow each other and were executed, for a Tally.
func (m *Machine) counted(w *warp, from, to int32) {
	if m.cfg.tally != nil {
		m.cfg.tally.add(w, from, to)
	}
}

// point handles a split that reached a visible or collective instruction. It
// reports whether the split runs on.
func (m *Machine) point(w *warp, s *split, in *instr, mask uint32) bool {
	if mask == 0 {
		// No lane's guard holds: nothing happens, visibly or otherwise.
		s.pc++
		return true
	}
	if mask != s.mask {
		if in.uni != nil {
			m.x.keepsPromise(in, mask)
		}
		// Lanes whose guard fails do not wait for the others.
		w.divide(s, s.mask&^mask).pc++
		return false
	}
	if in.unset != nil {
		m.x.unsetOperands(in, mask)
	}
	if in.class == visible {
		s.state = atPoint
		return false
	}
	return m.gather(w, s, in)
}

// divide splits off the lanes in away; s keeps the rest. The new split
// stands where s stands.
func (w *warp) divide(s *split, away uint32) *split {
	w.round.parted = true
	n := *s
	n.mask = away
	n.state = running
	n.frames = append([]frame(nil), s.frames...)
	n.awaits = append([]await(nil), s.awaits...)
	n.saw = append([]await(nil), s.saw...)
	s.mask &^= away
	w.splits = append(w.splits, &n)
	return &n
}

// find returns the split of w that holds lane, or nil.
func (w *warp) find(lane int8) *split {
	for _, s := range w.splits {
		if s.mask>>uint(lane)&1 != 0 {
			return s
		}
	}
	return nil
}

// drop removes a split that has no lanes left.
func (w *warp) drop(s *split) {
	for i, o := range w.splits {
		if o == s {
			w.splits = append(w.splits[:i], w.splits[i+1:]...)
			return
		}
	}
}

// step performs the visible instruction of s, or lets it pass a wait that
// has ended, and settles the warp.
func (m *Machine) step(w *warp, s *split, giveUp bool) {
	if !m.spend(stepWork) {
		return
	}
	x := m.enter(w, s)
	s.asleep = asleep{}
	x.giveUp = giveUp
	x.took, m.took = m.took, nil
	if len(m.rounds) > 0 {
		x.c.round.wake()
		w.round.wake()
	}
	if s.state == waiting {
		m.resume(x)
		if len(w.splits) > 1 {
			m.mergeRunning(w, s)
		}
		m.settle(w)
		if len(m.rounds) > 0 {
			m.roundsOff(w)
		}
		return
	}
	pc, in := s.pc, &m.prog.code[s.pc]
	if m.cfg.singly && in.showsLanes() {
		s = w.group(s, s.mask&-s.mask)
		x = m.enter(w, s)
		x.giveUp = giveUp
	}
	mask := s.mask
	m.instrs++
	m.lanes += int64(bits.OnesCount32(mask))
	m.counted(w, pc, pc+1)
	if !m.goesOn(w, s) {
		return
	}
	if giveUp {
		m.letGo(w, s)
	}
	if s.spun {
		s.spun, s.awaits = false, s.awaits[:0]
	}
	s.state = running
	if in.touch != nil {
		x.touch(in, mask)
	}
	if in.meet {
		x.meets(in, mask)
	}
	if len(m.rounds) > 0 {
		m.acts(w, in)
	}
	switch in.visit(x, in, mask) {
	case performed:
		if in.aligned() {
			x.meeting(mask)
			s.met()
		}
		s.pc++
	case halted, parked:
	}
	if !giveUp && !x.quiet {
		s.awaits, s.gaveUp = s.awaits[:0], 0
	}
	if len(s.awaits) > 0 {
		m.woken(s, pc)
	}
	if x.idle {
		s.idle++
	} else {
		s.effect()
		m.effects++
	}
	m.settle(w)
	if len(m.rounds) > 0 {
		m.roundsOff(w)
	}
	if m.cfg.follower != nil {
		return
	}
	if s.idle >= spinAfter {
		m.comeRound(w, s)
	}
	m.endAt(w, s)
}

// mergeRunning is merge if s runs.
func (m *Machine) mergeRunning(w *warp, s *split) {
	if s.state == running {
		m.merge(w, s)
	}
}

// ready reports whether a split can take a Run choice.
func (m *Machine) ready(w *warp, s *split) bool {
	switch s.state {
	case waiting:
		return m.waitOver(w, s) && (len(m.rounds) == 0 || !m.rests(w))
	case atPoint:
		if m.held(w) || len(m.rounds) > 0 && m.rests(w) {
			return false
		}
		if s.spun {
			return m.anyAwait(s)
		}
		in := &m.prog.code[s.pc]
		if in.ready == nil && len(s.awaits) == 0 {
			return true
		}
		x := m.enter(w, s)
		if in.ready != nil && !in.ready(x, in, s.mask) {
			return in.test && m.anyAwait(s) // a barrier or a group wait cannot fail
		}
		return len(s.awaits) == 0 || !m.polling(x, in) || m.anyAwait(s)
	}
	return false
}
