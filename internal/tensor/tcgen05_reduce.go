package tensor

import "muster/internal/num"

// A Reduction is what tcgen05.ld.red makes of the registers that it has loaded: their
// minimum or maximum, "across columns in each lane", for "the corresponding thread" (ISA
// 9.7.18.8.3). With 16x32bx2 a lane has two threads, each with the columns of one of the two
// accesses that the shape performs; that each thread gets the result of its own columns is
// assumed (ReductionAssumes). The text says nothing of signed zeros, nor of a NaN without .NaN: they are taken as
// min and max take them (9.7.3.11), and the canonical NaN is theirs.
type Reduction struct {
	Type string // f32, u32 or s32
	Max  bool
	Abs  bool // of f32: the magnitudes are compared, and the result is one
	NaN  bool // of f32: a NaN among the values is the result
}

// ReductionAssumes says what the text leaves open for shape 16x32bx2.
const ReductionAssumes = "tcgen05.ld.red of shape 16x32bx2 reduces the columns of each thread: the ISA says 'across columns in each lane', and a lane has two threads (9.7.18.8.3)"

// Reduce writes to each thread's word of to what its registers are reduced to.
func (r *Reduction) Reduce(to *[32]uint32, regs []*[32]uint32) {
	for t := range to {
		acc := regs[0][t]
		// The first value meets itself, too, so that a NaN alone is canonical.
		for _, x := range regs {
			acc = r.combine(acc, x[t])
		}
		to[t] = acc
	}
}

func (r *Reduction) combine(a, b uint32) uint32 {
	switch {
	case r.Type == "f32":
		m := num.Mod(0)
		if r.NaN {
			m = num.NaN
		}
		return num.ReduxF32(m, r.Abs, r.Max, a, b)
	case r.Type == "s32" && r.Max:
		return uint32(max(int32(a), int32(b)))
	case r.Type == "s32":
		return uint32(min(int32(a), int32(b)))
	case r.Max:
		return max(a, b)
	}
	return min(a, b)
}
