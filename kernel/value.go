package kernel

import (
	"fmt"
	"math"
	"reflect"

	"muster/internal/num"
	"muster/ptx"
)

// A Reg is a register with its type. It is a variable: Set assigns it, and operations
// return new ones. Each thread has its own value.
type Reg struct {
	k  *Kernel
	in *body
	id int
	t  Type
}

// A Pred is a predicate register, or its negation.
type Pred struct {
	k   *Kernel
	in  *body
	id  int
	neg bool
}

// A Vec is the registers of a vector or of a fragment, lowest first.
type Vec []Reg

// A Num is an operand that is read: a Reg, or a Go number that fits the required type.
// Everything else is reported as a mistake.
type Num = any

// A Pair is a destination with a predicate destination, as for shfl, match and elect:
// d|p.
type Pair struct {
	Reg  Reg
	Pred Pred
}

// A Dest is a destination with an optional predicate destination: a Reg or a Pair.
type Dest = any

// Discard is the destination "_" for an unused result.
type Discard struct{}

// Type gives the register's type.
func (r Reg) Type() Type { return r.t }

func (r Reg) name() ptx.Operand  { return ptx.Name(r.in.regs[r.id].name) }
func (p Pred) name() ptx.Operand { return ptx.Name(p.in.regs[p.id].name) }

// IsZero reports whether r is the zero Reg.
func (r Reg) IsZero() bool { return r.k == nil }

// IsZero reports whether p is the zero Pred.
func (p Pred) IsZero() bool { return p.k == nil }

// Var makes a register without a value; reading it before it is set is a mistake that
// Build reports.
func (k *Kernel) Var(t Type) Reg {
	if t.Size() == 0 {
		k.fail("Var(%q): no type of a register", string(t))
		return k.lost(B32)
	}
	return k.reg(t)
}

// Vars makes n registers without values.
func (k *Kernel) Vars(t Type, n int) Vec {
	if !k.few("Vars", n) {
		return nil
	}
	v := make(Vec, n)
	for i := range v {
		v[i] = k.Var(t)
	}
	return v
}

// PredVar makes a predicate register without a value.
func (k *Kernel) PredVar() Pred { return k.pred() }

// Const makes a register with that value.
func (k *Kernel) Const(t Type, v Num) Reg {
	d := k.Var(t)
	k.move(d, v)
	return d
}

// Set assigns a value of the register's type.
func (r Reg) Set(v Num) {
	if k := r.kernel(); k != nil {
		k.move(r, v)
	}
}

// Copy returns a new register with r's current value.
func (r Reg) Copy() Reg {
	k := r.kernel()
	if k == nil {
		return r
	}
	d := k.reg(r.t)
	k.move(d, r)
	return d
}

// Set assigns the predicate.
func (p Pred) Set(v Pred) {
	if p.neg {
		p.k.fail("Set of a negated predicate: set the predicate itself")
		return
	}
	p.k.Inst("mov.pred", p, v)
}

func (k *Kernel) move(d Reg, v Num) {
	if r, ok := v.(Reg); ok && r.k != nil && !r.t.fits(d.t, false) {
		k.fail("a register of type %s is set to one of type %s: convert it with Cvt, or take its bits with As", d.t, r.t)
		return
	}
	k.Inst("mov."+string(d.t.word()), d, k.constant(v, d.t))
}

// kernel returns the kernel of the register. It panics with a message for the zero Reg,
// which belongs to none.
func (r Reg) kernel() *Kernel {
	if r.k == nil {
		panic("kernel: the zero Reg is no register: it comes from Var, Const, Load or an operation")
	}
	return r.k
}

// constant turns a Go number into an immediate for type t: for the halves, which have no
// immediates in PTX, their bits.
func (k *Kernel) constant(v Num, t Type) any {
	if !t.half() {
		return v
	}
	f, ok := toFloat(v)
	if !ok {
		return v
	}
	var bits uint64
	switch t {
	case F16, F16x2:
		bits = uint64(num.F32ToF16(math.Float32bits(float32(f))))
	default:
		bits = uint64(num.F32ToBF16(math.Float32bits(float32(f))))
	}
	if t.pair() {
		bits |= bits << 16
	}
	return bits
}

// operandOf converts a Go value to an operand of PTX. Numbers become integers or f64;
// their type is decided when the instruction's form is known.
func (k *Kernel) operandOf(v any) (ptx.Operand, bool) {
	switch v := v.(type) {
	case Reg:
		if v.k == nil {
			k.fail("an operand is the zero Reg, which is no register")
			return nil, false
		}
		if !k.owns(v.k, v.in, "register") {
			return nil, false
		}
		return v.name(), true
	case Pred:
		if v.k == nil {
			k.fail("an operand is the zero Pred, which is no predicate")
			return nil, false
		}
		if !k.owns(v.k, v.in, "predicate") {
			return nil, false
		}
		if v.neg {
			p := k.pred()
			k.Inst("not.pred", p, Pred{v.k, v.in, v.id, false})
			return p.name(), true
		}
		return v.name(), true
	case Vec:
		return k.vector(v)
	case []Reg:
		return k.vector(v)
	case Pair:
		d, ok1 := k.operandOf(v.Reg)
		p, ok2 := k.operandOf(v.Pred)
		return &ptx.Pair{A: d, B: p}, ok1 && ok2
	case Discard:
		return ptx.Sink{}, true
	case Ptr:
		return v.mem(k)
	case mem:
		return v.mem(k)
	case *Label:
		if !k.known(v) {
			return nil, false
		}
		v.used = true
		return ptx.Name(v.name), true
	case ptx.Operand:
		return v, true
	case nil:
		k.fail("an operand is nil")
		return nil, false
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		return ptx.Int{Bits: uint64(rv.Int())}, true
	case rv.CanUint():
		return ptx.Int{Bits: rv.Uint(), Unsigned: rv.Uint() > math.MaxInt64}, true
	case rv.CanFloat():
		return ptx.Float{Bits: math.Float64bits(rv.Float()), Size: 64}, true
	}
	k.fail("an operand is a %T; it must be a register, a predicate, an address or a number", v)
	return nil, false
}

func (k *Kernel) vector(regs []Reg) (ptx.Operand, bool) {
	v := &ptx.Vector{}
	for _, r := range regs {
		x, ok := k.operandOf(r)
		if !ok {
			return nil, false
		}
		v.Elems = append(v.Elems, x)
	}
	return v, true
}

// owns reports a register of another kernel or function.
func (k *Kernel) owns(of *Kernel, in *body, what string) bool {
	switch {
	case of != k:
		k.fail("a %s of kernel %s is used in kernel %s", what, of.name, k.name)
	case in != k.at:
		k.fail("a %s of another function is used here: pass it as an argument", what)
	default:
		return true
	}
	return false
}

// isNumber reports whether v is a Go number.
func isNumber(v any) bool { _, ok := toFloat(v); return ok }

func toFloat(v any) (float64, bool) {
	switch v.(type) {
	case Reg, Pred, Ptr, nil:
		return 0, false
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		return float64(rv.Int()), true
	case rv.CanUint():
		return float64(rv.Uint()), true
	case rv.CanFloat():
		return rv.Float(), true
	}
	return 0, false
}

// toInt gives a Go integer's value.
func toInt(v any) (int64, bool) {
	rv := reflect.ValueOf(v)
	switch {
	case !rv.IsValid():
		return 0, false
	case rv.CanInt():
		return rv.Int(), true
	case rv.CanUint():
		return int64(rv.Uint()), rv.Uint() <= math.MaxInt64
	}
	return 0, false
}

// immediate converts a Go number to an operand of type t, or says why it does not fit.
func immediate(x ptx.Operand, t Type) (ptx.Operand, string) {
	switch x := x.(type) {
	case ptx.Int:
		switch {
		case t == F32:
			return ptx.Float{Bits: uint64(math.Float32bits(float32(signed(x)))), Size: 32}, ""
		case t == F64:
			return ptx.Float{Bits: math.Float64bits(signed(x)), Size: 64}, ""
		}
		if n := t.Size(); n > 0 && n < 8 {
			if s := int64(x.Bits); x.Unsigned && s < 0 || s > int64(1)<<(8*n)-1 || s < -(int64(1)<<(8*n-1)) {
				return x, fmt.Sprintf("%s does not fit type %s", ptx.FormatOperand(x), t)
			}
			if int64(x.Bits) < 0 && t.kind() == 'u' {
				x.Bits &= 1<<(8*n) - 1
			}
		}
		return x, ""
	case ptx.Float:
		f := math.Float64frombits(x.Bits)
		switch {
		case x.Size == 32 || t == F64 || t == "":
			return x, ""
		case t == F32 && math.IsInf(float64(float32(f)), 0) && !math.IsInf(f, 0):
			return x, fmt.Sprintf("%v is too large for type f32", f)
		case t == F32:
			return ptx.Float{Bits: uint64(math.Float32bits(float32(f))), Size: 32}, ""
		case t.half():
			return x, fmt.Sprintf("PTX has no immediates of type %s: make it a register with Const", t)
		}
		return x, fmt.Sprintf("%v is a floating-point number; want type %s", f, t)
	}
	return x, ""
}

func signed(x ptx.Int) float64 {
	if x.Unsigned {
		return float64(x.Bits)
	}
	return float64(int64(x.Bits))
}
