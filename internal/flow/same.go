package flow

import (
	"slices"

	"muster/ptx"
)

// Two tests name one phase of one barrier if their operands have the same values. They
// have where they are the same registers, or where the same instructions compute them from
// the same registers, and nothing on the way from the one to the other writes these.

// maxSame bounds how deep the instructions that compute an operand are compared.
const maxSame = 8

// sameTest reports whether two tests order alike and name one barrier and one phase: by the same
// registers, of which the caller must know that they do not change, or by others that
// have the same values.
func (g *Graph) sameTest(m, n int32) bool {
	return m == n || g.orders(m) == g.orders(n) && (g.Nodes[m].Test != 0 && g.Nodes[m].Test == g.Nodes[n].Test || g.sameOperands(m, n))
}

// An ordering is what a successful test orders.
type ordering struct {
	acquires, cluster bool // else nothing; the CTA
	phase             string
}

func (g *Graph) orders(n int32) ordering {
	in := g.Nodes[n].In
	return ordering{in.Sem().Acquires(), in.Mod("scope") == "cluster", in.Mod("phase")}
}

// covers reports whether a successful test orders all that another one would.
func (o ordering) covers(p ordering) bool {
	return o.phase == p.phase && (!p.acquires || o.acquires && (o.cluster || !p.cluster))
}

// sameOperands reports whether test n, wherever it is reached from test m, names the phase
// and the barrier that m did.
func (g *Graph) sameOperands(m, n int32) bool {
	a, b := &g.Nodes[m], &g.Nodes[n]
	if a.Form == 0 || a.Form != b.Form || a.Guard != NoReg || b.Guard != NoReg {
		return false
	}
	key := [2]int32{m, n}
	if same, ok := g.alike[key]; ok {
		return same
	}
	same := g.sameAfter(m, n, func(r Reg) bool { return g.unwritten(m, n, r, nil) })
	if g.alike == nil {
		g.alike = map[[2]int32]bool{}
	}
	g.alike[key] = same
	return same
}

// sameAfter is sameOperands for the ways from m to n on which kept says of a register that
// nothing writes it.
func (g *Graph) sameAfter(m, n int32, kept func(Reg) bool) bool {
	a, b := &g.Nodes[m], &g.Nodes[n]
	return a.Form != 0 && a.Form == b.Form && a.Guard == NoReg && b.Guard == NoReg &&
		g.sameValues(m, a.Addr, n, b.Addr, kept) && g.sameValues(m, a.Asks(), n, b.Asks(), kept)
}

func (g *Graph) sameValues(m int32, a []Reg, n int32, b []Reg, kept func(Reg) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !g.sameValue(m, a[i], n, b[i], kept, maxSame) {
			return false
		}
	}
	return true
}

// sameValue reports whether register b has at node n the value that register a had at
// node m.
func (g *Graph) sameValue(m int32, a Reg, n int32, b Reg, kept func(Reg) bool, depth int) bool {
	if a == b && kept(a) {
		return true
	}
	x, y := g.maker(m, a), g.maker(n, b)
	if depth == 0 || x < 0 || y < 0 || !g.sameOperation(x, y) {
		return false
	}
	u, v := &g.Nodes[x], &g.Nodes[y]
	for i := range u.Reads {
		// Where they are read, and still where a and b are.
		if !g.unwritten(x, m, u.Reads[i], nil) || !g.unwritten(y, n, v.Reads[i], nil) || !g.sameValue(m, u.Reads[i], n, v.Reads[i], kept, depth-1) {
			return false
		}
	}
	return true
}

// sameWithin reports whether test n, reached from test m over some nodes and not by way of m
// again, names the phase and the barrier that m did.
func (g *Graph) sameWithin(m, n int32, among map[int32]bool) bool {
	a, b := &g.Nodes[m], &g.Nodes[n]
	if a.Form == 0 || a.Form != b.Form || a.Guard != NoReg || b.Guard != NoReg {
		return false
	}
	w := within{g, m, among}
	same := func(a, b []Reg) bool {
		return slices.EqualFunc(a, b, func(a, b Reg) bool { return w.same(a, n, b, maxSame) })
	}
	return same(a.Addr, b.Addr) && same(a.Asks(), b.Asks())
}

// A within follows values on the ways that lead from one node over some others.
type within struct {
	g     *Graph
	from  int32
	among map[int32]bool
}

// same reports whether register b has at node n the value that register a has at the first
// node.
func (w *within) same(a Reg, n int32, b Reg, depth int) bool {
	return depth > 0 && !slices.Contains(w.g.Nodes[w.from].Writes, b) &&
		!slices.ContainsFunc(w.writers(n, b), func(y int32) bool { return !w.made(a, y, b, depth) })
}

// made reports whether node y, or the first node if it is y, leaves in register b what the
// first node has in register a.
func (w *within) made(a Reg, y int32, b Reg, depth int) bool {
	if y == w.from {
		return w.g.sameHere(y, a, b, depth)
	}
	if !w.g.computes(y, b) {
		return false
	}
	v := &w.g.Nodes[y]
	if v.Does(ptx.Moves) && len(v.Reads) == 1 {
		return w.same(a, y, v.Reads[0], depth-1)
	}
	x := w.g.maker(w.from, a)
	if x < 0 {
		return false
	}
	u := &w.g.Nodes[x]
	if p, q, ok := w.g.sameEquality(x, y); ok {
		return w.g.unwritten(p.node, w.from, p.reg, nil) && w.same(p.reg, q.node, q.reg, depth-1)
	}
	if !w.g.sameOperation(x, y) {
		return false
	}
	for i := range u.Reads {
		if !w.g.unwritten(x, w.from, u.Reads[i], nil) || !w.same(u.Reads[i], y, v.Reads[i], depth-1) {
			return false
		}
	}
	return true
}

// writers lists the nodes from which a register has its value at n; the first node stands
// for those before it.
func (w *within) writers(n int32, r Reg) []int32 {
	var list []int32
	seen, todo := map[int32]bool{}, []int32{n}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, b := range w.g.preceding()[at] {
			if seen[b] || b != w.from && !w.among[b] {
				continue
			}
			seen[b] = true
			u := &w.g.Nodes[b]
			if b == w.from || slices.Contains(u.Writes, r) {
				list = append(list, b)
			}
			if b != w.from && (!slices.Contains(u.Writes, r) || u.Guard != NoReg || u.Accumulates()) {
				todo = append(todo, b)
			}
		}
	}
	return list
}

// A sum is a register as a node reads it, and a number that is added to it.
type sum struct {
	node int32
	reg  Reg
	plus uint32
}

// sameEquality reports whether two nodes ask whether a register is equal to a number, and
// answer the same for one value of two registers: x + 1 = 19 and x = 18.
func (g *Graph) sameEquality(x, y int32) (p, q sum, ok bool) {
	u, v := &g.Nodes[x], &g.Nodes[y]
	n, ok := u.equalTo()
	m, too := v.equalTo()
	if !ok || !too || u.In.Mods[0] != v.In.Mods[0] {
		return p, q, false
	}
	p, q = g.sumOf(x, u.Reads[0]), g.sumOf(y, v.Reads[0])
	return p, q, (p.node != x || q.node != y) && n-p.plus == m-q.plus
}

// equalTo returns the number with which an instruction compares a register of 32 bits, by eq
// or ne.
func (u *Use) equalTo() (uint32, bool) {
	if !u.Does(ptx.Compares) || !u.Compares || len(u.In.Mods) != 2 || len(u.In.Operands) != 3 || len(u.Reads) != 1 || len(u.Writes) != 1 {
		return 0, false
	}
	with, ok := u.In.Operands[2].(ptx.Int)
	if t, size := u.In.LastType(); !ok || size != 4 || t == "f32" {
		return 0, false
	}
	return uint32(with.Bits), u.In.Mods[0] == "eq" || u.In.Mods[0] == "ne"
}

// sumOf writes a register as a sum, if one instruction adds a number to another.
func (g *Graph) sumOf(n int32, r Reg) sum {
	s := sum{n, r, 0}
	x := g.maker(n, r)
	if x < 0 || !g.Nodes[x].Does(ptx.Adds) {
		return s
	}
	u := &g.Nodes[x]
	if _, size := u.In.LastType(); size != 4 || len(u.In.Operands) != 3 || len(u.Reads) != 1 || !g.unwritten(x, n, u.Reads[0], nil) {
		return s
	}
	for _, op := range u.In.Operands[1:] {
		if with, ok := op.(ptx.Int); ok {
			return sum{x, u.Reads[0], uint32(with.Bits)}
		}
	}
	return s
}

// sameHere reports whether two registers have the same value at a node.
func (g *Graph) sameHere(n int32, a, b Reg, depth int) bool {
	if a == b {
		return true
	}
	if depth == 0 {
		return false
	}
	x, y := g.maker(n, a), g.maker(n, b)
	if y >= 0 && g.Nodes[y].Does(ptx.Moves) && len(g.Nodes[y].Reads) == 1 && g.unwritten(y, n, g.Nodes[y].Reads[0], nil) && g.sameHere(n, a, g.Nodes[y].Reads[0], depth-1) {
		return true
	}
	if x >= 0 && g.Nodes[x].Does(ptx.Moves) && len(g.Nodes[x].Reads) == 1 && g.unwritten(x, n, g.Nodes[x].Reads[0], nil) && g.sameHere(n, g.Nodes[x].Reads[0], b, depth-1) {
		return true
	}
	if x < 0 || y < 0 || !g.sameOperation(x, y) {
		return false
	}
	u, v := &g.Nodes[x], &g.Nodes[y]
	for i := range u.Reads {
		if !g.unwritten(x, n, u.Reads[i], nil) || !g.unwritten(y, n, v.Reads[i], nil) || !g.sameHere(n, u.Reads[i], v.Reads[i], depth-1) {
			return false
		}
	}
	return true
}

// maker returns the one node that writes a register as n reads it, if it does nothing
// but compute it; else -1.
func (g *Graph) maker(n int32, r Reg) int32 {
	from := g.writers(n, r)
	if len(from) != 1 || from[0] < 0 || !g.computes(from[0], r) {
		return -1
	}
	return from[0]
}

// computes reports whether a node does nothing but compute a register from others.
func (g *Graph) computes(n int32, r Reg) bool {
	u := &g.Nodes[n]
	_, source := g.source(n)
	return !source && u.Plain && u.Guard == NoReg && !u.Accumulates() && !u.Clock && len(u.Writes) == 1 &&
		!u.Does(ptx.Writes) && (!u.Does(ptx.Reads) || u.Launched) && len(u.Addr) == 0 && !slices.Contains(u.Reads, r)
}

// sameOperation reports whether two nodes do the same to the registers that they read.
func (g *Graph) sameOperation(x, y int32) bool {
	u, v := &g.Nodes[x], &g.Nodes[y]
	if u.In.Opcode() != v.In.Opcode() || !slices.Equal(u.In.Mods, v.In.Mods) || len(u.Reads) != len(v.Reads) ||
		len(u.Args) != len(v.Args) || len(u.In.Operands) != len(v.In.Operands) || len(u.Args) != len(u.In.Operands)-1 || u.Symbol != v.Symbol {
		return false
	}
	registers := 0
	for i, op := range u.In.Operands[1:] {
		with := v.In.Operands[i+1]
		if (u.Args[i] == NoReg) != (v.Args[i] == NoReg) {
			return false
		}
		if u.Args[i] == NoReg {
			if ptx.FormatOperand(op) != ptx.FormatOperand(with) {
				return false
			}
			continue
		}
		_, one := op.(ptx.Name)
		_, other := with.(ptx.Name)
		if !one || !other {
			return false
		}
		registers++
	}
	return registers == len(u.Reads)
}

// unwritten reports whether nothing writes a register on a way from one node to another
// that does not come to the first again, and stays among some nodes (nil: all).
func (g *Graph) unwritten(from, to int32, r Reg, among []int32) bool {
	if slices.Contains(g.Nodes[from].Writes, r) {
		return false
	}
	ahead := g.spread(from, g.Next[from], g.Next, among)
	before := g.spread(from, g.preceding()[to], g.preceding(), among)
	for n := range ahead {
		if before[n] && int(n) < len(g.Nodes) && slices.Contains(g.Nodes[n].Writes, r) {
			return false
		}
	}
	return true
}

// spread returns the nodes that can be reached over edges from some nodes, among others
// alone (nil: all), and not through one of them, not.
func (g *Graph) spread(not int32, start []int32, edges [][]int32, among []int32) map[int32]bool {
	seen, todo := map[int32]bool{}, slices.Clone(start)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == not || seen[n] || among != nil && !slices.Contains(among, n) {
			continue
		}
		seen[n] = true
		todo = append(todo, edges[n]...)
	}
	return seen
}
