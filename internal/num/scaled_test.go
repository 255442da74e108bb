package num

import (
	"math/big"
	"testing"
)

// exactly is x as an exact fraction.
func exactly(x real) *big.Rat {
	v := new(big.Rat).SetFrac(x.n, x.d)
	two := new(big.Int).Lsh(big.NewInt(1), uint(max(x.exp, -x.exp)))
	if x.exp < 0 {
		v.Quo(v, new(big.Rat).SetInt(two))
	} else {
		v.Mul(v, new(big.Rat).SetInt(two))
	}
	return v
}

// TestStochasticIsAverage: over all random bits, a value is rounded away from zero as often
// as the ISA's sum carries, which is the discarded fraction in units of the random bits; and
// always to one of its two neighbours.
func TestStochasticIsAverage(t *testing.T) {
	g := newSource(11)
	for _, dst := range []Type{F16, BF16} {
		n := randomBits(dst)
		for range 400 {
			v := g.finite(F32) &^ (1 << 31)
			x := toReal(F32, v)
			down := uint16(x.code(dst, RZ, true))
			if down >= uint16(shapes[dst].max) {
				continue
			}
			away := 0
			for random := range uint32(1) << n {
				switch got := CvtStochastic(dst, 0, uint32(v), random); got {
				case down:
				case down + 1:
					away++
				default:
					t.Fatalf("cvt.rs type %d of %#x with %#x gives %#x, not %#x or the next", dst, v, random, got, down)
				}
			}
			low := exactly(toReal(dst, uint64(down)))
			unit := new(big.Rat).Sub(exactly(toReal(dst, uint64(down)+1)), low)
			part := new(big.Rat).Quo(new(big.Rat).Sub(exactly(x), low), unit)
			part.Mul(part, new(big.Rat).SetInt64(1<<n))
			want := new(big.Int).Quo(part.Num(), part.Denom()) // what lies below the random bits is lost
			if int64(away) != want.Int64() {
				t.Fatalf("cvt.rs type %d of %#x is rounded away %d times of %d, want %s", dst, v, away, 1<<n, want)
			}
		}
	}
}

func TestStochasticEdges(t *testing.T) {
	for _, c := range []struct {
		t         Type
		m         Mod
		v, random uint32
		want      uint16
	}{
		{F16, 0, 0x3f800000, 0x1fff, 0x3c00},           // exact
		{F16, 0, 0x3f800001, 0x1fff, 0x3c01},           // one discarded bit and all random ones
		{F16, 0, 0x3f800001, 0x1ffe, 0x3c00},           //
		{F16, 0, 0x3f801fff, 0x0000, 0x3c00},           //
		{F16, 0, 0x3f801fff, 0x0001, 0x3c01},           //
		{F16, 0, 0xbf801fff, 0x0001, 0xbc01},           // away from zero
		{F16, 0, 0x3f801fff, 0xe001, 0x3c01},           // the three highest bits are ignored
		{F16, 0, 0x477fffff, 0x1fff, 0x7c00},           // overflow
		{F16, SatFinite, 0x477fffff, 0x1fff, 0x7bff},   //
		{F16, 0, 0x477fffff, 0, 0x7bff},                //
		{F16, 0, 0x7f000000, 0, 0x7c00},                //
		{F16, SatFinite, 0xff800000, 0, 0xfbff},        // infinity
		{F16, Relu, 0xff800000, 0, 0},                  //
		{F16, Relu | SatFinite, 0x7fc00000, 0, 0x7fff}, // NaN
		{F16, 0, 0x00000001, 0x1fff, 0},                // far below a subnormal
		{F16, 0, 0x33000000, 0x1000, 1},                // half of the least subnormal
		{F16, 0, 0x33000000, 0x0fff, 0},                //
		{BF16, 0, 0x3f80ffff, 0x0001, 0x3f81},          //
		{BF16, 0, 0x3f80ffff, 0x0000, 0x3f80},          //
		{BF16, 0, 0x7f7fffff, 0xffff, 0x7f80},          //
		{BF16, 0, 0x00008000, 0x8000, 1},               // subnormals of both
		{BF16, 0, 0x80008000, 0x7fff, 0x8000},          //
	} {
		if got := CvtStochastic(c.t, c.m, c.v, c.random); got != c.want {
			t.Errorf("cvt.rs type %d mod %d of %#x with %#x = %#x, want %#x", c.t, c.m, c.v, c.random, got, c.want)
		}
	}
	if got := CvtStochastic2(F16, 0, 0x3f800001, 0x3f801fff, 0x1fff0001); got != 0x3c013c01 {
		t.Errorf("pair: %#x", got)
	}
	if got := CvtStochastic2(F16, 0, 0x3f800001, 0x3f801fff, 0x1ffe0000); got != 0x3c003c00 {
		t.Errorf("pair: %#x", got)
	}
}

// TestScaledExhaustive: every element of every small format with every scale.
func TestScaledExhaustive(t *testing.T) {
	for _, src := range []Type{E4M3, E5M2, E2M3, E3M2, E2M1} {
		s := shapes[src]
		n := slot(src)
		for b := range uint32(1) << (s.man + s.exp + 1) {
			for scale := range uint32(256) {
				for _, m := range []Mod{0, SatFinite, Relu, Relu | SatFinite} {
					x := toReal(src, uint64(b))
					switch {
					case scale == 0xff:
						x = real{nan: true}
					case !x.nan && !x.inf:
						x.exp += int(scale) - 127
					}
					want := uint16(x.code(BF16, RN, m&SatFinite != 0))
					if m&Relu != 0 && x.neg && !x.nan {
						want = 0
					}
					lo := CvtUnpackScaled2(src, m, b, scale)
					hi := CvtUnpackScaled2(src, m, b<<n, scale<<8|0x7f)
					if uint16(lo) != want || uint16(hi>>16) != want {
						t.Fatalf("type %d, %#x times 2^(%d-127), mod %d: %#x and %#x, want %#x", src, b, scale, m, lo, hi, want)
					}
				}
			}
		}
	}
}

// TestSmallPairs: the conversions of pairs that sm_100 adds, each element against the oracle.
func TestSmallPairs(t *testing.T) {
	g := newSource(12)
	for range 40000 {
		for _, dst := range []Type{E2M1, E2M3, E3M2, E4M3, E5M2} {
			n := slot(dst)
			a, b := uint32(g.float(F32)), uint32(g.float(F32))
			want := uint32(toReal(F32, uint64(a)).code(dst, RN, true)<<n | toReal(F32, uint64(b)).code(dst, RN, true))
			if got := CvtPack2(dst, RN, SatFinite, a, b); got != want {
				t.Fatalf("type %d of %#x, %#x: %#x, want %#x", dst, a, b, got, want)
			}
			for _, src := range []Type{F16, BF16} {
				v := uint32(g.float(src)<<16 | g.float(src))
				want := uint32(toReal(src, uint64(v>>16)).code(dst, RN, true)<<n | toReal(src, uint64(v&0xffff)).code(dst, RN, true))
				if got := CvtPack2Half(dst, src, RN, SatFinite, v); got != want {
					t.Fatalf("type %d of pair %#x: %#x, want %#x", dst, v, got, want)
				}
			}
		}
	}
}

// TestUE8M0Pairs holds the powers of two to the values that they bracket.
func TestUE8M0Pairs(t *testing.T) {
	g := newSource(13)
	for range 40000 {
		v := g.finite(F32) &^ (1 << 31)
		x := toReal(F32, v)
		for _, r := range []Rounding{RZ, RP} {
			code := CvtPack2(UE8M0, r, SatFinite, uint32(v), 0x3f800000)
			if code&0xff != 127 {
				t.Fatalf("%#x: the lower element is %#x", v, code&0xff)
			}
			e := int(code>>8) - 127
			value := real{n: big.NewInt(1), d: big.NewInt(1), exp: e}
			switch c := exactly(x).Cmp(exactly(value)); {
			case r == RZ && c < 0 && e > -127, r == RP && c > 0 && e < 127:
				t.Fatalf("%#x in rounding %d: 2^%d", v, r, e)
			}
			value.exp++
			if r == RZ && exactly(x).Cmp(exactly(value)) >= 0 && e < 127 {
				t.Fatalf("%#x toward zero: 2^%d, though twice that is no more", v, e)
			}
			value.exp -= 2
			if r == RP && exactly(x).Cmp(exactly(value)) <= 0 && e > -127 {
				t.Fatalf("%#x up: 2^%d, though half of that is enough", v, e)
			}
		}
	}
	for e := range uint32(255) {
		got := CvtUnpack2(BF16, UE8M0, 0, e<<8|127)
		want := uint32(real{n: big.NewInt(1), d: big.NewInt(1), exp: int(e) - 127}.code(BF16, RN, false))<<16 | 0x3f80
		if got != want {
			t.Errorf("2^(%d-127) as bf16: %#x, want %#x", e, got, want)
		}
	}
	if got := CvtUnpack2(BF16, UE8M0, 0, 0xff7f); got != 0x7fff3f80 {
		t.Errorf("NaN: %#x", got)
	}
}

// TestSingle2 holds each half of the f32x2 operations to the oracle, with the other half in
// the way.
func TestSingle2(t *testing.T) {
	g := newSource(14)
	for range 40000 {
		r := directed[g.IntN(len(directed))]
		var v [3]uint64
		var half [3][2]real
		for i := range v {
			for k := range 2 {
				b := g.finite(F32)
				v[i] |= b << (32 * k)
				half[i][k] = toReal(F32, b)
			}
		}
		neg := func(x real) real { x.neg = !x.neg; return x }
		check := func(op string, got uint64, want func(k int) real) {
			t.Helper()
			for k := range 2 {
				if w := want(k).code(F32, r, false); got>>(32*k)&0xffffffff != w {
					t.Fatalf("%s.f32x2 rounding %d of %#x, element %d: %#x, want %#x", op, r, v, k, got, w)
				}
			}
		}
		check("add", AddF32x2(r, 0, v[0], v[1]), func(k int) real { return addReal(half[0][k], half[1][k], r) })
		check("sub", SubF32x2(r, 0, v[0], v[1]), func(k int) real { return addReal(half[0][k], neg(half[1][k]), r) })
		check("mul", MulF32x2(r, 0, v[0], v[1]), func(k int) real { return mulReal(half[0][k], half[1][k]) })
		check("fma", FmaF32x2(r, 0, v[0], v[1], v[2]), func(k int) real { return addReal(mulReal(half[0][k], half[1][k]), half[2][k], r) })
	}
	if got := AddF32x2(RN, FTZ, 0x00000001_00800000, 0x00000001_80800001); got != 0x00000000_80000000 {
		t.Errorf("add.ftz.f32x2: %#x", got)
	}
}

// TestThreeSources holds min and max of three to an order that the ISA's text gives: NaN
// last or first, -0 below +0.
func TestThreeSources(t *testing.T) {
	g := newSource(15)
	rank := func(b uint32) int64 { // strictly monotonic in the value
		if b>>31 != 0 {
			return -int64(b&^(1<<31)) - 1
		}
		return int64(b)
	}
	for range 60000 {
		var in [3]uint32
		for i := range in {
			in[i] = uint32(g.float(F32))
			if g.IntN(4) == 0 {
				in[i] = 0x7fc00001
			}
			if g.IntN(6) == 0 {
				in[i] = uint32(g.IntN(2)) << 31
			}
		}
		for _, abs := range []bool{false, true} {
			for _, m := range []Mod{0, NaN, FTZ} {
				lo, hi, nans := uint32(NaN32), uint32(NaN32), 0
				for _, v := range in {
					if abs {
						v &^= 1 << 31
					}
					if m&FTZ != 0 {
						v = FlushF32(v)
					}
					switch {
					case v&^(1<<31) > 0x7f800000:
						nans++
						continue
					case lo == NaN32:
						lo, hi = v, v
					}
					if rank(v) < rank(lo) {
						lo = v
					}
					if rank(v) > rank(hi) {
						hi = v
					}
				}
				if nans > 0 && m&NaN != 0 {
					lo, hi = NaN32, NaN32
				}
				if got := Min3F32(m, abs, in[0], in[1], in[2]); got != lo {
					t.Fatalf("min %#x abs %v mod %d = %#x, want %#x", in, abs, m, got, lo)
				}
				if got := Max3F32(m, abs, in[0], in[1], in[2]); got != hi {
					t.Fatalf("max %#x abs %v mod %d = %#x, want %#x", in, abs, m, got, hi)
				}
				if m&FTZ != 0 {
					continue
				}
				if got := ReduxF32(m, abs, true, ReduxF32(m, abs, true, in[2], in[1]), in[0]); got != hi && nans < 3 {
					t.Fatalf("redux max %#x abs %v mod %d = %#x, want %#x", in, abs, m, got, hi)
				}
			}
		}
	}
}
