package ops

import (
	"fmt"

	"muster/kernel"
)

func init() {
	add("cluster/place", []string{"Kernel.ClusterRank", "Kernel.ClusterSize", "Kernel.ClusterCtaidX", "Kernel.ClusterCtaidY", "Kernel.ClusterCtaidZ",
		"Kernel.ClusterNctaidX", "Kernel.ClusterNctaidY", "Kernel.ClusterNctaidZ", "Kernel.ClusteridX", "Kernel.ClusteridY", "Kernel.ClusteridZ",
		"Kernel.NclusteridX", "Kernel.NclusteridY", "Kernel.NclusteridZ", "Kernel.RankOf"}, clusterPlace)
	add("cluster/sync", []string{"Kernel.ClusterSync", "Aligned", "Ptr.Remote"},
		clusters("cluster_sync", func(k *kernel.Kernel, out kernel.Ptr) {
			words := k.Shared("words", kernel.U32, 64)
			t, peer := k.TidX(), k.ClusterRank().Xor(1)
			words.At(t).Store(peer.Mad(1000, t))
			k.ClusterSync(kernel.Aligned)
			seen := words.Remote(peer).At(t.Xor(63)).Load()
			k.ClusterSync()
			words.At(t).Store(seen)
			out.Store(words.At(t).Load())
		}))
	add("cluster/split", []string{"Kernel.ClusterArrive", "Kernel.ClusterWait", "Aligned"},
		clusters("cluster_split", func(k *kernel.Kernel, out kernel.Ptr) {
			// Work of one's own goes between arriving and waiting.
			words := k.Shared("words", kernel.U32, 64)
			t, peer := k.TidX(), k.ClusterRank().Xor(1)
			words.At(t).Store(peer.Mad(1000, t))
			k.ClusterArrive(kernel.Release, kernel.Aligned)
			own := words.At(t).Load().Mul(3)
			k.ClusterWait(kernel.Acquire, kernel.Aligned)
			out.Store(own.Add(words.Remote(peer).At(t).Load()))
			k.ClusterArrive(kernel.Relaxed)
			k.ClusterWait()
		}))
	for _, t := range []kernel.Type{kernel.U32, kernel.S32, kernel.B32, kernel.F32, kernel.U64, kernel.S64, kernel.B64, kernel.F64} {
		for _, n := range []int{1, 2, 4} {
			if n*t.Size() > 16 {
				continue
			}
			name := fmt.Sprintf("%s_%d", t, n)
			uses := []string{"Ptr.StoreAsync"}
			if n > 1 {
				uses = []string{"Ptr.StoreAsyncVec"}
			}
			add("cluster/store-async-"+name, uses, call("store_async_"+name, 2, 2, func(k *kernel.Kernel) {
				data := k.GlobalPtr("data", t, 16)
				words := k.Shared("words", t, 64*n)
				bar := k.Mbarrier("bar", 64)
				k.InitMbarriers()
				i, rank := k.TidX(), k.ClusterRank()
				peer := rank.Xor(1)
				at := data.At(rank.Mad(64, i).Mul(n))
				v := make(kernel.Vec, n)
				for j := range v {
					v[j] = at.At(j).Load()
				}
				bar.ArriveExpect(n * t.Size())
				if to := words.Remote(peer).Cast(t).At(i.Mul(n)); n == 1 {
					to.StoreAsync(v[0], bar.Remote(peer))
				} else {
					to.StoreAsyncVec(v, bar.Remote(peer))
				}
				bar.WaitParity(0)
				for j := range v {
					at.At(j).Store(words.At(i.Mul(n).Add(j)).Load())
				}
				k.ClusterSync()
			}, values(t, 128*n)))
		}
	}
	for _, r := range clusterReductions {
		for _, t := range r.types {
			name := fmt.Sprintf("%s_%s", r.op, t)
			add("cluster/red-async-"+name, []string{"Ptr.RedAsync"}, call("red_async_"+name, 2, 2, func(k *kernel.Kernel) {
				data := k.GlobalPtr("data", t, 16)
				words := k.Shared("words", t, 64)
				bar := k.Mbarrier("bar", 64)
				k.InitMbarriers()
				i, rank := k.TidX(), k.ClusterRank()
				peer := rank.Xor(1)
				at := data.At(rank.Mad(64, i))
				words.At(i).Store(at.Load())
				k.ClusterSync()
				bar.ArriveExpect(t.Size())
				words.Remote(peer).Cast(t).At(i).RedAsync(r.op, at.Load().Xor(0x5555), bar.Remote(peer))
				bar.WaitParity(0)
				at.Store(words.At(i).Load())
				k.ClusterSync()
			}, values(t, 128)))
		}
	}
}

// clusterPlace has four clusters of 2x1x1 CTAs in a grid of 4x2x1 say where they
// are.
func clusterPlace() (*kernel.Call, error) {
	k := kernel.New("cluster_place", kernel.Block(32), kernel.Clusters(2, 1, 1))
	out := k.GlobalPtr("out", kernel.U32)
	word := k.Shared("word", kernel.U32)
	all := []kernel.Reg{k.ClusterRank(), k.ClusterSize(), k.ClusterCtaidX(), k.ClusterCtaidY(), k.ClusterCtaidZ(),
		k.ClusterNctaidX(), k.ClusterNctaidY(), k.ClusterNctaidZ(), k.ClusteridX(), k.ClusteridY(), k.ClusteridZ(),
		k.NclusteridX(), k.NclusteridY(), k.NclusteridZ(), k.RankOf(word), k.RankOf(word.Remote(k.ClusterRank().Xor(1)))}
	cta := k.CtaidY().Mad(4, k.CtaidX())
	k.SingleThread(func() {
		for i, r := range all {
			out.At(cta.Mad(len(all), i)).Store(r)
		}
	})
	return k.Call(kernel.Grid(4, 2), make([]uint32, 8*len(all)))
}
