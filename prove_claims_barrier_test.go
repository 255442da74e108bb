package muster_test

func init() { claims = append(claims, barrierClaims...) }

// Claims about named barriers and threads that exit.
var barrierClaims = []claim{
	{name: "right: a warp that leaves after the first of two barriers", proven: true, body: `bar.sync 0;
		setp.eq.u32 %p1, %r3, 1; @%p1 exit;
		bar.sync 0; bar.sync 0;`},
	{name: "right: lanes that leave before the others synchronize", proven: true, body: `
		setp.lt.u32 %p1, %r4, 7; @%p1 exit;
		bar.sync 0; bar.sync 0;`},
	{name: "a warp that leaves, and a count that one instruction gives", body: `
		setp.eq.u32 %p1, %r3, 1; @%p1 bra ONE;
		bar.sync 1; bar.sync 1; bra DONE;
	ONE: bar.sync 1, 64;
	DONE:`},
	{name: "a warp that arrives and leaves", body: `
		setp.eq.u32 %p1, %r3, 1; @%p1 bra ONE;
		bar.sync 1; bar.sync 1; bra DONE;
	ONE: bar.arrive 1, 64;
	DONE:`},
	{name: "a warp that leaves, whose stores another reads after the barrier", body: `
		setp.eq.u32 %p1, %r3, 1; @%p1 bra ONE;
		bar.sync 0; ld.shared.u32 %r8, [buf]; st.global.u32 [%rd1], %r8; bra DONE;
	ONE: st.shared.u32 [buf], 1;
	DONE:`},
}
