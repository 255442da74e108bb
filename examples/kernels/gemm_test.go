package kernels_test

import (
	"context"
	"fmt"
	"strings"
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
			r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
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

// TestGEMMRefuses: a configuration that cannot be is an error of one line.
func TestGEMMRefuses(t *testing.T) {
	for want, g := range map[string]kernels.GEMM{
		"gemm of 0 × 64 × 64: the sizes are positive, and rows, of K and N elements, a multiple of 16 bytes":                {N: 64, K: 64},
		"gemm of 64 × 64 × 60: the sizes are positive, and rows, of K and N elements, a multiple of 16 bytes":               {M: 64, N: 64, K: 60},
		"gemm of 64 × 64 × 64: elements of f32; they are F16 or BF16":                                                       {M: 64, N: 64, K: 64, Type: kernel.F32},
		"gemm of 64 × 64 × 64: tiles of 100 columns; they have 64, 128, 192 or 256":                                         {M: 64, N: 64, K: 64, TileN: 100},
		"gemm of 64 × 64 × 64: clusters of 3; they have 1, 2 or 4 CTAs":                                                     {M: 64, N: 64, K: 64, Cluster: 3},
		"gemm of 64 × 64 × 64: -1 stages, 2 buffers, 8 rows, 0 CTAs: they are positive, and CTAs a multiple of the cluster": {M: 64, N: 64, K: 64, Stages: -1},
		"gemm of 64 × 64 × 64: 4 stages, 2 buffers, 8 rows, 3 CTAs: they are positive, and CTAs a multiple of the cluster":  {M: 64, N: 64, K: 64, CTAs: 3},
	} {
		if _, err := g.Kernel(); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if k, err := (kernels.GEMM{M: 64, N: 64, K: 64}).Kernel(); err != nil || k == nil {
		t.Error(err)
	}
	too := kernels.GEMM{M: 64, N: 64, K: 64, Stages: 9}
	if _, err := too.Call(make([]uint16, 64*64), make([]uint16, 64*64), make([]uint16, 64*64)); err == nil || !strings.Contains(err.Error(), "a CTA has 232448 at most") {
		t.Error(err)
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
				t.Fatalf("row %d, column %d: %v; want %v", i, j, value(g, c[i*g.N+j]), value(g, want))
			}
		}
	}
}
