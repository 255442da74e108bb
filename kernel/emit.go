package kernel

import (
	"fmt"
	"strings"

	"muster/ptx"
)

// Inst adds an instruction: its name with all its modifiers, as in PTX, and its operands.
// They are Reg, Pred, Ptr, Vec, Pair, Discard, *Label, results of Mem, and Go numbers,
// which become immediates. A mismatch with the instruction table is a mistake: an unknown
// name, a missing modifier, a register of the wrong type, an address of the wrong state
// space.
//
// The package inst has a function for each instruction, with named operands.
func (k *Kernel) Inst(op string, operands ...any) {
	in := &ptx.Inst{}
	words := strings.Split(op, ".")
	in.Op, in.Mods = words[0], words[1:]
	ptrs := map[*ptx.Mem]Ptr{}
	for _, v := range operands {
		x, ok := k.operandOf(v)
		if !ok {
			k.assume(operands)
			return
		}
		if m, ok := x.(*ptx.Mem); ok {
			switch v := v.(type) {
			case Ptr:
				ptrs[m] = v
			case mem:
				ptrs[m] = v.at
			}
		}
		in.Operands = append(in.Operands, x)
	}
	if in.Form = ptx.Match(in); in.Form == nil {
		k.fail("%s", ptx.Explain(in))
		k.assume(operands)
		return
	}
	n := len(k.errs)
	k.typed(in, ptrs, k.regType)
	k.newEnough(in)
	if len(k.errs) > n {
		k.assume(operands)
		return
	}
	k.emit(in)
}

// assume marks the registers of a mistaken instruction as set, to report a mistake only
// once.
func (k *Kernel) assume(operands []any) {
	mark := func(of *Kernel, in *body, id int) {
		if of == k && in != nil {
			in.regs[id].given = true
		}
	}
	for _, v := range operands {
		switch v := v.(type) {
		case Reg:
			mark(v.k, v.in, v.id)
		case Pred:
			mark(v.k, v.in, v.id)
		case Vec:
			for _, r := range v {
				mark(r.k, r.in, r.id)
			}
		case Pair:
			mark(v.Reg.k, v.Reg.in, v.Reg.id)
			mark(v.Pred.k, v.Pred.in, v.Pred.id)
		}
	}
}

// canonical puts the modifiers in the order of the ISA.
func canonical(in *ptx.Inst) {
	var mods []string
	for _, s := range in.Form.Slots {
		if m := in.Mod(s.Name); m != "" {
			mods = append(mods, m)
		}
	}
	if len(mods) == len(in.Mods) {
		in.Mods = mods
	}
}

// typed checks registers, immediates and addresses against the instruction's row, and
// types the numbers. typeOf returns a register's type by its name.
func (k *Kernel) typed(in *ptx.Inst, ptrs map[*ptx.Mem]Ptr, typeOf func(name string) (Type, bool)) {
	canonical(in)
	for _, b := range ptx.Bind(in) {
		want := Type(b.Type)
		if b.Elem && in.Form.Class == "matrix" && (want.float() || want.Size() == 1) && want.Size() < 4 {
			want = B32 // fragments are packed
		}
		what := func() string { return fmt.Sprintf("%s: operand %s", name(in), b.Arg.Name) }
		switch x := b.X.(type) {
		case ptx.Name:
			have, ok := typeOf(string(x))
			if !ok || b.Arg.Class == "mem" || b.Arg.Class == "label" {
				continue
			}
			if in.Op == "mov" && strings.HasPrefix(string(b.Arg.Type), "part") {
				continue
			}
			if !have.fits(want, widens(in, b)) {
				k.fail("%s", mismatch(what(), have, want))
			}
		case ptx.Int, ptx.Float:
			if b.Arg.Class == "imm" && want == "" {
				continue
			}
			imm, why := immediate(x, want)
			if why != "" {
				k.fail("%s: %s", what(), why)
				continue
			}
			b.Set(imm)
		case *ptx.Mem:
			if p, ok := ptrs[x]; ok && b.Arg.Class == "mem" {
				if due := dueSpace(in, b.Arg); due != "any" && !p.space.within(due) {
					k.fail("%s is an address in %s; want one in %s", what(), p.space, spaceName(due))
				}
			}
		}
	}
}

// widens reports whether an operand's register may be wider than its type (ISA 9.4.1):
// the values of loads, stores and conversions.
func widens(in *ptx.Inst, b ptx.Bound) bool {
	switch in.Op {
	case "ld", "ldu", "st", "cvt":
		return !b.Inside
	}
	return false
}

func mismatch(what string, have, want Type) string {
	how := ""
	switch {
	case want == predType:
		how = ": compare it, as with Ne(0)"
	case have == predType:
		how = ": make it a number with Select"
	case have.Size() == want.Size():
		how = ": take its bits with As, or convert it with Cvt"
	default:
		how = ": convert it with Cvt"
	}
	return fmt.Sprintf("%s has type %s; want %s%s", what, have, want, how)
}

// dueSpace returns the state space required of an address operand by the instruction's
// modifiers; "any" if the table does not say.
func dueSpace(in *ptx.Inst, a *ptx.Arg) string {
	switch a.Name {
	case "map":
		return "any"
	case "bar":
		if s := in.Mod("dst"); s == "shared::cta" {
			return s
		}
		return "shared::cluster"
	case "d":
		if s := in.Mod("dst"); s != "" {
			return s
		}
	case "s":
		if s := in.Mod("src"); s != "" {
			return s
		}
	}
	if s, ok := in.Form.Slot("space"); ok {
		if m := in.Mod("space"); m != "" {
			return m
		}
		if s.Optional {
			return "generic"
		}
	}
	switch in.Form.Space {
	case "shared", "shared::cta", "shared::cluster", "global":
		return in.Form.Space
	}
	return "any"
}

func spaceName(due string) string {
	if due == "generic" || due == "" {
		return "generic addressing"
	}
	return due
}

// name returns an instruction's text without its operands.
func name(in *ptx.Inst) string { return strings.Join(append([]string{in.Op}, in.Mods...), ".") }

// newEnough checks an instruction against the kernel's architecture and version.
func (k *Kernel) newEnough(in *ptx.Inst) {
	v, sm := in.Needs()
	n, suffix, _ := parseSM(k.target)
	f := in.Form.SM
	lacks := n < f.Number || f.Suffix == "a" && (suffix != "a" || n != f.Number) || f.Suffix == "f" && (suffix == "" || n/10 != f.Number/10)
	if sm != f { // the table does not list other architectures of a modifier
		lacks = lacks || n < sm.Number || sm.Suffix != "" && suffix == ""
	}
	if lacks {
		k.fail("%s needs sm_%d%s, and the kernel is for %s", name(in), sm.Number, sm.Suffix, k.target)
	}
	if k.least.Before(v) {
		k.least = v
	}
	if k.version != (ptx.Version{}) && k.version.Before(v) {
		k.fail("%s needs PTX %d.%d, and the kernel is for %d.%d", name(in), v.Major, v.Minor, k.version.Major, k.version.Minor)
	}
}

// register finds a register of the function by its name.
func (k *Kernel) register(name string) (register, bool) {
	if i := k.at.find(name); i >= 0 {
		return k.at.regs[i], true
	}
	return register{}, false
}

func (k *Kernel) regType(name string) (Type, bool) {
	r, ok := k.register(name)
	return r.typ, ok
}

// find returns the index of the register with that name, or -1.
func (b *body) find(name string) int {
	if len(name) < 3 || name[0] != '%' {
		return -1
	}
	n, i := 0, len(name)
	for m := 1; i > 1 && m <= maxRegs && name[i-1] >= '0' && name[i-1] <= '9'; m *= 10 {
		i--
		n += int(name[i]-'0') * m
	}
	if n < 1 || n > len(b.regs) || b.regs[n-1].name != name {
		return -1
	}
	return n - 1
}

// emit adds a finished instruction.
func (k *Kernel) emit(in *ptx.Inst) {
	if k.grow(1) {
		if g := k.guard; g != nil && in.Guard == nil {
			in.Guard = &ptx.Guard{Reg: string(g.name().(ptx.Name)), Not: g.neg}
		}
		k.at.where[in] = k.locate()
		k.at.stmts = append(k.at.stmts, in)
	}
}

// emitBlock adds a block of inline PTX.
func (k *Kernel) emitBlock(block *ptx.Block) {
	var list []*ptx.Inst
	var walk func(b *ptx.Block)
	walk = func(b *ptx.Block) {
		for _, s := range b.Stmts {
			switch s := s.(type) {
			case *ptx.Inst:
				list = append(list, s)
			case *ptx.Block:
				walk(s)
			}
		}
	}
	walk(block)
	if k.grow(len(list) + 1) {
		at := k.locate()
		for _, in := range list {
			k.at.where[in] = at
		}
		k.at.stmts = append(k.at.stmts, block)
	}
}

// grow counts n more instructions, labels or variables, and reports a full kernel.
func (k *Kernel) grow(n int) bool {
	if k.over() || k.refuses() {
		return false
	}
	if k.insts += n; k.insts > maxInsts {
		k.fill("the kernel has more than %d instructions, labels and variables", maxInsts)
	}
	return !k.full
}

// locate adds a .loc if the line has changed.
func (k *Kernel) locate() Place {
	at, b := k.here(), k.at
	if at != b.line {
		b.line = at
		b.stmts = append(b.stmts, &ptx.Loc{File: k.file(at.File), Line: at.Line})
	}
	return at
}

// file returns the index of a source file. PTX has quoted names without escapes, and
// ptxas accepts only ASCII.
func (k *Kernel) file(name string) int {
	plain := func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}
	name = strings.Map(plain, name)
	for i, f := range k.files {
		if f == name {
			return i + 1
		}
	}
	k.files = append(k.files, name)
	return len(k.files)
}

// PTX adds instructions as text, with {name} for each operand named in args:
//
//	k.PTX("fma.rn.f32 {d}, {a}, {a}, {d};", kernel.Args{"d": d, "a": a})
//
// A Reg or a Pred is replaced by its name, a Ptr by its address in brackets, a Vec by its
// registers in braces, a *Label by its name, and a number by itself. The text is
// instructions, and blocks in braces, which may declare labels, registers and call
// parameters. A block's jumps to outer labels use operands. The text is checked against
// the instruction table like Inst. A mistake names the line of the text, counted from 1.
func (k *Kernel) PTX(text string, args Args) {
	k.inline(text, args)
}

// Args maps names to the operands of inline PTX.
type Args map[string]any
