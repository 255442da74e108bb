package muster_test

func init() { claims = append(claims, pollClaims...) }

// Claims about waiting for words of memory. Of two warps one lane each takes part:
// A is that of warp 0, B that of warp 1, and C that of warp 2 where there is one.
var pollClaims = []claim{
	{name: "right: a flag that counts up", proven: true, body: two(`
		st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 1; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "right: a flag that is polled by an atomic operation with zero", proven: true, body: two(`
		st.global.u32 [%rd1+64], 5; membar.gl; st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	atom.relaxed.gpu.global.or.b32 %r9, [%rd1], 0; setp.eq.u32 %p2, %r9, 0; @%p2 bra P; membar.gl;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a flag that is polled by an atomic operation that adds", body: two(`
		st.global.u32 [%rd1+64], 5; membar.gl; red.relaxed.gpu.global.add.u32 [%rd1], 64; bra DONE;`, `
	P:	atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; setp.lt.u32 %p2, %r9, 64; @%p2 bra P; membar.gl;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a flag that is polled by an atomic operation, and not fenced", body: two(`
		st.global.u32 [%rd1+64], 5; membar.gl; st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	atom.relaxed.gpu.global.or.b32 %r9, [%rd1], 0; setp.eq.u32 %p2, %r9, 0; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a flag without a release", body: two(`
		st.global.u32 [%rd1+64], 5; st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 1; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a flag without an acquire", body: two(`
		st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.relaxed.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 1; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a flag that is set before the data", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.global.u32 [%rd1+64], 5; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 1; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a flag set by a plain store", body: two(`
		st.global.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 1; @%p2 bra P;`)},
	{name: "a flag that goes on before it need be seen", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd1], 2; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;`)},
	{name: "a flag of two values, either of which ends the wait, and which is used", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd1], 2; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra P; st.global.u32 [%rd1+64], %r9;`)},
	{name: "a flag of two values, the first of which ends the wait before the data is there", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 2; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "right: a flag of two values, and a wait for the second", proven: true, body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 2; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 2; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "right: a flag there and back", proven: true, body: two(`
		st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 1;
	Q:	ld.acquire.gpu.global.u32 %r9, [%rd1+4]; setp.ne.u32 %p2, %r9, 1; @%p2 bra Q;
		st.global.u32 [%rd1+64], 6; st.release.gpu.global.u32 [%rd1], 0; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;
		ld.global.u32 %r10, [%rd1+64]; st.release.gpu.global.u32 [%rd1+4], 1;
	R:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 0; @%p2 bra R;
		ld.global.u32 %r11, [%rd1+64]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd1+128], %r10;`)},
	{name: "a flag there and back, not waited for", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd1], 0; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;`)},
	{name: "right: a flag that two set", proven: true, block: "96", body: three(`
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;`)},
	{name: "right: a count that two add to", proven: true, block: "96", body: three(`
		st.global.u32 [%rd1+64], 5; red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
		st.global.u32 [%rd1+68], 6; red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 2; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; ld.global.u32 %r10, [%rd1+68]; add.u32 %r9, %r9, %r10; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a count that two add to, and a wait for one of them", block: "96", body: three(`
		st.global.u32 [%rd1+64], 5; red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
		st.global.u32 [%rd1+68], 6; red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 1; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; ld.global.u32 %r10, [%rd1+68]; add.u32 %r9, %r9, %r10; st.global.u32 [%rd1+128], %r9;`)},
	{name: "a count that two add different numbers to, which either may reach", block: "96", body: three(`
		red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
		st.global.u32 [%rd1+68], 6; red.release.gpu.global.add.u32 [%rd1], 2; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, 2; @%p2 bra P;
		ld.global.u32 %r10, [%rd1+68]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "right: a count that one adds to and another takes from", proven: true, block: "96", body: three(`
		red.release.gpu.global.add.u32 [%rd1], 2; bra DONE;`, `
		red.release.gpu.global.add.u32 [%rd1], -1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;`)},
	{name: "a wait for the first to come", block: "96", body: three(`
		st.global.u32 [%rd1+64], 5; red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
		red.release.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra P;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;`)},
	{name: "turns counted while they are polled", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `mov.u32 %r10, 0;
	P:	add.u32 %r10, %r10, 1; ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;
		st.global.u32 [%rd1+64], %r10;`)},
	{name: "polls that walk over words", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; add.u64 %rd1, %rd1, 4; setp.ne.u32 %p2, %r9, 0; @%p2 bra P;
		st.global.u64 [%rd2], %rd1;`)},
	{name: "polls that want something else each time", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `mov.u32 %r10, 9;
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, %r10; sub.u32 %r10, %r10, 1; @%p2 bra P;
		st.global.u32 [%rd1+64], %r9;`)},
	{name: "a loop that is entered behind the load", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `ld.relaxed.gpu.global.u32 %r9, [%rd1+4]; bra IN;
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1];
	IN:	setp.ne.u32 %p2, %r9, 1; @%p2 bra P; st.global.u32 [%rd1+64], %r9;`)},
	{name: "a wait that is given up", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; bra DONE;`, `mov.u32 %r10, 0;
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 1; @%p2 bra OUT;
		add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 9; @%p2 bra P;
	OUT: st.global.u32 [%rd1+64], %r9;`)},
	{name: "two who wait for each other", body: two(`
	Q:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra Q;
		st.release.gpu.global.u32 [%rd1+4], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1+4]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;
		st.release.gpu.global.u32 [%rd1], 1;`)},
	{name: "a flag and half of it", body: two(`
		st.release.gpu.global.u16 [%rd1], 1; st.release.gpu.global.u16 [%rd1+2], 1; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra P; st.global.u32 [%rd1+64], %r9;`)},
	{name: "a flag that a copy overwrites", body: two(`
		st.release.gpu.global.u32 [%rd1], 1; st.shared.v4.u32 [buf], {0,0,0,0}; fence.proxy.async;
		cp.async.bulk.global.shared::cta.bulk_group [%rd1], [buf], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;`)},
	{name: "a flag of another CTA's, by a store that is of CTA scope", grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra B;
		st.global.u32 [%rd1+64], 5; st.release.cta.global.u32 [%rd1], 1; bra DONE;
	B:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra B;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;
	DONE:`},
	{name: "right: a flag of the CTA before", proven: true, grid: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r5, 0; @%p1 bra B;
		st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 1; bra DONE;
	B:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra B;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;
	DONE:`},
	{name: "a flag of the CTA after", grid: "2", says: "need not be resident", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.eq.u32 %p1, %r5, 0; @%p1 bra B;
		st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 1; bra DONE;
	B:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra B;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;
	DONE:`},
	{name: "right: a flag of the other CTA of the cluster", proven: true, grid: "2", cluster: "2", body: `
		setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.eq.u32 %p1, %r5, 0; @%p1 bra B;
		st.global.u32 [%rd1+64], 5; st.release.gpu.global.u32 [%rd1], 1; bra DONE;
	B:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra B;
		ld.global.u32 %r9, [%rd1+64]; st.global.u32 [%rd1+128], %r9;
	DONE:`},
	{name: "a flag that says which phase of a barrier is free, before it is", body: two(`
		mbarrier.init.shared.b64 [b0], 1; st.release.gpu.global.u32 [%rd1], 1;
		mbarrier.arrive.shared.b64 _, [b0]; mbarrier.arrive.shared.b64 _, [b0]; bra DONE;`, `
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;
	L:	mbarrier.try_wait.parity.shared.b64 %p3, [b0], 0; @!%p3 bra L;`)},
	{name: "right: a barrier that a flag hands over", proven: true, body: two(`
		mbarrier.init.shared.b64 [b0], 1; st.release.cta.global.u32 [%rd1], 1;
		mbarrier.arrive.shared.b64 _, [b0]; bra DONE;`, `
	P:	ld.acquire.cta.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 1; @%p2 bra P;
	L:	mbarrier.try_wait.parity.shared.b64 %p3, [b0], 0; @!%p3 bra L;`)},
}

func two(a, b string) string {
	return "setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.ne.u32 %p1, %r3, 0; @%p1 bra B;\n" + a + "\n B:\n" + b + "\n DONE:"
}

func three(a, b, c string) string {
	return "setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; setp.eq.u32 %p1, %r3, 1; @%p1 bra B; setp.eq.u32 %p1, %r3, 2; @%p1 bra C;\n" + a + "\n B:\n" + b + "\n C:\n" + c + "\n DONE:"
}
