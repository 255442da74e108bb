package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// A valueRule holds the literals of an operand, by the beginning of the names of rows.
type valueRule struct {
	rows, operand      string
	min, max, multiple uint64
}

var valueRules = []valueRule{
	{"st.bulk", "size", 0, 1 << 24, 8}, // ISA 9.7.9.13
	{"st.bulk", "init", 0, 0, 1},
	{"tensormap.replace", "ord", 0, 4, 1},
	{"setmaxnreg", "count", 24, 256, 8}, // ISA 9.7.19.5
	{"pmevent", "event", 0, 15, 1},
	{"bfi", "c", 0, 255, 1}, // ISA 9.7.1.20
	{"bfi", "e", 0, 255, 1},
	{"mma.sp.f8f6f4", "f", 0, 0, 1}, // ISA 9.7.14.6.1: all threads hold metadata
	{"mma.sp", "f", 0, 3, 1},
	{"mma.", "ia", 0, 3, 1}, // ISA 9.7.14.5.13: a byte and a thread of a quad
	{"mma.", "ib", 0, 3, 1},
}

// literals returns the integer literals of an operand that is not within an address.
func literals(bound []Bound, name string) (list []uint64) {
	for i := range bound {
		if v, ok := bound[i].X.(Int); ok && bound[i].Arg.Name == name && !bound[i].Inside {
			list = append(list, v.Bits)
		}
	}
	return list
}

// badValue reports the first literal of an instruction whose value is invalid: "" if none.
func badValue(in *Inst, bound []Bound) string {
	for _, r := range valueRules {
		if !strings.HasPrefix(in.Form.Name, r.rows) {
			continue
		}
		for _, v := range literals(bound, r.operand) {
			switch {
			case r.min == r.max && v != r.min:
				return fmt.Sprintf("%s takes %d as %s, not %d", in.Form.Name, r.min, r.operand, int64(v))
			case v < r.min || v > r.max:
				return fmt.Sprintf("%s takes a value from %d to %d as %s, not %d", in.Form.Name, r.min, r.max, r.operand, int64(v))
			case v%r.multiple != 0:
				return fmt.Sprintf("%s takes a multiple of %d as %s, not %d", in.Form.Name, r.multiple, r.operand, int64(v))
			}
		}
	}
	switch in.Form.Name {
	case "cp.async", "cp.async.bulk.prefetch", "applypriority", "discard":
		return badSize(in, literals(bound, "size"))
	case "createpolicy.range":
		p, t := literals(bound, "primary"), literals(bound, "total")
		if p != nil && t != nil && uint32(p[0]) > uint32(t[0]) {
			return fmt.Sprintf("createpolicy.range: the primary size %d is larger than the total size %d", uint32(p[0]), uint32(t[0]))
		}
	case "shfl.sync", "shfl":
		if _, ok := in.Operands[0].(Sink); ok {
			return in.Form.Name + " cannot discard its result"
		}
	case "tcgen05.mma", "tcgen05.mma.ts", "tcgen05.mma.sp", "tcgen05.mma.sp.ts":
		if kind := in.Mod("kind"); kind == "kind::f8f6f4" && in.gives("scale") {
			return fmt.Sprintf("%s: .%s has no scale of the accumulator", in.Form.Name, kind) // ISA 9.7.16.10.9.1
		}
	}
	return ""
}

// badSize reports a number of bytes. A wrong size of other copies is a finding of the machine.
func badSize(in *Inst, size []uint64) string {
	for _, n := range size {
		switch name := in.Form.Name; {
		case name == "cp.async.bulk.prefetch" && n%16 != 0:
			return fmt.Sprintf("%s prefetches a multiple of 16 bytes, not %d", name, int64(n))
		case (name == "applypriority" || name == "discard") && n != 128:
			return fmt.Sprintf("%s is for 128 bytes, not %d", name, int64(n))
		case name == "cp.async" && in.Mod("cache") == "cg" && n != 16:
			return fmt.Sprintf("cp.async.cg copies 16 bytes, not %d", int64(n))
		case name == "cp.async" && n != 4 && n != 8 && n != 16:
			return fmt.Sprintf("cp.async copies 4, 8 or 16 bytes, not %d", int64(n))
		}
	}
	return ""
}

// badOffsets reports offsets of im2col in another mode, or none in that mode (ISA
// 9.7.9.25.5.2).
func badOffsets(in *Inst, bound []Bound) string {
	if !slices.ContainsFunc(in.Form.Operands, func(a Arg) bool { return a.Name == "im2col" }) {
		return ""
	}
	given := slices.ContainsFunc(bound, func(b Bound) bool { return b.Arg.Name == "im2col" })
	switch load := in.Mod("load"); {
	case given && !strings.HasPrefix(load, "im2col"):
		return fmt.Sprintf("%s takes offsets only in the modes of im2col", in.Opcode())
	case !given && strings.HasPrefix(load, "im2col"):
		return fmt.Sprintf("%s takes offsets of im2col", in.Opcode())
	}
	return ""
}

// badSat reports a conversion that saturates to a type that has all values of the other (ISA
// 9.7.9.21).
func badSat(in *Inst, _ []Bound) string {
	if in.Form.Name != "cvt.int.int" || in.Mod("sat") == "" {
		return ""
	}
	to, from := in.Mod("dtype"), in.Mod("atype")
	t, f := atoi(to), atoi(from)
	if from[0] == to[0] && t >= f || from[0] == 'u' && to[0] == 's' && t > f {
		return fmt.Sprintf("%s: .sat has nothing to do, since .%s has all values of .%s", in.Opcode(), to, from)
	}
	return ""
}
