package ptx

import (
	"strconv"
	"strings"
)

// Example gives an instruction of the form, as text: the first value of each
// required modifier, and no optional one unless an earlier row would take
// the instruction without it.
func (f *Form) Example() string {
	for _, with := range f.variants() {
		in := f.example(with)
		if Match(in) == f {
			return in.String()
		}
	}
	return ""
}

// variants lists choices of optional slots to try: none, each, all.
func (f *Form) variants() [][]bool {
	list := [][]bool{make([]bool, len(f.Slots))}
	all := make([]bool, len(f.Slots))
	for i, s := range f.Slots {
		if s.Optional {
			one := make([]bool, len(f.Slots))
			one[i], all[i] = true, true
			list = append(list, one)
		}
	}
	return append(list, all)
}

func (f *Form) example(with []bool) *Inst {
	in := &Inst{Op: f.Op}
	fill := make([]int8, len(f.Slots))
	for i, s := range f.Slots {
		fill[i] = -1
		if s.Tied {
			with[i] = with[i-1]
		}
		if !s.Optional || with[i] {
			fill[i] = int8(len(in.Mods))
			in.Mods = append(in.Mods, s.Values[0])
		}
	}
	g := generator{c: candidate{f, fill}, mods: in.Mods}
	in.Operands = g.args(f.Operands)
	return in
}

// A generator makes operands, with register numbers that count up.
type generator struct {
	c    candidate
	mods []string
	n    int
}

func (g *generator) args(args []Arg) (list []Operand) {
	for i := range args {
		a := &args[i]
		if a.When != "" && g.c.fill[g.c.form.slot(a.When)] >= 0 || !a.Optional {
			list = append(list, g.arg(a))
		}
	}
	return list
}

func (g *generator) arg(a *Arg) Operand {
	x := g.value(a)
	if a.Pred != nil {
		return &Pair{x, g.reg("pred")}
	}
	return x
}

func (g *generator) value(a *Arg) Operand {
	switch a.Class {
	case "sink":
		return Sink{}
	case "imm":
		return Int{Bits: 1}
	case "label":
		return Name("L" + strconv.Itoa(g.n))
	case "list":
		return &List{Elems: []Operand{g.reg("b32")}}
	case "mem":
		return &Mem{Base: g.reg("u64"), Rest: g.args(a.Rest)}
	}
	n, any := g.c.count(a, g.mods)
	if any {
		n = 4
	}
	typ := g.typeOf(a)
	if a.Class != "vector" || n == 1 && !any {
		return g.reg(typ)
	}
	v := &Vector{}
	for range n {
		v.Elems = append(v.Elems, g.reg(typ))
	}
	return v
}

// typeOf resolves an operand's type by the modifiers.
func (g *generator) typeOf(a *Arg) string {
	if !strings.HasPrefix(a.Type, "<") {
		return a.Type
	}
	if i := g.c.fill[g.c.form.slot(a.Type[1:len(a.Type)-1])]; i >= 0 {
		return g.mods[i]
	}
	return "b32"
}

var prefixes = map[string]string{"pred": "%p", "f32": "%f", "f64": "%fd", "b128": "%rq"}

func (g *generator) reg(typ string) Name {
	g.n++
	prefix := prefixes[typ]
	if prefix == "" {
		prefix = map[int]string{8: "%rs", 16: "%rs", 64: "%rd"}[atoi(typ)]
	}
	if prefix == "" {
		prefix = "%r"
	}
	return Name(prefix + strconv.Itoa(g.n))
}
