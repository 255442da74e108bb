package flow

import (
	"cmp"
	"slices"

	"muster/ptx"
)

// What depends on the schedule: a static analysis for condition C9 of
// docs/schedules.md. The number of failed tests of a barrier, the result of an
// atomic, the value of a strong read and that of a clock depend on the schedule.
// These values may decide nothing that another agent could notice, except in an
// await: a branch by tests of one barrier and one phase whose two sides meet again,
// do nothing before that but test again, and leave all registers that are live
// there equal.

// A Dependence is a place where a schedule-dependent value decides something.
type Dependence struct {
	PC    int32   // what it decides
	From  int32   // the first instruction that the value comes from
	Roots []int32 // all of them
	Why   string
	// Branch: it decides which way a branch goes, or whether a trap is executed.
	Branch bool
}

// A root is the node that makes a schedule-dependent value.
type root struct {
	node  int32
	test  bool // a test of an mbarrier
	token bool // an arrival's token, which may be a test's operand
}

// dependences lists the function's dependences.
func (g *Graph) dependences() []Dependence {
	var all []Dependence
	for i := range g.Nodes {
		if g.Nodes[i].Does(ptx.Cancels) {
			all = append(all, g.dependence(int32(i), []root{{node: int32(i)}}, "how many clusters have started decides its answer"))
		}
	}
	from := g.origins()
	if from == nil {
		return all
	}
	reached := g.reached()
	// Outside of an await nothing depends on what it does inside.
	inside := make([]bool, len(g.Next))
	var branches []string // for each branch by a schedule-dependent value: why it is no await
	for i := range g.Nodes {
		if guard := g.branchesBy(int32(i), from[i]); guard != nil {
			why, region := g.await(int32(i), guard)
			if branches = append(branches, why); why != "" {
				continue
			}
			for _, n := range region {
				inside[n] = true
			}
		}
	}
	for i := range g.Nodes {
		if g.Nodes[i].Does(ptx.Tests) && reached[i] && !g.decided[g.Nodes[i].PC] {
			if why := g.unsettled(int32(i)); why != "" {
				all = append(all, g.dependence(int32(i), []root{{node: int32(i)}}, why))
			}
		}
		if guard := g.branchesBy(int32(i), from[i]); guard != nil {
			why := branches[0]
			branches = branches[1:]
			if why != "" && !inside[i] {
				d := g.dependence(int32(i), guard, why)
				d.Branch = true
				all = append(all, d)
			}
		} else if d, bad := g.decides(int32(i), from[i]); bad && !(inside[i] && g.Nodes[i].Does(ptx.Branches)) {
			all = append(all, d)
		}
	}
	return all
}

// branchesBy returns the roots of the guard of a branch, or of a trap; nil if the node is
// neither, or the schedule does not decide which way it goes.
func (g *Graph) branchesBy(i int32, from origins) []root {
	if u := &g.Nodes[i]; len(from) > 0 && u.Guard != NoReg && u.Does(ptx.Branches|ptx.Traps) {
		return from.of(u.Guard)
	}
	return nil
}

// origins lists, in order, the live registers with schedule-dependent values, and
// their roots.
type origins []origin

type origin struct {
	reg   Reg
	roots []root
}

func (o origins) find(r Reg) (int, bool) {
	if len(o) == 0 {
		return 0, false
	}
	return slices.BinarySearchFunc(o, r, func(x origin, r Reg) int { return cmp.Compare(x.reg, r) })
}

func (o origins) of(r Reg) []root {
	if i, ok := o.find(r); ok {
		return o[i].roots
	}
	return nil
}

// all returns the roots of any of some registers.
func (o origins) all(regs []Reg) []root {
	var out []root
	for _, r := range regs {
		out = append(out, o.of(r)...)
	}
	return out
}

// origins finds the roots of registers before each node, a forward data flow: a
// write without a guard replaces a register's roots. Nil: nothing in the function
// depends on the schedule.
func (g *Graph) origins() []origins {
	var todo []int32
	for i := range g.Nodes {
		if r, ok := g.source(int32(i)); ok {
			todo = append(todo, r.node)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	at := make([]origins, len(g.Next))
	var room origins
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(i) == len(g.Nodes) {
			continue
		}
		out := g.transfer(i, at[i], &room)
		for _, n := range g.Next[i] {
			if g.join(at, n, out) {
				todo = append(todo, n)
			}
		}
	}
	return at
}

// join adds roots to those of the registers that are live at a node, and reports
// whether any is new.
func (g *Graph) join(at []origins, n int32, more origins) bool {
	news := false
	k := 0
	for _, m := range more {
		if !g.IsLive(n, m.reg) {
			continue
		}
		for k < len(at[n]) && at[n][k].reg < m.reg {
			k++
		}
		if k == len(at[n]) || at[n][k].reg != m.reg {
			at[n] = slices.Insert(at[n], k, origin{m.reg, slices.Clone(m.roots[:1])})
			news = true
		}
		old := &at[n][k]
		for _, r := range m.roots {
			if !slices.Contains(old.roots, r) {
				old.roots = append(old.roots, r)
				news = true
			}
		}
	}
	return news
}

// transfer returns the roots of registers after a node. The result may lie in room.
func (g *Graph) transfer(i int32, from origins, room *origins) origins {
	u := &g.Nodes[i]
	if len(u.Writes) == 0 {
		return from
	}
	var in []root
	if r, ok := g.source(i); ok {
		in = append(in, r)
	}
	if len(from) > 0 {
		for _, r := range u.Reads {
			in = append(in, given(u, from.of(r))...)
		}
		if u.Guard != NoReg {
			in = append(in, from.of(u.Guard)...)
		}
	}
	kept := u.Guard != NoReg || u.Accumulates()
	if len(in) == 0 && (kept || len(from) == 0) {
		return from
	}
	out := append((*room)[:0], from...)
	for _, w := range u.Writes {
		switch k, ok := out.find(w); {
		case ok && kept:
			out[k].roots = slices.Concat(out[k].roots, in)
		case ok && len(in) > 0:
			out[k].roots = in
		case ok:
			out = slices.Delete(out, k, k+1)
		case len(in) > 0:
			out = slices.Insert(out, k, origin{w, in})
		}
	}
	*room = out
	return out
}

// given leaves out tokens that are a test's operand: a token's phase does not
// depend on the schedule, its other bits do.
func given(u *Use, in []root) []root {
	if len(in) == 0 || !u.Does(ptx.Tests) {
		return in
	}
	return slices.DeleteFunc(slices.Clone(in), func(r root) bool { return r.token })
}

// source reports whether a node makes a schedule-dependent value.
func (g *Graph) source(i int32) (root, bool) {
	u := &g.Nodes[i]
	switch {
	case g.decided[u.PC]:
		return root{}, false
	case u.Does(ptx.Tests):
		return root{node: i, test: true}, true
	case u.Does(ptx.GivesToken) && len(u.Writes) > 0:
		return root{node: i, token: true}, true
	case u.Does(ptx.ShowsLanes | ptx.CountsPending), u.ReadsStrongly() && g.polls[i] == nil, u.Clock:
		return root{node: i}, len(u.Writes) > 0
	}
	return root{}, false
}

// decides reports whether a schedule-dependent value decides something at a node,
// other than a branch.
func (g *Graph) decides(i int32, from origins) (Dependence, bool) {
	if len(from) == 0 {
		return Dependence{}, false
	}
	u := &g.Nodes[i]
	if f := from.all(u.Addr); len(f) > 0 {
		return g.dependence(i, f, "an address"), true
	}
	guard := []root(nil)
	if u.Guard != NoReg {
		guard = from.of(u.Guard)
	}
	if len(guard) > 0 && !u.Plain {
		return g.dependence(i, slices.Concat(guard, from.all(u.Reads)), "whether it is executed"), true
	}
	reads, why := u.Reads, "an operand, or a value that is stored"
	switch {
	case u.Does(ptx.Returns):
		reads, why = g.f.Results, "a function's result"
	case u.Plain && !u.Does(ptx.Writes):
		return Dependence{}, false
	case u.Plain:
		if why = "a value that is kept in local memory"; len(guard) > 0 {
			return g.dependence(i, slices.Concat(guard, from.all(reads)), why), true
		}
	}
	if f := given(u, from.all(reads)); len(f) > 0 {
		return g.dependence(i, f, why), true
	}
	return Dependence{}, false
}

func (g *Graph) dependence(i int32, roots []root, why string) Dependence {
	d := Dependence{PC: g.Nodes[i].PC, From: g.Nodes[roots[0].node].PC, Why: why}
	for _, r := range roots {
		if pc := g.Nodes[r.node].PC; !slices.Contains(d.Roots, pc) {
			d.Roots = append(d.Roots, pc)
		}
	}
	return d
}

// await returns why a branch by these guard values is no await, or its region.
func (g *Graph) await(i int32, guard []root) (why string, region []int32) {
	test := int32(-1)
	for _, r := range guard {
		switch {
		case !r.test:
			if !g.Nodes[r.node].Clock {
				return "a branch, and the value is no test of a barrier", nil
			}
		case test < 0:
			test = r.node
		case !g.sameTest(test, r.node):
			return "a branch by tests of different barriers or phases", nil
		}
	}
	join := g.Meeting(i)
	if join < 0 {
		return "a branch whose sides do not meet again", nil
	}
	region = g.Region(i, join)
	for _, n := range region {
		u := &g.Nodes[n]
		switch {
		case u.Does(ptx.Tests):
			if test >= 0 && !g.sameTest(test, n) {
				return "a branch between tests of different barriers or phases", nil
			}
			test = n
		case u.Does(ptx.Writes):
			return "a branch with a store on one side", nil
		case u.Plain, u.Does(ptx.Sleeps | ptx.Traps | ptx.Branches):
		default:
			return "a branch with something visible on one side (" + u.In.Opcode() + ")", nil
		}
	}
	if test < 0 {
		return "a branch by a clock", nil
	}
	clock := func(n int32) bool { return g.Nodes[n].Clock }
	bound := slices.ContainsFunc(guard, func(r root) bool { return clock(r.node) })
	if (bound || slices.ContainsFunc(region, clock)) && g.unsettled(test) != "" {
		if bound {
			why = "a bound by a clock, after which something goes on without what it waited for"
		}
		return why, nil
	}
	if g.leavesAlike(join, test, region, nil) != "" {
		// Registers that every turn computes alike do not count.
		why = g.leavesAlike(join, test, region, g.same(i, region))
	}
	return why, region
}

// leavesAlike names what an await leaves different, other than registers that are the
// same in every turn; empty if nothing.
func (g *Graph) leavesAlike(join, test int32, region []int32, same map[Reg]bool) string {
	t := &g.Nodes[test]
	for _, n := range region {
		for _, w := range g.Nodes[n].Writes {
			if !same[w] && !slices.Contains(t.Writes, w) && g.IsLive(join, w) {
				return "a branch that leaves a register different"
			}
		}
	}
	// The operands of the tests must not change while it waits.
	for _, list := range [...][]Reg{t.Asks(), t.Addr} {
		for _, r := range list {
			if !same[r] && !slices.Contains(t.Writes, r) && g.writtenIn(r, region) && !g.constant(r, region) {
				return "a branch by tests whose barrier or phase changes while it waits"
			}
		}
	}
	return ""
}

// constant reports whether nothing writes a register between two tests of a region.
func (g *Graph) constant(r Reg, region []int32) bool {
	return !slices.ContainsFunc(region, func(n int32) bool { return g.Nodes[n].Does(ptx.Tests) && !g.unwritten(n, n, r, region) })
}

// same returns the registers that every turn of a loop computes again, from values that
// the loop does not change, before it reaches node i, its branch back.
func (g *Graph) same(i int32, region []int32) map[Reg]bool {
	same := map[Reg]bool{}
	if !slices.Contains(region, i) {
		return same
	}
	writers := map[Reg][]int32{}
	for _, n := range region {
		for _, w := range g.Nodes[n].Writes {
			writers[w] = append(writers[w], n)
		}
	}
	pure := func(n int32) bool {
		u := &g.Nodes[n]
		if _, source := g.source(n); source || !u.Plain || u.Guard != NoReg || u.Accumulates() || len(u.Addr) > 0 && !u.Launched || !g.dominates(n, i) {
			return false
		}
		for _, r := range slices.Concat(u.Reads, u.Addr) {
			if len(writers[r]) > 0 && !same[r] {
				return false
			}
		}
		return !u.Does(ptx.Reads) || u.Launched
	}
	for again := true; again; {
		again = false
		for w, list := range writers {
			if !same[w] && len(list) == 1 && pure(list[0]) {
				same[w], again = true, true
			}
		}
	}
	return same
}
