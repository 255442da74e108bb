package kernel_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"muster"
	"muster/kernel"
)

// checked builds and calls a kernel, requires a proof, runs it and takes its
// results.
func checked(t *testing.T, k *kernel.Kernel, grid [3]int, args ...any) {
	t.Helper()
	call, err := k.Call(grid, args...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "clean" {
		t.Errorf("%s", r.Summary)
		for _, f := range r.Findings {
			t.Errorf("%+v", f)
		}
	}
	run, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Take(run.Buffer); err != nil {
		t.Fatal(err)
	}
}

// product is a kernel that multiplies a tile of A by one of B: the threads of a
// warpgroup copy both from global memory, row by row of the stored tile.
type product struct {
	elem, acc kernel.Type
	m, n, k   int
	swizzle   int
	aT, bT    bool // A is stored K × M, B as K × N
	registers bool // A goes through registers
	opts      []kernel.MmaOption
}

func (p product) kernel() *kernel.Kernel {
	k := kernel.New("product", kernel.Block(128))
	ga, gb := k.GlobalPtr("ga", p.elem), k.GlobalPtr("gb", p.elem)
	gd := k.GlobalPtr("gd", p.acc)
	ar, ac := p.m, p.k
	if p.aT {
		ar, ac = ac, ar
	}
	br, bc := p.n, p.k
	if p.bT {
		br, bc = bc, br
	}
	a, b := k.Tile("a", p.elem, ar, ac, p.swizzle), k.Tile("b", p.elem, br, bc, p.swizzle)
	copyTile(k, a, ga, ar, ac)
	copyTile(k, b, gb, br, bc)
	k.Inst("fence.proxy.async.shared::cta")
	k.Sync()
	if p.aT {
		a = a.T()
	}
	if !p.bT {
		b = b.T()
	}
	acc := k.Accumulator(p.acc, p.m, p.n)
	left := kernel.MatrixA(a)
	if p.registers {
		left = a.Load()
	}
	k.WgmmaFence()
	acc.Mma(left, b, append(p.opts, kernel.Overwrite)...)
	acc.Mma(left, b, p.opts...)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	for i := range acc.Regs() {
		row, col := acc.Place(i)
		if p.acc == kernel.F16 {
			gd.Cast(kernel.F16x2).At(row.Mul(p.n).Add(col).Shr(1)).Store(acc.At(i))
		} else {
			gd.At(row.Mul(p.n).Add(col)).Store(acc.At(i))
		}
	}
	return k
}

// copyTile makes the CTA copy rows × cols elements from global memory.
func copyTile(k *kernel.Kernel, t kernel.Tile, from kernel.Ptr, rows, cols int) {
	k.For(k.TidX(), rows*cols, 128, func(i kernel.Reg) {
		to, from := t.Addr(i.Div(cols), i.Rem(cols)), from.At(i)
		if t.Elem().Size() == 1 {
			to, from = to.Cast(kernel.U8), from.Cast(kernel.U8)
		}
		to.Store(from.Load())
	})
}

// values returns n small numbers whose products and sums are exact, as elements
// of a type and as float64.
func values(elem kernel.Type, n, seed int) (any, []float64) {
	f := make([]float64, n)
	for i := range f {
		f[i] = float64((i*7+seed*5+i/13*3)%9 - 4)
		if elem == kernel.U8 {
			f[i] += 4
		}
	}
	switch elem {
	case kernel.F16, kernel.BF16:
		s := make([]uint16, n)
		for i, v := range f {
			if s[i] = kernel.F16Bits(float32(v)); elem == kernel.BF16 {
				s[i] = kernel.BF16Bits(float32(v))
			}
		}
		return s, f
	case kernel.TF32:
		s := make([]float32, n)
		for i, v := range f {
			s[i] = float32(v)
		}
		return s, f
	}
	s := make([]uint8, n)
	for i, v := range f {
		switch elem {
		case kernel.E4M3, kernel.E5M2:
			if s[i] = uint8(kernel.F16Bits(float32(v)) >> 8); elem == kernel.E4M3 && v != 0 {
				_, e := math.Frexp(math.Abs(v))
				s[i] = uint8((e-1+7)<<3) | uint8(math.Abs(v)/math.Ldexp(1, e-1)*8)&7
				if v < 0 {
					s[i] |= 0x80
				}
			}
		default:
			s[i] = uint8(int8(v))
		}
	}
	return s, f
}

func TestWgmma(t *testing.T) {
	f16, f32 := kernel.F16, kernel.F32
	neg := []kernel.MmaOption{kernel.NegateA}
	for _, p := range []product{
		{elem: f16, acc: f32, m: 64, n: 64, k: 64, swizzle: 128},
		{elem: f16, acc: f32, m: 64, n: 32, k: 32, swizzle: 64},
		{elem: f16, acc: f32, m: 64, n: 24, k: 32, swizzle: 32},
		{elem: f16, acc: f32, m: 64, n: 8, k: 32, swizzle: 0},
		{elem: f16, acc: f32, m: 64, n: 64, k: 128, swizzle: 128, opts: neg},
		{elem: f16, acc: f32, m: 128, n: 64, k: 64, swizzle: 128},
		{elem: f16, acc: f32, m: 128, n: 128, k: 32, swizzle: 128, aT: true, bT: true},
		{elem: f16, acc: f32, m: 64, n: 64, k: 32, swizzle: 64, bT: true},
		{elem: f16, acc: f32, m: 64, n: 32, k: 32, swizzle: 32, aT: true},
		{elem: f16, acc: f32, m: 64, n: 16, k: 32, swizzle: 0, aT: true, bT: true},
		{elem: f16, acc: f32, m: 128, n: 16, k: 64, swizzle: 128, registers: true},
		{elem: f16, acc: f16, m: 64, n: 40, k: 64, swizzle: 128},
		{elem: kernel.BF16, acc: f32, m: 64, n: 64, k: 64, swizzle: 128, bT: true},
		{elem: kernel.TF32, acc: f32, m: 64, n: 16, k: 32, swizzle: 128},
		{elem: kernel.TF32, acc: f32, m: 64, n: 16, k: 32, swizzle: 128, registers: true},
		{elem: kernel.E4M3, acc: f32, m: 64, n: 16, k: 128, swizzle: 128},
		{elem: kernel.E5M2, acc: f16, m: 64, n: 16, k: 64, swizzle: 64, registers: true},
		{elem: kernel.S8, acc: kernel.S32, m: 64, n: 16, k: 128, swizzle: 128},
		{elem: kernel.U8, acc: kernel.S32, m: 64, n: 32, k: 32, swizzle: 32, registers: true},
	} {
		t.Run(fmt.Sprintf("%s_%dx%dx%d_s%d_%v%v%v", p.elem, p.m, p.n, p.k, p.swizzle, p.aT, p.bT, p.registers), func(t *testing.T) {
			a, fa := values(p.elem, p.m*p.k, 1)
			b, fb := values(p.elem, p.n*p.k, 2)
			var d any = make([]float32, p.m*p.n)
			switch p.acc {
			case kernel.F16:
				d = make([]uint16, p.m*p.n)
			case kernel.S32:
				d = make([]int32, p.m*p.n)
			}
			checked(t, p.kernel(), kernel.Grid(1), a, b, d)
			for i := range p.m * p.n {
				r, c := i/p.n, i%p.n
				want := 0.0
				for j := range p.k {
					x, y := fa[r*p.k+j%p.k], fb[c*p.k+j]
					if p.aT {
						x = fa[j*p.m+r]
					}
					if p.bT {
						y = fb[j*p.n+c]
					}
					want += 2 * x * y
				}
				if p.opts != nil {
					want = -want
				}
				var got float64
				switch d := d.(type) {
				case []float32:
					got = float64(d[i])
				case []uint16:
					got = float64(kernel.F16Value(d[i]))
				case []int32:
					got = float64(d[i])
				}
				if got != want {
					t.Fatalf("row %d, column %d: %v; want %v", r, c, got, want)
				}
			}
		})
	}
}

// TestPartOfPanel: columns of B from the middle of a panel, by 16, where N is
// along the rows of the tile.
func TestPartOfPanel(t *testing.T) {
	k := kernel.New("part", kernel.Block(128))
	ga, gb, gd := k.GlobalPtr("ga", kernel.F16), k.GlobalPtr("gb", kernel.F16), k.GlobalPtr("gd", kernel.F32)
	a, b := k.Tile("a", kernel.F16, 64, 16, 32), k.Tile("b", kernel.F16, 16, 128, 128)
	copyTile(k, a, ga, 64, 16)
	copyTile(k, b, gb, 16, 128)
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	acc := k.Accumulator(kernel.F32, 64, 32)
	k.WgmmaFence()
	acc.Mma(a, b.Cols(80, 32), kernel.Overwrite)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	for i, r := range acc.Regs() {
		row, col := acc.Place(i)
		gd.At(row.Mad(32, col)).Store(r)
	}
	va, fa := values(kernel.F16, 64*16, 1)
	vb, fb := values(kernel.F16, 16*128, 2)
	d := make([]float32, 64*32)
	checked(t, k, kernel.Grid(1), va, vb, d)
	for i, got := range d {
		want := 0.0
		for j := range 16 {
			want += fa[i/32*16+j] * fb[j*128+80+i%32]
		}
		if float64(got) != want {
			t.Fatalf("row %d, column %d: %v; want %v", i/32, i%32, got, want)
		}
	}
}
