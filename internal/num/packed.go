package num

// The packed forms work on the two halves of a register independently.

func lo16(a uint32) uint16      { return uint16(a) }
func hi16(a uint32) uint16      { return uint16(a >> 16) }
func pair(hi, lo uint16) uint32 { return uint32(hi)<<16 | uint32(lo) }

// AddF16x2 is add for f16x2.
func AddF16x2(m Mod, a, b uint32) uint32 {
	return pair(AddF16(m, hi16(a), hi16(b)), AddF16(m, lo16(a), lo16(b)))
}

// SubF16x2 is sub for f16x2.
func SubF16x2(m Mod, a, b uint32) uint32 {
	return pair(SubF16(m, hi16(a), hi16(b)), SubF16(m, lo16(a), lo16(b)))
}

// MulF16x2 is mul for f16x2.
func MulF16x2(m Mod, a, b uint32) uint32 {
	return pair(MulF16(m, hi16(a), hi16(b)), MulF16(m, lo16(a), lo16(b)))
}

// MinF16x2 is min for f16x2.
func MinF16x2(m Mod, a, b uint32) uint32 {
	return pair(MinF16(m, hi16(a), hi16(b)), MinF16(m, lo16(a), lo16(b)))
}

// MaxF16x2 is max for f16x2.
func MaxF16x2(m Mod, a, b uint32) uint32 {
	return pair(MaxF16(m, hi16(a), hi16(b)), MaxF16(m, lo16(a), lo16(b)))
}

// FmaF16x2 is fma for f16x2.
func FmaF16x2(m Mod, a, b, c uint32) uint32 {
	return pair(FmaF16(m, hi16(a), hi16(b), hi16(c)), FmaF16(m, lo16(a), lo16(b), lo16(c)))
}

// NegF16x2 is neg for f16x2.
func NegF16x2(m Mod, a uint32) uint32 {
	return pair(NegF16(m, hi16(a)), NegF16(m, lo16(a)))
}

// AbsF16x2 is abs for f16x2.
func AbsF16x2(m Mod, a uint32) uint32 {
	return pair(AbsF16(m, hi16(a)), AbsF16(m, lo16(a)))
}

// AddBF16x2 is add for bf16x2.
func AddBF16x2(m Mod, a, b uint32) uint32 {
	return pair(AddBF16(m, hi16(a), hi16(b)), AddBF16(m, lo16(a), lo16(b)))
}

// SubBF16x2 is sub for bf16x2.
func SubBF16x2(m Mod, a, b uint32) uint32 {
	return pair(SubBF16(m, hi16(a), hi16(b)), SubBF16(m, lo16(a), lo16(b)))
}

// MulBF16x2 is mul for bf16x2.
func MulBF16x2(m Mod, a, b uint32) uint32 {
	return pair(MulBF16(m, hi16(a), hi16(b)), MulBF16(m, lo16(a), lo16(b)))
}

// MinBF16x2 is min for bf16x2.
func MinBF16x2(m Mod, a, b uint32) uint32 {
	return pair(MinBF16(m, hi16(a), hi16(b)), MinBF16(m, lo16(a), lo16(b)))
}

// MaxBF16x2 is max for bf16x2.
func MaxBF16x2(m Mod, a, b uint32) uint32 {
	return pair(MaxBF16(m, hi16(a), hi16(b)), MaxBF16(m, lo16(a), lo16(b)))
}

// FmaBF16x2 is fma for bf16x2.
func FmaBF16x2(m Mod, a, b, c uint32) uint32 {
	return pair(FmaBF16(m, hi16(a), hi16(b), hi16(c)), FmaBF16(m, lo16(a), lo16(b), lo16(c)))
}

// NegBF16x2 is neg for bf16x2.
func NegBF16x2(m Mod, a uint32) uint32 {
	return pair(NegBF16(m, hi16(a)), NegBF16(m, lo16(a)))
}

// AbsBF16x2 is abs for bf16x2.
func AbsBF16x2(m Mod, a uint32) uint32 {
	return pair(AbsBF16(m, hi16(a)), AbsBF16(m, lo16(a)))
}
