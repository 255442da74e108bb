package machine_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/launch"
)

// Each case is a small kernel that fills out, u32 by u32, and what must be
// there after every schedule of the handful.
type behaviour struct {
	name string
	// top stands before the entry, body in it; %t is the thread, %o its place
	// in out, .reg declarations of body are its own.
	top, body string
	target    string // sm_90a unless it says otherwise
	grid      string
	block     int
	cluster   string
	shared    string
	n         int
	want      func(i int) uint32
	wantStop  machine.StopKind
	stops     bool
	msg       string
}

const prologue = `.version 9.0
.target sm_90a
.address_size 64
%s
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .b32 %%t, %%c;
	.reg .b64 %%o, %%w, %%in, %%base;
	ld.param.u64 %%base, [out];
	ld.param.u64 %%in, [in];
	mov.u32 %%t, %%ctaid.x;
	mov.u32 %%c, %%ntid.x;
	mad.lo.u32 %%c, %%t, %%c, 0;
	mov.u32 %%t, %%tid.x;
	add.u32 %%c, %%c, %%t;
	mul.wide.u32 %%w, %%c, 4;
	add.u64 %%o, %%base, %%w; {
%s
	} ret;
}
`

func (c *behaviour) rig(t testing.TB) *rig {
	grid, cluster := c.grid, c.cluster
	if grid == "" {
		grid = "1"
	}
	n := c.n
	if n == 0 {
		n = c.block
	}
	fl := launch.Flags{PTX: c.name + ".ptx", Kernel: "k", Grid: grid, Block: fmt.Sprint(c.block), Cluster: cluster, Shared: c.shared,
		Buffers: []string{fmt.Sprintf("out=u32[%d]:zeros", n), "in=u32[1024]:iota"}, Args: []string{"out", "in"}}
	text := fmt.Sprintf(prologue, c.top, c.body)
	if c.target != "" {
		text = strings.Replace(text, "sm_90a", c.target, 1)
	}
	return newRigText(t, fl, []byte(text))
}

func (c *behaviour) check(t *testing.T, s explore.Schedule) {
	r := c.rig(t)
	if !c.stops {
		c.compare(t, r, r.run(s, nil), s)
		return
	}
	m := r.machine(nil)
	explore.Run(m, s, nil)
	c.stopped(t, m, s)
}

// stopped checks that the run ended as the case says.
func (c *behaviour) stopped(t *testing.T, m *machine.Machine, s explore.Schedule) {
	t.Helper()
	st := m.Stopped()
	if st == nil || st.Kind != c.wantStop || !strings.Contains(st.Msg, c.msg) {
		t.Fatalf("%v: stopped with %+v, want kind %d, %q", s, st, c.wantStop, c.msg)
	}
}

// compare checks out.
func (c *behaviour) compare(t *testing.T, r *rig, m *machine.Machine, s explore.Schedule) {
	t.Helper()
	b := r.layout.Buffer("out")
	got := make([]byte, b.Size)
	m.ReadGlobal(b.Base, got)
	for i := range int(b.Size / 4) {
		if v := binary.LittleEndian.Uint32(got[4*i:]); v != c.want(i) {
			t.Fatalf("%v: out[%d] = %d (%#x), want %d", s, i, v, v, c.want(i))
		}
	}
}

func u(v int) uint32 { return uint32(v) }

var behaviours = []behaviour{
	{
		name: "if-else", block: 64,
		body: `
	.reg .pred %p; .reg .b32 %a;
	and.b32 %a, %t, 1;
	setp.eq.u32 %p, %a, 0;
	@%p bra even;
	mul.lo.u32 %a, %t, 3;
	bra.uni join;
even:
	add.u32 %a, %t, 100;
join:
	st.global.u32 [%o], %a;`,
		want: func(i int) uint32 {
			if i%2 == 0 {
				return u(i + 100)
			}
			return u(3 * i)
		},
	},
	{
		name: "loop-trips-differ", block: 64,
		body: `
	.reg .pred %p; .reg .b32 %a, %i;
	mov.u32 %a, 0; mov.u32 %i, 0;
loop:
	add.u32 %a, %a, %i;
	add.u32 %i, %i, 1;
	setp.le.u32 %p, %i, %t;
	@%p bra loop;
	st.global.u32 [%o], %a;`,
		want: func(i int) uint32 { return u(i * (i + 1) / 2) },
	},
	{
		name: "recursion", block: 40,
		top: `.func (.param .b32 r) fact(.param .b32 n)
{
	.reg .pred %p; .reg .b32 %n, %m, %v;
	ld.param.b32 %n, [n];
	setp.lt.u32 %p, %n, 2;
	@%p bra one;
	sub.u32 %m, %n, 1;
	{ .param .b32 a; .param .b32 q;
	st.param.b32 [a], %m;
	call.uni (q), fact, (a);
	ld.param.b32 %v, [q]; }
	mul.lo.u32 %v, %v, %n;
	st.param.b32 [r], %v;
	ret;
one:
	st.param.b32 [r], 1;
	ret;
}`,
		body: `
	.reg .b32 %v, %n;
	and.b32 %n, %t, 7;
	{ .param .b32 a; .param .b32 q;
	st.param.b32 [a], %n;
	call (q), fact, (a);
	ld.param.b32 %v, [q]; }
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return [...]uint32{1, 1, 2, 6, 24, 120, 720, 5040}[i%8] },
	},
	{
		name: "unbounded-recursion", block: 32, stops: true, wantStop: machine.LimitLocal,
		top: `.func f(.param .b32 n)
{
	.reg .b32 %n; .local .b32 x[64];
	ld.param.b32 %n, [n];
	{ .param .b32 a; st.param.b32 [a], %n; call.uni f, (a); }
	ret;
}`,
		body: `{ .param .b32 a; st.param.b32 [a], %t; call.uni f, (a); }`,
	},
	{
		name: "indirect-call", block: 32,
		top: `.func (.reg .b32 r) twice(.reg .b32 n) { add.u32 r, n, n; ret; }
.func (.reg .b32 r) thrice(.reg .b32 n) { mul.lo.u32 r, n, 3; ret; }
.global .u64 table[2] = { twice, thrice };`,
		body: `
	.reg .b32 %a, %v; .reg .b64 %f, %g;
proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
	and.b32 %a, %t, 1;
	mul.wide.u32 %g, %a, 8;
	mov.u64 %f, table;
	add.u64 %f, %f, %g;
	ld.global.u64 %f, [%f];
	call (%v), %f, (%t), proto;
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u(i * (2 + i%2)) },
	},
	{
		name: "jump-table", block: 32,
		body: `
	.reg .b32 %a, %v;
	and.b32 %a, %t, 3;
ts: .branchtargets L0, L1, L2, L3;
	brx.idx %a, ts;
L0: mov.u32 %v, 10; bra fin;
L1: mov.u32 %v, 11; bra fin;
L2: mov.u32 %v, 12; bra fin;
L3: mov.u32 %v, 13;
fin: st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u(10 + i%4) },
	},
	{
		name: "local-array-by-generic-address", block: 32,
		body: `
	.local .align 4 .b32 x[4];
	.reg .b64 %a, %b; .reg .b32 %i, %v;
	mov.u64 %a, x;
	cvta.local.u64 %a, %a;
	and.b32 %i, %t, 3;
	mul.wide.u32 %b, %i, 4;
	add.u64 %b, %a, %b;
	st.local.u32 [x], 7; st.u32 [%a+4], 8; st.u32 [%a+8], 9; st.local.u32 [x+12], %t;
	ld.u32 %v, [%b];
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 {
			if i%4 == 3 {
				return u(i)
			}
			return u(7 + i%4)
		},
	},
	{
		name: "shuffle-across-copies", block: 32,
		// Two copies of one shfl.sync, as a compiler that duplicates a tail
		// makes them: the lanes still meet.
		body: `
	.reg .pred %p; .reg .b32 %a, %v;
	and.b32 %a, %t, 1;
	setp.eq.u32 %p, %a, 0;
	@%p bra even;
	shfl.sync.bfly.b32 %v, %t, 1, 31, -1;
	bra join;
even:
	shfl.sync.bfly.b32 %v, %t, 1, 31, -1;
	add.u32 %v, %v, 100;
join:
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 {
			if i%2 == 0 {
				return u(i + 101)
			}
			return u(i - 1)
		},
	},
	{
		name: "barrier-reductions", block: 128,
		body: `
	.reg .pred %p, %q; .reg .b32 %v, %x;
	setp.lt.u32 %p, %t, 70;
	barrier.red.popc.u32 %v, 1, %p;
	barrier.red.and.pred %q, 2, %p;
	selp.u32 %x, 1000, 0, %q;
	add.u32 %v, %v, %x;
	barrier.red.or.pred %q, 2, 128, %p;
	selp.u32 %x, 2000, 0, %q;
	add.u32 %v, %v, %x;
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 2070 },
	},
	{
		name: "exited-warps-open-the-barrier", block: 96,
		body: `
	.reg .pred %p;
	setp.ge.u32 %p, %t, 64;
	@%p exit;
	bar.sync 0;
	st.global.u32 [%o], 5;`,
		want: func(i int) uint32 {
			if i < 64 {
				return 5
			}
			return 0
		},
	},
	{
		name: "exited-warp-is-nobody's-arrival", block: 160,
		// Four warps meet at a barrier that counts them; the fifth is gone. A
		// warp that was let through and has not run since is still to come.
		body: `
	.reg .pred %p, %q; .reg .b32 %k, %n, %v, %a, %b;
	.shared .b32 slot[128];
	setp.ge.u32 %p, %t, 128;
	@%p exit;
	mov.u32 %v, slot;
	mad.lo.u32 %a, %t, 4, %v;
	add.u32 %b, %t, 32;
	and.b32 %b, %b, 127;
	mad.lo.u32 %b, %b, 4, %v;
	mov.u32 %k, 1;
	mov.u32 %n, 0;
loop:
	st.shared.u32 [%a], %k;
	bar.sync 1, 128;
	ld.shared.u32 %v, [%b];
	setp.eq.u32 %q, %v, %k;
	@%q add.u32 %n, %n, 1;
	bar.sync 1, 128;
	add.u32 %k, %k, 1;
	setp.le.u32 %q, %k, 6;
	@%q bra loop;
	st.global.u32 [%o], %n;`,
		want: func(i int) uint32 {
			if i < 128 {
				return 6
			}
			return 0
		},
	},
	{
		name: "fields-of-a-tensor-map", block: 32,
		body: `
	.reg .pred %p; .reg .b32 %v, %a;
	.shared .align 128 .b8 map[128];
	mov.u32 %v, map;
	mad.lo.u32 %a, %t, 4, %v;
	st.shared.u32 [%a], 0;
	bar.warp.sync -1;
	setp.ne.u32 %p, %t, 0;
	@%p bra read;
	cvt.u64.u32 %w, %v;
	cvta.shared.u64 %w, %w;
	tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], 0x1122334455667780;
	tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%v], 1, 257;
	tensormap.replace.tile.box_dim.b1024.b32 [%w], 2, 17;
	tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, 4096;
	tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 3;
read:
	bar.warp.sync -1;
	ld.shared.u32 %v, [%a];
	st.global.u32 [%o], %v;`,
		// Bit positions: package tma, against the card.
		want: func(i int) uint32 {
			return map[int]uint32{0: 0x55667780, 1: 0x11223344, 2: 3 << 13, 3: 4096 >> 4, 9: 256, 14: 16 << 8}[i]
		},
	},
	{
		name: "spin-on-a-flag", block: 64,
		body: `
	.reg .pred %p; .reg .b32 %v;
	.shared .b32 flag;
	setp.ge.u32 %p, %t, 32;
	@%p bra wait;
	st.relaxed.cta.shared.u32 [flag], 1;
	bra done;
wait:
	ld.relaxed.cta.shared.u32 %v, [flag];
	setp.ne.u32 %p, %v, 1;
	@%p bra wait;
done:
	st.global.u32 [%o], 3;`,
		want: func(int) uint32 { return 3 },
	},
	{
		name: "spin-lock", block: 128,
		body: `
	.reg .pred %p; .reg .b32 %v;
	.shared .b32 lock; .shared .b32 sum;
	setp.ne.u32 %p, %t, 0;
	@%p bra ready;
	st.shared.u32 [lock], 0; st.shared.u32 [sum], 0;
ready:
	bar.sync 0;
take:
	atom.acquire.cta.shared.cas.b32 %v, [lock], 0, 1;
	setp.ne.u32 %p, %v, 0;
	@%p bra take;
	ld.shared.u32 %v, [sum];
	add.u32 %v, %v, 1;
	st.shared.u32 [sum], %v;
	atom.release.cta.shared.exch.b32 %v, [lock], 0;
	bar.sync 0;
	ld.shared.u32 %v, [sum];
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 128 },
	},
	{
		name: "spin-for-ever", block: 32, stops: true, wantStop: machine.Deadlock,
		body: `
	.reg .pred %p; .reg .b32 %v;
wait:
	ld.acquire.gpu.global.u32 %v, [%in];
	setp.eq.u32 %p, %v, 0;
	@%p bra wait;`,
	},
	{
		name: "bounded-spin-with-a-trap", block: 32, stops: true, wantStop: machine.Deadlock,
		body: `
	.reg .pred %p, %q; .reg .b32 %a, %n; .shared .b64 bar;
	mov.u32 %a, bar; mov.u32 %n, 0;
	setp.ne.u32 %p, %t, 0;
	@%p bra wait;
	mbarrier.init.shared.b64 [%a], 1;
wait:
	bar.warp.sync -1;
again:
	add.u32 %n, %n, 1;
	setp.gt.u32 %q, %n, 100;
	@%q trap;
	mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
	@!%p bra again;`,
	},
	{
		name: "bounded-spin-goes-on", block: 32,
		body: `
	.reg .pred %p, %q; .reg .b32 %a, %n; .shared .b64 bar;
	mov.u32 %a, bar; mov.u32 %n, 0;
	setp.ne.u32 %p, %t, 0;
	@%p bra wait;
	mbarrier.init.shared.b64 [%a], 1;
wait:
	bar.warp.sync -1;
again:
	add.u32 %n, %n, 1;
	setp.gt.u32 %q, %n, 100;
	@%q bra fin;
	mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
	@!%p bra again;
fin:
	st.global.u32 [%o], %n;`,
		want: func(int) uint32 { return 101 },
	},
	{
		name: "peek-then-wait", block: 64,
		// The peek fails in most schedules, and what it guards must go on:
		// warp 1 needs warp 0's arrival, which stands after warp 0's peek.
		body: `
	.reg .pred %p, %w; .reg .b32 %a, %b, %tok; .reg .b64 %s; .shared .b64 full; .shared .b64 empty;
	mov.u32 %a, full; mov.u32 %b, empty;
	setp.ne.u32 %p, %t, 0;
	@%p bra go;
	mbarrier.init.shared.b64 [%a], 32;
	mbarrier.init.shared.b64 [%b], 32;
go:
	bar.sync 0;
	setp.ge.u32 %w, %t, 32;
	@%w bra other;
	mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
	mbarrier.arrive.shared.b64 %s, [%b];
	@%p bra fin;
w0:
	mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
	@!%p bra w0;
	bra fin;
other:
	mbarrier.try_wait.parity.shared.b64 %p, [%b], 0;
	@!%p bra other;
	mbarrier.arrive.shared.b64 %s, [%a];
fin:
	st.global.u32 [%o], 9;`,
		want: func(int) uint32 { return 9 },
	},
	{
		name: "wait-with-timeout", block: 64,
		// Clocks are virtual: a timeout does not fire while someone can still
		// complete the phase.
		body: `
	.reg .pred %p, %q; .reg .b32 %a; .reg .b64 %s, %t0, %t1; .shared .b64 full;
	mov.u32 %a, full;
	setp.ne.u32 %p, %t, 0;
	@%p bra go;
	mbarrier.init.shared.b64 [%a], 32;
go:
	bar.sync 0;
	setp.ge.u32 %q, %t, 32;
	@%q bra other;
	mov.u64 %t0, %globaltimer;
wait:
	mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
	@%p bra fin;
	mov.u64 %t1, %globaltimer;
	sub.u64 %t1, %t1, %t0;
	setp.gt.u64 %q, %t1, 4000000000;
	@%q trap;
	nanosleep.u32 20;
	bra wait;
other:
	mbarrier.arrive.shared.b64 %s, [%a];
fin:
	st.global.u32 [%o], 4;`,
		want: func(int) uint32 { return 4 },
	},
	{
		name: "grid-barrier", block: 32, grid: "100", n: 3200,
		top: `.global .b32 count;`,
		body: `
	.reg .pred %p; .reg .b32 %v;
	setp.ne.u32 %p, %t, 0;
	@%p bra meet;
	red.release.gpu.global.add.u32 [count], 1;
spin:
	ld.acquire.gpu.global.u32 %v, [count];
	setp.lt.u32 %p, %v, 100;
	@%p bra spin;
meet:
	bar.sync 0;
	st.global.u32 [%o], 6;`,
		want: func(int) uint32 { return 6 },
	},
	{
		name: "cluster-remote-read", block: 32, grid: "4", cluster: "2", n: 128,
		body: `
	.reg .b32 %a, %v, %r; .shared .b32 x[32];
	mov.u32 %r, %cluster_ctarank;
	mov.u32 %a, x;
	mad.lo.u32 %a, %t, 4, %a;
	mad.lo.u32 %v, %r, 1000, %t;
	st.shared.u32 [%a], %v;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	xor.b32 %r, %r, 1;
	mapa.shared::cluster.u32 %a, %a, %r;
	ld.shared::cluster.u32 %v, [%a];
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	st.global.u32 [%o], %v;`,
		want: func(i int) uint32 { return u((1-i/32%2)*1000 + i%32) },
	},
	{
		name: "brx-out-of-range", block: 32, stops: true, wantStop: machine.FaultOther, msg: "brx.idx with index 9",
		body: `
ts: .branchtargets L0, L1;
	brx.idx 9, ts;
L0: ret;
L1: ret;`,
	},
	{
		name: "misaligned", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: `	.reg .b64 %v; ld.global.u64 %v, [%in+4];`,
	},
	{
		name: "out-of-bounds", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: `	.reg .b64 %v; ld.global.u64 %v, [%in+4096];`,
	},
	{
		name: "shared-out-of-bounds", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: `	.shared .b32 x[32]; st.shared.u32 [x+128], %t;`,
	},
	{
		name: "endless-loop", block: 32, stops: true, wantStop: machine.LimitInstrs,
		body: `l: bra l;`,
	},
	{
		name: "vector-and-narrow", block: 32,
		body: `
	.reg .b16 %h, %g; .reg .b32 %a, %b, %c, %d; .reg .b64 %q;
	ld.global.v4.u32 {%a, %b, %c, %d}, [%in+16];
	ld.global.s8 %h, [%in+4];
	ld.global.nc.u8 %q, [%in+8];
	add.u32 %a, %a, %b;
	add.u32 %a, %a, %c;
	add.u32 %a, %a, %d;
	cvt.u32.u16 %b, %h;
	add.u32 %a, %a, %b;
	cvt.u32.u64 %b, %q;
	add.u32 %a, %a, %b;
	st.global.u32 [%o], %a;`,
		want: func(int) uint32 { return 4 + 5 + 6 + 7 + 1 + 2 },
	},
	{
		name: "dynamic-shared", block: 32, shared: "256",
		top: `.extern .shared .align 16 .b8 dyn[];`,
		body: `
	.reg .b32 %a, %v;
	mov.u32 %a, dyn;
	mad.lo.u32 %a, %t, 4, %a;
	st.shared.u32 [%a], %t;
	bar.warp.sync -1;
	ld.shared.u32 %v, [dyn+124];
	st.global.u32 [%o], %v;`,
		want: func(int) uint32 { return 31 },
	},
}

func TestBehaviour(t *testing.T) {
	for _, c := range behaviours {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "endless-loop" {
				r := c.rig(t)
				r.cfg.MaxInstrs = 10000
				m := r.machine(nil)
				explore.Run(m, explore.Schedule{}, nil)
				if st := m.Stopped(); st == nil || st.Kind != machine.LimitInstrs || r.prog.Pos(st.PC).Line == 0 {
					t.Fatalf("stopped with %+v", st)
				}
				return
			}
			for _, s := range explore.Handful(6) {
				c.check(t, s)
			}
		})
	}
}

// TestCloneAndHash runs every case twice from clones taken at every choice,
// in step with the original, and compares hashes: a clone must not see the
// original's changes nor the other way round.
func TestCloneAndHash(t *testing.T) {
	for _, c := range behaviours {
		if c.stops || c.block > 64 || c.grid == "100" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			m := c.rig(t).machine(nil)
			var buf []machine.Choice
			for n := 0; n < 400; n++ {
				buf = m.Enabled(buf[:0])
				if len(buf) == 0 {
					break
				}
				k := m.Clone()
				before := m.Hash()
				if k.Hash() != before {
					t.Fatal("a clone hashes otherwise")
				}
				if !slices.Equal(k.Enabled(nil), buf) {
					t.Fatal("a clone offers other choices")
				}
				pick := buf[n%len(buf)]
				k.Step(pick)
				if m.Hash() != before {
					t.Fatalf("step %d (%v) of a clone changed the original", n, pick)
				}
				m.Step(pick)
				if m.Hash() != k.Hash() {
					t.Fatalf("step %d (%v) differs between a machine and its clone", n, pick)
				}
			}
			if !m.Done() && m.Stopped() != nil {
				t.Fatalf("stopped: %+v", m.Stopped())
			}
		})
	}
}

func TestClustersOfAGrid(t *testing.T) {
	c := behaviour{name: "grid", block: 32, n: 512}
	r := c.rig(t)
	r.cfg.Grid, r.cfg.Cluster = [3]uint32{4, 4, 1}, [3]uint32{2, 2, 1}
	got := r.machine(nil).Shape().Clusters
	want := []int32{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}
	if !slices.Equal(got, want) {
		t.Errorf("clusters of a 4x4 grid in 2x2: %v, want %v", got, want)
	}
}
