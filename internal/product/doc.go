// Package product holds what a kernel left of D = A·B to the product in f64, within a
// bound that the tensor core's sum gives: from F, the fraction bits that it keeps, and
// from the roundings of its steps.
//
// # The bound
//
// One tcgen05.mma adds C and the products of 32 bytes of K at once (16 of f16 and bf16,
// 8 of tf32, 32 of the 8-bit formats), as package tensor says: E is the largest exponent
// among them, each is cut toward zero to a multiple of u = 2^(E-F), what is left is added
// exactly, and the sum is cut to the 23 fraction bits of an f32, which is the next C.
//
// The reference does none of this. It has the exact sum of the products, and beside it two
// numbers between which C lies behind each step, for:
//
//   - A product p, whose lowest bit is 2^q, loses nothing if 2^q ≥ u. Otherwise it loses at
//     least 2^q, and at most u - 2^q, for what is lost is a multiple of 2^q below u; or all
//     of it, if |p| < u. It loses it toward zero.
//   - C's cut is monotone, so that the cuts of the two numbers enclose it; and so are the
//     cut to 23 bits and the rounding to D's format.
//   - E is that of the products, which are known, or of C, which lies between the two
//     numbers: where their exponents differ, the larger u gives the most that is lost, and
//     the smaller the least.
//
// The two numbers' own sums are made in f64; where that may round, they are moved apart by
// as much. So the distance of D from the exact sum is at most the sum over the steps of u
// for each product with bits below u, of u for C, and of an ulp of f32, and one rounding to
// D's format; where all signs are equal it is at least the sum of what surely is lost. The
// order of products within a step plays no part in it, nor does the order in which E or the
// sum are formed.
//
// [Inputs] draws operands that make it tight. With those of [Positive] C soon has the
// largest exponent, so that E is C's; products have it by some bits less, so that their last
// bits, and those alone, are cut, all in one direction. A sum that keeps one bit more or
// less is then outside of the bound.
package product
