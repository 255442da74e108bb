package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The oracle knows only integers: a finite number is ±n/d·2^exp with big n and
// d, and rounding looks at the remainder of one big division. It shares nothing
// with the package but the layouts table's numbers, which it restates.

type real struct {
	nan, inf, neg bool
	n, d          *big.Int
	exp           int
}

// shape is precision with the implicit bit, exponent bias, mantissa bits and
// the largest and infinite codes.
type shape struct {
	man, exp uint
	bias     int
	max, inf uint64
	noInf    bool
	nan      uint64
}

var shapes = map[Type]shape{
	F16:  {man: 10, exp: 5, bias: 15, max: 0x7bff, inf: 0x7c00, nan: 0x7fff},
	BF16: {man: 7, exp: 8, bias: 127, max: 0x7f7f, inf: 0x7f80, nan: 0x7fff},
	F32:  {man: 23, exp: 8, bias: 127, max: 0x7f7fffff, inf: 0x7f800000, nan: 0x7fffffff},
	F64:  {man: 52, exp: 11, bias: 1023, max: 0x7fefffffffffffff, inf: 0x7ff0000000000000},
	E4M3: {man: 3, exp: 4, bias: 7, max: 0x7e, inf: 0x7f, noInf: true, nan: 0x7f},
	E5M2: {man: 2, exp: 5, bias: 15, max: 0x7b, inf: 0x7c, nan: 0x7f},
	E2M3: {man: 3, exp: 2, bias: 1, max: 0x1f, inf: 0x20, noInf: true, nan: 0x1f},
	E3M2: {man: 2, exp: 3, bias: 3, max: 0x1f, inf: 0x20, noInf: true, nan: 0x1f},
	E2M1: {man: 1, exp: 2, bias: 1, max: 7, inf: 8, noInf: true, nan: 7},
}

func toReal(t Type, b uint64) real {
	s := shapes[t]
	x := real{neg: b>>(s.man+s.exp)&1 != 0, d: big.NewInt(1)}
	abs := b & (1<<(s.man+s.exp) - 1)
	if abs >= s.inf && t != E2M3 && t != E3M2 && t != E2M1 {
		x.inf = abs == s.inf && !s.noInf
		x.nan = !x.inf
		return x
	}
	e, m := int(abs>>s.man), abs&(1<<s.man-1)
	if e > 0 {
		m |= 1 << s.man
	} else {
		e = 1
	}
	x.n, x.exp = new(big.Int).SetUint64(m), e-s.bias-int(s.man)
	return x
}

func intReal(neg bool, mag uint64) real {
	return real{neg: neg, n: new(big.Int).SetUint64(mag), d: big.NewInt(1)}
}

func shl(x *big.Int, n int) *big.Int { return new(big.Int).Lsh(x, uint(n)) }

func (x real) signed() *big.Int {
	if x.neg {
		return new(big.Int).Neg(x.n)
	}
	return new(big.Int).Set(x.n)
}

// addReal needs d = 1 on both sides; an exact zero gets its sign from r.
func addReal(x, y real, r Rounding) real {
	e := min(x.exp, y.exp)
	s := new(big.Int).Add(shl(x.signed(), x.exp-e), shl(y.signed(), y.exp-e))
	z := real{neg: s.Sign() < 0, n: s.Abs(s), d: big.NewInt(1), exp: e}
	if z.n.Sign() == 0 {
		z.neg = r == RM
		if x.n.Sign() == 0 && y.n.Sign() == 0 && x.neg == y.neg {
			z.neg = x.neg
		}
	}
	return z
}

func mulReal(x, y real) real {
	return real{neg: x.neg != y.neg, n: new(big.Int).Mul(x.n, y.n), d: big.NewInt(1), exp: x.exp + y.exp}
}

func quoReal(x, y real) real {
	return real{neg: x.neg != y.neg, n: x.n, d: y.n, exp: x.exp - y.exp}
}

// sqrtReal gives 400 bits and a last bit that stands for the rest.
func sqrtReal(x real) real {
	n, e := shl(x.n, 800), x.exp-800
	if e&1 != 0 {
		n, e = shl(n, 1), e-1
	}
	root := new(big.Int).Sqrt(n)
	exact := new(big.Int).Mul(root, root).Cmp(n) == 0
	root = shl(root, 1)
	if !exact {
		root.SetBit(root, 0, 1)
	}
	return real{n: root, d: big.NewInt(1), exp: e/2 - 1}
}

// split is |x| = (m + rest)·2^q with rest compared to one half.
func (x real) split(q int) (m *big.Int, half int, inexact bool) {
	n, d := x.n, x.d
	if x.exp >= q {
		n = shl(n, x.exp-q)
	} else {
		d = shl(d, q-x.exp)
	}
	m, rem := new(big.Int).QuoRem(n, d, new(big.Int))
	return m, shl(rem, 1).Cmp(d), rem.Sign() != 0
}

// roundReal rounds |x|/2^q to an integer.
func (x real) roundReal(q int, r Rounding) *big.Int {
	m, half, inexact := x.split(q)
	up := false
	switch r {
	case RN, RNI:
		up = half > 0 || half == 0 && m.Bit(0) == 1
	case RNA:
		up = half >= 0
	case RM, RMI:
		up = x.neg && inexact
	case RP, RPI:
		up = !x.neg && inexact
	}
	if up {
		m.Add(m, big.NewInt(1))
	}
	return m
}

// code rounds x into format t.
func (x real) code(t Type, r Rounding, satfinite bool) uint64 {
	s := shapes[t]
	sign := uint64(0)
	if x.neg {
		sign = 1 << (s.man + s.exp)
	}
	switch {
	case x.nan:
		return s.nan
	case x.inf && (s.noInf || satfinite):
		return sign | s.max
	case x.inf:
		return sign | s.inf
	case x.n.Sign() == 0:
		return sign
	}
	e := x.n.BitLen() - x.d.BitLen() + x.exp // floor(log2) or one above it
	if m, _, _ := x.split(e); m.Sign() == 0 {
		e--
	}
	qmin := 1 - s.bias - int(s.man)
	q := max(e-int(s.man), qmin)
	m := x.roundReal(q, r)
	if m.BitLen() > int(s.man)+1 {
		m.Rsh(m, 1)
		q++
	}
	code := m.Uint64()
	if m.BitLen() == int(s.man)+1 {
		field := q - qmin + 1
		if field > 1<<s.exp {
			field = 1 << s.exp
		}
		code += uint64(field-1) << s.man
	}
	if code > s.max {
		if s.noInf || satfinite || r == RZ || r == RM && !x.neg || r == RP && x.neg {
			return sign | s.max
		}
		return sign | s.inf
	}
	return sign | code
}

// integer rounds and clamps x to integer type t.
func (x real) integer(t Type, r Rounding) uint64 {
	lo, hi := big.NewInt(0), new(big.Int).Sub(shl(big.NewInt(1), int(t.Bits())), big.NewInt(1))
	if t.Signed() {
		hi.Rsh(hi, 1)
		lo.Not(hi)
	}
	v := new(big.Int)
	switch {
	case x.inf && x.neg:
		v = lo
	case x.inf:
		v = hi
	default:
		v = x.roundReal(0, r)
		if x.neg {
			v.Neg(v)
		}
	}
	if v.Cmp(lo) < 0 {
		v = lo
	}
	if v.Cmp(hi) > 0 {
		v = hi
	}
	if v.Sign() < 0 {
		return uint64(v.Int64())
	}
	return v.Uint64()
}

// source draws operands that sit where arithmetic breaks: near each other,
// near powers of two, near overflow and underflow, with few or many ones.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 7))} }

func (g source) float(t Type) uint64 {
	s := shapes[t]
	width := s.man + s.exp + 1
	b := g.Uint64() & (1<<width - 1)
	switch g.IntN(8) {
	case 0: // few mantissa bits
		b &^= 1<<s.man - 1
		b |= 1 << g.UintN(s.man+1)
	case 1: // mantissa of ones
		b |= 1<<s.man - 1
		b -= g.Uint64N(3)
	case 2: // near one
		b = b&(1<<s.man-1) | uint64(s.bias-2+g.IntN(5))<<s.man | b>>(width-1)<<(width-1)
	case 3: // subnormal and least normal
		b &= 1<<(width-1) | 1<<(s.man+1) - 1
	case 4: // exponents around the middle
		b = b&(1<<s.man-1) | uint64(max(1, s.bias-30+g.IntN(60)))&(1<<s.exp-1)<<s.man
	case 5: // top
		b |= (1<<s.exp - 2) << s.man
	}
	return b & (1<<width - 1)
}

func (g source) finite(t Type) uint64 {
	for {
		b := g.float(t)
		if x := toReal(t, b); !x.nan && !x.inf {
			return b
		}
	}
}

// near is b moved by a few units and perhaps a changed sign.
func (g source) near(t Type, b uint64) uint64 {
	s := shapes[t]
	b += uint64(g.IntN(5)) - 2
	if g.IntN(2) == 0 {
		b ^= 1 << (s.man + s.exp)
	}
	b &= 1<<(s.man+s.exp+1) - 1
	if x := toReal(t, b); x.nan || x.inf {
		return 0
	}
	return b
}

func TestOracleKnowsHostFloats(t *testing.T) {
	g := newSource(1)
	for range 20000 {
		a, b := g.finite(F64), g.finite(F64)
		if got, want := toReal(F64, a).code(F64, RN, false), a; got != want {
			t.Fatalf("identity %#x: %#x", a, got)
		}
		p := f64(a) * f64(b)
		if got := mulReal(toReal(F64, a), toReal(F64, b)).code(F64, RN, false); got != math.Float64bits(p) {
			t.Fatalf("%#x*%#x: oracle %#x, host %#x", a, b, got, math.Float64bits(p))
		}
	}
}
