package explore

import (
	"math"

	"muster/internal/machine"
)

// Sampling, where not every schedule can be explored. A bug that it does not find is not
// proven absent; PCT bounds the probability that it would have been found.

// Depths are the PCT depths of a sample by default. Most bugs are of depth 1, a wrong
// order of two steps, or 2, a step that comes between two others; two locks taken in
// opposite orders are of depth 2.
var Depths = []int{1, 2, 3, 4}

// Sample returns n schedules for a launch whose runs have up to k steps (see Extent):
// in turn one of delays and one of PCT for each depth, and then a random one. A
// longer sample begins with the shorter one of the same seed, no schedule is
// repeated, and none is one of Handful's.
func Sample(n int, seed uint64, k int, depths ...int) []Schedule {
	if len(depths) == 0 {
		depths = Depths
	}
	// Handful counts up from 1.
	seed = 1<<31 | mix(seed)>>33
	k = min(max(k, 1), maxSteps)
	list := make([]Schedule, 0, n)
	for i := range n {
		s := Schedule{Policy: Random, Seed: seed + uint64(i)}
		if turn := i % (2*len(depths) + 1); turn == 2*len(depths) {
		} else if turn%2 == 0 {
			s.Policy = Delay
		} else {
			s.Policy, s.Depth, s.Steps = PCT, min(max(depths[turn/2], 1), maxDepth), k
		}
		list = append(list, s)
	}
	return list
}

// PCTBound is a lower bound on the probability that one run of PCT shows a bug of depth
// d, in a launch of n threads whose runs have k steps: 1/(n·k^(d-1)). A thread is lanes
// of a warp that have diverged from others, an asynchronous operation, or the start of
// clusters. The bound assumes
//
//   - that no run has more threads or steps that matter for the bug. A bound
//     that was measured on some runs is an estimate;
//   - that the bug shows in every run in which d+1 steps, or fewer, come in one
//     certain order, and that the machine can make it: an outcome that only the
//     weak memory model has is in no schedule;
//   - that priorities and the places of changes are uniform and independent, as
//     draws from the seed appear to be.
//
// Zero threads or steps count as one.
func PCTBound(n, k, d int) float64 {
	return 1 / (float64(max(n, 1)) * math.Pow(float64(max(k, 1)), float64(max(d, 1)-1)))
}

// Once is the probability that at least one of n independent runs shows what each
// shows with probability p.
func Once(p float64, n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-p)) }

// Odds is a lower bound on the probability that one of the schedules shows a bug of depth
// d in a launch of n threads. It counts the PCT schedules of depth d or more, since a bug
// of depth d has every greater depth too. It assumes what PCTBound does, and different
// seeds.
func Odds(list []Schedule, n, d int) float64 {
	miss := 0.0 // logarithm
	for _, s := range list {
		if s.Policy == PCT && s.Depth >= d {
			miss += math.Log1p(-PCTBound(n, s.Steps, s.Depth))
		}
	}
	return -math.Expm1(miss)
}

// Extent runs m to its end under s, and counts the threads that took part and the
// steps: n and k of PCTBound for this run. It reports false where stop ended it.
func Extent(m *machine.Machine, s Schedule, stop func() bool) (n, k int, ok bool) {
	all := newThreads(0)
	r := runner{m: m}
	r.obey(s)
	r.log = func(c machine.Choice) {
		k++
		if c.Kind != machine.Milestone && c.Kind != machine.Refuse { // operations count when they are issued
			all.of(m, c)
		}
	}
	before := m.Issued()
	s.ready(m)
	for _, c := range s.Prefix {
		r.take(c)
	}
	ok = r.follow(s.Policy, stop)
	return len(all.lanes) + int(m.Issued()-before), k, ok
}
