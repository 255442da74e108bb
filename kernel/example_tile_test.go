package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// A tensor copy fills a tile of two panels, and each thread reads a row of it: Addr
// gives an element's address.
func ExampleTile() {
	k := kernel.New("rows", kernel.Block(32))
	in, out := k.TensorMap("in"), k.GlobalPtr("out", kernel.F32)
	t := k.Tile("t", kernel.F32, 32, 32, 64)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		bar.ArriveExpect(t.Size())
		for i := range t.Panels() {
			in.Load(t.Panel(i), bar, kernel.Coords{i * t.PanelCols(), 0})
		}
	})
	bar.WaitParity(0)
	row := k.TidX()
	sum := k.Const(kernel.F32, 0)
	k.For(0, 32, 1, func(col kernel.Reg) {
		sum.Set(sum.Add(t.Addr(row, col).Load()))
	})
	out.At(row).Store(sum)

	numbers, sums := make([]float32, 32*32), make([]float32, 32)
	for i := range numbers {
		numbers[i] = float32(i / 32)
	}
	fmt.Println(t.Size(), "bytes in", t.Panels(), "boxes of", t.Box())
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), t.MapOf(numbers, []int{32, 32}), sums)))
	fmt.Println(sums[1], sums[31])
	// Output:
	// 4096 bytes in 2 boxes of [32 16]
	// clean: all schedules of this launch, 1 CTA, 32 threads, for every content of the buffers
	// 32 992
}

// The layout of a swizzled tile: the order of a row's 16-byte chunks changes from row
// to row, so that a column's are in different banks.
func ExampleTile_Addr() {
	k := kernel.New("swizzled", kernel.Block(32))
	out := k.GlobalPtr("out", kernel.U32)
	t := k.Tile("t", kernel.F16, 8, 64, 128)
	row := k.TidX().And(7)
	out.At(row).Store(t.Addr(row, 8).Address().Sub(t.Ptr().Address()))

	offsets := make([]uint32, 8)
	if _, err := k.Call(kernel.Grid(1), offsets); err != nil {
		fmt.Println(err)
	}
	verdictOf(k.Call(kernel.Grid(1), offsets))
	for row, at := range offsets {
		fmt.Print(int(at)-128*row, " ")
	}
	// Output:
	// 16 0 48 32 80 64 112 96
}
