package machine

import (
	"hash/maphash"
	"slices"
)

// Circles. A run that comes back to a state it was in before goes round for
// ever. Three kinds are recognised, each by comparing states, not by looking for
// loops in the text; a loop that counts in a register is none of them.
//
//   - A warp that executes no visible instruction and comes back to the same
//     registers never leaves (stuck).
//   - A split whose visible instructions change nothing that anyone could see, and
//     that comes back to the same registers, depends on what it looked at alone:
//     it sleeps until some of that changes (spun), as one sleeps that has failed a
//     test (await.go). So an inverted wait is a wait, and the others may run, give
//     up, or be found waiting too.
//   - Where splits change memory and change it back, the whole machine comes back
//     to a state. Another schedule may lead out of that circle, so all that can
//     follow is looked at, in copies; if no way leads to the end of the launch, the
//     run has ended (Stop.Circle).
//
// What a clock shows, and which lanes happen to run together, is different the
// next time round, so that reading these begins every comparison anew.
//
// Comparing costs nothing to speak of in runs that end: it begins after many
// instructions without an effect, and the state to compare with is replaced
// each time that the run has doubled its length (Brent 1980).
const (
	spinAfter   = 1 << 8  // visible instructions of a split without an effect
	circleAfter = 1 << 12 // instructions of a run
	stuckAfter  = 1 << 14 // instructions of a warp between two visible ones
	mostLooks   = 1 << 10 // what a split may look at in one turn
	mostStates  = 1 << 12 // that are looked at for a way out
	mostCopied  = 1 << 27 // bytes of registers that this may copy
)

// A private is what the future of a warp's lanes depends on besides what they
// see of others. It is never changed once it is taken.
type private struct {
	splits []split
	r32    [][32]uint32
	r64    [][32]uint64
	p      []uint32
	local  uint64 // a hash
}

// privateOf copies what decides the future of some splits of w.
func (w *warp) privateOf(splits ...*split) *private {
	v := &private{r32: slices.Clone(w.r32), r64: slices.Clone(w.r64), p: slices.Clone(w.p), local: w.localHash()}
	for _, s := range splits {
		v.splits = append(v.splits, split{pc: s.pc, mask: s.mask, state: s.state, base32: s.base32, base64: s.base64, basep: s.basep,
			lbase: s.lbase, room: s.room, frames: slices.Clone(s.frames)})
	}
	return v
}

func (w *warp) localHash() uint64 {
	if w.lsize == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(hashSeed)
	w.local.hash(&h)
	return h.Sum64()
}

// sameSplits reports whether splits stand as those of v did.
func (v *private) sameSplits(splits ...*split) bool {
	return slices.EqualFunc(v.splits, splits, func(a split, b *split) bool {
		return a.pc == b.pc && a.mask == b.mask && a.state == b.state && a.lbase == b.lbase && a.room == b.room && sameFrames(&a, b)
	})
}

// same compares the registers of the lanes in mask, and the warp's local memory.
func (v *private) same(w *warp, mask uint32, hint *int32) bool {
	return v.sameRegisters(w, mask, hint) && v.local == w.localHash()
}

// sameRegisters compares the registers of the lanes in mask.
// hint is a row that differed before, and is likely to differ again.
func (v *private) sameRegisters(w *warp, mask uint32, hint *int32) bool {
	if len(v.r32) != len(w.r32) || len(v.r64) != len(w.r64) || len(v.p) != len(w.p) {
		return false
	}
	if i := int(*hint); i < len(v.r32) && !sameRow(&v.r32[i], &w.r32[i], mask) {
		return false
	}
	for i := range v.r32 {
		if !sameRow(&v.r32[i], &w.r32[i], mask) {
			*hint = int32(i)
			return false
		}
	}
	for i := range v.r64 {
		if !sameRow(&v.r64[i], &w.r64[i], mask) {
			return false
		}
	}
	for i := range v.p {
		if (v.p[i]^w.p[i])&mask != 0 {
			return false
		}
	}
	return true
}

func sameRow[T uint32 | uint64](a, b *[32]T, mask uint32) bool {
	if *a == *b {
		return true
	}
	if mask == ^uint32(0) {
		return false
	}
	for l := range lanesOf(mask) {
		if a[l] != b[l] {
			return false
		}
	}
	return true
}

// ---- a split without effects ----

// A turn is how far a split has come round without an effect.
type turn struct {
	idle  int32    // visible instructions since its last effect
	since *private // the state to compare with; nil if there is none yet
	n     int32    // visible instructions since then
	last  int32    // those after which another state takes its place
	hint  int32
	saw   []await // what it has looked at since
	blind bool    // that was too much
}

// effect notes that the split has done what another agent could notice, or
// depends on what is different the next time.
func (s *split) effect() { s.idle, s.since, s.saw = 0, nil, s.saw[:0] }

// unsteady notes that an instruction shows what is different the next time.
func (x *ctx) unsteady() {
	x.s.effect()
	x.m.unsteady++
}

// look notes what a split's read of memory, or an atomic that changed nothing,
// has seen.
func (x *ctx) look(a *access, at where) {
	if x.s.since == nil {
		return
	}
	for l := range lanesOf(at.mask) {
		for o := int32(0); o < a.size; o += 8 {
			n := min(a.size-o, 8)
			adr := x.m.addr[l] + uint64(o)
			x.s.looked(await{pc: x.s.pc, mem: at.mem, addr: adr, size: n, val: at.r.load(adr-at.r.base, n), lanes: at.mask})
		}
	}
}

// lookMbar is look for a test of an mbarrier: what it shows is decided by the
// phase that is open.
func (s *split) lookMbar(pc int32, mem MemID, addr uint64, b *mbar, lanes uint32, done bool) {
	if s.since != nil {
		s.looked(await{pc: pc, mem: mem, addr: addr, life: b.life, val: uint64(b.phase), lanes: lanes, done: done})
	}
}

func (s *split) looked(a await) {
	if n := len(s.saw); n > 0 && s.saw[n-1] == a {
		return
	}
	if len(s.saw) == mostLooks {
		s.blind = true
		return
	}
	s.saw = append(s.saw, a)
}

// joinTurn makes the turn of a split that of two that meet.
func (s *split) joinTurn(o *split) {
	s.idle = min(s.idle, o.idle)
	if s.since != o.since {
		s.since = nil
	}
	s.blind = s.blind || o.blind
	for _, a := range o.saw {
		if !slices.Contains(s.saw, a) {
			s.saw = append(s.saw, a)
		}
	}
}

// comeRound puts a split to sleep that has come full circle without an effect. It
// stands before a visible instruction.
func (m *Machine) comeRound(w *warp, s *split) {
	if !slices.Contains(w.splits, s) || s.state != atPoint {
		return
	}
	s.n++
	switch {
	case s.since == nil:
		s.last = 1
	case !s.blind && s.since.sameSplits(s) && s.since.same(w, s.mask, &s.hint):
		if slices.ContainsFunc(s.saw, func(a await) bool { return m.changed(&a) }) {
			return // it has not seen that yet
		}
		s.spun, s.awaits = true, slices.Clone(s.saw)
		s.effect()
		return
	case s.n >= s.last:
		s.last *= 2
	default:
		return
	}
	s.since, s.n, s.saw, s.blind = w.privateOf(s), 0, s.saw[:0], false
}

// ---- a warp without visible instructions ----

// A plainRun is what a warp has executed since its last visible instruction.
type plainRun struct {
	from  int64 // the machine's count of instructions then
	until int64 // the count at which comparing begins, or ends
	since *private
	ran   uint32 // lanes that ran since
	steps int64  // unsteady ones, until then
	hint  int32
}

// leash is how many instructions a split may execute before settle looks after
// it, and whether that is all that the run may.
func (m *Machine) leash(r *plainRun) int64 {
	left := m.budget()
	if r.since != nil {
		return min(left, 0)
	}
	return min(left, r.until-m.instrs)
}

// goOn compares the state of a warp that has executed very many instructions,
// none of them visible, with earlier ones, now and then: for a 64th of the time.
func (m *Machine) goOn(w *warp, r *plainRun) {
	switch {
	case m.instrs < r.until && r.since == nil:
	case r.since == nil:
		r.since, r.ran, r.steps = w.privateOf(w.splits...), 0, m.unsteady
		r.until = m.instrs + (m.instrs-r.from)/64
	case r.steps == m.unsteady && r.since.sameSplits(w.splits...) && r.since.same(w, ^uint32(0), &r.hint):
		for _, s := range w.splits {
			if s.state == running && s.mask&r.ran != 0 {
				s.state = stuck
			}
		}
		r.since, r.from = nil, m.instrs
		r.until = m.instrs + stuckAfter
	case m.instrs >= r.until:
		r.since = nil
		r.until = m.instrs + (m.instrs - r.from)
	}
}

// ---- the whole machine ----

// An earlier is a state that the run was in, to compare with.
type earlier struct {
	m    *Machine
	cta  int32
	warp int32
	lane int8
	pc   int32
	hint int32
	// effects is the machine's count then: where nobody has had an effect since,
	// all go round by themselves, and fall asleep.
	effects int64
	// wait is how many states that look alike are passed over before the next is
	// compared in full, and skip how many are left.
	wait, skip int
}

// A Circle is what goes on for ever: from the state after First instructions, the
// run came back to it after Again. Lanes are those that can run, there or later.
type Circle struct {
	First, Again int64
	Lanes        []WaitingSplit
}

// recur compares the state after a step of s, which was of the split that held
// lane, with an earlier one.
func (m *Machine) recur(w *warp, lane int8, pc int32) {
	if m.instrs >= m.circleAt {
		if least := m.rows()*4 + int64(len(m.ctas)+m.global.pages()/16); m.instrs < least {
			m.circleAt = least // a copy would cost more than the run so far
			return
		}
		m.circleAt = 2 * m.instrs
		before := m.Clone()
		before.cfg.Observer, before.earlier = nil, nil
		m.earlier = &earlier{m: before, cta: w.cta, warp: w.index, lane: lane, pc: pc, effects: m.effects}
		return
	}
	e := m.earlier
	if e == nil || e.pc != pc || e.cta != w.cta || e.warp != w.index || e.lane != lane || m.stop != nil || m.unsteady != e.m.unsteady || m.effects == e.effects {
		return
	}
	if e.skip > 0 {
		e.skip--
		return
	}
	if !m.looksLike(e) {
		return
	}
	if m.hashSince(e.m) == e.m.hashSince(e.m) {
		if lanes := m.endless(); lanes != nil {
			m.halt(Stop{Kind: Deadlock, PC: -1, Mem: Local, Circle: &Circle{First: e.m.instrs, Again: m.instrs, Lanes: lanes}})
		}
		m.earlier = nil // looking is dear: once more when the run is twice as long
		return
	}
	e.wait += e.wait/2 + 1 // odd and even, so that no rhythm of the run is missed
	e.skip = e.wait
}

// rows is how many rows of registers the machine holds.
func (m *Machine) rows() int64 {
	n := int64(0)
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			n += int64(len(w.r32) + 2*len(w.r64))
		}
	}
	return n
}

func (g *addressMap) pages() int {
	n := 0
	for i := range g.regions {
		n += len(g.regions[i].pages)
	}
	return n
}

// looksLike compares what is quick to compare, and most likely to differ first.
func (m *Machine) looksLike(e *earlier) bool {
	o := e.m
	at := o.ctas[e.cta]
	if m.ctas[e.cta] == nil || at == nil || !slices.Equal(m.running, o.running) || m.started != o.started || len(m.ops) != len(o.ops) {
		return false
	}
	if !m.ctas[e.cta].warps[e.warp].like(at.warps[e.warp], &e.hint) {
		return false
	}
	hint := int32(0)
	for _, i := range m.running {
		for k, w := range m.ctas[i].warps {
			if !w.like(o.ctas[i].warps[k], &hint) {
				return false
			}
		}
		if !m.ctas[i].shared.like(&o.ctas[i].shared) {
			return false
		}
	}
	for i := range m.global.regions {
		if !m.global.regions[i].like(&o.global.regions[i]) {
			return false
		}
	}
	return true
}

func (w *warp) like(o *warp, hint *int32) bool {
	if w.live != o.live || len(w.splits) != len(o.splits) {
		return false
	}
	for i, s := range w.splits {
		if t := o.splits[i]; s.pc != t.pc || s.mask != t.mask || s.state != t.state {
			return false
		}
	}
	v := private{r32: o.r32, r64: o.r64, p: o.p}
	return v.sameRegisters(w, ^uint32(0), hint) && w.local.like(&o.local)
}

// like reports whether two regions hold the same; pages that nobody has written
// since a copy was made are one.
func (r *region) like(o *region) bool {
	if len(r.pages) != len(o.pages) {
		return false
	}
	for i, p := range r.pages {
		if !p.like(o.pages[i]) {
			return false
		}
	}
	return true
}

func (p *page) like(q *page) bool {
	return p == q || p != nil && q != nil && p.words == q.words && p.full == q.full && (p.full || p.init == q.init)
}

// endless returns the lanes that run on for ever: those that can run in some state
// that may follow, if no such state is the end of the launch. It returns nil where
// one may be, or that is not known: something could go wrong or start on the way,
// or there are too many states.
func (m *Machine) endless() []WaitingSplit {
	if m.started < m.until {
		return nil
	}
	from := m.Fork(nil, m.cfg.Poison)
	from.earlier, from.circleAt = nil, 1<<62
	from.cfg.MaxInstrs = m.instrs + circleAfter
	from.forgetFailures()
	seen := map[uint64]bool{from.hashSince(from): true}
	room := int64(mostCopied) / (m.rows()*128 + int64(len(m.ctas)+m.global.pages())*8)
	var lanes []WaitingSplit
	var buf []Choice
	for work := []*Machine{from}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		buf = at.exits(at.Enabled(buf[:0]))
		for _, c := range buf {
			if c.Kind == Run {
				lanes = addLanes(lanes, at.WaitingOf(c))
			}
			next := at.Fork(nil, m.cfg.Poison)
			next.Step(c)
			if room--; room < 0 || next.stop != nil || next.Done() || next.unsteady != m.unsteady || c.Kind == Start {
				return nil
			}
			next.forgetFailures()
			if h := next.hashSince(from); !seen[h] {
				if len(seen) == mostStates {
					return nil
				}
				seen[h] = true
				work = append(work, next)
			}
		}
	}
	return lanes
}

// forgetFailures has every test that may come out false do so once more: which
// have done so before is no part of the launch's state.
func (m *Machine) forgetFailures() {
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				s.gaveUp, s.seen = 0, nil
				s.effect()
			}
		}
	}
}

// addLanes adds where lanes stand, if it is new.
func addLanes(list []WaitingSplit, v WaitingSplit) []WaitingSplit {
	for i := range list {
		if o := &list[i]; o.CTA == v.CTA && o.Warp == v.Warp && o.PC == v.PC {
			o.Mask |= v.Mask
			return list
		}
	}
	return append(list, v)
}
