package kernel_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"muster/kernel"
)

// tensor is a kernel that multiplies a tile of A by one of B into tensor memory,
// twice: the second product adds to the first.
func (p product) tensor() *kernel.Kernel {
	k := kernel.New("product", kernel.Block(128), kernel.Target("sm_100a"))
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
	t := k.TensorMemory("tmem", 512)
	t.Accumulator(kernel.F32, 128, 32) // before it
	d := t.Accumulator(p.acc, p.m, p.n)
	done := k.Mbarrier("done", 1)
	k.SingleWarp(1, func() {
		t.Alloc()
		t.Relinquish()
	})
	copyTile(k, a, ga, ar, ac)
	copyTile(k, b, gb, br, bc)
	k.FenceProxyAsync(kernel.SharedCTA)
	k.InitMbarriers()
	if p.aT {
		a = a.T()
	}
	if !p.bT {
		b = b.T()
	}
	k.SingleWarp(2, func() {
		k.Elect(func() {
			d.Mma(a, b, append(p.opts, kernel.Overwrite)...)
			d.Mma(a, b, p.opts...)
			done.Commit()
		})
	})
	done.WaitParity(0)
	k.TensorFenceAfter()
	holds := k.LaneID().Lt(p.m / 4) // 16 lanes of each warp hold 64 rows
	row := d.Row()
	for i := 0; i < p.n; i += 8 {
		v := d.Load(i, 8)
		k.TensorWaitLoad()
		k.If(holds, func() {
			for j, r := range v {
				if p.acc == kernel.F16 {
					r = r.As(kernel.U32).Cvt(kernel.U16).As(kernel.F16)
				}
				gd.At(row.Mad(p.n, i+j)).Store(r)
			}
		})
	}
	k.TensorFenceBefore()
	k.Sync()
	k.SingleWarp(1, t.Free)
	return k
}

// fractions are values with all bits of their significand, as elements and as float64.
func fractions(elem kernel.Type, n, seed int) (any, []float64) {
	f := make([]float64, n)
	s, w := make([]uint16, n), make([]float32, n)
	for i := range f {
		x := float32(math.Sin(float64(i*37+seed*11))) * float32(1+i%5)
		switch elem {
		case kernel.F16:
			s[i] = kernel.F16Bits(x)
			f[i] = float64(kernel.F16Value(s[i]))
		case kernel.BF16:
			s[i] = kernel.BF16Bits(x)
			f[i] = float64(kernel.BF16Value(s[i]))
		case kernel.TF32:
			w[i] = math.Float32frombits(math.Float32bits(x) &^ 0x1fff)
			f[i] = float64(w[i])
		}
	}
	if elem == kernel.TF32 {
		return w, f
	}
	return s, f
}

// TestTensorProducts holds products in tensor memory to float64, for every type, swizzle
// and layout of the tiles, and proves the kernels.
//
// Small integers come out exact. Others stay within a bound: an instruction aligns its
// products and the sum to the greatest, and cuts each off 25 bits below it, then the sum to
// 24 bits, each by less than 2^-23 of the sum of magnitudes S that it adds up; n
// instructions with up to 32 products and a sum each, so S·n·(33·2^-25 + 2^-23) is more than
// all of it. An accumulator of f16 rounds to 11 bits each time, by 2^-11 of S at most.
func TestTensorProducts(t *testing.T) {
	f16, bf16, tf32, f32 := kernel.F16, kernel.BF16, kernel.TF32, kernel.F32
	both := []kernel.MmaOption{kernel.NegateB}
	for _, p := range []product{
		{elem: f16, acc: f32, m: 128, n: 64, k: 64, swizzle: 128},
		{elem: f16, acc: f32, m: 128, n: 16, k: 128, swizzle: 128, opts: []kernel.MmaOption{kernel.NegateA}},
		{elem: f16, acc: f32, m: 64, n: 24, k: 32, swizzle: 64},
		{elem: f16, acc: f32, m: 128, n: 32, k: 32, swizzle: 32, opts: both},
		{elem: f16, acc: f32, m: 64, n: 8, k: 32, swizzle: 0},
		{elem: f16, acc: f32, m: 128, n: 128, k: 32, swizzle: 128, aT: true, bT: true},
		{elem: f16, acc: f32, m: 64, n: 64, k: 32, swizzle: 64, bT: true},
		{elem: f16, acc: f32, m: 64, n: 32, k: 32, swizzle: 32, aT: true},
		{elem: f16, acc: f32, m: 128, n: 16, k: 32, swizzle: 0, aT: true, bT: true},
		{elem: f16, acc: f16, m: 128, n: 48, k: 64, swizzle: 128},
		{elem: bf16, acc: f32, m: 128, n: 64, k: 64, swizzle: 128, bT: true},
		{elem: tf32, acc: f32, m: 128, n: 16, k: 32, swizzle: 128},
		{elem: tf32, acc: f32, m: 64, n: 16, k: 32, swizzle: 64},
		{elem: kernel.E4M3, acc: f32, m: 128, n: 16, k: 128, swizzle: 128},
		{elem: kernel.E5M2, acc: kernel.F16, m: 64, n: 16, k: 64, swizzle: 64},
		{elem: kernel.E4M3, acc: f32, m: 128, n: 32, k: 32, swizzle: 32, bT: true},
		{elem: kernel.E5M2, acc: f32, m: 64, n: 16, k: 64, swizzle: 0, aT: true},
	} {
		t.Run(fmt.Sprintf("%s_%s_%dx%dx%d_s%d_%v%v", p.elem, p.acc, p.m, p.n, p.k, p.swizzle, p.aT, p.bT), func(t *testing.T) {
			for _, fill := range []func(kernel.Type, int, int) (any, []float64){values, fractions} {
				if p.elem.Size() == 1 {
					fill = values
				}
				a, fa := fill(p.elem, p.m*p.k, 1)
				b, fb := fill(p.elem, p.n*p.k, 2)
				var d any = make([]float32, p.m*p.n)
				if p.acc == kernel.F16 {
					d = make([]uint16, p.m*p.n)
				}
				checked(t, p.tensor(), kernel.Grid(1), a, b, d)
				p.hold(t, fa, fb, d)
			}
		})
	}
}

// hold compares the results of twice a product with float64.
func (p product) hold(t *testing.T, fa, fb []float64, d any) {
	t.Helper()
	steps := float64(2 * p.k * p.elem.Size() / 32)
	for i := range p.m * p.n {
		r, c := i/p.n, i%p.n
		want, all := 0.0, 0.0
		for j := range p.k {
			x, y := fa[(r*p.k+j)%len(fa)], fb[c*p.k+j]
			if p.aT {
				x = fa[j*p.m+r]
			}
			if p.bT {
				y = fb[j*p.n+c]
			}
			want += 2 * x * y
			all += 2 * math.Abs(x*y)
		}
		if p.opts != nil {
			want = -want
		}
		bound := all * steps * (33*0x1p-25 + 0x1p-23)
		var got float64
		switch d := d.(type) {
		case []float32:
			got = float64(d[i])
		case []uint16:
			got = float64(kernel.F16Value(d[i]))
			bound += all * steps * 0x1p-11
		}
		if want == math.Trunc(want) && all == math.Trunc(all) && all < 2048 {
			bound = 0
		}
		if !(math.Abs(got-want) <= bound) {
			t.Fatalf("row %d, column %d: %v; want %v within %v", r, c, got, want, bound)
		}
	}
}

// TestTensorOperands holds products of A in tensor memory, where threads have stored it in
// two parts, to float64.
func TestTensorOperands(t *testing.T) {
	for _, p := range []product{
		{elem: kernel.F16, acc: kernel.F32, m: 128, n: 32, k: 64, swizzle: 128},
		{elem: kernel.BF16, acc: kernel.F32, m: 128, n: 16, k: 32, swizzle: 32, bT: true},
		{elem: kernel.TF32, acc: kernel.F32, m: 128, n: 16, k: 32, swizzle: 128},
		{elem: kernel.E4M3, acc: kernel.F32, m: 128, n: 16, k: 128, swizzle: 128},
		{elem: kernel.E5M2, acc: kernel.F16, m: 128, n: 16, k: 64, swizzle: 64},
	} {
		t.Run(string(p.elem), func(t *testing.T) {
			k := kernel.New("product", kernel.Block(128), kernel.Target("sm_100a"))
			ga, gb, gd := k.GlobalPtr("ga", kernel.B32, 16), k.GlobalPtr("gb", p.elem), k.GlobalPtr("gd", p.acc)
			br, bc := p.n, p.k
			if p.bT {
				br, bc = bc, br
			}
			b := k.Tile("b", p.elem, br, bc, p.swizzle)
			mem := k.TensorMemory("tmem", 128)
			d := mem.Accumulator(p.acc, p.m, p.n)
			a := mem.Operand(p.elem, p.m, p.k)
			done := k.Mbarrier("done", 1)
			k.SingleWarp(3, func() {
				mem.Alloc()
				mem.Relinquish()
			})
			copyTile(k, b, gb, br, bc)
			k.FenceProxyAsync(kernel.SharedCTA)
			k.InitMbarriers()
			per := 4 / p.elem.Size()
			half := p.k / per / 2 // registers of a row
			for part := range 2 {
				var v kernel.Vec
				for i := range half {
					v = append(v, ga.At(d.Row().Mad(2*half, part*half+i)).Load())
				}
				a.Store(part*half*per, v)
			}
			k.TensorWaitStore()
			k.TensorFenceBefore()
			k.Sync()
			if !p.bT {
				b = b.T()
			}
			k.SingleWarp(0, func() {
				k.Elect(func() {
					k.TensorFenceAfter()
					d.Mma(a, b, kernel.Overwrite)
					d.Mma(a, b)
					done.Commit()
				})
			})
			done.WaitParity(0)
			k.TensorFenceAfter()
			v := d.Load(0, p.n)
			k.TensorWaitLoad()
			for i, r := range v {
				if p.acc == kernel.F16 {
					r = r.As(kernel.U32).Cvt(kernel.U16).As(kernel.F16)
				}
				gd.At(d.Row().Mad(p.n, i)).Store(r)
			}
			k.TensorFenceBefore()
			k.Sync()
			k.SingleWarp(3, mem.Free)

			va, fa := values(p.elem, p.m*p.k, 1)
			vb, fb := values(p.elem, p.n*p.k, 2)
			var z any = make([]float32, p.m*p.n)
			if p.acc == kernel.F16 {
				z = make([]uint16, p.m*p.n)
			}
			checked(t, k, kernel.Grid(1), words(va), vb, z)
			p.hold(t, fa, fb, z)
		})
	}
}

// words packs elements into 32 bits, the first lowest.
func words(v any) []uint32 {
	var w []uint32
	switch v := v.(type) {
	case []float32:
		for _, x := range v {
			w = append(w, math.Float32bits(x))
		}
	case []uint16:
		for i := 0; i < len(v); i += 2 {
			w = append(w, uint32(v[i])|uint32(v[i+1])<<16)
		}
	case []uint8:
		for i := 0; i < len(v); i += 4 {
			w = append(w, binary.LittleEndian.Uint32(v[i:]))
		}
	}
	return w
}
