package blackwell_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"muster"
	"muster/internal/product"
	"muster/internal/yaml"
	"muster/launch"
)

// sums are launches whose results are held to the product in f64, within what F and the
// steps of K allow, and the schedules that they run under: which CTAs are cancelled depends
// on it.
var sums = []struct {
	name      string
	schedules []string
}{
	{"gemm_1cta", []string{"earliest"}},
	{"gemm_2cta", []string{"earliest"}},
	{"gemm_tensor_a", []string{"earliest"}},
	{"gemm_cancel", []string{"earliest", "latest"}},
}

// TestSums: of one CTA, of a pair, with A in tensor memory and by launch control, each element
// of C is within the bound of the sum, for operands of which products are cut, sums cancel, or
// F decides each element. C is not within the bound of a sum that keeps one bit more, nor of
// one that keeps one less, nor of a product with a step of K less, or two columns exchanged.
func TestSums(t *testing.T) {
	for _, s := range sums {
		for _, schedule := range s.schedules {
			t.Run(s.name+" "+schedule, func(t *testing.T) {
				t.Parallel()
				for _, in := range []product.Inputs{product.Positive, product.Signed, product.Cancelling} {
					f, err := yaml.ReadFile(s.name + ".yaml")
					if err != nil {
						t.Fatal(err)
					}
					if len(f.Launches[0].Args) == 6 {
						small(f)
					}
					compare(t, f, in, schedule)
				}
			})
		}
	}
}

// sum is that of tcgen05.mma for f16: not asked of package tensor, which would follow a change
// of its table.
var sum = product.Sum{Bits: 25, Step: 16}

func compare(t *testing.T, f *launch.File, in product.Inputs, schedule string) {
	p, data := drawn(f, in)
	if err := p.Check(data); err != nil {
		t.Fatal(err)
	}
	r := run(t, f, schedule)
	var err error
	if data.D, err = r.Buffer("c"); err != nil {
		t.Fatal(err)
	}
	x := p.Compare(sum, data, product.Change{})
	if x.Outside > 0 || x.Worst > 1 {
		t.Errorf("%s: %+v", in, x)
	}
	q := *p
	q.M = 32 // the first rows are enough
	wrong := map[string]product.Change{"F+3": {Bits: 3}, "F+1": {Bits: 1}, "a step less": {Drop: true}, "columns exchanged": {Swap: true}}
	if in == product.Positive {
		wrong["F-1"] = product.Change{Bits: -1}
		wrong["F-3"] = product.Change{Bits: -3}
	}
	for name, c := range wrong {
		if q.Compare(sum, data, c).Outside == 0 {
			t.Errorf("%s: %s is within the bound", in, name)
		}
	}
}

func run(t *testing.T, f *launch.File, schedule string) *muster.RunResult {
	t.Helper()
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	of, err := muster.ParseSchedule(schedule)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{Schedule: of, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGivenUp: in schedule earliest CTAs of gemm_cancel are given up, whose set-up nobody
// executes; in schedule latest all begin.
func TestGivenUp(t *testing.T) {
	var warps [2]int64
	for i, schedule := range []string{"earliest", "latest"} {
		f, err := yaml.ReadFile("gemm_cancel.yaml")
		if err != nil {
			t.Fatal(err)
		}
		warps[i] = run(t, f, schedule).Warps
	}
	if warps[0] >= warps[1] {
		t.Errorf("%d warp instructions", warps)
	}
}

// drawn gives a launch other operands. Its buffers are A, B and C.
func drawn(f *launch.File, in product.Inputs) (*product.Product, *product.Data) {
	a, b, c := &f.Buffers[0], &f.Buffers[1], &f.Buffers[2]
	m, n, k := int(a.Shape[0]), int(b.Shape[0]), int(a.Shape[1])
	dense := func(of *product.Format, columns int) product.Matrix {
		return product.Matrix{Format: of, Row: int64(columns * of.Bytes), Column: int64(of.Bytes)}
	}
	p := &product.Product{M: m, N: n, K: k, A: dense(product.F16, k), B: dense(product.F16, k), D: dense(product.F32, n)}
	data := &product.Data{A: make([]byte, 2*m*k), B: make([]byte, 2*n*k), D: make([]byte, 4*m*n)}
	p.Fill(data, false, in, rand.New(rand.NewPCG(1, 2)))
	a.Fill = launch.Fill{Kind: launch.FillData, Data: data.A}
	b.Fill = launch.Fill{Kind: launch.FillData, Data: data.B}
	c.Fill = launch.Fill{Kind: launch.FillData, Data: data.D}
	return p, data
}
