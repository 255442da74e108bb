package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// loadTiles makes thread 0 fill tiles by tensor copies, and all threads wait.
func loadTiles(k *kernel.Kernel, tiles []kernel.Tile, maps []kernel.TensorMap) {
	bar := k.Mbarrier("loaded", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		bytes := 0
		for i, t := range tiles {
			bytes += t.Size()
			maps[i].Load(t.Ptr(), bar, kernel.Coords{0, 0})
		}
		bar.ArriveExpect(bytes)
	})
	bar.WaitParity(0)
}

// A warpgroup multiplies a tile of A by the transpose of a tile of B, and each
// thread stores its part of the product.
func ExampleAccumulator() {
	k := kernel.New("product", kernel.Block(128))
	mapA, mapB, out := k.TensorMap("a_map"), k.TensorMap("b_map"), k.GlobalPtr("out", kernel.F32)
	a := k.Tile("a", kernel.F16, 64, 64, 128) // M × K
	b := k.Tile("b", kernel.F16, 32, 64, 128) // N × K
	loadTiles(k, []kernel.Tile{a, b}, []kernel.TensorMap{mapA, mapB})

	acc := k.Accumulator(kernel.F32, 64, 32)
	k.WgmmaFence()
	acc.Mma(a, b.T(), kernel.Overwrite)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	for i, r := range acc.Regs() {
		row, col := acc.Place(i)
		out.At(row.Mad(32, col)).Store(r)
	}

	va, vb, d := make([]uint16, 64*64), make([]uint16, 32*64), make([]float32, 64*32)
	for i := range va {
		va[i] = kernel.F16Bits(float32(i / 64)) // the row
	}
	for i := range vb {
		vb[i] = kernel.F16Bits(0.5)
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), a.MapOf(va, []int{64, 64}), b.MapOf(vb, []int{32, 64}), d)))
	fmt.Println(d[0], d[32], d[63*32+31])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 0 32 2016
}

// A product becomes the left factor of the next one without leaving the
// registers, as the probabilities of attention do; a tile and a tensor copy store
// the result.
func ExampleFragment() {
	k := kernel.New("twice", kernel.Block(128))
	mapA, mapB, mapC := k.TensorMap("a_map"), k.TensorMap("b_map"), k.TensorMap("c_map")
	a := k.Tile("a", kernel.BF16, 64, 64, 128)
	b := k.Tile("b", kernel.BF16, 64, 64, 128) // K × N, and N is along its rows
	loadTiles(k, []kernel.Tile{a, b}, []kernel.TensorMap{mapA, mapB})

	acc := k.Accumulator(kernel.F32, 64, 64)
	multiply := func(left kernel.MatrixA) {
		k.WgmmaFence()
		acc.Mma(left, b, kernel.Overwrite)
		k.WgmmaCommit()
		k.WgmmaWait(0)
	}
	multiply(a)
	multiply(acc.Fragment(kernel.BF16))

	acc.Store(a) // all reads of A are complete
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	k.SingleThread(func() {
		mapC.Store(kernel.Coords{0, 0}, a.Ptr())
		k.BulkCommit()
		k.BulkWait(0)
	})

	va, vb, vc := make([]uint16, 64*64), make([]uint16, 64*64), make([]uint16, 64*64)
	for i := range 64 {
		va[65*i] = kernel.BF16Bits(1) // the unit matrix
		vb[65*i] = kernel.BF16Bits(float32(i))
	}
	shape := []int{64, 64}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), a.MapOf(va, shape), b.MapOf(vb, shape), a.MapOf(vc, shape))))
	fmt.Println(kernel.BF16Value(vc[65*3]), kernel.BF16Value(vc[65*10]), kernel.BF16Value(vc[1]))
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 9 100 0
}

// As on Ampere, a warp loads fragments with ldmatrix and multiplies them with
// mma.sync.
func ExampleMmaShape() {
	k := kernel.New("warp", kernel.Block(32))
	in, out := k.GlobalPtr("in", kernel.F16), k.GlobalPtr("out", kernel.F32)
	t := k.Tile("t", kernel.F16, 16, 16, 32)
	k.For(k.LaneID(), 256, 32, func(i kernel.Reg) {
		t.Addr(i.Shr(4), i.And(15)).Store(in.At(i).Load())
	})
	k.Sync()
	zero := kernel.Vec{}
	for range 4 {
		zero = append(zero, k.Const(kernel.F32, 0))
	}
	d := k.MmaSync(kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.F16, t.LoadA(0, 0), t.LoadB(0, 0), zero)
	out.At(k.LaneID()).Store(d[0]) // of row lane/4 and column 2(lane%4)

	numbers, sums := make([]uint16, 256), make([]float32, 32)
	for i := range numbers {
		numbers[i] = kernel.F16Bits(float32(i / 16))
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), numbers, sums)))
	fmt.Println(sums[4:8]) // row 1 by rows 0, 2, 4 and 6, 16 times their product
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads, for every content of the buffers
	// [0 32 64 96]
}

// Two warpgroups add the same product to their accumulators, or overwrite them.
func ExampleMmaOption() {
	k := kernel.New("begin", kernel.Block(256))
	mapA, mapB, out := k.TensorMap("a_map"), k.TensorMap("b_map"), k.GlobalPtr("out", kernel.F32)
	a, b := k.Tile("a", kernel.TF32, 64, 32, 128), k.Tile("b", kernel.TF32, 8, 32, 128)
	loadTiles(k, []kernel.Tile{a, b}, []kernel.TensorMap{mapA, mapB})
	acc := k.Accumulator(kernel.F32, 64, 8)
	for _, r := range acc.Regs() {
		r.Set(1000)
	}
	wg := k.ThreadIndex().Shr(7)
	k.WgmmaFence()
	acc.Mma(a, b.T(), kernel.Accumulate(wg.Eq(0)))
	k.WgmmaCommit()
	k.WgmmaWait(0)
	out.At(k.ThreadIndex()).Store(acc.At(0))

	ones, d := make([]float32, 64*32), make([]float32, 256)
	for i := range ones {
		ones[i] = 1
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), a.MapOf(ones, []int{64, 32}), b.MapOf(ones[:8*32:8*32], []int{8, 32}), d)))
	fmt.Println(d[0], d[128])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 256 threads, for every content of the buffers
	// 1032 32
}

// A from shared memory and the same A from registers: the difference of the two
// products is zero.
func ExampleMatrixA() {
	k := kernel.New("nothing", kernel.Block(128))
	mapA, mapB, out := k.TensorMap("a_map"), k.TensorMap("b_map"), k.GlobalPtr("out", kernel.F32)
	a, b := k.Tile("a", kernel.F16, 64, 64, 128), k.Tile("b", kernel.F16, 8, 64, 128)
	loadTiles(k, []kernel.Tile{a, b}, []kernel.TensorMap{mapA, mapB})
	acc := k.Accumulator(kernel.F32, 64, 8)
	add := func(left kernel.MatrixA, opts ...kernel.MmaOption) { acc.Mma(left, b.T(), opts...) }
	registers := a.Load()
	k.WgmmaFence()
	add(a, kernel.Overwrite)
	add(registers, kernel.NegateA)
	k.WgmmaCommit()
	k.WgmmaWait(0)
	out.At(k.ThreadIndex()).Store(acc.At(0))

	va, vb, d := make([]uint16, 64*64), make([]uint16, 8*64), make([]float32, 128)
	for i := range va {
		va[i] = kernel.F16Bits(float32(i%50) / 8)
		vb[i%len(vb)] = kernel.F16Bits(float32(i%30) / 4)
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), a.MapOf(va, []int{64, 64}), b.MapOf(vb, []int{8, 64}), d)))
	fmt.Println(d[0], d[127])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 0 0
}
