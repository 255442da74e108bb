package ptx

// Matrix instructions of a warp (ISA 9.7.14). The number of registers of a fragment
// follows from shape and types; the table leaves it open.
const mmaTable = `
= 9.7.14.4.3 matrix 6.3 sm_70 space=<space> proxy=generic since=type:s8,u8,s32>sm_72 since=type:bf16>7.0/sm_80 effect=read
wmma.load.a  | wmma.load.a.sync.aligned.<layout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>{.<space:global,shared,shared::cta=generic>}.<type:f16,s8,u8,bf16> d*?, [a], ?stride:u32
wmma.load.b  | wmma.load.b.sync.aligned.<layout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>{.<space:global,shared,shared::cta=generic>}.<type:f16,s8,u8,bf16> d*?, [a], ?stride:u32
wmma.load.c  | wmma.load.c.sync.aligned.<layout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>{.<space:global,shared,shared::cta=generic>}.<type:f16,f32,s32> d*?, [a], ?stride:u32
wmma.load.tf32 | wmma.load.<which:a,b>.sync.aligned.<layout:@layout>.<shape:m16n16k8>{.<space:global,shared,shared::cta=generic>}.<type:tf32> d*?, [a], ?stride:u32 | ptx=7.0 sm=80
wmma.load.c.tf32 | wmma.load.c.sync.aligned.<layout:@layout>.<shape:m16n16k8>{.<space:global,shared,shared::cta=generic>}.<type:f32> d*?, [a], ?stride:u32 | ptx=7.0 sm=80
wmma.load.f64 | wmma.load.<which:a,b,c>.sync.aligned.<layout:@layout>.<shape:m8n8k4>{.<space:global,shared,shared::cta=generic>}.<type:f64> d*?, [a], ?stride:u32 | ptx=7.0 sm=80
wmma.load.sub | wmma.load.<which:a,b>.sync.aligned.<layout:@layout>.<shape:m8n8k32>{.<space:global,shared,shared::cta=generic>}.<type:s4,u4> d*?, [a], ?stride:u32 | ptx=6.3 sm=75 if=which:a>layout:row if=which:b>layout:col
wmma.load.b1 | wmma.load.<which:a,b>.sync.aligned.<layout:@layout>.<shape:m8n8k128>{.<space:global,shared,shared::cta=generic>}.<type:b1> d*?, [a], ?stride:u32 | ptx=6.3 sm=75 if=which:a>layout:row if=which:b>layout:col
wmma.load.c.sub | wmma.load.c.sync.aligned.<layout:@layout>.<shape:m8n8k32,m8n8k128>{.<space:global,shared,shared::cta=generic>}.<type:s32> d*?, [a], ?stride:u32 | ptx=6.3 sm=75
= 9.7.14.4.4 matrix 6.3 sm_70 space=<space> proxy=generic since=type:s32>sm_72 effect=write
wmma.store   | wmma.store.d.sync.aligned.<layout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>{.<space:global,shared,shared::cta=generic>}.<type:f16,f32,s32> [=a], r*?, ?stride:u32
wmma.store.sub | wmma.store.d.sync.aligned.<layout:@layout>.<shape:m8n8k32,m8n8k128>{.<space:global,shared,shared::cta=generic>}.<type:s32> [=a], r*?, ?stride:u32 | ptx=6.3 sm=75
wmma.store.tf32 | wmma.store.d.sync.aligned.<layout:@layout>.<shape:m16n16k8>{.<space:global,shared,shared::cta=generic>}.<type:f32> [=a], r*?, ?stride:u32 | ptx=7.0 sm=80
wmma.store.f64 | wmma.store.d.sync.aligned.<layout:@layout>.<shape:m8n8k4>{.<space:global,shared,shared::cta=generic>}.<type:f64> [=a], r*?, ?stride:u32 | ptx=7.0 sm=80
= 9.7.14.4.5 matrix 6.3 sm_70 effect=multiply,data
wmma.mma.f16 | wmma.mma.sync.aligned.<alayout:@layout>.<blayout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>.<dtype:f16,f32>.<ctype:f16,f32> d*?:<dtype>, a*?:f16x2, b*?:f16x2, c*?:<ctype>
wmma.mma.f16.sat | wmma.mma.sync.aligned.<alayout:@layout>.<blayout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>.<dtype:f16,f32>.<ctype:f16,f32>.satfinite d*?:<dtype>, a*?:f16x2, b*?:f16x2, c*?:<ctype> | gone=6.5/sm_70
wmma.mma.int | wmma.mma.sync.aligned.<alayout:@layout>.<blayout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>.<dtype:s32>.<atype:s8,u8>.<btype:s8,u8>.<ctype:s32>{.satfinite} d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=6.3 sm=72 if=atype:s8>btype:s8 if=atype:u8>btype:u8
wmma.mma.bf16 | wmma.mma.sync.aligned.<alayout:@layout>.<blayout:@layout>.<shape:m16n16k16,m8n32k16,m32n8k16>.<dtype:f32>.<atype:bf16>.<btype:bf16>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=80
wmma.mma.tf32 | wmma.mma.sync.aligned.<alayout:@layout>.<blayout:@layout>.<shape:m16n16k8>.<dtype:f32>.<atype:tf32>.<btype:tf32>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=80
wmma.mma.f64 | wmma.mma.sync.aligned.<alayout:@layout>.<blayout:@layout>.<shape:m8n8k4>{.<rnd:@rnd=rn>}.<dtype:f64>.<atype:f64>.<btype:f64>.<ctype:f64> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=80
wmma.mma.sub | wmma.mma.sync.aligned.<alayout:row>.<blayout:col>.<shape:m8n8k32>.<dtype:s32>.<atype:s4,u4>.<btype:s4,u4>.<ctype:s32>{.satfinite} d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=6.3 sm=75 if=atype:s4>btype:s4 if=atype:u4>btype:u4
wmma.mma.b1  | wmma.mma.<op:xor,and>.popc.sync.aligned.<alayout:row>.<blayout:col>.<shape:m8n8k128>.<dtype:s32>.<atype:b1>.<btype:b1>.<ctype:s32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=6.3 sm=75 since=op:and>7.1/sm_80
= 9.7.14.5.14 matrix 6.4 sm_70 effect=multiply,data
mma.m8n8k4.f16 | mma.sync.aligned.<shape:m8n8k4>.<alayout:@layout>.<blayout:@layout>.<dtype:f16,f32>.<atype:f16>.<btype:f16>.<ctype:f16,f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | if=ctype:f32>dtype:f32
mma.f16      | mma.sync.aligned.<shape:m16n8k8,m16n8k16>.row.col.<dtype:f16,f32>.<atype:f16>.<btype:f16>.<ctype:f16,f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=6.5 sm=75 if=dtype:f16>ctype:f16 if=dtype:f32>ctype:f32 since=shape:m16n8k16>7.0/sm_80
mma.tf32     | mma.sync.aligned.<shape:m16n8k4,m16n8k8>.row.col.<dtype:f32>.<atype:tf32>.<btype:tf32>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=80
mma.bf16     | mma.sync.aligned.<shape:m16n8k8,m16n8k16>.row.col.<dtype:f32>.<atype:bf16>.<btype:bf16>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=80
mma.fp8      | mma.sync.aligned.<shape:m16n8k16,m16n8k32>.row.col.<dtype:f16,f32>.<atype:@fp8>.<btype:@fp8>.<ctype:f16,f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=8.4 sm=89 if=dtype:f16>ctype:f16 if=dtype:f32>ctype:f32 since=shape:m16n8k16>8.7 since=dtype:f16>8.7
mma.f8f6f4   | mma.sync.aligned.<shape:m16n8k32>.row.col.<kind:kind::f8f6f4>.<dtype:f16,f32>.<atype:@f8f6f4>.<btype:@f8f6f4>.<ctype:f16,f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=8.7 sm=120a takes=8.6/sm_100a since=atype:e3m2,e2m3,e2m1>on_120f since=btype:e3m2,e2m3,e2m1>on_120f if=dtype:f16>ctype:f16 if=dtype:f32>ctype:f32
mma.mxf4     | mma.sync.aligned.<shape:m16n8k64>.row.col.<kind:kind::mxf4>.block_scale{.<scale:scale_vec::2X>}.<dtype:f32>.<atype:e2m1>.<btype:e2m1>.<ctype:f32>.<stype:ue8m0> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, sa*1:b32, ia*2:u16, sb*1:b32, ib*2:u16 | ptx=8.7 sm=120a
mma.mxf4nvf4 | mma.sync.aligned.<shape:m16n8k64>.row.col.<kind:kind::mxf4nvf4>.block_scale.<scale:scale_vec::2X,scale_vec::4X>.<dtype:f32>.<atype:e2m1>.<btype:e2m1>.<ctype:f32>.<stype:ue8m0,ue4m3> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, sa*1:b32, ia*2:u16, sb*1:b32, ib*2:u16 | ptx=8.7 sm=120a since=scale:scale_vec::4X&stype:ue8m0>9.1 if=scale:scale_vec::2X>stype:ue8m0
mma.mxf8f6f4 | mma.sync.aligned.<shape:m16n8k32>.row.col.<kind:kind::mxf8f6f4>.block_scale{.<scale:scale_vec::1X>}.<dtype:f32>.<atype:@f8f6f4>.<btype:@f8f6f4>.<ctype:f32>.<stype:ue8m0> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, sa*1:b32, ia*2:u16, sb*1:b32, ib*2:u16 | ptx=8.7 sm=120a
mma.f64      | mma.sync.aligned.<shape:m8n8k4,m16n8k4,m16n8k8,m16n8k16>.row.col{.<rnd:@rnd=rn>}.<dtype:f64>.<atype:f64>.<btype:f64>.<ctype:f64> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=80 since=shape:m16n8k4,m16n8k8,m16n8k16>7.8/sm_90
mma.int8     | mma.sync.aligned.<shape:m8n8k16,m16n8k16,m16n8k32>.row.col{.satfinite}.<dtype:s32>.<atype:u8,s8>.<btype:u8,s8>.<ctype:s32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=6.5 sm=75 since=shape:m16n8k16,m16n8k32>7.0/sm_80
mma.int4     | mma.sync.aligned.<shape:m8n8k32,m16n8k32,m16n8k64>.row.col{.satfinite}.<dtype:s32>.<atype:u4,s4>.<btype:u4,s4>.<ctype:s32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=6.5 sm=75 since=shape:m16n8k32,m16n8k64>7.0/sm_80
mma.b1       | mma.sync.aligned.<shape:m8n8k128,m16n8k128,m16n8k256>.row.col.<dtype:s32>.<atype:b1>.<btype:b1>.<ctype:s32>.<op:xor,and>.popc d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype> | ptx=7.0 sm=75 since=shape:m16n8k128,m16n8k256>sm_80 since=op:and>7.1/sm_80
= 9.7.14.5.15 matrix 6.5 sm_75 space=<space> proxy=generic effect=read
ldmatrix     | ldmatrix.sync.aligned.<shape:m8n8>.<num:x1,x2,x4>{.trans}{.<space:@cta=generic>}.<type:b16> d*<num>:b32, [a]
ldmatrix.b8  | ldmatrix.sync.aligned.<shape:m16n16>.<num:x1,x2>.trans{.<space:@cta=generic>}.<type:b8> d*?:b32, [a] | ptx=8.6 sm=100a
ldmatrix.s8 | ldmatrix.sync.aligned.<shape:m8n16>.<num:x1,x2,x4>{.<space:@cta=generic>}.<type:s8>.<stype:s4> d*<num>:b32, [a] | ptx=9.4 sm=90a on=90a,100f,110f,120f
ldmatrix.unpack | ldmatrix.sync.aligned.<shape:m8n16>.<num:x1,x2,x4>{.<space:@cta=generic>}.<type:b8x16>.<stype:b6x16_p32,b4x16_p64> d*<num>:b32, [a] | ptx=8.6 sm=100a
ldmatrix.trans.unpack | ldmatrix.sync.aligned.<shape:m16n16>.<num:x1,x2>.trans{.<space:@cta=generic>}.<type:b8x16>.<stype:b6x16_p32,b4x16_p64> d*?:b32, [a] | ptx=8.6 sm=100a
= 9.7.14.5.16 matrix 7.8 sm_90 space=<space> proxy=generic effect=write
stmatrix     | stmatrix.sync.aligned.<shape:m8n8>.<num:x1,x2,x4>{.trans}{.<space:@cta=generic>}.<type:b16> [=a], r*<num>:b32
stmatrix.b8  | stmatrix.sync.aligned.<shape:m16n8>.<num:x1,x2,x4>.trans{.<space:@cta=generic>}.<type:b8> [=a], r*<num>:b32 | ptx=8.6 sm=100a
= 9.7.14.5.17 matrix 7.8 sm_75 effect=data
movmatrix    | movmatrix.sync.aligned.<shape:m8n8>.trans.<type:b16> d:b32, a:b32
= 9.7.14.6.3 matrix 7.1 sm_80 since=sp:sp::ordered_metadata>8.5 effect=multiply,data
mma.sp.f16   | mma.<sp:sp,sp::ordered_metadata>.sync.aligned.<shape:m16n8k16,m16n8k32>.row.col.<dtype:f16,f32>.<atype:f16>.<btype:f16>.<ctype:f16,f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32 | if=dtype:f16>ctype:f16 if=dtype:f32>ctype:f32
mma.sp.bf16  | mma.<sp:sp,sp::ordered_metadata>.sync.aligned.<shape:m16n8k16,m16n8k32>.row.col.<dtype:f32>.<atype:bf16>.<btype:bf16>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32
mma.sp.tf32  | mma.<sp:sp,sp::ordered_metadata>.sync.aligned.<shape:m16n8k8,m16n8k16>.row.col.<dtype:f32>.<atype:tf32>.<btype:tf32>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32
mma.sp.fp8   | mma.<sp:sp,sp::ordered_metadata>.sync.aligned.<shape:m16n8k64>.row.col.<dtype:f32>.<atype:@fp8>.<btype:@fp8>.<ctype:f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32 | ptx=8.4 sm=89
mma.sp.f8f6f4 | mma.<sp:sp::ordered_metadata>.sync.aligned.<shape:m16n8k64>.row.col.<kind:kind::f8f6f4>.<dtype:f16,f32>.<atype:@f8f6f4>.<btype:@f8f6f4>.<ctype:f16,f32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32 | ptx=8.7 sm=120a takes=8.6/sm_100a since=dtype:f16>on_120f since=atype:e3m2,e2m3,e2m1>on_120f since=btype:e3m2,e2m3,e2m1>on_120f if=dtype:f16>ctype:f16 if=dtype:f32>ctype:f32
mma.sp.mxf4  | mma.<sp:sp::ordered_metadata>.sync.aligned.<shape:m16n8k128>.row.col.<kind:kind::mxf4>.block_scale{.<scale:scale_vec::2X>}.<dtype:f32>.<atype:e2m1>.<btype:e2m1>.<ctype:f32>.<stype:ue8m0> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e*1:b32, #f:u32, sa*1:b32, ia*2:u16, sb*1:b32, ib*2:u16 | ptx=8.7 sm=120a on=120a,121a
mma.sp.mxf4nvf4 | mma.<sp:sp::ordered_metadata>.sync.aligned.<shape:m16n8k128>.row.col.<kind:kind::mxf4nvf4>.block_scale.<scale:scale_vec::2X,scale_vec::4X>.<dtype:f32>.<atype:e2m1>.<btype:e2m1>.<ctype:f32>.<stype:ue8m0,ue4m3> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e*1:b32, #f:u32, sa*1:b32, ia*2:u16, sb*1:b32, ib*2:u16 | ptx=8.7 sm=120a since=scale:scale_vec::4X&stype:ue8m0>9.1 if=scale:scale_vec::2X>stype:ue8m0 on=120a,121a
mma.sp.mxf8f6f4 | mma.<sp:sp::ordered_metadata>.sync.aligned.<shape:m16n8k64>.row.col.<kind:kind::mxf8f6f4>.block_scale{.<scale:scale_vec::1X>}.<dtype:f32>.<atype:@f8f6f4>.<btype:@f8f6f4>.<ctype:f32>.<stype:ue8m0> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e*1:b32, #f:u32, sa*1:b32, ia*2:u16, sb*1:b32, ib*2:u16 | ptx=8.7 sm=120a
mma.sp.int8  | mma.<sp:sp,sp::ordered_metadata>.sync.aligned.<shape:m16n8k32,m16n8k64>.row.col{.satfinite}.<dtype:s32>.<atype:u8,s8>.<btype:u8,s8>.<ctype:s32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32
mma.sp.int4  | mma.<sp:sp,sp::ordered_metadata>.sync.aligned.<shape:m16n8k64,m16n8k128>.row.col{.satfinite}.<dtype:s32>.<atype:u4,s4>.<btype:u4,s4>.<ctype:s32> d*?:<dtype>, a*?:<atype>, b*?:<btype>, c*?:<ctype>, e:b32, #f:u32
`

// Matrix instructions of a warpgroup (ISA 9.7.15). Matrix A is a descriptor of shared
// memory, or in registers: rows that end in ".rs".
const wgmmaTable = `
= 9.7.15.5.2 matrix 8.0 sm_90a space=shared::cta proxy=async async=wgmma-group since=atype:u8&btype:s8>8.4 since=atype:s8&btype:u8>8.4 family=90 effect=multiply,warpgroup
wgmma.f16    | wgmma.mma_async.sync.aligned.<shape:@n8k16>.<dtype:f16,f32>.<atype:f16>.<btype:f16> +d*?:<dtype>, a:b64, b:b64, scale:pred, #na:s32, #nb:s32, #ta:u32, #tb:u32
wgmma.f16.rs | wgmma.mma_async.sync.aligned.<shape:@n8k16>.<dtype:f16,f32>.<atype:f16>.<btype:f16> +d*?:<dtype>, a*4:b32, b:b64, scale:pred, #na:s32, #nb:s32, #tb:u32
wgmma.bf16   | wgmma.mma_async.sync.aligned.<shape:@n8k16>.<dtype:f32>.<atype:bf16>.<btype:bf16> +d*?:<dtype>, a:b64, b:b64, scale:pred, #na:s32, #nb:s32, #ta:u32, #tb:u32
wgmma.bf16.rs | wgmma.mma_async.sync.aligned.<shape:@n8k16>.<dtype:f32>.<atype:bf16>.<btype:bf16> +d*?:<dtype>, a*4:b32, b:b64, scale:pred, #na:s32, #nb:s32, #tb:u32
wgmma.tf32   | wgmma.mma_async.sync.aligned.<shape:@n8k8>.<dtype:f32>.<atype:tf32>.<btype:tf32> +d*?:<dtype>, a:b64, b:b64, scale:pred, #na:s32, #nb:s32
wgmma.tf32.rs | wgmma.mma_async.sync.aligned.<shape:@n8k8>.<dtype:f32>.<atype:tf32>.<btype:tf32> +d*?:<dtype>, a*4:b32, b:b64, scale:pred, #na:s32, #nb:s32
wgmma.fp8    | wgmma.mma_async.sync.aligned.<shape:@n8k32>.<dtype:f16,f32>.<atype:@fp8>.<btype:@fp8> +d*?:<dtype>, a:b64, b:b64, scale:pred, #na:s32, #nb:s32
wgmma.fp8.rs | wgmma.mma_async.sync.aligned.<shape:@n8k32>.<dtype:f16,f32>.<atype:@fp8>.<btype:@fp8> +d*?:<dtype>, a*4:b32, b:b64, scale:pred, #na:s32, #nb:s32
wgmma.int8   | wgmma.mma_async.sync.aligned.<shape:@n16k32>{.satfinite}.<dtype:s32>.<atype:s8,u8>.<btype:s8,u8> +d*?:<dtype>, a:b64, b:b64, scale:pred
wgmma.int8.rs | wgmma.mma_async.sync.aligned.<shape:@n16k32>{.satfinite}.<dtype:s32>.<atype:s8,u8>.<btype:s8,u8> +d*?:<dtype>, a*4:b32, b:b64, scale:pred
wgmma.b1     | wgmma.mma_async.sync.aligned.<shape:@n16k256>.<dtype:s32>.<atype:b1>.<btype:b1>.<op:and>.popc +d*?:<dtype>, a:b64, b:b64, scale:pred
wgmma.b1.rs  | wgmma.mma_async.sync.aligned.<shape:@n16k256>.<dtype:s32>.<atype:b1>.<btype:b1>.<op:and>.popc +d*?:<dtype>, a*4:b32, b:b64, scale:pred
= 9.7.15.6.3 matrix 8.2 sm_90a space=shared::cta proxy=async async=wgmma-group since=atype:u8&btype:s8>8.4 since=atype:s8&btype:u8>8.4 family=90 effect=multiply,warpgroup
wgmma.sp.f16 | wgmma.mma_async.sp.sync.aligned.<shape:@n8k32>.<dtype:f16,f32>.<atype:f16>.<btype:f16> +d*?:<dtype>, a:b64, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32, #ta:u32, #tb:u32
wgmma.sp.f16.rs | wgmma.mma_async.sp.sync.aligned.<shape:@n8k32>.<dtype:f16,f32>.<atype:f16>.<btype:f16> +d*?:<dtype>, a*4:b32, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32, #tb:u32
wgmma.sp.bf16 | wgmma.mma_async.sp.sync.aligned.<shape:@n8k32>.<dtype:f32>.<atype:bf16>.<btype:bf16> +d*?:<dtype>, a:b64, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32, #ta:u32, #tb:u32
wgmma.sp.bf16.rs | wgmma.mma_async.sp.sync.aligned.<shape:@n8k32>.<dtype:f32>.<atype:bf16>.<btype:bf16> +d*?:<dtype>, a*4:b32, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32, #tb:u32
wgmma.sp.tf32 | wgmma.mma_async.sp.sync.aligned.<shape:@n8k16>.<dtype:f32>.<atype:tf32>.<btype:tf32> +d*?:<dtype>, a:b64, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32
wgmma.sp.tf32.rs | wgmma.mma_async.sp.sync.aligned.<shape:@n8k16>.<dtype:f32>.<atype:tf32>.<btype:tf32> +d*?:<dtype>, a*4:b32, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32
wgmma.sp.fp8 | wgmma.mma_async.sp.sync.aligned.<shape:@n8k64>.<dtype:f16,f32>.<atype:@fp8>.<btype:@fp8> +d*?:<dtype>, a:b64, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32
wgmma.sp.fp8.rs | wgmma.mma_async.sp.sync.aligned.<shape:@n8k64>.<dtype:f16,f32>.<atype:@fp8>.<btype:@fp8> +d*?:<dtype>, a*4:b32, b:b64, meta:b32, #sel:u32, scale:pred, #na:s32, #nb:s32
wgmma.sp.int8 | wgmma.mma_async.sp.sync.aligned.<shape:@n16k64>{.satfinite}.<dtype:s32>.<atype:s8,u8>.<btype:s8,u8> +d*?:<dtype>, a:b64, b:b64, meta:b32, #sel:u32, scale:pred
wgmma.sp.int8.rs | wgmma.mma_async.sp.sync.aligned.<shape:@n16k64>{.satfinite}.<dtype:s32>.<atype:s8,u8>.<btype:s8,u8> +d*?:<dtype>, a*4:b32, b:b64, meta:b32, #sel:u32, scale:pred
= 9.7.15.7.1 matrix 8.0 sm_90a family=90 effect=warpgroup
wgmma.fence  | wgmma.fence.sync.aligned | proxy=async
wgmma.commit_group | wgmma.commit_group.sync.aligned | sec=9.7.15.7.2 async=wgmma-group
wgmma.wait_group | wgmma.wait_group.sync.aligned #n:u32 | sec=9.7.15.7.3 async=wgmma-group
`

// Tensor memory and the matrix instructions of a CTA (ISA 9.7.16). Matrix A is a
// descriptor, or in tensor memory: rows that end in ".ts".
const tcgenTable = `
= 9.7.16.7.1 tcgen05 8.6 sm_100a space=tensor family=100,101,103,107,110 effect=none
tcgen05.alloc | tcgen05.alloc{.exclusive}.<group:@group>.sync.aligned{.<space:shared::cta=generic>}.<type:b32> [=a], cols:u32 | space=<space> proxy=generic since=exclusive>9.4/on_100f+110f
tcgen05.dealloc | tcgen05.dealloc{.exclusive}.<group:@group>.sync.aligned.<type:b32> a:u32, cols:u32 | since=exclusive>9.4/on_100f+110f
tcgen05.relinquish_alloc_permit | tcgen05.relinquish_alloc_permit.<group:@group>.sync.aligned
= 9.7.16.8.3 tcgen05 8.6 sm_100a space=tensor proxy=async async=tcgen05-wait family=100,101,103,107,110 effect=read
tcgen05.ld   | tcgen05.ld.sync.aligned.<shape:16x64b,16x128b,16x256b,32x32b>.<num:@num>{.pack::16b}.<type:b32> d*?, [a] | if=shape:16x128b>num:x1,x2,x4,x8,x16,x32,x64 if=shape:16x256b>num:x1,x2,x4,x8,x16,x32
tcgen05.ld.split | tcgen05.ld.sync.aligned.<shape:16x32bx2>.<num:@num>{.pack::16b}.<type:b32> d*?, [a], #split:u32
tcgen05.ld.red | tcgen05.ld.red.sync.aligned.<shape:32x32b>.<num:x2,x4,x8,x16,x32,x64,x128>.<op:min,max>{.abs}{.NaN}.<type:f32> d*?, =r, [a] | ptx=8.8 sm=101a on=101f,110f
tcgen05.ld.red.split | tcgen05.ld.red.sync.aligned.<shape:16x32bx2>.<num:x2,x4,x8,x16,x32,x64,x128>.<op:min,max>{.abs}{.NaN}.<type:f32> d*?, =r, [a], #split:u32 | ptx=8.8 sm=101a on=101f,110f
tcgen05.ld.red.int | tcgen05.ld.red.sync.aligned.<shape:32x32b>.<num:x2,x4,x8,x16,x32,x64,x128>.<op:min,max>.<type:u32,s32> d*?, =r, [a] | ptx=8.8 sm=101a on=101f,110f
tcgen05.ld.red.int.split | tcgen05.ld.red.sync.aligned.<shape:16x32bx2>.<num:x2,x4,x8,x16,x32,x64,x128>.<op:min,max>.<type:u32,s32> d*?, =r, [a], #split:u32 | ptx=8.8 sm=101a on=101f,110f
tcgen05.ld.spcompress | tcgen05.ld.spcompress.sync.aligned.<shape:32x32b>.<num:x4,x8,x16,x32,x64,x128>.<op:min,max>.<factor:sp::2:4>{.abs}.<type:f32>.<index:b2> =m*?:b32, =c*?:b32, [a] | ptx=9.4 sm=107a on=107a
tcgen05.ld.red.spcompress | tcgen05.ld.red.spcompress.sync.aligned.<shape:32x32b>.<num:x4,x8,x16,x32,x64,x128>.<op:min,max>.<factor:sp::2:4>{.abs}{.NaN}.<type:f32>.<index:b2> =m*?:b32, =c*?:b32, =r:b32, [a] | ptx=9.4 sm=107a on=107a
= 9.7.16.8.4 tcgen05 8.6 sm_100a space=tensor proxy=async async=tcgen05-wait family=100,101,103,107,110 effect=write
tcgen05.st   | tcgen05.st.sync.aligned.<shape:16x64b,16x128b,16x256b,32x32b>.<num:@num>{.unpack::16b}.<type:b32> [=a], r*? | if=shape:16x128b>num:x1,x2,x4,x8,x16,x32,x64 if=shape:16x256b>num:x1,x2,x4,x8,x16,x32
tcgen05.st.split | tcgen05.st.sync.aligned.<shape:16x32bx2>.<num:@num>{.unpack::16b}.<type:b32> [=a], #split:u32, r*?
tcgen05.wait | tcgen05.<wait:wait::ld,wait::st>.sync.aligned | sec=9.7.16.8.5 effect=none
= 9.7.16.9.2 tcgen05 8.6 sm_100a space=tensor proxy=async async=tcgen05-commit family=100,101,103,107,110 effect=copy-memory
tcgen05.cp   | tcgen05.cp.<group:@group>.<shape:128x256b,4x256b,128x128b>{.<dfmt:b8x16>}{&.<sfmt:b6x16_p32,b4x16_p64>} [=a:b32], s:b64
tcgen05.cp.multicast | tcgen05.cp.<group:@group>.<shape:64x128b,32x128b>.<multicast:warpx2::02_13,warpx2::01_23,warpx4>{.<dfmt:b8x16>}{&.<sfmt:b6x16_p32,b4x16_p64>} [=a:b32], s:b64 | if=shape:64x128b>multicast:warpx2::02_13,warpx2::01_23 if=shape:32x128b>multicast:warpx4
tcgen05.shift | tcgen05.shift.<group:@group>.down [+a:b32] | sec=9.7.16.9.3 on=100a,101a,103a,107a,110a
= 9.7.16.10.9.1 tcgen05 8.6 sm_100a space=tensor proxy=async async=tcgen05-commit since=kind:kind::mxf4nvf4>8.7 since=vec:-,block16,block32>8.8 since=scale>on_100f since=vec:scale_vec::1X,scale_vec::2X,scale_vec::4X>on_100a+101a+103a+107a+110a since=collectorb>9.4/on_107f family=100,101,103,107,110 effect=multiply,copy-memory
tcgen05.mma  | tcgen05.mma.<group:@group>.<kind:@fkind>{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, idesc:u32, ?disable*?:b32, enable:pred, ?scale:u64 | if=collectorb>collector:@colla
tcgen05.mma.ts | tcgen05.mma.<group:@group>.<kind:@fkind>{.ashift}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, idesc:u32, ?disable*?:b32, enable:pred, ?scale:u64 | if=collectorb>collector:@colla if=ashift>collector:-,collector::a::lastuse,collector::a::discard
tcgen05.mma.scale | tcgen05.mma.<group:@group>.<kind:@mxkind>.block_scale{.<vec:@scalevec>}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, idesc:u32, [sa:b32], [sb:b32], enable:pred | if=collectorb>collector:@colla if=kind:kind::mxf8f6f4>vec:-,scale_vec::1X,block32 if=kind:kind::mxf4>vec:-,scale_vec::2X,block32 if=kind:kind::mxf4nvf4>vec:scale_vec::2X,scale_vec::4X,block16,block32
tcgen05.mma.scale.ts | tcgen05.mma.<group:@group>.<kind:@mxkind>.block_scale{.<vec:@scalevec>}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, idesc:u32, [sa:b32], [sb:b32], enable:pred | if=collectorb>collector:@colla if=kind:kind::mxf8f6f4>vec:-,scale_vec::1X,block32 if=kind:kind::mxf4>vec:-,scale_vec::2X,block32 if=kind:kind::mxf4nvf4>vec:scale_vec::2X,scale_vec::4X,block16,block32
tcgen05.mma.i8 | tcgen05.mma.<group:@group>.<kind:kind::i8>{.<collector:@colla>} [+d:b32], a:b64, b:b64, idesc:u32, ?disable*?:b32, enable:pred | on=100a,101a,110a
tcgen05.mma.i8.ts | tcgen05.mma.<group:@group>.<kind:kind::i8>{.ashift}{.<collector:@colla>} [+d:b32], [a:b32], b:b64, idesc:u32, ?disable*?:b32, enable:pred | on=100a,101a,110a if=ashift>collector:-,collector::a::lastuse,collector::a::discard
tcgen05.mma.ti16 | tcgen05.mma.<group:@group>.<kind:kind::ti16>{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, idesc:u32, ?disable*?:b32, enable:pred | ptx=9.4 sm=107f on=107f
tcgen05.mma.ti16.ts | tcgen05.mma.<group:@group>.<kind:kind::ti16>{.ashift}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, idesc:u32, ?disable*?:b32, enable:pred | ptx=9.4 sm=107f on=107f if=ashift>collector:-,collector::a::lastuse,collector::a::discard
tcgen05.mma.lut | tcgen05.mma.<group:@group>.<kind:kind::f8f6f4>.decompress::lut::b{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, [lut:b32], idesc:u32, ?disable*?:b32, enable:pred | ptx=9.4 sm=107f on=107f
tcgen05.mma.lut.ts | tcgen05.mma.<group:@group>.<kind:kind::f8f6f4>.decompress::lut::b{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, [lut:b32], idesc:u32, ?disable*?:b32, enable:pred | ptx=9.4 sm=107f on=107f
tcgen05.mma.lut.scale | tcgen05.mma.<group:@group>.<kind:kind::mxf8f6f4>.block_scale.decompress::lut::b{.<vec:block32>}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, [lut:b32], idesc:u32, [sa:b32], [sb:b32], enable:pred | ptx=9.4 sm=107f on=107f
tcgen05.mma.lut.scale.ts | tcgen05.mma.<group:@group>.<kind:kind::mxf8f6f4>.block_scale.decompress::lut::b{.<vec:block32>}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, [lut:b32], idesc:u32, [sa:b32], [sb:b32], enable:pred | ptx=9.4 sm=107f on=107f
= 9.7.16.10.9.2 tcgen05 8.6 sm_100a space=tensor proxy=async async=tcgen05-commit since=kind:kind::mxf4nvf4>8.7 since=vec:-,block16,block32>8.8 since=scale>on_100f since=vec:scale_vec::1X,scale_vec::2X,scale_vec::4X>on_100a+101a+103a+107a+110a since=collectorb>9.4/on_107f since=kind:kind::mxf4,kind::mxf4nvf4>on_100a+101a+103a+107a+110a family=100,101,103,107,110 effect=multiply,copy-memory
tcgen05.mma.sp | tcgen05.mma.sp.<group:@group>.<kind:@fkind>{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, [meta:b32], idesc:u32, ?disable*?:b32, enable:pred, ?scale:u64 | if=collectorb>collector:@colla
tcgen05.mma.sp.ts | tcgen05.mma.sp.<group:@group>.<kind:@fkind>{.ashift}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, [meta:b32], idesc:u32, ?disable*?:b32, enable:pred, ?scale:u64 | if=collectorb>collector:@colla if=ashift>collector:-,collector::a::lastuse,collector::a::discard
tcgen05.mma.sp.scale | tcgen05.mma.sp.<group:@group>.<kind:@mxkind>.block_scale{.<vec:@scalevec>}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, [meta:b32], idesc:u32, [sa:b32], [sb:b32], enable:pred | if=collectorb>collector:@colla if=kind:kind::mxf8f6f4>vec:-,scale_vec::1X,block32 if=kind:kind::mxf4>vec:-,scale_vec::2X,block32 if=kind:kind::mxf4nvf4>vec:scale_vec::2X,scale_vec::4X,block16,block32
tcgen05.mma.sp.scale.ts | tcgen05.mma.sp.<group:@group>.<kind:@mxkind>.block_scale{.<vec:@scalevec>}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, [meta:b32], idesc:u32, [sa:b32], [sb:b32], enable:pred | if=collectorb>collector:@colla if=kind:kind::mxf8f6f4>vec:-,scale_vec::1X,block32 if=kind:kind::mxf4>vec:-,scale_vec::2X,block32 if=kind:kind::mxf4nvf4>vec:scale_vec::2X,scale_vec::4X,block16,block32
tcgen05.mma.sp.i8 | tcgen05.mma.sp.<group:@group>.<kind:kind::i8>{.<collector:@colla>} [+d:b32], a:b64, b:b64, [meta:b32], idesc:u32, ?disable*?:b32, enable:pred | on=100a,101a,110a
tcgen05.mma.sp.i8.ts | tcgen05.mma.sp.<group:@group>.<kind:kind::i8>{.ashift}{.<collector:@colla>} [+d:b32], [a:b32], b:b64, [meta:b32], idesc:u32, ?disable*?:b32, enable:pred | on=100a,101a,110a if=ashift>collector:-,collector::a::lastuse,collector::a::discard
tcgen05.mma.sp.ti16 | tcgen05.mma.sp.<group:@group>.<kind:kind::ti16>{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], a:b64, b:b64, [meta:b32], idesc:u32, ?disable*?:b32, enable:pred | ptx=9.4 sm=107f on=107f
tcgen05.mma.sp.ti16.ts | tcgen05.mma.sp.<group:@group>.<kind:kind::ti16>{.ashift}{.<collector:@colla>}{.<collectorb:@collbb>} [+d:b32], [a:b32], b:b64, [meta:b32], idesc:u32, ?disable*?:b32, enable:pred | ptx=9.4 sm=107f on=107f if=ashift>collector:-,collector::a::lastuse,collector::a::discard
= 9.7.16.10.9.3 tcgen05 8.6 sm_100a space=tensor proxy=async async=tcgen05-commit since=kind:kind::i8>on_100a+101a+110a since=kind:kind::ti16>9.4/on_107f family=100,101,103,107,110 effect=multiply,copy-memory
tcgen05.mma.ws | tcgen05.mma.ws.<group:cta_group::1>.<kind:@fkind,kind::i8,kind::ti16>{.<collector:@collb>} [+d:b32], a:b64, b:b64, idesc:u32, enable:pred, ?zero:b64
tcgen05.mma.ws.ts | tcgen05.mma.ws.<group:cta_group::1>.<kind:@fkind,kind::i8,kind::ti16>{.<collector:@collb>} [+d:b32], [a:b32], b:b64, idesc:u32, enable:pred, ?zero:b64
tcgen05.mma.ws.sp | tcgen05.mma.ws.sp.<group:cta_group::1>.<kind:@fkind,kind::i8,kind::ti16>{.<collector:@collb>} [+d:b32], a:b64, b:b64, [meta:b32], idesc:u32, enable:pred, ?zero:b64 | sec=9.7.16.10.9.4
tcgen05.mma.ws.sp.ts | tcgen05.mma.ws.sp.<group:cta_group::1>.<kind:@fkind,kind::i8,kind::ti16>{.<collector:@collb>} [+d:b32], [a:b32], b:b64, [meta:b32], idesc:u32, enable:pred, ?zero:b64 | sec=9.7.16.10.9.4
= 9.7.16.11.1 tcgen05 8.6 sm_100a space=tensor proxy=async family=100,101,103,107,110 effect=none
tcgen05.fence | tcgen05.<fence:fence::before_thread_sync,fence::after_thread_sync>
= 9.7.16.12.1 tcgen05 8.6 sm_100a space=<space> proxy=generic async=mbarrier barrier=arrive scope=cluster family=100,101,103,107,110 effect=none
tcgen05.commit | tcgen05.commit.<group:@group>.<completion:mbarrier::arrive::one>{.<restrict:sync_restrict::shared::read::mma::a>}{.<space:shared::cluster=generic>}{.<multicast:multicast::cluster,multicast::cluster::16b>}.<type:b64> [+bar], multicast?mask:u16 | since=multicast:multicast::cluster::16b>9.4 since=restrict>9.4/on_107f
tcgen05.commit.multicast32 | tcgen05.commit.<group:@group>.<completion:mbarrier::arrive::one>{.<restrict:sync_restrict::shared::read::mma::a>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> [+bar], mask:u32 | ptx=9.4 sm=107f on=107f
`
