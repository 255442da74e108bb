package flow

import (
	"slices"

	"muster/ptx"
)

// A peek is a test of a barrier whose result is kept for later, and says there only
// whether a wait for the same phase of the same barrier is still to be made: CUTLASS's
// consumer_try_wait for the next tile, and consumer_wait with what it returned. On every
// path from it the result is overwritten or dropped, or branches by it are reached, each of
// which skips such a wait where the test was true, and nothing else reads it.
//
// So nothing is observed by a peek that the wait does not observe, if its parity says of the
// same phase what the wait's does, and it may be taken for one that fails: each run of the
// program corresponds to one in which the peeks fail and the waits that they skip are made,
// where they find the phase complete. That is the run that a proof follows. It orders less
// than the runs in which a peek succeeds. The phase is the same if a peek for the wait of
// phase n comes after phase n-1 is complete, as the wait does: of each run that is for the
// proof to show (confluence, C3).

// peek reports whether a test is one, and which tests make the waits that it stands for.
func (g *Graph) peek(test int32) (waits []int32, ok bool) {
	u := &g.Nodes[test]
	if !u.Does(ptx.Tests) || u.Hasty || u.Guard != NoReg || len(u.Writes) != 1 {
		return nil, false
	}
	p := &peekAnalysis{g: g, test: test, at: map[int32]*kept{}}
	p.successors(test, facts{{u.Writes[0], fact{success: true, unit: true}}})
	for len(p.todo) > 0 && !p.wrong {
		n := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		p.visit(n)
	}
	ok = !p.wrong && (len(p.waits) == 0 || p.waited())
	return p.skipped, ok
}

// A peekAnalysis follows a test's result from the test to the branches by it.
type peekAnalysis struct {
	g     *Graph
	test  int32
	at    map[int32]*kept
	todo  []int32
	waits map[int32]facts // nodes to which branches lead where the test was false
	wrong bool
	// skipped are the tests of the waits that are skipped where it was true, by place.
	skipped []int32
}

// A kept is the registers with the test's result at a node.
type kept struct {
	facts
	unclear []Reg // hold the result in a way that is not followed
}

func (k *kept) holds(r Reg) bool {
	_, ok := k.of(r)
	return ok || slices.Contains(k.unclear, r)
}

// holdsAny reports whether any of the registers has the result.
func (k *kept) holdsAny(regs []Reg) bool { return slices.ContainsFunc(regs, k.holds) }

// live reports whether the result may be read at a node or after it.
func (p *peekAnalysis) live(n int32, k *kept) bool {
	if int(n) == len(p.g.Nodes) {
		return false
	}
	return slices.ContainsFunc(k.facts, func(f regFact) bool { return p.g.IsLive(n, f.reg) }) ||
		slices.ContainsFunc(k.unclear, func(r Reg) bool { return p.g.IsLive(n, r) })
}

func (p *peekAnalysis) successors(n int32, f facts, unclear ...Reg) {
	for _, to := range p.g.Next[n] {
		p.join(to, &kept{f, unclear})
	}
}

// join enters a node. A register of which two paths say different things is unclear.
func (p *peekAnalysis) join(n int32, more *kept) {
	if !p.live(n, more) {
		return // nothing can read the result any more
	}
	old := p.at[n]
	if old == nil {
		p.at[n] = &kept{more.facts, slices.Clone(more.unclear)}
		p.todo = append(p.todo, n)
		return
	}
	news := false
	spoil := func(r Reg) {
		old.facts = old.without(r)
		if !slices.Contains(old.unclear, r) {
			old.unclear, news = append(old.unclear, r), true
		}
	}
	for _, f := range slices.Concat(old.facts, more.facts) {
		a, inOld := old.of(f.reg)
		b, inMore := more.of(f.reg)
		if (inOld != inMore || a != b) && p.g.IsLive(n, f.reg) {
			spoil(f.reg)
		}
	}
	for _, r := range more.unclear {
		spoil(r)
	}
	if news {
		p.todo = append(p.todo, n)
	}
}

// visit takes a node that the result reaches.
func (p *peekAnalysis) visit(n int32) {
	u, k := &p.g.Nodes[n], p.at[n]
	by, known := k.of(u.Guard)
	switch {
	case n == p.test:
		// It is made again: only its own register is overwritten.
		rest := &kept{k.without(u.Writes[0]), k.unclear}
		p.wrong = p.wrong || p.live(n, rest)
	case u.Guard != NoReg && k.holds(u.Guard):
		if !known || !u.Does(ptx.Branches) || u.Target < 0 || u.Does(ptx.Traps) {
			p.wrong = true
			return
		}
		skips, waits := p.g.At(u.Target), n+1
		if by.success == u.In.Guard.Not {
			skips, waits = waits, skips
		}
		p.join(skips, k) // where other branches by it may follow
		if p.waits == nil {
			p.waits = map[int32]facts{}
		}
		if old, ok := p.waits[waits]; !ok {
			p.waits[waits] = k.facts
		} else {
			p.waits[waits] = slices.Concat(old, k.facts)
		}
	default:
		made, derived := k.derived(u)
		if !derived && (k.holdsAny(u.Reads) || k.holdsAny(u.Addr)) {
			p.wrong = true
			return
		}
		f, unclear := k.facts, k.unclear
		for _, w := range u.Writes {
			switch {
			case !k.holds(w):
			case u.Guard != NoReg || u.Accumulates():
				f, unclear = f.without(w), append(slices.Clone(unclear), w)
			default:
				f = f.without(w)
				unclear = slices.DeleteFunc(slices.Clone(unclear), func(r Reg) bool { return r == w })
			}
		}
		if derived {
			f = append(f[:len(f):len(f)], regFact{u.Writes[0], made})
		}
		p.successors(n, f, unclear...)
	}
}

// waited reports whether each branch by a false result leads to a wait for the same phase
// and nothing else, and whether the wait overwrites or drops the result.
func (p *peekAnalysis) waited() bool {
	g := p.g
	if g.states == nil {
		g.states = make([]state, len(g.Next))
	}
	like := func(n int32) bool { return n != p.test && g.Nodes[n].Form == g.Nodes[p.test].Form } // more below
	s := &waitAnalysis{g: g, test: p.test, at: g.states, same: like}
	defer s.done()
	for n := range p.waits {
		s.join(n, state{failed: true})
	}
	for len(s.todo) > 0 && s.why == "" {
		n := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if int(n) < len(g.Nodes) && g.Nodes[n].Does(ptx.Traps) {
			return false
		}
		s.visit(n)
	}
	if s.why != "" || !s.again || s.cycles() {
		return false
	}
	// The ways from the test to the wait: where the result is kept, and where the wait is made.
	among := map[int32]bool{}
	for n := range p.at {
		among[n] = true
	}
	for _, n := range s.region {
		among[n] = true
	}
	for _, n := range s.region {
		u := &g.Nodes[n]
		if !u.Does(ptx.Tests) {
			continue
		}
		p.skipped = append(p.skipped, u.PC)
		if p.at[n] != nil {
			return false // the wait may be made for an earlier phase first
		}
		if n == p.test || !g.sameWithin(p.test, n, among) || !s.unchanged(n, u.Asks(), map[operand]bool{}) || !s.unchanged(n, u.Addr, map[operand]bool{}) {
			return false
		}
		for _, f := range p.waits {
			for _, x := range f {
				if !slices.Contains(u.Writes, x.reg) && slices.ContainsFunc(g.Next[n], func(to int32) bool { return p.loses(to, x, s.region) }) {
					return false
				}
			}
		}
	}
	return true
}

// loses reports whether the result may be read at a node to which a wait leads in another way
// than where the wait was skipped, whose ways were followed.
func (p *peekAnalysis) loses(n int32, x regFact, region []int32) bool {
	if int(n) >= len(p.g.Nodes) || !p.g.IsLive(n, x.reg) || slices.Contains(region, n) {
		return false
	}
	k := p.at[n]
	if k == nil {
		return true
	}
	f, ok := k.of(x.reg)
	return (!ok || f != x.fact) && !slices.Contains(k.unclear, x.reg)
}
