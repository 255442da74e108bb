package brute

import "math/rand/v2"

// Skeleton makes a random program of barriers alone: two or three threads, one or two
// mbarriers, up to five operations a thread. The only condition is that one run of
// it, chosen at random, ends.
func Skeleton(r *rand.Rand) *Program {
	for {
		p := skeleton(r)
		if p.waits() && p.ends(r) {
			return p
		}
	}
}

func skeleton(r *rand.Rand) *Program {
	p := &Program{}
	for range 1 + r.IntN(2) {
		p.Counts = append(p.Counts, int8(1+r.IntN(2)))
	}
	n := len(p.Counts)
	for range 2 + r.IntN(2) {
		var ops []Op
		parity := make([]uint8, n)
		for b := range parity {
			parity[b] = uint8(r.IntN(4) / 3)
		}
		for range 1 + r.IntN(5) {
			o := Op{Bar: uint8(r.IntN(n))}
			bytes := uint8(16 * (1 + r.IntN(2)))
			copied := Op{Kind: Copy, Bar: o.Bar, N: bytes, Src: FirstConst}
			switch x := r.IntN(100); {
			case x < 22:
				o.Kind = Arrive
			case x < 26:
				o.Kind = Drop
			case x < 44:
				o.Kind, o.N = ArriveExpect, bytes
				if x >= 38 {
					o.Kind = Expect
				}
				if r.IntN(2) == 0 {
					ops = append(ops, o)
					o = copied
				}
			case x < 52:
				o = copied
			case x < 57:
				o.Kind = Increment
			case x < 60:
				o.Kind = NoIncrement
			case x < 92:
				o.Kind, o.N = Wait, parity[o.Bar]
				parity[o.Bar] ^= 1
			default:
				o.Kind, o.Bar, o.N = Sync, uint8(r.IntN(2)), 2
				if x >= 97 {
					o.Kind = BarArrive
				}
			}
			ops = append(ops, o)
		}
		p.Threads = append(p.Threads, ops)
	}
	return p
}

// ends reports whether one run, chosen at random, ends.
func (p *Program) ends(r *rand.Rand) bool {
	if p.Size() > MaxOps {
		return false
	}
	x := newRunner(p, false)
	s := x.start()
	for {
		var moves []int
		for t := range p.Threads {
			if x.enabled(&s, t) {
				moves = append(moves, t)
			}
		}
		for i := range x.n {
			if x.pendingMilestone(&s, i) {
				moves = append(moves, MaxThreads+i)
			}
		}
		if len(moves) == 0 {
			return x.done(&s)
		}
		ok := false
		if k := moves[r.IntN(len(moves))]; k < MaxThreads {
			ok = x.step(&s, k)
		} else {
			ok = x.milestone(&s, k-MaxThreads)
		}
		if !ok {
			return false
		}
	}
}
