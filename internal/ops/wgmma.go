package ops

import "muster/kernel"

// A wgmma is a product of a warpgroup, D = A·B twice: the second product adds to
// the first. The threads copy A and B into tiles, D goes out by registers.
type wgmma struct {
	left, right, acc kernel.Type
	m, n, k, swizzle int
	aT, bT           bool // A is stored K × M, B as K × N
	registers        bool // A comes from registers
	opts             []kernel.MmaOption
}

func init() {
	f16, bf16, f32, s32 := kernel.F16, kernel.BF16, kernel.F32, kernel.S32
	uses := []string{"Kernel.WgmmaFence", "Accumulator.Mma", "Kernel.WgmmaCommit", "Kernel.WgmmaWait", "Overwrite"}
	for _, c := range []struct {
		name string
		uses []string
		wgmma
	}{
		{"f16", []string{"Kernel.Accumulator", "Accumulator.Place"}, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 32, k: 64, swizzle: 128}},
		{"f16-into-f16", nil, wgmma{left: f16, right: f16, acc: f16, m: 64, n: 24, k: 32, swizzle: 64}},
		{"bf16", nil, wgmma{left: bf16, right: bf16, acc: f32, m: 64, n: 8, k: 64, swizzle: 128}},
		{"tf32", nil, wgmma{left: kernel.TF32, right: kernel.TF32, acc: f32, m: 64, n: 16, k: 32, swizzle: 128}},
		{"e4m3", nil, wgmma{left: kernel.E4M3, right: kernel.E4M3, acc: f32, m: 64, n: 16, k: 64, swizzle: 64}},
		{"e5m2-e4m3", nil, wgmma{left: kernel.E5M2, right: kernel.E4M3, acc: kernel.F16, m: 64, n: 16, k: 32, swizzle: 32}},
		{"s8", nil, wgmma{left: kernel.S8, right: kernel.S8, acc: s32, m: 64, n: 24, k: 64, swizzle: 64}},
		{"u8-s8-satfinite", []string{"Satfinite"}, wgmma{left: kernel.U8, right: kernel.S8, acc: s32, m: 64, n: 32, k: 32, swizzle: 32, opts: []kernel.MmaOption{kernel.Satfinite}}},
		{"swizzle-64", nil, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 16, k: 64, swizzle: 64}},
		{"swizzle-32", nil, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 16, k: 32, swizzle: 32}},
		{"swizzle-none", nil, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 16, k: 32, swizzle: 0}},
		{"transposed-128", []string{"Tile.T"}, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 64, k: 32, swizzle: 128, aT: true, bT: true}},
		{"transposed-64", []string{"Tile.T"}, wgmma{left: bf16, right: bf16, acc: f32, m: 64, n: 32, k: 16, swizzle: 64, aT: true, bT: true}},
		{"transposed-32", []string{"Tile.T"}, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 32, k: 32, swizzle: 32, aT: true, bT: true}},
		{"transposed-none", []string{"Tile.T"}, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 16, k: 32, swizzle: 0, aT: true, bT: true}},
		{"two-blocks", nil, wgmma{left: f16, right: f16, acc: f32, m: 128, n: 16, k: 32, swizzle: 64}},
		{"negated", []string{"NegateA", "NegateB"}, wgmma{left: f16, right: f16, acc: f32, m: 64, n: 8, k: 16, swizzle: 32, opts: []kernel.MmaOption{kernel.NegateA}}},
		{"negated-b", []string{"NegateB"}, wgmma{left: bf16, right: bf16, acc: f32, m: 64, n: 8, k: 16, swizzle: 32, opts: []kernel.MmaOption{kernel.NegateB}}},
		{"registers", []string{"Tile.Load", "Kernel.Fragment"}, wgmma{left: f16, right: f16, acc: f32, m: 128, n: 16, k: 32, swizzle: 64, registers: true}},
		{"registers-fp8", []string{"Tile.Load"}, wgmma{left: kernel.E4M3, right: kernel.E5M2, acc: f32, m: 64, n: 8, k: 64, swizzle: 64, registers: true}},
	} {
		add("wgmma/"+c.name, append(c.uses, uses...), c.call)
	}
	add("wgmma/accumulate", []string{"Accumulate", "Accumulator.Zero", "Accumulator.Regs"}, accumulate)
	add("wgmma/chain", []string{"Accumulator.Fragment", "Accumulator.Store", "Tile.Addr"}, chain)
	add("tile/stages", []string{"Kernel.Tiles", "Tile.At", "Tile.Rows", "Tile.Cols", "Tile.Size", "Tile.Panel", "Tile.Panels", "Tile.PanelCols", "Tile.MapOf", "Tile.Box", "Accumulator.StoreWarp", "Tile.Ptr"}, stages)
	add("tile/part-transposed", []string{"Tile.Cols", "Tile.T"}, partTransposed)
	add("tile/view", []string{"Ptr.Tile", "Tile.Dims", "Tile.Swizzle", "Tile.Elem"}, view)
}

func (w wgmma) call() (*kernel.Call, error) {
	k := kernel.New("wgmma", kernel.Block(128))
	ga, gb, gd := k.GlobalPtr("ga", w.left), k.GlobalPtr("gb", w.right), k.GlobalPtr("gd", w.acc)
	a := tileOf(k, "a", w.left, ga, w.m, w.k, w.swizzle, w.aT)
	b := tileOf(k, "b", w.right, gb, w.k, w.n, w.swizzle, !w.bT)
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	acc := k.Accumulator(w.acc, w.m, w.n)
	left := kernel.MatrixA(a)
	if w.registers {
		left = a.Load()
	}
	k.WgmmaFence()
	acc.Mma(left, b, append(w.opts, kernel.Overwrite)...)
	acc.Mma(left, b, w.opts...)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	writeOut(acc, gd)
	return k.Call(kernel.Grid(1), noise(w.left, w.m*w.k, 1), noise(w.right, w.n*w.k, 2), zeros(w.acc, w.m*w.n))
}

// tileOf gives a rows × cols matrix that the CTA's threads copy from global
// memory, stored by columns if it is transposed.
func tileOf(k *kernel.Kernel, name string, elem kernel.Type, from kernel.Ptr, rows, cols, swizzle int, transposed bool) kernel.Tile {
	if transposed {
		rows, cols = cols, rows
	}
	t := k.Tile(name, elem, rows, cols, swizzle)
	fill(k, t, from)
	if transposed {
		t = t.T()
	}
	return t
}

// fill has the CTA's threads copy a tile from global memory, row by row.
func fill(k *kernel.Kernel, t kernel.Tile, from kernel.Ptr) {
	rows, cols := t.Dims()
	k.For(k.TidX(), rows*cols, k.BlockThreads(), func(i kernel.Reg) {
		bits := map[int]kernel.Type{1: kernel.U8, 2: kernel.U16, 4: kernel.U32}[t.Elem().Size()]
		t.Addr(i.Div(cols), i.Rem(cols)).Cast(bits).Store(from.Cast(bits).At(i).Load())
	})
}

// writeOut stores an accumulator row by row: each thread what it holds.
func writeOut(acc kernel.Accumulator, to kernel.Ptr) {
	_, n := acc.Dims()
	for i, r := range acc.Regs() {
		row, col := acc.Place(i)
		at := row.Mad(n, col)
		if acc.Type() == kernel.F16 {
			to.Cast(kernel.F16x2).At(at.Shr(1)).Store(r)
		} else {
			to.At(at).Store(r)
		}
	}
}

// noise gives n finite numbers of a type with all their bits in use, most near
// one.
func noise(t kernel.Type, n int, seed uint32) any {
	x := seed
	next := func() uint32 {
		x = x*1664525 + 1013904223
		return x >> 8
	}
	number := func() float32 { return float32(int(next()%4096)-2048) / 1024 }
	switch t {
	case kernel.F16, kernel.BF16:
		s := make([]uint16, n)
		for i := range s {
			f := number()
			if s[i] = kernel.F16Bits(f); t == kernel.BF16 {
				s[i] = kernel.BF16Bits(f)
			}
		}
		return s
	case kernel.TF32, kernel.F32:
		s := make([]float32, n)
		for i := range s {
			s[i] = number() + number()/4096
		}
		return s
	case kernel.F64:
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(number()) + float64(number())/(1<<30)
		}
		return s
	}
	s := make([]uint8, n)
	for i := range s {
		switch b := next(); t {
		case kernel.E4M3: // exponents 4 to 11 of 16
			s[i] = uint8(b>>8&0x80 | (4+b>>4&7)<<3 | b&7)
		case kernel.E5M2:
			s[i] = uint8(b>>8&0x80 | (12+b>>4&7)<<2 | b&3)
		default:
			s[i] = uint8(b)
		}
	}
	return s
}

func zeros(t kernel.Type, n int) any {
	switch t {
	case kernel.F16:
		return make([]uint16, n)
	case kernel.S32:
		return make([]int32, n)
	case kernel.F64:
		return make([]float64, n)
	}
	return make([]float32, n)
}

// accumulate adds to what Zero set, or overwrites it: each of two warpgroups by
// a predicate of its own.
func accumulate() (*kernel.Call, error) {
	k := kernel.New("accumulate", kernel.Block(256))
	ga, gb, gd := k.GlobalPtr("ga", kernel.F16), k.GlobalPtr("gb", kernel.F16), k.GlobalPtr("gd", kernel.F32)
	a := tileOf(k, "a", kernel.F16, ga, 64, 16, 32, false)
	b := tileOf(k, "b", kernel.F16, gb, 16, 8, 32, true)
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	acc := k.Accumulator(kernel.F32, 64, 8)
	acc.Zero()
	for _, r := range acc.Regs() {
		r.Set(r.Add(1000))
	}
	wg := k.TidX().Shr(7)
	k.WgmmaFence()
	acc.Mma(a, b, kernel.Accumulate(wg.Eq(1)))
	k.WgmmaCommit()
	k.WgmmaWait(0)
	writeOut(acc, gd.At(wg.Mul(64*8)))
	return k.Call(kernel.Grid(1), noise(kernel.F16, 64*16, 3), noise(kernel.F16, 16*8, 4), zeros(kernel.F32, 2*64*8))
}

// chain multiplies a product again, as attention does: D = bf16(A·B)·C, with
// the first product passed on in registers. D goes out as bf16 through a tile.
func chain() (*kernel.Call, error) {
	k := kernel.New("chain", kernel.Block(128))
	t := kernel.BF16
	ga, gb, gc, gd := k.GlobalPtr("ga", t), k.GlobalPtr("gb", t), k.GlobalPtr("gc", t), k.GlobalPtr("gd", t)
	a := tileOf(k, "a", t, ga, 64, 16, 32, false)
	b := tileOf(k, "b", t, gb, 16, 32, 32, true)
	c := tileOf(k, "c", t, gc, 32, 64, 128, false)
	d := k.Tile("d", t, 64, 64, 128)
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	first, second := k.Accumulator(kernel.F32, 64, 32), k.Accumulator(kernel.F32, 64, 64)
	k.WgmmaFence()
	first.Mma(a, b, kernel.Overwrite)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	p := first.Fragment(t)
	k.WgmmaFence()
	second.Mma(p, c, kernel.Overwrite)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	second.Store(d)
	k.Sync()
	k.For(k.TidX(), 64*64, 128, func(i kernel.Reg) {
		gd.At(i).Store(d.Addr(i.Shr(6), i.And(63)).Load())
	})
	return k.Call(kernel.Grid(1), noise(t, 64*16, 5), noise(t, 16*32, 6), noise(t, 32*64, 7), make([]uint16, 64*64))
}

// stages has tensor copies fill two stages of A and B, of two panels each, and
// multiplies parts of them: the second half of A's rows by B's columns of K but
// the first panel. Each warp stores its rows by a tensor copy.
func stages() (*kernel.Call, error) {
	const n = 2
	k := kernel.New("tile_stages", kernel.Block(128))
	mapA, mapB, mapC := k.TensorMap("map_a"), k.TensorMap("map_b"), k.TensorMap("map_c")
	a := k.Tiles("a", n, kernel.F16, 128, 64, 64)
	b := k.Tiles("b", n, kernel.F16, 16, 64, 64)
	c := k.Tiles("c", 4, kernel.F16, 16, 16, 32)
	full := k.Mbarriers("full", n, 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		for s := range n {
			full.At(s).ArriveExpect(a.Size() + b.Size())
			for p := range a.Panels() {
				mapA.Load(a.At(s).Panel(p), full.At(s), kernel.Coords{p * a.PanelCols(), 128 * s})
				mapB.Load(b.At(s).Panel(p), full.At(s), kernel.Coords{p * b.PanelCols(), 16 * s})
			}
		}
	})
	acc := k.Accumulator(kernel.F32, 64, 16)
	acc.Zero()
	k.For(0, n, 1, func(s kernel.Reg) {
		full.At(s).WaitParity(0)
		k.WgmmaFence()
		acc.Mma(a.At(s).Rows(64, 64).Cols(32, 32), b.At(s).Cols(32, 32).T())
		acc.Mma(a.At(s).Rows(s.Mul(64), 64).Cols(16, 16), b.At(s).Cols(16, 16).T())
		k.WgmmaCommit()
		k.WgmmaWait(0)
	})
	warp := k.TidX().Shr(5)
	k.EachWarp(func() {
		acc.StoreWarp(c.At(warp), 0, 0)
		k.FenceProxyAsync(kernel.SharedCTA)
		k.Sync()
		k.SingleThread(func() {
			mapC.Store(kernel.Coords{0, warp.Mul(16)}, c.At(warp).Ptr())
			k.BulkCommit()
			k.BulkWait(0)
		})
	})
	return k.Call(kernel.Grid(1),
		a.MapOf(noise(kernel.F16, n*128*64, 8), []int{n * 128, 64}),
		b.MapOf(noise(kernel.F16, n*16*64, 9), []int{n * 16, 64}),
		c.MapOf(make([]uint16, 64*16), []int{64, 16}))
}

// view writes a tile through one that lies over its second half, and reads back
// what lies where.
func view() (*kernel.Call, error) {
	k := kernel.New("tile_view", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	words := k.SharedAlign("words", 512, kernel.U32, 512)
	k.For(k.TidX(), 512, 64, func(i kernel.Reg) { words.At(i).Store(0) })
	k.Sync()
	half := words.Bytes(1024).Tile(16, 16, 64)
	rows, cols := half.Dims()
	k.For(k.TidX(), rows*cols, 64, func(i kernel.Reg) { half.Addr(i.Div(cols), i.Rem(cols)).Store(i.Add(1)) })
	k.Sync()
	k.For(k.TidX(), 512, 64, func(i kernel.Reg) {
		out.At(i).Store(words.At(i).Load().Mul(100).Add(half.Swizzle() + half.Elem().Size()))
	})
	return k.Call(kernel.Grid(1), make([]uint32, 512))
}

// partTransposed multiplies by columns of B from the middle of a panel, where N
// is along the rows of the tile.
func partTransposed() (*kernel.Call, error) {
	k := kernel.New("part_transposed", kernel.Block(128))
	ga, gb, gd := k.GlobalPtr("ga", kernel.F16), k.GlobalPtr("gb", kernel.F16), k.GlobalPtr("gd", kernel.F32)
	a := tileOf(k, "a", kernel.F16, ga, 64, 32, 64, false)
	b := tileOf(k, "b", kernel.F16, gb, 32, 128, 128, false)
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	acc := k.Accumulator(kernel.F32, 64, 32)
	k.WgmmaFence()
	acc.Mma(a, b.Cols(80, 32), kernel.Overwrite)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	writeOut(acc, gd)
	return k.Call(kernel.Grid(1), noise(kernel.F16, 64*32, 1), noise(kernel.F16, 32*128, 2), zeros(kernel.F32, 64*32))
}
