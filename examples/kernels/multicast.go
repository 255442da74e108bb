package kernels

import "muster/kernel"

// Multicast has the two CTAs of a cluster share a matrix: each multiplies 64
// rows of A of its own with the same 64 columns of B, loads half of these, and
// multicasts it to both. So two CTAs fill each stage, and its barriers concern
// the whole cluster:
//
// Its full barrier is the CTA's own, and expects the bytes of the whole tile,
// whichever CTA loads them. Its empty barrier says that either CTA may multicast
// into both, and so counts the warps of both. A barrier must be initialized before
// another CTA signals it, and a CTA must not exit before the other's last access
// to it: the cluster meets at the beginning and at the end.
func Multicast(mistake string) (*Work, error) {
	const ctas, m, n, slab, slabs, stages, warps = 2, 64, 64, 64, 4, 2, 4
	k := kernel.New("multicast", kernel.Block(32*warps+32), kernel.Clusters(ctas))
	am, bm, out := k.TensorMap("a"), k.TensorMap("b"), k.GlobalPtr("out", kernel.F32)
	a := k.Tiles("a_tile", stages, kernel.F16, m, slab, 128)
	b := k.Tiles("b_tile", stages, kernel.F16, n, slab, 128)
	rank := k.ClusterRank()
	everyone := 1<<ctas - 1 // a bit for each CTA
	releases, reach := warps*ctas, kernel.Num(everyone)
	if mistake == "releases reach only the own CTA" {
		releases, reach = warps, k.Const(kernel.U32, 1).Shl(rank)
	}
	ring := k.Pipeline("ring", stages, 1, releases)
	if mistake == "no cluster barrier after the barriers are made" {
		k.SingleThread(func() {
			for s := range stages {
				ring.Full.At(s).Init(1)
				ring.Empty.At(s).Init(releases)
			}
			k.FenceMbarrierInit()
		})
		k.Sync()
	} else {
		k.InitMbarriers() // has the cluster meet
	}

	k.SingleWarp(warps, func() {
		prod, half := ring.Producer(), rank.Mul(n/ctas)
		k.SingleThread(func() {
			k.For(0, slabs*slab, slab, func(depth kernel.Reg) {
				prod.Acquire()
				bytes := a.Size() + b.Size()
				if mistake == "each CTA expects only its own half" {
					bytes = a.Size() + b.Size()/ctas
				}
				prod.Expect(bytes)
				am.Load(a.At(prod.Stage).Ptr(), prod.Full(), kernel.Coords{depth, rank.Mul(m)})
				bm.Load(b.At(prod.Stage).Rows(half, n/ctas).Ptr(), prod.Full(), kernel.Coords{depth, half}, kernel.Multicast(everyone))
				prod.Advance()
			})
		})
	})
	k.Warps(0, warps, func() {
		cons := ring.Consumer()
		acc := k.Accumulator(kernel.F32, m, n)
		acc.Zero()
		k.For(0, slabs, 1, func(kernel.Reg) {
			cons.Wait()
			k.WgmmaFence()
			acc.Mma(a.At(cons.Stage), b.At(cons.Stage).T())
			k.WgmmaCommit()
			k.WgmmaWait(0)
			k.EachWarp(func() { k.SingleThread(func() { cons.ReleaseMulticast(reach) }) })
			cons.Advance()
		})
		for i := range acc.Regs() {
			row, col := acc.Place(i)
			out.At(rank.Mad(m, row).Mad(n, col)).Store(acc.At(i))
		}
	})
	if mistake != "a CTA exits early" {
		k.ClusterSync()
	}

	x, y := integers(ctas*m*slabs*slab, 7), integers(n*slabs*slab, 5)
	z := make([]float32, ctas*m*n)
	call, err := k.Call(kernel.Grid(ctas),
		a.MapOf(x, []int{ctas * m, slabs * slab}),
		b.Rows(0, n/ctas).MapOf(y, []int{n, slabs * slab}), z)
	return work(func() error { return product(x, y, z, n, slabs*slab) }, call, err)
}
