package ptx

import (
	"slices"
	"strings"
)

// A candidate is a form that matches an instruction's modifiers; the operands select
// among several.
type candidate struct {
	form *Form
	fill []int8 // for each slot the index of its modifier, or -1
}

// takeApart splits an instruction's text at its dots and finds the forms that match its
// modifiers.
func takeApart(text string) *opcode {
	words := strings.Split(text, ".")
	oc := &opcode{op: words[0], mods: words[1:]}
	oc.cands = candidates(oc.op, oc.mods)
	return oc
}

func candidates(op string, mods []string) (list []candidate) {
	for _, how := range []func(*Form, []string, []int8) bool{(*Form).inOrder, (*Form).anyOrder} {
		for _, f := range formsByOp[op] {
			if fill, ok := f.assign(mods, how); ok {
				list = append(list, candidate{f, fill})
			}
		}
		if list != nil {
			return list
		}
	}
	return nil
}

// Match finds the form of an instruction, or nil. Parse calls it; a program that builds
// or changes instructions must call it itself.
func Match(in *Inst) *Form { return match(in, candidates(in.Op, in.Mods)) }

func match(in *Inst, cands []candidate) *Form {
	for _, c := range cands {
		if c.fits(in) {
			return c.form
		}
	}
	return nil
}

// assign maps modifiers to slots: in the ISA's order, or in another, since ptxas accepts
// both "atom.global.add" and "atom.add.global". Types and the two ends of a copy keep
// their order: "cvt.f16.f32" is not "cvt.f32.f16".
func (f *Form) assign(mods []string, how func(*Form, []string, []int8) bool) ([]int8, bool) {
	if len(mods) > len(f.Slots) {
		return nil, false
	}
	fill := make([]int8, len(f.Slots))
	for i := range fill {
		fill[i] = -1
	}
	return fill, how(f, mods, fill) && f.tied(fill) && f.keeps(mods, fill)
}

// keeps reports whether the modifiers satisfy the form's rules.
func (f *Form) keeps(mods []string, fill []int8) bool {
	value := func(slot string) string {
		if m := fill[f.slot(slot)]; m >= 0 {
			return mods[m]
		}
		return "-"
	}
	for i := range f.Rules {
		if !f.Rules[i].Holds(value) {
			return false
		}
	}
	return true
}

// tied reports whether tied slots are filled together.
func (f *Form) tied(fill []int8) bool {
	for i, s := range f.Slots {
		if s.Tied && (fill[i] < 0) != (fill[i-1] < 0) {
			return false
		}
	}
	return true
}

func (f *Form) inOrder(mods []string, fill []int8) bool { return f.fillFrom(mods, fill, 0, 0) }

// fillFrom fills slots from s on with the modifiers from m on, in order.
func (f *Form) fillFrom(mods []string, fill []int8, s, m int) bool {
	if s == len(f.Slots) {
		return m == len(mods)
	}
	slot := &f.Slots[s]
	if m < len(mods) && slot.takes(mods[m]) {
		fill[s] = int8(m)
		if f.fillFrom(mods, fill, s+1, m+1) {
			return true
		}
		fill[s] = -1
	}
	return slot.Optional && f.fillFrom(mods, fill, s+1, m)
}

// anyOrder maps each modifier to the first free slot that accepts it.
func (f *Form) anyOrder(mods []string, fill []int8) bool {
	for m, mod := range mods {
		s := 0
		for s < len(fill) && (fill[s] >= 0 || !f.Slots[s].takes(mod)) {
			s++
		}
		if s == len(fill) {
			return false
		}
		fill[s] = int8(m)
	}
	last := map[bool]int8{true: -1, false: -1}
	for i := range f.Slots {
		s := &f.Slots[i]
		switch {
		case fill[i] < 0 && !s.Optional, s.anchored() && !holds(fill, i):
			return false
		case fill[i] < 0 || !s.ordered():
		case fill[i] < last[s.layout()]:
			return false
		default:
			last[s.layout()] = fill[i]
		}
	}
	return true
}

// ordered reports whether the order of modifiers decides their meaning: types, the two
// ends of a copy, and the layouts of two matrices.
func (s *Slot) ordered() bool {
	return strings.HasSuffix(s.Name, "type") || s.Name == "dst" || s.Name == "src" || s.layout()
}

// layout reports whether a modifier is the layout of one of two matrices. They are ordered
// among themselves: ptxas takes "mma.f32.row.col.f16.f16.f32".
func (s *Slot) layout() bool { return s.Name == "row" || s.Name == "col" }

// anchored reports whether a modifier is part of the instruction's name, such as .arrive
// and .bulk, which ptxas accepts only in place. Modifiers that only qualify the
// instruction may be anywhere.
func (s *Slot) anchored() bool {
	switch s.Name {
	case "mode", "dir": // which half, which direction
		return s.takes("hi") || s.takes("wide") || s.takes("l")
	}
	if s.Optional || len(s.Values) > 1 {
		return false
	}
	switch s.Name {
	case "L2", "tensormap", "noComplete", "v2", "v4", "approx", "ftz", "NaN", "mmio", "sync", "aligned", "cc", "nc", "noftz", "sat", "xorsign", "abs", "relu", "oob", "satfinite", "trans", "row", "col", "block_scale":
		return false
	}
	return s.Name == s.Values[0]
}

// holds reports whether all slots before i have modifiers before its modifier, and all
// slots after i after it.
func holds(fill []int8, i int) bool {
	for k, m := range fill {
		if m >= 0 && fill[i] >= 0 && (k < i) != (m < fill[i]) && k != i {
			return false
		}
	}
	return true
}

func (s *Slot) takes(mod string) bool { return slices.Contains(s.Values, mod) }

// fits compares the operands' shapes with the form's.
func (c *candidate) fits(in *Inst) bool { return c.fitArgs(c.form.Operands, in.Operands, in.Mods) }

// fitArgs matches operands from left to right. An optional one is taken if the rest still
// fits: "a, b, c" and "a, c" may differ only in their number.
func (c *candidate) fitArgs(args []Arg, xs []Operand, mods []string) bool {
	if len(args) == 0 {
		return len(xs) == 0
	}
	a := &args[0]
	take, skip := true, a.Optional
	if a.When != "" {
		take = c.fill[c.form.slot(a.When)] >= 0
		skip = !take
	}
	if a.Needs != "" && c.fill[c.form.slot(a.Needs)] >= 0 {
		skip = false
	}
	if take && len(xs) > 0 && c.fitsArg(a, xs[0], mods) && c.fitArgs(args[1:], xs[1:], mods) {
		return true
	}
	return skip && c.fitArgs(args[1:], xs, mods)
}

func (c *candidate) fitsArg(a *Arg, x Operand, mods []string) bool {
	if p, ok := x.(*Pair); ok {
		return a.Pred != nil && c.fitsDest(a, p.A, mods) && isScalar(p.B, a.Pred)
	}
	return (a.Pred == nil || a.Pred.Optional) && c.fitsDest(a, x, mods)
}

func (c *candidate) fitsDest(a *Arg, x Operand, mods []string) bool {
	switch a.Class {
	case "mem":
		return c.fitsMem(a, x, mods)
	case "sink":
		return x == Operand(Sink{})
	case "label":
		_, ok := x.(Name)
		return ok
	case "list":
		_, ok := x.(*List)
		return ok
	case "imm":
		switch x.(type) {
		case Int, Float, Name, *Binary, *Unary: // a name may be a constant's address
			return true
		}
		return false
	}
	n, any := c.count(a, mods)
	if v, ok := x.(*Vector); ok {
		return a.Class == "vector" && (any || len(v.Elems) == n) && !slices.ContainsFunc(v.Elems, func(e Operand) bool { return !isScalar(e, a) })
	}
	if _, ok := x.(Name); ok && n > 1 && a.Count[0] == '<' {
		return true // a register of a vector type
	}
	return (n == 1 && !any) && isScalar(x, a)
}

// count returns the number of elements that an operand must have.
func (c *candidate) count(a *Arg, mods []string) (n int, any bool) {
	switch {
	case a.Count == "any":
		return 0, true
	case a.Count[0] != '<':
		return atoi(a.Count), false
	}
	s := c.form.slot(a.Count[1 : len(a.Count)-1])
	if c.fill[s] < 0 {
		return 1, false
	}
	return atoi(mods[c.fill[s]]), false
}

// atoi returns the first number in a word: 4 of "v4", 2 of "2d".
func atoi(s string) (n int) {
	for i := 0; i < len(s); i++ {
		if s[i] >= '0' && s[i] <= '9' {
			n = n*10 + int(s[i]-'0')
		} else if n > 0 {
			break
		}
	}
	return n
}

func (c *candidate) fitsMem(a *Arg, x Operand, mods []string) bool {
	if u, ok := x.(*Select); ok && u.Sel == "unified" {
		x = u.X
	}
	m, ok := x.(*Mem)
	if !ok {
		return false
	}
	if m.Index {
		return len(a.Rest) == 0
	}
	return c.fitArgs(a.Rest, m.Rest, mods)
}

// isScalar reports whether x can be one value of the operand a.
func isScalar(x Operand, a *Arg) bool {
	switch x := x.(type) {
	case Name:
		return true
	case Sink:
		return a.Role == Write || a.Count == "<vec>" // a store may leave elements out
	case Int, Float, *Binary:
		return a.Role == Read
	case *Unary:
		return a.Role == Read
	case *Not:
		return a.Role == Read && a.Type == "pred"
	case *Select:
		return a.Class == "video"
	case *Mem:
		return x.Index && a.Role == Read // the address of an element
	}
	return false
}
