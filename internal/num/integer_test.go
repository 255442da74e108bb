package num

import (
	"math/big"
	"testing"
)

// The references here are the ISA's bit-by-bit descriptions.

func (g source) word() uint32 { return uint32(g.wide()) }

func (g source) wide() uint64 {
	switch g.IntN(4) {
	case 0:
		return g.Uint64() >> g.UintN(64)
	case 1:
		return ^(g.Uint64() >> g.UintN(64))
	case 2:
		return 1<<g.UintN(64) - g.Uint64N(3)
	}
	return g.Uint64()
}

// amount draws shift amounts and field bounds, past the width and past 255 too.
func (g source) amount() uint32 {
	if g.IntN(8) == 0 {
		return g.Uint32()
	}
	return g.Uint32N(80)
}

func refBfe(a uint64, pos, n uint32, msb int, signed bool) uint64 {
	p, length := field64(pos, n, msb)
	var sbit, d uint64
	if signed && length != 0 {
		sbit = a >> min(p+length-1, msb) & 1
	}
	for i := 0; i <= msb; i++ {
		bit := sbit
		if i < length && p+i <= msb {
			bit = a >> (p + i) & 1
		}
		d |= bit << i
	}
	return d
}

// field64: the 64-bit forms do not count modulo 256, on the H200.
func field64(pos, n uint32, msb int) (int, int) {
	if msb == 31 {
		pos, n = pos&0xff, n&0xff
	}
	return int(min(pos, 1000)), int(min(n, 1000))
}

func refBfi(a, b uint64, pos, n uint32, msb int) uint64 {
	p, length := field64(pos, n, msb)
	for i := 0; i < length && p+i <= msb; i++ {
		b = b&^(1<<(p+i)) | a>>i&1<<(p+i)
	}
	return b
}

func refFns(mask, base uint32, offset int32) uint32 {
	if offset == 0 {
		if mask>>base&1 == 1 {
			return base
		}
		return 0xffffffff
	}
	count, inc := int64(offset), 1
	if offset < 0 {
		count, inc = -count, -1
	}
	for pos := int(base); pos >= 0 && pos < 32; pos += inc {
		if mask>>pos&1 == 1 {
			if count--; count == 0 {
				return uint32(pos)
			}
		}
	}
	return 0xffffffff
}

func refBmsk(wrap bool, a, b uint32) uint32 {
	var d uint32
	if wrap {
		a, b = a&31, b&31
	}
	for i := uint64(0); i < 32; i++ {
		if i >= uint64(a) && i < uint64(a)+uint64(b) {
			d |= 1 << i
		}
	}
	return d
}

func refSzext(wrap, signed bool, a, b uint32) uint32 {
	b1, large := b&31, b >= 32 && !wrap
	mask := ^uint32(0) << b1
	if large {
		mask = 0
	}
	d := a &^ mask
	if signed && !large && b1 != 0 && a>>(b1-1)&1 == 1 {
		d |= mask
	}
	return d
}

func TestBitFields(t *testing.T) {
	g := newSource(10)
	for range 100000 {
		a, b, p, n := g.wide(), g.wide(), g.amount(), g.amount()
		x, y := uint32(a), uint32(b)
		base, off := p&31, int32(n)%40-int32(p>>3)
		for i, ok := range []bool{
			uint64(BfeU32(x, p, n)) == refBfe(uint64(x), p, n, 31, false),
			uint64(BfeS32(x, p, n)) == refBfe(uint64(x), p, n, 31, true),
			BfeU64(a, p, n) == refBfe(a, p, n, 63, false),
			BfeS64(a, p, n) == refBfe(a, p, n, 63, true),
			uint64(Bfi32(x, y, p, n)) == refBfi(a, uint64(y), p, n, 31),
			Bfi64(a, b, p, n) == refBfi(a, b, p, n, 63),
			Fns(x, base, off) == refFns(x, base, off),
			Fns(x, base, int32(y)) == refFns(x, base, int32(y)),
			Bmsk(false, p, n) == refBmsk(false, p, n),
			Bmsk(true, p, n) == refBmsk(true, p, n),
			Szext(false, false, x, n) == refSzext(false, false, x, n),
			Szext(false, true, x, n) == refSzext(false, true, x, n),
			Szext(true, false, x, n) == refSzext(true, false, x, n),
			Szext(true, true, x, n) == refSzext(true, true, x, n),
		} {
			if !ok {
				t.Fatalf("case %d: a=%#x b=%#x pos=%d n=%d", i, a, b, p, n)
			}
		}
	}
}

func TestBfind(t *testing.T) {
	for _, c := range []struct {
		got, want uint32
	}{
		{Bfind32(false, false, 0), 0xffffffff}, {Bfind32(false, true, 0), 0xffffffff},
		{Bfind32(true, false, 0xffffffff), 0xffffffff}, {Bfind32(false, false, 0x80000001), 31},
		{Bfind32(true, false, 0x80000001), 30}, {Bfind32(true, true, 0x80000001), 1},
		{Bfind32(false, true, 1), 31}, {Bfind64(false, false, 1<<40), 40},
		{Bfind64(true, true, ^uint64(1)), 63}, {Bfind64(true, false, ^uint64(0)), 0xffffffff},
		{Clz32(0), 32}, {Clz64(1), 63}, {Popc32(0xf0f0), 8}, {Popc64(1<<63 | 1), 2},
		{Brev32(1), 1 << 31}, {uint32(Brev64(1) >> 32), 1 << 31}, {Cnot32(0), 1}, {Cnot32(5), 0},
	} {
		if c.got != c.want {
			t.Errorf("%#x, want %#x", c.got, c.want)
		}
	}
}

func TestLop3EveryTable(t *testing.T) {
	const a, b, c = 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa
	g := newSource(11)
	for lut := range 256 {
		if got := Lop3(uint8(lut), a, b, c); got != uint32(lut)*0x01010101 {
			t.Fatalf("lut %#x = %#x", lut, got)
		}
		x, y, z := g.word(), g.word(), g.word()
		var want uint32
		for i := range 32 {
			want |= uint32(lut) >> (x>>i&1<<2 | y>>i&1<<1 | z>>i&1) & 1 << i
		}
		if got := Lop3(uint8(lut), x, y, z); got != want {
			t.Fatalf("lut %#x of %#x %#x %#x = %#x, want %#x", lut, x, y, z, got, want)
		}
	}
}

func TestPrmt(t *testing.T) {
	const a, b = 0x83828180, 0x07060504
	for _, c := range []struct {
		mode    PrmtMode
		c, want uint32
	}{
		{PrmtIndex, 0x3210, a}, {PrmtIndex, 0xffff7654, b}, {PrmtIndex, 0xc8f0, 0x00ff0080},
		{PrmtF4E, 1, 0x04838281}, {PrmtF4E, 7, 0x06050483}, {PrmtB4E, 0, 0x05060780}, {PrmtB4E, 2, 0x07808182},
		{PrmtRC8, 2, 0x82828282}, {PrmtECL, 1, 0x83828181}, {PrmtECL, 2, 0x83828282},
		{PrmtECR, 1, 0x81818180}, {PrmtECR, 2, 0x82828180}, {PrmtRC16, 1, 0x83828382}, {PrmtRC16, 2, 0x81808180},
	} {
		if got := Prmt(c.mode, a, b, c.c); got != c.want {
			t.Errorf("mode %d %#x = %#x, want %#x", c.mode, c.c, got, c.want)
		}
	}
}

func TestShifts(t *testing.T) {
	g := newSource(12)
	for range 50000 {
		a, b, n := g.word(), g.word(), g.amount()
		w := uint64(b)<<32 | uint64(a)
		k := min(n, 32)
		for i, ok := range []bool{
			ShfL(false, a, b, n) == uint32(w<<k>>32), ShfL(true, a, b, n) == uint32(w<<(n&31)>>32),
			ShfR(false, a, b, n) == uint32(w>>k), ShfR(true, a, b, n) == uint32(w>>(n&31)),
			ShrS16(uint16(a), n) == uint16(int64(int16(a))>>min(n, 16)),
		} {
			if !ok {
				t.Fatalf("case %d: %#x %#x %d", i, a, b, n)
			}
		}
	}
}

func bigS(a uint64) *big.Int { return big.NewInt(int64(a)) }
func bigU(a uint64) *big.Int { return new(big.Int).SetUint64(a) }

// cut is bits at and up of x in two's complement.
func cut(x *big.Int, at uint) uint64 {
	x = new(big.Int).Rsh(x, at)
	return x.And(x, bigU(^uint64(0))).Uint64()
}

func sat32big(x *big.Int) uint32 {
	switch {
	case x.Cmp(big.NewInt(1<<31-1)) > 0:
		return 1<<31 - 1
	case x.Cmp(big.NewInt(-1<<31)) < 0:
		return 1 << 31
	}
	return uint32(x.Int64())
}

func TestProductsAndCarries(t *testing.T) {
	g := newSource(13)
	mul := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	for range 30000 {
		a, b, c, cf := g.wide(), g.wide(), g.wide(), g.Uint64N(2)
		x, y, z := uint32(a), uint32(b), uint32(c)
		su, ss := mul(bigU(a), bigU(b)), mul(bigS(a), bigS(b))
		hs := uint64(int64(int32(x)) * int64(int32(y)) >> 32)
		want := new(big.Int).Add(bigU(cut(ss, 64)), bigU(c))
		want.Add(want, bigU(cf))
		m64, m64c := MadC64(true, true, a, b, c, cf)
		m32, m32c := MadC32(false, false, x, y, z, uint32(cf))
		low := uint64(x*y) + uint64(z) + cf
		d, bo := SubC32(x, y, uint32(cf))
		carry := uint64(x)+uint64(^y)+cf > 1<<32-1
		for i, ok := range []bool{
			MulHiU64(a, b) == cut(su, 64), MulHiS64(a, b) == cut(ss, 64),
			MulHiU32(x, y) == uint32(uint64(x)*uint64(y)>>32), uint64(MulHiS32(x, y)) == hs&0xffffffff,
			MadHiSatS32(x, y, z) == sat32big(big.NewInt(int64(hs)+int64(int32(z)))),
			AddSatS32(x, y) == sat32big(big.NewInt(int64(int32(x))+int64(int32(y)))),
			SubSatS32(x, y) == sat32big(big.NewInt(int64(int32(x))-int64(int32(y)))),
			m64 == cut(want, 0) && m64c == cut(want, 64),
			m32 == uint32(low) && uint64(m32c) == low>>32,
			d == x-y-1+uint32(cf) && (bo == 1) == carry,
			MulHiS16(uint16(x), uint16(y)) == uint16(int32(int16(x))*int32(int16(y))>>16),
			SadU32(x, y, z) == z+uint32(new(big.Int).Abs(big.NewInt(int64(x)-int64(y))).Int64()),
			SadS32(x, y, z) == z+uint32(new(big.Int).Abs(big.NewInt(int64(int32(x))-int64(int32(y)))).Int64()),
		} {
			if !ok {
				t.Fatalf("case %d: %#x %#x %#x %d", i, a, b, c, cf)
			}
		}
	}
	if got := Mul24Lo(true, 0xffffff, 3); got != 0xfffffffd {
		t.Errorf("mul24.lo.s32 = %#x", got)
	}
	if got := Mul24Hi(false, 0xffffff, 0xffffff); got != 0xfffffe00 {
		t.Errorf("mul24.hi.u32 = %#x", got)
	}
	if got := Mad24HiSatS32(0x7fffff, 0x7fffff, 0x7fffffff); got != 0x7fffffff {
		t.Errorf("mad24.hi.sat = %#x", got)
	}
}

func TestDivision(t *testing.T) {
	const m32, m64 = 1 << 31, 1 << 63
	for _, c := range []struct{ got, want uint64 }{
		{uint64(DivU32(7, 0)), 0xffffffff}, {uint64(RemU32(7, 0)), 0xffffffff},
		{uint64(DivS32(m32, 0xffffffff)), m32}, {uint64(RemS32(m32, 0xffffffff)), 0},
		{uint64(DivS32(0xfffffff9, 2)), 0xfffffffd}, {uint64(RemS32(0xfffffff9, 2)), 0xffffffff},
		{DivS64(m64, ^uint64(0)), m64}, {RemS64(m64, ^uint64(0)), 0}, {DivU64(1, 0), ^uint64(0)},
		{RemS64(5, 0), ^uint64(0)}, {DivS64(^uint64(6), 2), ^uint64(2)}, {RemU64(17, 5), 2},
		{uint64(DivS16(0x8000, 0xffff)), 0x8000}, {uint64(RemS16(0xfff9, 2)), 0xffff},
		{uint64(DivU16(9, 0)), 0xffff}, {uint64(RemU16(9, 4)), 1},
	} {
		if c.got != c.want {
			t.Errorf("%#x, want %#x", c.got, c.want)
		}
	}
}

func TestDotProducts(t *testing.T) {
	for _, c := range []struct{ got, want uint32 }{
		{Dp4a(false, false, 0xffffffff, 0xffffffff, 1), 4*255*255 + 1},
		{Dp4a(true, false, 0xffffffff, 0xffffffff, 0), uint32(0xffffffff) - 4*255 + 1},
		{Dp4a(false, true, 0x80, 0x80, 0), 0xffffc000},
		{Dp4a(true, true, 0x80808080, 0x80808080, 0), 4 * 16384},
		{Dp4a(true, true, 0x01020304, 0x05060708, 0xffffffff), 69},
		{Dp2a(false, false, false, 0xffffffff, 0x0000ffff, 0), 2 * 255 * 65535},
		{Dp2a(true, true, true, 0x8000ffff, 0x80017fff, 5), 5 - 1 + 32768*128},
		{Dp2a(false, false, true, 0x00030002, 0x0000ff01, 0), 0xffffffff},
	} {
		if c.got != c.want {
			t.Errorf("%#x, want %#x", c.got, c.want)
		}
	}
}

// TestClmad multiplies polynomials coefficient by coefficient.
func TestClmad(t *testing.T) {
	g := newSource(16)
	for range 4000 {
		a, b, c := g.wide(), g.wide(), g.wide()
		var product [128]uint
		for i := range uint(64) {
			for k := range uint(64) {
				product[i+k] ^= uint(a>>i&1) & uint(b>>k&1)
			}
		}
		var lo, hi uint64
		for i := range uint(64) {
			lo |= uint64(product[i]) << i
			hi |= uint64(product[64+i]) << i
		}
		if got := Clmad(false, a, b, c); got != lo^c {
			t.Fatalf("clmad.lo %#x %#x %#x = %#x, want %#x", a, b, c, got, lo^c)
		}
		if got := Clmad(true, a, b, c); got != hi^c {
			t.Fatalf("clmad.hi %#x %#x %#x = %#x, want %#x", a, b, c, got, hi^c)
		}
	}
}
