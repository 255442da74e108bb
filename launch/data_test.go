package launch

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// given returns a launch with contents from Go.
func given(b Buffer) *File {
	return &File{Version: 1, Buffers: []Buffer{b}, Launches: []Launch{{PTX: "k.ptx", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}}}}
}

// TestDataFills: bytes from Go are a buffer's initial contents, and Write
// writes them as values that read back the same.
func TestDataFills(t *testing.T) {
	for _, b := range []Buffer{
		{Name: "i", Type: S16, Shape: []int64{3}, Fill: Fill{Kind: FillData, Data: []byte{1, 0, 0xff, 0xff, 0, 0x80}}},
		{Name: "f", Type: F32, Shape: []int64{1, 2}, Fill: Fill{Kind: FillData, Data: []byte{0, 0, 0x80, 0x3f, 1, 0, 0xc0, 0x7f}}},
		{Name: "e", Type: E4M3, Shape: []int64{2}, Fill: Fill{Kind: FillData, Data: []byte{0x7f, 0x80}}},
		{Name: "none", Type: U8, Shape: []int64{0}, Fill: Fill{Kind: FillData}},
	} {
		f := given(b)
		if err := f.Validate(); err != nil {
			t.Fatal(err)
		}
		l, err := f.Layout(0)
		if err != nil {
			t.Fatal(err)
		}
		p := l.Buffer(b.Name)
		if !p.Initialized || !bytes.Equal(p.Data, b.Fill.Data) {
			t.Errorf("%s holds % x", b.Name, p.Data)
		}
		var out bytes.Buffer
		if err := f.Write(&out, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		_, values, _ := strings.Cut(out.String(), "values: ")
		values = values[:strings.Index(values, "]")+1]
		again, err := ParseJSON("x.json", []byte(`{"ptx": "k.ptx", "grid": 1, "block": 1, "buffers": {"`+b.Name+`": {"type": "`+b.Type.String()+`", "values": `+values+`}}}`))
		if err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		l, err = again.Layout(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Buffer(b.Name).Data; !bytes.Equal(got, b.Fill.Data) {
			t.Errorf("%s, written as %s, holds % x", b.Name, values, got)
		}
	}
}

func TestDataRefused(t *testing.T) {
	for _, tt := range []struct {
		b    Buffer
		want string
	}{
		{Buffer{Name: "x", Type: F32, Shape: []int64{2}, Fill: Fill{Kind: FillData, Data: make([]byte, 4)}}, `buffer "x" of shape [2], type f32, is filled with 4 bytes`},
		{Buffer{Name: "x", Type: F32, Shape: []int64{1 << 62}, Fill: Fill{Kind: FillData, Data: make([]byte, 4)}}, `is filled with 4 bytes`},
		{Buffer{Name: "x", Type: F32, Fill: Fill{Kind: FillData}}, `buffer "x" needs a shape`},
		{Buffer{Name: "x", Shape: []int64{1}, Fill: Fill{Kind: FillData}}, `has type 0`},
		{Buffer{Name: "x", Type: TensorMapType, Shape: []int64{1}, Fill: Fill{Kind: FillData, Data: make([]byte, 128)}}, `buffer "x" of type tensormap cannot be filled with bytes`},
	} {
		if err := given(tt.b).Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// TestDataExpected: expected contents may come from Go too; Write refuses them.
func TestDataExpected(t *testing.T) {
	f := given(Buffer{Name: "x", Type: F32, Shape: []int64{2}, Fill: Fill{Kind: FillZeros}})
	one := []byte{0, 0, 0x80, 0x3f}
	f.Expect = []Expect{{Buffer: "x", Data: append(append([]byte{}, one...), 0, 0, 0, 0)}}
	l, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CheckExpected(l); err != nil {
		t.Fatal(err)
	}
	c, err := l.Compare(f.Expect[0], append(append([]byte{}, one...), one...))
	if err != nil || c.Count != 1 || !reflect.DeepEqual(c.Index, []int64{1}) || c.Got != "1" || c.Want != "0" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := f.Write(&bytes.Buffer{}, "."); err == nil || err.Error() != `what is expected of buffer "x" lies in no file` {
		t.Error(err)
	}
	f.Expect[0].Data = one
	const want = `buffer "x" of 8 bytes is expected to hold 4`
	if err := f.CheckExpected(l); err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, err := l.Compare(f.Expect[0], make([]byte, 8)); err == nil || err.Error() != want {
		t.Error(err)
	}
}
