package machine

// What a proof by mutual exclusion does with a machine beside running it: it tries in copies what a
// thread does that does not get a lock, and what it does once it gets it.

// Beside returns a copy in which one CTA alone runs, watched by o alone. The others stay as they
// are, and are shared: the copy must not be stepped once m has been. The copy follows no values.
func (m *Machine) Beside(o Observer, index int32) *Machine {
	one := *m
	one.ctas, one.running = make([]*cta, len(m.ctas)), []int32{index}
	one.ctas[index] = m.ctas[index]
	c := one.Clone()
	m.owner = one.owner
	c.cfg.Observer, c.cfg.follower = o, nil
	for i, t := range m.ctas {
		if c.ctas[i] == nil {
			c.ctas[i] = t
		}
	}
	return c
}

// Poke has a word of global memory of at most 8 bytes hold a value, as if another thread had
// written it. It reports whether there is such a word.
func (m *Machine) Poke(addr uint64, size int32, v uint64) bool {
	r, off := m.memory(Global, addr)
	if r == nil || size > 8 || off+uint64(size) > r.size {
		return false
	}
	r.store(off, size, v, m.owner)
	return true
}

// Rouse has the threads of a CTA look again that sleep because a test of theirs would read what it
// has read before: their registers may have changed since. Those sleep on that have been in every
// state that they can reach.
func (m *Machine) Rouse(index int32) {
	t := m.ctas[index]
	if t == nil || t.ended {
		return
	}
	for _, w := range t.warps {
		for _, s := range w.splits {
			if !s.spun {
				s.awaits = nil
			}
		}
	}
}

// StateOf hashes what the future of a CTA depends on, except memory that other CTAs can reach. A
// register whose value nobody reads any more is left out. ok: the CTA is there, and no operation
// of it is in flight.
func (m *Machine) StateOf(cta int32) (hash uint64, ok bool) {
	t := m.ctas[cta]
	if t == nil || !m.lone(t) {
		return 0, false
	}
	for _, w := range t.warps {
		for _, s := range w.splits {
			if s.state == waiting && s.wait.kind != waitBar && s.wait.kind != waitWarpAtBar {
				return 0, false
			}
		}
	}
	return m.unitState(t, t.warps), true
}

// RunsOf appends the Run choices of one CTA to buf.
func (m *Machine) RunsOf(index int32, buf []Choice) []Choice {
	t := m.ctas[index]
	if m.stop != nil || t == nil || t.ended {
		return buf
	}
	for _, w := range t.warps {
		for _, s := range w.splits {
			if m.ready(w, s) {
				buf = append(buf, Choice{Kind: Run, CTA: index, Warp: w.index, Lane: int8(lowest(s.mask))})
			}
		}
	}
	return buf
}

// ResidentUpTo has up to n CTAs run at a time.
func (m *Machine) ResidentUpTo(n int) { m.cfg.MaxResident = n }
