package kernel_test

import (
	"fmt"
	"testing"

	"muster/kernel"
)

// TestPairMistakes checks the whole text of mistakes with pairs of CTAs, each at its line.
func TestPairMistakes(t *testing.T) {
	const file = "mistakes_pair_test.go"
	f16, f32 := kernel.F16, kernel.F32
	pair := func(k *kernel.Kernel) *kernel.TensorMemory {
		t := k.TensorMemoryPair("tmem", 256)
		k.SingleWarp(0, t.Alloc)
		k.SingleWarp(0, t.Free)
		return t
	}
	tests := []struct {
		name, want string
		ctas       int
		body       func(k *kernel.Kernel)
	}{
		{"pair of one", `TensorMemoryPair("t"): the kernel has clusters of 1; pairs need an even number: give New the option Clusters`, 1,
			func(k *kernel.Kernel) {
				t := k.TensorMemoryPair("t", 32) // here: pair of one
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			}},
		{"pair beside a single one", `TensorMemory("t"): tmem is a pair's; all tensor memory of a kernel is of pairs of CTAs, or of single ones`, 2,
			func(k *kernel.Kernel) {
				pair(k)
				t := k.TensorMemory("t", 32) // here: pair beside a single one
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			}},
		{"128 rows of a pair", `Accumulator of 128 rows: a pair's product has 256, of which each CTA has half`, 2,
			func(k *kernel.Kernel) {
				pair(k).Accumulator(f32, 128, 32) // here: 128 rows of a pair
			}},
		{"A of both CTAs", `Mma: A has 256 rows, and each CTA's half of it 128`, 2,
			func(k *kernel.Kernel) {
				d := pair(k).Accumulator(f32, 256, 64)
				a, b := k.Tile("a", f16, 256, 64, 128), k.Tile("b", f16, 32, 64, 128)
				k.SingleThread(func() { d.Mma(a, b.T()) }) // here: A of both CTAs
			}},
		{"B of both CTAs", `Mma: B has 64 columns, and each CTA's half of it 32`, 2,
			func(k *kernel.Kernel) {
				d := pair(k).Accumulator(f32, 256, 64)
				a, b := k.Tile("a", f16, 128, 64, 128), k.Tile("b", f16, 64, 64, 128)
				k.SingleThread(func() { d.Mma(a, b.T()) }) // here: B of both CTAs
			}},
		{"commit beyond the cluster", `Commit: Multicast: the mask 0x4 names CTA 2, and the cluster has CTAs 0 to 1`, 2,
			func(k *kernel.Kernel) {
				pair(k)
				bar := k.Mbarrier("bar", 1)
				k.InitMbarriers()
				k.SingleThread(func() { bar.Commit(kernel.Multicast(4)) }) // here: commit beyond the cluster
			}},
		{"bytes in the other CTA", `TensorMap.Load: the barrier is in another CTA, and the destination in this one; bytes are counted in the CTA where they land`, 2,
			func(k *kernel.Kernel) {
				m, a, bar := k.TensorMap("m"), k.Tile("a", f16, 64, 64, 128), k.Mbarrier("bar", 1)
				k.InitMbarriers()
				k.SingleThread(func() { m.Load(a.Ptr(), bar.Remote(0), kernel.Coords{0, 0}) }) // here: bytes in the other CTA
			}},
		{"no pair to load for", `TensorMap.Load: PairBarrier: the kernel has clusters of 1; pairs need an even number`, 1,
			func(k *kernel.Kernel) {
				m, a, bar := k.TensorMap("m"), k.Tile("a", f16, 64, 64, 128), k.Mbarrier("bar", 1)
				k.InitMbarriers()
				k.SingleThread(func() { m.Load(a.Ptr(), bar, kernel.Coords{0, 0}, kernel.PairBarrier()) }) // here: no pair to load for
			}},
		{"a store by a pair", `TensorMap.Store takes no PairBarrier: it is for tensor loads`, 2,
			func(k *kernel.Kernel) {
				m, a := k.TensorMap("m"), k.Tile("a", f16, 64, 64, 128)
				k.SingleThread(func() { m.Store(kernel.Coords{0, 0}, a.Ptr(), kernel.PairBarrier()) }) // here: a store by a pair
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakesOf(t, []kernel.Option{kernel.Block(128), kernel.Clusters(test.ctas), kernel.Target("sm_100a")}, test.body)
			if want := fmt.Sprintf("%s:%d: %s", file, lineOf(t, file, "// here: "+test.name), test.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
