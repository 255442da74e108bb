package ptx

// Control flow (ISA 9.7.12).
const controlTable = `
= 9.7.12.3 control 1.0 sm_10 effect=call
bra          | bra{.uni} @target | effect=branch
brx.idx      | brx.idx{.uni} a:u32, @list | sec=9.7.12.4 ptx=6.0 sm=30 effect=branch-table
call         | call{.uni} ?(ret), @func, ?(args) | sec=9.7.12.5
call.indirect | call{.uni} ?(ret), func:addr, ?(args), @proto | sec=9.7.12.5 ptx=2.1 sm=20
ret          | ret{.uni} | sec=9.7.12.6 effect=return
exit         | exit | sec=9.7.12.7 effect=exit
`

// Barriers of CTAs, warps and clusters, fences, and collectives of a warp (ISA 9.7.13,
// except atomics and mbarriers).
const syncTable = `
= 9.7.13.1 barrier 2.0 sm_20 scope=cta since=cta>7.8 effect=aligned
bar.sync     | bar{.cta}.sync a:u32, ?b:u32 | barrier=cta-sync ptx=1.0 sm=10 since=b>2.0/sm_20
bar.arrive   | bar{.cta}.arrive a:u32, b:u32 | barrier=cta-arrive
bar.red.popc | bar{.cta}.red.<op:popc>.<type:u32> d, a:u32, ?b:u32, c:pred | barrier=cta-red
bar.red      | bar{.cta}.red.<op:and,or>.<type:pred> d, a:u32, ?b:u32, c:pred | barrier=cta-red
barrier.sync | barrier{.cta}.sync{.aligned} a:u32, ?b:u32 | barrier=cta-sync ptx=6.0 sm=30 effect=none
barrier.arrive | barrier{.cta}.arrive{.aligned} a:u32, b:u32 | barrier=cta-arrive ptx=6.0 sm=30 effect=none
barrier.red.popc | barrier{.cta}.red.<op:popc>{.aligned}.<type:u32> d, a:u32, ?b:u32, c:pred | barrier=cta-red ptx=6.0 sm=30 effect=none
barrier.red  | barrier{.cta}.red.<op:and,or>{.aligned}.<type:pred> d, a:u32, ?b:u32, c:pred | barrier=cta-red ptx=6.0 sm=30 effect=none
= 9.7.13.2 barrier 6.0 sm_30 scope=warp barrier=warp-sync effect=none
bar.warp.sync | bar.warp.sync mask:u32
= 9.7.13.3 barrier 7.8 sm_90 scope=cluster since=sem>8.0 effect=none
barrier.cluster.arrive | barrier.cluster.arrive{.<sem:release,relaxed=release>}{.aligned} | barrier=cluster-arrive
barrier.cluster.wait | barrier.cluster.wait{.<sem:acquire=acquire>}{.aligned} | barrier=cluster-wait
= 9.7.13.4 fence 6.0 sm_70 space=all proxy=generic scope=<scope> effect=none
fence        | fence{.<sem:sc,acq_rel,acquire,release=acq_rel>}.<scope:@scope> | since=~sem:acquire,release>8.6/sm_90
fence.acquire.restrict | fence.<sem:acquire>.<restrict:sync_restrict::shared::cluster>.<scope:cluster> | ptx=8.6 sm=90 space=shared::cluster
fence.release.restrict | fence.<sem:release>.<restrict:sync_restrict::shared::cta>.<scope:cluster> | ptx=8.6 sm=90 space=shared::cta
fence.mbarrier_init | fence.<restrict:mbarrier_init>.<sem:release>.<scope:cluster> | ptx=8.0 sm=90 space=shared::cta
fence.proxy.alias | fence.proxy.<kind:alias> | ptx=7.5 proxy=alias scope=none
fence.proxy.async | fence.proxy.<kind:async>{.<space:global,shared::cta,shared::cluster=all>} | ptx=8.0 sm=90 proxy=async scope=none space=<space>
fence.proxy.tensormap.release | fence.proxy.<kind:tensormap::generic>.<sem:release>.<scope:@scope> | ptx=8.3 sm=90 proxy=tensormap
fence.proxy.tensormap.acquire | fence.proxy.<kind:tensormap::generic>.<sem:acquire>.<scope:@scope> [.a:b1024], #size:u32 | ptx=8.3 sm=90 proxy=tensormap
fence.proxy.async.acquire | fence.proxy.<kind:async::generic>.<sem:acquire>.<restrict:sync_restrict::shared::cluster>.<scope:cluster> | ptx=8.6 sm=90 proxy=async space=shared::cluster
fence.proxy.async.release | fence.proxy.<kind:async::generic>.<sem:release>.<restrict:sync_restrict::shared::cta>.<scope:cluster> | ptx=8.6 sm=90 proxy=async space=shared::cta
fence.proxy.async.release.read | fence.proxy.<kind:async::generic>.<sem:release>.<restrict:sync_restrict::shared::cluster::read>.<scope:cluster> | ptx=9.4 sm=90 proxy=async space=shared::cluster
fence.proxy.alias.sem | fence.proxy.<kind:alias>.<sem:acquire,release>.<scope:sys> | ptx=9.4 sm=90 proxy=alias
fence.proxy.fabric | fence.proxy.<kind:generic::fabric,fabric::generic,fabric::fabric>.alias.<sem:acquire,release>.<scope:sys> | ptx=9.3 sm=100 proxy=fabric
membar       | membar.<level:cta,gl,sys> | ptx=1.4 sm=10 scope=<level> since=level:sys>2.0/sm_20
membar.proxy.alias | membar.proxy.<kind:alias> | ptx=7.5 sm=60 proxy=alias scope=none
= 9.7.13.8 warp 1.2 sm_12 gone=6.4/sm_70 effect=exchange
vote         | vote.<mode:all,any,uni>.<type:pred> d, a:pred
vote.ballot  | vote.<mode:ballot>.<type:b32> d, a:pred | ptx=2.0 sm=20
= 9.7.13.9 warp 6.0 sm_30 barrier=warp-mask effect=exchange
vote.sync    | vote.sync.<mode:all,any,uni>.<type:pred> d, a:pred, mask:b32
vote.sync.ballot | vote.sync.<mode:ballot>.<type:b32> d, a:pred, mask:b32
= 9.7.13.10 warp 6.0 sm_70 barrier=warp-mask effect=exchange
match.any    | match.<mode:any>.sync.<type:b32,b64> d:u32, a, mask:u32
match.all    | match.<mode:all>.sync.<type:b32,b64> d:u32[|p], a, mask:u32
= 9.7.13.11 warp 6.2 sm_30 effect=lanes
activemask   | activemask.<type:b32> d
= 9.7.13.12 warp 7.0 sm_80 barrier=warp-mask effect=exchange
redux.sync.int | redux.sync.<op:add,min,max>.<type:u32,s32> d, a, mask:u32
redux.sync.bits | redux.sync.<op:and,or,xor>.<type:b32> d, a, mask:u32
redux.sync.f32 | redux.sync.<op:min,max>{.abs}{.NaN}.<type:f32> d, a, mask:u32 | ptx=8.6 sm=100a on=100a,100f
= 9.7.13.13 control 7.8 sm_90 scope=grid effect=grids
griddepcontrol | griddepcontrol.<action:launch_dependents,wait>
= 9.7.13.14 warp 8.0 sm_90 barrier=warp-mask effect=elect
elect.sync   | elect.sync d:u32|p, mask:u32
= 9.7.13.17 async 8.6 sm_100 space=<space> proxy=async async=mbarrier barrier=complete-tx effect=cancel
clusterlaunchcontrol.try_cancel | clusterlaunchcontrol.try_cancel.async{.<space:shared::cta=generic>}.<completion:@ctatx>{.<multicast:multicast::cluster::all>}.<type:b128> [=a], [+bar:b64] | since=multicast>sm_100a
= 9.7.13.18 control 8.6 sm_100 effect=compute
clusterlaunchcontrol.is_canceled | clusterlaunchcontrol.query_cancel.is_canceled.<dtype:pred>.<type:b128> p:pred, a
clusterlaunchcontrol.first_ctaid.v4 | clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.<dtype:b32>.<type:b128> d*4:<dtype>, a
clusterlaunchcontrol.first_ctaid | clusterlaunchcontrol.query_cancel.<what:get_first_ctaid::x,get_first_ctaid::y,get_first_ctaid::z>.<dtype:b32>.<type:b128> d:<dtype>, a
`

// mbarriers (ISA 9.7.13.15). An arrive with a remote address has no token: its
// destination is the sink. Additions of PTX 9.3 and 9.4 are listed under the existing
// sections that they extend: in the ISA the numbers of later sections are one higher.
const mbarrierTable = `
= 9.7.13.15.9 mbarrier 7.0 sm_80 space=<space> proxy=generic effect=none
mbarrier.init | mbarrier.init{.<layout:layout::v0,layout::v1=layout::v0>}{.<space:@cta=generic>}.<type:b64> [=a], count:u32 | barrier=init since=layout>9.3/sm_90
mbarrier.inval | mbarrier.inval{.<space:@cta=generic>}.<type:b64> [=a] | barrier=inval sec=9.7.13.15.10
= 9.7.13.15.11 mbarrier 8.0 sm_90 space=<space> proxy=generic scope=<scope> effect=none
mbarrier.expect_tx | mbarrier.expect_tx{.<sem:relaxed=relaxed>}{&.<scope:cta,cluster=cta>}{.<space:@shared=generic>}.<type:b64> [+a], tx:u32 | barrier=expect-tx
mbarrier.complete_tx | mbarrier.complete_tx{.<sem:relaxed=relaxed>}{&.<scope:cta,cluster=cta>}{.<space:@shared=generic>}.<type:b64> [+a], tx:u32 | barrier=complete-tx sec=9.7.13.15.12
mbarrier.expect_tx.multicast | mbarrier.expect_tx{.<sem:relaxed=relaxed>}{&.<scope:cta,cluster=cta>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> [+a], tx:u32, mask:u32 | ptx=9.4 sm=107f on=107f barrier=expect-tx
mbarrier.complete_tx.multicast | mbarrier.complete_tx{.<sem:relaxed=relaxed>}{&.<scope:cta,cluster=cta>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> [+a], tx:u32, mask:u32 | ptx=9.4 sm=107f on=107f barrier=complete-tx sec=9.7.13.15.12
= 9.7.13.15.13 mbarrier 7.0 sm_80 space=<space> proxy=generic scope=<scope> since=sem>8.0 since=sem:relaxed>8.6/sm_90 effect=token
mbarrier.arrive | mbarrier.arrive{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> =state, [+a], ?count:u32 | barrier=arrive since=count>7.8/sm_90
mbarrier.arrive.cluster | mbarrier.arrive{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}.<space:shared::cluster>.<type:b64> _, [+a], ?count:u32 | barrier=arrive ptx=8.0 sm=90 effect=none
mbarrier.arrive.expect_tx | mbarrier.arrive.expect_tx{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> =state, [+a], tx:u32 | barrier=arrive.expect-tx ptx=8.0 sm=90
mbarrier.arrive.expect_tx.cluster | mbarrier.arrive.expect_tx{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}.<space:shared::cluster>.<type:b64> _, [+a], tx:u32 | barrier=arrive.expect-tx ptx=8.0 sm=90 effect=none
mbarrier.arrive.noComplete | mbarrier.arrive.noComplete{.<sem:release=release>}{&.<scope:cta=cta>}{.<space:@cta=generic>}.<type:b64> =state, [+a], count:u32 | barrier=arrive.no-complete
mbarrier.arrive_drop | mbarrier.arrive_drop{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> =state, [+a], ?count:u32 | barrier=arrive-drop sec=9.7.13.15.14 since=count>7.8/sm_90
mbarrier.arrive_drop.cluster | mbarrier.arrive_drop{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}.<space:shared::cluster>.<type:b64> _, [+a], ?count:u32 | barrier=arrive-drop ptx=8.0 sm=90 sec=9.7.13.15.14 effect=none
mbarrier.arrive_drop.expect_tx | mbarrier.arrive_drop.expect_tx{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> =state, [+a], tx:u32 | barrier=arrive-drop.expect-tx ptx=8.0 sm=90 sec=9.7.13.15.14
mbarrier.arrive_drop.expect_tx.cluster | mbarrier.arrive_drop.expect_tx{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}.<space:shared::cluster>.<type:b64> _, [+a], tx:u32 | barrier=arrive-drop.expect-tx ptx=8.0 sm=90 sec=9.7.13.15.14 effect=none
mbarrier.arrive_drop.noComplete | mbarrier.arrive_drop.noComplete{.<sem:release=release>}{&.<scope:cta=cta>}{.<space:@cta=generic>}.<type:b64> =state, [+a], count:u32 | barrier=arrive-drop.no-complete sec=9.7.13.15.14
mbarrier.arrive.multicast | mbarrier.arrive{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> _, [+a], ?count:u32, mask:u32 | barrier=arrive ptx=9.4 sm=107f on=107f effect=none
mbarrier.arrive.expect_tx.multicast | mbarrier.arrive.expect_tx{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> _, [+a], tx:u32, mask:u32 | barrier=arrive.expect-tx ptx=9.4 sm=107f on=107f effect=none
mbarrier.arrive_drop.multicast | mbarrier.arrive_drop{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> _, [+a], ?count:u32, mask:u32 | barrier=arrive-drop ptx=9.4 sm=107f on=107f sec=9.7.13.15.14 effect=none
mbarrier.arrive_drop.expect_tx.multicast | mbarrier.arrive_drop.expect_tx{.<sem:release,relaxed=release>}{&.<scope:cta,cluster=cta>}{.<space:shared::cluster=generic>}.<multicast:multicast::cluster::32b>.<type:b64> _, [+a], tx:u32, mask:u32 | barrier=arrive-drop.expect-tx ptx=9.4 sm=107f on=107f sec=9.7.13.15.14 effect=none
= 9.7.13.15.15 mbarrier 7.0 sm_80 space=<space> proxy=generic async=mbarrier barrier=arrive effect=none
cp.async.mbarrier.arrive | cp.async.mbarrier.arrive{.noinc}{.<space:@cta=generic>}.<type:b64> [+a]
= 9.7.13.15.16 mbarrier 7.0 sm_80 space=<space> proxy=generic scope=<scope> barrier=test since=sem>8.0 since=sem:relaxed>8.6/sm_90 effect=test
mbarrier.test_wait | mbarrier.test_wait{.<phase:phase_type::primary=phase_type::primary>}{.<sem:acquire,relaxed=acquire>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred, [a], state | since=phase>9.3/sm_90
mbarrier.test_wait.parity | mbarrier.test_wait.parity{.<phase:phase_type::primary,phase_type::conditional=phase_type::primary>}{.<sem:acquire,relaxed=acquire>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred, [a], parity:u32 | ptx=7.1 since=phase>9.3/sm_90
mbarrier.try_wait | mbarrier.try_wait{.<phase:phase_type::primary=phase_type::primary>}{.<sem:acquire,relaxed=acquire>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred, [a], state, ?hint:u32 | ptx=7.8 sm=90 barrier=try since=phase>9.3/sm_90
mbarrier.try_wait.parity | mbarrier.try_wait.parity{.<phase:phase_type::primary,phase_type::conditional=phase_type::primary>}{.<sem:acquire,relaxed=acquire>}{&.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred, [a], parity:u32, ?hint:u32 | ptx=7.8 sm=90 barrier=try since=phase>9.3/sm_90
mbarrier.test_wait.report | mbarrier.test_wait.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, [a], state | ptx=9.3 sm=90
mbarrier.test_wait.report.value | mbarrier.test_wait.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, =report:b8, [a], state | ptx=9.3 sm=90
mbarrier.test_wait.parity.report | mbarrier.test_wait.parity.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, [a], parity:u32 | ptx=9.3 sm=90
mbarrier.test_wait.parity.report.value | mbarrier.test_wait.parity.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, =report:b8, [a], parity:u32 | ptx=9.3 sm=90
mbarrier.try_wait.report | mbarrier.try_wait.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, [a], state, ?hint:u32 | ptx=9.3 sm=90 barrier=try
mbarrier.try_wait.report.value | mbarrier.try_wait.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, =report:b8, [a], state, ?hint:u32 | ptx=9.3 sm=90 barrier=try
mbarrier.try_wait.parity.report | mbarrier.try_wait.parity.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, [a], parity:u32, ?hint:u32 | ptx=9.3 sm=90 barrier=try
mbarrier.try_wait.parity.report.value | mbarrier.try_wait.parity.<phase:phase_type::primary>{.<sem:acquire,relaxed=acquire>}{.<scope:cta,cluster=cta>}{.<space:@cta=generic>}.<type:b64> p:pred|q, =report:b8, [a], parity:u32, ?hint:u32 | ptx=9.3 sm=90 barrier=try
= 9.7.13.15.17 mbarrier 7.0 sm_80 barrier=pending-count effect=pending
mbarrier.pending_count | mbarrier.pending_count{.<layout:layout::v0=layout::v0>}.<type:b64> d:u32, state | since=layout>9.3/sm_90
mbarrier.check_layout | mbarrier.check_layout.<layout:layout::v0,layout::v1>{.<space:shared::cta=generic>}.<type:b64> p:pred, [.a] | ptx=9.3 sm=90 space=<space> proxy=generic barrier=none sec=9.4:9.7.15.16.21 effect=none
`

// Operations through the fabric, on logical endpoints of this and other devices (ISA 9.4,
// 9.7.11.5). Their data are accessed through the fabric proxy, shared memory through the
// asynchronous one, and the mbarrier through the generic one.
const fabricTable = `
= 9.4:9.7.11.5.1 fabric 9.3 sm_100 space=shared::cta proxy=fabric scope=sys async=mbarrier barrier=complete-tx effect=copy-memory
fabric.try_get | fabric.try_get.async.<dst:shared::cta>.<completion:mbarrier::complete_tx::bytes>.<report:mbarrier::report::fabric>.<sem:relaxed>.<scope:sys>.<type:b128> [=d:b8], [s:b32, off:b64], size:u32, [+bar:b64]
fabric.try_put | fabric.try_put.async{.<multi:multimem>}.<src:shared::cta>.<completion:mbarrier::complete_tx::16B>.<report:mbarrier::report::fabric>{.cp_mask}.<sem:relaxed>.<scope:sys>.<type:b128> [=d:b32, off:b64], [s:b8], size:u32, [+bar:b64], cp_mask?mask:u16 | sec=9.7.11.5.2
fabric.try_put.counted | fabric.try_put.async{.<multi:multimem>}.<src:shared::cta>.<completion:mbarrier::complete_tx::16B>.<report:mbarrier::report::fabric>.<count:counted::bytes>.<sem:relaxed>.<scope:sys>.<type:b128> [=d:b32, off:b64, counter:b64], [s:b8], size:u32, [+bar:b64] | sec=9.7.11.5.2
= 9.4:9.7.11.5.3 fabric 9.3 sm_100 space=shared::cta proxy=fabric scope=sys async=mbarrier barrier=complete-tx effect=copy-memory
fabric.try_red | fabric.try_red.async{.<multi:multimem>}.<src:shared::cta>.<completion:mbarrier::complete_tx::16B>.<report:mbarrier::report::fabric>.<sem:relaxed>.<scope:sys>.<op:and,xor,or,min,max,add>.<type:b32,b64,u32,s32,u64,s64,f16,bf16,f32,f64> [+d:b32, off:b64], [s:b8], size:u32, [+bar:b64] | if=op:and,xor,or>type:b32,b64 if=op:min,max>type:u32,s32,u64,s64,f16,bf16 if=op:add>type:u32,u64,f16,bf16,f32,f64
fabric.try_red.counted | fabric.try_red.async{.<multi:multimem>}.<src:shared::cta>.<completion:mbarrier::complete_tx::16B>.<report:mbarrier::report::fabric>.<count:counted::bytes>.<sem:relaxed>.<scope:sys>.<op:and,xor,or,min,max,add>.<type:b32,b64,u32,s32,u64,s64,f16,bf16,f32,f64> [+d:b32, off:b64, counter:b64], [s:b8], size:u32, [+bar:b64] | if=op:and,xor,or>type:b32,b64 if=op:min,max>type:u32,s32,u64,s64,f16,bf16 if=op:add>type:u32,u64,f16,bf16,f32,f64
= 9.4:9.7.11.5.4 fabric 9.3 sm_100 space=shared::cta proxy=fabric scope=sys async=mbarrier barrier=complete-tx effect=copy-memory since=acc>9.3/on_100f+110f+120a+121a since=op:min,max&type:e4m3,e5m2>9.3/on_100f+110f+120a+121a
fabric.try_pullred | fabric.try_pullred.async.<multi:multimem>.<dst:shared::cta>.<completion:mbarrier::complete_tx::bytes>.<report:mbarrier::report::fabric>.<sem:relaxed>.<scope:sys>.<op:and,xor,or,min,max,add>{.<acc:acc::f16,acc::f32>}.<type:b32,b64,u32,s32,u64,s64,f16,bf16,f32,e4m3,e5m2>.sync [=d:b8], [s:b32, off:b64], size:u32, [+bar:b64], #members:u32 | if=op:and,xor,or>type:b32,b64 if=op:min,max>type:u32,s32,u64,s64,f16,bf16,e4m3,e5m2 if=acc>op:add if=acc:acc::f16>type:e4m3,e5m2 if=acc:acc::f32>type:f16,bf16 if=op:add>type:u32,u64,f16,bf16,f32,e4m3,e5m2 if=type:e4m3,e5m2>op:add,min,max
= 9.4:9.7.11.5.5 fabric 9.3 sm_100 space=shared::cta proxy=fabric async=mbarrier effect=none
fabric.submit | fabric.submit{.<restrict:op_restrict::fetching>}
fabric.wait   | fabric.wait.<restrict:sync_restrict::reads> | sec=9.7.11.5.6
`
