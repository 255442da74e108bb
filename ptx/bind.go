package ptx

// A Bound is an operand of an instruction with its description in the form. Elements of
// vectors, and operands after the address in brackets, are bound individually, each after
// the operand that contains it.
type Bound struct {
	Arg *Arg
	// X is the operand; Set replaces it.
	X   Operand
	Set func(Operand)
	// Type is Arg's type, with a slot's value in place of its name: "u32"; "" if the slot
	// is left out.
	Type string
	// Elem says that X is an element of a vector, Inside that it is in an address's
	// brackets.
	Elem, Inside bool
}

// Bind pairs the operands of an instruction with those of its form. It returns nil for an
// instruction that has no form, or does not match it.
func Bind(in *Inst) []Bound {
	if in.Form == nil {
		return nil
	}
	for _, c := range candidates(in.Op, in.Mods) {
		if c.form != in.Form {
			continue
		}
		var list []Bound
		if c.bind(&list, c.form.Operands, in.Operands, in.Mods, false) {
			return list
		}
	}
	return nil
}

// bind pairs operands by the same matching as fitArgs.
func (c *candidate) bind(list *[]Bound, args []Arg, xs []Operand, mods []string, inside bool) bool {
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
		c.bindArg(list, a, xs[0], func(x Operand) { xs[0] = x }, mods, inside)
		return c.bind(list, args[1:], xs[1:], mods, inside)
	}
	return skip && c.bind(list, args[1:], xs, mods, inside)
}

func (c *candidate) bindArg(list *[]Bound, a *Arg, x Operand, set func(Operand), mods []string, inside bool) {
	if p, ok := x.(*Pair); ok {
		c.bindArg(list, a, p.A, func(x Operand) { p.A = x }, mods, inside)
		c.bindArg(list, a.Pred, p.B, func(x Operand) { p.B = x }, mods, inside)
		return
	}
	b := Bound{Arg: a, X: x, Set: set, Type: c.typeOf(a.Type, mods), Inside: inside}
	*list = append(*list, b)
	switch x := x.(type) {
	case *Vector:
		for i := range x.Elems {
			b.X, b.Set, b.Elem = x.Elems[i], func(e Operand) { x.Elems[i] = e }, true
			*list = append(*list, b)
		}
	case *Mem:
		c.bind(list, a.Rest, x.Rest, mods, true)
	}
}

// typeOf substitutes a slot's value for its name: "<type>" itself, "wide<type>" with
// twice the width, "part<type>" with an unknown width, returned as "".
func (c *candidate) typeOf(t string, mods []string) string {
	for i := range len(t) {
		if t[i] != '<' {
			continue
		}
		s := c.form.slot(t[i+1 : len(t)-1])
		if s < 0 || c.fill[s] < 0 {
			return ""
		}
		v := mods[c.fill[s]]
		switch t[:i] {
		case "":
			return v
		case "wide":
			return map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[v]
		}
		return ""
	}
	return t
}
