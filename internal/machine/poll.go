package machine

// Polls while a program runs. Package flow finds them.

// ComparedWith returns the value that a lane of the access being shown compares with
// the word that its poll reads.
func (m *Machine) ComparedWith(p *Poll, lane int) uint64 {
	b := m.prog.code[p.Setp].b
	if p.Size == 8 {
		return m.x.a64(b)[lane]
	}
	return uint64(m.x.a32(b)[lane])
}

// Ticket returns what the addition of a wait for a bit returned to a lane of the access being
// shown, which is the wait's load.
func (m *Machine) Ticket(f *Flip, lane int) uint32 {
	in := &m.prog.code[f.With]
	if f.First {
		return m.x.a32(in.a)[lane]
	}
	return m.x.a32(in.b)[lane]
}

// pollOf returns the poll before whose load a split stands, nil if there is none.
func (m *Machine) pollOf(s *split) *Poll {
	if s.state != atPoint {
		return nil
	}
	return m.prog.Polls()[s.pc]
}

// pollEnds returns the lanes of a split before a poll's load whose wait would end
// now, or that would fault.
func (m *Machine) pollEnds(w *warp, s *split, poll *Poll) uint32 {
	x := m.enter(w, s)
	a := m.prog.code[s.pc].x.(*access)
	x.addressesOf(a, &m.addr)
	addr := m.addr
	ends := uint32(0)
	for l := range lanesOf(s.mask) {
		mem, at, ok := x.resolve(a.space, addr[l])
		v, known := uint64(0), false
		if ok {
			v, known = m.Peek(mem, at, int(a.size))
		}
		if !known || poll.Ends(v, m.ComparedWith(poll, l)) {
			ends |= 1 << l
		}
	}
	return ends
}

// PollWaits reports whether a split stands before the load of a poll that would go
// on.
func (m *Machine) PollWaits(v *WaitingSplit) bool {
	w := m.ctas[v.CTA].warps[v.Warp]
	s := w.find(int8(lowest(v.Mask)))
	if s == nil {
		return false
	}
	poll := m.pollOf(s)
	return poll != nil && m.pollEnds(w, s, poll) == 0
}
