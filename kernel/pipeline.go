package kernel

// A Pipeline is a ring of stages in shared memory between threads that fill them and
// threads that empty them: an mbarrier Full and one Empty for each stage. The caller
// allocates the stages' data.
//
// The producer waits until a stage is empty, fills it and arrives at Full; the
// consumer waits until it is full, uses it and arrives at Empty:
//
//	prod := p.Producer()            cons := p.Consumer()
//	k.For(0, tiles, 1, …            k.For(0, tiles, 1, …
//	    prod.Acquire()                  cons.Wait()
//	    prod.Expect(bytes)              … slots.At(cons.Stage) …
//	    … copies to slots.At(prod.Stage) at prod.Full()
//	    prod.Advance()                  cons.Release()
//	                                    cons.Advance()
//
// Each side may be plain threads, tensor copies or matrix instructions. If a stage is
// written by plain stores and read by asynchronous instructions, or emptied by plain
// loads and refilled by copies, proxy fences are needed: see FenceProxyAsync.
type Pipeline struct {
	// Full and Empty are the barriers, one for each stage.
	Full, Empty Mbarrier

	k      *Kernel
	stages int
}

// Pipeline allocates the barriers of a ring: name_full, which expects producerArrivals
// per phase in addition to the bytes of copies, and name_empty, which expects
// consumerArrivals. InitMbarriers initializes them.
//
// Arrivals are counted by threads: with one producer thread that copies,
// producerArrivals is 1; with 128 consumer threads that each call Release,
// consumerArrivals is 128, and with one thread of each of four warps it is 4.
func (k *Kernel) Pipeline(name string, stages, producerArrivals, consumerArrivals int) *Pipeline {
	switch {
	case stages < 1:
		k.fail("Pipeline(%q): %d stages; it has at least one", name, stages)
		stages = 1
	case stages > maxShared/16:
		k.fail("Pipeline(%q): %d stages; shared memory has room for the barriers of %d", name, stages, maxShared/16)
		stages = 1
	}
	return &Pipeline{
		Full:   k.Mbarriers(name+"_full", stages, producerArrivals),
		Empty:  k.Mbarriers(name+"_empty", stages, consumerArrivals),
		k:      k,
		stages: stages,
	}
}

// Stages gives the number of stages.
func (p *Pipeline) Stages() int { return p.stages }

// A Producer is a thread's position as a producer in a Pipeline.
type Producer struct {
	// Stage is the stage's index, a variable that Advance sets.
	Stage Reg

	p  *Pipeline
	at *Stage
}

// Producer starts at the first stage. Call it in the producer threads, before their loop.
func (p *Pipeline) Producer() *Producer {
	at := p.k.Stages(p.stages, ProducerParity)
	return &Producer{at.Index, p, at}
}

// Acquire waits until the consumers have emptied the stage; it does not wait in the first
// round.
func (d *Producer) Acquire(mods ...Mod) {
	d.p.Empty.At(d.Stage).WaitParity(d.at.Parity, mods...)
}

// Full gives the stage's barrier, for copies to signal.
func (d *Producer) Full() Mbarrier { return d.p.Full.At(d.Stage) }

// Expect adds the bytes that copies will write to the stage to its tx-count and arrives
// at Full, once for each calling thread: Mbarrier.ArriveExpect. The copies may be issued
// before or after it.
func (d *Producer) Expect(bytes Num, mods ...Mod) { d.Full().ArriveExpect(bytes, mods...) }

// Commit arrives at Full, once for each calling thread: the thread's writes to the stage
// become visible to the consumers. A thread calls Expect or Commit for a stage, not both.
func (d *Producer) Commit(mods ...Mod) { d.Full().Arrive(mods...) }

// CommitProducts arrives at Full, once, when all of the thread's earlier products in tensor
// memory are complete: for a ring of accumulators. It is Mbarrier.Commit.
func (d *Producer) CommitProducts(opts ...CopyOption) { d.Full().Commit(opts...) }

// Advance goes to the next stage.
func (d *Producer) Advance() { d.at.Advance() }

// Tail waits until the consumers have emptied all stages, after the last Advance. In a
// cluster the producer's CTA must not exit before, since arrivals from other CTAs may
// still be outstanding.
func (d *Producer) Tail() {
	for range d.p.stages {
		d.Acquire()
		d.Advance()
	}
}

// A Consumer is a thread's position as a consumer in a Pipeline.
type Consumer struct {
	// Stage is the stage's index, a variable that Advance sets.
	Stage Reg

	p  *Pipeline
	at *Stage
}

// Consumer starts at the first stage. Call it in the consumer threads, before their loop.
func (p *Pipeline) Consumer() *Consumer {
	at := p.k.Stages(p.stages, ConsumerParity)
	return &Consumer{at.Index, p, at}
}

// Wait waits until the stage is full: all producers have arrived and all bytes they
// expected have landed.
func (c *Consumer) Wait(mods ...Mod) { c.p.Full.At(c.Stage).WaitParity(c.at.Parity, mods...) }

// Release arrives at Empty, once for each calling thread: the thread no longer uses the
// stage's data. If one thread releases for others, they must Sync before.
func (c *Consumer) Release(mods ...Mod) { c.Empty().Arrive(mods...) }

// ReleaseTo is Release for the producer in another CTA of the cluster, by its rank.
func (c *Consumer) ReleaseTo(rank Num, mods ...Mod) { c.Empty().Remote(rank).Arrive(mods...) }

// ReleaseMulticast is Release for the producers in all CTAs whose bit is set in mask, for
// a stage that several CTAs fill.
func (c *Consumer) ReleaseMulticast(mask Num, mods ...Mod) { c.Empty().ArriveMulticast(mask, mods...) }

// Commit arrives at Empty, once, when all of the thread's earlier products in tensor memory
// are complete, and so have read the stage: a Release at that point may come before they
// have. It is Mbarrier.Commit.
func (c *Consumer) Commit(opts ...CopyOption) { c.Empty().Commit(opts...) }

// Empty returns the stage's Empty barrier, for instructions that arrive there.
func (c *Consumer) Empty() Mbarrier { return c.p.Empty.At(c.Stage) }

// Advance goes to the next stage.
func (c *Consumer) Advance() { c.at.Advance() }
