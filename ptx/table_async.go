package ptx

// Asynchronous copies, bulk and tensor copies, tensor maps (ISA 9.7.9.25, 9.7.9.26).
// Non-bulk cp.async works through the generic proxy, bulk copies through the asynchronous
// one; the mbarrier they signal is accessed through the generic proxy. The last operand
// of cp.async may be a size or, from PTX 7.5 on, a predicate, depending on the register's
// type.
const asyncTable = `
= 9.7.9.25.3.1 async 7.0 sm_80 space=<dst> proxy=generic async=async-group effect=none
cp.async     | cp.async.<cache:ca,cg>.<dst:@cta>.<src:global>{.<hint:@hint>}{.<prefetch:@prefetch>} [=d:b8], [s:b8], #size:u32, ?srcsize:u32, hint?policy:b64 | since=~dst:shared::cta>7.8/sm_30 effect=copy-memory
cp.async.commit_group | cp.async.commit_group | sec=9.7.9.25.3.2 space=none proxy=none
cp.async.wait_group | cp.async.wait_group #n:u32 | sec=9.7.9.25.3.3 space=none proxy=none
cp.async.wait_all | cp.async.wait_all | sec=9.7.9.25.3.3 space=none proxy=none
= 9.7.9.25.4.1 async 8.0 sm_90 space=<dst> proxy=async effect=copy-memory
cp.async.bulk.shared.cta.global | cp.async.bulk{.<sem:weak=weak>}.<dst:shared::cta>.<src:global>.<completion:@ctatx>{.<hint:@hint>} [=d:b8], [s:b8], size:u32, [+bar:b64], hint?policy:b64 | ptx=8.6 async=mbarrier barrier=complete-tx since=sem>9.3/sm_90a
cp.async.bulk.shared.cta.global.relaxed | cp.async.bulk.<sem:relaxed>.<scope:@scope>.<dst:shared::cta>.<src:global>.<completion:@ctatx>{.<hint:@hint>}.<type:b128> [=d:b8], [s:b8], size:u32, [+bar:b64], hint?policy:b64 | ptx=9.3 sm=90a scope=<scope> async=mbarrier barrier=complete-tx
cp.async.bulk.shared.cta.global.oob | cp.async.bulk.<dst:shared::cta>.<src:global>.<completion:@ctatx>{.<hint:@hint>}.ignore_oob [=d:b8], [s:b8], size:u32, left:u32, right:u32, [+bar:b64], hint?policy:b64 | ptx=9.2 async=mbarrier barrier=complete-tx
cp.async.bulk.shared.global | cp.async.bulk{.<sem:weak=weak>}.<dst:shared::cluster>.<src:global>.<completion:@ctatx>{.<multicast:multicast::cluster,multicast::cluster::16b>}{.<hint:@hint>} [=d:b8], [s:b8], size:u32, [+bar:b64], multicast?mask:u16, hint?policy:b64 | async=mbarrier barrier=complete-tx since=sem>9.3/sm_90a since=multicast:multicast::cluster::16b>9.4
cp.async.bulk.shared.global.relaxed | cp.async.bulk.<sem:relaxed>.<scope:@scope>.<dst:shared::cluster>.<src:global>.<completion:@ctatx>{.<multicast:multicast::cluster>}{.<hint:@hint>}.<type:b128> [=d:b8], [s:b8], size:u32, [+bar:b64], multicast?mask:u16, hint?policy:b64 | ptx=9.3 sm=90a scope=<scope> async=mbarrier barrier=complete-tx
cp.async.bulk.cluster.shared | cp.async.bulk{.<sem:weak=weak>}.<dst:shared::cluster>.<src:shared::cta>.<completion:@ctatx> [=d:b8], [s:b8], size:u32, [+bar:b64] | async=mbarrier barrier=complete-tx since=sem>9.3/sm_90a
cp.async.bulk.cluster.shared.relaxed | cp.async.bulk.<sem:relaxed>.<scope:cta,cluster>.<dst:shared::cluster>.<src:shared::cta>.<completion:@ctatx>.<type:b128> [=d:b8], [s:b8], size:u32, [+bar:b64] | ptx=9.3 sm=90a scope=<scope> async=mbarrier barrier=complete-tx
cp.async.bulk.global.shared | cp.async.bulk{.<sem:weak=weak>}.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}{.cp_mask} [=d:b8], [s:b8], size:u32, hint?policy:b64, cp_mask?mask:u16 | async=bulk-group since=cp_mask>8.6/sm_100 since=sem>9.3/sm_90a
cp.async.bulk.global.shared.relaxed | cp.async.bulk.<sem:relaxed>.<scope:@scope>.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}{.cp_mask}.<type:b128> [=d:b8], [s:b8], size:u32, hint?policy:b64, cp_mask?mask:u16 | ptx=9.3 sm=90a scope=<scope> async=bulk-group since=cp_mask>sm_100
= 9.7.9.25.4.2 async 8.0 sm_90 space=<dst> proxy=async scope=gpu effect=copy-memory
cp.reduce.async.bulk.cluster.bits | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:cta,cluster>}.<dst:shared::cluster>.<src:shared::cta>.<completion:@ctatx>.<op:and,or,xor>.<type:b32> [+d], [s], size:u32, [+bar:b64] | async=mbarrier barrier=complete-tx scope=cluster since=sem>9.3
cp.reduce.async.bulk.cluster.int | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:cta,cluster>}.<dst:shared::cluster>.<src:shared::cta>.<completion:@ctatx>.<op:add,inc,dec,min,max>.<type:u32,s32,u64> [+d], [s], size:u32, [+bar:b64] | async=mbarrier barrier=complete-tx scope=cluster if=op:inc,dec>type:u32 if=op:min,max>type:u32,s32 since=sem>9.3
cp.reduce.async.bulk.global.bits | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:@scope>}.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}.<op:and,or,xor>.<type:b32,b64> [+d], [s], size:u32, hint?policy:b64 | async=bulk-group since=sem>9.3
cp.reduce.async.bulk.global.add | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:@scope>}.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}.<op:add>.<type:u32,s32,u64,f32,f64> [+d], [s], size:u32, hint?policy:b64 | async=bulk-group since=sem>9.3
cp.reduce.async.bulk.global.inc | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:@scope>}.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}.<op:inc,dec>.<type:u32> [+d], [s], size:u32, hint?policy:b64 | async=bulk-group since=sem>9.3
cp.reduce.async.bulk.global.minmax | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:@scope>}.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}.<op:min,max>.<type:u32,s32,u64,s64,f16,bf16> [+d], [s], size:u32, hint?policy:b64 | async=bulk-group since=sem>9.3
cp.reduce.async.bulk.global.noftz | cp.reduce.async.bulk{.<sem:relaxed=relaxed>}{&.<scope:@scope>}.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.<hint:@hint>}.<op:add>.noftz.<type:f16,bf16,f32> [+d], [s], size:u32, hint?policy:b64 | async=bulk-group since=sem>9.3 since=type:f32>9.4
= 9.7.9.25.4.3 async 8.0 sm_90 space=<src> proxy=none effect=none
cp.async.bulk.prefetch | cp.async.bulk.prefetch.L2.<src:global>{.<hint:@hint>} [.s:b8], size:u32, hint?policy:b64
= 9.7.9.25.4.4 async 9.1 sm_90 space=<dst> proxy=async async=bulk-group effect=copy-memory
multimem.cp.async.bulk | multimem.cp.async.bulk.<dst:global>.<src:shared::cta>.<completion:bulk_group>{.cp_mask} [=d:b8], [s:b8], size:u32, cp_mask?mask:u16 | since=cp_mask>sm_100
multimem.cp.reduce.async.bulk | multimem.cp.reduce.async.bulk.<dst:global>.<src:shared::cta>.<completion:bulk_group>.<op:@redop>.<type:f16,bf16,b32,u32,s32,b64,u64,s64,f32,f64> [+d], [s], size:u32 | sec=9.7.9.25.4.5
multimem.cp.reduce.async.bulk.noftz | multimem.cp.reduce.async.bulk.<dst:global>.<src:shared::cta>.<completion:bulk_group>.<op:add>.noftz.<type:f16,bf16> [+d], [s], size:u32 | sec=9.7.9.25.4.5
= 9.7.9.25.5.2 tensormap 8.0 sm_90 space=<dst> proxy=async since=group>8.6/sm_100a since=load:tile::scatter4,im2col::w::128>8.6/sm_100a effect=copy-memory
cp.async.bulk.tensor.shared.cta.global | cp.async.bulk.tensor.<dim:@dim>.<dst:shared::cta>.<src:global>{.<load:@load=tile>}.<completion:@ctatx>{.<group:@group>}{.<hint:@hint>} [=d:b8], [map:b1024, c*?:s32], [+bar:b64], ?im2col*?:u16, hint?policy:b64 | ptx=8.6 async=mbarrier barrier=complete-tx if=load:im2col,im2col::w,im2col::w::128>dim:3d,4d,5d if=load:tile::gather4>dim:2d since=load:tile::gather4,im2col::w>sm_100
cp.async.bulk.tensor.shared.global | cp.async.bulk.tensor.<dim:@dim>.<dst:shared::cluster>.<src:global>{.<load:@load=tile>}.<completion:@ctatx>{.<multicast:multicast::cluster,multicast::cluster::16b>}{.<group:@group>}{.<hint:@hint>} [=d:b8], [map:b1024, c*?:s32], [+bar:b64], ?im2col*?:u16, multicast?mask:u16, hint?policy:b64 | async=mbarrier barrier=complete-tx if=load:im2col,im2col::w,im2col::w::128>dim:3d,4d,5d if=load:tile::gather4>dim:2d since=load:tile::gather4,im2col::w>8.6/sm_100a since=multicast:multicast::cluster::16b>9.4
cp.async.bulk.tensor.global.shared | cp.async.bulk.tensor.<dim:@dim>.<dst:global>.<src:shared::cta>{.<load:tile,tile::scatter4,im2col_no_offs=tile>}.<completion:bulk_group>{.<hint:@hint>} [=map:b1024, c*?:s32], [s:b8], hint?policy:b64 | async=bulk-group if=load:im2col_no_offs>dim:3d,4d,5d if=load:tile::scatter4>dim:2d
= 9.7.9.25.5.3 tensormap 8.0 sm_90 space=<dst> proxy=async async=bulk-group scope=gpu effect=copy-memory
cp.reduce.async.bulk.tensor | cp.reduce.async.bulk.tensor.<dim:@dim>.<dst:global>.<src:shared::cta>.<op:@redop>{.<load:tile,im2col_no_offs=tile>}.<completion:bulk_group>{.<hint:@hint>} [+map:b1024, c*?:s32], [s:b8], hint?policy:b64 | if=load:im2col_no_offs>dim:3d,4d,5d
= 9.7.9.25.5.4 tensormap 8.0 sm_90 space=<src> proxy=none since=load:tile::gather4,im2col::w,im2col::w::128>8.6/sm_100a effect=none
cp.async.bulk.prefetch.tensor | cp.async.bulk.prefetch.tensor.<dim:@dim>.L2.<src:global>{.<load:@load=tile>}{.<hint:@hint>} [map:b1024, c*?:s32], ?im2col*?:u16, hint?policy:b64 | if=load:im2col,im2col::w,im2col::w::128>dim:3d,4d,5d if=load:tile::gather4>dim:2d
= 9.7.9.25.6.1 async 8.0 sm_90 async=bulk-group effect=none
cp.async.bulk.commit_group | cp.async.bulk.commit_group
cp.async.bulk.wait_group | cp.async.bulk.wait_group{.<mode:read>} #n:u32 | sec=9.7.9.25.6.2
= 9.7.9.26 tensormap 8.3 sm_90a space=<space> proxy=generic since=field:swizzle_atomicity>8.6/sm_100a effect=none
tensormap.replace.value | tensormap.replace.<mode:tile>.<field:global_address,rank>{.<space:global,shared::cta=generic>}.<map:b1024>.<type:b32,b64> [+a:<map>], v | if=field:rank>type:b32 if=field:global_address>type:b64
tensormap.replace.dim | tensormap.replace.<mode:tile>.<field:box_dim,global_dim,global_stride,element_stride>{.<space:global,shared::cta=generic>}.<map:b1024>.<type:b32,b64> [+a:<map>], #ord:u32, v | if=field:box_dim,global_dim,element_stride>type:b32 if=field:global_stride>type:b64
tensormap.replace.mode | tensormap.replace.<mode:tile>.<field:elemtype,interleave_layout,swizzle_mode,swizzle_atomicity,fill_mode>{.<space:global,shared::cta=generic>}.<map:b1024>.<type:b32> [+a:<map>], #v
= 9.7.13.16 tensormap 8.3 sm_90 space=<dst> proxy=tensormap scope=<scope> effect=none
tensormap.cp_fenceproxy | tensormap.cp_fenceproxy.<dst:global>.<src:shared::cta>.<kind:tensormap::generic>.<sem:release>.<scope:@scope>.sync.aligned [=d:b1024], [s:b1024], #size:u32
`

// Textures and surfaces (ISA 9.7.10, 9.7.11).
const textureTable = `
= 9.7.10.3 texture 1.0 sm_10 space=tex proxy=texture since=geom:a1d,a2d>2.3 since=geom:cube>3.0 since=geom:acube>3.0/sm_20 since=geom:2dms,a2dms>3.2/sm_30 since=type:f16>4.2/sm_53 since=p>7.1/sm_60 since=e>4.3/sm_30 since=f>4.3/sm_30 effect=read
tex          | tex.<geom:1d,2d,3d,a1d,a2d,cube,acube,2dms,a2dms>.v4.<type:u32,s32,f16,f32>.<ctype:s32,f32> d*4[|p], [a:texref, ?b:samplerref, c*?:<ctype>], ?e*?:s32, ?f:f32 | if=geom:cube,acube>ctype:f32 if=geom:2dms,a2dms>ctype:s32
tex.f16x2    | tex.<geom:1d,2d,3d,a1d,a2d,cube,acube,2dms,a2dms>.v2.<type:f16x2>.<ctype:s32,f32> d*2[|p], [a:texref, ?b:samplerref, c*?:<ctype>], ?e*?:s32, ?f:f32 | ptx=4.2 sm=53 if=geom:cube,acube>ctype:f32 if=geom:2dms,a2dms>ctype:s32
tex.base     | tex.base.<geom:1d,2d,3d,a1d,a2d,cube,acube>.v4.<type:u32,s32,f16,f32>.<ctype:s32,f32> d*4[|p], [a:texref, ?b:samplerref, c*?:<ctype>], ?e*?:s32, ?f:f32 | ptx=3.1 sm=20 if=geom:cube,acube>ctype:f32
tex.level    | tex.level.<geom:1d,2d,3d,a1d,a2d,cube,acube>.v4.<type:u32,s32,f16,f32>.<ctype:s32,f32> d*4[|p], [a:texref, ?b:samplerref, c*?:<ctype>], lod:<ctype>, ?e*?:s32, ?f:f32 | ptx=3.1 sm=20 if=geom:cube,acube>ctype:f32
tex.grad     | tex.grad.<geom:1d,2d,3d,a1d,a2d,cube,acube>.v4.<type:u32,s32,f16,f32>.<ctype:s32,f32> d*4[|p], [a:texref, ?b:samplerref, c*?:<ctype>], dx*?:f32, dy*?:f32, ?e*?:s32, ?f:f32 | ptx=3.1 sm=20 if=geom:cube,acube>ctype:f32 since=geom:cube,acube>4.3/sm_20
tex.base.f16x2 | tex.base.<geom:1d,2d,3d,a1d,a2d,cube,acube>.v2.<type:f16x2>.<ctype:s32,f32> d*2[|p], [a:texref, ?b:samplerref, c*?:<ctype>], ?e*?:s32, ?f:f32 | ptx=4.2 sm=53 if=geom:cube,acube>ctype:f32
tex.level.f16x2 | tex.level.<geom:1d,2d,3d,a1d,a2d,cube,acube>.v2.<type:f16x2>.<ctype:s32,f32> d*2[|p], [a:texref, ?b:samplerref, c*?:<ctype>], lod:<ctype>, ?e*?:s32, ?f:f32 | ptx=4.2 sm=53 if=geom:cube,acube>ctype:f32
tex.grad.f16x2 | tex.grad.<geom:1d,2d,3d,a1d,a2d,cube,acube>.v2.<type:f16x2>.<ctype:s32,f32> d*2[|p], [a:texref, ?b:samplerref, c*?:<ctype>], dx*?:f32, dy*?:f32, ?e*?:s32, ?f:f32 | ptx=4.2 sm=53 if=geom:cube,acube>ctype:f32 since=geom:cube,acube>4.3
= 9.7.10.4 texture 2.2 sm_20 space=tex proxy=texture since=geom:a2d,cube,acube>4.3/sm_30 since=p>7.1/sm_60 since=e>4.3/sm_30 since=f>4.3/sm_30 effect=read
tld4         | tld4.<comp:r,g,b,a>.<geom:2d,a2d,cube,acube>.v4.<type:u32,s32,f32>.<ctype:f32> d*4[|p], [a:texref, ?b:samplerref, c*?:<ctype>], ?e*?:s32, ?f:f32
= 9.7.10.5 texture 1.5 sm_10 effect=compute
txq          | txq.<query:width,height,depth,channel_data_type,channel_order,normalized_coords,array_size,num_mipmap_levels,num_samples>.<type:b32> d, [.a:texref] | since=query:channel_data_type,channel_order>2.1 since=query:array_size>4.1 since=query:num_mipmap_levels>4.1/sm_20 since=query:num_samples>4.1/sm_30
txq.level    | txq.level.<query:width,height,depth>.<type:b32> d, [.a:texref], lod:b32 | ptx=4.3 sm=30
txq.sampler  | txq.<query:force_unnormalized_coords,filter_mode,addr_mode_0,addr_mode_1,addr_mode_2>.<type:b32> d, [.a:samplerref] | since=query:force_unnormalized_coords>2.2
= 9.7.10.6 texture 4.0 sm_30 effect=compute
istypep      | istypep.<type:texref,samplerref,surfref> p:pred, a
= 9.7.11.1 texture 1.5 sm_10 space=surf proxy=surface effect=read
suld.b       | suld.b.<geom:1d,2d,3d,a1d,a2d>{.<cop:ca,cg,cs,cv>}{.<vec:v2,v4>}.<type:b8,@bits>.<clamp:trap,clamp,zero> d*<vec>, [a:surfref, c*?:s32] | if=vec:v4>type:b8,b16,b32 since=clamp:clamp,zero>2.0/sm_20 since=geom:3d,a1d,a2d>3.0/sm_20
= 9.7.11.2 texture 1.5 sm_10 space=surf proxy=surface effect=write
sust.b       | sust.b.<geom:1d,2d,3d,a1d,a2d>{.<cop:wb,cg,cs,wt>}{.<vec:v2,v4>}.<type:b8,@bits>.<clamp:trap,clamp,zero> [=a:surfref, c*?:s32], v*<vec> | if=vec:v4>type:b8,b16,b32 since=clamp:clamp,zero>2.0/sm_20 since=geom:3d,a1d,a2d>3.0/sm_20
sust.p       | sust.p.<geom:1d,2d,3d>{.<vec:v2,v4>}.<type:b32>.<clamp:trap,clamp,zero> [=a:surfref, c*?:s32], v*<vec> | ptx=2.0 sm=20
= 9.7.11.3 texture 2.0 sm_20 space=surf proxy=surface effect=write,update
sured.b      | sured.b.<op:add,min,max,and,or>.<geom:1d,2d,3d>.<type:u32,u64,s32,b32,s64>.<clamp:trap,clamp,zero> [+a:surfref, c*?:s32], v | if=op:add>type:u32,s32,u64 if=op:min,max>type:u32,s32,u64,s64 if=op:and,or>type:b32 since=type:u64,s64&op:min,max>8.1/sm_50
sured.p      | sured.p.<op:add,min,max,and,or>.<geom:1d,2d,3d>.<type:b32,b64>.<clamp:trap,clamp,zero> [+a:surfref, c*?:s32], v | if=op:add,and,or>type:b32 since=type:b64>8.1/sm_50
= 9.7.11.4 texture 1.5 sm_10 since=query:channel_data_type,channel_order>2.1 since=query:array_size>4.1 since=query:memory_layout>4.2 effect=compute
suq          | suq.<query:width,height,depth,channel_data_type,channel_order,array_size,memory_layout>.<type:b32> d, [.a:surfref]
`
