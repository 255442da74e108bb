package kernel

import (
	"fmt"

	"muster/ptx"
)

// This file is arithmetic on registers. An operation returns a new register of its
// receiver's type; the other operand is a register of that type, a register of the same
// width if both are integers, or a Go number. Floating-point operations round to nearest
// even and are written with .rn, so that no assembler contracts them.

// binary computes op of r and b, with the modifier for the type.
func (r Reg) binary(op string, b Num) Reg {
	k := r.kernel()
	d := k.reg(r.t)
	if !k.same(op, r, b) || !k.sensible(op, r, b) {
		return k.lost(r.t)
	}
	k.Inst(op+"."+string(r.arith()), d, r, k.half(b, r.t))
	return d
}

// same checks an operand against the receiver's type.
func (k *Kernel) same(op string, r Reg, b Num) bool {
	x, ok := b.(Reg)
	if !ok || x.k == nil {
		return true
	}
	if x.t == r.t || x.t.Size() == r.t.Size() && x.t.integer() && r.t.integer() {
		return true
	}
	k.fail("%s", mismatch(op+" of "+string(r.t)+": the other operand", x.t, r.t))
	return false
}

// sensible reports a division by 0, which PTX leaves undefined, and a negative number
// where the operation is unsigned and would take it for a very large one. Sums, the lower
// half of products, and tests for equality are exact with negative numbers.
func (k *Kernel) sensible(op string, r Reg, b Num) bool {
	n, ok := toInt(b)
	if !ok || !r.t.integer() {
		return true
	}
	switch op {
	case "div", "rem":
		if n == 0 {
			k.fail("%s of %s by 0, which PTX leaves undefined", op, r.t)
			return false
		}
	case "min", "max", "mul.hi", "mul.wide", "setp.lt", "setp.le", "setp.gt", "setp.ge":
	default:
		return true
	}
	if t := r.arith(); n < 0 && t.kind() == 'u' {
		k.fail("%s of %s with %d: it would be taken for a large unsigned number; give the register a signed type, with As", op, r.t, n)
		return false
	}
	return true
}

// arith returns the type in which arithmetic on a register computes; untyped bits count
// as unsigned.
func (r Reg) arith() Type {
	switch r.t {
	case B16:
		return U16
	case B32:
		return U32
	case B64:
		return U64
	}
	return r.t
}

// bits returns the type in which logic on a register computes.
func (r Reg) bits() string {
	switch r.t.Size() {
	case 2:
		return "b16"
	case 8:
		return "b64"
	case 16:
		return "b128"
	}
	return "b32"
}

func (r Reg) rounded(op string) string {
	if r.t.float() {
		return op + ".rn"
	}
	return op
}

// Add gives r + b.
func (r Reg) Add(b Num) Reg { return r.binary(r.rounded("add"), b) }

// Sub gives r - b.
func (r Reg) Sub(b Num) Reg { return r.binary(r.rounded("sub"), b) }

// Mul gives r * b; for integers the lower half.
func (r Reg) Mul(b Num) Reg {
	if r.t.float() {
		return r.binary("mul.rn", b)
	}
	return r.binary("mul.lo", b)
}

// MulHi gives the upper half of an integer product.
func (r Reg) MulHi(b Num) Reg { return r.binary("mul.hi", b) }

// MulWide gives the product of 16- or 32-bit integers in twice their width.
func (r Reg) MulWide(b Num) Reg {
	k := r.kernel()
	wide := map[Type]Type{U16: U32, S16: S32, U32: U64, S32: S64}[r.arith()]
	if wide == "" {
		k.fail("MulWide of %s: it takes integers of 16 and 32 bits", r.t)
		return k.lost(U64)
	}
	if !k.sensible("mul.wide", r, b) {
		return k.lost(wide)
	}
	d := k.reg(wide)
	k.Inst("mul.wide."+string(r.arith()), d, r, b)
	return d
}

// Mad gives r*b + c: for integers the lower half, for floating point fused with one
// rounding.
func (r Reg) Mad(b, c Num) Reg {
	k := r.kernel()
	op := "mad.lo"
	if r.t.float() {
		op = "fma.rn"
	}
	if !k.same(op, r, b) || !k.same(op, r, c) {
		return k.lost(r.t)
	}
	d := k.reg(r.t)
	k.Inst(op+"."+string(r.arith()), d, r, k.half(b, r.t), k.half(c, r.t))
	return d
}

// Div gives r / b: integers round towards zero, floating point to nearest even. The
// constant 0 is an error for integers; a register that is 0 gives the GPU's result.
func (r Reg) Div(b Num) Reg { return r.binary(r.rounded("div"), b) }

// Rem gives the remainder of integers.
func (r Reg) Rem(b Num) Reg { return r.binary("rem", b) }

// Min and Max give the smaller and the larger.
func (r Reg) Min(b Num) Reg { return r.binary("min", b) }
func (r Reg) Max(b Num) Reg { return r.binary("max", b) }

// Neg gives -r.
func (r Reg) Neg() Reg {
	t := r.arith()
	switch t {
	case U16, U32, U64:
		t = "s" + t[1:]
	}
	return r.unary("neg." + string(t))
}

// Abs gives the absolute value, of signed integers and floating point.
func (r Reg) Abs() Reg { return r.unary("abs." + string(r.arith())) }

func (r Reg) unary(op string) Reg {
	k := r.kernel()
	d := k.reg(r.t)
	k.Inst(op, d, r)
	return d
}

// And, Or and Xor combine bits.
func (r Reg) And(b Num) Reg { return r.logic("and", b) }
func (r Reg) Or(b Num) Reg  { return r.logic("or", b) }
func (r Reg) Xor(b Num) Reg { return r.logic("xor", b) }

// Not inverts every bit.
func (r Reg) Not() Reg { return r.unary("not." + r.bits()) }

func (r Reg) logic(op string, b Num) Reg {
	k := r.kernel()
	if !k.same(op, r, b) {
		return k.lost(r.t)
	}
	d := k.reg(r.t)
	k.Inst(op+"."+r.bits(), d, r, b)
	return d
}

// Shl shifts left; n is a number or a register of 32 bits.
func (r Reg) Shl(n Num) Reg { return r.shift("shl."+r.bits(), n) }

// Shr shifts right: signed integers keep their sign.
func (r Reg) Shr(n Num) Reg {
	if r.t.kind() == 'b' {
		return r.shift("shr."+r.bits(), n)
	}
	return r.shift("shr."+string(r.t), n)
}

func (r Reg) shift(op string, n Num) Reg {
	k := r.kernel()
	if c, ok := toInt(n); ok && (c < 0 || c >= int64(8*r.t.Size())) {
		k.fail("%s by %d: a register of type %s has %d bits", op, c, r.t, 8*r.t.Size())
		return k.lost(r.t)
	}
	if b, ok := n.(Reg); ok && b.k != nil && !b.t.fits(U32, false) {
		k.fail("%s", mismatch(op+": the number of bits", b.t, U32))
		return k.lost(r.t)
	}
	d := k.reg(r.t)
	k.Inst(op, d, r, n)
	return d
}

// Eq, Ne, Lt, Le, Gt and Ge compare. For a NaN, Ne is true (neu) and the others are
// false. An unsigned register cannot be ordered against a negative number; As makes it
// signed.
func (r Reg) Eq(b Num) Pred { return r.compare("eq", b) }
func (r Reg) Ne(b Num) Pred {
	if r.t.float() {
		return r.compare("neu", b)
	}
	return r.compare("ne", b)
}
func (r Reg) Lt(b Num) Pred { return r.compare("lt", b) }
func (r Reg) Le(b Num) Pred { return r.compare("le", b) }
func (r Reg) Gt(b Num) Pred { return r.compare("gt", b) }
func (r Reg) Ge(b Num) Pred { return r.compare("ge", b) }

func (r Reg) compare(op string, b Num) Pred {
	k := r.kernel()
	if !k.same("setp."+op, r, b) || !k.sensible("setp."+op, r, b) {
		return k.lostPred()
	}
	p := k.pred()
	k.Inst("setp."+op+"."+string(r.arith()), p, r, k.half(b, r.t))
	return p
}

// As gives the same bits as a register of another type of the same width.
func (r Reg) As(t Type) Reg {
	k := r.kernel()
	t = t.reg()
	switch {
	case t == r.t:
		return r
	case t.Size() != r.t.Size():
		k.fail("As(%s) of a register of type %s: the widths differ; convert with Cvt", t, r.t)
		return k.lost(t)
	}
	was, _ := r.t.declared()
	if is, _ := t.declared(); is == was {
		r.t = t
		return r
	}
	d := k.reg(t)
	k.Inst("mov."+d.bits(), d, r)
	return d
}

// Cvt converts the value to another type (cvt): floating point rounds to
// nearest even, and to integers towards zero, unless modifiers say otherwise.
func (r Reg) Cvt(t Type, mods ...Mod) Reg {
	k := r.kernel()
	from, to := r.arith(), t
	switch t {
	case B16:
		to = U16
	case B32:
		to = U32
	case B64:
		to = U64
	}
	if to == from && len(mods) == 0 {
		return r
	}
	d := k.reg(t)
	m := join(mods)
	if m == "" {
		switch {
		case from.float() && to.integer():
			m = ".rzi"
		case to.float() && (from.integer() || from.Size() > to.Size() || from.Size() == to.Size()):
			m = ".rn"
		}
	}
	k.Inst("cvt"+m+"."+string(to)+"."+string(from), d, r)
	return d
}

// And, Or and Xor combine predicates.
func (p Pred) And(q Pred) Pred { return p.logic("and", q) }
func (p Pred) Or(q Pred) Pred  { return p.logic("or", q) }
func (p Pred) Xor(q Pred) Pred { return p.logic("xor", q) }

func (p Pred) logic(op string, q Pred) Pred {
	k := p.kernel()
	d := k.pred()
	k.Inst(op+".pred", d, p, q)
	return d
}

// Not gives the negation. It emits no instruction if the predicate is only used as a
// guard or condition.
func (p Pred) Not() Pred {
	p.neg = !p.neg
	return p
}

// Select gives a where p is true, else b (selp). At least one is a register.
func (p Pred) Select(a, b Num) Reg {
	k := p.kernel()
	t := Type("")
	for _, x := range []Num{a, b} {
		if r, ok := x.(Reg); ok && r.k != nil {
			t = r.t
		}
	}
	if t == "" {
		t = S32
		if !isInt(a) || !isInt(b) {
			t = F32
		}
	}
	if p.neg {
		p, a, b = p.Not(), b, a
	}
	d := k.reg(t)
	op := "b"
	switch {
	case t == F32 || t == F64:
		op = "selp." + string(t)
	default:
		op = "selp." + d.bits()
	}
	k.Inst(op, d, k.half(a, t), k.half(b, t), p)
	return d
}

func isInt(v any) bool { _, ok := toInt(v); return ok }

func (p Pred) kernel() *Kernel {
	if p.k == nil {
		panic("kernel: the zero Pred is no predicate: it comes from a comparison or PredVar")
	}
	return p.k
}

// Pack puts registers into one wider register, the first lowest (mov).
func (k *Kernel) Pack(t Type, parts ...Reg) Reg {
	size := 0
	for _, r := range parts {
		size += r.t.Size()
	}
	if size != t.Size() || len(parts) < 2 {
		k.fail("Pack of %d registers, %d bits together, into one of type %s: it takes two or more that fill it", len(parts), 8*size, t)
		return k.lost(t)
	}
	d := k.reg(t)
	k.Inst("mov."+d.bits(), d, Vec(parts))
	return d
}

// Unpack splits a register into n of type t, lowest first (mov).
func (r Reg) Unpack(t Type, n int) Vec {
	k := r.kernel()
	if n < 1 || n > 16 || t.Size()*n != r.t.Size() {
		k.fail("Unpack of a register of type %s into %d of type %s: the widths differ", r.t, n, t)
		return k.lostVec(t, n)
	}
	v := make(Vec, n)
	for i := range v {
		v[i] = k.reg(t)
	}
	k.Inst("mov."+r.bits(), v, r)
	return v
}

// Special gives a special register by its name (ISA 10): k.Special("%tid.x",
// U32).
func (k *Kernel) Special(name string, t Type) Reg {
	is, ok := special(name)
	switch {
	case !ok:
		k.fail("Special(%q): there is no such register; they are written as in PTX, %%tid.x", name)
		return k.lost(t)
	case !is.fits(t, false):
		k.fail("%s", mismatch(fmt.Sprintf("Special(%q)", name), is, t))
		return k.lost(t)
	}
	d := k.reg(t)
	op := "mov." + string(t)
	if t == S32 {
		op = "mov.u32"
	}
	k.Inst(op, d, ptx.Operand(ptx.Name(name)))
	return d
}

// TidX, TidY and TidZ are the thread's coordinates in its CTA.
func (k *Kernel) TidX() Reg { return k.Special("%tid.x", U32) }
func (k *Kernel) TidY() Reg { return k.Special("%tid.y", U32) }
func (k *Kernel) TidZ() Reg { return k.Special("%tid.z", U32) }

// CtaidX, CtaidY and CtaidZ are the CTA's coordinates in the grid.
func (k *Kernel) CtaidX() Reg { return k.Special("%ctaid.x", U32) }
func (k *Kernel) CtaidY() Reg { return k.Special("%ctaid.y", U32) }
func (k *Kernel) CtaidZ() Reg { return k.Special("%ctaid.z", U32) }

// NtidX and NctaidX are the threads of a CTA and the CTAs of the grid, along x.
func (k *Kernel) NtidX() Reg   { return k.Special("%ntid.x", U32) }
func (k *Kernel) NctaidX() Reg { return k.Special("%nctaid.x", U32) }

// LaneID is the thread's lane in its warp.
func (k *Kernel) LaneID() Reg { return k.Special("%laneid", U32) }
