package num

import (
	"math"
	"math/bits"
	"testing"
)

var floats = []Type{F16, BF16, F32, F64}
var integers = []Type{U8, U16, U32, U64, S8, S16, S32, S64}

// integer draws a value of an integer type: small, near an end, with a gap of
// zeros between a few high bits and a few low ones, or any.
func (g source) integer(t Type) uint64 {
	lo, hi := limits(t)
	switch g.IntN(5) {
	case 3:
		return extend(t, g.Uint64()&^(1<<(t.Bits()-1-g.UintN(min(t.Bits(), 30)))-1)+g.Uint64N(9)-4)
	case 0:
		return extend(t, hi-g.Uint64N(3))
	case 1:
		return extend(t, uint64(lo)+g.Uint64N(3))
	case 2:
		return extend(t, g.Uint64()>>g.UintN(64))
	}
	return extend(t, g.Uint64())
}

func integerReal(t Type, v uint64) real {
	if t.Signed() && int64(v) < 0 {
		return intReal(true, -v)
	}
	return intReal(false, v)
}

func TestCvtIntToFloat(t *testing.T) {
	g := newSource(3)
	for _, src := range integers {
		for _, dst := range floats {
			for _, r := range directed {
				for range 400 {
					v := g.integer(src)
					got, want := Cvt(dst, src, r, 0, v), integerReal(src, v).code(dst, r, false)
					if got != want {
						t.Fatalf("cvt %d<-%d mode %d %#x = %#x, want %#x", dst, src, r, v, got, want)
					}
				}
			}
		}
	}
}

// nearInteger makes a float near a random integer or half of one.
func (g source) nearInteger(t, i Type) uint64 {
	x := integerReal(i, g.integer(i))
	x.exp = -g.IntN(2)
	return g.near(t, x.code(t, RZ, true))
}

func TestCvtFloatToInt(t *testing.T) {
	g := newSource(4)
	for _, src := range floats {
		for _, dst := range integers {
			for r := RNI; r <= RPI; r++ {
				for range 400 {
					v := g.float(src)
					if g.IntN(2) == 0 {
						v = g.nearInteger(src, dst)
					}
					x := toReal(src, v)
					if x.nan {
						continue
					}
					if got, want := Cvt(dst, src, r, 0, v), x.integer(dst, r); got != want {
						t.Fatalf("cvt %d<-%d mode %d %#x = %#x, want %#x", dst, src, r, v, got, want)
					}
				}
			}
		}
	}
}

func TestCvtFloatToFloat(t *testing.T) {
	g := newSource(5)
	for _, src := range floats {
		for _, dst := range floats {
			for _, r := range directed {
				for range 3000 {
					v := g.float(src)
					if g.IntN(3) == 0 { // near a value, or a tie, of the destination
						x := toReal(dst, g.finite(dst))
						if g.IntN(2) == 0 {
							x.n = shl(x.n, 1)
							x.n.SetBit(x.n, 0, 1)
							x.exp--
						}
						v = g.near(src, x.code(src, RN, true))
					}
					x := toReal(src, v)
					if x.nan {
						continue
					}
					if got, want := Cvt(dst, src, r, 0, v), x.code(dst, r, false); got != want {
						t.Fatalf("cvt %d<-%d mode %d %#x = %#x, want %#x", dst, src, r, v, got, want)
					}
				}
			}
		}
	}
}

func TestCvtRoundsToIntegralFloat(t *testing.T) {
	g := newSource(6)
	for _, typ := range floats {
		for r := RNI; r <= RPI; r++ {
			for range 2000 {
				v := g.float(typ)
				if g.IntN(2) == 0 {
					v = g.nearInteger(typ, S16)
				}
				x := toReal(typ, v)
				if x.nan {
					continue
				}
				want := v
				if !x.inf {
					want = real{neg: x.neg, n: x.roundReal(0, r), d: x.d}.code(typ, RN, false)
				}
				if got := Cvt(typ, typ, r, 0, v); got != want {
					t.Fatalf("cvt type %d mode %d %#x = %#x, want %#x", typ, r, v, got, want)
				}
			}
		}
	}
}

func TestCvtIntToIntExhaustive16(t *testing.T) {
	for _, src := range integers {
		for _, dst := range integers {
			for i := range 1 << 16 {
				v := extend(src, uint64(int64(int16(i))))
				if src.Bits() > 16 {
					v = extend(src, bits.RotateLeft64(v, i&63))
				}
				if got, want := Cvt(dst, src, RN, Sat, v), integerReal(src, v).integer(dst, RZ); got != want {
					t.Fatalf("cvt.sat %d<-%d %#x = %#x, want %#x", dst, src, v, got, want)
				}
				mask := uint64(math.MaxUint64) >> (64 - dst.Bits())
				if got := Cvt(dst, src, RN, 0, v); (got^v)&mask != 0 || got != extend(dst, got) {
					t.Fatalf("cvt %d<-%d %#x = %#x", dst, src, v, got)
				}
			}
		}
	}
}

// Every f16 and bf16 to every smaller format and back, and every f32 that
// borders one of their values or ties.
func TestSmallFormatsExhaustive(t *testing.T) {
	for _, src := range []Type{F16, BF16} {
		for v := range uint64(1 << 16) {
			x := toReal(src, v)
			for _, dst := range []Type{E4M3, E5M2, E2M3, E3M2, E2M1, F32, F64} {
				wide := dst == F32 || dst == F64
				if x.nan && wide {
					continue
				}
				if got, want := Cvt(dst, src, RN, SatFinite, v), x.code(dst, RN, !wide); got != want {
					t.Fatalf("cvt %d<-%d %#x = %#x, want %#x", dst, src, v, got, want)
				}
			}
		}
	}
	for dst, s := range shapes {
		if dst == F32 || dst == F64 {
			continue
		}
		for c := range s.max + 1 {
			up := toReal(dst, c)
			up.n, up.exp = shl(up.n, 1), up.exp-1
			up.n.SetBit(up.n, 0, 1) // half a unit up, as mantissas are scaled by units
			base := up.code(F32, RZ, true)
			for d := range uint64(3) {
				v := base + d - 1
				for _, r := range []Rounding{RN, RZ, RM, RP, RNA} {
					for _, sign := range []uint64{0, 1 << 31} {
						want := toReal(F32, v|sign).code(dst, r, true)
						if got := Cvt(dst, F32, r, SatFinite, v|sign); got != want {
							t.Fatalf("cvt %d<-f32 mode %d %#x = %#x, want %#x", dst, r, v|sign, got, want)
						}
					}
				}
				want := toReal(F32, v).code(dst, RN, false)
				if dst == F16 && uint64(F32ToF16(uint32(v))) != want || dst == BF16 && uint64(F32ToBF16(uint32(v))) != want {
					t.Fatalf("short path %d %#x", dst, v)
				}
			}
		}
		for c := range uint64(1) << (s.man + s.exp + 1) {
			x := toReal(dst, c)
			got := Decode(dst, uint32(c))
			if x.nan != (got != got) || !x.nan && math.Float64bits(got) != x.code(F64, RN, false) {
				t.Fatalf("decode %d %#x = %g", dst, c, got)
			}
			if x.nan {
				continue
			}
			if back := Encode(dst, RZ, 0, got); uint64(back) != c {
				t.Fatalf("type %d: %#x comes back as %#x", dst, c, back)
			}
		}
	}
}

func TestF16ToF32Exhaustive(t *testing.T) {
	for v := range uint64(1 << 16) {
		want := toReal(F16, v).code(F32, RN, false)
		if got := uint64(F16ToF32(uint16(v))); got != want {
			t.Fatalf("%#x: %#x, want %#x", v, got, want)
		}
	}
}

func TestTF32(t *testing.T) {
	g := newSource(8)
	for range 50000 {
		v := g.float(F32)
		x := toReal(F32, v)
		if x.nan {
			continue
		}
		for _, r := range []Rounding{RN, RZ, RNA} {
			q := max(int(v>>23&0xff), 1) - 127 - 10
			want := v
			if !x.inf {
				m := x.roundReal(q, r)
				want = real{neg: x.neg, n: m, d: x.d, exp: q}.code(F32, RZ, false)
				if m.BitLen()+q > 128 {
					want = v&(1<<31) | inf32
				}
			}
			if got := Cvt(TF32, F32, r, 0, v); got != want {
				t.Fatalf("tf32 mode %d %#x = %#x, want %#x", r, v, got, want)
			}
		}
	}
}

func TestCvtSpecialValues(t *testing.T) {
	const nan = uint64(NaN32)
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"s32 from nan", Cvt(S32, F32, RZI, 0, nan), 0},
		{"u8 from f16 nan", Cvt(U8, F16, RZI, 0, 0x7e00), 0},
		{"s64 from f32 nan", Cvt(S64, F32, RZI, 0, nan), 1 << 63},
		{"u64 from bf16 nan", Cvt(U64, BF16, RZI, 0, 0x7fc0), 1 << 63},
		{"s32 from f64 nan", Cvt(S32, F64, RZI, 0, NaN64), 0xffffffff80000000},
		{"u32 from f64 nan", Cvt(U32, F64, RZI, 0, NaN64), 1 << 31},
		{"u16 from f64 nan", Cvt(U16, F64, RZI, 0, NaN64), 1 << 15},
		{"s32 ftz", Cvt(S32, F32, RPI, FTZ, 1), 0},
		{"s32 no ftz", Cvt(S32, F32, RPI, 0, 1), 1},
		{"s8 from inf", Cvt(S8, F32, RNI, 0, ninf32), ^uint64(127)},
		{"f32 sat nan", Cvt(F32, F32, RN, Sat, nan), 0},
		{"f32 sat 2", Cvt(F32, F64, RN, Sat, math.Float64bits(2)), one32},
		{"f64 sat -1", Cvt(F64, F32, RN, Sat, 0xbf800000), 0},
		{"f16 sat s32", Cvt(F16, S32, RN, Sat, 7), 0x3c00},
		{"f32 ftz from f64", Cvt(F32, F64, RN, FTZ, math.Float64bits(-0x1p-127)), neg32},
		{"f16 keeps its subnormals", Cvt(F16, F32, RN, FTZ, uint64(math.Float32bits(0x1p-20))), 0x0010},
		{"f16 from f32 subnormal, up", Cvt(F16, F32, RP, 0, 1), 1},
		{"f16 from f32 subnormal, ftz", Cvt(F16, F32, RP, FTZ, 1), 1},
		{"rni -0.3", Cvt(F32, F32, RNI, 0, uint64(math.Float32bits(-0.3))), neg32},
		{"f16 relu", Cvt(F16, F32, RN, Relu, 0xbf800000), 0},
		{"f16 relu -0", Cvt(F16, F32, RN, Relu, neg32), 0},
		{"f16 relu nan", Cvt(F16, F32, RZ, Relu, 0xffc00000), uint64(NaN16)},
		{"f16 satfinite inf", Cvt(F16, F32, RN, SatFinite, ninf32), 0xfbff},
		{"f16 satfinite nan", Cvt(F16, F32, RN, SatFinite, nan), uint64(NaN16)},
		{"tf32 nan, rna", Cvt(TF32, F32, RNA, 0, 0xffc0d001), 0xffc0c000},
		{"tf32 nan", Cvt(TF32, F32, RN, 0, 0xffc00001), 0x7fffe000},
		{"tf32 satfinite", Cvt(TF32, F32, RNA, SatFinite, 0x7f7fffff), 0x7f7fe000},
		{"f64 from f32 nan", Cvt(F64, F32, RN, 0, 0xffc00001), 0xfff8000020000000},
		{"f32 from f64 nan", Cvt(F32, F64, RN, 0, NaN64), 0xffc00000},
		{"f32 from bf16 nan", Cvt(F32, BF16, RN, 0, 0xffc1), 0xffc10000},
		{"f32 from f16 nan", Cvt(F32, F16, RN, 0, 0xfe01), nan},
		{"high source bits ignored", Cvt(S32, S8, RN, 0, 0xffffff85), 0xffffffffffffff85},
		{"ue8m0", Cvt(UE8M0, F32, RP, SatFinite, uint64(math.Float32bits(3))), 129},
		{"ue8m0 rz", Cvt(UE8M0, F32, RZ, SatFinite, uint64(math.Float32bits(3))), 128},
		{"ue8m0 overflow", Cvt(UE8M0, F32, RP, SatFinite, 0x7f7fffff), 254},
		{"ue8m0 back", Cvt(BF16, UE8M0, RN, 0, 0), 0x0040},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
}

func TestPackedConversions(t *testing.T) {
	one, two := uint32(one32), uint32(0xc0000000) // 1 and -2
	for _, c := range []struct {
		what      string
		got, want uint32
	}{
		{"f16x2", CvtPack2(F16, RN, 0, one, two), 0x3c00c000},
		{"f16x2 relu", CvtPack2(F16, RN, Relu, one, two), 0x3c000000},
		{"bf16x2 rz", CvtPack2(BF16, RZ, 0, one, two), 0x3f80c000},
		{"e4m3x2", CvtPack2(E4M3, RN, SatFinite, one, two), 0x38c0},
		{"e5m2x2", CvtPack2(E5M2, RN, SatFinite, one, two), 0x3cc0},
		{"e4m3x2 extremes", CvtPack2(E4M3, RN, SatFinite, NaN32, ninf32), 0x7ffe},
		{"e2m1x2", CvtPack2(E2M1, RN, SatFinite, one, two), 0x2c},
		{"e4m3x2 from f16x2", CvtPack2Half(E4M3, F16, RN, SatFinite|Relu, 0x3c00c000), 0x3800},
		{"e4m3x2 to f16x2", CvtUnpack2(F16, E4M3, 0, 0x38c0), 0x3c00c000},
		{"e4m3x2 to f16x2 relu", CvtUnpack2(F16, E4M3, Relu, 0x38c0), 0x3c000000},
		{"e5m2x2 to f16x2", CvtUnpack2(F16, E5M2, 0, 0x7cff), 0x7c007fff},
		{"e2m1x2 to f16x2", CvtUnpack2(F16, E2M1, 0, 0x2c), 0x3c00c000},
		{"cvt.pack s16", CvtPackSat(16, true, 40000, 0xffffffff, 9), 0x7fffffff},
		{"cvt.pack u16", CvtPackSat(16, false, 0xffffffff, 70000, 9), 0x0000ffff},
		{"cvt.pack u8", CvtPackSat(8, false, 300, 5, 0xabcd1234), 0x1234ff05},
		{"cvt.pack s4", CvtPackSat(4, true, 0xfffffff0, 7, 0x00000001), 0x187},
		{"cvt.pack u2", CvtPackSat(2, false, 9, 1, 0xf), 0xfd},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
}
