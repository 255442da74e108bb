package tensor

import "testing"

// BenchmarkWGMMA does the parts of four warps in turn, a new B for every four;
// the metric counts a multiplication and an addition a product.
func BenchmarkWGMMA(b *testing.B) {
	for _, f := range []WGMMAForm{
		{Shape: "m64n128k16", D: "f32", A: "f16", B: "f16"},
		{Shape: "m64n128k16", D: "f32", A: "f16", B: "f16", TransA: true, TransB: true},
		{Shape: "m64n128k32", D: "f32", A: "f16", B: "f16", Sparse: true},
		{Shape: "m64n256k32", D: "f32", A: "e4m3", B: "e4m3"},
		{Shape: "m64n128k32", D: "s32", A: "s8", B: "s8"},
		{Shape: "m64n128k256", D: "s32", A: "b1", B: "b1"},
	} {
		b.Run(f.name(), func(b *testing.B) {
			w, err := NewWGMMA(f)
			if err != nil {
				b.Fatal(err)
			}
			c := wgCase{form: f, seed: 1}
			c.mask, c.or = finite(f.A)
			smem := make([]byte, 1<<16)
			c.read(smemBase, smem[smemBase:])
			read := func(addr uint32, b []byte) { copy(b, smem[addr:]) }
			d := makeDescriptor(1024, 2048, 1024, 0, 1)
			e := makeDescriptor(32768, 2048, 1024, 0, 1)
			acc := make([]*[32]uint32, w.AccRegs())
			for i := range acc {
				acc[i] = new([32]uint32)
			}
			meta := new([32]uint32)
			for i := range meta {
				meta[i] = 0x4e94e49e
			}
			c0 := make([][32]uint32, len(acc))
			am, ao := finite(f.D)
			for i := range c0 {
				for lane := range c0[i] {
					c0[i][lane] = mix(2, uint32(32*i+lane))&am | ao
				}
			}
			warp := 0
			for b.Loop() {
				if warp++; warp == 4 {
					warp = 0
					smem[e.Start()] ^= 1
				}
				for i, r := range acc {
					*r = c0[i]
				}
				w.Compute(warp, acc, nil, uint64(d), uint64(e), meta, true, read)
			}
			k := float64(w.K)
			if f.Sparse {
				k /= 2
			}
			b.ReportMetric(float64(b.N)*2*16*float64(w.N)*k/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			b.ReportAllocs()
		})
	}
}
