package machine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// tensorKernel is a body that allocates 64 columns, whose address, with the lanes of the warp,
// is %a, and frees them at its end. %base is the address alone.
func tensorKernel(body string) string {
	return `
	.shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 done; .shared .align 4 .b32 slot;
	.reg .pred %p, %q; .reg .b32 %a, %tm, %l, %v<8>, %r<8>, %m, %n; .reg .b64 %d, %e; .reg .f32 %f;
	setp.ge.u32 %q, %t, 32;
	@%q bra ALLOCATED;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
ALLOCATED:
	setp.ne.u32 %p, %t, 0;
	@!%p mbarrier.init.shared::cta.b64 [done], 1;
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;
	ld.shared.b32 %tm, [slot];
	and.b32 %l, %t, 0x60; shl.b32 %l, %l, 16; add.u32 %a, %tm, %l;` + body + `
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;
	@%q bra FREED;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 64;
FREED:
`
}

// awaited commits and waits.
const awaited = `
	@!%p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %q, [done], 0;
	@!%q bra WAIT;
	setp.ge.u32 %q, %t, 32;
	tcgen05.fence::after_thread_sync;`

// numbered stores 8*t + i to column i of each thread's lane, for i to 7.
const numbered = `
	shl.b32 %n, %t, 3;
	add.u32 %v0, %n, 0; add.u32 %v1, %n, 1; add.u32 %v2, %n, 2; add.u32 %v3, %n, 3;
	add.u32 %v4, %n, 4; add.u32 %v5, %n, 5; add.u32 %v6, %n, 6; add.u32 %v7, %n, 7;
	tcgen05.st.sync.aligned.32x32b.x8.b32 [%a], {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7};
	tcgen05.wait::st.sync.aligned;`

// fenced lets thread 0 go on behind what all stored.
const fenced = `
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;`

// filled makes byte i of the first 4096 of the tile (i/16 mod 16)*16 + i%16, and %d a descriptor of
// rows of 16 bytes, 128 bytes from eight of them to the next.
const filled = `
	mov.u32 %l, tile; shr.u32 %n, %l, 4; cvt.u64.u32 %d, %n; or.b64 %d, %d, 0x400800080000;
	mov.u32 %n, %t;
FILL:
	shl.b32 %v0, %n, 4; add.u32 %v1, %l, %v0; and.b32 %v0, %v0, 0xf0; mul.lo.u32 %v0, %v0, 0x01010101;
	add.u32 %v2, %v0, 0x03020100; add.u32 %v3, %v0, 0x07060504; add.u32 %v4, %v0, 0x0b0a0908; add.u32 %v5, %v0, 0x0f0e0d0c;
	st.shared.v4.b32 [%v1], {%v2, %v3, %v4, %v5};
	add.u32 %n, %n, 32;
	setp.lt.u32 %q, %n, 256; @%q bra FILL;
	setp.ge.u32 %q, %t, 32;
	fence.proxy.async.shared::cta;` + fenced + `
`

var tensorBehaviours = []behaviour{
	{name: "ld.red.max.u32", block: 64,
		body: tensorKernel(numbered + `
	tcgen05.ld.red.sync.aligned.32x32b.x8.max.u32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, %m, [%a];
	tcgen05.wait::ld.sync.aligned;
	sub.u32 %r7, %r7, %r0; mad.lo.u32 %m, %m, 10, %r7; st.global.u32 [%o], %m;`),
		want: func(i int) uint32 { return u(10*(8*i+7) + 7) }},
	{name: "ld.red-of-two-halves", block: 64,
		body: tensorKernel(numbered + `
	tcgen05.ld.red.sync.aligned.16x32bx2.x2.min.s32 {%r0, %r1}, %m, [%a], 5;
	tcgen05.wait::ld.sync.aligned; st.global.u32 [%o], %m;`),
		want: func(i int) uint32 { return u(8*(i&^16) + i>>4&1*5) }},
	{name: "ld.red.abs.NaN", block: 32,
		body: tensorKernel(`
	mov.b32 %v0, 0xc0400000; mov.b32 %v1, 0x40000000; mov.b32 %v2, 0x3f800000; mov.b32 %v3, 0xbf000000;
	setp.eq.u32 %p, %t, 3; @%p mov.b32 %v2, 0x7f800001;
	tcgen05.st.sync.aligned.32x32b.x4.b32 [%a], {%v0, %v1, %v2, %v3};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.NaN.f32 {%r0, %r1, %r2, %r3}, %m, [%a];
	tcgen05.wait::ld.sync.aligned; st.global.u32 [%o], %m;`),
		want: func(i int) uint32 {
			if i == 3 {
				return 0x7fffffff
			}
			return 0x40400000
		}},
	{name: "shift", block: 64,
		body: tensorKernel(numbered + fenced + `
	@!%p tcgen05.shift.cta_group::1.down [%tm];` + awaited + `
	tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%a];
	tcgen05.wait::ld.sync.aligned;
	mad.lo.u32 %r7, %r7, 1000, %r0; st.global.u32 [%o], %r7;`),
		want: func(i int) uint32 {
			if i > 0 && i < 32 {
				i--
			}
			return u(1000*(8*i+7) + 8*i)
		}},
	{name: "shift-of-the-second-warp", block: 64,
		body: tensorKernel(numbered + fenced + `
	add.u32 %l, %tm, 0x200000;
	@!%p tcgen05.shift.cta_group::1.down [%l];` + awaited + `
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%a];
	tcgen05.wait::ld.sync.aligned; st.global.u32 [%o], %r0;`),
		want: func(i int) uint32 {
			if i > 32 {
				i--
			}
			return u(8 * i)
		}},
	{name: "shift-and-a-new-first-row", block: 32, // shift, then cp.4x256b, in a pipeline
		body: tensorKernel(numbered + `
	shl.b32 %n, %t, 2; mov.u32 %l, tile; add.u32 %n, %n, %l;
	add.u32 %m, %t, 5000; st.shared.u32 [%n], %m; st.shared.u32 [%n+128], %m;
	fence.proxy.async.shared::cta;` + fenced + `
	shr.u32 %l, %l, 4; cvt.u64.u32 %d, %l; or.b64 %d, %d, 0x400800080000;
	@!%p tcgen05.shift.cta_group::1.down [%tm];
	@!%p tcgen05.cp.cta_group::1.4x256b [%tm], %d;` + awaited + `
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%a];
	tcgen05.wait::ld.sync.aligned; st.global.u32 [%o], %r0;`),
		want: func(i int) uint32 {
			if i == 0 {
				return 5000
			}
			return u(8 * (i - 1))
		}},
	{name: "cp-of-4-bits", block: 64, // byte i of the tile is 16*(i/16) + i%16; its first eight bytes of sixteen are read
		body: tensorKernel(filled + `
	@!%p tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64 [%tm], %d;` + awaited + `
	tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3}, [%a];
	tcgen05.wait::ld.sync.aligned; st.global.u32 [%o], %r1;`),
		want: func(i int) uint32 { // elements 4 to 7: bytes 2 and 3 of row i
			return u(2 | i%16<<8 | 3<<16 | i%16<<24)
		}},
	{name: "cp-of-6-bits", block: 64,
		body: tensorKernel(filled + `
	@!%p tcgen05.cp.cta_group::1.64x128b.warpx2::01_23.b8x16.b6x16_p32 [%tm], %d;` + awaited + `
	tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3}, [%a];
	tcgen05.wait::ld.sync.aligned; st.global.u32 [%o], %r0;`),
		want: func(i int) uint32 { // elements 0 to 3: bytes 0 to 2 of row i mod 32
			i %= 32
			row := i%16<<4 | (i%16<<4|1)<<8 | (i%16<<4|2)<<16
			return u(row&63 | row>>6&63<<8 | row>>12&63<<16 | row>>18&63<<24)
		}},
	{name: "shift-of-lane-16", block: 32, stops: true, wantStop: machine.FaultTensorLanes, msg: "a multiple of 32",
		body: tensorKernel(`add.u32 %l, %tm, 0x100000; @!%p tcgen05.shift.cta_group::1.down [%l];`)},
	{name: "shift-past-the-last-column", block: 32, stops: true, wantStop: machine.FaultTensorBounds, msg: "columns 505 to 512",
		body: tensorKernel(`add.u32 %l, %tm, 505; @!%p tcgen05.shift.cta_group::1.down [%l];`)},
	{name: "shift-of-columns-that-nobody-allocated", block: 32, stops: true, wantStop: machine.FaultTensorBounds, msg: "column 64",
		body: tensorKernel(`add.u32 %l, %tm, 60; @!%p tcgen05.shift.cta_group::1.down [%l];`)},
}

var unpackBehaviours = []behaviour{
	{name: "ldmatrix-of-4-bits", block: 32,
		body: unpackTile + `
	ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%r0, %r1}, [%a];
	st.global.u32 [%o], %r1;`,
		want: func(i int) uint32 { return unpackedOf(8+i/4, i%4, 4) }},
	{name: "ldmatrix-of-6-bits", block: 32,
		body: unpackTile + `
	ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r0}, [%a];
	st.global.u32 [%o], %r0;`,
		want: func(i int) uint32 { return unpackedOf(i/4, i%4, 6) }},
}

const unpackTile = `
	.shared .align 16 .b8 tile[512]; .reg .b32 %a, %r<8>;
	mov.u32 %a, tile; mad.lo.u32 %a, %t, 16, %a;
	mad.lo.u32 %r0, %t, 0x01234567, 0x89abcdef; add.u32 %r1, %r0, 0x11111111; add.u32 %r2, %r1, 0x31313131; mov.u32 %r3, 0xffffffff;
	st.shared.v4.u32 [%a], {%r0, %r1, %r2, %r3};
	bar.warp.sync -1;`

// unpackedOf has elements 4q to 4q+3 of a row, each of some bits, in a byte each.
func unpackedOf(row, q, bits int) (w uint32) {
	a := uint32(row)*0x01234567 + 0x89abcdef
	b := a + 0x11111111
	stream := fmt.Sprintf("%032b%032b%032b", b+0x31313131, b, a) // the last digit is bit 0
	for e := range 4 {
		end := len(stream) - (4*q+e)*bits
		x, _ := strconv.ParseUint(stream[end-bits:end], 2, 32)
		w |= uint32(x) << (8 * e)
	}
	return w
}

// TestUnpackBehaviours runs ldmatrix of elements of 4 and of 6 bits.
func TestUnpackBehaviours(t *testing.T) {
	for _, c := range unpackBehaviours {
		c.target = "sm_100a"
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(3) {
				c.check(t, s)
			}
		})
	}
}

// TestTensorBehaviours runs what moves data in tensor memory.
func TestTensorBehaviours(t *testing.T) {
	for _, c := range tensorBehaviours {
		c.target = "sm_100a"
		if strings.HasPrefix(c.name, "ld.red") {
			c.target = "sm_103a"
		}
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(3) {
				c.check(t, s)
			}
		})
	}
}
