package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// Threads read the shared memory of the other CTA. The second ClusterSync keeps
// that CTA from exiting until they have.
func ExampleKernel_ClusterSync() {
	k := kernel.New("exchange", kernel.Block(32), kernel.Clusters(2))
	out := k.GlobalPtr("out", kernel.U32)
	words := k.Shared("words", kernel.U32, 32)
	rank, t := k.ClusterRank(), k.TidX()
	words.At(t).Store(rank.Mad(100, t))
	k.ClusterSync()
	out.At(rank.Mad(32, t)).Store(words.Remote(rank.Xor(1)).At(t).Load())
	k.ClusterSync()

	seen := make([]uint32, 64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(2), seen)))
	fmt.Println(seen[:3], seen[32:35])
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 64 threads, for every content of the buffers
	// [100 101 102] [0 1 2]
}

// A store into the other CTA signals its barrier there: no thread waits for the
// whole cluster to see the data.
func ExamplePtr_StoreAsync() {
	k := kernel.New("send", kernel.Block(32), kernel.Clusters(2))
	out := k.GlobalPtr("out", kernel.U32)
	words := k.Shared("words", kernel.U32, 32)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	rank, t := k.ClusterRank(), k.TidX()
	peer := rank.Xor(1)
	k.SingleThread(func() { bar.ArriveExpect(32 * 4) })
	words.Remote(peer).At(t).StoreAsync(rank.Mad(100, t), bar.Remote(peer))
	bar.WaitParity(0)
	out.At(rank.Mad(32, t)).Store(words.At(t).Load())
	k.ClusterSync()

	seen := make([]uint32, 64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(2), seen)))
	fmt.Println(seen[:3], seen[32:35])
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 64 threads, for every content of the buffers
	// [100 101 102] [0 1 2]
}
