package machine

import "math/bits"

// The lanes of a split perform an instruction in one step, in the order of their numbers.
// The ISA does not promise that (3.2): each lane is a thread, others may see the effects
// of some lanes and not of the rest, and any lane may be first. Where that can matter, an
// exploration divides the split.

// Part makes the lanes of a split perform these instructions one by one, in any order:
// Ways offers a choice for each. Instructions that no lane can perform alone stay as
// they are. Part implies KeepApart.
func (m *Machine) Part(pcs []int32) {
	if len(pcs) == 0 {
		return
	}
	m.KeepApart()
	m.cfg.parted = make([]bool, len(m.prog.code))
	for _, pc := range pcs {
		if int(pc) < len(m.cfg.parted) {
			m.cfg.parted[pc] = m.prog.code[pc].parts()
		}
	}
}

// parts reports whether a lane can perform an instruction without the others.
func (in *instr) parts() bool {
	switch i := in.x.(type) {
	case *access:
		return in.class == visible
	case *mbarInfo:
		return in.class == visible && i != nil
	}
	return false
}

// parts reports whether the lanes of a split must perform its next instruction one by
// one.
func (m *Machine) parts(s *split) bool {
	return m.cfg.parted != nil && s.state == atPoint && m.cfg.parted[s.pc] && s.mask&(s.mask-1) != 0
}

// KeepApart makes lanes that diverge at branches, too, reconverge only where they wait
// for each other: merging elsewhere makes one split wait for the other.
func (m *Machine) KeepApart() { m.cfg.apart = true }

// KeepsApart reports whether KeepApart was called.
func (m *Machine) KeepsApart() bool { return m.cfg.apart }

// staysApart reports whether no other split may merge with s where it stands, since lanes
// of the warp were divided: merging would make s wait for the other. Splits merge where
// they wait for each other.
func (m *Machine) staysApart(w *warp, s *split) bool {
	if !w.apart && !m.cfg.apart || s.state != atPoint {
		return false
	}
	in := &m.prog.code[s.pc]
	return in.class == visible && !in.aligned() && !in.showsLanes()
}

// mayPart reports whether a lane of a Run choice's split can perform the split's
// next instruction without the others.
func (m *Machine) mayPart(c Choice) bool {
	s := m.ctas[c.CTA].warps[c.Warp].find(c.Lane)
	return s != nil && s.state == atPoint && s.mask&(s.mask-1) != 0 && m.prog.code[s.pc].parts()
}

// appendLanes appends the choices of a split's lanes.
func appendLanes(buf []Choice, c Choice, mask uint32) []Choice {
	c.Kind = Alone
	for k := mask; k != 0; k &= k - 1 {
		c.Lane = int8(bits.TrailingZeros32(k))
		buf = append(buf, c)
	}
	return buf
}

// alone divides a lane from its split, which stands before a visible instruction, and
// returns the lane's split.
func (w *warp) alone(s *split, lane int8) *split {
	if s.mask == 1<<uint(lane) {
		return s
	}
	n := w.divide(s, 1<<uint(lane))
	n.state = atPoint
	w.apart = true
	return n
}
