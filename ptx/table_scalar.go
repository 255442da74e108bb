package ptx

// Integer arithmetic, plain and extended precision (ISA 9.7.1, 9.7.2).
const integerTable = `
= 9.7.1.1 scalar 1.0 sm_10 effect=compute
add.int      | add.<type:@int> d, a, b | effect=add
add.sat      | add.sat.<type:s32> d, a, b
add.sat.simd | add.sat.<type:u32,u16x2,s16x2> d, a, b | ptx=9.2 sm=120f
add.simd2    | add.<type:u16x2,s16x2> d, a, b | ptx=8.0 sm=90
add.simd4    | add{.sat}.<type:u8x4,s8x4> d, a, b | ptx=9.2 sm=120f
= 9.7.1.2 scalar 1.0 sm_10 effect=compute
sub.int      | sub.<type:@int> d, a, b | effect=subtract
sub.sat      | sub.sat.<type:s32> d, a, b
sub.simd4    | sub{.sat}.<type:u8x4,s8x4> d, a, b | ptx=9.2 sm=120f
= 9.7.1.3 scalar 1.0 sm_10 effect=compute
mul.int      | mul.<mode:hi,lo>.<type:@int> d, a, b
mul.wide     | mul.<mode:wide>.<type:u16,u32,s16,s32> d:wide<type>, a, b
= 9.7.1.4 scalar 1.0 sm_10 effect=compute
mad.int      | mad.<mode:hi,lo>.<type:@int> d, a, b, c
mad.wide     | mad.<mode:wide>.<type:u16,u32,s16,s32> d:wide<type>, a, b, c:wide<type>
mad.hi.sat   | mad.<mode:hi>.sat.<type:s32> d, a, b, c
clmad        | clmad.<mode:hi,lo>.<type:u64> d, a, b, c | ptx=9.3 sm=80 sec=9.4:9.7.1.5
= 9.7.1.5 scalar 1.0 sm_10 effect=compute
mul24        | mul24.<mode:hi,lo>.<type:u32,s32> d, a, b
= 9.7.1.6 scalar 1.0 sm_10 effect=compute
mad24        | mad24.<mode:hi,lo>.<type:u32,s32> d, a, b, c
mad24.hi.sat | mad24.<mode:hi>.sat.<type:s32> d, a, b, c
= 9.7.1.7 scalar 1.0 sm_10 effect=compute
sad          | sad.<type:@int> d, a, b, c
= 9.7.1.8 scalar 1.0 sm_10 effect=divide
div.int      | div.<type:@int> d, a, b
= 9.7.1.9 scalar 1.0 sm_10 effect=divide
rem          | rem.<type:@int> d, a, b
= 9.7.1.10 scalar 1.0 sm_10 effect=compute
abs.int      | abs.<type:s16,s32,s64> d, a
= 9.7.1.11 scalar 1.0 sm_10 effect=compute
neg.int      | neg.<type:s16,s32,s64> d, a
neg.simd4    | neg.<type:s8x4> d, a | ptx=9.2 sm=120f
= 9.7.1.12 scalar 1.0 sm_10 effect=compute
min.int      | min.<type:@int> d, a, b
min.simd2    | min.<type:u16x2,s16x2> d, a, b | ptx=8.0 sm=90
min.relu     | min.relu.<type:s16x2,s32> d, a, b | ptx=8.0 sm=90
min.simd4    | min.<type:u8x4,s8x4> d, a, b | ptx=9.2 sm=120f
min.relu4    | min.relu.<type:s8x4> d, a, b | ptx=9.2 sm=120f
= 9.7.1.13 scalar 1.0 sm_10 effect=compute
max.int      | max.<type:@int> d, a, b
max.simd2    | max.<type:u16x2,s16x2> d, a, b | ptx=8.0 sm=90
max.relu     | max.relu.<type:s16x2,s32> d, a, b | ptx=8.0 sm=90
max.simd4    | max.<type:u8x4,s8x4> d, a, b | ptx=9.2 sm=120f
max.relu4    | max.relu.<type:s8x4> d, a, b | ptx=9.2 sm=120f
= 9.7.1.14 scalar 2.0 sm_20 effect=compute
popc         | popc.<type:b32,b64> d:u32, a
= 9.7.1.15 scalar 2.0 sm_20 effect=compute
clz          | clz.<type:b32,b64> d:u32, a
= 9.7.1.16 scalar 2.0 sm_20 effect=compute
bfind        | bfind{.shiftamt}.<type:u32,u64,s32,s64> d:u32, a
= 9.7.1.17 scalar 6.0 sm_30 effect=compute
fns          | fns.<type:b32> d, mask, base:b32, offset:s32
= 9.7.1.18 scalar 2.0 sm_20 effect=compute
brev         | brev.<type:b32,b64> d, a
= 9.7.1.19 scalar 2.0 sm_20 effect=compute
bfe          | bfe.<type:u32,u64,s32,s64> d, a, b:u32, c:u32
= 9.7.1.20 scalar 2.0 sm_20 effect=compute
bfi          | bfi.<type:b32,b64> d, a, b, c:u32, e:u32
= 9.7.1.21 scalar 7.6 sm_70 effect=compute
szext        | szext.<mode:clamp,wrap>.<type:u32,s32> d, a, b:u32
= 9.7.1.22 scalar 7.6 sm_70 effect=compute
bmsk         | bmsk.<mode:clamp,wrap>.<type:b32> d, a:u32, b:u32
= 9.7.1.23 scalar 5.0 sm_61 effect=compute
dp4a         | dp4a.<atype:u32,s32>.<btype:u32,s32> d:dot<atype><btype>, a:b32, b:b32, c:dot<atype><btype>
= 9.7.1.24 scalar 5.0 sm_61 effect=compute
dp2a         | dp2a.<mode:lo,hi>.<atype:u32,s32>.<btype:u32,s32> d:dot<atype><btype>, a:b32, b:b32, c:dot<atype><btype>
= 9.7.2.1 scalar 1.2 sm_10 since=type:u64,s64>4.3 effect=compute
add.cc       | add.cc.<type:u32,s32,u64,s64> d, a, b
= 9.7.2.2 scalar 1.2 sm_10 since=cc&type:u64,s64>4.3 effect=carry
addc         | addc{.cc}.<type:u32,s32,u64,s64> d, a, b
= 9.7.2.3 scalar 1.2 sm_10 since=type:u64,s64>4.3 effect=compute
sub.cc       | sub.cc.<type:u32,s32,u64,s64> d, a, b
= 9.7.2.4 scalar 1.2 sm_10 since=cc&type:u64,s64>4.3 effect=carry
subc         | subc{.cc}.<type:u32,s32,u64,s64> d, a, b
= 9.7.2.5 scalar 3.0 sm_20 since=type:u64,s64>4.3 effect=compute
mad.cc       | mad.<mode:hi,lo>.cc.<type:u32,s32,u64,s64> d, a, b, c
= 9.7.2.6 scalar 3.0 sm_20 since=cc&type:u64,s64>4.3 effect=carry
madc         | madc.<mode:hi,lo>{.cc}.<type:u32,s32,u64,s64> d, a, b, c
`

// Floating point: single, double, half and mixed precision (ISA 9.7.3 to
// 9.7.5).
const floatTable = `
= 9.7.3.1 scalar 2.0 sm_20 effect=compute
testp     | testp.<op:finite,infinite,number,notanumber,normal,subnormal>.<type:f32,f64> p:pred, a
= 9.7.3.2 scalar 2.0 sm_20 effect=compute
copysign  | copysign.<type:f32,f64> d, a, b
= 9.7.3.3 scalar 1.0 sm_10 since=rnd:rm,rp>sm_20 effect=compute
add.f32   | add{.<rnd:@rnd=rn>}{.ftz}{.sat}.<type:f32> d, a, b
add.f32x2 | add{.<rnd:@rnd=rn>}{.ftz}.<type:f32x2> d, a, b | ptx=8.6 sm=100
add.f64   | add{.<rnd:@rnd=rn>}.<type:f64> d, a, b | sm=13
= 9.7.3.4 scalar 1.0 sm_10 since=rnd:rm,rp>sm_20 effect=compute
sub.f32   | sub{.<rnd:@rnd=rn>}{.ftz}{.sat}.<type:f32> d, a, b
sub.f32x2 | sub{.<rnd:@rnd=rn>}{.ftz}.<type:f32x2> d, a, b | ptx=8.6 sm=100
sub.f64   | sub{.<rnd:@rnd=rn>}.<type:f64> d, a, b | sm=13
= 9.7.3.5 scalar 1.0 sm_10 since=rnd:rm,rp>sm_20 effect=compute
mul.f32   | mul{.<rnd:@rnd=rn>}{.ftz}{.sat}.<type:f32> d, a, b
mul.f32x2 | mul{.<rnd:@rnd=rn>}{.ftz}.<type:f32x2> d, a, b | ptx=8.6 sm=100
mul.f64   | mul{.<rnd:@rnd=rn>}.<type:f64> d, a, b | sm=13
= 9.7.3.6 scalar 2.0 sm_20 effect=compute
fma.f32   | fma.<rnd:@rnd>{.ftz}{.sat}.<type:f32> d, a, b, c
fma.f32x2 | fma.<rnd:@rnd>{.ftz}.<type:f32x2> d, a, b, c | ptx=8.6 sm=100
fma.f64   | fma.<rnd:@rnd>.<type:f64> d, a, b, c | ptx=1.4 sm=13
= 9.7.3.7 scalar 2.0 sm_20 effect=compute
mad.f32   | mad.<rnd:@rnd>{.ftz}{.sat}.<type:f32> d, a, b, c
mad.f32.default | mad{.ftz}{.sat}.<type:f32> d, a, b, c | ptx=1.0 sm=10 gone=3.2/sm_10
mad.f64   | mad.<rnd:@rnd>.<type:f64> d, a, b, c | ptx=1.0 sm=13
= 9.7.3.8 scalar 1.4 sm_10 effect=compute
div.approx | div.<mode:approx,full>{.ftz}.<type:f32> d, a, b
div.f32   | div.<rnd:@rnd>{.ftz}.<type:f32> d, a, b | sm=20
div.f64   | div.<rnd:@rnd>.<type:f64> d, a, b | sm=13 since=rnd:rz,rm,rp>sm_20
= 9.7.3.9 scalar 1.0 sm_10 effect=compute
abs.f32   | abs{.ftz}.<type:f32> d, a
abs.f64   | abs.<type:f64> d, a | sm=13
= 9.7.3.10 scalar 1.0 sm_10 effect=compute
neg.f32   | neg{.ftz}.<type:f32> d, a
neg.f64   | neg.<type:f64> d, a | sm=13
= 9.7.3.11 scalar 1.0 sm_10 since=NaN>7.0/sm_80 effect=compute
min.f32   | min{.ftz}{.NaN}.<type:f32> d, a, b
min.xorsign.f32 | min{.ftz}{.NaN}.xorsign.abs.<type:f32> d, a, b | ptx=7.2 sm=86
min3.f32  | min{.ftz}{.NaN}{.abs}.<type:f32> d, a, b, c | ptx=8.8 sm=100
min.f64   | min.<type:f64> d, a, b | sm=13
= 9.7.3.12 scalar 1.0 sm_10 since=NaN>7.0/sm_80 effect=compute
max.f32   | max{.ftz}{.NaN}.<type:f32> d, a, b
max.xorsign.f32 | max{.ftz}{.NaN}.xorsign.abs.<type:f32> d, a, b | ptx=7.2 sm=86
max3.f32  | max{.ftz}{.NaN}{.abs}.<type:f32> d, a, b, c | ptx=8.8 sm=100
max.f64   | max.<type:f64> d, a, b | sm=13
= 9.7.3.13 scalar 1.4 sm_10 effect=compute
rcp.approx | rcp.approx{.ftz}.<type:f32> d, a
rcp.f32   | rcp.<rnd:@rnd>{.ftz}.<type:f32> d, a | ptx=2.0 sm=20
rcp.f64   | rcp.<rnd:@rnd>.<type:f64> d, a | sm=13 since=rnd:rz,rm,rp>2.0/sm_20
rcp.approx.f64 | rcp.approx.ftz.<type:f64> d, a | sec=9.7.3.14 ptx=2.1 sm=20
= 9.7.3.15 scalar 1.4 sm_10 effect=compute
sqrt.approx | sqrt.approx{.ftz}.<type:f32> d, a
sqrt.f32  | sqrt.<rnd:@rnd>{.ftz}.<type:f32> d, a | ptx=2.0 sm=20
sqrt.f64  | sqrt.<rnd:@rnd>.<type:f64> d, a | sm=13 since=rnd:rz,rm,rp>2.0/sm_20
= 9.7.3.16 scalar 1.4 sm_10 effect=compute
rsqrt.f32 | rsqrt.approx{.ftz}.<type:f32> d, a
rsqrt.f64 | rsqrt.approx.<type:f64> d, a | sm=13
rsqrt.ftz.f64 | rsqrt.approx.ftz.<type:f64> d, a | sec=9.7.3.17 ptx=4.0 sm=20
= 9.7.3.18 scalar 1.4 sm_10 effect=compute
sin       | sin.approx{.ftz}.<type:f32> d, a
cos       | cos.approx{.ftz}.<type:f32> d, a | sec=9.7.3.19
lg2       | lg2.approx{.ftz}.<type:f32> d, a | sec=9.7.3.20
ex2.f32   | ex2.approx{.ftz}.<type:f32> d, a | sec=9.7.3.21
tanh.f32  | tanh.approx.<type:f32> d, a | sec=9.7.3.22 ptx=7.0 sm=75
= 9.7.4.1 scalar 4.2 sm_53 effect=compute
add.f16   | add{.<rnd:rn=rn>}{.ftz}{.sat}.<type:f16,f16x2> d, a, b
add.bf16  | add{.<rnd:rn=rn>}.<type:bf16,bf16x2> d, a, b | ptx=7.8 sm=90
sub.f16   | sub{.<rnd:rn=rn>}{.ftz}{.sat}.<type:f16,f16x2> d, a, b | sec=9.7.4.2
sub.bf16  | sub{.<rnd:rn=rn>}.<type:bf16,bf16x2> d, a, b | sec=9.7.4.2 ptx=7.8 sm=90
mul.f16   | mul{.<rnd:rn=rn>}{.ftz}{.sat}.<type:f16,f16x2> d, a, b | sec=9.7.4.3
mul.bf16  | mul{.<rnd:rn=rn>}.<type:bf16,bf16x2> d, a, b | sec=9.7.4.3 ptx=7.8 sm=90
= 9.7.4.4 scalar 4.2 sm_53 effect=compute
fma.f16   | fma.<rnd:rn>{.ftz}{.sat}.<type:f16,f16x2> d, a, b, c
fma.relu.f16 | fma.<rnd:rn>{.ftz}.relu.<type:f16,f16x2> d, a, b, c | ptx=7.0 sm=80
fma.bf16  | fma.<rnd:rn>{.relu}.<type:bf16,bf16x2> d, a, b, c | ptx=7.0 sm=80
fma.oob   | fma.<rnd:rn>.oob{.relu}.<type:f16,f16x2,bf16,bf16x2> d, a, b, c | ptx=8.1 sm=90
= 9.7.4.5 scalar 6.0 sm_53 effect=compute
neg.f16   | neg{.ftz}.<type:f16,f16x2> d, a
neg.bf16  | neg.<type:bf16,bf16x2> d, a | ptx=7.0 sm=80
abs.f16   | abs{.ftz}.<type:f16,f16x2> d, a | sec=9.7.4.6 ptx=6.5
abs.bf16  | abs.<type:bf16,bf16x2> d, a | sec=9.7.4.6 ptx=7.0 sm=80
= 9.7.4.7 scalar 7.0 sm_80 effect=compute
min.f16   | min{.ftz}{.NaN}.<type:f16,f16x2> d, a, b
min.xorsign.f16 | min{.ftz}{.NaN}.xorsign.abs.<type:f16,f16x2> d, a, b | ptx=7.2 sm=86
min.bf16  | min{.NaN}.<type:bf16,bf16x2> d, a, b
min.xorsign.bf16 | min{.NaN}.xorsign.abs.<type:bf16,bf16x2> d, a, b | ptx=7.2 sm=86
= 9.7.4.8 scalar 7.0 sm_80 effect=compute
max.f16   | max{.ftz}{.NaN}.<type:f16,f16x2> d, a, b
max.xorsign.f16 | max{.ftz}{.NaN}.xorsign.abs.<type:f16,f16x2> d, a, b | ptx=7.2 sm=86
max.bf16  | max{.NaN}.<type:bf16,bf16x2> d, a, b
max.xorsign.bf16 | max{.NaN}.xorsign.abs.<type:bf16,bf16x2> d, a, b | ptx=7.2 sm=86
= 9.7.4.9 scalar 7.0 sm_75 effect=compute
tanh.f16  | tanh.approx.<type:f16,f16x2> d, a
tanh.bf16 | tanh.approx.<type:bf16,bf16x2> d, a | ptx=7.8 sm=90
ex2.f16   | ex2.approx.<type:f16,f16x2> d, a | sec=9.7.4.10
ex2.bf16  | ex2.approx.ftz.<type:bf16,bf16x2> d, a | sec=9.7.4.10 ptx=7.8 sm=90
= 9.7.5.1 scalar 8.6 sm_100 effect=compute
add.mixed | add{.<rnd:@rnd=rn>}{.sat}.<type:f32>.<atype:f16,bf16> d, a:<atype>, c
sub.mixed | sub{.<rnd:@rnd=rn>}{.sat}.<type:f32>.<atype:f16,bf16> d, a:<atype>, c | sec=9.7.5.2
fma.mixed | fma.<rnd:@rnd>{.sat}.<type:f32>.<atype:f16,bf16> d, a:<atype>, b:<atype>, c | sec=9.7.5.3
add.mixed2 | add{.<rnd:@rnd=rn>}.<dtype:f32x2>.<atype:f16x2,bf16x2>.<ctype:f32x2> d:<dtype>, a:<atype>, c:<ctype> | ptx=9.4 sm=107f on=107f
sub.mixed2 | sub{.<rnd:@rnd=rn>}.<dtype:f32x2>.<atype:f16x2,bf16x2>.<ctype:f32x2> d:<dtype>, a:<atype>, c:<ctype> | ptx=9.4 sm=107f on=107f sec=9.7.5.2
add.narrow2 | add.<rnd:rz>{.ftz}.<dtype:f16x2,bf16x2>.<atype:f32x2>.<ctype:f32x2> d:<dtype>, a:<atype>, c:<ctype> | ptx=9.4 sm=107f on=107f if=dtype:f16x2>ftz:ftz if=dtype:bf16x2>ftz:-
sub.narrow2 | sub.<rnd:rz>{.ftz}.<dtype:f16x2,bf16x2>.<atype:f32x2>.<ctype:f32x2> d:<dtype>, a:<atype>, c:<ctype> | ptx=9.4 sm=107f on=107f sec=9.7.5.2 if=dtype:f16x2>ftz:ftz if=dtype:bf16x2>ftz:-
fma.mixed2 | fma{.<rnd:@rnd=rn>}.<dtype:f32x2>.<atype:f16x2,bf16x2>.<btype:f32x2>.<ctype:f32x2> d:<dtype>, a:<atype>, b:<btype>, c:<ctype> | ptx=9.4 sm=107f on=107f sec=9.7.5.3
add.x4 | add{.<rnd:rn=rn>}{.satfinite}.<dtype:e5m2x4,e4m3x4>.<atype:@x4> d:<dtype>, a:<atype>, c:<dtype> | ptx=9.4 sm=100a on=100a,103a sec=9.4:9.7.6.1
sub.x4 | sub{.<rnd:rn=rn>}{.satfinite}.<dtype:e5m2x4,e4m3x4>.<atype:@x4> d:<dtype>, a:<atype>, c:<dtype> | ptx=9.4 sm=100a on=100a,103a sec=9.4:9.7.6.2
mul.x4 | mul{.<rnd:rn=rn>}{.satfinite}.<dtype:e5m2x4,e4m3x4>.<atype:@x4>.<ctype:@x4> d:<dtype>, a:<atype>, c:<ctype> | ptx=9.4 sm=100a on=100a,103a sec=9.4:9.7.6.3
fma.x4 | fma{.<rnd:rn=rn>}{.satfinite}.<dtype:e5m2x4,e4m3x4>.<atype:@x4>.<btype:@x4> d:<dtype>, a:<atype>, b:<btype>, c:<dtype> | ptx=9.4 sm=100a on=100a,103a sec=9.4:9.7.6.4
`

// Comparison, selection, logic and shifts (ISA 9.7.6 to 9.7.8).
const logicTable = `
= 9.7.6.1 scalar 1.0 sm_10 effect=compare-number
set          | set.<cmp:@cmp>{.ftz}.<dtype:u32,s32,f32>.<type:@word> d:<dtype>, a, b | if=type:b16,b32,b64>cmp:eq,ne if=type:s16,s32,s64>cmp:eq,ne,lt,le,gt,ge if=type:u16,u32,u64>cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs if=type:f32,f64>cmp:@hcmp if=ftz>type:f32
set.simd     | set.<cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs>.<type:u8x4,s8x4,u16x2,s16x2> d, a, b | ptx=9.4 sm=107f on=107f
set.bool     | set.<cmp:@cmp>.<bool:@bool>{.ftz}.<dtype:u32,s32,f32>.<type:@word> d:<dtype>, a, b, c:pred | if=type:b16,b32,b64>cmp:eq,ne if=type:s16,s32,s64>cmp:eq,ne,lt,le,gt,ge if=type:u16,u32,u64>cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs if=type:f32,f64>cmp:@hcmp if=ftz>type:f32
= 9.7.6.2 scalar 1.0 sm_10 effect=compare
setp         | setp.<cmp:@cmp>{.ftz}.<type:@word> p:pred[|q], a, b | if=type:b16,b32,b64>cmp:eq,ne if=type:s16,s32,s64>cmp:eq,ne,lt,le,gt,ge if=type:u16,u32,u64>cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs if=type:f32,f64>cmp:@hcmp if=ftz>type:f32
setp.bool    | setp.<cmp:@cmp>.<bool:@bool>{.ftz}.<type:@word> p:pred[|q], a, b, c:pred | if=type:b16,b32,b64>cmp:eq,ne if=type:s16,s32,s64>cmp:eq,ne,lt,le,gt,ge if=type:u16,u32,u64>cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs if=type:f32,f64>cmp:@hcmp if=ftz>type:f32
= 9.7.6.3 scalar 1.0 sm_10 effect=select
selp         | selp.<type:@word> d, a, b, c:pred
= 9.7.6.4 scalar 1.0 sm_10 effect=compute
slct.s32     | slct.<type:@word>.<ctype:s32> d, a, b, c:<ctype>
slct.f32     | slct{.ftz}.<type:@word>.<ctype:f32> d, a, b, c:<ctype>
= 9.7.7.1 scalar 4.2 sm_53 effect=compare-number
set.to.f16   | set.<cmp:@hcmp>{.<bool:@bool>}{.ftz}.<dtype:f16>.<type:@word,f16> d:<dtype>, a, b, bool?c:pred | if=type:b16,b32,b64>cmp:eq,ne if=type:s16,s32,s64>cmp:eq,ne,lt,le,gt,ge if=type:u16,u32,u64>cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs if=ftz>type:f16,f32
set.to.bf16  | set.<cmp:@hcmp>{.<bool:@bool>}.<dtype:bf16>.<type:@word,f16,bf16> d:<dtype>, a, b, bool?c:pred | ptx=7.8 sm=90 if=type:b16,b32,b64>cmp:eq,ne if=type:s16,s32,s64>cmp:eq,ne,lt,le,gt,ge if=type:u16,u32,u64>cmp:eq,ne,lt,le,gt,ge,lo,ls,hi,hs
set.f16      | set.<cmp:@hcmp>{.<bool:@bool>}{.ftz}.<dtype:u16,s16,u32,s32>.<type:f16> d:<dtype>, a, b, bool?c:pred | ptx=6.5
set.bf16     | set.<cmp:@hcmp>{.<bool:@bool>}.<dtype:u16,s16,u32,s32>.<type:bf16> d:<dtype>, a, b, bool?c:pred | ptx=7.8 sm=90
set.f16x2    | set.<cmp:@hcmp>{.<bool:@bool>}{.ftz}.<dtype:f16x2,u32,s32>.<type:f16x2> d:<dtype>, a, b, bool?c:pred | since=dtype:u32,s32>6.5
set.bf16x2   | set.<cmp:@hcmp>{.<bool:@bool>}.<dtype:bf16x2,u32,s32>.<type:bf16x2> d:<dtype>, a, b, bool?c:pred | ptx=7.8 sm=90
= 9.7.7.2 scalar 4.2 sm_53 effect=compare
setp.f16     | setp.<cmp:@hcmp>{.<bool:@bool>}{.ftz}.<type:f16> p:pred, a, b, bool?c:pred
setp.f16x2   | setp.<cmp:@hcmp>{.<bool:@bool>}{.ftz}.<type:f16x2> p:pred[|q], a, b, bool?c:pred
setp.bf16    | setp.<cmp:@hcmp>{.<bool:@bool>}.<type:bf16> p:pred, a, b, bool?c:pred | ptx=7.8 sm=90
setp.bf16x2  | setp.<cmp:@hcmp>{.<bool:@bool>}.<type:bf16x2> p:pred[|q], a, b, bool?c:pred | ptx=7.8 sm=90
= 9.7.8.1 scalar 1.0 sm_10 effect=compute
and          | and.<type:pred,@bits> d, a, b | effect=and
or           | or.<type:pred,@bits> d, a, b | sec=9.7.8.2 effect=or
xor          | xor.<type:pred,@bits> d, a, b | sec=9.7.8.3 effect=xor
not          | not.<type:pred,@bits> d, a | sec=9.7.8.4 effect=invert
cnot         | cnot.<type:@bits> d, a | sec=9.7.8.5
= 9.7.8.6 scalar 4.3 sm_50 effect=compute
lop3         | lop3.<type:b32> d, a, b, c, #lut:u8
lop3.bool    | lop3.<bool:or,and>.<type:b32> d|p, a, b, c, #lut:u8, e:pred | ptx=8.2 sm=70
= 9.7.8.7 scalar 3.1 sm_32 effect=compute
shf          | shf.<dir:l,r>.<mode:clamp,wrap>.<type:b32> d, a, b, c:u32
= 9.7.8.8 scalar 1.0 sm_10 effect=compute
shl          | shl.<type:@bits> d, a, b:u32
shr          | shr.<type:@bits,@int> d, a, b:u32 | sec=9.7.8.9
`
