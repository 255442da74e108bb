package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// design has every key and form that a launch file may use.
const design = `{
  "version": 1,
  "ptx": "ring.ptx",
  "kernel": "ring",
  "grid": 2,
  "block": [160],
  "cluster": [2, 1, 1],
  "shared": 1024,
  "registers": 168, "cooperative": true,
  "buffers": {
    "in":   {"type": "f32", "shape": [16384], "fill": "iota"},
    "out":  {"type": "f32", "shape": [128], "fill": "nan"},
    "r":    {"type": "f16", "shape": [4, 4], "fill": {"random": {"seed": 1, "low": -1, "high": 1}}},
    "m":    {"type": "s32", "shape": 200, "fill": {"mod": 97}},
    "a":    {"type": "f32", "fill": {"file": "a.npy"}},
    "raw":  {"type": "bf16", "shape": [2, 2], "fill": "uninitialized"},
    "z":    {"type": "e4m3", "shape": [3], "fill": "zeros"},
    "o":    {"type": "e5m2", "shape": [3], "fill": "ones"},
    "v":    {"type": "f32", "values": [1, -0.5, "nan", "-inf", "0x3f800000"]},
    "ptrs": {"type": "u64", "values": [{"ptr": "in"}, {"ptr": "out", "offset": 512}, null, 7], "base": "0x7e0000000000"},
    "map":  {"type": "tensormap", "values": [{"of": "in", "box": [128]}], "align": 128},
    "act":  {"type": "f16", "shape": [2, 8, 8, 64]}
  },
  "variables": {
    "coeff": {"type": "f32", "fill": "iota"},
    "table": {"type": "u64", "values": [{"ptr": "in", "offset": 8}, null]},
    "cfg":   {"struct": [{"ptr": "in"}, {"s32": 3}, {"pad": 4}]}
  },
  "args": [
    "in",
    {"ptr": "out", "offset": 256},
    {"s32": 64},
    null,
    {"tensormap": {"of": "r", "box": [2, 4], "swizzle": "128B", "type": "f16", "shape": [4, 4], "strides": [8],
                   "offset": 8, "element_strides": [1, 1], "interleave": "none", "fill": "nan", "l2": "128B"}},
    {"tensormap": {"of": "act", "im2col": {"lower": [-1, -1], "upper": [-1, -1], "channels": 64, "pixels": 32}}},
    {"struct": [{"tensormap": {"of": "in", "box": [128]}}, {"ptr": "in"}, {"s32": 3}, {"pad": 4}]},
    {"bytes": "param.bin"}
  ],
  "expect": {"out": {"file": "out.npy", "atol": 0, "rtol": 1e-3}, "v": {"file": "/v.npy", "ulp": 2}},
  "accept": [{"finding": "proxy-war", "at": "gemm.cu:118", "reason": "the slot is never read again"}]
}`

func TestParseDesign(t *testing.T) {
	f, err := ParseJSON("dir/ring.json", []byte(design))
	if err != nil {
		t.Fatal(err)
	}
	l := f.Launches[0]
	if l.PTX != "dir/ring.ptx" || l.Kernel != "ring" || l.Grid != [3]uint32{2, 1, 1} || l.Block != [3]uint32{160, 1, 1} ||
		l.Cluster != [3]uint32{2, 1, 1} || l.Shared != 1024 || l.Registers != 168 || !l.Cooperative {
		t.Errorf("launch: %+v", l)
	}
	var got []string
	for _, b := range f.Buffers {
		got = append(got, fmt.Sprintf("%s %s%v fill %d values %d align %d base %#x", b.Name, b.Type, b.Shape, b.Fill.Kind, len(b.Values), b.Align, b.Base))
	}
	want := []string{
		"in f32[16384] fill 4 values 0 align 0 base 0x0",
		"out f32[128] fill 3 values 0 align 0 base 0x0",
		"r f16[4 4] fill 6 values 0 align 0 base 0x0",
		"m s32[200] fill 5 values 0 align 0 base 0x0",
		"a f32[] fill 7 values 0 align 0 base 0x0",
		"raw bf16[2 2] fill 0 values 0 align 0 base 0x0",
		"z e4m3[3] fill 1 values 0 align 0 base 0x0",
		"o e5m2[3] fill 2 values 0 align 0 base 0x0",
		"v f32[5] fill 8 values 5 align 0 base 0x0",
		"ptrs u64[4] fill 8 values 4 align 0 base 0x7e0000000000",
		"map tensormap[1] fill 8 values 1 align 128 base 0x0",
		"act f16[2 8 8 64] fill 0 values 0 align 0 base 0x0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]uint64{0x3f800000, 0xbf000000, 0x7fc00000, 0xff800000, 0x3f800000}, valueBits(f.Buffer("v").Values)); d != "" {
		t.Error(d)
	}
	checkDesignArgs(t, l.Args)
	got = nil
	for i := range f.Variables {
		v := &f.Variables[i]
		got = append(got, fmt.Sprintf("%s %s%v fill %d values %d parts %d", v.Array.Name, v.Array.Type, v.Array.Shape, v.Array.Fill.Kind, len(v.Array.Values), len(v.Parts)))
	}
	if d := cmp.Diff([]string{"coeff f32[] fill 4 values 0 parts 0", "table u64[2] fill 8 values 2 parts 0", "cfg " + Type(0).String() + "[] fill 0 values 0 parts 3"}, got); d != "" {
		t.Error(d)
	}
	x := f.Expect
	if x[0].File != "dir/out.npy" || x[0].Tolerance != (Tolerance{Rel: 1e-3}) || x[1].File != "/v.npy" || x[1].Tolerance != (Tolerance{ULP: 2, ByULP: true}) {
		t.Errorf("expect: %+v", x)
	}
	wantAccept := Accept{Pos{"dir/ring.json", 41, 14}, "proxy-war", "gemm.cu:118", "the slot is never read again"}
	if f.Accept[0] != wantAccept {
		t.Errorf("accept: %+v", f.Accept[0])
	}
}

func valueBits(values []Value) (bits []uint64) {
	for _, v := range values {
		bits = append(bits, v.Bits)
	}
	return bits
}

func checkDesignArgs(t *testing.T, args []Arg) {
	var got []string
	for _, a := range args {
		got = append(got, a.String())
	}
	want := []string{`a pointer to buffer "in"`, `a pointer to buffer "out"`, "a scalar of type s32", "a null pointer",
		"a tensor map", "a tensor map", "a struct", "raw bytes"}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	if args[1].Ptr.Offset != 256 || args[2].Bits != 64 || args[7].Path != "dir/param.bin" || len(args[6].Parts) != 4 || args[6].Parts[3].Pad != 4 {
		t.Errorf("args: %+v", args)
	}
	m := *args[4].Map
	m.Pos = Pos{}
	wantMap := TensorMapSpec{Of: "r", Offset: 8, Type: ElementF16, Shape: []int64{4, 4}, Strides: []int64{8}, Box: []int64{2, 4},
		ElementStrides: []int64{1, 1}, Swizzle: Swizzle128B, L2: L2Bytes128, Fill: FillOOBNaN}
	if d := cmp.Diff(wantMap, m); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(&Im2col{Lower: []int64{-1, -1}, Upper: []int64{-1, -1}, Channels: 64, Pixels: 32}, args[5].Map.Im2col); d != "" {
		t.Error(d)
	}
}

// TestParseErrors: each text replaces a part of a correct file; `§` marks the
// position that the error must have.
func TestParseErrors(t *testing.T) {
	whole := func(s string) string { return s }
	key := func(s string) string { return `{"ptx": "k.ptx", "grid": 1, "block": 1, ` + s + `}` }
	buf := func(s string) string { return key(`"buffers": {"b": {` + s + `}}`) }
	val := func(s string) string {
		return key(`"buffers": {"b": {"type": ` + strings.Replace(s, ";", `, "values": [`, 1) + `]}}`)
	}
	arg := func(s string) string {
		return key(`"buffers": {"in": {"type": "f32", "shape": [4]}}, "args": [` + s + `]`)
	}
	tmap := func(s string) string { return arg(`{"tensormap": {"of": "in"` + s + `}}`) }
	expect := func(s string) string {
		return key(`"buffers": {"i": {"type": "s32", "shape": [4]}, "t": {"type": "tensormap", "shape": [1]}}, "expect": {` + s + `}`)
	}
	for _, tt := range []struct {
		in   func(string) string
		text string
		want string
	}{
		// JSON
		{whole, `§`, "the launch file is empty"},
		{whole, "  \n §", "the launch file is empty"},
		{whole, `§null`, "the launch file is empty"},
		{whole, `§[1]`, "a launch file is a mapping, not a list"},
		{whole, `{"a": 1§`, "unexpected end of file; want ',' or '}'"},
		{whole, `{§a: 1}`, "unexpected 'a'; want a key in double quotes"},
		{whole, `{"a" §1}`, "unexpected '1'; want ':'"},
		{whole, `{"a": §}`, "unexpected '}'; want a value"},
		{whole, `{"a": 1,§}`, "unexpected '}'; want a key in double quotes"},
		{whole, `{"a": [1 §2]}`, "unexpected '2'; want ',' or ']'"},
		{whole, `{"a": [1,§]}`, "unexpected ']'; want a value"},
		{whole, `{"a": §01}`, `bad number "01"`},
		{whole, `{"a": §1e}`, `bad number "1e"`},
		{whole, `{"a": §"x`, "the string does not end on its line"},
		{whole, `{"a": §"x\`, "the string does not end on its line"},
		{whole, "{\"a\": §\"x\ny\"}", "the string does not end on its line"},
		{whole, "{\"a\": §\"\xff\"}", "the string is not UTF-8"},
		{whole, `{"a": §"\q"}`, `a string with a control character, or an escape that JSON lacks: it has \" \\ \/ \b \f \n \r \t \u and four hexadecimal digits`},
		{whole, `{} §x`, "unexpected 'x'; want the end of the file"},
		{whole, strings.Repeat("[", 65) + "§[", "nested more than 64 deep"},
		{whole, `{"a": §"` + strings.Repeat("x", MaxString) + `"}`, "a string of more than 65536 bytes"},
		{whole, "{\"grid\": 1,\n \"block\": 2, §\"grid\": 3}", `duplicate key "grid", first at line 1`},

		// the launch
		{whole, `§{"grid": 1, "block": 1}`, `a launch file needs the key "ptx"`},
		{whole, `§{"ptx": "k", "block": 1}`, `a launch file needs the key "grid"`},
		{whole, `§{"ptx": "k", "grid": 1}`, `a launch file needs the key "block"`},
		{whole, `§{"ptx": "k"}`, `a launch file needs the keys "grid" and "block"`},
		{whole, `§{}`, `a launch file needs the keys "ptx", "grid" and "block"`},
		{key, `§"gird": 1`, `unknown key "gird" (did you mean "grid"?)`},
		{key, `§"zzzzzzzz": 1`, `unknown key "zzzzzzzz"; known here: version, buffers, variables, expect, accept, assume, ptx, kernel, grid, block, cluster, preferred-cluster, shared, registers, maxrregcount, cooperative, co-resident, args`},
		{key, `"version": §2`, "version 2 is not known; this program reads version 1"},
		{key, `"kernel": §3`, "kernel is a string, not an integer"},
		{key, `"kernel": §""`, "kernel is empty"},
		{whole, `{"ptx": §3}`, "ptx is a string, not an integer"},
		{whole, `{"ptx": §"a\u0000b"}`, "ptx contains a zero byte"},
		{whole, `{"grid": §2147483648}`, "grid is 2147483648 in x; it must be from 1 to 2147483647"},
		{whole, `{"grid": [1, §65536]}`, "grid is 65536 in y; it must be from 1 to 65535"},
		{whole, `{"grid": §[]}`, "grid has one to three integers, not none"},
		{whole, `{"grid": §[1,1,1,1]}`, "grid has 4 integers; at most 3 are allowed"},
		{whole, `{"grid": §"2x1"}`, `grid is a list of integers, not "2x1": write [2, 1]`},
		{whole, `{"grid": [§1.5]}`, "grid is an integer, not 1.5"},
		{whole, `{"grid": §99999999999999999999}`, "grid is 99999999999999999999 in x; it must be from 1 to 2147483647"},
		{whole, `{"block": §0}`, "block is 0 in x; it must be from 1 to 1024"},
		{whole, `{"block": §[32, 64]}`, "block has 2048 threads; a CTA has at most 1024"},
		{whole, `{"block": [1, 1, §65]}`, "block is 65 in z; it must be from 1 to 64"},
		{key, `"cluster": §[4, 4, 2]`, "cluster has 32 CTAs; at most 16 are allowed"},
		{key, `"cluster": §2`, "grid is 1 in x, no multiple of the cluster's 2"},
		{key, `"shared": §-1`, "shared is -1; it must be from 0 to 232448"},
		{key, `"shared": §300000`, "shared is 300000; it must be from 0 to 232448"},
		{key, `"cooperative": §"true"`, `cooperative is true or false, not "true"`},
		{key, `"cooperative": §1`, "cooperative is true or false, not 1"},
		{key, `"registers": §0`, "registers is 0; it must be from 1 to 256"},
		{key, `"maxrregcount": §256`, "maxrregcount is 256; it must be from 1 to 255"},

		// variables
		{key, `"variables": §[]`, "variables is a mapping from names, not a list"},
		{key, `"variables": {"v": §3}`, "a variable is a mapping, not an integer"},
		{key, `"variables": {§"v": {"type": "f32"}}`, `variable "v" needs a fill, values or a struct`},
		{key, `"variables": {"v": §{"fill": "iota"}}`, `a variable needs the key "type"`},
		{key, `"variables": {"v": {"struct": §3}}`, "struct is a list of parts, not an integer"},
		{key, `"variables": {"v": {"struct": [null], §"fill": "iota"}}`, `unknown key "fill"; known here: struct, base`},
		{key, `"variables": {"v": {"struct": [§"in"]}}`, `no buffer is called "in"`},
		{key, `"variables": {"v": {"type": "u64", "values": [§{"ptr": "in"}]}}`, `no buffer is called "in"`},
		{key, `"variables": {"v": {"type": "u32", "values": [1], §"align": 8}}`, `unknown key "align"; known here: type, shape, fill, values, base`},
		{key, `"variables": {"v": {"type": "u32", "fill": "zeros", "values": §[1]}}`, `variable "v" has both fill and values`},

		// buffers
		{key, `"buffers": §[]`, "buffers is a mapping from names, not a list"},
		{key, `"buffers": {§"0x": {"type": "f32"}}`, `bad buffer name "0x": letters, digits, '_', '.', '-', not beginning with a digit, and not null`},
		{key, `"buffers": {"b": §3}`, "a buffer is a mapping, not an integer"},
		{buf, `"type": §"f23"`, `unknown type "f23" (did you mean "f32"?); one of u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, tensormap`},
		{buf, `"type": §32`, `type is a name, not 32 (did you mean "u32"?); one of u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, tensormap`},
		{key, `"buffers": {"b": §{"shape": [4]}}`, `a buffer needs the key "type"`},
		{key, `"buffers": {"b": §{"type": "f32"}}`, `buffer "b" needs a shape`},
		{buf, `"type": "f32", "shape": [§-1]`, "shape is -1; it must be from 0 to 9223372036854775807"},
		{buf, `"type": "u8", "shape": §[4294967296, 4294967296]`, "shape [4294967296, 4294967296] has more than 2^63 elements"},
		{buf, `"type": "u8", "shape": §[0, 4294967296, 4294967296]`, "shape [0, 4294967296, 4294967296] has more than 2^63 elements"},
		{buf, `"type": "u8", "shape": [1], "align": §48`, "align is 48, no power of two"},
		{buf, `"type": "u8", "shape": [1], "align": §0`, "align is 0; it must be from 1 to 1073741824"},
		{buf, `"type": "u8", "shape": [1], "base": §"7f"`, `base is an integer of 64 bits, as a number or "0x…", not "7f"`},
		{buf, `"type": "u8", "shape": [1], "base": §-1`, `base is an integer of 64 bits, as a number or "0x…", not -1`},
		{buf, `"type": "u8", "shape": [1], "fill": "ones", "values": §[1]`, `buffer "b" has both fill and values`},
		{buf, `"type": "u8", "shape": [1], "fill": §"itoa"`, `unknown fill "itoa" (did you mean "iota"?); one of uninitialized, zeros, ones, nan, iota, {mod: 97}, {random: {seed: 7, low: 0, high: 1}}, {file: a.npy}`},
		{buf, `"type": "u8", "shape": [1], "fill": §3`, `unknown fill "3"; one of uninitialized, zeros, ones, nan, iota, {mod: 97}, {random: {seed: 7, low: 0, high: 1}}, {file: a.npy}`},
		{buf, `"type": "u8", "shape": [1], "fill": §0`, `unknown fill "0" (did you mean "zeros"?); one of uninitialized, zeros, ones, nan, iota, {mod: 97}, {random: {seed: 7, low: 0, high: 1}}, {file: a.npy}`},
		{buf, `"type": "u8", "shape": [1], "fill": §"mod"`, "fill mod lacks its value: write {mod: 97}"},
		{buf, `"type": "u8", "shape": [1], "fill": §{"ones": 2}`, "fill ones has no value: write it alone"},
		{buf, `"type": "u8", "shape": [1], "fill": {§"rand": 2}`, `unknown key "rand" (did you mean "random"?); known here: mod, random, file`},
		{buf, `"type": "u8", "shape": [1], "fill": §[1]`, "fill is a word, not a list; elements one by one are values"},
		{buf, `"type": "u8", "shape": [1], "fill": §null`, "fill is empty; without the key a buffer is uninitialized"},
		{buf, `"type": "u8", "shape": [1], "fill": §"nan"`, "u8 has no nan"},
		{buf, `"type": "u8", "shape": [1], "fill": §{}`, "a fill has one key: random, mod or file"},
		{buf, `"type": "u8", "shape": [1], "fill": {"mod": §0}`, "mod is 0; it must be from 1 to 9223372036854775807"},
		{buf, `"type": "u8", "shape": [1], "fill": {"random": §{"low": 2}}`, "low 2 is above high 1"},
		{buf, `"type": "u8", "shape": [1], "fill": §{"random": {"high": 256}}`, "random from 0 to 256 does not fit u8"},
		{buf, `"type": "s8", "shape": [1], "fill": §{"random": {"low": -129}}`, "random from -129 to 1 does not fit s8"},
		{buf, `"type": "f16", "shape": [1], "fill": §{"random": {"high": 1e5}}`, "random from 0 to 100000 does not fit f16"},
		{buf, `"type": "u8", "shape": [1], "fill": §{"random": {"high": 0.5}}`, "low and high must be integers for u8"},
		{buf, `"type": "f64", "shape": [1], "fill": {"random": {"high": §"inf"}}`, `high is a finite number, not "inf"`},
		{buf, `"type": "f64", "shape": [1], "fill": {"random": {"high": §1e999}}`, `high is a finite number, not 1e999`},
		{buf, `"type": "tensormap", "shape": [1], "fill": §"iota"`, "a buffer of tensor maps can be filled with zeros, a file or nothing; list the maps under values"},
		{buf, `"type": "u8", "shape": [3], "values": §[1, 2]`, `buffer "b" has shape [3], 3 elements, but 2 values`},
		{buf, `"type": "u8", "values": §3`, "values is a list, not an integer"},

		// values
		{val, `"u8"; §256`, `"256" is out of range for u8, 0 to 255`},
		{val, `"s32"; §1099511627776`, `"1099511627776" is out of range for s32, -2147483648 to 2147483647`},
		{val, `"s8"; §-129`, `"-129" is out of range for s8, -128 to 127`},
		{val, `"u64"; §-1`, `"-1" is out of range for u64, 0 to 18446744073709551615`},
		{val, `"b32"; §-1`, `"-1" is out of range for b32, 0 to 4294967295`},
		{val, `"s32"; §1.5`, `"1.5" is no integer; s32 is an integer type`},
		{val, `"s32"; §"nan"`, `"nan" is no integer; s32 is an integer type`},
		{val, `"f32"; §"0x1ffffffff"`, `"0x1ffffffff" has more bits than f32`},
		{val, `"f32"; §"0x"`, `"0x" is no bit pattern`},
		{val, `"f32"; §"0xfg"`, `"0xfg" is no bit pattern`},
		{val, `"f32"; §"1.0"`, `"1.0" is no f32; a number, nan, inf, -inf or 0x… bits are`},
		{val, `"f32"; §1e39`, `"1e39" is too large for f32, whose largest is 3.4028235e+38`},
		{val, `"f64"; §1e309`, `"1e309" is too large for f64, whose largest is 1.7976931348623157e+308`},
		{val, `"f16"; §65520`, `"65520" is too large for f16, whose largest is 65504`},
		{val, `"e4m3"; §-465`, `"-465" is too large for e4m3, whose largest is 448`},
		{val, `"e4m3"; §"inf"`, `e4m3 has no infinity`},
		{val, `"f32"; §true`, `want a number of type f32, not a boolean`},
		{val, `"f32"; §[1]`, `values is one flat list in C order, whatever the shape`},
		{val, `"u32"; §{"ptr": "b"}`, "an address needs a type of 64 bits; the buffer's is u32"},
		{val, `"f64"; §null`, "an address needs a type of 64 bits; the buffer's is f64"},
		{val, `"u64"; §{"ptr": "c"}`, `no buffer is called "c"; there are b`},
		{val, `"u64"; {"ptr": "b", "offset": §-8}`, "offset is -8; it must be from 0 to 9223372036854775807"},
		{val, `"u64"; §{"offset": 8}`, `a pointer needs the key "ptr"`},
		{val, `"tensormap"; §3`, "a tensor map is a mapping, not an integer"},
		{val, `"tensormap"; §{"of": "zzz", "box": [1]}`, `no buffer is called "zzz"; there are b`},

		// arguments
		{key, `"args": §{}`, "args is a list, not a mapping"},
		{arg, `§64`, "an argument is 64; write its type, as {s32: 64}, or a buffer's name"},
		{arg, `§[1]`, "an argument is a list; write its type, as {s32: 1}, or a buffer's name"},
		{arg, `§{}`, "an argument is empty"},
		{arg, `§"inn"`, `no buffer is called "inn" (did you mean "in"?)`},
		{arg, `{§"s31": 1}`, `unknown key "s31" (did you mean "s32"?); known here: ptr, tensormap, bytes, u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, struct`},
		{arg, `{"s32": §2147483648}`, `"2147483648" is out of range for s32, -2147483648 to 2147483647`},
		{arg, `{"s32": 1, §"s64": 1}`, `an argument has one key; "s64" follows "s32"`},
		{arg, `{"ptr": "in", §"ofset": 1}`, `unknown key "ofset" (did you mean "offset"?)`},
		{arg, `{"struct": §{}}`, "struct is a list of parts, not a mapping"},
		{arg, `{"struct": §[]}`, "struct has no parts"},
		{arg, `{"struct": [{§"struct": []}]}`, "a struct cannot hold a struct; list its parts in place"},
		{arg, `{"struct": [{"pad": §0}]}`, "pad is 0; it must be from 1 to 32764"},
		{arg, `{§"pad": 4}`, `unknown key "pad"; known here: ptr, tensormap, bytes, u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, struct`},
		{arg, `{"struct": [§"zzzz"]}`, `no buffer is called "zzzz"; there are in`},

		// tensor maps
		{arg, `{"tensormap": §{"box": [1]}}`, `a tensor map needs the key "of"`},
		{arg, `{"tensormap": §{"of": "in"}}`, `a tensor map needs the key "box" (or "im2col")`},
		{tmap, `, "box": §[1,2,3,4,5,6]`, "box has 6 integers; at most 5 are allowed"},
		{tmap, `, "box": §[]`, "box is empty"},
		{tmap, `, "box": [4], "swizzle": §"128"`, `unknown swizzle "128" (did you mean "128B"?); one of none, 32B, 64B, 128B, 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B, 96B`},
		{tmap, `, "box": [4], "swizzle": §128`, `swizzle is one of none, 32B, 64B, 128B, 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B, 96B, not 128`},
		{tmap, `, "box": [4], "interleave": §"64B"`, `unknown interleave "64B"; one of none, 16B, 32B`},
		{tmap, `, "box": [4], "fill": §"ones"`, `unknown fill "ones"; one of zeros, nan`},
		{tmap, `, "box": [4], "l2": §"1B"`, `unknown l2 "1B"; one of none, 64B, 128B, 256B`},
		{tmap, `, "box": [4], "type": §"f33"`, `unknown type "f33" (did you mean "f32"?); one of u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32.ftz, tf32, tf32.ftz, b4x16, b4x16_p64, b6x16_p32, s8, b8, s16, b16, b32, b64, e4m3, e5m2`},
		{tmap, `, "box": [4], "type": §"tensormap"`, `unknown type "tensormap"; one of u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32.ftz, tf32, tf32.ftz, b4x16, b4x16_p64, b6x16_p32, s8, b8, s16, b16, b32, b64, e4m3, e5m2`},
		{tmap, `, "im2col": §{"lower": [0], "upper": [0], "pixels": 1}`, `im2col needs the key "channels"`},
		{tmap, `, "im2col": {"lower": [§3000000000], "upper": [0], "pixels": 1}`, `lower is 3000000000; it must be from -2147483648 to 2147483647`},

		// expect and accept
		{expect, `§"x": {"file": "x.npy"}`, `no buffer is called "x"; there are i, t`},
		{expect, `"i": §{}`, `an expectation needs the key "file"`},
		{expect, `"i": {"file": "i.npy", "atol": §-1}`, "atol is -1; it cannot be negative"},
		{expect, `"i": §{"file": "i.npy", "atol": 0, "ulp": 1}`, "ulp excludes atol and rtol"},
		{expect, `§"i": {"file": "i.npy", "ulp": 1}`, `ulp needs floating point; buffer "i" is s32`},
		{expect, `§"t": {"file": "t.npy"}`, `buffer "t" holds tensor maps, which cannot be compared`},
		{key, `"expect": §[]`, "expect is a mapping from buffer names, not a list"},
		{key, `"accept": §{}`, "accept is a list, not a mapping"},
		{key, `"accept": [§{"finding": "a", "at": "b"}]`, `an accepted finding needs the key "reason"`},
		{key, `"accept": [§{"finding": "a", "reason": "b"}]`, `an accepted finding needs the key "at"`},
		{key, `"accept": [{"finding": "a", "at": "b", "reason": §"  "}]`, "reason is empty"},
	} {
		text := tt.in(tt.text)
		before, after, _ := strings.Cut(text, "§")
		line := 1 + strings.Count(before, "\n")
		col := len(before) - strings.LastIndexByte(before, '\n')
		_, err := ParseJSON("x.json", []byte(before+after))
		want := fmt.Sprintf("x.json:%d:%d: %s", line, col, tt.want)
		if err == nil || err.Error() != want {
			t.Errorf("%.200s\n got %v\nwant %s", text, err, want)
		}
		var typed *Error
		if err != nil && !errors.As(err, &typed) {
			t.Errorf("%s: not an *Error", tt.text)
		}
	}
}

// TestParseTree feeds what only a tree can hold: YAML's numbers, shared nodes,
// a node that contains itself.
func TestParseTree(t *testing.T) {
	str := func(s string) *Node { return &Node{Kind: StringNode, Text: s} }
	integer := func(s string) *Node { return &Node{Kind: IntNode, Text: s, Pos: Pos{Line: 9, Col: 5}} }
	m := func(kv ...any) *Node {
		n := &Node{Kind: MapNode}
		for i := 0; i < len(kv); i += 2 {
			n.Entries = append(n.Entries, Entry{Key: kv[i].(string), Value: kv[i+1].(*Node)})
		}
		return n
	}
	file := func(typ, value string) *Node {
		values := &Node{Kind: SeqNode, Items: []*Node{integer(value)}}
		return m("ptx", str("k.ptx"), "grid", integer("1"), "block", integer("0x20"), "buffers", m("b", m("type", str(typ), "values", values)))
	}
	for _, tt := range []struct {
		typ, text string
		want      uint64
		err       string
	}{
		{"f32", "0x3f800000", 0x3f800000, ""}, // the bits, though YAML calls it an integer
		{"f32", "1065353216", 0x4e7e0000, ""},
		{"s32", "0xffffffff", 0xffffffff, ""},
		{"s32", "0o17", 15, ""},
		{"s32", "1_000", 1000, ""},
		{"s32", "-0x1", 0xffffffff, ""}, // negative: a number, not a pattern
		{"s32", "017", 0, `x:9:5: "017" begins with 0: write 0o for octal, or leave it out`},
		{"f32", ".inf", 0x7f800000, ""},
		{"f32", "-.Inf", 0xff800000, ""},
		{"f64", ".NaN", 0x7ff8000000000000, ""},
		{"f32", "-0.0", 0x80000000, ""},
		{"f32", "0x1p3", 0, `x:9:5: "0x1p3" is no bit pattern`},
		{"f32", "1_0.5", 0, `x:9:5: "1_0.5" is no number`},
	} {
		f, err := Parse("x", file(tt.typ, tt.text))
		switch {
		case tt.err != "":
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: got %v, want %s", tt.text, err, tt.err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.text, err)
		case f.Buffers[0].Values[0].Bits != tt.want || f.Launches[0].Block[0] != 32:
			t.Errorf("%s: %#x, want %#x", tt.text, f.Buffers[0].Values[0].Bits, tt.want)
		}
	}

	loop := &Node{Kind: SeqNode, Pos: Pos{Line: 3, Col: 4}}
	loop.Items = []*Node{loop}
	bomb := integer("1")
	for range 40 {
		bomb = &Node{Kind: SeqNode, Items: []*Node{bomb, bomb}}
	}
	for _, tt := range []struct {
		root *Node
		want string
	}{
		{loop, "x:3:4: nested more than 64 deep"},
		{bomb, "more than 1048576 values; put large arrays into a .npy file"},
		{nil, "x:1:1: a value is missing"},
		{m("a", integer("1"), "a", integer("1")), `x: duplicate key "a", first at line 0`},
		{integer(strings.Repeat("1", 70000)), "x:9:5: a string of 70000 bytes; the longest allowed has 65536"},
		{m("grd", integer("1")), `x: unknown key "grd" (did you mean "grid"?)`},
		{&Node{Kind: 99}, "x: a launch file is a mapping, not an unknown node"},
	} {
		if _, err := Parse("x", tt.root); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.json")
	// A byte order mark does not count.
	if err := os.WriteFile(name, []byte("\ufeff"+`{"ptx": "k.ptx", "grid": 1, "block": 32}`), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(name)
	if err != nil || f.Launches[0].PTX != filepath.Join(dir, "k.ptx") {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := ReadFile(filepath.Join(dir, "b.json")); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), filepath.Join(dir, "b.json")+": ") {
		t.Error(err)
	}
	if _, err := ReadFile(dir); err == nil || err.Error() != dir+": not a regular file" {
		t.Error(err)
	}
}
