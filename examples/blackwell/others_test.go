package blackwell_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"muster/internal/yaml"
	"muster/launch"
)

// ran returns the buffers that a launch leaves.
func ran(t *testing.T, name string, buffers ...string) (of [][]byte) {
	t.Helper()
	f, err := yaml.ReadFile(name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.Expect = nil
	r := run(t, f, "earliest")
	for _, b := range buffers {
		data, err := r.Buffer(b)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, data)
	}
	return of
}

// TestIntegersExpected: a run of gemm_i8 gives the product, and so does the file.
func TestIntegersExpected(t *testing.T) {
	const m, n, k = 256, 128, 384
	of := ran(t, "gemm_i8", "a", "b", "c")
	var want []byte
	for i := range m {
		for j := range n {
			sum := int32(0)
			for l := range k {
				sum += int32(int8(of[0][i*k+l])) * int32(of[1][j*k+l])
			}
			want = binary.LittleEndian.AppendUint32(want, uint32(sum))
		}
	}
	if !bytes.Equal(of[2], want) {
		t.Error("C is not the product")
	}
	expected(t, "c_i8.npy.gz", &launch.Array{Descr: launch.S32.NpyDescr(), Shape: []int64{m, n}, Data: want})
}

// TestSparseExpected: a run of gemm_sparse gives the product with the A that its metadata spreads,
// and so does the file; with the metadata of two rows exchanged it is another.
func TestSparseExpected(t *testing.T) {
	const m, n, k = 256, 128, 384
	of := ran(t, "gemm_sparse", "e", "c")
	product := func(swap bool) (c []byte) {
		for i := range m {
			row := make([]float64, k)
			for l := range k / 2 {
				r := i
				if swap && i < 2 {
					r = 1 - i
				}
				// The nibble of four places is that of mma l/16: its lane has the row's in eight
				// lanes for each 16 of K, in the upper half for the last 8 of 16 rows.
				mma, four := l/16, l%16/2
				lane := r%128/16*16 + r%8 + four/4*8
				word := of[0][((r/128*3+mma/4)*128+lane)*16+mma%4*4:]
				nibble := binary.LittleEndian.Uint32(word) >> (r % 16 / 8 * 16) >> (four % 4 * 4)
				row[mma*32+four*4+int(nibble>>(l%2*2)&3)] = float64((i*k/2 + l) % 127)
			}
			for j := range n {
				sum := 0.0
				for l, x := range row {
					sum += x * float64((j*k+l)%113)
				}
				c = append(c, le32(math.Float32bits(float32(sum)))...)
			}
		}
		return c
	}
	want := product(false)
	if !bytes.Equal(of[1], want) {
		t.Error("C is not the product")
	}
	if bytes.Equal(want, product(true)) {
		t.Error("exchanging the metadata of two rows changes nothing")
	}
	expected(t, "c_sparse.npy.gz", &launch.Array{Descr: launch.F32.NpyDescr(), Shape: []int64{m, n}, Data: want})
}
