package explore

import "muster/internal/machine"

// A thread is what sampling gives a priority or holds back: lanes of a warp at
// one program counter, named by the lowest; an asynchronous operation, named by
// its issuer and the how many-th of that issuer it is; or what starts clusters.
// The names are the same in every schedule in which the issuers do the same, so
// that what a seed means does not depend on the order in which threads appear.
type thread struct {
	kind      machine.ChoiceKind // Run, Milestone or Start
	cta, warp int32
	lane      int8
	nth       int32
}

// threads tells which thread a choice belongs to.
type threads struct {
	ops    map[int64]thread // in flight, by number
	issued map[thread]int32 // by the issuer
	seen   int64            // operations named
}

func newThreads() threads {
	return threads{ops: map[int64]thread{}, issued: map[thread]int32{}}
}

// of returns the thread that takes a choice, which m offers.
func (t *threads) of(m *machine.Machine, c machine.Choice) thread {
	switch c.Kind {
	case machine.Start:
		return thread{kind: machine.Start}
	case machine.Milestone:
		if m.Issued() != t.seen {
			t.name(m)
		}
		return t.ops[c.Op]
	}
	return thread{kind: machine.Run, cta: c.CTA, warp: c.Warp, lane: c.Lane}
}

// name gives the operations that were issued since it was last asked their
// names, and forgets those that have ended.
func (t *threads) name(m *machine.Machine) {
	flying := m.InFlight()
	for _, op := range flying {
		if op.ID <= t.seen {
			continue
		}
		who := thread{kind: machine.Milestone, cta: op.CTA, warp: op.Warp, lane: op.Lane}
		t.issued[who]++
		who.nth = t.issued[who]
		t.ops[op.ID] = who
	}
	t.seen = m.Issued()
	if len(t.ops) < 2*len(flying)+64 {
		return
	}
	left := make(map[int64]thread, len(flying))
	for _, op := range flying {
		left[op.ID] = t.ops[op.ID]
	}
	t.ops = left
}

// draw is a number that seed, thread and n decide, as good as random.
func (t thread) draw(seed, n uint64) uint64 {
	z := mix(seed ^ 0x9e3779b97f4a7c15)
	z = mix(z ^ uint64(t.kind)<<40 ^ uint64(uint32(t.cta))<<8 ^ uint64(uint8(t.lane)))
	z = mix(z ^ uint64(uint32(t.warp))<<32 ^ uint64(uint32(t.nth)))
	return mix(z ^ n)
}

// mix is the end of SplitMix64, which spreads every bit over all.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
