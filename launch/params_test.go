package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const paramBuffers = `"buffers": {"in": {"type": "f32", "shape": [128]}}, `

func array(name string, size, align int) Param { return Param{Name: name, Size: size, Align: align} }

func scalar(name string, t Type) Param {
	return Param{Name: name, Size: t.Size(), Align: t.Size(), Type: t}
}

func TestEncodeParams(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.bin"), []byte{1, 2, 3}, 0o666); err != nil {
		t.Fatal(err)
	}
	keys := paramBuffers + `"args": [{"u8": 7}, "in", {"ptr": "in", "offset": 512}, {"bytes": "p.bin"}, null,
		{"struct": [{"s16": -2}, {"ptr": "in", "offset": 4}, {"f32": 1}, {"bytes": "p.bin"}, {"pad": 1}, {"tensormap": {"of": "in", "box": [32]}}, {"u8": 9}, {"pad": 63}]},
		{"tensormap": {"of": "in", "box": [16], "offset": 16}}]`
	f := parse(t, dir, keys)
	l, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.EncodeParams(&f.Launches[0], []Param{scalar("a", U8), scalar("b", U64), scalar("c", B64), array("d", 3, 1),
		scalar("e", U64), array("f", 256, 64), array("g", 128, 64)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 8, 16, 24, 32, 64, 320}, b.Offsets); d != "" {
		t.Error(d)
	}
	want := "07" + zeros(7) + "00000000007f0000" + "00020000007f0000" + "010203" + zeros(5) + zeros(8) + zeros(24) +
		"feff" + zeros(6) + "04000000007f0000" + "0000803f" + "010203" + zeros(1) + zeros(40) + mapHex(t, b.Maps[0]) + "09" + zeros(63) + mapHex(t, b.Maps[1])
	if got := fmt.Sprintf("%x", b.Bytes); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(b.Maps) != 2 || b.Maps[0].Offset != 128 || b.Maps[1].Offset != 320 || b.Maps[1].Map.Address != FirstBase+16 {
		t.Errorf("maps: %+v", b.Maps)
	}
}

// mapHex returns the bytes undecoded: internal/tma tests their meaning.
func mapHex(t *testing.T, m PlacedMap) string {
	t.Helper()
	b, err := m.Map.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", b)
}

func zeros(n int) string { return strings.Repeat("00", n) }

func TestEncodeParamsErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "big.bin"), make([]byte, MaxParams+1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		params []Param
		want   string
	}{
		{``, []Param{scalar("n", U32)}, "missing argument: 1 .u32 n ({u32: N})"},
		{`"in"`, []Param{scalar("p", U64), scalar("q", U64), scalar("x", F32), array("m", 128, 64), array("s", 24, 8)}, "missing arguments: 2 .u64 q (BUFFER or {u64: N}), 3 .f32 x ({f32: N}), 4 .b8 m[128] ({tensormap: {of: BUFFER, box: [N]}}), 5 .b8 s[24] ({bytes: FILE} or {struct: [{ptr: BUFFER}, {u32: N}]})"},
		{`{"s32": 1}, "in"`, []Param{scalar("p", U64), scalar("n", U32)}, "argument 1 is a scalar of type s32 of 4 bytes; parameter .u64 p has 8; arguments 1 and 2 may be swapped"},
		{`"in", "in"`, []Param{scalar("n", U64)}, "too many arguments: 2 for 1 parameter"},
		{`"in"`, []Param{scalar("n", U32)}, `argument 1 is a pointer to buffer "in" of 8 bytes; parameter .u32 n has 4`},
		{`null`, []Param{scalar("n", F64)}, `argument 1 is a null pointer; parameter .f64 n cannot take it`},
		{`{"s32": 1}`, []Param{scalar("n", U64)}, "argument 1 is a scalar of type s32 of 4 bytes; parameter .u64 n has 8"},
		{`{"s64": 1}`, []Param{scalar("n", U32)}, "argument 1 is a scalar of type s64 of 8 bytes; parameter .u32 n has 4"},
		{`{"s32": 1}`, []Param{scalar("n", F32)}, "argument 1 is a scalar of type s32; parameter .f32 n cannot take it"},
		{`{"f32": 1}`, []Param{scalar("n", U32)}, "argument 1 is a scalar of type f32; parameter .u32 n cannot take it"},
		{`{"bf16": 1}`, []Param{scalar("n", F16)}, "argument 1 is a scalar of type bf16; parameter .f16 n cannot take it"},
		{`{"tensormap": {"of": "in", "box": [1]}}`, []Param{array("m", 64, 64)}, "argument 1 is a tensor map of 128 bytes; parameter .b8 m[64] has 64"},
		{`{"tensormap": {"of": "in", "box": [1]}}`, []Param{scalar("n", U64)}, "argument 1 is a tensor map; parameter .u64 n cannot take it"},
		{`{"struct": [{"s32": 1}, {"f64": 1}]}`, []Param{array("s", 24, 8)}, "argument 1 is a struct of 16 bytes; parameter .b8 s[24] has 24; add {pad: 8}"},
		{`{"struct": [{"s32": 1}, {"pad": 100}]}`, []Param{array("s", 24, 8)}, "argument 1 is a struct of 104 bytes; parameter .b8 s[24] has 24"},
		{`{"struct": [{"s32": 1}]}`, []Param{scalar("n", U32)}, "argument 1 is a struct; parameter .u32 n cannot take it"},
		{`{"ptr": "in", "offset": 513}`, []Param{scalar("n", U64)}, `offset 513 lies outside buffer "in" of 512 bytes`},
		{`{"tensormap": {"of": "in", "box": [1, 1]}}`, []Param{array("m", 128, 64)}, "box has 2 entries; for shape [128] it needs 1"},
		{`{"bytes": "none.bin"}`, []Param{array("m", 128, 64)}, "DIR/none.bin: no such file or directory"},
		{`{"bytes": "big.bin"}`, []Param{array("m", 128, 64)}, "DIR/big.bin: more than the 32764 bytes that parameters can have"},
		{``, []Param{array("m", 32760, 1), array("n", 8, 1)}, "parameter n ends past 32764 bytes, the most that a kernel can have"},
	} {
		f := parse(t, dir, paramBuffers+`"args": [`+tt.args+`]`)
		l, err := f.Layout(0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.EncodeParams(&f.Launches[0], tt.params)
		if want := strings.ReplaceAll(tt.want, "DIR", dir); err == nil || err.(*Error).Msg != want || err.(*Error).Line != 1 {
			t.Errorf("%s\n got %v\nwant …%s", tt.args, err, want)
		}
	}
}

// TestScalarSuits: which scalar types a parameter accepts.
func TestScalarSuits(t *testing.T) {
	for _, tt := range []struct {
		arg, param Type
		want       bool
	}{
		{S32, U32, true}, {U32, S32, true}, {B32, F32, true}, {F32, B32, true}, {F32, 0, true}, {S32, 0, true},
		{F16, U16, true}, {BF16, B16, true}, {E4M3, U8, true}, {F16, F16, true},
		{S16, F16, false}, {F16, BF16, false}, {F64, S64, false}, {S64, F64, false},
	} {
		if got := scalarSuits(tt.arg, tt.param); got != tt.want {
			t.Errorf("%s for %s: %t", tt.arg, tt.param, got)
		}
	}
}
