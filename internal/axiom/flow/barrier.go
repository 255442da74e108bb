package flow

// The barriers of litmus tests (Meet) are named by the thread that uses them. One with a
// quorum opens after so many arrivals (ISA 9.7.13.1), whichever they are: which of them make
// one generation is a choice of the execution. One without orders what meets there by count,
// and nobody waits: a thread that is alone at it goes on.

// occurrence counts the arrivals of an event's thread at its barrier, up to it.
func (s *state) occurrence(i int) int {
	n := 0
	for k := range i + 1 {
		if a, b := &s.ev[k], &s.ev[i]; a.kind == arrive && a.thread == b.thread && a.bar == b.bar {
			n++
		}
	}
	return n
}

// pass lets a thread leave the barrier at which it waits, once its generation is known.
func (x *search) pass(s *state, i int) bool {
	t := &s.th[i]
	at := s.ev[t.at-1]
	if at.met == 0 {
		return false
	}
	t.serial++
	s.ev = append(s.ev, event{thread: i, serial: t.serial, pc: t.pc, kind: pass, group: at.group, bar: at.bar, met: at.met})
	t.in = false
	t.pc++
	return true
}

// gather continues with each set of arrivals that may be the next generation of some
// barrier. It reports whether there is one.
func (x *search) gather(s *state) bool {
	for i := range s.ev {
		a := &s.ev[i]
		if a.kind != arrive || a.quorum == 0 || a.met > 0 {
			continue
		}
		var all []int
		last := 0
		for k := range s.ev {
			b := &s.ev[k]
			if b.kind != arrive || b.bar != a.bar || x.th[b.thread].cta != x.th[a.thread].cta {
				continue
			}
			if last = max(last, b.met); b.met == 0 {
				all = append(all, k)
			}
		}
		if len(all) >= a.quorum {
			x.choose(s, all, a.quorum, last+1, nil)
			return true
		}
	}
	return false
}

// choose continues with each subset of so many arrivals as one generation. A subset has the
// first arrival or leaves it for a later generation.
func (x *search) choose(s *state, from []int, n, generation int, chosen []int) {
	if x.end || x.cut {
		return
	}
	if n == 0 {
		t := s.clone()
		t.clock++ // what is written behind the barrier becomes ready later than what was put off
		for _, k := range chosen {
			t.ev[k].met = generation
		}
		x.branch(t)
		return
	}
	if len(from) < n {
		return
	}
	x.choose(s, from[1:], n-1, generation, append(chosen[:len(chosen):len(chosen)], from[0]))
	x.choose(s, from[1:], n, generation, chosen)
}
