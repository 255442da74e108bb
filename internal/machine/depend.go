package machine

import (
	"fmt"
	"maps"
	"math/bits"
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
	PC   int32 // what it decides
	From int32 // an instruction that the value comes from
	Why  string
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
			if g := p.graph(int32(f)); g != nil {
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
		in := uses[i].in
		switch in.Op {
		case "mbarrier", "atom", "activemask":
			return true
		}
		if in.Op == "ld" && strongRead(in) || slices.ContainsFunc(in.Operands, isClock) {
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
		g := p.graph(int32(f))
		if g != nil {
			g.decided = decided
			all = append(all, g.dependences()...)
		}
	}
	return all
}

// A graph is the control flow of a function; nodes are its instructions as the
// text has them.
type graph struct {
	p       *Program
	nodes   []use
	next    [][]int32
	before  [][]int32       // made when asked for
	regs    []regID         // by number
	numbers [][]int32       // one more, by function and class, then row
	live    [][]uint64      // registers live before each node
	post    [][]uint64      // what all ways from a node to the end pass; made when asked for
	well    []bool          // the end can be reached; 〃
	dom     [][]uint64      // the nodes that every way to a node passes; 〃
	polls   map[int32]*Poll // by node
	decided map[int32]bool  // by instruction: what gives the same in every schedule
}

func (p *Program) graph(fn int32) *graph {
	g := &graph{p: p, nodes: p.usesOf(fn)}
	if len(g.nodes) == 0 {
		return nil
	}
	g.next = make([][]int32, len(g.nodes))
	list := make([]int32, 0, 2*len(g.nodes))
	for i := range g.nodes {
		from := len(list)
		list = g.successors(list, int32(i))
		g.next[i] = list[from:len(list):len(list)]
	}
	g.liveness()
	g.findPolls()
	return g
}

// usesOf returns a function's, which mostly lie together.
func (p *Program) usesOf(fn int32) []use {
	if len(p.funcs) == 1 {
		return p.uses
	}
	is := func(i int) bool { return p.code[p.uses[i].pc].fn == fn }
	from := 0
	for from < len(p.uses) && !is(from) {
		from++
	}
	to := from
	for to < len(p.uses) && is(to) {
		to++
	}
	all := p.uses[from:to:to]
	for i := to; i < len(p.uses); i++ {
		if is(i) {
			all = append(all, p.uses[i])
		}
	}
	return all
}

// at returns the node that instruction pc belongs to; one past the last for
// the end of the function.
func (g *graph) at(pc int32) int32 {
	i, _ := slices.BinarySearchFunc(g.nodes, pc, func(u use, pc int32) int { return int(u.pc - pc) })
	return int32(i)
}

// successors appends the nodes that may come next.
func (g *graph) successors(to []int32, i int32) []int32 {
	u := &g.nodes[i]
	switch u.in.Op {
	case "bra":
		to = append(to, g.at(g.p.code[u.pc].target))
	case "brx":
		for _, t := range g.p.code[u.pc].x.([]int32) {
			to = append(to, g.at(t))
		}
	case "exit", "ret":
		to = append(to, int32(len(g.nodes)))
	case "trap":
		// It ends the launch: what comes after does not happen.
	default:
		return append(to, i+1)
	}
	if u.guard != noReg {
		to = append(to, i+1)
	}
	return to
}

// number returns a register's, and gives it one if it has none.
func (g *graph) number(r regID) int {
	k, row := int(r>>32), int(uint32(r))
	if k >= len(g.numbers) {
		g.numbers = append(g.numbers, make([][]int32, k+1-len(g.numbers))...)
	}
	if rows := &g.numbers[k]; row >= len(*rows) {
		*rows = append(*rows, make([]int32, row+1-len(*rows))...)
	}
	n := &g.numbers[k][row]
	if *n == 0 {
		g.regs = append(g.regs, r)
		*n = int32(len(g.regs))
	}
	return int(*n) - 1
}

// bitRows returns n sets of bits.
func bitRows(n, bits int) [][]uint64 {
	words := (bits + 63) / 64
	all, rows := make([]uint64, n*words), make([][]uint64, n)
	for i := range rows {
		rows[i] = all[i*words : (i+1)*words : (i+1)*words]
	}
	return rows
}

func setBit(set []uint64, i int) { set[i/64] |= 1 << (i % 64) }

// liveness finds which registers may be read before they are written.
func (g *graph) liveness() {
	for i := range g.nodes {
		u := &g.nodes[i]
		for _, list := range [...][]regID{u.reads, u.writes, u.addr} {
			for _, r := range list {
				g.number(r)
			}
		}
		if u.guard != noReg {
			g.number(u.guard)
		}
	}
	results := g.results()
	for _, r := range results {
		g.number(r)
	}
	g.live = bitRows(len(g.nodes)+1, len(g.regs))
	for _, r := range results {
		setBit(g.live[len(g.nodes)], g.number(r))
	}
	tmp := make([]uint64, len(g.live[0]))
	for again := true; again; {
		again = false
		for i := len(g.nodes) - 1; i >= 0; i-- {
			clear(tmp)
			for _, n := range g.next[i] {
				for k, v := range g.live[n] {
					tmp[k] |= v
				}
			}
			g.liveBefore(&g.nodes[i], tmp)
			if !slices.Equal(tmp, g.live[i]) {
				copy(g.live[i], tmp)
				again = true
			}
		}
	}
}

// liveBefore makes what is live after an instruction what is live before it.
func (g *graph) liveBefore(u *use, live []uint64) {
	keeps := accumulates(u)
	for _, r := range u.writes {
		if keeps {
			setBit(live, g.number(r))
		} else if u.guard == noReg {
			n := g.number(r)
			live[n/64] &^= 1 << (n % 64)
		}
	}
	for _, list := range [...][]regID{u.reads, u.addr} {
		for _, r := range list {
			setBit(live, g.number(r))
		}
	}
	if u.guard != noReg {
		setBit(live, g.number(u.guard))
	}
}

// accumulates reports whether an instruction also reads what it writes.
func accumulates(u *use) bool {
	f := u.in.Form
	return f == nil || len(f.Operands) > 0 && f.Operands[0].Role == ptx.ReadWrite
}

func (g *graph) isLive(at int32, r regID) bool {
	n := g.number(r)
	return n/64 < len(g.live[at]) && inSet(g.live[at], n)
}

// meeting finds where the ways from a node meet again for certain, leaving out
// those that end in a trap: its immediate postdominator, -1 for none.
func (g *graph) meeting(i int32) int32 {
	if g.post == nil {
		g.well = g.endsWell()
		g.post = dominance(g.next, len(g.nodes), g.well)
	}
	// Of a node's postdominators the nearest has the most itself.
	nearest, most := int32(-1), -1
	for j := range g.post {
		if g.well[i] && j != int(i) && inSet(g.post[i], j) {
			if c := count(g.post[j]); c > most {
				nearest, most = int32(j), c
			}
		}
	}
	return nearest
}

// dominates reports whether every way to a node passes another.
func (g *graph) dominates(n, i int32) bool {
	if g.dom == nil {
		g.dom = dominance(g.preceding(), 0, g.reached())
	}
	return inSet(g.dom[i], int(n))
}

// preceding lists the nodes that may come before each.
func (g *graph) preceding() [][]int32 {
	if g.before == nil {
		g.before = make([][]int32, len(g.nodes)+1)
		for i, list := range g.next {
			for _, n := range list {
				g.before[n] = append(g.before[n], int32(i))
			}
		}
	}
	return g.before
}

// dominance returns, for each node that counts, the set of nodes that all ways
// from it to the end pass, along edges to nodes that count, itself included.
func dominance(edges [][]int32, end int, counts []bool) [][]uint64 {
	n := len(counts)
	sets := bitRows(n, n)
	for i := range sets {
		for k := range sets[i] {
			sets[i][k] = ^uint64(0)
		}
	}
	clear(sets[end])
	setBit(sets[end], end)
	tmp := make([]uint64, len(sets[end]))
	step := func(i int) bool {
		if i == end || !counts[i] {
			return false
		}
		for k := range tmp {
			tmp[k] = ^uint64(0)
		}
		for _, t := range edges[i] {
			if counts[t] {
				for k, v := range sets[t] {
					tmp[k] &= v
				}
			}
		}
		setBit(tmp, i)
		if slices.Equal(tmp, sets[i]) {
			return false
		}
		copy(sets[i], tmp)
		return true
	}
	for again := true; again; {
		again = false
		for k := range n {
			i := k // from the end on, which is the first node or the one past the last
			if end != 0 {
				i = n - 1 - k
			}
			again = step(i) || again
		}
	}
	return sets
}

func inSet(set []uint64, i int) bool { return set[i/64]>>(i%64)&1 != 0 }

func count(set []uint64) int {
	c := 0
	for _, v := range set {
		c += bits.OnesCount64(v)
	}
	return c
}

// reached tells which nodes can be reached from the first.
func (g *graph) reached() []bool {
	ok := make([]bool, len(g.nodes)+1)
	todo := []int32{0}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if ok[i] {
			continue
		}
		ok[i] = true
		if int(i) < len(g.nodes) {
			todo = append(todo, g.next[i]...)
		}
	}
	return ok
}

// endsWell tells from which nodes the end of the function can be reached.
func (g *graph) endsWell() []bool {
	n := len(g.nodes)
	ok := make([]bool, n+1)
	ok[n] = true
	for again := true; again; {
		again = false
		for i := n - 1; i >= 0; i-- {
			if !ok[i] && slices.ContainsFunc(g.next[i], func(t int32) bool { return ok[t] }) {
				ok[i], again = true, true
			}
		}
	}
	return ok
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
	inside := map[int32]bool{}
	for i := range g.nodes {
		u := &g.nodes[i]
		if u.in.Op != "bra" || u.guard == noReg {
			continue
		}
		if guard := from[i][u.guard]; len(guard) > 0 && g.await(int32(i), guard) == "" {
			for _, n := range g.region(int32(i), g.meeting(int32(i))) {
				inside[n] = true
			}
		}
	}
	var all []Dependence
	for i := range g.nodes {
		if isTest(g.nodes[i].in) && reached[i] {
			if why := g.unsettled(int32(i)); why != "" {
				d, _ := g.dependence(int32(i), root{node: int32(i)}, why)
				all = append(all, d)
			}
		}
		if d, bad := g.decides(int32(i), from[i]); bad && !(inside[int32(i)] && g.nodes[i].in.Op == "bra") {
			all = append(all, d)
		}
	}
	return all
}

// origins says of each register, where it is needed, what its value comes from.
type origins map[regID][]root

// origins finds what registers come from before each node, along the ways of
// control: a register that is written anew has lost what it held. Nil: nothing in
// the function depends on the schedule.
func (g *graph) origins() []origins {
	at := make([]origins, len(g.nodes)+1)
	var todo []int32
	for i := range g.nodes {
		if r, ok := g.source(int32(i)); ok {
			todo = append(todo, r.node)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(i) == len(g.nodes) {
			continue
		}
		out := g.flow(i, at[i])
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
	for w, roots := range more {
		if !g.isLive(n, w) {
			continue
		}
		for _, r := range roots {
			if !slices.Contains(at[n][w], r) {
				if at[n] == nil {
					at[n] = origins{}
				}
				at[n][w] = append(at[n][w][:len(at[n][w]):len(at[n][w])], r)
				news = true
			}
		}
	}
	return news
}

// flow is what registers come from after a node.
func (g *graph) flow(i int32, from origins) origins {
	u := &g.nodes[i]
	if len(u.writes) == 0 {
		return from
	}
	var in []root
	if r, ok := g.source(i); ok {
		in = append(in, r)
	}
	for _, r := range u.reads {
		in = append(in, given(u, from[r])...)
	}
	if u.guard != noReg {
		in = append(in, from[u.guard]...)
	}
	kept := u.guard != noReg || accumulates(u)
	changed := len(in) > 0
	for _, w := range u.writes {
		changed = changed || !kept && len(from[w]) > 0
	}
	if !changed {
		return from
	}
	out := maps.Clone(from)
	if out == nil {
		out = origins{}
	}
	for _, w := range u.writes {
		if kept {
			out[w] = append(out[w][:len(out[w]):len(out[w])], in...)
		} else {
			out[w] = in
		}
	}
	return out
}

// given leaves out tokens where a test is given them: a token's phase does not
// depend on the schedule, its other bits do.
func given(u *use, in []root) []root {
	if !isTest(u.in) {
		return in
	}
	return slices.DeleteFunc(slices.Clone(in), func(r root) bool { return r.token })
}

// source reports whether a node makes a value that depends on the schedule.
func (g *graph) source(i int32) (root, bool) {
	in := g.nodes[i].in
	switch {
	case g.decided[g.nodes[i].pc]:
		return root{}, false
	case isTest(in):
		return root{node: i, test: true}, true
	case in.Op == "mbarrier" && len(g.nodes[i].writes) > 0 && !has(in, "pending_count"):
		return root{node: i, token: true}, true
	case in.Op == "atom" && g.polls[i] == nil, in.Op == "activemask", in.Op == "mbarrier" && len(in.Mods) > 0 && in.Mods[0] == "pending_count",
		in.Op == "ld" && strongRead(in) && g.polls[i] == nil, slices.ContainsFunc(in.Operands, isClock):
		return root{node: i}, len(g.nodes[i].writes) > 0
	}
	return root{}, false
}

func isTest(in *ptx.Inst) bool {
	return in.Op == "mbarrier" && len(in.Mods) > 0 && (in.Mods[0] == "try_wait" || in.Mods[0] == "test_wait")
}

func strongRead(in *ptx.Inst) bool {
	return slices.ContainsFunc(in.Mods, func(m string) bool {
		return m == "relaxed" || m == "acquire" || m == "volatile" || m == "mmio"
	})
}

func isClock(op ptx.Operand) bool {
	n, ok := op.(ptx.Name)
	return ok && (strings.HasPrefix(string(n), "%clock") || strings.HasPrefix(string(n), "%globaltimer") || n == "%smid" || n == "%nsmid" || n == "%warpid")
}

// decides reports whether a value that depends on the schedule decides
// something at a node.
func (g *graph) decides(i int32, from origins) (Dependence, bool) {
	u := &g.nodes[i]
	for _, r := range u.addr {
		if f := from[r]; len(f) > 0 {
			return g.dependence(i, f[0], "an address")
		}
	}
	guard := []root(nil)
	if u.guard != noReg {
		guard = from[u.guard]
	}
	if u.in.Op == "bra" && len(guard) > 0 {
		if why := g.await(i, guard); why != "" {
			return g.dependence(i, guard[0], why)
		}
		return Dependence{}, false
	}
	if len(guard) > 0 && u.class != plain {
		return g.dependence(i, guard[0], "whether it is executed")
	}
	reads, why := u.reads, "an operand, or a value that is stored"
	switch {
	case u.in.Op == "ret":
		reads, why = g.results(), "a function's result"
	case u.class == plain && !writesMemory(u.in):
		return Dependence{}, false
	case u.class == plain:
		if why = "a value that is kept in local memory"; len(guard) > 0 {
			return g.dependence(i, guard[0], why)
		}
	}
	for _, r := range reads {
		if f := given(u, from[r]); len(f) > 0 {
			return g.dependence(i, f[0], why)
		}
	}
	return Dependence{}, false
}

// results lists the registers that a function returns.
func (g *graph) results() []regID {
	var all []regID
	fn := g.p.code[g.nodes[0].pc].fn
	for _, f := range g.p.funcs[fn].rets {
		if f.inReg {
			y := symbol{kind: symReg, typ: f.typ, reg: f.reg}
			all = append(all, regIDOf(fn, &y, 0))
		}
	}
	return all
}

func (g *graph) dependence(i int32, r root, why string) (Dependence, bool) {
	return Dependence{PC: g.nodes[i].pc, From: g.nodes[r.node].pc, Why: why}, true
}

// await says why a branch by such values is no await; empty if it is one.
func (g *graph) await(i int32, guard []root) string {
	test := int32(-1)
	for _, r := range guard {
		switch {
		case !r.test:
			if isClock := slices.ContainsFunc(g.nodes[r.node].in.Operands, isClock); !isClock {
				return "a branch, and the value is no test of a barrier"
			}
		case test < 0:
			test = r.node
		case !g.sameTest(test, r.node):
			return "a branch by tests of different barriers or phases"
		}
	}
	join := g.meeting(i)
	if join < 0 {
		return "a branch whose sides do not meet again"
	}
	region := g.region(i, join)
	written := map[regID]bool{}
	for _, n := range region {
		u := &g.nodes[n]
		switch {
		case isTest(u.in):
			if test >= 0 && !g.sameTest(test, n) {
				return "a branch between tests of different barriers or phases"
			}
			test = n
		case writesMemory(u.in):
			return "a branch with a store on one side"
		case u.in.Op == "nanosleep", u.in.Op == "trap", u.class == plain, u.in.Op == "bra":
		default:
			return "a branch with something visible on one side (" + Name(u.in) + ")"
		}
		for _, w := range u.writes {
			written[w] = true
		}
	}
	if test < 0 {
		return "a branch by a clock"
	}
	for w := range g.same(i, region) {
		delete(written, w)
	}
	for w := range written {
		if int(join) < len(g.live) && g.isLive(join, w) && !(isTest(g.nodes[test].in) && slices.Contains(g.nodes[test].writes, w)) {
			return "a branch that leaves a register different"
		}
	}
	// What the tests look at must stay the same while it waits.
	for _, r := range append(g.nodes[test].reads[:len(g.nodes[test].reads):len(g.nodes[test].reads)], g.nodes[test].addr...) {
		if written[r] && !slices.Contains(g.nodes[test].writes, r) {
			return "a branch by tests whose barrier or phase changes while it waits"
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
		return !readsMemory(u.in) || u.launched
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

// region lists the nodes on the ways from a branch to where they meet, the
// branch left out.
func (g *graph) region(i, join int32) []int32 {
	seen := map[int32]bool{}
	var list []int32
	todo := slices.Clone(g.next[i])
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == join || seen[n] || int(n) == len(g.nodes) {
			continue
		}
		seen[n] = true
		list = append(list, n)
		todo = append(todo, g.next[n]...)
	}
	return list
}

// Operation names what an instruction does to memory, its type included.
func (p *Program) Operation(pc int32) string {
	in := p.code[pc].src
	if in == nil {
		return ""
	}
	name := in.Op
	if name == "red" || name == "cp" {
		name = "atom" // the same but for the result, or who does it
	}
	for _, m := range in.Mods {
		if _, ok := atomOps[m]; ok {
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

// Commutes says why the order of such an instruction with others of its kind,
// on one word, shows in memory; empty if it does not.
func (p *Program) Commutes(pc int32) string {
	in := p.code[pc].src
	if in == nil {
		return "an instruction without a name"
	}
	op := atomNone
	for _, m := range in.Mods {
		if o, ok := atomOps[m]; ok {
			op = o
		}
	}
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
	return slices.ContainsFunc(p.uses, func(u use) bool { return u.in.Op == "trap" })
}
