package tritonlog_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/entry"
	"muster/internal/skeleton"
	"muster/internal/tritonlog"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

var update = flag.Bool("update", false, "write the golden files")

// kernelPTX is a kernel of some parameters, which it only loads. A pointer is written to.
func kernelPTX(name string, params ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry %s(", name)
	body := ""
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		switch p {
		case "ptr", "out":
			fmt.Fprintf(&b, ".param .u64 .ptr .global .align 1 %s_param_%d", name, i)
			body += fmt.Sprintf("ld.param.b64 %%rd%d, [%s_param_%d];\n", i, name, i)
			if p == "out" {
				body += fmt.Sprintf("st.global.b32 [%%rd%d], 0;\n", i)
			} else {
				body += fmt.Sprintf("ld.global.b32 %%r1, [%%rd%d];\n", i)
			}
		case "map":
			fmt.Fprintf(&b, ".param .align 64 .b8 %s_param_%d[128]", name, i)
		default:
			fmt.Fprintf(&b, ".param .%s %s_param_%d", p, name, i)
		}
	}
	return b.String() + ") {\n.reg .b32 %r<2>; .reg .b64 %rd<99>;\n" + body + "ret;\n}\n"
}

type object = map[string]any

func event(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// compilation is an event of tritonparse.
func compilation(t testing.TB, name, text string, more object) string {
	m := object{"hash": "hash of " + name, "name": name, "num_warps": 4, "num_ctas": 1, "shared": 0, "backend_name": "cuda"}
	for k, v := range more {
		m[k] = v
	}
	return event(t, object{"event_type": "compilation", "pid": 1, "payload": object{"metadata": m, "file_content": object{name + ".ttir": "module {}", name + ".ptx": text, name + ".json": "{}"}}})
}

// launchOf is an event of tritonparse. The arguments are JSON, since their order counts.
func launchOf(name, grid, args string) string {
	return fmt.Sprintf(`{"event_type": "launch", "name": %q, "function": null, "stream": 0, "grid": %s, "compilation_metadata": {"hash": "hash of %s", "num_warps": 4}, "extracted_args": {%s}, "timestamp": "2026-01-01"}`, name, grid, name, strings.ReplaceAll(args, "\n", " ")) + "\n"
}

func tensor(at uint64, dtype string, size int, shape, stride string, more ...string) string {
	return fmt.Sprintf(`{"type": "tensor", "shape": %s, "dtype": "torch.%s", "device": "cuda:0", "stride": %s, "element_size": %d, "data_ptr": "%#x"%s}`, shape, dtype, stride, size, at, strings.Join(more, ""))
}

// write writes the launch file of each launch, and holds it to what a launch file can be.
func write(t testing.TB, dir string, log *tritonlog.Log, o tritonlog.Options, strict bool) string {
	t.Helper()
	var all strings.Builder
	for _, k := range log.Kernels {
		m, err := ptx.Parse("k.ptx", k.PTX)
		if err != nil {
			continue
		}
		f := k.Find(m)
		if f == nil {
			continue
		}
		launches := k.Launches
		if len(launches) == 0 {
			launches = []*tritonlog.Launch{nil}
		}
		for _, l := range launches {
			known, err := k.Known(f, l, o)
			if err != nil {
				continue
			}
			var b bytes.Buffer
			if err := skeleton.WriteKnown(&b, "k.ptx", m, f, known); err != nil {
				t.Fatal(err)
			}
			all.Write(b.Bytes())
			all.WriteString("---\n")
			name := filepath.Join(dir, "k.yaml")
			filled := bytes.ReplaceAll(b.Bytes(), []byte("grid: "+launch.Unfilled), []byte("grid: 16")) // with any cluster
			filled = bytes.ReplaceAll(filled, []byte(launch.Unfilled), []byte("1"))
			if err := os.WriteFile(name, filled, 0o666); err != nil {
				t.Fatal(err)
			}
			file, err := yaml.ReadFile(name)
			if err != nil {
				t.Fatalf("%v in\n%s", err, b.Bytes())
			}
			if !strict {
				continue
			}
			params, err := entry.Params(f)
			if err != nil {
				t.Fatal(err)
			}
			layout, err := file.Layout(0)
			if err != nil {
				t.Fatalf("%v in\n%s", err, b.Bytes())
			}
			if _, err := layout.EncodeParams(&file.Launches[0], params); err != nil {
				t.Fatalf("%v in\n%s", err, b.Bytes())
			}
		}
	}
	return all.String()
}

// saved is what torch.save writes of a tensor, as far as it is read.
func saved(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		data []byte
	}{{"archive/data.pkl", []byte("\x80\x02.")}, {"archive/byteorder", []byte("little")}, {"archive/data/0", data}, {"archive/version", []byte("3\n")}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(f.data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestKnown holds what is told of launches to what was read and found right.
func TestKnown(t *testing.T) {
	floats := func(n int) []byte {
		var b []byte
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
		}
		return b
	}
	blob := func(name string) string {
		return fmt.Sprintf(`, "tensor_hash": "0", "blob_path": %q, "compression": "none"`, name)
	}
	blobs := map[string][]byte{"all": saved(t, floats(64)), "part": saved(t, floats(16)), "junk": []byte("junk")}
	for _, c := range []struct {
		name string
		log  string
	}{
		{"scalars", compilation(t, "k", kernelPTX("k", "out", "u32", "u32", "u64", "f32", "f32", "f64", "u8", "u16", "b16", "f32", "u64"), object{
			"src_constants": object{"(2,)": 1, "(13,)": nil, "(14,)": "relu"}}) +
			launchOf("k", "[4, 2]", `"out_ptr": `+tensor(0x7f0000000000, "float32", 4, "[8, 4]", "[4, 1]")+
				`, "n": {"type": "int", "value": 8}, "one": {"type": "int", "value": 1}, "minus": {"type": "int", "value": -7}, "big": {"type": "int", "value": 18446744073709551615},
				"scale": {"type": "float", "value": 1e-05}, "bad": {"type": "float", "value": "nan"}, "double": {"type": "float", "value": 3.0}, "flag": {"type": "bool", "value": true}, "short": {"type": "int", "value": 65535}, "half": {"type": "float", "value": 0.5},
				"whole": {"type": "int", "value": 3}, "none": {"type": "NoneType", "repr": "None"}, "none2": {"type": "NoneType", "repr": "None"}, "ACT": {"type": "str", "value": "relu", "length": 4}`)},
		{"too large", compilation(t, "k", kernelPTX("k", "u32", "u32"), nil) +
			launchOf("k", "[1]", `"n": {"type": "int", "value": 4294967296}, "m": {"type": "float", "value": 1e300}`)},
		{"views", compilation(t, "k", kernelPTX("k", "ptr", "ptr", "ptr", "out", "ptr", "ptr", "u64"), nil) +
			launchOf("k", "[1]", `"qkv": `+tensor(0x7f0000000010, "float16", 2, "[4, 8]", "[8, 1]")+
				`, "k": `+tensor(0x7f0000000018, "float16", 2, "[4, 4]", "[8, 1]")+
				`, "bytes": `+tensor(0x7f0000001000, "uint8", 1, "[64]", "[1]")+
				`, "words": `+tensor(0x7f0000001020, "int32", 4, "[4]", "[1]")+
				`, "empty": `+tensor(0, "float32", 4, "[0]", "[1]")+
				`, "turned": `+tensor(0x7f0000002000, "bfloat16", 2, "[2, 3]", "[1, 2]"))},
		{"same names", compilation(t, "k", kernelPTX("k", "ptr", "ptr", "ptr", "ptr"), nil) +
			launchOf("k", "[1]", `"null": `+tensor(0x1000000, "float32", 4, "[1]", "[1]")+`, "_null": `+tensor(0x2000000, "float32", 4, "[1]", "[1]")+`, "größe": `+tensor(0x3000000, "float64", 8, "[]", "[]")+
				`, "p3": {"type": "constexpr", "repr": "x\ny"}`)},
		{"order unknown", compilation(t, "k", kernelPTX("k", "ptr", "u32"), nil) +
			launchOf("k", "[1]", `"pair": {"type": "tuple", "repr": "(1, 2)"}, "x": `+tensor(0x1000000, "float32", 4, "[1]", "[1]"))},
		{"cluster", compilation(t, "k", kernelPTX("k", "u32", "u64", "u64"), object{"num_ctas": 2, "cluster_dims": []int{2, 1, 1}, "shared": 4096, "launch_cooperative_grid": true, "launch_pdl": true,
			"num_warps": 8, "global_scratch_size": 100, "global_scratch_align": 512, "profile_scratch_size": 0}) + launchOf("k", "[3, 2, 1]", `"n": {"type": "int", "value": 3}`)},
		{"uneven cluster", compilation(t, "k", kernelPTX("k"), object{"ctas_per_cga": []int{2, 1, 1}}) + launchOf("k", "[3]", ``)},
		{"tensor maps", compilation(t, "k", kernelPTX("k", "map", "u32", "u32", "u64", "u64", "map", "u32", "u64", "u32"), object{
			"tensordesc_meta": []object{{"swizzle": 3, "elem_size": 2, "elem_type": 10, "block_size": []int{64, 64}, "fp4_padded": false}, {"swizzle": 0, "elem_size": 4, "elem_type": 7, "block_size": []int{32}, "fp4_padded": false}}}) +
			launchOf("k", "[1]", `"a": {"type": "TensorDescriptor", "base": `+tensor(0x7f0000000020, "bfloat16", 2, "[128, 64]", "[64, 1]")+`, "shape": [128, 64], "strides": [64, 1], "block_shape": [64, 64], "padding": "nan"},
				"b": {"type": "TensorDescriptor", "base": `+tensor(0x7f0000100000, "float32", 4, "[128]", "[1]")+`, "shape": [128], "strides": [1], "block_shape": [32], "padding": "zero"}, "n": {"type": "int", "value": 2}`)},
		{"descriptors without maps", compilation(t, "k", kernelPTX("k", "ptr", "u64", "u64", "u8", "u8", "u32", "u64"), object{"tensordesc_meta": []object{}}) +
			launchOf("k", "[1]", `"a": {"type": "TensorDescriptor", "base": `+tensor(0x7f0000000000, "float32", 4, "[128]", "[1]")+`, "shape": [128], "strides": [1], "block_shape": [64], "padding": "nan"}`)},
		{"contents", compilation(t, "k", kernelPTX("k", "ptr", "ptr", "ptr", "ptr", "out", "out"), nil) +
			launchOf("k", "[1]", `"a": `+tensor(0x7f0000000000, "float32", 4, "[8, 8]", "[1, 8]", blob("all"))+
				`, "b": `+tensor(0x7f0000000040, "float32", 4, "[4, 4]", "[4, 1]", blob("part"))+
				`, "c": `+tensor(0x7f0000001000, "float32", 4, "[4, 4]", "[8, 1]", blob("part"))+
				`, "d": `+tensor(0x7f0000002000, "int64", 8, "[4]", "[1]", blob("junk"), `, "min": -3.0, "max": 9.0`)+
				`, "e": `+tensor(0x7f0000003000, "float8_e4m3fn", 1, "[4]", "[1]", blob("missing"), `, "min": -1e30, "max": 9.5`)+
				`, "f": `+tensor(0x7f0000004000, "uint8", 1, "[4]", "[1]", `, "error": "Storage quota", "min": -4, "max": 300`))},
		{"limits that are no numbers", compilation(t, "k", kernelPTX("k", "ptr", "ptr", "ptr", "ptr"), nil) +
			launchOf("k", "[1]", `"a": `+tensor(0x7f0000000000, "float32", 4, "[4]", "[1]", `, "min": "nan", "max": "nan"`)+
				`, "b": `+tensor(0x7f0000001000, "float32", 4, "[4]", "[1]", `, "min": "-inf", "max": "inf"`)+
				`, "c": `+tensor(0x7f0000002000, "float32", 4, "[4]", "[1]", `, "min": 0.5, "max": 2`)+
				`, "d": `+tensor(0x7f0000003000, "bool", 1, "[4]", "[1]", `, "min": false, "max": true`))},
		{"graph", compilation(t, "k", kernelPTX("k", "ptr"), nil) + launchOf("k", "[1]", `"_note": "argument extraction skipped during CUDA graph capture"`)},
		{"alike", compilation(t, "k", kernelPTX("k", "out"), nil) + strings.Repeat(launchOf("k", "[0, 1]", ``), 3) +
			launchOf("k", "[2]", `"x": `+tensor(0x7f0000000000, "float32", 4, "[4]", "[1]", blob("a"))) +
			launchOf("k", "[2]", `"x": `+tensor(0x7f0000100000, "float32", 4, "[4]", "[1]", blob("b"))) +
			launchOf("k", "[2]", `"x": `+tensor(0x7f0000100004, "float32", 4, "[4]", "[1]"))},
		{"launch first", launchOf("k", "[2]", `"n": {"type": "int", "value": 2}`) + event(t, object{"event_type": "ir_analysis", "grid": "odd"}) + "\n" + launchOf("gone", "[2]", ``) +
			compilation(t, "k", kernelPTX("k", "u32"), nil) + compilation(t, "k", kernelPTX("k", "u32"), nil) +
			compilation(t, "hip", "", object{"backend_name": "hip"}) + compilation(t, "large", "<file too large: 99999999 bytes>", nil)},
		{"without launches", compilation(t, "k", kernelPTX("k", "ptr", "u32"), object{"shared": 512})},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, err := tritonlog.Read("log", strings.NewReader(c.log))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			got := write(t, dir, log, tritonlog.Options{
				Blob: func(path string) ([]byte, error) {
					if b := blobs[path]; b != nil {
						return b, nil
					}
					return nil, errors.New("not there")
				},
				Keep: func(a *tritonlog.Array) (string, error) {
					var b bytes.Buffer
					err := launch.WriteNpy(&b, &launch.Array{Descr: a.Type.NpyDescr(), Shape: a.Shape, Data: a.Data})
					if err != nil {
						return "", err
					}
					name := "it's " + a.Name + ".npy"
					return name, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666)
				},
			}, true)
			for _, line := range log.Lines {
				got += line + "\n"
			}
			golden := filepath.Join("testdata", strings.ReplaceAll(c.name, " ", "_")+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestMany: of many launches so many are kept, and the rest is counted.
func TestMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(compilation(t, "k", kernelPTX("k", "u32"), nil))
	for i := range 2 * tritonlog.PerKernel {
		b.WriteString(launchOf("k", "[1]", fmt.Sprintf(`"n": {"type": "int", "value": %d}`, i)))
	}
	log, err := tritonlog.Read("log", strings.NewReader(b.String()))
	if err != nil || len(log.Kernels) != 1 || len(log.Kernels[0].Launches) != tritonlog.PerKernel {
		t.Fatalf("%+v, %v", log, err)
	}
	if want := fmt.Sprintf("log:1: kernel k: %d launches come after the %[1]d that are kept", tritonlog.PerKernel); len(log.Lines) != 1 || log.Lines[0] != want {
		t.Errorf("%q, want %q", log.Lines, want)
	}
}

// TestBefore: what comes before an error is there.
func TestBefore(t *testing.T) {
	text := compilation(t, "k", kernelPTX("k", "u32"), nil) + launchOf("k", "[1]", `"n": {"type": "int", "value": 1}`)
	for n := 1; n < len(text)-1; n++ {
		log, err := tritonlog.Read("log", strings.NewReader(text[:n]))
		first := strings.IndexByte(text, '\n') - 1
		if n > first+2 && (len(log.Kernels) != 1 || err == nil || err.Error() != "log:2: the line ends within its JSON") && n < len(text)-1 {
			t.Fatalf("%d bytes: %d kernels, %v", n, len(log.Kernels), err)
		}
		if n <= first && (len(log.Kernels) != 0 || err == nil || err.Error() != "log:1: the line ends within its JSON") {
			t.Fatalf("%d bytes: %d kernels, %v", n, len(log.Kernels), err)
		}
	}
}

// An endless reader is a line without an end.
type endless struct{ n int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '['
	}
	e.n += int64(len(b))
	return len(b), nil
}

// TestLong: a line has a limit.
func TestLong(t *testing.T) {
	var e endless
	_, err := tritonlog.Read("log", &e)
	if err == nil || err.Error() != "log:1: an event of more than 64 MiB, which is all that is read" || e.n > 65<<20 {
		t.Errorf("%v after %d bytes", err, e.n)
	}
}

// FuzzLog: any text is a log or one error with its line, and what is told of its launches are
// launch files.
func FuzzLog(f *testing.F) {
	f.Add(compilation(f, "k", kernelPTX("k", "ptr", "u32", "u64"), object{"src_constants": object{"(2,)": 1}}) +
		launchOf("k", "[4]", `"x": `+tensor(0x7f0000000010, "float16", 2, "[4, 8]", "[8, 1]", `, "min": 1, "max": 2`)+`, "n": {"type": "int", "value": -3}, "one": {"type": "int", "value": 1}`))
	f.Add(compilation(f, "k", kernelPTX("k", "map", "u32", "u32", "u64", "u64", "f32"), object{"num_ctas": 2, "tensordesc_meta": []object{{"swizzle": 3, "elem_type": 6, "block_size": []int{64, 64}}}}) +
		launchOf("k", "[4, 2, 1]", `"a": {"type": "TensorDescriptor", "base": `+tensor(0x20, "float16", 2, "[128, 64]", "[64, 1]")+`, "shape": [128, 64], "strides": [64, 1]}, "f": {"type": "float", "value": 1.5}`))
	f.Add(launchOf("k", "[4]", `"_note": "none"`) + compilation(f, "k", kernelPTX("k", "u64"), object{"global_scratch_size": 1 << 30, "ctas_per_cga": []int{2, 1, 1}}))
	f.Add(`{"event_type": "compilation", "payload": {"metadata": {}, "file_content": {"x.ptx": "<file too large>"}}}`)
	f.Add(compilation(f, "k", ".version 8.0\n.target sm_90\n.visible .entry k(.param .u64 k_param_0) { ld.param [0]; }", nil))
	f.Fuzz(func(t *testing.T, text string) {
		log, err := tritonlog.Read("log", strings.NewReader(text))
		if err != nil && (!strings.HasPrefix(err.Error(), "log:") || strings.ContainsAny(err.Error(), "\n\r\x00\x1b")) {
			t.Errorf("an error without a place, or of several lines: %q", err)
		}
		write(t, t.TempDir(), log, tritonlog.Options{}, false)
		for _, line := range log.Lines {
			if strings.ContainsAny(line, "\n\r\x00\x1b") {
				t.Errorf("several lines: %q", line)
			}
		}
	})
}

// FuzzLaunch: whatever a log says of a launch's arguments, what is told of it is a launch file.
func FuzzLaunch(f *testing.F) {
	add := func(params, meta, grid, args string) { f.Add(params, meta, grid, args) }
	add("out u32 f32 u64", `{"global_scratch_size": 64}`, `[4, 2]`, `"x": `+tensor(0x7f0000000010, "float16", 2, "[4, 8]", "[8, 1]", `, "min": 1, "max": 2`)+`, "n": {"type": "int", "value": -3}, "f": {"type": "float", "value": "inf"}`)
	add("map u32 u32 u64 u64", `{"num_ctas": 2, "tensordesc_meta": [{"swizzle": 3, "elem_type": 6, "block_size": [64, 64]}]}`, `[1]`,
		`"a": {"type": "TensorDescriptor", "base": `+tensor(0x20, "float16", 2, "[128, 64]", "[64, 1]")+`, "shape": [128, 64], "strides": [64, 1], "padding": "nan"}`)
	add("ptr ptr u8 b16", `{"src_constants": {"(1,)": null}, "launch_pdl": true}`, `[1, 1, 1]`, `"a": `+tensor(0x1000, "int64", 8, "[4]", "[2]")+`, "c": {"type": "NoneType"}, "b": `+tensor(0x1008, "bool", 1, "[4]", "[1]")+
		`, "x": {"type": "bool", "value": true}, "h": {"type": "float", "value": 0.5}`)
	f.Fuzz(func(t *testing.T, params, meta, grid, args string) {
		list := strings.Fields(params)
		for _, p := range list {
			if !strings.Contains(" out ptr map u8 u16 b16 u32 u64 f32 f64 f16 ", " "+p+" ") {
				return
			}
		}
		var m object
		if json.Unmarshal([]byte(meta), &m) != nil {
			return
		}
		log, err := tritonlog.Read("log", strings.NewReader(compilation(t, "k", kernelPTX("k", list...), m)+launchOf("k", grid, args)))
		if err == nil {
			write(t, t.TempDir(), log, tritonlog.Options{}, false)
		}
	})
}
