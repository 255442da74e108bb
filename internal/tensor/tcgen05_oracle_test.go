package tensor

import (
	"math/big"
)

// A term is an element or a product for the oracle: mant·2^exp, and what it counts
// with in the search for the largest exponent.
type term struct {
	nan, inf, neg bool
	mant          int64
	exp, e        int
}

// termOf decodes an element from the definition of its format.
func termOf(f Format, b uint32) term {
	type def struct{ exp, frac, bias int }
	d := map[Format]def{F16: {5, 10, 15}, BF16: {8, 7, 127}, TF32: {8, 23, 127}, F32: {8, 23, 127}, E4M3: {4, 3, 7}, E5M2: {5, 2, 15}, E2M3: {2, 3, 1}, E3M2: {3, 2, 3}, E2M1: {2, 1, 1}}[f]
	if f == TF32 {
		b &^= 1<<13 - 1
	}
	frac, e := int64(b&(1<<d.frac-1)), int(b>>d.frac&(1<<d.exp-1))
	t := term{neg: b>>(d.exp+d.frac)&1 != 0}
	last := 1<<d.exp - 1
	switch f {
	case E2M3, E3M2, E2M1:
	case E4M3:
		t.nan = e == last && frac == 7
	default:
		t.nan, t.inf = e == last && frac != 0, e == last && frac == 0
	}
	if e == 0 {
		t.mant, t.e = frac, 1-d.bias
	} else {
		t.mant, t.e = frac|1<<d.frac, e-d.bias
	}
	t.exp = t.e - d.frac
	return t
}

func (t term) times(u term) term {
	zero := func(x term) bool { return !x.nan && !x.inf && x.mant == 0 }
	return term{
		nan: t.nan || u.nan || t.inf && zero(u) || u.inf && zero(t), inf: t.inf || u.inf, neg: t.neg != u.neg,
		mant: t.mant * u.mant, exp: t.exp + u.exp, e: t.e + u.e,
	}
}

// An oracle is a sum with F fraction bits, written for one element at a time with
// big integers. Unfused, the products are summed and rounded before C is added.
type oracle struct {
	f       int
	unfused bool
}

// dot is an element of D; c counts with scale less in its exponent.
func (o oracle) dot(acc Format, c uint32, scale int, a, b []term) uint32 {
	terms := make([]term, 0, len(a)+1)
	for i := range a {
		terms = append(terms, a[i].times(b[i]))
	}
	last := termOf(acc, c)
	last.exp, last.e = last.exp-scale, last.e-scale
	if o.unfused {
		last = term{mant: last.mant, neg: last.neg, exp: last.exp, e: last.e, nan: last.nan, inf: last.inf}
		first := termOf(F32, o.sum(F32, terms))
		if acc == F16 {
			first = termOf(F16, o.sum(F16, terms))
		}
		return o.sum(acc, []term{first, last})
	}
	return o.sum(acc, append(terms, last))
}

func (o oracle) sum(acc Format, terms []term) uint32 {
	plus, minus, nan, top := false, false, false, -1<<30
	for _, t := range terms {
		nan = nan || t.nan
		plus, minus = plus || t.inf && !t.neg, minus || t.inf && t.neg
		if t.mant != 0 {
			top = max(top, t.e)
		}
	}
	inf, canonical := uint32(0x7f800000), uint32(0x7fffffff)
	if acc == F16 {
		inf, canonical = 0x7c00, 0x7fff
	}
	switch {
	case nan || plus && minus:
		return canonical
	case plus:
		return inf
	case minus:
		return inf | (canonical + 1)
	}
	sum := new(big.Int)
	for _, t := range terms {
		if t.mant == 0 {
			continue
		}
		q := big.NewInt(t.mant)
		if shift := t.exp - (top - o.f); shift >= 0 {
			q.Lsh(q, uint(shift))
		} else {
			q.Rsh(q, uint(-shift)) // of a magnitude: toward zero
		}
		if t.neg {
			q.Neg(q)
		}
		sum.Add(sum, q)
	}
	return rounded(acc, sum, top-o.f)
}

// rounded is sum·2^exp as an f32, toward zero, or an f16, to nearest even.
func rounded(acc Format, sum *big.Int, exp int) uint32 {
	if sum.Sign() == 0 {
		return 0
	}
	frac, bias, most := 23, 127, 127
	if acc == F16 {
		frac, bias, most = 10, 15, 15
	}
	m := new(big.Int).Abs(sum)
	e := max(exp+m.BitLen()-1, 1-bias) // of the result, before rounding
	q, drop := new(big.Int).Set(m), e-frac-exp
	if drop <= 0 {
		q.Lsh(q, uint(-drop))
	} else {
		q.Rsh(q, uint(drop))
		if acc == F16 {
			rest := new(big.Int).Sub(m, new(big.Int).Lsh(q, uint(drop)))
			half := new(big.Int).Lsh(big.NewInt(1), uint(drop-1))
			if c := rest.Cmp(half); c > 0 || c == 0 && q.Bit(0) == 1 {
				q.Add(q, big.NewInt(1))
			}
		}
	}
	bits := uint32(q.Uint64())
	switch {
	case bits == 0:
		return 0
	case bits>>(frac+1) != 0: // rounded up to the next power of two
		e, bits = e+1, bits>>1
	}
	sign := uint32(0)
	if sum.Sign() < 0 {
		sign = 1 << 31
		if acc == F16 {
			sign = 1 << 15
		}
	}
	if e > most {
		return sign | uint32(most+1+bias)<<frac
	}
	if bits>>frac == 0 {
		return sign | bits // subnormal
	}
	return sign | uint32(e+bias)<<frac | bits&(1<<frac-1)
}

// sumExactly is the sum without any rounding, and the largest exponent in it.
func sumExactly(acc Format, c uint32, scale int, a, b []term) (sum *big.Float, top int, finite bool) {
	sum, top = new(big.Float).SetPrec(1200), -600 // below all that is not zero
	last := termOf(acc, c)
	last.exp, last.e = last.exp-scale, last.e-scale
	add := func(t term) bool {
		if t.nan || t.inf {
			return false
		}
		if t.mant != 0 {
			top = max(top, t.e)
		}
		x := new(big.Float).SetPrec(1200).SetMantExp(new(big.Float).SetInt64(t.mant), t.exp)
		if t.neg {
			x.Neg(x)
		}
		sum.Add(sum, x)
		return true
	}
	for i := range a {
		if !add(a[i].times(b[i])) {
			return nil, 0, false
		}
	}
	return sum, top, add(last)
}
