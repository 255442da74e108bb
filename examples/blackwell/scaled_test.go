package blackwell_test

import (
	"bytes"
	"math"
	"testing"

	"muster/internal/yaml"
	"muster/launch"
)

// e4m3, e2m1, ue8m0 and ue4m3 are the formats by their definitions; no NaN is drawn.
func e4m3(b byte) float64 {
	v := math.Ldexp(float64(b&7|8), int(b>>3&15)-10)
	if b>>3&15 == 0 {
		v = math.Ldexp(float64(b&7), -9)
	}
	return math.Copysign(v, float64(int8(b))+0.5)
}

func e2m1(b byte) float64 {
	return []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[b&7] * (1 - 2*float64(b>>3&1))
}

func ue8m0(b byte) float64 { return math.Ldexp(1, int(b)-127) }

// A scaledGEMM is a launch with block scales, and how its buffers are read.
type scaledGEMM struct {
	name    string
	k       int // elements of a row
	element func(row []byte, k int) float64
	block   int // elements that share a factor
	factor  func(byte) float64
	seen    int // elements of C whose sums differ
}

var scaledGEMMs = []scaledGEMM{
	{name: "gemm_mxfp8", k: 384, element: func(row []byte, k int) float64 { return e4m3(row[k]) }, block: 32, factor: ue8m0},
	{name: "gemm_mxfp8_2cta", k: 384, element: func(row []byte, k int) float64 { return e4m3(row[k]) }, block: 32, factor: ue8m0},
	{name: "gemm_nvfp4", k: 768, element: func(row []byte, k int) float64 { return e2m1(row[k/2] >> (k % 2 * 4)) }, block: 16, factor: e4m3},
}

// scales reads factors as cuBLAS describes them: blocks of 512 bytes, 128 rows by four factors, by
// rows and then by K.
func (g *scaledGEMM) scale(data []byte, row, k int) float64 {
	f, blocks := k/g.block, g.k/g.block/4
	return g.factor(data[(row/128*blocks+f/4)*512+row%32*16+row%128/32*4+f%4])
}

// product is C in f64, with the factors of two rows of A exchanged if swap.
func (g *scaledGEMM) product(a, b, fa, fb []byte, m, n int, swap bool) []byte {
	matrix := func(data, factors []byte, rows int, swap bool) [][]float64 {
		var list [][]float64
		for r := range rows {
			bytes, s, row := data[r*len(data)/rows:][:len(data)/rows], r, make([]float64, g.k)
			if swap && r < 2 {
				s = 1 - r
			}
			for k := range row {
				row[k] = g.element(bytes, k) * g.scale(factors, s, k)
			}
			list = append(list, row)
		}
		return list
	}
	x, y := matrix(a, fa, m, swap), matrix(b, fb, n, false)
	var c []byte
	for i := range m {
		for j := range n {
			sum := 0.0
			for k := range x[i] {
				sum += x[i][k] * y[j][k]
			}
			v := float32(sum)
			if float64(v) != sum {
				g.seen++ // not exact in f32
			}
			c = append(c, le32(math.Float32bits(v))...)
		}
	}
	return c
}

func le32(x uint32) []byte { return []byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24)} }

// TestScaledExpected: a run of each launch with block scales gives the product in f64, which f32
// holds, bit for bit; the file that the launch compares with has the same; and a product with the
// factors of two rows exchanged is another.
func TestScaledExpected(t *testing.T) {
	for _, g := range scaledGEMMs {
		t.Run(g.name, func(t *testing.T) {
			f, err := yaml.ReadFile(g.name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			expect := f.Expect
			f.Expect = nil
			r := run(t, f, "earliest")
			var of [5][]byte
			for i, name := range []string{"a", "b", "fa", "fb", "c"} {
				if of[i], err = r.Buffer(name); err != nil {
					t.Fatal(err)
				}
			}
			want := g.product(of[0], of[1], of[2], of[3], 256, 128, false)
			if g.seen != 0 {
				t.Errorf("%d sums are not exact in f32", g.seen)
			}
			if !bytes.Equal(of[4], want) {
				t.Errorf("C is not the product")
			}
			if bytes.Equal(want, g.product(of[0], of[1], of[2], of[3], 256, 128, true)) {
				t.Error("exchanging the factors of two rows changes nothing")
			}
			if len(expect) != 1 {
				t.Fatalf("%+v", expect)
			}
			expected(t, expect[0].File, &launch.Array{Descr: launch.F32.NpyDescr(), Shape: []int64{256, 128}, Data: want})
		})
	}
}
