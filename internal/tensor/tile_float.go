package tensor

import (
	"math"
	"math/bits"
)

// Where the time of a dot product goes, and what is done about it:
//
// The largest exponent E. Each element has a code of six bits: 63 for the
// exponent ref of its row, which no element of the row exceeds, and one less for
// each exponent below; 0 for zeros and what is 63 or more below. The codes of
// eight columns of B share a word, those of A are repeated eight times: one
// addition makes the exponents of eight products, and the largest is kept byte
// by byte. A product with a code of 0 in it sums to 63 or less; so a largest sum
// of 64 or more is that of the largest product, exactly its exponent less both
// refs plus 126. A smaller one says that all products are zero, or else that a
// row is wide, with a code below 32, and the element is computed separately.
//
// The truncation. With E known, a product is scaled so that its last bit to
// keep is worth one, and converted to an integer, which truncates toward zero.
// That is not needed where the last set bits (low) of a row, of eight columns
// and of eight elements of C show that no addend has bits below 2^(top-F), where
// top is the largest of the sum of the largest exponents of A and B and that of
// C. For E is not above top, and a sum of few multiples of 2^(top-F), each below
// 2^(top+2), is exact in a float64 in any order. Small integers are like this;
// random fractions hardly ever are.
//
// An f16 result. It has 11 bits of the 25 that are kept, so the plain sum decides
// it unless it is too near to a point between two f16 numbers: see nearest16.
// Random fractions pass in nine strips of ten.
//
// A NaN or an infinity in A or B costs its row, or its column and the seven
// beside it, the time of separate sums: about ten times as long.

const (
	bytes8 = 0x0101010101010101
	flags  = 0x80 * bytes8 // above a sum of two codes
)

// larger is, byte by byte, the larger of m and of x + y, one of which has the
// flags set: they stay where the sum is not smaller.
func larger(m, x, y uint64) uint64 {
	d := x + y - m
	f := d & flags
	return m + d&(f-f>>7)
}

// largest is the largest sums of codes of a row of A with eight columns of B,
// a byte a column. The two maxima are independent chains.
func largest(a, b [][block]uint64) uint64 {
	var m, m1 uint64
	b = b[:len(a)]
	for i := range a {
		x, y := &a[i], &b[i]
		m = larger(m, x[0], y[0])
		m1 = larger(m1, x[1], y[1])
		m = larger(m, x[2], y[2])
		m1 = larger(m1, x[3], y[3])
		m = larger(m, x[4], y[4])
		m1 = larger(m1, x[5], y[5])
		m = larger(m, x[6], y[6])
		m1 = larger(m1, x[7], y[7])
	}
	return larger(m, m1, flags)
}

// tileFloats is Tile for the blocks of both panels from from on, n of them.
func (r *Rule) tileFloats(d []uint32, a, b *Panel, from, n int) {
	s := strip{rule: r}
	for i := range a.rows {
		at := i*(a.slots/block) + from
		s.a, s.ac, s.as = a.val[at:][:n], a.code[at:][:n], &a.span[i]
		row := d[i*b.rows:][:b.rows]
		for j := range b.strip {
			at := j*(b.slots/block) + from
			s.b, s.bc = b.cols[at:][:n], b.code[at:][:n]
			s.bs, s.join = (*[across]span)(b.span[j*across:]), &b.strip[j]
			if part := row[j*across:]; len(part) >= across {
				s.d = (*[across]uint32)(part)
				s.run()
			} else {
				var d [across]uint32
				copy(d[:], part)
				s.d = &d
				s.run()
				copy(part, d[:])
			}
		}
	}
}

// A strip is eight elements of a row of D. Its steps are loops over all
// eight with little in each, so that the values stay in registers.
type strip struct {
	rule   *Rule
	d      *[across]uint32 // C, then D
	a      [][block]float64
	b      [][across][block]float64
	ac, bc [][block]uint64
	as     *span
	bs     *[across]span // of the columns
	join   *span         // of all of them

	c     [across]float64
	exp   [across]int32 // of C, then the largest
	top   int32         // a bound on all exponents
	scale [across]float64
	whole [across]int64   // sums in units of the last bit that is kept
	sum   [across]float64 // exact sums
}

func (s *strip) run() {
	r := s.rule
	finite := false
	if r.acc == F16 {
		finite = s.halves()
	} else {
		finite = s.singles()
	}
	if !finite || s.as.odd || s.join.odd {
		c := *s.d
		s.slowly(1<<across-1, &c)
		return
	}
	s.top = max(s.top, r.floor)
	least := s.top - r.bits
	switch {
	case s.as.low+s.join.low >= least && s.multiples(least):
		s.exp = [across]int32{}
		s.sums()
		s.deliver(0)
		return
	case r.acc == F16 && r.bits == 25:
		if s.sums(); s.nearest() {
			return
		}
	}
	slow, c := s.scales(largest(s.ac, s.bc)), *s.d
	s.truncated()
	s.deliver(r.bits)
	s.slowly(slow, &c)
}

// slowly computes the elements of a set one by one.
func (s *strip) slowly(set uint, c *[across]uint32) {
	for ; set != 0; set &= set - 1 {
		n := bits.TrailingZeros(set) & 7
		s.d[n] = s.slow(c[n], n)
	}
}

// singles decodes C of f32, and says whether all of it is finite.
func (s *strip) singles() bool {
	top, finite := s.as.top+s.join.top, true
	for n, c := range s.d {
		s.c[n] = float64(math.Float32frombits(c))
		e := int32(c>>23&0xff) - 127
		if uint32(e+126) >= 254 {
			finite = finite && e < 128
			if e = -126; c<<1 == 0 {
				e = nothing
			}
		}
		s.exp[n] = e
		top = max(top, e)
	}
	s.top = top
	return finite
}

// halves is singles for f16.
func (s *strip) halves() bool {
	top, finite := s.as.top+s.join.top, true
	for n, c := range s.d {
		s.c[n] = value16(c)
		e := int32(c>>10&31) - 15
		if uint32(e+14) >= 30 {
			finite = finite && e < 16
			if e = -14; c&0x7fff == 0 {
				e = nothing
			}
		}
		s.exp[n] = e
		top = max(top, e)
	}
	s.top = top
	return finite
}

// multiples says whether the elements of C are multiples of 2^e.
func (s *strip) multiples(e int32) bool {
	for _, x := range s.c {
		if b := math.Float64bits(x); b<<1 != 0 && lowest(b) < e {
			return false
		}
	}
	return true
}

// lowest is the exponent of the last bit that is set in a float64 other than
// zero.
func lowest(b uint64) int32 {
	return int32(b>>52&0x7ff) - (1023 + 52) + int32(bits.TrailingZeros64(b|1<<52))
}

// nearest computes D by nearest16, if that is sure of all elements.
func (s *strip) nearest() bool {
	var d [across]uint32
	for n := range s.d {
		x, ok := nearest16(s.sum[n], s.top, len(s.a)*block)
		if !ok {
			return false
		}
		d[n] = x
	}
	*s.d = d
	return true
}

// scales sets exp to the largest exponent of each element's addends, from it
// scale, and whole to C, truncated. It returns the set of elements whose largest
// exponent the codes do not show.
func (s *strip) scales(sums uint64) (slow uint) {
	base, keep, floor := s.as.ref-126, s.rule.bits, s.rule.floor
	wide := s.as.wide || s.join.wide
	for n := range s.exp {
		sum := int32(sums & 0x7f)
		sums >>= 8
		e := base + s.bs[n].ref + sum
		if sum < 64 {
			e = nothing
			if wide {
				slow |= 1 << n
			}
		}
		e = max(e, s.exp[n], floor) // if all are zeros, any will do
		scale := power(keep - e)
		s.exp[n], s.scale[n] = e, scale
		s.whole[n] = int64(s.c[n] * scale)
	}
	return slow
}

// truncated adds the products, each times the scale and then truncated to an
// integer. A product has at most 22 bits: nothing rounds.
func (s *strip) truncated() {
	b := s.b[:len(s.a)]
	for i := range s.a {
		x, cols := &s.a[i], &b[i]
		x0, x1, x2, x3, x4, x5, x6, x7 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
		for n := range cols {
			y, scale := &cols[n], s.scale[n]
			q := s.whole[n]
			q += int64(x0 * y[0] * scale)
			q += int64(x1 * y[1] * scale)
			q += int64(x2 * y[2] * scale)
			q += int64(x3 * y[3] * scale)
			q += int64(x4 * y[4] * scale)
			q += int64(x5 * y[5] * scale)
			q += int64(x6 * y[6] * scale)
			q += int64(x7 * y[7] * scale)
			s.whole[n] = q
		}
	}
	for n, q := range s.whole {
		s.sum[n] = float64(q)
	}
}

// sums computes the sums of C and the products, in any order.
func (s *strip) sums() {
	s.sum = s.c
	b := s.b[:len(s.a)]
	for i := range s.a {
		x, cols := &s.a[i], &b[i]
		x0, x1, x2, x3, x4, x5, x6, x7 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
		for n := range cols {
			y := &cols[n]
			q := x0*y[0] + x1*y[1]
			q1 := x2*y[2] + x3*y[3]
			q2 := x4*y[4] + x5*y[5]
			q3 := x6*y[6] + x7*y[7]
			s.sum[n] += q + q1 + (q2 + q3)
		}
	}
}

// deliver computes D from the sums, in units of 2^(exp-bits). For most f32
// results, rounding is the difference of two exponents and a shift.
func (s *strip) deliver(bits int32) {
	r := s.rule
	if r.acc == F16 {
		for n, x := range s.sum {
			s.d[n] = r.round(x * power(s.exp[n]-bits))
		}
		return
	}
	mask, bias := r.mask, int64(bits+1023-127)<<23
	for n, x := range s.sum {
		u := math.Float64bits(x)
		v := int64(u<<1>>30) + int64(s.exp[n])<<23 - bias
		if uint64(v-1<<23) < 254<<23 {
			s.d[n] = uint32(u>>32)&(1<<31) | uint32(v)&mask
		} else {
			s.d[n] = r.round(x * power(s.exp[n]-bits))
		}
	}
}

// nearest16 rounds s to f16 if the truncated sum of n products and C, whose
// exponents are at most top, rounds like it. Each of the n+1 truncations takes
// less than 2^(top-25) away, and the n+1 roundings of s itself, below
// 2^(top+9), at most 2^(top+9-53) each: together less than (n+2)·2^(top-25). So
// the result is s's unless a boundary, half way between two f16 numbers, is as
// near as that.
func nearest16(s float64, top int32, n int) (uint32, bool) {
	u := math.Float64bits(s)
	e := int32(u>>52&0x7ff) - 1023
	if e < -14 || e > 14 || top-e > 10 {
		return 0, false
	}
	// In units of the last of the 52 bits of s. The boundary below a power of two
	// is at half the distance of the one above it: 2^40.
	err := uint64(n+2) << (52 - 25 + top - e)
	past := (u + 1<<41) & (1<<42 - 1)
	if past <= err || past >= 1<<42-err || err >= 1<<40 {
		return 0, false
	}
	u += 1 << 41
	return uint32(u>>48&(1<<15)) | uint32(u>>42&(1<<21-1)-(1023-15)<<10), true
}

// slow computes an element of D, whatever its operands are. A NaN or an infinity
// in C stays there through a kernel's loop, and is decided early.
func (s *strip) slow(c uint32, n int) uint32 {
	v, e := decode(s.rule.acc, c)
	if e == special && !s.as.odd && !s.bs[n].odd {
		return s.rule.unusual(v, nil, nil)
	}
	return s.one(v, e, n)
}

// one computes one element of D from its vectors; c, of exponent e, is that of C.
func (s *strip) one(c float64, e int32, n int) uint32 {
	r := s.rule
	var xs, ys [64]float64
	var xe, ye [64]int32
	x, y := Vector{xs[:0], xe[:0]}, Vector{ys[:0], ye[:0]}
	for i := range s.a {
		for k, v := range s.a[i] {
			w := s.b[i][n][k]
			x.push(v, r.exponent(v, r.a))
			y.push(w, r.exponent(w, r.b))
		}
	}
	return r.group(c, e, &x, &y)
}

// exponent returns the exponent of an element from its value.
func (r *Rule) exponent(x float64, f Format) int32 {
	switch e := int32(math.Float64bits(x)>>52&0x7ff) - 1023; {
	case x == 0:
		return nothing
	case e == 1024:
		return special
	case r.halves:
		return max(e, smallest[F16])
	default:
		return max(e, smallest[f])
	}
}
