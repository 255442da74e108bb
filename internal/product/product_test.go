package product

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"muster/internal/tensor"
)

// operands are the formats of A and B that a tcgen05.mma of sm_100 has.
var operands = []*Format{F16, BF16, TF32, E4M3, E5M2}

func (p *Product) drawn(in Inputs, seed uint64) *Data {
	size := func(m *Matrix, rows, columns int) []byte { return make([]byte, rows*columns*m.Format.Bytes) }
	x := &Data{A: size(&p.A, p.M, p.K), B: size(&p.B, p.N, p.K), D: size(&p.D, p.M, p.N)}
	if p.C != nil {
		x.C = size(p.C, p.M, p.N)
	}
	p.Fill(x, false, in, rand.New(rand.NewPCG(1, seed)))
	return x
}

func dense(f *Format, rows int) Matrix {
	return Matrix{Format: f, Row: int64(rows * f.Bytes), Column: int64(f.Bytes)}
}

// multiply makes D by package tensor's rule with F fraction bits, step after step.
func (p *Product) multiply(x *Data, bits int) {
	step := 32 / p.A.Format.Bytes
	rule := tensor.NewRule(tensor.F32, p.A.Format.of, p.B.Format.of, tensor.Sum{Bits: int32(bits), Keep: 23})
	for i := range p.M {
		for j := range p.N {
			d := uint32(0)
			for k := 0; k < p.K; k += step {
				var a, b tensor.Vector
				for l := k; l < k+step; l++ {
					rule.AppendA(&a, p.A.load(x.A, p.A.at(i, l)))
					rule.AppendB(&b, p.B.load(x.B, p.B.at(j, l)))
				}
				d = rule.Dot(d, &a, &b)
			}
			f := p.D.Format
			var out [4]byte
			binary.LittleEndian.PutUint32(out[:], f.encode(f.Nearest(F32.Value(d))))
			copy(x.D[p.D.at(i, j):], out[:f.Bytes])
		}
	}
}

// TestBound: sums of the rule with F = 25 are within the bound for all formats and inputs; a
// sum that keeps one bit more or less is not, even where D has 8 bits, nor one that has a
// step less, nor a D of which two columns are exchanged.
func TestBound(t *testing.T) {
	for _, f := range operands {
		for _, d := range []*Format{F32, F16, BF16} {
			t.Run(f.Name+" to "+d.Name, func(t *testing.T) {
				p := &Product{M: 16, N: 16, K: 256, A: dense(f, 256), B: dense(f, 256), D: dense(d, 16)}
				sum, err := p.SumOf(100)
				if err != nil {
					t.Fatal(err)
				}
				if want := (Sum{25, 32 / f.Bytes}); sum != want {
					t.Fatalf("%+v, want %+v", sum, want)
				}
				seen := map[string]int{}
				for n, in := range []Inputs{Positive, Signed, Cancelling, Integers} {
					x := p.drawn(in, uint64(n))
					p.multiply(x, sum.Bits)
					if r := p.Compare(sum, x, Change{}); r.Outside > 0 || r.Worst > 1 || in == Integers && r.Exact != r.Elements {
						t.Errorf("%s: %+v", in, r)
					}
					seen["dropped"] += p.Compare(sum, x, Change{Drop: true}).Outside
					seen["swapped"] += p.Compare(sum, x, Change{Swap: true}).Outside
					for _, by := range []int{-3, -1, 1, 3} {
						p.multiply(x, sum.Bits+by)
						seen[fmt.Sprintf("F%+d", by)] += p.Compare(sum, x, Change{}).Outside
					}
				}
				for what, n := range seen {
					if n == 0 {
						t.Errorf("%s is within the bound", what)
					}
				}
				t.Log(seen)
			})
		}
	}
}

// TestFormats: elements have their number back, rounding takes the nearer neighbour, the even
// one of two, and a cut the smaller one.
func TestFormats(t *testing.T) {
	for _, f := range []*Format{F16, BF16, E4M3, E5M2} {
		var last float64
		for x := range uint32(1) << (f.exp + f.frac) {
			v := f.Value(x)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			if f.encode(v) != x || f.encode(-v) != x|1<<(f.exp+f.frac) || f.Nearest(v) != v || f.Cut(-v) != -v {
				t.Fatalf("%s: %#x is %g and %#x", f.Name, x, v, f.encode(v))
			}
			if x == 0 {
				continue
			}
			middle, even := (v+last)/2, v
			if x%2 == 1 {
				even = last
			}
			above, below := math.Nextafter(middle, math.Inf(1)), math.Nextafter(middle, 0)
			if f.Nearest(middle) != even || f.Nearest(above) != v || f.Nearest(-below) != -last || f.Cut(above) != last {
				t.Fatalf("%s: between %g and %g: %g %g %g", f.Name, last, v, f.Nearest(middle), f.Nearest(above), f.Cut(above))
			}
			last = v
		}
	}
	if r := F16.Nearest(65520); !math.IsInf(r, 1) {
		t.Errorf("65520 is %g in f16", r)
	}
	if r := E4M3.Nearest(-1e6); r != -448 {
		t.Errorf("-1e6 is %g in e4m3", r)
	}
}

// TestWithin: a late C and two parts of K are added by additions of f32, relu comes last, and
// a D that was never written is outside.
func TestWithin(t *testing.T) {
	p := &Product{M: 1, N: 2, K: 64, A: dense(F16, 64), B: dense(F16, 64), D: dense(F32, 2), Split: 2, Late: true, Relu: true}
	c := p.D
	p.C = &c
	x := p.drawn(Integers, 1)
	sum, err := p.SumOf(100)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Compare(sum, x, Change{}); r.Outside != 2 || r.First == "" {
		t.Errorf("D is NaN: %+v", r)
	}
	for j := range 2 {
		var parts [2]float64
		for k := range 64 {
			parts[k/32] += F16.Value(p.A.load(x.A, p.A.at(0, k))) * F16.Value(p.B.load(x.B, p.B.at(j, k)))
		}
		v := float32(parts[0]) + (single(x.C, j) + float32(parts[1]))
		binary.LittleEndian.PutUint32(x.D[4*j:], math.Float32bits(max(v, 0)))
	}
	if r := p.Compare(sum, x, Change{}); r.Outside != 0 {
		t.Errorf("%+v", r)
	}
	if err := p.Check(&Data{A: x.A, B: x.B[1:], C: x.C, D: x.D}); err == nil {
		t.Error("B is a byte short")
	}
}

// single is element i of bytes.
func single(b []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
}
