package kernel

// This file is pipeline stages filled by threads with cp.async, and waits with a timeout,
// as in cuda::pipeline (producer_commit, consumer_wait_for).

// CommitCopies arrives at Full, once for each calling thread, when all of the thread's
// earlier cp.async are complete: the counterpart of Commit for plain stores. The thread
// does not wait. A producer thread calls exactly one of Commit, CommitCopies and Expect
// for a stage. It emits cp.async.mbarrier.arrive.noinc (ISA 9.7.13.15.15).
func (d *Producer) CommitCopies() { d.Full().CpAsyncArriveNoinc() }

// WaitFor waits until the stage is full or ns nanoseconds have passed, and reports which:
// Mbarrier.TryWaitParityFor.
func (c *Consumer) WaitFor(ns Num, mods ...Mod) Pred {
	return c.p.Full.At(c.Stage).TryWaitParityFor(c.at.Parity, ns, mods...)
}
