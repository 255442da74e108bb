package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// Two CTAs each load one half of an array, and both get all of it.
func ExampleCopyOption() {
	k := kernel.New("share", kernel.Block(64), kernel.Clusters(2))
	in := k.GlobalPtr("in", kernel.U32, 16)
	out := k.GlobalPtr("out", kernel.U32)
	s := k.Shared("s", kernel.U32, 64)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	rank, t := k.ClusterRank(), k.TidX()
	k.SingleThread(func() {
		bar.ArriveExpect(256)
		half := rank.Mul(32)
		k.BulkLoad(s.At(half), in.At(half), 128, bar, kernel.Multicast(0b11))
	})
	bar.WaitParity(0)
	out.At(rank.Mad(64, t)).Store(s.At(t.Xor(63)).Load())
	k.ClusterSync() // a CTA stays until the copies into it and its peer have landed

	numbers, reversed := make([]uint32, 64), make([]uint32, 128)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(2), numbers, reversed)))
	fmt.Println(reversed[:3], reversed[64:67])
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 128 threads, for every content of the buffers
	// [63 62 61] [63 62 61]
}

// Data that is read once should be evicted first.
func ExampleEviction() {
	k := kernel.New("once", kernel.Block(32))
	in := k.GlobalPtr("in", kernel.F32, 16)
	out := k.GlobalPtr("out", kernel.F32, 16)
	s := k.Shared("s", kernel.F32, 64)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		once := kernel.CacheHint(k.CachePolicy(kernel.EvictFirst))
		bar.ArriveExpect(256)
		k.BulkLoad(s, in, 256, bar, once)
		bar.WaitParity(0)
		k.BulkStore(out, s, 256, once)
		k.BulkCommit()
		k.BulkWait(0)
	})

	numbers, same := make([]float32, 64), make([]float32, 64)
	numbers[63] = 1.5
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), numbers, same)))
	fmt.Println(same[62:])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads, for every content of the buffers
	// [0 1.5]
}

// Threads write shared memory, and one of them stores it: the fence orders their
// accesses through the generic proxy before the copy's through the asynchronous one.
func ExampleKernel_BulkStore() {
	k := kernel.New("squares", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32, 16)
	s := k.Shared("s", kernel.U32, 64)
	t := k.TidX()
	s.At(t).Store(t.Mul(t))
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	k.SingleThread(func() {
		k.BulkStore(out, s, 256)
		k.BulkCommit()
		k.BulkWaitRead(0) // the CTA must not end before the copy has read
	})

	squares := make([]uint32, 64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), squares)))
	fmt.Println(squares[:5])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// [0 1 4 9 16]
}

// Each thread copies 16 bytes of its own. To read another thread's bytes it must
// wait at the barrier too.
func ExampleKernel_CpAsync() {
	k := kernel.New("swap", kernel.Block(32))
	in := k.GlobalPtr("in", kernel.U32, 16)
	out := k.GlobalPtr("out", kernel.U32)
	s := k.Shared("s", kernel.U32, 32, 4)
	t := k.TidX()
	k.CpAsync(s.At(t), in.At(t.Mul(4)), 16, kernel.BypassL1())
	k.CpAsyncCommit()
	k.CpAsyncWait(0)
	k.Sync()
	out.At(t).Store(s.At(t.Xor(1), 0).Load())

	numbers, swapped := make([]uint32, 128), make([]uint32, 32)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), numbers, swapped)))
	fmt.Println(swapped[:4])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 32 threads, for every content of the buffers
	// [4 0 12 8]
}
