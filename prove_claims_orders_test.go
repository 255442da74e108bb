package muster_test

func init() { claims = append(claims, orderClaims...) }

// Claims about kernels that are proven, or look as if they could be, by going
// through the orders in which atomics come.
var orderClaims = []claim{
	{name: "right: the last of two to come reads what both wrote", proven: true, body: last("membar.gl;", "membar.gl;", "")},
	{name: "the last of two to come, with nothing before its ticket", body: last("", "membar.gl;", "")},
	{name: "the last of two to come, with nothing after its ticket", body: last("membar.gl;", "", "")},
	{name: "the last of two to come, one of whom has nothing before its ticket", body: last("setp.eq.u32 %p2, %r3, 0; @%p2 bra T; membar.gl; T:", "membar.gl;", "")},
	{name: "the last of two to come, one of whom has nothing after its ticket", body: last("membar.gl;", "setp.eq.u32 %p2, %r3, 0; @%p2 bra U; membar.gl; U:", "")},
	{name: "the last of two to come says who it is", body: last("membar.gl;", "membar.gl;", "st.global.u32 [%rd1+256], %r3;")},
	{name: "right: the last of three to come", proven: true, block: "96", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+64], %r3;
		atom.acq_rel.gpu.global.add.u32 %r9, [%rd1], 1; setp.ne.u32 %p2, %r9, 2; @%p2 bra DONE;
		ld.global.u32 %r10, [%rd1+64]; ld.global.u32 %r11, [%rd1+68]; ld.global.u32 %r12, [%rd1+72];
		add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; st.global.u32 [%rd1+128], %r10;
	DONE:`},
	{name: "the second of three to come", block: "96", body: `
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+64], %r3;
		atom.acq_rel.gpu.global.add.u32 %r9, [%rd1], 1; setp.ne.u32 %p2, %r9, 1; @%p2 bra DONE;
		ld.global.u32 %r10, [%rd1+64]; ld.global.u32 %r11, [%rd1+68]; ld.global.u32 %r12, [%rd1+72];
		add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; st.global.u32 [%rd1+128], %r10;
	DONE:`},
	{name: "right: tiles by ticket", proven: true, body: `setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
	TILE: atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; setp.gt.u32 %p2, %r9, 2; @%p2 bra DONE;
		mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+64], %r9; bra TILE;
	DONE:`},
	{name: "tiles by ticket, one of which is everybody's", body: `setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
	TILE: atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; setp.gt.u32 %p2, %r9, 2; @%p2 bra DONE;
		shr.u32 %r9, %r9, 1; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+64], %r2; bra TILE;
	DONE:`},
	{name: "a ticket for each lane of a warp", body: `atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; setp.ne.u32 %p1, %r9, 63; @%p1 bra DONE;
		st.global.u32 [%rd1+64], 1;
	DONE:`},
	{name: "two words, each asked for what the other's asker has not done yet", says: "outcomes that no interleaving has", body: two(`
		atom.relaxed.gpu.global.exch.b32 %r9, [%rd1], 1; atom.relaxed.gpu.global.or.b32 %r9, [%rd1+4], 0;
		setp.ne.u32 %p2, %r9, 0; @%p2 bra DONE; red.relaxed.gpu.global.add.u32 [%rd1+128], 1; bra DONE;`, `
		atom.relaxed.gpu.global.exch.b32 %r9, [%rd1+4], 1; atom.relaxed.gpu.global.or.b32 %r9, [%rd1], 0;
		setp.ne.u32 %p2, %r9, 0; @%p2 bra DONE; red.relaxed.gpu.global.add.u32 [%rd1+132], 1;`)},
	{name: "a word that is written before a ticket and read after the next, with nothing but the ticket between", body: two(`
		st.relaxed.gpu.global.u32 [%rd1+4], 1; atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; bra DONE;`, `
		atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; setp.eq.u32 %p2, %r9, 0; @%p2 bra DONE;
		ld.relaxed.gpu.global.u32 %r9, [%rd1+4]; setp.eq.u32 %p2, %r9, 1; @%p2 bra DONE; st.global.u32 [%rd1+64], 9;`)},
	{name: "right: a word that is written before a ticket and read after the next, released and acquired", proven: true, body: two(`
		st.relaxed.gpu.global.u32 [%rd1+4], 1; atom.acq_rel.gpu.global.add.u32 %r9, [%rd1], 1; bra DONE;`, `
		atom.acq_rel.gpu.global.add.u32 %r9, [%rd1], 1; setp.eq.u32 %p2, %r9, 0; @%p2 bra DONE;
		ld.relaxed.gpu.global.u32 %r9, [%rd1+4]; setp.eq.u32 %p2, %r9, 1; @%p2 bra DONE; st.global.u32 [%rd1+64], 9;`)},
	{name: "a lock by compare and swap", body: two(`
	A:	atom.acquire.gpu.global.cas.b32 %r9, [%rd1], 0, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra A;
		ld.global.u32 %r9, [%rd1+64]; add.u32 %r9, %r9, 1; st.global.u32 [%rd1+64], %r9; st.release.gpu.global.u32 [%rd1], 0; bra DONE;`, `
	C:	atom.acquire.gpu.global.cas.b32 %r9, [%rd1], 0, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra C;
		ld.global.u32 %r9, [%rd1+64]; add.u32 %r9, %r9, 1; st.global.u32 [%rd1+64], %r9; st.release.gpu.global.u32 [%rd1], 0;`)},
	{name: "tries counted at a word that is swapped", body: two(`
		atom.relaxed.gpu.global.exch.b32 %r9, [%rd1], 1; bra DONE;`, `mov.u32 %r10, 0;
	P:	add.u32 %r10, %r10, 1; atom.relaxed.gpu.global.or.b32 %r9, [%rd1], 0; setp.gt.u32 %p2, %r10, 5; @%p2 bra OUT; setp.eq.u32 %p2, %r9, 0; @%p2 bra P;
	OUT: st.global.u32 [%rd1+64], %r9;`)},
	{name: "a value read once, and stored", body: two(`
		st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;`, `
		ld.relaxed.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; selp.u32 %r9, 3, 4, %p2; st.global.u32 [%rd1+64], %r9;`)},
	{name: "right: a value read once, which makes no difference", proven: true, body: two(`
		st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;`, `
		ld.relaxed.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; selp.u32 %r9, 3, 3, %p2; st.global.u32 [%rd1+64], %r9;`)},
	{name: "a value read once, which says whether to read what may not be there", body: two(`
		st.global.u32 [%rd1+64], 3; st.relaxed.gpu.global.u32 [%rd1], 1; bra DONE;`, `
		ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra DONE; ld.global.u32 %r9, [%rd1+64];`)},
	{name: "additions and a maximum, to one word", says: "unproven", body: two(`
		red.relaxed.gpu.global.add.u32 [%rd1], 1; bra DONE;`, `
		red.relaxed.gpu.global.max.u32 [%rd1], 5;`)},
	{name: "a barrier's phase that depends on who comes first", body: `INIT(1)
		setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE; atom.relaxed.cta.shared.add.u32 %r9, [buf], 1; setp.eq.u32 %p2, %r9, 0; @%p2 bra FIRST;
		mbarrier.arrive.shared.b64 _, [b0]; bra DONE;
	FIRST: setp.eq.u32 %p3, %r3, 1; @%p3 bra DONE;
	L: mbarrier.try_wait.parity.shared.b64 %p2, [b0], 1; @!%p2 bra L;
	DONE:`},
	{name: "one who waits only if it comes first, for what only the other does if it comes second, and not otherwise", body: two(`
		atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; setp.eq.u32 %p2, %r9, 0; @%p2 bra DONE; st.release.gpu.global.u32 [%rd1+4], 1; bra DONE;`, `
		atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1;
	P:	ld.acquire.gpu.global.u32 %r9, [%rd1+4]; setp.eq.u32 %p2, %r9, 0; @%p2 bra P;`)},
}

// last has two warps' first lanes write a word each and take a ticket; the second
// sums them up.
func last(before, after, more string) string {
	return `setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
		mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+64], 7;
		` + before + ` atom.relaxed.gpu.global.add.u32 %r9, [%rd1], 1; ` + after + `
		setp.ne.u32 %p2, %r9, 1; @%p2 bra DONE;
		ld.global.u32 %r10, [%rd1+64]; ld.global.u32 %r11, [%rd1+68]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd1+128], %r10;
		` + more + `
	DONE:`
}
