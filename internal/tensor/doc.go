// Package tensor is the arithmetic of the matrix instructions on bit patterns:
// what an H200 delivers in one element of D = A·B + C, for mma.sync, mma.sp,
// wgmma.mma_async and wgmma.mma_async.sp, bit for bit.
//
// [WarpMMA] is mma.sync and mma.sp on the registers of a warp, [WGMMA] is
// wgmma.mma_async on those of a warpgroup and on shared memory. [Fragment] says
// where a matrix lies in registers, mma_sparse.go what metadata means. Below
// them, a [Rule] is the sum over one instruction's K: it sees elements only, of a
// sparse A the stored ones and their partners in B.
//
// # The rule
//
// Tensor cores do not round like a chain of fused multiply-adds. One
// instruction adds all its K products and C at once, whatever their order:
//
//  1. The products are exact. The exponent of a product is the sum of its
//     factors' exponents, before any normalization: that of 1.5·1.5 is 0, and a
//     subnormal counts with the exponent of the smallest normal number. Zeros
//     have none.
//  2. E is the largest exponent of the products and C. Each addend is truncated
//     toward zero to a multiple of 2^(E-F).
//  3. The truncated addends are added exactly, and the sum is delivered: to f32
//     by truncation (past the largest number it is an infinity), to f16 rounded
//     to nearest even. Subnormal results are kept.
//  4. A NaN, infinity times zero or infinities of both signs give the canonical
//     NaN (0x7fffffff, 0x7fff). Else an infinity wins. A result of zero,
//     exact or not, is +0 whatever the signs.
//
// F is 25 for f16, bf16 and tf32 operands. For fp8 operands of wgmma it is 13,
// and an f32 result keeps only 13 fraction bits. The low 13 bits of a tf32
// operand are not read.
//
// # By type, with the instruction that ptxas 13.0 makes of it
//
//	f16, bf16, tf32   HMMA, HGMMA: the rule with F = 25, one group an instruction:
//	                  16 products of f16 and bf16 in m16n8k16, m64nNk16 and the
//	                  sparse forms of k32, 8 in m16n8k8; of tf32 8 in k8, 4 in k4
//	fp8, wgmma        QGMMA: the rule with F = 13, one group of 32 products
//	fp8, mma          no such instruction: operands widened to f16, two HMMA from
//	                  zero (elements 0 and 1 of each four, then 2 and 3), C added
//	                  by an ordinary f32 or f16 addition at the end
//	f16, m8n8k4       no such instruction: f32 fused multiply-adds from zero in
//	                  the order of k, C added at the end: [Chain]; for an f16 D
//	                  two pairs of products added to C in turn: [ChainF16]
//	f64               DMMA: fused multiply-adds from C in the order of k: [ChainF64]
//	s8, u8, s4, u4    IMMA, IGMMA (s4 and u4 as two of s8): exact, clamped once or
//	                  modulo 2^32: [DotInt]
//	b1                BMMA, BGMMA: exact, modulo 2^32; .xor is built from .and:
//	                  [DotAnd], [DotXor]
//
// What ptxas builds from other instructions is so for version 13.0.88 and no
// property of the chip.
//
// # Evidence
//
// The campaign in campaign_test.go and testdata/h200: 84 instructions, 400 tiles
// of 128 elements each (64 where M is 8), 51,200 dot products a kind. The tiles
// hold, by turns: numbers near one; the whole range of exponents; spreads of 24
// and more; pairs of products that cancel except for their last bit; few products
// far apart; subnormals; the largest numbers; NaNs, infinities and zeros of both
// signs; powers of two; single products against C. All elements are equal, bit
// for bit.
//
// Nine of the kinds (mma and wgmma of f16 with both accumulators, bf16, tf32,
// fp8) were compared with the rule's neighbours too. Of 51,200 elements the next
// smaller and the next larger F miss 340 or more, 3,700 or more where D is f32;
// two groups of half the size miss 6,000 or more; the other width of an f32
// result misses 5,800 or more. Exponents of normalized subnormals miss 29 to 236,
// except for f16 operands with an f16 D, where no element distinguishes the two.
// Rounding of the addends toward minus infinity and exponents of normalized
// products were not counted.
//
// To make the golden data again, on a machine with an sm_90 GPU, nvcc and CuPy:
//
//	go test ./internal/tensor -run TestPlan -args -plan DIR
//	python3 internal/tensor/testdata/h200/run.py DIR OUT    # seconds
//	go test ./internal/tensor -run TestReplay -v -args -results OUT/results -update
//
// The last compares every element; without -results the test compares a sum of
// each tile. It was made on an NVIDIA H200, driver 580.159.04, CUDA 13.0.
package tensor
