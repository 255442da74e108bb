package kernel

import (
	"fmt"
	"strings"
)

// A Type is a type of PTX: of a register, of elements in memory, or of an instruction's
// computation (ISA 5.2).
type Type string

// The types. Registers have 16, 32, 64 or 128 bits: loads widen 8-bit values. F16x2 and
// BF16x2 are pairs in 32 bits, lower half first.
const (
	B8     Type = "b8"
	B16    Type = "b16"
	B32    Type = "b32"
	B64    Type = "b64"
	B128   Type = "b128"
	U8     Type = "u8"
	U16    Type = "u16"
	U32    Type = "u32"
	U64    Type = "u64"
	S8     Type = "s8"
	S16    Type = "s16"
	S32    Type = "s32"
	S64    Type = "s64"
	F16    Type = "f16"
	BF16   Type = "bf16"
	F32    Type = "f32"
	F64    Type = "f64"
	F16x2  Type = "f16x2"
	BF16x2 Type = "bf16x2"
	E4M3   Type = "e4m3" // of memory and matrix operands
	E5M2   Type = "e5m2"
	TF32   Type = "tf32"

	predType Type = "pred"
)

// Size returns the bytes of one value; 0 for an invalid type.
func (t Type) Size() int {
	switch t {
	case B8, U8, S8, E4M3, E5M2:
		return 1
	case B16, U16, S16, F16, BF16, "e4m3x2", "e5m2x2":
		return 2
	case B32, U32, S32, F32, F16x2, BF16x2, TF32, "u16x2", "s16x2", "u8x4", "s8x4", "e4m3x4", "e5m2x4":
		return 4
	case B64, U64, S64, F64, "f32x2":
		return 8
	case B128:
		return 16
	}
	return 0
}

// kind returns the meaning of a register's bits: 'b' untyped, 'u' and 's' integers, 'f'
// floating point, 'p' a predicate.
func (t Type) kind() byte {
	switch t {
	case predType:
		return 'p'
	case F16, BF16, F32, F64, F16x2, BF16x2, TF32, E4M3, E5M2, "f32x2":
		return 'f'
	case U8, U16, U32, U64:
		return 'u'
	case S8, S16, S32, S64:
		return 's'
	}
	return 'b'
}

func (t Type) integer() bool { k := t.kind(); return k == 'u' || k == 's' || k == 'b' }
func (t Type) float() bool   { return t.kind() == 'f' }

// reg returns the type of the register that holds a value: PTX has no registers of 8
// bits, and none of the narrow floating-point types.
func (t Type) reg() Type {
	switch t.Size() {
	case 1:
		if t == S8 {
			return S32
		}
		return U32
	case 0:
		return B32
	}
	return t
}

// declared returns a register's declared type and name prefix.
func (t Type) declared() (typ, prefix string) {
	switch {
	case t == predType:
		return "pred", "%p"
	case t == F32:
		return "f32", "%f"
	case t == F64:
		return "f64", "%fd"
	}
	switch t.Size() {
	case 2:
		return "b16", "%rs"
	case 8:
		return "b64", "%rd"
	case 16:
		return "b128", "%rq"
	}
	return "b32", "%r"
}

// fits reports whether a register of type t can be an operand of type want (ISA 9.4).
// wide allows a wider register, as for loads, stores and conversions.
func (t Type) fits(want Type, wide bool) bool {
	if want == "" || t == want {
		return true
	}
	if want == predType || t == predType {
		return false
	}
	ts, ws := t.Size(), want.Size()
	if ws == 0 { // a type that only an instruction knows: its register is untyped
		return true
	}
	if ts != ws && !(wide && ts > ws && t.kind() != 'f' && want.kind() != 'f') && !(wide && ws == 1 && ts >= 2 && t.kind() != 'f') {
		return false
	}
	tk, wk := t.kind(), want.kind()
	if tk == 'b' || wk == 'b' {
		return true
	}
	if want == TF32 {
		return t == F32 || tk != 'f'
	}
	return (tk == 'f') == (wk == 'f') && tk != 'f'
}

// word returns the type for moves of the register: its own, if moves support it, or the
// bit type of its size.
func (t Type) word() Type {
	switch t {
	case U16, U32, U64, S16, S32, S64, F32, F64, B128:
		return t
	}
	return Type(fmt.Sprintf("b%d", 8*t.Size()))
}

// half reports the types without immediate operands in PTX.
func (t Type) half() bool {
	return t == F16 || t == BF16 || t == F16x2 || t == BF16x2
}

func (t Type) pair() bool { return strings.HasSuffix(string(t), "x2") }

// A Space is a state space (ISA 5.1).
type Space string

// The state spaces. An address in shared::cta is also one in shared::cluster: it refers
// to the executing CTA.
const (
	Generic       Space = "generic"
	Global        Space = "global"
	SharedCTA     Space = "shared::cta"
	SharedCluster Space = "shared::cluster"
	Local         Space = "local"
	Const         Space = "const"
	Param         Space = "param"
	Tensor        Space = "tensor" // tensor memory: columns in bits 0–15, lanes in 16–31
)

// within reports whether an address in s is valid where want is required.
func (s Space) within(want string) bool {
	switch want {
	case "", "generic":
		return s == Generic
	case "shared", "shared::cta":
		return s == SharedCTA
	case "shared::cluster":
		return s == SharedCTA || s == SharedCluster
	case "param", "param::entry", "param::func":
		return s == Param
	}
	return string(s) == want
}

// address returns the type of a register for addresses in the space.
func (s Space) address() Type {
	switch s {
	case SharedCTA, SharedCluster, Tensor:
		return U32
	}
	return U64
}

// A Mod is a modifier of an instruction: a word between its dots.
type Mod string

// Modifiers of block-level operations. Other modifiers, and all of them for Inst, are
// written as in PTX.
const (
	Weak     Mod = "weak"
	Volatile Mod = "volatile"
	Relaxed  Mod = "relaxed"
	Acquire  Mod = "acquire"
	Release  Mod = "release"
	AcqRel   Mod = "acq_rel"
	SC       Mod = "sc"

	CTA     Mod = "cta" // scopes
	Cluster Mod = "cluster"
	GPU     Mod = "gpu"
	Sys     Mod = "sys"
)
