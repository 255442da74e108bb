package trial

// A Hash summarizes what a run, or a lane of one, did.
type Hash uint64

// Mix is a round of FNV-1a on 64-bit words.
func (h *Hash) Mix(v uint64) { *h = (*h ^ Hash(v)) * 0x100000001b3 }
