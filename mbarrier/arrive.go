package mbarrier

// once returns the word after the simplest and most frequent arrival: one, without bytes, that needs no
// latch. For any other it returns 0. The counts are negated, so it is an addition, whose carry ends the
// phase: Word.Arrive in a few instructions, which leaves little time for conflicts.
func (b *Barrier) once(v uint64) uint64 {
	if f := v >> pendingShift & countMask; f-1 < countMask-1 && v&(latched|careful) == 0 {
		return v + 1<<pendingShift
	}
	return b.last(v)
}

// last is once for the arrival that ends the phase.
func (b *Barrier) last(v uint64) uint64 {
	e := uint64(-b.expected.Load() & countMask)
	if v>>pendingShift&countMask != countMask || v&(latched|careful|txMask<<txShift) != 0 || e == 0 || low(v) == lowMask {
		return 0
	}
	return v&^(countMask<<pendingShift|ownField)&^(1<<phaseBit) | e<<pendingShift | (low(v)+1)&1<<phaseBit | (low(v)+1)>>1<<expectedShift
}

// quick is one arrival of the simplest kind, and reports whether it was possible. For any other it has
// changed nothing.
func (b *Barrier) quick() bool {
	v := b.word.Load()
	next := b.once(v)
	if next == 0 || !b.word.CompareAndSwap(v, next) {
		return false
	}
	if low(next) != low(v) {
		b.ended(low(v))
	}
	return true
}

// recent returns the phase p in which a change was made. If the epoch changed around the change, only p's
// low bits are right: the result is the last phase up to now with these bits, which is correct unless this
// goroutine was suspended for two million phases.
func (b *Barrier) recent(p, epoch uint64) uint64 {
	if b.epoch.Load() == epoch {
		return p
	}
	return b.lately(p)
}

func (b *Barrier) lately(p uint64) uint64 {
	now := b.now()
	return now - (now-p)&lowMask
}
