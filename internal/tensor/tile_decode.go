package tensor

import (
	"math"
	"math/bits"
)

// A span bounds the exponents of a row, or of eight rows.
type span struct {
	ref  int32 // the exponent whose code is 63, see tile_float.go
	top  int32 // the largest; nothing where all elements are zero
	low  int32 // of the lowest bit that is set in any element
	wide bool  // an element is so far below ref that its code is below 32
	odd  bool  // a NaN or an infinity is among the elements
}

// join widens s by t. The result has no ref.
func (s *span) join(t *span) {
	s.top, s.low = max(s.top, t.top), min(s.low, t.low)
	s.wide, s.odd = s.wide || t.wide, s.odd || t.odd
}

// reference is ref of the formats with few exponents, f16 and fp8: with it, all
// their exponents have codes from 32 on.
const reference = 16

// smallest is the exponent of the smallest normal number, which subnormals
// count with. What is widened to f16, see [MMA], counts as it does there.
var smallest = [...]int32{F16: -14, BF16: -126, TF32: -126, E4M3: -6, E5M2: -14, E2M3: 0, E3M2: -2, E2M1: 0}

// A byteOf is what an element in a byte decodes to.
type byteOf struct {
	val  float64
	code uint8
	low  int8
	odd  bool
}

// bytesOf has the elements of the formats in bytes; widened is e4m3 in f16.
var (
	bytesOf = [...]*[256]byteOf{E4M3: decoded(wholeSum, E4M3), E5M2: decoded(wholeSum, E5M2), E2M3: decoded(wholeSum, E2M3), E3M2: decoded(wholeSum, E3M2), E2M1: decoded(wholeSum, E2M1)}
	widened = decoded(widenedSum, E4M3)
)

func decoded(s Sum, f Format) *[256]byteOf {
	t, r := new([256]byteOf), NewRule(F32, f, f, s)
	for b := range t {
		var v Vector
		r.AppendA(&v, uint32(b))
		x, e := v.val[0], v.exp[0]
		p := &t[b]
		switch p.val = x; e {
		case nothing:
			p.low = math.MaxInt8
		case special:
			p.odd = true
		default:
			p.code, p.low = uint8(63-reference+e), int8(lowest(math.Float64bits(x)))
		}
	}
	return t
}

// value16 is the value of an f16 that is not special.
func value16(b uint32) float64 {
	return math.Float64frombits(uint64(b&0x8000)<<48|uint64(b&0x7fff)<<42) * 0x1p1008
}

// A target is the destination of the row being decoded: code times mul, and plus,
// are or-ed to the word of each element. Rows of A lie in val, columns of B in
// cols, at column n.
type target struct {
	val       [][block]float64
	cols      [][across][block]float64
	n         int
	code      [][block]uint64
	mul, plus uint64
}

func (t *target) block(i int) *[block]float64 {
	if t.val != nil {
		return &t.val[i]
	}
	return &t.cols[i][t.n&7]
}

// addFloats adds the row in p.raw.
func (p *Panel) addFloats() {
	blocks := p.slots / block
	var t target
	if p.left {
		p.grow(1)
		at := p.rows * blocks
		p.val = extend(p.val, blocks)
		t = target{val: p.val[at:], code: p.code[at:], mul: bytes8, plus: flags}
	} else {
		if p.rows%across == 0 {
			p.grow(across)
			p.cols = extend(p.cols, blocks)
			p.strip = append(p.strip, span{top: nothing, low: special})
		}
		at := p.rows / across * blocks
		t = target{cols: p.cols[at:], n: p.rows % across, code: p.code[at:], mul: 1 << (p.rows % across * 8)}
	}
	s := &p.span[p.rows]
	*s = span{ref: reference, top: nothing, low: special}
	raw := p.raw
	if p.halves || p.step%block != 0 {
		p.order = extend(p.order[:0], p.slots)
		for i, x := range p.raw[:p.k] {
			p.order[p.slot(i)] = x
		}
		raw = p.order
	}
	switch {
	case p.halves && p.format == E4M3:
		t.bytes(widened, raw, s)
	case p.format == F16:
		t.halves(raw, s)
	case widthOf[p.format] == 8:
		t.bytes(bytesOf[p.format], raw, s)
	default:
		t.singles(p.format, raw, s)
	}
	if !p.left {
		p.strip[p.rows/across].join(s)
	}
	p.rows++
}

// grow adds the spans of n rows, and the words that their codes share.
func (p *Panel) grow(n int) {
	p.span = extend(p.span, n)
	p.code = extend(p.code, p.slots/block)
}

// The loops over a block are functions of their own: in the loops over blocks
// the compiler has too few registers for them.

// values16 decodes a block of f16 except specials. set is the OR of the elements
// in units of the smallest subnormal.
func values16(val *[block]float64, in *[block]uint32) (set int64) {
	for n, b := range in {
		x := value16(b)
		set |= int64(x * 0x1p24)
		val[n] = x
	}
	return set
}

// codes16 makes the codes of a block of f16, and returns the largest, and
// whether there are specials.
func codes16(code *[block]uint64, in *[block]uint32, mul, plus uint64) (top uint64, odd bool) {
	full := uint32(0)
	for n, b := range in {
		e := b >> 10 & 31
		full |= e + 1
		c := uint64(e) + 63 - reference - 15
		if e == 0 {
			c++
		}
		if b&0x7fff == 0 {
			c = 0
		}
		top = max(top, c)
		code[n] |= c*mul | plus
	}
	return top, full&32 != 0
}

// halves decodes f16.
func (t *target) halves(row []uint32, s *span) {
	var top uint64
	var set int64
	for i := range t.code {
		in, val := (*[block]uint32)(row[i*block:]), t.block(i)
		set |= values16(val, in)
		c, odd := codes16(&t.code[i], in, t.mul, t.plus)
		top, s.odd = max(top, c), s.odd || odd
	}
	if s.odd {
		for i := range t.code {
			for n := range block {
				t.block(i)[n], _ = decode(F16, row[i*block+n])
			}
		}
	}
	if top != 0 {
		s.top = int32(top) - (63 - reference)
		s.low = int32(bits.TrailingZeros64(uint64(set))) - 24
	}
}

// block8 decodes a block of elements in bytes, and returns the largest code and the lowest
// last bit.
func block8(val *[block]float64, code *[block]uint64, table *[256]byteOf, in *[block]uint32, mul, plus uint64) (top uint64, low int64, odd bool) {
	low = math.MaxInt8
	for n, b := range in {
		x := &table[b&0xff]
		odd = odd || x.odd
		c := uint64(x.code)
		top, low = max(top, c), min(low, int64(x.low))
		val[n] = x.val
		code[n] |= c*mul | plus
	}
	return
}

// bytes decodes what lies in bytes.
func (t *target) bytes(table *[256]byteOf, row []uint32, s *span) {
	top, low := uint64(0), int64(math.MaxInt8)
	for i := range t.code {
		c, l, odd := block8(t.block(i), &t.code[i], table, (*[block]uint32)(row[i*block:]), t.mul, t.plus)
		top, low, s.odd = max(top, c), min(low, l), s.odd || odd
	}
	if top != 0 {
		s.top, s.low = int32(top)-(63-reference), int32(low)
	}
}

// values32 decodes a block of bf16 or tf32, which are f32 after the shift and the
// mask. It returns the largest exponent and the lowest last bit.
func values32(val *[block]float64, in *[block]uint32, shift int, mask uint32) (top, low int32) {
	top, low = nothing, special
	for n, b := range in {
		b = b << (shift & 31) & mask
		val[n] = float64(math.Float32frombits(b))
		e := int32(b >> 23 & 0xff)
		last := e + int32(bits.TrailingZeros32(b|1<<23))
		if e == 0 {
			if last++; b<<1 == 0 {
				e, last = nothing, special
			}
		}
		top, low = max(top, e), min(low, last)
	}
	return
}

// codes32 makes the codes of a block that values32 decoded. It returns the
// smallest code of a nonzero element, before codes are cut off at 0.
func codes32(code *[block]uint64, val *[block]float64, top int32, mul, plus uint64) (least int32) {
	least = 63
	for n, x := range val {
		e := max(int32(math.Float64bits(x)>>52&0x7ff)-1023, -126)
		c := 63 - (top - e)
		if x == 0 {
			c = 63
		}
		least = min(least, c)
		if c < 0 || x == 0 {
			c = 0
		}
		code[n] |= uint64(c)*mul | plus
	}
	return
}

// singles decodes bf16 and tf32.
func (t *target) singles(f Format, row []uint32, s *span) {
	shift, mask := 16, uint32(0xffffffff)
	if f == TF32 {
		shift, mask = 0, 0xffffe000
	}
	top, low := int32(nothing), int32(special)
	for i := range t.code {
		e, l := values32(t.block(i), (*[block]uint32)(row[i*block:]), shift, mask)
		top, low = max(top, e), min(low, l)
	}
	if top == 255 {
		s.odd = true
		return // no code of the row will be used
	}
	if top != nothing {
		s.top, s.low = max(top, 1)-127, low-(127+23)
	}
	s.ref = s.top
	least := int32(63)
	for i := range t.code {
		least = min(least, codes32(&t.code[i], t.block(i), s.top, t.mul, t.plus))
	}
	s.wide = least < 32
}
