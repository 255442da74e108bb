package kernel_test

import (
	"strconv"
	"testing"

	"muster/kernel"
)

// fixture is what copies need: shared and global memory and a barrier.
func fixture(k *kernel.Kernel) (s, in kernel.Ptr, bar kernel.Mbarrier) {
	s, in, bar = k.Shared("s", kernel.U32, 256), k.GlobalPtr("in", kernel.U32, 16), k.Mbarrier("bar", 1)
	k.InitMbarriers()
	return
}

// tensor is what tensor copies need.
func tensor(k *kernel.Kernel) (tile kernel.Ptr, m kernel.TensorMap, bar kernel.Mbarrier) {
	tile, m, bar = k.SharedAlign("tile", 128, kernel.F16, 64), k.TensorMap("m"), k.Mbarrier("bar", 1)
	k.InitMbarriers()
	return
}

// TestAsyncMistakes holds the whole text of each mistake, and that it is reported
// once, at the line whose comment says so.
func TestAsyncMistakes(t *testing.T) {
	block := []kernel.Option{kernel.Block(128)}
	clusters := []kernel.Option{kernel.Block(128), kernel.Clusters(2)}
	old := []kernel.Option{kernel.Block(128), kernel.Version(8, 3)}
	tests := []struct {
		name string
		opts []kernel.Option
		want string
		body func(k *kernel.Kernel)
	}{
		{"bulk size", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 100, bar) // here: bulk size
			}},
		{"bulk of nothing", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 0, bar) // here: bulk of nothing
			}},
		{"bulk destination misaligned", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s.At(1), in, 64, bar) // here: bulk destination misaligned
			}},
		{"bulk destination too small", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s.At(240), in, 128, bar) // here: bulk destination too small
			}},
		{"bulk variable not aligned", block, ``,
			func(k *kernel.Kernel) {
				_, in, bar := fixture(k)
				few := k.Shared("few", kernel.U32, 3)
				k.BulkLoad(few, in, 16, bar) // here: bulk variable not aligned
			}},
		{"bulk load from shared", block, ``,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				k.BulkLoad(s, s, 64, bar) // here: bulk load from shared
			}},
		{"bulk load into generic", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s.Generic(), in, 64, bar) // here: bulk load into generic
			}},
		{"bulk load at an array", block, ``,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				bars := k.Mbarriers("bars", 4, 1)
				k.InitMbarriers()
				k.BulkLoad(s, in, 64, bars) // here: bulk load at an array
			}},
		{"bulk store into shared", block, ``,
			func(k *kernel.Kernel) {
				s, _, _ := fixture(k)
				k.BulkStore(s, s, 64) // here: bulk store into shared
			}},
		{"bulk store multicast", clusters, ``,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.BulkStore(in, s, 64, kernel.Multicast(3)) // here: bulk store multicast
			}},
		{"multicast without clusters", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.Multicast(1)) // here: multicast without clusters
			}},
		{"multicast beyond the cluster", clusters, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.Multicast(5)) // here: multicast beyond the cluster
			}},
		{"multicast to nobody", clusters, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.Multicast(0)) // here: multicast to nobody
			}},
		{"copy to a peer counted here", clusters, ``,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				k.BulkToCluster(s.Remote(1), s, 64, bar) // here: copy to a peer counted here
			}},
		{"copy to a cluster without one", block, ``,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				k.BulkToCluster(s, s, 64, bar) // here: copy to a cluster without one
			}},
		{"bulk reduction of a float", block, ``,
			func(k *kernel.Kernel) {
				s, _, _ := fixture(k)
				f := k.GlobalPtr("f", kernel.F32, 16)
				k.BulkReduce(kernel.Min, f, s, 64) // here: bulk reduction of a float
			}},
		{"bulk wait", block, ``,
			func(k *kernel.Kernel) {
				k.BulkWait(-1) // here: bulk wait
			}},
		{"a hint that is no policy", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.CacheHint(k.TidX())) // here: a hint that is no policy
			}},
		{"policy fraction", block, ``,
			func(k *kernel.Kernel) {
				k.CachePolicyFraction(kernel.EvictFirst, 1.5, kernel.EvictUnchanged) // here: policy fraction
			}},
		{"policy second", block, ``,
			func(k *kernel.Kernel) {
				k.CachePolicyFraction(kernel.EvictFirst, 0.5, kernel.EvictLast) // here: policy second
			}},
		{"bypass of a bulk copy", block, ``,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.BypassL1()) // here: bypass of a bulk copy
			}},
		{"tensor destination of 16 bytes", block, ``,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				m := k.TensorMap("m")
				m.Load(s, bar, kernel.Coords{0, 0}) // here: tensor destination of 16 bytes
			}},
		{"tensor destination within", block, ``,
			func(k *kernel.Kernel) {
				_, _, bar := fixture(k)
				m := k.TensorMap("m")
				tile := k.SharedAlign("tile", 128, kernel.F16, 64)
				m.Load(tile.At(8), bar, kernel.Coords{0, 0}) // here: tensor destination within
			}},
		{"no coordinates", block, ``,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.Load(tile, bar, nil) // here: no coordinates
			}},
		{"six coordinates", block, ``,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.Load(tile, bar, kernel.Coords{0, 0, 0, 0, 0, 0}) // here: six coordinates
			}},
		{"a wide coordinate", block, ``,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.Load(tile, bar, kernel.Coords{0, k.Const(kernel.U64, 3)}) // here: a wide coordinate
			}},
		{"im2col offsets", block, ``,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.LoadIm2col(tile, bar, kernel.Coords{0, 0, 0, 0}, []kernel.Num{1}) // here: im2col offsets
			}},
		{"im2col of two dimensions", block, ``,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.LoadIm2col(tile, bar, kernel.Coords{0, 0}, nil) // here: im2col of two dimensions
			}},
		{"tensor store from global", block, ``,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				m := k.TensorMap("m")
				m.Store(kernel.Coords{0}, in) // here: tensor store from global
			}},
		{"tensor exchange", block, ``,
			func(k *kernel.Kernel) {
				tile, m, _ := tensor(k)
				m.Reduce(kernel.Exch, kernel.Coords{0}, tile) // here: tensor exchange
			}},
		{"parameter replaced", block, ``,
			func(k *kernel.Kernel) {
				_, m, _ := tensor(k)
				m.ReplaceDim(0, 64) // here: parameter replaced
			}},
		{"copy through a map in shared memory", block, ``,
			func(k *kernel.Kernel) {
				tile, _, bar := tensor(k)
				m := k.TensorMapAt(tile)
				m.Load(tile, bar, kernel.Coords{0}) // here: copy through a map in shared memory
			}},
		{"stride replaced", block, ``,
			func(k *kernel.Kernel) {
				tile, _, _ := tensor(k)
				m := k.TensorMapAt(tile)
				m.ReplaceStride(0, 100) // here: stride replaced
			}},
		{"swizzle replaced", block, ``,
			func(k *kernel.Kernel) {
				tile, _, _ := tensor(k)
				m := k.TensorMapAt(tile)
				m.ReplaceSwizzle(96) // here: swizzle replaced
			}},
		{"map not aligned", block, ``,
			func(k *kernel.Kernel) {
				k.TensorMapAt(k.Shared("staged", kernel.B8, 128)) // here: map not aligned
			}},
		{"fence scope", block, ``,
			func(k *kernel.Kernel) {
				k.FenceAcqRel(kernel.Release) // here: fence scope
			}},
		{"fence of registers", block, ``,
			func(k *kernel.Kernel) {
				k.FenceProxyAsync(kernel.Local) // here: fence of registers
			}},
		{"fence too new", old, ``,
			func(k *kernel.Kernel) {
				k.FenceAcquire(kernel.GPU) // here: fence too new
			}},
		{"cp.async size", block, ``,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsync(s, in, 12) // here: cp.async size
			}},
		{"cp.async bypass", block, ``,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsync(s, in, 8, kernel.BypassL1()) // here: cp.async bypass
			}},
		{"cp.async misaligned", block, ``,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsync(s.At(1), in, 16) // here: cp.async misaligned
			}},
		{"cp.async wait", block, ``,
			func(k *kernel.Kernel) {
				k.CpAsyncWait(-2) // here: cp.async wait
			}},
		{"cp.async zfill", block, ``,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsyncZfill(s, in, 4, 8) // here: cp.async zfill
			}},
		{"cluster sync without one", block, ``,
			func(k *kernel.Kernel) {
				k.ClusterSync() // here: cluster sync without one
			}},
		{"cluster arrive acquires", clusters, ``,
			func(k *kernel.Kernel) {
				k.ClusterArrive(kernel.Acquire) // here: cluster arrive acquires
			}},
		{"store async without clusters", block, ``,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				s.At(0).StoreAsync(1, bar) // here: store async without clusters
			}},
		{"store async of halves", clusters, ``,
			func(k *kernel.Kernel) {
				_, _, bar := fixture(k)
				h := k.Shared("h", kernel.F16, 8)
				h.Remote(1).StoreAsync(k.Const(kernel.F16, 1), bar.Remote(1)) // here: store async of halves
			}},
		{"store async of another type", clusters, ``,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				s.Remote(1).Cast(kernel.U32).StoreAsync(k.Const(kernel.F64, 1), bar.Remote(1)) // here: store async of another type
			}},
		{"red async of floats", clusters, ``,
			func(k *kernel.Kernel) {
				_, _, bar := fixture(k)
				f := k.Shared("f", kernel.F32, 8)
				f.Remote(1).RedAsync(kernel.Add, k.Const(kernel.F32, 1), bar.Remote(1)) // here: red async of floats
			}},
		{"shuffle of halves", block, ``,
			func(k *kernel.Kernel) {
				k.ShflUp(k.Const(kernel.F16, 1), 1) // here: shuffle of halves
			}},
		{"shuffle width", block, ``,
			func(k *kernel.Kernel) {
				k.ShflBfly(k.TidX(), 1, kernel.Width(12)) // here: shuffle width
			}},
		{"shuffle beyond the warp", block, ``,
			func(k *kernel.Kernel) {
				k.ShflIdx(k.TidX(), 32) // here: shuffle beyond the warp
			}},
		{"vote with width", block, ``,
			func(k *kernel.Kernel) {
				k.VoteBallot(k.TidX().Eq(0), kernel.Width(8)) // here: vote with width
			}},
		{"members", block, ``,
			func(k *kernel.Kernel) {
				k.WarpSync(kernel.Members(0)) // here: members
			}},
		{"redux of floats", block, ``,
			func(k *kernel.Kernel) {
				k.Redux(kernel.Add, k.Const(kernel.F32, 1)) // here: redux of floats
			}},
		{"reduction by xor of floats", block, ``,
			func(k *kernel.Kernel) {
				k.WarpReduce(kernel.Xor, k.Const(kernel.F32, 1)) // here: reduction by xor of floats
			}},
		{"reduction in a group", block, ``,
			func(k *kernel.Kernel) {
				k.SingleWarp(0, func() {
					k.CTAReduce(kernel.Add, k.TidX()) // here: reduction in a group
				})
			}},
		{"atomic min of floats", block, ``,
			func(k *kernel.Kernel) {
				f := k.GlobalPtr("f", kernel.F32)
				f.Atom(kernel.Min, k.Const(kernel.F32, 1)) // here: atomic min of floats
			}},
		{"atomic and of floats", block, ``,
			func(k *kernel.Kernel) {
				f := k.GlobalPtr("f", kernel.F32)
				f.Red(kernel.And, k.Const(kernel.F32, 1)) // here: atomic and of floats
			}},
		{"atomic of another type", block, ``,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				in.Red(kernel.Add, k.Const(kernel.F32, 1)) // here: atomic of another type
			}},
		{"red acquires", block, ``,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				in.Red(kernel.Add, 1, kernel.Acquire, kernel.GPU) // here: red acquires
			}},
		{"red exchanges", block, ``,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				in.Red(kernel.Exch, 1) // here: red exchanges
			}},
		{"cas of bytes", block, ``,
			func(k *kernel.Kernel) {
				b := k.GlobalPtr("b", kernel.B8)
				b.CAS(0, 1) // here: cas of bytes
			}},
		{"vector atomic in shared memory", block, ``,
			func(k *kernel.Kernel) {
				f := k.Shared("f", kernel.F32, 4)
				f.RedVec(kernel.Add, k.Vars(kernel.F32, 4)) // here: vector atomic in shared memory
			}},
		{"registers not of eight", block, ``,
			func(k *kernel.Kernel) {
				k.SetMaxNRegDec(100) // here: registers not of eight
			}},
		{"registers of a warp", block, ``,
			func(k *kernel.Kernel) {
				k.SingleWarp(1, func() {
					k.SetMaxNRegDec(40) // here: registers of a warp
				})
			}},
		{"too long a sleep", block, ``,
			func(k *kernel.Kernel) {
				k.Nanosleep(2_000_000) // here: too long a sleep
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakesOf(t, test.opts, test.body)
			line := strconv.Itoa(lineOf(t, "mistakes_async_test.go", "// here: "+test.name))
			if want := "mistakes_async_test.go:" + line + ": " + test.want; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
