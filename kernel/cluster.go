package kernel

import (
	"fmt"
	"slices"
)

// This file is clusters: the CTA's position in one, the barrier of all its threads (ISA
// 9.7.13.3), and asynchronous stores into the shared memory of its CTAs (ISA 9.7.9.12,
// 9.7.13.7). The kernel needs the option Clusters.

// Aligned says that all threads of the warp execute the same instruction
// together, which is faster (.aligned).
const Aligned Mod = "aligned"

// ClusterRank gives the CTA's rank in its cluster, from 0 (%cluster_ctarank).
func (k *Kernel) ClusterRank() Reg { return k.Special("%cluster_ctarank", U32) }

// ClusterSize gives the CTAs of the cluster (%cluster_nctarank).
func (k *Kernel) ClusterSize() Reg { return k.Special("%cluster_nctarank", U32) }

// ClusterCtaidX, ClusterCtaidY and ClusterCtaidZ are the CTA's coordinates in its cluster
// (%cluster_ctaid).
func (k *Kernel) ClusterCtaidX() Reg { return k.Special("%cluster_ctaid.x", U32) }
func (k *Kernel) ClusterCtaidY() Reg { return k.Special("%cluster_ctaid.y", U32) }
func (k *Kernel) ClusterCtaidZ() Reg { return k.Special("%cluster_ctaid.z", U32) }

// ClusterNctaidX, ClusterNctaidY and ClusterNctaidZ are the numbers of CTAs of the
// cluster in each dimension (%cluster_nctaid).
func (k *Kernel) ClusterNctaidX() Reg { return k.Special("%cluster_nctaid.x", U32) }
func (k *Kernel) ClusterNctaidY() Reg { return k.Special("%cluster_nctaid.y", U32) }
func (k *Kernel) ClusterNctaidZ() Reg { return k.Special("%cluster_nctaid.z", U32) }

// ClusteridX, ClusteridY and ClusteridZ are the cluster's coordinates in the grid
// (%clusterid).
func (k *Kernel) ClusteridX() Reg { return k.Special("%clusterid.x", U32) }
func (k *Kernel) ClusteridY() Reg { return k.Special("%clusterid.y", U32) }
func (k *Kernel) ClusteridZ() Reg { return k.Special("%clusterid.z", U32) }

// NclusteridX, NclusteridY and NclusteridZ are the numbers of clusters of the grid in
// each dimension (%nclusterid).
func (k *Kernel) NclusteridX() Reg { return k.Special("%nclusterid.x", U32) }
func (k *Kernel) NclusteridY() Reg { return k.Special("%nclusterid.y", U32) }
func (k *Kernel) NclusteridZ() Reg { return k.Special("%nclusterid.z", U32) }

// ClusterSync makes all threads of the cluster wait for each other: ClusterArrive and
// ClusterWait, with Aligned if given. Each thread's earlier accesses happen before the
// other threads' later ones.
func (k *Kernel) ClusterSync(mods ...Mod) {
	if k.clustered("ClusterSync") && k.allowed("ClusterSync", mods, Aligned) {
		k.clusterBarrier("arrive", Release, mods)
		k.clusterBarrier("wait", Acquire, mods)
	}
}

// ClusterArrive is the first half of ClusterSync: the thread arrives without waiting.
// Modifiers: Release, the default, or Relaxed, which orders no memory; and Aligned. Every
// thread must alternate ClusterArrive and ClusterWait. It emits barrier.cluster.arrive.
func (k *Kernel) ClusterArrive(mods ...Mod) {
	if k.clustered("ClusterArrive") && k.allowed("ClusterArrive", mods, Release, Relaxed, Aligned) {
		k.clusterBarrier("arrive", Release, mods)
	}
}

// ClusterWait is the second half: it waits until all threads of the cluster that
// have not exited have arrived. Modifiers: Acquire, the default, and Aligned. It
// emits barrier.cluster.wait.
func (k *Kernel) ClusterWait(mods ...Mod) {
	if k.clustered("ClusterWait") && k.allowed("ClusterWait", mods, Acquire, Aligned) {
		k.clusterBarrier("wait", Acquire, mods)
	}
}

func (k *Kernel) clusterBarrier(op string, sem Mod, mods []Mod) {
	tail := ""
	for _, m := range mods {
		if m == Aligned {
			tail = ".aligned"
		} else {
			sem = m
		}
	}
	k.Inst("barrier.cluster." + op + "." + string(sem) + tail)
}

// allowed reports modifiers that an operation does not accept.
func (k *Kernel) allowed(what string, mods []Mod, allowed ...Mod) bool {
	for _, m := range mods {
		if !slices.Contains(allowed, m) {
			k.fail("%s takes no modifier %s; it takes %s", what, m, list(allowed))
			return false
		}
	}
	return true
}

func list(mods []Mod) string {
	s := ""
	for i, m := range mods {
		switch {
		case i == 0:
		case i == len(mods)-1:
			s += " and "
		default:
			s += ", "
		}
		s += string(m)
	}
	return s
}

// RankOf gives the rank of the CTA that owns an address in the cluster's shared memory
// (getctarank).
func (k *Kernel) RankOf(p Ptr) Reg {
	const what = "RankOf"
	if !k.clustered(what) || !k.space(what, "the address", p, SharedCTA, SharedCluster) {
		return k.lost(U32)
	}
	d := k.reg(U32)
	k.Inst("getctarank.shared::cluster.u32", d, p.Address())
	return d
}

// StoreAsync writes one element into the shared memory of a CTA of the cluster,
// asynchronously, and completes its bytes at bar, which is in the same CTA. Elements have
// 4 or 8 bytes. Each thread that executes it stores. It emits
// st.async.weak.shared::cluster, PTX 8.1 (ISA 9.7.9.12).
func (p Ptr) StoreAsync(v Num, bar Mbarrier) {
	const what = "StoreAsync"
	k := p.kernel()
	p.element(what)
	if !k.async(what, p, bar) {
		return
	}
	if r, ok := v.(Reg); ok && r.k != nil && !r.t.fits(p.elem, false) {
		k.fail("%s", mismatch(what+": the value", r.t, p.elem))
		return
	}
	k.Inst("st.async.weak.shared::cluster"+completes+"."+p.memType(), p, k.half(v, p.elem), bar.Ptr())
}

// StoreAsyncVec is StoreAsync of 2 elements of 4 or 8 bytes or 4 elements of 4 bytes, to
// an address that is a multiple of their total size.
func (p Ptr) StoreAsyncVec(v Vec, bar Mbarrier) {
	const what = "StoreAsyncVec"
	k := p.kernel()
	size := len(v) * p.elem.Size()
	switch {
	case !k.async(what, p, bar):
	case len(v) != 2 && len(v) != 4 || size > 16:
		k.fail("%s of %d elements of type %s: it stores 2 or 4, of 16 bytes together at most", what, len(v), p.elem)
	case k.aligned(what, "the destination", p, size):
		k.Inst(fmt.Sprintf("st.async.weak.shared::cluster%s.v%d.%s", completes, len(v), p.memType()), p, v, bar.Ptr())
	}
}

// RedAsync combines one element of a cluster CTA's shared memory with a value,
// asynchronously, and completes its bytes at bar, which is in the same CTA: Add of u32,
// s32, u64; Min and Max of u32, s32; Inc and Dec of u32; And, Or and Xor of b32. It emits
// red.async.relaxed.cluster.shared::cluster, PTX 8.1 (ISA 9.7.13.7).
func (p Ptr) RedAsync(op Op, v Num, bar Mbarrier) {
	const what = "RedAsync"
	k := p.kernel()
	p.element(what)
	t := p.elem
	if t == S64 && op == Add {
		t = U64
	}
	if op.bits() {
		t = untyped(t)
	}
	if k.async(what, p, bar) && k.reduces(what, op, t, clusterReductions) {
		k.Inst("red.async.relaxed.cluster.shared::cluster"+completes+"."+string(op)+"."+string(t), p, v, bar.Ptr())
	}
}

// async checks an asynchronous store that completes at a barrier.
func (k *Kernel) async(what string, p Ptr, bar Mbarrier) bool {
	if !k.clustered(what) || !k.space(what, "the destination", p, SharedCTA, SharedCluster) || !k.counts(what, p, bar, false) {
		return false
	}
	if n := p.elem.Size(); n != 4 && n != 8 {
		k.fail("%s of elements of type %s: they have 4 or 8 bytes", what, p.elem)
		return false
	}
	return true
}
