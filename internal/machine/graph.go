package machine

import (
	"slices"

	"muster/ptx"
)

// A graph is the control flow of a function; nodes are its instructions as the
// text has them.
type graph struct {
	p       *Program
	nodes   []use
	next    [][]int32  // one row more than there are nodes, for the end
	loops   bool       // some edge goes back
	before  [][]int32  // made when asked for
	steps   int        // that may be taken in looking for uses of registers, before live is made
	regs    []regID    // by number; made with live
	numbers [4][]int32 // one more, by class, then row
	live    []uint64   // sets of registers live before each node, of words each
	words   int
	post    []int32         // the next node that all ways to the end pass; made when asked for
	dom     []int32         // the last node that all ways from the first pass; 〃
	seen    []bool          // scratch, by node: false
	found   []int32         // scratch
	ways    []outcome       // scratch of settling, by node: empty
	polls   map[int32]*Poll // by node
	decided map[int32]bool  // by instruction: what gives the same in every schedule
}

// graph makes a function's, with what is live.
func (p *Program) graph(fn int32) *graph {
	g := p.control(fn)
	if g != nil {
		g.liveness()
	}
	return g
}

// control makes a function's, which finds what is live when asked.
func (p *Program) control(fn int32) *graph {
	g := &graph{p: p, nodes: p.usesOf(fn)}
	if len(g.nodes) == 0 {
		return nil
	}
	g.link()
	g.steps = 8 * len(g.nodes)
	g.findPolls()
	return g
}

// link finds the edges.
func (g *graph) link() {
	g.next = make([][]int32, len(g.nodes)+1)
	list := make([]int32, 0, 2*len(g.nodes))
	for i := range g.nodes {
		from := len(list)
		list = g.successors(list, int32(i))
		g.next[i] = list[from:len(list):len(list)]
		for _, to := range g.next[i] {
			g.loops = g.loops || int(to) <= i
		}
	}
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
	switch {
	case u.does(ptx.Branches):
		to = append(to, g.at(g.p.code[u.pc].target))
	case u.does(ptx.BranchesByTable):
		for _, t := range g.p.code[u.pc].x.([]int32) {
			to = append(to, g.at(t))
		}
	case u.does(ptx.Exits | ptx.Returns):
		to = append(to, int32(len(g.nodes)))
	case u.does(ptx.Traps):
		// It ends the launch: what comes after does not happen.
	default:
		return append(to, i+1)
	}
	if u.guard != noReg {
		to = append(to, i+1)
	}
	return to
}

// preceding lists the nodes that may come before each.
func (g *graph) preceding() [][]int32 {
	if g.before != nil {
		return g.before
	}
	g.before = make([][]int32, len(g.next))
	ends, edges := make([]int32, len(g.next)), 0
	for _, list := range g.next {
		for _, n := range list {
			ends[n]++
			edges++
		}
	}
	all := make([]int32, edges)
	for n, k := range ends {
		g.before[n], all = all[:0:k], all[k:]
	}
	for i, list := range g.next {
		for _, n := range list {
			g.before[n] = append(g.before[n], int32(i))
		}
	}
	return g.before
}

// number returns a register's, and gives it one if it has none.
func (g *graph) number(r regID) int {
	k, row := r>>32&3, int(uint32(r))
	if row >= len(g.numbers[k]) {
		g.numbers[k] = append(g.numbers[k], make([]int32, row+1-len(g.numbers[k]))...)
	}
	n := &g.numbers[k][row]
	if *n == 0 {
		g.regs = append(g.regs, r)
		*n = int32(len(g.regs))
	}
	return int(*n) - 1
}

// room makes room for the numbers of the function's registers: of three classes,
// and of the carry flag.
func (g *graph) room() {
	f := &g.p.funcs[g.p.code[g.nodes[0].pc].fn]
	all := make([]int32, int(f.n32)+int(f.n64)+int(f.np)+1)
	for k, n := range [...]int32{f.n32, f.n64, f.np, 1} {
		g.numbers[k], all = all[:n:n], all[n:]
	}
}

func setBit(set []uint64, i int) { set[i/64] |= 1 << (i % 64) }

func inSet(set []uint64, i int) bool { return set[i/64]>>(i%64)&1 != 0 }

// liveness finds which registers may be read before they are written.
func (g *graph) liveness() {
	if g.live != nil {
		return
	}
	g.room()
	for i := range g.nodes {
		u := &g.nodes[i]
		for _, r := range u.reads {
			g.number(r)
		}
		for _, r := range u.writes {
			g.number(r)
		}
		for _, r := range u.addr {
			g.number(r)
		}
		if u.guard != noReg {
			g.number(u.guard)
		}
	}
	results := g.results()
	for _, r := range results {
		g.number(r)
	}
	g.words = (len(g.regs) + 63) / 64
	rows := make([]uint64, (len(g.next)+1)*g.words)
	tmp := rows[:g.words:g.words]
	g.live = rows[g.words:]
	for _, r := range results {
		setBit(g.liveAt(int32(len(g.nodes))), g.number(r))
	}
	for again := true; again; {
		again = false
		for i := len(g.nodes) - 1; i >= 0; i-- {
			clear(tmp)
			for _, n := range g.next[i] {
				for k, v := range g.liveAt(n) {
					tmp[k] |= v
				}
			}
			g.liveBefore(&g.nodes[i], tmp)
			if row := g.liveAt(int32(i)); !slices.Equal(tmp, row) {
				copy(row, tmp)
				again = g.loops // or all that comes after was known
			}
		}
	}
}

// results lists the registers that a function returns.
func (g *graph) results() []regID { return g.p.results(g.p.code[g.nodes[0].pc].fn) }

func (p *Program) results(fn int32) []regID {
	var all []regID
	for _, f := range p.funcs[fn].rets {
		if f.inReg {
			y := symbol{kind: symReg, typ: f.typ, reg: f.reg}
			all = append(all, regIDOf(fn, &y, 0))
		}
	}
	return all
}

// liveAt is the set of registers that are live before a node, by number.
func (g *graph) liveAt(n int32) []uint64 { return g.live[int(n)*g.words:][:g.words] }

// liveBefore applies the liveness transfer function of an instruction.
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
	for _, r := range u.reads {
		setBit(live, g.number(r))
	}
	for _, r := range u.addr {
		setBit(live, g.number(r))
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

// isLive reports whether a register may be read from a node on before it is
// written. Where few are asked about, looking for their uses costs less than to find
// what is live everywhere.
func (g *graph) isLive(at int32, r regID) bool {
	if g.live == nil {
		if live, ok := g.look(at, r); ok {
			return live
		}
		g.liveness()
	}
	n := g.number(r)
	return n/64 < g.words && inSet(g.liveAt(at), n)
}

// look looks for a use of what a register holds before a node. It is not ok if that
// takes more steps than are left.
func (g *graph) look(at int32, r regID) (live, ok bool) {
	seen, list := g.marks(), append(g.found[:0], at)
	seen[at] = true
	for k := 0; k < len(list) && !live && g.steps >= 0; k++ {
		g.steps--
		var over bool
		if live, over = g.touches(list[k], r); live || over {
			continue
		}
		for _, n := range g.next[list[k]] {
			if !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	for _, n := range list {
		seen[n] = false
	}
	g.found = list
	return live, g.steps >= 0
}

// touches reports whether a node uses what a register holds, or else writes it anew.
func (g *graph) touches(n int32, r regID) (uses, anew bool) {
	if int(n) == len(g.nodes) {
		return slices.Contains(g.results(), r), true
	}
	u := &g.nodes[n]
	writes := slices.Contains(u.writes, r)
	uses = u.guard == r || slices.Contains(u.reads, r) || slices.Contains(u.addr, r) || writes && accumulates(u)
	return uses, writes && u.guard == noReg
}

// marks returns the scratch of nodes.
func (g *graph) marks() []bool {
	if g.seen == nil {
		g.seen = make([]bool, len(g.next))
	}
	return g.seen
}

// meeting finds where the ways from a node meet again for certain, leaving out
// those that end in a trap: its immediate postdominator, -1 for none.
func (g *graph) meeting(i int32) int32 {
	if g.post == nil {
		g.post = dominators(int32(len(g.nodes)), g.preceding(), g.next)
	}
	return g.post[i]
}

// dominates reports whether every way to a node passes another.
func (g *graph) dominates(n, i int32) bool {
	if g.dom == nil {
		g.dom = dominators(0, g.next, g.preceding())
	}
	for i > 0 && i != n {
		i = g.dom[i]
	}
	return i == n || i < 0 // no way leads to it
}

// dominators returns, for each node, the last of the others that all ways to it from
// root pass; -1 for root, and for nodes to which none leads. The edges lead out
// from root, and in. Only nodes on those ways count (Cooper, Harvey and Kennedy,
// A Simple, Fast Dominance Algorithm, 2001).
func dominators(root int32, out, in [][]int32) []int32 {
	const open = -1
	all := make([]int32, 5*len(out))
	take := func() (part []int32) { part, all = all[:len(out):len(out)], all[len(out):]; return part }
	last, number, taken, order, stack := take(), take(), take(), take()[:0], take()[:0]
	// Nodes are numbered from 1 as the last way from them is done.
	for stack, number[root] = append(stack, root), open; len(stack) > 0; {
		n := stack[len(stack)-1]
		if k := taken[n]; int(k) < len(out[n]) {
			taken[n]++
			if to := out[n][k]; number[to] == 0 {
				stack, number[to] = append(stack, to), open
			}
			continue
		}
		stack, order = stack[:len(stack)-1], append(order, n)
		number[n] = int32(len(order))
	}
	for i := range last {
		last[i] = -1
	}
	last[root] = root
	for again := true; again; {
		again = false
		for k := len(order) - 2; k >= 0; k-- {
			n, at := order[k], int32(-1)
			for _, from := range in[n] {
				switch {
				case last[from] < 0: // not known yet, or not on a way
				case at < 0:
					at = from
				default:
					at = common(last, number, at, from)
				}
			}
			if last[n] != at {
				last[n], again = at, true
			}
		}
	}
	last[root] = -1
	return last
}

// common is the last node that all ways to both pass.
func common(last, number []int32, a, b int32) int32 {
	for a != b {
		for number[a] < number[b] {
			a = last[a]
		}
		for number[b] < number[a] {
			b = last[b]
		}
	}
	return a
}

// reached tells which nodes can be reached from the first.
func (g *graph) reached() []bool {
	ok := make([]bool, len(g.next))
	todo := make([]int32, 1, len(g.next))
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !ok[i] {
			ok[i] = true
			list := g.next[i]
			if len(list) == 0 {
				break
			}
			todo = append(todo, list[1:]...)
			i = list[0]
		}
	}
	return ok
}

// region lists the nodes on the ways from a branch to where they meet, the
// branch left out.
func (g *graph) region(i, join int32) []int32 {
	seen := g.marks()
	var list []int32
	todo := append(g.found[:0], g.next[i]...)
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
	for _, n := range list {
		seen[n] = false
	}
	g.found = todo
	return list
}

// writers lists the nodes whose value of a register a node may read; -1 stands
// for what it held at first.
func (g *graph) writers(node int32, r regID) []int32 {
	before := g.preceding()
	var from []int32
	seen := map[int32]bool{}
	todo := []int32{node}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == 0 {
			from = append(from, -1)
		}
		for _, b := range before[n] {
			if seen[b] {
				continue
			}
			seen[b] = true
			u := &g.nodes[b]
			if slices.Contains(u.writes, r) {
				from = append(from, b)
				if u.guard == noReg && !accumulates(u) {
					continue
				}
			}
			todo = append(todo, b)
		}
	}
	return from
}
