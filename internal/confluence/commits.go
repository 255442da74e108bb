package confluence

import "muster/internal/machine"

// Commits of tcgen05. Those of one thread arrive in the order of their issue, which is part of
// ≺: the landing of one comes after the landings of all that its thread issued before. So who
// comes after one landing comes after those too, and a phase that counts nothing else is
// complete for whoever knows that the last of its commits has landed, without a wait for it.

// A queue is the commits of one thread.
type queue struct {
	number int
	issued int64
}

// enqueue gives a commit its place among those of its thread.
func (p *Prover) enqueue(is *issue, op *machine.Op) {
	is.turn = 0 // it may have been another operation's
	of, ok := op.CommitQueue()
	if !ok {
		return
	}
	q := p.queues[of]
	if q == nil {
		q = &queue{number: len(p.queues)}
		p.queues[of] = q
	}
	q.issued++
	is.queue, is.turn = q.number, q.issued
}

// follow lets a commit that lands come after those before it.
func (is *issue) follow() {
	if is.turn > 1 {
		is.clk.arrived(is.queue, is.turn-1)
	}
}
