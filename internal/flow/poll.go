package flow

import (
	"slices"
	"strconv"

	"muster/ptx"
)

// Polling memory (flip.go has barriers that count on). A loop that only reads a word by a strong load until it compares
// as wanted is a wait, like a loop of tests of an mbarrier. It ends with the same
// value in every schedule if the writes of that word are of the right kind, which a
// run shows: see confluence.

// A Poll is a loop that reads one word of memory by a strong load until it compares as
// wanted.
type Poll struct {
	PC   int32 // of the load
	Setp int32 // of the comparison, of what was loaded with its second source
	Size int   // of what it compares, bytes: 4 or 8

	signed  bool
	compare string // eq, ne, lt, le, gt, ge
	want    bool   // the comparison's result that ends the wait
}

// Upward reports whether whatever is larger than a value that ends the wait ends
// it too.
func (p *Poll) Upward() bool {
	return p.want && (p.compare == "ge" || p.compare == "gt") || !p.want && (p.compare == "lt" || p.compare == "le")
}

// Exactly reports whether one value ends the wait.
func (p *Poll) Exactly() bool { return p.want && p.compare == "eq" || !p.want && p.compare == "ne" }

// Ends reports whether a value of the word ends a wait that compares it with another.
func (p *Poll) Ends(value, with uint64) bool { return p.holds(value, with) == p.want }

// holds is the result of the comparison.
func (p *Poll) holds(a, b uint64) bool {
	if p.Size == 4 {
		a, b = uint64(uint32(a)), uint64(uint32(b))
	}
	less := a < b
	switch {
	case p.signed && p.Size == 4:
		less = int32(a) < int32(b)
	case p.signed:
		less = int64(a) < int64(b)
	}
	switch p.compare {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "lt":
		return less
	case "ge":
		return !less
	case "le":
		return less || a == b
	case "gt":
		return !less && a != b
	}
	panic("BUG: a comparison " + p.compare)
}

// Until says which values end the wait.
func (p *Poll) Until(with uint64) string {
	compare := p.compare
	if !p.want {
		compare = map[string]string{"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}[compare]
	}
	word := map[string]string{"eq": "", "ne": "other than ", "lt": "less than ", "ge": "at least ", "le": "at most ", "gt": "more than "}[compare]
	switch {
	case p.signed && p.Size == 4:
		return word + strconv.FormatInt(int64(int32(with)), 10)
	case p.signed:
		return word + strconv.FormatInt(int64(with), 10)
	case p.Size == 8:
		return word + strconv.FormatUint(with, 10)
	}
	return word + strconv.FormatUint(uint64(uint32(with)), 10)
}

// findPolls finds a function's polls, and its waits for a bit.
func (g *Graph) findPolls() {
	for i := range g.Nodes {
		if g.Nodes[i].looks() && !g.Nodes[i].Hasty {
			if p := g.pollAt(int32(i)); p != nil {
				if g.polls == nil {
					g.polls = map[int32]*Poll{}
				}
				g.polls[int32(i)] = p
			} else if f := g.flipAt(int32(i)); f != nil {
				g.flips = append(g.flips, f)
			}
		}
	}
}

// looks reports whether an instruction reads one word of memory strongly, and
// leaves it as it was: a load, an atomic operation with zero, or a compare-and-swap of a value
// for itself.
func (u *Use) looks() bool {
	in := u.In
	if !u.ReadsStrongly() || vector(in) { // the elements of a vector come in no order
		return false
	}
	if !u.Does(ptx.Updates) {
		return len(in.Operands) == 2
	}
	switch in.Update() {
	case ptx.UpdateOr, ptx.UpdateXor, ptx.UpdateAdd:
		if len(in.Operands) == 3 {
			v, ok := in.Operands[2].(ptx.Int)
			return ok && v.Bits == 0
		}
	case ptx.UpdateCas:
		if len(in.Operands) != 4 {
			return false
		}
		switch v := in.Operands[2].(type) {
		case ptx.Name, ptx.Int:
			return v == in.Operands[3]
		}
	}
	return false
}

// vector reports whether an instruction accesses several elements.
func vector(in *ptx.Inst) bool {
	return slices.ContainsFunc(in.Mods, func(m string) bool { return m == "v2" || m == "v4" || m == "v8" })
}

// maxPollNodes bounds how long a polling loop may be.
const maxPollNodes = 64

// pollAt returns the polling loop of a load, or nil: only one path leads from it
// to a branch by a comparison of the loaded value, and one of that branch's sides
// leads straight back.
func (g *Graph) pollAt(read int32) *Poll {
	u := &g.Nodes[read]
	if u.Guard != NoReg || u.Launched || len(u.Writes) != 1 {
		return nil
	}
	down, end := g.straight(read + 1)
	if down == nil || int(end) >= len(g.Nodes) || !g.Nodes[end].Does(ptx.Branches) || g.Nodes[end].Guard == NoReg {
		return nil
	}
	b := &g.Nodes[end]
	taken, other := g.At(b.Target), end+1
	var back []int32
	exit, loops := other, true // the branch is taken to read again
	if back = g.returns(taken, read); back == nil {
		if back = g.returns(other, read); back == nil {
			return nil
		}
		exit, loops = taken, false
	}
	p := g.comparison(read, end, down, back)
	if p == nil {
		return nil
	}
	holds := !b.In.Guard.Not // what the predicate is where the branch is taken
	p.want = holds != loops
	if !g.anew(u.Writes[0], down, back, exit) {
		return nil
	}
	return p
}

// straight lists the nodes on the only path from a node to the end: the next node that
// branches, or does something that another agent could notice. Nil: it finds no end.
func (g *Graph) straight(from int32) (path []int32, end int32) {
	path = []int32{}
	n := from
	for range 2 * maxPollNodes { // jumps may go round for ever
		if int(n) == len(g.Nodes) {
			return path, n
		}
		u := &g.Nodes[n]
		switch {
		case u.Does(ptx.Branches) && u.Guard == NoReg:
			n = g.At(u.Target)
			continue
		case u.Does(ptx.Sleeps), u.Plain && !u.Does(ptx.Writes|ptx.Traps):
			if _, source := g.source(n); source {
				return nil, n
			}
			path = append(path, n)
			n = g.Next[n][0]
		default:
			return path, n
		}
	}
	return nil, -1
}

// returns lists the nodes on all paths from a node to the read, if no other agent could
// notice them, and they lead nowhere else but to a trap: a bound on the wait.
func (g *Graph) returns(from, read int32) (nodes []int32) {
	nodes = []int32{}
	reached := false
	todo := []int32{from}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case n == read:
			reached = true
			continue
		case int(n) == len(g.Nodes) || len(nodes) == maxPollNodes:
			return nil
		case slices.Contains(nodes, n):
			continue
		}
		u := &g.Nodes[n]
		switch {
		case u.Does(ptx.Traps) && u.Guard == NoReg:
			continue
		case u.Does(ptx.Branches | ptx.Traps | ptx.Sleeps), u.Plain && !u.Does(ptx.Writes):
		default:
			return nil
		}
		if _, source := g.source(n); source {
			return nil
		}
		nodes = append(nodes, n)
		todo = append(todo, g.Next[n]...)
	}
	if !reached {
		return nil
	}
	return nodes
}

// comparison returns the poll if the branch's guard compares the loaded value
// with one that the loop does not change.
func (g *Graph) comparison(read, branch int32, down, back []int32) *Poll {
	load, b := &g.Nodes[read], &g.Nodes[branch]
	from := g.writers(branch, b.Guard)
	if len(from) != 1 || from[0] < 0 || !slices.Contains(down, from[0]) {
		return nil
	}
	s := &g.Nodes[from[0]]
	if !s.Does(ptx.Compares) || !s.Compares || s.Guard != NoReg || len(s.In.Mods) != 2 || len(s.In.Operands) != 3 || len(s.Writes) != 1 ||
		!slices.Contains([]string{"eq", "ne", "lt", "le", "gt", "ge"}, s.In.Mods[0]) {
		return nil
	}
	t, size := s.In.LastType()
	switch t {
	case "s32", "u32", "b32", "s64", "u64", "b64":
	default:
		return nil
	}
	if lt, n := load.In.LastType(); n != size || lt == "f32" || lt == "f64" || len(s.Reads) == 0 || s.Reads[0] != load.Writes[0] || len(s.Addr) > 0 {
		return nil
	}
	if name, ok := s.In.Operands[1].(ptx.Name); !ok || name == "" {
		return nil
	}
	if w := g.writers(from[0], load.Writes[0]); len(w) != 1 || w[0] != read {
		return nil
	}
	turn := slices.Concat(down, back)
	for _, r := range s.Reads[1:] {
		if r == load.Writes[0] || !g.still(from[0], r, turn, maxSame) {
			return nil
		}
	}
	for _, r := range load.Addr {
		if r == load.Writes[0] || !g.still(read, r, turn, maxSame) {
			return nil
		}
	}
	return &Poll{PC: load.PC, Setp: s.PC, Size: size, signed: t[0] == 's', compare: s.In.Mods[0]}
}

// still reports whether a register has the same value at a node in every turn of a loop:
// the loop does not write it, or computes it anew from what is still.
func (g *Graph) still(at int32, r Reg, turn []int32, depth int) bool {
	if !g.writtenIn(r, turn) {
		return true
	}
	from := g.maker(at, r)
	return depth > 0 && from >= 0 && slices.Contains(turn, from) && !slices.ContainsFunc(g.Nodes[from].Reads, func(in Reg) bool { return !g.still(from, in, turn, depth-1) })
}

// writtenIn reports whether any of some nodes writes a register.
func (g *Graph) writtenIn(r Reg, nodes []int32) bool {
	return slices.ContainsFunc(nodes, func(n int32) bool { return slices.Contains(g.Nodes[n].Writes, r) })
}

// anew reports whether the last turn computes all registers that the loop changes
// and that are used afterwards, from the value that it read and from values that
// the loop does not change.
func (g *Graph) anew(loaded Reg, down, back []int32, exit int32) bool {
	anew := map[Reg]bool{loaded: true}
	for _, n := range down {
		u := &g.Nodes[n]
		ok := u.Guard == NoReg && !u.Accumulates() && !u.Does(ptx.Reads)
		for _, r := range slices.Concat(u.Reads, u.Addr) {
			ok = ok && (anew[r] || !g.writtenIn(r, down) && !g.writtenIn(r, back))
		}
		for _, w := range u.Writes {
			anew[w] = ok
		}
	}
	for _, n := range slices.Concat(down, back) {
		for _, w := range g.Nodes[n].Writes {
			if !anew[w] && g.IsLive(exit, w) {
				return false
			}
		}
	}
	return true
}
