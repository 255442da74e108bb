package num

import "math"

// The approximate functions are computed in float64 and rounded once to the
// destination, which is as close as any result can be; the card's tables give
// other last bits. The bounds below are the ISA's for the card, and so the
// tolerances of a comparison.
const (
	BoundEx2F32     = 2             // ulp
	BoundLg2F32     = 0x1p-22       // absolute in (0.5, 2), else relative
	BoundSinCosF32  = 0x1.6a09ep-21 // absolute in [-2π, 2π]: 2^-20.5
	BoundSinCosWide = 0x1.3b2c4p-15 // absolute in [-100π, 100π]: 2^-14.7
	BoundTanhF32    = 0x1p-11       // relative
	BoundRcpF32     = 1             // ulp
	BoundSqrtF32    = 0x1p-23       // relative
	BoundRsqrtF32   = 0x1.125fcp-23 // relative: 2^-22.9
	BoundDivF32     = 2             // ulp, for |b| in [2^-126, 2^126]; div.full everywhere
	BoundEx2F16     = 0x1.125fcp-10 // relative: 2^-9.9
	BoundEx2BF16    = 0x1p-7        // relative
	BoundTanhF16    = 0x1.02513p-11 // absolute: 2^-10.987
	BoundTanhBF16   = 0x1p-8        // absolute; the H200 is 2.6e-7 beyond it at ±0x3f3f
	// The ISA calls rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 gross and gives
	// no bound beyond their 20 bits of mantissa; nor one for rsqrt.approx.f64.
)

// unary evaluates f in float64 between the flushes of m.
func (m Mod) unary(a uint32, f func(float64) float64) uint32 {
	return m.out32(f64to32(f(float64(f32(m.in32(a)))), RN))
}

// Ex2F32 is ex2.approx{.ftz}.f32.
func Ex2F32(m Mod, a uint32) uint32 { return m.unary(a, math.Exp2) }

// Lg2F32 is lg2.approx{.ftz}.f32. A negative subnormal without FTZ gives NaN, as
// every negative number does, on the H200 too.
func Lg2F32(m Mod, a uint32) uint32 { return m.unary(a, math.Log2) }

// SinF32 is sin.approx{.ftz}.f32. Beyond 100π the ISA promises nothing, and
// the H200 is soon wrong altogether; here the argument is reduced exactly.
func SinF32(m Mod, a uint32) uint32 { return m.unary(a, math.Sin) }

// CosF32 is cos.approx{.ftz}.f32.
func CosF32(m Mod, a uint32) uint32 { return m.unary(a, math.Cos) }

// TanhF32 is tanh.approx.f32; it has no FTZ and passes subnormals through.
func TanhF32(a uint32) uint32 { return Mod(0).unary(a, math.Tanh) }

// RcpApproxF32 is rcp.approx{.ftz}.f32.
func RcpApproxF32(m Mod, a uint32) uint32 { return RcpF32(RN, m, a) }

// SqrtApproxF32 is sqrt.approx{.ftz}.f32.
func SqrtApproxF32(m Mod, a uint32) uint32 { return SqrtF32(RN, m, a) }

// RsqrtF32 is rsqrt.approx{.ftz}.f32. -0 gives -Inf.
func RsqrtF32(m Mod, a uint32) uint32 {
	return m.unary(a, func(x float64) float64 { return 1 / math.Sqrt(x) })
}

// DivFullF32 is div.full{.ftz}.f32.
func DivFullF32(m Mod, a, b uint32) uint32 { return DivF32(RN, m, a, b) }

// DivApproxF32 is div.approx{.ftz}.f32: a·(1/b), where the reciprocal of
// 2^126 < |b| < 2^128 is lost: a zero, or NaN for an infinite a (ISA, div).
//
// For a subnormal b without FTZ the ISA promises nothing; the H200 stays within the same
// 2 ulp.
func DivApproxF32(m Mod, a, b uint32) uint32 {
	a, b = m.in32(a), m.in32(b)
	if abs := b &^ (1 << 31); abs > 0x7e800000 && abs < 0x7f800000 {
		return MulRN(a, b&(1<<31))
	}
	return DivF32(RN, m, a, b)
}

// approxNaN64 is the NaN of the two gross f64 approximations (ISA).
const approxNaN64 uint64 = 0x7fffffff00000000

// gross64 evaluates f on the upper word of a and keeps the upper word of the
// result, both flushed.
//
// The 20 bits of mantissa are rounded to nearest even; the H200's come from a
// table and are up to 2^-20 off, relatively.
func gross64(a uint64, f func(float64) float64) uint64 {
	a &^= 1<<32 - 1
	if a>>52&0x7ff == 0 {
		a &= sign64
	}
	x := f(f64(a))
	if x != x {
		return approxNaN64
	}
	b := math.Float64bits(x)
	b += 1<<31 - 1 + b>>32&1
	if b>>52&0x7ff == 0 {
		return b & sign64
	}
	return b &^ (1<<32 - 1)
}

// RcpApproxF64 is rcp.approx.ftz.f64. A NaN whose mantissa bits lie all in the lower
// word, which the instruction does not read, counts as an infinity.
func RcpApproxF64(a uint64) uint64 {
	return gross64(a, func(x float64) float64 { return 1 / x })
}

// RsqrtApproxFTZF64 is rsqrt.approx.ftz.f64.
func RsqrtApproxFTZF64(a uint64) uint64 {
	return gross64(a, func(x float64) float64 { return 1 / math.Sqrt(x) })
}

// RsqrtF64 is rsqrt.approx.f64.
func RsqrtF64(a uint64) uint64 { return result64(1/math.Sqrt(f64(a)), a, 0, 0) }

// Ex2F16 is ex2.approx.f16.
func Ex2F16(a uint16) uint16 { return approxF16(a, math.Exp2) }

// TanhF16 is tanh.approx.f16.
func TanhF16(a uint16) uint16 { return approxF16(a, math.Tanh) }

func approxF16(a uint16, f func(float64) float64) uint16 {
	return uint16(Encode(F16, RN, 0, f(float64(f16Float(a)))))
}

// Ex2BF16 is ex2.approx.ftz.bf16: subnormal inputs and results flush.
func Ex2BF16(a uint16) uint16 {
	if a&0x7f80 == 0 {
		return 0x3f80
	}
	d := approxBF16(a, math.Exp2)
	if d&0x7f80 == 0 {
		return 0
	}
	return d
}

// TanhBF16 is tanh.approx.bf16.
func TanhBF16(a uint16) uint16 { return approxBF16(a, math.Tanh) }

func approxBF16(a uint16, f func(float64) float64) uint16 {
	return uint16(Encode(BF16, RN, 0, f(float64(bf16Float(a)))))
}

// Ex2F16x2 is ex2.approx.f16x2.
func Ex2F16x2(a uint32) uint32 { return pair(Ex2F16(hi16(a)), Ex2F16(lo16(a))) }

// TanhF16x2 is tanh.approx.f16x2.
func TanhF16x2(a uint32) uint32 { return pair(TanhF16(hi16(a)), TanhF16(lo16(a))) }

// Ex2BF16x2 is ex2.approx.ftz.bf16x2.
func Ex2BF16x2(a uint32) uint32 { return pair(Ex2BF16(hi16(a)), Ex2BF16(lo16(a))) }

// TanhBF16x2 is tanh.approx.bf16x2.
func TanhBF16x2(a uint32) uint32 { return pair(TanhBF16(hi16(a)), TanhBF16(lo16(a))) }
