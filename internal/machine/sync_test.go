package machine_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// Lanes that meet in ways that straight-line code does not: masks that differ
// within one split, barriers that lanes of a warp pass at different times,
// waits that are woken by something else than what they test.
var lanesThatMeet = []behaviour{
	{
		name: "tiles-of-sixteen-vote-together", block: 32,
		// One converged split, two member masks, as a tile of 16 threads makes.
		body: `
	.reg .pred %p, %q; .reg .b32 %m, %v, %x;
	setp.lt.u32 %p, %t, 16;
	selp.b32 %m, 0xffff, 0xffff0000, %p;
	and.b32 %x, %t, 1;
	setp.eq.u32 %q, %x, 0;
	vote.sync.ballot.b32 %v, %q, %m;
	redux.sync.add.u32 %x, %t, %m;
	add.u32 %v, %v, %x;
	elect.sync %x|%q, %m;
	mad.lo.u32 %v, %x, 1000000, %v;
	setp.lt.u32 %q, %t, 16;
	vote.sync.all.pred %q, %q, %m;
	selp.b32 %x, 7, 0, %q;
	add.u32 %v, %v, %x;
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 {
			if i < 16 {
				return 0x5555 + 120 + 7
			}
			return 0x55550000 + 376 + 16*1000000
		},
	},
	{
		name: "tiles-of-one-sync-the-warp", block: 32,
		body: `
	.reg .b32 %m;
	mov.u32 %m, 1;
	shl.b32 %m, %m, %t;
	bar.warp.sync %m;
	st.global.u32 [%o], %m;`,
		want: func(i int) uint32 { return 1 << i },
	},
	{
		name: "tiles-after-divergence", block: 32,
		// The lanes of one tile arrive on two paths.
		body: `
	.reg .pred %p; .reg .b32 %m, %v, %x;
	setp.lt.u32 %p, %t, 16;
	selp.b32 %m, 0xffff, 0xffff0000, %p;
	and.b32 %x, %t, 3;
	setp.eq.u32 %p, %x, 0;
	@%p bra one;
	shfl.sync.idx.b32 %v, %t, 0, 0x100f, %m;
	bra two;
one:
	shfl.sync.idx.b32 %v, %t, 0, 0x100f, %m;
two:
	bar.warp.sync %m;
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u(i &^ 15) },
	},
	{
		name: "cluster-barrier-by-halves-of-a-warp", block: 32, grid: "2", cluster: "2", n: 64,
		// The first half arrives for the second round before the second half
		// has waited for the first.
		body: `
	.reg .pred %p;
	setp.lt.u32 %p, %t, 16;
	@%p bra low;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	st.global.u32 [%o], 1;
	st.global.u32 [%o], 2;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	bra fin;
low:
	barrier.cluster.arrive;
	barrier.cluster.wait;
	barrier.cluster.arrive;
	barrier.cluster.wait;
fin:
	st.global.u32 [%o], 3;`,
		want: func(int) uint32 { return 3 },
	},
	{
		name: "wait-on-a-barrier-that-nobody-made", block: 32, stops: true, wantStop: machine.Deadlock,
		body: `
	.reg .pred %p; .shared .b64 bar;
wait:
	mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
	@!%p bra wait;`,
	},
	{
		name: "peek-at-one-wait-for-another", block: 64, stops: true, wantStop: machine.Deadlock,
		// The barrier that warp 0 peeked at completes; the one that it waits
		// for never does.
		body: `
	.reg .pred %p; .reg .b64 %s; .shared .b64 a, b;
	setp.ne.u32 %p, %t, 0;
	@%p bra go;
	mbarrier.init.shared.b64 [a], 32;
	mbarrier.init.shared.b64 [b], 32;
go:
	bar.sync 0;
	setp.ge.u32 %p, %t, 32;
	@%p bra other;
	mbarrier.test_wait.parity.shared.b64 %p, [a], 0;
w0:
	mbarrier.try_wait.parity.shared.b64 %p, [b], 0;
	@!%p bra w0;
	bra fin;
other:
	mbarrier.try_wait.parity.shared.b64 %p, [b], 0;
	mbarrier.arrive.shared.b64 %s, [a];
fin:
	st.global.u32 [%o], 9;`,
	},
	{
		name: "poll-two-flags-in-turn", block: 64,
		body: `
	.reg .pred %p; .reg .b32 %v, %x; .shared .b32 a, b;
	setp.ne.u32 %p, %t, 0;
	@%p bra go;
	st.shared.u32 [a], 0; st.shared.u32 [b], 0;
go:
	bar.sync 0;
	setp.ge.u32 %p, %t, 32;
	@%p bra other;
w0:
	ld.relaxed.cta.shared.u32 %v, [a];
	ld.relaxed.cta.shared.u32 %x, [b];
	and.b32 %v, %v, %x;
	setp.eq.u32 %p, %v, 0;
	@%p bra w0;
	bra fin;
other:
	st.relaxed.cta.shared.u32 [b], 1;
	st.relaxed.cta.shared.u32 [a], 1;
fin:
	st.global.u32 [%o], 4;`,
		want: func(int) uint32 { return 4 },
	},
	{
		name: "poll-flag-then-wait-for-ever", block: 64, stops: true, wantStop: machine.Deadlock,
		body: `
	.reg .pred %p; .reg .b32 %v; .shared .b32 a, b;
	setp.ne.u32 %p, %t, 0;
	@%p bra go;
	st.shared.u32 [a], 0; st.shared.u32 [b], 0;
go:
	bar.sync 0;
	setp.ge.u32 %p, %t, 32;
	@%p bra other;
w0:
	ld.relaxed.cta.shared.u32 %v, [a];
	setp.eq.u32 %p, %v, 0;
	@%p bra w0;
w1:
	ld.relaxed.cta.shared.u32 %v, [b];
	setp.eq.u32 %p, %v, 0;
	@%p bra w1;
	bra fin;
other:
	st.relaxed.cta.shared.u32 [a], 1;
fin:
	st.global.u32 [%o], 4;`,
	},
	{
		name: "lanes-wait-for-different-barriers", block: 64,
		body: `
	.reg .pred %p; .reg .b32 %a, %x; .reg .b64 %s; .shared .b64 bars[2];
	mov.u32 %a, bars;
	setp.ne.u32 %p, %t, 0;
	@%p bra go;
	mbarrier.init.shared.b64 [bars], 32;
	mbarrier.init.shared.b64 [bars+8], 48;
go:
	bar.sync 0;
	setp.ge.u32 %p, %t, 32;
	@%p bra other;
	and.b32 %x, %t, 1;
	mad.lo.u32 %a, %x, 8, %a;
wait:
	mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
	@!%p bra wait;
	@!%p bra fin;
	mbarrier.arrive.shared.b64 %s, [bars+8];
	bra fin;
other:
	mbarrier.arrive.shared.b64 %s, [bars];
	mbarrier.arrive.shared.b64 %s, [bars+8];
fin:
	st.global.u32 [%o], 4;`,
		want: func(int) uint32 { return 4 },
	},
	{
		name: "reduction-read-late", block: 128,
		// Warps 2 and 3 use the barrier again while warps 0 and 1 may not have
		// taken their result yet.
		body: `
	.reg .pred %p; .reg .b32 %v;
	setp.lt.u32 %p, %t, 64;
	@%p bra first;
	bar.sync 2, 96;
	setp.ge.u32 %p, %t, 0;
	bar.red.popc.u32 %v, 1, 64, !%p;
	bra fin;
first:
	setp.ge.u32 %p, %t, 0;
	setp.lt.u32 %p, %t, 32;
	@!%p bra second;
	setp.ge.u32 %p, %t, 0;
	bar.red.popc.u32 %v, 1, 64, %p;
	bra fin;
second:
	setp.ge.u32 %p, %t, 0;
	bar.red.popc.u32 %v, 1, 64, %p;
	bar.arrive 2, 96;
fin:
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 {
			if i < 64 {
				return 64
			}
			return 0
		},
	},
	{
		name: "half-a-warp-exits-while-the-rest-waits", block: 64,
		body: `
	.reg .pred %p, %q; .reg .b32 %v; .shared .b32 x;
	setp.lt.u32 %p, %t, 16;
	@%p bra leave;
	barrier.sync 0;
	setp.lt.u32 %p, %t, 32;
	@!%p bra fin;
	bar.warp.sync -1;
	shfl.sync.idx.b32 %v, %t, 16, 31, -1;
	bra fin;
leave:
	st.shared.u32 [x], 1;
	exit;
fin:
	st.global.u32 [%o], 5;`,
		want: func(i int) uint32 {
			if i < 16 {
				return 0
			}
			return 5
		},
	},
	{
		name: "lanes-of-a-warp-come-to-one-barrier-by-two-roads", block: 64,
		body: `
	.reg .pred %p; .reg .b32 %v; .shared .b32 x[64]; .reg .b32 %a;
	mov.u32 %a, x; mad.lo.u32 %a, %t, 4, %a; st.shared.u32 [%a], %t;
	and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0;
	@%p bra even;
	barrier.sync 3, 64;
	bra join;
even:
	st.global.u32 [%o], 0;
	barrier.sync 3, 64;
join:
	xor.b32 %v, %t, 63; mov.u32 %a, x; mad.lo.u32 %a, %v, 4, %a; ld.shared.u32 %v, [%a];
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u(63 - i) },
	},
	{
		name: "lanes-name-different-barriers", block: 32, stops: true, wantStop: machine.FaultOther, msg: "different barriers",
		body: `	barrier.sync.aligned %t, 32;`,
	},
}

// TestLanesMeet runs kernels whose lanes meet, each in a handful of schedules.
func TestLanesMeet(t *testing.T) {
	for _, c := range lanesThatMeet {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(12) {
				c.checkWithin(t, s, 200_000)
			}
		})
	}
}

// checkWithin is check under a small limit, so that what should be a deadlock
// or an end is not an endless run.
func (c *behaviour) checkWithin(t *testing.T, s explore.Schedule, limit int64) {
	t.Helper()
	r := c.rig(t)
	r.cfg.MaxInstrs = limit
	if !c.stops {
		c.compare(t, r, r.run(s, nil), s)
		return
	}
	m := r.machine(nil)
	explore.Run(m, s, nil)
	c.stopped(t, m, s)
}
