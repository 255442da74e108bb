package flow

import "muster/ptx"

// The instructions by which a group of lanes counts its members: what the data flow of ticket.go
// knows of them by name. One that has another name is not followed.

// countsOnes reports whether a result is how many bits of a word of 32 bits are set.
func countsOnes(in *ptx.Inst) bool { return is32(in, "popc", "b32") }

// reversesBits reports whether a result has the bits of a word of 32 bits in reverse order.
func reversesBits(in *ptx.Inst) bool { return is32(in, "brev", "b32") }

// leadingZeros reports whether a result is how many zeros precede the first bit that is set, of a
// word of 32 bits that is not 0.
func leadingZeros(in *ptx.Inst) bool {
	return is32(in, "clz", "b32") || in.Op == "bfind" && len(in.Mods) == 2 && in.Mods[0] == "shiftamt" && in.Mods[1] == "u32"
}

func is32(in *ptx.Inst, op, typ string) bool {
	return in.Op == op && len(in.Mods) == 1 && in.Mods[0] == typ
}

// broadcasts reports whether lanes of a mask get what one of them has, whose number is an operand:
// the whole warp is one segment.
func broadcasts(in *ptx.Inst) bool {
	if in.Op != "shfl" || len(in.Mods) != 3 || in.Mods[0] != "sync" || in.Mods[1] != "idx" || len(in.Operands) != 5 {
		return false
	}
	c, ok := in.Operands[3].(ptx.Int)
	return ok && c.Bits == 31
}

// lanesBelow reports whether an operand is the mask of the lanes below the lane.
func lanesBelow(op ptx.Operand) bool {
	n, ok := op.(ptx.Name)
	return ok && n == "%lanemask_lt"
}

// isZero reports whether an operand is 0.
func isZero(op ptx.Operand) bool {
	v, ok := op.(ptx.Int)
	return ok && v.Bits == 0
}
