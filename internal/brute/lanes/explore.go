package lanes

// A Result is what can come out of a program.
type Result struct {
	States   int
	Complete bool // every interleaving was visited
	Race     bool
	Trap     bool
	Hang     bool // some interleaving comes to where lanes wait for ever
	// Phases: an arrival at an mbarrier is charged to different phases in different
	// interleavings, against 9.7.13.15.4. That alone is no bad outcome here, and a
	// check that says so is right.
	Phases bool
	Finals int // different final memories
}

// Bad names what is wrong, nothing if it is right.
func (r *Result) Bad() string {
	s := ""
	for _, x := range []struct {
		is   bool
		name string
	}{{r.Race, "race"}, {r.Trap, "trap"}, {r.Hang, "hang"}} {
		if x.is {
			if s != "" {
				s += "+"
			}
			s += x.name
		}
	}
	return s
}

// Explore visits every interleaving, up to so many states. What it has found then
// holds, complete or not.
func Explore(p *Program, limit int) Result {
	r := newRunner(p)
	if r == nil {
		return Result{}
	}
	res := r.explore(limit)
	res.Phases = r.phases
	return res
}

func (r *runner) explore(limit int) Result {
	var res Result
	first, ok := r.start()
	if !ok {
		return Result{Complete: true, Trap: true, States: 1}
	}
	seen := map[state]struct{}{first: {}}
	finals := map[state]struct{}{}
	todo := []state{first}
	for len(todo) > 0 {
		if len(seen) > limit {
			res.States, res.Finals = len(seen), len(finals)
			return res
		}
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		moved, over := false, true
		for t := range r.threads {
			over = over && r.at(&s, t) == nil
			for u := range t {
				res.Race = res.Race || r.races(&s, t, u)
			}
			if !r.enabled(&s, t) {
				continue
			}
			moved = true
			n := s
			if !r.step(&n, t) {
				res.Trap = true
				continue
			}
			if _, old := seen[n]; !old {
				seen[n] = struct{}{}
				todo = append(todo, n)
			}
		}
		switch {
		case moved:
		case over:
			finals[r.left(&s)] = struct{}{}
		default:
			res.Hang = true
		}
	}
	res.Complete, res.States, res.Finals = true, len(seen), len(finals)
	return res
}

// left is what a final state leaves in global memory.
func (r *runner) left(s *state) state {
	var m state
	for _, w := range r.global {
		m[w] = s[w]
	}
	for t := range r.threads {
		for n := range uint8(Regs) {
			if r.p.Out>>n&1 != 0 {
				*r.reg(&m, t, n) = *r.reg(s, t, n)
			}
		}
	}
	return m
}
