package num

import "testing"

// operands are ordinary normals, so that the short paths are what is timed.
func operands() (a [256]uint32) {
	g := newSource(42)
	for i := range a {
		a[i] = uint32(g.IntN(20)+118)<<23 | g.Uint32()&0x7fffff
	}
	return a
}

var sink uint32

func TestNothingAllocates(t *testing.T) {
	form := Video{Op: VShl, Sat: true}
	if n := testing.AllocsPerRun(100, func() {
		sink += FmaF32(RM, FTZ, sink, 0x3f800001, 7)
		sink += uint32(FmaF64(RP, uint64(sink)<<20, 0x3ff<<52+1, 9))
		sink += uint32(SqrtF64(RZ, uint64(sink)<<30|1))
		sink += Lop3(0x96, sink, 3, 5) + RsqrtF32(FTZ, sink) + form.Eval(sink, 3, 0)
		sink += uint32(Cvt(E5M2, F32, RN, SatFinite, uint64(sink))) + TanhF16x2(sink)
		sink += uint32(RcpApproxF64(uint64(sink) << 32))
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func bench(b *testing.B, f func(x, y, z uint32) uint32) {
	a := operands()
	for i := 0; b.Loop(); i++ {
		sink += f(a[i&255], a[(i+1)&255], a[(i+2)&255])
	}
}

func BenchmarkAddRN(b *testing.B) {
	a := operands()
	for i := 0; b.Loop(); i++ {
		sink += AddRN(a[i&255], a[(i+1)&255])
	}
}

func BenchmarkFmaRN(b *testing.B) {
	a := operands()
	for i := 0; b.Loop(); i++ {
		sink += FmaRN(a[i&255], a[(i+1)&255], a[(i+2)&255])
	}
}

func BenchmarkFmaRZ(b *testing.B) {
	bench(b, func(x, y, z uint32) uint32 { return FmaF32(RZ, 0, x, y, z) })
}

func BenchmarkF32ToF16(b *testing.B) {
	a := operands()
	for i := 0; b.Loop(); i++ {
		sink += uint32(F32ToF16(a[i&255]))
	}
}

func BenchmarkCvtF16F32(b *testing.B) {
	bench(b, func(x, _, _ uint32) uint32 { return uint32(Cvt(F16, F32, RN, 0, uint64(x))) })
}

func BenchmarkCvtS32F32(b *testing.B) {
	bench(b, func(x, _, _ uint32) uint32 { return uint32(Cvt(S32, F32, RZI, 0, uint64(x))) })
}

func BenchmarkCvtE4M3x2(b *testing.B) {
	bench(b, func(x, y, _ uint32) uint32 { return CvtPack2(E4M3, RN, SatFinite, x, y) })
}

func BenchmarkFmaF16x2(b *testing.B) {
	bench(b, func(x, y, z uint32) uint32 { return FmaF16x2(0, x&0x3fff3fff, y&0x3fff3fff, z&0x3fff3fff) })
}

func BenchmarkFmaBF16x2(b *testing.B) {
	bench(b, func(x, y, z uint32) uint32 { return FmaBF16x2(0, x, y, z) })
}

func BenchmarkFmaRZF64(b *testing.B) {
	bench(b, func(x, y, z uint32) uint32 {
		return uint32(FmaF64(RZ, 0x3ff<<52|uint64(x), 0x400<<52|uint64(y)<<20, 0x3fe<<52|uint64(z)<<9))
	})
}

func BenchmarkLop3(b *testing.B) {
	bench(b, func(x, y, z uint32) uint32 { return Lop3(0x96, x, y, z) })
}
