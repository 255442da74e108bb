package kernel_test

import (
	"strconv"
	"testing"

	"muster/kernel"
)

// fixture makes what copies need: shared and global memory and a barrier.
func fixture(k *kernel.Kernel) (s, in kernel.Ptr, bar kernel.Mbarrier) {
	s, in, bar = k.Shared("s", kernel.U32, 256), k.GlobalPtr("in", kernel.U32, 16), k.Mbarrier("bar", 1)
	k.InitMbarriers()
	return
}

// tensor makes what tensor copies need.
func tensor(k *kernel.Kernel) (tile kernel.Ptr, m kernel.TensorMap, bar kernel.Mbarrier) {
	tile, m, bar = k.SharedAlign("tile", 128, kernel.F16, 64), k.TensorMap("m"), k.Mbarrier("bar", 1)
	k.InitMbarriers()
	return
}

// TestAsyncMistakes checks the whole text of each mistake, and that it is
// reported once, at the line whose comment names it.
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
		{"bulk size", block, `BulkLoad of 100 bytes: the size is no multiple of 16; the next is 112`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 100, bar) // here: bulk size
			}},
		{"bulk of nothing", block, `BulkLoad of 0 bytes: it copies 16 at least`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 0, bar) // here: bulk of nothing
			}},
		{"bulk destination misaligned", block, `BulkLoad: the destination is byte 4 of s; want a multiple of 16 bytes`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s.At(1), in, 64, bar) // here: bulk destination misaligned
			}},
		{"bulk destination too small", block, `BulkLoad of 128 bytes: the destination, s, has 64 from byte 960 on`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s.At(240), in, 128, bar) // here: bulk destination too small
			}},
		{"bulk variable not aligned", block, `BulkLoad: the destination, few, is aligned to 4 bytes; want a multiple of 16: allocate it with SharedAlign("few", 16, …)`,
			func(k *kernel.Kernel) {
				_, in, bar := fixture(k)
				few := k.Shared("few", kernel.U32, 3)
				k.BulkLoad(few, in, 16, bar) // here: bulk variable not aligned
			}},
		{"bulk load from shared", block, `BulkLoad: the source is an address in shared::cta; want one in global`,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				k.BulkLoad(s, s, 64, bar) // here: bulk load from shared
			}},
		{"bulk load into generic", block, `BulkLoad: the destination is an address in generic; want one in shared::cluster: take it there with To(kernel.SharedCTA)`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s.Generic(), in, 64, bar) // here: bulk load into generic
			}},
		{"bulk load at an array", block, `BulkLoad: bars is an array of 4 barriers; take one of them with At`,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				bars := k.Mbarriers("bars", 4, 1)
				k.InitMbarriers()
				k.BulkLoad(s, in, 64, bars) // here: bulk load at an array
			}},
		{"bulk store into shared", block, `BulkStore: the destination is an address in shared::cta; want one in global`,
			func(k *kernel.Kernel) {
				s, _, _ := fixture(k)
				k.BulkStore(s, s, 64) // here: bulk store into shared
			}},
		{"bulk store multicast", clusters, `BulkStore takes no Multicast: only loads from global memory into shared memory reach several CTAs`,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.BulkStore(in, s, 64, kernel.Multicast(3)) // here: bulk store multicast
			}},
		{"multicast without clusters", block, `BulkLoad: Multicast: the kernel has no clusters; give New the option Clusters`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.Multicast(1)) // here: multicast without clusters
			}},
		{"multicast beyond the cluster", clusters, `BulkLoad: Multicast: the mask 0x5 names CTA 2, and the cluster has CTAs 0 to 1`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.Multicast(5)) // here: multicast beyond the cluster
			}},
		{"multicast to nobody", clusters, `BulkLoad: Multicast: the mask is 0 and names no CTA`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.Multicast(0)) // here: multicast to nobody
			}},
		{"copy to a peer counted here", clusters, `BulkToCluster: the destination is in another CTA, and the barrier in this one; bytes are counted in the CTA where they land: use Remote of the barrier`,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				k.BulkToCluster(s.Remote(1), s, 64, bar) // here: copy to a peer counted here
			}},
		{"copy to a cluster without one", block, `BulkToCluster: the kernel has no clusters; give New the option Clusters`,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				k.BulkToCluster(s, s, 64, bar) // here: copy to a cluster without one
			}},
		{"bulk reduction of a float", block, `BulkReduce: there is no min of type f32; it takes u32, s32, u64, s64, f16, bf16`,
			func(k *kernel.Kernel) {
				s, _, _ := fixture(k)
				f := k.GlobalPtr("f", kernel.F32, 16)
				k.BulkReduce(kernel.Min, f, s, 64) // here: bulk reduction of a float
			}},
		{"bulk wait", block, `BulkWait(-1): it is the number of groups that may be left, 0 or more`,
			func(k *kernel.Kernel) {
				k.BulkWait(-1) // here: bulk wait
			}},
		{"a hint that is no policy", block, `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint: operand policy has type u32; want b64: convert it with Cvt`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.CacheHint(k.TidX())) // here: a hint that is no policy
			}},
		{"policy fraction", block, `CachePolicyFraction: a fraction of 1.5; it is more than 0 and at most 1`,
			func(k *kernel.Kernel) {
				k.CachePolicyFraction(kernel.EvictFirst, 1.5, kernel.EvictUnchanged) // here: policy fraction
			}},
		{"policy second", block, `CachePolicyFraction: the secondary priority is L2::evict_last; it is EvictFirst or EvictUnchanged`,
			func(k *kernel.Kernel) {
				k.CachePolicyFraction(kernel.EvictFirst, 0.5, kernel.EvictLast) // here: policy second
			}},
		{"bypass of a bulk copy", block, `BulkLoad takes neither BypassL1 nor PrefetchSize: they are of CpAsync`,
			func(k *kernel.Kernel) {
				s, in, bar := fixture(k)
				k.BulkLoad(s, in, 64, bar, kernel.BypassL1()) // here: bypass of a bulk copy
			}},
		{"tensor destination of 16 bytes", block, `TensorMap.Load: the destination, s, is aligned to 16 bytes; want a multiple of 128: allocate it with SharedAlign("s", 128, …)`,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				m := k.TensorMap("m")
				m.Load(s, bar, kernel.Coords{0, 0}) // here: tensor destination of 16 bytes
			}},
		{"tensor destination within", block, `TensorMap.Load: the destination is byte 16 of tile; want a multiple of 128 bytes`,
			func(k *kernel.Kernel) {
				_, _, bar := fixture(k)
				m := k.TensorMap("m")
				tile := k.SharedAlign("tile", 128, kernel.F16, 64)
				m.Load(tile.At(8), bar, kernel.Coords{0, 0}) // here: tensor destination within
			}},
		{"no coordinates", block, `TensorMap.Load: 0 coordinates; it takes 1 to 5, one for each dimension of the map, innermost first`,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.Load(tile, bar, nil) // here: no coordinates
			}},
		{"six coordinates", block, `TensorMap.Load: 6 coordinates; it takes 1 to 5, one for each dimension of the map, innermost first`,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.Load(tile, bar, kernel.Coords{0, 0, 0, 0, 0, 0}) // here: six coordinates
			}},
		{"a wide coordinate", block, `TensorMap.Load: coordinate 1 has type u64; coordinates are s32`,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.Load(tile, bar, kernel.Coords{0, k.Const(kernel.U64, 3)}) // here: a wide coordinate
			}},
		{"im2col offsets", block, `TensorMap.LoadIm2col: 1 offsets for 4 coordinates; a map of 4 dimensions has 2 spatial ones, all but the first and the last`,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.LoadIm2col(tile, bar, kernel.Coords{0, 0, 0, 0}, []kernel.Num{1}) // here: im2col offsets
			}},
		{"im2col of two dimensions", block, `TensorMap.LoadIm2col: 2 coordinates; it takes 3 to 5, one for each dimension of the map, innermost first`,
			func(k *kernel.Kernel) {
				tile, m, bar := tensor(k)
				m.LoadIm2col(tile, bar, kernel.Coords{0, 0}, nil) // here: im2col of two dimensions
			}},
		{"tensor store from global", block, `TensorMap.Store: the source is an address in global; want one in shared::cta`,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				m := k.TensorMap("m")
				m.Store(kernel.Coords{0}, in) // here: tensor store from global
			}},
		{"tensor exchange", block, `TensorMap.Reduce: there is no operation "exch"; it takes add, min, max, inc, dec, and, or, xor`,
			func(k *kernel.Kernel) {
				tile, m, _ := tensor(k)
				m.Reduce(kernel.Exch, kernel.Coords{0}, tile) // here: tensor exchange
			}},
		{"parameter replaced", block, `TensorMap.ReplaceDim: the map is a parameter, which is constant; copy it to memory and use TensorMapAt`,
			func(k *kernel.Kernel) {
				_, m, _ := tensor(k)
				m.ReplaceDim(0, 64) // here: parameter replaced
			}},
		{"copy through a map in shared memory", block, `TensorMap.Load: the map is in shared memory, where it can only be changed; CopyFence takes it to global memory`,
			func(k *kernel.Kernel) {
				tile, _, bar := tensor(k)
				m := k.TensorMapAt(tile)
				m.Load(tile, bar, kernel.Coords{0}) // here: copy through a map in shared memory
			}},
		{"stride replaced", block, `TensorMap.ReplaceStride: a stride of 100 bytes; it is a multiple of 16`,
			func(k *kernel.Kernel) {
				tile, _, _ := tensor(k)
				m := k.TensorMapAt(tile)
				m.ReplaceStride(0, 100) // here: stride replaced
			}},
		{"swizzle replaced", block, `TensorMap.ReplaceSwizzle(96): it is one of [0 32 64 128] bytes`,
			func(k *kernel.Kernel) {
				tile, _, _ := tensor(k)
				m := k.TensorMapAt(tile)
				m.ReplaceSwizzle(96) // here: swizzle replaced
			}},
		{"map not aligned", block, `TensorMapAt: the map, staged, is aligned to 16 bytes; want a multiple of 128: allocate it with SharedAlign("staged", 128, …)`,
			func(k *kernel.Kernel) {
				k.TensorMapAt(k.Shared("staged", kernel.B8, 128)) // here: map not aligned
			}},
		{"fence scope", block, `FenceAcqRel("release"): a scope is CTA, Cluster, GPU or Sys`,
			func(k *kernel.Kernel) {
				k.FenceAcqRel(kernel.Release) // here: fence scope
			}},
		{"fence of registers", block, `FenceProxyAsync: the asynchronous proxy does not access local; it takes Global, SharedCTA and SharedCluster`,
			func(k *kernel.Kernel) {
				k.FenceProxyAsync(kernel.Local) // here: fence of registers
			}},
		{"fence too new", old, `fence.acquire needs PTX 8.6, and the kernel is for 8.3`,
			func(k *kernel.Kernel) {
				k.FenceAcquire(kernel.GPU) // here: fence too new
			}},
		{"cp.async size", block, `CpAsync of 12 bytes: it copies 4, 8 or 16`,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsync(s, in, 12) // here: cp.async size
			}},
		{"cp.async bypass", block, `CpAsync of 8 bytes with BypassL1: that copies 16`,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsync(s, in, 8, kernel.BypassL1()) // here: cp.async bypass
			}},
		{"cp.async misaligned", block, `CpAsync: the destination is byte 4 of s; want a multiple of 16 bytes`,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsync(s.At(1), in, 16) // here: cp.async misaligned
			}},
		{"cp.async wait", block, `CpAsyncWait(-2): it is the number of groups that may be left, 0 or more`,
			func(k *kernel.Kernel) {
				k.CpAsyncWait(-2) // here: cp.async wait
			}},
		{"cp.async zfill", block, `CpAsyncZfill: 8 bytes of the source for 4 in all`,
			func(k *kernel.Kernel) {
				s, in, _ := fixture(k)
				k.CpAsyncZfill(s, in, 4, 8) // here: cp.async zfill
			}},
		{"cluster sync without one", block, `ClusterSync: the kernel has no clusters; give New the option Clusters`,
			func(k *kernel.Kernel) {
				k.ClusterSync() // here: cluster sync without one
			}},
		{"cluster arrive acquires", clusters, `ClusterArrive takes no modifier acquire; it takes release, relaxed and aligned`,
			func(k *kernel.Kernel) {
				k.ClusterArrive(kernel.Acquire) // here: cluster arrive acquires
			}},
		{"store async without clusters", block, `StoreAsync: the kernel has no clusters; give New the option Clusters`,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				s.At(0).StoreAsync(1, bar) // here: store async without clusters
			}},
		{"store async of halves", clusters, `StoreAsync of elements of type f16: they have 4 or 8 bytes`,
			func(k *kernel.Kernel) {
				_, _, bar := fixture(k)
				h := k.Shared("h", kernel.F16, 8)
				h.Remote(1).At(0).StoreAsync(k.Const(kernel.F16, 1), bar.Remote(1)) // here: store async of halves
			}},
		{"store async of another type", clusters, `StoreAsync: the value has type f64; want u32: convert it with Cvt`,
			func(k *kernel.Kernel) {
				s, _, bar := fixture(k)
				s.Remote(1).Cast(kernel.U32).StoreAsync(k.Const(kernel.F64, 1), bar.Remote(1)) // here: store async of another type
			}},
		{"red async of floats", clusters, `RedAsync: there is no add of type f32; it takes u32, s32, u64`,
			func(k *kernel.Kernel) {
				_, _, bar := fixture(k)
				f := k.Shared("f", kernel.F32, 8)
				f.Remote(1).At(0).RedAsync(kernel.Add, k.Const(kernel.F32, 1), bar.Remote(1)) // here: red async of floats
			}},
		{"shuffle of halves", block, `ShflUp of a register of type f16: it moves 32 or 64 bits; convert it with Cvt, or take its bits with As and Pack`,
			func(k *kernel.Kernel) {
				k.ShflUp(k.Const(kernel.F16, 1), 1) // here: shuffle of halves
			}},
		{"shuffle width", block, `ShflBfly: Width(12): a segment has 1, 2, 4, 8, 16 or 32 lanes`,
			func(k *kernel.Kernel) {
				k.ShflBfly(k.TidX(), 1, kernel.Width(12)) // here: shuffle width
			}},
		{"shuffle beyond the warp", block, `ShflIdx by 32: a warp has lanes 0 to 31`,
			func(k *kernel.Kernel) {
				k.ShflIdx(k.TidX(), 32) // here: shuffle beyond the warp
			}},
		{"vote with width", block, `VoteBallot takes no Width`,
			func(k *kernel.Kernel) {
				k.VoteBallot(k.TidX().Eq(0), kernel.Width(8)) // here: vote with width
			}},
		{"members", block, `WarpSync: Members(0x0): a mask names some of 32 lanes`,
			func(k *kernel.Kernel) {
				k.WarpSync(kernel.Members(0)) // here: members
			}},
		{"redux of floats", block, `Redux: there is no add of type f32; it takes u32, s32`,
			func(k *kernel.Kernel) {
				k.Redux(kernel.Add, k.Const(kernel.F32, 1)) // here: redux of floats
			}},
		{"reduction by xor of floats", block, `WarpReduce: xor of type f32: it is of bits; take them with As`,
			func(k *kernel.Kernel) {
				k.WarpReduce(kernel.Xor, k.Const(kernel.F32, 1)) // here: reduction by xor of floats
			}},
		{"reduction in a group", block, `CTAReduce in threads 0 to 31: all threads of the CTA come to it; call it outside of groups, or GroupReduce`,
			func(k *kernel.Kernel) {
				k.SingleWarp(0, func() {
					k.CTAReduce(kernel.Add, k.TidX()) // here: reduction in a group
				})
			}},
		{"reduction in a part of a warp", block, `GroupReduce in threads 0 to 15: it is for whole warps; WarpReduce is for lanes of one`,
			func(k *kernel.Kernel) {
				k.Threads(0, 16, func() {
					k.GroupReduce(kernel.Add, k.TidX()) // here: reduction in a part of a warp
				})
			}},
		{"atomic min of floats", block, `Atom: there is no min of type f32; it takes u32, s32, u64, s64`,
			func(k *kernel.Kernel) {
				f := k.GlobalPtr("f", kernel.F32)
				f.Atom(kernel.Min, k.Const(kernel.F32, 1)) // here: atomic min of floats
			}},
		{"atomic and of floats", block, `Red: there is no and of type f32; it takes b32, b64`,
			func(k *kernel.Kernel) {
				f := k.GlobalPtr("f", kernel.F32)
				f.Red(kernel.And, k.Const(kernel.F32, 1)) // here: atomic and of floats
			}},
		{"atomic of another type", block, `Red: the value has type f32; want u32: take its bits with As, or convert it with Cvt`,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				in.Red(kernel.Add, k.Const(kernel.F32, 1)) // here: atomic of another type
			}},
		{"red acquires", block, `Red takes no modifier acquire; it takes relaxed, release, cta, cluster, gpu and sys`,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				in.Red(kernel.Add, 1, kernel.Acquire, kernel.GPU) // here: red acquires
			}},
		{"red exchanges", block, `Red: there is no exch; it is a Store, or Atom`,
			func(k *kernel.Kernel) {
				_, in, _ := fixture(k)
				in.Red(kernel.Exch, 1) // here: red exchanges
			}},
		{"cas of bytes", block, `CAS of elements of type b8: they have 16, 32, 64 or 128 bits`,
			func(k *kernel.Kernel) {
				b := k.GlobalPtr("b", kernel.B8)
				b.CAS(0, 1) // here: cas of bytes
			}},
		{"vector atomic in shared memory", block, `RedVec: the address is an address in shared::cta; want one in global`,
			func(k *kernel.Kernel) {
				f := k.Shared("f", kernel.F32, 4)
				f.RedVec(kernel.Add, k.Vars(kernel.F32, 4)) // here: vector atomic in shared memory
			}},
		{"registers not of eight", block, `SetMaxNRegDec(100): a thread has 24 to 256 registers, a multiple of 8`,
			func(k *kernel.Kernel) {
				k.SetMaxNRegDec(100) // here: registers not of eight
			}},
		{"registers of a warp", block, `SetMaxNRegDec by threads 32 to 63: all warps of a warpgroup execute it; make the group one with Warpgroup`,
			func(k *kernel.Kernel) {
				k.SingleWarp(1, func() {
					k.SetMaxNRegDec(40) // here: registers of a warp
				})
			}},
		{"too long a sleep", block, `Nanosleep(2000000): it sleeps 0 to 1,000,000 nanoseconds`,
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
