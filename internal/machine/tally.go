package machine

// A Tally counts how often the warps of a launch execute each instruction: those of one number
// in their CTAs together. It takes stretches of instructions that follow each other, so that
// what it costs is paid at branches and where a stretch ends.
type Tally struct {
	// starts holds, for each warp and instruction, how many more times the instruction was
	// executed than the one before it.
	starts [][]int64
}

// Tally attaches a tally to m, whose run has not begun.
func (m *Machine) Tally() *Tally {
	t := &Tally{starts: make([][]int64, m.warps)}
	for i := range t.starts {
		t.starts[i] = make([]int64, len(m.prog.code)+1)
	}
	m.cfg.tally = t
	return t
}

// add records that a warp executed the instructions from one to below another.
func (t *Tally) add(w *warp, from, to int32) {
	if s := t.starts[w.index]; from < to {
		s[from]++
		s[to]--
	}
}

// Warps returns how many warps a CTA has.
func (t *Tally) Warps() int { return len(t.starts) }

// Counts returns how often the warps of a number executed each instruction.
func (t *Tally) Counts(warp int) []int64 {
	list, n := make([]int64, len(t.starts[warp])-1), int64(0)
	for pc := range list {
		n += t.starts[warp][pc]
		list[pc] = n
	}
	return list
}
