package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// A bad is a command line that is wrong, or whose files are.
type bad struct {
	args  []string
	place string // the file whose content is wrong: the message names its line and column
}

// foreignText is what no message may contain: words of Go's parsers, of the library that reads
// flags, of a verb without its argument, of a crash.
var foreignText = []string{
	"strconv", "invalid syntax", "cannot unmarshal", "Unmarshal", "value out of range", "looking for beginning", "in literal", "%!", "<nil>", "goroutine", "runtime error", "panic", "BUG", "0xc000",
	" json: ", " yaml: ", " time: ", " regexp: ", "error parsing", "parse error on line", "unexpected EOF", "arg(s)", "invalid argument \"", "shorthand", "for \"--", "accepts at most", "go-yaml", "reflect", ".go:",
	"open ", "stat ", "lstat", "mkdir ", "no such file or directory: ",
}

// trueProgram is there, and would be run if nothing else were wrong.
const trueProgram = "true"

// badSeconds is how long a command may take before it counts as one that hangs.
const badSeconds = 60

// check runs the command line in this process, and holds what it says to the form of a message:
// status 2, nothing on standard output, one line, and for a place in a file that line of it with
// a caret.
func (b bad) check(t *testing.T) {
	t.Helper()
	name := fmt.Sprintf("muster %q", b.args)
	var out, stderr bytes.Buffer
	status := make(chan int, 1)
	go func() { status <- doMain(b.args, strings.NewReader(""), &out, &stderr) }()
	select {
	case got := <-status:
		if got != exitBadInput {
			t.Errorf("%s: status %d\n%s%s", name, got, brief(out.String()), stderr.String())
			return
		}
	case <-time.After(badSeconds * time.Second):
		t.Fatalf("%s: hangs", name)
	}
	text := stderr.String()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	switch {
	case out.Len() > 0:
		t.Errorf("%s: writes %q", name, brief(out.String()))
	case !strings.HasSuffix(text, "\n") || !strings.HasPrefix(text, "muster: ") || strings.Count("\n"+text, "\nmuster: ") != 1:
		t.Errorf("%s: no message of one line: %q", name, text)
	case len(lines) != 1 && (len(lines) != 3 || strings.TrimLeft(lines[2], " \t…") != "^"):
		t.Errorf("%s: more than one line without a caret: %q", name, text)
	case len(lines[0]) < 20 || len(lines[0]) > 700+2*len(strings.Join(b.args, "")):
		t.Errorf("%s: a line of %d bytes: %s", name, len(lines[0]), text)
	case !printable(lines[0]):
		t.Errorf("%s: a line that no terminal can show: %q", name, text)
	case b.place != "" && !regexp.MustCompile(`^muster: `+regexp.QuoteMeta(b.place)+`:\d+:\d+: `).MatchString(text):
		t.Errorf("%s: does not say where in %s: %s", name, b.place, text)
	}
	for _, f := range foreignText {
		if strings.Contains(text, f) {
			t.Errorf("%s: says %q: %s", name, f, text)
		}
	}
}

const badPTX = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	mul.lo.s32 %r3, %r2, %r1;
	st.global.u32 [%rd3], %r3;
	ret;
}
`

const badYAML = `ptx: k.ptx
grid: 1
block: 32
buffers:
  out: {type: u32, shape: [32]}
args: [out, {u32: 3}]
`

const badJSON = `{"ptx": "k.ptx", "grid": [1], "block": 32,
 "buffers": {"out": {"type": "u32", "shape": [32]}},
 "args": ["out", {"u32": 3}]}
`

// launchCommands take a launch; the words are what else they need.
var launchCommands = map[string][]string{
	"check": nil, "run": nil, "mutate": nil, "replay": nil, "reduce": {"--finding", "race-global"}, "view": {"--html", "page.html"}, "merge": {"--from", "none.json"},
}

func badDir(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	putBad(t, "k.ptx", badPTX)
	putBad(t, "k.yaml", badYAML)
	putBad(t, "k.json", badJSON)
}

func putBad(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestBadInput runs many wrong command lines: none may crash or hang, and each must say in one
// line, in this project's words, what is wrong and where.
func TestBadInput(t *testing.T) {
	if testing.Short() {
		t.Skip("it has no goroutines of its own, and the race detector takes minutes")
	}
	badDir(t)
	all := 0
	for _, group := range []struct {
		name string
		make func(*testing.T) []bad
	}{
		{"flags", badFlags}, {"names", badNames}, {"launch flags", badLaunchFlags}, {"launch keys", badLaunchKeys}, {"texts", badTexts}, {"cut off", badPrefixes}, {"files", badFiles}, {"by hand", badByHand},
	} {
		t.Run(group.name, func(t *testing.T) {
			list := group.make(t)
			for _, b := range list {
				b.check(t)
			}
			t.Logf("%d", len(list))
			all += len(list)
		})
	}
	if all < 300 {
		t.Errorf("%d wrong command lines, fewer than 300", all)
	}
}

// badFlags gives every flag of every command values that its type does not have, and none.
func badFlags(*testing.T) (list []bad) {
	wrong := map[string][]string{
		"int": {"x", "1.5", "99999999999999999999", "", "0x", "1e3", "1_"}, "int64": {"x", "1.5", "99999999999999999999", "1M"}, "duration": {"5", "x", "5 minutes", ""}, "bytes": {"x", "8X", "-1", "0", "1.5G", ""},
		"text|json|sarif|github|line": {"xml", ""}, "stringSlice": {`"a"b`, `a"b`}, "text|json": {"xml", ""}, "needed|all|none": {"some"},
		"format=file": {"", "sarif", "sarif=", "xml=a", "=a"},
	}
	for _, c := range newRoot(&console{}).Commands() {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			for _, v := range wrong[f.Value.Type()] {
				list = append(list, bad{args: []string{c.Name(), "--" + f.Name + "=" + v}})
			}
			if f.Value.Type() == "bool" {
				list = append(list, bad{args: []string{c.Name(), "--" + f.Name + "=x"}})
			} else {
				list = append(list, bad{args: []string{c.Name(), "--" + f.Name}})
			}
			if len(f.Name) > 3 && !strings.Contains(f.Name, "no-desc") {
				list = append(list, bad{args: []string{c.Name(), "--" + f.Name[:len(f.Name)-2] + "q"}}, bad{args: []string{c.Name(), "-" + f.Name + "q"}})
			}
		})
	}
	return list
}

// badNames gives commands too many names, too few, and none that there is.
func badNames(*testing.T) (list []bad) {
	for _, args := range [][]string{
		{"frobnicate"}, {"chekc"}, {"Check", "k.yaml"}, {"k.yaml"}, {"k.ptx", "--grid", "1"}, {"verify", "k.yaml"}, {""}, {" "}, {"--", "check"}, {"-x"}, {"--frob"}, {"help", "frob"}, {"completion", "frob"}, {"completion", "bash", "x"}, {"version", "x"}, {"coverage", "x"},
		{"barrier"}, {"barrier", "a", "b"}, {"fmt"}, {"fmt", "k.ptx", "k.ptx"}, {"fmt", "-w", "-"}, {"import"}, {"import", "a", "b"}, {"init"}, {"capture"}, {"explain", "race", "global"},
		{"explain", "frobnicate"}, {"explain", "race-generic"}, {"explain", ""}, {"explain", "-"}, {"explain", "proxy-rwa"}, {"explain", "--schema"}, {"explain", "race", "--schema"}, {"explain", strings.Repeat("x", 5000)}, {"explain", "\x1b[31mred"}, {"explain", "\xff\xfe"},
	} {
		list = append(list, bad{args: args})
	}
	for name, more := range launchCommands {
		for _, args := range [][]string{{}, {"k.yaml", "k.yaml"}, {"k.ptx"}, {"k.ptx", "--grid", "1"}, {"k.ptx", "--block", "32"}, {"k.cu"}, {"k.cuh", "--grid", "1", "--block", "1"}, {"gone.yaml"}, {"gone.ptx", "--grid", "1", "--block", "1"}, {"."}, {""}, {"-"}, {"k"}, {"k.yaml/x"}, {"no\x00name"}, {"new\nline.yaml"}, {os.DevNull}, {strings.Repeat("n", 5000)}, {"32", "k.ptx"}, {"k.ptx", "--ptx", "k.ptx"}, {"k.yaml", "--launch", "3"}, {"k.yaml", "--launch", "foo"}} {
			if name == "check" && len(args) == 2 && !strings.HasPrefix(args[1], "-") {
				continue // it takes several files
			}
			list = append(list, bad{args: append(append([]string{name}, args...), more...)})
		}
	}
	return list
}

// badLaunchFlags gives the flags that say the keys of a launch file wrong values.
func badLaunchFlags(*testing.T) (list []bad) {
	dims := []string{"0", "-1", "x", "1x", "x1", "1,1", "(1,1,1)", "1x1x1x1", "1.5", "1e3", "99999999999", "99999999999999999999", "dim3(2)", " ", "0x", "1 1", "\t", "∞"}
	numbers := []string{"-1", "x", "1.5", "99999999999999999999", "48K", "0x", " ", "0xg", "1_0_"}
	var buffers, fills []string
	for _, typ := range []string{"float", "half", "int", "double", "bfloat16", "fp8", "uint8_t", "float4", "F32", "f33", "", "32", "f32(4)", "f32<4>", "torch.float32", "u32*", strings.Repeat("f", 999)} {
		buffers = append(buffers, "out="+typ+"[32]")
	}
	for _, fill := range []string{"zero", "0", "1", "one", "arange", "rand", "random", "mod", "file", "none", "empty", "iota:", "nan=1", "zeros=", "mod=x", "mod=0", "mod=-1", "random=a", "random=1,x", "random=1,5,2", "random=1,2,3,4", "random=,", "file=", "file=gone.npy", "file=k.ptx", "file=.", "NaN", "=", "7", "{}", "\"zeros\""} {
		fills = append(fills, "out=f32[32]:"+fill)
	}
	for flag, values := range map[string][]string{
		"grid": dims, "block": append(dims, "2048", "32x64"), "cluster": append(dims, "32", "4x8", "3"), "preferred-cluster": append(dims, "32"),
		"shared": append(numbers, "999999"), "registers": append(numbers, "0", "257"), "maxrregcount": append(numbers, "256"), "co-resident": append(numbers, "0"), "cooperative": {"yes", "1", "TRUE", " "},
		"buffer":   append(append(buffers, fills...), "out", "=", "=u32[4]", "out=", "1out=u32[4]", "null=u32[4]", "o ut=u32[4]", "out=u32", "out=u32[4", "out=u32]4[", "out=[4]u32", "out=u32[a]", "out=u32[-1]", "out=u32[4.5]", "out=u32[99999999999,99999999999]", "out=u32[99999999999]", "out={", "out={}", "out=[]", `out={"type":"u32"}`, `out={'type':'u32'}`, `out={type: u32}`, `out={"type":"u32","shap":[4]}`, `out={"type":"u\q"}`, `out={"type":"u32","shape":[4],"values":[1]}`, `out={"type":"u32","values":[-1]}`, `out={"type":"u32","values":["x"]}`, `out={"type":"u32","shape":[4],"fill":"zero"}`, `out={"type":"u32"} x`, `out={"type":null}`, `out={"type":"u32","type":"u32"}`, "out=u32[1x"),
		"variable": {"v", "v=f32[4]:iota", "{", "{}", `{"v":3}`, "v=", "v=float[4]:iota", `{"v":{"struct":3}}`, `{"a":{"type":"u32"},"b":{"type":"u32"}}`},
		"arg":      {"3", "1.5", "-1", "nan", "", "=", "&out", "*out", "out[3]", "out+x", "out+-1", "out+1e9", "out+999", "u32=3", "int=3", "int:3", "float:1", "u32:", "u32:x", "u32:1.5", "u32:-1", "u32:99999999999", "f32:x", "f32:1e99", "e4m3:inf", "u32:0x", "u32:0xg", "u32:08", "bytes:gone.bin", "bytes:", "bytes:.", "{", "{}", `{"u32"}`, `{"u32":}`, `{"u33":1}`, `{"u32":1,"s32":2}`, `{"ptr":3}`, `{"tensormap":3}`, `{"tensormap":{"of":"out"}}`, `{"tensormap":{"of":"gone","box":[4]}}`, `{"struct":[]}`, `{"struct":[{"pad":0}]}`, "[1]", "gone", "o ut", "tensormap:out", "struct:3", ":", ":3"},
		"expect":   {"out", "out=", "=", "=a.npy", "gone=a.npy", "out=gone.npy", "out=k.ptx", "out=k.npy,atol=x", "out=k.npy,atol=-1", "out=k.npy,ulp=1.5", "out=k.npy,ulp=1,atol=1", "out=k.npy,type=float", `out={"fil":"a"}`, "out={"},
		"accept":   {"x", "x@y", "@=", "race@k.ptx:3=x", "race-global=x", "race-global@k.ptx=", "{", `{"finding":"x"}`, `{"finding":"frob","at":"k.ptx","reason":"x"}`},
		"assume":   {"x", "", "vector_atomic"}, "link": {"gone.ptx", ".", "k.yaml", "k.ptx"}, "ptx": {"gone.ptx", ".", "k.yaml", "k.json"}, "kernel": {"K", "kk", "frobnicate"}, "launch": {"0", "2", "x"},
		"arch": {"sm_90"}, "nvcc-flag": {"-O3"},
	} {
		for _, v := range values {
			list = append(list, bad{args: []string{"check", "k.yaml", "--" + flag + "=" + v}})
		}
	}
	return append(list, badArguments()...)
}

// badArguments are arguments that do not fit the kernel's parameters.
func badArguments() (list []bad) {
	for _, args := range [][]string{
		{}, {"--arg", "out"}, {"--arg", "out", "--buffer", "out=u32[32]"}, {"--arg", "u32:3", "--arg", "out", "--buffer", "out=u32[32]"}, {"--arg", "out", "--arg", "f32:3", "--buffer", "out=u32[32]"},
		{"--arg", "out", "--arg", "u32:3", "--arg", "u32:3", "--buffer", "out=u32[32]"}, {"--arg", "null"}, {"--arg", "null", "--arg", "null"}, {"--arg", "s64:1", "--arg", "s64:1"}, {"--arg", `{"struct": [{"u32": 1}]}`, "--arg", "u32:1"},
	} {
		list = append(list, bad{args: append([]string{"check", "k.ptx", "--grid", "1", "--block", "32"}, args...)})
	}
	return list
}

// badLaunchKeys gives every key of a launch file values that it does not have.
func badLaunchKeys(t *testing.T) (list []bad) {
	for key, values := range map[string]string{
		"ptx": "~ 3 [] {} '' [1] gone.ptx", "grid": "~ 0 -1 x [] {} 1.5 1x1 [1,1,1,1] 99999999999999999999 true [a] 08 0xzz 1_0_ .inf 2001-01-01", "block": "~ 0 2048 [32,64] [1,1,65] x [a]", "cluster": "2 0 -1 x [4,4,2] {}",
		"preferred-cluster": "2 0 x", "shared": "-1 x 48K 999999 1.5 [] ~", "registers": "0 x 257 ~", "maxrregcount": "256 x 0", "co-resident": "0 33 x", "cooperative": "yes 1 ~ [] 'true'", "kernel": "3 '' kk [] ~",
		"version": "2 x ~ 1.5", "buffers": "~ [] x 3 {out:3} {out:{}} {1:{}} {out:~}", "args": "~ {} x 3 [] [out] [3] [[]] [{}] [out,3] [out,{int:3}] [out,{u32:x}] [out,{u32:-1}] [gone,~] [{u32:3},out] [out,{u32:3},~] [out,{u32:3,s32:3}] [{ptr:out,offset:999},{u32:3}] [{ptr:out,ofset:9},{u32:3}]",
		"variables": "~ [] x {v:3} {v:{type:f32}} {v:{type:f32,fill:iota}}", "expect": "~ [] x {out:3} {out:{}} {gone:{file:a.npy}} {out:{file:gone.npy}} {out:{file:a,atol:x}}", "accept": "~ {} x [3] [{}] [{finding:frob,at:a,reason:b}] [{finding:race-global}]", "assume": "~ {} x [x] [3]",
		"launches": "~ [] {} x [3] [{}]", "gird": "1", "Grid": "1", "": "1", "stream": "a", "name": "b",
	} {
		for i, v := range strings.Fields(values) {
			v = strings.NewReplacer(":", ": ", ",", ", ").Replace(v)
			text := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(key)+`: .*\n`).ReplaceAllString(badYAML, "")
			if key == "buffers" {
				text = strings.Replace(strings.Replace(badYAML, "buffers:\n", "", 1), "  out: {type: u32, shape: [32]}\n", "", 1)
			}
			name := fmt.Sprintf("keys/%s%d.yaml", key, i)
			putBad(t, name, strings.ReplaceAll(text, "k.ptx", "../k.ptx")+key+": "+v+"\n")
			list = append(list, bad{args: []string{"check", name}, place: name})
		}
	}
	for i, v := range strings.Fields("~ 3 [] float half int fp8 F32 '' f33") {
		name := fmt.Sprintf("keys/type%d.yaml", i)
		putBad(t, name, strings.Replace(badYAML, "type: u32", "type: "+v, 1))
		list = append(list, bad{args: []string{"check", name}, place: name})
	}
	for i, v := range strings.Fields("~ 0 1 7 zero one arange rand random mod file [] [1] {} {mod:0} {mod:x} {zeros:1} {rand:1} {random:3} {random:{sed:1}} {random:{seed:x}} {random:{low:2,high:1}} {file:} {file:gone.npy} {file:.} {mod:1,file:a} nan true 1.5 2001-01-01") {
		name := fmt.Sprintf("keys/fill%d.yaml", i)
		putBad(t, name, strings.Replace(badYAML, "[32]}", "[32], fill: "+strings.NewReplacer(":", ": ", ",", ", ").Replace(v)+"}", 1))
		list = append(list, bad{args: []string{"check", name}, place: name})
	}
	return list
}

// badTexts are slips of the pen in YAML and JSON.
func badTexts(t *testing.T) (list []bad) {
	for i, r := range [][2]string{
		{"grid: 1", "grid:1"}, {"grid: 1", "grid 1"}, {"grid: 1", "grid = 1"}, {"  out", "\tout"}, {"grid: 1", "\tgrid: 1"}, {"block: 32", " block: 32"}, {"[32]}", "[32]"}, {"[32]}", "[32}"}, {"[out,", "[out"}, {"3}]", "3}"}, {"args: [", "args: "}, {"3}]", "3}]]"}, {"[32]}", "[32]}}"},
		{"ptx: ", `ptx: "`}, {"ptx: ", "ptx: '"}, {"k.ptx", `"\q"`}, {"ptx: ", "ptx: @"}, {"ptx: ", "ptx: `"}, {"ptx: ", "ptx: %"}, {"ptx: ", "%ptx: "}, {"ptx: ", "ptx: !x "}, {"ptx: ", "ptx: *x "}, {"ptx: k.ptx", "ptx: &"}, {"grid: 1", "grid: 1\ngrid: 1"}, {"grid: 1", "<<: {a: b}\ngrid: 1"}, {"grid: 1", "grid: 1\n---\na: 1"}, {"grid: 1", "grid: 1\n...\nfoo"},
		{"args: [out, {u32: 3}]", "args: - out"}, {"grid: 1", "? [grid]\n: 1"}, {"grid: 1", "[a]: 1"}, {"grid: 1", "grid: |0\n  1"}, {"grid: 1", "grid: |9\n  1"}, {"grid: 1", "grid: |\n  1"}, {badYAML, "- a"}, {badYAML, "hello"}, {badYAML, "42"}, {badYAML, ":"}, {badYAML, "-"}, {badYAML, "?"}, {badYAML, "{"}, {badYAML, "["}, {badYAML, "}"}, {badYAML, `"`}, {badYAML, "---"}, {badYAML, "# x"}, {badYAML, ""}, {badYAML, "\x00"}, {badYAML, "\xff\xfe"}, {badYAML, "a: &a [*a]"}, {badYAML, strings.Repeat("[", 5000)}, {badYAML, strings.Repeat("a: {", 5000)}, {badYAML, strings.Repeat("- ", 5000)}, {badYAML, "a: \x1b[31m"}, {"grid: 1", "grid: \u202e1"}, {"grid", "g\u0000rid"},
	} {
		name := fmt.Sprintf("texts/%d.yaml", i)
		putBad(t, name, strings.ReplaceAll(strings.Replace(badYAML, r[0], r[1], 1), "k.ptx", "../k.ptx"))
		list = append(list, bad{args: []string{"check", name}, place: name})
	}
	for i, r := range [][2]string{
		{"{", ""}, {"}}", "}"}, {": [1]", " [1]"}, {`"grid"`, "grid"}, {`"grid"`, "'grid'"}, {"32,", "32"}, {"3}]}", "3}],}"}, {`"k.ptx"`, `"k`}, {`"k.ptx"`, `"\q"`}, {`"k.ptx"`, `"\u12"`}, {`"k.ptx"`, "\"\x01\""}, {`"k.ptx"`, "\"\xff\""}, {": 32", ": 032"}, {": 32", ": 3e"}, {": 32", ": 3.5"}, {": 32", ": NaN"}, {": 32", ": +1"}, {": 32", ": tru"}, {": 32", ": "}, {": 32", `: 32, "block": 32`}, {"3}]}", "3}]} x"}, {badJSON, ""}, {badJSON, "[]"}, {badJSON, "null"}, {badJSON, "3"}, {badJSON, `"x"`}, {badJSON, "\x00"}, {badJSON, strings.Repeat("[", 5000)}, {badJSON, strings.Repeat(`{"a":`, 5000)}, {": 32", ": 1e999"}, {": 32", ": " + strings.Repeat("9", 70000)}, {`"k.ptx"`, `"` + strings.Repeat("k", 70000) + `"`}, {"{", "// c\n{"},
	} {
		name := fmt.Sprintf("texts/%d.json", i)
		putBad(t, name, strings.Replace(badJSON, r[0], r[1], 1))
		list = append(list, bad{args: []string{"check", name}, place: name})
	}
	for i, r := range [][2]string{
		{".version 8.0", ".version x"}, {".version 8.0", ".version 99.0"}, {".version 8.0\n", ""}, {"sm_90a", "sm_x"}, {".target", ".traget"}, {"64", "65"}, {".entry", ".entyr"}, {"k(", "("}, {".param .u64", ".param .f33"}, {"{", ""}, {"}", ""}, {"ret;", "ret"}, {"%r2,", "%r2"}, {"[out]", "[out"}, {"[out]", "[gone]"}, {"%r<4>", "%r<x>"}, {"%r<4>", "%r<99999999999>"}, {"%rd1, [out]", "%q, [out]"}, {"%tid.x", "%tid.q"}, {"mul.lo.s32 %r3", "mul.lo.s32 %rd3"}, {", 4;", ", 99999999999999999999;"}, {", 4;", ", 0x;"}, {", 4;", ", 08;"}, {"ret;", "bra gone;"}, {"ret;", "@%r1 ret;"}, {"ret;", "ret; /*"}, {"ret;", "\"x"}, {"ret;", "\x00"}, {"ret;", "\xff"}, {"ret;", "L: ret; L: ret;"}, {"ret;", "#include <x>"}, {"ret;", strings.Repeat("{", 5000)}, {"ret;", "call gone;"}, {".u32 n", ".u64 out"},
	} {
		name := fmt.Sprintf("texts/%d.ptx", i)
		putBad(t, name, strings.Replace(badPTX, r[0], r[1], 1))
		args := []string{"check", name, "--grid", "1", "--block", "32", "--buffer", "out=u32[32]", "--arg", "out", "--arg", "u32:3"}
		list = append(list, bad{args: args, place: name})
	}
	return list
}

// badPrefixes are files that are cut off: each begin is wrong, and none is more than that.
func badPrefixes(t *testing.T) (list []bad) {
	cut := func(text, end string, every int, args ...string) {
		for n := 0; n < len(strings.TrimSpace(text)); n += every {
			name := fmt.Sprintf("cut%d%s", n, end)
			putBad(t, name, text[:n])
			list = append(list, bad{args: append(append([]string{args[0]}, name), args[1:]...)})
		}
	}
	cut(badPTX, ".ptx", 11, "check", "--grid", "1", "--block", "32", "--buffer", "out=u32[32]", "--arg", "out", "--arg", "u32:3")
	cut(badYAML, ".yaml", 5, "check")
	cut(badJSON, ".json", 5, "check")
	return list
}

// badFiles gives files of every kind to every command that reads one.
func badFiles(t *testing.T) (list []bad) {
	elf := func(typ, machine byte) string {
		return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + string([]byte{typ, 0, machine, 0}) + strings.Repeat("\x00", 400)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(badPTX))
	z.Close()
	kinds := map[string]string{
		"m.o": elf(1, 62), "m": elf(2, 62), "m.so": elf(3, 62), "m.cubin": elf(2, 190), "short": "\x7fELF", "m.fatbin": "\x50\xed\x55\xba\x01\x00\x10\x00\xff\xff\x00\x00\x00\x00\x00\x00", "m.a": "!<arch>\nm.o/            0           0     0     644     8         `\n12345678",
		"m.gz": zipped.String(), "bad.gz": "\x1f\x8b\x08junk", "m.zst": "\x28\xb5\x2f\xfdjunk", "m.zip": "PK\x03\x04\x00\x00junk", "m.xz": "\xfd7zXZ\x00junk", "m.npy": "\x93NUMPY\x01\x00v\x00{'descr': '<f4', }", "m.bc": "BC\xc0\xde5\x14", "m.exe": "MZ\x90\x00\x03\x00",
		"m.ttir": "#loc = loc(unknown)\nmodule {\n  tt.func public @k() {\n  }\n}\n", "m.ll": "; ModuleID = 'k'\ntarget triple = \"nvptx64\"\n", "m.sass": "\tcode for sm_90a\n\t\tFunction : k\n", "m.py": "import triton\n\n@triton.jit\ndef k(x):\n    pass\n", "m.cpp": "#include <cstdio>\nint main() {}\n",
		"junk": strings.Repeat("\x80\x00\x9f\n", 100), "empty": "", "blank": " \n\n", "word.txt": "hello\n", "other.json": `{"a": 1}`, "list.json": "[1, 2]", "number.json": "1", "crlf.txt": "a\r\nb\r\n", "utf16": "\xff\xfep\x00t\x00x\x00", "html": "<!DOCTYPE html>\n<html></html>\n", "csv": "a,b\n1,2\n", "toml": "[a]\nb = 1\n",
	}
	for name, text := range kinds {
		putBad(t, "kinds/"+name, text)
		name := "kinds/" + name
		for c, more := range launchCommands {
			list = append(list, bad{args: append([]string{c, name}, more...)})
		}
		for _, c := range []string{"init", "fmt", "import"} {
			list = append(list, bad{args: []string{c, name}})
		}
		if text != "" && strings.TrimSpace(text) != "" {
			list = append(list, bad{args: []string{"barrier", name}})
		}
		putBad(t, name+".ptx", text)
		putBad(t, name+".yaml", "ptx: "+filepath.Base(name)+"\ngrid: 1\nblock: 1\n")
		list = append(list, bad{args: []string{"check", name + ".ptx", "--grid", "1", "--block", "1"}}, bad{args: []string{"check", name + ".yaml"}},
			bad{args: []string{"check", "k.yaml", "--link", name}}, bad{args: []string{"check", "k.yaml", "--buffer", "out=u32[32]:file=" + name}}, bad{args: []string{"check", "k.yaml", "--expect", "out=" + name}}, bad{args: []string{"check", "k.yaml", "--state", name}},
			bad{args: []string{"replay", "--schedule", "@" + name}}, bad{args: []string{"merge", "k.yaml", "--from", name}})
	}
	return list
}

// badByHand are the others.
func badByHand(t *testing.T) (list []bad) {
	putBad(t, "there.yaml", badYAML)
	putBad(t, "schedules/header", "# muster schedule 1\n")
	putBad(t, "schedules/key", "# muster schedule 1\nfoo: x\n")
	putBad(t, "schedules/quote", "# muster schedule 1\nlaunch: 'x\nschedule: latest\n")
	putBad(t, "schedules/policy", "# muster schedule 1\nlaunch: k.yaml\nschedule: sideways\n")
	putBad(t, "logs/a.ndjson", "{\"event_type\": 3}\n")
	putBad(t, "logs/b.ndjson", "{\"event_type\": \"compilation\"}\n")
	putBad(t, "logs/c.ndjson", "{\"event_type\": \"compilation\", \"payload\": {\"metadata\": 3}}\n")
	putBad(t, "logs/d.ndjson", "{\"event_type\": \n")
	putBad(t, "logs/e.ndjson", "nothing\n")
	putBad(t, "logs/f.ndjson", "{\"event_type\": \"launch\", \"grid\": [\"x\"]}\n")
	putBad(t, "logs/g.ndjson", "{\"event_type\": \"launch\", \"grid\": [1], \"extracted_args\": {\"a\": {\"type\": \"int\", \"value\": []}}}\n")
	for i, s := range []string{"init", "init bar", "init bar x", "init bar -1", "init bar 99999999999999999999", "arrive bar", "frob bar 1", "init bar 1\ninit", "init bar 1\narrive gone", "init bar 1\narrive bar x", "----", "init bar 1\nwait bar parity x", "init bar 0x", "init 1 bar", "init bar 2^x", "\x00", "init bar 1 1"} {
		name := fmt.Sprintf("scripts/%d", i)
		putBad(t, name, s+"\n")
		list = append(list, bad{args: []string{"barrier", name}, place: name})
	}
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"check k.yaml --fail-on note", "check k.yaml --first -1", "check k.yaml --brief --all", "check k.yaml --schedules 0", "check k.yaml --steps 0", "check k.yaml --steps -1", "check k.yaml --preemptions -2", "check k.yaml --any 9", "check k.yaml --any 1", "check k.yaml --any -1",
		"check k.yaml --limit-instrs 0", "check k.yaml --limit-time -5s", "check k.yaml --limit-time 0", "check k.yaml --limit-local 0", "check k.yaml --limit-local 99999999999", "check k.yaml --limit-memory 64", "check k.yaml --jobs -1", "run k.yaml --jobs -1", "mutate k.yaml --jobs -1",
		"check k.yaml --shard 3", "check k.yaml --shard x/y --state s", "check k.yaml --shard 2/2 --state s", "check k.yaml --shard 0/2", "check k.yaml --shard 0/0 --state s", "check k.yaml --shard auto --state s", "check k.yaml --state folder", "check k.yaml --state k.ptx", "check k.yaml --state k.json",
		"check k.yaml --schedule-dir k.ptx", "check k.yaml --schedule-dir gone/x/y/k.ptx --fail-on x",
		"run k.yaml --schedule sideways", "run k.yaml --schedule random", "run k.yaml --schedule random:x", "run k.yaml --schedule random:99999999999999999999", "run k.yaml --schedule pct:1", "run k.yaml --schedule pct:1:0:9", "run k.yaml --schedule pct:1:x:y", "run k.yaml --schedule latest:3", "run k.yaml --schedule r1", "run k.yaml --schedule rA/latest", "run k.yaml --schedule r0.0.0*x/latest", "run k.yaml --schedule r7.7.7/latest", "run k.yaml --schedule /", "run k.yaml --schedule :", "run k.yaml --schedule ,", "run k.yaml --schedule=", "run k.yaml --schedule s0,/latest", "run k.yaml --schedule s99999999999999999999/latest", "run k.yaml --schedule @gone",
		"run k.yaml --out x", "run k.yaml --out out=", "run k.yaml --out =x", "run k.yaml --out gone=a.npy", "run k.yaml --out out=folder", "run k.yaml --out out=gone/a.npy", "run k.yaml --out out=k.ptx/a.npy",
		"replay", "replay --schedule @gone", "replay --schedule @folder", "replay --schedule @schedules/header", "replay --schedule @schedules/key", "replay --schedule @schedules/quote", "replay --schedule @schedules/policy", "replay k.yaml --schedule @k.ptx", "replay k.yaml --finding frob", "replay k.yaml --finding race-generic@k.ptx:1,2", "replay k.yaml --finding RACE", "replay k.yaml --finding @", "replay k.yaml --until 0", "replay k.yaml --until -1", "replay k.yaml --shrink", "replay k.yaml --print frob", "replay k.yaml --print memory", "replay k.yaml --print memory:", "replay k.yaml --print memory:gone", "replay k.yaml --print memory:out[", "replay k.yaml --print memory:out[x]", "replay k.yaml --print memory:out[9:1]", "replay k.yaml --print memory:out@x", "replay k.yaml --print memory:out[0:99999999999999999999]", "replay k.yaml --print memory:out[99]",
		"reduce", "reduce k.yaml", "reduce k.yaml --finding frob", "reduce k.yaml --finding race-global --budget 0", "reduce k.yaml --finding race-global --schedule sideways", "reduce k.yaml --schedule latest", "reduce --schedule @gone",
		"mutate k.yaml --only frob", "mutate k.yaml --schedules 0", "mutate gone.yaml",
		"merge k.yaml", "merge k.yaml --from gone.json", "merge k.yaml --from k.json", "merge k.yaml --from folder", "merge k.yaml --from=",
		"coverage --class frob", "coverage --format xml", "explain --schema", "explain race-global --schema",
		"init k.ptx --kernel frob", "init k.ptx -o there.yaml", "init k.ptx k.ptx", "init gone.ptx", "init folder", "init k.ptx gone.ptx", "init -",
		"import gone", "import k.ptx", "import k.yaml", "import folder", "import " + os.DevNull, "import logs/a.ndjson", "import logs/b.ndjson", "import logs/c.ndjson", "import logs/d.ndjson", "import logs/e.ndjson", "import logs/f.ndjson", "import logs/g.ndjson",
		"fmt gone.ptx", "fmt folder", "fmt k.yaml", "fmt -", "fmt -w gone.ptx", "barrier gone", "barrier folder", "barrier k.ptx", "barrier k.yaml",
		"capture -o k.ptx -- " + trueProgram, "capture -o k.ptx/x -- " + trueProgram, "capture -- gone-program", "capture -- ./k.ptx", "capture --dry -- gone-program", "capture --as sm_90 -- gone-program", "capture --dry --as sm_20 -- gone-program", "capture --dry --as x -- gone-program", "capture --kernel ( -- gone-program", "capture --kernel [z-a] -- gone-program", "capture --kernel \\d -- gone-program", "capture --kernel a**{ -- gone-program", "capture --launch x -- gone-program", "capture --launch 3-1 -- gone-program", "capture --launch , -- gone-program", "capture --launch 99999999999999999999 -- gone-program", "capture --wait -1s -- gone-program", "capture --contents some -- gone-program", "capture --max-bytes x -- gone-program",
	} {
		list = append(list, bad{args: strings.Fields(line)})
	}
	return list
}

// TestBadFlagsKnown: the corpus knows a wrong value for every type of flag that has one.
func TestBadFlagsKnown(t *testing.T) {
	known := []string{"text|json|sarif|github|line", "format=file", "int", "int64", "duration", "bytes", "stringSlice", "text|json", "needed|all|none", "bool", "string", "stringArray"}
	for _, c := range newRoot(&console{}).Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(known, f.Value.Type()) {
				t.Errorf("muster %s --%s: a flag of type %s, for which badFlags has no wrong value", c.Name(), f.Name, f.Value.Type())
			}
		})
	}
}
