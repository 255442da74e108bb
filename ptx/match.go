package ptx

import (
	"slices"
	"strings"
)

// A candidate is a form that an instruction's modifiers fit; its operands
// decide among several.
type candidate struct {
	form *Form
	fill []int8 // for each slot the index of its modifier, or -1
}

// takeApart cuts an instruction's text at its dots and finds the forms that
// its modifiers fit.
func takeApart(text string) *opcode {
	words := strings.Split(text, ".")
	oc := &opcode{op: words[0], mods: words[1:]}
	oc.cands = candidates(oc.op, oc.mods)
	return oc
}

func candidates(op string, mods []string) (list []candidate) {
	for _, f := range formsByOp[op] {
		if fill, ok := f.assign(mods); ok {
			list = append(list, candidate{f, fill})
		}
	}
	return list
}

// Match finds the form of an instruction, or nil. Parse calls it; a program
// that builds or changes instructions calls it itself.
func Match(in *Inst) *Form { return match(in, candidates(in.Op, in.Mods)) }

func match(in *Inst, cands []candidate) *Form {
	for _, c := range cands {
		if c.fits(in) {
			return c.form
		}
	}
	return nil
}

// assign gives each modifier its slot: in the ISA's order, or in another,
// since ptxas takes "atom.global.add" and "atom.add.global" alike. Modifiers
// that could go to several slots go to them in their order.
func (f *Form) assign(mods []string) ([]int8, bool) {
	if len(mods) > len(f.Slots) {
		return nil, false
	}
	fill := make([]int8, len(f.Slots))
	for i := range fill {
		fill[i] = -1
	}
	if f.inOrder(mods, fill, 0, 0) || f.anyOrder(mods, fill) {
		return fill, true
	}
	return nil, false
}

// inOrder fills slots from s on with the modifiers from m on.
func (f *Form) inOrder(mods []string, fill []int8, s, m int) bool {
	if s == len(f.Slots) {
		return m == len(mods)
	}
	slot := &f.Slots[s]
	if m < len(mods) && slot.takes(mods[m]) {
		fill[s] = int8(m)
		if f.inOrder(mods, fill, s+1, m+1) {
			return true
		}
		fill[s] = -1
	}
	return slot.Optional && f.inOrder(mods, fill, s+1, m)
}

func (f *Form) anyOrder(mods []string, fill []int8) bool {
	if len(mods) == 0 || len(f.Slots) < 2 {
		return false
	}
	for i := range fill {
		fill[i] = -1
	}
	for m, mod := range mods {
		s := slices.IndexFunc(f.Slots, func(s Slot) bool { return s.takes(mod) })
		for s >= 0 && s < len(fill) && (fill[s] >= 0 || !f.Slots[s].takes(mod)) {
			s++
		}
		if s < 0 || s == len(fill) {
			return false
		}
		fill[s] = int8(m)
	}
	for i, s := range f.Slots {
		if fill[i] < 0 && !s.Optional {
			return false
		}
	}
	return true
}

func (s *Slot) takes(mod string) bool { return slices.Contains(s.Values, mod) }

// fits compares the operands' shapes with the form's.
func (c *candidate) fits(in *Inst) bool {
	i := 0
	for k := range c.form.Operands {
		a := &c.form.Operands[k]
		if i < len(in.Operands) && c.fitsArg(a, in.Operands[i], in.Mods) {
			i++
		} else if !a.Optional {
			return false
		}
	}
	return i == len(in.Operands)
}

func (c *candidate) fitsArg(a *Arg, x Operand, mods []string) bool {
	if p, ok := x.(*Pair); ok {
		return a.Pred != nil && c.fitsArg(a, p.A, mods) && isScalar(p.B, a.Pred)
	}
	switch a.Class {
	case "mem":
		return c.fitsMem(a, x, mods)
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
		return (any || len(v.Elems) == n) && !slices.ContainsFunc(v.Elems, func(e Operand) bool { return !isScalar(e, a) })
	}
	return (n == 1 && !any) && isScalar(x, a)
}

// count gives the number of elements that an operand has.
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

// atoi takes the first number in a word: 4 of "v4", 2 of "2d".
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
	m, ok := x.(*Mem)
	if !ok || !m.Index && len(m.Rest) > len(a.Rest) {
		return false
	}
	if m.Index {
		return len(a.Rest) == 0
	}
	i := 0
	for k := range a.Rest {
		r := &a.Rest[k]
		if i < len(m.Rest) && c.fitsArg(r, m.Rest[i], mods) {
			i++
		} else if !r.Optional {
			return false
		}
	}
	return i == len(m.Rest)
}

// isScalar tells whether x can stand for one value of the operand a.
func isScalar(x Operand, a *Arg) bool {
	switch x := x.(type) {
	case Name:
		return true
	case Sink:
		return a.Role == Write
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
