package ptx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sinceTrials makes the instructions whose versions ptxas is asked for: for
// every row each modifier, each optional operand, the conditions of its cells,
// and pairs of modifiers, or a sample of them; and every special register. Rows
// that PTX 9.0 does not have cannot be tested.
func sinceTrials() []string {
	seen := map[string]bool{}
	for _, f := range forms {
		switch f.Op {
		case "bra", "brx", "call", "ret", "exit", "trap", "brkpt":
			continue
		}
		if !(Version{9, 0}).Before(f.Version) {
			f.sinceTrials(seen)
		}
	}
	for name, s := range specials {
		typ, vector := strings.CutPrefix(s.Type, "v4.")
		if vector {
			name += ".x"
		}
		seen[fmt.Sprintf("mov.%s %%%s, %s;", typ, map[string]string{"pred": "p1", "u64": "rd1", "u32": "r1", "b32": "r1"}[typ], name)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (f *Form) sinceTrials(seen map[string]bool) {
	try := func(with ...string) { // pairs of slot and value; an operand's value is itself
		t := trial{f: f, with: with}
		if in := t.make(); Match(in) == f {
			seen[in.String()] = true
		}
	}
	try()
	for i, s := range f.Slots {
		for _, v := range s.some() {
			try(s.Name, v)
			for _, u := range f.Slots[i+1:] {
				few := len(s.Values)*len(u.Values) <= 60
				for _, w := range u.some() {
					if few || hash(f.Name+v+w)%16 == 0 {
						try(s.Name, v, u.Name, w)
					}
				}
			}
		}
	}
	for _, a := range f.Operands {
		if a.Optional && a.When == "" || a.Pred != nil && a.Pred.Optional {
			try(a.Name, a.Name)
			for _, s := range f.Slots {
				try(a.Name, a.Name, s.Name, s.Values[len(s.Values)-1])
			}
		}
	}
	for _, s := range f.Since {
		var with []string
		for _, c := range s.If {
			with = append(with, c.Slot, slices.Concat(c.Is, []string{c.Slot})[0])
		}
		try(with...)
	}
}

// some returns the values of a slot, or three of a long list of shapes.
func (s *Slot) some() []string {
	if n := len(s.Values); n > 15 && s.Name == "shape" {
		return []string{s.Values[0], s.Values[n/2], s.Values[n-1]}
	}
	return s.Values
}

// A trial is an instruction with the requested modifiers and operands, and
// valid defaults for the others.
type trial struct {
	f    *Form
	with []string
	vals []string // of the slots
	g    generator
}

func (t *trial) make() *Inst {
	f := t.f
	t.vals = make([]string, len(f.Slots))
	for i, s := range f.Slots {
		if !s.Optional {
			t.vals[i] = s.Values[0]
		}
	}
	f.obey(t.vals)
	for range 2 { // rules may undo a request, which may break rules
		t.ask(t.with)
		if t.mod("l2") != "" { // 256 bits, which no rule states
			t.ask([]string{"vec", map[bool]string{true: "v4", false: "v8"}[strings.HasSuffix(t.mod("type"), "64")]})
			if t.mod("vec") == "v8" {
				t.ask([]string{"type", "b32"})
			}
		}
		f.obey(t.vals)
	}
	in := &Inst{Op: f.Op, Form: f}
	t.g.c = candidate{f, make([]int8, len(f.Slots))}
	for i, v := range t.vals {
		t.g.c.fill[i] = -1
		if v != "" {
			t.g.c.fill[i] = int8(len(in.Mods))
			in.Mods = append(in.Mods, v)
		}
	}
	t.g.mods = in.Mods
	in.Operands = t.args(f.Operands)
	return in
}

// ask sets the requested slots, and those tied to them.
func (t *trial) ask(with []string) {
	for i := 0; i < len(with); i += 2 {
		if n := t.f.slot(with[i]); n >= 0 {
			t.vals[n] = strings.TrimPrefix(with[i+1], "-")
		}
	}
	for i, s := range t.f.Slots {
		switch {
		case !s.Tied || (t.vals[i] == "") == (t.vals[i-1] == ""):
		case t.vals[i] == "":
			t.vals[i] = s.Values[0]
		default:
			t.vals[i-1] = t.f.Slots[i-1].Values[0]
		}
	}
}

func (t *trial) mod(slot string) string {
	if i := t.f.slot(slot); i >= 0 {
		return t.vals[i]
	}
	return ""
}

func (t *trial) has(operand string) bool {
	for i := 0; i < len(t.with); i += 2 {
		if t.with[i] == operand {
			return true
		}
	}
	return operand == "im2col" && strings.HasPrefix(t.mod("load"), "im2col")
}

func (t *trial) args(args []Arg) (list []Operand) {
	for i := range args {
		a := &args[i]
		if a.When != "" && t.mod(a.When) != "" || !a.Optional || a.When == "" && t.has(a.Name) {
			list = append(list, t.arg(a))
		}
	}
	return list
}

func (t *trial) arg(a *Arg) Operand {
	x := t.value(a)
	if a.Pred != nil && (!a.Pred.Optional || t.has(a.Pred.Name) || t.has(a.Name)) {
		return &Pair{x, t.g.reg("pred")}
	}
	return x
}

func (t *trial) value(a *Arg) Operand {
	switch {
	case a.Class == "imm", t.f.Class == "tcgen05" && a.Name == "scale":
		return Int{Bits: t.immediate(a)}
	case a.Class == "mem":
		typ := "u64"
		if t.f.Class == "tcgen05" && t.f.Space == "tensor" { // addresses of tensor memory are 32 bits
			typ = "b32"
		}
		return &Mem{Base: t.g.reg(typ), Rest: t.args(a.Rest)}
	case a.Class != "vector":
		return t.g.value(&Arg{Class: a.Class, Count: "1", Type: a.Type})
	}
	v := &Vector{}
	for i := range t.length(a) {
		v.Elems = append(v.Elems, t.g.reg(t.element(a, i)))
	}
	if len(v.Elems) == 1 && (a.Count == "<vec>" || t.f.slot("geom") >= 0) {
		return v.Elems[0]
	}
	return v
}

// immediate returns a value that ptxas accepts.
func (t *trial) immediate(a *Arg) uint64 {
	switch {
	case a.Name == "na", a.Name == "nb", a.Name == "events", a.Name == "scale":
		return 1
	case t.f.Name == "setmaxnreg":
		return 24
	case t.f.Name == "cp.async":
		return 16
	case a.Name == "size":
		return 128
	case a.Name == "align":
		return 8
	}
	return 0
}
