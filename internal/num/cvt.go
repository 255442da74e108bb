package num

import (
	"math"
	"math/bits"
)

// Cvt is cvt{.rnd}{.ftz}{.sat}{.relu}{.satfinite}.dst.src for one value. v holds
// the source in its low bits, the rest is ignored. An integer result is extended
// to 64 bits by its own sign, so that it can be cut to any register; a float
// result is zero-extended.
func Cvt(dst, src Type, r Rounding, m Mod, v uint64) uint64 {
	if src.Integer() {
		x := extend(src, v)
		if dst.Integer() {
			return cvtIntInt(dst, src, m, x)
		}
		return cvtIntFloat(dst, src, r, m, x)
	}
	if dst.Integer() {
		return cvtFloatInt(dst, src, r, m, v)
	}
	return cvtFloatFloat(dst, src, r, m, v)
}

// extend widens the low bits of v to 64 by the sign of integer type t.
func extend(t Type, v uint64) uint64 {
	s := 64 - t.Bits()
	if t.Signed() {
		return uint64(int64(v<<s) >> s)
	}
	return v << s >> s
}

// limits are the ends of integer type t.
func limits(t Type) (lo int64, hi uint64) {
	w := t.Bits()
	if t.Signed() {
		return -1 << (w - 1), 1<<(w-1) - 1
	}
	return 0, math.MaxUint64 >> (64 - w)
}

func cvtIntInt(dst, src Type, m Mod, x uint64) uint64 {
	if m&Sat == 0 {
		return extend(dst, x)
	}
	lo, hi := limits(dst)
	if src.Signed() && int64(x) < 0 {
		return uint64(max(int64(x), lo))
	}
	return min(x, hi)
}

func cvtIntFloat(dst, src Type, r Rounding, m Mod, x uint64) uint64 {
	neg := src.Signed() && int64(x) < 0
	mag := x
	if neg {
		mag = -x
	}
	if dst == F64 {
		b := exact{neg: neg, lo: mag}.f64(r)
		if m&Sat != 0 {
			return sat64(b)
		}
		return b
	}
	// 64 bits are cut to 53, with a sticky bit for what is lost.
	if n := bits.Len64(mag); n > 53 {
		lost := mag & (1<<(n-53) - 1)
		mag -= lost
		if lost != 0 {
			mag |= 1 << (n - 53)
		}
	}
	f := float64(mag)
	if neg {
		f = -f
	}
	return finish(dst, m, encodeFloat(dst, r, m, f))
}

// cvtFloatInt rounds and clamps. NaN gives zero if neither side has 64 bits,
// else only the top bit of the destination (ISA, cvt, integer notes). From f64 to 8 and
// 16 bits, too, it is the top bit of the destination on the H200.
func cvtFloatInt(dst, src Type, r Rounding, m Mod, v uint64) uint64 {
	x := decodeSource(src, m, v)
	if x != x {
		if src == F64 || dst.Bits() == 64 {
			return extend(dst, 1<<(dst.Bits()-1))
		}
		return 0
	}
	return clampInt(dst, roundInt(r, x))
}

// clampInt converts an integral x with saturation.
func clampInt(dst Type, x float64) uint64 {
	lo, hi := limits(dst)
	switch {
	case x <= float64(lo):
		return uint64(lo)
	case x >= float64(hi): // rounds up to 2^63 or 2^64 for 64 bits: still right
		return hi
	case x >= 0x1p63:
		return uint64(x-0x1p63) + 1<<63
	}
	return uint64(int64(x))
}

// roundInt rounds to an integral value; the sign of a zero is kept. Both
// families of rounding names are accepted.
func roundInt(r Rounding, x float64) float64 {
	switch r {
	case RNI, RN:
		return math.RoundToEven(x)
	case RZI, RZ:
		return math.Trunc(x)
	case RMI, RM:
		return math.Floor(x)
	case RPI, RP:
		return math.Ceil(x)
	}
	return math.Round(x)
}

// decodeSource is the value of a float source, flushed if it is an f32 and FTZ
// is set.
func decodeSource(src Type, m Mod, v uint64) float64 {
	switch src {
	case F64:
		return f64(v)
	case F32:
		return float64(f32(m.in32(uint32(v))))
	}
	return Decode(src, uint32(v))
}

func cvtFloatFloat(dst, src Type, r Rounding, m Mod, v uint64) uint64 {
	if src == F32 && r == RN && m == 0 {
		switch dst {
		case F16:
			return uint64(f16RN(uint32(v)))
		case BF16:
			return uint64(bf16RN(uint32(v)))
		}
	}
	in := m
	if dst == F16 {
		// cvt.rm and .rp with .ftz to f16 round a subnormal f32 on the H200: to
		// nearest and toward zero this makes no difference.
		in &^= FTZ
	}
	x := decodeSource(src, in, v)
	if x != x {
		return cvtNaN(dst, src, r, m, v)
	}
	if r.integral() {
		x = roundInt(r, x)
	}
	if dst == F64 {
		if m&Sat != 0 {
			return sat64(math.Float64bits(x))
		}
		return math.Float64bits(x)
	}
	return finish(dst, m, encodeFloat(dst, r, m, x))
}

// cvtNaN returns the NaN to which the H200 converts a NaN: canonical in the narrow
// formats, but to and from f64 the payload stays aligned to the top of the mantissa and
// the NaN becomes quiet. Where the assembler turns the conversion into a move, a shift or
// an integer operation, the bits are what that leaves: cvt.f32.f32 and cvt.f64.f64
// without a rounding, cvt.f32.bf16, cvt.rna.tf32.f32.
func cvtNaN(dst, src Type, r Rounding, m Mod, v uint64) uint64 {
	switch {
	case m&Sat != 0:
		return 0
	case dst == src && (dst == F64 || dst == F32) && m&FTZ == 0 && !r.integral():
		return v
	case dst == F64 && src == F64:
		return v | 1<<51
	case dst == F64 && src == F32 && m&FTZ != 0: // flushed as f32 first
		return 0x7fffffffe0000000
	case dst == F32 && src == F64:
		return v>>32&0x80000000 | 0x7fc00000 | v>>29&0x3fffff
	case dst == F16 && src == F64:
		return v>>48&0x8000 | 0x7e00 | v>>42&0x1ff
	case dst == BF16 && src == F64:
		return v>>48&0x8000 | 0x7fc0 | v>>45&0x3f
	case dst == TF32 && r == RNA:
		b := uint32(v) &^ 0x1fff
		if m&SatFinite != 0 { // which turns an infinity into the largest number likewise
			b -= 0x2000
		}
		return uint64(b)
	case dst == F64 && src == F32:
		return v&0x80000000<<32 | 0x7ff8<<48 | v&0x7fffff<<29
	case dst == F64 && src == F16:
		return v&0x8000<<48 | 0x7ff8<<48 | v&0x3ff<<42
	case dst == F64 && src == BF16:
		return v&0x8000<<48 | 0x7ff8<<48 | v&0x7f<<45
	case dst == F64:
		return 0x7ff8 << 48
	case dst == F32 && src == BF16 && m&FTZ == 0:
		return v & 0xffff << 16
	case dst == UE8M0:
		return 0xff
	}
	return uint64(layouts[dst].nan)
}

// encodeFloat is Encode with short paths. Float roundings of integral values
// that r asked for are exact in formats of the same size, so any will do.
func encodeFloat(dst Type, r Rounding, m Mod, x float64) uint32 {
	if r.integral() {
		r = RN
	}
	if dst == F32 {
		return f64to32(x, r)
	}
	return Encode(dst, r, m, x)
}

// finish applies the qualifiers that act on a float result.
func finish(dst Type, m Mod, b uint32) uint64 {
	switch dst {
	case F32:
		return uint64(m.out32(b))
	case F16: // .ftz concerns the f32 side alone
		return uint64((m &^ FTZ).out16(uint16(b)))
	case BF16:
		return uint64(m.outBF16(uint16(b)))
	}
	return uint64(b)
}

func sat64(b uint64) uint64 {
	switch x := f64(b); {
	case x >= 1:
		return 0x3ff << 52
	case x > 0:
		return b
	}
	return 0
}

// F16ToF32 is cvt.f32.f16.
func F16ToF32(h uint16) uint32 {
	if h&0x7fff > 0x7c00 {
		return NaN32
	}
	return math.Float32bits(f16Float(h))
}

// F32ToF16 is cvt.rn.f16.f32.
func F32ToF16(b uint32) uint16 { return f16RN(b) }

// BF16ToF32 is cvt.f32.bf16; for NaN see cvtNaN.
func BF16ToF32(h uint16) uint32 { return uint32(h) << 16 }

// F32ToBF16 is cvt.rn.bf16.f32.
func F32ToBF16(b uint32) uint16 { return bf16RN(b) }

// slot is the width of one element of a packed x2 operand of type t: six-bit
// formats sit in bytes.
func slot(t Type) uint {
	switch t {
	case F16, BF16:
		return 16
	case E2M1:
		return 4
	}
	return 8
}

// CvtPack2 is cvt…x2.f32 d, a, b: a goes to the upper element, b to the lower.
// dst is the element type.
func CvtPack2(dst Type, r Rounding, m Mod, a, b uint32) uint32 {
	if r == RN && m == 0 && dst == F16 {
		return pair(f16RN(a), f16RN(b))
	}
	if r == RN && m == 0 && dst == BF16 {
		return pair(bf16RN(a), bf16RN(b))
	}
	hi := uint32(Cvt(dst, F32, r, m, uint64(a)))
	return hi<<slot(dst) | uint32(Cvt(dst, F32, r, m, uint64(b)))
}

// CvtPack2Half is cvt…x2.f16x2 and .bf16x2: src (F16 or BF16) names the element
// type of v.
func CvtPack2Half(dst, src Type, r Rounding, m Mod, v uint32) uint32 {
	hi := uint32(Cvt(dst, src, r, m, uint64(v>>16)))
	return hi<<slot(dst) | uint32(Cvt(dst, src, r, m, uint64(v&0xffff)))
}

// CvtUnpack2 is cvt.rn{.relu}.f16x2 and .bf16x2 from a pair of small floats:
// src names the element type of v, dst is F16 or BF16.
func CvtUnpack2(dst, src Type, m Mod, v uint32) uint32 {
	n := slot(src)
	mask := uint32(1)<<n - 1
	hi := Cvt(dst, src, RN, m, uint64(v>>n&mask))
	return pair(uint16(hi), uint16(Cvt(dst, src, RN, m, uint64(v&mask))))
}

// CvtPackSat is cvt.pack.sat: a and b saturate to the type of width bits (2, 4,
// 8 or 16), b below a. For widths under 16, c fills the rest from above.
func CvtPackSat(width uint, signed bool, a, b, c uint32) uint32 {
	lo, hi := int32(0), int32(1)<<width-1
	if signed {
		lo, hi = -1<<(width-1), 1<<(width-1)-1
	}
	mask := uint32(1)<<width - 1
	ta := uint32(min(max(int32(a), lo), hi)) & mask
	tb := uint32(min(max(int32(b), lo), hi)) & mask
	return c<<(2*width) | ta<<width | tb
}
