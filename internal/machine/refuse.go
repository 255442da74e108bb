package machine

import "time"

// Refuse steps the split that holds c's lane, at a test of a barrier or at the load of a
// poll, so that the test fails or the poll goes on, and returns the PC. It is for copies
// of a run that measure how long a wait lasts: it may change a word of memory. It reports
// false if the split stands elsewhere.
func (m *Machine) Refuse(c Choice) (pc int32, ok bool) {
	if m.stop != nil || m.ctas[c.CTA] == nil {
		return -1, false
	}
	w := m.ctas[c.CTA].warps[c.Warp]
	s := w.find(c.Lane)
	if s == nil || s.state != atPoint {
		return -1, false
	}
	pc = s.pc
	in := &m.prog.code[s.pc]
	switch poll := m.pollOf(s); {
	case in.test:
		m.refusing = true
		defer func() { m.refusing = false }()
	case poll == nil || !m.withhold(w, s, in, poll):
		return -1, false
	}
	m.clock++
	m.step(w, s, false)
	return pc, true
}

// withhold writes values that do not end a poll to the words that the poll reads next.
func (m *Machine) withhold(w *warp, s *split, in *instr, poll *Poll) bool {
	a := in.x.(*access)
	x := m.enter(w, s)
	x.addressesOf(a, &m.addr)
	for l := range lanesOf(s.mask) {
		mem, addr, ok := x.resolve(a.space, m.addr[l])
		if !ok {
			return false
		}
		r, off := m.memory(mem, addr)
		with := m.ComparedWith(poll, l)
		if r == nil || !r.within(off, uint64(poll.Size)) {
			return false
		}
		for _, v := range [...]uint64{r.load(off, int32(poll.Size)), 0, 1, ^uint64(0), with, with - 1, with + 1} {
			if poll.Size == 4 {
				v &= 1<<32 - 1
			}
			if !poll.Ends(v, with) {
				r.store(off, int32(poll.Size), v, m.owner)
				break
			}
		}
	}
	return true
}

// Pass lets virtual time go by.
func (m *Machine) Pass(t time.Duration) { m.clock += int64(t) }

// Clock returns virtual time, and Slept how long nanosleep has slept, all lanes together.
func (m *Machine) Clock() time.Duration { return time.Duration(m.clock) }

// Slept: see Clock.
func (m *Machine) Slept() time.Duration { return m.slept }
