package ops

import "muster/kernel"

func init() {
	add("group/ranges", []string{"Kernel.Threads", "Kernel.SingleThread", "Kernel.SingleWarp", "Kernel.Warps", "Kernel.ThreadIndex"},
		grid("ranges", 160, 1, 1, func(k *kernel.Kernel, out kernel.Ptr) {
			// Each thread writes the number of the group it was in last.
			seen := k.Const(kernel.U32, 0)
			mark := func(n int) func() {
				return func() { seen.Set(seen.Mul(10).Add(n)) }
			}
			k.SingleThread(mark(1))
			k.SingleWarp(1, mark(2))
			k.Warps(1, 3, func() {
				mark(3)()
				k.Warps(1, 1, mark(4))
				k.SingleThread(mark(5))
				k.Threads(40, 20, func() {
					mark(6)()
					k.Threads(10, 10, mark(7))
				})
			})
			k.Warps(4, 1, func() { seen.Set(k.ThreadIndex().Add(8000)) })
			out.Store(seen)
		}))
	add("group/warpgroup", []string{"Kernel.Warpgroup", "Kernel.EachWarp", "Kernel.Group"},
		grid("warpgroup", 256, 1, 1, func(k *kernel.Kernel, out kernel.Ptr) {
			// One thread of each warp of the second warpgroup writes for its warp.
			words := k.Shared("words", kernel.U32, 4)
			seen := k.Const(kernel.U32, 1)
			k.Warpgroup(1, func() {
				warp := k.ThreadIndex().Shr(5)
				k.EachWarp(func() {
					k.SingleThread(func() { words.At(warp).Store(warp.Add(50)) })
					k.Sync()
					seen.Set(words.At(warp).Load())
				})
			})
			out.Store(seen)
		}))
	add("group/elect", []string{"Kernel.Elect"},
		cta("elect", func(k *kernel.Kernel, out kernel.Ptr) {
			// Which lane it is says nothing of the order in which they come.
			word := k.Shared("word", kernel.U32, 2)
			k.SingleWarp(0, func() { k.Elect(func() { word.At(0).Store(k.LaneID().Add(5)) }) })
			k.SingleWarp(1, func() { k.Elect(func() { word.At(1).Store(k.TidX().Add(500)) }) })
			k.Sync()
			out.Store(word.At(0).Load().Mul(1000).Add(word.At(1).Load()))
		}))
	add("group/sync", []string{"Kernel.Sync", "SyncKind"},
		grid("sync", 128, 1, 1, func(k *kernel.Kernel, out kernel.Ptr) {
			// Threads of a group read what another thread of it wrote: of the CTA,
			// of two warps, of one, of eight lanes.
			words := k.Shared("words", kernel.U32, 128)
			t := k.TidX()
			seen := k.Const(kernel.U32, 0)
			swap := func(with int) {
				words.At(t).Store(t.Add(with))
				k.Sync()
				seen.Set(seen.Mul(300).Add(words.At(t.Xor(with)).Load()))
				k.Sync()
			}
			swap(127)
			k.Warps(0, 2, func() { swap(63) })
			k.Warps(2, 2, func() { swap(32) })
			k.SingleWarp(3, func() { swap(31) })
			k.Threads(8, 8, func() { swap(7) })
			k.SingleThread(func() { k.Sync() })
			out.Store(seen)
		}))
	add("group/three-dimensions", []string{"Block", "Kernel.BlockDims"}, threeDimensions)
}

// threeDimensions has groups of a block that is not flat.
func threeDimensions() (*kernel.Call, error) {
	k := kernel.New("three_dimensions", kernel.Block(8, 4, 3))
	out := k.GlobalPtr("out", kernel.U32)
	mine := out.At(k.TidZ().Mad(4, k.TidY()).Mad(8, k.TidX()))
	k.SingleWarp(0, func() { mine.Store(k.ThreadIndex().Add(100)) })
	k.Warps(1, 2, func() {
		k.Sync()
		mine.Store(k.ThreadIndex().Add(200))
		k.SingleThread(func() { mine.Store(k.TidZ().Add(900)) })
	})
	return k.Call(kernel.Grid(1), make([]uint32, 96))
}
