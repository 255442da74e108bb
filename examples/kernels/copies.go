package kernels

import "muster/kernel"

// BulkStore computes tiles in shared memory and has bulk copies carry them to
// global memory. The copies read through the asynchronous proxy, so that each
// thread fences what it wrote before the barrier behind which one thread starts
// the copy; and that thread waits, before the buffer is written again, until
// the copy has read it.
func BulkStore(mistake string) (*Work, error) {
	const n, turns, bytes = 128, 4, 128 * 4
	k := kernel.New("bulk_store", kernel.Block(n))
	out := k.GlobalPtr("out", kernel.F32, 16)
	buf := k.Shared("buf", kernel.F32, 2, n)

	i := k.TidX()
	k.For(0, turns, 1, func(turn kernel.Reg) {
		half := turn.And(1)
		if mistake != "the tile is overwritten while it is stored" {
			k.SingleThread(func() { k.BulkWaitRead(1) })
		}
		k.Sync()
		buf.At(half, i).Store(turn.Mad(1000, i).Cvt(kernel.F32))
		if mistake != "no proxy fence" {
			k.FenceProxyAsync(kernel.SharedCTA)
		}
		k.Sync()
		k.SingleThread(func() {
			k.BulkStore(out.At(turn.Mul(n)), buf.At(half), bytes)
			k.BulkCommit()
		})
	})
	k.SingleThread(func() { k.BulkWait(0) })

	y := make([]float32, turns*n)
	call, err := k.Call(kernel.Grid(1), y)
	return work(equal(y, func(i int) float32 { return float32(1000*(i/n) + i%n) }), call, err)
}

// LDGSTS is the pipeline of Ampere: each thread copies its 16 bytes with
// cp.async, one group a tile and one tile ahead. A wait for all but one group
// says that this thread's part of the older tile is there; the barrier behind
// it, that everybody's is. The last turn has no tile ahead and waits for all.
func LDGSTS(mistake string) (*Work, error) {
	const n, turns, per = 64, 4, 4
	k := kernel.New("ldgsts", kernel.Block(n))
	in, out := k.GlobalPtr("in", kernel.F32, 16), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, 2, n*per)

	i := k.TidX()
	mine := i.Mul(per)
	load := func(turn int) {
		k.CpAsync(buf.At(turn&1, mine), in.At(mine.Add(turn*n*per)), 16)
		k.CpAsyncCommit()
	}
	sum := k.Const(kernel.F32, 0)
	load(0)
	for turn := range turns {
		ahead := 0
		if turn+1 < turns {
			load(turn + 1)
			ahead = 1
		}
		if mistake == "the last turn waits for all but one group" {
			ahead = 1
		}
		k.CpAsyncWait(ahead)
		if mistake != "no barrier behind the wait" {
			k.Sync()
		}
		for j := range per {
			sum.Set(sum.Add(buf.At(turn&1, i.Add(j*n)).Load()))
		}
		k.Sync() // no copy overwrites a tile that a thread still reads
	}
	out.At(i).Store(sum)

	y := make([]float32, n)
	call, err := k.Call(kernel.Grid(1), iota32(turns*n*per), y)
	return work(equal(y, func(i int) float32 {
		sum := float32(0)
		for t := range turns * per {
			sum += float32(t*n + i)
		}
		return sum
	}), call, err)
}

// PingPong has two groups take turns at one buffer with two named barriers, as
// warp-specialized kernels order their epilogues: each group waits at its own
// barrier, at which the other arrives when it is done.
func PingPong(mistake string) (*Work, error) {
	const n, turns = 64, 3
	k := kernel.New("ping_pong", kernel.Block(2*n))
	out := k.GlobalPtr("out", kernel.U32)
	buf := k.Shared("buf", kernel.U32, n)
	turn := []kernel.NamedBarrier{k.NamedBarrier(2 * n), k.NamedBarrier(2 * n)}

	i := k.TidX().Rem(n)
	k.Guard(k.TidX().Lt(n), func() { buf.At(i).Store(i) })
	k.Sync()
	for group := range 2 {
		other := 1 - group
		k.Threads(group*n, n, func() {
			if group == 1 || mistake == "both begin" {
				turn[0].Arrive() // the first turn is group 0's
			}
			for t := range turns {
				if mistake != "both begin" || t > 0 {
					turn[group].Sync()
				}
				x := buf.At(i.Xor(1)).Load()
				k.Sync()
				buf.At(i).Store(x.Mul(3).Add(group))
				if group == 1 && t == turns-1 {
					continue // no later turn
				}
				turn[other].Arrive()
			}
		})
	}
	k.Sync()
	k.Guard(k.TidX().Lt(n), func() { out.At(i).Store(buf.At(i).Load()) })

	want := make([]uint32, n)
	for i := range want {
		want[i] = uint32(i)
	}
	for step := range 2 * turns {
		next := make([]uint32, n)
		for i := range next {
			next[i] = want[i^1]*3 + uint32(step&1)
		}
		want = next
	}
	y := make([]uint32, n)
	call, err := k.Call(kernel.Grid(1), y)
	return work(equal(y, func(i int) uint32 { return want[i] }), call, err)
}

// ClusterReduce sums over a cluster through distributed shared memory: each CTA
// adds up its part and stores the sum into the shared memory of the first. A
// cluster barrier comes before the first reads it; and one before anybody
// writes, since a CTA's shared memory can be written only once it runs.
func ClusterReduce(mistake string) (*Work, error) {
	const ctas, n = 4, 64
	k := kernel.New("cluster_reduce", kernel.Block(n), kernel.Clusters(ctas))
	in, out := k.GlobalPtr("in", kernel.F32), k.GlobalPtr("out", kernel.F32)
	part := k.Shared("part", kernel.F32, n)
	sums := k.Shared("sums", kernel.F32, ctas)

	i, rank := k.TidX(), k.ClusterRank()
	part.At(i).Store(in.At(k.CtaidX().Mad(n, i)).Load())
	k.Sync()
	k.ClusterSync() // everybody runs
	k.SingleThread(func() {
		sum := k.Const(kernel.F32, 0)
		for j := range n {
			sum.Set(sum.Add(part.At(j).Load()))
		}
		if mistake == "a CTA exits while others read it" {
			sums.At(rank).Store(sum)
		} else {
			sums.Remote(0).At(rank).Store(sum)
		}
	})
	if mistake != "no barrier before the sum" {
		k.ClusterSync() // all sums are there
	}
	k.If(rank.Eq(0), func() {
		k.SingleThread(func() {
			total := k.Const(kernel.F32, 0)
			for r := range ctas {
				if mistake == "a CTA exits while others read it" {
					total.Set(total.Add(sums.Remote(r).At(r).Load()))
				} else {
					total.Set(total.Add(sums.At(r).Load()))
				}
			}
			out.At(k.CtaidX().Div(ctas)).Store(total)
		})
	})

	y := make([]float32, 2)
	call, err := k.Call(kernel.Grid(2*ctas), iota32(2*ctas*n), y)
	return work(equal(y, func(c int) float32 {
		sum := float32(0)
		for i := range ctas * n {
			sum += float32(c*ctas*n + i)
		}
		return sum
	}), call, err)
}
