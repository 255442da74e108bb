package kernel

import "strings"

// An Op combines two values: of atomics, reductions and asynchronous
// reductions.
type Op string

// The operations. Inc counts up and is 0 after the operand, Dec counts down and
// is the operand after 0; Exch puts the operand there (ISA 9.7.13.5).
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

// bits tells the operations on untyped bits.
func (o Op) bits() bool { return o == And || o == Or || o == Xor || o == Exch }

// untyped is the type of bits as wide as t.
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

// noftz is the modifier that adding halves has.
func noftz(op Op, t Type) string {
	if op == Add && t.half() {
		return ".noftz"
	}
	return ""
}

// reduces reports an operation that an instruction does not have for a type.
// types lists what it has.
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
