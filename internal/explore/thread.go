package explore

import "muster/internal/machine"

// A thread is what sampling gives a priority or holds back: lanes of a warp at
// one program counter, an asynchronous operation, or what starts clusters.
type thread struct {
	name
	luck   uint64 // drawn by its name
	rank   int64  // of PCT: 0, and less once it fell
	took   int64  // of PCT: steps since it last fell
	failed int    // of PCT: tests that it failed since its last other step
	last   int64  // of Delay: the step that it took last, or less than 0
	held   bool   // of Delay: an operation to hold back
}

// A name of a thread: lanes are named by the lowest, an operation by its issuer and
// its number among that issuer's. It is the same in every schedule in which the
// issuer does the same, so that the meaning of a seed does not depend on the order in
// which threads appear.
type name struct {
	kind      machine.ChoiceKind // Run, Milestone or Start
	cta, warp int32
	lane      int8
	nth       int32
}

// threads are those of a run.
type threads struct {
	seed   uint64
	lanes  map[name]*thread
	ops    map[int64]*thread // in flight, by number
	issued map[name]int32    // by the issuer
	seen   int64             // operations named
}

func newThreads(seed uint64) threads {
	return threads{seed: seed, lanes: map[name]*thread{}, ops: map[int64]*thread{}, issued: map[name]int32{}}
}

// of returns the thread that takes a choice, which m offers.
func (t *threads) of(m *machine.Machine, c machine.Choice) *thread {
	var n name
	switch c.Kind {
	case machine.Milestone, machine.Refuse:
		if m.Issued() != t.seen {
			t.meet(m)
		}
		return t.ops[c.Op]
	case machine.Start:
		n = name{kind: machine.Start}
	default:
		n = name{kind: machine.Run, cta: c.CTA, warp: c.Warp, lane: c.Lane}
	}
	who := t.lanes[n]
	if who == nil {
		who = t.new(n)
		t.lanes[n] = who
	}
	return who
}

func (t *threads) new(n name) *thread {
	luck := n.draw(t.seed, 0)
	return &thread{name: n, luck: luck, last: -1 - int64(luck>>2), held: n.draw(t.seed, 1)%oneIn == 0}
}

// meet names the operations issued since the last call, and drops those that have
// ended.
func (t *threads) meet(m *machine.Machine) {
	flying := m.InFlight()
	for _, op := range flying {
		if op.ID <= t.seen {
			continue
		}
		n := name{kind: machine.Milestone, cta: op.CTA, warp: op.Warp, lane: op.Lane}
		t.issued[n]++
		n.nth = t.issued[n]
		t.ops[op.ID] = t.new(n)
	}
	t.seen = m.Issued()
	if len(t.ops) < 2*len(flying)+64 {
		return
	}
	left := make(map[int64]*thread, len(flying))
	for _, op := range flying {
		left[op.ID] = t.ops[op.ID]
	}
	t.ops = left
}

// draw returns a pseudo-random number that only seed, name and n determine.
func (t name) draw(seed, n uint64) uint64 {
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
