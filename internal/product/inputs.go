package product

import (
	"math"
	"math/rand/v2"
)

// Inputs says how operands are drawn.
type Inputs string

// The inputs. The exponents are spread so that the lowest bits of products are below what
// F keeps: the fewer bits a format has, the wider.
const (
	// Positive numbers have all bits of the fraction: C grows beyond the products, whose
	// last bits are cut.
	Positive Inputs = "positive"
	// Signed numbers have both signs, and more exponents: any product may have the largest
	// one, and sums cancel.
	Signed Inputs = "signed"
	// Cancelling products come by fours along K: two large ones that cancel, and two of
	// opposite signs of which the first has a one in the bit below those that F = 25 keeps.
	// What is lost is known, and the sum is small, so that even an f16 or bf16 result has
	// each bit of it: F more or less by one is seen.
	Cancelling Inputs = "cancelling"
	// Integers are those from -4 to 4, whose sums are exact.
	Integers Inputs = "integers"
)

// A drawing draws elements of A or B.
type drawing struct {
	in         Inputs
	f          *Format
	a          bool
	frac       int // bits of B's fraction
	low, count int // exponents
	r          *rand.Rand
}

// drawing returns how elements of A or B are drawn. A D of one byte an element has no place
// for large sums.
func (p *Product) drawing(in Inputs, a bool, r *rand.Rand) *drawing {
	x := &drawing{in: in, f: p.B.Format, a: a, frac: p.B.Format.frac, r: r}
	if a {
		x.f = p.A.Format
	}
	return x.spread(p.D.Format.Bytes)
}

// spread sets the exponents, for a D of so many bytes an element.
func (x *drawing) spread(d int) *drawing {
	f := x.f
	x.count = 2 + 2*max(0, 10-f.frac)
	top := 0
	if x.in == Signed {
		x.count = max(x.count, 8)
		top = 3
	}
	if d == 1 {
		x.count, top = 4, -3
	}
	x.low = max(f.least(), top+1-x.count)
	x.count = min(x.count, -f.least()+2-x.low)
	return x
}

// draw draws column k of A or row k of B.
func (x *drawing) draw(k int) uint32 {
	switch x.in {
	case Cancelling:
		return x.f.encode(x.cancelling(k))
	case Integers:
		return x.f.encode(float64(x.r.IntN(9) - 4))
	}
	v := math.Ldexp(1+math.Ldexp(float64(x.r.IntN(1<<x.f.frac)), -x.f.frac), x.low+x.r.IntN(x.count))
	if x.in == Signed && x.r.IntN(2) == 0 {
		v = -v
	}
	return x.f.encode(v)
}

// cancelling is a factor of a product of 2^16 or -2^16, or of one whose last bit is 2^-10:
// F = 25 keeps 2^-9 beside 2^16. A has the signs and powers of two, B has the fractions.
func (x *drawing) cancelling(k int) float64 {
	const large, last = 8, -10
	exp := last + x.frac // of a small product
	sign := 1.0
	if x.a && k%2 == 1 {
		sign = -1
	}
	switch {
	case k%4 < 2:
		return sign * math.Ldexp(1, large)
	case x.a:
		return sign * math.Ldexp(1, exp>>1)
	}
	frac := 2*x.r.IntN(1<<(x.frac-1)) + 1 - k%2
	return math.Ldexp(1+math.Ldexp(float64(frac), -x.frac), exp-exp>>1)
}

// encode is the element of a number that the format has, or of an infinity.
func (f *Format) encode(v float64) uint32 {
	var x uint32
	if math.Signbit(v) {
		x, v = 1<<(f.exp+f.frac), -v
	}
	switch {
	case math.IsInf(v, 0):
		x |= (1<<f.exp - 1) << f.frac
	case v != 0:
		e := max(exponent(v), f.least())
		m := uint32(math.Ldexp(v, f.frac-e))
		if m>>f.frac == 0 {
			x |= m // a subnormal
		} else {
			x |= m + uint32(e-f.least())<<f.frac
		}
	}
	return x << f.spare
}

// Fill draws the elements of A, B and C, and makes those of D NaN, or zero; C may lie where
// D does.
func (p *Product) Fill(data *Data, zeros bool, in Inputs, r *rand.Rand) {
	start := func(int) uint32 { return ^uint32(0) }
	if zeros {
		start = func(int) uint32 { return 0 }
	}
	p.D.fill(data.D, p.M, p.N, start)
	if p.C != nil {
		x := &drawing{in: Positive, f: F32, r: r}
		p.C.fill(data.C, p.M, p.N, x.spread(4).draw)
	}
	p.A.fill(data.A, p.M, p.K, p.drawing(in, true, r).draw)
	p.B.fill(data.B, p.N, p.K, p.drawing(in, false, r).draw)
}

func (m *Matrix) fill(b []byte, rows, columns int, draw func(k int) uint32) {
	for i := range rows {
		for k := range columns {
			x, at := draw(k), m.at(i, k)
			for n := range m.Format.Bytes {
				b[at+int64(n)] = byte(x >> (8 * n))
			}
		}
	}
}
