// Package row maps a row of the instruction table to a Go function: its name, its
// parameters, and the modifiers that its operands determine.
package row

import (
	"go/token"
	"slices"
	"strings"

	"muster/ptx"
)

// A Param is a parameter of a constructor: a modifier, by its slot, or an
// operand.
type Param struct {
	Go, Type string
	Slot     string
	Arg      *ptx.Arg
	Optional bool
}

// LeftOut says why a form has no constructor; "" if it has one.
func LeftOut(f *ptx.Form) string {
	switch {
	case f.Class == "texture":
		return "it takes opaque variables, which package kernel does not declare"
	case f.Op == "bra" || f.Op == "brx":
		return "Branch, If and the loops make it"
	case f.Op == "call":
		return "Func.Call makes it"
	case strings.Contains(f.Name, "_wait") && strings.Contains(f.Name, ".report"):
		return "its destination is two predicates, and a register of 8 bits, which package kernel does not have"
	}
	return ""
}

// GoName is the name of a form's constructor: MbarrierTryWaitParity for
// mbarrier.try_wait.parity.
func GoName(form string) string {
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(form, func(r rune) bool { return r == '.' || r == '_' || r == ':' }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// Ident is the name of a parameter.
func Ident(s string) string {
	s = strings.ReplaceAll(s, "::", "_")
	if s == "k" || s == "mods" || token.IsKeyword(s) {
		s += "_"
	}
	return s
}

// Derived returns the modifiers that operands determine: a map from the slot to the text
// that names the operand.
func Derived(f *ptx.Form) map[string]string {
	d := map[string]string{}
	space := ""
	for i := range f.Operands {
		a := &f.Operands[i]
		name := Ident(a.Name)
		if a.Class == "mem" && a.Name != "map" {
			switch _, ok := f.Slot(slotOf(f, a)); {
			case ok:
				d[slotOf(f, a)] = "the address " + name
			}
			if space == "" {
				space = name
			}
		}
		if s := a.Type; strings.HasPrefix(s, "<") && settles(f, a) && (d[inner(s)] == "" || a.Class == "mem") {
			d[inner(s)] = name
			if a.Class == "mem" {
				d[inner(s)] = "the elements at " + name
			}
		}
		if s := a.Count; strings.HasPrefix(s, "<") && d[inner(s)] == "" {
			d[inner(s)] = "the elements of " + name
			if a.Class == "mem" {
				delete(d, inner(s)) // a vector operand determines it
			}
		}
	}
	for s := range d {
		if slot, ok := f.Slot(s); !ok || !slot.Optional && len(slot.Values) == 1 {
			delete(d, s)
		}
	}
	return d
}

// slotOf returns the slot for the state space of an address.
func slotOf(f *ptx.Form, a *ptx.Arg) string {
	switch a.Name {
	case "d":
		if _, ok := f.Slot("dst"); ok {
			return "dst"
		}
	case "s":
		if _, ok := f.Slot("src"); ok {
			return "src"
		}
	case "bar":
		return ""
	}
	return "space"
}

// settles reports operands whose type is known from the argument: certain registers, and
// addresses, by their elements. Registers have no narrow types, so a form that has one
// takes the type as a parameter.
func settles(f *ptx.Form, a *ptx.Arg) bool {
	slot, ok := f.Slot(inner(a.Type))
	if !ok {
		return false
	}
	known := registers
	switch {
	case a.Class == "mem":
		known = memory
	case a.Class == "vector", a.Class == "reg" && a.Role != ptx.Read:
	default:
		return false
	}
	for _, v := range slot.Values {
		if !slices.Contains(known, v) {
			return false
		}
	}
	return true
}

// registers are the types of registers, and memory those of what addresses
// point to.
var (
	registers = strings.Fields("pred b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 f16x2 bf16x2 u16x2 s16x2 f32x2")
	memory    = append(strings.Fields("b8 u8 s8 e4m3 e5m2 tf32"), registers...)
)

func inner(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">") }

// Params returns the parameters of a constructor: first the required modifiers, then the
// operands in their order.
func Params(f *ptx.Form) []Param {
	var list []Param
	used := map[string]bool{"k": true, "mods": true}
	name := func(s string) string {
		s = Ident(s)
		for used[s] {
			s += "_"
		}
		used[s] = true
		return s
	}
	derived := Derived(f)
	for _, s := range f.Slots {
		if s.Optional || len(s.Values) == 1 || derived[s.Name] != "" {
			continue
		}
		list = append(list, Param{Go: name(s.Name), Type: "kernel.Mod", Slot: s.Name})
	}
	for i := range f.Operands {
		list = operand(list, f, &f.Operands[i], name)
	}
	return list
}

func operand(list []Param, f *ptx.Form, a *ptx.Arg, name func(string) string) []Param {
	if a.Class == "sink" {
		return list
	}
	p := Param{Go: name(a.Name), Arg: a, Optional: a.Optional || a.When != ""}
	switch {
	case a.Pred != nil && !a.Pred.Optional:
		p.Type = "kernel.Pair"
	case a.Pred != nil:
		p.Type = "kernel.Dest"
	case a.Class == "mem":
		p.Type = "kernel.Ptr"
	case a.Class == "pred" && (a.Role == ptx.Write || !p.Optional):
		p.Type = "kernel.Pred"
	case a.Class == "vector" && !p.Optional:
		p.Type = "kernel.Vec"
	case a.Class == "reg" && a.Role != ptx.Read:
		p.Type = "kernel.Reg"
		if s, ok := f.Slot(inner(a.Type)); ok && slices.Contains(s.Values, "pred") {
			p.Type = "kernel.Pred"
			if len(s.Values) > 1 {
				p.Type = "kernel.Dest"
			}
		}
	default:
		p.Type = "kernel.Num"
	}
	if p.Type == "kernel.Ptr" && p.Optional {
		p.Type = "kernel.Num"
	}
	list = append(list, p)
	for i := range a.Rest {
		r := &a.Rest[i]
		q := Param{Go: name(r.Name), Arg: r, Type: "kernel.Num", Optional: r.Optional}
		if r.Class == "vector" {
			q.Type = "kernel.Coords"
		}
		list = append(list, q)
	}
	return list
}
