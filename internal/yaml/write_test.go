package yaml

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"muster/launch"
)

// TestWrite: every launch file of the examples, written in another folder and
// read again, plans the same memory and the same parameters, and is written the
// same.
func TestWrite(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(files) < 25 {
		t.Fatal("examples are missing:", len(files), err)
	}
	files = append(files, every(t))
	dir := t.TempDir()
	for _, name := range files {
		f, err := ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		if err := f.Write(&first, dir); err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, "copy.yaml")
		if err := os.WriteFile(copied, first.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		again, err := ReadFile(copied)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &first)
		}
		if err := again.Write(&second, dir); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: written again it differs\n%s\n%s", name, &first, &second)
		}
		same(t, name, f, again)
	}
}

// same holds two files to the same memory.
func same(t *testing.T, name string, a, b *launch.File) {
	t.Helper()
	if a.Launches[0].Grid != b.Launches[0].Grid || a.Launches[0].Block != b.Launches[0].Block || a.Launches[0].Cluster != b.Launches[0].Cluster ||
		a.Launches[0].Shared != b.Launches[0].Shared || a.Launches[0].Registers != b.Launches[0].Registers || a.Launches[0].Cooperative != b.Launches[0].Cooperative || a.Launches[0].Kernel != b.Launches[0].Kernel ||
		len(a.Launches[0].Link) != len(b.Launches[0].Link) || len(a.Expect) != len(b.Expect) || len(a.Accept) != len(b.Accept) || len(a.Launches[0].Args) != len(b.Launches[0].Args) {
		t.Errorf("%s: another launch", name)
	}
	x, err := a.Layout(launch.DefaultMemoryLimit)
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Layout(launch.DefaultMemoryLimit)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range x.Buffers {
		p, q := &x.Buffers[i], &y.Buffers[i]
		if p.Base != q.Base || p.Size != q.Size || p.Type != q.Type || !bytes.Equal(p.Data, q.Data) {
			t.Errorf("%s: buffer %s differs", name, p.Name)
		}
	}
}

// every is a launch file with every form that there is.
func every(t *testing.T) string {
	dir := t.TempDir()
	name := filepath.Join(dir, "every.yaml")
	if err := os.WriteFile(filepath.Join(dir, "p.bin"), []byte{1, 2, 3, 4}, 0o666); err != nil {
		t.Fatal(err)
	}
	text := `
version: 1
assume: [vector-atomic]
maxrregcount: 64
ptx: ["it's \"k\".ptx", "b, c.ptx"]
kernel: k$1
grid: [4, 2, 1]
block: 96
cluster: 2
preferred-cluster: [4, 2]
shared: 1024
registers: 40
cooperative: true
buffers:
  in:   {type: f32, shape: [64, 16], fill: {random: {seed: 3, low: -1e30, high: 2.5e-7}}}
  mod:  {type: s16, shape: [7], fill: {mod: 5}}
  vals: {type: f16, values: [1, nan, -inf, 0x3c01, -0.0], align: 1024}
  ints: {type: s64, values: [-3, 9223372036854775807, {ptr: in, offset: 8}]}
  base: {type: u8, shape: [], fill: ones, base: 0x7f1234560000}
  none: {type: b32, shape: [0]}
  maps: {type: tensormap, values: [{of: in, box: [4, 16], swizzle: 64B, l2: 128B, fill: nan, element_strides: [1, 1]}], align: 128}
  conv: {type: bf16, shape: [2, 8, 8, 64], fill: zeros}
variables:
  coeff: {type: f32, fill: iota}
  "table$1": {type: u64, values: [{ptr: in, offset: 8}, null, 7]}
  cfg: {struct: [{ptr: in}, {s32: 3}, {pad: 4}, {tensormap: {of: in, box: [4, 16]}}]}
args:
  - in
  - {ptr: mod, offset: 6}
  - null
  - {f32: -2.5}
  - {u8: 0x7f}
  - {s32: -7}
  - {e4m3: 448}
  - {bytes: p.bin}
  - {tensormap: {of: in, box: [8], type: tf32, shape: [1024], strides: [], offset: 64, interleave: 16B}}
  - {tensormap: {of: conv, im2col: {lower: [-1, -1], upper: [0, 1], channels: 64, pixels: 32}, swizzle: 128B}}
  - {tensormap: {of: conv, im2col: {wide: W, lower: [-1], upper: [0], channels: 64, pixels: 32}, swizzle: 128B}}
  - {struct: [{ptr: in}, {s32: 3}, {pad: 4}, {f64: 1e300}]}
expect:
  vals: {file: v.npy, ulp: 2}
  in: {file: i.npy, atol: 1e-3, rtol: 0.5}
accept:
  - {finding: proxy-war, at: "gemm.cu:118", reason: "because: #1 \\ \"quoted\""}
`
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}
