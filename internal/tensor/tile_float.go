package tensor

import (
	"math"
	"math/bits"
)

// Where the time of a dot product goes, and what is done about it:
//
// The largest exponent E. Each element has a code of six bits, its exponent
// relative to the largest of its row, top, for which the code is 63; zeros, and
// what is 63 or more below, have the code 0. The codes of eight columns of B
// share a word, those of A are repeated eight times: one addition makes the
// exponents of eight products, and the largest is kept byte by byte. A sum of
// 64 or more is the product's exponent exactly, less 126 and the tops; since
// any product with a code of 0 in it sums to 63 or less, a largest sum of 64 or
// more is the largest of all the products. A smaller one says that all products
// are zero, or that a row is wide (an element lies 32 or more below the top),
// which the slow path decides.
//
// The truncation. With E known, a product is scaled so that its last bit to
// keep is worth one, and converted to an integer, which truncates toward zero.
// It is not needed where the last set bits of all elements (low) show that no
// addend has bits below 2^(top-F): E is not above top, the sum of the tops or
// the exponent of C, and the sum of 65 multiples of that below 2^(top+2) is
// exact in a float64. Small integers and powers of two are like this.
//
// An f16 result. It has 11 bits of the 25 that are kept, so the plain sum
// decides it but where it is too near to a point between two f16 numbers: see
// nearest16.

const (
	bytes8 = 0x0101010101010101
	flags  = 0x80 * bytes8 // above a sum of two codes
)

// largest is the largest sums of codes of a row of A with eight columns of B,
// a byte a column. The even and the odd elements do not wait for each other.
func largest(a, b []uint64) uint64 {
	var m, m1 uint64
	b = b[:len(a)]
	for i := 0; i+block <= len(a); i += block {
		x, y := (*[block]uint64)(a[i:]), (*[block]uint64)(b[i:])
		for n := 0; n < block; n += 2 {
			d, d1 := x[n]+y[n]-m, x[n+1]+y[n+1]-m1 // a flag stays where the new sum is not smaller
			f, f1 := d&flags, d1&flags
			m += d & (f - f>>7)
			m1 += d1 & (f1 - f1>>7)
		}
	}
	d := (m | flags) - m1
	f := d & flags
	return m1 + d&(f-f>>7)
}

// tileFloats is Tile for the blocks of both panels from from on, n of them.
func (r *Rule) tileFloats(d []uint32, a, b *Panel, from, n int) {
	s := strip{rule: r, blocks: b.slots / block}
	for i := range a.rows {
		at := i*(a.slots/block) + from
		s.a, s.as = a.val[at:][:n], &a.span[i]
		ac := a.code[at*block:][:n*block]
		row := d[i*b.rows:][:b.rows]
		for j := range b.strip {
			s.d = row[j*across : min((j+1)*across, len(row))]
			s.b = b.val[j*across*s.blocks+from:]
			s.bs, s.join = (*[across]span)(b.span[j*across:]), &b.strip[j]
			s.run(ac, b.code[j*b.slots+from*block:][:n*block])
		}
	}
}

// A strip is up to eight elements of a row of D. Its steps are loops over all
// eight with little in each, so that the values stay in registers.
type strip struct {
	rule   *Rule
	d      []uint32
	a      [][block]float64
	b      [][block]float64 // columns, blocks apart
	blocks int
	as     *span
	bs     *[across]span // of the columns
	join   *span         // of all of them
	c      [across]float64
	exp    [across]int32 // of C, then the largest
	top    int32         // a bound on all exponents
	scale  [across]float64
	sum    [across]float64
}

func (s *strip) run(ac, bc []uint64) {
	if finite := s.accumulators(); !finite || s.as.odd || s.join.odd {
		s.slowly(1<<across - 1)
		return
	}
	r := s.rule
	least := s.top - r.bits
	switch {
	case s.as.low+s.join.low >= least && s.multiples(least):
		s.sums()
		for n := range s.d {
			s.d[n] = r.deliver(s.sum[n&7], 0)
		}
		return
	case r.acc == F16 && r.bits == 25:
		if s.sums(); s.nearest() {
			return
		}
	}
	slow := s.scales(largest(ac, bc))
	s.slowly(slow)
	s.truncated()
	for n := range s.d {
		if slow>>n&1 == 0 {
			s.d[n] = r.deliver(s.sum[n&7], s.exp[n&7]-r.bits)
		}
	}
}

// slowly makes the elements of a set by themselves.
func (s *strip) slowly(set uint) {
	for n := 0; set != 0 && n < len(s.d); n++ {
		if set>>n&1 != 0 {
			s.d[n] = s.rule.slow(s.d[n], s.a, s.b[n*s.blocks:][:len(s.a)])
		}
	}
}

// accumulators decodes C, and says whether all of it is finite.
func (s *strip) accumulators() bool {
	top, odd := int32(nothing), int32(128)
	if s.rule.acc == F16 {
		odd = 16
	}
	highest := int32(nothing)
	for n, c := range s.d {
		var e int32
		if odd == 16 {
			e = int32(c>>10&31) - 15
			s.c[n&7] = value16(c)
		} else {
			e = int32(c>>23&0xff) - 127
			s.c[n&7] = float64(math.Float32frombits(c))
		}
		highest = max(highest, e)
		if e == 1-odd {
			if e++; s.c[n&7] == 0 {
				e = nothing
			}
		}
		s.exp[n&7] = e
		top = max(top, e)
	}
	s.top = max(top, s.as.top+s.join.top)
	return highest != odd
}

// multiples says whether the elements of C are multiples of 2^e.
func (s *strip) multiples(e int32) bool {
	for n := range s.d {
		if b := math.Float64bits(s.c[n&7]); b<<1 != 0 && lowest(b) < e {
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

// nearest makes D as nearest16 has it, if that is sure of all of it.
func (s *strip) nearest() bool {
	var d [across]uint32
	for n := range s.d {
		x, ok := nearest16(s.sum[n&7], s.top, len(s.a)*block)
		if !ok {
			return false
		}
		d[n&7] = x
	}
	copy(s.d, d[:])
	return true
}

// scales makes the exponents the largest of each element's addends, and from
// them the scales, and returns the set of those that it cannot tell of.
func (s *strip) scales(sums uint64) (slow uint) {
	base, keep := s.as.ref-126, s.rule.bits
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
		e = max(e, s.exp[n], -600) // of nothing but zeros, any will do
		s.exp[n] = e
		s.scale[n] = power(keep - e)
	}
	return slow
}

// truncated makes the sums of C and the products, each times the scale and then
// truncated to an integer. A product has at most 22 bits: nothing rounds.
func (s *strip) truncated() {
	a, b := s.a, s.b
	for n, scale := range s.scale {
		q, q1 := int64(s.c[n]*scale), int64(0)
		b := b[n*s.blocks:][:len(a)]
		for i := range a {
			x, y := &a[i], &b[i]
			q += int64(x[0] * y[0] * scale)
			q1 += int64(x[1] * y[1] * scale)
			q += int64(x[2] * y[2] * scale)
			q1 += int64(x[3] * y[3] * scale)
			q += int64(x[4] * y[4] * scale)
			q1 += int64(x[5] * y[5] * scale)
			q += int64(x[6] * y[6] * scale)
			q1 += int64(x[7] * y[7] * scale)
		}
		s.sum[n] = float64(q + q1)
	}
}

// sums makes the sums of C and the products, in any order.
func (s *strip) sums() {
	a, b := s.a, s.b
	for n := range s.sum {
		q, q1, q2, q3 := s.c[n], 0.0, 0.0, 0.0
		b := b[n*s.blocks:][:len(a)]
		for i := range a {
			x, y := &a[i], &b[i]
			q += x[0] * y[0]
			q1 += x[1] * y[1]
			q2 += x[2] * y[2]
			q3 += x[3] * y[3]
			q += x[4] * y[4]
			q1 += x[5] * y[5]
			q2 += x[6] * y[6]
			q3 += x[7] * y[7]
		}
		s.sum[n] = q + q1 + (q2 + q3)
	}
}

// deliver is round of x·2^e.
func (r *Rule) deliver(x float64, e int32) uint32 {
	u := math.Float64bits(x)
	v := int64(u<<1>>30) + int64(e-(1023-127))<<23
	if r.acc != F16 && uint64(v-1<<23) < 254<<23 {
		return uint32(u>>32)&(1<<31) | uint32(v)&r.mask
	}
	return r.round(x * power(e))
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
	// In units of the last of the 52 bits of s. Below a power of two, the next
	// boundary is half as far as above it: 2^40.
	err := uint64(n+2) << (52 - 25 + top - e)
	past := (u + 1<<41) & (1<<42 - 1)
	if past <= err || past >= 1<<42-err || err >= 1<<40 {
		return 0, false
	}
	u += 1 << 41
	return uint32(u>>48&(1<<15)) | uint32(u>>42&(1<<21-1)-(1023-15)<<10), true
}

// slow is a dot product of any elements.
func (r *Rule) slow(c uint32, a, b [][block]float64) uint32 {
	var xs, ys [64]float64
	var xe, ye [64]int32
	x, y := Vector{xs[:0], xe[:0]}, Vector{ys[:0], ye[:0]}
	for i := range a {
		for n, v := range a[i] {
			x.push(v, r.exponent(v, r.a))
			y.push(b[i][n], r.exponent(b[i][n], r.b))
		}
	}
	cv, e := decode(r.acc, c)
	return r.group(cv, e, &x, &y)
}

// exponent is the exponent of an element by its value.
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
