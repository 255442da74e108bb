package tensor

import (
	"math"
	"math/bits"
)

// A span is what is known of the exponents of a row, or of eight.
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

// reference is ref of the formats that have few exponents, all of which then
// have codes from 32 on: f16 and fp8.
const reference = 16

// smallest is the exponent of the smallest normal number, which subnormals
// count with. What is widened to f16, see [MMA], counts as it does there.
var smallest = [...]int32{F16: -14, BF16: -126, TF32: -126, E4M3: -6, E5M2: -14}

// A byteOf is what an fp8 element decodes to.
type byteOf struct {
	val  float64
	code uint8
	low  int8
	odd  bool
}

// fp8 has the elements of e4m3, e5m2 and of e4m3 widened to f16.
var fp8 = func() (t [3][256]byteOf) {
	for i, r := range []*Rule{WGMMARule(F32, E4M3, E4M3), WGMMARule(F32, E5M2, E5M2), MMA(F32, E4M3, E4M3)} {
		for b := range t[i] {
			var v Vector
			r.AppendA(&v, uint32(b))
			x, e := v.val[0], v.exp[0]
			p := &t[i][b]
			switch p.val = x; e {
			case nothing:
				p.low = math.MaxInt8
			case special:
				p.odd = true
			default:
				p.code, p.low = uint8(63-reference+e), int8(lowest(math.Float64bits(x)))
			}
		}
	}
	return t
}()

// value16 is the value of an f16 that is not special.
func value16(b uint32) float64 {
	return math.Float64frombits(uint64(b&0x8000)<<48|uint64(b&0x7fff)<<42) * 0x1p1008
}

// A target is where the row goes that is being decoded: code times mul, and
// plus, are or-ed to the word of its element.
type target struct {
	val       [][block]float64
	code      []uint64
	mul, plus uint64
}

// addFloats adds the row in p.raw.
func (p *Panel) addFloats() {
	n := p.slots / block
	rows, at := 1, p.rows
	if !p.left {
		rows, at = across, p.rows/across
	}
	if p.rows%rows == 0 {
		// Columns of B come in whole strips.
		p.val = extend(p.val, n*rows)
		p.span = extend(p.span, rows)
		p.code = extend(p.code, p.slots)
		if !p.left {
			p.strip = append(p.strip, span{top: nothing, low: special})
		}
	}
	to := target{p.val[p.rows*n:][:n], p.code[at*p.slots:][:p.slots], bytes8, flags}
	if !p.left {
		to.mul, to.plus = 1<<(p.rows%across*8), 0
	}
	s := &p.span[p.rows]
	*s = span{ref: reference, top: nothing, low: special}
	switch {
	case p.halves:
		p.order = extend(p.order[:0], p.slots)
		for i, x := range p.raw[:p.k] {
			p.order[p.slot(i)] = x
		}
		t := &fp8[1]
		if p.format == E4M3 {
			t = &fp8[2]
		}
		to.bytes(t, p.order, s)
	case p.format == F16:
		to.halves(p.raw, s)
	case p.format == E4M3 || p.format == E5M2:
		to.bytes(&fp8[p.format-E4M3], p.raw, s)
	default:
		to.singles(p.format, p.raw, s)
	}
	if !p.left {
		p.strip[at].join(s)
	}
	p.rows++
}

// halves decodes f16.
func (t *target) halves(row []uint32, s *span) {
	var top uint32
	var set int64 // all elements, in units of the smallest, or-ed: for low
	mul, plus := t.mul, t.plus
	for i := range t.val {
		in, val, code := (*[block]uint32)(row[i*block:]), &t.val[i], (*[block]uint64)(t.code[i*block:])
		for n, b := range in {
			e := b >> 10 & 31
			x := value16(b)
			c := e + 63 - reference - 15
			if e == 0 {
				if c++; b&0x7fff == 0 {
					c = 0
				}
			} else if e == 31 {
				s.odd = true
				x, _ = decode(F16, b)
			}
			set |= int64(x * 0x1p24)
			top = max(top, c)
			val[n] = x
			code[n] |= uint64(c)*mul | plus
		}
	}
	if top != 0 {
		s.top = int32(top) - (63 - reference)
		s.low = int32(bits.TrailingZeros64(uint64(set))) - 24
	}
}

// bytes decodes fp8.
func (t *target) bytes(table *[256]byteOf, row []uint32, s *span) {
	var top uint8
	low := int8(math.MaxInt8)
	mul, plus := t.mul, t.plus
	for i := range t.val {
		in, val, code := (*[block]uint32)(row[i*block:]), &t.val[i], (*[block]uint64)(t.code[i*block:])
		for n, b := range in {
			x := &table[b&0xff]
			s.odd = s.odd || x.odd
			top, low = max(top, x.code), min(low, x.low)
			val[n] = x.val
			code[n] |= uint64(x.code)*mul | plus
		}
	}
	if top != 0 {
		s.top, s.low = int32(top)-(63-reference), int32(low)
	}
}

// singles decodes bf16 and tf32.
func (t *target) singles(f Format, row []uint32, s *span) {
	shift, mask := 16, uint32(0xffffffff)
	if f == TF32 {
		shift, mask = 0, 0xffffe000
	}
	top, low := int32(nothing), int32(special)
	for i := range t.val {
		in, val := (*[block]uint32)(row[i*block:]), &t.val[i]
		for n, b := range in {
			b = b << (shift & 31) & mask
			x := float64(math.Float32frombits(b))
			val[n] = x
			if b<<1 == 0 {
				continue
			}
			top = max(top, int32(b>>23&0xff)-127)
			low = min(low, lowest(math.Float64bits(x)))
		}
	}
	if top == 128 {
		s.odd = true
		return // no code of the row will be looked at
	}
	if top != nothing {
		top = max(top, smallest[f])
	}
	s.ref, s.top, s.low = top, top, low
	least := int32(63)
	for i := range t.val {
		val, code := &t.val[i], (*[block]uint64)(t.code[i*block:])
		for n, x := range val {
			c := int32(0)
			if b := math.Float64bits(x); b<<1 != 0 {
				c = 63 - (top - max(int32(b>>52&0x7ff)-1023, smallest[BF16]))
				least = min(least, c)
				c = max(c, 0)
			}
			code[n] |= uint64(c)*t.mul | t.plus
		}
	}
	s.wide = least < 32
}
