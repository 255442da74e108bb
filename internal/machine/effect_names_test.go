package machine

import (
	"slices"
	"strings"

	"muster/ptx"
)

// Properties of instructions by their names, as the analysis had them before the
// instruction table did. Kept as an oracle that does not share the table.

func namedWrites(in *ptx.Inst) bool {
	switch in.Op {
	case "st", "red", "atom", "stmatrix":
		return true
	}
	return namedWMMA(in, "store") || in.Op == "tcgen05" && has(in, "st")
}

// namedWMMA reports whether an instruction is a wmma of a kind.
func namedWMMA(in *ptx.Inst, kind string) bool {
	return in.Op == "wmma" && slices.Contains(in.Mods, kind)
}

// namedMultiplies is whether an instruction computes sums of products of tiles.
func namedMultiplies(in *ptx.Inst) bool {
	return oneOf(in, "mma", "wgmma") || namedWMMA(in, "mma") || in.Op == "tcgen05" && has(in, "mma")
}

func namedReads(in *ptx.Inst) bool {
	switch in.Op {
	case "ld", "ldu", "ldmatrix", "atom", "tex", "suld":
		return true
	}
	return namedWMMA(in, "load") || in.Op == "tcgen05" && has(in, "ld")
}

func namedTest(in *ptx.Inst) bool {
	return in.Op == "mbarrier" && len(in.Mods) > 0 && (in.Mods[0] == "try_wait" || in.Mods[0] == "test_wait")
}

func namedStrong(in *ptx.Inst) bool {
	return slices.ContainsFunc(in.Mods, func(m string) bool {
		return m == "relaxed" || m == "acquire" || m == "volatile" || m == "mmio"
	})
}

func namedPending(in *ptx.Inst) bool {
	return in.Op == "mbarrier" && len(in.Mods) > 0 && in.Mods[0] == "pending_count"
}

// namedToken is what was asked of instructions that write a register.
func namedToken(in *ptx.Inst) bool {
	return in.Op == "mbarrier" && !has(in, "pending_count") && !namedTest(in)
}

func namedPoint(in *ptx.Inst) bool {
	return in.Op == "atom" || in.Op == "red" && !has(in, "async") || (in.Op == "ld" || in.Op == "st") && !has(in, "async") && (namedStrong(in) || has(in, "release"))
}

func namedGlobal(in *ptx.Inst) bool {
	switch {
	case slices.ContainsFunc(in.Mods, func(m string) bool { return strings.HasPrefix(m, "shared") }):
		return false
	case in.Op == "atom" || in.Op == "red":
		return true
	}
	return in.Op == "ld" && namedStrong(in)
}

// namedOperands says which operands were data: all, none, those before the mask, or the
// fragments of a wgmma.
func namedOperands(in *ptx.Inst) string {
	switch in.Op {
	case "st", "red", "atom", "mma", "ldmatrix", "stmatrix", "movmatrix", "ld", "ldu", "wmma":
		return "data"
	case "wgmma":
		return "fragments"
	case "shfl", "redux", "vote", "match":
		return "mask"
	case "tcgen05":
		if has(in, "ld") || has(in, "st") {
			return "data"
		}
	}
	return "commands"
}

func namedOperation(in *ptx.Inst) string {
	if in.Op == "red" || in.Op == "cp" || in.Op == "atom" || in.Op == "tcgen05" && (has(in, "cp") || has(in, "mma") || has(in, "shift")) {
		return "atom"
	}
	return in.Op
}

func namedAligned(in *ptx.Inst) bool {
	return has(in, "aligned") || in.Op == "bar" && !has(in, "warp")
}

func namedPlainFence(in *ptx.Inst) bool {
	return (in.Op == "membar" || in.Op == "fence") && !slices.Contains(in.Mods, "proxy")
}

// namedClock is isClock by names.
func namedClock(name string) bool {
	return strings.HasPrefix(name, "%clock") || strings.HasPrefix(name, "%globaltimer") || name == "%smid" || name == "%nsmid" || name == "%warpid"
}

func oneOf(in *ptx.Inst, ops ...string) bool { return slices.Contains(ops, in.Op) }
