package kernel_test

import (
	"context"
	"fmt"
	"log"

	"muster"
	"muster/kernel"
)

// verdictOf gives the verdict of a call on the machine and takes its results.
func verdictOf(call *kernel.Call, err error) string {
	if err != nil {
		log.Fatal(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := call.Take(res.Buffer); err != nil {
		log.Fatal(err)
	}
	return r.Summary
}

// Every thread writes a word, arrives, and reads another thread's word when all
// 64 have arrived.
func ExampleMbarrier() {
	k := kernel.New("reverse", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	words := k.Shared("words", kernel.U32, 64)
	bar := k.Mbarrier("bar", 64)
	k.InitMbarriers()
	t := k.TidX()
	words.At(t).Store(t)
	bar.Wait(bar.Arrive())
	out.At(t).Store(words.At(t.Xor(63)).Load())

	reversed := make([]uint32, 64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), reversed)))
	fmt.Println(reversed[:4])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// [63 62 61 60]
}

// One thread copies 256 bytes; the barrier's phase is complete when it has
// arrived and the bytes have landed.
func ExampleMbarrier_ArriveExpect() {
	k := kernel.New("fetch", kernel.Block(64))
	in := k.GlobalPtr("in", kernel.U32, 16)
	out := k.GlobalPtr("out", kernel.U32)
	words := k.SharedAlign("words", 16, kernel.U32, 64)
	full := k.Mbarrier("full", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		full.ArriveExpect(256)
		k.BulkLoad(words, in, 256, full)
	})
	full.WaitParity(0)
	out.At(k.TidX()).Store(words.At(k.TidX()).Load())

	data := make([]uint32, 64)
	data[63] = 7
	copied := make([]uint32, 64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), data, copied)))
	fmt.Println(copied[63])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 7
}

// A token of ArriveNoComplete gives the phase's pending count before the
// arrival.
func ExampleToken() {
	k := kernel.New("count", kernel.Block(1))
	out := k.GlobalPtr("out", kernel.U32)
	bar := k.Mbarrier("bar", 10)
	k.InitMbarriers()
	bar.ArriveNoComplete(4)
	out.Store(bar.ArriveNoComplete(1).Pending())

	pending := make([]uint32, 1)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), pending)))
	fmt.Println(pending)
	// Output:
	// clean: all schedules of this launch, 1 kind explored, 1 CTA, 1 thread
	// [6]
}

// A barrier that nothing initializes is a mistake at the line that allocates it.
func ExampleKernel_InitMbarriers() {
	k := kernel.New("forgotten", kernel.Block(64))
	bar := k.Mbarrier("bar", 64)
	bar.Wait(bar.Arrive())
	_, err := k.Build()
	fmt.Println(err)
	// Output:
	// example_mbarrier_test.go:103: mbarrier bar is never initialized: call InitMbarriers, or Init in one thread
}
