package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// Groups of eight lanes add up their numbers, and each lane gets its group's sum.
func ExampleWarpOption() {
	k := kernel.New("sums", kernel.Block(32))
	out := k.GlobalPtr("out", kernel.U32)
	t := k.TidX()
	out.At(t).Store(k.WarpReduce(kernel.Add, t, kernel.Width(8)))

	sums := make([]uint32, 32)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), sums)))
	fmt.Println(sums[0], sums[8], sums[16], sums[31])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads, for every content of the buffers
	// 28 92 156 220
}

// An operation is the same word in atomics, in reductions of a warp or a CTA, and
// in copies that reduce.
func ExampleOp() {
	k := kernel.New("maximum", kernel.Block(128))
	in := k.GlobalPtr("in", kernel.S32)
	largest := k.GlobalPtr("largest", kernel.S32)
	v := k.CTAReduce(kernel.Max, in.At(k.CtaidX().Mad(128, k.TidX())).Load())
	k.SingleThread(func() { largest.Red(kernel.Max, v) })

	numbers, most := make([]int32, 256), make([]int32, 1)
	numbers[77], numbers[200] = 13, 12
	fmt.Println(verdictOf(k.Call(kernel.Grid(2), numbers, most)))
	fmt.Println(most)
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 256 threads, for every content of the buffers
	// [13]
}

// Lanes with a true predicate take consecutive places in the output.
func ExampleKernel_VoteBallot() {
	k := kernel.New("compact", kernel.Block(32))
	in := k.GlobalPtr("in", kernel.U32)
	out := k.GlobalPtr("out", kernel.U32)
	t := k.TidX()
	v := in.At(t).Load()
	odd := v.And(1).Eq(1)
	all := k.VoteBallot(odd)
	k.If(odd, func() {
		below := all.And(k.Const(kernel.U32, 1).Shl(t).Sub(1))
		place := k.Var(kernel.U32)
		k.Inst("popc.b32", place, below)
		out.At(place).Store(v)
	})

	numbers, odds := make([]uint32, 32), make([]uint32, 32)
	for i := range numbers {
		numbers[i] = uint32(i * i)
	}
	call, err := k.Call(kernel.Grid(1), numbers, odds)
	fmt.Println(verdictOf(call, err))
	fmt.Println(odds[:5])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads
	// [1 9 25 49 81]
}
