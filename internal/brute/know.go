package brute

import "math/bits"

// Happens-before is weaker than an interleaving's order, where a wait may pass only
// because of the latest step at its barrier. From a wait a thread knows what precedes
// the arrivals of the phase that it saw complete (ISA 9.7.13.15.16: accesses before an
// arrival during the completed phase), and, of operations that landed in that phase,
// their own accesses only (ISA 8.9.1.1). Two accesses that happens-before does not
// order race, whether or not they are adjacent in an interleaving.

// A sight is a state, with what every thread knows. A set of accesses has a bit for
// the write, or other effect, of each operation, and above those one for its read.
type sight struct {
	s          state
	know       [MaxThreads]uint64
	full, fill [MaxBars]uint64 // by the arrivals of the last complete phase, and of the open one
	named      [2 * MaxNamed]uint64
	came, met  uint64 // by the cluster's arrivals, and by those of the last generation
	from       [MaxOps]uint64
	done       uint64
}

const readBits = 32

func wrote(i int) uint64 { return 1 << i }

func both(i int) uint64 { return 1<<i | 1<<(readBits+i) }

// Unordered returns the pairs of operations that conflict and that happens-before does
// not order in some interleaving. It is complete if every interleaving was visited
// within limit states.
func Unordered(p *Program, card bool, limit int) (pairs map[[2]int]bool, complete bool) {
	r := newRunner(p, card)
	pairs = map[[2]int]bool{}
	begin := sight{s: r.start()}
	seen := map[sight]struct{}{begin: {}}
	todo := []sight{begin}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for k := range len(p.Threads) + r.n {
			c := v
			if !r.advance(&c, k, pairs) {
				continue
			}
			if _, old := seen[c]; !old {
				if len(seen) > limit {
					return pairs, false
				}
				seen[c] = struct{}{}
				todo = append(todo, c)
			}
		}
	}
	return pairs, true
}

// advance takes the next step of thread k, or the next milestone of an operation.
func (r *runner) advance(v *sight, k int, pairs map[[2]int]bool) bool {
	was := v.s
	if t := k; t < len(r.p.Threads) {
		if !r.enabled(&v.s, t) {
			return false
		}
		i := r.first[t] + int(v.s.pc[t])
		if a, ok := r.touches(&v.s, t); ok {
			r.look(v, i, a, v.know[t], pairs)
			v.done |= both(i)
			v.know[t] |= both(i)
		}
		if !r.step(&v.s, t) {
			return false
		}
		r.learn(v, &was, t, i)
	} else {
		i := k - len(r.p.Threads)
		if !r.pendingMilestone(&v.s, i) {
			return false
		}
		if a, ok := r.touchesAsync(&v.s, i); ok {
			r.look(v, i, a, v.from[i], pairs)
			if a.write {
				v.done |= wrote(i)
			} else {
				v.done |= wrote(i) << readBits
			}
		}
		signals := r.ops[i].Kind == Arrival || r.ops[i].Kind == Increment || r.ops[i].Kind == NoIncrement || r.ops[i].Kind == Copy && v.s.stage[i] == written
		if !r.milestone(&v.s, i) {
			return false
		}
		if signals {
			b := r.ops[i].Bar
			v.fill[b] |= both(i) | v.from[i]*flag(r.ops[i].Kind != Copy)
			v.complete(&was, b)
		}
	}
	// An exit, too, may open the cluster's barrier.
	if was.passes&^v.s.passes == 0 && was.passes != v.s.passes {
		v.met, v.came = v.came, 0
	}
	return true
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (v *sight) complete(was *state, b uint8) {
	if v.s.bars[b].phase != was.bars[b].phase {
		v.full[b], v.fill[b] = v.fill[b], 0
	}
}

// look enters the races of an access with earlier ones that its agent does not know.
func (r *runner) look(v *sight, i int, a access, known uint64, pairs map[[2]int]bool) {
	for x := v.done &^ known; x != 0; x &= x - 1 {
		bit := bits.TrailingZeros64(x)
		k := bit % readBits
		if k != i && races(a, r.did(k, bit >= readBits)) {
			pairs[[2]int{min(i, k), max(i, k)}] = true
		}
	}
}

// did returns the access of operation i.
func (r *runner) did(i int, read bool) access {
	o := r.ops[i]
	switch o.Kind {
	case Load:
		return access{slot: o.Slot}
	case LoadStrong:
		return access{slot: o.Slot, strong: true}
	case Store:
		return access{slot: o.Slot, write: true}
	case StoreStrong, Add, Max:
		return access{slot: o.Slot, write: true, strong: true}
	}
	async := o.Kind != CopyAsync
	if read {
		return access{slot: o.Src, async: async}
	}
	return access{slot: o.Slot, write: true, strong: o.Kind == AddAll || o.Kind == MaxAll, async: async}
}

// learn updates what thread t knows, and hands on, by its operation i.
func (r *runner) learn(v *sight, was *state, t, i int) {
	o := r.ops[i]
	switch o.Kind {
	case Arrive, ArriveToken, ArriveExpect, Drop:
		v.fill[o.Bar] |= v.know[t]
		v.complete(was, o.Bar)
	case Wait, WaitToken:
		if v.s.bars[o.Bar].phase > 0 {
			v.know[t] |= v.full[o.Bar]
		}
	case Sync, BarArrive:
		n := MaxNamed*r.p.home(t) + int(o.Bar)
		v.named[n] |= v.know[t]
		if was.named[n].gen != v.s.named[n].gen {
			who := was.named[n].blocked
			if o.Kind == Sync {
				who |= 1 << t
			}
			for k := range r.p.Threads {
				if who>>k&1 != 0 {
					v.know[k] |= v.named[n]
				}
			}
			v.named[n] = 0
		}
	case ClusterArrive:
		v.came |= v.know[t]
	case ClusterWait:
		v.know[t] |= v.met
	case WaitGroup, WaitRead:
		v.know[t] |= r.settled(was, t, o)
	case Copy, CopyAsync, StoreAll, AddAll, MaxAll:
		v.from[i] = v.know[t]
	case Arrival: // it hands on what copies did, of which its thread knew, and no more
		for k := range r.n {
			if r.ops[k].Kind == Copy || r.ops[k].Kind == CopyAsync {
				v.from[i] |= v.know[t] & both(k)
			}
		}
	case Increment, NoIncrement:
		for k := r.first[t]; k < i; k++ {
			if r.ops[k].Kind == CopyAsync {
				v.from[i] |= both(k)
			}
		}
	}
}

// settled returns the accesses that a wait for groups shows complete.
func (r *runner) settled(s *state, t int, o Op) uint64 {
	newer, all := uint8(0), uint64(0)
	for i := int(s.pc[t]) - 1; i >= 0; i-- {
		switch r.p.Threads[t][i].Kind {
		case Commit:
			newer++
		case StoreAll, AddAll, MaxAll:
			if k := r.first[t] + i; newer > o.N && o.Kind == WaitGroup {
				all |= both(k)
			} else if newer > o.N {
				all |= wrote(k) << readBits
			}
		}
	}
	return all
}
