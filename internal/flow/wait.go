package flow

import (
	"slices"

	"muster/ptx"
)

// What follows a test of a barrier. The run that decides for every schedule relies,
// after a successful test, on what that test observed. So each test must be part of a
// wait: on every path from it, nothing happens that another agent could notice before
// a test of the same barrier and phase is known to be true.
// These are not waits: a test whose result nothing reads, a bound or a timeout that
// goes on all the same, and an access before the outcome of a test counts.

// A fact ties a register to a test: it is not zero if, and only if, the test
// succeeded (true), or failed (false).
type fact struct {
	success bool
	unit    bool // it is 0 or 1
	half    half
}

// A half says that only one value of the register shows something.
type half uint8

const (
	whole   half = iota // both do
	ifSet               // not zero
	ifClear             // zero
)

// shows returns whether the test succeeded if the register is not zero, or zero.
func (f fact) shows(set bool) (success, known bool) {
	return f.success == set, f.half == whole || f.half == ifSet == set
}

// facts are what registers show about a test. A list is immutable.
type facts []regFact

type regFact struct {
	reg Reg
	fact
}

func (f facts) of(r Reg) (fact, bool) {
	for i := range f {
		if f[i].reg == r {
			return f[i].fact, true
		}
	}
	return fact{}, false
}

// A state holds the facts at a node about an earlier test that is not known to be true.
type state struct {
	facts
	failed  bool // the test is known to be false
	reached bool // some path leads there
	mark    mark // of the search for cycles
}

// A mark is how far the search for cycles is with a node.
type mark uint8

const (
	unseen   mark = iota
	onPath        // on the path that is searched
	searched      // on no cycle
)

// An exit is a node to which control goes where a test was true, with the facts about it.
type exit struct {
	to int32
	facts
}

// A waitAnalysis follows the paths from a test as long as it is not known to be true.
type waitAnalysis struct {
	g      *Graph
	test   int32
	same   func(n int32) bool // whether a test is that one, made again
	at     []state            // by node
	todo   []int32
	region []int32 // nodes that are reached
	exits  []exit
	again  bool // the test is made again
	traps  bool
	why    string // why what follows does not wait for the test
}

// waitFrom begins the analysis at the successors of a test.
func (g *Graph) waitFrom(test int32) *waitAnalysis {
	if g.states == nil {
		g.states = make([]state, len(g.Next))
	}
	s := &waitAnalysis{g: g, test: test, at: g.states, same: func(n int32) bool { return g.sameTest(test, n) }}
	s.successors(test, g.tested(test))
	return s
}

// done clears the scratch.
func (s *waitAnalysis) done() {
	for _, n := range s.region {
		s.at[n] = state{}
	}
}

// unsettled returns why the steps after a test do not wait for it; empty if they
// do.
func (g *Graph) unsettled(test int32) string {
	if g.Nodes[test].Hasty {
		return "a trap after tests of so short a time that it may come too early"
	}
	s := g.waitFrom(test)
	defer s.done()
	for len(s.todo) > 0 && s.why == "" {
		n := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.visit(n)
	}
	switch {
	case s.why != "":
	case s.traps && !s.again:
		s.why = "a trap after one test, which may come too early"
	case s.cycles():
		s.why = "a loop after a failed test that does not test again"
	case !s.stable():
		s.why = "a wait whose barrier or phase changes while it waits"
	case !s.forgets():
		s.why = "a test whose result is read after the wait, though another may have been true"
	}
	return s.why
}

// counts reports whether a register that is read after a test changes on the paths from
// the failed test back to it: for example, a counter. A store to local memory may be
// one.
func (g *Graph) counts(test int32) bool {
	s := g.waitFrom(test)
	defer s.done()
	for len(s.todo) > 0 {
		n := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.visit(n) // goes no further after something visible
	}
	return slices.ContainsFunc(s.region, func(n int32) bool {
		if int(n) == len(g.Nodes) {
			return false
		}
		u := &g.Nodes[n]
		return u.Plain && u.Does(ptx.Writes) || slices.ContainsFunc(u.Writes, func(r Reg) bool {
			return g.IsLive(test, r) && !s.unchanged(test, []Reg{r}, map[operand]bool{})
		})
	})
}

// tested returns the state after a test.
func (g *Graph) tested(n int32) state {
	u := &g.Nodes[n]
	if u.Guard == NoReg && len(u.Writes) == 1 {
		return state{facts: facts{{u.Writes[0], fact{success: true, unit: true}}}}
	}
	return state{}
}

// successors goes from a node to all that may follow it.
func (s *waitAnalysis) successors(n int32, o state) {
	for _, to := range s.g.Next[n] {
		s.join(to, o)
	}
}

// join enters a node. Facts there are the intersection over all paths.
func (s *waitAnalysis) join(n int32, o state) {
	old := &s.at[n]
	if !old.reached {
		*old = state{facts: o.facts, failed: o.failed, reached: true}
		s.region = append(s.region, n)
		s.todo = append(s.todo, n)
		return
	}
	less := old.failed && !o.failed
	old.failed = old.failed && o.failed
	for _, f := range old.facts {
		if known, ok := o.of(f.reg); !ok || known != f.fact {
			old.facts, less = old.without(f.reg), true
		}
	}
	if less {
		s.todo = append(s.todo, n)
	}
}

// without returns the facts without one register's.
func (f facts) without(r Reg) facts {
	var out facts
	for _, x := range f {
		if x.reg != r {
			out = append(out, x)
		}
	}
	return out
}

// visit takes a node and goes on from there.
func (s *waitAnalysis) visit(n int32) {
	g := s.g
	if int(n) == len(g.Nodes) {
		s.why = "the end, which follows a test without a wait for it,"
		return
	}
	u, o := &g.Nodes[n], s.at[n]
	switch {
	case u.Does(ptx.Tests) && s.same(n):
		if !o.failed {
			s.why = "a test that is made again although it may have been true"
			return
		}
		s.again = true
		s.successors(n, g.tested(n))
	case u.Does(ptx.Traps):
		s.traps = true
		if u.Guard != NoReg {
			s.branch(n, o, -1)
		}
	case u.Does(ptx.Branches):
		if u.Guard == NoReg {
			s.successors(n, o)
			return
		}
		s.branch(n, o, g.At(u.Target))
	case !u.Plain || u.Does(ptx.Writes):
		s.why = "what follows a test without a wait for it (" + u.In.Opcode() + ")"
	default:
		s.successors(n, state{facts: o.after(u), failed: o.failed})
	}
}

// branch follows both sides of a guard: a path on which the guard shows that the test was
// true has ended its wait. To is -1 for an instruction that does not go on.
func (s *waitAnalysis) branch(n int32, o state, to int32) {
	u := &s.g.Nodes[n]
	f, tied := o.of(u.Guard)
	for _, taken := range []bool{true, false} {
		next := n + 1
		if taken {
			next = to
		}
		success, known := f.shows(taken != u.In.Guard.Not)
		switch known = known && tied; {
		case next < 0:
		case known && success:
			s.exits = append(s.exits, exit{next, o.facts})
		default:
			s.join(next, state{facts: o.facts, failed: o.failed || known})
		}
	}
}

// after returns the facts after a plain instruction.
func (f facts) after(u *Use) facts {
	made, derived := f.derived(u)
	out := f
	for _, w := range u.Writes {
		if _, was := out.of(w); was {
			out = out.without(w)
		}
	}
	if derived {
		out = append(out[:len(out):len(out)], regFact{u.Writes[0], made})
	}
	return out
}

// derived returns the fact that an instruction derives from one that it reads.
func (f facts) derived(u *Use) (fact, bool) {
	if u.Guard != NoReg || len(u.Writes) != 1 || len(u.Reads) == 0 || len(u.Addr) > 0 {
		return fact{}, false
	}
	ops := u.In.Operands
	if slices.Contains(u.In.Mods, "pred") && len(u.Reads) == 2 {
		return f.joined(u)
	}
	have, known := f.of(u.Reads[0])
	if !known || len(u.Reads) != 1 {
		return fact{}, false
	}
	if have.half != whole && !u.Does(ptx.Moves|ptx.Inverts) {
		return fact{}, false
	}
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
	case u.Does(ptx.Moves) && len(ops) == 2:
		return have, true
	case u.Does(ptx.Inverts) && slices.Contains(u.In.Mods, "pred"):
		turned := map[half]half{ifSet: ifClear, ifClear: ifSet}
		return fact{!have.success, true, turned[have.half]}, true
	case u.Does(ptx.Selects) && len(ops) == 4:
		a, aok := constant(1)
		b, bok := constant(2)
		if aok && bok && (a == 0) != (b == 0) {
			return fact{success: have.success == (a != 0), unit: a+b == 1}, true
		}
	case u.Does(ptx.Compares) && len(ops) == 3 && len(u.In.Mods) == 2:
		b, ok := constant(2)
		if t, size := u.In.LastType(); !ok || b > 1 || b == 1 && !have.unit || size > 8 || t == "f32" || t == "f64" {
			break
		}
		switch u.In.Mods[0] {
		case "ne":
			return fact{success: have.success == (b == 0), unit: true}, true
		case "eq":
			return fact{success: have.success == (b == 1), unit: true}, true
		}
	case u.Does(ptx.Ands) && len(ops) == 3 && have.unit:
		if b, ok := constant(2); ok && b&1 == 1 {
			return have, true
		}
	case u.Does(ptx.Converts) && len(ops) == 2 && have.unit && len(u.In.Mods) == 2 && u.In.Mods[0][0] != 'f' && u.In.Mods[1][0] != 'f':
		return have, u.In.Mods[0] != "bf16" && u.In.Mods[1] != "bf16"
	}
	return fact{}, false
}

// joined returns what two predicates together show: 'and' is set only if both are, 'or' is
// clear only if both are.
func (f facts) joined(u *Use) (fact, bool) {
	set := u.Does(ptx.Ands)
	if !set && !u.Does(ptx.Ors) || len(u.In.Operands) != 3 {
		return fact{}, false
	}
	for _, r := range u.Reads {
		have, tied := f.of(r)
		if success, known := have.shows(set); tied && known {
			if set {
				return fact{success, true, ifSet}, true
			}
			return fact{!success, true, ifClear}, true
		}
	}
	return fact{}, false
}

// forgets reports whether the results of tests are the same wherever the wait ends, or dead.
func (s *waitAnalysis) forgets() bool {
	g := s.g
	var results RegSet
	for _, w := range g.Nodes[s.test].Writes {
		results.Add(w)
	}
	for again := true; again; {
		again = false
		for _, n := range s.region {
			if int(n) == len(g.Nodes) {
				continue
			}
			u := &g.Nodes[n]
			if !u.Does(ptx.Tests) && !results.HasAny(u.Reads) {
				continue
			}
			for _, w := range u.Writes {
				if !results.Has(w) {
					results.Add(w)
					again = true
				}
			}
		}
	}
	known := map[Reg]fact{}
	for _, e := range s.exits {
		for _, n := range append(s.region, s.test) {
			if int(n) == len(g.Nodes) {
				continue
			}
			for _, w := range g.Nodes[n].Writes {
				if !results.Has(w) || !g.IsLive(e.to, w) {
					continue
				}
				f, ok := e.of(w)
				if before, twice := known[w]; !ok || f.half != whole || twice && before != f {
					return false
				}
				known[w] = f
			}
		}
	}
	return true
}

// cycles reports whether the paths from the test hold a loop without a test.
func (s *waitAnalysis) cycles() bool { return s.g.loops && slices.ContainsFunc(s.region, s.cycle) }

// cycle reports whether a cycle can be reached from a node.
func (s *waitAnalysis) cycle(n int32) bool {
	at := &s.at[n]
	if !at.reached || int(n) == len(s.g.Nodes) || s.g.Nodes[n].Does(ptx.Tests) {
		return false
	}
	switch at.mark {
	case onPath:
		return true
	case searched:
		return false
	}
	at.mark = onPath
	if slices.ContainsFunc(s.g.Next[n], s.cycle) {
		return true
	}
	at.mark = searched
	return false
}

// stable reports whether all tests on the paths name one barrier and one phase,
// however often they are made.
func (s *waitAnalysis) stable() bool {
	done := map[operand]bool{}
	for _, n := range append(s.region, s.test) {
		if int(n) == len(s.g.Nodes) || !s.g.Nodes[n].Does(ptx.Tests) {
			continue
		}
		u := &s.g.Nodes[n]
		asks := u.Asks()
		if !s.unchanged(n, asks, done) || !s.unchanged(n, u.Addr, done) || n != s.test && !(s.alike(n, asks) && s.alike(n, u.Addr)) && !s.g.sameOperands(s.test, n) {
			return false
		}
	}
	return true
}

// alike reports whether the same instructions write the registers for a test of the
// region as for the first test, except for registers that the paths do not write.
func (s *waitAnalysis) alike(n int32, regs []Reg) bool {
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
	reg  Reg
}

// unchanged reports whether a node reads the same values each time that those
// paths reach it: nothing there writes its registers, or it can read only the
// result of one instruction, which computes the same again.
func (s *waitAnalysis) unchanged(node int32, regs []Reg, done map[operand]bool) bool {
	for _, r := range regs {
		if !s.written(r) || done[operand{node, r}] {
			continue
		}
		done[operand{node, r}] = true
		from := s.g.writers(node, r)
		if len(from) != 1 || from[0] < 0 {
			return false
		}
		u := &s.g.Nodes[from[0]]
		_, source := s.g.source(from[0])
		if source || u.Guard != NoReg || !u.Plain || u.Accumulates() || u.Does(ptx.Reads) && !u.Launched ||
			!s.unchanged(from[0], u.Reads, done) || !s.unchanged(from[0], u.Addr, done) {
			return false
		}
	}
	return true
}

// written reports whether anything on the paths from the test writes a register.
func (s *waitAnalysis) written(r Reg) bool {
	return slices.ContainsFunc(s.region, func(n int32) bool {
		return int(n) < len(s.g.Nodes) && slices.Contains(s.g.Nodes[n].Writes, r)
	})
}
