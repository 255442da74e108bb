package product

import "math"

// A Sum is what the bound follows from.
type Sum struct {
	Bits int // F
	Step int // products that an instruction adds at once
}

// A span encloses a number. Its ends are numbers of f32.
type span struct{ lo, hi float64 }

// step encloses what an instruction makes of C and of products of a and b.
func (s Sum) step(c span, a, b []number) span {
	top, low := int32(nothing), int32(math.MaxInt32)
	all := max(math.Abs(c.lo), math.Abs(c.hi))
	for i := range a {
		if p := a[i].v * b[i].v; p != 0 {
			top = max(top, a[i].exp+b[i].exp)
			low = min(low, a[i].low+b[i].low)
			all += math.Abs(p)
		}
	}
	if all == 0 {
		return c
	}
	// The least and the largest u.
	few := power(max(int(top), c.exponent(false)) - s.Bits)
	most := power(max(int(top), c.exponent(true)) - s.Bits)
	r := c.cut(few, most)
	for i := range a {
		p := a[i].v * b[i].v
		if p == 0 {
			continue
		}
		least, loss := lost(math.Abs(p), power(int(a[i].low+b[i].low)), few, most)
		if p < 0 {
			r.lo, r.hi = r.lo+(p+least), r.hi+(p+loss)
		} else {
			r.lo, r.hi = r.lo+(p-loss), r.hi+(p-least)
		}
	}
	// All addends are multiples of 2^lowest; sums of 53 bits above that are exact.
	lowest := int(low)
	for _, v := range []float64{c.lo, c.hi} {
		if v != 0 {
			lowest = min(lowest, max(exponentOf32(v)-23, exponent(few)))
		}
	}
	if exponent(all)+1-lowest > 52 {
		slack := float64(2*len(a)+2) * math.Ldexp(all, -53)
		r.lo, r.hi = r.lo-slack, r.hi+slack
	}
	return span{F32.Cut(r.lo), F32.Cut(r.hi)}
}

// lost is the least and the most that p loses, whose lowest bit is low, where it is cut to
// a multiple of few at least and most at most.
func lost(p, low, few, most float64) (least, loss float64) {
	switch {
	case low >= most:
		return 0, 0
	case p < few:
		return p, p
	case low < few:
		least = low
	}
	return least, min(p, most-low)
}

// cut encloses the cut of a number of the span to a multiple of few at least and most at
// most.
func (c span) cut(few, most float64) span {
	lo, hi := most, few
	if c.lo < 0 {
		lo = few
	}
	if c.hi < 0 {
		hi = most
	}
	return span{cut(c.lo, lo), cut(c.hi, hi)}
}

// exponent is the smallest that a number of the span has, or the largest.
func (c span) exponent(largest bool) int {
	lo, hi := exponentOf32(c.lo), exponentOf32(c.hi)
	switch {
	case largest:
		return max(lo, hi)
	case c.lo <= 0 && c.hi >= 0:
		return nothing
	}
	return min(lo, hi)
}

// exponentOf32 is an exponent as the unit counts those of f32.
func exponentOf32(v float64) int {
	if v == 0 {
		return nothing
	}
	return max(exponent(v), F32.least())
}
