package campaign

import (
	"fmt"
	"strings"

	"muster/ptx"
)

// keepFew is how many threads' results are kept of cases that only add
// operands to another case.
const keepFew = 8

// again makes more cases of each combination, with other operands.
func again(f *ptx.Form, n, keep int) (list []Case) {
	for _, ch := range product(f) {
		for i := range n {
			list = append(list, withOperands(f, ch, fmt.Sprintf("more operands %d", i), keep, func(typ string) kind { return kind(typ) }))
		}
	}
	return list
}

// withOperands makes a case of one instruction whose operands are of the kinds
// that kindOf gives for their types.
func withOperands(f *ptx.Form, ch choice, text string, keep int, kindOf func(typ string) kind) Case {
	p := newProgram(f.Name)
	var ops []string
	for i := range f.Operands {
		typ := typeOf(f, ch, &f.Operands[i])
		if f.Operands[i].Role == ptx.Write {
			ops = append(ops, p.result(typ))
		} else {
			ops = append(ops, p.in(kindOf(typ), typ))
		}
	}
	p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
	p.c.Approx = approxOf(f, ch)
	p.c.keep = keep
	return p.finish(fmt.Sprintf("%s%s, %s", f.Op, ch.mods(), text))
}

// inPlace makes a case whose destination is its last operand's register, if the
// two have one width. It skips comparisons: there are thousands.
func inPlace(f *ptx.Form, ch choice) (Case, bool) {
	if f.Op == "set" || f.Op == "setp" || len(f.Operands) < 2 {
		return Case{}, false
	}
	p := newProgram(f.Name)
	dst := registerOf(f, typeOf(f, ch, &f.Operands[0]))
	ops := []string{""}
	for i := 1; i < len(f.Operands); i++ {
		a := &f.Operands[i]
		typ := registerOf(f, typeOf(f, ch, a))
		if a.Class != "reg" && a.Class != "pred" || a.Optional || f.Operands[0].Class != a.Class || f.Operands[0].Pred != nil {
			return Case{}, false
		}
		r := p.in(kindOf(f, a, typ), typ)
		if ops = append(ops, r); bitsOf(typ) == bitsOf(dst) {
			ops[0] = r
		}
	}
	if ops[0] == "" {
		return Case{}, false
	}
	p.out(ops[0], dst)
	p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
	p.c.Approx = approxOf(f, ch)
	p.c.keep = keepFew
	return p.finish(fmt.Sprintf("%s%s in place", f.Op, ch.mods())), true
}

// wide makes the cases of conversions between integers in registers wider than
// their types.
func wide(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		for _, regs := range [][2]string{{"b64", "b64"}, {"b32", "b64"}, {"b64", "b32"}} {
			d, a := regs[0], regs[1]
			if bitsOf(d) < bitsOf(ch.get(f, "dtype")) || bitsOf(a) < bitsOf(ch.get(f, "atype")) {
				continue
			}
			p := newProgram(f.Name)
			p.emit("cvt%s %s, %s;", ch.mods(), p.result(d), p.in(kind(a), a))
			p.c.keep = keepFew
			list = append(list, p.finish(fmt.Sprintf("cvt%s from %s to %s", ch.mods(), a, d)))
		}
	}
	return list
}

// arithmetic makes the cases of floating-point arithmetic: what rounds takes
// more operands than one block of threads has.
func arithmetic(f *ptx.Form) []Case {
	list := generic(f)
	switch f.Op {
	case "add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt":
		list = append(list, again(f, 6, keepFew)...)
	}
	return list
}

// approximate makes the cases of an approximate function: the usual operands, more
// of them, and of 16-bit formats every one.
func approximate(f *ptx.Form) []Case {
	list := append(generic(f), again(f, 6, 0)...)
	for _, ch := range product(f) {
		if !strings.HasSuffix(ch.get(f, "type"), "x2") {
			continue
		}
		for i := range 1 << 15 / threads {
			list = append(list, withOperands(f, ch, fmt.Sprintf("every operand, part %d", i), 0, func(string) kind {
				return kind(fmt.Sprintf("all16 from %d by 2", 2*threads*i))
			}))
		}
	}
	return list
}

// conversions makes the cases of a cvt row: of a source of 16 bits every value,
// as many instructions a thread as that takes.
func conversions(f *ptx.Form) []Case {
	list := generic(f)
	if f.Name == "cvt.int.int" {
		list = append(list, wide(f)...)
	}
	for _, ch := range product(f) {
		src := ch.get(f, "atype")
		switch src {
		case "f16", "bf16", "e4m3x2", "e5m2x2":
		default:
			continue
		}
		p := newProgram(f.Name)
		p.c.keep = 1
		for k := range 1 << 16 / threads {
			p.emit("cvt%s %s, %s;", ch.mods(), p.result(registerOf(f, ch.get(f, "dtype"))), p.in(kind(fmt.Sprintf("all16 from %d by %d", k, 1<<16/threads)), src))
		}
		list = append(list, p.finish(fmt.Sprintf("cvt%s of every operand", ch.mods())))
	}
	return list
}

// registerOf is the register type for an operand of cvt: the assembler wants 32
// bits for 8-bit integers where bf16 is the other type.
func registerOf(f *ptx.Form, typ string) string {
	if f.Op == "cvt" && bytesOf(typ) == 1 && strings.Contains(f.Name, "bf16") {
		return "b32"
	}
	return typ
}
