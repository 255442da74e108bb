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
			return steps, s.concludes(m, w, path)
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

// Overtaken makes one execution in which loads at some places take the oldest version that the
// axioms allow; all else takes the newest. The CTA that comes to one of the tickets first goes on
// when nobody else can: what the others write then comes after all fences of that CTA that stand
// before it. It calls End of its Watcher, and reports false if the run was ended before that.
func (s *Space) Overtaken(tickets, loads []int32, length int) bool {
	w := s.Watch()
	m := s.Fork(w)
	m.StopWhen(s.Stop)
	var path []machine.Choice
	o := overtaking{m: m, tickets: tickets, loads: loads, held: -1}
	for range length {
		list := slices.DeleteFunc(m.Ways(nil), func(c machine.Choice) bool { return !s.Allows(w, m, c) })
		if len(list) == 0 {
			return s.concludes(m, w, path)
		}
		c := o.pick(list)
		if c.Kind == machine.Run || c.Kind == machine.Alone {
			c.Op = 0
		}
		path = append(path, c)
		if m.Step(c); interrupted(m) {
			return false
		}
	}
	return false
}

// An overtaking picks the choices of Overtaken.
type overtaking struct {
	m              *machine.Machine
	tickets, loads []int32
	held           int32 // the CTA that is held back; -1 for none yet
	last           machine.Choice
}

// pick picks the process that went on before, or the first of those that are the least reluctant.
// At the loads it takes the oldest version, which is the last of the choices that take one.
func (o *overtaking) pick(list []machine.Choice) machine.Choice {
	p := process(slices.MinFunc(list, func(a, b machine.Choice) int { return o.reluctance(a) - o.reluctance(b) }))
	if slices.ContainsFunc(list, func(c machine.Choice) bool { return process(c) == o.last && o.reluctance(c) == 0 }) {
		p = o.last
	}
	o.last = p
	var newest, oldest *machine.Choice
	for i := range list {
		switch c := &list[i]; {
		case process(*c) != p:
		case c.Kind == machine.Pick:
			oldest = c
		case newest == nil:
			newest = c
		}
	}
	if oldest != nil && (newest == nil || slices.Contains(o.loads, o.at(*oldest))) {
		return *oldest
	}
	return *newest
}

// at returns the instruction before which the lanes of a choice stand, -1 if it is none of lanes.
func (o *overtaking) at(c machine.Choice) int32 {
	if process(c).Kind != machine.Run {
		return -1
	}
	return o.m.At(c.CTA, c.Warp, c.Lane)
}

func (o *overtaking) reluctance(c machine.Choice) int {
	if !slices.Contains(o.tickets, o.at(c)) {
		return reluctance(c)
	}
	if o.held < 0 {
		o.held = c.CTA
	}
	if c.CTA == o.held {
		return 3
	}
	return 0
}

// concludes ends a run in which nothing is left to choose.
func (s *Space) concludes(m *machine.Machine, w Watcher, path []machine.Choice) bool {
	end := runner{m: m}
	for m.Stopped() == nil && !m.Done() && end.step(Latest) {
	}
	if interrupted(m) {
		return false
	}
	m.Conclude()
	w.End(m, path)
	return true
}
