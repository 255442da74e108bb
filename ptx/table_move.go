package ptx

// Moves within and between registers and lanes (ISA 9.7.9.3 to 9.7.9.7,
// 9.7.9.19 to 9.7.9.24).
const moveTable = `
= 9.7.9.3 scalar 1.0 sm_10 effect=move
mov          | mov.<type:pred,@word> d, a
mov.v4       | mov.<vec:v4>.<type:u32,s32,b32,f32> d*<vec>, a*<vec> | effect=compute
mov.b128     | mov.<type:b128> d, a | sec=9.7.9.4 ptx=8.3 sm=70
mov.pack     | mov.<type:@bits> d, a*?:part<type> | sec=9.7.9.4
mov.unpack   | mov.<type:@bits> d*?:part<type>, a | sec=9.7.9.4
mov.pack.b128 | mov.<type:b128> d, a*?:part<type> | sec=9.7.9.4 ptx=8.3 sm=70
mov.unpack.b128 | mov.<type:b128> d*?:part<type>, a | sec=9.7.9.4 ptx=8.3 sm=70
= 9.7.9.5 warp 3.0 sm_30 gone=6.4/sm_70 effect=exchange
shfl         | shfl.<mode:up,down,bfly,idx>.<type:b32> d[|p], a, b, c
= 9.7.9.6 warp 6.0 sm_30 effect=exchange
shfl.sync    | shfl.sync.<mode:up,down,bfly,idx>.<type:b32> d[|p], a, b, c, mask:b32 | barrier=warp-mask
= 9.7.9.7 scalar 2.0 sm_20 effect=compute
prmt         | prmt.<type:b32>{.<mode:f4e,b4e,rc8,ecl,ecr,rc16>} d, a, b, c
= 9.7.9.19 scalar 2.0 sm_20 space=<space> since=space:const>3.1 since=space:param,param::entry>7.7/sm_70 effect=compute
isspacep     | isspacep.<space:@window> p:pred, a:addr
= 9.7.9.20 scalar 2.0 sm_20 space=<space> since=space:const>3.1 since=space:param,param::entry>7.7/sm_70 effect=compute
cvta         | cvta.<space:@window>.<type:u32,u64> d, a
cvta.to      | cvta.to.<space:@window>.<type:u32,u64> d, a
= 9.7.9.23 scalar 7.8 sm_90 space=<space> effect=compute
mapa         | mapa{.<space:shared::cluster=generic>}.<type:u32,u64> d, a, b:u32
= 9.7.9.24 scalar 7.8 sm_90 space=<space> effect=compute
getctarank   | getctarank{.<space:shared::cluster=generic>}.<type:u32,u64> d:u32, a
`

// Conversions (ISA 9.7.9.21, 9.7.9.22). The combinations of rounding, .ftz, .sat, .relu
// and .satfinite that a conversion allows depend on both of its types, so there are many
// rows.
const convertTable = `
= 9.7.9.21 scalar 1.0 sm_10 effect=convert
cvt.int.int    | cvt{.sat}.<dtype:@int8>.<atype:@int8> d:<dtype>, a:<atype>
cvt.int.float  | cvt.<rnd:@irnd>{.ftz}{.sat}.<dtype:@int8>.<atype:f16,f32,f64> d:<dtype>, a:<atype> | if=ftz>atype:f32
cvt.int.bf16   | cvt.<rnd:@irnd>.<dtype:@int8>.<atype:bf16> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.float.int  | cvt.<rnd:@rnd>{.ftz}{.sat}.<dtype:f16,f32,f64>.<atype:@int8> d:<dtype>, a:<atype> | if=ftz>dtype:f32
cvt.bf16.int   | cvt.<rnd:@rnd>.<dtype:bf16>.<atype:@int8> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.f32.f16    | cvt{.ftz}{.sat}.<dtype:f32>.<atype:f16> d:<dtype>, a:<atype>
cvt.f32.bf16   | cvt{.<rnd:rn>}{.ftz}.<dtype:f32>.<atype:bf16> d:<dtype>, a:<atype> | ptx=7.1 sm=80 since=ftz>7.8/sm_90
cvt.f64.f16    | cvt{.sat}.<dtype:f64>.<atype:f16> d:<dtype>, a:<atype>
cvt.f64.bf16   | cvt{.<rnd:rn>}.<dtype:f64>.<atype:bf16> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.f64.f32    | cvt{.ftz}{.sat}.<dtype:f64>.<atype:f32> d:<dtype>, a:<atype> | sm=13
cvt.f32.f32    | cvt{.<rnd:@irnd>}{.ftz}{.sat}.<dtype:f32>.<atype:f32> d:<dtype>, a:<atype>
cvt.f64.f64    | cvt{.<rnd:@irnd>}{.sat}.<dtype:f64>.<atype:f64> d:<dtype>, a:<atype> | sm=13
cvt.f16.f16    | cvt{.<rnd:@irnd>}{.sat}.<dtype:f16>.<atype:f16> d:<dtype>, a:<atype>
cvt.bf16.bf16  | cvt{.<rnd:@irnd>}.<dtype:bf16>.<atype:bf16> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.f32.f64    | cvt.<rnd:@rnd>{.ftz}{.sat}.<dtype:f32>.<atype:f64> d:<dtype>, a:<atype> | sm=13
cvt.f16.f64    | cvt.<rnd:@rnd>{.sat}.<dtype:f16>.<atype:f64> d:<dtype>, a:<atype>
cvt.bf16.f64   | cvt.<rnd:@rnd>.<dtype:bf16>.<atype:f64> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.f16.f32    | cvt.<rnd:@rnd>{.ftz}{.sat}.<dtype:f16>.<atype:f32> d:<dtype>, a:<atype>
cvt.f16.f32.relu | cvt.<rnd:rn,rz>{.relu}{.satfinite}{.pzo}.<dtype:f16>.<atype:f32> d:<dtype>, a:<atype> | ptx=7.0 sm=70 since=relu>sm_80 since=satfinite>8.1 since=pzo>9.4/on_107f
cvt.bf16.f32   | cvt.<rnd:rn,rz>{.relu}{.satfinite}{.pzo}.<dtype:bf16>.<atype:f32> d:<dtype>, a:<atype> | ptx=7.0 sm=80 since=satfinite>8.1 since=pzo>9.4/on_107f
cvt.bf16.f32.rnd | cvt.<rnd:rm,rp>.<dtype:bf16>.<atype:f32> d:<dtype>, a:<atype> | ptx=7.0 sm=80
cvt.bf16.f16   | cvt.<rnd:@rnd>.<dtype:bf16>.<atype:f16> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.f16.bf16   | cvt.<rnd:@rnd>.<dtype:f16>.<atype:bf16> d:<dtype>, a:<atype> | ptx=7.8 sm=90
cvt.f16x2.f32  | cvt.<rnd:rn,rz>{.relu}{.satfinite}{.pzo}.<dtype:f16x2,bf16x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype> | ptx=7.0 sm=80 since=satfinite>8.1 since=pzo>9.4/on_107f
cvt.rs.f16x2   | cvt.<rnd:rs>{.relu}{.satfinite}{.pzo}.<dtype:f16x2,bf16x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype>, rbits:u32 | ptx=8.7 sm=100a on=100a,103a,107a since=pzo>9.4/on_107f
cvt.tf32.rna   | cvt.<rnd:rna>{.satfinite}.<dtype:tf32>.<atype:f32> d:<dtype>, a:<atype> | ptx=7.0 sm=80 since=satfinite>8.1
cvt.tf32       | cvt.<rnd:rn,rz>{.satfinite}{.relu}{.pzo}.<dtype:tf32>.<atype:f32> d:<dtype>, a:<atype> | ptx=7.8 sm=90 since=satfinite>8.6/sm_100 since=pzo>9.4/on_107f
cvt.f8x2.f32   | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<dtype:e4m3x2,e5m2x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype> | ptx=7.8 sm=89 since=pzo>9.4/on_107f since=rnd:rz>9.4/on_107f
cvt.f8x2.f16x2 | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<dtype:e4m3x2,e5m2x2>.<atype:f16x2> d:<dtype>, a:<atype> | ptx=7.8 sm=89 since=pzo>9.4/on_107f since=rnd:rz>9.4/on_107f
cvt.f8x2.bf16x2 | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<dtype:e4m3x2,e5m2x2>.<atype:bf16x2> d:<dtype>, a:<atype> | ptx=9.1 sm=100f since=pzo>9.4/on_107f since=rnd:rz>9.4/on_107f
cvt.f16x2.f8x2 | cvt.<rnd:rn>{.relu}.<dtype:f16x2>.<atype:e4m3x2,e5m2x2> d:<dtype>, a:<atype> | ptx=7.8 sm=89
cvt.rs.f8x4    | cvt.<rnd:rs>{.relu}.satfinite{.pzo}.<dtype:e4m3x4,e5m2x4,e2m3x4,e3m2x4,e2m1x4>.<atype:f32> d:<dtype>, a*4:<atype>, rbits:u32 | ptx=8.7 sm=100a on=100a,103a,107a since=pzo>9.4/on_107f
cvt.f6f4x2.f32 | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<dtype:e2m1x2,e2m3x2,e3m2x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype> | ptx=8.6 sm=100a since=pzo>9.4/on_107f since=rnd:rz>9.4/on_107f
cvt.f6f4x2.f16x2 | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<dtype:e2m1x2,e2m3x2,e3m2x2>.<atype:f16x2,bf16x2> d:<dtype>, a:<atype> | ptx=9.1 sm=100f since=pzo>9.4/on_107f since=rnd:rz>9.4/on_107f
cvt.f16x2.f6f4x2 | cvt.<rnd:rn>{.relu}.<dtype:f16x2>.<atype:e2m1x2,e2m3x2,e3m2x2> d:<dtype>, a:<atype> | ptx=8.6 sm=100a
cvt.bf16x2.f8f6f4x2 | cvt.<rnd:rn>{.relu}{.satfinite}{.<scaled:scaled::n2::ue8m0>}.<dtype:bf16x2>.<atype:e4m3x2,e5m2x2,e2m1x2,e2m3x2,e3m2x2> d:<dtype>, a:<atype>, scaled?scale:b16 | ptx=9.2 sm=100f
cvt.ue8m0x2.f32 | cvt.<rnd:rz,rp>{.satfinite}.<dtype:ue8m0x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype> | ptx=8.6 sm=100a
cvt.ue8m0x2.bf16x2 | cvt.<rnd:rz,rp>{.satfinite}.<dtype:ue8m0x2>.<atype:bf16x2> d:<dtype>, a:<atype> | ptx=8.6 sm=100a
cvt.bf16x2.ue8m0x2 | cvt.<rnd:rn>.<dtype:bf16x2>.<atype:ue8m0x2> d:<dtype>, a:<atype> | ptx=8.6 sm=100a
cvt.s2f6x2.f32 | cvt.<rnd:rn,rz>.satfinite{.relu}{.<scaled:scaled::n2::ue8m0>}.<dtype:s2f6x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype>, scaled?scale:b16 | ptx=9.1 sm=100a since=rnd:rz>9.4/on_107f on=100a,103a,107a,110a,120a,121a
cvt.s2f6x2.bf16x2 | cvt.<rnd:rn,rz>.satfinite{.relu}{.<scaled:scaled::n2::ue8m0>}.<dtype:s2f6x2>.<atype:bf16x2> d:<dtype>, a:<atype>, scaled?scale:b16 | ptx=9.1 sm=100a since=rnd:rz>9.4/on_107f on=100a,103a,107a,110a,120a,121a
cvt.bf16x2.s2f6x2 | cvt.<rnd:rn>{.satfinite}{.relu}{.<scaled:scaled::n2::ue8m0>}.<dtype:bf16x2>.<atype:s2f6x2> d:<dtype>, a:<atype>, scaled?scale:b16 | ptx=9.1 sm=100a on=100a,103a,107a,110a,120a,121a
cvt.small.scaled.f32 | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<scaled:scaled::n1::ue8m0>.<dtype:e4m3x2,e5m2x2,e2m1x2,e2m3x2,e3m2x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype>, scale:b8 | ptx=9.4 sm=107f on=107f
cvt.small.scaled.half | cvt.<rnd:rn,rz>.satfinite{.relu}{.pzo}.<scaled:scaled::n1::ue8m0>.<dtype:e4m3x2,e5m2x2,e2m1x2,e2m3x2,e3m2x2>.<atype:f16x2,bf16x2> d:<dtype>, a:<atype>, scale:b8 | ptx=9.4 sm=107f on=107f
cvt.ue5m3x2.f32 | cvt.<rnd:rn,rz,rp>{.satfinite}.<dtype:ue5m3x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype> | ptx=9.4 sm=107f on=107f
cvt.ue5m3x2.scaled.f32 | cvt.<rnd:rn,rz>{.satfinite}.<scaled:scaled::n1::ue8m0>.<dtype:ue5m3x2>.<atype:f32> d:<dtype>, a:<atype>, b:<atype>, scale:b8 | ptx=9.4 sm=107f on=107f
cvt.ue5m3x2.half | cvt.<rnd:rn,rz,rp>{.satfinite}.<dtype:ue5m3x2>.<atype:f16x2,bf16x2> d:<dtype>, a:<atype> | ptx=9.4 sm=107f on=107f
cvt.ue5m3x2.scaled.half | cvt.<rnd:rn,rz>{.satfinite}.<scaled:scaled::n1::ue8m0>.<dtype:ue5m3x2>.<atype:f16x2,bf16x2> d:<dtype>, a:<atype>, scale:b8 | ptx=9.4 sm=107f on=107f
cvt.f16x2.ue5m3x2 | cvt.<rnd:rn>.<dtype:f16x2>.<atype:ue5m3x2> d:<dtype>, a:<atype> | ptx=9.4 sm=107f on=107f
cvt.bf16x2.ue5m3x2 | cvt.<rnd:rn>{.satfinite}{.<scaled:scaled::n2::ue8m0>}.<dtype:bf16x2>.<atype:ue5m3x2> d:<dtype>, a:<atype>, scaled?scale:b16 | ptx=9.4 sm=107f on=107f
= 9.7.9.22 scalar 6.5 sm_72 effect=convert
cvt.pack.16    | cvt.pack.sat.<dtype:u16,s16>.<atype:s32> d:b32, a:<atype>, b:<atype>
cvt.pack.sub   | cvt.pack.sat.<dtype:u2,s2,u4,s4,u8,s8>.<atype:s32>.<ctype:b32> d:b32, a:<atype>, b:<atype>, c:<ctype> | since=dtype:u2,s2,u4,s4>sm_75
= 9.7.9.26 scalar 9.4 sm_107a on=107a effect=compute
spcompress   | spcompress.<size:b8,b16>.<index:b2,b4>.<factor:sp::2:4>.<num:x1,x2,x4,x8,x16,x32,x64> =m*?:b32, =c*?:b32, data*?:b32, desc:b32 | sec=9.4:9.7.10.30
spdecompress | spdecompress.<size:b8,b16>.<index:b2,b4>.<factor:sp::1:2,sp::1:4,sp::1:8,sp::1:16,sp::2:4,sp::2:8,sp::2:16,sp::4:8,sp::4:16>.<num:x1,x2,x4,x8,x16,x32,x64> =data*?:b32, m*?:b32, c*?:b32 | sec=9.4:9.7.10.31
`
