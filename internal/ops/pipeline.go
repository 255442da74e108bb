package ops

import "muster/kernel"

func init() {
	add("ring/stages", []string{"Kernel.Stages", "Stage.Advance", "ProducerParity", "ConsumerParity"},
		cta("stages", func(k *kernel.Kernel, out kernel.Ptr) {
			// The position after as many steps as the thread's index says.
			three, one := k.Stages(3, kernel.ConsumerParity), k.Stages(1, kernel.ProducerParity)
			k.For(0, k.TidX(), 1, func(kernel.Reg) {
				three.Advance()
				one.Advance()
			})
			out.Store(three.Index.Mul(10).Add(three.Parity).Mul(100).Add(one.Index.Mul(10).Add(one.Parity)))
		}))
	add("pipeline/threads", []string{"Kernel.Pipeline", "Producer.Acquire", "Producer.Commit", "Producer.Advance", "Producer.Tail", "Consumer.Wait", "Consumer.Release", "Consumer.Advance"}, threadPipeline)
	add("pipeline/copies", []string{"Pipeline.Producer", "Producer.Expect", "Producer.Full", "Pipeline.Consumer", "Consumer.Empty"}, copyPipeline)
	add("pipeline/cluster", []string{"Consumer.ReleaseMulticast", "Consumer.ReleaseTo", "Pipeline.Stages"}, clusterPipeline)
}

// threadPipeline passes values of one warp to another through two stages, by
// plain stores.
func threadPipeline() (*kernel.Call, error) {
	k := kernel.New("thread_pipeline", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	rounds := k.Param("rounds", kernel.U32)
	slots := k.Shared("slots", kernel.U32, 2, 32)
	p := k.Pipeline("pipe", 2, 32, 32)
	k.InitMbarriers()
	t := k.LaneID()
	k.SingleWarp(0, func() {
		prod := p.Producer()
		k.For(0, rounds, 1, func(i kernel.Reg) {
			prod.Acquire()
			slots.At(prod.Stage, t).Store(t.Mad(i, i))
			prod.Commit()
			prod.Advance()
		})
		prod.Tail()
	})
	k.SingleWarp(1, func() {
		cons := p.Consumer()
		sum := k.Const(kernel.U32, 0)
		k.For(0, rounds, 1, func(kernel.Reg) {
			cons.Wait()
			sum.Set(sum.Mul(3).Add(slots.At(cons.Stage, t.Xor(31)).Load()))
			cons.Release()
			cons.Advance()
		})
		out.At(t).Store(sum)
	})
	return k.Call(kernel.Grid(1), make([]uint32, 32), 7)
}

// copyPipeline has one thread fill three stages by bulk copies, and two warps
// add them up.
func copyPipeline() (*kernel.Call, error) {
	const tiles = 8
	k := kernel.New("copy_pipeline", kernel.Block(96))
	in := k.GlobalPtr("in", kernel.U32, 16)
	out := k.GlobalPtr("out", kernel.U32)
	slots := k.SharedAlign("slots", 128, kernel.U32, 3, 64)
	p := k.Pipeline("pipe", 3, 1, 2)
	k.InitMbarriers()
	k.SingleWarp(0, func() {
		k.Elect(func() {
			prod := p.Producer()
			k.For(0, tiles, 1, func(i kernel.Reg) {
				prod.Acquire()
				prod.Expect(256)
				k.BulkLoad(slots.At(prod.Stage), in.At(i.Mul(64)), 256, prod.Full())
				prod.Advance()
			})
		})
	})
	k.Warps(1, 2, func() {
		cons := p.Consumer()
		t := k.ThreadIndex()
		sum := k.Const(kernel.U32, 0)
		k.For(0, tiles, 1, func(kernel.Reg) {
			cons.Wait()
			sum.Set(sum.Mul(3).Add(slots.At(cons.Stage, t).Load()))
			k.EachWarp(func() {
				k.Sync()
				k.SingleThread(func() {
					k.FenceProxyAsync(kernel.SharedCTA)
					cons.Empty().Arrive()
				})
			})
			cons.Advance()
		})
		out.At(t).Store(sum)
	})
	return k.Call(kernel.Grid(1), numbers(tiles*64), make([]uint32, 64))
}

// numbers are n numbers, no two of them alike.
func numbers(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i*i + 7)
	}
	return list
}

// clusterPipeline has each of two CTAs copy half of every stage to both of them,
// so that a stage is free when the consumers of both released it. The last
// round is released by rank.
func clusterPipeline() (*kernel.Call, error) {
	const tiles = 5
	k := kernel.New("cluster_pipeline", kernel.Block(64), kernel.Clusters(2))
	in := k.GlobalPtr("in", kernel.U32, 16)
	out := k.GlobalPtr("out", kernel.U32)
	slots := k.SharedAlign("slots", 128, kernel.U32, 2, 32)
	p := k.Pipeline("pipe", 2, 1, 2)
	k.InitMbarriers()
	rank := k.ClusterRank()
	k.SingleWarp(0, func() {
		k.Elect(func() {
			prod := p.Producer()
			for i := range tiles {
				prod.Acquire()
				prod.Expect(128)
				half := rank.Mul(16)
				k.BulkLoad(slots.At(prod.Stage, half), in.At(half.Add(32*i)), 64, prod.Full(), kernel.Multicast(3))
				prod.Advance()
			}
			prod.Tail()
		})
	})
	k.SingleWarp(1, func() {
		cons := p.Consumer()
		sum := k.Const(kernel.U32, 0)
		for i := range tiles {
			cons.Wait()
			sum.Set(sum.Mul(3).Add(slots.At(cons.Stage, k.LaneID()).Load()))
			k.Sync()
			k.SingleThread(func() {
				k.FenceProxyAsync(kernel.SharedCTA)
				if i < tiles-1 {
					cons.ReleaseMulticast(3)
					return
				}
				for r := range 2 {
					cons.ReleaseTo(r)
				}
			})
			cons.Advance()
		}
		out.At(rank.Mad(32, k.LaneID())).Store(sum)
	})
	return k.Call(kernel.Grid(2), numbers(tiles*32), make([]uint32, 64))
}
