package machine_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// clearing fills 64 words of shared memory, lets thread 0 clear some, and writes all out.
const clearing = `
	.shared .align 16 .b32 a[64]; .reg .pred %p; .reg .b32 %at, %v, %n; .reg .b64 %g, %m;
	mov.u32 %at, a; shl.b32 %v, %t, 2; add.u32 %at, %at, %v;
	add.u32 %v, %t, 1; st.shared.u32 [%at], %v;
	bar.sync 0;
	setp.ne.u32 %p, %t, 0;
	@%p bra after;
	`
const cleared = `
after:
	bar.sync 0;
	ld.shared.u32 %v, [%at]; st.global.u32 [%o], %v;`

// clearedFrom is what remains if st.bulk clears the words from first up to last.
func clearedFrom(first, last int) func(int) uint32 {
	return func(i int) uint32 {
		if i >= first && i < last {
			return 0
		}
		return u(i + 1)
	}
}

const numbersOfLanes = `
	.reg .b32 %i; .reg .f32 %f, %d; .reg .pred %p;
	sub.u32 %i, %t, 10; cvt.rn.f32.s32 %f, %i; `

func always(v uint32) func(int) uint32 { return func(int) uint32 { return v } }

var blackwellBehaviours = []behaviour{
	{name: "st.bulk", block: 64, body: clearing + `st.bulk.weak.shared::cta [a+8], 120, 0;` + cleared, want: clearedFrom(2, 32)},
	{name: "st.bulk-of-nothing", block: 64, body: clearing + `mov.u64 %m, 0; st.bulk.shared::cta [a], %m, 0;` + cleared, want: clearedFrom(0, 0)},
	{name: "st.bulk-by-a-generic-address", block: 64,
		body: clearing + `mov.u64 %g, a; cvta.shared.u64 %g, %g; mov.u32 %n, 64; st.bulk [%g+16], %n, 0;` + cleared, want: clearedFrom(4, 20)},
	{name: "st.bulk-to-the-end", block: 64, body: clearing + `mov.u64 %m, 256; st.bulk [a], %m, 0;` + cleared, want: clearedFrom(0, 64)},
	{name: "st.bulk-beyond-the-end", block: 64, body: clearing + `mov.u64 %m, 264; st.bulk.shared::cta [a], %m, 0;` + cleared,
		stops: true, wantStop: machine.FaultBounds},
	{name: "st.bulk-of-7-bytes", block: 64, body: clearing + `mov.u64 %m, 7; st.bulk.shared::cta [a], %m, 0;` + cleared,
		stops: true, wantStop: machine.FaultAlign, msg: "no multiple of 8"},
	{name: "st.bulk-misaligned", block: 64, body: clearing + `mov.u64 %m, 8; st.bulk.shared::cta [a+4], %m, 0;` + cleared,
		stops: true, wantStop: machine.FaultAlign},
	{name: "st.bulk-to-global-memory", block: 64, body: clearing + `mov.u64 %m, 8; st.bulk [%base], %m, 0;` + cleared,
		stops: true, wantStop: machine.FaultBounds},

	{name: "redux.min.f32", block: 32, body: numbersOfLanes + `redux.sync.min.f32 %d, %f, -1; st.global.f32 [%o], %d;`, want: always(0xc1200000)},
	{name: "redux.max.f32", block: 32, body: numbersOfLanes + `redux.sync.max.f32 %d, %f, -1; st.global.f32 [%o], %d;`, want: always(0x41a80000)},
	{name: "redux.min.abs.f32", block: 32, body: numbersOfLanes + `redux.sync.min.abs.f32 %d, %f, -1; st.global.f32 [%o], %d;`, want: always(0)},
	{name: "redux-of-half-a-warp", block: 32,
		body: numbersOfLanes + `
	setp.lt.u32 %p, %t, 16;
	@%p redux.sync.max.f32 %d, %f, 0xffff;
	@!%p redux.sync.max.f32 %d, %f, 0xffff0000;
	st.global.f32 [%o], %d;`,
		want: func(i int) uint32 {
			if i < 16 {
				return 0x40a00000 // 5
			}
			return 0x41a80000 // 21
		}},
	{name: "redux-passes-over-NaN", block: 32,
		body: numbersOfLanes + `setp.eq.u32 %p, %t, 31; @%p mov.f32 %f, 0f7FC00001; redux.sync.max.f32 %d, %f, -1; st.global.f32 [%o], %d;`, want: always(0x41a00000)},
	{name: "redux-gives-NaN", block: 32,
		body: numbersOfLanes + `setp.eq.u32 %p, %t, 31; @%p mov.f32 %f, 0f7FC00001; redux.sync.max.abs.NaN.f32 %d, %f, -1; st.global.f32 [%o], %d;`, want: always(0x7fffffff)},

	{name: "loads-of-256-bits", block: 32,
		body: `
	.reg .b32 %a<8>; .reg .b64 %q; mul.wide.u32 %q, %t, 32; add.u64 %q, %q, %in;
	ld.global.L1::no_allocate.L2::evict_first.v8.b32 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%q];
	mad.lo.u32 %a0, %a7, 1000, %a0; sub.u32 %a0, %a0, %a3; st.global.u32 [%o], %a0;`,
		want: func(i int) uint32 { return u(1000*(8*i+7) + 8*i - (8*i + 3)) }},
	{name: "loads-of-some-of-256-bits", block: 32,
		body: `
	.reg .b32 %a; .reg .b64 %q, %x; mul.wide.u32 %q, %t, 32; add.u64 %q, %q, %in;
	ld.global.v4.b64 {_, _, %x, _}, [%q]; shr.u64 %x, %x, 32; cvt.u32.u64 %a, %x; st.global.u32 [%o], %a;`,
		want: func(i int) uint32 { return u(8*i + 5) }},
	{name: "stores-of-256-bits", block: 32, n: 256,
		body: `
	.reg .b64 %q, %x; mul.wide.u32 %q, %t, 32; add.u64 %q, %q, %base;
	cvt.u64.u32 %x, %t; add.u64 %x, %x, 0x500000000;
	st.global.v4.u64 [%q], {%x, %x, %x, %x};`,
		want: func(i int) uint32 {
			if i%2 == 1 {
				return 5
			}
			return u(i / 8)
		}},
	{name: "misaligned-256-bits", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: `	.reg .f32 %a; mov.f32 %a, 0f00000000; st.global.v8.f32 [%base+16], {%a, %a, %a, %a, %a, %a, %a, %a};`},
}

// TestBlackwellBehaviours runs what sm_100 adds to memory and warps.
func TestBlackwellBehaviours(t *testing.T) {
	for _, c := range blackwellBehaviours {
		c.target = "sm_100a"
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(3) {
				c.check(t, s)
			}
		})
	}
}
