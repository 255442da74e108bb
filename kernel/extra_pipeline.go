package kernel

// This file is a pipeline's stages that threads fill by cp.async, and waits for
// a stage that end, as cuda::pipeline has them (producer_commit,
// consumer_wait_for).

// CommitCopies arrives at Full, once for each thread that calls it, when all
// cp.async that the thread began before are complete: what Commit is for plain
// stores. The thread does not wait. A producer thread calls one of Commit,
// CommitCopies and Expect for a stage. It emits
// cp.async.mbarrier.arrive.noinc (ISA 9.7.13.15.15).
func (d *Producer) CommitCopies() { d.Full().CpAsyncArriveNoinc() }

// WaitFor waits until the stage is full or so many nanoseconds have passed, and
// tells which: Mbarrier.TryWaitParityFor.
func (c *Consumer) WaitFor(ns Num, mods ...Mod) Pred {
	return c.p.Full.At(c.Stage).TryWaitParityFor(c.at.Parity, ns, mods...)
}
