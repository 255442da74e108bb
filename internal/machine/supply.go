package machine

// What one lane does with a value that it reads, alone: the other threads stand still. Package
// executions asks so whether what it writes depends on the value.

// Supply has the lane of a choice, which stands before a strong access of one word, take its step
// as if a version held a value of its own.
func (m *Machine) Supply(c Choice, value uint64) {
	c.Kind = Pick
	m.supply = &value
	m.Step(c)
	m.supply = nil
}

// At returns where a lane stands, -1 if it has ended.
func (m *Machine) At(cta, warp int32, lane int8) int32 {
	if m.ctas[cta] == nil {
		return -1
	}
	if s := m.ctas[cta].warps[warp].find(lane); s != nil {
		return s.pc
	}
	return -1
}

// Alone returns the choice by which a lane goes on, others only if they go with it; ok is false
// if it waits.
func (m *Machine) Alone(cta, warp int32, lane int8) (c Choice, ok bool) {
	w := m.ctas[cta].warps[warp]
	for _, c := range m.Ways(nil) {
		if c.CTA != cta || c.Warp != warp || c.Kind != Run && c.Kind != Alone {
			continue
		}
		if s := w.find(c.Lane); s != nil && s.mask>>uint(lane)&1 != 0 && (c.Kind == Run || c.Lane == lane) {
			return c, true
		}
	}
	return Choice{}, false
}

// Held returns the value of a word's version.
func (m *Machine) Held(w Word, v Version) (lo, hi uint64, ok bool) {
	for _, o := range m.current(w) {
		if o.name == v {
			return o.lo, o.hi, true
		}
	}
	return 0, 0, false
}

// Compares reports whether an instruction is a compare-and-swap, which writes or does not.
func (p *Program) Compares(pc int32) bool {
	a, ok := p.code[pc].x.(*access)
	return ok && a.atom == atomCas && a.acc&Update != 0
}

// Contents returns what memory holds of a word, of one of 16 bytes the first half.
func (m *Machine) Contents(w Word) uint64 {
	if r, _ := m.memory(w.Mem, w.Addr); r == nil {
		return 0
	}
	lo, _ := m.contents(m.word(w))
	return lo
}
