package tensor

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A workload is one instruction's part of a warp: 16 rows, and columns.
type workload struct {
	name string
	rule *Rule
	k    int
	cols int
}

var workloads = []workload{
	{"f16.m16n8k16", MMA(F32, F16, F16), 16, 8},
	{"f16.n256k16", MMA(F32, F16, F16), 16, 256},
	{"bf16.n256k16", MMA(F32, BF16, BF16), 16, 256},
	{"tf32.n256k8", MMA(F32, TF32, TF32), 8, 256},
	{"f16.f16.n256k16", MMA(F16, F16, F16), 16, 256},
	{"e4m3.mma.n8k32", MMA(F32, E4M3, E4M3), 32, 8},
	{"e4m3.n256k32", WGMMARule(F32, E4M3, E4M3), 32, 256},
	{"e4m3.f16.n256k32", WGMMARule(F16, E4M3, E4M3), 32, 256},
	{"s8.m16n8k32", IntRule(S8, S8, false), 32, 8},
	{"s8.n256k32", IntRule(S8, S8, false), 32, 256},
	{"b1.n256k256", BitRule(false), 256, 256},
}

// BenchmarkTile decodes 16 rows of A and the columns of B and multiplies them;
// the metric counts a multiplication and an addition a product. C is of the
// size that a sum of eight instructions has.
func BenchmarkTile(b *testing.B) {
	for _, w := range workloads {
		for _, m := range blends[:3] {
			draw := m.draw
			if w.rule.integer() {
				if m.name != "normal" {
					continue
				}
				draw = anyBits
			}
			b.Run(fmt.Sprintf("%s/%s", w.name, m.name), func(b *testing.B) {
				s := source{rand.New(rand.NewPCG(1, 2))}
				row := func(f Format) []uint32 {
					var v []uint64
					for range w.k {
						v = append(v, uint64(draw(s, f)))
					}
					return packed(v, widthOf[f])
				}
				var x, y [][]uint32
				for range 16 {
					x = append(x, row(w.rule.a))
				}
				for range w.cols {
					y = append(y, row(w.rule.b))
				}
				var pa, pb Panel
				tile := func(d []uint32) {
					pa.ResetA(w.rule, w.k)
					pb.ResetB(w.rule, w.k)
					for _, r := range x {
						pa.AddWords(r)
					}
					for _, r := range y {
						pb.AddWords(r)
					}
					w.rule.Tile(d, &pa, &pb)
				}
				c := make([]uint32, 16*w.cols)
				for range 8 {
					tile(c)
				}
				d := make([]uint32, len(c))
				for b.Loop() {
					copy(d, c)
					tile(d)
				}
				b.ReportMetric(float64(b.N)*float64(16*w.cols*w.k)*2/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

// BenchmarkDot is the same products one by one, K in one group.
func BenchmarkDot(b *testing.B) {
	for _, w := range workloads {
		if w.rule.integer() {
			continue
		}
		for _, m := range blends[:3] {
			b.Run(fmt.Sprintf("%s/%s", w.name, m.name), func(b *testing.B) {
				s := source{rand.New(rand.NewPCG(1, 2))}
				rows, cols := make([]Vector, 16), make([]Vector, w.cols)
				for i := range rows {
					for range w.k {
						w.rule.AppendA(&rows[i], m.draw(s, w.rule.a))
					}
				}
				for i := range cols {
					for range w.k {
						w.rule.AppendB(&cols[i], m.draw(s, w.rule.b))
					}
				}
				d := make([]uint32, 16*w.cols)
				for b.Loop() {
					clear(d)
					for i := range d {
						d[i] = w.rule.Dot(d[i], &rows[i/w.cols], &cols[i%w.cols])
					}
				}
				b.ReportMetric(float64(b.N)*float64(16*w.cols*w.k)*2/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
