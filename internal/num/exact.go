package num

import "math/bits"

// exact is ±(hi·2^64 + lo)·2^exp, the carrier for directed f64 results. The
// lowest bit is sticky: it also stands for everything shifted out below it.
type exact struct {
	neg    bool
	exp    int
	hi, lo uint64
}

func (x exact) zero() bool { return x.hi|x.lo == 0 }

// unpack64 takes a finite f64 apart, without normalizing.
func unpack64(b uint64) exact {
	e, m := int(b>>52&0x7ff), b&(1<<52-1)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 52
	}
	return exact{neg: b>>63 != 0, exp: e - 1075, lo: m}
}

// normalize brings the leading one of a nonzero x to the top bit.
func (x exact) normalize() exact {
	if x.hi == 0 {
		x.hi, x.lo, x.exp = x.lo, 0, x.exp-64
	}
	n := uint(bits.LeadingZeros64(x.hi))
	x.hi = x.hi<<n | x.lo>>(64-n)
	x.lo <<= n
	x.exp -= int(n)
	return x
}

// jam shifts right by n, keeping lost bits as the sticky one.
func (x exact) jam(n int) exact {
	if n <= 0 {
		return x
	}
	x.exp += n
	var lost uint64
	switch {
	case n >= 128:
		lost, x.hi, x.lo = x.hi|x.lo, 0, 0
	case n >= 64:
		lost = x.lo | x.hi<<1<<(127-n)
		x.lo, x.hi = x.hi>>(n-64), 0
	default:
		lost = x.lo << (64 - n)
		x.lo = x.lo>>n | x.hi<<(64-n)
		x.hi >>= n
	}
	if lost != 0 {
		x.lo |= 1
	}
	return x
}

// mul is the exact product of two unpacked f64.
func (x exact) mul(y exact) exact {
	hi, lo := bits.Mul64(x.lo, y.lo)
	return exact{neg: x.neg != y.neg, exp: x.exp + y.exp, hi: hi, lo: lo}
}

// add is x+y with a sticky bit that is safe for rounding to 53 bits: operands
// carry at most 106 significant bits, so a shift that loses any of them leaves
// the leading one where at most one bit cancels. r decides the sign of an
// exact zero.
func (x exact) add(y exact, r Rounding) exact {
	switch {
	case x.zero() && y.zero():
		return exact{neg: signedZero(x.neg, y.neg, r)}
	case x.zero():
		return y
	case y.zero():
		return x
	}
	x, y = x.normalize().jam(1), y.normalize().jam(1)
	if x.exp < y.exp {
		x, y = y, x
	}
	y = y.jam(x.exp - y.exp)
	var c uint64
	if x.neg == y.neg {
		x.lo, c = bits.Add64(x.lo, y.lo, 0)
		x.hi, _ = bits.Add64(x.hi, y.hi, c)
		return x
	}
	if x.hi < y.hi || x.hi == y.hi && x.lo < y.lo {
		x, y = exact{y.neg, x.exp, y.hi, y.lo}, x
	}
	x.lo, c = bits.Sub64(x.lo, y.lo, 0)
	x.hi, _ = bits.Sub64(x.hi, y.hi, c)
	if x.zero() {
		return exact{neg: r == RM}
	}
	return x
}

// f64 rounds x once.
func (x exact) f64(r Rounding) uint64 {
	var sign uint64
	if x.neg {
		sign = 1 << 63
	}
	if x.zero() {
		return sign
	}
	x = x.normalize()
	e := x.exp + 127 // exponent of the leading one
	if e > 1023 {
		return sign | overflow64(x.neg, r)
	}
	field := uint64(0)
	if e >= -1022 {
		field = uint64(e + 1022)
	} else {
		x = x.jam(-1022 - e)
	}
	b := field<<52 + x.hi>>11
	rest := x.hi << 53
	above := rest > 1<<63 || rest == 1<<63 && x.lo != 0
	if away(b&1 != 0, above, rest|x.lo != 0, rest == 1<<63 && x.lo == 0, x.neg, r) {
		b++
	}
	if b == 0x7ff<<52 {
		b = overflow64(x.neg, r)
	}
	return sign | b
}

func overflow64(neg bool, r Rounding) uint64 {
	if stopsAtMax(neg, r) {
		return 0x7ff<<52 - 1
	}
	return 0x7ff << 52
}

// quo is x/y for nonzero unpacked f64: 64 quotient bits and a sticky one.
func (x exact) quo(y exact) exact {
	x, y = x.normalize(), y.normalize()
	// Halving the dividend keeps its top word below the divisor.
	q, rem := bits.Div64(x.hi>>1, x.hi<<63, y.hi)
	z := exact{neg: x.neg != y.neg, exp: x.exp - y.exp - 127, hi: q}
	if rem != 0 {
		z.lo = 1
	}
	return z
}

// sqrt is the root of a positive unpacked f64, 64 bits and a sticky one.
func (x exact) sqrt() exact {
	x = x.normalize()
	if x.exp&1 != 0 {
		x = x.jam(1)
	}
	var root uint64
	for bit := uint64(1) << 63; bit != 0; bit >>= 1 {
		t := root | bit
		if h, l := bits.Mul64(t, t); h < x.hi || h == x.hi && l <= x.lo {
			root = t
		}
	}
	z := exact{exp: x.exp/2 - 64, hi: root}
	if h, l := bits.Mul64(root, root); h != x.hi || l != x.lo {
		z.lo = 1
	}
	return z
}
