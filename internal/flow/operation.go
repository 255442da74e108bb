package flow

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"muster/ptx"
)

// What instructions do to a word of memory. Each of these functions takes nil for an
// instruction that the decoder made.

// Operation names what an instruction does to memory, its type included.
func Operation(in *ptx.Inst) string { return OperationOn(in, "") }

// OperationOn is Operation for an instruction whose elements are of a type that its text
// does not name: a tensor map does.
func OperationOn(in *ptx.Inst, elements string) string {
	if in == nil {
		return ""
	}
	name := in.Op
	if in.Effect().Has(ptx.Updates | ptx.CopiesMemory) {
		name = "atom" // the same except for the result, or the agent
	}
	for _, m := range in.Mods {
		if ptx.LookupUpdate(m) != ptx.NoUpdate {
			name += "." + m
		}
	}
	switch {
	case elements != "":
		name += "." + elements
	case len(in.Mods) > 0:
		name += "." + in.Mods[len(in.Mods)-1]
	}
	if slices.Contains(in.Mods, "inc") { // up to different bounds they do not commute
		if v, ok := in.Operands[len(in.Operands)-1].(ptx.Int); ok {
			return fmt.Sprint(name, " up to ", v.Bits)
		}
	}
	return name
}

// FloatSum reports whether an instruction adds floating-point numbers to a word.
func FloatSum(in *ptx.Inst) bool {
	return FloatSumOf(in, "")
}

// FloatSumOf is FloatSum for an instruction whose elements are of a type that its text does
// not name.
func FloatSumOf(in *ptx.Inst, elements string) bool {
	return in != nil && in.Update() == ptx.UpdateAdd && CommutesOn(in, elements) != ""
}

// Commutes says why the order of such an instruction with others of its kind,
// on one word, shows in memory; empty if it does not.
func Commutes(in *ptx.Inst) string { return CommutesOn(in, "") }

// CommutesOn is Commutes for an instruction whose elements are of a type that its text
// does not name.
func CommutesOn(in *ptx.Inst, elements string) string {
	if in == nil {
		return "an instruction without a name"
	}
	float := isFloat(elements) || slices.ContainsFunc(in.Mods, isFloat)
	if elements == "" && in.Effect().Has(ptx.CopiesMemory) && slices.Contains(in.Mods, "tensor") {
		switch in.Update() {
		case ptx.UpdateAdd, ptx.UpdateMin, ptx.UpdateMax:
			return "reductions of a type that a tensor map gives"
		}
	}
	switch in.Update() {
	case ptx.UpdateInc:
		if _, ok := in.Operands[len(in.Operands)-1].(ptx.Int); !ok {
			return "increments up to a bound that may differ"
		}
		return ""
	case ptx.UpdateMin, ptx.UpdateMax, ptx.UpdateAnd, ptx.UpdateOr, ptx.UpdateXor:
		return ""
	case ptx.UpdateAdd:
		if float {
			return "floating-point additions, whose order shows in the sum"
		}
		return ""
	case ptx.NoUpdate:
		return "strong stores to one word by several threads, whose order decides what stays"
	}
	return "an atomic operation whose order with others shows (" + in.Opcode() + ")"
}

// isFloat reports whether a modifier names a floating-point type.
func isFloat(m string) bool {
	m = strings.TrimPrefix(m, "t") // tf32
	return strings.HasPrefix(m, "f") && len(m) > 1 && m[1] >= '0' && m[1] <= '9' || strings.HasPrefix(m, "bf16")
}

// Adds returns what an atomic addition adds to a word, if it does and its text
// says how much; increments add 1.
func Adds(in *ptx.Inst) (n uint64, says, adds bool) {
	if in == nil || !in.Effect().Has(ptx.Updates) {
		return 0, false, false
	}
	t, size := in.LastType()
	if bits.OnesCount(uint(size)) != 1 {
		return 0, false, false
	}
	switch op := in.Update(); {
	case op == ptx.UpdateInc:
		return 1, true, true
	case op != ptx.UpdateAdd || t == "f32" || t == "f64":
		return 0, false, false
	}
	v, ok := in.Operands[len(in.Operands)-1].(ptx.Int)
	return v.Bits, ok, true
}

// Nondeterministic names what an instruction reads that the schedule does not determine:
// a clock, which lanes happen to run together, where the CTA runs; empty for any other.
func Nondeterministic(in *ptx.Inst) string {
	if in == nil {
		return ""
	}
	if in.Effect().Has(ptx.ShowsLanes) {
		return in.Op
	}
	for _, o := range in.Operands {
		if Varies(o) {
			return string(o.(ptx.Name))
		}
	}
	return ""
}
