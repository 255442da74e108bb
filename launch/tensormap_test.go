package launch

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/internal/tma"
)

// decodeMap reads the 128 bytes that were placed.
func decodeMap(t *testing.T, data []byte, off uint64) tma.Map {
	t.Helper()
	m, err := tma.Decode([tma.Size]byte(data[off:]))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMapBytes: the bytes in a buffer and in a parameter hold the file's values,
// with the dimensions reversed.
func TestMapBytes(t *testing.T) {
	const spec = `{"of": "a", "type": "tf32", "offset": 32, "shape": [5, 6, 7], "strides": [1024, 128], "box": [2, 3, 8],
		"element_strides": [3, 2, 1], "swizzle": "64B", "l2": "128B", "fill": "nan"}`
	const column = `{"of": "act", "interleave": "32B", "swizzle": "32B", "shape": [2, 4, 8, 9, 10], "strides": [40960, 10240, 1280, 128],
		"im2col": {"lower": [-1, -2, -3], "upper": [1, 2, 3], "channels": 16, "pixels": 64}}`
	f := parse(t, "", `"buffers": {"a": {"type": "f32", "shape": [2048]}, "act": {"type": "f16", "shape": [65536]},
		"maps": {"type": "tensormap", "values": [`+spec+`, `+column+`], "shape": [2]}},
		"args": [{"u32": 1}, {"tensormap": `+spec+`}, {"struct": [{"u32": 2}, {"tensormap": `+column+`}]}]`)
	l, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.EncodeParams(&f.Launches[0], []Param{scalar("n", U32), array("m", 128, 64), array("s", 192, 64)})
	if err != nil {
		t.Fatal(err)
	}
	tiled := tma.Map{
		Type: tma.TF32, Rank: 3, Address: l.Buffer("a").Base + 32, Dims: [5]uint64{7, 6, 5}, Strides: [4]uint64{128, 1024},
		Box: [5]uint32{8, 3, 2}, ElementStrides: [5]uint32{1, 2, 3}, Swizzle: tma.Swizzle64, L2: tma.L2Fetch128, Fill: tma.FillNaN,
	}
	im2col := tma.Map{
		Mode: tma.Im2col, Type: tma.F16, Rank: 5, Address: l.Buffer("act").Base, Dims: [5]uint64{10, 9, 8, 4, 2},
		Strides: [4]uint64{128, 1280, 10240, 40960}, Lower: [3]int32{-3, -2, -1}, Upper: [3]int32{3, 2, 1}, Channels: 16, Pixels: 64,
		ElementStrides: [5]uint32{1, 1, 1, 1, 1}, Interleave: tma.Interleave32, Swizzle: tma.Swizzle32,
	}
	data := l.Buffer("maps").Data
	for _, tt := range []struct {
		name      string
		got, want tma.Map
	}{
		{"buffer, tiled", decodeMap(t, data, 0), tiled},
		{"buffer, im2col", decodeMap(t, data, 128), im2col},
		{"parameter, tiled", decodeMap(t, b.Bytes, b.Maps[0].Offset), tiled},
		{"struct, im2col", decodeMap(t, b.Bytes, b.Maps[1].Offset), im2col},
	} {
		if d := cmp.Diff(tt.want, tt.got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	if b.Maps[0].Offset != 64 || b.Maps[1].Offset != 256 {
		t.Errorf("maps at %d and %d", b.Maps[0].Offset, b.Maps[1].Offset)
	}
}

// TestRefusedMaps: a map that the driver refuses is reported at its own place,
// without an error.
func TestRefusedMaps(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{`"box": [1, 8]`, ""},
		{`"box": [256, 8]`, ""}, // a box larger than the tensor is legal
		{`"box": [300, 8]`, "the box of dimension 1 from the innermost is 300, not in 1 to 256"},
		{`"box": [1, 300]`, "the box of the innermost dimension is 300, not in 1 to 256"},
		{`"box": [1099511627776, 8]`, "box has the entry 1099511627776, which is no number of 32 bits"},
		{`"box": [1, 8], "element_strides": [9, 1]`, "the element stride of dimension 1 from the innermost is 9, not in 1 to 8"},
		{`"box": [1, 8], "element_strides": [4294967297, 1]`, "element_strides has the entry 4294967297, which is no number of 32 bits"},
		{`"box": [0, 8]`, "the box of dimension 1 from the innermost is 0, not in 1 to 256"},
		{`"box": [1, 3]`, "the box is 12 bytes wide, not a multiple of 16"},
		{`"box": [1, 8], "strides": [36]`, "the stride of dimension 1 from the innermost is 36 bytes, not a multiple of 16 below 2^40"},
		{`"box": [1, 8], "offset": 4`, "address 0x7f0000000004 is not a multiple of 16 below 2^57"},
		{`"box": [1, 64], "swizzle": "128B"`, "the box is 256 bytes wide, more than the 128 of its swizzle"},
		{`"box": [1, 8], "interleave": "16B"`, "rank 2 is below 3, which an interleaved layout needs"},
		{`"box": [1, 8], "type": "u32", "fill": "nan"`, "type u32 cannot be filled with NaN"},
		{`"box": [1, 8], "shape": [0, 8]`, "dimension 1 from the innermost is 0, not in 1 to 2^32"},
		{`"shape": [4, 4, 8], "im2col": {"lower": [0], "upper": [-4], "channels": 8, "pixels": 4}`, "the bounding box is empty: W has 4, the corners are 0 and -4"},
		{`"shape": [4, 4, 8], "im2col": {"lower": [0], "upper": [0], "channels": 8, "pixels": 1025}`, "1025 pixels per column is not in 1 to 1024"},
		{`"shape": [4, 4, 8], "im2col": {"lower": [0], "upper": [0], "channels": 264, "pixels": 4}`, "264 channels per pixel is not in 1 to 256"},
	} {
		spec := `{"of": "a", ` + tt.spec + `}`
		f := parse(t, "", `"buffers": {"a": {"type": "f32", "shape": [4, 64]}, "m": {"type": "tensormap", "values": [`+spec+`]}}, "args": [{"tensormap": `+spec+`}]`)
		l, err := f.Layout(0)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		b, err := l.EncodeParams(&f.Launches[0], []Param{array("m", 128, 64)})
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		in := l.Buffer("m")
		for i, p := range []PlacedMap{in.Maps[0], b.Maps[0]} {
			data := [][]byte{in.Data, b.Bytes}[i]
			if p.Refused != tt.want {
				t.Errorf("%s\n got %q\nwant %q", spec, p.Refused, tt.want)
			}
			if zero := strings.Trim(string(data), "\x00") == ""; zero != (tt.want != "") {
				t.Errorf("%s: bytes %x", spec, data)
			}
			if pos := p.Map.Spec.Pos; pos.Line != 1 || pos.Col < 40 {
				t.Errorf("%s: at %s", spec, pos)
			}
		}
	}
}

// TestRawMaps: 128 captured bytes pass through unchanged, with any contents.
func TestRawMaps(t *testing.T) {
	dir := t.TempDir()
	raw := make([]byte, 128)
	for i := range raw {
		raw[i] = byte(i*37 + 1)
	}
	if err := os.WriteFile(filepath.Join(dir, "map.bin"), raw, 0o666); err != nil {
		t.Fatal(err)
	}
	writeArray(t, dir, "maps.npy", "|u1", []int64{1, 128}, raw...)
	f := parse(t, dir, `"buffers": {"m": {"type": "tensormap", "fill": {"file": "maps.npy"}}}, "args": [{"bytes": "map.bin"}]`)
	l, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.EncodeParams(&f.Launches[0], []Param{array("m", 128, 64)})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]byte{l.Buffer("m").Data, b.Bytes} {
		if d := cmp.Diff(fmt.Sprintf("%x", raw), fmt.Sprintf("%x", got)); d != "" {
			t.Error(d)
		}
	}
	if len(l.Buffer("m").Maps)+len(b.Maps) != 0 {
		t.Error("a raw map is judged")
	}
	// A parameter of another size is bad input.
	_, err = l.EncodeParams(&f.Launches[0], []Param{array("m", 64, 64)})
	if err == nil || !strings.HasSuffix(err.Error(), "argument 1 is raw bytes of 128 bytes; parameter .b8 m[64] has 64") {
		t.Error(err)
	}
}

// TestEncodeLimits: a number beyond the driver's type is an error even if its low
// bits are valid.
func TestEncodeLimits(t *testing.T) {
	for _, v := range []int64{1<<32 + 8, math.MaxInt64 - 7} {
		m := TensorMap{Spec: &TensorMapSpec{Box: []int64{v}}, Type: ElementF16, Shape: []int64{8}, ElementStrides: []int64{1}}
		if _, err := m.Encode(); err == nil {
			t.Errorf("box %d is taken", v)
		}
	}
}

// asJSON quotes the keys of what the writer wrote.
func asJSON(s string) string { return regexp.MustCompile(`(\w+): `).ReplaceAllString(s, `"$1": `) }

// TestBlackwellMaps: the keys of maps that sm_100 adds, their bytes and what is refused.
// A file that is written back says the same.
func TestBlackwellMaps(t *testing.T) {
	at := func(m tma.Map, change func(*tma.Map)) *tma.Map { change(&m); return &m }
	base := tma.Map{Type: tma.U8, Rank: 2, Dims: [5]uint64{128, 16}, Strides: [4]uint64{128}, Box: [5]uint32{128, 1}, ElementStrides: [5]uint32{1, 1}}
	wide := tma.Map{Mode: tma.Im2colW, Type: tma.U8, Rank: 3, Dims: [5]uint64{64, 4, 8}, Strides: [4]uint64{64, 256}, Channels: 64, Pixels: 32,
		ElementStrides: [5]uint32{1, 1, 1}, Swizzle: tma.Swizzle64, Lower: [3]int32{-1}, Upper: [3]int32{1}}
	for _, tt := range []struct {
		spec string
		want *tma.Map
		bad  string // the driver's reason, or an error of the file's
	}{
		{`"box": [1, 128], "swizzle": "128B_ATOM_32B"`, at(base, func(m *tma.Map) { m.Swizzle = tma.Swizzle128Atom32 }), ""},
		{`"box": [1, 128], "swizzle": "128B_ATOM_32B_FLIP_8B"`, at(base, func(m *tma.Map) { m.Swizzle = tma.Swizzle128Atom32Flip8 }), ""},
		{`"box": [1, 128], "swizzle": "128B_ATOM_64B"`, at(base, func(m *tma.Map) { m.Swizzle = tma.Swizzle128Atom64 }), ""},
		{`"box": [1, 96], "swizzle": "96B"`, at(base, func(m *tma.Map) { m.Swizzle, m.Box[0] = tma.Swizzle96, 96 }), ""},
		{`"box": [1, 128], "type": "b4x16", "shape": [16, 256]`, at(base, func(m *tma.Map) { m.Type, m.Dims[0] = tma.B4x16, 256 }), ""},
		{`"box": [2, 128], "type": "b4x16_p64", "shape": [16, 256]`, at(base, func(m *tma.Map) { m.Type, m.Dims[0], m.Box[1] = tma.B4x16P64, 256, 2 }), ""},
		{`"box": [2, 128], "type": "b6x16_p32", "shape": [16, 128]`, at(base, func(m *tma.Map) { m.Type, m.Strides[0], m.Box[1] = tma.B6x16P32, 96, 2 }), ""},
		{`"shape": [8, 4, 64], "swizzle": "64B", "im2col": {"wide": "W", "lower": [-1], "upper": [1], "channels": 64, "pixels": 32}`, &wide, ""},
		{`"shape": [8, 4, 64], "swizzle": "64B", "im2col": {"wide": "W128", "lower": [-1], "upper": [1], "channels": 64, "pixels": 0}`, at(wide, func(m *tma.Map) { m.Mode, m.Pixels = tma.Im2colW128, 0 }), ""},
		{`"box": [2, 128], "type": "b6x16_p32", "shape": [16, 192]`, nil, "the stride of dimension 1 from the innermost is 144 bytes, not a multiple of 32 below 2^40"},
		{`"shape": [8, 4, 64], "im2col": {"wide": "W", "lower": [0], "upper": [0], "channels": 64, "pixels": 32}`, nil, "mode im2col::w has no swizzle none"},
		{`"box": [1, 128], "type": "b4x16"`, nil, `a map of type b4x16 needs the key "shape": that of buffer "a" counts elements of u8`},
		{`"box": [1, 128], "type": "b4x16", "shape": [16, 255]`, nil, `shape [16, 255] of type b4x16 has rows that are no whole bytes, and needs the key "strides"`},
		{`"shape": [2, 8, 4, 32], "swizzle": "64B", "im2col": {"wide": "W", "lower": [0, 0], "upper": [0, 0], "channels": 32, "pixels": 32}`, nil, "lower has 2 entries; for shape [2, 8, 4, 32] it needs 1"},
	} {
		spec := `{"of": "a", ` + tt.spec + `}`
		text := `"buffers": {"a": {"type": "u8", "shape": [16, 128]}}, "args": [{"tensormap": ` + spec + `}]`
		f := parse(t, "", text)
		l, err := f.Layout(0)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		b, err := l.EncodeParams(&f.Launches[0], []Param{array("m", 128, 64)})
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case b.Maps[0].Refused != "":
			got = b.Maps[0].Refused
		default:
			tt.want.Address = l.Buffer("a").Base
			if d := cmp.Diff(*tt.want, decodeMap(t, b.Bytes, 0)); d != "" {
				t.Errorf("%s: %s", spec, d)
			}
		}
		if tt.bad == "" && got != "" || !strings.HasSuffix(got, tt.bad) {
			t.Errorf("%s\n got %q\nwant %q", spec, got, tt.bad)
		}
		var w writer
		if again := parse(t, "", strings.ReplaceAll(text, spec, asJSON(w.tensorMap(f.Launches[0].Args[0].Map)))); again != nil {
			one, two := *f.Launches[0].Args[0].Map, *again.Launches[0].Args[0].Map
			one.Pos, two.Pos = Pos{}, Pos{}
			if d := cmp.Diff(one, two); d != "" {
				t.Errorf("%s: written back: %s", spec, d)
			}
		}
	}
}
