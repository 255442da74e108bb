package num

import "testing"

var directed = []Rounding{RN, RZ, RM, RP}

// arith is one format's operations, by the oracle's names.
type arith struct {
	t             Type
	n             int
	modes         []Rounding
	add, mul, div func(r Rounding, a, b uint64) uint64
	fma           func(r Rounding, a, b, c uint64) uint64
	sqrt          func(r Rounding, a uint64) uint64
}

func TestArithmeticAgainstIntegers(t *testing.T) {
	for _, c := range []arith{
		{
			t: F32, n: 40000, modes: directed,
			add:  func(r Rounding, a, b uint64) uint64 { return uint64(AddF32(r, 0, uint32(a), uint32(b))) },
			mul:  func(r Rounding, a, b uint64) uint64 { return uint64(MulF32(r, 0, uint32(a), uint32(b))) },
			div:  func(r Rounding, a, b uint64) uint64 { return uint64(DivF32(r, 0, uint32(a), uint32(b))) },
			fma:  func(r Rounding, a, b, c uint64) uint64 { return uint64(FmaF32(r, 0, uint32(a), uint32(b), uint32(c))) },
			sqrt: func(r Rounding, a uint64) uint64 { return uint64(SqrtF32(r, 0, uint32(a))) },
		},
		{t: F64, n: 20000, modes: directed, add: AddF64, mul: MulF64, div: DivF64, fma: FmaF64, sqrt: SqrtF64},
		{
			t: F16, n: 60000, modes: directed[:1],
			add: func(_ Rounding, a, b uint64) uint64 { return uint64(AddF16(0, uint16(a), uint16(b))) },
			mul: func(_ Rounding, a, b uint64) uint64 { return uint64(MulF16(0, uint16(a), uint16(b))) },
			fma: func(_ Rounding, a, b, c uint64) uint64 { return uint64(FmaF16(0, uint16(a), uint16(b), uint16(c))) },
		},
		{
			t: BF16, n: 60000, modes: directed[:1],
			add: func(_ Rounding, a, b uint64) uint64 { return uint64(AddBF16(0, uint16(a), uint16(b))) },
			mul: func(_ Rounding, a, b uint64) uint64 { return uint64(MulBF16(0, uint16(a), uint16(b))) },
			fma: func(_ Rounding, a, b, c uint64) uint64 { return uint64(FmaBF16(0, uint16(a), uint16(b), uint16(c))) },
		},
	} {
		c.check(t)
	}
}

func (c arith) check(t *testing.T) {
	g := newSource(uint64(c.t))
	top := uint64(1) << (shapes[c.t].man + shapes[c.t].exp)
	for range c.n {
		a, b := g.finite(c.t), g.finite(c.t)
		if g.IntN(4) == 0 {
			b = g.near(c.t, a)
		}
		x, y := toReal(c.t, a), toReal(c.t, b)
		r := c.modes[g.IntN(len(c.modes))]
		expect := func(op string, got uint64, want real) {
			t.Helper()
			if w := want.code(c.t, r, false); got != w {
				t.Fatalf("%s type %d rounding %d (%#x, %#x) = %#x, want %#x", op, c.t, r, a, b, got, w)
			}
		}
		expect("add", c.add(r, a, b), addReal(x, y, r))
		expect("mul", c.mul(r, a, b), mulReal(x, y))
		p := mulReal(x, y)
		z := g.finite(c.t)
		switch g.IntN(3) {
		case 0: // cancels the product
			z = g.near(c.t, p.code(c.t, RN, true)^top)
		case 1: // far below it, or half a unit away
			z = g.near(c.t, real{neg: p.neg, n: p.n, d: p.d, exp: p.exp - int(shapes[c.t].man) - g.IntN(4)}.code(c.t, RZ, true))
		}
		expect("fma", c.fma(r, a, b, z), addReal(p, toReal(c.t, z), r))
		if c.div != nil && y.n.Sign() != 0 {
			expect("div", c.div(r, a, b), quoReal(x, y))
		}
		if c.sqrt != nil && x.n.Sign() != 0 {
			if x.neg {
				continue
			}
			expect("sqrt", c.sqrt(r, a), sqrtReal(x))
			expect("sqrt of a square", c.sqrt(r, c.mul(RN, a, a)), squareRoot(c.t, c.mul(RN, a, a)))
		}
	}
}

func squareRoot(t Type, b uint64) real {
	x := toReal(t, b)
	if x.inf || x.n.Sign() == 0 {
		return x
	}
	return sqrtReal(x)
}

// Fused sums whose f64 image is a tie for f32 are too rare to meet by chance.
func TestFmaRNAtTies(t *testing.T) {
	g := newSource(99)
	for range 50000 {
		// product p with low bits, c with its last bit at twice p's weight
		a := uint64(g.IntN(64)+96)<<23 | g.Uint64()&0x7fffff
		b := uint64(0x3f800000 | 1<<g.UintN(23))
		p := mulReal(toReal(F32, a), toReal(F32, b))
		shift := 24 + g.IntN(8) - 2
		c := real{n: p.n, d: p.d, exp: p.exp + shift}.code(F32, RZ, true)
		if g.IntN(2) == 0 {
			c ^= 1 << 31
		}
		got := FmaRN(uint32(a), uint32(b), uint32(c))
		if want := addReal(p, toReal(F32, c), RN).code(F32, RN, false); uint64(got) != want {
			t.Fatalf("fma(%#x, %#x, %#x) = %#x, want %#x", a, b, c, got, want)
		}
	}
}

// A product a hair off half the least subnormal, added to a subnormal: the f64
// sum is a tie that the exact sum is not.
func TestFmaRNAtSubnormalTies(t *testing.T) {
	g := newSource(98)
	for range 20000 {
		k := uint(18 + g.IntN(5))
		e := uint64(127 - 75)
		a := e<<23 | 1<<(23-k) // (1+2^-k)·2^-75
		b := e<<23 - 1<<(24-k) // (1-2^-k)·2^-75
		c := g.Uint64N(1<<23-1<<14) + 1<<14 | g.Uint64()<<31&(1<<31)
		a |= g.Uint64() << 31 & (1 << 31)
		for _, r := range directed {
			p := mulReal(toReal(F32, a), toReal(F32, b))
			got := FmaF32(r, 0, uint32(a), uint32(b), uint32(c))
			if want := addReal(p, toReal(F32, c), r).code(F32, r, false); uint64(got) != want {
				t.Fatalf("fma(%#x, %#x, %#x) mode %d = %#x, want %#x", a, b, c, r, got, want)
			}
		}
	}
}

// Every product of two bf16 significands at every exponent where an f32 product
// may be subnormal: a first rounding to f32 does no harm.
func TestMulBF16Subnormal(t *testing.T) {
	for a := uint16(1); a < 0x100; a++ {
		for b := uint16(0x80); b < 0x100; b++ {
			for e := range uint16(40) {
				y := b&0x7f | (e+80)<<7
				x := a&0x7f | a>>7*(30<<7)
				p := mulExact(x, y)
				if got, want := MulBF16(0, x, y), bf16RN(odd32(p)); got != want {
					t.Fatalf("%#x*%#x = %#x, want %#x", x, y, got, want)
				}
			}
		}
	}
}

func mulExact(x, y uint16) float64 { return float64(bf16Float(x)) * float64(bf16Float(y)) }

const (
	inf32, ninf32 = 0x7f800000, 0xff800000
	one32, neg32  = 0x3f800000, 0x80000000 // 1 and -0
)

func TestSpecialValuesF32(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uint32
	}{
		{"inf-inf", SubRN(inf32, inf32), NaN32},
		{"0*inf", MulRN(0, inf32), NaN32},
		{"nan+1", AddRN(0x7f800001, one32), NaN32},
		{"0/0", DivRN(0, 0), NaN32},
		{"1/-0", DivRN(one32, neg32), ninf32},
		{"1/-0 rz", DivF32(RZ, 0, one32, neg32), ninf32},
		{"rcp inf rp", RcpF32(RP, 0, inf32), 0},
		{"sqrt -1", SqrtF32(RN, 0, 0xbf800000), NaN32},
		{"sqrt -0 rm", SqrtF32(RM, 0, neg32), neg32},
		{"sqrt inf rp", SqrtF32(RP, 0, inf32), inf32},
		{"inf + 1 rz", AddF32(RZ, 0, inf32, one32), inf32},
		{"1-1 rm", SubF32(RM, 0, one32, one32), neg32},
		{"-0 + -0 rp", AddF32(RP, 0, neg32, neg32), neg32},
		{"fma inf*0", FmaRN(inf32, 0, one32), NaN32},
		{"fma inf - inf", FmaF32(RP, 0, inf32, one32, ninf32), NaN32},
		{"fma 0*1-0 rm", FmaF32(RM, 0, 0, one32, neg32), neg32},
		{"max finite + ulp rz", AddF32(RZ, 0, 0x7f7fffff, 0x7f7fffff), 0x7f7fffff},
		{"max finite + ulp rm, negative", AddF32(RM, 0, 0xff7fffff, 0xff7fffff), ninf32},
		{"ftz in", AddF32(RN, FTZ, 0x80000001, 0x80000001), neg32},
		{"ftz out", MulF32(RN, FTZ, 0x00800000, 0x3f000000), 0},
		{"sat high", AddF32(RN, Sat, one32, one32), one32},
		{"sat low", SubF32(RN, Sat, 0, one32), 0},
		{"sat nan", AddF32(RN, Sat, NaN32, one32), 0},
		{"sat -0", MulF32(RN, Sat, neg32, one32), 0},
		{"neg nan", NegF32(0, 0xffc00000), NaN32},
		{"neg ftz", NegF32(FTZ, 1), neg32},
		{"abs", AbsF32(0, 0xc0000000), 0x40000000},
		{"min -0 0", MinF32(0, 0, neg32), neg32},
		{"max -0 0", MaxF32(0, neg32, 0), 0},
		{"min nan 1", MinF32(0, NaN32, one32), one32},
		{"min nan nan", MinF32(0, 0xffc00001, 0xffc00001), NaN32},
		{"min.NaN nan 1", MinF32(NaN, 0xffc00001, one32), NaN32},
		{"max.xorsign.abs 1 -2", MaxF32(XorSignAbs, one32, 0xc0000000), 0xc0000000},
		{"min.xorsign.abs -1 -2", MinF32(XorSignAbs, 0xbf800000, 0xc0000000), one32},
		{"min ftz", MinF32(FTZ, 0x80000001, one32), neg32},
		{"copysign", CopySignF32(neg32, one32), 0xbf800000},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
}

func TestSpecialValuesF64(t *testing.T) {
	const inf, one, neg, pay = 0x7ff << 52, 0x3ff << 52, 1 << 63, 0x7ff0000000000005
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"inf-inf rz", SubF64(RZ, inf, inf), NaN64},
		{"payload kept, quiet", AddRNF64(pay, one), pay | 1<<51},
		{"first payload", FmaF64(RP, one, pay, pay|neg), pay | 1<<51},
		{"sub nan keeps sign", SubF64(RM, one, pay), pay | 1<<51},
		{"1/0 rz", DivF64(RZ, one, 0), inf},
		{"0/0", DivF64(RM, 0, 0), NaN64},
		{"sqrt -1", SqrtF64(RP, one|neg), NaN64},
		{"sqrt -0", SqrtF64(RP, neg), neg},
		{"1-1 rm", SubF64(RM, one, one), neg},
		{"max+max rz", AddF64(RZ, inf-1, inf-1), inf - 1},
		{"max+max rp", AddF64(RP, inf-1, inf-1), inf},
		{"rcp inf rz", RcpF64(RZ, inf), 0},
		{"fma overflow rm", FmaF64(RM, inf-1, inf-1, neg), inf - 1},
		{"fma inf rz", FmaF64(RZ, inf, one, one), inf},
		{"min nan", MinF64(pay, one), one},
		{"max both nan", MaxF64(pay, pay|neg), pay | neg | 1<<51},
		{"min zeros", MinF64(0, neg), neg},
		{"abs nan", AbsF64(pay | neg), pay | neg | 1<<51},
		{"neg nan", NegF64(pay), pay | 1<<51},
		{"add nans", AddRNF64(pay|2, pay|neg), pay | neg | 1<<51},
		{"fma nans", FmaRNF64(pay|2, one, pay|neg), pay | neg | 1<<51},
		{"atom nans", AtomAddF64(pay|2, pay|neg), pay | neg},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
}

func TestHalfQualifiers(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uint16
	}{
		{"f16 sat", AddF16(Sat, 0x3c00, 0x3c00), 0x3c00},
		{"f16 sat nan", AddF16(Sat, 0x7e00, 0x3c00), 0},
		{"f16 sat negative", SubF16(Sat, 0, 0x3c00), 0},
		{"f16 sat keeps", AddF16(Sat, 0x3400, 0x3400), 0x3800},
		{"f16 relu", FmaF16(Relu, 0xbc00, 0x3c00, 0), 0},
		{"f16 relu -inf", FmaF16(Relu, 0xfc00, 0x3c00, 0), 0},
		{"f16 relu nan", FmaF16(Relu, 0xfe00, 0x3c00, 0), NaN16},
		{"f16 ftz in", AddF16(FTZ, 0x8001, 0x8001), 0x8000},
		{"f16 ftz out", MulF16(FTZ, 0x0400, 0x3800), 0},
		{"f16 overflow", AddF16(0, 0x7bff, 0x7bff), 0x7c00},
		{"f16 inf-inf", SubF16(0, 0x7c00, 0x7c00), NaN16},
		{"f16 min nan", MinF16(0, 0x7e00, 0x3c00), 0x3c00},
		{"f16 min.NaN", MinF16(NaN, 0x7e00, 0x3c00), NaN16},
		{"f16 max zeros", MaxF16(0, 0x8000, 0), 0},
		{"f16 max.xorsign", MaxF16(XorSignAbs, 0x3c00, 0xc000), 0xc000},
		{"f16 neg nan", NegF16(0, 0x7c01), NaN16},
		{"bf16 relu", FmaBF16(Relu, 0xbf80, 0x3f80, 0), 0},
		{"bf16 min", MinBF16(0, 0xbf80, 0x3f80), 0xbf80},
		{"bf16 inf not nan", MaxBF16(0, 0x7f80, 0x3f80), 0x7f80},
		{"bf16 abs", AbsBF16(0, 0xff80), 0x7f80},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
	if got := FmaF16x2(0, 0x3c004000, 0x40004000, 0x3c003c00); got != 0x42004500 {
		t.Errorf("fma.f16x2 = %#x", got)
	}
	for i, c := range []struct{ got, want uint32 }{
		{uint32(FmaOOBF16(0, OOBNaN, 0x3c00, 0x3c00)), 0}, {uint32(FmaOOBF16(0, 0x7e00, 0x3c00, 0x3c00)), uint32(NaN16)},
	} {
		if c.got != c.want {
			t.Errorf("case %d = %#x, want %#x", i, c.got, c.want)
		}
	}
	if got := SubBF16x2(0, 0x3f804000, 0x3f803f80); got != 0x00003f80 {
		t.Errorf("sub.bf16x2 = %#x", got)
	}
}

func TestComparisons(t *testing.T) {
	type row struct {
		cmp            Cmp
		lt, eq, gt, un bool
	}
	const F, T = false, true
	for _, c := range []row{
		{EQ, F, T, F, F}, {NE, T, F, T, F}, {LT, T, F, F, F}, {LE, T, T, F, F},
		{GT, F, F, T, F}, {GE, F, T, T, F}, {EQU, F, T, F, T}, {NEU, T, F, T, T},
		{LTU, T, F, F, T}, {LEU, T, T, F, T}, {GTU, F, F, T, T}, {GEU, F, T, T, T},
		{NUM, T, T, T, F}, {NAN, F, F, F, T},
	} {
		got := row{c.cmp, c.cmp.F32(0, neg32, one32), c.cmp.F32(0, 0, neg32), c.cmp.F32(0, inf32, one32), c.cmp.F32(0, NaN32, one32)}
		if got != c {
			t.Errorf("f32 %v, want %v", got, c)
		}
		got = row{c.cmp, c.cmp.F64(0, 1), c.cmp.F64(0, 1<<63), c.cmp.F64(1, 0), c.cmp.F64(0, NaN64)}
		if got != c {
			t.Errorf("f64 %v, want %v", got, c)
		}
		got = row{c.cmp, c.cmp.F16(0, 1, 2), c.cmp.F16(FTZ, 1, 2), c.cmp.F16(0, 1, 0x8001), c.cmp.F16(0, 1, 0xfe00)}
		if got != c {
			t.Errorf("f16 %v, want %v", got, c)
		}
		got = row{c.cmp, c.cmp.BF16(0xff80, 0), c.cmp.BF16(1, 1), c.cmp.BF16(2, 1), c.cmp.BF16(0x7f81, 1)}
		if got != c {
			t.Errorf("bf16 %v, want %v", got, c)
		}
		if c.cmp != NUM && c.cmp != NAN {
			if c.cmp.S64(-1, 1) != c.lt || c.cmp.U64(1, 1<<63) != c.lt || c.cmp.S64(5, 5) != c.eq || c.cmp.U64(1<<63, 1) != c.gt {
				t.Errorf("integer %v", c)
			}
		}
	}
	if !SlctF32(0, neg32) || SlctF32(0, NaN32) || SlctF32(0, 0x80000001) || !SlctF32(FTZ, 0x80000001) {
		t.Error("slct.f32")
	}
}

func TestTestp(t *testing.T) {
	ops := []Testp{Finite, Infinite, Number, NotANumber, Normal, Subnormal}
	for _, c := range []struct {
		a    uint32
		b    uint64
		want string
	}{
		{0, 0, "YNYNYN"}, {neg32, 1 << 63, "YNYNYN"}, {one32, 0x3ff << 52, "YNYNYN"},
		{1, 1, "YNYNNY"}, {0x807fffff, 1<<63 | 1<<52 - 1, "YNYNNY"},
		{inf32, 0x7ff << 52, "NYYNNN"}, {0xff800001, 0xfff0000000000001, "NNNYNN"},
	} {
		for i, op := range ops {
			if want := c.want[i] == 'Y'; TestpF32(op, c.a) != want || TestpF64(op, c.b) != want {
				t.Errorf("testp %d %#x %#x", op, c.a, c.b)
			}
		}
	}
}
