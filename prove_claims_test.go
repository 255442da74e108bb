package muster_test

var claims = []claim{
	{name: "right: one producer, one wait", proven: true, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS:
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
		ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a try_wait whose result nobody looks at", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a slow path that does not test again", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
		nanosleep.u32 100;
	GO:	ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a bounded spin that goes on without the phase", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, 0;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
		add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 20; @%p3 bra L;
	GO:	ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "right: a bounded spin that traps", proven: true, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, 0;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
		add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 20; @%p3 bra L;
		trap;
	GO:	ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a slow path that never ends", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
	HANG: bra HANG;
	GO:	ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a test that traps at once", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.test_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra DONE;
		trap;
	DONE:`},
	{name: "SKIP a wait with its sense the wrong way round", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS:
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra L;
	DONE:`},
	{name: "a peek with an access between it and the wait", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		ld.shared.u32 %r8, [buf];
		@%p2 bra GO;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
	GO:
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a peek whose token serves another phase", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, 1; mbarrier.try_wait.parity.shared.b64 %p2, [b0], %r9;
		mov.u32 %r9, 0;
		@%p2 bra GO;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], %r9; @!%p2 bra L;
	GO:
	DONE:`},
	{name: "a slow path on the wrong barrier", body: `INIT(1,1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b1], 0; @!%p2 bra L;
	GO:
	DONE:`},
	{name: "spins counted, through local memory", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, 0; st.local.u32 [loc], %r9;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
		ld.local.u32 %r9, [loc]; add.u32 %r9, %r9, 1; st.local.u32 [loc], %r9;
		bra L;
	GO:	ld.local.u32 %r10, [loc];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a test's result through local memory", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		selp.u32 %r9, 1, 0, %p2; st.local.u32 [loc], %r9;
		ld.local.u32 %r10, [loc];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a test's result through the carry flag", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		selp.u32 %r9, -1, 0, %p2; add.cc.u32 %r10, %r9, 1; addc.u32 %r11, 0, 0;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r11;
	DONE:`},
	{name: "a test's result through a function's registers", decls: `.func (.reg .b32 %q) id(.reg .b32 %a) { mov.b32 %q, %a; ret; }`, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		selp.u32 %r9, 1, 0, %p2; call (%r10), id, (%r9);
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a test's result through a function's parameters", decls: `.func (.param .b32 q) id(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [q], %x; ret; }`, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		selp.u32 %r9, 1, 0, %p2;
		{ .param .b32 pa; .param .b32 pq; st.param.b32 [pa], %r9; call (pq), id, (pa); ld.param.b32 %r10, [pq]; }
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a function that tests and returns it", decls: `.func (.param .b32 q) try(.param .b32 a) { .reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [a];
		mbarrier.try_wait.parity.shared.b64 %p, [%x], 0; selp.u32 %x, 1, 0, %p; st.param.b32 [q], %x; ret; }`, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, b0;
		{ .param .b32 pa; .param .b32 pq; st.param.b32 [pa], %r9; call (pq), try, (pa); ld.param.b32 %r10, [pq]; }
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a function whose register result its slow path sets", decls: `.func (.reg .b32 %q) slow(.reg .b32 %a) { .reg .pred %p; mov.b32 %q, 0;
		L: mbarrier.try_wait.parity.shared.b64 %p, [%a], 0; @%p bra OUT; mov.b32 %q, 1; bra L; OUT: ret; }`, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, b0;
		call (%r10), slow, (%r9);
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "right: a wait in a function", proven: true, decls: `.func wait(.param .b32 a) { .reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [a];
		L: mbarrier.try_wait.parity.shared.b64 %p, [%x], 0; @!%p bra L; ret; }`, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r9, b0;
		{ .param .b32 pa; st.param.b32 [pa], %r9; call wait, (pa); }
		ld.shared.u32 %r10, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "an arrival's token is stored", body: `INIT(64)
		mbarrier.arrive.shared.b64 %rd4, [b0];
		mul.wide.u32 %rd3, %r2, 8; add.u64 %rd3, %rd1, %rd3;
		st.global.u64 [%rd3], %rd4;`},
	{name: "a token's pending count is stored", body: `INIT(64)
		mbarrier.arrive.shared.b64 %rd4, [b0]; mbarrier.pending_count.b64 %r9, %rd4;
		mul.wide.u32 %rd3, %r2, 8; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r9;`},
	{name: "right: arrive and wait by token", proven: true, body: `INIT(64)
		mbarrier.arrive.shared.b64 %rd4, [b0];
	L: mbarrier.test_wait.shared.b64 %p2, [b0], %rd4; @!%p2 bra L;`},
	{name: "a barrier's word is read", body: `INIT(64)
		mbarrier.arrive.shared.b64 _, [b0];
		ld.shared.u64 %rd4, [b0];
		mul.wide.u32 %rd3, %r2, 8; add.u64 %rd3, %rd1, %rd3;
		st.global.u64 [%rd3], %rd4;`},
	{name: "a vote over tests", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		vote.sync.ballot.b32 %r10, %p2, -1;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a predicate through and.pred, not.pred, setp and mov.pred", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		not.pred %p3, %p2; mov.pred %p4, %p3; setp.eq.and.u32 %p5|%p6, %r4, 0, %p4;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		@%p6 st.global.u32 [%rd3], 1;
	DONE:`},
	{name: "a test's result guards a move", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		mov.u32 %r10, 0; @%p2 mov.u32 %r10, 1;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	{name: "a clock is stored", body: `mov.u32 %r9, %clock; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r9;`},
	{name: "a timeout that stores", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u64 %rd5, %globaltimer;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra DONE;
		mov.u64 %rd6, %globaltimer; sub.u64 %rd6, %rd6, %rd5; setp.lt.u64 %p3, %rd6, 1000000; @%p3 bra L;
		st.global.u32 [%rd1], 1;
	DONE:`},
	{name: "a timeout that goes on", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u64 %rd5, %globaltimer;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
		mov.u64 %rd6, %globaltimer; sub.u64 %rd6, %rd6, %rd5; setp.lt.u64 %p3, %rd6, 1000000; @%p3 bra L;
	GO:	ld.shared.u32 %r10, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r10;
	DONE:`},
	// --- atomics
	{name: "atomic additions and one exchange by who added", body: `
		red.relaxed.gpu.global.add.u32 [%rd1], 1;
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		st.relaxed.gpu.global.u32 [%rd1], 5;
	DONE:`},
	{name: "increments with different bounds", body: `
		add.u32 %r9, %r3, 2; setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; 
		red.relaxed.gpu.global.inc.u32 [%rd1], %r9;
	DONE:`},
	{name: "right: additions that commute", proven: true, body: `red.relaxed.gpu.global.add.u32 [%rd1], 1;`},
	{name: "floating-point additions", body: `red.relaxed.gpu.global.add.f32 [%rd1], 0f3F800000;`},
	{name: "a bulk addition and a bulk maximum on one word", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mul.lo.u32 %r9, %r3, 128; mov.u32 %r10, buf; add.u32 %r9, %r9, %r10; st.shared.v4.u32 [%r9], {1,1,1,1}; fence.proxy.async.shared::cta;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra OTHER;
		cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r9], 16; bra W;
	OTHER: cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%rd1], [%r9], 16;
	W: cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
	DONE:`},
	{name: "a bulk addition and an atomic maximum on one word", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mul.lo.u32 %r9, %r3, 128; mov.u32 %r10, buf; add.u32 %r9, %r9, %r10; st.shared.v4.u32 [%r9], {1,1,1,1}; fence.proxy.async.shared::cta;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra OTHER;
		cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r9], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bra DONE;
	OTHER: red.relaxed.gpu.global.max.u32 [%rd1], 3;
	DONE:`},
	{name: "tickets by atom.add", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1;
		mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+64], %r3;
	DONE:`},
	{name: "spinning on a flag", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra OTHER;
		st.global.u32 [%rd1+64], 1; st.release.gpu.global.u32 [%rd1], 1; bra DONE;
	OTHER: ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra OTHER;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;
	DONE:`},
}
