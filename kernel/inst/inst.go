// Package inst has a function for every instruction of the table in package ptx, which
// adds it to a kernel. The functions are generated from the table that parsing, printing
// and the machine share, so they agree with it.
//
//	inst.MbarrierInit(k, bar, 1)                      // mbarrier.init.shared::cta.b64
//	inst.AtomAdd(k, d, counter, 1, kernel.Release, kernel.GPU)
//	inst.CpAsyncBulkSharedGlobal(k, dst, src, 1024, bar, nil, nil)
//
// Operands determine what is not stated: the state space is that of the address, the type
// is that of the register or of the elements at the address, the number of elements is
// that of the vector. Required modifiers are parameters; optional ones come last, in any
// order. An omitted optional operand is nil.
//
// A mistake is reported by Build at the line of the call: a register of the
// wrong type or class, an address in the wrong state space, a modifier that is
// missing or that the instruction does not take.
package inst

//go:generate go run ./gen

import (
	"slices"
	"strconv"
	"strings"

	"muster/kernel"
	"muster/kernel/inst/internal/row"
	"muster/ptx"
)

// slots maps slots to modifiers.
type slots map[string]kernel.Mod

// add adds an instruction of a form.
func add(k *kernel.Kernel, form string, fixed slots, mods []kernel.Mod, operands ...any) {
	f := ptx.LookupForm(form)
	mods = slices.Clone(mods)
	derived := row.Derived(f)
	op := f.Op
	for _, s := range f.Slots {
		m, ok := pick(k, f, s, fixed, &mods, derived, operands)
		if !ok {
			return
		}
		if m != "" {
			op += "." + m
		}
	}
	if len(mods) > 0 {
		k.Errorf("%s takes no modifier .%s; it is %s", form, mods[0], f)
		return
	}
	k.Inst(op, assemble(f, operands)...)
}

// pick finds the value of a slot.
func pick(k *kernel.Kernel, f *ptx.Form, s ptx.Slot, fixed slots, mods *[]kernel.Mod, derived map[string]string, operands []any) (string, bool) {
	if m, ok := fixed[s.Name]; ok {
		if !slices.Contains(s.Values, string(m)) {
			got := "got ." + string(m)
			if m == "" {
				got = "it is missing"
			}
			k.Errorf("%s: modifier <%s>: want one of .%s; %s", f.Name, s.Name, strings.Join(s.Values, ", ."), got)
			return "", false
		}
		return string(m), true
	}
	for i, m := range *mods {
		if slices.Contains(s.Values, string(m)) {
			*mods = slices.Delete(*mods, i, i+1)
			return string(m), true
		}
	}
	if derived[s.Name] != "" {
		if !spaceFits(k, f, s, operands) {
			return "", false
		}
		if m := settle(f, s, operands); m != "" {
			return m, true
		}
		if !s.Optional {
			k.Errorf("%s computes in .%s, and the operands have none of these types", f.Name, strings.Join(s.Values, ", ."))
			return "", false
		}
	}
	if s.Optional && !given(f, s, operands) {
		return "", true
	}
	return s.Values[0], true
}

// spaceFits reports an address in a state space that the form does not support.
func spaceFits(k *kernel.Kernel, f *ptx.Form, s ptx.Slot, operands []any) bool {
	if s.Name != "space" {
		return true
	}
	for _, x := range operands {
		p, ok := x.(kernel.Ptr)
		if !ok || p.IsZero() {
			continue
		}
		if p.Space() != kernel.Generic && spaceOf(s, p.Space()) == "" || !s.Optional && p.Space() == kernel.Generic {
			k.Errorf("%s: the address is in %s; want one in %s", f.Name, p.Space(), strings.Join(s.Values, " or "))
			return false
		}
		return true
	}
	return true
}

// given reports whether the operand that belongs to a slot is present: a mask for
// multicast, a policy for a cache hint.
func given(f *ptx.Form, s ptx.Slot, operands []any) bool {
	i := 0
	for n := range f.Operands {
		a := &f.Operands[n]
		if a.Class == "sink" {
			continue
		}
		if a.When == s.Name && operands[i] != nil && len(s.Values) == 1 {
			return true
		}
		i += 1 + len(a.Rest)
	}
	return false
}

// settle returns the value of a slot that the operands determine: a type, a space, a
// number of elements.
func settle(f *ptx.Form, s ptx.Slot, operands []any) string {
	i := 0
	for n := range f.Operands { // elements in memory determine it before registers do
		a := &f.Operands[n]
		if a.Class == "sink" {
			continue
		}
		if p, ok := operands[i].(kernel.Ptr); ok && a.Class == "mem" && a.Type == "<"+s.Name+">" {
			return typeOf(s, p.Elem())
		}
		i += 1 + len(a.Rest)
	}
	i = 0
	for n := range f.Operands {
		a := &f.Operands[n]
		if a.Class == "sink" {
			continue
		}
		x := operands[i]
		i += 1 + len(a.Rest)
		switch x := x.(type) {
		case kernel.Ptr:
			if a.Name != "bar" && a.Name != "map" && (s.Name == "space" || s.Name == "dst" && a.Name == "d" || s.Name == "src" && a.Name == "s") {
				return spaceOf(s, x.Space())
			}
		case kernel.Reg:
			if a.Type == "<"+s.Name+">" && !x.IsZero() {
				return typeOf(s, x.Type())
			}
		case kernel.Pred:
			if a.Type == "<"+s.Name+">" {
				return "pred"
			}
		case kernel.Pair:
			if a.Type == "<"+s.Name+">" && !x.Reg.IsZero() {
				return typeOf(s, x.Reg.Type())
			}
		case kernel.Vec:
			if a.Count == "<"+s.Name+">" {
				return countOf(s, len(x))
			}
			if a.Type == "<"+s.Name+">" && len(x) > 0 {
				if t := x[0].Type(); f.Class != "matrix" || t == kernel.F32 {
					return typeOf(s, t)
				} else if t.Size() == 4 && slices.Contains(s.Values, "f16") {
					return "f16" // two per register
				} else {
					return typeOf(s, t)
				}
			}
		}
	}
	return ""
}

// countOf finds the number of elements among a slot's values: v2, x4.
func countOf(s ptx.Slot, n int) string {
	for _, v := range s.Values {
		if strings.TrimLeft(v, "vx") == strconv.Itoa(n) {
			return v
		}
	}
	return ""
}

func spaceOf(s ptx.Slot, space kernel.Space) string {
	name := string(space)
	switch {
	case slices.Contains(s.Values, name):
		return name
	case space == kernel.SharedCTA && slices.Contains(s.Values, "shared::cluster"):
		return "shared::cluster"
	case space == kernel.SharedCTA && slices.Contains(s.Values, "shared"):
		return "shared"
	}
	return ""
}

// typeOf finds a type among a slot's values: itself, or one that accepts its
// bits.
func typeOf(s ptx.Slot, t kernel.Type) string {
	like := []string{string(t)}
	switch t {
	case kernel.F16, kernel.BF16, kernel.U16, kernel.S16:
		like = append(like, "b16")
	case kernel.B16:
		like = append(like, "u16")
	case kernel.F16x2, kernel.BF16x2, kernel.U32, kernel.S32, kernel.TF32:
		like = append(like, "b32")
	case kernel.F32:
		like = append(like, "b32")
	case kernel.B32:
		like = append(like, "u32")
	case kernel.U64, kernel.S64, kernel.F64:
		like = append(like, "b64")
	case kernel.B64:
		like = append(like, "u64")
	case kernel.E4M3, kernel.E5M2, kernel.U8, kernel.S8:
		like = append(like, "b8")
	}
	for _, v := range like {
		if slices.Contains(s.Values, v) {
			return v
		}
	}
	return ""
}

// assemble puts operands inside the brackets of their address, leaves out nil
// operands, and inserts the form's sink.
func assemble(f *ptx.Form, operands []any) []any {
	var out []any
	i := 0
	for n := range f.Operands {
		a := &f.Operands[n]
		if a.Class == "sink" {
			out = append(out, kernel.Discard{})
			continue
		}
		x := operands[i]
		rest := operands[i+1 : i+1+len(a.Rest)]
		i += 1 + len(a.Rest)
		if x == nil {
			continue
		}
		if v, ok := x.(kernel.Vec); ok && len(v) == 1 && a.Count == "<vec>" {
			x = v[0]
		}
		if len(rest) > 0 {
			rest = slices.DeleteFunc(slices.Clone(rest), func(r any) bool { return r == nil })
			x = kernel.Mem(x.(kernel.Ptr), rest...)
		}
		out = append(out, x)
	}
	return out
}
