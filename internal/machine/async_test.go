package machine_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// initOne makes a barrier bar of one arrival, and waits for its first phase.
const (
	initOne = `
	.shared .b64 bar; .reg .pred %p, %lead; .reg .b64 %s; .reg .b32 %v, %a, %r;
	setp.eq.u32 %lead, %t, 0;
	@%lead mbarrier.init.shared.b64 [bar], 1;
	barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
`
	waitOne = `
w:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [bar], 0;
	@!%p bra w;
`
	leave = `
	barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
`
)

var asyncBehaviours = []behaviour{
	{
		name: "cp-async-fills-with-zeros", block: 32,
		body: `
	.shared .align 16 .b32 b[128]; .reg .b32 %a, %v, %n; .reg .b64 %g; .reg .pred %p;
	mov.u32 %a, b; mad.lo.u32 %a, %t, 16, %a;
	st.shared.v4.u32 [%a], {-1, -1, -1, -1};
	mul.wide.u32 %g, %t, 16; add.u64 %g, %in, %g;
	and.b32 %n, %t, 15;
	setp.eq.u32 %p, %t, 31;
	@!%p cp.async.ca.shared.global [%a], [%g], 16, %n;
	@%p cp.async.cg.shared.global [%a], [%g], 16, %p;
	cp.async.wait_all;
	ld.shared.u32 %v, [%a+8];
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 {
			switch n := i % 16; {
			case i == 31 || n <= 8:
				return 0
			case n < 12:
				return u(4*i+2) & (1<<(8*(n-8)) - 1)
			}
			return u(4*i + 2)
		},
	},
	{
		name: "empty-groups-count", block: 32,
		// The group that holds the copy is the third from the end: waiting for
		// all but two waits for it, waiting for all but three does not.
		body: `
	.shared .align 16 .b32 b[32]; .reg .b32 %a, %v, %x;
	mov.u32 %a, b; mad.lo.u32 %a, %t, 4, %a;
	st.shared.u32 [%a], 77;
	cp.async.ca.shared.global [%a], [%in+20], 4;
	cp.async.commit_group;
	cp.async.commit_group;
	cp.async.commit_group;
	cp.async.wait_group 2;
	ld.shared.u32 %v, [%a];
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 5 },
	},
	{
		name: "thousands-of-groups", block: 32,
		body: `
	.shared .align 16 .b32 b[32]; .reg .b32 %v, %i; .reg .pred %p;
	mov.u32 %i, 0;
	setp.ne.u32 %p, %t, 0;
	@%p bra fin;
l:	st.shared.u32 [b], %i;
	fence.proxy.async;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%base], [b], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 1;
	cp.async.bulk.wait_group.read 0;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 3000;
	@%p bra l;
	cp.async.bulk.wait_group 0;
	st.global.v2.u32 [%base+8], {0, 0};
	st.global.u32 [%base+4], 0;
fin:`,
		want: func(i int) uint32 {
			if i == 0 {
				return 3000 * 2999 / 2
			}
			return 0
		},
	},
	{
		name: "a-barrier-tracks-cp-async", block: 32,
		body: `
	.shared .align 16 .b32 b[32]; .shared .b64 x, y; .reg .b32 %a, %v; .reg .pred %p; .reg .b64 %s;
	setp.eq.u32 %p, %t, 0;
	@%p mbarrier.init.shared.b64 [x], 32;
	@%p mbarrier.init.shared.b64 [y], 32;
	bar.warp.sync -1;
	mov.u32 %a, b; mad.lo.u32 %a, %t, 4, %a;
	cp.async.ca.shared.global [%a], [%in+20], 4;
	cp.async.mbarrier.arrive.noinc.shared.b64 [x];
	cp.async.mbarrier.arrive.shared.b64 [y];
	mbarrier.arrive.shared.b64 %s, [y];
w:	mbarrier.try_wait.parity.shared.b64 %p, [x], 0;
	@!%p bra w;
z:	mbarrier.try_wait.shared.b64 %p, [y], %s;
	@!%p bra z;
	ld.shared.u32 %v, [%a];
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 5 },
	},
	{
		name: "bulk-copies-to-every-side", target: "sm_100", block: 32, grid: "2", cluster: "2", n: 64,
		// Global to both CTAs by multicast, shared to the peer's shared, and
		// back to global under a byte mask.
		body: initOne + `
	.shared .align 16 .b32 b[32], c[32]; .reg .b16 %m;
	mov.u32 %r, %cluster_ctarank;
	mov.u32 %a, c; mad.lo.u32 %a, %t, 4, %a; st.shared.u32 [%a], 1000;
	@%lead mbarrier.arrive.expect_tx.shared.b64 %s, [bar], 256;
	fence.proxy.async;
	barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
	@!%lead bra go;
	setp.ne.u32 %p, %r, 0;
	mov.b16 %m, 3;
	.reg .b32 %pc, %pb;
	xor.b32 %v, %r, 1;
	mov.u32 %a, bar; mapa.shared::cluster.u32 %pb, %a, %v;
	mov.u32 %a, c; mapa.shared::cluster.u32 %pc, %a, %v;
	@!%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [b], [%in+64], 128, [bar], %m;
	cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%pc], [d], 128, [%pb];
go:` + waitOne + `
	mov.u32 %a, b; mad.lo.u32 %a, %t, 4, %a; ld.shared.u32 %v, [%a];
	mov.u32 %a, c; mad.lo.u32 %a, %t, 4, %a; ld.shared.u32 %r, [%a];
	add.u32 %v, %v, %r;
	st.shared.u32 [%a], %v;
	fence.proxy.async;
	bar.warp.sync -1;
	mov.b16 %m, 0xff;
	@%lead cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%o], [c], 128, %m;
	@%lead cp.async.bulk.commit_group;
	@%lead cp.async.bulk.wait_group 0;` + leave,
		top: `.shared .align 16 .b32 d[32];`,
		want: func(i int) uint32 {
			if i%4 >= 2 {
				return 0
			}
			return u(16 + i%32)
		},
	},
	{
		name: "bulk-reductions", block: 32,
		body: `
	.shared .align 16 .b32 b[32]; .reg .b32 %a, %v; .reg .pred %p;
	mov.u32 %a, b; mad.lo.u32 %a, %t, 4, %a;
	sub.u32 %v, %t, 16;
	st.shared.u32 [%a], %v;
	st.global.u32 [%o], 3;
	fence.proxy.async;
	bar.warp.sync -1;
	setp.ne.u32 %p, %t, 0;
	@%p bra fin;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%base], [b], 64;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%base+64], [b+64], 64;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u32 [%base+64], [b+64], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
fin:`,
		want: func(i int) uint32 {
			switch {
			case i < 16:
				return u(i - 16)
			case i < 20:
				return 0 // i-16+3 is not below its limit i-16
			}
			return u(i - 16 + 3)
		},
	},
	{
		name: "stores-that-signal", block: 32, grid: "2", cluster: "2", n: 64,
		body: initOne + `
	.shared .align 16 .b32 b[64]; .reg .b32 %pb, %px;
	mov.u32 %a, b; mad.lo.u32 %a, %t, 8, %a;
	st.shared.v2.u32 [%a], {0, 100};
	@%lead mbarrier.arrive.expect_tx.shared.b64 %s, [bar], 384;
	barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
	mov.u32 %r, %cluster_ctarank; xor.b32 %r, %r, 1;
	mapa.shared::cluster.u32 %pb, %a, %r;
	mov.u32 %a, bar; mapa.shared::cluster.u32 %px, %a, %r;
	st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%pb], {%t, 50}, [%px];
	red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%pb], %r, [%px];
` + waitOne + leave + `
	mov.u32 %a, b; mad.lo.u32 %a, %t, 8, %a;
	ld.shared.u32 %v, [%a+4];
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 50 },
	},
	{
		name: "remote-arrivals", block: 32, grid: "2", cluster: "2", n: 64,
		body: `
	.shared .b64 bar; .reg .pred %p; .reg .b32 %a, %r, %v; .reg .b64 %g, %s;
	setp.eq.u32 %p, %t, 0;
	@%p mbarrier.init.shared.b64 [bar], 96;
	barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
	mov.u32 %r, %cluster_ctarank; xor.b32 %r, %r, 1;
	mov.u32 %a, bar; mapa.shared::cluster.u32 %a, %a, %r;
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a], 2;
	mov.u64 %g, bar; cvta.shared.u64 %g, %g;
	mbarrier.arrive.noComplete.b64 %s, [%g], 1;
	mbarrier.pending_count.b64 %v, %s;
	setp.gt.u32 %p, %v, 96;
	@%p trap;
w:	mbarrier.test_wait.acquire.cluster.shared::cta.b64 %p, [bar], %s;
	@!%p bra w;
	barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
	st.global.u32 [%o], 6;`,
		want: func(int) uint32 { return 6 },
	},
	{
		name: "a-copy-of-a-bad-size", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: `
	.shared .align 16 .b32 b[32];
	cp.async.bulk.global.shared::cta.bulk_group [%base], [b], 24;`,
	},
	{
		name: "atomics-of-every-width", block: 32,
		top: `.global .align 16 .b64 q[2] = {1, 2}; .global .align 4 .b16 h[2] = {5, 0xffff}; .global .align 8 .f32 f[2] = {1.5, 2.5};`,
		body: `
	.reg .b128 %x, %y, %z; .reg .b64 %lo, %hi; .reg .b32 %v, %k; .reg .b16 %h, %c; .reg .f32 %f, %g; .reg .pred %p;
	setp.ne.u32 %p, %t, 0;
	@%p exit;
	mov.b64 %lo, 1; mov.b64 %hi, 2; mov.b128 %x, {%lo, %hi};
	mov.b64 %lo, 30; mov.b64 %hi, 40; mov.b128 %y, {%lo, %hi};
	atom.global.cas.b128 %z, [q], %x, %y;
	atom.global.exch.b128 %z, [q], %x;
	mov.b128 {%lo, %hi}, %z;
	add.u64 %lo, %lo, %hi;
	cvt.u32.u64 %v, %lo;                    // 70
	mov.b16 %h, 5; mov.b16 %c, 9;
	atom.global.cas.b16 %h, [h], %h, %c;    // 5
	cvt.u32.u16 %k, %h; add.u32 %v, %v, %k;
	ld.global.u32 %k, [h]; and.b32 %k, %k, 0xff; add.u32 %v, %v, %k; // 9
	atom.global.add.v2.f32 {%f, %g}, [f], {1.0, 2.0};
	st.global.u32 [%o], %v;
	ld.global.f32 %f, [f+4];
	st.global.f32 [%o+4], %f;`,
		want: func(i int) uint32 {
			switch i {
			case 0:
				return 84
			case 1:
				return 0x40900000
			}
			return 0
		},
	},
	{
		name: "registers-move-between-warps", block: 256,
		body: `
	.reg .pred %p;
	setp.ge.u32 %p, %t, 128;
	@%p bra more;
	setmaxnreg.dec.sync.aligned.u32 40;
	bra fin;
more:
	setmaxnreg.inc.sync.aligned.u32 232;
fin:
	st.global.u32 [%o], 8;`,
		want: func(int) uint32 { return 8 },
	},
}

// TestAsyncOperations holds that copies, arrivals and groups leave the same results in
// every schedule.
func TestAsyncOperations(t *testing.T) {
	for _, c := range asyncBehaviours {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(8) {
				c.checkWithin(t, s, 1_000_000)
			}
		})
	}
}
