package tensor

import (
	"math"
	"math/bits"

	"muster/internal/num"
)

// Chain returns an element of D of mma.sync.m8n8k4 with f16 operands and an f32
// D, for which an sm_90 part has no instruction: ptxas emits a chain of f32 fused
// multiply-adds, in the order of k and from +0 on, and adds C at the end. An f16
// C is widened before.
func Chain(c uint32, a, b []uint16) uint32 {
	var s uint32
	for i, x := range a {
		s = num.FmaRN(num.F16ToF32(x), num.F16ToF32(b[i]), s)
	}
	return num.AddRN(c, s)
}

// ChainF16 is Chain for an f16 D: C takes two pairs of products, one after the
// other, in f32, and the sum is rounded to f16 once.
func ChainF16(c uint16, a, b []uint16) uint16 {
	s := num.F16ToF32(c)
	for i := 0; i+2 <= len(a); i += 2 {
		first := num.MulRN(num.F16ToF32(a[i]), num.F16ToF32(b[i]))
		s = num.AddRN(s, num.FmaRN(num.F16ToF32(a[i+1]), num.F16ToF32(b[i+1]), first))
	}
	return num.F32ToF16(s)
}

// ChainF64 is an element of D of mma.sync with f64 operands, of every shape: a
// chain of fused multiply-adds to nearest, in the order of k, from C on.
func ChainF64(c uint64, a, b []uint64) uint64 {
	for i, x := range a {
		c = num.FmaRNF64(x, b[i], c)
	}
	return c
}

// DotInt is an element of D of the integer forms: the exact sum, clamped once
// if satfinite and modulo 2^32 otherwise.
func DotInt(satfinite bool, c int32, a, b []int32) int32 {
	s := int64(c)
	for i, x := range a {
		s += int64(x) * int64(b[i])
	}
	if satfinite {
		s = max(math.MinInt32, min(s, math.MaxInt32))
	}
	return int32(s)
}

// DotAnd is an element of D of the b1 forms with .and.popc, modulo 2^32; a and
// b hold 32 elements a word.
func DotAnd(c uint32, a, b []uint32) uint32 {
	for i, x := range a {
		c += uint32(bits.OnesCount32(x & b[i]))
	}
	return c
}

// DotXor is DotAnd for .xor.popc.
func DotXor(c uint32, a, b []uint32) uint32 {
	for i, x := range a {
		c += uint32(bits.OnesCount32(x ^ b[i]))
	}
	return c
}
