package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Unordered stores of equal values leave the same memory in either order. But a
// Tracker that keeps only the last write of a byte has then forgotten the accesses
// before the first store, and a second store that is ordered after the first alone,
// or after neither, is not checked against them: T0 stores 1, loads and stores 2; T1
// stores 2. So at places written by the instructions of Config.Equal nothing is
// forgotten: each of their stores is checked against all earlier accesses to the
// place, and all later accesses against each of them. SameValue holds between a store
// of the bytes already there and the run of stores that left them there.

// current marks a write of the last run of equal stores to a place.
const current = uint8(machine.Update << 3)

// marks are the bits of stamp.what beyond the kind of access.
const marks = otherRead | current | observer

// EqualStores returns the plain stores (PCs) that wrote a value which an unordered
// store had written. Where Config.Equal does not name them, accesses may have been
// forgotten.
func (t *Tracker) EqualStores() []int32 {
	var pcs []int32
	for _, c := range t.Conflicts() {
		if c.Why&SameValue != 0 && c.Why&OneInstruction == 0 {
			pcs = append(pcs, c.Prior.PC, c.Cur.PC)
		}
	}
	slices.Sort(pcs)
	return slices.Compact(pcs)
}

// keepsAll reports whether an access is a store of Config.Equal.
func (t *Tracker) keepsAll(ac *access) bool {
	return t.cfg.Equal != nil && !ac.st.strong() && !ac.st.isOp() && t.ev.Kind == machine.EvAccess && t.cfg.Equal(ac.st.pc)
}

// touchEqual is touch for a store of Config.Equal.
func (t *Tracker) touchEqual(s *seg, ac *access, a, b int) {
	same := t.brings(ac, a, b)
	kept := t.buf[:0]
	hold := func(p stamp) {
		if !same && !t.besides(ac, &p, a) {
			p.what &^= current
		}
		if p.what&observer == 0 {
			t.outlives(s, ac, &p, a, b)
		}
		p.turn, p.root = 0, 0
		kept = append(kept, p)
	}
	if s.write.who != 0 {
		hold(s.write)
	}
	if s.read.who != 0 {
		hold(s.read)
	}
	if s.more != nil {
		for _, p := range s.more.list {
			hold(p)
		}
		t.freeSet(s.more)
		s.more = nil
	}
	s.write, s.read = ac.st, stamp{}
	s.write.what |= current
	for i := range kept {
		if t.supersedes(&s.write, &kept[i]) {
			continue
		}
		if s.more == nil {
			s.more = t.newSet()
		}
		t.add(s.more, &kept[i])
	}
	t.buf = kept[:0]
}

// besides reports whether an earlier store is by other lanes of the same executed
// instruction, with the same value. Memory holds neither value yet.
func (t *Tracker) besides(ac *access, p *stamp, at int) bool {
	if p.who != ac.st.who || p.time != ac.st.time || p.pc != ac.st.pc || t.ev.Mask&p.lanesAt(at) == 0 {
		return false
	}
	other, lane := bits.TrailingZeros32(p.lanesAt(at)), bits.TrailingZeros32(ac.st.lanesAt(at))
	return t.ev.Addr[other] == t.ev.Addr[lane] && equalLanes(t.ev.Values(), other, lane)
}

// brings reports whether a store writes to bytes [a, b) of the row what they hold.
func (t *Tracker) brings(ac *access, a, b int) bool {
	val := t.ev.Values()
	if t.mem == nil || val == nil {
		return false
	}
	lanes := uint32(0)
	for x := a; x < b; x++ {
		lanes |= ac.st.lanesAt(x)
	}
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for k := range val {
			old, ok := t.mem.Peek(ac.mem, t.ev.Addr[l]+8*uint64(k), min(8, int(t.ev.Size)-8*k))
			if !ok || old != val[k][l] {
				return false
			}
		}
	}
	return true
}
