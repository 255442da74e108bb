package machine_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// TestEveryRunEnds holds that no loop escapes both the limit on instructions
// and the recognition of waiting and of circles: only what counts runs to the limit.
func TestEveryRunEnds(t *testing.T) {
	for _, c := range []behaviour{
		{name: "collectives", block: 64, wantStop: machine.Deadlock, body: `
	.reg .pred %p; .reg .b32 %m;
	setp.lt.u32 %p, %t, 16;
	selp.b32 %m, 0xffff, 0xffff0000, %p;
l:	bar.warp.sync %m;
	bra l;`},
		{name: "collectives-apart", block: 32, wantStop: machine.Deadlock, body: `
	.reg .pred %p; .reg .b32 %v;
	setp.lt.u32 %p, %t, 16;
	@%p bra l;
k:	vote.sync.ballot.b32 %v, %p, 0xffff0000;
	bra k;
l:	vote.sync.ballot.b32 %v, %p, 0xffff;
	bra l;`},
		{name: "barriers", block: 64, wantStop: machine.Deadlock, body: `l: bar.sync 0; bra l;`},
		{name: "fences", block: 64, wantStop: machine.Deadlock, body: `l: fence.acq_rel.gpu; bra l;`},
		{name: "calls", block: 32, wantStop: machine.Deadlock, top: `.func f() { ret; }`, body: `l: call f; bra l;`},
		{name: "exchanges", block: 32, wantStop: machine.LimitInstrs, body: `.reg .b32 %v; l: atom.global.add.u32 %v, [%in], 1; bra l;`},
		{name: "copies", block: 32, wantStop: machine.Deadlock, body: `.shared .align 16 .b32 b[4]; .reg .pred %p; setp.ne.u32 %p, %t, 0; @%p exit; l: cp.async.ca.shared.global [b], [%in], 16; cp.async.wait_all; bra l;`},
		{name: "timeouts-that-store", block: 32, wantStop: machine.Deadlock, body: `
	.reg .pred %p; .shared .b64 bar;
	setp.eq.u32 %p, %t, 0;
	@%p mbarrier.init.shared.b64 [bar], 1;
	bar.warp.sync -1;
l:	mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
	st.global.u32 [%o], 1;
	@!%p bra l;`},
		{name: "a-spin-with-a-counter", block: 32, wantStop: machine.Deadlock, body: `
	.reg .pred %p; .reg .b32 %i; .shared .b64 bar;
	mov.u32 %i, 0;
	setp.eq.u32 %p, %t, 0;
	@%p mbarrier.init.shared.b64 [bar], 1;
	bar.warp.sync -1;
l:	mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
	add.u32 %i, %i, 1;
	@!%p bra l;`},
		{name: "two-waits-in-turn", block: 32, wantStop: machine.Deadlock, body: `
	.reg .pred %p, %q; .shared .b64 a, b;
	setp.eq.u32 %p, %t, 0;
	@%p mbarrier.init.shared.b64 [a], 1;
	@%p mbarrier.init.shared.b64 [b], 1;
	bar.warp.sync -1;
l:	mbarrier.test_wait.parity.shared.b64 %p, [a], 0;
	@%p bra o;
	mbarrier.test_wait.parity.shared.b64 %q, [b], 0;
	@%q bra o;
	nanosleep.u32 100;
	bra l;
o:`},
		{name: "a-lock-never-freed", block: 64, wantStop: machine.Deadlock, top: `.global .u32 lock;`, body: `
	.reg .pred %p; .reg .b32 %v;
l:	atom.acquire.gpu.global.exch.b32 %v, [lock], 1;
	setp.ne.u32 %p, %v, 0;
	@%p bra l;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.stops = true
			for _, s := range explore.Handful(3) {
				c.checkWithin(t, s, 100_000)
			}
		})
	}
}

// TestLanesMakeProgress holds that lanes of one warp which wait for each other
// get on, whichever stands first in the program.
func TestLanesMakeProgress(t *testing.T) {
	for _, c := range []behaviour{
		{name: "first-waits-for-last", block: 32, body: `
	.reg .pred %p; .reg .b32 %v; .shared .b32 flag;
	st.volatile.shared.u32 [flag], 0;
	bar.warp.sync -1;
	setp.eq.u32 %p, %t, 31;
	@%p bra set;
l:	ld.acquire.cta.shared.u32 %v, [flag];
	setp.eq.u32 %p, %v, 0;
	@%p bra l;
	bra fin;
set:
	st.release.cta.shared.u32 [flag], 1;
fin:
	st.global.u32 [%o], 1;`, want: func(int) uint32 { return 1 }},
		{name: "each-in-its-turn", block: 32, body: `
	.reg .pred %p; .reg .b32 %v; .shared .b32 turn;
	st.volatile.shared.u32 [turn], 0;
	bar.warp.sync -1;
l:	ld.acquire.cta.shared.u32 %v, [turn];
	setp.ne.u32 %p, %v, %t;
	@%p bra l;
	add.u32 %v, %v, 1;
	st.release.cta.shared.u32 [turn], %v;
	st.global.u32 [%o], %v;`, want: func(i int) uint32 { return u(i + 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(6) {
				c.checkWithin(t, s, 1_000_000)
			}
		})
	}
}
