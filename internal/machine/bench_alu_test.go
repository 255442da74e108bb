package machine

import "testing"

// BenchmarkALU executes one instruction for a full warp, decoded once, without
// the run loop.
func BenchmarkALU(b *testing.B) {
	for _, code := range []string{
		"mov.u32 %r0, %r1",
		"add.s32 %r0, %r1, %r2",
		"sub.s32 %r0, %r1, %r2",
		"mul.lo.s32 %r0, %r1, %r2",
		"mad.lo.s32 %r0, %r1, 1664525, %r2",
		"and.b32 %r0, %r1, 255",
		"xor.b32 %r0, %r1, %r2",
		"shl.b32 %r0, %r1, 13",
		"shl.b32 %r0, %r1, %r3",
		"shr.u32 %r0, %r1, 17",
		"min.u32 %r0, %r1, %r2",
		"min.s32 %r0, %r1, %r2",
		"lop3.b32 %r0, %r1, %r2, %r3, 0x96",
		"lop3.b32 %r0, %r1, %r2, %r3, 0x1b",
		"shf.l.wrap.b32 %r0, %r1, %r2, 7",
		"bfe.u32 %r0, %r1, 8, 8",
		"prmt.b32 %r0, %r1, %r2, 0x5410",
		"mul.wide.u32 %d0, %r1, 4",
		"add.s64 %d0, %d1, %d2",
		"cvt.u64.u32 %d0, %r1",
		"setp.lt.u32 %p0, %r1, %r2",
		"setp.eq.s32 %p0, %r1, %r2",
		"setp.lt.f32 %p0, %f1, %f2",
		"selp.b32 %r0, %r1, %r2, %p0",
		"cvt.rn.f32.s32 %f0, %r1",
		"cvt.rzi.s32.f32 %r0, %f1",
		"add.f32 %f0, %f1, %f2",
		"mul.f32 %f0, %f1, %f2",
		"fma.rn.f32 %f0, %f1, %f2, %f3",
		"max.f32 %f0, %f1, %f2",
		"mul.ftz.f32 %f0, %f1, %f2",
		"fma.rn.f64 %g0, %g1, %g2, %g3",
		"add.f16x2 %r0, %r4, %r5",
		"fma.rn.f16x2 %r0, %r4, %r5, %r5",
		"cvt.rn.bf16x2.f32 %r0, %f1, %f2",
		"ex2.approx.ftz.f32 %f0, %f1",
	} {
		b.Run(code, func(b *testing.B) { benchInstr(b, code+";", allLanes) })
	}
	b.Run("add.s32, one lane", func(b *testing.B) { benchInstr(b, "add.s32 %r0, %r1, %r2;", 1<<5) })
	b.Run("add.s32, half a warp", func(b *testing.B) { benchInstr(b, "add.s32 %r0, %r1, %r2;", 0xffff) })
	b.Run("add.s32, every other lane", func(b *testing.B) { benchInstr(b, "add.s32 %r0, %r1, %r2;", 0x5555_5555) })
}

func benchInstr(b *testing.B, code string, mask uint32) {
	s := newSnippet(b, code)
	for l := range 32 {
		s.set("r1", l, uint64(0x9e3779b9*uint32(l+1)))
		s.set("r2", l, uint64(0x85ebca6b*uint32(l+1)))
		s.set("r3", l, uint64(l))
		s.set("r4", l, 0x3c003e00)
		s.set("r5", l, 0x40003d00)
		s.set("f1", l, uint64(0x3f800000+uint32(l)*0x1357))
		s.set("f2", l, uint64(0x3fa00000-uint32(l)*0x2468))
		s.set("f3", l, uint64(0x40100000-uint32(l)*0x11))
		s.set("g1", l, 0x3ff0000000000001+uint64(l))
		s.set("g2", l, 0x3ff8000000000003)
		s.set("g3", l, 0x4018000000000001)
		s.set("d1", l, uint64(l)<<40)
		s.set("d2", l, uint64(l))
		s.set("p0", l, uint64(l)&1)
	}
	in := &s.prog.code[0]
	for b.Loop() {
		in.exec(s.x, in, mask)
	}
	b.ReportMetric(float64(b.N)*32/1e6/b.Elapsed().Seconds(), "Mlane/s")
}
