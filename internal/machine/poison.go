package machine

// A Poison gives an undefined value a value, so that runs of one schedule with
// different poisons show whether it reaches an output, a branch or an address. It
// replaces what the instruction at PC takes: of a load every element of which some
// byte is uninitialized, of a shfl what comes from a lane that takes no part.
type Poison struct {
	PC int32
	// Everything: whatever is undefined, by whichever instruction.
	Everything bool
	// Value stands in every byte, unless Mixed: then every place has bytes of its
	// own, so that two undefined values differ.
	Value byte
	Mixed bool
}

// at reports whether a poison replaces what the instruction at pc takes.
func (p *Poison) at(pc int32) bool { return p != nil && (p.Everything || p.PC == pc) }

// word is what stands at a place.
func (p *Poison) word(place uint64) uint64 {
	if !p.Mixed {
		return uint64(p.Value) * 0x0101010101010101
	}
	// The finalizer of SplitMix64.
	z := place + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
