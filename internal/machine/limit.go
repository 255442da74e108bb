package machine

// Where a run ends because it may not cost more: at so many instructions, or when
// somebody who is asked now and then says so, such as a clock. A run that was cut
// like that shows what has happened in it, and nothing of what has not.

// stepWork is how many instructions a step counts for, where work is measured.
const stepWork = 64

// defaultPace is the work between two questions to StopWhen's function: mostly
// less than a millisecond.
const defaultPace = 1 << 14

// StopWhen has the machine ask stop now and then while it works, also in the
// middle of a step, and end the run, Interrupted, when that reports true. Machines
// that are cloned from this one ask too.
func (m *Machine) StopWhen(stop func() bool) {
	if m.stopNow = stop; m.pace == 0 {
		m.pace = defaultPace
	}
	m.left = m.pace
}

// SetPace sets how many warp instructions, or so, lie between two questions.
func (m *Machine) SetPace(instrs int64) { m.pace, m.left = instrs, instrs }

// budget returns how many instructions may run before goesOn is to be asked.
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

// goesOn ends the run at a split, where a limit has run out. It reports whether none
// has.
func (m *Machine) goesOn(w *warp, s *split) bool {
	if m.cfg.MaxInstrs > 0 && m.instrs > m.cfg.MaxInstrs {
		m.halt(Stop{Kind: LimitInstrs, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc})
		return false
	}
	return m.spend(0)
}

// spend counts work, and asks whether to stop when enough has been done. It reports
// whether the run goes on.
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

// Over reports whether the run has come to its end: every CTA has ended, all that
// are left wait for ever, or the launch faulted. It has not where a limit or an
// instruction that is not modelled cut it, nor where nobody has gone on with it. Of
// a run that is not over, that something has not happened says nothing.
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
