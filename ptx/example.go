package ptx

import (
	"cmp"
	"strconv"
	"strings"
)

// Example returns an instruction of the form, as text: the first value of each required
// modifier, and an optional one only if an earlier row would match the instruction
// without it.
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
	vals := make([]string, len(f.Slots))
	for i, s := range f.Slots {
		if s.Tied {
			with[i] = with[i-1]
		}
		if !s.Optional || with[i] {
			vals[i] = s.Values[0]
		}
	}
	f.obey(vals)
	return f.instruction(vals)
}

// instruction builds an instruction of the form from the values of its slots; "" leaves a
// slot out.
func (f *Form) instruction(vals []string) *Inst {
	in := &Inst{Op: f.Op}
	fill := make([]int8, len(f.Slots))
	for i, v := range vals {
		fill[i] = -1
		if v != "" {
			fill[i] = int8(len(in.Mods))
			in.Mods = append(in.Mods, v)
		}
	}
	g := generator{c: candidate{f, fill}, mods: in.Mods}
	in.Operands = g.args(f.Operands)
	return in
}

// obey changes values until they satisfy the rules, which are few and acyclic.
func (f *Form) obey(vals []string) {
	value := func(slot string) string { return cmp.Or(vals[f.slot(slot)], "-") }
	for range f.Rules {
		for _, r := range f.Rules {
			if !r.Holds(value) {
				vals[f.slot(r.Then)] = strings.TrimPrefix(r.Are[0], "-")
			}
		}
	}
}

// A generator makes operands, with consecutive register numbers.
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
		if a.Name == "sel" || a.Name == "f" { // the threads that hold metadata: some types have only those of 0
			return Int{}
		}
		return Int{Bits: 1}
	case "label":
		return Name("L" + strconv.Itoa(g.n))
	case "list":
		return &List{Elems: []Operand{g.reg("b32")}}
	case "mem":
		typ := "u64"
		if g.c.form.Space == "tensor" {
			typ = "u32" // addresses of tensor memory are lanes and columns in 32 bits
		}
		return &Mem{Base: g.reg(typ), Rest: g.args(a.Rest)}
	}
	n, any := g.c.count(a, g.mods)
	if any {
		n = g.length(a)
	}
	typ := g.typeOf(a)
	if any && g.c.form.Class == "matrix" && width(typ) < 32 { // elements of a fragment are packed
		typ = "b32"
	}
	if a.Class != "vector" || n == 1 && !any && a.Count != "<num>" {
		return g.reg(typ)
	}
	v := &Vector{}
	for range n {
		v.Elems = append(v.Elems, g.reg(typ))
	}
	return v
}

// length returns the number of elements of a vector to which the table gives no length.
func (g *generator) length(a *Arg) int {
	l := lengths{g.c.form, func(slot string) string {
		if i := g.c.form.slot(slot); i >= 0 && g.c.fill[i] >= 0 {
			return g.mods[g.c.fill[i]]
		}
		return ""
	}, g.typeOf}
	if n, ok := l.of(a); ok {
		return n
	}
	return 2
}

// typeOf resolves an operand's type by the modifiers: "<type>" is a slot's value,
// "wide<type>" one of twice its width, "part<type>" one of half.
func (g *generator) typeOf(a *Arg) string {
	how, slot, ok := strings.Cut(a.Type, "<")
	if !ok {
		return a.Type
	}
	slot, _, _ = strings.Cut(slot, ">")
	typ := "b32"
	if i := g.c.fill[g.c.form.slot(slot)]; i >= 0 {
		typ = g.mods[i]
	}
	switch how {
	case "wide":
		return "b" + strconv.Itoa(2*width(typ))
	case "part":
		return "b" + strconv.Itoa(width(typ)/2)
	case "dot":
		return "b32"
	}
	return typ
}

// width returns the bits of the register that holds a type.
func width(typ string) int {
	switch typ {
	case "pred":
		return 1
	case "addr", "texref", "samplerref", "surfref":
		return 64
	case "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1p4x4", "e4m3", "e5m2", "tf32", "bf16x2", "s4", "u4", "b1", "e3m2", "e2m3", "e2m1":
		return 32
	case "e2m1x2":
		return 8
	}
	if typ[0] == 'e' || strings.HasSuffix(typ, "8m0x2") || typ == "s2f6x2" || typ == "ue5m3x2" || typ == "bf16" {
		return 16
	}
	n, times, ok := strings.Cut(typ, "x")
	if ok {
		return atoi(n) * atoi(times)
	}
	return max(atoi(n), 8)
}

var prefixes = map[string]string{"pred": "%p", "f32": "%f", "f64": "%fd"}

func (g *generator) reg(typ string) Name {
	g.n++
	prefix := prefixes[typ]
	if prefix == "" {
		prefix = map[int]string{8: "%rc", 16: "%rs", 32: "%r", 64: "%rd", 128: "%rq"}[width(typ)]
	}
	if prefix == "" {
		prefix = "%r"
	}
	return Name(prefix + strconv.Itoa(g.n))
}
