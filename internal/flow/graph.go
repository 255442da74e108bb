package flow

import (
	"slices"

	"muster/ptx"
)

// A Graph is the control flow of a function.
type Graph struct {
	// Nodes are the function's instructions as the text has them.
	Nodes []Use
	// Next lists the nodes that may follow each, and nothing for one more, the end.
	Next [][]int32

	f       *Func
	loops   bool             // some edge goes back
	before  [][]int32        // made when asked for
	steps   int              // left for searches for uses of registers, before live is made
	regs    []Reg            // by number; made with live
	numbers [classes][]int32 // one more, by class, then row
	live    []uint64         // sets of registers live before each node, of words each
	words   int
	post    []int32         // immediate postdominators; made when asked for
	dom     []int32         // immediate dominators; made when asked for
	seen    []bool          // scratch, by node: false
	found   []int32         // scratch
	states  []state         // scratch of the wait analysis, by node: zero
	polls   map[int32]*Poll // by node
	flips   []*Flip
	alike   map[[2]int32]bool // pairs of tests: they name one phase, see sameOperands
	decided map[int32]bool    // by instruction: its result is the same in every schedule
}

// Graph makes the graph of a function, with liveness; nil if it has no
// instructions.
func (p *Program) Graph(fn int32) *Graph {
	g := newGraph(&p.Funcs[fn])
	if g != nil {
		g.liveness()
	}
	return g
}

// newGraph makes a function's graph, which computes liveness at its first use.
func newGraph(f *Func) *Graph {
	if len(f.Uses) == 0 {
		return nil
	}
	g := &Graph{f: f, Nodes: f.Uses}
	g.link()
	g.doom()
	g.steps = 8 * len(g.Nodes)
	g.findPolls()
	return g
}

// link finds the edges.
func (g *Graph) link() {
	g.Next = make([][]int32, len(g.Nodes)+1)
	list := make([]int32, 0, 2*len(g.Nodes))
	for i := range g.Nodes {
		from := len(list)
		list = g.successors(list, int32(i))
		g.Next[i] = list[from:len(list):len(list)]
		for _, to := range g.Next[i] {
			g.loops = g.loops || int(to) <= i
		}
	}
}

// At returns the node of instruction pc, or else of the first one after it; one past
// the last for the end of the function.
func (g *Graph) At(pc int32) int32 {
	from, to := 0, len(g.Nodes)
	for from < to {
		if mid := (from + to) / 2; g.Nodes[mid].PC < pc {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return int32(from)
}

// successors appends the nodes that may come next.
func (g *Graph) successors(to []int32, i int32) []int32 {
	u := &g.Nodes[i]
	switch {
	case u.Does(ptx.Branches):
		to = append(to, g.At(u.Target))
	case u.Does(ptx.BranchesByTable):
		for _, t := range u.Table {
			to = append(to, g.At(t))
		}
	case u.Does(ptx.Exits | ptx.Returns):
		to = append(to, int32(len(g.Nodes)))
	case u.Does(ptx.Traps):
		// It ends the launch: nothing follows.
	default:
		return append(to, i+1)
	}
	if u.Guard != NoReg {
		to = append(to, i+1)
	}
	return to
}

// preceding lists the nodes that may come before each.
func (g *Graph) preceding() [][]int32 {
	if g.before != nil {
		return g.before
	}
	g.before = make([][]int32, len(g.Next))
	ends, edges := make([]int32, len(g.Next)), 0
	for _, list := range g.Next {
		for _, n := range list {
			ends[n]++
			edges++
		}
	}
	all := make([]int32, edges)
	for n, k := range ends {
		g.before[n], all = all[:0:k], all[k:]
	}
	for i, list := range g.Next {
		for _, n := range list {
			g.before[n] = append(g.before[n], int32(i))
		}
	}
	return g.before
}

// number returns a register's number, and assigns one if it has none.
func (g *Graph) number(r Reg) int {
	k, row := r.Class(), int(r.Row())
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

// room makes room for the numbers of the function's registers.
func (g *Graph) room() {
	n := 0
	for _, rows := range g.f.Rows {
		n += int(rows)
	}
	all := make([]int32, n)
	for k, rows := range g.f.Rows {
		g.numbers[k], all = all[:rows:rows], all[rows:]
	}
}

func setBit(set []uint64, i int) { set[i/64] |= 1 << (i % 64) }

func inSet(set []uint64, i int) bool { return set[i/64]>>(i%64)&1 != 0 }

// liveness finds which registers may be read before they are written.
func (g *Graph) liveness() {
	if g.live != nil {
		return
	}
	g.room()
	for i := range g.Nodes {
		u := &g.Nodes[i]
		for _, r := range u.Reads {
			g.number(r)
		}
		for _, r := range u.Writes {
			g.number(r)
		}
		for _, r := range u.Addr {
			g.number(r)
		}
		if u.Guard != NoReg {
			g.number(u.Guard)
		}
	}
	for _, r := range g.f.Results {
		g.number(r)
	}
	g.words = (len(g.regs) + 63) / 64
	rows := make([]uint64, (len(g.Next)+1)*g.words)
	tmp := rows[:g.words:g.words]
	g.live = rows[g.words:]
	for _, r := range g.f.Results {
		setBit(g.liveAt(int32(len(g.Nodes))), g.number(r))
	}
	for again := true; again; {
		again = false
		for i := len(g.Nodes) - 1; i >= 0; i-- {
			clear(tmp)
			for _, n := range g.Next[i] {
				for k, v := range g.liveAt(n) {
					tmp[k] |= v
				}
			}
			g.liveBefore(&g.Nodes[i], tmp)
			if row := g.liveAt(int32(i)); !slices.Equal(tmp, row) {
				copy(row, tmp)
				again = g.loops // else liveness after each node was final
			}
		}
	}
}

// liveAt returns the set of registers that are live before a node, by number.
func (g *Graph) liveAt(n int32) []uint64 { return g.live[int(n)*g.words:][:g.words] }

// liveBefore applies the liveness transfer function of an instruction.
func (g *Graph) liveBefore(u *Use, live []uint64) {
	keeps := u.Accumulates()
	for _, r := range u.Writes {
		if keeps {
			setBit(live, g.number(r))
		} else if u.Guard == NoReg {
			n := g.number(r)
			live[n/64] &^= 1 << (n % 64)
		}
	}
	for _, r := range u.Reads {
		setBit(live, g.number(r))
	}
	for _, r := range u.Addr {
		setBit(live, g.number(r))
	}
	if u.Guard != NoReg {
		setBit(live, g.number(u.Guard))
	}
}

// LiveAt lists the registers that may be read from a node on before they are written.
func (g *Graph) LiveAt(n int32) []Reg {
	g.liveness()
	var list []Reg
	for i, r := range g.regs {
		if inSet(g.liveAt(n), i) {
			list = append(list, r)
		}
	}
	return list
}

// IsLive reports whether a register may be read from a node on before it is
// written. For few registers, a search for their uses costs less than liveness of
// all.
func (g *Graph) IsLive(at int32, r Reg) bool {
	if g.live == nil {
		if live, ok := g.look(at, r); ok {
			return live
		}
		g.liveness()
	}
	n := g.number(r)
	return n/64 < g.words && inSet(g.liveAt(at), n)
}

// look reports whether a register's value before a node has a use. It is not ok if the
// search takes more steps than are left.
func (g *Graph) look(at int32, r Reg) (live, ok bool) {
	seen, list := g.marks(), append(g.found[:0], at)
	seen[at] = true
	for k := 0; k < len(list) && !live && g.steps >= 0; k++ {
		g.steps--
		var over bool
		if live, over = g.touches(list[k], r); live || over {
			continue
		}
		for _, n := range g.Next[list[k]] {
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

// touches reports whether a node uses a register's value, or else overwrites it.
func (g *Graph) touches(n int32, r Reg) (uses, anew bool) {
	if int(n) == len(g.Nodes) {
		return slices.Contains(g.f.Results, r), true
	}
	u := &g.Nodes[n]
	writes := slices.Contains(u.Writes, r)
	uses = u.Guard == r || slices.Contains(u.Reads, r) || slices.Contains(u.Addr, r) || writes && u.Accumulates()
	return uses, writes && u.Guard == NoReg
}

// marks returns the scratch of nodes.
func (g *Graph) marks() []bool {
	if g.seen == nil {
		g.seen = make([]bool, len(g.Next))
	}
	return g.seen
}

// Meeting returns where the paths from a node meet again for certain, leaving out
// those that end in a trap: its immediate postdominator, -1 for none.
func (g *Graph) Meeting(i int32) int32 {
	if g.post == nil {
		g.post = dominators(int32(len(g.Nodes)), g.preceding(), g.Next)
	}
	return g.post[i]
}

// dominates reports whether every path to node i passes node n.
func (g *Graph) dominates(n, i int32) bool {
	if g.dom == nil {
		g.dom = dominators(0, g.Next, g.preceding())
	}
	for i > 0 && i != n {
		i = g.dom[i]
	}
	return i == n || i < 0 // no path leads to it
}

// dominators returns the immediate dominator of each node with respect to root; -1 for
// root, and for unreachable nodes. out lists each node's successors, in its
// predecessors (Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001).
func dominators(root int32, out, in [][]int32) []int32 {
	const open = -1
	all := make([]int32, 5*len(out))
	take := func() (part []int32) { part, all = all[:len(out):len(out)], all[len(out):]; return part }
	last, number, taken, order, stack := take(), take(), take(), take()[:0], take()[:0]
	// Nodes are numbered from 1 in postorder.
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
				case last[from] < 0: // not known yet, or not on a path
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

// common returns the nearest common dominator of two nodes.
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

// reached returns which nodes can be reached from the first.
func (g *Graph) reached() []bool {
	ok := make([]bool, len(g.Next))
	todo := make([]int32, 1, len(g.Next))
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !ok[i] {
			ok[i] = true
			list := g.Next[i]
			if len(list) == 0 {
				break
			}
			todo = append(todo, list[1:]...)
			i = list[0]
		}
	}
	return ok
}

// Region lists the nodes on the paths from a branch to where they meet, the
// branch left out.
func (g *Graph) Region(i, join int32) []int32 {
	seen := g.marks()
	var list []int32
	todo := append(g.found[:0], g.Next[i]...)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == join || seen[n] || int(n) == len(g.Nodes) {
			continue
		}
		seen[n] = true
		list = append(list, n)
		todo = append(todo, g.Next[n]...)
	}
	for _, n := range list {
		seen[n] = false
	}
	g.found = todo
	return list
}

// writers lists the definitions of a register that reach a node; -1 stands for
// its initial value.
func (g *Graph) writers(node int32, r Reg) []int32 {
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
			u := &g.Nodes[b]
			if slices.Contains(u.Writes, r) {
				from = append(from, b)
				if u.Guard == NoReg && !u.Accumulates() {
					continue
				}
			}
			todo = append(todo, b)
		}
	}
	return from
}
