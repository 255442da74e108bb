package flow

import (
	"slices"

	"muster/ptx"
)

// A peek is a test of a barrier whose result is kept for later, and says there only
// whether a wait for the same phase of the same barrier is still to be made: CUTLASS's
// consumer_try_wait for the next tile, and consumer_wait with what it returned. On every
// path from it the result is overwritten or dropped, or branches by it are reached, each of
// which skips such a wait, and nothing but the wait, where the test was true, or where something
// else says so; and nothing else reads it.
//
// So nothing is observed by a peek that the wait does not observe, if its parity says of the
// same phase what the wait's does, and it may be taken for one that fails: each run of the
// program corresponds to one in which the peeks fail and the waits that they skip are made,
// where they find the phase complete. That is the run that a proof follows. It orders less
// than the runs in which a peek succeeds. The phase is the same if a peek for the wait of
// phase n comes after phase n-1 is complete, as the wait does: of each run that is for the
// proof to show (confluence, C3).

// peek reports whether a test is one.
func (g *Graph) peek(test int32) (_ Peek, ok bool) {
	u := &g.Nodes[test]
	if !u.Does(ptx.Tests) || u.Hasty || u.Guard != NoReg || len(u.Writes) != 1 {
		return Peek{}, false
	}
	p := &peekAnalysis{g: g, test: test, at: map[int32]*kept{}}
	p.successors(test, facts{{u.Writes[0], fact{success: true, unit: true}}})
	for len(p.todo) > 0 && !p.wrong {
		n := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		p.visit(n)
	}
	if p.wrong {
		return Peek{}, false
	}
	for miss := range p.waits {
		if !p.waited(miss) {
			return Peek{}, false
		}
	}
	slices.Sort(p.Waits)
	p.Waits = slices.Compact(p.Waits)
	for n := range p.at {
		u := &g.Nodes[n]
		if n != test && u.Does(ptx.Tests) && slices.ContainsFunc(g.Next[n], func(to int32) bool { return p.at[to] != nil }) {
			p.Past = append(p.Past, u.PC)
		}
	}
	return p.Peek, true
}

// A peekAnalysis follows a test's result from the test to the branches by it.
type peekAnalysis struct {
	g     *Graph
	test  int32
	at    map[int32]*kept
	todo  []int32
	waits map[int32]*skips // by the node to which branches lead where the test was false
	wrong bool
	Peek
}

// A Peek says which waits a peek stands for: their tests, by place.
type Peek struct {
	Waits []int32
	Again bool    // where one was skipped, another may be
	Past  []int32 // other tests behind which its result is still kept, by place
}

// A skips is where branches lead that skip a wait.
type skips struct {
	facts         // of the registers with the result
	hits  []int32 // nodes to which they lead where the test was true
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
		hit, miss := p.g.At(u.Target), n+1
		if by.success == u.In.Guard.Not {
			hit, miss = miss, hit
		}
		if by.half != whole {
			// Another predicate may skip the wait, too: it does so whatever the peek says.
			// The guard must show on the other side that the test was false.
			if success, sure := by.shows(!by.success); success || !sure {
				p.wrong = true
				return
			}
		}
		p.Again = p.Again || p.live(hit, k)
		p.join(hit, k) // where other branches by it may follow
		if p.waits == nil {
			p.waits = map[int32]*skips{}
		}
		if p.waits[miss] == nil {
			p.waits[miss] = &skips{}
		}
		to := p.waits[miss]
		to.facts = slices.Concat(to.facts, k.facts)
		if !slices.Contains(to.hits, hit) {
			to.hits = append(to.hits, hit)
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

// waited reports whether branches by a false result lead to a wait for the same phase and
// nothing else, and whether the wait overwrites or drops the result.
func (p *peekAnalysis) waited(miss int32) bool {
	g, to := p.g, p.waits[miss]
	if g.states == nil {
		g.states = make([]state, len(g.Next))
	}
	like := func(n int32) bool { return n != p.test && g.Nodes[n].Form == g.Nodes[p.test].Form } // more below
	s := &waitAnalysis{g: g, test: p.test, at: g.states, same: like}
	defer s.done()
	s.join(miss, state{failed: true})
	for len(s.todo) > 0 && s.why == "" {
		n := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
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
		p.Waits = append(p.Waits, u.PC)
		if p.at[n] != nil || u.Hasty {
			return false // the wait may be made for an earlier phase first, or may trap soon
		}
		if n == p.test || !g.orders(p.test).covers(g.orders(n)) || !g.sameWithin(p.test, n, among) || !s.unchanged(n, u.Asks(), map[operand]bool{}) || !s.unchanged(n, u.Addr, map[operand]bool{}) {
			return false
		}
		for _, x := range to.facts {
			if !slices.Contains(u.Writes, x.reg) && slices.ContainsFunc(g.Next[n], func(to int32) bool { return p.loses(to, x, s.region) }) {
				return false
			}
		}
	}
	for _, e := range s.exits {
		for _, hit := range to.hits {
			if !p.meet(hit, e.to, s.region) {
				return false
			}
		}
	}
	return true
}

// meet reports whether control goes on in the same way from where a wait was skipped and from
// where it ends: both come to one node, and all that either wrote on its way there, or the
// wait, is dead or the test's result.
func (p *peekAnalysis) meet(hit, exit int32, wait []int32) bool {
	a, b := p.straight(hit), p.straight(exit)
	for i, n := range a {
		k := slices.Index(b, n)
		if k < 0 {
			continue
		}
		if int(n) == len(p.g.Nodes) {
			return true
		}
		among, at := slices.Concat(a[:i], b[:k], wait), p.at[n]
		if !slices.ContainsFunc(among, func(m int32) bool {
			return int(m) < len(p.g.Nodes) && slices.ContainsFunc(p.g.Nodes[m].Writes, func(r Reg) bool {
				return p.g.IsLive(n, r) && (at == nil || !at.holds(r))
			})
		}) {
			return true
		}
	}
	return false
}

// straight lists the nodes from one on, as long as there is one way to go and nothing but
// registers is written, and the node where that ends.
func (p *peekAnalysis) straight(n int32) (list []int32) {
	for n >= 0 && !slices.Contains(list, n) {
		list = append(list, n)
		if int(n) == len(p.g.Nodes) {
			break
		}
		u, next := &p.g.Nodes[n], p.g.Next[n]
		if len(next) != 1 || !u.Does(ptx.Branches) && (!u.Plain || u.Does(ptx.Writes)) {
			break
		}
		n = next[0]
	}
	return list
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
