package machine

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/ptx"
)

// Unwritten registers. Liveness shows which may be read before they are written: those
// that are live where their function begins. Only for these the machine tracks the lanes
// in which they have been written, and reports each read of an unwritten one; programs
// without such registers pay nothing. Compilers make reads whose values do not matter, so
// other runs, with other values in the register (Poison), decide whether a read matters.

// An UnsetRegister may be read before it is written.
type UnsetRegister struct {
	Name  string
	Pos   ptx.Pos // of its declaration
	fn    int32
	bank  uint8 // 0: r32, 1: r64, 2: p
	row   int32
	rows  int32
	carry bool
}

// Unset lists the registers that may be read before they are written.
func (p *Program) Unset() []UnsetRegister { return p.unset }

// LocalAt returns the variable that holds an offset in the frame of the function of
// instruction pc, and the offset in it; nil if none does.
func (p *Program) LocalAt(pc int32, off uint64) (v *ptx.Var, at uint64) {
	for _, l := range p.funcs[p.code[pc].fn].locals {
		if off >= l.off && off-l.off < l.size {
			return l.v, off - l.off
		}
	}
	return nil, 0
}

// unsetUse is what an instruction does to such registers, by number.
type unsetUse struct {
	guard         int32 // -1 for none
	reads, writes []int32
	acc           []int32 // accumulators of a wgmma
	exec          execFn  // of a plain instruction
}

// A declaredRegister is a declaration of one or more registers.
type declaredRegister struct {
	v     *ptx.Var
	bank  uint8
	first int32
	rows  int32 // of each
	n     int32
	vec   int32
}

func bankOf(t typ) uint8 {
	switch {
	case t == pred:
		return 2
	case t.size() > 4:
		return 1
	}
	return 0
}

// name returns the name of the k-th register of a declaration.
func (r *declaredRegister) name(k int32) string {
	name, width := r.v.Name, max(r.vec, 1)
	if r.v.Count > 0 {
		name += fmt.Sprint(k / width)
	}
	if r.vec > 0 {
		name += "." + "xyzw"[k%width:k%width+1]
	}
	return name
}

// watchUnset finds the registers of the function just decoded that may be read
// before they are written, and instruments the instructions that name them.
func (d *decoder) watchUnset(from int32) {
	k := len(d.prog.uses)
	for k > 0 && d.prog.uses[k-1].pc >= from {
		k--
	}
	nodes := d.prog.uses[k:]
	if len(nodes) == 0 {
		return
	}
	g := &graph{p: d.prog, nodes: nodes}
	g.link()
	found := g.unset()
	if len(found) == 0 {
		return
	}
	number := map[regID]int32{}
	for _, id := range found {
		if r, ok := d.unsetRegister(id); ok {
			d.prog.unset = append(d.prog.unset, r)
			number[id] = int32(len(d.prog.unset) - 1)
			if r.carry {
				d.fn.carry = int32(len(d.prog.unset))
			}
		}
	}
	for _, id := range g.results() {
		if n, ok := number[id]; ok {
			d.fn.unsetRets = append(d.fn.unsetRets, n)
		}
	}
	for i := range nodes {
		d.tellUnset(&nodes[i], number)
	}
	d.fn.unsetFrom, d.fn.unsetTo = int32(len(d.prog.unset)-len(number)), int32(len(d.prog.unset))
}

// unsetRegister finds a register's declaration. Parameters have been written by the
// caller.
func (d *decoder) unsetRegister(id regID) (UnsetRegister, bool) {
	row := int32(uint32(id))
	if id>>32&3 == 3 {
		y := d.fnScopes(d.index).names[carryName]
		return UnsetRegister{Name: "the carry flag", Pos: d.fn.decl.Pos, fn: d.index, bank: 2, row: int32(y.reg), rows: 1, carry: true}, true
	}
	list := slices.Clip(d.declared)
	for _, r := range d.fn.formals {
		if slices.Contains(d.fn.decl.Ret, r.v) {
			list = append(list, r)
		}
	}
	for i := range list {
		r := &list[i]
		if k := row - r.first; r.bank == uint8(id>>32&3) && k >= 0 && k < r.n*r.rows {
			return UnsetRegister{Name: r.name(k / r.rows), Pos: r.v.Pos, fn: d.index, bank: r.bank, row: row, rows: r.rows}, true
		}
	}
	return UnsetRegister{}, false
}

// tellUnset instruments an instruction that uses such registers.
func (d *decoder) tellUnset(u *use, number map[regID]int32) {
	t := unsetUse{guard: -1}
	if n, ok := number[u.guard]; ok {
		t.guard = n
	}
	named := func(to *[]int32, list []regID) {
		for _, id := range list {
			if n, ok := number[id]; ok && !slices.Contains(*to, n) {
				*to = append(*to, n)
			}
		}
	}
	named(&t.reads, u.reads)
	named(&t.reads, u.addr)
	switch {
	case u.does(ptx.Warpgroup):
		// scale-d says whether it reads them.
		named(&t.acc, u.writes)
	case accumulates(u):
		named(&t.reads, u.writes)
		named(&t.writes, u.writes)
	default:
		named(&t.writes, u.writes)
	}
	if t.guard < 0 && len(t.reads)+len(t.writes)+len(t.acc) == 0 {
		return
	}
	in := &d.prog.code[u.pc]
	in.unset = &t
	if in.class == plain || in.class == branch {
		t.exec, in.exec = in.exec, execUnset
	}
}

func execUnset(x *ctx, in *instr, mask uint32) {
	x.unsetOperands(in, mask)
	in.unset.exec(x, in, mask)
}

// unsetOperands reports registers that an instruction reads unwritten in lanes of mask,
// and records which it writes.
func (x *ctx) unsetOperands(in *instr, mask uint32) {
	for _, n := range in.unset.reads {
		x.readUnset(n, mask)
	}
	for _, n := range in.unset.writes {
		*x.unwrittenLanes(n) &^= mask
	}
}

// readUnset reports a read of register n by those lanes of mask in which it is unwritten.
func (x *ctx) readUnset(n int32, mask uint32) {
	if saw := *x.unwrittenLanes(n) & mask; saw != 0 && x.m.cfg.Observer != nil {
		x.m.emit(Event{Kind: EvRegister, CTA: x.w.cta, Warp: x.w.index, Mask: saw, PC: x.s.pc, Unset: n + 1})
	}
}

// multipliesUnset is unsetOperands for a wgmma's accumulators.
func (x *ctx) multipliesUnset(in *instr, mask uint32, reads bool) {
	if in.unset == nil {
		return
	}
	for _, n := range in.unset.acc {
		if reads {
			x.readUnset(n, mask)
			if u := x.m.undefined(); u != nil {
				u.unwritten(x, n, mask)
			}
		}
		*x.unwrittenLanes(n) &^= mask
	}
}

// unwrittenLanes points to the lanes in which register n of the running frame has not
// been written.
func (x *ctx) unwrittenLanes(n int32) *uint32 {
	r := &x.m.prog.unset[n]
	return &x.w.unset[r.bank][[...]int32{x.s.base32, x.s.base64, x.s.basep}[r.bank]+r.row]
}

// unsetFrame begins the frame of a function for lanes in mask: nothing in it has been
// written.
func (m *Machine) unsetFrame(w *warp, s *split, f *function, mask uint32) {
	for n := f.unsetFrom; n < f.unsetTo; n++ {
		r := &m.prog.unset[n]
		at := [...]int32{s.base32, s.base64, s.basep}[r.bank] + r.row
		set := &w.unset[r.bank]
		if grow := int(at) + 1 - len(*set); grow > 0 {
			*set = append(*set, make([]uint32, grow)...)
		}
		(*set)[at] |= mask
		if p := m.cfg.Poison; p != nil && (p.Everything || p.Register == n+1) {
			w.poisonRegister(p, r, at, mask)
		}
	}
}

func (w *warp) poisonRegister(p *Poison, r *UnsetRegister, at int32, mask uint32) {
	for k := range r.rows {
		for lanes := mask; lanes != 0; lanes &= lanes - 1 {
			l := bits.TrailingZeros32(lanes) & 31
			v := p.word(uint64(r.bank)<<60 ^ uint64(uint32(w.cta))<<32 ^ uint64(uint32(at+k))<<16 ^ uint64(uint32(w.index))<<5 ^ uint64(l))
			switch r.bank {
			case 0:
				w.r32[at+k][l] = uint32(v)
			case 1:
				w.r64[at+k][l] = v
			default:
				w.p[at+k] = w.p[at+k]&^(1<<l) | uint32(v&1)<<l
			}
		}
	}
}

// --- which registers may be read before they are written ---

// unset lists the registers that are live at the first node.
func (g *graph) unset() []regID {
	open := g.maybeUnset()
	carry, calls := regID(g.p.code[g.nodes[0].pc].fn)<<34|3<<32, g.callsOver()
	if len(calls) > 0 && !slices.Contains(open, carry) {
		open = append(open, carry)
	}
	if len(open) == 0 {
		return nil
	}
	number := map[regID]int{}
	for i, r := range open {
		number[r] = i
	}
	// What each node does to them, and liveness of these only.
	type effect struct{ uses, kills []int }
	effects := make([]effect, len(g.nodes))
	for i := range g.nodes {
		u, e := &g.nodes[i], &effects[i]
		each(u, func(r regID, writes bool) {
			n, ok := number[r]
			switch {
			case !ok:
			case !writes:
				e.uses = append(e.uses, n)
			case u.guard == noReg:
				e.kills = append(e.kills, n)
			}
		})
	}
	words := (len(open) + 63) / 64
	rows := make([]uint64, (len(g.next)+1)*words)
	at := func(n int32) []uint64 { return rows[int(n)*words:][:words] }
	if list := g.results(); len(list) > 0 {
		for _, r := range list {
			if n, ok := number[r]; ok {
				setBit(at(int32(len(g.nodes))), n)
			}
		}
	}
	tmp := rows[len(g.next)*words:]
	for again := true; again; {
		again = false
		for i := len(g.nodes) - 1; i >= 0; i-- {
			clear(tmp)
			for _, n := range g.next[i] {
				for k, v := range at(n) {
					tmp[k] |= v
				}
			}
			for _, n := range effects[i].kills {
				tmp[n/64] &^= 1 << (n % 64)
			}
			for _, n := range effects[i].uses {
				setBit(tmp, n)
			}
			if row := at(int32(i)); !slices.Equal(tmp, row) {
				copy(row, tmp)
				again = true
			}
		}
	}
	var all []regID
	for i, r := range open {
		lost := r == carry && slices.ContainsFunc(calls, func(n int32) bool {
			return slices.ContainsFunc(g.next[n], func(to int32) bool { return inSet(at(to), i) })
		})
		if inSet(at(0), i) || lost {
			all = append(all, r)
		}
	}
	return all
}

// callsOver lists the calls of a function that reads the carry flag, which no call
// preserves (ISA 9.7.2).
func (g *graph) callsOver() (calls []int32) {
	reads := false
	for i := range g.nodes {
		switch u := &g.nodes[i]; {
		case u.does(ptx.Calls):
			calls = append(calls, int32(i))
		case u.does(ptx.ReadsCarry):
			reads = true
		}
	}
	if !reads {
		return nil
	}
	return calls
}

// loseCarry marks the carry flag of the running frame as unwritten: a call has returned.
func (x *ctx) loseCarry(mask uint32) {
	if n := x.m.prog.funcs[x.m.prog.code[x.s.pc-1].fn].carry; n > 0 {
		*x.unwrittenLanes(n - 1) |= mask
	}
}

// each yields the registers of a node: all that it reads, then those that it writes.
func each(u *use, yield func(r regID, writes bool)) {
	if u.guard != noReg {
		yield(u.guard, false)
	}
	for _, list := range [...][]regID{u.reads, u.addr} {
		for _, r := range list {
			yield(r, false)
		}
	}
	keeps := accumulates(u)
	for _, r := range u.writes {
		if keeps {
			yield(r, false)
		}
		yield(r, true)
	}
}

// A mention is where in the text a register is named.
type mention struct {
	first, last int32
	begins      bool // the first is an unguarded write
}

// maybeUnset lists the registers that a scan of the text does not prove to be written
// first. It proves that if the first mention is a write, and no jump from elsewhere leads
// between the first mention and the last.
func (g *graph) maybeUnset() []regID {
	var banks [4][]mention
	var order []regID
	for i := range g.nodes {
		u := &g.nodes[i]
		each(u, func(r regID, writes bool) {
			bank, row := &banks[r>>32&3], int(uint32(r))
			if row >= len(*bank) {
				*bank = append(*bank, make([]mention, row+1-len(*bank))...)
			}
			m := &(*bank)[row]
			if m.first == 0 {
				m.first, m.begins = int32(i)+1, writes && u.guard == noReg
				order = append(order, r)
			}
			m.last = int32(i) + 1
		})
	}
	for _, r := range g.results() {
		if bank := banks[r>>32&3]; int(uint32(r)) >= len(bank) || bank[uint32(r)].first == 0 {
			order = append(order, r)
			banks[r>>32&3] = append(bank, make([]mention, max(0, int(uint32(r))+1-len(bank)))...)
		}
		banks[r>>32&3][uint32(r)].last = int32(len(g.nodes)) + 1
	}
	targets := g.targets()
	open := order[:0]
	for _, r := range order {
		m := banks[r>>32&3][uint32(r)]
		if !m.begins || entered(targets, m.first-1, m.last-1) {
			open = append(open, r)
		}
	}
	return open
}

// A target is a node that jumps lead to, with the first and last node that they come
// from.
type target struct{ node, low, high int32 }

// targets lists them, by node.
func (g *graph) targets() []target {
	var list []target
	for i := range g.nodes {
		for _, n := range g.next[i] {
			if n != int32(i)+1 {
				list = append(list, target{n, int32(i), int32(i)})
			}
		}
	}
	slices.SortFunc(list, func(a, b target) int { return int(a.node - b.node) })
	joined := list[:0]
	for _, t := range list {
		if n := len(joined) - 1; n >= 0 && joined[n].node == t.node {
			joined[n].low, joined[n].high = min(joined[n].low, t.low), max(joined[n].high, t.high)
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

// entered reports whether a jump from outside of first to last leads past first to
// between them.
func entered(targets []target, first, last int32) bool {
	k, _ := slices.BinarySearchFunc(targets, first+1, func(t target, n int32) int { return int(t.node - n) })
	for ; k < len(targets) && targets[k].node <= last; k++ {
		if targets[k].low < first || targets[k].high > last {
			return true
		}
	}
	return false
}
