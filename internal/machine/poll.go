package machine

import (
	"math/bits"
	"slices"
	"strconv"

	"muster/ptx"
)

// Polling memory. A loop that does nothing but read a word by a strong load until
// it compares as wanted is a wait, as a loop of tests of an mbarrier is. What it
// has read in the end is what it waited for, whatever the schedule, if the writes
// of that word are of the right kind, which a run shows: see confluence.

// A Poll is such a loop.
type Poll struct {
	PC   int32 // of the load
	setp int32
	cmp  string
	t    typ
	want bool // the comparison's result that ends it
}

// Upward reports whether whatever is larger than a value that ends the wait ends
// it too.
func (p *Poll) Upward() bool {
	return p.want && (p.cmp == "ge" || p.cmp == "gt") || !p.want && (p.cmp == "lt" || p.cmp == "le")
}

// Exactly reports whether one value ends the wait.
func (p *Poll) Exactly() bool { return p.want && p.cmp == "eq" || !p.want && p.cmp == "ne" }

// With is what a lane of the access that m shows compares with.
func (p *Poll) With(m *Machine, lane int) uint64 {
	in := &m.prog.code[p.setp]
	if p.t.size() == 8 {
		return m.x.a64(in.b)[lane]
	}
	return uint64(m.x.a32(in.b)[lane])
}

// Ends reports whether a value ends the wait.
func (p *Poll) Ends(value, with uint64) bool { return p.t.compare(p.cmp, value, with) == p.want }

// pollOf returns the poll before whose load a split stands, nil if there is none.
func (m *Machine) pollOf(s *split) *Poll {
	if s.state != atPoint || len(m.prog.Polls()) == 0 {
		return nil
	}
	return m.prog.analysis.polls[s.pc]
}

// pollEnds returns the lanes of a split before a poll's load whose wait would end
// now, or that would fault.
func (m *Machine) pollEnds(w *warp, s *split, poll *Poll) uint32 {
	x := m.enter(w, s)
	a := m.prog.code[s.pc].x.(*access)
	x.addressesOf(a, &m.addr)
	addr := m.addr
	ends := uint32(0)
	for l := range lanesOf(s.mask) {
		mem, at, ok := x.resolve(a.space, addr[l])
		v, known := uint64(0), false
		if ok {
			v, known = m.Peek(mem, at, int(a.size))
		}
		if !known || poll.Ends(v, poll.With(m, l)) {
			ends |= 1 << l
		}
	}
	return ends
}

// PollWaits reports whether a split stands before the load of a poll that would not
// end.
func (m *Machine) PollWaits(v *WaitingSplit) bool {
	w := m.ctas[v.CTA].warps[v.Warp]
	s := w.find(int8(lowest(v.Mask)))
	if s == nil {
		return false
	}
	poll := m.pollOf(s)
	return poll != nil && m.pollEnds(w, s, poll) == 0
}

// until says which values end the wait.
func (p *Poll) until(with uint64) string {
	cmp := p.cmp
	if !p.want {
		cmp = map[string]string{"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}[cmp]
	}
	word := map[string]string{"eq": "", "ne": "other than ", "lt": "less than ", "ge": "at least ", "le": "at most ", "gt": "more than "}[cmp]
	switch p.t {
	case s32:
		return word + strconv.FormatInt(int64(int32(with)), 10)
	case s64:
		return word + strconv.FormatInt(int64(with), 10)
	case u64, b64:
		return word + strconv.FormatUint(with, 10)
	}
	return word + strconv.FormatUint(uint64(uint32(with)), 10)
}

// compare compares two integers.
func (t typ) compare(cmp string, a, b uint64) bool {
	if t.size() == 4 {
		a, b = uint64(uint32(a)), uint64(uint32(b))
	}
	less := a < b
	switch t {
	case s32:
		less = int32(a) < int32(b)
	case s64:
		less = int64(a) < int64(b)
	}
	switch cmp {
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
	panic("BUG: a comparison " + cmp)
}

// Polls lists the program's, by the place of their loads.
func (p *Program) Polls() map[int32]*Poll {
	p.analyse()
	return p.analysis.polls
}

// findPolls finds a function's.
func (g *graph) findPolls() {
	for i := range g.nodes {
		if g.nodes[i].looks() {
			if p := g.pollAt(int32(i)); p != nil {
				if g.polls == nil {
					g.polls = map[int32]*Poll{}
				}
				g.polls[int32(i)] = p
			}
		}
	}
}

// looks reports whether an instruction reads one word of memory strongly, and
// leaves it as it was: a load, or an atomic operation with zero.
func (u *use) looks() bool {
	in := u.in
	if !u.readsStrongly() || vector(in) { // the elements of a vector come in no order
		return false
	}
	if !u.does(ptx.Updates) {
		return len(in.Operands) == 2
	}
	switch in.Update() {
	case atomOr, atomXor, atomAdd:
		if len(in.Operands) == 3 {
			v, ok := in.Operands[2].(ptx.Int)
			return ok && v.Bits == 0
		}
	}
	return false
}

// vector reports whether an instruction accesses several elements.
func vector(in *ptx.Inst) bool { return has(in, "v2") || has(in, "v4") || has(in, "v8") }

// mostPollNodes bounds how long a polling loop may be.
const mostPollNodes = 64

// pollAt tells whether a load is one of a polling loop: one way leads from it to
// a branch by a comparison of what it loaded, and one of that branch's sides
// leads straight back.
func (g *graph) pollAt(read int32) *Poll {
	u := &g.nodes[read]
	if u.guard != noReg || u.launched || len(u.writes) != 1 {
		return nil
	}
	down, end := g.straight(read+1, -1)
	if down == nil || int(end) >= len(g.nodes) || !g.nodes[end].does(ptx.Branches) || g.nodes[end].guard == noReg {
		return nil
	}
	b := &g.nodes[end]
	taken, other := g.at(g.p.code[b.pc].target), end+1
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
	holds := !b.in.Guard.Not // what the predicate is where the branch is taken
	p.want = holds != loops
	if !g.anew(u.writes[0], down, back, exit) {
		return nil
	}
	return p
}

// straight lists the nodes on the one way from a node to the next that parts, or
// does what another agent could notice, or is stop; that node comes last.
func (g *graph) straight(from, stop int32) (way []int32, end int32) {
	way = []int32{}
	for n := from; len(way) < mostPollNodes; {
		if int(n) == len(g.nodes) || n == stop {
			return way, n
		}
		u := &g.nodes[n]
		switch {
		case u.does(ptx.Branches) && u.guard == noReg:
			n = g.at(g.p.code[u.pc].target)
			continue
		case u.does(ptx.Sleeps), u.class == plain && !u.does(ptx.Writes|ptx.Traps):
			if _, source := g.source(n); source {
				return nil, n
			}
			way = append(way, n)
			n = g.next[n][0]
		default:
			return way, n
		}
	}
	return nil, -1
}

// returns lists the nodes on all ways from a node to the read, if nothing on them is
// noticed by others, and they lead nowhere else but to a trap: a bound on the wait.
func (g *graph) returns(from, read int32) (ways []int32) {
	ways = []int32{}
	comes := false
	todo := []int32{from}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case n == read:
			comes = true
			continue
		case int(n) == len(g.nodes) || len(ways) == mostPollNodes:
			return nil
		case slices.Contains(ways, n):
			continue
		}
		u := &g.nodes[n]
		switch {
		case u.does(ptx.Traps) && u.guard == noReg:
			continue
		case u.does(ptx.Branches | ptx.Traps | ptx.Sleeps), u.class == plain && !u.does(ptx.Writes):
		default:
			return nil
		}
		if _, source := g.source(n); source {
			return nil
		}
		ways = append(ways, n)
		todo = append(todo, g.next[n]...)
	}
	if !comes {
		return nil
	}
	return ways
}

// comparison is the one that the branch goes by: of what was loaded, with what
// the loop does not change.
func (g *graph) comparison(read, branch int32, down, back []int32) *Poll {
	load, b := &g.nodes[read], &g.nodes[branch]
	from := g.writers(branch, b.guard)
	if len(from) != 1 || from[0] < 0 || !slices.Contains(down, from[0]) {
		return nil
	}
	s := &g.nodes[from[0]]
	in := &g.p.code[s.pc]
	if !s.does(ptx.Compares) || s.guard != noReg || len(s.in.Mods) != 2 || len(s.in.Operands) != 3 || len(s.writes) != 1 || in.x != nil ||
		!slices.Contains([]string{"eq", "ne", "lt", "le", "gt", "ge"}, s.in.Mods[0]) {
		return nil
	}
	t := lastType(s.in)
	switch t {
	case s32, u32, b32, s64, u64, b64:
	default:
		return nil
	}
	if lt := lastType(load.in); lt.size() != t.size() || lt == f32 || lt == f64 || len(s.reads) == 0 || s.reads[0] != load.writes[0] || len(s.addr) > 0 {
		return nil
	}
	if name, ok := s.in.Operands[1].(ptx.Name); !ok || name == "" || in.a < 0 {
		return nil
	}
	if w := g.writers(from[0], load.writes[0]); len(w) != 1 || w[0] != read {
		return nil
	}
	for _, r := range slices.Concat(s.reads[1:], load.addr) {
		if r == load.writes[0] || g.writtenIn(r, down) || g.writtenIn(r, back) {
			return nil
		}
	}
	return &Poll{PC: load.pc, setp: s.pc, cmp: s.in.Mods[0], t: t}
}

func (g *graph) writtenIn(r regID, way []int32) bool {
	return slices.ContainsFunc(way, func(n int32) bool { return slices.Contains(g.nodes[n].writes, r) })
}

// anew reports whether all registers that the loop changes and that are used
// afterwards are what its last turn computes from what it read, and from what the
// loop does not change.
func (g *graph) anew(loaded regID, down, back []int32, exit int32) bool {
	anew := map[regID]bool{loaded: true}
	for _, n := range down {
		u := &g.nodes[n]
		ok := u.guard == noReg && !accumulates(u) && !u.does(ptx.Reads)
		for _, r := range slices.Concat(u.reads, u.addr) {
			ok = ok && (anew[r] || !g.writtenIn(r, down) && !g.writtenIn(r, back))
		}
		for _, w := range u.writes {
			anew[w] = ok
		}
	}
	for _, n := range slices.Concat(down, back) {
		for _, w := range g.nodes[n].writes {
			if !anew[w] && g.isLive(exit, w) {
				return false
			}
		}
	}
	return true
}

// Adds returns what an atomic addition adds to a word, if it does and its text
// says how much; increments add 1.
func (p *Program) Adds(pc int32) (n uint64, says, adds bool) {
	in := p.code[pc].src
	if in == nil || !in.Effect().Has(ptx.Updates) || bits.OnesCount(uint(lastType(in).size())) != 1 {
		return 0, false, false
	}
	switch op := in.Update(); {
	case op == atomInc:
		return 1, true, true
	case op != atomAdd || lastType(in) == f32 || lastType(in) == f64:
		return 0, false, false
	}
	v, ok := in.Operands[len(in.Operands)-1].(ptx.Int)
	return v.Bits, ok, true
}
