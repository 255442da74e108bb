package explore

import "muster/internal/machine"

// PCT: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and
// Nagarakatte, A randomized scheduler with probabilistic guarantees of finding bugs,
// ASPLOS 2010). Every thread has a random priority, and of those that can move the
// one with the highest does. At depth-1 random steps the thread about to move falls
// below all others. A bug of depth d, which shows whenever d steps come in a certain
// order, shows with a probability of at least PCTBound.
//
// Asynchronous operations are threads here, so that a copy of low priority lands when
// nothing else can move. A thread can move if Ways offers it: a test of a barrier
// whose phase is open can, and returns false.

// A pct is the state of one run under PCT.
type pct struct {
	threads
	change []int64 // the step before which the i-th change of priority comes
	most   int64   // steps of one thread until it gives way
	step   int64
	least  int64 // rank of the next thread to give way
}

func newPCT(s Schedule) *pct {
	p := &pct{threads: newThreads(s.Seed), most: int64(s.Steps), least: -int64(s.Depth)}
	for i := range uint64(s.Depth - 1) {
		p.change = append(p.change, int64(ofRun.draw(s.Seed, i)%uint64(s.Steps)))
	}
	return p
}

// maxFails is how often in a row a thread fails tests before it gives way.
const maxFails = 16

// ofRun is a name that no thread has: its draws are the run's own.
var ofRun = name{kind: 255}

// pick returns the index of the choice to take.
func (p *pct) pick(m *machine.Machine, ways []machine.Choice) int {
	best, who := p.highest(m, ways)
	for i, at := range p.change {
		if at == p.step {
			who.rank = int64(i - len(p.change))
			best, who = p.highest(m, ways)
		}
	}
	// A thread that takes more steps than the whole run was expected to have, or whose
	// tests fail again and again, is polling for what another one has to do.
	if (who.took >= p.most || who.failed >= maxFails) && len(ways) > 1 {
		who.rank, who.took, who.failed = p.least, 0, 0
		p.least--
		best, who = p.highest(m, ways)
	}
	p.step++
	who.took++
	if who.failed++; ways[best].Kind != machine.GiveUp {
		who.failed = 0
	}
	return best
}

func (p *pct) highest(m *machine.Machine, ways []machine.Choice) (best int, who *thread) {
	for i, c := range ways {
		t := p.of(m, c)
		if who == nil || t.rank > who.rank || t.rank == who.rank && t.luck > who.luck {
			best, who = i, t
		}
	}
	return best, who
}
