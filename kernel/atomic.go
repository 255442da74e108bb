package kernel

import (
	"fmt"
	"strings"
)

// An Op combines two values in atomics, reductions and asynchronous reductions.
type Op string

// The operations. Inc wraps to 0 after the operand, Dec wraps to the operand after 0;
// Exch stores the operand (ISA 9.7.13.5).
const (
	Add  Op = "add"
	Min  Op = "min"
	Max  Op = "max"
	And  Op = "and"
	Or   Op = "or"
	Xor  Op = "xor"
	Inc  Op = "inc"
	Dec  Op = "dec"
	Exch Op = "exch"
)

// bits reports whether an operation is on untyped bits.
func (o Op) bits() bool { return o == And || o == Or || o == Xor || o == Exch }

// untyped returns the bit type of t's width.
func untyped(t Type) Type {
	switch t.Size() {
	case 1:
		return B8
	case 2:
		return B16
	case 4:
		return B32
	case 16:
		return B128
	}
	return B64
}

// noftz returns the modifier for adding halves.
func noftz(op Op, t Type) string {
	if op == Add && t.half() {
		return ".noftz"
	}
	return ""
}

// reduces reports an operation that an instruction lacks for a type. types lists those
// that it has.
func (k *Kernel) reduces(what string, op Op, t Type, types map[Op]string) bool {
	list, ok := types[op]
	if !ok {
		k.fail("%s: there is no operation %q", what, string(op))
		return false
	}
	for _, s := range strings.Fields(list) {
		if s == string(t) {
			return true
		}
	}
	k.fail("%s: there is no %s of type %s; it takes %s", what, op, t, strings.ReplaceAll(list, " ", ", "))
	return false
}

// atomTypes are the types of atom and red; s64 is added as u64.
var atomTypes = map[Op]string{
	Add: "u32 s32 u64 f16 f16x2 bf16 bf16x2 f32 f64", Min: "u32 s32 u64 s64", Max: "u32 s32 u64 s64", Inc: "u32", Dec: "u32",
	And: "b32 b64", Or: "b32 b64", Xor: "b32 b64", Exch: "b32 b64 b128",
}

// Atom atomically combines the element with v and gives its old value: Add of u32, s32,
// u64, s64, f16, bf16, their pairs, f32, f64; Min and Max of u32, s32, u64, s64; Inc and
// Dec of u32; And, Or, Xor and Exch of 32 and 64 bits, Exch of 128. Modifiers are an
// order (Relaxed, the default, Acquire, Release, AcqRel) and a scope (GPU, the default,
// CTA, Cluster, Sys). It emits atom (ISA 9.7.13.5).
func (p Ptr) Atom(op Op, v Num, mods ...Mod) Reg {
	k := p.kernel()
	t, ok := p.atomic("Atom", op, v, mods, Relaxed, Acquire, Release, AcqRel)
	if !ok {
		return k.lost(p.elem)
	}
	d := k.reg(p.elem)
	k.Inst("atom"+join(mods)+p.spaceMod()+"."+string(op)+noftz(op, t)+"."+string(t), d, p, k.half(v, p.elem))
	return d
}

// Red is Atom without a result, and without Exch. Its order is Relaxed or Release:
// without a result it cannot acquire. It emits red (ISA 9.7.13.6).
func (p Ptr) Red(op Op, v Num, mods ...Mod) {
	k := p.kernel()
	if op == Exch {
		k.fail("Red: there is no exch; it is a Store, or Atom")
		return
	}
	if t, ok := p.atomic("Red", op, v, mods, Relaxed, Release); ok {
		k.Inst("red"+join(mods)+p.spaceMod()+"."+string(op)+noftz(op, t)+"."+string(t), p, k.half(v, p.elem))
	}
}

// CAS stores v if the element equals compare, and gives the old value; elements have 16,
// 32, 64 or 128 bits and are compared by their bits. Modifiers as for Atom. It emits
// atom.cas.
func (p Ptr) CAS(compare, v Num, mods ...Mod) Reg {
	k := p.kernel()
	p.element("CAS")
	if !k.ordered("CAS", mods, Relaxed, Acquire, Release, AcqRel) || !p.atomicSpace("CAS") {
		return k.lost(p.elem)
	}
	if p.elem.Size() < 2 {
		k.fail("CAS of elements of type %s: they have 16, 32, 64 or 128 bits", p.elem)
		return k.lost(p.elem)
	}
	d := k.reg(p.elem)
	k.Inst("atom"+join(mods)+p.spaceMod()+".cas."+string(untyped(p.elem)), d, p, k.bitsOf(compare, p.elem), k.bitsOf(v, p.elem))
	return d
}

// bitsOf puts a floating-point number into a register, since instructions on bits take
// its bits.
func (k *Kernel) bitsOf(v Num, t Type) Num {
	if t.float() && isNumber(v) {
		return k.Const(t, v)
	}
	return v
}

// AtomVec adds 2, 4 or 8 elements to as many in global memory, each atomically by itself,
// and gives the old values: f32 (2 or 4), f16 and bf16 (2, 4 or 8), f16x2 and bf16x2 (2
// or 4); the halves also have Min and Max. The address is a multiple of the vector's
// size. It emits atom.vN, PTX 8.1.
func (p Ptr) AtomVec(op Op, v Vec, mods ...Mod) Vec {
	k := p.kernel()
	d := make(Vec, len(v))
	for i := range d {
		d[i] = k.reg(p.elem)
	}
	if !p.vector("AtomVec", op, v, mods, Relaxed, Acquire, Release, AcqRel) {
		k.assume([]any{d})
		return d
	}
	k.Inst(p.vectorOp("atom", op, v, mods), d, p, v)
	return d
}

// RedVec is AtomVec without a result. It emits red.vN.
func (p Ptr) RedVec(op Op, v Vec, mods ...Mod) {
	if p.vector("RedVec", op, v, mods, Relaxed, Release) {
		p.k.Inst(p.vectorOp("red", op, v, mods), p, v)
	}
}

func (p Ptr) vectorOp(name string, op Op, v Vec, mods []Mod) string {
	z := ""
	if p.elem.half() {
		z = ".noftz"
	}
	return fmt.Sprintf("%s%s.global.%s%s.v%d.%s", name, join(mods), op, z, len(v), p.elem)
}

func (p Ptr) vector(what string, op Op, v Vec, mods []Mod, sems ...Mod) bool {
	k := p.kernel()
	const halves = "f16 bf16 f16x2 bf16x2"
	if !k.ordered(what, mods, sems...) || !k.space(what, "the address", p, Global) || !k.reduces(what, op, p.elem, map[Op]string{Add: "f32 " + halves, Min: halves, Max: halves}) {
		return false
	}
	if n := len(v); n != 2 && n != 4 && n != 8 || n*p.elem.Size() > 16 {
		k.fail("%s of %d elements of type %s: it takes 2, 4 or 8, of 16 bytes together at most", what, n, p.elem)
		return false
	}
	return true
}

// atomic checks an atomic operation and returns its type.
func (p Ptr) atomic(what string, op Op, v Num, mods []Mod, sems ...Mod) (Type, bool) {
	k := p.kernel()
	p.element(what)
	t := p.elem
	switch {
	case op.bits():
		t = untyped(t)
		if p.elem.float() && op != Exch {
			t = p.elem // not supported, and the error names this type
		}
	case t == S64 && op == Add:
		t = U64
	case t.kind() == 'b':
		t = Type("u" + string(t[1:]))
	}
	if !k.ordered(what, mods, sems...) || !p.atomicSpace(what) || !k.reduces(what, op, t, atomTypes) {
		return t, false
	}
	if r, ok := v.(Reg); ok && r.k != nil && !r.t.fits(p.elem, false) {
		k.fail("%s", mismatch(what+": the value", r.t, p.elem))
		return t, false
	}
	return t, true
}

func (p Ptr) atomicSpace(what string) bool {
	return p.k.space(what, "the address", p, Generic, SharedCTA, SharedCluster, Global)
}

// ordered reports modifiers other than a scope or one of the operation's orders.
func (k *Kernel) ordered(what string, mods []Mod, sems ...Mod) bool {
	return k.allowed(what, mods, append(sems, CTA, Cluster, GPU, Sys)...)
}
