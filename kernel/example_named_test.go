package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// A warp writes, signals another one with Arrive, and goes on; the other one waits.
func ExampleNamedBarrier() {
	k := kernel.New("tell", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	words := k.Shared("words", kernel.U32, 32)
	ready := k.NamedBarrier(64)
	lane := k.LaneID()
	k.SingleWarp(0, func() {
		words.At(lane).Store(lane.Mul(2))
		ready.Arrive()
	})
	k.SingleWarp(1, func() {
		ready.Sync()
		out.At(lane).Store(words.At(lane.Xor(31)).Load())
	})

	got := make([]uint32, 32)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), got)))
	fmt.Println(got[:3])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// [62 60 58]
}
