package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// A thread multiplies two tiles into tensor memory; then each of four warps reads the 32
// rows that it reaches. The warp that has allocated the columns frees them.
func ExampleTensorMemory() {
	k := kernel.New("product", kernel.Block(128), kernel.Target("sm_100a"))
	mapA, mapB, out := k.TensorMap("a_map"), k.TensorMap("b_map"), k.GlobalPtr("out", kernel.F32)
	a := k.Tile("a", kernel.F16, 128, 64, 128) // M × K
	b := k.Tile("b", kernel.F16, 32, 64, 128)  // N × K
	t := k.TensorMemory("tmem", 32)
	d := t.Accumulator(kernel.F32, 128, 32)
	done := k.Mbarrier("done", 1)
	k.SingleWarp(0, func() {
		t.Alloc()
		t.Relinquish()
	})
	loadTiles(k, []kernel.Tile{a, b}, []kernel.TensorMap{mapA, mapB})

	k.SingleWarp(0, func() {
		k.Elect(func() {
			d.Mma(a, b.T(), kernel.Overwrite)
			done.Commit()
		})
	})
	done.WaitParity(0)
	k.TensorFenceAfter()
	v := d.Load(0, 32)
	k.TensorWaitLoad()
	for i, r := range v {
		out.At(d.Row().Mad(32, i)).Store(r)
	}
	k.TensorFenceBefore()
	k.Sync()
	k.TensorFenceAfter()
	k.SingleWarp(0, t.Free)

	va, vb, z := make([]uint16, 128*64), make([]uint16, 32*64), make([]float32, 128*32)
	for i := range va {
		va[i] = kernel.F16Bits(float32(i / 64)) // the row
	}
	for i := range vb {
		vb[i] = kernel.F16Bits(0.5)
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), a.MapOf(va, []int{128, 64}), b.MapOf(vb, []int{32, 64}), z)))
	fmt.Println(z[0], z[32], z[127*32+31])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 0 32 4064
}

// Each warp sets its lanes of an accumulator in tensor memory, and reads part of them back:
// a warp reaches the 32 lanes of its number modulo 4.
func ExampleTensorAccumulator() {
	k := kernel.New("rows", kernel.Block(128), kernel.Target("sm_100a"))
	out := k.GlobalPtr("out", kernel.F32)
	t := k.TensorMemory("tmem", 32)
	d := t.Accumulator(kernel.F32, 128, 16)
	k.SingleWarp(0, func() {
		t.Alloc()
		t.Relinquish()
	})
	k.Sync()
	row := d.Row()
	var v kernel.Vec
	for i := range 16 {
		v = append(v, row.Mul(100).Add(i).Cvt(kernel.F32))
	}
	d.Store(0, v)
	k.TensorWaitStore()
	r := d.Cols(8, 8).Load(2, 1) // column 10
	k.TensorWaitLoad()
	out.At(row).Store(r[0])
	k.TensorFenceBefore()
	k.Sync()
	k.TensorFenceAfter()
	k.SingleWarp(0, t.Free)

	z := make([]float32, 128)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), z)))
	fmt.Println(z[0], z[1], z[127])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 10 110 12710
}

// The threads of four warps store A in tensor memory, each a row, as an attention kernel
// stores its probabilities; B is in shared memory.
func ExampleTensorOperand() {
	k := kernel.New("product", kernel.Block(128), kernel.Target("sm_100a"))
	mapB, out := k.TensorMap("b_map"), k.GlobalPtr("out", kernel.F32)
	b := k.Tile("b", kernel.F16, 16, 64, 128) // N × K
	t := k.TensorMemory("tmem", 64)
	d := t.Accumulator(kernel.F32, 128, 16)
	a := t.Operand(kernel.F16, 128, 64) // M × K
	done := k.Mbarrier("done", 1)
	k.SingleWarp(0, func() {
		t.Alloc()
		t.Relinquish()
	})
	loadTiles(k, []kernel.Tile{b}, []kernel.TensorMap{mapB})

	var v kernel.Vec
	for i := range 64 {
		v = append(v, d.Row().Add(1000*(i%2)).Cvt(kernel.F32)) // the row, or 1000 more
	}
	a.Store(0, v)
	k.TensorWaitStore()
	k.TensorFenceBefore()
	k.Sync()
	k.SingleWarp(0, func() {
		k.Elect(func() {
			k.TensorFenceAfter()
			d.Mma(a, b.T(), kernel.Overwrite)
			done.Commit()
		})
	})
	done.WaitParity(0)
	k.TensorFenceAfter()
	w := d.Load(0, 16)
	k.TensorWaitLoad()
	for i, r := range w {
		out.At(d.Row().Mad(16, i)).Store(r)
	}
	k.TensorFenceBefore()
	k.Sync()
	k.TensorFenceAfter()
	k.SingleWarp(0, t.Free)

	vb, z := make([]uint16, 16*64), make([]float32, 128*16)
	for i := range vb {
		vb[i] = kernel.F16Bits(float32((i + 1) % 2)) // the even ones of K
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), b.MapOf(vb, []int{16, 64}), z)))
	fmt.Println(z[0], z[16], z[127*16+15])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 0 32 4064
}
