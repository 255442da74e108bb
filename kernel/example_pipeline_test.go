package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// A warp squares numbers and another one adds them up, four at a time in flight.
func ExamplePipeline() {
	k := kernel.New("squares", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	n := k.Param("n", kernel.U32)
	slots := k.Shared("slots", kernel.U32, 4, 32)
	p := k.Pipeline("pipe", 4, 32, 32) // 32 threads on either side
	k.InitMbarriers()
	lane := k.LaneID()
	k.SingleWarp(0, func() {
		prod := p.Producer()
		k.For(0, n, 1, func(i kernel.Reg) {
			prod.Acquire()
			slots.At(prod.Stage, lane).Store(i.Mul(i))
			prod.Commit()
			prod.Advance()
		})
	})
	k.SingleWarp(1, func() {
		cons := p.Consumer()
		sum := k.Const(kernel.U32, 0)
		k.For(0, n, 1, func(kernel.Reg) {
			cons.Wait()
			sum.Set(sum.Add(slots.At(cons.Stage, lane).Load()))
			cons.Release()
			cons.Advance()
		})
		out.At(lane).Store(sum)
	})

	sums := make([]uint32, 32)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), sums, 10)))
	fmt.Println(sums[0])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 285
}

// The two sides of a ring by hand: the next stage, and the parity to wait for at its
// barriers.
func ExampleStage() {
	const stages = 3
	k := kernel.New("by_hand", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	word := k.Shared("word", kernel.U32, stages)
	full, empty := k.Mbarriers("full", stages, 1), k.Mbarriers("empty", stages, 1)
	k.InitMbarriers()
	k.SingleWarp(0, func() {
		k.SingleThread(func() {
			at := k.Stages(stages, kernel.ProducerParity)
			k.For(0, 7, 1, func(i kernel.Reg) {
				empty.At(at.Index).WaitParity(at.Parity)
				word.At(at.Index).Store(i)
				full.At(at.Index).Arrive()
				at.Advance()
			})
		})
	})
	k.SingleWarp(1, func() {
		k.SingleThread(func() {
			at := k.Stages(stages, kernel.ConsumerParity)
			k.For(0, 7, 1, func(i kernel.Reg) {
				full.At(at.Index).WaitParity(at.Parity)
				out.At(i).Store(word.At(at.Index).Load())
				empty.At(at.Index).Arrive()
				at.Advance()
			})
		})
	})

	got := make([]uint32, 7)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), got)))
	fmt.Println(got)
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// [0 1 2 3 4 5 6]
}

// Producer and Consumer are the threads' positions in a pipeline. Here the
// producer is one thread that copies, so that one arrival fills a stage.
func ExampleProducer() {
	k := kernel.New("tiles", kernel.Block(96))
	in := k.GlobalPtr("in", kernel.U32, 16)
	out := k.GlobalPtr("out", kernel.U32)
	slots := k.SharedAlign("slots", 128, kernel.U32, 2, 64)
	p := k.Pipeline("pipe", 2, 1, 64)
	k.InitMbarriers()
	k.SingleWarp(0, func() {
		k.Elect(func() {
			prod := p.Producer()
			k.For(0, 5, 1, func(i kernel.Reg) {
				prod.Acquire()
				prod.Expect(256)
				k.BulkLoad(slots.At(prod.Stage), in.At(i.Mul(64)), 256, prod.Full())
				prod.Advance()
			})
		})
	})
	k.Warps(1, 2, func() { sumTiles(k, p, slots, out) })

	data := make([]uint32, 5*64)
	for i := range data {
		data[i] = uint32(i)
	}
	sums := make([]uint32, 64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(1), data, sums)))
	fmt.Println(sums[0], sums[63])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 96 threads, for every content of the buffers
	// 640 955
}

// sumTiles adds up the tiles of a pipeline; each thread releases for itself.
func sumTiles(k *kernel.Kernel, p *kernel.Pipeline, slots, out kernel.Ptr) {
	t := k.ThreadIndex()
	cons := p.Consumer()
	sum := k.Const(kernel.U32, 0)
	k.For(0, 5, 1, func(kernel.Reg) {
		cons.Wait()
		sum.Set(sum.Add(slots.At(cons.Stage, t).Load()))
		k.FenceProxyAsync(kernel.SharedCTA) // the next copy overwrites what was read
		cons.Release()
		cons.Advance()
	})
	out.At(t).Store(sum)
}

// The consumer's side alone.
func ExampleConsumer() {
	k := kernel.New("release", kernel.Block(64))
	p := k.Pipeline("pipe", 2, 1, 64)
	k.InitMbarriers()
	cons := p.Consumer()
	cons.Wait()
	fmt.Println(cons.Empty(), p.Full.At(0), p.Stages())
	cons.Release()
	cons.Advance()
	// Output:
	// pipe_empty pipe_full[0] 2
}
