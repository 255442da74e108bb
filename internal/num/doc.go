// Package num is PTX's scalar arithmetic on bit patterns: what one lane's
// execution unit computes, as an sm_90 part computes it.
//
// It models number formats, their roundings and saturations, NaN results,
// subnormal flushing, conversions, comparisons and the integer instructions
// that Go has no operator for. It does not model registers, predicates,
// instruction legality or types: a caller that passes a combination the
// assembler would refuse (a .relu on an f64, say) gets some value, never a
// panic. Nothing allocates.
//
// # Conventions
//
// Operands and results are raw bits: uint16 for f16 and bf16, uint32 for f32,
// tf32 and packed pairs, uint64 for f64. In a packed pair element 0 is the low
// half. [Rounding] is a rounding, [Mod] a set of qualifiers (FTZ, Sat, Relu,
// SatFinite, NaN, XorSignAbs). Functions ending in RN with no other argument
// are the short paths for the form without qualifiers.
//
// # Map
//
//	f32      AddRN SubRN MulRN DivRN (a, b), FmaRN(a, b, c); AddF32 SubF32 MulF32
//	         DivF32 (r, m, a, b), FmaF32(r, m, a, b, c), RcpF32 SqrtF32 (r, m, a);
//	         NegF32 AbsF32 (m, a), MinF32 MaxF32 (m, a, b); CopySignF32(sign, a),
//	         TestpF32(op, a), FlushF32(a)
//	f64      AddF64 … as above without m; AddRNF64 SubRNF64 MulRNF64 FmaRNF64
//	f16      AddF16 SubF16 MulF16 FmaF16 NegF16 AbsF16 MinF16 MaxF16 (m, …), each
//	bf16     also as BF16, F16x2 and BF16x2; FmaOOBF16 for fma.oob
//	compare  [Cmp].F32 .F64 .F16 .BF16 .U64 .S64; FTZ in the F forms; SlctF32
//	cvt      Cvt(dst, src, r, m, v): every scalar pair, integer results extended to
//	         64 bits by their sign; CvtPack2, CvtPack2Half, CvtUnpack2 for x2 forms;
//	         CvtPackSat for cvt.pack; F16ToF32 F32ToF16 BF16ToF32 F32ToBF16 and
//	         Decode, Encode for one value of any small format
//	integer  Bfe* Bfi* Bfind* Brev* Clz* Popc* Fns Sad* Prmt Lop3 Shf* Szext Bmsk
//	         Dp4a Dp2a MulHi* Mul24* Mad24* MadHiSat AddSat SubSat AddC* SubC* MadC*
//	         Div* Rem* Cnot*, shifts of 16 bits (the machine has the rest as Go
//	         writes it). Operands are in PTX's order; booleans
//	         (signed, wrap, hi, shiftamt) and tables (mode, lut) come before them,
//	         a carry comes last and goes out as the second result
//	video    [Video], [Vmad], [VideoSIMD]: a form, decoded once, whose Eval(a, b, c) runs it
//	approx   Ex2F32 Lg2F32 SinF32 CosF32 TanhF32 RcpApproxF32 RsqrtF32 SqrtApproxF32
//	         DivApproxF32 DivFullF32 RcpApproxF64 RsqrtApproxFTZF64 RsqrtF64
//	         Ex2F16 Ex2BF16 TanhF16 TanhBF16 and their x2 forms
//
// # How results are made exact
//
// Rounding to nearest uses the host's own IEEE arithmetic. Everything else goes
// through one of two exact carriers. A float64 rounded to odd (the last bit set
// whenever the result was inexact) can be rounded again to any format of 51 bits
// or fewer in any mode with no double-rounding error, so all f32, f16, bf16 and
// fp8 results pass through it. Directed f64 results come from a 128-bit integer
// with a sticky bit.
//
// # Where the ISA leaves it open
//
// Each such place says what an H200 does, as internal/campaign measured it. A
// comment that begins with 'Open:' says what was chosen where no sm_90 part can
// tell. Approximate functions return the rounded true value, which lies within
// the ISA's bound but is not the bits of the card; their bounds are constants
// beside them.
package num
