package campaign

import (
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// A source is a stream of operand bits, seeded by a name (splitmix64).
type source uint64

func newSource(name string) *source {
	h := fnv.New64a()
	h.Write([]byte(name))
	s := source(h.Sum64())
	return &s
}

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *source) n(n int) int { return int(s.next() % uint64(n)) }

func (s *source) pick(list []uint64) uint64 { return list[s.n(len(list))] }

// A kind is a set of operand values: a PTX type, or a use of one.
type kind string

const (
	position kind = "position" // u32: bit positions, lengths and shift amounts
	truth    kind = "truth"    // u32: 0 or 1, for predicates
	selector kind = "selector" // u32: byte selectors, of prmt
	full32   kind = "full32"   // u32: the thread's number
	oobF16   kind = "oobF16"   // every NaN of f16 in both halves
	oobBF16  kind = "oobBF16"
)

// bitsOf is the width of the register that holds a type.
func bitsOf(typ string) int {
	switch typ {
	case "pred":
		return 1
	case "u8", "s8", "b8", "u16", "s16", "b16", "f16", "bf16", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2":
		return 16
	case "u64", "s64", "b64", "f64", "f32x2", "addr":
		return 64
	case "b128":
		return 128
	case "e2m1x2":
		return 8
	}
	return 32
}

// widths of memory elements.
func bytesOf(typ string) int {
	switch typ {
	case "u8", "s8", "b8":
		return 1
	}
	return max(bitsOf(typ)/8, 1)
}

// value makes the next operand of a kind. prev are the values that the thread
// has already, for operands that are near one another.
func (s *source) value(k kind, thread int, prev []uint64) uint64 {
	switch k {
	case truth:
		return s.next() >> 40 & 1
	case position:
		return s.position()
	case selector:
		return s.selector()
	case full32:
		return uint64(thread)
	case oobF16:
		n := uint64(thread)
		return 0x7c00 | n&0x3ff | s.next()&0x8000 | (0x7c00|s.next()&0x83ff)<<16
	case oobBF16:
		n := uint64(thread)
		return 0x7f80 | n&0x7f | (n>>7&1)<<15 | (0x7f80|s.next()&0x807f)<<16
	}
	if f := laneKinds[k]; f != nil {
		return f(s, thread)
	}
	if rest, ok := strings.CutPrefix(string(k), "all16 from "); ok {
		from, by, _ := strings.Cut(rest, " by ")
		first, _ := strconv.Atoi(from)
		step, _ := strconv.Atoi(by)
		v := uint64(first + step*thread)
		return v | (v+1)<<16
	}
	if e, n, ok := packed(string(k)); ok {
		var v uint64
		for i := range n {
			var p []uint64
			for _, x := range prev {
				p = append(p, x>>(i*bitsIn(k)/n))
			}
			v |= s.value(kind(e), thread, p) << (i * bitsIn(k) / n)
		}
		return v
	}
	if f, ok := floats[string(k)]; ok {
		return s.float(f, prev)
	}
	return s.integer(uint(8*bytesOf(string(k))), prev)
}

func bitsIn(k kind) int { return bitsOf(string(k)) }

// packed takes a packed type apart.
func packed(typ string) (elem string, n int, ok bool) {
	switch typ {
	case "f16x2", "bf16x2", "u16x2", "s16x2", "f32x2":
		return strings.TrimSuffix(typ, "x2"), 2, true
	case "u8x4", "s8x4":
		return strings.TrimSuffix(typ, "x4"), 4, true
	}
	return "", 0, false
}

func (s *source) position() uint64 {
	switch r := s.n(16); {
	case r < 11:
		return uint64(s.n(72))
	case r < 13:
		return s.pick([]uint64{127, 128, 129, 255, 256, 257, 287, 288, 319, 320, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<32 - 2, 1<<32 - 32})
	case r < 15:
		return s.next() & 0x1ff
	}
	return s.next() >> 32
}

func (s *source) selector() uint64 {
	if s.n(4) == 0 {
		return s.next() >> 32
	}
	return s.next() & 0xffff
}

func (s *source) integer(bits uint, prev []uint64) uint64 {
	mask := uint64(1)<<bits - 1
	if bits == 64 {
		mask = math.MaxUint64
	}
	near := func(v uint64) uint64 { return v + uint64(s.n(5)) - 2 }
	var v uint64
	switch r := s.n(16); {
	case r < 2:
		v = s.pick([]uint64{0, 1, mask, mask >> 1, mask>>1 + 1, 2, mask - 1})
	case r < 5: // a power of two and its neighbours, either sign
		v = near(1 << s.n(int(bits)))
		if s.n(2) == 0 {
			v = -v
		}
	case r < 7:
		v = uint64(s.n(1<<10)) - 1<<9
	case r < 8:
		v = near(s.pick([]uint64{0x7f, 0xff, 0x7fff, 0xffff, 0x7fffff, 0xffffff, 0x7fffffff, 0xffffffff}))
	case r < 10 && len(prev) > 0:
		v = s.pick(prev)
		switch s.n(4) {
		case 0:
			v = near(v)
		case 1:
			v = near(-v)
		}
	case r < 12: // few bits set, or few clear
		a, b, c := s.next(), s.next(), s.next()
		v = a & b & c
		if s.n(2) == 0 {
			v = ^v
		}
	case r < 13: // any magnitude
		v = s.next() >> s.n(64)
	default:
		v = s.next()
	}
	return v & mask
}

// A layout is a floating-point format.
type layout struct {
	exp, man uint
	edges    []uint64
}

func (l *layout) bits() uint { return 1 + l.exp + l.man }

var floats = map[string]*layout{
	"f16":  newLayout(5, 10),
	"bf16": newLayout(8, 7),
	"f32":  newLayout(8, 23),
	"f64":  newLayout(11, 52),
	"tf32": newLayout(8, 23),
}

// edgeValues are numbers where some conversion or function turns: ties and limits
// of the narrower formats and of the integers, and what the approximations
// single out.
var edgeValues = []float64{0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4.5, 7, 8, 10, 100, math.Pi, math.Pi / 2, 2 * math.Pi, math.E, math.Sqrt2,
	126.5, 127, 127.5, 128, 128.5, 254.5, 255, 255.5, 256, 32766.5, 32767, 32767.5, 32768, 65534.5, 65535, 65535.5, 65536,
	1 << 23, 1<<23 + 0.5, 1 << 24, 1<<24 + 1, 1<<31 - 1, 1<<31 - 0.5, 1 << 31, 1<<31 + 128, 1<<32 - 1, 1<<32 - 0.5, 1 << 32, 1<<53 + 1, 1 << 63, 1<<63 - 1024, 1 << 64, 1<<64 - 2048,
	65504, 65519.99, 65520, 448, 464, 480, 240, 57344, 61440, 0x1p-14, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1.000002p-25, 0x1p-9, 0x1p-10, 0x1.8p-10, 0x1p-6, 0x1p-16, 0x1p-17, 0x1.8p-17,
	0x1p-126, 0x1p-127, 0x1p-133, 0x1p-134, 0x1p-149, 0x1p-150, 0x1.8p-150, 0x1.fffffep127, 0x1.ffffffp127, 0x1.fep127, 0x1.ffp127, 0x1p126, 0x1.000002p126, 0x1p128, 149, 150, 24, 25, 14, 16, 11, 13.5, 88.7, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023}

func newLayout(exp, man uint) *layout {
	l := &layout{exp: exp, man: man}
	inf := uint64(1<<exp-1) << man
	one := inf >> 1 &^ (1<<man - 1)
	add := func(v ...uint64) {
		for _, x := range v {
			l.edges = append(l.edges, x, x|1<<(exp+man))
		}
	}
	add(0, 1, 2, 3, 1<<man-1, 1<<man, 1<<man+1, 1<<(man-1), inf-1, inf, one, one-1, one+1)
	add(inf|1, inf|1<<(man-1), inf|1<<(man-1)|1, inf|1<<man-1, inf|0x1234567890123&(1<<(man-1)-1), inf|1<<(man-1)|0x0fedcba987654&(1<<(man-1)-1))
	for _, v := range edgeValues {
		b := l.encode(v)
		add(b, b+1, max(b, 1)-1)
	}
	return l
}

// encode cuts a positive number to the format, toward zero.
func (l *layout) encode(v float64) uint64 {
	fr, e := math.Frexp(v)
	bias := 1<<(l.exp-1) - 1
	e += bias - 1
	if e >= 1<<l.exp-1 {
		return uint64(1<<l.exp-2)<<l.man | 1<<l.man - 1
	}
	m := uint64(math.Ldexp(fr, int(l.man)+1))
	if e <= 0 {
		return m >> min(1-e, 63)
	}
	return m&^(1<<l.man) | uint64(e)<<l.man
}

// decode gives the value of bits in a format below 64 bits.
func (l *layout) decode(v uint64) float64 {
	e, m := v>>l.man&(1<<l.exp-1), v&(1<<l.man-1)
	x := math.Ldexp(float64(m|1<<l.man), int(e)-1<<(l.exp-1)+1-int(l.man))
	switch {
	case e == 1<<l.exp-1:
		return math.NaN()
	case e == 0:
		x = math.Ldexp(float64(m), 2-1<<(l.exp-1)-int(l.man))
	}
	if v>>(l.bits()-1)&1 == 1 {
		return -x
	}
	return x
}

func (s *source) float(l *layout, prev []uint64) uint64 {
	bits := l.bits()
	mask := uint64(1)<<bits - 1
	if bits == 64 {
		mask = math.MaxUint64
	}
	var v uint64
	switch r := s.n(20); {
	case r < 7:
		return s.pick(l.edges)
	case r < 8:
		v = s.next()
	case r < 10 && s.n(2) == 0: // any NaN, or an infinity
		a, b, sign := s.next(), s.next(), s.next()
		v = (1<<l.exp-1)<<l.man | a&b&(1<<l.man-1) | sign<<(bits-1)
	case r < 10: // subnormals and the smallest normals
		v = s.next()&(1<<(l.man+1)-1) | s.next()<<(bits-1)
	case r < 14 && len(prev) > 1 && l.man < 52 && s.n(3) == 0: // what a product cancels against
		v = l.encode(math.Abs(l.decode(prev[0])*l.decode(prev[1]))) + uint64(s.n(5)) - 2 ^ s.next()<<(bits-1)
	case r < 14 && len(prev) > 0:
		v = s.near(l, s.pick(prev))
	case r < 16: // few bits of mantissa: sums, products and narrowings that tie
		keep := uint(s.n(int(l.man)))
		v = l.moderate(s) &^ (1<<keep - 1)
		if keep > 0 && s.n(2) == 0 {
			v |= 1 << (keep - 1)
		}
	default:
		v = l.moderate(s)
	}
	return v & mask
}

// moderate is a number within a few binades of one.
func (l *layout) moderate(s *source) uint64 {
	span := min(1<<(l.exp-2), 24)
	e := uint64(1<<(l.exp-1)-1) + uint64(s.n(2*span)) - uint64(span)
	return e<<l.man | s.next()&(1<<l.man-1) | s.next()&1<<(l.bits()-1)
}

// near is a value that another operand meets: the same, its negative, a
// neighbour, one some binades off.
func (s *source) near(l *layout, v uint64) uint64 {
	n := s.n(8)
	if l.man == 52 {
		n %= 6
	}
	switch n {
	case 6, 7: // a product or a quotient at the smallest normal number
		x := math.Abs(l.decode(v))
		least := math.Ldexp(1, 2-1<<(l.exp-1))
		y := least / x
		if n == 7 {
			y = x / least
		}
		if y == y && !math.IsInf(y, 0) {
			v = l.encode(y) + uint64(s.n(5)) - 2 ^ s.next()<<(l.bits()-1)
		}
	case 0:
	case 1:
		v ^= 1 << (l.bits() - 1)
	case 2:
		v += uint64(s.n(9)) - 4
	case 3:
		v ^= 1<<(l.bits()-1) | s.next()&3
	default:
		v += uint64(s.n(2*int(l.man)+6))<<l.man - uint64(l.man+3)<<l.man
		if s.n(2) == 0 {
			v ^= s.next() & (1<<l.man - 1)
		}
		v ^= s.next() << (l.bits() - 1)
	}
	return v
}
