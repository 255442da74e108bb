package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestFlagsAreKeys: flags and a launch file with the same keys give the same
// File.
func TestFlagsAreKeys(t *testing.T) {
	fromFile, err := ParseJSON("x.json", []byte(`{
		"ptx": "k.ptx", "kernel": "k", "grid": [2, 3], "block": [32, 1, 2], "cluster": 2, "shared": 512, "registers": 64, "cooperative": true,
		"buffers": {
			"in": {"type": "f32", "shape": [16384], "fill": "iota"},
			"m": {"type": "s32", "shape": [4, 5], "fill": {"mod": 7}},
			"r": {"type": "f16", "shape": [3], "fill": {"random": {"seed": 5, "low": -1.5, "high": 2}}},
			"s": {"type": "u8", "shape": [3], "fill": {"random": {"seed": "0xff"}}},
			"a": {"type": "f64", "fill": {"file": "d/a=b:c.npy"}},
			"u": {"type": "bf16", "shape": [], "fill": "uninitialized"},
			"ptrs": {"type": "u64", "values": [{"ptr": "in"}, null], "base": "0x7e0000000000"}},
		"variables": {"c": {"type": "f32", "shape": [4], "fill": "iota"}, "d": {"type": "u8", "fill": "ones"}, "e": {"struct": [null, {"s32": 3}]}},
		"args": ["in", {"ptr": "in", "offset": 256}, {"s32": -64}, null, {"f32": "0x3f800000"}, {"f32": "nan"}, {"f64": 1e-3}, {"bytes": "1"},
			{"tensormap": {"of": "in", "box": [128]}}],
		"expect": {"in": {"file": "a,b.npy", "atol": 1e-3, "rtol": 0.5}, "r": {"file": "r.npy", "ulp": 2}, "m": {"file": "m.npy"}},
		"accept": [{"finding": "proxy-war", "at": "gemm.cu:118", "reason": "a=b"}, {"finding": "x", "at": "y", "reason": "z"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	fromFlags, err := FromFlags(Flags{
		PTX: "k.ptx", Kernel: "k", Grid: "2x3", Block: "32x1x2", Cluster: "2", Shared: "512", Registers: "64", Cooperative: "true",
		Buffers: []string{"in=f32[16384]:iota", "m=s32[4,5]:mod=7", "r=f16[3]:random=5,-1.5,2", "s=u8[3]:random=0xff", "a=f64:file=d/a=b:c.npy", "u=bf16[]",
			`ptrs={"type": "u64", "values": [{"ptr": "in"}, null], "base": "0x7e0000000000"}`},
		Variables: []string{"c=f32[4]:iota", `d={"type": "u8", "fill": "ones"}`, `{"e": {"struct": [null, {"s32": 3}]}}`},
		Args:      []string{"in", "in+256", "s32:-64", "null", "f32:0x3f800000", "f32:nan", "f64:1e-3", "bytes:1", `{"tensormap": {"of": "in", "box": [128]}}`},
		Expect:    []string{"in=a,b.npy,atol=1e-3,rtol=0.5", `r={"file": "r.npy", "ulp": 2}`, "m=m.npy"},
		Accept:    []string{"proxy-war@gemm.cu:118=a=b", `{"finding": "x", "at": "y", "reason": "z"}`},
	})
	if err != nil {
		t.Fatal(err)
	}
	opts := cmp.Options{
		cmpopts.IgnoreTypes(Pos{}), cmpopts.IgnoreFields(File{}, "Name"),
		cmpopts.IgnoreUnexported(Launch{}, Buffer{}),
	}
	if d := cmp.Diff(fromFile, fromFlags, opts); d != "" {
		t.Error(d)
	}
}

// TestFlagsReplace: flags over a file replace what they name and keep the rest.
func TestFlagsReplace(t *testing.T) {
	f := parse(t, "", `"kernel": "k", "buffers": {"a": {"type": "u8", "shape": [1]}, "b": {"type": "u8", "shape": [2]}}, "args": ["a", "b"], "expect": {"b": {"file": "b.npy"}}`)
	err := Flags{Grid: "8", Buffers: []string{"a=f32[3]", "c=u8[1]"}, Args: []string{"c"}, Expect: []string{"b=c.npy,ulp=0", "a=a.npy"}[1:]}.Apply(f)
	if err != nil {
		t.Fatal(err)
	}
	l := f.Launches[0]
	if l.Kernel != "k" || l.Grid[0] != 8 || l.Block[0] != 1 || len(l.Args) != 1 || len(f.Buffers) != 3 || f.Buffers[0].Type != F32 || len(f.Expect) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestFlagErrors(t *testing.T) {
	ok := Flags{PTX: "k.ptx", Grid: "1", Block: "1", Buffers: []string{"in=f32[4]"}}
	with := func(change func(*Flags)) Flags { fl := ok; change(&fl); return fl }
	buffer := func(s string) Flags { return with(func(fl *Flags) { fl.Buffers = []string{s} }) }
	arg := func(s string) Flags { return with(func(fl *Flags) { fl.Args = []string{s} }) }
	expect := func(s string) Flags { return with(func(fl *Flags) { fl.Expect = []string{s} }) }
	accept := func(s string) Flags { return with(func(fl *Flags) { fl.Accept = []string{s} }) }
	for _, tt := range []struct {
		flags Flags
		want  string
	}{
		{Flags{}, "a launch without a file needs --grid and --block"},
		{Flags{Grid: "1", Block: "1"}, `a launch needs the key "ptx"`},
		{with(func(fl *Flags) { fl.Grid = "2y1" }), `--grid 2y1: want whole numbers, as 2 or 2x1x1`},
		{with(func(fl *Flags) { fl.Grid = "2x" }), `--grid 2x: want whole numbers, as 2 or 2x1x1`},
		{with(func(fl *Flags) { fl.Grid = "2,1" }), `--grid 2,1: want whole numbers, as 2 or 2x1x1`},
		{with(func(fl *Flags) { fl.Grid = "99999999999999999999" }), "--grid 99999999999999999999: grid is 99999999999999999999 in x; it must be from 1 to 2147483647"},
		{Flags{PTX: "k.ptx", Grid: "1"}, "a launch without a file needs --block"},
		{with(func(fl *Flags) { fl.Grid = "2147483648" }), "--grid 2147483648: grid is 2147483648 in x; it must be from 1 to 2147483647"},
		{with(func(fl *Flags) { fl.Block = "0" }), "--block 0: block is 0 in x; it must be from 1 to 1024"},
		{with(func(fl *Flags) { fl.Block = "1x1x1x1" }), "--block 1x1x1x1: block has 4 integers; at most 3 are allowed"},
		{with(func(fl *Flags) { fl.Cluster = "2" }), "--cluster 2: grid is 1 in x, no multiple of the cluster's 2"},
		{with(func(fl *Flags) { fl.Shared = "1K" }), "--shared 1K: shared is an integer, not \"1K\""},
		{with(func(fl *Flags) { fl.Shared = "0xg" }), "--shared 0xg: shared is an integer, not 0xg"},
		{with(func(fl *Flags) { fl.Registers = "999" }), "--registers 999: registers is 999; it must be from 1 to 256"},
		{with(func(fl *Flags) { fl.Cooperative = "yes" }), "--cooperative yes: want true or false"},
		{with(func(fl *Flags) { fl.Variables = []string{"v"} }), "--variable v: want name=type[shape]:fill, as coeff=f32[64]:iota"},
		{with(func(fl *Flags) { fl.Variables = []string{"{}"} }), "--variable {}: want one variable, not 0"},
		{with(func(fl *Flags) { fl.Variables = []string{"v=f32"} }), `--variable v=f32: variable "v" needs a fill, values or a struct`},
		{buffer("in"), "--buffer in: want name=type[shape]:fill, as in=f32[16384]:iota"},
		{buffer("1=f32[4]"), `--buffer 1=f32[4]: bad buffer name "1": letters, digits, '_', '.', '-', not beginning with a digit, and not null`},
		{buffer("in=f32"), `--buffer in=f32: buffer "in" needs a shape`},
		{buffer("in=f32[4"), "--buffer in=f32[4: the shape lacks its ']'"},
		{buffer("in=f32[4]]"), `--buffer in=f32[4]]: shape is an integer, not "4]"`},
		{buffer("in=f32[4],zeros"), "--buffer in=f32[4],zeros: behind the shape stands a colon and the fill, as in=f32[16384]:iota"},
		{arg("n=4"), "--arg n=4: arguments have no names, but types, in the order of the parameters: s32:4"},
		{buffer("in=f99[4]"), `--buffer in=f99[4]: unknown type "f99"; one of u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, tensormap`},
		{buffer("in=float[4]"), `--buffer in=float[4]: unknown type "float" (did you mean "f32"?); one of u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, tensormap`},
		{buffer("in=f32[4]:random"), "--buffer in=f32[4]:random: fill random lacks its value: write random=SEED,LOW,HIGH"},
		{buffer("in=f32[4]:zeros=1"), "--buffer in=f32[4]:zeros=1: fill zeros has no value: write it alone"},
		{buffer("in=f32[4]:arange"), `--buffer in=f32[4]:arange: unknown fill "arange" (did you mean "iota"?); one of uninitialized, zeros, ones, nan, iota, mod=97, random=SEED,LOW,HIGH, file=a.npy`},
		{buffer("in=f32[4]:foo"), `--buffer in=f32[4]:foo: unknown fill "foo"; one of uninitialized, zeros, ones, nan, iota, mod=97, random=SEED,LOW,HIGH, file=a.npy`},
		{buffer("in=f32[4]:foo=1"), `--buffer in=f32[4]:foo=1: unknown fill "foo"; one of uninitialized, zeros, ones, nan, iota, mod=97, random=SEED,LOW,HIGH, file=a.npy`},
		{buffer("in=f32[4]:mod=x"), `--buffer in=f32[4]:mod=x: mod is an integer, not "x"`},
		{buffer("in=f32[4]:random=1,2,3,4"), `--buffer in=f32[4]:random=1,2,3,4: high is a finite number, not "3,4"`},
		{buffer("in={\"type\": \"f32\",\n\"shap\": [4]}"), `--buffer in={"type": "f32", "shap": [4]}:2:1: unknown key "shap" (did you mean "shape"?)`},
		{buffer(`in={`), `--buffer in={:1:2: unexpected end of file; want a key in double quotes`},
		{arg("out"), `--arg out: no buffer is called "out"; there are in`},
		{arg("64"), "--arg 64: a number needs its type, as s32:64"},
		{arg("1.5"), "--arg 1.5: a number needs its type, as f32:1.5"},
		{arg("int=4"), "--arg int=4: a colon stands between type and value: s32:4"},
		{arg("&in"), "--arg &in: a buffer's name alone is its address: in"},
		{arg(""), "--arg : it is empty; want a buffer's name, name+offset, type:value or null, as s32:64"},
		{arg("in+x"), "--arg in+x: offset is an integer, not \"x\""},
		{arg("s32:1.5"), `--arg s32:1.5: "1.5" is no integer; s32 is an integer type`},
		{arg("s32:1099511627776"), `--arg s32:1099511627776: "1099511627776" is out of range for s32, -2147483648 to 2147483647`},
		{arg("i32:1"), `--arg i32:1: unknown type "i32" (did you mean "s32"?); one of u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64, e4m3, e5m2, tensormap, ptr, bytes`},
		{arg("s32:"), `--arg s32:: "" is no s32; a whole number or 0x… bits are`},
		{expect("in"), "--expect in: want name=file, as out=out.npy"},
		{expect("inn=a.npy"), `--expect inn=a.npy: no buffer is called "inn" (did you mean "in"?)`},
		{expect("in=a.npy,atol=x"), `--expect in=a.npy,atol=x: atol is a finite number, not "x"`},
		{expect("in=a.npy,atol=1,ulp=1"), "--expect in=a.npy,atol=1,ulp=1: ulp excludes atol and rtol"},
		{accept("x"), "--accept x: want finding@place=reason, as proxy-war@gemm.cu:118=…"},
		{accept("x@y="), "--accept x@y=: reason is empty"},
	} {
		_, err := FromFlags(tt.flags)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

func TestParseDim3(t *testing.T) {
	for text, want := range map[string][3]uint32{"4": {4, 1, 1}, "4x2": {4, 2, 1}, "4x2x16": {4, 2, 16}} {
		for _, flag := range []string{"--grid", "--block"} {
			if got, err := ParseDim3(flag, text); err != nil || got != want {
				t.Errorf("%s: %v, %v", text, got, err)
			}
		}
	}
	if _, err := ParseDim3("--cluster", "4x2x16"); err == nil || err.Error() != "--cluster 4x2x16: cluster has 128 CTAs; at most 16 are allowed" {
		t.Error(err)
	}
}
