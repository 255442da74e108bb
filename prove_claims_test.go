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
	{name: "a wait with its sense the wrong way round", body: `INIT(1)
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
	{name: "right: increments with different bounds", proven: true, never: "for every content", body: `
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
	{name: "right: spinning on a flag", proven: true, body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra OTHER;
		st.global.u32 [%rd1+64], 1; st.release.gpu.global.u32 [%rd1], 1; bra DONE;
	OTHER: ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra OTHER;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;
	DONE:`},
	// --- barriers
	{name: "right: a ring of two stages", proven: true, says: "for every content", body: ring("", "")},
	{name: "a consumer lapped by its producer", body: ring("@!%p7", "")},
	{name: "a ring whose phase is wrong after the first wrap", body: ring("", "setp.eq.u32 %p6, %r10, 5; @%p6 xor.b32 %r13, %r13, 1;")},
	{name: "a barrier of one arrival, arrive then wait, and another arrives", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE;
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 1; @!%p2 bra L;
	DONE:`},
	{name: "a wait that a fresh barrier passes", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		mbarrier.arrive.shared.b64 _, [b0]; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS:
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 1; @!%p2 bra L;
	DONE:`},
	{name: "right: all drop, and nobody comes after", proven: true, body: `INIT(2)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive_drop.shared.b64 _, [b0];
	DONE:`},
	{name: "an expect that need not come before the arrival", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra OTHER;
		mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b0], 16;
		mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b0], 16;
		bra DONE;
	OTHER: mbarrier.arrive.shared.b64 _, [b0];
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
	DONE:`},
	{name: "right: an expect with its arrival, bulk copy", proven: true, body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra W;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
	W: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra W;
		shl.b32 %r9, %r2, 2; mov.u32 %r10, buf; add.u32 %r9, %r9, %r10; ld.shared.u32 %r11, [%r9];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r11;`},
	{name: "right: a bulk copy that another expects", proven: true, body: `INIT(2)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra O;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
		mbarrier.arrive.shared.b64 _, [b0]; bra W;
	O:  mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
	W: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra W;
	W2: mbarrier.arrive.shared.b64 _, [b0];
	DONE:`},
	{name: "a wait for one copy that another's bytes pay", body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+256], [%rd2], 256, [b0];
	W: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra W;
		ld.shared.u32 %r9, [buf]; st.global.u32 [%rd1], %r9;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
	W2: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 1; @!%p2 bra W2;
	DONE:`},
	{name: "an inval that races with a wait", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		mbarrier.arrive.shared.b64 _, [b0];
	L0: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L0;
		mbarrier.inval.shared.b64 [b0]; bra DONE;
	CONS:
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
	DONE:`},
	{name: "a barrier initialized again while it is used", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		mbarrier.arrive.shared.b64 _, [b0];
	L0: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L0;
		mbarrier.init.shared.b64 [b0], 1; bra DONE;
	CONS:
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
	DONE:`},
	{name: "a barrier initialized again after an inval, and used by one that need not come after", body: `INIT(1,1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		mbarrier.inval.shared.b64 [b0]; mbarrier.init.shared.b64 [b0], 1; bra DONE;
	CONS: mbarrier.arrive.shared.b64 _, [b0];
	DONE:`},
	{name: "two consumers, one of which frees the slot", body: `INIT(1,1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		mov.u32 %r10, 0;
	P: xor.b32 %r13, %r10, 1;
	P1: mbarrier.try_wait.parity.shared.b64 %p2, [b1], %r13; @!%p2 bra P1;
		mbarrier.arrive.shared.b64 _, [b0];
		add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 2; @%p2 bra P;
		bra DONE;
	CONS: mov.u32 %r10, 0;
	C: mbarrier.try_wait.parity.shared.b64 %p2, [b0], %r10; @!%p2 bra C;
		setp.eq.u32 %p3, %r3, 1; @!%p3 bra N; mbarrier.arrive.shared.b64 _, [b1];
	N:	add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 2; @%p2 bra C;
	DONE:`, block: "96"},
	{name: "the increment of cp.async against an arrival", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		cp.async.ca.shared.global [buf], [%rd2], 16;
		cp.async.mbarrier.arrive.shared.b64 [b0]; bra DONE;
	CONS: mbarrier.arrive.shared.b64 _, [b0];
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
	DONE:`},
	{name: "right: cp.async and its arrival without increment", proven: true, body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra W;
		cp.async.ca.shared.global [buf], [%rd2], 16;
		cp.async.mbarrier.arrive.noinc.shared.b64 [b0];
	W: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra W;
		ld.shared.u32 %r9, [buf]; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r9;`},
	{name: "wait_group 1 where 0 is needed, at the last turn", body: `
		mov.u32 %r10, 0; shl.b32 %r11, %r2, 4; mov.u32 %r12, buf; add.u32 %r11, %r11, %r12; mul.wide.u32 %rd3, %r2, 16; add.u64 %rd3, %rd2, %rd3;
		mul.wide.u32 %rd4, %r2, 4; add.u64 %rd4, %rd1, %rd4; mov.u32 %r14, 0;
	L:	and.b32 %r13, %r10, 1; shl.b32 %r13, %r13, 10; add.u32 %r13, %r13, %r11;
		cp.async.ca.shared.global [%r13], [%rd3], 16; cp.async.commit_group;
		cp.async.wait_group 1;
		setp.eq.u32 %p1, %r10, 0; @%p1 bra N;
		sub.u32 %r15, %r10, 1; setp.eq.u32 %p2, %r10, 3; @%p2 mov.u32 %r15, %r10; and.b32 %r15, %r15, 1; shl.b32 %r15, %r15, 10; add.u32 %r15, %r15, %r11; ld.shared.u32 %r16, [%r15]; add.u32 %r14, %r14, %r16;
	N:	add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 4; @%p1 bra L;
		cp.async.wait_all;
		st.global.u32 [%rd4], %r14;`},
	{name: "tests in scopes that give other registers one name", body: `INIT(1,1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0]; mbarrier.arrive.shared.b64 _, [b1];
		bra DONE;
	CONS: { .reg .b32 %a; mov.u32 %a, b0; mbarrier.try_wait.parity.shared.b64 %p2, [%a], 0; } @%p2 bra GO;
	L:	{ .reg .b32 %a; mov.u32 %a, b1; mbarrier.try_wait.parity.shared.b64 %p2, [%a], 0; } @!%p2 bra L;
	GO:
	DONE:`},
	{name: "an inval that a copy in flight may meet", body: `INIT(1,1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
		mbarrier.arrive.expect_tx.shared.b64 _, [b1], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+256], [%rd2], 256, [b1];
	W:	mbarrier.try_wait.parity.shared.b64 %p2, [b1], 0; @!%p2 bra W;
		mbarrier.inval.shared.b64 [b0];
	DONE:`},
	{name: "a new life that a copy of the last one may meet", body: `INIT(1,1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
		mbarrier.arrive.expect_tx.shared.b64 _, [b1], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+256], [%rd2], 256, [b1];
	W:	mbarrier.try_wait.parity.shared.b64 %p2, [b1], 0; @!%p2 bra W;
		mbarrier.init.shared.b64 [b0], 1;
	DONE:`},
	{name: "right: an inval after the copy", proven: true, body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
	W:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra W;
		mbarrier.inval.shared.b64 [b0];
	DONE:`},
	{name: "a CTA that may leave before a copy to it lands", body: `INIT(1,1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd2], 256, [b0];
		mbarrier.arrive.expect_tx.shared.b64 _, [b1], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+256], [%rd2], 256, [b1];
	W:	mbarrier.try_wait.parity.shared.b64 %p2, [b1], 0; @!%p2 bra W;
	DONE:`},
	{name: "right: st.async to a peer that waits for it", proven: true, grid: "2", cluster: "2", body: `INIT(1)
		barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mov.u32 %r9, b0; mov.u32 %r10, buf; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;
		mapa.shared::cluster.u32 %r9, %r9, 1; mapa.shared::cluster.u32 %r10, %r10, 1;
		st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], 7, [%r9]; bra DONE;
	W:	mbarrier.arrive.expect_tx.shared.b64 _, [b0], 4;
	L:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b0], 0; @!%p2 bra L;
		ld.shared.u32 %r11, [buf]; st.global.u32 [%rd1], %r11;
	DONE:`},
	{name: "st.async of two rounds with no wait between", grid: "2", cluster: "2", body: `INIT(1)
		barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		mov.u32 %r9, b0; mov.u32 %r10, buf; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;
		mapa.shared::cluster.u32 %r9, %r9, 1; mapa.shared::cluster.u32 %r10, %r10, 1;
		st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], 7, [%r9];
		st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10+4], 8, [%r9]; bra DONE;
	W:	mbarrier.arrive.expect_tx.shared.b64 _, [b0], 4;
	L:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b0], 0; @!%p2 bra L;
		ld.shared.u32 %r11, [buf]; st.global.u32 [%rd1], %r11;
		mbarrier.arrive.expect_tx.shared.b64 _, [b0], 4;
	L2:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [b0], 1; @!%p3 bra L2;
		ld.shared.u32 %r11, [buf+4]; st.global.u32 [%rd1+4], %r11;
	DONE:`},
	{name: "right: two rounds of the cluster's barrier, written differently", proven: true, grid: "2", cluster: "2", body: `
		barrier.cluster.arrive.aligned; setp.eq.u32 %p1, %r5, 0; @%p1 bra A; barrier.cluster.wait.aligned; barrier.cluster.arrive.aligned;
	A:	barrier.cluster.wait.aligned;
		@!%p1 bra DONE; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
	DONE:`},
	{name: "a test whose address comes through a parameter of a function that peeks", decls: `.func peek(.param .b32 a) { .reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [a];
		mbarrier.try_wait.parity.shared.b64 %p, [%x], 0; ret; }`, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS: mov.u32 %r9, b0;
		{ .param .b32 pa; st.param.b32 [pa], %r9; call peek, (pa); }
		ld.shared.u32 %r10, [buf]; st.global.u32 [%rd1], %r10;
	DONE:`},
	{name: "right: a function by its address, which a flag gives", proven: true, never: "for every content", decls: `.func f() { ret; } .func g() { ret; }`, body: `
		mov.u64 %rd4, f; mov.u64 %rd5, g; ld.relaxed.gpu.global.u32 %r8, [%rd1]; setp.eq.u32 %p1, %r8, 0; selp.b64 %rd6, %rd4, %rd5, %p1;
		P: .callprototype _ (); call %rd6, (), P;
	`},
	// --- warps
	{name: "one lane waits, the others read", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS: setp.ne.u32 %p3, %r4, 0; @%p3 bra GO;
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
	GO: ld.shared.u32 %r8, [buf]; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "one lane arrives for others that it does not wait for", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		shl.b32 %r9, %r4, 2; mov.u32 %r10, buf; add.u32 %r9, %r9, %r10; st.shared.u32 [%r9], %r4;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS:
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
		shl.b32 %r9, %r4, 2; mov.u32 %r10, buf; add.u32 %r9, %r9, %r10; ld.shared.u32 %r8, [%r9]; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "a named barrier filled by one side alone", body: `
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		bar.arrive 1, 64; bar.arrive 1, 64; bra DONE;
	CONS: bar.sync 1, 64; bar.sync 1, 64;
	DONE:`},
	{name: "a named barrier used again one generation early", body: `
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		st.shared.u32 [buf], 1; bar.sync 1, 64; st.shared.u32 [buf+4], 2; bar.arrive 2, 64; bar.arrive 2, 64; bra DONE;
	CONS: bar.sync 1, 64; ld.shared.u32 %r8, [buf]; bar.sync 2, 64; ld.shared.u32 %r9, [buf+4]; bar.sync 2, 64;
		st.global.u32 [%rd1], %r9;
	DONE:`},
	{name: "right: a warp that leaves before the others synchronize", proven: true, body: `
		setp.eq.u32 %p1, %r3, 1; @%p1 exit;
		bar.sync 0; bar.sync 0;`},
	{name: "right: registers for two warpgroups, one after the other", proven: true, block: "384", body: `INIT(128)
		shr.u32 %r9, %r2, 7; setp.eq.u32 %p1, %r9, 0; @%p1 bra A; setp.eq.u32 %p1, %r9, 1; @%p1 bra B;
		setmaxnreg.dec.sync.aligned.u32 24; bra DONE;
	A:	setmaxnreg.inc.sync.aligned.u32 240;
		mbarrier.arrive.shared.b64 _, [b0]; bar.sync 1, 128; setmaxnreg.dec.sync.aligned.u32 24; bra DONE;
	B:	setmaxnreg.inc.sync.aligned.u32 240;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
		bar.sync 2, 128; setmaxnreg.dec.sync.aligned.u32 24;
	DONE:`},
	{name: "right: registers that two warpgroups take in turn", proven: true, block: "384", body: `shr.u32 %r9, %r2, 7; setp.eq.u32 %p1, %r9, 0; @%p1 bra A; setp.eq.u32 %p1, %r9, 1; @%p1 bra B;
		setmaxnreg.dec.sync.aligned.u32 104; bra DONE;
	A:	setmaxnreg.inc.sync.aligned.u32 200; bar.sync 1, 128; setmaxnreg.dec.sync.aligned.u32 168; bra DONE;
	B:	setmaxnreg.inc.sync.aligned.u32 200; bar.sync 2, 128; setmaxnreg.dec.sync.aligned.u32 168;
	DONE:`},
	{name: "registers that one keeps and another has to wait for", block: "384", says: "register", body: `shr.u32 %r9, %r2, 7; setp.eq.u32 %p1, %r9, 0; @%p1 bra A; setp.eq.u32 %p1, %r9, 1; @%p1 bra B;
		setmaxnreg.dec.sync.aligned.u32 104; bra DONE;
	A:	setmaxnreg.inc.sync.aligned.u32 232; setmaxnreg.dec.sync.aligned.u32 168; bra DONE;
	B:	setmaxnreg.inc.sync.aligned.u32 232;
	DONE:`},
	{name: "registers that each of two takes in two steps", block: "384", body: `shr.u32 %r9, %r2, 7; setp.eq.u32 %p1, %r9, 0; @%p1 bra A; setp.eq.u32 %p1, %r9, 1; @%p1 bra B;
		setmaxnreg.dec.sync.aligned.u32 104; bra DONE;
	A:	setmaxnreg.inc.sync.aligned.u32 200; setmaxnreg.inc.sync.aligned.u32 232; setmaxnreg.dec.sync.aligned.u32 168; bra DONE;
	B:	setmaxnreg.inc.sync.aligned.u32 200; setmaxnreg.inc.sync.aligned.u32 232; setmaxnreg.dec.sync.aligned.u32 168;
	DONE:`},
	// --- control
	{name: "right: a branch by what a buffer holds", proven: true, never: "for every content", body: `
		ld.global.u32 %r8, [%rd2]; setp.eq.u32 %p1, %r8, 0; @%p1 bra DONE; st.global.u32 [%rd1], 1;
	DONE:`},
	{name: "right: a branch by what a buffer holds, in a function of registers", proven: true, never: "for every content", decls: `.func (.reg .b32 %q) f(.reg .b32 %a) { .reg .pred %p; mov.b32 %q, 0; setp.eq.u32 %p, %a, 0; @%p bra OUT; mov.b32 %q, 1; OUT: ret; }`, body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		ld.global.u32 %r8, [%rd2]; call (%r9), f, (%r8); st.global.u32 [%rd1], %r9;
	DONE:`},
	{name: "right: a branch by what a buffer holds, through the carry", proven: true, never: "for every content", body: `
		setp.ne.u32 %p2, %r2, 0; @%p2 bra DONE;
		ld.global.u32 %r8, [%rd2]; add.cc.u32 %r9, %r8, -1; addc.u32 %r10, 0, 0; setp.eq.u32 %p1, %r10, 0; @%p1 bra DONE; st.global.u32 [%rd1], 1;
	DONE:`},
	{name: "right: a parity that a buffer holds", proven: true, never: "for every content", body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		ld.global.u32 %r8, [%rd2]; mbarrier.arrive.shared.b64 _, [b0];
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], %r8; @!%p2 bra L;
	DONE:`},
	{name: "a table of branches by a test", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; selp.u32 %r9, 1, 0, %p2;
	T: .branchtargets A, B;
		brx.idx %r9, T;
	A:	st.global.u32 [%rd1], 1;
	B:
	DONE:`},
	{name: "a loop entered in the middle by a test", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS: mov.u32 %r9, 0; mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra MID;
	TOP: add.u32 %r9, %r9, 1;
	MID: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra TOP;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r9;
	DONE:`},
	{name: "a wait that ends only if the first test is true", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	CONS: mov.u32 %r9, 0;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; setp.eq.and.u32 %p3, %r9, 0, %p2; add.u32 %r9, %r9, 1; @!%p3 bra L;
	DONE:`},
	{name: "a warp's number on its processor", body: `mov.u32 %r9, %warpid; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r9;`},
	{name: "an atomic of shared memory that hands out places", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra I; st.shared.u32 [buf], 0; I: bar.sync 0;
		atom.shared.add.u32 %r9, [buf], 1; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r2;`},
	{name: "right: spinning on a volatile word of shared memory", proven: true, body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra I; st.shared.u32 [buf], 0; I: bar.sync 0;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r3, 0; @%p1 bra O; st.volatile.shared.u32 [buf], 1; bra DONE;
	O:	ld.volatile.shared.u32 %r8, [buf]; setp.eq.u32 %p2, %r8, 0; @%p2 bra O;
	DONE:`},
	{name: "reading a flag once", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r3, 0; @%p1 bra O; st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;
	O:	ld.relaxed.gpu.global.u32 %r8, [%rd1]; st.global.u32 [%rd1+64], %r8;
	DONE:`},
	{name: "lanes that write different values to one word", body: `st.shared.u32 [buf], %r4; bar.sync 0; ld.shared.u32 %r8, [buf]; setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; st.global.u32 [%rd1], %r8;
	DONE:`},
	{name: "right: lanes that write what a buffer holds to one word, in this launch all the same", proven: true, never: "for every content", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r8, [%rd3+1024]; st.global.u32 [%rd1], %r8;
	DONE:`},
	{name: "right: a wait per lane, on barriers of its own", proven: true, body: `INIT(1,1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.gt.u32 %p1, %r4, 1; @%p1 bra DONE;
		shl.b32 %r9, %r4, 3; mov.u32 %r10, b0; add.u32 %r9, %r9, %r10; mbarrier.arrive.shared.b64 _, [%r9]; bra DONE;
	CONS: and.b32 %r9, %r4, 1; shl.b32 %r9, %r9, 3; mov.u32 %r10, b0; add.u32 %r9, %r9, %r10;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0; @!%p2 bra L;
	DONE:`},
	// --- CTAs and clusters
	{name: "clusters: one reads what another writes", grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra O; st.global.u32 [%rd1], 1; bra DONE;
	O:	ld.global.u32 %r8, [%rd1]; st.global.u32 [%rd1+64], %r8;
	DONE:`},
	{name: "clusters: one reads past the caches what another writes", grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra O; st.global.u32 [%rd1], 1; bra DONE;
	O:	ld.global.nc.u32 %r8, [%rd1]; st.global.u32 [%rd1+64], %r8;
	DONE:`},
	{name: "clusters: one copies in bulk what another writes", grid: "2", body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra O; st.global.u32 [%rd1], 1; bra DONE;
	O:	mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd1], 256, [b0];
	W: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra W;
		ld.shared.u32 %r8, [buf]; st.global.u32 [%rd1+1024], %r8;
	DONE:`},
	{name: "clusters: relaxed stores of both to one word", grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; st.relaxed.gpu.global.u32 [%rd1], %r5;
	DONE:`},
	{name: "clusters: a bulk addition of one, a bulk maximum of another", grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		st.shared.v4.u32 [buf], {1,1,1,1}; fence.proxy.async.shared::cta;
		setp.ne.u32 %p1, %r5, 0; @%p1 bra OTHER;
		cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [buf], 16; bra W;
	OTHER: cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%rd1], [buf], 16;
	W: cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
	DONE:`},
	{name: "right: clusters: bulk additions", proven: true, grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		st.shared.v4.u32 [buf], {1,1,1,1}; fence.proxy.async.shared::cta;
		cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [buf], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
	DONE:`},
	{name: "clusters: a store and an atomic of another", grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra O; st.global.u32 [%rd1], 1; bra DONE;
	O:	red.relaxed.gpu.global.add.u32 [%rd1], 1;
	DONE:`},
	{name: "a CTA that leaves before its peer writes to it", grid: "2", cluster: "2", body: `INIT(1)
		barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra DONE;
		mov.u32 %r9, b0; mapa.shared::cluster.u32 %r10, %r9, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];
	DONE:`},
	{name: "right: a CTA that stays until its peer has written", proven: true, grid: "2", cluster: "2", body: `INIT(1)
		barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;
		mov.u32 %r9, b0; mapa.shared::cluster.u32 %r10, %r9, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]; bra DONE;
	W:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b0], 0; @!%p2 bra W;
	DONE:`},
	{name: "a peer's barrier that may not be there yet", grid: "2", cluster: "2", body: `INIT(1)
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;
		mov.u32 %r9, b0; mapa.shared::cluster.u32 %r10, %r9, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]; bra DONE;
	W:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b0], 0; @!%p2 bra W;
	DONE:`},
	{name: "arrivals of two CTAs that may be of either phase", grid: "2", cluster: "2", body: `INIT(1)
		barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
		setp.ne.u32 %p1, %r2, 0; @%p1 bra E; 
		mov.u32 %r9, b0; mapa.shared::cluster.u32 %r10, %r9, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];
		setp.ne.u32 %p1, %r5, 1; @%p1 bra E;
	W:	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b0], 0; @!%p2 bra W;
	E:  bar.sync 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
	DONE:`},
	{name: "a bulk store that nobody waits for", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
		st.shared.v4.u32 [buf], {1,1,1,1}; fence.proxy.async.shared::cta;
		cp.async.bulk.global.shared::cta.bulk_group [%rd1], [buf], 16; cp.async.bulk.commit_group;
	DONE:`},
}

// ring is a ring of two stages over eight turns; free guards the producer's
// wait for a free slot, and wrap stands where the consumer has its phase.
func ring(free, wrap string) string {
	wait := "P1: mbarrier.try_wait.parity.shared.b64 %p3, [%r12+16], %r14; @!%p3 bra P1;"
	if free != "" {
		wait = ""
	}
	return "setp.ne.u32 %p9, %r2, 0; @%p9 bra I; .shared .align 8 .b8 bars[32]; mbarrier.init.shared.b64 [bars], 1; mbarrier.init.shared.b64 [bars+8], 1; mbarrier.init.shared.b64 [bars+16], 1; mbarrier.init.shared.b64 [bars+24], 1; I: bar.sync 0;\n" +
		`	setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; mov.u32 %r10, 0; mov.u32 %r15, buf; mov.u32 %r20, 0;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra C;
	P:	and.b32 %r11, %r10, 1; shr.u32 %r13, %r10, 1; and.b32 %r13, %r13, 1; xor.b32 %r14, %r13, 1; shl.b32 %r12, %r11, 3; mov.u32 %r16, bars; add.u32 %r12, %r12, %r16;
		` + wait + `
		shl.b32 %r17, %r10, 2; add.u32 %r17, %r17, %r15; st.shared.u32 [%r17], %r10;
		mbarrier.arrive.shared.b64 _, [%r12];
		add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, %r1; @%p2 bra P; bra DONE;
	C:	and.b32 %r11, %r10, 1; shr.u32 %r13, %r10, 1; and.b32 %r13, %r13, 1; shl.b32 %r12, %r11, 3; mov.u32 %r16, bars; add.u32 %r12, %r12, %r16;
		` + wrap + `
	C1: mbarrier.try_wait.parity.shared.b64 %p4, [%r12], %r13; @!%p4 bra C1;
		shl.b32 %r17, %r10, 2; add.u32 %r17, %r17, %r15; ld.shared.u32 %r18, [%r17]; add.u32 %r20, %r20, %r18;
		mbarrier.arrive.shared.b64 _, [%r12+16];
		add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, %r1; @%p2 bra C;
		st.global.u32 [%rd1], %r20;
	DONE:`
}
