package num

import (
	"math"
	"testing"
)

func TestApproxSpecialValues(t *testing.T) {
	const half = 0x3f000000
	for _, c := range []struct {
		what      string
		got, want uint32
	}{
		{"ex2 -inf", Ex2F32(0, ninf32), 0}, {"ex2 -0", Ex2F32(0, neg32), one32}, {"ex2 inf", Ex2F32(0, inf32), inf32},
		{"ex2 nan", Ex2F32(0, 0xffc00000), NaN32}, {"ex2 -127", Ex2F32(0, 0xc2fe0000), 0x00400000}, {"ex2 -127 ftz", Ex2F32(FTZ, 0xc2fe0000), 0},
		{"lg2 -inf", Lg2F32(0, ninf32), NaN32}, {"lg2 -1", Lg2F32(0, 0xbf800000), NaN32}, {"lg2 -0", Lg2F32(0, neg32), ninf32},
		{"lg2 0", Lg2F32(0, 0), ninf32}, {"lg2 inf", Lg2F32(0, inf32), inf32}, {"lg2 subnormal", Lg2F32(0, 1), 0xc3150000},
		{"lg2 subnormal ftz", Lg2F32(FTZ, 1), ninf32}, {"lg2 2", Lg2F32(0, 0x40000000), one32},
		{"sin inf", SinF32(0, inf32), NaN32}, {"sin -0", SinF32(0, neg32), neg32}, {"sin subnormal ftz", SinF32(FTZ, 0x80000001), neg32},
		{"cos inf", CosF32(0, ninf32), NaN32}, {"cos -0", CosF32(0, neg32), one32},
		{"tanh -inf", TanhF32(ninf32), 0xbf800000}, {"tanh -0", TanhF32(neg32), neg32}, {"tanh subnormal", TanhF32(1), 1}, {"tanh nan", TanhF32(NaN32), NaN32},
		{"rcp -inf", RcpApproxF32(0, ninf32), neg32}, {"rcp -0", RcpApproxF32(0, neg32), ninf32}, {"rcp subnormal ftz", RcpApproxF32(FTZ, 0x80000001), ninf32},
		{"rcp 2^127 ftz", RcpApproxF32(FTZ, 0x7f000000), 0}, {"rcp 2^127", RcpApproxF32(0, 0x7f000000), 0x00400000},
		{"sqrt -1", SqrtApproxF32(0, 0xbf800000), NaN32}, {"sqrt -0", SqrtApproxF32(0, neg32), neg32}, {"sqrt inf", SqrtApproxF32(0, inf32), inf32},
		{"rsqrt -inf", RsqrtF32(0, ninf32), NaN32}, {"rsqrt -0", RsqrtF32(0, neg32), ninf32}, {"rsqrt inf", RsqrtF32(0, inf32), 0},
		{"rsqrt -1", RsqrtF32(0, 0xbf800000), NaN32}, {"rsqrt 4", RsqrtF32(0, 0x40800000), half},
		{"div.approx by 2^127", DivApproxF32(0, one32, 0xff000000), neg32}, {"div.approx inf by 2^127", DivApproxF32(0, inf32, 0x7f000000), NaN32},
		{"div.approx by 2^126", DivApproxF32(0, one32, 0x7e800000), 0x00800000}, {"div.approx by inf", DivApproxF32(0, one32, ninf32), neg32},
		{"div.full by 2^127", DivFullF32(0, 0x7f000000, 0x7f000000), one32},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
}

func TestApproxF64(t *testing.T) {
	const inf, neg, nan = 0x7ff << 52, 1 << 63, 0x7fffffff00000000
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"rcp -inf", RcpApproxF64(neg | inf), neg}, {"rcp -subnormal", RcpApproxF64(neg | 1), neg | inf},
		{"rcp nan", RcpApproxF64(NaN64), nan}, {"rcp 2", RcpApproxF64(0x4000000000000000), 0x3fe0000000000000},
		{"rcp 3", RcpApproxF64(0x4008000000000000), 0x3fd5555500000000}, {"rcp low word ignored", RcpApproxF64(0x4008000012345678), 0x3fd5555500000000},
		{"rcp max", RcpApproxF64(inf - 1), 0}, {"rsqrt -subnormal", RsqrtApproxFTZF64(neg | 1), neg | inf},
		{"rsqrt -inf", RsqrtApproxFTZF64(neg | inf), nan}, {"rsqrt inf", RsqrtApproxFTZF64(inf), 0}, {"rsqrt 4", RsqrtApproxFTZF64(0x4010000000000000), 0x3fe0000000000000},
		{"rsqrt full -0", RsqrtF64(neg), neg | inf}, {"rsqrt full 0.25", RsqrtF64(0x3fd0000000000000), 0x4000000000000000},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
}

// Every half-precision input against a value computed another way, within the
// ISA's bound.
func TestApproxHalfBounds(t *testing.T) {
	exp2 := func(x float64) float64 { return math.Exp(x * math.Ln2) }
	tanh := func(x float64) float64 { e := math.Expm1(-2 * math.Abs(x)); return math.Copysign(-e/(2+e), x) }
	// slack is half a unit of the smallest subnormal: relative bounds end there.
	check := func(what string, typ Type, got uint16, want, bound float64) {
		t.Helper()
		g := Decode(typ, uint32(got))
		if !(math.Abs(g-want) <= bound) && !(math.IsInf(g, 1) && (math.IsInf(want, 1) || want >= 65520)) {
			t.Fatalf("%s: %g, want %g", what, g, want)
		}
	}
	for i := range 1 << 16 {
		h := uint16(i)
		if x := Decode(F16, uint32(h)); x == x {
			check("ex2.f16", F16, Ex2F16(h), exp2(x), BoundEx2F16*exp2(x)+0x1p-25)
			check("tanh.f16", F16, TanhF16(h), tanh(x), BoundTanhF16)
		} else if Ex2F16(h) != NaN16 || TanhF16(h) != NaN16 {
			t.Fatalf("%#x: NaN", h)
		}
		if x := Decode(BF16, uint32(h)); x == x {
			check("ex2.bf16", BF16, Ex2BF16(h), exp2(x), BoundEx2BF16*exp2(x)+0x1p-126)
			check("tanh.bf16", BF16, TanhBF16(h), tanh(x), BoundTanhBF16)
		} else if Ex2BF16(h) != NaN16 || TanhBF16(h) != NaN16 {
			t.Fatalf("%#x: NaN", h)
		}
	}
	if TanhF16(0x8000) != 0x8000 || TanhF16(0xfc00) != 0xbc00 || Ex2BF16(0x8001) != 0x3f80 {
		t.Error("special values")
	}
}

// Random f32 inputs against the same functions by other formulas.
func TestApproxF32Bounds(t *testing.T) {
	g := newSource(30)
	ulp := func(x float64) float64 { return math.Ldexp(1, max(math.Ilogb(x), -126)-23) }
	for range 100000 {
		a := uint32(g.finite(F32))
		x := float64(f32(a))
		y := (g.Float64()*2 - 1) * 6.28
		b := math.Float32bits(float32(y))
		y = float64(f32(b))
		z := y * 20
		near := func(what string, got uint32, want, bound float64) {
			t.Helper()
			if d := math.Abs(float64(f32(got)) - want); !(d <= bound) {
				t.Fatalf("%s(%g, %g): %g, want %g", what, x, y, f32(got), want)
			}
		}
		near("sin", SinF32(0, b), math.Cos(y-math.Pi/2), BoundSinCosF32)
		near("cos", CosF32(0, b), 1-2*math.Pow(math.Sin(y/2), 2), BoundSinCosF32)
		near("ex2", Ex2F32(0, math.Float32bits(float32(z))), math.Exp(float64(float32(z))*math.Ln2), BoundEx2F32*ulp(math.Exp(z*math.Ln2)))
		e := math.Exp(2 * y)
		near("tanh", TanhF32(b), (e-1)/(e+1), BoundTanhF32*math.Abs((e-1)/(e+1)))
		if x > 0 {
			want := math.Log(x) / math.Ln2
			bound := BoundLg2F32
			if x <= 0.5 || x >= 2 {
				bound *= math.Abs(want)
			}
			near("lg2", Lg2F32(0, a), want, bound)
			near("rsqrt", RsqrtF32(0, a), math.Pow(x, -0.5), BoundRsqrtF32*math.Pow(x, -0.5))
		}
	}
}
