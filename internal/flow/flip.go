package flow

import (
	"slices"

	"muster/ptx"
)

// Barriers of a grid. Each thread that arrives adds to a counter, so that the additions of
// one turn change its highest bit; then it waits until this bit differs from that of what its
// own addition returned. The other bits of both values depend on the schedule. If they decide
// nothing else, and the additions are such as confluence asks for, the wait ends in every
// schedule after the same additions.

// A Flip is a loop that reads a word of 32 bits by a strong load until its highest bit
// differs from that of what an atomic addition returned, and leaves no register changed that
// is used afterwards.
type Flip struct {
	PC     int32 // of the load
	Branch int32
	Ticket int32 // of the addition
	With   int32 // of the instruction that combines what both returned
	First  bool  // the addition's result is that instruction's first source
}

// Ends reports whether a value of the word ends the wait of a thread whose addition
// returned another.
func (f *Flip) Ends(value, ticket uint32) bool { return (value^ticket)>>31 != 0 }

// Covers reports whether a dependence is no more than that the wait ends.
func (f *Flip) Covers(d *Dependence) bool {
	return d.PC == f.Branch && !slices.ContainsFunc(d.Roots, func(pc int32) bool { return pc != f.PC && pc != f.Ticket })
}

// flipAt returns the wait for a bit whose load is at a node, or nil. Its form is that of a
// Poll.
func (g *Graph) flipAt(read int32) *Flip {
	load := &g.Nodes[read]
	if load.Guard != NoReg || load.Launched || len(load.Writes) != 1 || load.Does(ptx.Updates) {
		return nil
	}
	if t, size := load.In.LastType(); size != 4 || t == "f32" {
		return nil
	}
	down, end := g.straight(read + 1)
	if down == nil || int(end) >= len(g.Nodes) || !g.Nodes[end].Does(ptx.Branches) || g.Nodes[end].Guard == NoReg {
		return nil
	}
	b := &g.Nodes[end]
	taken, other := g.At(b.Target), end+1
	exit, loops := other, true
	back := g.returns(taken, read)
	if back == nil {
		if back = g.returns(other, read); back == nil {
			return nil
		}
		exit, loops = taken, false
	}
	turn := slices.Concat(down, back)
	for _, n := range append(turn, read) {
		u := &g.Nodes[n]
		if u.Does(ptx.Traps) || slices.ContainsFunc(u.Writes, func(w Reg) bool { return g.IsLive(exit, w) }) {
			return nil
		}
	}
	// in is the one node of the turn that writes a register as node n reads it.
	in := func(n int32, r Reg) *Use {
		if w := g.writers(n, r); len(w) == 1 && w[0] >= 0 && slices.Contains(down, w[0]) && g.Nodes[w[0]].Guard == NoReg {
			return &g.Nodes[w[0]]
		}
		return nil
	}
	node := func(u *Use) int32 { return g.At(u.PC) }
	s := in(end, b.Guard)
	if s == nil {
		return nil
	}
	differs, masked, ok := s.signOf()
	if !ok || differs != ((!b.In.Guard.Not) != loops) {
		return nil
	}
	x := in(node(s), s.Reads[0])
	if x != nil && x.Does(ptx.Ands) && masked {
		r, ok := x.masksSign()
		if !ok {
			return nil
		}
		x, masked = in(node(x), r), false
	}
	if x == nil || masked || !x.Does(ptx.Xors) || len(x.Args) != 2 {
		return nil
	}
	if t, _ := x.In.LastType(); t != "b32" {
		return nil
	}
	f := &Flip{PC: load.PC, Branch: b.PC, With: x.PC, First: x.Args[1] == load.Writes[0]}
	loaded, ticket := x.Args[0], x.Args[1]
	if f.First {
		loaded, ticket = ticket, loaded
	}
	if loaded != load.Writes[0] || ticket == loaded || ticket == NoReg || g.writtenIn(ticket, append(turn, read)) {
		return nil
	}
	if w := g.writers(node(x), loaded); len(w) != 1 || w[0] != read {
		return nil
	}
	from := g.writers(node(x), ticket)
	if len(from) != 1 || from[0] < 0 {
		return nil
	}
	t := &g.Nodes[from[0]]
	if kind, size := t.In.LastType(); !t.Does(ptx.Updates) || !t.Does(ptx.Reads) || t.In.Update() != ptx.UpdateAdd || size != 4 || kind == "f32" ||
		t.Guard != NoReg || len(t.Writes) != 1 || vector(t.In) {
		return nil
	}
	for _, r := range load.Addr {
		if slices.Contains(load.Writes, r) || !g.still(read, r, turn, maxSame) {
			return nil
		}
	}
	f.Ticket = t.PC
	return f
}

// signOf reports whether an instruction asks for the highest bit of its first source:
// whether its result is true where the bit is set, and whether the other bits must be zero.
func (u *Use) signOf() (set, masked, ok bool) {
	if !u.Does(ptx.Compares) || !u.Compares || len(u.In.Mods) != 2 || len(u.In.Operands) != 3 || len(u.Reads) != 1 || len(u.Writes) != 1 {
		return false, false, false
	}
	with, ok := u.In.Operands[2].(ptx.Int)
	if t, size := u.In.LastType(); !ok || size != 4 || t == "f32" {
		return false, false, false
	} else if t == "s32" {
		switch cmp, n := u.In.Mods[0], int32(uint32(with.Bits)); {
		case cmp == "lt" && n == 0, cmp == "le" && n == -1:
			return true, false, true
		case cmp == "ge" && n == 0, cmp == "gt" && n == -1:
			return false, false, true
		}
	}
	switch cmp := u.In.Mods[0]; {
	case uint32(with.Bits) != 0:
	case cmp == "eq":
		return false, true, true
	case cmp == "ne":
		return true, true, true
	}
	return false, false, false
}

// masksSign returns the register of which an instruction keeps the highest bit.
func (u *Use) masksSign() (Reg, bool) {
	if t, _ := u.In.LastType(); t != "b32" || len(u.Args) != 2 || len(u.In.Operands) != 3 {
		return NoReg, false
	}
	for i, r := range u.Args {
		if v, ok := u.In.Operands[2-i].(ptx.Int); ok && uint32(v.Bits) == 1<<31 && r != NoReg {
			return r, true
		}
	}
	return NoReg, false
}
