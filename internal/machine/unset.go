package machine

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/flow"
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
func (d *decoder) watchUnset() {
	f := d.flow()
	found := f.Unset()
	if len(found) == 0 {
		return
	}
	number := map[flow.Reg]int32{}
	for _, id := range found {
		if r, ok := d.unsetRegister(id); ok {
			d.prog.unset = append(d.prog.unset, r)
			number[id] = int32(len(d.prog.unset) - 1)
			if r.carry {
				d.fn.carry = int32(len(d.prog.unset))
			}
		}
	}
	for _, id := range f.Results {
		if n, ok := number[id]; ok {
			d.fn.unsetRets = append(d.fn.unsetRets, n)
		}
	}
	for i := range f.Uses {
		d.tellUnset(&f.Uses[i], number)
	}
	d.fn.unsetFrom, d.fn.unsetTo = int32(len(d.prog.unset)-len(number)), int32(len(d.prog.unset))
}

// unsetRegister finds a register's declaration. Parameters have been written by the
// caller.
func (d *decoder) unsetRegister(id flow.Reg) (UnsetRegister, bool) {
	row := id.Row()
	if id.Class() == flow.Carry {
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
		if k := row - r.first; r.bank == uint8(id.Class()) && k >= 0 && k < r.n*r.rows {
			return UnsetRegister{Name: r.name(k / r.rows), Pos: r.v.Pos, fn: d.index, bank: r.bank, row: row, rows: r.rows}, true
		}
	}
	return UnsetRegister{}, false
}

// tellUnset instruments an instruction to report what it does to such registers.
func (d *decoder) tellUnset(u *flow.Use, number map[flow.Reg]int32) {
	t := unsetUse{guard: -1}
	if n, ok := number[u.Guard]; ok {
		t.guard = n
	}
	named := func(to *[]int32, list []flow.Reg) {
		for _, id := range list {
			if n, ok := number[id]; ok && !slices.Contains(*to, n) {
				*to = append(*to, n)
			}
		}
	}
	named(&t.reads, u.Reads)
	named(&t.reads, u.Addr)
	switch {
	case u.Does(ptx.Warpgroup):
		// scale-d decides whether it reads them.
		named(&t.acc, u.Writes)
	case u.Accumulates():
		named(&t.reads, u.Writes)
		named(&t.writes, u.Writes)
	default:
		named(&t.writes, u.Writes)
	}
	if t.guard < 0 && len(t.reads)+len(t.writes)+len(t.acc) == 0 {
		return
	}
	in := &d.prog.code[u.PC]
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

// loseCarry makes the running frame's carry flag unwritten: a call has returned.
func (x *ctx) loseCarry(mask uint32) {
	if n := x.m.prog.funcs[x.m.prog.code[x.s.pc-1].fn].carry; n > 0 {
		*x.unwrittenLanes(n - 1) |= mask
	}
}
