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

// A span is what is known of a row's exponents.
type span struct {
	top  int32 // the largest; nothing where all elements are zero
	low  int32 // of the lowest bit that is set in any element
	wide bool  // an element is so far below top that its code is below 32
	odd  bool  // a NaN or an infinity is among the elements
}

const (
	bytes8 = 0x0101010101010101
	flags  = 0x80 * bytes8 // above a sum of two codes
)

// smallest is the exponent of the smallest normal number, which subnormals
// count with. What is widened to f16, see [MMA], counts as it does there.
var smallest = [...]int32{F16: -14, BF16: -126, TF32: -126, E4M3: -6, E5M2: -14}

func (p *Panel) smallest() int32 {
	if p.halves {
		return smallest[F16]
	}
	return smallest[p.format]
}

// bytesOf is the values of the fp8 formats.
var bytesOf = func() (t [2][256]float64) {
	for b := range uint32(256) {
		t[0][b], _ = decode(E4M3, b)
		t[1][b], _ = decode(E5M2, b)
	}
	return t
}()

// value16 is the value of an f16 that is not special.
func value16(b uint32) float64 {
	return math.Float64frombits(uint64(b&0x8000)<<48|uint64(b&0x7fff)<<42) * 0x1p1008
}

// values decodes elements.
func (p *Panel) values(dst []float64, row []uint32) (odd bool) {
	dst = dst[:len(row)]
	switch p.format {
	case F16:
		for i, b := range row {
			if b&0x7c00 == 0x7c00 {
				odd = true
				dst[i], _ = decode(F16, b)
				continue
			}
			dst[i] = value16(b)
		}
	case BF16, TF32:
		shift, mask := 16, uint32(0xffffffff)
		if p.format == TF32 {
			shift, mask = 0, 0xffffe000
		}
		for i, b := range row {
			b = b << shift & mask
			odd = odd || b&0x7f800000 == 0x7f800000
			dst[i] = float64(math.Float32frombits(b))
		}
	default:
		t := &bytesOf[p.format-E4M3]
		for i, b := range row {
			x := t[b&0xff]
			odd = odd || x-x != 0
			dst[i] = x
		}
	}
	return odd
}

func (p *Panel) addFloats(row []uint32) {
	row = row[:p.k]
	at := len(p.val)
	p.val = extend(p.val, p.slots)
	dst := p.val[at:]
	s := span{top: nothing, low: special}
	if p.halves {
		var raw [256]float64
		v := raw[:]
		if p.k > len(raw) {
			v = make([]float64, p.k)
		}
		s.odd = p.values(v, row)
		for i := range row {
			dst[p.slot(i)] = v[i]
		}
	} else {
		s.odd = p.values(dst, row)
	}
	if cap(p.exp) < p.slots {
		p.exp = make([]int32, p.slots)
	}
	exp := p.exp[:p.slots]
	least := p.smallest()
	for i, x := range dst[:len(exp)] {
		b := math.Float64bits(x)
		if b<<1 == 0 {
			exp[i] = nothing
			continue
		}
		e := int32(b>>52&0x7ff) - 1023
		s.low = min(s.low, e-52+int32(bits.TrailingZeros64(b|1<<52)))
		e = max(e, least)
		exp[i] = e
		s.top = max(s.top, e)
	}
	p.codes(exp, &s)
	p.span = append(p.span, s)
	p.rows++
}

// codes adds the codes of a row whose exponents are exp.
func (p *Panel) codes(exp []int32, s *span) {
	at, shift := p.rows*p.slots, 0
	if !p.left {
		at, shift = p.rows/8*p.slots, p.rows%8*8
	}
	if shift == 0 {
		p.code = extend(p.code, p.slots)
	}
	dst := p.code[at:][:len(exp)]
	low := int32(63)
	for i, e := range exp {
		c := 63 - (s.top - e)
		if e == nothing {
			c = 0
		} else {
			low = min(low, c)
			c = max(c, 0)
		}
		if p.left {
			dst[i] = uint64(c)*bytes8 | flags
		} else {
			dst[i] |= uint64(c) << shift
		}
	}
	s.wide = low < 32
}

// largest is the largest sums of codes of a row of A with eight columns of B,
// a byte a column.
func largest(a, b []uint64) (m uint64) {
	b = b[:len(a)]
	for i, x := range a {
		d := x + b[i] - m // the flag stays where the new sum is not smaller
		f := d & flags
		m += d & (f - f>>7)
	}
	return m
}

// tileFloats is Tile for the slots of both panels from from on, n of them.
func (r *Rule) tileFloats(d []uint32, a, b *Panel, from, n int) {
	for i := range a.rows {
		at := i*a.slots + from
		av, ac := a.val[at:][:n], a.code[at:][:n]
		row := d[i*b.rows:][:b.rows]
		for j := 0; j < len(row); j += 8 {
			bc := b.code[j/8*b.slots+from:][:n]
			r.strip(row[j:min(j+8, len(row))], av, ac, &a.span[i], b, j, from, bc)
		}
	}
}

// strip makes up to eight elements of a row of D, from column j on.
func (r *Rule) strip(d []uint32, av []float64, ac []uint64, as *span, b *Panel, j, from int, bc []uint64) {
	var sums uint64
	counted := false
	for n := range d {
		bs := &b.span[j+n]
		bv := b.val[(j+n)*b.slots+from:][:len(av)]
		c, ce, low, ok := r.accumulator(d[n])
		if as.odd || bs.odd || !ok {
			d[n] = r.slow(d[n], av, bv)
			continue
		}
		top := max(as.top+bs.top, ce)
		if as.low+bs.low >= top-r.bits && low >= top-r.bits {
			d[n] = r.deliver(c+dotFloats(av, bv), 0)
			continue
		}
		if r.acc == F16 && r.bits == 25 {
			if x, ok := nearest16(c+dotFloats(av, bv), top, len(av)); ok {
				d[n] = x
				continue
			}
		}
		if !counted {
			counted = true
			sums = largest(ac, bc)
		}
		e := ce
		if sum := int32(sums >> (8 * n) & 0x7f); sum >= 64 {
			e = max(e, as.top+bs.top-126+sum)
		} else if as.wide || bs.wide {
			d[n] = r.slow(d[n], av, bv)
			continue
		}
		if e == nothing {
			d[n] = 0
			continue
		}
		scale := power(r.bits - e)
		q, q1 := int64(c*scale), int64(0)
		for x, y := av, bv; len(x) >= block && len(y) >= block; x, y = x[block:], y[block:] {
			x, y := (*[block]float64)(x), (*[block]float64)(y)
			q += int64(x[0] * y[0] * scale)
			q1 += int64(x[1] * y[1] * scale)
			q += int64(x[2] * y[2] * scale)
			q1 += int64(x[3] * y[3] * scale)
			q += int64(x[4] * y[4] * scale)
			q1 += int64(x[5] * y[5] * scale)
			q += int64(x[6] * y[6] * scale)
			q1 += int64(x[7] * y[7] * scale)
		}
		d[n] = r.deliver(float64(q+q1), e-r.bits)
	}
}

// accumulator decodes an element of C: its value, its exponent, that of its
// lowest set bit, and whether it is finite.
func (r *Rule) accumulator(c uint32) (x float64, e, low int32, ok bool) {
	if r.acc == F16 {
		e = max(int32(c>>10&31), 1) - 15
		x, low, ok = value16(c), e-10, c&0x7c00 != 0x7c00
		if c&0x7fff == 0 {
			e, low = nothing, special
		}
		return
	}
	e = int32(c >> 23 & 0xff)
	low = e - (127 + 23) + int32(bits.TrailingZeros32(c|1<<23))
	x, ok = float64(math.Float32frombits(c)), e != 0xff
	if e -= 127; e == -127 {
		if e, low = -126, -149; c<<1 == 0 {
			e, low = nothing, special
		}
	}
	return
}

// dotFloats is the sum of the products, in any order.
func dotFloats(a, b []float64) float64 {
	var s, s1, s2, s3 float64
	for ; len(a) >= block && len(b) >= block; a, b = a[block:], b[block:] {
		x, y := (*[block]float64)(a), (*[block]float64)(b)
		s += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s += x[4] * y[4]
		s1 += x[5] * y[5]
		s2 += x[6] * y[6]
		s3 += x[7] * y[7]
	}
	return s + s1 + (s2 + s3)
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
func (r *Rule) slow(c uint32, a, b []float64) uint32 {
	var room [2][64]int32
	x, y := Vector{a, room[0][:0]}, Vector{b, room[1][:0]}
	for i := range a {
		x.exp = append(x.exp, r.exponent(a[i], r.a))
		y.exp = append(y.exp, r.exponent(b[i], r.b))
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
