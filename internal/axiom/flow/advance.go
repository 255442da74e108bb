package flow

import "muster/internal/axiom"

// advance advances every thread as far as possible. It returns false if the execution is
// to be dropped.
func (x *search) advance(s *state) bool {
	for again := true; again; {
		again = false
		for i := range s.th {
			moved, ok := x.step(s, i)
			if !ok {
				return false
			}
			again = again || moved
		}
		again = x.meet(s) || again
	}
	return true
}

func (x *search) step(s *state, i int) (moved, ok bool) {
	t := &s.th[i]
	for !t.done && !t.in {
		if len(s.ev) > maxEvents {
			return false, true
		}
		in := &x.th[i].code[t.pc]
		switch in.Kind {
		case Move:
			a, b := s.eval(in.Src[0], t), s.eval(in.Src[1], t)
			v := &expr{op: in.Op, a: a, b: b}
			if k, known := s.know(v); known {
				v = constant(k)
			}
			t.regs[in.Dst[0]] = v
		case Fence:
			t.serial++
			s.ev = append(s.ev, event{thread: i, serial: t.serial, pc: t.pc, kind: fence, sem: in.Sem, scope: in.Scope})
		case ProxyFence:
			t.serial++
			s.ev = append(s.ev, event{thread: i, serial: t.serial, pc: t.pc, kind: proxyFence, proxy: in.Proxy})
		case Jump:
			a, ok := s.know(s.eval(in.Src[0], t))
			b, ok2 := s.know(s.eval(in.Src[1], t))
			holds := in.Cmp.holds(a, b)
			if !ok || !ok2 {
				if t.guess == unguessed {
					return moved, true
				}
				holds = t.guess == goesOn
			}
			t.guess = unguessed
			if !holds {
				if in.Target <= t.pc {
					if t.loops++; t.loops > x.loops {
						x.looped = true
						return false, false
					}
				}
				t.pc, moved = in.Target, true
				continue
			}
		case Meet:
			bar := in.Bar
			if len(in.Src) > 0 { // the barrier's number, in litmus tests
				v, known := s.know(s.eval(in.Src[0], t))
				if !known {
					return moved, true
				}
				bar = bar<<32 + int(v) + 1
			}
			t.serial++
			s.ev = append(s.ev, event{thread: i, serial: t.serial, pc: t.pc, kind: arrive, group: in.group, bar: bar, quorum: in.Quorum})
			t.bar, t.at = bar, len(s.ev)
			if in.group == named && in.Quorum == 0 {
				s.ev[t.at-1].met = s.occurrence(t.at - 1)
			}
			if !in.Arrives {
				t.in = true
				return true, true
			}
		case Trap:
			s.trap, t.done = true, true
			return true, true
		case Halt:
			t.done = true
			return true, true
		default:
			if t.wait > 0 {
				// Its poll ends with the value read.
				if _, known := s.loaded(t.wait-1, 0); !known {
					return moved, true
				}
				t.wait = 0
				break
			}
			at, known := s.know(s.eval(in.At, t))
			if !known {
				return moved, true
			}
			aligned := true
			if in.Bytes {
				at, aligned = at/4, at%4 == 0
			}
			if !aligned || !x.p.within(in, at) {
				s.out, t.done = true, true
				return true, true
			}
			want, known := s.know(s.eval(in.Want, t))
			if in.Kind == Poll && !known {
				return moved, true
			}
			x.enter(s, i, in, at, want)
			moved = true
			if in.Kind == Poll {
				return true, true
			}
		}
		t.pc++
		moved = true
	}
	return moved, true
}

// enter adds the events of an access.
func (x *search) enter(s *state, i int, in *Instr, at, want uint32) {
	t := &s.th[i]
	t.serial++
	kind := in.Kind
	if kind == Poll {
		kind = in.By
	}
	n := in.width()
	first := len(s.ev)
	for el := range in.elements() {
		e := event{
			thread: i, serial: t.serial, pc: t.pc, sem: in.Sem, scope: in.Scope, strong: strong(in.Sem), proxy: in.Proxy,
			read: kind != Store, write: kind != Load, rmw: kind == Atom || kind == Red, result: kind == Load || kind == Atom,
			at: x.p.place(x.th[i].cta, in.Shared, at) + el*n, words: n, op: in.Op,
			src: [2]int{open, open}, since: [2]int{-1, -1},
		}
		if at >= uint32(x.p.Words) && !in.Shared {
			e.virtual = int(at) // an alias: see within
		}
		if in.Sem == axiom.Volatile { // ISA 8.4.2
			e.sem, e.scope = axiom.Relaxed, axiom.Sys
		}
		if e.rmw {
			for _, v := range in.Src {
				e.args = append(e.args, s.eval(v, t))
			}
		} else if e.write {
			for k := range n {
				e.val[k] = s.eval(in.Src[el*n+k], t)
			}
		}
		if in.Kind == Poll && el == 0 {
			e.poll, e.cmp, e.want = true, in.Cmp, want
			t.wait = first + 1
		}
		s.ev = append(s.ev, e)
	}
	if kind == Load || kind == Atom {
		for k := range in.elements() * n {
			t.regs[in.Dst[k]] = &expr{event: first + k/n + 1, word: k % n}
		}
	}
	s.settle()
}

// meet opens barriers that all participants have reached.
func (x *search) meet(s *state) bool {
	opened := false
	for i := range s.th {
		if !s.th[i].in {
			continue
		}
		b := &x.th[i].code[s.th[i].pc]
		if b.group == named {
			opened = x.pass(s, i) || opened
			continue
		}
		var all []int
		for j := range s.th {
			if s.th[j].in && x.th[j].meets(&x.th[i], b.group) {
				if c := &x.th[j].code[s.th[j].pc]; c.group == b.group && c.Bar == b.Bar {
					all = append(all, j)
				}
			}
		}
		if len(all) < b.members {
			continue
		}
		for _, j := range all {
			t := &s.th[j]
			t.serial++
			s.ev = append(s.ev, event{thread: j, serial: t.serial, kind: pass, group: b.group, bar: t.bar})
			t.in = false
			t.pc++
		}
		opened = true
	}
	return opened
}
