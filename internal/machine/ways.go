package machine

import "muster/internal/flow"

// Ways appends the choices that an exploration of every schedule has to take
// into account. It is Enabled, except for tests of a barrier. An await (see
// Awaits) and a poll of a word of memory are offered once they can succeed, and
// never given up. Any other test, or repeated read of memory, is always offered:
// as GiveUp while its phase is not complete, since a failed test has a way of its
// own. No choice: the run is over, or hangs.
func (m *Machine) Ways(buf []Choice) []Choice {
	if m.stop != nil {
		return buf
	}
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				if s.state == atPoint && m.held(w) {
					continue
				}
				c := Choice{Kind: Run, CTA: i, Warp: w.index, Lane: int8(lowest(s.mask))}
				if poll := m.pollOf(s); poll != nil {
					// A poll's reads before its last have no effect.
					if ends := m.pollEnds(w, s, poll); ends != 0 && (m.parts(s) || m.severalWords(s)) {
						buf = appendLanes(buf, c, ends)
					} else if ends != 0 {
						buf = append(buf, c)
					}
					buf = m.picks(w, s, buf)
				} else if m.ready(w, s) {
					if m.parts(s) || m.severalWords(s) {
						buf = appendLanes(buf, c, s.mask)
					} else {
						buf = append(buf, c)
					}
					buf = m.picks(w, s, buf)
				} else if s.state == atPoint && m.fails(s) && m.mayGiveUp(w, s) {
					c.Kind = GiveUp
					buf = append(buf, c)
				}
			}
		}
	}
	return m.starts(m.milestones(buf))
}

// fails reports whether a split stands before a test of a barrier whose number of
// failures may show, or before a read that can be part of a waiting loop.
func (m *Machine) fails(s *split) bool {
	in := &m.prog.code[s.pc]
	if in.test {
		return !m.prog.Awaits(s.pc)
	}
	a, ok := in.x.(*access)
	return ok && a.poll
}

// AtWait reports whether the split that takes a choice stands at a wait, over or not:
// behind its arrival at a barrier, at a test of an mbarrier, a wait for groups, or a
// read that polls memory.
func (m *Machine) AtWait(c Choice) bool {
	w := m.ctas[c.CTA].warps[c.Warp]
	s := w.find(c.Lane)
	if s == nil || s.state != atPoint {
		return true
	}
	in := &m.prog.code[s.pc]
	return in.test || in.ready != nil || m.prog.Polls()[s.pc] != nil || len(s.awaits) > 0 && m.polling(m.enter(w, s), in)
}

// A Lanes is a split as Splits shows it: lanes of a warp, where they stand, and
// whether they wait.
type Lanes struct {
	Mask  uint32
	PC    int32
	state state
}

// Splits appends the splits of a warp. A step of another split leaves equal
// what it does not touch.
func (m *Machine) Splits(cta, warp int32, buf []Lanes) []Lanes {
	if t := m.ctas[cta]; t != nil && int(warp) < len(t.warps) {
		for _, s := range t.warps[warp].splits {
			buf = append(buf, Lanes{s.mask, s.pc, s.state})
		}
	}
	return buf
}

// Values appends the values of registers of a lane's function.
func (m *Machine) Values(cta, warp int32, lane int, regs []flow.Reg, buf []uint64) []uint64 {
	w := m.ctas[cta].warps[warp]
	for _, s := range w.splits {
		if s.mask>>lane&1 == 0 {
			continue
		}
		for _, r := range regs {
			switch row := r.Row(); r.Class() {
			case flow.Word:
				buf = append(buf, uint64(w.r32[s.base32+row][lane]))
			case flow.Wide:
				buf = append(buf, w.r64[s.base64+row][lane])
			case flow.Predicate:
				buf = append(buf, uint64(w.p[s.basep+row]>>lane&1))
			}
		}
	}
	return buf
}

// ClusterFirst returns the CTA of rank 0 in the cluster of one that runs.
func (m *Machine) ClusterFirst(cta int32) int32 {
	if t := m.ctas[cta]; t != nil {
		return t.first
	}
	return cta
}

// FreeRegisters returns how many registers a CTA's warps have given back by
// setmaxnreg.
func (m *Machine) FreeRegisters(cta int32) int32 {
	if t := m.ctas[cta]; t != nil {
		return max(t.pool, 0)
	}
	return 0
}
