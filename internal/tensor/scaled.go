package tensor

import (
	"fmt"
	"math"
)

// A ScaleFormat is the format of the factors by which blocks of A and B are multiplied: a byte
// each, without a sign.
type ScaleFormat uint8

// The formats. UE8M0 is a power of two, from 2^-127 to 2^127; UE4M3 is E4M3 without the sign,
// whose bit is not read. The largest code of each is a NaN.
const (
	UE8M0 ScaleFormat = 1 + iota
	UE4M3
)

// String is the format's name in PTX.
func (f ScaleFormat) String() string {
	return [...]string{"none", UE8M0: "ue8m0", UE4M3: "ue4m3"}[f]
}

// A factor is sig/8·2^exp: sig is 8 or more, but for a subnormal. The exponent of a zero is
// nothing, and of a NaN special.
type factor struct{ sig, exp int32 }

// factors has the 256 factors of each format.
var factors = func() (t [3][256]factor) {
	for b := range 256 {
		t[UE8M0][b] = factor{8, int32(b) - 127}
		x, exp := decode(E4M3, uint32(b&0x7f))
		t[UE4M3][b] = factor{exp: exp}
		if exp != special && exp != nothing {
			t[UE4M3][b].sig = int32(math.Ldexp(x, 3-int(exp)))
		}
	}
	t[UE8M0][0xff] = factor{exp: special}
	return t
}()

// A ScaledRule is how a block-scaled instruction computes an element of D: each block of K has a
// factor for the row of A and one for the column of B.
//
// Where operands have 8 bits there is one block, and the rule is that of the package with the
// exponents of the two factors added to each product's: F is 25. Of e2m1 in 4 bits, 16 products
// at a time are added exactly, and times both significands of their factors; such a sum counts
// with the factors' exponents, whatever its own size, and F is 35. Both are MMA-Sim's model.
type ScaledRule struct {
	rule   *Rule
	scale  ScaleFormat
	block  int  // elements of K that share a factor; of a sparse A, stored ones
	packed bool // e2m1 in 4 bits
	basis  Basis
}

// scaledGroup is how many products of e2m1 are added exactly.
const scaledGroup = 16

// ScaledRuleFor is the rule of tcgen05.mma on sm_100 and of mma.sync on sm_120 with block scales,
// for operands of formats a and b, in 4 bits each if packed, of which block elements share a
// factor.
func ScaledRuleFor(a, b Format, packed bool, scale ScaleFormat, block int) *ScaledRule {
	r := &ScaledRule{scale: scale, block: block, packed: packed, basis: Modelled}
	s := Sum{Bits: 25, Keep: 23}
	if packed {
		s.Bits = 35
	} else if a >= E2M3 || b >= E2M3 {
		r.basis = Assumed // MMA-Sim takes e2m1 as a type, but has no arithmetic for it
	}
	r.rule = NewRule(F32, a, b, s)
	return r
}

// Basis is what the belief in the rule rests on.
func (r *ScaledRule) Basis() Basis { return r.basis }

// AppendA appends the element of A in the low bits of b to a row.
func (r *ScaledRule) AppendA(v *Vector, b uint32) { r.rule.AppendA(v, b) }

// AppendB appends the element of B in the low bits of b to a column.
func (r *ScaledRule) AppendB(v *Vector, b uint32) { r.rule.AppendB(v, b) }

// Dot returns an element of D: c is the element of C, a and b the elements that meet, in the
// order of k, sa and sb their blocks' factors.
func (r *ScaledRule) Dot(c uint32, a, b *Vector, sa, sb []byte) uint32 {
	if len(sa)*r.block != len(a.val) || len(sb)*r.block != len(b.val) {
		panic(fmt.Sprintf("BUG: %d and %d factors of %d elements", len(sa), len(sb), len(a.val)))
	}
	table := &factors[r.scale]
	for i := range sa {
		if table[sa[i]].exp == special || table[sb[i]].exp == special {
			return canonicalNaN
		}
	}
	cv, ce := decode32(c)
	if r.packed {
		return r.grouped(cv, ce, a, b, sa, sb)
	}
	return r.whole(cv, ce, a, b, table[sa[0]].exp+table[sb[0]].exp)
}

// canonicalNaN is what every NaN of an f32 result is.
const canonicalNaN = 0x7fffffff

// whole adds c, of exponent top, and the products, each times 2^scale.
func (r *ScaledRule) whole(c float64, top int32, a, b *Vector, scale int32) uint32 {
	for i, e := range a.exp {
		if e += b.exp[i]; e > nothing/2 {
			top = max(top, e+scale)
		}
	}
	if uint32(top-nothing/2) > special/2-nothing/2 {
		return r.rule.unusual(c, a.val, b.val)
	}
	bits := r.rule.bits
	q := int64(c * power(bits-top))
	scaled := math.Ldexp(1, int(bits-top+scale))
	for i, x := range a.val {
		q += int64(x * b.val[i] * scaled)
	}
	return r.rule.round(float64(q) * power(top-bits))
}

// grouped adds c, of exponent top, and exact sums of 16 products.
func (r *ScaledRule) grouped(c float64, top int32, a, b *Vector, sa, sb []byte) uint32 {
	var sums [12]float64
	var exps [12]int32
	n, table := len(a.val)/scaledGroup, &factors[r.scale]
	for g := range n {
		sum := 0.0
		for i := g * scaledGroup; i < (g+1)*scaledGroup; i++ {
			sum += a.val[i] * b.val[i]
		}
		x, y := table[sa[g*scaledGroup/r.block]], table[sb[g*scaledGroup/r.block]]
		sums[g], exps[g] = sum*float64(x.sig*y.sig)/64, x.exp+y.exp
		if exps[g] > nothing/2 {
			top = max(top, exps[g])
		}
	}
	if uint32(top-nothing/2) > special/2-nothing/2 {
		return r.rule.unusual(c, nil, nil)
	}
	bits := r.rule.bits
	q := int64(c * power(bits-top))
	for g, s := range sums[:n] {
		if s != 0 {
			q += int64(s * math.Ldexp(1, int(bits-top+exps[g])))
		}
	}
	return r.rule.round(float64(q) * power(top-bits))
}
