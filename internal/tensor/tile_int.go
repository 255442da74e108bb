package tensor

import (
	"math"
	"math/bits"
)

// IntRule is the rule of the integer forms of mma and wgmma, for operands of
// formats a and b among S8, U8, S4 and U4: see [DotInt].
func IntRule(a, b Format, satfinite bool) *Rule {
	return &Rule{a: a, b: b, acc: S32, satfinite: satfinite}
}

// BitRule is the rule of the b1 forms: see [DotAnd] and [DotXor].
func BitRule(xor bool) *Rule { return &Rule{a: B1, b: B1, acc: S32, xor: xor} }

func (r *Rule) integer() bool { return r.acc == S32 }

// addInts adds a row of integers. Two rows of A share their words, the second
// in the upper half: then one multiplication serves two sums, which come apart
// at the end because each is below 2^31 (K is at most 2^15).
func (p *Panel) addInts(row []uint32) {
	at, shift := p.rows*p.slots, 0
	if p.left {
		at, shift = p.rows/2*p.slots, p.rows%2*32
	}
	if shift == 0 {
		p.num = extend(p.num, p.slots)
	}
	p.rows++
	dst := p.num[at:]
	up := 64 - widthOf[p.format]
	signed := p.format == S8 || p.format == S4
	for i, x := range row[:p.k] {
		v := int64(uint64(x)<<up) >> up
		if !signed {
			v = int64(uint64(x) << up >> up)
		}
		dst[i] += v << shift
	}
}

// apart returns the sums in the two halves of s.
func apart(s int64) (low, high int64) {
	low = int64(int32(s))
	return low, (s - low) >> 32
}

// single returns row i of A, unpacked.
func (p *Panel) single(i int) []int64 {
	row := make([]int64, p.slots)
	for n, x := range p.num[i/2*p.slots:][:p.slots] {
		low, high := apart(x)
		if row[n] = low; i%2 == 1 {
			row[n] = high
		}
	}
	return row
}

func (r *Rule) tileInts(d []uint32, a, b *Panel) {
	k, n := a.slots, b.rows
	for i := 0; i < a.rows; i += 2 {
		av := a.num[i/2*k:][:k]
		for j := range n {
			low, high := apart(dotInts(av, b.num[j*k:][:k]))
			d[i*n+j] = r.clamp(d[i*n+j], low)
			if i+1 < a.rows {
				d[i*n+n+j] = r.clamp(d[i*n+n+j], high)
			}
		}
	}
}

func dotInts(a, b []int64) int64 {
	var s, s1 int64
	for ; len(a) >= block && len(b) >= block; a, b = a[block:], b[block:] {
		x, y := (*[block]int64)(a), (*[block]int64)(b)
		s += x[0]*y[0] + x[1]*y[1] + x[2]*y[2] + x[3]*y[3]
		s1 += x[4]*y[4] + x[5]*y[5] + x[6]*y[6] + x[7]*y[7]
	}
	return s + s1
}

func (r *Rule) clamp(c uint32, s int64) uint32 {
	s += int64(int32(c))
	if r.satfinite {
		s = max(math.MinInt32, min(s, math.MaxInt32))
	}
	return uint32(s)
}

// addBits adds a row of b1, 32 elements a word.
func (p *Panel) addBits(row []uint32) {
	at := len(p.bits)
	p.bits = extend(p.bits, p.slots)
	for i, w := range row[:(p.k+31)/32] {
		p.bits[at+i/2] |= uint64(w) << (i % 2 * 32)
	}
	p.rows++
}

func (r *Rule) tileBits(d []uint32, a, b *Panel) {
	for i := range a.rows {
		x := a.bits[i*a.slots:][:a.slots]
		for j := range b.rows {
			y := b.bits[j*a.slots:][:len(x)]
			c := 0
			for n, w := range x {
				if r.xor {
					c += bits.OnesCount64(w ^ y[n])
				} else {
					c += bits.OnesCount64(w & y[n])
				}
			}
			d[i*b.rows+j] += uint32(c)
		}
	}
}
