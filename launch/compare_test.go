package launch

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pack encodes numbers as a launch file does.
func pack(t *testing.T, typ Type, texts ...string) []byte {
	t.Helper()
	data := make([]byte, len(texts)*typ.Size())
	for i, text := range texts {
		bits, msg := scalarBits(typ, text)
		if msg != "" {
			t.Fatal(msg)
		}
		putBits(data[i*typ.Size():], typ.Size(), bits)
	}
	return data
}

func TestCompareElement(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		typ       Type
		got, want string
		tol       Tolerance
		abs, rel  float64
		ulp       uint64
		ok        bool
	}{
		{F32, "1", "1", Tolerance{}, 0, 0, 0, true},
		{F32, "-0.0", "0", Tolerance{}, 0, 0, 0, true},
		{F32, "nan", "0x7fffffff", Tolerance{}, 0, 0, 0, true},
		{F32, "nan", "1", Tolerance{Abs: 1e30}, inf, inf, math.MaxUint64, false},
		{F32, "1", "nan", Tolerance{ULP: math.MaxUint64, ByULP: true}, inf, inf, math.MaxUint64, false},
		{F32, "inf", "-inf", Tolerance{Rel: 1}, inf, inf, 2 * 0x7f800000, false},
		{F32, "inf", "inf", Tolerance{}, 0, 0, 0, true},
		{F32, "inf", "0x7f7fffff", Tolerance{Rel: 1}, inf, inf, 1, false},
		{F32, "inf", "0x7f7fffff", Tolerance{ULP: 1, ByULP: true}, inf, inf, 1, true},
		{F32, "0x3f800001", "1", Tolerance{}, 0x1p-23, 0x1p-23, 1, false},
		{F32, "0x3f800001", "1", Tolerance{ULP: 1, ByULP: true}, 0x1p-23, 0x1p-23, 1, true},
		{F32, "0x3f800002", "1", Tolerance{ULP: 1, ByULP: true}, 0x1p-22, 0x1p-22, 2, false},
		{F32, "0x00000001", "0x80000001", Tolerance{ULP: 2, ByULP: true}, 0x1p-148, 2, 2, true},
		{F64, "2.5", "2", Tolerance{Rel: 0.25}, 0.5, 0.25, 1 << 50, true},
		{F64, "2.5", "2", Tolerance{Rel: 0.24}, 0.5, 0.25, 1 << 50, false},
		{F64, "2.5", "2", Tolerance{Abs: 0.25, Rel: 0.125}, 0.5, 0.25, 1 << 50, true},
		{F64, "0.5", "0", Tolerance{Rel: 10}, 0.5, inf, 0x3fe0000000000000, false},
		{F16, "1", "1.5", Tolerance{Abs: 0.5}, 0.5, 1.0 / 3, 512, true},
		{S32, "-3", "2", Tolerance{Abs: 5}, 5, 2.5, 0, true},
		{S32, "-3", "2", Tolerance{Abs: 4}, 5, 2.5, 0, false},
		{S64, "-9223372036854775808", "9223372036854775807", Tolerance{}, 0x1p64, 2, 0, false},
		{U64, "0", "18446744073709551615", Tolerance{}, 0x1p64, 1, 0, false},
		{B32, "7", "0", Tolerance{}, 7, inf, 0, false},
	} {
		c := Compare(tt.typ, nil, pack(t, tt.typ, tt.got), pack(t, tt.typ, tt.want), tt.tol)
		if c.OK() != tt.ok || c.MaxAbs != tt.abs || c.MaxRel != tt.rel || c.MaxULP != tt.ulp {
			t.Errorf("%s %s against %s, %+v: %+v", tt.typ, tt.got, tt.want, tt.tol, c)
		}
	}
}

func TestCompareArray(t *testing.T) {
	got := pack(t, BF16, "1", "2", "3", "4", "5", "6")
	want := pack(t, BF16, "1", "2", "3", "4.5", "5", "8")
	c := Compare(BF16, []int64{2, 3}, got, want, Tolerance{})
	if d := cmp.Diff(Comparison{Elements: 6, Count: 2, Index: []int64{1, 0}, Got: "4", Want: "4.5", MaxAbs: 2, MaxRel: 0.25, MaxULP: 64}, c); d != "" {
		t.Error(d)
	}
	if s := c.String(); s != "2 of 6 elements differ, first at [1, 0]: got 4, want 4.5; worst error 2 absolute, 0.25 relative, 64 ulp" {
		t.Error(s)
	}
	c = Compare(BF16, []int64{2, 3}, got, want, Tolerance{Abs: 2})
	if s := c.String(); s != "6 elements agree; worst error 2 absolute, 0.25 relative, 64 ulp" {
		t.Error(s)
	}
}

// TestCompareFile: a buffer's final bytes are written as .npy, expected by a
// launch file, and compare equal, then different.
func TestCompareFile(t *testing.T) {
	for typ := U8; typ < TensorMapType; typ++ {
		dir := t.TempDir()
		keys := `"buffers": {"out": {"type": "` + typ.String() + `", "shape": [2, 3], "fill": "ones"}}, "expect": {"out": {"file": "out.npy"}}`
		f := parse(t, dir, keys)
		l := layout(t, dir, keys)
		if err := f.CheckExpected(l); err == nil {
			t.Errorf("%s: a missing file is not missed", typ)
		}
		out := &l.Buffers[0]
		var file bytes.Buffer
		if err := out.WriteArray(&file, out.Data); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "out.npy"), file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := f.CheckExpected(l); err != nil {
			t.Error(err)
		}
		c, err := l.Compare(f.Expect[0], out.Data)
		if err != nil || !c.OK() || c.Elements != 6 {
			t.Errorf("%s: %+v, %v", typ, c, err)
		}
		final := bytes.Clone(out.Data)
		final[5*typ.Size()] ^= 2
		if c, err = l.Compare(f.Expect[0], final); err != nil || c.Count != 1 || !cmp.Equal(c.Index, []int64{1, 2}) {
			t.Errorf("%s: %+v, %v", typ, c, err)
		}
	}
}

// TestCompareAs: the bytes of a buffer are compared as another type, with its tolerance, and
// the array may be of either.
func TestCompareAs(t *testing.T) {
	dir := t.TempDir()
	buffer := `"buffers": {"out": {"type": "u8", "shape": [8], "fill": {"file": "out.npy"}}}, "expect": {"out": `
	half := []byte{0, 0x3c, 0, 0x40, 1, 0x3c, 0, 0xbc} // 1, 2, 1+2^-10, -1
	writeArray(t, dir, "out.npy", "|u1", []int64{8}, half...)
	writeArray(t, dir, "bytes.npy", "|u1", []int64{8}, 1, 0x3c, 0, 0x40, 0, 0x3c, 0, 0xbc)
	writeArray(t, dir, "f16.npy", "<f2", []int64{2, 2}, 1, 0x3c, 0, 0x40, 0, 0x3c, 0, 0xbc)
	writeArray(t, dir, "short.npy", "<f2", []int64{3}, 1, 0x3c, 0, 0x40, 0, 0x3c)
	for _, c := range []struct {
		expect   string
		elements int64
		count    int64
		err      string
	}{
		{`{"file": "bytes.npy"}`, 8, 2, ""},
		{`{"file": "bytes.npy", "type": "f16"}`, 4, 2, ""},
		{`{"file": "bytes.npy", "type": "f16", "ulp": 1}`, 4, 0, ""},
		{`{"file": "f16.npy", "type": "f16", "ulp": 1}`, 4, 0, ""},
		{`{"file": "f16.npy", "type": "f16", "atol": 1e-4}`, 4, 2, ""},
		{`{"file": "bytes.npy", "type": "s8"}`, 8, 2, ""},
		{`{"file": "f16.npy"}`, 0, 0, `dtype <f2 does not fit buffer "out" of type u8`},
		{`{"file": "short.npy", "type": "f16"}`, 0, 0, `dtype <f2 does not fit buffer "out" of type u8`},
	} {
		f := parse(t, dir, buffer+c.expect+`}`)
		l := layout(t, dir, buffer+c.expect+`}`)
		err := f.CheckExpected(l)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.expect, err)
			}
			continue
		}
		got, err2 := l.Compare(f.Expect[0], half)
		if err != nil || err2 != nil || got.Elements != c.elements || got.Count != c.count {
			t.Errorf("%s: %+v, %v, %v", c.expect, got, err, err2)
		}
	}
	odd := `"buffers": {"out": {"type": "u8", "shape": [7], "fill": "zeros"}}, "expect": {"out": {"file": "f16.npy", "type": "f16"}}`
	if err := parse(t, dir, odd).CheckExpected(layout(t, dir, odd)); err == nil || !strings.Contains(err.Error(), "7 bytes, no whole number of f16") {
		t.Error(err)
	}
}

func TestExpectedDoesNotFit(t *testing.T) {
	dir := t.TempDir()
	writeArray(t, dir, "out.npy", "<f4", []int64{4}, make([]byte, 16)...)
	for buffer, want := range map[string]string{
		`{"type": "f16", "shape": [4]}`: dir + `/out.npy: dtype <f4 does not fit buffer "out" of type f16 (want <f2)`,
		`{"type": "f32", "shape": [5]}`: dir + `/out.npy: shape [4] does not fit buffer "out" of shape [5]`,
	} {
		f := parse(t, dir, `"buffers": {"out": `+buffer+`}, "expect": {"out": {"file": "out.npy"}}`)
		l, err := f.Layout(0)
		if err != nil {
			t.Fatal(err)
		}
		if err = f.CheckExpected(l); err == nil || err.(*Error).Msg != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err = l.Compare(f.Expect[0], nil); err == nil || err.(*Error).Msg != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
