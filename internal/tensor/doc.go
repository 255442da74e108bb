// Package tensor is the arithmetic of the matrix instructions on bit patterns:
// what an H200 delivers in one element of D = A·B + C, for mma.sync, mma.sp,
// wgmma.mma_async and wgmma.mma_async.sp, bit for bit; and what other cards
// deliver, as far as it is known.
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
// On sm_90, F is 25 for f16, bf16 and tf32 operands. For fp8 operands of wgmma it
// is 13, and an f32 result keeps only 13 fraction bits. The low 13 bits of a tf32
// operand are not read.
//
// # By architecture
//
// The units of all architectures have this rule, with other parameters: a [Sum].
// Where K is more than a step, the steps follow each other in the order of k, and
// each delivers the C of the next. [RuleFor] knows these:
//
//	                                            F   step  D of f32   rests on
//	sm_70         f16                           23  4     23 bits    vectors, model
//	sm_80, sm_86  f16, bf16                     24  8     23         vectors, model
//	              tf32                          24  4     23         vectors, model
//	sm_89         f16, bf16, tf32               as sm_80             vectors, model
//	              fp8                           13  16    13         vectors
//	sm_90         f16, bf16, tf32               25  all   23         campaign, vectors
//	              fp8, wgmma                    13  all   13         campaign, vectors
//	              fp8, mma.sync                 widened              campaign, vectors
//	sm_100        mma.sync: f16, bf16, fp8      as sm_90             vectors
//	              tf32                          as sm_90             vectors, model
//	              tcgen05: f16, bf16, tf32,
//	              e4m3, e5m2                    25  all   23         model
//	              e2m3, e3m2, e2m1              25  all   23         assumed
//	              mxf8f6f4: e4m3, e5m2          25  all   23         model
//	              mxf8f6f4: e2m3, e3m2, e2m1    25  all   23         assumed
//	              mxf4, mxf4nvf4, K of 64       35  all   23         model
//	              mxf4, mxf4nvf4, K of 96       35  all   23         assumed
//	              i8                            exact
//	sm_120        mma.sync: f16, bf16, tf32,
//	              e4m3, e5m2                    25  all   23         model
//	              e2m3, e3m2, e2m1              25  all   23         assumed
//	              block scales                  as sm_100            model, assumed
//	sm_103        as sm_100                                          assumed
//	sm_121        as sm_120                                          assumed
//
// wmma is as mma.sync. Where a model stands beside vectors, these have the
// products of one step only: they show F and C, the model says what a step is.
// With tcgen05, "all" is 16 products of f16 and bf16, 8 of tf32 and 32 of the
// 8-bit kinds, whose operands may be of any two of their formats. What follows
// from nobody's measurement is assumed too: a product whose operands come from
// two CTAs, .ws, scale-input-d, and the sparse forms of all but sm_90. [ScaledRule] says
// what block scales add, and testdata/scaled has 2,800 of MMA-Sim's results for it.
//
// "Widened" is what ptxas makes of fp8 for mma.sync where the chip has no such
// instruction, see below. A B200 delivers the same: C is not in the sum but added
// to it at the end, which an f16 result shows as well as an f32 one.
//
// # By type on sm_90, with the instruction that ptxas 13.0 makes of it
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
// Vectors are the results of cards that Khattak and Mikaitis published with their
// models (arXiv 2512.07004): 5,000 for each format of operands and of D, 48 sets,
// of a B200, an H200, an H100, an RTX 1000 (Ada), an L40S, an A100, an A2 and a
// V100; the L40S's have the same inputs and results as the RTX 1000's. Command
// vectors counts: none of the 240,000 differs. How many differ from rules changed
// in one thing, with D of f32 and of f16:
//
//	                       F-1           F+1          C moved       half steps
//	B200  f16              1163, 1       531, 0       1449, 1373    1577, 1316
//	      bf16, tf32       487, 481      177, 171     1625, 1501    942, -
//	      fp8              0, 0          0, 0         2239, 1846+   0, 1150+
//	H200  f16              1187, 0       534, 0       1475, 1417    1550, 1362
//	      fp8, wgmma       1026+         452+         -             378+
//	Ada   f16              1654, 0       828, 0       1550, 1550    1196, 1325
//	      fp8              2245+, 340+   1156+, 137+  4999+, 1903+  702+, 1224+
//	A100  f16              1685, 1       766, 0       1587, 1497    1261, 1296
//	V100  f16              2235, 0       1200, 0      1652, 1542    -
//
// The plus is of the smaller count of e4m3 and e5m2. An f16 result has 11 bits, so
// that the last of 25 decides it once in thousands. The sums of fp8 in mma.sync on
// a B200 have too few bits to show F; the instruction behind them is that of f16,
// which shows it. wgmma was measured with C of zero.
//
// The model is MMA-Sim (arXiv 2511.10909), whose authors compared it with cards
// on more than a million drawn inputs. Beside it, 153 of 100,000 drawn sums of the
// tcgen05 kinds differ from the rule, all with zeros among the operands: a zero
// has an exponent there, -126, and its product that and its partner's. An H200
// refutes this: with it, nine kinds of the campaign fail. Without it none of the
// 100,000 differs; with F = 24 the model differs in 571 to 1,356 of 10,000 where D
// is f32. It takes e2m1 as a type, but has no arithmetic for it.
//
// Open is how tiny sums are truncated. The models of Khattak and Mikaitis let E
// not fall below -133 where D is f32 and -21 where it is f16 (on sm_80 and sm_89
// -132 and -20, on sm_70 -19 for f16 alone). Only a C of zero leaves E so small,
// and only an f32 result that is subnormal, or an f16 result that is near half of
// the smallest number, shows it; no vector does and no tile of the campaign.
// [Sum.Floor] is this bound; no row has one.
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
