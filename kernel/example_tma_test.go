package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// A tile of a matrix is loaded, changed, and stored elsewhere.
func ExampleTensorMap() {
	k := kernel.New("double_tile", kernel.Block(64))
	from, to := k.TensorMap("from"), k.TensorMap("to")
	tile := k.SharedAlign("tile", 128, kernel.F32, 8, 8)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		bar.ArriveExpect(tile.Size())
		from.Load(tile, bar, kernel.Coords{8, 0}) // column 8, row 0
	})
	bar.WaitParity(0)
	t := k.TidX()
	at := tile.At(t.Shr(3), t.And(7))
	at.Store(at.Load().Mul(2))
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	k.SingleThread(func() {
		to.Store(kernel.Coords{0, 8}, tile) // column 0, row 8
		k.BulkCommit()
		k.BulkWait(0)
	})

	a, b := make([]float32, 16*16), make([]float32, 16*16)
	for i := range a {
		a[i] = float32(i)
	}
	tiles := func(m []float32) *kernel.Map {
		return kernel.MapOf(m, kernel.F32, []int{16, 16}, []int{8, 8})
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), tiles(a), tiles(b))))
	fmt.Println(a[8:11], b[8*16:8*16+3])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// [8 9 10] [16 18 20]
}

// Coordinates are numbers or registers, innermost first, and what lies outside of
// the tensor reads as zeros.
func ExampleTensorMap_Load() {
	k := kernel.New("edge", kernel.Block(32))
	m := k.TensorMap("m")
	row := k.Param("row", kernel.S32)
	out := k.GlobalPtr("out", kernel.U32)
	tile := k.SharedAlign("tile", 128, kernel.U32, 4, 8)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		bar.ArriveExpect(128)
		m.Load(tile, bar, kernel.Coords{-4, row})
	})
	bar.WaitParity(0)
	t := k.TidX()
	out.At(t).Store(tile.At(0, t).Load())

	ones, seen := make([]uint32, 64), make([]uint32, 32)
	for i := range ones {
		ones[i] = 1
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), kernel.MapOf(ones, kernel.U32, []int{8, 8}, []int{4, 8}), 6, seen)))
	for r := range 4 {
		fmt.Println(seen[8*r : 8*r+8])
	}
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads, for every content of the buffers
	// [0 0 0 0 1 1 1 1]
	// [0 0 0 0 1 1 1 1]
	// [0 0 0 0 0 0 0 0]
	// [0 0 0 0 0 0 0 0]
}

// A kernel makes a map of another array from one that it was given, as grouped
// matrix products do.
func ExampleTensorMap_Copy() {
	k := kernel.New("retarget", kernel.Block(32))
	given := k.TensorMap("given")
	other := k.GlobalPtr("other", kernel.U32, 16)
	memory := k.GlobalPtr("memory", kernel.B8, 128)
	out := k.GlobalPtr("out", kernel.U32)
	staged := k.SharedAlign("staged", 128, kernel.B8, 128)
	tile := k.SharedAlign("tile", 128, kernel.U32, 32)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	mine := k.TensorMapAt(memory)
	k.Elect(func() { given.Copy(staged).ReplaceAddress(other) })
	k.WarpSync()
	k.TensorMapAt(staged).CopyFence(mine, kernel.CTA)
	k.Elect(func() {
		k.FenceTensormapAcquire(mine.Ptr(), kernel.CTA)
		bar.ArriveExpect(128)
		mine.Load(tile, bar, kernel.Coords{0})
	})
	bar.WaitParity(0)
	t := k.TidX()
	out.At(t).Store(tile.At(t).Load())

	a, b, seen := make([]uint32, 32), make([]uint32, 32), make([]uint32, 32)
	b[0], b[1] = 5, 6
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), kernel.MapOf(a, kernel.U32, []int{32}, []int{32}), b, make([]uint8, 128), seen)))
	fmt.Println(seen[:3])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads
	// [5 6 0]
}
