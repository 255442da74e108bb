package ops

import (
	"fmt"

	"muster/kernel"
)

func init() {
	for _, bytes := range []int{4, 8, 16} {
		words4 := bytes / 4
		add(fmt.Sprintf("cpasync/copy-%d", bytes), []string{"Kernel.CpAsync", "Kernel.CpAsyncCommit", "Kernel.CpAsyncWait"},
			call(fmt.Sprintf("cpasync_copy_%d", bytes), 1, 1, func(k *kernel.Kernel) {
				// Each thread copies its part of two tiles, a group each, and
				// reads another's of the first while the second is under way.
				out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
				s := k.Shared("s", kernel.U32, 2, 64*words4)
				t := k.TidX()
				for i := range 2 {
					k.CpAsync(s.At(i, t.Mul(words4)), in.At(t.Mul(words4).Add(64*words4*i)), bytes)
					k.CpAsyncCommit()
				}
				for i := range 2 {
					k.CpAsyncWait(1 - i)
					k.Sync()
					out.At(t.Add(64 * i)).Store(s.At(i, t.Mul(words4).Xor(32*words4)).Load())
				}
			}, empty(128), words(128*words4)))
	}
	add("cpasync/options", []string{"BypassL1", "PrefetchSize", "CacheHint", "Kernel.CpAsyncWaitAll"},
		call("cpasync_options", 1, 1, func(k *kernel.Kernel) {
			out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 3, 64, 4)
			t := k.TidX()
			k.CpAsync(s.At(0, t), in.At(t.Mul(4)), 16, kernel.BypassL1())
			k.CpAsync(s.At(1, t), in.At(t.Mul(4).Add(256)), 16, kernel.PrefetchSize(128))
			k.CpAsync(s.At(2, t), in.At(t.Mul(4).Add(512)), 16, kernel.BypassL1(), kernel.PrefetchSize(64), kernel.CacheHint(k.CachePolicy(kernel.EvictFirst)))
			k.CpAsyncWaitAll()
			k.Sync()
			for i := range 3 {
				out.At(t.Add(64 * i)).Store(s.At(i, t.Xor(1), i).Load())
			}
		}, empty(192), words(768)))
	add("cpasync/zfill", []string{"Kernel.CpAsyncZfill"},
		call("cpasync_zfill", 1, 1, func(k *kernel.Kernel) {
			// Threads beyond the array read nothing, and the last one a part.
			out, in := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("in", kernel.U32, 16)
			bytes := k.Param("bytes", kernel.U32)
			s := k.Shared("s", kernel.U32, 64, 4)
			t := k.TidX()
			at := t.Mul(16).Min(bytes)
			k.CpAsyncZfill(s.At(t), in.Bytes(at), 16, bytes.Sub(at).Min(16), kernel.BypassL1())
			k.CpAsyncWaitAll()
			k.Sync()
			for i := range 4 {
				out.At(t.Add(64 * i)).Store(s.At(t.Xor(1), i).Load())
			}
		}, empty(256), words(164), func() any { return uint32(656) }))
}
