package machine

import (
	"hash/maphash"
	"slices"
)

// Circles are cycles of states: a run that returns to an earlier state can repeat
// for ever. Three kinds are recognised, each by comparing states, not by looking
// for loops in the text; a loop that counts in a register is none of them.
//
//   - A warp that executes no visible instruction and returns to the same
//     registers never leaves its loop (stuck).
//   - A split whose visible instructions have no visible effect, and that returns to the
//     same registers, depends only on what it read: it sleeps until some of that changes
//     (spun), like a split that has failed a test (await.go). So an inverted wait is a
//     wait, and the other splits can run, give up, or be found waiting too.
//   - Where splits change memory and change it back, the whole machine returns to a
//     state. Another schedule may leave that circle, so all reachable states are
//     searched, in copies; if they are few, and none is the end of the launch, the run
//     ends (Stop.Circle).
//
// The clock, and which lanes happen to run together, differ the next time round,
// so reading these restarts every comparison.
//
// All this costs little in runs that end: comparing begins after many instructions
// without an effect, with a reference state that is replaced after twice as many
// instructions each time (Brent 1980), and the search for the end takes a small part of
// the time.
const (
	spinAfter   = 1 << 8  // visible instructions of a split without an effect
	circleAfter = 1 << 12 // instructions of a run
	stuckAfter  = 1 << 14 // instructions of a warp between two visible ones
	maxLooks    = 1 << 10 // reads and tests recorded in one turn of a loop
	leastLook   = 1 << 17 // least cost of one search for the end of a run, in instructions
	maxWindow   = 1 << 14
	maxGlance   = 1 << 10 // bytes
	maxInStep   = 1 << 16 // instructions in one step of a search
)

// A private is a snapshot of the state that only a warp's lanes see: splits,
// registers, local memory. It is immutable.
type private struct {
	splits []split
	r32    [][32]uint32
	r64    [][32]uint64
	p      []uint32
	local  uint64 // a hash
}

// privateOf takes a snapshot of some splits of w.
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

// sameSplits reports whether splits have the PCs, masks, states and frames of v's.
func (v *private) sameSplits(splits ...*split) bool {
	return slices.EqualFunc(v.splits, splits, func(a split, b *split) bool {
		return a.pc == b.pc && a.mask == b.mask && a.state == b.state && a.lbase == b.lbase && a.room == b.room && sameFrames(&a, b)
	})
}

// same compares the registers of the lanes in mask, and the warp's local memory. Hashing
// that is expensive, and a loop that counts in local memory alone has the same registers
// each time: it is done at calls 1, 2, 4, 8, … and every 64th, by looks.
func (v *private) same(w *warp, mask uint32, hint, looks *int32) bool {
	if !v.sameRegisters(w, mask, hint) {
		return false
	}
	*looks++
	if w.lsize > 0 && *looks&(*looks-1) != 0 && *looks%64 != 0 {
		return false
	}
	return v.local == w.localHash()
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

// A turn is a split's way round its loop since its last effect.
type turn struct {
	idle  int32    // visible instructions since its last effect
	since *private // the state to compare with; nil if there is none yet
	n     int32    // visible instructions since then
	last  int32    // visible instructions after which a new state replaces since
	hint  int32
	looks int32
	saw   []await // what it has read and tested since
	blind bool    // saw was full
}

// effect restarts the turn: another agent could observe what the split did, or
// the split read what differs the next time.
func (s *split) effect() { s.idle, s.since, s.saw = 0, nil, s.saw[:0] }

// unsteady records that an instruction read a clock or the like, which differs the next
// time.
func (x *ctx) unsteady() {
	x.s.effect()
	x.c.round.spoil()
	x.w.round.spoil()
	x.m.unsteady++
}

// look records the values that a read of memory, or an atomic that changed
// nothing, returned.
func (x *ctx) look(a *access, at where) {
	if x.s.since == nil {
		return
	}
	for l := range lanesOf(at.mask) {
		for o := int32(0); o < a.size; o += 8 {
			n := min(a.size-o, 8)
			adr := x.m.addr[l] + uint64(o)
			x.s.looked(await{pc: x.s.pc, mem: at.mem, addr: adr, size: n, val: x.saw(a, at, l, o), lanes: at.mask})
		}
	}
}

// lookMbar is look for a test of an mbarrier: the open phase decides its result.
func (s *split) lookMbar(pc int32, mem MemID, addr uint64, b *mbar, lanes uint32, done bool) {
	if s.since != nil {
		s.looked(await{pc: pc, mem: mem, addr: addr, life: b.life, val: uint64(b.phase), lanes: lanes, done: done})
	}
}

func (s *split) looked(a await) {
	if n := len(s.saw); n > 0 && s.saw[n-1] == a {
		return
	}
	if len(s.saw) == maxLooks {
		s.blind = true
		return
	}
	s.saw = append(s.saw, a)
}

// joinTurn merges the turn of o into that of s, when the splits merge.
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

// comeRound puts a split to sleep that has returned to a state without an effect.
// The split stands before a visible instruction.
func (m *Machine) comeRound(w *warp, s *split) {
	if !slices.Contains(w.splits, s) || s.state != atPoint {
		return
	}
	s.n++
	switch {
	case s.since == nil:
		s.last = 1
	case s.since.splits[0].mask != s.mask && s.n < 4*s.last:
		return // lanes that diverged may merge again
	case !s.blind && s.since.sameSplits(s) && s.since.same(w, s.mask, &s.hint, &s.looks):
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
	s.since, s.n, s.looks, s.saw, s.blind = w.privateOf(s), 0, 0, s.saw[:0], false
}

// ---- a warp without visible instructions ----

// A plainRun is what a warp has executed since its last visible instruction.
type plainRun struct {
	from  int64 // the machine's count of instructions then
	until int64 // the count at which comparing begins, or ends
	since *private
	ran   uint32 // lanes that ran since
	steps int64  // the machine's count of unsteady instructions then
	hint  int32
	looks int32
}

// leash returns how many instructions a split may execute before settle checks
// the warp: 0 while it compares states.
func (m *Machine) leash(r *plainRun) int64 {
	left := m.budget()
	if r.since != nil {
		return min(left, 0)
	}
	return min(left, r.until-m.instrs)
}

// goOn compares a warp that has executed very many instructions, none of them
// visible, with an earlier state of it, for a 64th of the time; lanes in a circle
// become stuck.
func (m *Machine) goOn(w *warp, r *plainRun) {
	switch {
	case m.instrs < r.until && r.since == nil:
	case r.since == nil:
		r.since, r.ran, r.looks, r.steps = w.privateOf(w.splits...), 0, 0, m.unsteady
		r.until = m.instrs + (m.instrs-r.from)/64
	case r.steps == m.unsteady && r.since.sameSplits(w.splits...) && r.since.same(w, ^uint32(0), &r.hint, &r.looks):
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

// A Circle is a set of states that no schedule leaves: after After instructions only
// States states are reachable, and none of them is the end of the launch. Lanes are some
// that run in them.
type Circle struct {
	After  int64
	States int
	Lanes  []WaitingSplit
}

// A window is a part of a run that checks whether splits return to earlier private
// states: the first half records hashes of these, the second compares. Only if none is
// new, a search of all reachable states is worth its cost.
type window struct {
	half, end int64 // counts of instructions
	seen      map[uint64]bool
	effects   int64 // of the machine, before
}

// endAt ends the run if no schedule leads from here to the launch's end. It searches each
// time the run has doubled in length; s of w has just reached a visible instruction.
func (m *Machine) endAt(w *warp, s *split) {
	if m.instrs < m.circleAt || m.stop != nil {
		return
	}
	if m.window == nil {
		n := min(m.instrs/64, maxWindow)
		m.window = &window{half: m.instrs + n, end: m.instrs + 2*n, seen: map[uint64]bool{}, effects: m.effects}
	}
	switch h := w.glance(s); {
	case m.instrs < m.window.half:
		m.window.seen[h] = true
		return
	case !m.window.seen[h]:
	case m.instrs < m.window.end:
		return
	case m.window.effects == m.effects: // splits without effects will fall asleep
	default:
		if c := m.endless(max(m.instrs/4, leastLook) / m.weight()); c != nil {
			m.halt(Stop{Kind: Deadlock, PC: -1, Mem: Local, Circle: c})
		}
	}
	m.window, m.circleAt = nil, 2*m.instrs
}

// glance hashes where a split stands, and the registers and some of the local memory
// of its lowest lane.
func (w *warp) glance(s *split) uint64 {
	const prime = 1099511628211
	h := uint64(w.cta)<<40 ^ uint64(w.index)<<32 ^ uint64(s.pc) ^ uint64(s.mask)<<13
	l := lowest(s.mask) & 31
	for i := range w.r32 {
		h = (h ^ uint64(w.r32[i][l])) * prime
	}
	for i := range w.r64 {
		h = (h ^ w.r64[i][l]) * prime
		h ^= h >> 32
	}
	for _, p := range w.p {
		h = (h ^ uint64(p>>l&1)) * prime
	}
	for at := uint64(0); at+4 <= min(w.lsize, maxGlance); at += 4 {
		h = (h ^ uint64(w.local.load32(uint64(l)*w.lsize+at))) * prime
	}
	return h ^ h>>29
}

// weight estimates the cost of copying and comparing the machine, in instructions.
func (m *Machine) weight() int64 {
	n := 8 + len(m.ctas)/16 + m.global.pages()/64
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			n += 8 + (len(w.r32)+2*len(w.r64))/16
		}
	}
	return int64(n)
}

func (g *addressMap) pages() int {
	n := 0
	for i := range g.regions {
		n += len(g.regions[i].pages)
	}
	return n
}

// endless searches the reachable states, in at most that many steps. It returns nil if
// one is the end of the launch, or if that is unknown: a run stops on the way, or reads
// a clock or the like, or there are too many states.
func (m *Machine) endless(most int64) *Circle {
	from := m.Fork(nil, m.cfg.Poison)
	from.circleAt, from.window = 1<<62, nil
	from.forgetFailures()
	seen := map[uint64]bool{from.hashSince(from): true}
	c := &Circle{After: m.instrs}
	var buf []Choice
	for work := []*Machine{from.Fork(nil, m.cfg.Poison)}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		buf = at.enough(at.exits(at.Enabled(buf[:0])))
		hung := true
		if buf == nil {
			return nil
		}
		for i, ch := range buf {
			next := at
			if i < len(buf)-1 {
				next = at.Fork(nil, m.cfg.Poison)
			}
			next.cfg.MaxInstrs = next.instrs + maxInStep
			next.Step(ch)
			if most--; most < 0 || next.stop != nil || next.Done() || next.unsteady != m.unsteady {
				return nil
			}
			next.forgetFailures()
			h := next.hashSince(from)
			hung = hung && ch.Kind == GiveUp && seen[h]
			if !seen[h] {
				seen[h] = true
				work = append(work, next)
			}
		}
		if hung {
			return nil // a deadlock: the run will reach it, or stop for another reason
		}
	}
	c.States = len(seen)
	if from.goRound(c); from.stop != nil || len(c.Lanes) == 0 {
		return nil // it was interrupted
	}
	return c
}

// goRound collects the lanes that run in a circle: it takes choices in turn; after as
// many choices as there are states, every state that it passes recurs.
func (m *Machine) goRound(c *Circle) {
	m.cfg.MaxInstrs = 0
	var buf []Choice
	for n := range 3 * c.States {
		if buf = m.enough(m.Enabled(buf[:0])); len(buf) == 0 {
			if buf = m.exits(buf); len(buf) == 0 {
				return
			}
		}
		ch := buf[n%len(buf)]
		if n >= c.States && (ch.Kind == Run || ch.Kind == GiveUp) {
			c.Lanes = addLanes(c.Lanes, m.WaitingOf(ch))
		}
		m.Step(ch)
		m.forgetFailures()
	}
}

// enough reduces the choices to a persistent set: if the search finds no end with those,
// none exists (Godefroid 1996). It returns nil if clusters that have not started could
// interfere: how many run at a time depends on the card.
func (m *Machine) enough(all []Choice) []Choice {
	if len(m.ops) > 0 {
		if m.waits() {
			return nil
		}
		return all
	}
	for _, c := range all {
		if c.Kind == Start || c.Kind == Run && m.alone(c) {
			return append(all[:0], c)
		}
	}
	for i, c := range all {
		first := m.ctas[c.CTA].first
		if i > 0 && m.ctas[all[i-1].CTA].first == first || !m.within(first) {
			continue
		}
		n := 0
		for _, o := range all {
			if m.ctas[o.CTA].first == first {
				all[n] = o
				n++
			}
		}
		return all[:n]
	}
	if m.waits() {
		return nil
	}
	return all
}

// alone reports whether a choice commutes with all steps that others may take before it:
// a warp passes a barrier of its CTA, or arrives at one that counts all threads.
func (m *Machine) alone(c Choice) bool {
	w := m.ctas[c.CTA].warps[c.Warp]
	if len(w.splits) != 1 {
		return false
	}
	s := w.splits[0]
	if s.state == waiting {
		return true
	}
	_, is := m.prog.code[s.pc].x.(*barInfo)
	return is && s.state == atPoint && m.prog.wholeBars()
}

// wholeBars reports whether no bar of the program gives a thread count.
func (p *Program) wholeBars() bool {
	return !slices.ContainsFunc(p.code, func(in instr) bool {
		bi, is := in.x.(*barInfo)
		return is && bi.count
	})
}

// within reports whether the next steps of the cluster with first CTA first
// access only its own shared memory and barriers, and its waits depend only on
// these: then other clusters cannot interfere.
func (m *Machine) within(first int32) bool {
	g := m.gridOf(first)
	for r := int32(0); r < g.size(first); r++ {
		t := m.ctas[g.clusterMember(first, r)]
		if t == nil {
			continue
		}
		for _, w := range t.warps {
			for _, s := range w.splits {
				if !m.inCluster(w, s) {
					return false
				}
			}
		}
	}
	return true
}

func (m *Machine) inCluster(w *warp, s *split) bool {
	global := func(a await) bool { return a.mem == Global }
	if s.state != atPoint || s.spun {
		return !slices.ContainsFunc(s.awaits, global)
	}
	switch i := m.prog.code[s.pc].x.(type) {
	case *barInfo, *clusterInfo, *mbarInfo, *fenceInfo:
		return true
	case *access:
		x := m.enter(w, s)
		x.addressesOf(i, &m.addr)
		for l := range lanesOf(s.mask) {
			if mem, _, ok := x.resolve(i.space, m.addr[l]); !ok || mem.Kind() != SharedMemory {
				return false
			}
		}
		return true
	}
	return false
}

// forgetFailures keeps only the failed tests that a split sleeps for: other failures, and
// their number, are no part of the launch's state. So every test that may fail by GiveUp
// may do so once more.
func (m *Machine) forgetFailures() {
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				s.gaveUp, s.seen = 0, nil
				s.effect()
				if m.anyAwait(s) {
					s.awaits, s.spun = s.awaits[:0], false
				}
				for k := range s.awaits {
					s.awaits[k].woke = [maxWakes]int32{}
				}
			}
		}
	}
}

// addLanes adds v, or its lanes to the entry with its CTA, warp and PC.
func addLanes(list []WaitingSplit, v WaitingSplit) []WaitingSplit {
	for i := range list {
		if o := &list[i]; o.CTA == v.CTA && o.Warp == v.Warp && o.PC == v.PC {
			o.Mask |= v.Mask
			return list
		}
	}
	return append(list, v)
}
