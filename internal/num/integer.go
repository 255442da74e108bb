package num

import (
	"math"
	"math/bits"
)

// AddSatS32 is add.sat.s32.
func AddSatS32(a, b uint32) uint32 { return clampS32(int64(int32(a)) + int64(int32(b))) }

// SubSatS32 is sub.sat.s32.
func SubSatS32(a, b uint32) uint32 { return clampS32(int64(int32(a)) - int64(int32(b))) }

func clampS32(x int64) uint32 { return uint32(min(max(x, math.MinInt32), math.MaxInt32)) }

// MulHiU32 is mul.hi.u32; MulHiS32, MulHiU64 and MulHiS64 likewise. The 16-bit
// forms fit Go's 32-bit product.
func MulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

// MulHiS32 is mul.hi.s32.
func MulHiS32(a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }

// MulHiU64 is mul.hi.u64.
func MulHiU64(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }

// MulHiS64 is mul.hi.s64.
func MulHiS64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
}

// MulHiU16 is mul.hi.u16.
func MulHiU16(a, b uint16) uint16 { return uint16(uint32(a) * uint32(b) >> 16) }

// MulHiS16 is mul.hi.s16.
func MulHiS16(a, b uint16) uint16 { return uint16(int32(int16(a)) * int32(int16(b)) >> 16) }

// MadHiSatS32 is mad.hi.sat.s32.
func MadHiSatS32(a, b, c uint32) uint32 { return AddSatS32(MulHiS32(a, b), c) }

// Clmad is clmad.lo and clmad.hi: 64 bits of the product of a and b as polynomials over two
// elements, plus c likewise (ISA 9.4, 9.7.1.5).
func Clmad(hi bool, a, b, c uint64) uint64 {
	var low, high uint64
	for ; a != 0; a &= a - 1 {
		i := bits.TrailingZeros64(a)
		low ^= b << i
		high ^= b >> 1 >> (63 - i)
	}
	if hi {
		return high ^ c
	}
	return low ^ c
}

// Mul24 is the 48-bit product of the low 24 bits of a and b. mul24.lo takes its
// low 32 bits, mul24.hi bits 47 to 16.
//
// The upper eight bits of an operand that is no 24-bit value are ignored, on the
// H200 too.
func Mul24(signed bool, a, b uint32) uint64 {
	if signed {
		return uint64(int64(int32(a<<8)>>8) * int64(int32(b<<8)>>8))
	}
	return uint64(a&0xffffff) * uint64(b&0xffffff)
}

// Mul24Lo is mul24.lo.
func Mul24Lo(signed bool, a, b uint32) uint32 { return uint32(Mul24(signed, a, b)) }

// Mul24Hi is mul24.hi.
func Mul24Hi(signed bool, a, b uint32) uint32 { return uint32(Mul24(signed, a, b) >> 16) }

// Mad24HiSatS32 is mad24.hi.sat.s32.
func Mad24HiSatS32(a, b, c uint32) uint32 { return AddSatS32(Mul24Hi(true, a, b), c) }

// AddC32 is add.cc and addc.cc: the sum and the carry out (0 or 1).
func AddC32(a, b, carry uint32) (sum, out uint32) { return bits.Add32(a, b, carry&1) }

// SubC32 is sub.cc and subc.cc: the difference and the carry out. The ISA writes
// of a borrow; what CC.CF holds on the H200, as an addc after sub.cc shows, is
// its complement, the carry of a plus the complement of b. So sub.cc comes
// with a carry of one.
func SubC32(a, b, carry uint32) (diff, out uint32) { return bits.Add32(a, ^b, carry&1) }

// MadC32 is mad.cc and madc.cc on the chosen half of the product; the carry is
// that of the addition.
func MadC32(hi, signed bool, a, b, c, carry uint32) (sum, out uint32) {
	p := a * b
	switch {
	case hi && signed:
		p = MulHiS32(a, b)
	case hi:
		p = MulHiU32(a, b)
	}
	return bits.Add32(p, c, carry&1)
}

// AddC64 is add.cc and addc.cc on 64 bits.
func AddC64(a, b, carry uint64) (sum, out uint64) { return bits.Add64(a, b, carry&1) }

// SubC64 is sub.cc and subc.cc on 64 bits.
func SubC64(a, b, carry uint64) (diff, out uint64) { return bits.Add64(a, ^b, carry&1) }

// MadC64 is mad.cc and madc.cc on 64 bits.
func MadC64(hi, signed bool, a, b, c, carry uint64) (sum, out uint64) {
	p := a * b
	switch {
	case hi && signed:
		p = MulHiS64(a, b)
	case hi:
		p = MulHiU64(a, b)
	}
	return bits.Add64(p, c, carry&1)
}

// Division. The ISA leaves division by zero unspecified; quotient and remainder
// are all ones on the H200, at every width. The smallest integer divided by -1
// is itself, remainder zero.

// DivU16 is div.u16.
func DivU16(a, b uint16) uint16 {
	if b == 0 {
		return math.MaxUint16
	}
	return a / b
}

// DivS16 is div.s16.
func DivS16(a, b uint16) uint16 {
	if b == 0 {
		return math.MaxUint16
	}
	return uint16(int16(a) / int16(b))
}

// DivU32 is div.u32.
func DivU32(a, b uint32) uint32 {
	if b == 0 {
		return math.MaxUint32
	}
	return a / b
}

// DivS32 is div.s32.
func DivS32(a, b uint32) uint32 {
	if b == 0 {
		return math.MaxUint32
	}
	return uint32(int32(a) / int32(b))
}

// DivU64 is div.u64.
func DivU64(a, b uint64) uint64 {
	if b == 0 {
		return math.MaxUint64
	}
	return a / b
}

// DivS64 is div.s64.
func DivS64(a, b uint64) uint64 {
	if b == 0 {
		return math.MaxUint64
	}
	return uint64(int64(a) / int64(b))
}

// RemU16 is rem.u16.
func RemU16(a, b uint16) uint16 {
	if b == 0 {
		return math.MaxUint16
	}
	return a % b
}

// RemS16 is rem.s16. The remainder has the sign of a.
func RemS16(a, b uint16) uint16 {
	if b == 0 {
		return math.MaxUint16
	}
	return uint16(int16(a) % int16(b))
}

// RemU32 is rem.u32.
func RemU32(a, b uint32) uint32 {
	if b == 0 {
		return math.MaxUint32
	}
	return a % b
}

// RemS32 is rem.s32.
func RemS32(a, b uint32) uint32 {
	if b == 0 {
		return math.MaxUint32
	}
	return uint32(int32(a) % int32(b))
}

// RemU64 is rem.u64.
func RemU64(a, b uint64) uint64 {
	if b == 0 {
		return math.MaxUint64
	}
	return a % b
}

// RemS64 is rem.s64.
func RemS64(a, b uint64) uint64 {
	if b == 0 {
		return math.MaxUint64
	}
	return uint64(int64(a) % int64(b))
}

// SadU32 is sad.u32: c + |a-b|.
func SadU32(a, b, c uint32) uint32 { return c + max(a, b) - min(a, b) }

// SadS32 is sad.s32.
func SadS32(a, b, c uint32) uint32 {
	return c + uint32(max(int32(a), int32(b))) - uint32(min(int32(a), int32(b)))
}

// SadU64 is sad.u64; the 16-bit form fits it too.
func SadU64(a, b, c uint64) uint64 { return c + max(a, b) - min(a, b) }

// SadS64 is sad.s64; the 16-bit form fits it on sign-extended operands.
func SadS64(a, b, c uint64) uint64 {
	return c + uint64(max(int64(a), int64(b))) - uint64(min(int64(a), int64(b)))
}

// Dp4a is dp4a.atype.btype.
func Dp4a(signedA, signedB bool, a, b, c uint32) uint32 {
	for i := uint(0); i < 32; i += 8 {
		c += uint32(byteOf(a, i, signedA) * byteOf(b, i, signedB))
	}
	return c
}

// Dp2a is dp2a.mode.atype.btype; hi takes the upper half of b.
func Dp2a(hi, signedA, signedB bool, a, b, c uint32) uint32 {
	if hi {
		b >>= 16
	}
	a0, a1 := int32(a&0xffff), int32(a>>16)
	if signedA {
		a0, a1 = int32(int16(a)), int32(a)>>16
	}
	return c + uint32(a0*byteOf(b, 0, signedB)) + uint32(a1*byteOf(b, 8, signedB))
}

func byteOf(a uint32, at uint, signed bool) int32 {
	if signed {
		return int32(int8(a >> at))
	}
	return int32(uint8(a >> at))
}

// Shifts clamp amounts to the width, so that a large one gives zero or the sign
// (ISA, shl and shr); Go's shifts do the same for every unsigned amount.

// Shl16 is shl.b16.
func Shl16(a uint16, n uint32) uint16 { return a << n }

// ShrU16 is shr.u16 and shr.b16.
func ShrU16(a uint16, n uint32) uint16 { return a >> n }

// ShrS16 is shr.s16.
func ShrS16(a uint16, n uint32) uint16 { return uint16(int16(a) >> n) }

func shfAmount(wrap bool, n uint32) uint32 {
	if wrap {
		return n & 31
	}
	return min(n, 32)
}

// ShfL is shf.l: the upper word of b:a shifted left.
func ShfL(wrap bool, a, b, n uint32) uint32 {
	n = shfAmount(wrap, n)
	return b<<n | a>>(32-n)
}

// ShfR is shf.r: the lower word of b:a shifted right.
func ShfR(wrap bool, a, b, n uint32) uint32 {
	n = shfAmount(wrap, n)
	return b<<(32-n) | a>>n
}
