package ptx

// Loads, stores and cache operations (ISA 9.7.9.8 to 9.7.9.18).
const memoryTable = `
= 9.7.9.8 memory 1.0 sm_10 space=<space> proxy=generic since=sem:weak>6.0/sm_70 since=vec:v8&type:b32,u32,s32,f32>8.8/sm_100 since=vec:v4&type:b64,u64,s64,f64>8.8/sm_100 effect=read
ld           | ld{.<sem:weak=weak>}{.<space:@ldspace=generic>}{.<cop:ca,cg,cs,lu,cv>}{.<hint:@hint>}{.<prefetch:@prefetch>}{.<vec:v2,v4,v8>}.<type:@memtype> d*<vec>, [a*<vec>], hint?policy:b64 | if=hint>space:-,global if=prefetch>space:-,global if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
ld.evict     | ld{.<sem:weak=weak>}{.<space:@ldspace=generic>}{.<l1:@l1>}{.<l2:@l2>}{.<hint:@hint>}{.<prefetch:@prefetch>}{.<vec:v2,v4,v8>}.<type:@memtype> d*<vec>, [a*<vec>], hint?policy:b64 | ptx=7.4 sm=70 if=hint>space:-,global if=prefetch>space:-,global if=l1>space:-,global if=l2>space:-,global if=l2>vec:v4,v8 if=l2>type:b32,u32,s32,f32,b64,u64,s64,f64 if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
ld.volatile  | ld.<sem:volatile>{.<space:@volatile=generic>}{.<prefetch:@prefetch>}{.<vec:v2,v4>}.<type:@memtype> d*<vec>, [a*<vec>] | ptx=1.1 scope=sys if=prefetch>space:-,global if=type:b128>vec:- since=space:local>9.1
ld.strong    | ld.<sem:relaxed,acquire>.<scope:@scope>{.<space:@ss=generic>}{.<l1:@l1>}{.<l2:@l2>}{.<hint:@hint>}{.<prefetch:@prefetch>}{.<vec:v2,v4,v8>}.<type:@memtype> d*<vec>, [a*<vec>], hint?policy:b64 | ptx=6.0 sm=70 scope=<scope> if=hint>space:-,global if=prefetch>space:-,global if=l1>space:-,global if=l2>space:-,global if=l2>vec:v4,v8 if=l2>type:b32,u32,s32,f32,b64,u64,s64,f64 if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
ld.mmio      | ld.mmio.<sem:relaxed,acquire>.<scope:sys>{.<space:global=generic>}.<type:@memtype> d, [a] | ptx=8.2 sm=70 scope=<scope> since=sem:acquire>9.3/sm_75
ld.readonly  | ld.proxy::readonly{.<space:const,global=generic>}.<type:@memtype> d, [a] | ptx=9.4 sm=90 proxy=nc
= 9.7.9.9 memory 3.1 sm_32 space=<space> proxy=nc since=vec:v8&type:b32,u32,s32,f32>8.8/sm_100 since=vec:v4&type:b64,u64,s64,f64>8.8/sm_100 effect=read
ld.nc        | ld.<space:global>{.<cop:ca,cg,cs>}.nc{.<hint:@hint>}{.<prefetch:@prefetch>}{.<vec:v2,v4,v8>}.<type:@memtype> d*<vec>, [a*<vec>], hint?policy:b64 | if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
ld.nc.evict  | ld.<space:global>.nc{.<l1:@l1>}{.<l2:@l2>}{.<hint:@hint>}{.<prefetch:@prefetch>}{.<vec:v2,v4,v8>}.<type:@memtype> d*<vec>, [a*<vec>], hint?policy:b64 | ptx=7.4 sm=70 if=l2>vec:v4,v8 if=l2>type:b32,u32,s32,f32,b64,u64,s64,f64 if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
= 9.7.9.10 memory 2.0 sm_20 space=<space> proxy=nc effect=read
ldu          | ldu{.<space:global=generic>}{.<vec:v2,v4>}.<type:@memtype> d*<vec>, [a*<vec>] | if=type:b64,u64,s64,f64>vec:-,v2 if=type:b128>vec:-
= 9.7.9.11 memory 1.0 sm_10 space=<space> proxy=generic since=sem:weak>6.0/sm_70 since=vec:v8&type:b32,u32,s32,f32>8.8/sm_100 since=vec:v4&type:b64,u64,s64,f64>8.8/sm_100 effect=write
st           | st{.<sem:weak=weak>}{.<space:@stspace=generic>}{.<cop:wb,cg,cs,wt>}{.<hint:@hint>}{.<vec:v2,v4,v8>}.<type:@memtype> [=a*<vec>], b*<vec>, hint?policy:b64 | if=hint>space:-,global if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
st.evict     | st{.<sem:weak=weak>}{.<space:@stspace=generic>}{.<l1:@l1>}{.<l2:@l2>}{.<hint:@hint>}{.<vec:v2,v4,v8>}.<type:@memtype> [=a*<vec>], b*<vec>, hint?policy:b64 | ptx=7.4 sm=70 if=hint>space:-,global if=l1>space:-,global if=l2>space:-,global if=l2>vec:v4,v8 if=l2>type:b32,u32,s32,f32,b64,u64,s64,f64 if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
st.volatile  | st.<sem:volatile>{.<space:@volatile=generic>}{.<vec:v2,v4>}.<type:@memtype> [=a*<vec>], b*<vec> | ptx=1.1 scope=sys if=type:b128>vec:- since=space:local>9.1
st.strong    | st.<sem:relaxed,release>.<scope:@scope>{.<space:@ss=generic>}{.<l1:@l1>}{.<l2:@l2>}{.<hint:@hint>}{.<vec:v2,v4,v8>}.<type:@memtype> [=a*<vec>], b*<vec>, hint?policy:b64 | ptx=6.0 sm=70 scope=<scope> if=hint>space:-,global if=l1>space:-,global if=l2>space:-,global if=l2>vec:v4,v8 if=l2>type:b32,u32,s32,f32,b64,u64,s64,f64 if=vec:v8>type:b8,u8,s8,b16,u16,s16,b32,u32,s32,f32 if=type:b128>vec:-
st.mmio      | st.mmio.<sem:relaxed,release>.<scope:sys>{.<space:global=generic>}.<type:@memtype> [=a], b | ptx=8.2 sm=70 scope=<scope> since=sem:release>9.3/sm_75
= 9.7.9.12 async 8.1 sm_90 space=<space> proxy=generic async=mbarrier barrier=complete-tx effect=write
st.async     | st.async{.<sem:weak=weak>}{.<space:shared::cluster=generic>}.<completion:@ctatx>{.<vec:v2,v4>}.<type:b32,b64,b128,u32,u64,s32,s64,f32,f64> [=a*<vec>], b*<vec>, [+bar:b64] | scope=cluster if=type:b64,u64,s64,f64>vec:-,v2 if=type:b128>vec:- since=type:b128>9.2
st.async.scope | st.async.<scope:cluster>{.<space:shared::cluster=generic>}.<completion:@ctatx>{.<vec:v2,v4>}.<type:b32,b64,b128,u32,u64,s32,s64,f32,f64> [=a*<vec>], b*<vec>, [+bar:b64] | ptx=8.7 takes=8.1/sm_90 scope=<scope> if=type:b64,u64,s64,f64>vec:-,v2 if=type:b128>vec:- since=type:b128>9.2
st.async.release | st.async{.mmio}.<sem:release>.<scope:gpu,sys>{.<space:global=generic>}.<type:b8,@bits,@int8,f32,f64> [=a], b | ptx=8.7 sm=100 async=release barrier=none scope=<scope>
= 9.7.9.13 memory 8.6 sm_100 space=<space> proxy=generic effect=write
st.bulk      | st.bulk{.<sem:weak=weak>}{.<space:shared::cta=generic>} [=a:b8], size:addr, #init:u64
multimem.st.async | multimem.st.async.<sem:release>.<scope:gpu,sys>{.<space:global=generic>}.<type:@bits,b8,@int8,f32,f64> [=a], b | ptx=9.3 sec=9.7.9.12 scope=<scope> async=release class=async
= 9.7.9.14 memory 8.1 sm_90 space=<space> proxy=generic scope=<scope> since=acc:acc::f32>8.2 since=acc:acc::f16>8.6/on_100a+100f+101f+110f+120a+121a since=type:e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4>8.6/on_100a+100f+101f+110f+120a+121a effect=read
multimem.ld_reduce | multimem.ld_reduce{.<sem:relaxed,acquire=relaxed>}{&.<scope:@scope=gpu>}{.<space:global=generic>}.<op:min,max,add,and,or,xor>.<type:b32,b64,u32,u64,s32,s64> d, [a] | if=op:and,or,xor>type:b32,b64 if=op:add>type:u32,s32,u64 if=op:min,max>type:u32,s32,u64,s64
multimem.ld_reduce.weak | multimem.ld_reduce.<sem:weak>{.<space:global=generic>}.<op:min,max,add,and,or,xor>.<type:b32,b64,u32,u64,s32,s64> d, [a] | scope=none if=op:and,or,xor>type:b32,b64 if=op:add>type:u32,s32,u64 if=op:min,max>type:u32,s32,u64,s64
multimem.ld_reduce.float | multimem.ld_reduce{.<sem:relaxed,acquire=relaxed>}{&.<scope:@scope=gpu>}{.<space:global=generic>}.<op:min,max,add>{.<acc:acc::f32,acc::f16>}{.<vec:v2,v4,v8>}.<type:f16,f16x2,bf16,bf16x2,f32,f64,e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4> d*<vec>, [a*<vec>] | if=type:f16,bf16>vec:v2,v4,v8 if=type:f16x2,bf16x2,f32>vec:-,v2,v4 if=type:f64>vec:- if=type:f32,f64>op:add if=acc>op:add if=acc:acc::f32>type:f16,f16x2,bf16,bf16x2 if=acc:acc::f16>type:e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4
multimem.ld_reduce.float.weak | multimem.ld_reduce.<sem:weak>{.<space:global=generic>}.<op:min,max,add>{.<acc:acc::f32,acc::f16>}{.<vec:v2,v4,v8>}.<type:f16,f16x2,bf16,bf16x2,f32,f64,e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4> d*<vec>, [a*<vec>] | scope=none if=type:f16,bf16>vec:v2,v4,v8 if=type:f16x2,bf16x2,f32>vec:-,v2,v4 if=type:f64>vec:- if=type:f32,f64>op:add if=acc>op:add if=acc:acc::f32>type:f16,f16x2,bf16,bf16x2 if=acc:acc::f16>type:e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4
multimem.st  | multimem.st{.<sem:relaxed,release=relaxed>}{&.<scope:@scope=gpu>}{.<space:global=generic>}{.<vec:v2,v4,v8>}.<type:b32,b64,u32,u64,s32,s64,f16,f16x2,bf16,bf16x2,f32,f64,e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4> [=a*<vec>], b*<vec> | if=type:f16,bf16>vec:v2,v4,v8 if=type:f16x2,bf16x2,f32>vec:-,v2,v4 if=type:f64>vec:- if=type:b32,b64,u32,u64,s32,s64>vec:- effect=write
multimem.st.weak | multimem.st.<sem:weak>{.<space:global=generic>}{.<vec:v2,v4,v8>}.<type:b32,b64,u32,u64,s32,s64,f16,f16x2,bf16,bf16x2,f32,f64,e5m2,e5m2x2,e5m2x4,e4m3,e4m3x2,e4m3x4> [=a*<vec>], b*<vec> | scope=none if=type:f16,bf16>vec:v2,v4,v8 if=type:f16x2,bf16x2,f32>vec:-,v2,v4 if=type:f64>vec:- if=type:b32,b64,u32,u64,s32,s64>vec:- effect=write
multimem.red | multimem.red{.<sem:relaxed,release=relaxed>}{&.<scope:@scope=gpu>}{.<space:global=generic>}.<op:min,max,add,and,or,xor>.<type:b32,b64,u32,u64,s32,s64> [+a], b | if=op:and,or,xor>type:b32,b64 if=op:add>type:u32,s32,u64 if=op:min,max>type:u32,s32,u64,s64 effect=write,update
multimem.red.float | multimem.red{.<sem:relaxed,release=relaxed>}{&.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add>{.<vec:v2,v4,v8>}.<type:f16,f16x2,bf16,bf16x2,f32,f64> [+a*<vec>], b*<vec> | if=type:f16,bf16>vec:v2,v4,v8 if=type:f16x2,bf16x2,f32>vec:-,v2,v4 if=type:f64>vec:- effect=write,update
= 9.7.9.15 memory 2.0 sm_20 space=<space> proxy=none effect=hint
prefetch     | prefetch{.<space:global,local=generic>}.<level:L1,L2> [.a:b8]
prefetch.valid | prefetch{.<space:global=generic>}.<level:L1::32B>.valid_addr [.a:b8] | ptx=9.4 sm=90
prefetch.evict | prefetch.<space:global>.<level:L2::evict_last,L2::evict_normal> [.a:b8] | ptx=7.4 sm=80
prefetchu    | prefetchu.<level:L1> [.a:b8] | space=generic
prefetch.tensormap | prefetch{.<space:const,param=generic>}.tensormap [a:b1024] | ptx=8.0 sm=90 class=tensormap proxy=none
= 9.7.9.16 memory 7.4 sm_80 space=<space> effect=none
applypriority | applypriority{.<space:global=generic>}.<level:L2::evict_normal> [.a:b8], #size:u32
= 9.7.9.17 memory 7.4 sm_80 space=<space> proxy=generic effect=none
discard      | discard{.<space:global=generic>}.<level:L2> [=a:b8], #size:u32
= 9.7.9.18 memory 7.4 sm_80 effect=policy
createpolicy.range | createpolicy.range{.<space:global=generic>}.<level:L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged>{.<level2:L2::evict_first,L2::evict_unchanged>}.<type:b64> d, [.a:b8], primary:u32, total:u32
createpolicy.fractional | createpolicy.fractional.<level:L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged>{.<level2:L2::evict_first,L2::evict_unchanged>}.<type:b64> d, ?fraction:f32
createpolicy.cvt | createpolicy.cvt.L2.<type:b64> d, property:b64
`

// Atomics and reductions (ISA 9.7.13.5 to 9.7.13.7).
const atomicTable = `
= 9.7.13.5 atomic 1.1 sm_12 space=<space> proxy=generic scope=<scope> since=space:shared,shared::cta,shared::cluster>1.2/sm_12 since=scope>5.0/sm_60 since=sem>6.0/sm_70 effect=read,write,update
atom.bits    | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:and,or,xor,exch>{.<hint:@hint>}.<type:b32,b64> d, [+a], b, hint?policy:b64 | if=hint>space:-,global since=type:b64>1.2/sm_12 since=type:b64&op:exch&space:shared,shared::cta,shared::cluster>2.0/sm_20 since=type:b64&op:and,or,xor>3.1/sm_32
atom.exch.b128 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:exch>{.<hint:@hint>}.<type:b128> d, [+a], b, hint?policy:b64 | ptx=8.3 sm=90 if=hint>space:-,global
atom.cas     | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:cas>.<type:b32,b64> d, [+a], b, c | since=type:b64>1.2/sm_12 since=type:b64&space:shared,shared::cta,shared::cluster>2.0/sm_20
atom.cas.b16 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:cas>.<type:b16> d, [+a], b, c | ptx=6.3 sm=70
atom.cas.b128 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:cas>.<type:b128> d, [+a], b, c | ptx=8.3 sm=90
atom.add     | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>{.<hint:@hint>}.<type:u32,s32,u64,f32,f64> d, [+a], b, hint?policy:b64 | if=hint>space:-,global since=type:u64>1.2/sm_12 since=type:u64&space:shared,shared::cta,shared::cluster>2.0/sm_20 since=type:f32>2.0/sm_20 since=type:f64>5.0/sm_60
atom.inc     | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:inc,dec>{.<hint:@hint>}.<type:u32> d, [+a], b, hint?policy:b64 | if=hint>space:-,global
atom.minmax  | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:min,max>{.<hint:@hint>}.<type:u32,s32,u64,s64> d, [+a], b, hint?policy:b64 | if=hint>space:-,global since=type:u64,s64>3.1/sm_32
atom.add.f16 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>.noftz{.<hint:@hint>}.<type:f16,f16x2> d, [+a], b, hint?policy:b64 | ptx=6.2 sm=60 if=hint>space:-,global since=type:f16>6.3/sm_70
atom.add.noftz.f32 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>.noftz{.<hint:@hint>}.<type:f32> d, [+a], b, hint?policy:b64 | ptx=9.4 sm=90 if=hint>space:-,global
atom.add.bf16 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>.noftz{.<hint:@hint>}.<type:bf16,bf16x2> d, [+a], b, hint?policy:b64 | ptx=7.8 sm=90 if=hint>space:-,global
atom.vec.f32 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add>{.<hint:@hint>}.<vec:v2,v4>.<type:f32> d*<vec>, [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=8.1 sm=90 if=hint>space:-,global
atom.vec.noftz.f32 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add>.noftz{.<hint:@hint>}.<vec:v2,v4>.<type:f32> d*<vec>, [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=9.4 sm=90 if=hint>space:-,global
atom.vec.f16 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add,min,max>.noftz{.<hint:@hint>}.<vec:v2,v4,v8>.<type:f16,bf16> d*<vec>, [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=8.1 sm=90 if=hint>space:-,global
atom.vec.f16x2 | atom{.<sem:relaxed,acquire,release,acq_rel=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add,min,max>.noftz{.<hint:@hint>}.<vec:v2,v4>.<type:f16x2,bf16x2> d*<vec>, [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=8.1 sm=90 if=hint>space:-,global
= 9.7.13.6 atomic 1.2 sm_12 space=<space> proxy=generic scope=<scope> since=scope>5.0/sm_60 since=sem>6.0/sm_70 effect=write,update
red.bits     | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:and,or,xor>{.<hint:@hint>}.<type:b32,b64> [+a], b, hint?policy:b64 | if=hint>space:-,global since=type:b64>3.1/sm_32
red.add      | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>{.<hint:@hint>}.<type:u32,s32,u64,f32,f64> [+a], b, hint?policy:b64 | if=hint>space:-,global since=type:f32>2.0/sm_20 since=type:u64&space:shared,shared::cta,shared::cluster>2.0/sm_20 since=type:f64>5.0/sm_60
red.inc      | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:inc,dec>{.<hint:@hint>}.<type:u32> [+a], b, hint?policy:b64 | if=hint>space:-,global
red.minmax   | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:min,max>{.<hint:@hint>}.<type:u32,s32,u64,s64> [+a], b, hint?policy:b64 | if=hint>space:-,global since=type:u64,s64>3.1/sm_32
red.add.f16  | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>.noftz{.<hint:@hint>}.<type:f16,f16x2> [+a], b, hint?policy:b64 | ptx=6.2 sm=60 if=hint>space:-,global since=type:f16>6.3/sm_70
red.add.noftz.f32 | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>.noftz{.<hint:@hint>}.<type:f32> [+a], b, hint?policy:b64 | ptx=9.4 sm=90 if=hint>space:-,global
red.add.bf16 | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>.noftz{.<hint:@hint>}.<type:bf16,bf16x2> [+a], b, hint?policy:b64 | ptx=7.8 sm=90 if=hint>space:-,global
red.vec.f32  | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add>{.<hint:@hint>}.<vec:v2,v4>.<type:f32> [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=8.1 sm=90 if=hint>space:-,global
red.vec.noftz.f32 | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add>.noftz{.<hint:@hint>}.<vec:v2,v4>.<type:f32> [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=9.4 sm=90 if=hint>space:-,global
red.vec.f16  | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add,min,max>.noftz{.<hint:@hint>}.<vec:v2,v4,v8>.<type:f16,bf16> [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=8.1 sm=90 if=hint>space:-,global
red.vec.f16x2 | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:global=generic>}.<op:add,min,max>.noftz{.<hint:@hint>}.<vec:v2,v4>.<type:f16x2,bf16x2> [+a*<vec>], b*<vec>, hint?policy:b64 | ptx=8.1 sm=90 if=hint>space:-,global
= 9.7.13.7 async 8.1 sm_90 space=<space> proxy=generic scope=<scope> async=mbarrier barrier=complete-tx effect=write,update
red.async.inc | red.async.<sem:relaxed>.<scope:cluster>{.<space:shared::cluster=generic>}.<completion:@ctatx>.<op:inc,dec>.<type:u32> [+a], b, [+bar:b64]
red.async.minmax | red.async.<sem:relaxed>.<scope:cluster>{.<space:shared::cluster=generic>}.<completion:@ctatx>.<op:min,max>.<type:u32,s32> [+a], b, [+bar:b64]
red.async.bits | red.async.<sem:relaxed>.<scope:cluster>{.<space:shared::cluster=generic>}.<completion:@ctatx>.<op:and,or,xor>.<type:b32> [+a], b, [+bar:b64]
red.async.add | red.async.<sem:relaxed>.<scope:cluster>{.<space:shared::cluster=generic>}.<completion:@ctatx>.<op:add>.<type:u32,s32,u64> [+a], b, [+bar:b64]
red.async.release | red.async{.mmio}.<sem:release>.<scope:gpu,sys>{.<space:global=generic>}.<op:add>.<type:u32,s32,u64,s64> [+a], b | ptx=8.7 sm=100 async=release barrier=none
multimem.red.async | multimem.red.async.<sem:release>.<scope:gpu,sys>{.<space:global=generic>}.<op:add>.<type:u32,s32,u64> [+a], b | ptx=9.3 sm=100 async=release barrier=none
`
