package campaign

import (
	"fmt"
	"slices"
	"strings"

	"muster/ptx"
)

// A choice gives each slot of a form a value; "" leaves it out.
type choice []string

func (ch choice) mods() string {
	var b strings.Builder
	for _, m := range ch {
		if m != "" {
			b.WriteString("." + m)
		}
	}
	return b.String()
}

// values lists what a slot can be: the empty string for one left out.
func values(s ptx.Slot) []string {
	if s.Optional {
		return append([]string{""}, s.Values...)
	}
	return s.Values
}

// product lists every combination of a form's modifiers.
func product(f *ptx.Form) []choice {
	list := []choice{{}}
	for _, s := range f.Slots {
		var next []choice
		for _, ch := range list {
			for _, v := range values(s) {
				next = append(next, append(slices.Clone(ch), v))
			}
		}
		list = next
	}
	return list
}

func (ch choice) get(f *ptx.Form, slot string) string {
	for i, s := range f.Slots {
		if s.Name == slot {
			return ch[i]
		}
	}
	return ""
}

// typeOf resolves an operand's type.
func typeOf(f *ptx.Form, ch choice, a *ptx.Arg) string {
	how, slot, ok := strings.Cut(a.Type, "<")
	if !ok {
		return a.Type
	}
	slot, _, _ = strings.Cut(slot, ">")
	typ := ch.get(f, slot)
	switch how {
	case "wide":
		return fmt.Sprintf("%c%d", typ[0], 2*bitsOf(typ))
	case "dot":
		return "b32"
	}
	return typ
}

// uses are the operands that are more than values of their type.
var uses = map[string]kind{
	"bfe.b": position, "bfe.c": position, "bfi.c": position, "bfi.e": position, "szext.b": position, "bmsk.a": position, "bmsk.b": position,
	"shl.b": position, "shr.b": position, "shf.c": position, "fns.base": position, "fns.offset": "u8", "prmt.c": selector,
}

func kindOf(f *ptx.Form, a *ptx.Arg, typ string) kind {
	if k, ok := uses[f.Op+"."+a.Name]; ok {
		return k
	}
	if f.Op == "cvt" {
		switch typ {
		case "u8", "s8", "e4m3x2", "e5m2x2":
			return "b16" // what is above the operand does not count
		}
	}
	return kind(typ)
}

// immediates gives the values that an immediate operand takes, by row.
var immediates = map[string][]uint64{
	"lop3":      upTo(256),
	"lop3.bool": {0x80, 0x96, 0xca, 0xe8, 0xf8, 0x3c},
}

func upTo(n uint64) (list []uint64) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// generic makes the cases of a row whose operands are registers.
func generic(f *ptx.Form) (list []Case) {
	for n, ch := range product(f) {
		lits := immediates[f.Name]
		if lits == nil {
			lits = []uint64{0}
		}
		for _, lit := range lits {
			list = append(list, oneInstruction(f, ch, n%4 != 3, lit, nil))
		}
		if takesLiteral[f.Op] {
			list = append(list, literal(f, ch)...)
		}
		if c, ok := inPlace(f, ch); ok {
			list = append(list, c)
		}
	}
	return list
}

// takesLiteral are the operations that are also tried with a constant as
// their last operand, since that is how they mostly come.
var takesLiteral = map[string]bool{"add": true, "sub": true, "mul": true, "mad": true, "min": true, "max": true, "div": true, "rem": true, "and": true, "or": true, "xor": true,
	"shl": true, "shr": true, "shf": true, "bfe": true, "bfi": true, "prmt": true, "fma": true, "selp": true}

// literal makes variants of an instruction with a constant operand.
func literal(f *ptx.Form, ch choice) (list []Case) {
	s := newSource("literal " + f.Name + ch.mods())
	for i := len(f.Operands) - 1; i > 0; i-- {
		a := &f.Operands[i]
		typ := typeOf(f, ch, a)
		if a.Class != "reg" || typ == "pred" || strings.Contains(typ, "x") || strings.Contains(typ, "f16") {
			continue
		}
		for range 2 {
			v := s.value(kindOf(f, a, typ), 0, nil)
			if f.Op == "bfe" || f.Op == "bfi" {
				v &= 0xff // the assembler's range
			}
			list = append(list, oneInstruction(f, ch, true, 0, &lit{a.Name, constant(typ, v), []uint64{v}}))
		}
		break
	}
	return list
}

type lit struct {
	operand, text string
	bits          []uint64
}

func constant(typ string, v uint64) string {
	switch typ {
	case "f32":
		return fmt.Sprintf("0f%08X", v)
	case "f64":
		return fmt.Sprintf("0d%016X", v)
	}
	if bitsOf(typ) == 16 {
		return fmt.Sprint(int16(v))
	}
	if bitsOf(typ) == 32 {
		return fmt.Sprint(int32(v))
	}
	return fmt.Sprint(int64(v))
}

// oneInstruction makes the case of one instruction: pair says whether an
// optional second predicate is written, imm is the value of an immediate, fixed
// an operand that is a constant.
func oneInstruction(f *ptx.Form, ch choice, pair bool, imm uint64, fixed *lit) Case {
	p := newProgram(f.Name)
	var ops []string
	for i := range f.Operands {
		a := &f.Operands[i]
		if a.Optional && (a.When == "" || ch.get(f, a.When) == "") {
			continue
		}
		typ := registerOf(f, typeOf(f, ch, a))
		var x string
		switch {
		case fixed != nil && a.Name == fixed.operand:
			x = fixed.text
		case a.Class == "imm":
			x = fmt.Sprint(imm)
		case a.Role == ptx.Write:
			x = p.result(typ)
		case a.Class == "vector":
			x = "{" + strings.Join([]string{p.in(kind(typ), typ), p.in(kind(typ), typ)}, ", ") + "}"
		default:
			x = p.in(kindOf(f, a, typ), typ)
		}
		if a.Pred != nil && (pair || !a.Pred.Optional) {
			x += "|" + p.result("pred")
		}
		ops = append(ops, x)
	}
	text := f.Op + ch.mods()
	p.emit("%s %s;", text, strings.Join(ops, ", "))
	p.c.Approx = approxOf(f, ch)
	if fixed != nil {
		p.c.fixed = fixed.bits
		text += " " + fixed.text
	} else if immediates[f.Name] != nil {
		text += fmt.Sprintf(" %#x", imm)
	}
	return p.finish(text)
}

// carries makes the cases of the extended-precision rows: the carry comes from
// an addition or a subtraction, and afterwards both an addition and a
// subtraction show it.
func carries(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		typ := ch.get(f, "type")
		for _, before := range []string{"add", "sub"} {
			for _, after := range []string{"addc", "subc"} {
				reads := f.Op == "addc" || f.Op == "subc" || f.Op == "madc"
				writes := slices.Contains(ch, "cc")
				if !reads && before == "sub" || !writes && after == "subc" {
					continue
				}
				p := newProgram(f.Name)
				if reads {
					p.emit("%s.cc.u32 %s, %s, %s;", before, p.reg("u32"), p.in("u32", "u32"), p.in("u32", "u32"))
				}
				var ops []string
				for i := range f.Operands {
					if i == 0 {
						ops = append(ops, p.result(typ))
					} else {
						ops = append(ops, p.in(kind(typ), typ))
					}
				}
				p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
				if writes {
					p.emit("%s.u32 %s, %s, %s;", after, p.result("u32"), p.in("u32", "u32"), "0")
				}
				text := f.Op + ch.mods()
				if reads {
					text = before + ".cc; " + text
				}
				if writes {
					text += "; " + after
				}
				list = append(list, p.finish(text))
			}
		}
	}
	return list
}

// oob makes the cases of fma.oob: beside ordinary operands, every NaN.
func oob(f *ptx.Form) (list []Case) {
	list = generic(f)
	for _, ch := range product(f) {
		k := oobF16
		if strings.HasPrefix(ch.get(f, "type"), "bf16") {
			k = oobBF16
		}
		for at := range 3 {
			p := newProgram(f.Name)
			typ := ch.get(f, "type")
			ops := []string{p.result(typ)}
			for i := range 3 {
				if i == at {
					ops = append(ops, p.in(k, typ))
				} else {
					ops = append(ops, p.in(kind(typ), typ))
				}
			}
			p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
			list = append(list, p.finish(fmt.Sprintf("%s%s, every NaN as operand %d", f.Op, ch.mods(), at)))
		}
	}
	return list
}

// in8 and result8 are in and result for registers of 8 bits, which only mov
// wants.
func (p *program) in8() string {
	r := p.reg("b32")
	p.regs[len(p.regs)-1] = fmt.Sprintf(".reg .b8 %s;", r)
	var off int
	p.c.In, off = addArray(p.c.In, "b8", 1)
	p.load = append(p.load, fmt.Sprintf("ld.global.b8 %s, [%s+%d];", r, p.address(1, false), off))
	return r
}

func (p *program) result8() string {
	r := p.reg("b32")
	p.regs[len(p.regs)-1] = fmt.Sprintf(".reg .b8 %s;", r)
	p.store = append(p.store, fmt.Sprintf("st.global.b8 %s, %s;", p.slot(1), r))
	return r
}

// packs makes the cases of mov that join or split registers.
func packs(f *ptx.Form) (list []Case) {
	parts := map[string][]string{"b16": {"b8"}, "b32": {"b16", "b8"}, "b64": {"b32", "b16"}, "b128": {"b64"}}
	for _, ch := range product(f) {
		typ := ch.get(f, "type")
		for _, part := range parts[typ] {
			n := bitsOf(typ) / (8 * bytesOf(part))
			for _, gap := range []int{-1, n - 1} { // with a sink
				p := newProgram(f.Name)
				var vec []string
				split := f.Operands[0].Class == "vector"
				for i := range n {
					switch {
					case split && i == gap:
						vec = append(vec, "_")
					case split && part == "b8":
						vec = append(vec, p.result8())
					case split:
						vec = append(vec, p.result(part))
					case part == "b8":
						vec = append(vec, p.in8())
					default:
						vec = append(vec, p.in(kind(part), part))
					}
				}
				v := "{" + strings.Join(vec, ", ") + "}"
				if split {
					p.emit("mov.%s %s, %s;", typ, v, p.in(kind(typ), typ))
				} else if gap < 0 {
					p.emit("mov.%s %s, %s;", typ, p.result(typ), v)
				} else {
					continue
				}
				text := fmt.Sprintf("mov.%s of %d", typ, n)
				if gap >= 0 {
					text += " with a sink"
				}
				list = append(list, p.finish(text))
			}
		}
	}
	return list
}

// specials are the special registers whose value a launch determines.
var specials = []string{"tid.x:u32", "tid.y:u32", "tid.z:u32", "ntid.x:u32", "ntid.y:u32", "ntid.z:u32", "ctaid.x:u32", "ctaid.y:u32", "ctaid.z:u32", "nctaid.x:u32", "nctaid.y:u32", "nctaid.z:u32",
	"laneid:u32", "lanemask_eq:u32", "lanemask_le:u32", "lanemask_lt:u32", "lanemask_ge:u32", "lanemask_gt:u32", "dynamic_smem_size:u32", "total_smem_size:u32",
	"clusterid.x:u32", "clusterid.y:u32", "nclusterid.x:u32", "nclusterid.y:u32", "nclusterid.z:u32", "cluster_ctaid.x:u32", "cluster_ctaid.y:u32", "cluster_nctaid.x:u32", "cluster_nctaid.z:u32", "cluster_ctarank:u32", "cluster_nctarank:u32", "is_explicit_cluster:pred"}

const ofTwo = "\n.explicitcluster\n.reqnctapercluster 2, 1, 1"

// moves makes the cases of plain mov: registers, special registers, constants
// and addresses of variables.
func moves(f *ptx.Form) (list []Case) {
	list = generic(f)
	for _, s := range specials {
		name, typ, _ := strings.Cut(s, ":")
		for _, cluster := range []int{1, 2} {
			p := newProgram(f.Name)
			if p.c.Cluster = cluster; cluster > 1 {
				p.attrs = ofTwo
			}
			p.emit("mov.%s %s, %%%s;", typ, p.result(typ), name)
			list = append(list, p.finish(fmt.Sprintf("mov.%s %%%s, cluster of %d", typ, name, cluster)))
		}
	}
	for _, c := range []string{"u16 -3", "s32 0x80000001", "u64 -1", "b64 0xFFFFFFFFFFFFFFFFU", "f32 0f7FC12345", "f32 -0.1", "f64 1.0"} {
		typ, v, _ := strings.Cut(c, " ")
		p := newProgram(f.Name)
		p.emit("mov.%s %s, %s;", typ, p.result(typ), v)
		list = append(list, p.finish(fmt.Sprintf("mov.%s %s", typ, v)))
	}
	return list
}
