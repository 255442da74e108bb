package ptx

import (
	"slices"
	"strings"
)

// This file checks operands of instructions against the types in their rows (ISA 9.4,
// operand type checking), in the whole module, reachable or not. It accepts everything
// that ptxas accepts, as testdata/operands.txt shows, even beyond the ISA.

// CheckOperands reports registers and literals whose types their instructions do not
// accept, and literals with values out of range. An instruction without a form is
// skipped.
func CheckOperands(m *Module) []*Error {
	c := &operandCheck{mod: m}
	c.walk(m)
	return c.list
}

type operandCheck struct {
	scopes
	mod  *Module
	list []*Error
	in   *Inst
}

// walk visits the functions of a module, with the names of each scope.
func (c *operandCheck) walk(m *Module) {
	c.enter()
	for _, it := range m.Items {
		switch it := it.(type) {
		case *Var:
			c.add(it)
		case *Func:
			if it.Body == nil {
				continue
			}
			c.enter()
			for _, v := range slices.Concat(it.Ret, it.Params) {
				c.add(v)
			}
			c.block(it.Body)
			c.leave()
		}
	}
}

func (c *operandCheck) block(b *Block) {
	c.enter()
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Var:
			c.add(s)
		case *Block:
			c.block(s)
		case *Inst:
			c.inst(s)
		}
	}
	c.leave()
}

func (c *operandCheck) inst(in *Inst) {
	c.in = in
	if g := in.Guard; g != nil {
		if v, _ := c.find(g.Reg); v != nil && v.Space == "reg" && v.Type != "pred" {
			c.refuse("%s, a register of .%s, is no predicate", g.Reg, v.Type)
		}
	}
	if in.Form == nil {
		return
	}
	found := len(c.list)
	bound := bindForm(in)
	for i := range bound {
		c.operand(&bound[i])
		if len(c.list) > found {
			return // one error per instruction is enough
		}
	}
	for _, bad := range []func(*Inst, []Bound) string{badValue, badOffsets, badSat} {
		if why := bad(in, bound); why != "" {
			c.refuse("%s", why)
			return
		}
	}
}

// bindForm is Bind with only the instruction's own form.
func bindForm(in *Inst) (list []Bound) {
	c := candidate{form: in.Form, fill: in.fill()}
	if c.fill == nil || !c.bind(&list, in.Form.Operands, in.Operands, in.Mods, false) {
		return nil
	}
	return list
}

func (c *operandCheck) refuse(format string, args ...any) {
	c.list = append(c.list, c.mod.errorAt(c.in.Pos, format, args...))
}

func (c *operandCheck) opcode() string {
	return c.in.Opcode()
}

func (c *operandCheck) operand(b *Bound) {
	switch x := b.X.(type) {
	case Name:
		c.name(b, string(x))
	case *Vector:
		c.vector(b, x)
	case *Mem:
		c.address(b, x)
	case Int:
		c.integer(b)
	case Float:
		c.float(b, x)
	}
}

// integer checks an integer literal: it is no floating-point value, and no packed one.
func (c *operandCheck) integer(b *Bound) {
	w, in := kindOf(b.Type), c.in
	switch {
	case b.Arg.Class == "imm", in.Form.Class == "texture":
	case in.onlyRegister(b.Arg):
		c.refuse("%s takes a register as %s, not a literal", c.opcode(), b.Arg.Name)
	case b.Elem:
		if w.class == 'f' && w.bits >= 32 || in.Op == "wmma" && b.Type == "tf32" {
			c.refuse("%s takes floating-point values of .%s, not an integer literal", c.opcode(), b.Type)
		}
	case w.class == 'f', w.class == 'h':
		c.refuse("%s takes a floating-point value of .%s, not an integer literal", c.opcode(), b.Type)
	case in.Op == "multimem", strings.HasPrefix(in.Form.Name, "add.simd"), strings.HasPrefix(in.Form.Name, "sub.simd"), strings.HasSuffix(in.Form.Name, ".mixed"):
	case w.class == 'x':
		c.refuse("%s takes a value of .%s, not an integer literal", c.opcode(), b.Type)
	}
}

// onlyRegister reports whether an operand that is read cannot be a literal.
func (in *Inst) onlyRegister(a *Arg) bool {
	switch in.Op {
	case "cvt":
		return a.Name == "rbits"
	case "tcgen05":
		return a.Name == "mask"
	case "mma":
		return slices.Contains([]string{"e", "sa", "sb"}, a.Name)
	case "stackrestore":
		return true
	}
	return a.Class == "video" && in.simdVideo() || a.Name == "c" && in.simdVideo()
}

// simdVideo reports whether an instruction is one of two halfwords or four bytes: vadd2.
func (in *Inst) simdVideo() bool {
	return in.Op[0] == 'v' && strings.ContainsAny(in.Op[len(in.Op)-1:], "24")
}

// vector checks that the registers of a vector have one width. Those of a fragment of
// halves in wmma are not all of .f32.
func (c *operandCheck) vector(b *Bound, x *Vector) {
	first, bits, floats := "", 0, 0
	for _, e := range x.Elems {
		n, ok := e.(Name)
		if !ok {
			continue
		}
		v, elem := c.find(string(n))
		if v == nil || v.Space != "reg" || v.Vec > 0 && !elem {
			continue
		}
		k := kindOf(v.Type)
		if k.class == 'f' {
			floats++
		}
		switch {
		case first == "":
			first, bits = string(n), k.bits
		case k.bits != bits:
			c.refuse("%s: the elements %s and %s of a vector have different widths", c.opcode(), first, n)
			return
		}
	}
	if halves := b.Type == "f16" || b.Type == "f16x2"; c.in.Op == "wmma" && halves && floats > 0 && floats == len(x.Elems) {
		c.refuse("%s takes registers with two halves each; %s is a register of .f32", c.opcode(), first)
		return
	}
	if in := c.in; in.Op == "mov" && in.Mod("vec") == "" && bits > 0 && bits*len(x.Elems) != kindOf(in.Mod("type")).bits {
		c.refuse("%s packs %d bits, not %d of %d", c.opcode(), kindOf(in.Mod("type")).bits, len(x.Elems), bits)
		return
	}
	c.checkLength(b, x)
}

// float checks a floating-point literal: its operand must be floating-point, or untyped
// and of the literal's size.
func (c *operandCheck) float(b *Bound, x Float) {
	w := kindOf(b.want())
	switch {
	case b.Elem, w.class == 'f' && w.bits >= 32, w.class == 'b' && w.bits == x.Size && w.bits != 0, w.class == 0:
	case w.class == 'x' && (w.bits == 32 || b.Type == "bf16"):
	default:
		c.refuse("%s takes a value of .%s, not a floating-point literal of %d bits", c.opcode(), b.want(), x.Size)
	}
}

// want returns the type that an operand must have, "" if the row leaves it open.
func (b *Bound) want() string {
	if b.Type == "" && strings.HasPrefix(b.Arg.Type, "dot<") {
		return "s32" // or .u32, by the two types of dp4a and dp2a
	}
	return b.Type
}

func (c *operandCheck) name(b *Bound, name string) {
	v, elem := c.find(name)
	switch {
	case v == nil:
		if s, ok := LookupSpecial(name); ok {
			c.special(b, name, s.Type)
		}
	case v.Space != "reg", v.Vec > 0 && !elem, b.Arg.Class == "label", b.Arg.Class == "list":
	case b.Arg.Class == "imm":
		c.refuse("%s takes an immediate as %s, not a register", c.opcode(), b.Arg.Name)
	case v.Vec == 0 && c.needsVector(b):
		c.refuse("%s takes a vector as %s; %s is one register", c.opcode(), b.Arg.Name, name)
	case !b.takes(c.in, v.Type):
		c.refuse("%s takes an operand of .%s; %s is a register of .%s", c.opcode(), b.want(), name, v.Type)
	}
}

// needsVector reports whether an operand is a vector by the instruction's modifiers: a single
// register stands for one element only where the modifier that counts them is left out.
func (c *operandCheck) needsVector(b *Bound) bool {
	return !b.Elem && b.Arg.Class == "vector" && b.Arg.Count[0] == '<' && c.in.Mod(strings.Trim(b.Arg.Count, "<>")) != ""
}

// special checks a special register against the operand's type, like other registers. mov
// may also read the oldest ones at their original, smaller width: 16 bits, or 32. By the
// ISA only mov and cvt may read special registers at all; other instructions are
// accepted, since their meaning is clear.
func (c *operandCheck) special(b *Bound, name, typ string) {
	base, _, _ := strings.Cut(name, ".")
	w, have := kindOf(b.Type), kindOf(strings.TrimPrefix(typ, "v4."))
	switch {
	case b.Elem, b.Arg.Role == Address, c.in.Op == "cvt", b.Type == "":
	case strings.HasPrefix(typ, "v4.") && (b.Arg.Class != "vector" || w.class != 'f') || strings.HasPrefix(name, "%envreg") || strings.HasPrefix(name, "%pm"):
	case w.class != 'f' && w.bits == have.bits && (w.class == 'p') == (have.class == 'p'):
	case c.in.Op != "mov" && b.takes(c.in, typ):
	case slices.Contains([]string{"%tid", "%ntid", "%ctaid", "%nctaid", "%gridid"}, base) && w.class != 'f' && w.bits <= have.bits && w.bits >= 16:
	default:
		c.refuse("%s cannot read %s, a special register of .%s", c.opcode(), name, typ)
	}
}

// address checks the register of an address: an integer, or bits. An address of tensor memory
// is a register of 32 bits.
func (c *operandCheck) address(b *Bound, x *Mem) {
	tensor := c.in.Form.Class == "tcgen05" && c.in.Form.Space == "tensor"
	if _, ok := x.Base.(Int); ok && tensor {
		c.refuse("%s takes a register as the address %s in tensor memory, not a literal", c.opcode(), b.Arg.Name)
		return
	}
	n, ok := x.Base.(Name)
	if !ok || x.Index {
		return
	}
	v, elem := c.find(string(n))
	if v == nil || v.Space != "reg" || v.Vec > 0 && !elem {
		return
	}
	switch k := kindOf(v.Type); {
	case k.class != 'b' && k.class != 'i' || k.bits == 128 || k.bits < 32 && b.wideAddress(c.in):
		c.refuse("%s: %s, a register of .%s, cannot be an address", c.opcode(), n, v.Type)
	case tensor && k.bits != 32:
		c.refuse("%s: %s, a register of .%s, cannot be an address in tensor memory, which has 32 bits", c.opcode(), n, v.Type)
	}
}

// wideAddress reports whether ptxas takes no registers of fewer than 32 bits as an address of an
// instruction; it is more lenient than the ISA with those of most (6.4.1).
func (b *Bound) wideAddress(in *Inst) bool {
	switch in.Op {
	case "tcgen05", "wmma":
		return true
	case "ldmatrix", "stmatrix":
		return in.Mod("space") == ""
	case "cp":
		return b.Arg.Name == "bar" && strings.HasPrefix(in.Form.Name, "cp.async") && in.Mod("src") == "shared::cta"
	case "st", "red":
		return in.Form.Name == "st.bulk" || in.Form.Class == "async" && in.Mod("space") != "shared::cluster"
	}
	return false
}

// A typeKind is a type's class and width. Classes: 'b' bits, 'i' integers, 'f' floating
// point, 'p' predicates, 'h' two halves, accepted as an integer, 'x' other packed and
// narrow types, 'a' an address or a handle, 0 unknown.
type typeKind struct {
	class byte
	bits  int
}

func kindOf(typ string) typeKind {
	switch typ {
	case "pred":
		return typeKind{'p', 1}
	case "f16x2":
		return typeKind{'h', 32}
	case "addr":
		return typeKind{'a', 0}
	case "texref", "samplerref", "surfref":
		return typeKind{'a', 64}
	case "", "none", "any", "code":
		return typeKind{}
	}
	if types[typ] == 0 {
		return typeKind{'x', width(typ)}
	}
	class := typ[0]
	if class == 'u' || class == 's' {
		class = 'i'
	}
	return typeKind{class, int(types[typ]) * 8}
}

// takes reports whether a register of a type fits the operand (ISA 9.4, table 25, and
// 9.4.1, relaxed type checking): bits fit all types of their size, signed and unsigned
// integers fit each other, and for memory accesses and conversions a register may be
// wider.
func (b *Bound) takes(in *Inst, typ string) bool {
	w, have := kindOf(b.want()), kindOf(typ)
	if b.Arg.Class == "video" {
		w = typeKind{'i', 32} // bytes and halfwords of a register
	}
	if w.class == 0 {
		return have.class != 'p' || b.Type == "" && b.Arg.Type != "addr" && b.Arg.Class != "vector"
	}
	if in.Form.Name == "cp.async" && b.Arg.Name == "srcsize" && have.class == 'p' {
		return true // a predicate in its place means that nothing is read
	}
	switch {
	case w.class == 'p' || have.class == 'p':
		return w.class == have.class
	case w.class == 'a':
		return (have.class == 'b' || have.class == 'i') && (have.bits == w.bits || w.bits == 0 && (have.bits == 32 || have.bits == 64))
	case b.Elem && in.Op == "multimem" && have.bits != w.bits && !(have.bits == 8 && fragmentBits(b.Type) == 8):
		return false
	case b.Elem && in.Form.Class == "matrix" && have.bits > max(w.bits, 32):
		return false
	case b.Elem && strings.HasPrefix(in.Form.Name, "wmma.mma") && (w.bits < 16 || w.class == 'x') && have.class == 'f':
		return false
	case b.Elem && (w.class == 'x' || w.class == 'h' || b.Type == "f16" || in.Form.Class == "matrix" && w.bits < 32):
		return true // fragments and packed elements: the number of values per register is open
	case have.bits != w.bits && !(have.bits > w.bits && in.widens() && b.Arg.Name != "rbits"):
		return false
	case b.Elem && have.class == 'f' && have.bits > w.bits:
		return false
	case w.class == 'f':
		return have.class == 'b' || have.class == 'f' && have.bits == w.bits
	case w.class == 'x' && have.class == 'f' && !b.Elem:
		return in.Op == "cvt" || in.Op == "multimem" || in.Op == "set" && b.Arg.Role == Write
	case w.class == 'h':
		return have.class == 'b' || have.class == 'h'
	case b.Elem:
		return true // ptxas checks only the width of elements
	case w.class == 'i':
		return have.class != 'f'
	}
	return true
}

// widens reports whether an instruction's registers may be wider than its type (ISA
// 9.4.1): loads, stores and conversions.
func (in *Inst) widens() bool {
	switch in.Op {
	case "ld", "ldu", "suld", "sust":
		return true
	case "cvt": // but not those of the types that came with .bf16 and later
		return kindOf(in.Mod("dtype")).class != 'x' && kindOf(in.Mod("atype")).class != 'x' || strings.HasPrefix(in.Form.Name, "cvt.pack")
	}
	return in.Op == "st" && in.Form.Class == "memory"
}
