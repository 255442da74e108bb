package machine

// Limits on the cost of a run: a number of instructions, and a function that is
// polled now and then, such as a clock. A run that a limit cut shows what has
// happened in it, but not that anything never happens.

// stepWork is the work of one step, in instructions.
const stepWork = 64

// defaultPace is the work between two calls of StopWhen's function: mostly less
// than a millisecond.
const defaultPace = 1 << 14

// StopWhen makes the machine call stop now and then while it works, also in the middle of
// a step, and end the run, Interrupted, when stop returns true. Clones call it too.
func (m *Machine) StopWhen(stop func() bool) {
	if m.stopNow = stop; m.pace == 0 {
		m.pace = defaultPace
	}
	m.left = m.pace
}

// SetPace sets about how many warp instructions lie between two calls of stop.
func (m *Machine) SetPace(instrs int64) { m.pace, m.left = instrs, instrs }

// budget returns how many instructions may run before goesOn must be called.
func (m *Machine) budget() int64 {
	most := int64(1<<63 - 1)
	if m.cfg.MaxInstrs > 0 {
		most = m.cfg.MaxInstrs - m.instrs
	}
	if m.stopNow != nil {
		most = min(most, max(m.left, 0))
	}
	return most
}

// goesOn ends the run at a split if a limit is exceeded, and reports whether none is.
func (m *Machine) goesOn(w *warp, s *split) bool {
	if m.cfg.MaxInstrs > 0 && m.instrs > m.cfg.MaxInstrs {
		m.halt(Stop{Kind: LimitInstrs, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc})
		return false
	}
	return m.spend(0)
}

// spend counts work, and calls stop once per m.pace of it. It reports whether the run
// goes on.
func (m *Machine) spend(work int64) bool {
	if m.stopNow == nil {
		return true
	}
	if m.left -= work; m.left > 0 {
		return true
	}
	m.left = m.pace
	if m.stopNow() {
		m.halt(Stop{Kind: Interrupted, PC: -1, Mem: Local})
		return false
	}
	return true
}

// Over reports whether the run has ended: every CTA has ended, all that are left wait for
// ever, or the launch faulted. It has not if a limit or an instruction that is not
// modelled cut it, or if choices are left. In a run that is not over, the absence of an
// event proves nothing.
func (m *Machine) Over() bool {
	if m.stop == nil {
		return m.Done()
	}
	switch m.stop.Kind {
	case Unmodelled, LimitInstrs, LimitLocal, Interrupted:
		return false
	}
	return true
}
