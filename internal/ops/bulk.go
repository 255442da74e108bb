package ops

import (
	"fmt"

	"muster/kernel"
)

// call makes a call of a kernel of 64 threads a CTA that declares its own
// parameters.
func call(name string, ctas, cluster int, body func(k *kernel.Kernel), args ...func() any) func() (*kernel.Call, error) {
	return func() (*kernel.Call, error) {
		opts := []kernel.Option{kernel.Block(64)}
		if cluster > 1 {
			opts = append(opts, kernel.Clusters(cluster))
		}
		k := kernel.New(name, opts...)
		body(k)
		var list []any
		for _, a := range args {
			list = append(list, a())
		}
		return k.Call(kernel.Grid(ctas), list...)
	}
}

// words are n numbers, and empty n zeros, as an argument; scattered numbers use
// all bits.
func words(n int) func() any     { return func() any { return numbers(n) } }
func empty(n int) func() any     { return func() any { return make([]uint32, n) } }
func scattered(n int) func() any { return func() any { return scatter(n) } }

func scatter(n int) []uint32 {
	v := make([]uint32, n)
	x := uint32(1)
	for i := range v {
		x = x*1664525 + 1013904223
		v[i] = x
	}
	return v
}

// pairs are scattered numbers of 64 bits.
func pairs(n int) func() any {
	return func() any {
		v := make([]uint64, n)
		for i, x := range scatter(2 * n) {
			v[i/2] |= uint64(x) << (32 * (i % 2))
		}
		return v
	}
}

// floats are small numbers whose sums depend on rounding.
func floats(n int) func() any {
	return func() any {
		v := make([]float32, n)
		for i, x := range scatter(n) {
			v[i] = float32(int32(x)) / (1 << 20)
		}
		return v
	}
}

func doubles(n int) func() any {
	return func() any {
		v := make([]float64, n)
		for i, x := range floats(n)().([]float32) {
			v[i] = float64(x) / 3
		}
		return v
	}
}

// halves are floats as f16 or bf16.
func halves(n int, bits func(float32) uint16) func() any {
	return func() any {
		v := make([]uint16, n)
		for i, x := range floats(n)().([]float32) {
			v[i] = bits(x / 16)
		}
		return v
	}
}

// expect has one thread announce the bytes of copies that it then issues, and
// everyone wait for them.
func expect(k *kernel.Kernel, bar kernel.Mbarrier, bytes int, issue func()) {
	k.SingleThread(func() {
		bar.ArriveExpect(bytes)
		issue()
	})
	bar.WaitParity(0)
}

// stored has everyone's writes to shared memory seen by the copies that one
// thread issues, and waits for these.
func stored(k *kernel.Kernel, issue func()) {
	k.FenceProxyAsync(kernel.SharedCTA)
	k.Sync()
	k.SingleThread(func() {
		issue()
		k.BulkCommit()
		k.BulkWait(0)
	})
}

func init() {
	add("bulk/load", []string{"Kernel.BulkLoad", "Mbarrier.ArriveExpect", "Mbarrier.WaitParity"},
		call("bulk_load", 1, 1, func(k *kernel.Kernel) {
			out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			expect(k, bar, 256, func() { k.BulkLoad(s, in, 256, bar) })
			t := k.TidX()
			out.At(t).Store(s.At(t.Xor(5)).Load())
		}, empty(64), words(64)))
	add("bulk/load-hint", []string{"Kernel.CachePolicy", "Kernel.CachePolicyFraction", "Kernel.CachePolicyRange", "CacheHint", "Kernel.BulkPrefetch"},
		call("bulk_load_hint", 1, 1, func(k *kernel.Kernel) {
			out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
			n := k.Param("n", kernel.U32)
			s := k.Shared("s", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			expect(k, bar, 256, func() {
				first := k.CachePolicy(kernel.EvictFirst)
				k.BulkPrefetch(in, n, kernel.CacheHint(first))
				k.BulkPrefetch(in, 128)
				k.BulkLoad(s, in, 64, bar, kernel.CacheHint(first))
				k.BulkLoad(s.At(16), in.At(16), 64, bar, kernel.CacheHint(k.CachePolicyFraction(kernel.EvictLast, 0.5, kernel.EvictUnchanged)))
				k.BulkLoad(s.At(32), in.At(32), n.Sub(128), bar, kernel.CacheHint(k.CachePolicyRange(in, kernel.EvictNormal, 128, kernel.EvictFirst, n)))
			})
			t := k.TidX()
			out.At(t).Store(s.At(t).Load())
		}, empty(64), words(64), func() any { return uint32(256) }))
	add("bulk/store", []string{"Kernel.BulkStore", "Kernel.BulkCommit", "Kernel.BulkWait", "Kernel.FenceProxyAsync"},
		call("bulk_store", 1, 1, func(k *kernel.Kernel) {
			out := k.GlobalPtr("out", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 64)
			t := k.TidX()
			s.At(t).Store(t.Mul(t))
			stored(k, func() {
				k.BulkStore(out, s, 128)
				k.BulkStore(out.At(32), s.At(32), 128, kernel.CacheHint(k.CachePolicy(kernel.EvictFirst)))
			})
		}, empty(64)))
	add("bulk/store-groups", []string{"Kernel.BulkWaitRead", "Kernel.BulkWait"},
		call("bulk_store_groups", 1, 1, func(k *kernel.Kernel) {
			// Two buffers in turn: a buffer is written again when all but the
			// latest group have read theirs.
			out := k.GlobalPtr("out", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 2, 64)
			t := k.TidX()
			k.Unroll(4, func(i int) {
				k.SingleThread(func() { k.BulkWaitRead(1) })
				k.Sync()
				s.At(i%2, t).Store(t.Add(1000 * i))
				k.FenceProxyAsync(kernel.SharedCTA)
				k.Sync()
				k.SingleThread(func() {
					k.BulkStore(out.At(64*i), s.At(i%2), 256)
					k.BulkCommit()
				})
			})
			k.SingleThread(func() { k.BulkWait(0) })
		}, empty(256)))
	add("bulk/multicast", []string{"Multicast", "Kernel.ClusterRank", "Kernel.ClusterSync"},
		call("bulk_multicast", 2, 2, func(k *kernel.Kernel) {
			out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			rank := k.ClusterRank()
			expect(k, bar, 256, func() {
				// Each CTA loads one half for both.
				k.BulkLoad(s.At(rank.Mul(32)), in.At(rank.Mul(32)), 128, bar, kernel.Multicast(3))
			})
			t := k.TidX()
			out.At(rank.Mad(64, t)).Store(s.At(t).Load().Add(rank))
			k.ClusterSync()
		}, empty(128), words(64)))
	add("bulk/multicast-mask", []string{"Multicast", "CacheHint"},
		call("bulk_multicast_mask", 2, 2, func(k *kernel.Kernel) {
			out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			rank := k.ClusterRank()
			expect(k, bar, 256, func() {
				// Each CTA loads what the other one gets.
				mask := k.Const(kernel.U32, 2).Shr(rank)
				k.BulkLoad(s, in.At(rank.Mul(64)), 256, bar, kernel.Multicast(mask), kernel.CacheHint(k.CachePolicy(kernel.EvictLast)))
			})
			t := k.TidX()
			out.At(rank.Mad(64, t)).Store(s.At(t).Load())
			k.ClusterSync()
		}, empty(128), words(128)))
	add("bulk/to-cluster", []string{"Kernel.BulkToCluster", "Ptr.Remote", "Mbarrier.Remote"},
		call("bulk_to_cluster", 2, 2, func(k *kernel.Kernel) {
			out := k.GlobalPtr("out", kernel.U32)
			from, to := k.Shared("from", kernel.U32, 64), k.Shared("to", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			rank, t := k.ClusterRank(), k.TidX()
			from.At(t).Store(rank.Mad(1000, t))
			k.FenceProxyAsync(kernel.SharedCTA)
			k.Sync()
			expect(k, bar, 256, func() {
				peer := rank.Xor(1)
				k.BulkToCluster(to.Remote(peer), from, 256, bar.Remote(peer))
			})
			out.At(rank.Mad(64, t)).Store(to.At(t).Load())
			k.ClusterSync()
		}, empty(128)))
	bulkReductions()
}

// values are n numbers of a type.
func values(t kernel.Type, n int) func() any {
	switch t {
	case kernel.F32:
		return floats(n)
	case kernel.F64:
		return doubles(n)
	case kernel.F16, kernel.F16x2:
		return halves(n*t.Size()/2, kernel.F16Bits)
	case kernel.BF16, kernel.BF16x2:
		return halves(n*t.Size()/2, kernel.BF16Bits)
	}
	if t.Size() == 8 {
		return pairs(n)
	}
	return scattered(n)
}

// A reduction is an operation with its types.
type reduction struct {
	op    kernel.Op
	types []kernel.Type
}

// clusterReductions are those in distributed shared memory.
var clusterReductions = []reduction{
	{kernel.Add, []kernel.Type{kernel.U32, kernel.S32, kernel.U64}},
	{kernel.Min, []kernel.Type{kernel.U32, kernel.S32}},
	{kernel.Max, []kernel.Type{kernel.U32, kernel.S32}},
	{kernel.Inc, []kernel.Type{kernel.U32}},
	{kernel.Dec, []kernel.Type{kernel.U32}},
	{kernel.And, []kernel.Type{kernel.B32}},
	{kernel.Or, []kernel.Type{kernel.B32}},
	{kernel.Xor, []kernel.Type{kernel.B32}},
}

// bulkReductions are cases of every operation and type of a bulk reduction.
func bulkReductions() {
	for _, r := range []reduction{
		{kernel.Add, []kernel.Type{kernel.U32, kernel.S32, kernel.U64, kernel.F16, kernel.BF16, kernel.F32, kernel.F64}},
		{kernel.Min, []kernel.Type{kernel.U32, kernel.S32, kernel.U64, kernel.S64, kernel.F16, kernel.BF16}},
		{kernel.Max, []kernel.Type{kernel.U32, kernel.S32, kernel.U64, kernel.S64, kernel.F16, kernel.BF16}},
		{kernel.Inc, []kernel.Type{kernel.U32}},
		{kernel.Dec, []kernel.Type{kernel.U32}},
		{kernel.And, []kernel.Type{kernel.B32, kernel.B64}},
		{kernel.Or, []kernel.Type{kernel.B32, kernel.B64}},
		{kernel.Xor, []kernel.Type{kernel.B32, kernel.B64}},
	} {
		for _, t := range r.types {
			name := fmt.Sprintf("%s_%s", r.op, t)
			add("bulk/reduce-"+name, []string{"Kernel.BulkReduce"},
				call("bulk_reduce_"+name, 1, 1, func(k *kernel.Kernel) {
					// The second half of the array goes through shared memory
					// onto the first.
					data := k.GlobalPtr("data", t, 16)
					s := k.Shared("s", t, 64)
					i := k.TidX()
					s.At(i).Store(data.At(i.Add(64)).Load())
					var opts []kernel.CopyOption
					if r.op == kernel.Add {
						opts = append(opts, kernel.CacheHint(k.CachePolicy(kernel.EvictLast)))
					}
					stored(k, func() { k.BulkReduce(r.op, data, s, 64*t.Size(), opts...) })
				}, values(t, 128)))
		}
	}
	for _, r := range clusterReductions {
		for _, t := range r.types {
			name := fmt.Sprintf("%s_%s", r.op, t)
			add("bulk/reduce-to-cluster-"+name, []string{"Kernel.BulkReduceToCluster"},
				call("bulk_reduce_to_cluster_"+name, 2, 2, func(k *kernel.Kernel) {
					// Each CTA reduces its numbers onto the other's.
					data := k.GlobalPtr("data", t, 16)
					mine, send := k.Shared("mine", t, 64), k.Shared("send", t, 64)
					bar := k.Mbarrier("bar", 1)
					k.InitMbarriers()
					i, rank := k.TidX(), k.ClusterRank()
					at := data.At(rank.Mad(64, i))
					mine.At(i).Store(at.Load())
					send.At(i).Store(at.Load().Xor(0x5555))
					k.FenceProxyAsync()
					k.ClusterSync()
					expect(k, bar, 64*t.Size(), func() {
						peer := rank.Xor(1)
						k.BulkReduceToCluster(r.op, mine.Remote(peer), send, 64*t.Size(), bar.Remote(peer))
					})
					at.Store(mine.At(i).Load())
					k.ClusterSync()
				}, values(t, 128)))
		}
	}
}
