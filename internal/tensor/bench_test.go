package tensor

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkDot multiplies a 16 × K row block by a K × 8 column block, K in one
// group; the metric counts a multiplication and an addition a product.
func BenchmarkDot(b *testing.B) {
	for _, c := range []struct {
		name string
		rule *Rule
		f    Format
		k    int
	}{{"f16", MMA(F32, F16, F16), F16, 16}, {"f16.f16", MMA(F16, F16, F16), F16, 16}, {"tf32", MMA(F32, TF32, TF32), TF32, 8}, {"e4m3", WGMMARule(F32, E4M3, E4M3), E4M3, 32}} {
		b.Run(c.name, func(b *testing.B) {
			s := source{rand.New(rand.NewPCG(1, 2))}
			rows, cols := make([]Vector, 16), make([]Vector, 8)
			name := map[Format]string{F16: "f16", TF32: "tf32", E4M3: "e4m3"}[c.f]
			for i := range rows {
				for k := range c.k {
					c.rule.AppendA(&rows[i], uint32(s.element(name, 0, k)))
				}
			}
			for i := range cols {
				for k := range c.k {
					c.rule.AppendB(&cols[i], uint32(s.element(name, 0, k)))
				}
			}
			var d [128]uint32
			for b.Loop() {
				for i := range d {
					d[i] = c.rule.Dot(d[i]&0x0fffffff, &rows[i/8], &cols[i%8])
				}
			}
			b.ReportMetric(float64(b.N)*128*float64(c.k)*2/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
