package num

import (
	"math/big"
	"testing"
)

func TestScalarVideo(t *testing.T) {
	for _, c := range []struct {
		what    string
		v       Video
		a, b, c uint32
		want    uint32
	}{
		{"vadd", Video{Op: VAdd, DSigned: true, ASigned: true, BSigned: true, ASel: VB1, BSel: VH1}, 0x8000, 0xffff0000, 0, 0xffffff7f},
		{"vadd u32 sat", Video{Op: VAdd, Sat: true}, 0xffffffff, 2, 0, 1},
		{"vadd u32 sat, negative", Video{Op: VAdd, BSigned: true, Sat: true}, 1, 0xfffffffe, 0, 0},
		{"vadd s8 sat, negative", Video{Op: VAdd, DSigned: true, ASigned: true, Sat: true, DSel: VB1}, 0xffffffff, 0, 2, 0x7f02},
		{"vadd wraps", Video{Op: VAdd}, 0xffffffff, 2, 0, 1},
		{"vsub u32 sat", Video{Op: VSub, Sat: true}, 1, 2, 0, 0},
		{"vsub s32 of unsigned", Video{Op: VSub, DSigned: true, Sat: true}, 0, 0xffffffff, 0, 0x80000000},
		{"vabsdiff merge", Video{Op: VAbsDiff, DSigned: true, ASigned: true, BSigned: true, Sat: true, DSel: VH0, ASel: VB0, BSel: VB2}, 0x80, 0x007f0000, 0xabcd1234, 0xabcd00ff},
		{"vabsdiff merge saturates", Video{Op: VAbsDiff, DSigned: true, ASigned: true, BSigned: true, Sat: true, DSel: VB3, ASel: VB0, BSel: VB2}, 0x80, 0x007f0000, 0xabcd1234, 0x7fcd1234},
		{"merge without sat", Video{Op: VAdd, DSel: VB2}, 0x1ff, 2, 0xaabbccdd, 0xaa01ccdd},
		{"vmin mixed signs", Video{Op: VMin, ASigned: true, DSigned: true}, 0xffffffff, 0xffffffff, 0, 0xffffffff},
		{"vmax add", Video{Op: VMax, ASigned: true, BSigned: true, DSigned: true, Sec: VSecAdd}, 5, 0xfffffff0, 10, 15},
		{"sec min signed", Video{Op: VAdd, ASigned: true, BSigned: true, DSigned: true, Sec: VSecMin}, 1, 1, 0xffffffff, 0xffffffff},
		{"sec max unsigned", Video{Op: VAdd, Sec: VSecMax}, 1, 1, 0xffffffff, 0xffffffff},
		{"vshl clamp", Video{Op: VShl}, 1, 40, 0, 0},
		{"vshl clamp sat", Video{Op: VShl, Sat: true}, 0xfffffffd, 40, 0, 0xffffffff},
		{"vshl clamp sat, past 34 bits", Video{Op: VShl, Sat: true}, 4, 40, 0, 0},
		{"vshl wrap", Video{Op: VShl, Wrap: true}, 1, 40, 0, 256},
		{"vshl sat signed", Video{Op: VShl, ASigned: true, DSigned: true, Sat: true}, 0xc0000000, 2, 0, 0x80000000},
		{"vshr signed", Video{Op: VShr, ASigned: true, DSigned: true}, 0x80000000, 99, 0, 0xffffffff},
		{"vset", Video{Op: VSet, Cmp: LT, ASigned: true, BSigned: true, Sec: VSecAdd}, 0xffffffff, 0, 41, 42},
		{"vset merge", Video{Op: VSet, Cmp: GE, DSel: VH0}, 3, 3, 0xffffffff, 0xffff0001},
		{"merge into h1", Video{Op: VAdd, DSel: VH1}, 0x12345678, 1, 0xffffffff, 0x1234ffff},
		{"sec max, negative as unsigned", Video{Op: VMin, ASigned: true, BSigned: true, BSel: VB1, Sec: VSecMax}, 0, 0x8000, 0xffffffff, 0xffffff80},
	} {
		if got := c.v.Eval(c.a, c.b, c.c); got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, got, c.want)
		}
	}
}

func TestVmadAgainstIntegers(t *testing.T) {
	g := newSource(20)
	for range 50000 {
		a, b, c := g.word(), g.word(), g.word()
		v := Vmad{ASigned: g.IntN(2) == 0, BSigned: g.IntN(2) == 0, Sat: g.IntN(2) == 0, Shift: []uint{0, 7, 15}[g.IntN(3)]}
		switch g.IntN(4) {
		case 0:
			v.PlusOne = true
		case 1:
			v.NegAB = true
		case 2:
			v.NegC = true
		}
		if got, want := v.Eval(a, b, c), refVmad(v, a, b, c); got != want {
			t.Fatalf("%+v %#x %#x %#x = %#x, want %#x", v, a, b, c, got, want)
		}
	}
}

// refVmad takes whole words as signed whatever their type, as the H200 does.
func refVmad(v Vmad, a, b, c uint32) uint32 {
	value := func(x uint32) *big.Int { return big.NewInt(int64(int32(x))) }
	r, addend := new(big.Int).Mul(value(a), value(b)), value(c)
	switch {
	case v.NegAB:
		r.Neg(r)
	case v.NegC:
		addend.Neg(addend)
	case v.PlusOne:
		r.Add(r, big.NewInt(1))
	}
	r.Add(r, addend)
	if v.ASigned || v.BSigned || v.NegAB || v.NegC {
		r.Rsh(r, v.Shift)
		if v.Sat {
			return sat32big(r)
		}
		return uint32(cut(r, 0))
	}
	x := cut(r, 0) >> v.Shift
	if v.Sat {
		return uint32(min(max(int64(x), 0), 1<<32-1))
	}
	return uint32(x)
}

func TestSIMDVideo(t *testing.T) {
	two := func(op VideoOp, f func(*VideoSIMD)) VideoSIMD {
		v := VideoSIMD{Op: op, Lanes: 2, Mask: 3, ASel: 0x10, BSel: 0x32}
		f(&v)
		return v
	}
	four := func(op VideoOp, f func(*VideoSIMD)) VideoSIMD {
		v := VideoSIMD{Op: op, Lanes: 4, Mask: 15, ASel: 0x3210, BSel: 0x7654}
		f(&v)
		return v
	}
	signed := func(v *VideoSIMD) { v.DSigned, v.ASigned, v.BSigned = true, true, true }
	for _, c := range []struct {
		what    string
		v       VideoSIMD
		a, b, c uint32
		want    uint32
	}{
		{"vadd2 sat", two(VAdd, func(v *VideoSIMD) { signed(v); v.Sat = true }), 0x7fff8000, 0x0001ffff, 0, 0x7fff8000},
		{"vadd2 wraps", two(VAdd, func(*VideoSIMD) {}), 0xffff0001, 0x00010002, 0, 0x00000003},
		{"vsub2 mask", two(VSub, func(v *VideoSIMD) { v.Mask = 2 }), 0x00050005, 0x00020001, 0xaaaabbbb, 0x0003bbbb},
		{"vsub2 selectors", two(VSub, func(v *VideoSIMD) { v.ASel, v.BSel = 0x00, 0x22 }), 0x00050009, 0x00020001, 0, 0x00080008},
		{"vadd2 add", two(VAdd, func(v *VideoSIMD) { signed(v); v.Add = true }), 0xffff0001, 0xffff0002, 100, 101},
		{"vavrg2", two(VAvrg, func(v *VideoSIMD) { signed(v) }), 0x0001fffe, 0x0002ffff, 0, 0x0002fffe},
		{"vabsdiff4", four(VAbsDiff, func(*VideoSIMD) {}), 0x00ff1020, 0xff002010, 0, 0xffff1010},
		{"vabsdiff4 add", four(VAbsDiff, func(v *VideoSIMD) { v.Add = true }), 0x00ff1020, 0xff002010, 1, 255 + 255 + 32 + 1},
		{"vmin4 signed", four(VMin, func(v *VideoSIMD) { signed(v) }), 0x80017f00, 0x00ff80ff, 0, 0x80ff80ff},
		{"vmax4 mask", four(VMax, func(v *VideoSIMD) { v.Mask = 9 }), 0x01020304, 0x04030201, 0xaabbccdd, 0x04bbcc04},
		{"vset4", four(VSet, func(v *VideoSIMD) { v.Cmp = LT }), 0x01020304, 0x04030201, 0, 0x01010000},
		{"vset2 add", two(VSet, func(v *VideoSIMD) { v.Cmp, v.Add = NE, true }), 1, 2, 7, 8},
	} {
		if got := c.v.Eval(c.a, c.b, c.c); got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, got, c.want)
		}
	}
}
