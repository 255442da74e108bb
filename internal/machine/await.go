package machine

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"time"

	"muster/internal/flow"
)

// Waiting. A loop whose only effect is to test a wait again is waiting, not
// running. The machine need not know loops for that: it keeps, for each
// split, the tests that came out false since the split last had a visible
// effect. A split that stands again before a test that it has failed already
// has come full circle, and sleeps until a condition of one of those tests
// changes. mbarrier tests sleep at once; reads that poll memory (strong loads,
// atomics that change nothing) sleep when the same read has given the same value
// before.
//
// A false test is a choice of the schedule (GiveUp), offered where nothing
// else can happen, so that a peek, a bound or a timeout takes its other path;
// a split that keeps coming back to the same tests has no other path, and
// when all that is left are such splits, the run is deadlocked.

// An await is one condition that a failed test read.
type await struct {
	pc    int32
	mem   MemID
	size  int32 // bytes polled; 0 for an mbarrier
	life  uint32
	addr  uint64
	val   uint64  // the value read, or the phase waited for
	ver   Version // read, if it was picked
	regs  uint64  // hash of the registers then, where versions are kept
	lanes uint32
	// woke holds 1 + each PC at which a change of this woke the split, the first
	// maxWakes of them.
	woke [maxWakes]int32
	done bool // of a look at an mbarrier (circle.go): the phase was complete
}

// maxWakes bounds the places at which one change wakes a split.
const maxWakes = 8

// maxGiveUps bounds how often in a row a test may fail by GiveUp; after that
// only its completion ends the wait.
const (
	maxGiveUps = 1 << 10
	maxPolls   = 1 << 16
	maxSeen    = 64  // register states that are compared
	maxAwaits  = 256 // failed tests kept for a split: a loop that reads more is no wait
)

// Timeout is how long a wait lasts at least before its end may be called a timeout, which
// is assumed not to strike.
const Timeout = 10 * time.Microsecond

// note remembers a failed test.
func (s *split) note(a await) {
	for i := range s.awaits {
		o := &s.awaits[i]
		if o.pc == a.pc && o.mem == a.mem && o.addr == a.addr && o.size == a.size {
			*o = a
			return
		}
	}
	if len(s.awaits) == maxAwaits {
		s.awaits = s.awaits[:0]
	}
	s.awaits = append(s.awaits, a)
}

// failed reports whether the test at pc on that address is among the split's
// failed ones.
func (s *split) failed(pc int32, mem MemID, addr uint64) bool {
	for i := range s.awaits {
		if a := &s.awaits[i]; a.pc == pc && a.mem == mem && a.addr == addr {
			return true
		}
	}
	return false
}

// anyAwait reports whether a condition that the split's failed tests read has
// changed. A change wakes the split only once at each PC: one that the split
// peeked at, and never reads again, would wake it forever.
func (m *Machine) anyAwait(s *split) bool {
	for i := range s.awaits {
		if a := &s.awaits[i]; !slices.Contains(a.woke[:], s.pc+1) && a.woke[maxWakes-1] == 0 && m.changed(a) {
			return true
		}
	}
	return false
}

// woken records that the conditions changed so far have woken the split at pc. The same
// change may wake it at several PCs, once at each.
func (m *Machine) woken(s *split, pc int32) {
	for i := range s.awaits {
		a := &s.awaits[i]
		if k := slices.Index(a.woke[:], 0); k >= 0 && !slices.Contains(a.woke[:], pc+1) && m.changed(a) {
			a.woke[k] = pc + 1
		}
	}
}

func (m *Machine) changed(a *await) bool {
	if a.size == 0 {
		b := m.barrier(a.mem, a.addr)
		return b == nil || b.life != a.life || b.phase > int64(a.val)
	}
	v, _ := m.Peek(a.mem, a.addr, int(a.size))
	return v != a.val
}

// polling reports whether the split stands before a read of memory that it has made
// before, at the same addresses, since its last visible effect, and that would give the
// same values again.
func (m *Machine) polling(x *ctx, in *instr) bool {
	acc, ok := in.x.(*access)
	if !ok || !acc.poll {
		return false
	}
	x.addressesOf(acc, &m.addr)
	for l := range lanesOf(x.s.mask) {
		mem, addr, ok := x.resolve(acc.space, m.addr[l])
		if !ok || !m.failedStill(x.s, mem, addr) {
			return false
		}
	}
	return true
}

// failedStill reports whether a read of memory at the split's PC, on that address, is
// among its failed tests, and the value is the same.
func (m *Machine) failedStill(s *split, mem MemID, addr uint64) bool {
	for i := range s.awaits {
		if a := &s.awaits[i]; a.pc == s.pc && a.mem == mem && a.addr == addr {
			return !m.changed(a)
		}
	}
	return false
}

// mayGiveUp reports whether GiveUp could take a waiting split to a new state: it
// has not given up at this test yet, or its registers have changed since, as a
// loop counter's do.
func (m *Machine) mayGiveUp(w *warp, s *split) bool {
	if s.spun || len(m.rounds) > 0 && m.rests(w) || m.held(w) {
		return false // it has been in every state it can reach
	}
	in := &m.prog.code[s.pc]
	if s.mask != w.live && in.aligned() {
		return s.gaveUp < 2
	}
	acc, poll := in.x.(*access)
	poll = poll && acc.poll
	if !poll && !in.test {
		return false
	}
	most := int32(maxGiveUps)
	if poll {
		most = maxPolls
	}
	if s.gaveUp >= most {
		return false
	}
	return s.gaveUp == 0 || len(s.seen) == maxSeen || !slices.Contains(s.seen, m.registerHash(w, s))
}

// letGo counts a GiveUp of the split's test, and records its registers.
func (m *Machine) letGo(w *warp, s *split) {
	if s.gaveUp == 0 {
		s.seen, s.waited = s.seen[:0], 0
	}
	if p := m.prog.Pauses()[s.pc]; p.Clocked || p.Limit != flow.NoReg {
		s.waited = Timeout // package patience has tried it
	} else {
		s.waited = min(Timeout, s.waited+min(Timeout, p.Least))
	}
	if len(s.seen) < maxSeen {
		s.seen = append(s.seen, m.registerHash(w, s))
	}
	if s.gaveUp++; s.gaveUp == maxGiveUps && m.prog.code[s.pc].test {
		m.exhausted = s.pc + 1
	}
}

// Exhausted returns the PC of a test that failed by GiveUp as often as the limit allows,
// or -1: whether more turns would end that wait is not known.
func (m *Machine) Exhausted() int32 { return m.exhausted - 1 }

// registerHash hashes what the split's future depends on, except shared state.
func (m *Machine) registerHash(w *warp, s *split) uint64 { return m.stateHash(m.enter(w, s)) }

// stateHash is registerHash of the split that runs.
func (m *Machine) stateHash(x *ctx) uint64 {
	w, s := x.w, x.s
	b := binary.LittleEndian.AppendUint32(m.hashed[:0], uint32(s.pc))
	b = binary.LittleEndian.AppendUint32(b, s.mask)
	for i := range x.r32 {
		for k := s.mask; k != 0; k &= k - 1 {
			b = binary.LittleEndian.AppendUint32(b, x.r32[i][bits.TrailingZeros32(k)&31])
		}
	}
	for i := range x.r64 {
		for k := s.mask; k != 0; k &= k - 1 {
			b = binary.LittleEndian.AppendUint64(b, x.r64[i][bits.TrailingZeros32(k)&31])
		}
	}
	for _, p := range x.p {
		b = binary.LittleEndian.AppendUint32(b, p&s.mask)
	}
	m.hashed = b
	var h maphash.Hash
	h.SetSeed(hashSeed)
	h.Write(b)
	if w.lsize > 0 {
		w.local.hash(&h)
	}
	return h.Sum64()
}
