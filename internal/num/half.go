package num

import "math"

// flush16 makes an f16 subnormal a zero of the same sign.
func flush16(h uint16) uint16 {
	if h&0x7c00 == 0 {
		return h & 0x8000
	}
	return h
}

func (m Mod) in16(h uint16) uint16 {
	if m&FTZ != 0 {
		return flush16(h)
	}
	return h
}

// flushed16 flushes a result before it is rounded to f16, as round32 does.
func (m Mod) flushed16(x float32) float32 {
	if m&FTZ != 0 && x > -0x1p-14 && x < 0x1p-14 && f16RN(math.Float32bits(x*0x1p10))&0x7fff < 0x2c00 { // 2^-4
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

// out16 applies FTZ, Sat and Relu to an f16 result; zeros as in out32.
func (m Mod) out16(h uint16) uint16 {
	if m&(FTZ|Sat|Relu) == 0 {
		return h
	}
	if m&FTZ != 0 {
		h = flush16(h)
	}
	switch {
	case m&Sat != 0 && (h>>15 != 0 || h > 0x7c00):
		return 0
	case m&Sat != 0 && h > 0x3c00:
		return 0x3c00
	case m&Relu != 0 && h>>15 != 0 && h <= 0xfc00:
		return 0
	}
	return h
}

// outBF16 applies Sat and Relu to a bf16 result; bf16 arithmetic has no FTZ.
func (m Mod) outBF16(h uint16) uint16 {
	switch {
	case m&(Sat|Relu) == 0:
		return h
	case m&Sat != 0 && (h>>15 != 0 || h > 0x7f80):
		return 0
	case m&Sat != 0 && h > 0x3f80:
		return 0x3f80
	case m&Relu != 0 && h>>15 != 0 && h <= 0xff80:
		return 0
	}
	return h
}

// AddF16 is add.rn{.ftz}{.sat}.f16. Sums of two 11-bit numbers may be rounded
// to 24 bits first: 24 ≥ 2·11+2.
func AddF16(m Mod, a, b uint16) uint16 {
	s := f16Float(m.in16(a)) + f16Float(m.in16(b))
	return m.out16(f16RN(math.Float32bits(s)))
}

// SubF16 is sub.rn{.ftz}{.sat}.f16.
func SubF16(m Mod, a, b uint16) uint16 { return AddF16(m, a, b^0x8000) }

// MulF16 is mul.rn{.ftz}{.sat}.f16. The product is exact in f32.
func MulF16(m Mod, a, b uint16) uint16 {
	p := f16Float(m.in16(a)) * f16Float(m.in16(b))
	return m.out16(f16RN(math.Float32bits(m.flushed16(p))))
}

// FmaF16 is fma.rn{.ftz}{.sat}{.relu}.f16. The f64 sum can be inexact only when
// c is so far above the product that the result is c, or the reverse, which
// overflows; but a single f32 rounding of it would not do.
func FmaF16(m Mod, a, b, c uint16) uint16 {
	p := f16Float(m.in16(a)) * f16Float(m.in16(b)) // exact
	s := odd32(float64(p) + float64(f16Float(m.in16(c))))
	if m&FTZ != 0 {
		s = math.Float32bits(m.flushed16(f32(s)))
	}
	return m.out16(f16RN(s))
}

// OOBNaN marks an f16 or bf16 element outside a tensor's bounds. The ISA does
// not give its code; the H200, given every NaN in turn, takes this one and its
// negative, in both formats, as a factor but not as the addend.
const OOBNaN uint16 = 0x7ff7

func isOOB(a uint16) bool { return a&0x7fff == OOBNaN }

// FmaOOBF16 is fma.rn.oob{.relu}.f16: +0 if a factor is OOBNaN.
func FmaOOBF16(m Mod, a, b, c uint16) uint16 {
	if isOOB(a) || isOOB(b) {
		return 0
	}
	return FmaF16(m, a, b, c)
}

// FmaOOBBF16 is fma.rn.oob{.relu}.bf16.
func FmaOOBBF16(m Mod, a, b, c uint16) uint16 {
	if isOOB(a) || isOOB(b) {
		return 0
	}
	return FmaBF16(m, a, b, c)
}

// FmaOOBF16x2 and FmaOOBBF16x2 test each half by itself.
func FmaOOBF16x2(m Mod, a, b, c uint32) uint32 {
	return pair(FmaOOBF16(m, hi16(a), hi16(b), hi16(c)), FmaOOBF16(m, lo16(a), lo16(b), lo16(c)))
}

func FmaOOBBF16x2(m Mod, a, b, c uint32) uint32 {
	return pair(FmaOOBBF16(m, hi16(a), hi16(b), hi16(c)), FmaOOBBF16(m, lo16(a), lo16(b), lo16(c)))
}

// NegF16 is neg{.ftz}.f16. A NaN as for NegF32.
func NegF16(m Mod, a uint16) uint16 {
	if a&0x7fff > 0x7c00 {
		return NaN16
	}
	return m.in16(a) ^ 0x8000
}

// AbsF16 is abs{.ftz}.f16. A NaN as for NegF32.
func AbsF16(m Mod, a uint16) uint16 {
	if a&0x7fff > 0x7c00 {
		return NaN16
	}
	return m.in16(a) & 0x7fff
}

// MinF16 is min{.ftz}{.NaN}{.xorsign.abs}.f16.
func MinF16(m Mod, a, b uint16) uint16 { return pick16(m, m.in16(a), m.in16(b), 0x7c00, false) }

// MaxF16 is max{.ftz}{.NaN}{.xorsign.abs}.f16.
func MaxF16(m Mod, a, b uint16) uint16 { return pick16(m, m.in16(a), m.in16(b), 0x7c00, true) }

// pick16 is min or max of a 16-bit format whose infinity is inf.
func pick16(m Mod, a, b, inf uint16, max bool) uint16 {
	sign := (a ^ b) & 0x8000
	if m&XorSignAbs != 0 {
		a, b = a&0x7fff, b&0x7fff
	}
	nanA, nanB := a&0x7fff > inf, b&0x7fff > inf
	d := a
	switch {
	case nanA && nanB, (nanA || nanB) && m&NaN != 0:
		return NaN16
	case nanA:
		d = b
	case nanB:
	case (order16(a) < order16(b)) == max:
		d = b
	}
	if m&XorSignAbs != 0 {
		d |= sign
	}
	return d
}

func order16(a uint16) int16 { return int16(a) ^ int16(uint16(int16(a)>>15)>>1) }

// AddBF16 is add.rn.bf16. An f32 sum is an innocuous first rounding, and exact
// wherever the result is subnormal.
func AddBF16(m Mod, a, b uint16) uint16 {
	s := bf16Float(a) + bf16Float(b)
	return m.outBF16(bf16RN(math.Float32bits(s)))
}

// SubBF16 is sub.rn.bf16.
func SubBF16(m Mod, a, b uint16) uint16 { return AddBF16(m, a, b^0x8000) }

// MulBF16 is mul.rn.bf16. The 16-bit product is exact in f32 but where it is a
// small subnormal, and there f32's rounding cannot reach a tie of bf16: that
// would take a product of sixteen ones, which has the prime factor 257.
func MulBF16(m Mod, a, b uint16) uint16 {
	p := bf16Float(a) * bf16Float(b)
	return m.outBF16(bf16RN(math.Float32bits(p)))
}

// FmaBF16 is fma.rn{.relu}.bf16.
func FmaBF16(m Mod, a, b, c uint16) uint16 {
	p := float64(bf16Float(a)) * float64(bf16Float(b))
	return m.outBF16(bf16RN(odd32(sumOdd(p, float64(bf16Float(c))))))
}

// NegBF16 is neg.bf16. A NaN as for NegF32.
func NegBF16(_ Mod, a uint16) uint16 {
	if a&0x7fff > 0x7f80 {
		return NaN16
	}
	return a ^ 0x8000
}

// AbsBF16 is abs.bf16. A NaN as for NegF32.
func AbsBF16(_ Mod, a uint16) uint16 {
	if a&0x7fff > 0x7f80 {
		return NaN16
	}
	return a & 0x7fff
}

// MinBF16 is min{.NaN}{.xorsign.abs}.bf16.
func MinBF16(m Mod, a, b uint16) uint16 { return pick16(m, a, b, 0x7f80, false) }

// MaxBF16 is max{.NaN}{.xorsign.abs}.bf16.
func MaxBF16(m Mod, a, b uint16) uint16 { return pick16(m, a, b, 0x7f80, true) }
