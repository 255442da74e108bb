package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/ptx"
)

var memoryBehaviours = []behaviour{
	{
		name: "cluster-address-out-of-this-world", block: 32, stops: true, wantStop: machine.FaultBounds,
		// Bits above the window's must not be taken for a CTA's rank.
		body: `
	.reg .b64 %a;
	mov.u64 %a, 0x0080000000000400;
	st.shared::cluster.u32 [%a], %t;`,
	},
	{
		name: "cluster-address-that-wraps", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: `
	.shared .b32 x[32];
	.reg .b64 %a;
	mov.u64 %a, 0x0100000000000400;
	st.shared::cluster.u32 [%a], %t;`,
	},
	{
		name: "atomic-on-a-cluster-address-out-of-this-world", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: `
	.reg .b64 %a; .reg .b32 %v;
	mov.u64 %a, 0x0080000000000400;
	atom.shared::cluster.add.u32 %v, [%a], 1;`,
	},
	{
		name: "vector-registers", block: 32,
		body: `
	.reg .v4 .b32 V; .reg .v2 .b32 W; .reg .b32 %a;
	ld.global.v4.b32 V, [%in+16];
	add.u32 %a, V.x, V.g;
	add.u32 %a, %a, V.b;
	add.u32 %a, %a, V.w;
	mov.b32 W.x, %a; mov.b32 W.y, 100;
	and.b32 %c, %t, 1;
	st.shared.v2.b32 [sh], W;
	ld.shared.v2.b32 W, [sh];
	add.u32 %a, W.r, W.g;
	st.global.u32 [%o], %a;`,
		top:  `.shared .align 8 .b32 sh[2];`,
		want: func(int) uint32 { return 4 + 5 + 6 + 7 + 100 },
	},
	{
		name: "rows-of-an-initializer-fill-up-with-zeros", block: 32,
		top: `.global .u32 g[3][4] = { {1, 2}, {3}, {4, 5, 6, 7} };
.const .u32 c[][2] = { {10}, {11, 12} };
.global .s8 b[4] = { -1, 2 };
.global .f32 f[2] = { 1.5, 0f40000000 };
.global .u64 p[2] = { generic(g) + 16, g + 4 };`,
		body: `
	.reg .b32 %a, %b; .reg .b64 %p; .reg .f32 %f, %h;
	ld.global.u32 %a, [g+16];        // 3
	ld.global.u32 %b, [g+8];         // 0
	mad.lo.u32 %a, %b, 1000, %a;
	ld.global.u32 %b, [g+44];        // 7
	mad.lo.u32 %a, %b, 10, %a;
	ld.const.u32 %b, [c+8];          // 11
	mad.lo.u32 %a, %b, 100, %a;
	ld.global.s8 %b, [b];            // -1
	sub.u32 %a, %a, %b;
	ld.global.f32 %f, [f]; ld.global.f32 %h, [f+4];
	add.f32 %f, %f, %h;
	cvt.rzi.u32.f32 %b, %f;          // 3
	add.u32 %a, %a, %b;
	ld.global.u64 %p, [p];
	ld.u32 %b, [%p];                 // 3
	mad.lo.u32 %a, %b, 10000, %a;
	ld.global.u64 %p, [p+8];
	ld.global.u32 %b, [%p];          // 2
	mad.lo.u32 %a, %b, 100000, %a;
	st.global.u32 [%o], %a;`,
		want: func(int) uint32 { return 3 + 70 + 1100 + 1 + 3 + 30000 + 200000 },
	},
	{
		name: "immediate-arguments", block: 32,
		top: `.func (.reg .b32 r) hi(.reg .b64 n) { .reg .b64 %x; shr.u64 %x, n, 32; cvt.u32.u64 r, %x; ret; }
.func (.reg .b32 r) lo(.param .b64 n) { ld.param.b32 r, [n+4]; ret; }
.func (.reg .b32 r) flo(.reg .f32 n) { mov.b32 r, n; ret; }`,
		body: `
	.reg .b32 %v, %x;
	call (%v), hi, (-2);
	call (%x), lo, (-2);
	add.u32 %v, %v, %x;
	call (%x), flo, (0f3F800000);
	add.u32 %v, %v, %x;
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 0x3f800000 - 2 },
	},
	{
		name: "which-space", block: 32,
		body: `
	.reg .b64 %a, %b; .reg .pred %p, %q, %r; .reg .b32 %v, %x; .shared .b32 sh; .local .b32 lo;
	mov.u64 %a, in;
	cvta.param.u64 %b, %a;
	isspacep.param %p, %b;
	isspacep.global %q, %b;
	isspacep.shared %r, %b;
	selp.b32 %v, 1, 0, %p;
	selp.b32 %x, 2, 0, %q; add.u32 %v, %v, %x;
	selp.b32 %x, 4, 0, %r; add.u32 %v, %v, %x;
	mov.u64 %a, sh; cvta.shared.u64 %a, %a;
	isspacep.shared %p, %a; isspacep.shared::cluster %q, %a; isspacep.global %r, %a;
	selp.b32 %x, 8, 0, %p; add.u32 %v, %v, %x;
	selp.b32 %x, 16, 0, %q; add.u32 %v, %v, %x;
	selp.b32 %x, 32, 0, %r; add.u32 %v, %v, %x;
	cvta.local.u64 %a, lo;
	isspacep.local %p, %a; isspacep.global %r, %a;
	selp.b32 %x, 64, 0, %p; add.u32 %v, %v, %x;
	selp.b32 %x, 128, 0, %r; add.u32 %v, %v, %x;
	cvta.to.global.u64 %b, %b;
	ld.global.u64 %a, [%b];
	setp.eq.u64 %p, %a, %in;
	selp.b32 %x, 256, 0, %p; add.u32 %v, %v, %x;
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 1 + 2 + 8 + 16 + 64 + 256 },
	},
	{
		name: "jump-tables-of-nested-blocks", block: 32,
		body: `
	.reg .b32 %v, %i;
	and.b32 %i, %t, 1;
	{
	ts: .branchtargets A0, A1;
		{
		ts: .branchtargets B0, B1;
			brx.idx %i, ts;
		B0: mov.u32 %v, 1; bra B2;
		B1: mov.u32 %v, 2;
		B2:
		}
		brx.idx %i, ts;
	A0: add.u32 %v, %v, 10; bra A2;
	A1: add.u32 %v, %v, 20;
	A2:
	}
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u(11 * (1 + i%2)) },
	},
	{
		name: "a-register-named-like-another-kernel", block: 32,
		top: `.visible .entry other(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }`,
		body: `
	.reg .b32 other;
	add.u32 other, %t, 1;
	st.global.u32 [%o], other;`,
		want: func(i int) uint32 { return u(i + 1) },
	},
	{
		name: "a-function-by-its-alias", block: 32,
		top: `.func (.reg .b32 r) twice(.reg .b32 n) { add.u32 r, n, n; ret; }
.func (.reg .b32 r) second(.reg .b32 n);
.alias second, twice;`,
		body: `	.reg .b32 %v; call (%v), second, (%t); st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u(2 * i) },
	},
	{
		name: "misaligned-parameter", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: `	.reg .b64 %v; ld.param.u64 %v, [out+4];`,
	},
	{
		name: "registers-of-deep-recursion-are-bounded", block: 32, stops: true, wantStop: machine.LimitLocal,
		top:  `.func f() { .reg .b32 %r<1000>; call.uni f; ret; }`,
		body: `	call.uni f;`,
	},
	{
		name: "sign-extension", block: 32,
		body: `
	.reg .b64 %q; .reg .b32 %v, %x; .reg .b16 %h;
	.local .align 8 .b32 l[2]; st.local.u32 [l], 0x8081ff80;
	ld.local.s8 %q, [l];      shr.u64 %q, %q, 40; cvt.u32.u64 %v, %q;    // 0xffffff
	ld.local.s16 %x, [l+2];   add.u32 %v, %v, %x;                        // 0xffff8081
	ld.local.s32 %q, [l];     shr.u64 %q, %q, 32; cvt.u32.u64 %x, %q; add.u32 %v, %v, %x; // 0xffffffff
	ld.local.u32 %q, [l];     shr.u64 %q, %q, 32; cvt.u32.u64 %x, %q; add.u32 %v, %v, %x; // 0
	ld.local.s8 %h, [l+1];    cvt.u32.u16 %x, %h; add.u32 %v, %v, %x;     // 0xffff
	ld.local.b8 %h, [l+3];    cvt.s32.s16 %x, %h; add.u32 %v, %v, %x;     // 0x80
	st.global.u32 [%o], %v;`,

		want: func(int) uint32 {
			v := uint32(0xffffff)
			v += 0xffff8081
			v += 0xffffffff
			v += 0xffff + 0x80
			return v
		},
	},
}

// TestMemoryAndFunctions runs kernels that address memory, name variables and call
// functions in ways that are seldom used.
func TestMemoryAndFunctions(t *testing.T) {
	for _, c := range memoryBehaviours {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(3) {
				c.checkWithin(t, s, 1_000_000)
			}
		})
	}
}

// TestRefused holds the decoder to an error with a position where a kernel
// cannot be right.
func TestRefused(t *testing.T) {
	for name, c := range map[string]behaviour{
		"call through a narrow register": {top: `.func f() { ret; }`,
			body: `.reg .b32 %f; p: .callprototype _ (); mov.u32 %f, 0; call %f, (), p;`},
		"call through a predicate":         {body: `.reg .pred %f; p: .callprototype _ (); call %f, (), p;`},
		"128 bits from an immediate":       {body: `st.global.b128 [%o], 1;`},
		"128 bits from a special register": {body: `.reg .b128 %q; mov.b128 %q, %tid.x;`},
		"a formal larger than a stack": {top: `.func f(.param .b8 n[5000000000]) { ret; }`,
			body: `{ .param .b8 a[8]; call f, (a); }`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeText(name, fmt.Sprintf(prologue, c.top, c.body))
			var de *machine.DecodeError
			if !errors.As(err, &de) || de.Pos.Line == 0 {
				t.Fatalf("decoded with %v", err)
			}
		})
	}
}

func decodeText(name, src string) (*machine.Program, error) {
	m, err := ptx.Parse(name, []byte(src))
	if err != nil {
		return nil, err
	}
	return machine.Decode(m, "k")
}

// TestFrameBeyondLimit holds that a frame of the entry that exceeds the limit
// on local memory is refused, and not laid out over other lanes' memory.
func TestFrameBeyondLimit(t *testing.T) {
	c := behaviour{name: "frame", block: 32,
		top:  `.func f(.param .b8 n[8]) { ret; }`,
		body: `.local .b8 big[600000]; { .param .b8 a[8]; call f, (a); }`}
	r := c.rig(t)
	if _, err := machine.New(r.cfg); err == nil || !strings.Contains(err.Error(), "local memory") {
		t.Fatalf("made a machine: %v", err)
	}
}

func TestPrintf(t *testing.T) {
	c := behaviour{name: "printf", block: 1, body: `
	.local .align 8 .b8 l[64]; .local .align 8 .b8 s[8]; .reg .b64 %a, %f; .reg .b32 %n;
	st.local.u32 [l], -5; st.local.u64 [l+8], 123456789012;
	st.local.f64 [l+16], 0d3FB99999A0000000; st.local.f64 [l+24], 0d7FF0000000000000;
	cvta.local.u64 %a, s; st.local.u64 [l+32], %a;
	st.local.u32 [s], 0x6b6f;
	st.local.u32 [l+40], 6; st.local.u32 [l+44], 42;
	st.local.u64 [l+48], 7; st.local.u32 [l+56], 65;
	cvta.local.u64 %a, l;
	cvta.global.u64 %f, fmt;
	{ .param .b64 p0; .param .b64 p1; .param .b32 r;
	st.param.b64 [p0], %f; st.param.b64 [p1], %a;
	call.uni (r), vprintf, (p0, p1); }`,
		top: `.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 fmt[48] = {` + bytesOf("%d %lu %g %f %s|%*d|%zu %c 100%%\n") + `};`}
	m := c.rig(t).run(explore.Schedule{}, nil)
	if got, want := string(m.Output()), "-5 123456789012 0.1 inf ok|    42|7 A 100%\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func bytesOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%d, ", s[i])
	}
	return b.String() + "0"
}

// TestScanOfStrongLoads holds that reading much memory by strong loads, which
// is not waiting, takes time in proportion.
func TestScanOfStrongLoads(t *testing.T) {
	c := behaviour{name: "scan", block: 32, body: `
	.reg .pred %p; .reg .b64 %a; .reg .b32 %i, %v, %s;
	mov.u32 %i, 0; mov.u32 %s, 0;
loop:
	mad.lo.u32 %v, %i, 32, %t;
	and.b32 %v, %v, 1023;
	mul.wide.u32 %a, %v, 4;
	add.u64 %a, %in, %a;
	ld.volatile.global.u32 %v, [%a];
	add.u32 %s, %s, %v;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 4096;
	@%p bra loop;
	st.global.u32 [%o], %s;`}
	start := time.Now()
	m := c.rig(t).run(explore.Schedule{}, nil)
	if d := time.Since(start); d > 5*time.Second {
		w, _ := m.Instrs()
		t.Errorf("%d instructions took %v", w, d)
	}
}
