package tma

// A Swizzle is a pattern in shared memory (ISA 5.5.7), numbered as
// CUtensorMapSwizzle. Swizzle96 has no number there: tensormap.replace alone makes it.
type Swizzle uint8

const (
	SwizzleNone Swizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
	Swizzle128Atom32
	Swizzle128Atom32Flip8
	Swizzle128Atom64
	Swizzle96
)

// swizzles has a row for each Swizzle: its name in a launch file, the width of the
// pattern in bytes, the alignment at which it starts afresh, and what
// tensormap.replace calls .swizzle_mode and .swizzle_atomicity.
var swizzles = [...]struct {
	name        string
	span, align int
	mode, atom  uint64
}{
	{"none", 0, 16, 0, 0}, {"32B", 32, 256, 1, 0}, {"64B", 64, 512, 2, 0}, {"128B", 128, 1024, 3, 0},
	{"128B_ATOM_32B", 128, 1024, 3, 1}, {"128B_ATOM_32B_FLIP_8B", 128, 1024, 3, 2}, {"128B_ATOM_64B", 128, 1024, 3, 3},
	{"96B", 96, 256, 4, 0},
}

// swizzleOf finds a swizzle by its fields; there are not all combinations (ISA, table 14).
func swizzleOf(mode, atom uint64) (Swizzle, bool) {
	for s, row := range swizzles {
		if row.mode == mode && row.atom == atom {
			return Swizzle(s), true
		}
	}
	return 0, false
}

// String is the name in a launch file.
func (s Swizzle) String() string {
	if int(s) >= len(swizzles) {
		return "no swizzle"
	}
	return swizzles[s].name
}

// Span is the width of the pattern in bytes, 0 for none.
func (s Swizzle) Span() int { return swizzles[s].span }

// Align is the alignment in shared memory at which the pattern repeats.
func (s Swizzle) Align() int { return swizzles[s].align }

// Apply gives the shared address at which the byte with address a really lies.
func (s Swizzle) Apply(a uint32) uint32 {
	line := a >> 7
	switch s {
	case Swizzle32, Swizzle96:
		return a ^ line&1<<4
	case Swizzle64:
		return a ^ line&3<<4
	case Swizzle128:
		return a ^ line&7<<4
	case Swizzle128Atom32:
		return a ^ line&3<<5
	case Swizzle128Atom32Flip8:
		return a ^ line&3<<5 ^ line&1<<3
	case Swizzle128Atom64:
		return a ^ line&1<<6
	}
	return a
}

// chunk is how many bytes a swizzle leaves together.
func (s Swizzle) chunk() uint32 {
	if s == Swizzle128Atom32Flip8 {
		return 8
	}
	return 16
}
