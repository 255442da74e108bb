package ops

import "muster/kernel"

func init() {
	add("named/hand-over", []string{"Kernel.NamedBarrier", "NamedBarrier.Sync", "NamedBarrier.Arrive", "NamedBarrier.Threads"},
		grid("hand_over", 96, 1, 1, func(k *kernel.Kernel, out kernel.Ptr) {
			// A warp writes for two others, which signal it when they have read.
			words := k.Shared("words", kernel.U32, 32)
			full, empty := k.NamedBarrier(96), k.NamedBarrier(96)
			seen := k.Const(kernel.U32, 0)
			k.SingleWarp(0, func() {
				for i := range 3 {
					if i > 0 {
						empty.Sync()
					}
					words.At(k.LaneID()).Store(k.LaneID().Add(100 * i))
					full.Arrive()
				}
			})
			k.Warps(1, 2, func() {
				for i := range 3 {
					full.Sync()
					seen.Set(seen.Mul(500).Add(words.At(k.LaneID().Xor(31)).Load()))
					if i < 2 {
						empty.Arrive()
					}
				}
			})
			out.Store(seen)
		}))
	add("named/reduce", []string{"NamedBarrier.RedAnd", "NamedBarrier.RedOr", "NamedBarrier.RedPopc", "NamedBarrier.ID"},
		grid("reduce", 96, 1, 1, func(k *kernel.Kernel, out kernel.Ptr) {
			bar := k.NamedBarrier(64)
			seen := k.Const(kernel.U32, uint32(bar.ID()))
			t := k.TidX()
			k.Warps(1, 2, func() {
				see := func(p kernel.Pred) { seen.Set(seen.Mul(2).Add(p.Select(k.Const(kernel.U32, 1), 0))) }
				see(bar.RedAnd(t.Ge(32)))
				see(bar.RedAnd(t.Ge(33)))
				see(bar.RedOr(t.Eq(95)))
				see(bar.RedOr(t.Eq(5)))
				seen.Set(seen.Mul(100).Add(bar.RedPopc(t.Lt(50))))
			})
			out.Store(seen)
		}))
	add("named/sync-threads", []string{"Kernel.SyncThreads", "Kernel.SyncThreadsAnd", "Kernel.SyncThreadsOr", "Kernel.SyncThreadsCount"},
		grid("sync_threads", 96, 1, 1, func(k *kernel.Kernel, out kernel.Ptr) {
			words := k.Shared("words", kernel.U32, 96)
			t := k.TidX()
			words.At(t).Store(t.Mul(7))
			k.SyncThreads()
			seen := words.At(k.Const(kernel.U32, 95).Sub(t)).Load()
			see := func(p kernel.Pred) { seen.Set(seen.Mul(2).Add(p.Select(k.Const(kernel.U32, 1), 0))) }
			see(k.SyncThreadsAnd(t.Lt(96)))
			see(k.SyncThreadsAnd(t.Eq(3).Not()))
			see(k.SyncThreadsOr(t.Eq(3)))
			see(k.SyncThreadsOr(t.Gt(95)))
			out.Store(seen.Mul(100).Add(k.SyncThreadsCount(t.Lt(70))))
		}))
}
