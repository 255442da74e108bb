package num

// Pairs of f32 in 64 bits (ISA 9.7.3.3 to 9.7.3.6, the f32x2 forms): element 0 is the low
// half, and each element is computed as the f32 form computes it.

func lo32(a uint64) uint32        { return uint32(a) }
func hi32(a uint64) uint32        { return uint32(a >> 32) }
func pair32(hi, lo uint32) uint64 { return uint64(hi)<<32 | uint64(lo) }

// AddF32x2 is add{.rnd}{.ftz}.f32x2.
func AddF32x2(r Rounding, m Mod, a, b uint64) uint64 {
	return pair32(AddF32(r, m, hi32(a), hi32(b)), AddF32(r, m, lo32(a), lo32(b)))
}

// SubF32x2 is sub{.rnd}{.ftz}.f32x2.
func SubF32x2(r Rounding, m Mod, a, b uint64) uint64 {
	return pair32(SubF32(r, m, hi32(a), hi32(b)), SubF32(r, m, lo32(a), lo32(b)))
}

// MulF32x2 is mul{.rnd}{.ftz}.f32x2.
func MulF32x2(r Rounding, m Mod, a, b uint64) uint64 {
	return pair32(MulF32(r, m, hi32(a), hi32(b)), MulF32(r, m, lo32(a), lo32(b)))
}

// FmaF32x2 is fma.rnd{.ftz}.f32x2.
func FmaF32x2(r Rounding, m Mod, a, b, c uint64) uint64 {
	return pair32(FmaF32(r, m, hi32(a), hi32(b), hi32(c)), FmaF32(r, m, lo32(a), lo32(b), lo32(c)))
}

// Min3F32 is min{.ftz}{.NaN}{.abs}.f32 of three sources: the smaller of the first two, then
// that and the third (ISA 9.7.3.11). With .abs the magnitudes are compared.
func Min3F32(m Mod, abs bool, a, b, c uint32) uint32 {
	a, b, c = magnitudes(abs, a, b, c)
	return MinF32(m, MinF32(m, a, b), c)
}

// Max3F32 is max{.ftz}{.NaN}{.abs}.f32 of three sources.
func Max3F32(m Mod, abs bool, a, b, c uint32) uint32 {
	a, b, c = magnitudes(abs, a, b, c)
	return MaxF32(m, MaxF32(m, a, b), c)
}

func magnitudes(abs bool, a, b, c uint32) (x, y, z uint32) {
	if abs {
		return a &^ (1 << 31), b &^ (1 << 31), c &^ (1 << 31)
	}
	return a, b, c
}

// HalfToF32 gives the f32 that mixed-precision add, sub and fma convert an operand of a half
// precision type to, which is exact (ISA 9.7.5).
func HalfToF32(t Type, h uint16) uint32 {
	if t == BF16 {
		return BF16ToF32(h)
	}
	return F16ToF32(h)
}
