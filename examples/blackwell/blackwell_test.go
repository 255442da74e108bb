// Package blackwell_test holds the GEMMs of this folder to a product of integers, to proofs,
// and to their broken twins.
package blackwell_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"testing"

	"muster/launch"
)

var update = flag.Bool("update", false, "write c.npy.gz and c_small.npy.gz")

// integers is A·Bᵀ of the launch files' integers: element i of A is i mod 127, of B i mod 113.
// Every sum is below 2^24, so that f32 holds it, in whatever order it is added.
func integers(m, n, k int) *launch.Array {
	c := make([]byte, 0, 4*m*n)
	for i := range m {
		for j := range n {
			sum := 0
			for l := range k {
				sum += (i*k + l) % 127 * ((j*k + l) % 113)
			}
			c = binary.LittleEndian.AppendUint32(c, math.Float32bits(float32(sum)))
		}
	}
	return &launch.Array{Descr: launch.F32.NpyDescr(), Shape: []int64{int64(m), int64(n)}, Data: c}
}

// TestExpected: the files that the launches are compared with are the products.
func TestExpected(t *testing.T) {
	expected(t, "c.npy.gz", integers(512, 512, 512))
	expected(t, "c_small.npy.gz", integers(256, 256, 128))
}

func expected(t *testing.T, name string, a *launch.Array) {
	t.Helper()
	var want bytes.Buffer
	if err := launch.WriteNpy(&want, a); err != nil {
		t.Fatal(err)
	}
	if *update {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		z.Write(want.Bytes())
		z.Close()
		if err := os.WriteFile(name, packed.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var have bytes.Buffer
	if _, err := have.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have.Bytes(), want.Bytes()) {
		t.Errorf("%s is not the product; -update writes it", name)
	}
}
