package launch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// npy builds a file from a header's dictionary, unchanged, and data.
func npy(version byte, dict string, data ...byte) []byte {
	head := []byte(npyMagic + string([]byte{version, 0}))
	n := len(dict)
	if version == 1 {
		head = append(head, byte(n), byte(n>>8))
	} else {
		head = append(head, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return append(append(head, dict...), data...)
}

func TestReadNpy(t *testing.T) {
	for _, tt := range []struct {
		file  []byte
		descr string
		shape []int64
	}{
		{npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n", make([]byte, 8)...), "<f4", []int64{2}},
		{npy(2, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", make([]byte, 6)...), "|u1", []int64{2, 3}},
		{npy(3, `{"shape": (), "descr": "<i8", "fortran_order": False}`, make([]byte, 8)...), "<i8", []int64{}},
		{npy(1, "{'descr':'<u2','fortran_order':True,'shape':(3L,)}", make([]byte, 6)...), "<u2", []int64{3}},
		{npy(1, "{'descr':'>i1','fortran_order':False,'shape':(0,5,)}"), ">i1", []int64{0, 5}},
	} {
		a, err := ReadNpy(iotest.OneByteReader(bytes.NewReader(tt.file)), 100)
		if err != nil || a.Descr != tt.descr || !cmp.Equal(a.Shape, tt.shape) {
			t.Errorf("%q: %+v, %v", tt.file, a, err)
		}
	}
}

func TestReadNpyErrors(t *testing.T) {
	dict := func(descr, order, shape string) string {
		return fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	}
	for _, tt := range []struct {
		file []byte
		want string
	}{
		{nil, "truncated .npy file: it ends in the magic string"},
		{[]byte("hello, world"), "not an .npy file"},
		{npy(4, ""), ".npy format 4.0 is not known"},
		{npy(1, "")[:9], "truncated .npy file: it ends in the header's length"},
		{npy(1, "{'descr'")[:12], "truncated .npy file: it ends in the header"},
		{[]byte(npyMagic + "\x02\x00\xff\xff\xff\xff"), "an .npy header of 4294967295 bytes; the limit is 65536"},
		{npy(1, ""), "bad .npy header: no '{' at byte 0"},
		{npy(1, "{"), "bad .npy header: it ends where a string should be"},
		{npy(1, "{descr"), "bad .npy header: no string at byte 1"},
		{npy(1, "{'descr"), "bad .npy header: a string does not end"},
		{npy(1, "{'descr' "), "bad .npy header: no ':' at byte 9"},
		{npy(1, "{'descr': [('a', '<f4')]}"), "bad .npy header: structured dtypes are not supported"},
		{npy(1, "{'x': 1}"), `bad .npy header: unknown key "x"`},
		{npy(1, "{'shape': (1,), 'shape': (1,)}"), `bad .npy header: key "shape" twice`},
		{npy(1, "{'shape': (1)}"), "bad .npy header: a shape that is no tuple"},
		{npy(1, "{'shape': (x,)}"), "bad .npy header: bad dimension at byte 11"},
		{npy(1, "{'shape': (99999999999999999999,)}"), "bad .npy header: bad dimension at byte 11"},
		{npy(1, "{'shape': (-1,)}"), "bad .npy header: bad dimension at byte 11"},
		{npy(1, "{'fortran_order': 0}"), "bad .npy header: no True or False at byte 18"},
		{npy(1, "{'shape': (1,)} x"), "bad .npy header: text after the dictionary, at byte 16"},
		{npy(1, "{'shape': (1,)}"), "bad .npy header: it needs descr, fortran_order and shape"},
		{npy(1, dict("'<f4'", "True", "(2, 2)")), "the array is in Fortran order; save it in C order (numpy.ascontiguousarray)"},
		{npy(1, dict("'>f4'", "False", "(2,)")), `dtype ">f4" is big-endian; save it little-endian`},
		{npy(1, dict("'|O'", "False", "(2,)")), `unsupported dtype "|O"`},
		{npy(1, dict("'<U4'", "False", "(2,)")), `unsupported dtype "<U4"`},
		{npy(1, dict("'<f0'", "False", "(2,)")), `unsupported dtype "<f0"`},
		{npy(1, dict("'<f4'", "False", "(4294967296, 4294967296)")), "shape [4294967296, 4294967296] is too large"},
		{npy(1, dict("'<f8'", "False", "(4611686018427387904,)")), "shape [4611686018427387904] is too large"},
		{npy(1, dict("'<f8'", "False", "("+strings.Repeat("1,", 33)+")")), "an array of 33 dimensions; at most 32 are allowed"},
		{npy(1, dict("'<f8'", "False", "(100,)")), "holds 800 bytes; the limit is 100 bytes"},
		{npy(1, dict("'<f4'", "False", "(2,)"), 1, 2, 3), "truncated .npy file: 3 of 8 bytes of data"},
		{npy(1, dict("'|u1'", "False", "(2,)"), 1, 2, 3), "more data than the 2 bytes that shape [2] needs"},
	} {
		_, err := ReadNpy(bytes.NewReader(tt.file), 100)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.80q\n got %v\nwant %s", tt.file, err, tt.want)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadNpy(iotest.ErrReader(broken), 100); !errors.Is(err, broken) {
		t.Errorf("a reader's error is lost: %v", err)
	}
}

// TestWriteNpy: WriteNpy writes the bytes that NumPy 2 writes. The dictionary
// and its growth room are from a file by NumPy.
func TestWriteNpy(t *testing.T) {
	var out bytes.Buffer
	if err := WriteNpy(&out, &Array{"<f4", []int64{4, 500}, make([]byte, 8000)}); err != nil {
		t.Fatal(err)
	}
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4, 500), }" + strings.Repeat(" ", 56) + "\n"
	if got := out.String()[:128]; got != want || out.Len() != 8128 {
		t.Errorf("%d bytes, %q\nwant %q", out.Len(), got, want)
	}
	for _, bad := range []*Array{{"<f4", []int64{2}, make([]byte, 7)}, {"f4", []int64{2}, make([]byte, 8)}, {"<f4", []int64{1 << 62, 4}, nil}} {
		if err := WriteNpy(&out, bad); err == nil {
			t.Errorf("%+v was written", bad)
		}
	}
}

func TestNpyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		descr := rapid.SampledFrom([]string{"|u1", "|b1", "<f2", "<i4", "<f8", "<c16", "|V128"}).Draw(t, "descr")
		a := &Array{Descr: descr, Shape: rapid.SliceOfN(rapid.Int64Range(0, 4), 0, 5).Draw(t, "shape")}
		size, _ := descrSize(descr)
		n, _ := elements(a.Shape)
		a.Data = make([]byte, n*size)
		for i := range a.Data {
			a.Data[i] = byte(splitMix64(7, uint64(i)))
		}
		var file bytes.Buffer
		if err := WriteNpy(&file, a); err != nil {
			t.Fatal(err)
		}
		if (file.Len()-len(a.Data))%64 != 0 {
			t.Fatalf("data begins at %d", file.Len()-len(a.Data))
		}
		b, err := ReadNpy(&file, 1<<30)
		if err != nil || b.Descr != a.Descr || !equalShapes(a.Shape, b.Shape) || !bytes.Equal(a.Data, b.Data) {
			t.Fatalf("%+v came back as %+v, %v", a, b, err)
		}
	})
}

func FuzzReadNpy(f *testing.F) {
	f.Add(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n", make([]byte, 8)...))
	f.Add(npy(2, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", make([]byte, 6)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadNpy(bytes.NewReader(data), 1<<16)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteNpy(&out, a); err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
		b, err := ReadNpy(&out, 1<<16)
		if err != nil || b.Descr != a.Descr || !equalShapes(a.Shape, b.Shape) || !bytes.Equal(a.Data, b.Data) {
			t.Fatalf("%+v came back as %+v, %v", a, b, err)
		}
	})
}
