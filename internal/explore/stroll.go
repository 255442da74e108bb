package explore

import (
	"slices"

	"muster/internal/machine"
)

// Sampling of executions, where there are too many to explore (execution.go): random runs, in
// which a strong access may take any version that the axioms allow. What a run shows is real; what
// none shows is not proven absent.

// Stroll makes one execution at random, of at most length steps, and calls End of its Watcher as
// Search does. It returns how many steps it took, and reports false if it was ended before: by
// Space.Stop, or since it is longer.
//
// Runs differ in how often they leave the lanes that go on, and in how often an access takes an
// older version where it may: most mistakes need few of either (as in Sample), some many.
func (s *Space) Stroll(seed uint64, length int) (steps int, ok bool) {
	r := runner{rng: mix(seed)}
	leaves, older := 1+r.below(4), 1+r.below(4) // one in 2, 4, 8, 16
	w := s.Watch()
	m := s.Fork(w)
	m.StopWhen(s.Stop)
	var path []machine.Choice
	last := machine.Choice{}
	for ; steps < length; steps++ {
		list := slices.DeleteFunc(m.Ways(nil), func(c machine.Choice) bool { return !s.Allows(w, m, c) })
		if len(list) == 0 {
			end := runner{m: m}
			for m.Stopped() == nil && !m.Done() && end.step(Latest) {
			}
			if interrupted(m) {
				return steps, false
			}
			m.Conclude()
			w.End(m, path)
			return steps, true
		}
		c := r.wander(list, last, leaves, older)
		if last = process(c); c.Kind == machine.Run || c.Kind == machine.Alone {
			c.Op = 0
		}
		path = append(path, c)
		if m.Step(c); interrupted(m) {
			return steps, false
		}
	}
	return steps, false
}

// wander picks a process that is not reluctant, if there is one, and one of its choices.
func (r *runner) wander(list []machine.Choice, last machine.Choice, leaves, older int) machine.Choice {
	least := slices.MinFunc(list, func(a, b machine.Choice) int { return reluctance(a) - reluctance(b) })
	list = slices.DeleteFunc(list, func(c machine.Choice) bool { return reluctance(c) > reluctance(least) })
	p := process(list[r.below(len(list))])
	if r.below(1<<leaves) > 0 && slices.ContainsFunc(list, func(c machine.Choice) bool { return process(c) == last }) {
		p = last
	}
	list = slices.DeleteFunc(list, func(c machine.Choice) bool { return process(c) != p })
	picks := slices.DeleteFunc(slices.Clone(list), func(c machine.Choice) bool { return c.Kind != machine.Pick })
	if n := len(picks); n > 0 && (n == len(list) || r.below(1<<older) == 0) {
		return picks[r.below(n)]
	}
	list = slices.DeleteFunc(list, func(c machine.Choice) bool { return c.Kind == machine.Pick })
	return list[r.below(len(list))]
}

// below draws a number from 0 to n-1.
func (r *runner) below(n int) int {
	r.rng = r.rng*6364136223846793005 + 1442695040888963407
	return int((r.rng >> 33) % uint64(n))
}
