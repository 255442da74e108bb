package lanes

// A Result is what can come out of a program.
type Result struct {
	States   int
	Complete bool // every interleaving was visited
	Race     bool
	Trap     bool
	Hang     bool // in some interleaving lanes wait for ever
	// Undefined: some interleaving does at an mbarrier what the ISA leaves undefined.
	Undefined bool
	// Loose: some interleaving does what the ISA does not clearly define, for example
	// exits before a copy is complete. That alone is no bad outcome, and nothing is
	// concluded from a check's findings.
	Loose bool
	// Phases: an operation at an mbarrier is charged to different phases in different
	// interleavings, against 9.7.13.15.4, or a wait by parity ends in different ones.
	// That alone is no bad outcome here, and a check that says so is right.
	Phases bool
	Finals []Memory // different ones
}

// A Memory is what a program leaves: buffers data and out. Words that no run writes
// hold what they held.
type Memory struct {
	Data [MaxAreas * Words]uint8
	Out  [Words * Regs]uint8
}

// Bad names what is wrong, nothing if it is right.
func (r *Result) Bad() string {
	s := ""
	for _, x := range []struct {
		is   bool
		name string
	}{{r.Race, "race"}, {r.Trap, "trap"}, {r.Hang, "hang"}, {r.Undefined, "undefined"}} {
		if x.is {
			if s != "" {
				s += "+"
			}
			s += x.name
		}
	}
	return s
}

// Explore visits every interleaving, up to limit states. Its findings hold even if it
// is not complete.
func Explore(p *Program, limit int) Result {
	r := newRunner(p)
	if r == nil {
		return Result{}
	}
	res := r.explore(limit)
	res.Phases, res.Loose = r.phases, r.loose
	return res
}

func (r *runner) explore(limit int) Result {
	var res Result
	first, ok := r.start()
	if !ok {
		return Result{Complete: true, Trap: true, States: 1}
	}
	seen := map[state]struct{}{first: {}}
	finals := map[Memory]struct{}{}
	todo := []state{first}
	for len(todo) > 0 {
		if len(seen) > limit {
			res.States = len(seen)
			return res
		}
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if r.undefined(&s) {
			res.Undefined = true // nothing is known behind it
			continue
		}
		moved, over := false, true
		next := func(n state) {
			moved = true
			if _, old := seen[n]; !old {
				seen[n] = struct{}{}
				todo = append(todo, n)
			}
		}
		res.Race = res.Race || r.raced(&s)
		for t := range r.threads {
			over = over && r.at(&s, t) == nil
			if !r.enabled(&s, t) {
				continue
			}
			n := s
			if !r.step(&n, t) {
				moved, res.Trap = true, true
				continue
			}
			next(n)
		}
		for t := range r.threads {
			r.loose = r.loose || over && s[r.flying+t] != 0
			for f := range r.threads[t].flights {
				if r.lands(&s, t, f) {
					n := s
					r.land(&n, t, f)
					next(n)
				}
			}
		}
		switch {
		case moved:
		case over:
			m := r.left(&s)
			if _, old := finals[m]; !old {
				finals[m] = struct{}{}
				res.Finals = append(res.Finals, m)
			}
		default:
			res.Hang = true
		}
	}
	res.Complete, res.States = true, len(seen)
	return res
}

// left returns what a final state leaves in global memory.
func (r *runner) left(s *state) Memory {
	var m Memory
	for a, area := range r.p.Areas {
		for i := range Words {
			m.Data[Words*a+i] = area.Init
		}
	}
	for _, g := range r.global {
		m.Data[Words*g.area+g.index] = s[g.at]
	}
	for t, x := range r.threads {
		for n := range uint8(Regs) {
			if r.p.Out>>n&1 != 0 {
				m.Out[Regs*(MaxLanes*x.warp+x.lane)+int(n)] = *r.reg(s, t, n)
			}
		}
	}
	return m
}
