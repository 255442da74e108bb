package mbarrier

// Skip makes an unused barrier continue at that phase.
func (b *Barrier) Skip(phase uint64) {
	w := b.State().Word &^ phaseMask
	b.epoch.Store(phase >> lowBits)
	b.word.Store(pack(w|Word(phase&1)<<phaseBit, phase) | b.mark())
}

// Modes is the number of ways in which waiters wait.
const Modes = int(modes)

// Fix makes the barrier stay in a mode, whatever it measures.
func (b *Barrier) Fix(m int) {
	b.tuner.ticking.Store(true)
	b.tuner.vain.Store(-1 << 30)
	b.tuner.home.Store(int32(m))
	b.tuner.mode.Store(int32(m))
}
