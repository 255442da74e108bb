package flow

// A guess is how a branch goes whose condition is not known yet.
type guess uint8

const (
	unguessed guess = iota
	goesOn          // its comparison holds
	jumps
)

// An assumption is a guess, with the comparison that it is about.
type assumption struct {
	a, b *expr
	cmp  Cmp
	guess
}

// guesses continues with both ways of some branch whose condition is not known. It reports
// whether there is one.
func (x *search) guesses(s *state) bool {
	for i := range s.th {
		t := &s.th[i]
		if t.done || t.in {
			continue
		}
		in := &x.th[i].code[t.pc]
		if in.Kind != Jump {
			continue
		}
		for _, way := range []guess{goesOn, jumps} {
			c := s.clone()
			h := &c.th[i]
			h.guess = way
			c.assumed = append(c.assumed, assumption{c.eval(in.Src[0], h), c.eval(in.Src[1], h), in.Cmp, way})
			x.branch(c)
		}
		return true
	}
	return false
}

// asAssumed reports whether branches went as their conditions say, those that are known; in the
// end all of them are.
func (s *state) asAssumed(end bool) bool {
	for i := range s.assumed {
		u := &s.assumed[i]
		a, ok := s.know(u.a)
		b, ok2 := s.know(u.b)
		if known := ok && ok2; known && u.cmp.holds(a, b) != (u.guess == goesOn) || !known && end {
			return false
		}
	}
	return true
}
