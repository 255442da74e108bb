package tensor

import (
	"math"

	"muster/internal/num"
)

// A Format is a floating-point format of operands and accumulators.
type Format uint8

// The formats. A TF32 operand lies in 32 bits; the low 13 are not read. E2M3,
// E3M2 and E2M1 lie in the low bits of a byte. As accumulators only F16, F32 and,
// for integers and b1, S32 occur.
const (
	F16 Format = iota
	BF16
	TF32
	E4M3
	E5M2
	F32
	S8
	U8
	S4
	U4
	B1
	S32
	E2M3
	E3M2
	E2M1
)

// String is the format's name in PTX.
func (f Format) String() string {
	return [...]string{F16: "f16", BF16: "bf16", TF32: "tf32", E4M3: "e4m3", E5M2: "e5m2", F32: "f32", S8: "s8", U8: "u8", S4: "s4", U4: "u4", B1: "b1", S32: "s32", E2M3: "e2m3", E3M2: "e3m2", E2M1: "e2m1"}[f]
}

// layouts gives exponent and fraction bits in storage, how many low bits of the
// fraction are not read, and whether all exponents are of finite numbers. Of E4M3
// a single magnitude is not.
var layouts = [...]struct {
	exp, frac, skip int
	finite          bool
}{
	F16: {5, 10, 0, false}, BF16: {8, 7, 0, false}, TF32: {8, 23, 13, false}, F32: {8, 23, 0, false},
	E4M3: {4, 3, 0, true}, E5M2: {5, 2, 0, false}, E2M3: {2, 3, 0, true}, E3M2: {3, 2, 0, true}, E2M1: {2, 1, 0, true},
}

// Exponents that no finite product reaches: of an infinity or a NaN, and of a
// zero, which takes no part in the search for the largest.
const (
	special = 1 << 22
	nothing = -1 << 20
)

// A Vector is a row of A or a column of B, decoded: each element's value and
// its exponent before normalization, a subnormal's being that of the smallest
// normal number.
type Vector struct {
	val []float64
	exp []int32
}

// Len is the number of elements.
func (v Vector) Len() int { return len(v.val) }

// Slice is the elements from i up to j.
func (v Vector) Slice(i, j int) Vector { return Vector{v.val[i:j:j], v.exp[i:j:j]} }

func (v *Vector) push(x float64, e int32) {
	v.val = append(v.val, x)
	v.exp = append(v.exp, e)
}

// decode returns value and exponent of the element in the low bits of b.
func decode(f Format, b uint32) (float64, int32) {
	l := layouts[f]
	bias := 1<<(l.exp-1) - 1
	e := int(b >> l.frac & (1<<l.exp - 1))
	frac := b & (1<<l.frac - 1) >> l.skip << l.skip
	var x float64
	exp := int32(max(e, 1) - bias)
	switch {
	case f == E4M3 && b&0x7f == 0x7f, !l.finite && e == 1<<l.exp-1 && frac != 0:
		x, exp = math.NaN(), special
	case !l.finite && e == 1<<l.exp-1:
		x, exp = math.Inf(1), special
	case e == 0 && frac == 0:
		exp = nothing
	case e == 0:
		x = math.Ldexp(float64(frac), 1-bias-l.frac)
	default:
		x = math.Ldexp(float64(frac|1<<l.frac), e-bias-l.frac)
	}
	if b>>(l.exp+l.frac)&1 != 0 {
		x = -x
	}
	return x, exp
}

// Value is the number in the low bits of b.
func (f Format) Value(b uint32) float64 {
	x, _ := decode(f, b)
	return x
}

// A Rule is how one instruction computes an element of D from a row of A, a
// column of B and an element of C. The zero Rule is invalid: use [RuleFor],
// [MMA] or [WGMMARule].
type Rule struct {
	a, b, acc Format
	bits      int32  // fraction bits kept below the largest exponent
	floor     int32  // the least that the largest exponent counts as
	mask      uint32 // of the bits of an f32 result that can be set
	step      int    // products added at once; 0: all
	halves    bool   // by way of f16, see Sum.Widened
	last      bool   // C is added at the end
	basis     Basis
	satfinite bool // of integers
	xor       bool // of b1
}

// MMA is the rule of mma.sync and mma.sp.sync on sm_90 for operands of formats a
// and b and C and D of format acc, except m8n8k4, which is [Chain].
//
// An sm_90 part has no such instruction for fp8: ptxas widens the operands to
// f16, multiplies elements 0 and 1 of each four first and then elements 2 and
// 3, begins with zero, and adds C with an ordinary addition at the end.
func MMA(acc, a, b Format) *Rule {
	if a == E4M3 || a == E5M2 {
		return NewRule(acc, a, b, widenedSum)
	}
	return NewRule(acc, a, b, wholeSum)
}

// WGMMARule is the rule of wgmma.mma_async, dense or sparse. Where scale-d is
// false C is +0; where an operand is negated, its signs are flipped before.
func WGMMARule(acc, a, b Format) *Rule {
	if a == E4M3 || a == E5M2 {
		return NewRule(acc, a, b, shortSum)
	}
	return MMA(acc, a, b)
}

// AppendA appends the element of A in the low bits of b to a row.
func (r *Rule) AppendA(v *Vector, b uint32) { r.push(v, r.a, b) }

// AppendB appends the element of B in the low bits of b to a column.
func (r *Rule) AppendB(v *Vector, b uint32) { r.push(v, r.b, b) }

func (r *Rule) push(v *Vector, f Format, b uint32) {
	x, e := decode(f, b)
	if r.halves && f == E4M3 && e != special && e != nothing {
		// In f16 its subnormals are normal.
		e = int32(math.Ilogb(x))
	}
	v.push(x, e)
}

// parts is how many steps a sum of k products has.
func (r *Rule) parts(k int) int {
	switch {
	case r.halves:
		return 2
	case r.step != 0 && r.step < k:
		return k / r.step
	}
	return 1
}

// Dot returns an element of D: c is the element of C, a and b are the K
// elements that meet, in the order of k. For a sparse A they are the stored
// elements and what they meet.
func (r *Rule) Dot(c uint32, a, b *Vector) uint32 {
	if r.last || r.parts(a.Len()) > 1 {
		return r.dotSteps(c, a, b)
	}
	if r.acc == F32 {
		cv, e := decode32(c)
		return r.group(cv, e, a, b)
	}
	cv, e := decode(r.acc, c)
	return r.group(cv, e, a, b)
}

// dotSteps is Dot in several steps.
func (r *Rule) dotSteps(c uint32, a, b *Vector) uint32 {
	sum := c
	if r.last {
		sum = 0
	}
	for part := range r.parts(a.Len()) {
		var x, y Vector
		for i := range a.Len() {
			if r.partOf(i, a.Len()) == part {
				x.push(a.val[i], a.exp[i])
				y.push(b.val[i], b.exp[i])
			}
		}
		s, e := decode(r.acc, sum)
		sum = r.group(s, e, &x, &y)
	}
	if r.last {
		sum = r.add(c, sum)
	}
	return sum
}

// partOf is the step that element i of k takes part in.
func (r *Rule) partOf(i, k int) int {
	switch {
	case r.halves:
		return i >> 1 & 1
	case r.parts(k) > 1:
		return i / r.step
	}
	return 0
}

// add adds C at the end.
func (r *Rule) add(c, sum uint32) uint32 {
	if r.acc == F16 {
		return uint32(num.AddF16(0, uint16(c), uint16(sum)))
	}
	return num.AddRN(c, sum)
}

// decode32 is decode for f32, short enough to be inlined; rare cases take a call.
func decode32(b uint32) (float64, int32) {
	if e := int32(b >> 23 & 0xff); uint32(e-1) < 254 {
		return float64(math.Float32frombits(b)), e - 127
	}
	return decode(F32, b)
}

// power is 2^e for -1022 ≤ e ≤ 1023.
func power(e int32) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// group adds c, of exponent emax, and the products at once. Its two loops are
// most of a kernel's matrix arithmetic: four elements a turn (every K is a
// multiple of four), without dependence between them.
func (r *Rule) group(c float64, emax int32, a, b *Vector) uint32 {
	ae, be := a.exp, b.exp[:len(a.exp)]
	m1, m2, m3 := emax, emax, emax
	for i := 0; i+4 <= len(ae); i += 4 {
		x, y := (*[4]int32)(ae[i:]), (*[4]int32)(be[i:])
		emax = max(emax, x[0]+y[0])
		m1 = max(m1, x[1]+y[1])
		m2 = max(m2, x[2]+y[2])
		m3 = max(m3, x[3]+y[3])
	}
	emax = max(max(emax, m1), max(m2, m3))
	if uint32(emax-nothing/2) > special/2-nothing/2 {
		return r.unusual(c, a.val, b.val)
	}
	emax = max(emax, r.floor)
	// A conversion to an integer truncates toward zero, as the hardware does
	// with what falls below the last bit it keeps. A product has at most 22
	// bits: neither it nor its scaling rounds.
	scale := power(r.bits - emax)
	q, q1 := int64(c*scale), int64(0)
	av, bv := a.val, b.val[:len(a.val)]
	for i := 0; i+4 <= len(av); i += 4 {
		x, y := (*[4]float64)(av[i:]), (*[4]float64)(bv[i:])
		q += int64(x[0] * y[0] * scale)
		q1 += int64(x[1] * y[1] * scale)
		q += int64(x[2] * y[2] * scale)
		q1 += int64(x[3] * y[3] * scale)
	}
	return r.round(float64(q+q1) * power(emax-r.bits))
}

// unusual returns a sum with an infinity or a NaN in it, or of zeros only.
func (r *Rule) unusual(c float64, a, b []float64) uint32 {
	for i, x := range a {
		c += x * b[i]
	}
	inf, nan := uint32(0x7f800000), uint32(0x7fffffff)
	if r.acc == F16 {
		inf, nan = 0x7c00, 0x7fff
	}
	switch {
	case c == 0:
		return 0
	case c > 0:
		return inf
	case c < 0:
		return inf | (nan + 1)
	}
	return nan
}

// round rounds to the accumulator's format: to f16 to nearest, to f32 toward
// zero, but past the largest number to infinity. There is no negative zero.
func (r *Rule) round(x float64) uint32 {
	u := math.Float64bits(x)
	e := int(u>>52&0x7ff) - 1023
	if r.acc == F16 {
		return round16(u, e)
	}
	sign := uint32(u >> 32 & (1 << 31))
	switch {
	case e > 127:
		return sign | 0x7f800000
	case e >= -126:
		return sign | (uint32(e+127)<<23|uint32(u>>29)&0x7fffff)&r.mask
	}
	return signed(sign, uint32(math.Abs(x)*0x1p149)&r.mask)
}

func round16(u uint64, e int) uint32 {
	sign := uint32(u >> 48 & (1 << 15))
	switch {
	case e > 15:
		return sign | 0x7c00
	case e >= -14:
		u += 1<<41 - 1 + u>>42&1
		return sign | uint32(u>>42&(1<<21-1)-(1023-15)<<10)
	}
	const ulps = 0x1p28 // whose last bit is the smallest f16
	x := math.Abs(math.Float64frombits(u))
	return signed(sign, uint32((x+ulps-ulps)*0x1p24))
}

// signed joins a sign to a magnitude other than zero.
func signed(sign, x uint32) uint32 {
	if x == 0 {
		return 0
	}
	return sign | x
}
