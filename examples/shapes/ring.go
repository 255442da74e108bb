package shapes

import "muster/kernel"

// initialize makes barriers as CUTLASS does in a cluster: one elected lane of the first
// warp, a fence for the cluster, and a cluster barrier that is relaxed because the fence
// has released.
func initialize(k *kernel.Kernel, fence bool, bars ...kernel.Mbarrier) {
	k.SingleWarp(0, func() {
		k.Elect(func() {
			for _, b := range bars {
				for i := range b.Len() {
					b.At(i).Init(b.Count())
				}
			}
			if fence {
				k.FenceMbarrierInit()
			}
		})
	})
	k.ClusterArrive(kernel.Relaxed, kernel.Aligned)
	k.ClusterWait(kernel.Aligned)
}

// spread chooses the threads of a warpgroup that give a stage back to the CTAs of the
// cluster, x × y of them, as CUTLASS's PipelineTmaAsync does: every eighth thread stands
// for one of sixteen CTAs, so that the four warps share the work, and arrives if that CTA
// loads something for this one, being in the same row or column. Nothing holds the four
// warps together before that: a wait of one covers what all four have read.
func spread(k *kernel.Kernel, x, y int) (arrives kernel.Pred, to kernel.Reg) {
	t := k.TidX().And(127)
	row, col := t.Shr(5), t.Shr(3).And(3)
	to = row.Xor(col).Shl(2).Or(col)
	own := k.ClusterRank()
	near := to.Rem(x).Eq(own.Rem(x)).Or(to.Div(x).Eq(own.Div(x)))
	return t.And(7).Eq(0).And(to.Lt(x * y)).And(near), to
}

// A reader is a consumer's position in a ring.
type reader struct {
	k    *kernel.Kernel
	ring *kernel.Pipeline
	*kernel.Stage
}

func reads(k *kernel.Kernel, ring *kernel.Pipeline) *reader {
	return &reader{k, ring, k.Stages(ring.Stages(), kernel.ConsumerParity)}
}

// test tests whether the stage is full.
func (r *reader) test() kernel.Pred { return r.ring.Full.At(r.Index).TryWaitParity(r.Parity) }

// wait tests once whether the stage is full, and waits if it was not, as CUTLASS's
// consumer_try_wait and consumer_wait do.
func (r *reader) wait() { r.waitAfter(r.test()) }

// waitAfter waits if an earlier test of the stage has failed.
func (r *reader) waitAfter(full kernel.Pred) {
	r.k.If(full.Not(), func() { r.ring.Full.At(r.Index).WaitParity(r.Parity) })
}

// empty is the barrier at which the stage is given back.
func (r *reader) empty() kernel.Mbarrier { return r.ring.Empty.At(r.Index) }
