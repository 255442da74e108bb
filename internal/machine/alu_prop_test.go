package machine

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"muster/internal/num"
)

// edge32 are f32 and integer patterns that special cases hang on.
var edge32 = []uint32{
	0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
	0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc00001, 0x33800000, 0x4b000000, 0x4b7fffff,
	0xcf000000, 0x4f000000, 0x4effffff, 0x5f000000, 31, 32, 33, 255, 256, 0x8000, 0xffff,
}

func pick32(r *rand.Rand) uint32 {
	switch r.IntN(3) {
	case 0:
		return edge32[r.IntN(len(edge32))]
	case 1:
		return edge32[r.IntN(len(edge32))] + uint32(r.IntN(5)) - 2
	}
	return r.Uint32()
}

func pick64(r *rand.Rand) uint64 {
	if r.IntN(3) == 0 {
		return uint64(int64(int32(pick32(r))))
	}
	return uint64(pick32(r))<<32 | uint64(pick32(r))
}

// fill gives every lane of the named registers a value and returns them.
func (s *snippet) fill(r *rand.Rand, names ...string) map[string][32]uint64 {
	vals := map[string][32]uint64{}
	for _, n := range names {
		var row [32]uint64
		for l := range row {
			switch n[0] {
			case 'd', 'g':
				row[l] = pick64(r)
			case 'h':
				row[l] = uint64(uint16(pick32(r) >> (16 * r.IntN(2))))
			case 'p':
				row[l] = r.Uint64() & 1
			default:
				row[l] = uint64(pick32(r))
			}
			s.set(n, l, row[l])
		}
		vals[n] = row
	}
	return vals
}

const propRounds = 60

// property runs code on random values and compares lane by lane with want,
// which gets the lane's values of in and returns those of out.
func property(t *testing.T, code string, in, out []string, want func(v []uint64) []uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(code))))
	s := newSnippet(t, code)
	for range propRounds {
		vals := s.fill(r, in...)
		if name := s.run(allLanes); name != "" {
			t.Fatalf("%s: %s is not modelled", code, name)
		}
		for l := range 32 {
			v := make([]uint64, len(in))
			for i, n := range in {
				v[i] = vals[n][l]
			}
			for i, w := range want(v) {
				if got := s.get(out[i], l); got != w {
					t.Fatalf("%s of %x: %s = %x, want %x", code, v, out[i], got, w)
				}
			}
		}
	}
}

func bigU(v uint64) *big.Int { return new(big.Int).SetUint64(v) }

// bigS is the signed value of the low n bits.
func bigS(v uint64, n uint) *big.Int { return big.NewInt(int64(v<<(64-n)) >> (64 - n)) }

// low is the low n bits of x from bit at on, in two's complement.
func low(x *big.Int, at, n uint) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), n)
	return new(big.Int).Mod(new(big.Int).Rsh(x, at), m).Uint64()
}

func TestProductsAgainstIntegers(t *testing.T) {
	for _, c := range []struct {
		typ    string
		reg    string
		wide   string
		n      uint
		signed bool
	}{
		{"u16", "h", "r", 16, false}, {"s16", "h", "r", 16, true},
		{"u32", "r", "d", 32, false}, {"s32", "r", "d", 32, true},
		{"u64", "d", "", 64, false}, {"s64", "d", "", 64, true},
	} {
		value := func(v uint64) *big.Int {
			if c.signed {
				return bigS(v, c.n)
			}
			return bigU(v)
		}
		a, b, e, d := c.reg+"1", c.reg+"2", c.reg+"3", c.reg+"0"
		for mode, at := range map[string]uint{"lo": 0, "hi": c.n} {
			property(t, fmt.Sprintf("mul.%s.%s %%%s, %%%s, %%%s;", mode, c.typ, d, a, b), []string{a, b}, []string{d}, func(v []uint64) []uint64 {
				return []uint64{low(new(big.Int).Mul(value(v[0]), value(v[1])), at, c.n)}
			})
			property(t, fmt.Sprintf("mad.%s.%s %%%s, %%%s, %%%s, %%%s;", mode, c.typ, d, a, b, e), []string{a, b, e}, []string{d}, func(v []uint64) []uint64 {
				p := bigU(low(new(big.Int).Mul(value(v[0]), value(v[1])), at, c.n))
				return []uint64{low(p.Add(p, bigU(v[2])), 0, c.n)}
			})
		}
		if c.wide == "" {
			continue
		}
		w, z := c.wide+"4", c.wide+"5"
		property(t, fmt.Sprintf("mul.wide.%s %%%s, %%%s, %%%s;", c.typ, w, a, b), []string{a, b}, []string{w}, func(v []uint64) []uint64 {
			return []uint64{low(new(big.Int).Mul(value(v[0]), value(v[1])), 0, 2*c.n)}
		})
		property(t, fmt.Sprintf("mad.wide.%s %%%s, %%%s, %%%s, %%%s;", c.typ, w, a, b, z), []string{a, b, z}, []string{w}, func(v []uint64) []uint64 {
			p := new(big.Int).Mul(value(v[0]), value(v[1]))
			return []uint64{low(p.Add(p, bigU(v[2])), 0, 2*c.n)}
		})
	}
}

// Chains of carries make long integers.
func TestCarryChains(t *testing.T) {
	join := func(words ...uint64) *big.Int {
		x := new(big.Int)
		for i, w := range words {
			x.Or(x, new(big.Int).Lsh(bigU(w), uint(32*i)))
		}
		return x
	}
	property(t, "add.cc.u32 %r0, %r3, %r5; addc.cc.u32 %r1, %r4, %r6; addc.u32 %r2, 0, 0;",
		[]string{"r3", "r4", "r5", "r6"}, []string{"r0", "r1", "r2"}, func(v []uint64) []uint64 {
			x := new(big.Int).Add(join(v[0], v[1]), join(v[2], v[3]))
			return []uint64{low(x, 0, 32), low(x, 32, 32), low(x, 64, 32)}
		})
	property(t, "sub.cc.u32 %r0, %r3, %r5; subc.u32 %r1, %r4, %r6;",
		[]string{"r3", "r4", "r5", "r6"}, []string{"r0", "r1"}, func(v []uint64) []uint64 {
			x := new(big.Int).Sub(join(v[0], v[1]), join(v[2], v[3]))
			return []uint64{low(x, 0, 32), low(x, 32, 32)}
		})
	property(t, "mad.lo.cc.u32 %r0, %r3, %r4, %r5; madc.hi.cc.u32 %r1, %r3, %r4, %r6; addc.u32 %r2, 0, 0;",
		[]string{"r3", "r4", "r5", "r6"}, []string{"r0", "r1", "r2"}, func(v []uint64) []uint64 {
			x := new(big.Int).Mul(bigU(v[0]), bigU(v[1]))
			x.Add(x, join(v[2], v[3]))
			return []uint64{low(x, 0, 32), low(x, 32, 32), low(x, 64, 32)}
		})
	property(t, "add.cc.u64 %d0, %d2, %d4; addc.cc.u64 %d1, %d3, %d5; addc.u32 %r0, 0, 0;",
		[]string{"d2", "d3", "d4", "d5"}, []string{"d0", "d1", "r0"}, func(v []uint64) []uint64 {
			lo, c := bits.Add64(v[0], v[2], 0)
			hi, c := bits.Add64(v[1], v[3], c)
			return []uint64{lo, hi, c}
		})
}

// The row functions are written for speed; the lane functions of num are the
// reference.
func TestRowsAgainstNum(t *testing.T) {
	two := func(f func(a, b uint32) uint32) func(v []uint64) []uint64 {
		return func(v []uint64) []uint64 { return []uint64{uint64(f(uint32(v[0]), uint32(v[1])))} }
	}
	f12, f0 := []string{"f1", "f2"}, []string{"f0"}
	property(t, "add.f32 %f0, %f1, %f2;", f12, f0, two(func(a, b uint32) uint32 { return num.AddF32(num.RN, 0, a, b) }))
	property(t, "sub.f32 %f0, %f1, %f2;", f12, f0, two(func(a, b uint32) uint32 { return num.SubF32(num.RN, 0, a, b) }))
	property(t, "mul.f32 %f0, %f1, %f2;", f12, f0, two(func(a, b uint32) uint32 { return num.MulF32(num.RN, 0, a, b) }))
	property(t, "min.f32 %f0, %f1, %f2;", f12, f0, two(func(a, b uint32) uint32 { return num.MinF32(0, a, b) }))
	property(t, "max.f32 %f0, %f1, %f2;", f12, f0, two(func(a, b uint32) uint32 { return num.MaxF32(0, a, b) }))
	property(t, "fma.rn.f32 %f0, %f1, %f2, %f3;", []string{"f1", "f2", "f3"}, f0, func(v []uint64) []uint64 {
		return []uint64{uint64(num.FmaRN(uint32(v[0]), uint32(v[1]), uint32(v[2])))}
	})
	property(t, "cvt.rzi.s32.f32 %r0, %f1;", f12, []string{"r0"}, func(v []uint64) []uint64 {
		return []uint64{num.Cvt(num.S32, num.F32, num.RZI, 0, v[0]) & 0xffffffff}
	})
	property(t, "cvt.rn.f32.s32 %f0, %r1;", []string{"r1"}, f0, func(v []uint64) []uint64 {
		return []uint64{num.Cvt(num.F32, num.S32, num.RN, 0, v[0])}
	})
	property(t, "cvt.rn.f32.u32 %f0, %r1;", []string{"r1"}, f0, func(v []uint64) []uint64 {
		return []uint64{num.Cvt(num.F32, num.U32, num.RN, 0, v[0])}
	})
	property(t, "shf.l.wrap.b32 %r0, %r1, %r2, %r3; shf.r.wrap.b32 %r4, %r1, %r2, %r3;", []string{"r1", "r2", "r3"}, []string{"r0", "r4"}, func(v []uint64) []uint64 {
		a, b, n := uint32(v[0]), uint32(v[1]), uint32(v[2])
		return []uint64{uint64(num.ShfL(true, a, b, n)), uint64(num.ShfR(true, a, b, n))}
	})
	property(t, "bfe.u32 %r0, %r1, %r2, %r3;", []string{"r1", "r2", "r3"}, []string{"r0"}, func(v []uint64) []uint64 {
		return []uint64{low(new(big.Int).Rsh(bigU(v[0]), uint(v[1]&0xff)), 0, min(uint(v[2]&0xff), 64))}
	})
	for n := range 34 {
		code := fmt.Sprintf("shl.b32 %%r0, %%r1, %d; shr.u32 %%r2, %%r1, %d; shr.s32 %%r3, %%r1, %d;", n, n, n)
		property(t, code, []string{"r1"}, []string{"r0", "r2", "r3"}, func(v []uint64) []uint64 {
			a, k := uint32(v[0]), uint32(n)
			return []uint64{uint64(a << k), uint64(a >> k), uint64(uint32(int32(a) >> k))}
		})
	}
	for _, n := range []uint32{0, 1, 31, 32, 33, 62, 63, 64} {
		code := fmt.Sprintf("shl.b64 %%d0, %%d1, %d; shr.u64 %%d2, %%d1, %d; shr.s64 %%d3, %%d1, %d;", n, n, n)
		property(t, code, []string{"d1"}, []string{"d0", "d2", "d3"}, func(v []uint64) []uint64 {
			return []uint64{v[0] << n, v[0] >> n, uint64(int64(v[0]) >> n)}
		})
	}
}

// Every table of lop3, bit by bit, and literal selectors of prmt.
func TestLop3AndPrmtTables(t *testing.T) {
	for lut := range 256 {
		property(t, fmt.Sprintf("lop3.b32 %%r0, %%r1, %%r2, %%r3, %d;", lut), []string{"r1", "r2", "r3"}, []string{"r0"}, func(v []uint64) []uint64 {
			var d uint64
			for i := range 32 {
				d |= uint64(lut) >> (v[0]>>i&1<<2 | v[1]>>i&1<<1 | v[2]>>i&1) & 1 << i
			}
			return []uint64{d}
		})
	}
	for _, sel := range []uint32{0x3210, 0x7654, 0x5410, 0x7632, 0x0123, 0x6420, 0x4444, 0x8f08, 0xba98} {
		property(t, fmt.Sprintf("prmt.b32 %%r0, %%r1, %%r2, %d;", sel), []string{"r1", "r2"}, []string{"r0"}, func(v []uint64) []uint64 {
			var d uint64
			for i := range 4 {
				c := sel >> (4 * i) & 0xf
				b := (v[1]<<32 | v[0]) >> (8 * (c & 7)) & 0xff
				if c&8 != 0 {
					b = b >> 7 * 0xff
				}
				d |= b << (8 * i)
			}
			return []uint64{d}
		})
	}
}

func TestComparisonsAgainstValues(t *testing.T) {
	ints := map[string]func(int) bool{
		"eq": func(c int) bool { return c == 0 }, "ne": func(c int) bool { return c != 0 },
		"lt": func(c int) bool { return c < 0 }, "le": func(c int) bool { return c <= 0 },
		"gt": func(c int) bool { return c > 0 }, "ge": func(c int) bool { return c >= 0 },
	}
	for _, c := range []struct {
		typ, reg string
		n        uint
		signed   bool
	}{
		{"u16", "h", 16, false}, {"s16", "h", 16, true}, {"u32", "r", 32, false},
		{"s32", "r", 32, true}, {"u64", "d", 64, false}, {"s64", "d", 64, true},
	} {
		for op, holds := range ints {
			code := fmt.Sprintf("setp.%s.%s %%p0|%%p1, %%%s1, %%%s2;", op, c.typ, c.reg, c.reg)
			property(t, code, []string{c.reg + "1", c.reg + "2"}, []string{"p0", "p1"}, func(v []uint64) []uint64 {
				a, b := bigU(v[0]), bigU(v[1])
				if c.signed {
					a, b = bigS(v[0], c.n), bigS(v[1], c.n)
				}
				p := holds(a.Cmp(b))
				return []uint64{uint64(bit(p)), uint64(bit(!p))}
			})
		}
	}
	for op, cmp := range cmpNames {
		property(t, fmt.Sprintf("setp.%s.f32 %%p0, %%f1, %%f2;", op), []string{"f1", "f2"}, []string{"p0"}, func(v []uint64) []uint64 {
			return []uint64{uint64(bit(cmp.F32(0, uint32(v[0]), uint32(v[1]))))}
		})
		property(t, fmt.Sprintf("setp.%s.f64 %%p0, %%g1, %%g2;", op), []string{"g1", "g2"}, []string{"p0"}, func(v []uint64) []uint64 {
			return []uint64{uint64(bit(cmp.F64(v[0], v[1])))}
		})
	}
}

// Integer conversions of every pair of types in every width of register.
func TestIntegerConversions(t *testing.T) {
	widths := map[string]uint{"h": 16, "r": 32, "d": 64}
	for _, at := range []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"} {
		for _, dt := range []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"} {
			for ar, aw := range widths {
				for dr, dw := range widths {
					var an, dn uint
					fmt.Sscan(at[1:], &an)
					fmt.Sscan(dt[1:], &dn)
					if an > aw || dn > dw {
						continue
					}
					code := fmt.Sprintf("cvt.%s.%s %%%s0, %%%s1;", dt, at, dr, ar)
					property(t, code, []string{ar + "1"}, []string{dr + "0"}, func(v []uint64) []uint64 {
						x := bigU(v[0] << (64 - an) >> (64 - an))
						if at[0] == 's' {
							x = bigS(v[0], an)
						}
						y := bigU(low(x, 0, dn))
						if dt[0] == 's' {
							y = bigS(y.Uint64(), dn)
						}
						return []uint64{low(y, 0, dw)}
					})
				}
			}
		}
	}
}

// Executing must not allocate: a run executes billions.
func TestExecutionDoesNotAllocate(t *testing.T) {
	for _, code := range []string{
		"add.s32 %r0, %r1, %r2;", "mad.wide.u32 %d0, %r1, %r2, %d3;", "div.s32 %r0, %r1, %r2;",
		"bfi.b64 %d0, %d1, %d2, 3, 4;", "add.cc.u64 %d0, %d1, %d2;", "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 7, %p1;",
		"setp.lt.and.f64 %p0|%p1, %g1, %g2, %p3;", "set.lt.f16x2.f16x2 %r0, %r1, %r2;", "selp.b64 %d0, %d1, %d2, %p0;",
		"fma.rm.ftz.f32 %f0, %f1, %f2, %f3;", "fma.rp.f64 %g0, %g1, %g2, %g3;", "fma.rn.relu.f16x2 %r0, %r1, %r2, %r3;",
		"tanh.approx.bf16x2 %r0, %r1;", "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;", "cvt.rp.f32.s64 %f0, %d1;",
		"mov.b128 {%r0, %r1, %r2, %r3}, %q0;", "mov.b64 %d0, {%h0, %h1, %h2, %h3};", "vmad.s32.s32.s32.sat %r0, %r1.h1, %r2, %r3;",
		"mov.u32 %r0, %tid.x;", "mov.u64 %d0, %clock64;",
	} {
		s := newSnippet(t, code)
		s.fill(rand.New(rand.NewPCG(1, 2)), "r1", "r2", "r3", "d1", "d2", "d3", "f1", "f2", "f3", "g1", "g2", "g3", "p1")
		in := &s.prog.code[0]
		for _, mask := range testMasks {
			if n := testing.AllocsPerRun(10, func() { in.exec(s.x, in, mask) }); n != 0 {
				t.Errorf("%s allocates %v times under mask %08x", code, n, mask)
				break
			}
		}
	}
}
