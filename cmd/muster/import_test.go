package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"archive/zip"

	"github.com/klauspost/compress/zstd"

	"muster/launch"
)

// scalePTX is a kernel as Triton compiles it, y[i] = a·x[i], with a pointer to scratch memory.
const scalePTX = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(
	.param .u64 .ptr .global .align 1 scale_param_0,
	.param .u64 .ptr .global .align 1 scale_param_1,
	.param .f32 scale_param_2,
	.param .u32 scale_param_3,
	.param .u64 .ptr .global .align 1 scale_param_4
)
.reqntid 32
{
	.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
	ld.param.b64 %rd1, [scale_param_0];
	ld.param.b64 %rd2, [scale_param_1];
	ld.param.b32 %f1, [scale_param_2];
	ld.param.b32 %r1, [scale_param_3];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %tid.x;
	shl.b32 %r4, %r2, 5;
	or.b32 %r5, %r4, %r3;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 ret;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.b32 %f2, [%rd4];
	mul.rn.f32 %f3, %f2, %f1;
	st.global.b32 [%rd5], %f3;
	ret;
}
`

const scaleMetadata = `"hash": "4f", "name": "scale", "num_warps": 1, "num_ctas": 1, "shared": 0, "cluster_dims": [1, 1, 1], "global_scratch_size": 0, "target": {"backend": "cuda", "arch": 90, "warp_size": 32}`

// scaleLog is a log of tritonparse: the kernel, and two launches, of which one has views of one
// tensor.
func scaleLog() []string {
	tensor := func(at int, n int, more string) string {
		return fmt.Sprintf(`{"type": "tensor", "shape": [%d], "dtype": "torch.float32", "device": "cuda:0", "stride": [1], "numel": %[1]d, "is_contiguous": true, "element_size": 4, "storage_offset": 0, "memory_usage": %d, "data_ptr": "%#x"%s}`, n, 4*n, at, more)
	}
	launch := func(x, y string) string {
		return `{"event_type": "launch", "pid": 7, "name": "scale", "function": 1, "stream": 0, "grid": [2], "compilation_metadata": {` + scaleMetadata +
			`}, "extracted_args": {"x": ` + x + `, "y": ` + y + `, "a": {"type": "float", "value": 2.5}, "n": {"type": "int", "value": 40}, "one": {"type": "int", "value": 1}, "BLOCK": {"type": "int", "value": 32}}}` + "\n"
	}
	saved := strings.Repeat("ab", 16)
	return []string{
		`{"event_type": "compilation", "pid": 7, "payload": {"metadata": {` + scaleMetadata + `, "src_constants": {"(4,)": 1, "(5,)": 32}}, "file_content": {"scale.ttir": "module {}", "scale.ptx": ` + fmt.Sprintf("%q", scalePTX) + `}}}` + "\n",
		launch(tensor(0x7e744ac00000, 40, `, "tensor_hash": "`+saved+`", "blob_path": "/elsewhere/logs/saved_tensors/ab/`+saved+`.bin.gz", "compression": "gzip"`), tensor(0x7e744ac00200, 40, "")),
		launch(tensor(0x7e744ac01004, 40, ""), tensor(0x7e744ac01010, 60, "")),
	}
}

// saveTensor writes what torch.save leaves of 40 numbers.
func saveTensor(t *testing.T, dir string) {
	t.Helper()
	var data, file bytes.Buffer
	for i := range 40 {
		binary.Write(&data, binary.LittleEndian, math.Float32frombits(math.Float32bits(float32(i))))
	}
	g := gzip.NewWriter(&file)
	z := zip.NewWriter(g)
	for name, b := range map[string][]byte{"x/data.pkl": []byte("\x80\x02."), "x/byteorder": []byte("little"), "x/data/0": data.Bytes(), "x/version": []byte("3\n")} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(b)
	}
	if z.Close() != nil || g.Close() != nil {
		t.Fatal("not written")
	}
	put(t, filepath.Join(dir, "saved_tensors/ab", strings.Repeat("ab", 16)+".bin.gz"), file.String())
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func zstandard(text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// each compresses each event on its own, as tritonparse does.
func each(compress func(string) string, list []string) (out string) {
	for _, s := range list {
		out += compress(s)
	}
	return out
}

// TestImportLog: what comes of a log runs, with the contents that the log saved.
func TestImportLog(t *testing.T) {
	list := scaleLog()
	whole := strings.Join(list, "")
	for _, c := range []struct{ name, text string }{
		{"trace.ndjson", whole},
		{"trace", whole},
		{"trace.ndjson.gz", gzipped(whole)},
		{"trace.bin.ndjson", each(gzipped, list)},
		{"zstd.bin.ndjson", each(zstandard, list)},
		{"trace.ndjson.zst", zstandard(whole)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, c.name)
			put(t, name, c.text)
			saveTensor(t, dir)
			out := filepath.Join(dir, "out")
			status, stdout, stderr := run(t, "import", name, "-o", out)
			want := fmt.Sprintf("scale.1.sm_90a.ptx: from %[1]s:1\n  scale.1.sm_90a.1.yaml: kernel scale, launched at %[1]s:2\n  scale.1.sm_90a.2.yaml: kernel scale, launched at %[1]s:3\n", name)
			if status != exitClean || stderr != "" || stdout != want {
				t.Fatalf("status %d, %s%s, want\n%s", status, stdout, stderr, want)
			}
			y := filepath.Join(dir, "y.npy")
			status, stdout, stderr = run(t, "run", filepath.Join(out, "scale.1.sm_90a.1.yaml"), "--out", "y="+y)
			if status != exitClean || !strings.Contains(stdout, "2 CTAs, 64 threads") {
				t.Fatalf("status %d, %s%s", status, stdout, stderr)
			}
			f, err := os.Open(y)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			a, err := launch.ReadNpy(f, 1<<20)
			if err != nil || len(a.Data) != 160 {
				t.Fatalf("%+v, %v", a, err)
			}
			for i := range 40 {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:])); got != 2.5*float32(i) {
					t.Errorf("y[%d] = %v", i, got)
				}
			}
			// In the second launch the tensors lie in each other, and lanes read what others write.
			status, stdout, _ = run(t, "check", filepath.Join(out, "scale.1.sm_90a.2.yaml"))
			if status != exitFindings || !strings.Contains(stdout, "error[race-") {
				t.Errorf("status %d, %s", status, stdout)
			}
			if status, stdout, _ = run(t, "check", filepath.Join(out, "scale.1.sm_90a.1.yaml")); status != exitClean {
				t.Errorf("status %d, %s", status, stdout)
			}
		})
	}
}

// TestImportCache: kernels of Triton's cache and of Inductor's, and of each folder above.
func TestImportCache(t *testing.T) {
	dir := t.TempDir()
	hash := filepath.Join(dir, "torchinductor_me", "triton", "0", "ABCDEF")
	put(t, filepath.Join(hash, "scale.ptx"), scalePTX)
	put(t, filepath.Join(hash, "scale.json"), "{"+strings.Replace(scaleMetadata, `"shared": 0`, `"shared": 2048`, 1)+"}")
	put(t, filepath.Join(hash, "__grp__scale.json"), `{"child_paths": {}}`)
	put(t, filepath.Join(hash, "scale.cubin"), "\x7fELF")
	put(t, filepath.Join(dir, "torchinductor_me", "fxgraph", "x.py"), "")
	for _, link := range []string{"loop", "self"} {
		if err := os.Symlink("..", filepath.Join(hash, link)); err != nil {
			t.Skip(err)
		}
	}
	// A file that a link leads to is not of this folder.
	other := filepath.Join(t.TempDir(), "other.ptx")
	put(t, other, scalePTX)
	if err := os.Symlink(other, filepath.Join(hash, "other.ptx")); err != nil {
		t.Skip(err)
	}
	for from, n := hash, 0; n < 5; from, n = filepath.Dir(from), n+1 {
		out := filepath.Join(t.TempDir(), "out")
		status, stdout, stderr := run(t, "import", from, "-o", out)
		want := "scale.1.sm_90a.ptx: from " + filepath.Join(hash, "scale.ptx") + "\n  scale.1.sm_90a.1.yaml: kernel scale\n"
		if status != exitClean || stderr != "" || stdout != want {
			t.Fatalf("%s: status %d, %s%s, want\n%s", from, status, stdout, stderr, want)
		}
		text, err := os.ReadFile(filepath.Join(out, "scale.1.sm_90a.1.yaml"))
		if err != nil || !strings.Contains(string(text), "\nblock: 32\nshared: 2048\nbuffers:") {
			t.Errorf("%s, %v", text, err)
		}
		yaml := filepath.Join(out, "scale.1.sm_90a.1.yaml")
		if status, _, stderr := run(t, "check", yaml); status != exitBadInput || !strings.Contains(stderr, "1.yaml:5:7: not filled in: grid, shape of p0, shape of p1, argument 3, argument 4, argument 5\n") {
			t.Errorf("as it is: status %d, %s", status, stderr)
		}
		put(t, yaml, strings.ReplaceAll(string(text), launch.Unfilled, "32"))
		if status, stdout, stderr := run(t, "check", yaml); status != exitClean {
			t.Errorf("status %d, %s%s", status, stdout, stderr)
		}
	}
	// A folder that is named by a link is looked into.
	if err := os.Symlink(hash, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if status, stdout, _ := run(t, "import", filepath.Join(dir, "link")); status != exitClean || !strings.Contains(stdout, "kernel scale") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// TestImportBad: each bad input gets one line, and what comes before it is kept.
func TestImportBad(t *testing.T) {
	fatbins, err := filepath.Abs("../../internal/fatbin/testdata")
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(fatbins, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// set replaces bytes at a place.
	set := func(b []byte, at int, with ...byte) string {
		b = bytes.Clone(b)
		copy(b[at:], with)
		return string(b)
	}
	list := scaleLog()
	comp, one := list[0], list[1]
	change := func(s, from, to string) string {
		if !strings.Contains(s, from) {
			t.Fatalf("no %s in %s", from, s)
		}
		return strings.Replace(s, from, to, 1)
	}
	comped := func(from, to string) string { return change(comp, from, to) }
	launched := func(from, to string) string { return comp + change(one, from, to) }
	object, none := of("two.o"), of("none.fatbin")
	huge := strings.Repeat("9", 500)
	meta := `{` + scaleMetadata + `}`
	type bad struct{ name, text, want string }
	cases := []bad{
		// Programs.
		{"empty", "", "at byte 0x0: this is no fat binary of CUDA, and no ELF file"},
		{"text", "hello\n", "no fat binary of CUDA"},
		{"elf1", "\x7fELF", "an ELF file that is cut off or damaged"},
		{"elf2", string(object[:40]), "an ELF file that is cut off or damaged"},
		{"elf3", string(object[:64]), "an ELF file that is cut off or damaged"},
		{"elf4", string(object[:len(object)/2]), "an ELF file that is cut off or damaged"},
		{"elf5", set(object, 4, 9), "an ELF file that is cut off or damaged"},
		{"elf6", set(object, 0x28, 0xff, 0xff, 0xff, 0xff, 0xff), "an ELF file that is cut off or damaged"},
		{"elf7", set(object, 0x3a, 1, 0), "an ELF file that is cut off or damaged"},
		{"elf8", set(object, 0x3c, 0, 0, 0, 0), "an ELF file that is cut off or damaged"},
		{"fat1", string(none[:3]), "no fat binary of CUDA"},
		{"fat2", string(none[:8]), "a fat binary should begin here"},
		{"fat3", string(none[:100]), "a fat binary of 7096 bytes, of which the file has 100"},
		{"fat4", set(none, 4, 9), "a fat binary of version 9; only 1 is known"},
		{"fat5", set(none, 6, 0, 0), "a fat binary of"},
		{"fat6", set(none, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "a fat binary of 18446744073709551615 bytes"},
		{"fat7", set(none, 20, 0, 0, 0, 0), "an entry of 0 and"},
		{"fat8", set(none, 24, 0xff, 0xff, 0xff, 0xff), "an entry of"},
		{"fat9", set(of("lz4.fatbin"), 0x1630+64, bytes.Repeat([]byte{0xff}, 64)...), "cannot be decompressed"},
		{"fat10", set(of("lz4.fatbin"), 0x1630+56, 0xff, 0xff, 0xff, 0xff, 0xff), "too many"},
		{"fat11", string(of("cubin.fatbin")), "machine code for sm_90a and no PTX"},
		{"k.ptx", scalePTX, "PTX already; muster init writes a launch file for it"},
		// Logs that are no logs.
		{"empty.ndjson", "", "no kernel's compilation in this log"},
		{"lines.ndjson", "\n\n\n", "no kernel's compilation in this log"},
		{"text.ndjson", "hello\n", "text.ndjson:1: no JSON at byte 1 of the line"},
		{"number.ndjson", "3\n", ":1: a JSON number; an object is needed"},
		{"list.ndjson", "[]\n", ":1: a JSON array; an object is needed"},
		{"string.ndjson", "\"x\"\n", ":1: a JSON string; an object is needed"},
		{"null.ndjson", "null\n", ":1: no event_type: this is no event of tritonparse"},
		{"other.ndjson", "{}\n", ":1: no event_type: this is no event of tritonparse"},
		{"type.ndjson", `{"event_type": 3}`, ":1: event_type is a JSON number, which does not fit"},
		{"only.ndjson", `{"event_type": "roofline"}`, "no kernel's compilation in this log"},
		{"two.ndjson", comp + "{}{}\n", ":2: no JSON at byte 3"},
		{"late.ndjson", comp + "\n\nx", ":4: no JSON at byte 1"},
		{"utf8.ndjson", comp + "\xff\xfe{\n", ":2: no JSON at byte 1"},
		{"zeros.ndjson", strings.Repeat("\x00", 1000), ":1: no JSON at byte 1"},
		{"cut.ndjson", comp[:len(comp)/2], ":1: the line ends within its JSON"},
		{"deep1.ndjson", strings.Repeat("[", 1<<20), ":1: no JSON at byte 10001"},
		{"deep2.ndjson", `{"event_type": "launch", "grid": ` + strings.Repeat("[", 1<<20), ":1: no JSON at byte"},
		{"deep3.ndjson", strings.Repeat(`{"payload":`, 1<<18), ":1: no JSON at byte"},
		{"long.ndjson", "{" + strings.Repeat(" ", 65<<20), ":1: an event of more than 64 MiB"},
		{"log.clp", "clp", "compressed by CLP, which is not read"},
		{"gz1.ndjson.gz", "\x1f\x8b", "are damaged or cut off"},
		{"gz2.ndjson.gz", gzipped(comp)[:200], "gz2.ndjson.gz:1: the log cannot be read on: the compressed data are damaged"},
		{"gz3.ndjson.gz", set([]byte(gzipped(comp)), 200, 0, 0, 0, 0), ":1: "},
		{"gz4.ndjson.gz", gzipped(comp) + "something that is not compressed", ":2: the log cannot be read on: the compressed data are damaged"},
		{"gz5", gzipped("an archive of something"), ":1: no JSON at byte 1"},
		{"zstd1.bin.ndjson", "\x28\xb5\x2f\xfd", ":1: the log cannot be read on"},
		{"zstd2.bin.ndjson", zstandard(comp)[:100], ":1: the log cannot be read on"},
		{"bomb.ndjson.gz", gzipped(strings.Repeat(" ", 70<<20)), ":1: an event of more than 64 MiB"},
		// Compilations.
		{"c1.ndjson", `{"event_type": "compilation"}`, ":1: a compilation without a payload"},
		{"c2.ndjson", `{"event_type": "compilation", "payload": 3}`, ":1: payload is a JSON number, which does not fit"},
		{"c3.ndjson", `{"event_type": "compilation", "payload": {"metadata": []}}`, ":1: payload.metadata is a JSON array, which does not fit"},
		{"c4.ndjson", `{"event_type": "compilation", "payload": {}}`, "no kernel's PTX in this log"},
		{"c5.ndjson", comped(`"scale.ptx": "`, `"scale.ptx": 3, "x": "`), ":1: payload.file_content"},
		{"c6.ndjson", comped(`"num_warps": 1`, `"num_warps": "1"`), ":1: payload.metadata.num_warps is a JSON string, which does not fit"},
		{"c7.ndjson", comped(`"num_warps": 1`, `"num_warps": -1`), ":1: num_warps is -1; a kernel has from 0 to 32"},
		{"c8.ndjson", comped(`"num_warps": 1`, `"num_warps": 1.5`), ":1: payload.metadata.num_warps is a JSON number 1.5, which does not fit"},
		{"c9.ndjson", comped(`"num_warps": 1`, `"num_warps": `+huge), ":1: payload.metadata.num_warps is a JSON number"},
		{"c10.ndjson", comped(`"shared": 0`, `"shared": 999999`), ":1: shared is 999999; a kernel has from 0 to 232448"},
		{"c11.ndjson", comped(`[1, 1, 1]`, `[1, 0, 1]`), ":1: a cluster is 0 wide"},
		{"c12.ndjson", comped(`[1, 1, 1]`, `[4, 4, 4]`), ":1: a cluster of 64 CTAs; at most 16 are allowed"},
		{"c13.ndjson", comped(`[1, 1, 1]`, `[1, 1, 1, 1]`), ":1: a cluster of 4 dimensions; there are 3"},
		{"c14.ndjson", comped(`"global_scratch_size": 0`, `"global_scratch_align": 3`), ":1: an alignment of 3, no power of two"},
		{"c15.ndjson", comped(`.version`, `.vershun`), "c15.ndjson:1: the PTX there, scale.1"},
		{"c16.ndjson", comped(`.entry scale(`, `.func scale(`), ""},
		{"c17.ndjson", comped(`"num_ctas": 1`, `"launch_pdl": "perhaps"`), ":1: "},
		{"c18.ndjson", strings.Replace(comp, `"scale.ptx"`, `"scale.amdgcn"`, 1), "no kernel's PTX in this log"},
		// Launches.
		{"l1.ndjson", one, "no kernel's PTX in this log: "},
		{"l2.ndjson", launched(`"grid": [2]`, `"grid": [-2]`), ":2: grid is -2 in x; it can be up to 2147483647"},
		{"l3.ndjson", launched(`"grid": [2]`, `"grid": [1, 70000]`), ":2: grid is 70000 in y; it can be up to 65535"},
		{"l4.ndjson", launched(`"grid": [2]`, `"grid": [`+huge+`]`), ":2: grid is 999"},
		{"l5.ndjson", launched(`"grid": [2]`, `"grid": [1.5]`), ":2: grid is 1.5 in x"},
		{"l6.ndjson", launched(`"grid": [2]`, `"grid": ["x"]`), ":2: grid is no list of numbers"},
		{"l7.ndjson", launched(`"grid": [2]`, `"grid": {}`), ":2: grid is no list of numbers"},
		{"l8.ndjson", launched(`"grid": [2]`, `"grid": []`), ":2: grid has 0 dimensions"},
		{"l9.ndjson", launched(`"grid": [2]`, `"grid": [1, 1, 1, 1]`), ":2: grid has 4 dimensions"},
		{"l10.ndjson", launched(`"grid": [2], `, ``), ":2: a launch without a grid"},
		{"l11.ndjson", launched(`"extracted_args": {`, `"extracted_args": [], "x": {`), ":2: extracted_args is no object"},
		{"l12.ndjson", launched(`"y": `, `"x": `), ":2: argument x stands there twice"},
		{"l13.ndjson", launched(`{"type": "float", "value": 2.5}`, `3`), ":2: argument a: a JSON number; an object is needed"},
		{"l14.ndjson", launched(`{"type": "float", "value": 2.5}`, `{}`), ":2: argument a: it has no type"},
		{"l15.ndjson", launched(`"value": 2.5`, `"value": "two"`), ":2: argument a: two is no float"},
		{"l16.ndjson", launched(`"value": 2.5`, `"value": 1e999`), ":2: argument a: 1e999 is no float"},
		{"l17.ndjson", launched(`"value": 40`, `"value": 4.5`), ":2: argument n: 4.5 is no whole number"},
		{"l18.ndjson", launched(`"value": 40`, `"value": `+huge), ":2: argument n: a number of more than 400 digits"},
		{"l19.ndjson", launched(`"value": 40`, `"valu": 40`), ":2: argument n: it has no value"},
		{"l20.ndjson", launched(`"shape": [40]`, `"shape": [-40]`), ":2: argument x: a tensor of shape [-40], strides [1]"},
		{"l21.ndjson", launched(`"shape": [40]`, `"shape": [40, 2]`), ":2: argument x: a tensor of 2 dimensions and 1 strides"},
		{"l22.ndjson", launched(`"shape": [40]`, `"shape": [9223372036854775807]`), ":2: argument x: a tensor of shape [9223372036854775807], strides [1] does not fit into memory"},
		{"l23.ndjson", launched(`"shape": [40]`, `"shape": ["a"]`), ":2: argument x: shape is a JSON string"},
		{"l24.ndjson", launched(`"shape": [40]`, `"shape": [`+strings.Repeat("1,", 40)+`1]`), ":2: argument x: a tensor of 41 dimensions; there are at most 32"},
		{"l25.ndjson", launched(`"stride": [1]`, `"stride": [-1]`), ":2: argument x: a tensor of shape [40], strides [-1]"},
		{"l26.ndjson", launched(`"element_size": 4`, `"element_size": 4096`), ":2: argument x: elements of 4096 bytes"},
		{"l27.ndjson", launched(`0x7e744ac00000`, `7e744ac00000`), ":2: argument x: data_ptr is 7e744ac00000, no address"},
		{"l28.ndjson", launched(`0x7e744ac00000`, `0xffffffffffffffff`), ":2: argument x: data_ptr is 0xffffffffffffffff, beyond the memory of a GPU"},
		{"l29.ndjson", launched(`0x7e744ac00000`, `0x`), ":2: argument x: data_ptr is 0x, no address"},
		{"l30.ndjson", comp + one[:len(one)/2], ":2: the line ends within its JSON"},
		{"l31.ndjson", launched(`{"type": "float", "value": 2.5}`, `{"type": "TensorDescriptor", "shape": [1, 2], "strides": [1]}`), ":2: argument a: a descriptor of 2 dimensions and 1 strides"},
		{"l32.ndjson", launched(`{"type": "float", "value": 2.5}`, `{"type": "TensorDescriptor", "shape": [-1], "strides": [1]}`), ":2: argument a: a descriptor of shape [-1], strides [1]"},
		// Folders.
		{"f1/", "", "no kernel's PTX in this folder, and none in those below"},
		{"f2/a/b/c/d/e/f/g/scale.ptx", scalePTX, "no kernel's PTX in this folder"},
		{"f3/scale.ptx", "junk", "f3/scale.ptx: the PTX there, "},
		{"f4/scale.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n", "its PTX has no kernel scale"},
		{"f5/scale.ptx", scalePTX + "\x00" + `{"num_warps": "x"}`, "f5/scale.json: num_warps is a JSON string, which does not fit"},
		{"f6/scale.ptx", scalePTX + "\x00" + meta[:20], "f6/scale.json: the file ends within its JSON"},
		{"f7/scale.ptx", scalePTX + "\x00" + `{"num_warps": 64}`, "f7/scale.json: num_warps is 64; a kernel has from 0 to 32"},
		{"f8/scale.ptx", scalePTX + "\x00" + strings.Repeat(" ", 2<<20), "f8/scale.json: more than 1 MiB, which is all that is read"},
		{"f12/a/trace.bin.ndjson", comp, "a log of tritonparse is imported by its name, as f12/a/trace.bin.ndjson"},
		{"f9/scale.ptx/x", "", "no kernel's PTX in this folder"},
	}
	if len(cases) < 80 {
		t.Fatalf("only %d inputs", len(cases))
	}
	dir := t.TempDir()
	t.Chdir(dir)
	one1 := func(name, want string) {
		t.Helper()
		status, stdout, stderr := run(t, "import", name)
		if status != exitBadInput || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "muster: ") || !strings.Contains(stderr, want) || len(stderr) > 1000 {
			t.Errorf("%s: status %d, %q; want %s", name, status, stderr, want)
		}
		if strings.Contains(want, ":2: ") && !strings.Contains(stdout, "kernel scale") {
			t.Errorf("%s: what comes before is lost: %s", name, stdout)
		}
	}
	for _, c := range cases {
		name, inner, folder := strings.Cut(c.name, "/")
		text, json, beside := strings.Cut(c.text, "\x00")
		switch {
		case folder && inner == "":
			if err := os.Mkdir(name, 0o777); err != nil {
				t.Fatal(err)
			}
		case folder && beside:
			put(t, c.name, text)
			put(t, strings.TrimSuffix(c.name, ".ptx")+".json", json)
		default:
			put(t, c.name, c.text)
		}
		one1(name, c.want)
	}
	// What is no file, and what cannot be read.
	one1("missing", "missing: no such file or directory")
	if err := os.Symlink("loop2", "loop1"); err == nil && os.Symlink("loop1", "loop2") == nil {
		one1("loop1", "loop1: too many levels of symbolic links")
	}
	if err := syscall.Mkfifo("pipe.ndjson", 0o666); err == nil {
		one1("pipe.ndjson", "pipe.ndjson: not a regular file")
	}
	put(t, "locked.ndjson", comp)
	put(t, "f11/scale.ptx", scalePTX)
	if os.Chmod("locked.ndjson", 0) == nil && os.Chmod("f11/scale.ptx", 0) == nil && os.Geteuid() != 0 {
		one1("locked.ndjson", "locked.ndjson: permission denied")
		one1("f11", "f11/scale.ptx: permission denied")
	}
}
