package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// A pair of CTAs multiplies 256 rows of A by 64 columns of B: each loads its 128 rows of A
// and 32 columns of B, one thread of the first CTA issues the products for both, and its
// commit arrives at a barrier of each.
func ExamplePairBarrier() {
	k := kernel.New("pair", kernel.Block(128), kernel.Clusters(2), kernel.Target("sm_100a"))
	mapA, mapB, out := k.TensorMap("a_map"), k.TensorMap("b_map"), k.GlobalPtr("out", kernel.F32)
	a := k.Tile("a", kernel.F16, 128, 64, 128) // of the CTA
	b := k.Tile("b", kernel.F16, 32, 64, 128)
	t := k.TensorMemoryPair("tmem", 64)
	d := t.Accumulator(kernel.F32, 256, 64)
	full, done := k.Mbarrier("full", 1), k.Mbarrier("done", 1)
	k.InitMbarriers() // with the cluster
	rank := k.ClusterRank()
	k.SingleWarp(1, func() {
		t.Alloc()
		t.Relinquish()
	})
	k.ClusterSync()
	k.TensorFenceAfter()
	k.SingleWarp(0, func() {
		k.Elect(func() {
			k.If(rank.Eq(0), func() { full.ArriveExpect(2 * (a.Size() + b.Size())) })
			to := full.Remote(0) // where the bytes of both CTAs count
			mapA.Load(a.Ptr(), to, kernel.Coords{0, rank.Mul(128)}, kernel.PairBarrier())
			mapB.Load(b.Ptr(), to, kernel.Coords{0, rank.Mul(32)}, kernel.PairBarrier())
			k.If(rank.Eq(0), func() {
				full.WaitParity(0)
				d.Mma(a, b.T(), kernel.Overwrite)
				done.Commit(kernel.Multicast(3))
			})
		})
	})
	done.WaitParity(0)
	k.TensorFenceAfter()
	row := rank.Mad(128, d.Row())
	for first := 0; first < 64; first += 32 {
		v := d.Load(first, 32)
		k.TensorWaitLoad()
		for i, r := range v {
			out.At(row.Mad(64, first+i)).Store(r)
		}
	}
	k.TensorFenceBefore()
	k.ClusterSync()
	k.TensorFenceAfter()
	k.SingleWarp(1, t.Free)

	va, vb, z := make([]uint16, 256*64), make([]uint16, 64*64), make([]float32, 256*64)
	for i := range va {
		va[i] = kernel.F16Bits(float32(i / 64)) // the row
	}
	for i := range vb {
		vb[i] = kernel.F16Bits(float32(i / 64)) // the column
	}
	fmt.Println(verdictOf(k.Call(kernel.Grid(2), a.MapOf(va, []int{256, 64}), b.MapOf(vb, []int{64, 64}), z)))
	fmt.Println(z[1], z[64+1], z[255*64+1], z[255*64+63])
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 256 threads, for every content of the buffers
	// 0 64 16320 1.02816e+06
}
