package muster_test

func init() { claims = append(claims, flowClaims...) }

// Claims about registers that hold one thing and then another.
var flowClaims = []claim{
	{name: "right: one predicate for the tests of two barriers", proven: true, body: `INIT(1,1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		st.shared.u32 [buf], 7;
		mbarrier.arrive.shared.b64 _, [b0];
	B:	mbarrier.try_wait.parity.shared.b64 %p2, [b1], 0; @!%p2 bra B;
		bra DONE;
	CONS:
	A:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra A;
		ld.shared.u32 %r8, [buf];
		setp.eq.u32 %p2, %r4, 0;
		@%p2 mbarrier.arrive.shared.b64 _, [b1];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "one predicate by one of two tests, and one branch by it", body: `INIT(1,1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		mbarrier.arrive.shared.b64 _, [b1];
		bra DONE;
	CONS: setp.lt.u32 %p3, %r4, 16;
	L:	@%p3 bra FIRST;
		mbarrier.try_wait.parity.shared.b64 %p2, [b1], 0; bra MEET;
	FIRST: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
	MEET: @!%p2 bra L;
	DONE:`},
	{name: "a test's result kept by an instruction that may not write", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0;
		selp.u32 %r9, 1, 0, %p2;
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
		setp.eq.u32 %p3, %r4, 0;
		@%p3 mov.u32 %r9, 5;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r9;
	DONE:`},
	{name: "right: a test's result overwritten", proven: true, body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS:
	L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; selp.u32 %r9, 1, 0, %p2; setp.eq.u32 %p4, %r9, 0; @%p4 bra L;
		mov.u32 %r9, 5;
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
		st.global.u32 [%rd3], %r9;
	DONE:`},
	{name: "right: a parity computed in the loop, in a register that held another", proven: true, body: `INIT(1)
		mov.u32 %r9, 7; mov.u32 %r10, 1;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS:
	L:	xor.b32 %r9, %r10, 1; mbarrier.try_wait.parity.shared.b64 %p2, [b0], %r9; @!%p2 bra L;
	DONE:`},
	{name: "a parity that a failed test changes", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: mov.u32 %r10, 0;
		bra FIRST;
	L:	xor.b32 %r9, %r10, 1; bra TEST;
	FIRST: mov.u32 %r9, 0;
	TEST: mbarrier.try_wait.parity.shared.b64 %p2, [b0], %r9; @!%p2 bra L;
	DONE:`},
}
