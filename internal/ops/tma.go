package ops

import (
	"fmt"

	"muster/kernel"
)

// mapped is a tensor map over n numbers.
func mapped(n int, shape, box []int, opts ...kernel.MapOption) func() any {
	return func() any { return kernel.MapOf(numbers(n), kernel.U32, shape, box, opts...) }
}

// im2col is a map of a batch of images with 4 channels, with a filter of 2 in
// each spatial dimension.
func im2col(spatial ...int) func() any {
	shape, n := []int{2}, 8
	var lower, upper []int
	for _, s := range spatial {
		shape, n = append(shape, s), n*s
		lower, upper = append(lower, 0), append(upper, -1)
	}
	return func() any {
		return kernel.MapIm2col(numbers(n), kernel.U32, append(shape, 4), lower, upper, 4, 16)
	}
}

// inside is a place within a tensor: the innermost coordinate is at a multiple of
// 16 bytes.
func inside(n int) kernel.Coords {
	c := kernel.Coords{4}
	for len(c) < n {
		c = append(c, 1)
	}
	return c
}

func init() {
	boxes := [][]int{{64}, {8, 8}, {4, 4, 4}, {2, 4, 2, 4}, {2, 2, 2, 2, 4}}
	for d := 1; d <= 5; d++ {
		shape, n := make([]int, d), 1
		for i, b := range boxes[d-1] {
			shape[i] = b + 4
			n *= shape[i]
		}
		add(fmt.Sprintf("tma/load-%dd", d), []string{"Kernel.TensorMap", "TensorMap.Load", "TensorMap.PrefetchMap", "Coords", "MapOf"},
			call(fmt.Sprintf("tma_load_%dd", d), 1, 1, func(k *kernel.Kernel) {
				// One box inside of the tensor, and one that begins before it.
				out := k.GlobalPtr("out", kernel.U32)
				m := k.TensorMap("map")
				s := k.SharedAlign("s", 128, kernel.U32, 2, 64)
				bar := k.Mbarrier("bar", 1)
				k.InitMbarriers()
				at := inside(d)
				at[0] = k.Const(kernel.S32, -4)
				expect(k, bar, 512, func() {
					m.PrefetchMap()
					m.Load(s.At(0), bar, inside(d))
					m.Load(s.At(1), bar, at)
				})
				t := k.TidX()
				out.At(t).Store(s.At(0, t).Load())
				out.At(t.Add(64)).Store(s.At(1, t).Load())
			}, empty(128), mapped(n, shape, boxes[d-1])))
		add(fmt.Sprintf("tma/store-%dd", d), []string{"TensorMap.Store", "Kernel.BulkCommit", "Kernel.BulkWait"},
			call(fmt.Sprintf("tma_store_%dd", d), 1, 1, func(k *kernel.Kernel) {
				// The second box is partly outside, which is left out.
				m := k.TensorMap("map")
				s := k.SharedAlign("s", 128, kernel.U32, 2, 64)
				t := k.TidX()
				s.At(0, t).Store(t.Mul(3))
				s.At(1, t).Store(t.Mul(5))
				at := inside(d)
				at[0], at[d-1] = 4, shape[0]-4
				stored(k, func() {
					m.Store(inside(d), s.At(0))
					k.BulkCommit()
					k.BulkWait(0)
					m.Store(at, s.At(1), kernel.CacheHint(k.CachePolicy(kernel.EvictFirst)))
				})
			}, mapped(n, shape, boxes[d-1])))
	}
	for d := 3; d <= 5; d++ {
		size := []int{5, 6, 3}[:d-2]
		add(fmt.Sprintf("tma/im2col-%dd", d), []string{"TensorMap.LoadIm2col", "TensorMap.PrefetchIm2col", "MapIm2col"},
			call(fmt.Sprintf("tma_im2col_%dd", d), 1, 1, func(k *kernel.Kernel) {
				out := k.GlobalPtr("out", kernel.U32)
				filter := k.Param("filter", kernel.U32)
				m := k.TensorMap("map")
				s := k.SharedAlign("s", 128, kernel.U32, 2, 64)
				bar := k.Mbarrier("bar", 1)
				k.InitMbarriers()
				at := make(kernel.Coords, d)
				for i := range at {
					at[i] = 0
				}
				zero, one := make([]kernel.Num, d-2), make([]kernel.Num, d-2)
				for i := range zero {
					zero[i], one[i] = 0, filter
				}
				expect(k, bar, 512, func() {
					m.PrefetchIm2col(at, one)
					m.LoadIm2col(s.At(0), bar, at, zero)
					m.LoadIm2col(s.At(1), bar, at, one, kernel.CacheHint(k.CachePolicy(kernel.EvictLast)))
				})
				t := k.TidX()
				out.At(t).Store(s.At(0, t).Load())
				out.At(t.Add(64)).Store(s.At(1, t).Load())
			}, empty(128), func() any { return uint32(1) }, im2col(size...)))
		add(fmt.Sprintf("tma/store-im2col-%dd", d), []string{"TensorMap.StoreIm2col", "TensorMap.ReduceIm2col"},
			call(fmt.Sprintf("tma_store_im2col_%dd", d), 1, 1, func(k *kernel.Kernel) {
				m := k.TensorMap("map")
				s := k.SharedAlign("s", 128, kernel.U32, 64)
				t := k.TidX()
				s.At(t).Store(t.Mul(3))
				at := make(kernel.Coords, d)
				for i := range at {
					at[i] = 0
				}
				stored(k, func() {
					m.StoreIm2col(at, s)
					k.BulkCommit()
					k.BulkWait(0)
					m.ReduceIm2col(kernel.Add, at, s)
				})
			}, im2col(size...)))
	}
	for _, op := range []kernel.Op{kernel.Add, kernel.Min, kernel.Max, kernel.Inc, kernel.Dec, kernel.And, kernel.Or, kernel.Xor} {
		add("tma/reduce-"+string(op), []string{"TensorMap.Reduce"},
			call("tma_reduce_"+string(op), 1, 1, func(k *kernel.Kernel) {
				m := k.TensorMap("map")
				s := k.SharedAlign("s", 128, kernel.U32, 64)
				t := k.TidX()
				s.At(t).Store(t.Mul(37))
				stored(k, func() { m.Reduce(op, kernel.Coords{4, 2}, s) })
			}, mapped(144, []int{12, 12}, []int{8, 8})))
	}
	for _, e := range []struct {
		t    kernel.Type
		data any
	}{
		{kernel.F32, floats(144)()}, {kernel.F16, halves(144, kernel.F16Bits)()}, {kernel.BF16, halves(144, kernel.BF16Bits)()}, {kernel.U64, pairs(144)()},
	} {
		add("tma/reduce-add-"+string(e.t), []string{"TensorMap.Reduce", "CacheHint"},
			call("tma_reduce_add_"+string(e.t), 1, 1, func(k *kernel.Kernel) {
				// The tensor is read, and its sum with itself left there.
				m := k.TensorMap("map")
				s := k.SharedAlign("s", 128, e.t, 32)
				bar := k.Mbarrier("bar", 1)
				k.InitMbarriers()
				expect(k, bar, 32*e.t.Size(), func() { m.Load(s, bar, kernel.Coords{0, 0}) })
				k.SingleThread(func() {
					m.Reduce(kernel.Add, kernel.Coords{0, 3}, s, kernel.CacheHint(k.CachePolicy(kernel.EvictFirst)))
					k.BulkCommit()
					k.BulkWait(0)
				})
			}, func() any { return kernel.MapOf(clone(e.data), e.t, []int{9, 16}, []int{4, 8}) }))
	}
	add("tma/swizzle", []string{"TensorMap.Load", "TensorMap.Prefetch", "Swizzled"},
		call("tma_swizzle", 1, 1, func(k *kernel.Kernel) {
			out := k.GlobalPtr("out", kernel.U32)
			m := k.TensorMap("map")
			s := k.SharedAlign("s", 1024, kernel.U32, 8*32)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			expect(k, bar, 1024, func() {
				hint := kernel.CacheHint(k.CachePolicy(kernel.EvictLast))
				m.Prefetch(kernel.Coords{0, 0}, hint)
				m.Load(s, bar, kernel.Coords{0, 0}, hint)
			})
			k.Unroll(4, func(i int) {
				at := k.TidX().Add(64 * i)
				out.At(at).Store(s.At(at).Load())
			})
		}, empty(256), mapped(256, []int{8, 32}, []int{8, 32}, kernel.Swizzled(128))))
	add("tma/multicast", []string{"TensorMap.Load", "Multicast"},
		call("tma_multicast", 2, 2, func(k *kernel.Kernel) {
			out := k.GlobalPtr("out", kernel.U32)
			m := k.TensorMap("map")
			s := k.SharedAlign("s", 128, kernel.U32, 2, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			rank, t := k.ClusterRank(), k.TidX()
			expect(k, bar, 512, func() {
				// Each CTA loads one of two boxes for both.
				m.Load(s.At(rank), bar, kernel.Coords{0, rank.Mul(8)}, kernel.Multicast(3))
			})
			at := out.At(rank.Mad(128, t))
			at.Store(s.At(0, t).Load())
			at.At(64).Store(s.At(1, t).Load())
			k.ClusterSync()
		}, empty(256), mapped(128, []int{16, 8}, []int{8, 8})))
	changes()
}

// clone copies a slice, so that a case does not see what another run left.
func clone(v any) any {
	switch v := v.(type) {
	case []float32:
		return append([]float32(nil), v...)
	case []uint16:
		return append([]uint16(nil), v...)
	case []uint64:
		return append([]uint64(nil), v...)
	}
	return v
}

// changes are cases of maps that the kernel changes.
func changes() {
	// Both make, of a map over one array, one over another that is transposed
	// in its shape, and copy through it.
	use := func(k *kernel.Kernel, m kernel.TensorMap, out kernel.Ptr) {
		s := k.SharedAlign("s", 128, kernel.U32, 64)
		bar := k.Mbarrier("bar", 1)
		k.InitMbarriers()
		k.SingleThread(func() {
			k.FenceTensormapAcquire(m.Ptr(), kernel.GPU)
			bar.ArriveExpect(256)
			m.Load(s, bar, kernel.Coords{8, 1})
		})
		bar.WaitParity(0)
		t := k.TidX()
		out.At(t).Store(s.At(t).Load())
	}
	args := []func() any{empty(64), words(192), func() any { return kernel.Scratch(make([]uint8, 128)) }, mapped(144, []int{12, 12}, []int{8, 8})}
	add("tma/change-global", []string{"Kernel.TensorMapAt", "TensorMap.Copy", "TensorMap.Ptr", "Kernel.FenceTensormapRelease", "Kernel.FenceTensormapAcquire",
		"TensorMap.ReplaceAddress", "TensorMap.ReplaceDim", "TensorMap.ReplaceStride", "TensorMap.ReplaceBox", "TensorMap.ReplaceRank", "TensorMap.ReplaceElementStride"},
		call("tma_change_global", 1, 1, func(k *kernel.Kernel) {
			out, other := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("other", kernel.U32, 16)
			memory := k.GlobalPtr("memory", kernel.B8, 128)
			m := k.TensorMapAt(memory)
			original := k.TensorMap("map")
			k.SingleThread(func() {
				original.Copy(memory)
				m.ReplaceAddress(other)
				m.ReplaceRank(2)
				m.ReplaceDim(0, 16)
				m.ReplaceDim(1, 12)
				m.ReplaceStride(0, 64)
				m.ReplaceBox(0, 16)
				m.ReplaceBox(1, 4)
				m.ReplaceElementStride(1, 1)
				k.FenceTensormapRelease(kernel.GPU)
			})
			k.Sync()
			use(k, m, out)
		}, args...))
	add("tma/change-shared", []string{"TensorMap.CopyFence", "TensorMap.ReplaceElem", "TensorMap.ReplaceSwizzle", "TensorMap.ReplaceInterleave", "TensorMap.ReplaceFill"},
		call("tma_change_shared", 1, 1, func(k *kernel.Kernel) {
			out, other := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("other", kernel.U32, 16)
			memory := k.GlobalPtr("memory", kernel.B8, 128)
			m := k.TensorMapAt(memory)
			original := k.TensorMap("map")
			staged := k.TensorMapAt(k.SharedAlign("staged", 128, kernel.B8, 128))
			k.SingleWarp(0, func() {
				k.Elect(func() {
					original.Copy(staged.Ptr())
					staged.ReplaceAddress(other.Generic())
					staged.ReplaceElem(kernel.F32)
					staged.ReplaceSwizzle(32)
					staged.ReplaceInterleave(0)
					staged.ReplaceFill(true)
				})
				k.WarpSync()
				staged.CopyFence(m, kernel.GPU)
			})
			k.Sync()
			use(k, m, out)
		}, args...))
}
