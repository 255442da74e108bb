package flow

import (
	"slices"

	"muster/ptx"
)

// What the launch decides. A result that is computed from parameters and constants alone is
// the same for all threads, in all schedules. So is a guard; and what stands behind a
// branch that is never taken does not execute.

// exact are the effects of what a fixed instruction may do: the ISA leaves none of their
// results open.
const exact = ptx.Moves | ptx.Selects | ptx.Compares | ptx.Inverts | ptx.Ands | ptx.Ors | ptx.Xors | ptx.Adds | ptx.Subtracts | ptx.Converts

// Fixed lists the instructions of the kernel whose results the launch fixes: they compute
// from parameters and constants, and no other instruction writes a register that they
// read or write. An instruction comes after those whose results it reads. Guarded are the
// instructions whose guards are such results.
func (p *Program) Fixed() (list, guarded []int32) {
	f := &p.Funcs[0]
	g := newGraph(f)
	if g == nil {
		return nil, nil
	}
	writers := map[Reg]int{}
	for i := range f.Uses {
		for _, r := range f.Uses[i].Writes {
			writers[r]++
		}
	}
	made := map[Reg]int32{} // the node that makes a fixed register
	fixed := func(n int32, r Reg) bool {
		by, ok := made[r]
		return ok && by != n && g.dominates(by, n)
	}
	done := make([]bool, len(f.Uses))
	for again := true; again; {
		again = false
		for i := range f.Uses {
			u, n := &f.Uses[i], int32(i)
			if done[i] || !u.fixable() ||
				slices.ContainsFunc(u.Writes, func(r Reg) bool { return writers[r] != 1 }) ||
				!holdsForAll(func(r Reg) bool { return fixed(n, r) }, u.Reads, u.Addr) {
				continue
			}
			for _, r := range u.Writes {
				made[r] = n
			}
			done[i], again = true, true
			list = append(list, u.PC)
		}
	}
	for i := range f.Uses {
		if u := &f.Uses[i]; u.Guard != NoReg && fixed(int32(i), u.Guard) {
			guarded = append(guarded, u.PC)
		}
	}
	return list, guarded
}

func holdsForAll(holds func(Reg) bool, lists ...[]Reg) bool {
	for _, list := range lists {
		for _, r := range list {
			if !holds(r) {
				return false
			}
		}
	}
	return true
}

// fixable reports whether an instruction's result is the same for all threads if the
// registers that it reads are.
func (u *Use) fixable() bool {
	if !u.Plain || u.Guard != NoReg || u.Accumulates() || u.Does(ptx.Writes|ptx.ReadsCarry) {
		return false
	}
	if slices.ContainsFunc(u.In.Operands, special) {
		return false
	}
	if u.Does(ptx.Reads) {
		return u.Launched
	}
	return u.Does(exact)
}

// special reports whether an operand is a special register.
func special(op ptx.Operand) bool {
	switch op := op.(type) {
	case ptx.Name:
		_, ok := ptx.LookupSpecial(string(op))
		return ok
	case *ptx.Vector:
		return slices.ContainsFunc(op.Elems, special)
	}
	return false
}

// DropGuards drops guards that constants decide to hold: of the function's instructions, those
// behind which control goes on. A guard that always holds is none, and a test with such a
// guard, as CUTLASS's try_wait with a predicate that is given as true, is made each time.
func (f *Func) DropGuards() {
	if !slices.ContainsFunc(f.Uses, func(u Use) bool { return u.Does(ptx.Tests) && u.Guard != NoReg }) {
		return // what asks for guards asks for those of tests
	}
	writers := map[Reg][]int32{}
	for i := range f.Uses {
		for _, r := range f.Uses[i].Writes {
			writers[r] = append(writers[r], int32(i))
		}
	}
	g := &Graph{f: f, Nodes: f.Uses}
	g.link()
	// only returns the one instruction of the function that writes a register, if all ways to
	// node n come by it.
	only := func(n int32, r Reg) *Use {
		if by := writers[r]; len(by) == 1 && by[0] != n && g.dominates(by[0], n) {
			if u := &f.Uses[by[0]]; u.Plain && u.Guard == NoReg && !u.Accumulates() && len(u.Writes) == 1 {
				return u
			}
		}
		return nil
	}
	for i := range f.Uses {
		u := &f.Uses[i]
		if u.Guard == NoReg || u.Does(ptx.Branches|ptx.BranchesByTable|ptx.Exits|ptx.Returns|ptx.Traps) {
			continue
		}
		set := only(int32(i), u.Guard)
		if set == nil {
			continue
		}
		with, ok := set.equalTo()
		if !ok {
			continue
		}
		of := only(writers[u.Guard][0], set.Reads[0])
		if of == nil {
			continue
		}
		if value, ok := of.constant(); ok && (value == with) == (set.In.Mods[0] == "eq") != u.In.Guard.Not {
			u.Guard = NoReg
		}
	}
}

// constant returns the number of 32 bits that an instruction moves to a register.
func (u *Use) constant() (uint32, bool) {
	if !u.Does(ptx.Moves) || len(u.In.Operands) != 2 || len(u.In.Mods) != 1 {
		return 0, false
	}
	v, ok := u.In.Operands[1].(ptx.Int)
	t, size := u.In.LastType()
	return uint32(v.Bits), ok && size == 4 && t != "f32"
}

// never returns the kernel's instructions that have no effect, by place, if some guards are
// known to hold, or not to: no way leads there, or their guards do not hold.
func (p *Program) never(guards map[int32]bool) map[int32]bool {
	if len(guards) == 0 {
		return nil
	}
	g := newGraph(&p.Funcs[0])
	never, list, seen := map[int32]bool{}, []int32{0}, make([]bool, len(g.Next))
	for i := range g.Nodes {
		never[g.Nodes[i].PC] = true
	}
	for seen[0] = true; len(list) > 0; {
		n := list[len(list)-1]
		list = list[:len(list)-1]
		if int(n) == len(g.Nodes) {
			continue
		}
		u, next := &g.Nodes[n], g.Next[n]
		holds, known := guards[u.PC]
		switch {
		case known && !holds:
			next = []int32{n + 1}
		case known && len(next) > 1: // control goes elsewhere, not to what follows
			next = next[:len(next)-1]
		}
		if holds || !known {
			delete(never, u.PC)
		}
		for _, to := range next {
			if !seen[to] {
				seen[to] = true
				list = append(list, to)
			}
		}
	}
	return never
}
