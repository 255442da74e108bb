package muster_test

func init() { claims = append(claims, storeClaims...) }

// Claims about stores of equal values.
var storeClaims = []claim{
	{name: "right: lanes of one store write one constant", proven: true, says: "for every content", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		st.shared.u32 [buf], 7; bar.warp.sync -1; ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "lanes of one store write one constant, and read without meeting", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		st.shared.u32 [buf], 3; bar.warp.sync -1; st.shared.u32 [buf], 7; ld.shared.u32 %r8, [buf];
		mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r8;
	DONE:`},
	{name: "lanes of one store write one constant, one of them another before", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		setp.ne.u32 %p2, %r4, 0; @%p2 bra ALL;
		st.shared.u32 [buf], 3; ld.shared.u32 %r8, [buf];
	ALL: st.shared.u32 [buf], 7;
		@%p2 bra DONE; st.global.u32 [%rd1], %r8;
	DONE:`},
	{name: "one lane of a store is followed, the others are not", body: `INIT(1)
		setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
		st.shared.u32 [buf], 7; setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mbarrier.arrive.shared.b64 _, [b0];
		bra DONE;
	CONS: setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra L;
		st.shared.u32 [buf], 9;
	DONE:`},
	{name: "lanes of one store, twice, with one lane's other value between", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		setp.ne.u32 %p2, %r4, 5;
		st.shared.u32 [buf], 7; @%p2 bra ON; st.shared.u32 [buf], 8;
	ON:	st.shared.u32 [buf], 7;
	DONE:`},
	{name: "right: two warps store the same by one instruction", proven: true, body: `st.shared.u32 [buf], 7; bar.sync 0; ld.shared.u32 %r8, [buf]; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r8;`},
	{name: "right: two warps store the same, in rounds", proven: true, body: `mov.u32 %r9, 0;
	L:	st.shared.u32 [buf], 7; bar.sync 0; st.shared.u32 [buf], %r9; bar.sync 0;
		add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r1; @%p1 bra L;`},
	{name: "two warps store the same, in rounds without a barrier", body: `mov.u32 %r9, 0;
	L:	st.shared.u32 [buf], %r9; bar.warp.sync -1;
		add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r1; @%p1 bra L;`},
	{name: "the same as the last of two", body: `setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r3, 0; @%p1 bra ONE;
		st.shared.u32 [buf], 1; ld.shared.u32 %r8, [buf]; st.shared.u32 [buf], 2; st.global.u32 [%rd1], %r8; bra DONE;
	ONE: st.shared.u32 [buf], 2;
	DONE:`},
	{name: "the same as the last of two, of three warps", block: "96", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.eq.u32 %p1, %r3, 1; @%p1 bra ONE; setp.eq.u32 %p1, %r3, 2; @%p1 bra TWO;
		st.shared.u32 [buf], 2; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	ONE: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra ONE;
		ld.shared.u32 %r8, [buf]; st.shared.u32 [buf], 2; st.global.u32 [%rd1], %r8; bra DONE;
	TWO: st.shared.u32 [buf], 2;
	DONE:`},
	{name: "a reader after one of two who store the same", block: "96", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.eq.u32 %p1, %r3, 1; @%p1 bra ONE; setp.eq.u32 %p1, %r3, 2; @%p1 bra TWO;
		st.shared.u32 [buf], 2; bra DONE;
	ONE: st.shared.u32 [buf], 2; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	TWO: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra TWO;
		ld.shared.u32 %r8, [buf]; st.global.u32 [%rd1], %r8;
	DONE:`},
	{name: "one who writes otherwise after one of two who store the same", block: "96", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.eq.u32 %p1, %r3, 1; @%p1 bra ONE; setp.eq.u32 %p1, %r3, 2; @%p1 bra TWO;
		st.shared.u32 [buf], 2; bra DONE;
	ONE: st.shared.u32 [buf], 2; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	TWO: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra TWO;
		st.shared.u32 [buf], 3;
	DONE:`},
	{name: "the same as another's, after an atomic that nothing orders with it", body: `setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r3, 0; @%p1 bra ONE;
		red.relaxed.cta.shared.add.u32 [buf], 1; st.shared.u32 [buf], 2; bra DONE;
	ONE: st.shared.u32 [buf], 2;
	DONE:`},
	{name: "equal halves, stored as one word and as two", body: `setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r3, 0; @%p1 bra ONE;
		st.shared.v2.u32 [buf], {1, 1}; bra DONE;
	ONE: st.shared.u32 [buf], 1; st.shared.u32 [buf+4], 2; st.shared.u32 [buf+4], 1;
	DONE:`},
	{name: "lanes that parted store the same by one instruction", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		setp.ne.u32 %p2, %r4, 0; @%p2 bra ALL;
		st.shared.u32 [buf], 5; ld.shared.u32 %r8, [buf]; st.global.u32 [%rd1], %r8;
	ALL: st.shared.u32 [buf], 7;
	DONE:`},
	{name: "lanes that store what matrices gave, alike only where that is left out", body: `
		setp.gt.u32 %p1, %r2, 31; @%p1 bra DONE;
		mov.b32 %r8, 0; cvt.rn.f32.u32 %f1, %r4; cvt.rn.f16.f32 %h1, %f1; mov.b32 %r9, {%h1, %h1};
		mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r9,%r9}, {%r9}, {%f1,%f1,%f1,%f1};
		st.shared.f32 [buf], %f1;
	DONE:`, decls: ""},
}
