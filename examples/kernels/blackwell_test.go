package kernels_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/examples/kernels"
	"muster/kernel"
	"muster/report"
)

// tensorSmall are launches that the machine checks in a second, some with matrices that end
// within a tile.
var tensorSmall = []kernels.TensorGEMM{
	{M: 256, N: 256, K: 192, Type: kernel.F16, CTAs: 1},
	{M: 256, N: 128, K: 256, Type: kernel.BF16, CTAs: 2, TileN: 64, Stages: 2},
	{M: 128, N: 384, K: 72, Type: kernel.BF16, CTAs: 1, TileN: 192},
	{M: 200, N: 96, K: 200, Type: kernel.F16, CTAs: 2, TileN: 128, Stages: 4, Sums: 3},
	{M: 256, N: 256, K: 192, Type: kernel.F16, CTAs: 2, TileN: 128, Pair: true},
	{M: 500, N: 96, K: 72, Type: kernel.BF16, CTAs: 4, TileN: 64, Pair: true},
}

// TestTensorGEMM proves each launch for all schedules and contents, and holds its results to
// float64.
//
// An instruction of K 16 aligns 16 products and the sum so far to the greatest, cuts each
// off 25 bits below it, and the new sum to 24 bits: it loses less than 17·2^-25 + 2^-23 of
// the sum of magnitudes. Then C is rounded once, to 11 or 8 bits; small values of f16 have
// a quantum of 2^-24.
func TestTensorGEMM(t *testing.T) {
	for _, g := range tensorSmall {
		t.Run(fmt.Sprintf("%dx%dx%d_%s_%v", g.M, g.N, g.K, g.Type, g.Pair), func(t *testing.T) {
			of := kernels.GEMM{Type: g.Type} // for bits and value
			a, b, c := tensorInputs(of, g.M*g.K, 1), tensorInputs(of, g.N*g.K, 2), make([]uint16, g.M*g.N)
			call, err := g.Call(a, b, c)
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadCall(call, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r := judge(t, l)
			if r.Verdict != "clean" || r.Proof == nil || !r.Proof.All || len(r.Findings) > 0 {
				t.Errorf("%s", r.Summary)
				tell(t, r)
			}
			run, err := l.Run(t.Context(), muster.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := call.Take(run.Buffer); err != nil {
				t.Fatal(err)
			}
			half := 0x1p-11
			if g.Type == kernel.BF16 {
				half = 0x1p-8
			}
			steps := float64((g.K + 15) / 16)
			for i := range g.M {
				for j := range g.N {
					want, all := 0.0, 0.0
					for k := range g.K {
						x := float64(value(of, a[i*g.K+k])) * float64(value(of, b[j*g.K+k]))
						want += x
						all += math.Abs(x)
					}
					sum := all * steps * (17*0x1p-25 + 0x1p-23)
					bound := sum + (math.Abs(want)+sum)*half + 0x1p-25
					if got := float64(value(of, c[i*g.N+j])); !(math.Abs(got-want) <= bound) {
						t.Fatalf("row %d, column %d: %v; want %v within %v", i, j, got, want, bound)
					}
				}
			}
		})
	}
}

// tensorInputs are numbers with all bits of their significand.
func tensorInputs(of kernels.GEMM, n, seed int) []uint16 {
	s := make([]uint16, n)
	for i := range s {
		s[i] = bits(of, float32(math.Sin(float64(i*37+seed*11))))
	}
	return s
}

// TestTensorRight holds the small kernels to their exact products, and proves them.
func TestTensorRight(t *testing.T) {
	for _, make := range []func(string) (*kernels.Work, error){kernels.Tensor, kernels.TensorPair} {
		right(t, make)
	}
}

func right(t *testing.T, make func(string) (*kernels.Work, error)) {
	w, err := make("")
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(w.Call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Run(t.Context(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Call.Take(run.Buffer); err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(); err != nil {
		t.Error(err)
	}
	if c := judge(t, l); c.Verdict != "clean" || c.Proof == nil || !c.Proof.All || len(c.Findings) > 0 {
		t.Errorf("%s", c.Summary)
		tell(t, c)
	}
}

// TestTensorMistakes finds every mistake by its kind, at a line of the kernel's Go, or when
// the kernel is built.
func TestTensorMistakes(t *testing.T) {
	wrong(t, kernels.Tensor, kernels.TensorMistakes)
	wrong(t, kernels.TensorPair, kernels.TensorPairMistakes)
}

func wrong(t *testing.T, make func(string) (*kernels.Work, error), mistakes []kernels.TensorMistake) {
	for _, m := range mistakes {
		t.Run(m.Name, func(t *testing.T) {
			w, err := make(m.Name)
			if m.Build {
				place, msg := "", ""
				if err != nil {
					place, msg, _ = strings.Cut(err.Error(), ": ")
				}
				if !strings.HasPrefix(place, "blackwell.go:") || msg != m.Finds {
					t.Errorf("%v; want %s", err, m.Finds)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadCall(w.Call, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			c := judge(t, l)
			i := slices.IndexFunc(c.Findings, func(f muster.Finding) bool { return f.Kind == m.Finds })
			if i < 0 {
				t.Errorf("no %s: %s", m.Finds, c.Summary)
				tell(t, c)
				return
			}
			inGo := func(s report.Site) bool { return len(s.Source) > 0 && s.Source[0].File == "blackwell.go" }
			if f := c.Findings[i]; !slices.ContainsFunc(f.Sites, inGo) {
				t.Errorf("%s is at no line of Go: %+v", m.Finds, f.Sites)
			}
			if (c.Verdict == "findings") == m.Warning {
				t.Errorf("%s", c.Summary)
			}
		})
	}
}

// TestTensorGEMMRefuses: a configuration that cannot be is an error of one line.
func TestTensorGEMMRefuses(t *testing.T) {
	for want, g := range map[string]kernels.TensorGEMM{
		"gemm of 0 × 64 × 64: the sizes are positive, and rows, of K and N elements, a multiple of 16 bytes":                           {N: 64, K: 64},
		"gemm of 64 × 64 × 64: elements of f32; they are F16 or BF16":                                                                  {M: 64, N: 64, K: 64, Type: kernel.F32},
		"gemm of 64 × 64 × 64: tiles of 100 columns; they have 64, 128, 192 or 256":                                                    {M: 64, N: 64, K: 64, TileN: 100},
		"gemm of 64 × 64 × 64: 3 stages, 0 CTAs, 3 accumulators of 256 columns: they are positive, and tensor memory has 512 columns":  {M: 64, N: 64, K: 64, Sums: 3},
		"gemm of 64 × 64 × 64: -1 stages, 0 CTAs, 2 accumulators of 256 columns: they are positive, and tensor memory has 512 columns": {M: 64, N: 64, K: 64, Stages: -1},
	} {
		if _, err := g.Kernel(); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
