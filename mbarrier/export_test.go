package mbarrier

// Skip makes an unused barrier continue at that phase.
func (b *Barrier) Skip(phase uint64) {
	w := b.State().Word &^ phaseMask
	b.epoch.Store(phase >> lowBits)
	b.word.Store(pack(w|Word(phase&1)<<phaseBit, phase) | b.mark())
}
