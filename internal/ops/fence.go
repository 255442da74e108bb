package ops

import "muster/kernel"

func init() {
	// Each pair of fences stands around a relaxed arrival and wait: threads
	// hand words to each other.
	for _, f := range []struct {
		name             string
		release, acquire func(k *kernel.Kernel)
		uses             []string
	}{
		{"acq-rel", func(k *kernel.Kernel) { k.FenceAcqRel(kernel.CTA) }, func(k *kernel.Kernel) { k.FenceAcqRel(kernel.CTA) }, []string{"Kernel.FenceAcqRel"}},
		{"sc", func(k *kernel.Kernel) { k.FenceSC(kernel.GPU) }, func(k *kernel.Kernel) { k.FenceSC(kernel.GPU) }, []string{"Kernel.FenceSC"}},
		{"release-acquire", func(k *kernel.Kernel) { k.FenceRelease(kernel.CTA) }, func(k *kernel.Kernel) { k.FenceAcquire(kernel.CTA) }, []string{"Kernel.FenceRelease", "Kernel.FenceAcquire"}},
	} {
		add("fence/"+f.name, f.uses, cta("fence", func(k *kernel.Kernel, out kernel.Ptr) {
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers()
			t := k.TidX()
			words.At(t).Store(t.Mul(7))
			f.release(k)
			bar.Arrive(kernel.Relaxed)
			bar.WaitParity(0, kernel.Relaxed)
			f.acquire(k)
			out.Store(words.At(t.Xor(63)).Load())
		}))
	}
	add("fence/sync-restrict", []string{"Kernel.FenceReleaseSync", "Kernel.FenceAcquireSync"},
		clusters("fence_sync_restrict", func(k *kernel.Kernel, out kernel.Ptr) {
			// Threads read what their CTA's peer wrote to its own memory.
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers()
			rank, t := k.ClusterRank(), k.TidX()
			peer := rank.Xor(1)
			words.At(t).Store(rank.Mad(100, t))
			k.FenceReleaseSync()
			bar.Remote(peer).Arrive(kernel.Relaxed, kernel.Cluster)
			bar.WaitParity(0, kernel.Relaxed, kernel.Cluster)
			k.FenceAcquireSync()
			out.Store(words.Remote(peer).At(t.Xor(1)).Load())
			k.ClusterSync()
		}))
	add("fence/proxy-async-restrict", []string{"Kernel.FenceProxyAsyncRelease", "Kernel.FenceProxyAsyncAcquire"},
		clusters("fence_proxy_async_restrict", func(k *kernel.Kernel, out kernel.Ptr) {
			// Threads read their memory, and then the peer's copy overwrites it.
			words, send := k.Shared("words", kernel.U32, 64), k.Shared("send", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			rank, t := k.ClusterRank(), k.TidX()
			words.At(t).Store(t.Add(5))
			send.At(t).Store(rank.Mad(100, t))
			k.FenceProxyAsync(kernel.SharedCTA)
			k.SyncThreads()
			sum := words.At(t.Xor(9)).Load()
			k.FenceProxyAsyncRelease()
			k.ClusterArrive()
			k.ClusterWait()
			k.FenceProxyAsyncAcquire()
			expect(k, bar, 256, func() {
				peer := rank.Xor(1)
				k.BulkToCluster(words.Remote(peer), send, 256, bar.Remote(peer))
			})
			out.Store(sum.Mul(1000).Add(words.At(t).Load()))
			k.ClusterSync()
		}))
	add("fence/mbarrier-init", []string{"Kernel.FenceMbarrierInit", "Mbarrier.Init", "Kernel.ClusterArrive", "Kernel.ClusterWait"},
		clusters("fence_mbarrier_init", func(k *kernel.Kernel, out kernel.Ptr) {
			bar := k.Mbarrier("bar", 64)
			k.SingleThread(func() {
				bar.Init(64)
				k.FenceMbarrierInit()
			})
			k.ClusterArrive(kernel.Relaxed)
			k.ClusterWait()
			bar.Remote(k.ClusterRank().Xor(1)).Arrive()
			bar.WaitParity(0)
			out.Store(k.TidX())
			k.ClusterSync()
		}))
	add("fence/proxy", []string{"Kernel.FenceProxyAsync", "Kernel.FenceProxyAlias"},
		call("fence_proxy", 1, 1, func(k *kernel.Kernel) {
			// Global memory too: threads write what a bulk load reads.
			out := k.GlobalPtr("out", kernel.U32, 16)
			s := k.Shared("s", kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			t := k.TidX()
			out.At(t).Store(t.Mul(11))
			k.FenceProxyAsync(kernel.Global, kernel.SharedCluster)
			k.Sync()
			expect(k, bar, 256, func() { k.BulkLoad(s, out, 256, bar) })
			k.FenceProxyAlias()
			out.At(t.Add(64)).Store(s.At(t.Xor(63)).Load())
		}, empty(128)))
}
