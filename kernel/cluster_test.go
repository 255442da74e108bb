package kernel_test

import (
	"testing"

	"muster/kernel"
)

func TestClusterSteps(t *testing.T) {
	broken(t, 2, []part{
		{"release", "relaxed-sync"},
		{"first barrier", "remote-before-start"},
		{"last barrier", "exit-before-remote"},
	}, func(k *kernel.Kernel, out, _ kernel.Ptr, has func(string) bool) {
		s := k.Shared("s", kernel.U32, 64)
		rank, t := k.ClusterRank(), k.TidX()
		s.At(t).Store(t)
		if has("first barrier") {
			if has("release") {
				k.ClusterArrive()
			} else {
				k.ClusterArrive(kernel.Relaxed)
			}
			k.ClusterWait()
		}
		out.At(rank.Mad(64, t)).Store(s.Remote(rank.Xor(1)).At(t).Load())
		if has("last barrier") {
			k.ClusterSync()
		}
	})
}

func TestStoreAsyncSteps(t *testing.T) {
	broken(t, 2, []part{
		{"wait", "read-in-flight"},
		{"expected bytes", "bytes-early"},
	}, func(k *kernel.Kernel, out, _ kernel.Ptr, has func(string) bool) {
		s := k.Shared("s", kernel.U32, 64)
		bar := k.Mbarrier("bar", 1)
		k.InitMbarriers()
		rank, t := k.ClusterRank(), k.TidX()
		peer := rank.Xor(1)
		bytes := 256
		if !has("expected bytes") {
			bytes = 128
		}
		k.SingleThread(func() { bar.ArriveExpect(bytes) })
		s.Remote(peer).At(t).StoreAsync(t, bar.Remote(peer))
		if has("wait") {
			bar.WaitParity(0)
		}
		out.At(rank.Mad(64, t)).Store(s.At(t).Load())
		k.ClusterSync()
	})
}
