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

// sameTest reports whether two tests name one barrier and one phase: by the same
// registers, of which the caller must know that they do not change, or by others that
// have the same values.
func (g *Graph) sameTest(m, n int32) bool {
	return m == n || g.Nodes[m].Test != 0 && g.Nodes[m].Test == g.Nodes[n].Test || g.sameOperands(m, n)
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

// maker returns the one node that writes a register as n reads it, if it does nothing
// but compute it; else -1.
func (g *Graph) maker(n int32, r Reg) int32 {
	from := g.writers(n, r)
	if len(from) != 1 || from[0] < 0 {
		return -1
	}
	u := &g.Nodes[from[0]]
	if _, source := g.source(from[0]); source || !u.Plain || u.Guard != NoReg || u.Accumulates() || u.Clock || len(u.Writes) != 1 ||
		u.Does(ptx.Writes) || u.Does(ptx.Reads) && !u.Launched || len(u.Addr) > 0 || slices.Contains(u.Reads, r) {
		return -1
	}
	return from[0]
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
