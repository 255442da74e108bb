package machine

import (
	"slices"

	"muster/ptx"
)

// What comes of a test. The run that decides for every schedule takes what a
// test that came out true has seen for granted from there on. So each test must
// be part of a wait: on every way from it, nothing happens that another agent
// could notice before a test of the same barrier and phase is known to be true.
// A test that nobody looks at, a bound or a timeout that goes on all the same,
// and a peek with an access before its outcome counts are none of that.

// A fact ties a register to a test: it is not zero if, and only if, the test
// came out true (true), or came out false (false).
type fact struct {
	success bool
	unit    bool // it is 0 or 1
}

// A lore is what registers tell of a test; it is not written once it is made.
type lore []regFact

type regFact struct {
	reg regID
	fact
}

func (f lore) of(r regID) (fact, bool) {
	for i := range f {
		if f[i].reg == r {
			return f[i].fact, true
		}
	}
	return fact{}, false
}

// An outcome is what is known, somewhere after a test, of one not known true.
type outcome struct {
	lore
	failed bool // known false
	come   bool // some way leads there
	circle int8 // of circles: what is known of the ways from there
}

// A settling follows the ways from a test on which it is not known true.
type settling struct {
	g      *graph
	test   int32
	at     []outcome // by node
	todo   []int32
	region []int32 // to which ways lead
	again  bool    // it is made again
	traps  bool
	why    string
}

// unsettled says why what comes after a test does not wait for it; empty if
// it does.
func (g *graph) unsettled(test int32) string {
	if g.ways == nil {
		g.ways = make([]outcome, len(g.next))
	}
	s := &settling{g: g, test: test, at: g.ways}
	s.onward(test, g.tested(test))
	for len(s.todo) > 0 && s.why == "" {
		n := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.visit(n)
	}
	switch {
	case s.why != "":
	case s.traps && !s.again:
		s.why = "a trap after one test, which may come too early"
	case s.circles():
		s.why = "a loop after a failed test that does not test again"
	case !s.stable():
		s.why = "a wait whose barrier or phase changes while it waits"
	}
	for _, n := range s.region {
		g.ways[n] = outcome{}
	}
	return s.why
}

// counts reports whether on the ways from a test that came out false back to it a
// register changes that is read from there on: a count, for one. A store to local memory
// may be one.
func (g *graph) counts(test int32) bool {
	if g.ways == nil {
		g.ways = make([]outcome, len(g.next))
	}
	s := &settling{g: g, test: test, at: g.ways}
	s.onward(test, g.tested(test))
	for len(s.todo) > 0 {
		n := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.visit(n) // which goes no further where something happens
	}
	shows := slices.ContainsFunc(s.region, func(n int32) bool {
		if int(n) == len(g.nodes) {
			return false
		}
		u := &g.nodes[n]
		return u.class == plain && u.does(ptx.Writes) || slices.ContainsFunc(u.writes, func(r regID) bool {
			return g.isLive(test, r) && !s.unchanged(test, []regID{r}, map[operand]bool{})
		})
	})
	for _, n := range s.region {
		g.ways[n] = outcome{}
	}
	return shows
}

func (g *graph) tested(n int32) outcome {
	u := &g.nodes[n]
	if u.guard == noReg && len(u.writes) == 1 {
		return outcome{lore: lore{{u.writes[0], fact{success: true, unit: true}}}}
	}
	return outcome{}
}

// onward goes from a node to all that may follow it.
func (s *settling) onward(n int32, o outcome) {
	for _, to := range s.g.next[n] {
		s.come(to, o)
	}
}

// come enters a node. Facts at a node are the intersection over all paths.
func (s *settling) come(n int32, o outcome) {
	old := &s.at[n]
	if !old.come {
		*old = outcome{lore: o.lore, failed: o.failed, come: true}
		s.region = append(s.region, n)
		s.todo = append(s.todo, n)
		return
	}
	less := old.failed && !o.failed
	old.failed = old.failed && o.failed
	for _, f := range old.lore {
		if known, ok := o.of(f.reg); !ok || known != f.fact {
			old.lore, less = old.without(f.reg), true
		}
	}
	if less {
		s.todo = append(s.todo, n)
	}
}

// without is the facts but for one register's.
func (f lore) without(r regID) lore {
	var out lore
	for _, x := range f {
		if x.reg != r {
			out = append(out, x)
		}
	}
	return out
}

func (s *settling) visit(n int32) {
	g := s.g
	if int(n) == len(g.nodes) {
		s.why = "the end, which follows a test without a wait for it,"
		return
	}
	u, o := &g.nodes[n], s.at[n]
	switch {
	case u.does(ptx.Tests) && g.sameTest(s.test, n):
		if !o.failed {
			s.why = "a test that is made again although it may have been true"
			return
		}
		s.again = true
		s.onward(n, g.tested(n))
	case u.does(ptx.Traps):
		s.traps = true
		if u.guard != noReg {
			s.branch(n, o, -1)
		}
	case u.does(ptx.Branches):
		if u.guard == noReg {
			s.onward(n, o)
			return
		}
		s.branch(n, o, g.at(g.p.code[u.pc].target))
	case u.class != plain || u.does(ptx.Writes):
		s.why = "what follows a test without a wait for it (" + Name(u.in) + ")"
	default:
		s.onward(n, outcome{lore: g.transfer(u, o.lore), failed: o.failed})
	}
}

// branch parts by a guard: where it tells that the test was true, the way is
// settled. To is -1 of an instruction that does not go on.
func (s *settling) branch(n int32, o outcome, to int32) {
	u := &s.g.nodes[n]
	f, known := o.of(u.guard)
	taken := f.success != u.in.Guard.Not // the test was true where it is taken
	failed := outcome{lore: o.lore, failed: o.failed || known}
	if to >= 0 && !(known && taken) {
		s.come(to, failed)
	}
	if !(known && !taken) {
		s.come(n+1, failed)
	}
}

// transfer is what is known after a plain instruction.
func (g *graph) transfer(u *use, have lore) lore {
	f, derived := g.derived(u, have)
	out := have
	for _, w := range u.writes {
		if _, was := out.of(w); was {
			out = out.without(w)
		}
	}
	if derived {
		out = append(out[:len(out):len(out)], regFact{u.writes[0], f})
	}
	return out
}

// derived is the fact that an instruction makes of one that it reads.
func (g *graph) derived(u *use, have lore) (fact, bool) {
	if u.guard != noReg || len(u.writes) != 1 || len(u.reads) != 1 || len(u.addr) > 0 {
		return fact{}, false
	}
	f, known := have.of(u.reads[0])
	if !known {
		return fact{}, false
	}
	ops := u.in.Operands
	constant := func(i int) (uint64, bool) {
		if i >= len(ops) {
			return 0, false
		}
		v, ok := ops[i].(ptx.Int)
		return v.Bits, ok
	}
	plainly := !slices.ContainsFunc(ops, func(op ptx.Operand) bool {
		switch op.(type) {
		case ptx.Name, ptx.Int:
			return false
		}
		return true
	})
	switch {
	case !plainly:
	case u.does(ptx.Moves) && len(ops) == 2:
		return f, true
	case u.does(ptx.Inverts) && has(u.in, "pred"):
		return fact{!f.success, true}, true
	case u.does(ptx.Selects) && len(ops) == 4:
		a, aok := constant(1)
		b, bok := constant(2)
		if aok && bok && (a == 0) != (b == 0) {
			return fact{f.success == (a != 0), a+b == 1}, true
		}
	case u.does(ptx.Compares) && len(ops) == 3 && len(u.in.Mods) == 2:
		b, ok := constant(2)
		if !ok || b > 1 || b == 1 && !f.unit || lastType(u.in).size() > 8 || lastType(u.in) == f32 || lastType(u.in) == f64 {
			break
		}
		switch u.in.Mods[0] {
		case "ne":
			return fact{f.success == (b == 0), true}, true
		case "eq":
			return fact{f.success == (b == 1), true}, true
		}
	case u.does(ptx.Ands) && len(ops) == 3 && f.unit:
		if b, ok := constant(2); ok && b&1 == 1 {
			return f, true
		}
	case u.does(ptx.Converts) && len(ops) == 2 && f.unit && len(u.in.Mods) == 2 && u.in.Mods[0][0] != 'f' && u.in.Mods[1][0] != 'f':
		return f, u.in.Mods[0] != "bf16" && u.in.Mods[1] != "bf16"
	}
	return fact{}, false
}

// circles reports whether the ways from the test hold a loop without a test.
func (s *settling) circles() bool { return s.g.loops && slices.ContainsFunc(s.region, s.circle) }

func (s *settling) circle(n int32) bool {
	const open, closed = 1, 2
	at := &s.at[n]
	if !at.come || int(n) == len(s.g.nodes) || s.g.nodes[n].does(ptx.Tests) {
		return false
	}
	switch at.circle {
	case open:
		return true
	case closed:
		return false
	}
	at.circle = open
	if slices.ContainsFunc(s.g.next[n], s.circle) {
		return true
	}
	at.circle = closed
	return false
}

// stable reports whether all tests on the ways name one barrier and one phase,
// however often they are made.
func (s *settling) stable() bool {
	done := map[operand]bool{}
	for _, n := range append(s.region, s.test) {
		if int(n) == len(s.g.nodes) || !s.g.nodes[n].does(ptx.Tests) {
			continue
		}
		u := &s.g.nodes[n]
		if !s.unchanged(n, u.reads, done) || !s.unchanged(n, u.addr, done) || n != s.test && !(s.alike(n, u.reads) && s.alike(n, u.addr)) {
			return false
		}
	}
	return true
}

// alike reports whether what a test of the region is given comes from where that
// of the first test does, as far as the ways write it.
func (s *settling) alike(n int32, regs []regID) bool {
	for _, r := range regs {
		if s.written(r) && !slices.Equal(s.g.writers(n, r), s.g.writers(s.test, r)) {
			return false
		}
	}
	return true
}

// An operand is a register where a node reads it.
type operand struct {
	node int32
	reg  regID
}

// unchanged reports whether a node reads the same whenever it is come to on
// those ways: nothing there writes its registers, or all that it can read is
// what one instruction computes, and that computes the same again.
func (s *settling) unchanged(node int32, regs []regID, done map[operand]bool) bool {
	for _, r := range regs {
		if !s.written(r) || done[operand{node, r}] {
			continue
		}
		done[operand{node, r}] = true
		from := s.g.writers(node, r)
		if len(from) != 1 || from[0] < 0 {
			return false
		}
		u := &s.g.nodes[from[0]]
		_, source := s.g.source(from[0])
		if source || u.guard != noReg || u.class != plain || accumulates(u) || u.does(ptx.Reads) && !u.launched ||
			!s.unchanged(from[0], u.reads, done) || !s.unchanged(from[0], u.addr, done) {
			return false
		}
	}
	return true
}

// written reports whether anything on the ways from the test writes a register.
func (s *settling) written(r regID) bool {
	return slices.ContainsFunc(s.region, func(n int32) bool {
		return int(n) < len(s.g.nodes) && slices.Contains(s.g.nodes[n].writes, r)
	})
}
