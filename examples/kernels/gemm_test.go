package kernels_test

import (
	"context"
	"fmt"
	"testing"

	"muster"
	"muster/examples/kernels"
	"muster/kernel"
)

// small are launches that the machine checks in a second: two CTAs that are a
// cluster and take two tiles, and ones whose matrices end within a tile.
var small = []kernels.GEMM{
	{M: 256, N: 512, K: 256, Type: kernel.F16, CTAs: 2},
	{M: 256, N: 128, K: 384, Type: kernel.BF16, CTAs: 2, TileN: 128, Stages: 3},
	{M: 512, N: 192, K: 200, Type: kernel.F16, CTAs: 4, TileN: 192, Cluster: 4},
	{M: 200, N: 96, K: 72, Type: kernel.F16, CTAs: 1, TileN: 64, Cluster: 1, Stages: 2},
}

func TestGEMM(t *testing.T) {
	for _, g := range small {
		t.Run(fmt.Sprintf("%dx%dx%d_%s", g.M, g.N, g.K, g.Type), func(t *testing.T) {
			a, b, c := inputs(g, g.M*g.K, 1), inputs(g, g.N*g.K, 2), make([]uint16, g.M*g.N)
			call, err := g.Call(a, b, c)
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadCall(call, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Check(context.Background(), muster.CheckOptions{Prove: true, Jobs: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != "clean" || r.Proof == nil || !r.Proof.All {
				t.Errorf("%s", r.Summary)
				for _, f := range r.Findings {
					t.Errorf("%+v", f)
				}
			}
			run, err := l.Run(context.Background(), muster.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := call.Take(run.Buffer); err != nil {
				t.Fatal(err)
			}
			check(t, g, a, b, c)
		})
	}
}

// inputs are small integers: products and sums of them are exact in f32, so
// that their order does not matter.
func inputs(g kernels.GEMM, n, seed int) []uint16 {
	s := make([]uint16, n)
	for i := range s {
		s[i] = bits(g, float32((i*7+i/13*5+seed*3)%9-4))
	}
	return s
}

func bits(g kernels.GEMM, f float32) uint16 {
	if g.Type == kernel.BF16 {
		return kernel.BF16Bits(f)
	}
	return kernel.F16Bits(f)
}

func value(g kernels.GEMM, b uint16) float32 {
	if g.Type == kernel.BF16 {
		return kernel.BF16Value(b)
	}
	return kernel.F16Value(b)
}

// check compares C with the product, rounded once.
func check(t *testing.T, g kernels.GEMM, a, b, c []uint16) {
	for i := range g.M {
		for j := range g.N {
			sum := float32(0)
			for k := range g.K {
				sum += value(g, a[i*g.K+k]) * value(g, b[j*g.K+k])
			}
			if want := bits(g, sum); c[i*g.N+j] != want {
				t.Fatalf("row %d, column %d: %v, and %v is due", i, j, value(g, c[i*g.N+j]), value(g, want))
			}
		}
	}
}
