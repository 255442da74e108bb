package num

import "math"

func f32(b uint32) float32 { return math.Float32frombits(b) }

// canon32 is the bits of x with any NaN made canonical: every f32 operation of
// the card returns 0x7fffffff for NaN.
func canon32(x float32) uint32 {
	if x != x {
		return NaN32
	}
	return math.Float32bits(x)
}

// AddRN is add.rn.f32.
func AddRN(a, b uint32) uint32 { return canon32(f32(a) + f32(b)) }

// SubRN is sub.rn.f32.
func SubRN(a, b uint32) uint32 { return canon32(f32(a) - f32(b)) }

// MulRN is mul.rn.f32.
func MulRN(a, b uint32) uint32 { return canon32(f32(a) * f32(b)) }

// DivRN is div.rn.f32.
func DivRN(a, b uint32) uint32 { return canon32(f32(a) / f32(b)) }

// FmaRN is fma.rn.f32. The product is exact in f64, so only the sum rounds
// twice; that matters only where the f64 sum is a tie for f32, or may be one
// because the result is subnormal.
func FmaRN(a, b, c uint32) uint32 {
	p, z := float64(f32(a))*float64(f32(b)), float64(f32(c))
	s := p + z
	sb := math.Float64bits(s)
	if sb&0x1fffffff == 0x10000000 || sb&^(1<<63) < 897<<52 && s != 0 {
		s = sumOdd(p, z)
	}
	return canon32(float32(s))
}

// FlushF32 makes a subnormal a zero of the same sign.
func FlushF32(a uint32) uint32 {
	if a&0x7f800000 == 0 {
		return a & (1 << 31)
	}
	return a
}

func (m Mod) in32(a uint32) uint32 {
	if m&FTZ != 0 {
		return FlushF32(a)
	}
	return a
}

// out32 applies FTZ, Sat and Relu to an f32 result.
//
// FTZ tests the delivered result here, as the H200 does in conversions; for
// arithmetic see round32.
//
// The sign of a zero under Sat and Relu is always plus, on the H200 too.
func (m Mod) out32(b uint32) uint32 {
	if m&(FTZ|Sat|Relu) == 0 {
		return b
	}
	if m&FTZ != 0 {
		b = FlushF32(b)
	}
	if m&Sat != 0 {
		return sat32(b)
	}
	if m&Relu != 0 && b>>31 != 0 && b&0x7fffffff <= 0x7f800000 {
		return 0
	}
	return b
}

// round32 rounds an arithmetic result. With FTZ the H200 flushes what would be
// below the smallest normal number if exponents had no bound, though a rounding
// to the digits of a subnormal lifts it there. x may be rounded to odd.
func (m Mod) round32(x float64, r Rounding) uint32 {
	if m&FTZ != 0 && math.Abs(x) < 0x1p-126 && f64to32(x*0x1p100, r)&^(1<<31) < 0x32800000 { // 2^-26
		x = math.Copysign(0, x)
	}
	return m.out32(f64to32(x, r))
}

func sat32(b uint32) uint32 {
	switch x := f32(b); {
	case x >= 1:
		return 0x3f800000
	case x > 0:
		return b
	}
	return 0 // zero, negative, NaN
}

// signedZero is the sign rule for an exact zero sum: that of both addends if
// they agree, else negative only when rounding down (IEEE 754, 6.3).
func signedZero(negA, negB bool, r Rounding) bool {
	if negA == negB {
		return negA
	}
	return r == RM
}

func sum32(r Rounding, m Mod, p, c float64) uint32 {
	s := sumOdd(p, c)
	if s == 0 && r == RM && math.Signbit(p) != math.Signbit(c) {
		return m.out32(1 << 31)
	}
	return m.round32(s, r)
}

// AddF32 is add{.rnd}{.ftz}{.sat}.f32.
func AddF32(r Rounding, m Mod, a, b uint32) uint32 {
	a, b = m.in32(a), m.in32(b)
	if r == RN {
		return m.out32(AddRN(a, b))
	}
	return sum32(r, m, float64(f32(a)), float64(f32(b)))
}

// SubF32 is sub{.rnd}{.ftz}{.sat}.f32.
func SubF32(r Rounding, m Mod, a, b uint32) uint32 { return AddF32(r, m, a, b^1<<31) }

// MulF32 is mul{.rnd}{.ftz}{.sat}.f32.
func MulF32(r Rounding, m Mod, a, b uint32) uint32 {
	a, b = m.in32(a), m.in32(b)
	if r == RN && m&FTZ == 0 {
		return m.out32(MulRN(a, b))
	}
	return m.round32(float64(f32(a))*float64(f32(b)), r)
}

// FmaF32 is fma.rnd{.ftz}{.sat}.f32.
func FmaF32(r Rounding, m Mod, a, b, c uint32) uint32 {
	a, b, c = m.in32(a), m.in32(b), m.in32(c)
	if r == RN && m&FTZ == 0 {
		return m.out32(FmaRN(a, b, c))
	}
	p := float64(f32(a)) * float64(f32(b))
	return sum32(r, m, p, float64(f32(c)))
}

// DivF32 is div.rnd{.ftz}.f32. An inexact quotient of 24-bit numbers differs
// from every 25-bit number by more than an f64 rounding can bridge, so the f64
// quotient may be rounded again in any mode. The same holds of square roots.
func DivF32(r Rounding, m Mod, a, b uint32) uint32 {
	a, b = m.in32(a), m.in32(b)
	if r == RN && m&FTZ == 0 {
		return m.out32(DivRN(a, b))
	}
	return m.round32(float64(f32(a))/float64(f32(b)), r)
}

// RcpF32 is rcp.rnd{.ftz}.f32.
func RcpF32(r Rounding, m Mod, a uint32) uint32 { return DivF32(r, m, 0x3f800000, a) }

// SqrtF32 is sqrt.rnd{.ftz}.f32.
func SqrtF32(r Rounding, m Mod, a uint32) uint32 {
	a = m.in32(a)
	return m.out32(f64to32(math.Sqrt(float64(f32(a))), r))
}

// NegF32 is neg{.ftz}.f32.
//
// The ISA leaves the NaN unspecified; the H200's is canonical, since the
// assembler makes an addition of it.
func NegF32(m Mod, a uint32) uint32 {
	if isNaN32(a) {
		return NaN32
	}
	return m.in32(a) ^ 1<<31
}

// AbsF32 is abs{.ftz}.f32. A NaN as for NegF32.
func AbsF32(m Mod, a uint32) uint32 {
	if isNaN32(a) {
		return NaN32
	}
	return m.in32(a) &^ (1 << 31)
}

func isNaN32(a uint32) bool { return a&0x7fffffff > 0x7f800000 }

// CopySignF32 is copysign.f32: the magnitude of b with the sign of a.
func CopySignF32(a, b uint32) uint32 { return b&^(1<<31) | a&(1<<31) }

// MinF32 is min{.ftz}{.NaN}{.xorsign.abs}.f32.
func MinF32(m Mod, a, b uint32) uint32 { return pick32(m, a, b, false) }

// MaxF32 is max{.ftz}{.NaN}{.xorsign.abs}.f32.
func MaxF32(m Mod, a, b uint32) uint32 { return pick32(m, a, b, true) }

func pick32(m Mod, a, b uint32, max bool) uint32 {
	a, b = m.in32(a), m.in32(b)
	sign := (a ^ b) & (1 << 31)
	if m&XorSignAbs != 0 {
		a, b = a&^(1<<31), b&^(1<<31)
	}
	nanA, nanB := isNaN32(a), isNaN32(b)
	d := a
	switch {
	case nanA && nanB, (nanA || nanB) && m&NaN != 0:
		return NaN32
	case nanA:
		d = b
	case nanB:
	case (order32(a) < order32(b)) == max:
		d = b
	}
	if m&XorSignAbs != 0 {
		d |= sign
	}
	return d
}

// order32 maps f32 bits to integers of the same order, -0 below +0.
func order32(a uint32) int32 { return int32(a) ^ int32(uint32(int32(a)>>31)>>1) }

// Testp is a property that testp tests.
type Testp uint8

const (
	Finite Testp = iota
	Infinite
	Number
	NotANumber
	Normal
	Subnormal
)

// TestpF32 is testp.op.f32. Zeros count as normal (ISA, testp).
func TestpF32(op Testp, a uint32) bool {
	abs := a &^ (1 << 31)
	return testp(op, abs == 0x7f800000, abs > 0x7f800000, abs != 0 && abs < 1<<23)
}

func testp(op Testp, inf, nan, sub bool) bool {
	switch op {
	case Finite:
		return !inf && !nan
	case Infinite:
		return inf
	case Number:
		return !nan
	case NotANumber:
		return nan
	case Normal:
		return !inf && !nan && !sub
	case Subnormal:
		return sub
	}
	return false
}
