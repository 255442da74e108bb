package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"muster/ptx"
)

// What depends on the schedule: a static analysis for condition C9 of
// docs/schedules.md. How often a test of a barrier comes out false, what an
// atomic returns, what a strong read sees and what a clock shows depend on the
// schedule. Such a value may decide nothing that another agent could notice, but
// for an await: a branch by tests of one barrier and one phase, whose two sides meet
// again with nothing done between but more such tests, and with no register that
// is used afterwards left different.

// A Dependence is a place at which a value that depends on the schedule
// decides something.
type Dependence struct {
	PC    int32   // what it decides
	From  int32   // the first instruction that the value comes from
	Roots []int32 // all of them
	Why   string
}

// Dependences lists the program's dependences, by place. None: condition C9
// holds, if all Polls end with one value in every schedule.
func (p *Program) Dependences() []Dependence {
	p.analyse()
	return p.analysis.dependences
}

// An analysis is what the text alone tells of schedules. It is made once.
type analysis struct {
	once        sync.Once
	dependences []Dependence
	polls       map[int32]*Poll
}

func (p *Program) analyse() {
	p.analysis.once.Do(func() {
		p.analysis.polls = map[int32]*Poll{}
		for f := range p.funcs {
			if !p.mayVary(int32(f)) {
				continue
			}
			if g := p.control(int32(f)); g != nil {
				p.analysis.dependences = append(p.analysis.dependences, g.dependences()...)
				for _, l := range g.polls {
					p.analysis.polls[l.PC] = l
				}
			}
		}
	})
}

// mayVary reports whether a function has instructions that give what the schedule
// decides, as source and findPolls know them.
func (p *Program) mayVary(fn int32) bool {
	uses := p.usesOf(fn)
	for i := range uses {
		u := &uses[i]
		switch {
		case u.does(ptx.Tests):
			return true
		case len(u.writes) == 0:
		case u.does(ptx.GivesToken | ptx.CountsPending | ptx.ShowsLanes), u.readsStrongly(), u.clock:
			return true
		}
	}
	return false
}

// DependencesBut lists those that are left where the schedule does not decide what
// some instructions give.
func (p *Program) DependencesBut(decided map[int32]bool) []Dependence {
	var all []Dependence
	for f := range p.funcs {
		if g := p.control(int32(f)); g != nil {
			g.decided = decided
			all = append(all, g.dependences()...)
		}
	}
	return all
}

// A root is where a value that depends on the schedule comes from.
type root struct {
	node  int32
	test  bool // a test of an mbarrier
	token bool // an arrival's, which a test may be given
}

// dependences follows those values through the function.
func (g *graph) dependences() []Dependence {
	from := g.origins()
	if from == nil {
		return nil
	}
	reached := g.reached()
	// What an await does inside itself is nobody's business.
	inside := make([]bool, len(g.next))
	var branches []string // what of each that goes by such a value is no await
	for i := range g.nodes {
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
	var all []Dependence
	for i := range g.nodes {
		if g.nodes[i].does(ptx.Tests) && reached[i] {
			if why := g.unsettled(int32(i)); why != "" {
				all = append(all, g.dependence(int32(i), []root{{node: int32(i)}}, why))
			}
		}
		if guard := g.branchesBy(int32(i), from[i]); guard != nil {
			why := branches[0]
			branches = branches[1:]
			if why != "" && !inside[i] {
				all = append(all, g.dependence(int32(i), guard, why))
			}
		} else if d, bad := g.decides(int32(i), from[i]); bad && !(inside[i] && g.nodes[i].does(ptx.Branches)) {
			all = append(all, d)
		}
	}
	return all
}

// branchesBy returns what the guard of a branch comes from; nil if a node is none,
// or goes by what the schedule does not decide.
func (g *graph) branchesBy(i int32, from origins) []root {
	if u := &g.nodes[i]; len(from) > 0 && u.guard != noReg && u.does(ptx.Branches) {
		return from.of(u.guard)
	}
	return nil
}

// origins says of each register, where it is needed, what its value comes from.
// They are in the order of registers, each with something.
type origins []origin

type origin struct {
	reg   regID
	roots []root
}

func (o origins) find(r regID) (int, bool) {
	if len(o) == 0 {
		return 0, false
	}
	return slices.BinarySearchFunc(o, r, func(x origin, r regID) int { return cmp.Compare(x.reg, r) })
}

func (o origins) of(r regID) []root {
	if i, ok := o.find(r); ok {
		return o[i].roots
	}
	return nil
}

// all returns what any of some registers come from.
func (o origins) all(regs []regID) []root {
	var out []root
	for _, r := range regs {
		out = append(out, o.of(r)...)
	}
	return out
}

// origins finds what registers come from before each node, along the ways of
// control: a register that is written anew has lost what it held. Nil: nothing in
// the function depends on the schedule.
func (g *graph) origins() []origins {
	var todo []int32
	for i := range g.nodes {
		if r, ok := g.source(int32(i)); ok {
			todo = append(todo, r.node)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	at := make([]origins, len(g.next))
	var room origins
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(i) == len(g.nodes) {
			continue
		}
		out := g.flow(i, at[i], &room)
		for _, n := range g.next[i] {
			if g.meet(at, n, out) {
				todo = append(todo, n)
			}
		}
	}
	return at
}

// meet adds to what registers that are live at a node come from.
func (g *graph) meet(at []origins, n int32, more origins) bool {
	news := false
	k := 0
	for _, m := range more {
		if !g.isLive(n, m.reg) {
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

// flow is what registers come from after a node, which may be in room.
func (g *graph) flow(i int32, from origins, room *origins) origins {
	u := &g.nodes[i]
	if len(u.writes) == 0 {
		return from
	}
	var in []root
	if r, ok := g.source(i); ok {
		in = append(in, r)
	}
	if len(from) > 0 {
		for _, r := range u.reads {
			in = append(in, given(u, from.of(r))...)
		}
		if u.guard != noReg {
			in = append(in, from.of(u.guard)...)
		}
	}
	kept := u.guard != noReg || accumulates(u)
	if len(in) == 0 && (kept || len(from) == 0) {
		return from
	}
	out := append((*room)[:0], from...)
	for _, w := range u.writes {
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

// given leaves out tokens where a test is given them: a token's phase does not
// depend on the schedule, its other bits do.
func given(u *use, in []root) []root {
	if len(in) == 0 || !u.does(ptx.Tests) {
		return in
	}
	return slices.DeleteFunc(slices.Clone(in), func(r root) bool { return r.token })
}

// source reports whether a node makes a value that depends on the schedule.
func (g *graph) source(i int32) (root, bool) {
	u := &g.nodes[i]
	switch {
	case g.decided[u.pc]:
		return root{}, false
	case u.does(ptx.Tests):
		return root{node: i, test: true}, true
	case u.does(ptx.GivesToken) && len(u.writes) > 0:
		return root{node: i, token: true}, true
	case u.does(ptx.ShowsLanes | ptx.CountsPending), u.readsStrongly() && g.polls[i] == nil, u.clock:
		return root{node: i}, len(u.writes) > 0
	}
	return root{}, false
}

// readsStrongly reports whether an instruction gives what memory holds, and others may
// write that word at the same time.
func (u *use) readsStrongly() bool { return u.does(ptx.Reads) && u.in.Sem().Strong() }

// isClock reports whether an operand is a special register that shows time, or where the
// CTA runs.
func isClock(op ptx.Operand) bool {
	n, ok := op.(ptx.Name)
	if !ok {
		return false
	}
	s, _ := ptx.LookupSpecial(string(n))
	return s.Varies
}

// decides reports whether a value that depends on the schedule decides
// something at a node, other than a branch.
func (g *graph) decides(i int32, from origins) (Dependence, bool) {
	if len(from) == 0 {
		return Dependence{}, false
	}
	u := &g.nodes[i]
	if f := from.all(u.addr); len(f) > 0 {
		return g.dependence(i, f, "an address"), true
	}
	guard := []root(nil)
	if u.guard != noReg {
		guard = from.of(u.guard)
	}
	if len(guard) > 0 && u.class != plain {
		return g.dependence(i, slices.Concat(guard, from.all(u.reads)), "whether it is executed"), true
	}
	reads, why := u.reads, "an operand, or a value that is stored"
	switch {
	case u.does(ptx.Returns):
		reads, why = g.results(), "a function's result"
	case u.class == plain && !u.does(ptx.Writes):
		return Dependence{}, false
	case u.class == plain:
		if why = "a value that is kept in local memory"; len(guard) > 0 {
			return g.dependence(i, slices.Concat(guard, from.all(reads)), why), true
		}
	}
	if f := given(u, from.all(reads)); len(f) > 0 {
		return g.dependence(i, f, why), true
	}
	return Dependence{}, false
}

func (g *graph) dependence(i int32, roots []root, why string) Dependence {
	d := Dependence{PC: g.nodes[i].pc, From: g.nodes[roots[0].node].pc, Why: why}
	for _, r := range roots {
		if pc := g.nodes[r.node].pc; !slices.Contains(d.Roots, pc) {
			d.Roots = append(d.Roots, pc)
		}
	}
	return d
}

// await says why a branch by such values is no await, or what is inside it.
func (g *graph) await(i int32, guard []root) (why string, region []int32) {
	test := int32(-1)
	for _, r := range guard {
		switch {
		case !r.test:
			if !g.nodes[r.node].clock {
				return "a branch, and the value is no test of a barrier", nil
			}
		case test < 0:
			test = r.node
		case !g.sameTest(test, r.node):
			return "a branch by tests of different barriers or phases", nil
		}
	}
	join := g.meeting(i)
	if join < 0 {
		return "a branch whose sides do not meet again", nil
	}
	region = g.region(i, join)
	for _, n := range region {
		u := &g.nodes[n]
		switch {
		case u.does(ptx.Tests):
			if test >= 0 && !g.sameTest(test, n) {
				return "a branch between tests of different barriers or phases", nil
			}
			test = n
		case u.does(ptx.Writes):
			return "a branch with a store on one side", nil
		case u.class == plain, u.does(ptx.Sleeps | ptx.Traps | ptx.Branches):
		default:
			return "a branch with something visible on one side (" + Name(u.in) + ")", nil
		}
	}
	if test < 0 {
		return "a branch by a clock", nil
	}
	clock := func(n int32) bool { return g.nodes[n].clock }
	bound := slices.ContainsFunc(guard, func(r root) bool { return clock(r.node) })
	if (bound || slices.ContainsFunc(region, clock)) && g.unsettled(test) != "" {
		if bound {
			why = "a bound by a clock, after which something goes on without what it waited for"
		}
		return why, nil
	}
	if g.leavesAlike(join, test, region, nil) != "" {
		// What is computed alike in every turn does not count.
		why = g.leavesAlike(join, test, region, g.same(i, region))
	}
	return why, region
}

// leavesAlike says what an await leaves different, but for registers that are the
// same in every turn.
func (g *graph) leavesAlike(join, test int32, region []int32, same map[regID]bool) string {
	t := &g.nodes[test]
	for _, n := range region {
		for _, w := range g.nodes[n].writes {
			if !same[w] && !slices.Contains(t.writes, w) && g.isLive(join, w) {
				return "a branch that leaves a register different"
			}
		}
	}
	// What the tests look at must stay the same while it waits.
	for _, list := range [...][]regID{t.reads, t.addr} {
		for _, r := range list {
			if !same[r] && !slices.Contains(t.writes, r) && g.writtenIn(r, region) {
				return "a branch by tests whose barrier or phase changes while it waits"
			}
		}
	}
	return ""
}

// same returns the registers that every turn of a loop, of which node i is the
// branch back, computes anew and alike: from what the loop does not change,
// before it comes to the branch.
func (g *graph) same(i int32, region []int32) map[regID]bool {
	same := map[regID]bool{}
	if !slices.Contains(region, i) {
		return same
	}
	writers := map[regID][]int32{}
	for _, n := range region {
		for _, w := range g.nodes[n].writes {
			writers[w] = append(writers[w], n)
		}
	}
	pure := func(n int32) bool {
		u := &g.nodes[n]
		if _, source := g.source(n); source || u.class != plain || u.guard != noReg || accumulates(u) || len(u.addr) > 0 && !u.launched || !g.dominates(n, i) {
			return false
		}
		for _, r := range u.reads {
			if len(writers[r]) > 0 && !same[r] {
				return false
			}
		}
		return !u.does(ptx.Reads) || u.launched
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

// sameTest reports whether two tests name the same barrier and phase by the
// same operands. Names would not do: scopes have their own.
func (g *graph) sameTest(m, n int32) bool {
	if m == n {
		return true
	}
	a, b := &g.p.code[g.nodes[m].pc], &g.p.code[g.nodes[n].pc]
	x, ok := a.x.(*mbarInfo)
	y, too := b.x.(*mbarInfo)
	return ok && too && a.b == b.b && x.parity == y.parity && x.space == y.space &&
		x.base == y.base && x.breg == y.breg && x.off == y.off && x.frame == y.frame
}

// Operation names what an instruction does to memory, its type included.
func (p *Program) Operation(pc int32) string {
	in := p.code[pc].src
	if in == nil {
		return ""
	}
	name := in.Op
	if in.Effect().Has(ptx.Updates | ptx.CopiesMemory) {
		name = "atom" // the same but for the result, or who does it
	}
	for _, m := range in.Mods {
		if ptx.LookupUpdate(m) != atomNone {
			name += "." + m
		}
	}
	if len(in.Mods) > 0 {
		name += "." + in.Mods[len(in.Mods)-1]
	}
	if has(in, "inc") { // up to different bounds they do not commute
		if v, ok := in.Operands[len(in.Operands)-1].(ptx.Int); ok {
			return fmt.Sprint(name, " up to ", v.Bits)
		}
	}
	return name
}

// FloatSum reports whether an instruction adds floating-point numbers to a word.
func (p *Program) FloatSum(pc int32) bool {
	in := p.code[pc].src
	return in != nil && in.Update() == atomAdd && p.Commutes(pc) != ""
}

// Commutes says why the order of such an instruction with others of its kind,
// on one word, shows in memory; empty if it does not.
func (p *Program) Commutes(pc int32) string {
	in := p.code[pc].src
	if in == nil {
		return "an instruction without a name"
	}
	op := in.Update()
	float := slices.ContainsFunc(in.Mods, func(m string) bool {
		return strings.HasPrefix(m, "f") && len(m) > 1 && m[1] >= '0' && m[1] <= '9' || strings.HasPrefix(m, "bf16")
	})
	switch op {
	case atomInc:
		if _, ok := in.Operands[len(in.Operands)-1].(ptx.Int); !ok {
			return "increments up to a bound that may differ"
		}
		return ""
	case atomMin, atomMax, atomAnd, atomOr, atomXor:
		return ""
	case atomAdd:
		if float {
			return "floating-point additions, whose order shows in the sum"
		}
		return ""
	case atomNone:
		return "strong stores to one word by several threads, whose order decides what stays"
	}
	return "an atomic operation whose order with others shows (" + Name(in) + ")"
}

// Traps reports whether the program can end the launch by itself.
func (p *Program) Traps() bool {
	return slices.ContainsFunc(p.uses, func(u use) bool { return u.does(ptx.Traps) })
}
