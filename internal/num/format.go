package num

import "math"

// Rounding is a rounding qualifier. The first five round to the destination's
// precision, the last four to an integral value (ISA, cvt).
type Rounding uint8

const (
	RN  Rounding = iota // nearest, ties to even
	RZ                  // toward zero
	RM                  // toward negative infinity
	RP                  // toward positive infinity
	RNA                 // nearest, ties away from zero (tf32 only)
	RNI                 // to an integer, nearest even
	RZI                 // to an integer, toward zero
	RMI                 // to an integer, toward negative infinity
	RPI                 // to an integer, toward positive infinity
)

// integral reports whether r rounds to an integral value.
func (r Rounding) integral() bool { return r >= RNI }

// Mod is a set of instruction qualifiers.
type Mod uint8

const (
	FTZ        Mod = 1 << iota // flush subnormal inputs and results to zero of the same sign
	Sat                        // clamp to [0,1], NaN to +0; for integers, to the range
	Relu                       // negative results to +0, NaN canonical
	SatFinite                  // overflow and infinity to the largest finite value
	NaN                        // min, max: NaN if either input is
	XorSignAbs                 // min, max of magnitudes, signed by the XOR of the signs
)

// Canonical NaNs, and the NaN that an invalid f64 operation makes.
const (
	NaN16 uint16 = 0x7fff
	NaN32 uint32 = 0x7fffffff
	// The ISA does not say which NaN an invalid f64 operation returns; this is
	// the H200's.
	NaN64 uint64 = 0xfff8000000000000
)

// Type is an operand type of cvt.
type Type uint8

const (
	U8 Type = iota
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	BF16
	F32
	F64
	TF32
	E4M3
	E5M2
	E2M3
	E3M2
	E2M1
	UE8M0
)

// Integer reports whether t is an integer type.
func (t Type) Integer() bool { return t <= S64 }

// Signed reports whether t is a signed integer type.
func (t Type) Signed() bool { return t >= S8 && t <= S64 }

// Bits is the width of t in bits. TF32 occupies 32.
func (t Type) Bits() uint {
	if t > UE8M0 {
		return 0
	}
	return uint(typeBits[t])
}

var typeBits = [...]uint8{
	U8: 8, U16: 16, U32: 32, U64: 64, S8: 8, S16: 16, S32: 32, S64: 64,
	F16: 16, BF16: 16, F32: 32, F64: 64, TF32: 32,
	E4M3: 8, E5M2: 8, E2M3: 6, E3M2: 6, E2M1: 4, UE8M0: 8,
}

// layout is a binary format with a sign bit above exp and man bits. Its largest
// finite magnitude is max; inf is 0 where the format has no infinity, and nan
// is what a NaN becomes.
type layout struct {
	exp, man uint
	bias     int
	max      uint32
	inf      uint32
	nan      uint32
	shift    uint // left shift of the code in its register (tf32)
}

// layouts has an entry for each float format below 64 bits. E2M3, E3M2 and
// E2M1 have no NaN; the ISA turns one into the largest value.
//
// The ISA says 'NaN in the destination format' for e5m2, which has six: on the
// H200 it is all ones, as for every wider format. The low 13 bits of a tf32
// result are zero, in a NaN too; what cvt.rna makes of a NaN is in cvtNaN.
var layouts = [...]layout{
	F16:   {exp: 5, man: 10, bias: 15, max: 0x7bff, inf: 0x7c00, nan: 0x7fff},
	BF16:  {exp: 8, man: 7, bias: 127, max: 0x7f7f, inf: 0x7f80, nan: 0x7fff},
	F32:   {exp: 8, man: 23, bias: 127, max: 0x7f7fffff, inf: 0x7f800000, nan: NaN32},
	TF32:  {exp: 8, man: 10, bias: 127, max: 0x3fbff, inf: 0x3fc00, nan: 0x7fffe000, shift: 13},
	E4M3:  {exp: 4, man: 3, bias: 7, max: 0x7e, nan: 0x7f},
	E5M2:  {exp: 5, man: 2, bias: 15, max: 0x7b, inf: 0x7c, nan: 0x7f},
	E2M3:  {exp: 2, man: 3, bias: 1, max: 0x1f, nan: 0x1f},
	E3M2:  {exp: 3, man: 2, bias: 3, max: 0x1f, nan: 0x1f},
	E2M1:  {exp: 2, man: 1, bias: 1, max: 0x7, nan: 0x7},
	UE8M0: {},
}

// Encode rounds x to format t (F16 to UE8M0, but not F64) with one rounding and
// returns its bits. Without SatFinite overflow goes where the rounding says, in
// a format that has infinities; the others always saturate. Of m, only SatFinite
// and Relu are used.
func Encode(t Type, r Rounding, m Mod, x float64) uint32 {
	if t == UE8M0 {
		return encodeUE8M0(r, m, x)
	}
	if t < F16 || t == F64 || t > UE8M0 {
		return 0
	}
	f := &layouts[t]
	b := math.Float64bits(x)
	sign := uint32(b>>63) << (f.exp + f.man)
	abs := b &^ (1 << 63)
	switch {
	case abs > 0x7ff<<52:
		return f.nan
	case m&Relu != 0 && sign != 0:
		return 0
	case abs == 0x7ff<<52:
		if f.inf == 0 || m&SatFinite != 0 {
			return (sign | f.max) << f.shift
		}
		return (sign | f.inf) << f.shift
	}
	code := f.round(abs, sign != 0, r)
	if code > f.max {
		code = f.overflow(sign != 0, r, m)
	}
	return (sign | code) << f.shift
}

// round gives the magnitude code of a finite f64 magnitude; it may exceed max.
func (f *layout) round(abs uint64, neg bool, r Rounding) uint32 {
	e := int(abs >> 52)
	if e == 0 {
		// An f64 subnormal lies far below every format here: it counts as a sticky bit.
		if abs == 0 {
			return 0
		}
		return up(0, false, true, false, neg, r)
	}
	e += f.bias - 1023 // exponent field in f
	mant := abs&(1<<52-1) | 1<<52
	drop := 52 - f.man
	if e <= 0 {
		drop += uint(1 - e)
		e = 1
	}
	if e > 1<<f.exp {
		return f.max + 1
	}
	if drop > 54 {
		drop = 54
	}
	keep := mant >> drop
	rest := mant & (1<<drop - 1)
	half := uint64(1) << (drop - 1)
	// keep carries the implicit bit, which adds one to the exponent field.
	code := uint32(uint64(e-1)<<f.man + keep)
	return up(code, rest > half, rest != 0, rest == half, neg, r)
}

// up rounds code away from zero by one where r asks for it.
func up(code uint32, above, inexact, tie, neg bool, r Rounding) uint32 {
	if away(code&1 != 0, above, inexact, tie, neg, r) {
		return code + 1
	}
	return code
}

func away(odd, above, inexact, tie, neg bool, r Rounding) bool {
	switch r {
	case RZ:
		return false
	case RM:
		return inexact && neg
	case RP:
		return inexact && !neg
	case RNA:
		return above || tie
	}
	return above || tie && odd
}

// overflow is the magnitude code for a finite value beyond max.
func (f *layout) overflow(neg bool, r Rounding, m Mod) uint32 {
	if f.inf == 0 || m&SatFinite != 0 || stopsAtMax(neg, r) {
		return f.max
	}
	return f.inf
}

// stopsAtMax reports whether r turns an overflow into the largest finite value.
func stopsAtMax(neg bool, r Rounding) bool {
	return r == RZ || r == RM && !neg || r == RP && neg
}

// encodeUE8M0 gives the biased exponent of |x|: 2^-127 to 2^127, 0xff for NaN.
//
// Open: the ISA does not say what a negative input gives. Chosen: its magnitude.
// An infinity or overflow saturates to 2^127 with SatFinite, else becomes NaN.
func encodeUE8M0(r Rounding, m Mod, x float64) uint32 {
	if x != x {
		return 0xff
	}
	abs := math.Float64bits(x) &^ (1 << 63)
	e := int(abs>>52) - 1023 + 127
	if r == RP && abs&(1<<52-1) != 0 && e >= 0 {
		e++
	}
	switch {
	case e < 0:
		return 0
	case e > 254 && m&SatFinite != 0:
		return 254
	case e > 254:
		return 0xff
	}
	return uint32(e)
}

// Decode returns the value of bits b in format t (F16 to UE8M0). Every value of
// these formats is a float64 exactly; a NaN keeps no payload.
func Decode(t Type, b uint32) float64 {
	switch t {
	case F16:
		return float64(f16Float(uint16(b)))
	case BF16:
		return float64(math.Float32frombits(b << 16))
	case F32:
		return float64(math.Float32frombits(b))
	case TF32:
		return float64(math.Float32frombits(b &^ 0x1fff))
	case E4M3, E5M2, E2M3, E3M2, E2M1:
		return layouts[t].decode(b)
	case UE8M0:
		if b&0xff == 0xff {
			return math.NaN()
		}
		return math.Ldexp(1, int(b&0xff)-127)
	}
	return 0
}

func (f *layout) decode(b uint32) float64 {
	abs := b & (1<<(f.exp+f.man) - 1)
	var x float64
	switch e, man := int(abs>>f.man), abs&(1<<f.man-1); {
	case abs > f.max && abs == f.inf:
		x = math.Inf(1)
	case abs > f.max:
		return math.NaN()
	case e == 0:
		x = pow2(1-f.bias-int(f.man)) * float64(man)
	default:
		x = pow2(e-f.bias-int(f.man)) * float64(man|1<<f.man)
	}
	if b>>(f.exp+f.man)&1 != 0 {
		return -x
	}
	return x
}

// pow2 is 2 to the e, for e of a normal float64.
func pow2(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// f16Float is the value of an f16; NaNs keep their payload.
func f16Float(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	em := uint32(h & 0x7fff)
	switch {
	case em >= 0x7c00:
		return math.Float32frombits(sign | em<<13 | 0x7f800000)
	case em >= 0x0400:
		return math.Float32frombits(sign | (em<<13 + 112<<23))
	}
	return math.Float32frombits(sign | math.Float32bits(float32(em)*0x1p-24))
}

// bf16Float is the value of a bf16.
func bf16Float(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// f16RN rounds f32 bits to f16, ties to even, NaN canonical.
func f16RN(b uint32) uint16 {
	sign := uint16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs >= 0x47800000: // 65536 and up, infinity, NaN
		if abs > 0x7f800000 {
			return NaN16
		}
		return sign | 0x7c00
	case abs < 0x38800000: // below 2^-14: 0.5 has the ulp of an f16 subnormal
		t := math.Float32frombits(abs) + 0.5
		return sign | uint16(math.Float32bits(t)-0x3f000000)
	}
	abs += 0xc8000fff + abs>>13&1 // rebias by -112 and round half to even
	return sign | uint16(abs>>13)
}

// bf16RN rounds f32 bits to bf16, ties to even, NaN canonical.
func bf16RN(b uint32) uint16 {
	if b&0x7fffffff > 0x7f800000 {
		return NaN16
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// odd64 rounds the exact sum s+e to odd, where s is the sum rounded to nearest
// and e the exact error or anything of its sign. Infinities and NaN pass.
func odd64(s, e float64) float64 {
	b := math.Float64bits(s)
	if b&1 != 0 || e == 0 || e != e || b>>52&0x7ff == 0x7ff {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// sumOdd is p+c rounded to odd (Knuth's two-sum gives the error).
func sumOdd(p, c float64) float64 {
	s := p + c
	bb := s - p
	return odd64(s, (p-(s-bb))+(c-bb))
}

// odd32 rounds a float64 to f32 bits, to odd.
func odd32(x float64) uint32 {
	b := f64to32(x, RZ)
	if x == x && float64(math.Float32frombits(b)) != x {
		b |= 1
	}
	return b
}

// f64to32 rounds a float64 to f32 bits in any mode, NaN canonical. It rounds to
// nearest first and steps back by one where the mode would not have gone there.
func f64to32(x float64, r Rounding) uint32 {
	f := float32(x)
	if f != f {
		return NaN32
	}
	b, y := math.Float32bits(f), float64(f)
	switch {
	case r == RN || y == x:
		return b
	case y > x && (r == RM || r == RZ && x > 0):
		return below32(b)
	case y < x && (r == RP || r == RZ && x < 0):
		return below32(b^1<<31) ^ 1<<31
	}
	return b
}

// below32 is the next f32 toward negative infinity.
func below32(b uint32) uint32 {
	switch {
	case b<<1 == 0:
		return 0x80000001
	case b>>31 != 0:
		return b + 1
	}
	return b - 1
}
