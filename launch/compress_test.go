package launch

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func npyOf(t *testing.T, a *Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNpy(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCompressed reads arrays out of compressed files, of which only reading tells whether
// their data are as long as their header says.
func TestCompressed(t *testing.T) {
	whole := npyOf(t, &Array{Descr: "<u4", Shape: []int64{3}, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}})
	huge := npyOf(t, &Array{Descr: "<u4", Shape: []int64{0}})
	huge = bytes.Replace(huge, []byte("(0,), }         "), []byte("(1000000000,), }"), 1)
	packed := gzipped(t, whole)
	for _, c := range []struct {
		name string
		data []byte
		want string // of the error
	}{
		{"a.npy.gz", packed, ""},
		{"short.npy.gz", gzipped(t, whole[:len(whole)-1]), "truncated .npy file: 11 of 12 bytes"},
		{"long.npy.gz", gzipped(t, append(whole[:len(whole):len(whole)], 0)), "more data than the 12 bytes"},
		{"cut.npy.gz", packed[:len(packed)-9], "the compressed data are damaged or cut off"},
		{"plain.npy.gz", whole, "the compressed data are damaged or cut off"},
		{"huge.npy.gz", gzipped(t, huge), "does not fit"},
		{"packed.npy", packed, "not an .npy file"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.name), c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := ParseJSON(filepath.Join(dir, "x.json"), []byte(fmt.Sprintf(`{"ptx": "k.ptx", "grid": 1, "block": 1, "buffers": {"b": {"type": "u32", "shape": [3], "fill": {"file": %q}}}}`, c.name)))
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Layout(0)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "" && !bytes.Equal(l.Buffers[0].Data, whole[len(whole)-12:]):
			t.Errorf("%s: % x", c.name, l.Buffers[0].Data)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// TestRegisterDecompressor reads a form that only a program knows: bytes turned round.
func TestRegisterDecompressor(t *testing.T) {
	RegisterDecompressor(".flipped", func(r io.Reader) (io.ReadCloser, error) {
		data, err := io.ReadAll(r)
		for i := range data {
			data[i] ^= 0xff
		}
		return io.NopCloser(bytes.NewReader(data)), err
	})
	data := npyOf(t, &Array{Descr: "|u1", Shape: []int64{2}, Data: []byte{5, 6}})
	for i := range data {
		data[i] ^= 0xff
	}
	name := filepath.Join(t.TempDir(), "a.flipped")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readArrayFile(Pos{}, name, U8, []int64{2}, "b")
	if err != nil || !bytes.Equal(got, []byte{5, 6}) {
		t.Errorf("% x, %v", got, err)
	}
}
