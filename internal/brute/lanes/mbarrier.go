package lanes

import "slices"

// The bytes of an mbarrier (ISA 9.7.13.15).
const (
	phase    = iota
	pending  // arrivals
	tx       // copies that are expected and not complete; less than 0 for the reverse
	expected // arrivals of the next phase
	alive    // between init and inval
	barSize
)

// barrier takes an operation at an mbarrier. It is not undefined: undefined checked it.
func (r *runner) barrier(s *state, t int, c *code) {
	bar := s[c.bar : c.bar+barSize]
	if c.arrives() || c.Kind == Expect || c.Kind == Wait || c.Kind == ArriveAsync && c.N == 0 {
		r.charge(c, bar)
	}
	switch c.Kind {
	case Arrive, NoComplete, ArriveTx, Drop:
		if c.Keep {
			s[r.tokens+t] = token(bar[phase], c.Bar)
		}
		n := uint8(1)
		switch c.Kind {
		case Arrive:
			n = max(n, c.N)
		case ArriveTx:
			bar[tx] += c.N
		case Drop:
			bar[expected]--
			r.loose = r.loose || bar[expected] == 0
		case NoComplete:
			r.loose = r.loose || bar[pending] == n
		}
		bar[pending] -= n
		turn(bar)
	case Expect:
		r.loose = r.loose || bar[pending] == 0
		bar[tx] += c.N
		turn(bar)
	case Test:
		*r.reg(s, t, c.Reg) = 0
		if bar[phase]&1 != c.N {
			*r.reg(s, t, c.Reg) = 1
		}
	case Inval:
		bar[alive] = 0
	case Init:
		// The next even phase: no token belongs to the phase before it.
		bar[phase] = (bar[phase] + 3) &^ 1
		bar[pending], bar[expected], bar[tx], bar[alive] = c.N, c.N, 0, 1
	case ArriveAsync:
		if c.N == 0 {
			bar[pending]++
		}
	}
}

// turn ends the open phase if it is complete.
func turn(bar []uint8) {
	if bar[pending] == 0 && bar[tx] == 0 {
		bar[phase]++
		bar[pending] = bar[expected]
	}
}

// charge notes the phase that an operation counts for, or that it finds open.
func (r *runner) charge(c *code, bar []uint8) {
	if c.met < 0 {
		c.met = int(bar[phase])
	}
	r.phases = r.phases || c.met != int(bar[phase])
}

// undefined reports whether the next step of a thread, or of an operation in flight, is
// one at an mbarrier that the ISA leaves undefined. A thread that waits tests repeatedly.
func (r *runner) undefined(s *state) bool {
	for t := range r.threads {
		if c := r.at(s, t); c != nil && c.atBarrier() && r.forbidden(s, t, c) {
			return true
		}
		for f, i := range r.threads[t].flights {
			c := &r.threads[t].code[i]
			if s[r.flying+t]>>f&1 == 0 || c.Kind == CopyAsync {
				continue
			}
			if bar := s[c.bar : c.bar+barSize]; bar[alive] == 0 || c.Kind == ArriveAsync && bar[pending] == 0 && r.lands(s, t, f) {
				return true
			}
		}
	}
	return false
}

func (r *runner) forbidden(s *state, t int, c *code) bool {
	bar := s[c.bar : c.bar+barSize]
	if (c.Kind == Init) == (bar[alive] == 1) {
		return true
	}
	switch c.Kind {
	case Arrive:
		return bar[pending] < max(1, c.N) // 9.7.13.15.2, the range of the pending count
	case ArriveTx, Drop:
		return bar[pending] == 0
	case NoComplete:
		return bar[pending] == 0 || bar[pending] == 1 && bar[tx] == 0
	case WaitToken: // the phase of the token or the next (9.7.13.15.16)
		was := s[r.tokens+t]
		return was != token(bar[phase], c.Bar) && was != token(bar[phase]-1, c.Bar)
	}
	return false
}

// token encodes the token that an arrival returns, by its phase and mbarrier. A thread
// without a token has 0.
func token(phase, bar uint8) uint8 { return phase<<2 | bar<<1 | 1 }

// copying reports whether a cp.async of a thread is under way.
func (r *runner) copying(s *state, t int) bool {
	for f, i := range r.threads[t].flights {
		if s[r.flying+t]>>f&1 != 0 && r.threads[t].code[i].Kind == CopyAsync {
			return true
		}
	}
	return false
}

// lands reports whether an operation in flight may end now. An arrival comes after the
// thread's earlier cp.async.
func (r *runner) lands(s *state, t, f int) bool {
	if s[r.flying+t]>>f&1 == 0 {
		return false
	}
	flights := r.threads[t].flights
	if r.threads[t].code[flights[f]].Kind != ArriveAsync {
		return true
	}
	for g, i := range flights[:f] {
		if s[r.flying+t]>>g&1 != 0 && r.threads[t].code[i].Kind == CopyAsync {
			return false
		}
	}
	return true
}

// land ends an operation in flight.
func (r *runner) land(s *state, t, f int) {
	c := &r.threads[t].code[r.threads[t].flights[f]]
	s[r.flying+t] &^= 1 << f
	for i, at := range c.any {
		s[at] = r.brings(t, c, i)
	}
	if c.Kind == CopyAsync {
		return
	}
	bar := s[c.bar : c.bar+barSize]
	if c.Kind == Bulk {
		bar[tx]--
	} else {
		bar[pending]--
	}
	r.charge(c, bar)
	turn(bar)
}

// brings returns the i-th word that a copy writes.
func (r *runner) brings(t int, c *code, i int) uint8 {
	if c.Kind == Bulk {
		return uint8(Source + Box*r.threads[t].lane + i)
	}
	return uint8(Source + r.threads[t].lane)
}

// raced reports whether two next steps race, of threads or of copies. Copies that bring
// the same to one word are loose.
func (r *runner) raced(s *state) bool {
	type copied struct {
		word  int
		value uint8
	}
	var copies []copied
	for t := range r.threads {
		for u := range t {
			if r.races(s, t, u) {
				return true
			}
		}
		for f, i := range r.threads[t].flights {
			if s[r.flying+t]>>f&1 == 0 {
				continue
			}
			for j, at := range r.threads[t].code[i].any {
				x := copied{at, r.brings(t, &r.threads[t].code[i], j)}
				for _, y := range copies {
					if x.word == y.word && x.value != y.value {
						return true
					}
				}
				r.loose = r.loose || slices.Contains(copies, x)
				copies = append(copies, x)
			}
		}
	}
	for t := range r.threads {
		c := r.at(s, t)
		if c == nil || c.word < 0 || c.copies() {
			continue
		}
		for _, x := range copies {
			if x.word == r.word(s, t, c) {
				return true
			}
		}
	}
	return false
}
