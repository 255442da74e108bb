package capture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster"
	"muster/internal/tma"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

// A bench has programs that run on a driver of C, see testdata.
type bench struct{ program string }

// newBench compiles it. Without a C compiler there is nothing to test: the shim is C.
func newBench(t *testing.T) *bench {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	for _, args := range [][]string{
		{"-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", dir + "/libcuda.so.1", "testdata/cuda.c"},
		{"-shared", "-fPIC", "-o", dir + "/next.so", "testdata/next.c", "-ldl"},
		{"-shared", "-fPIC", "-Wl,-soname,libnvJitLink.so.13", "-o", dir + "/libnvJitLink.so.13", "testdata/jitlink.c"},
		{"-shared", "-fPIC", "-DUSER", "-o", dir + "/uselink.so", "testdata/jitlink.c", "-L" + dir, "-l:libnvJitLink.so.13"},
		{"-c", "-o", dir + "/kernel.cubin", "testdata/cubin.c"},
		{"-o", dir + "/program", "testdata/program.c", "-L" + dir, "-l:libcuda.so.1", "-ldl"},
	} {
		if out, err := exec.Command(cc, append([]string{"-w"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	t.Setenv("LD_LIBRARY_PATH", dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("CUBIN", dir+"/kernel.cubin")
	return &bench{filepath.Join(dir, "program")}
}

// run captures what a program of the bench does.
func (b *bench) run(t *testing.T, name string, change func(*Options)) (o *Options, status int, log string) {
	t.Helper()
	var text bytes.Buffer
	o = &Options{Dir: filepath.Join(t.TempDir(), "captured"), MaxBytes: 1 << 20, PerKernel: 64, Contents: All, Wait: 100 * time.Millisecond, Log: &text, Decides: decides}
	if change != nil {
		change(o)
	}
	status, err := Run(context.Background(), o, append([]string{b.program}, strings.Fields(name)...), nil, nil, &text)
	if err != nil {
		t.Fatal(err)
	}
	return o, status, text.String()
}

func decides(f *launch.File) (bool, error) {
	s, err := muster.LoadSequence(f, muster.Limits{})
	if err != nil {
		return false, err
	}
	return s.ContentsDecide()
}

// folders lists those with a launch file, below dir.
func folders(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != LaunchFile {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(path))
		list = append(list, rel)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

// text reads a launch file, with A for each address and P for the process.
func text(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, LaunchFile))
	if err != nil {
		t.Fatal(err)
	}
	s := regexp.MustCompile(`0x[0-9a-f]{6,}`).ReplaceAllString(string(data), "A")
	s = regexp.MustCompile(`PTX: [0-9a-f]{64}`).ReplaceAllString(s, "PTX: H")
	return regexp.MustCompile(`process \d+`).ReplaceAllString(s, "process P")
}

// agree runs a captured launch on the machine, and compares what the program found.
func agree(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, LaunchFile)
	f, err := yaml.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Comparisons) == 0 || slices.ContainsFunc(r.Comparisons, func(c muster.Comparison) bool { return !c.OK() }) {
		t.Errorf("%s: %+v", dir, r.Comparisons)
	}
}

// TestPrograms captures programs that end in every way.
func TestPrograms(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name    string
		status  int
		folders []string
		log     string // a regular expression; all of what is said
		change  func(*Options)
	}{
		{name: "once", status: 3, folders: []string{"000-add"}, log: `^muster capture: 1 launch in .*, with contents of 404 bytes\n$`},
		{name: "dlsym", folders: []string{"000-add"}, log: "1 launch in"},
		{name: "crash", status: 128 + 6, folders: []string{"000-add", "001-add"}, log: "2 launches in"},
		{name: "killed", status: 128 + 9, folders: []string{"000-add"}, log: "1 launch in"},
		{name: "repeat", folders: []string{"000-add"}, log: "1 launch in"},
		{name: "repeat", folders: []string{"000-add", "001-add", "002-add"}, log: "3 launches in", change: func(o *Options) { o.Launches = [][2]uint64{{3, 4}, {9999, 1 << 63}} }},
		{name: "once", status: 3, log: "no launch of a kernel with PTX was seen", change: func(o *Options) { o.Kernel = "^(sub|mul)$" }},
		{name: "once", status: 3, folders: []string{"000-add"}, log: "1 launch in", change: func(o *Options) { o.Kernel = "a.+" }},
		{name: "fork", folders: []string{"000-add", "001-add"}, log: "2 launches in"},
		{name: "contexts", folders: []string{"device-0-context-0/000-add", "device-1-context-1/001-add"}, log: "2 launches in"},
		{name: "processes", folders: []string{"rank-0/000-add", "rank-1/000-add"}, log: "2 launches in"},
		{name: "peer", folders: []string{"000-add"}, log: "with contents of 4 bytes; of buffers of 400 bytes there is the shape alone"},
		{name: "once", status: 3, folders: []string{"000-add"}, log: "with contents of 4 bytes; of buffers of 400 bytes there is the shape alone", change: func(o *Options) { o.MaxBytes = 100 }},
		{name: "once", status: 3, folders: []string{"000-add"}, log: "with contents of 4 bytes; of buffers of 400 bytes", change: func(o *Options) { o.Contents = Needed }},
		{name: "waits", folders: []string{"000-wait", "001-go", "002-add"}, log: "000-wait did not end within 100ms: what it left is not kept\nmuster capture: 3 launches in"},
		{name: "graph", folders: []string{"000-add"}, log: "1 launches into CUDA graphs are not captured\nmuster capture: 1 launch in"},
		{name: "graphs", folders: []string{"000-graph", "001-graph"}, log: "2 launches in"},
		{name: "broken", folders: []string{"000-add"}, log: `process \d+ is not captured any further: .* cannot be copied: CUDA's error 999\nmuster capture: 1 launch in`},
		{name: "unload", folders: []string{"000-add", "001-add"}, log: "2 launches in"},
		{name: "refused", folders: []string{"000-add", "001-add"}, log: `^muster capture: 2 launches in .*\n$`},
		{name: "reset", folders: []string{"000-add", "001-go", "002-add", "003-go"}, log: `^muster capture: 4 launches in .*\n$`},
		{name: "reset-unseen", folders: []string{"000-add", "001-add"}, log: `^muster capture: 2 launches in .*\n$`},
		{name: "reset-library", folders: []string{"000-add", "001-add", "002-add"}, log: `^muster capture: 3 launches in .*\n$`},
		{name: "lost", folders: []string{"000-add"}, log: `^muster capture: process \d+ is not captured any further: .* CUDA's error 304\nmuster capture: 1 launch in .*\n$`},
		{name: "exits", status: 6, folders: []string{"000-wait"}, log: `^muster capture: 1 launch in .*\n$`, change: func(o *Options) { o.Wait = 10 * time.Second }},
		{name: "without", status: 7, log: "no launch of a kernel with PTX was seen"},
	} {
		o, status, log := b.run(t, c.name, c.change)
		log = regexp.MustCompile("muster capture: set .*\n").ReplaceAllString(log, "")
		if status != c.status {
			t.Errorf("%s: status %d, want %d", c.name, status, c.status)
		}
		if got := folders(t, o.Dir); !slices.Equal(got, c.folders) {
			t.Errorf("%s: folders %v, want %v", c.name, got, c.folders)
		}
		if !regexp.MustCompile(c.log).MatchString(log) {
			t.Errorf("%s said: %s\nwant %s", c.name, log, c.log)
		}
		if _, err := os.Stat(filepath.Join(o.Dir, recordName)); err == nil {
			t.Errorf("%s: the record is still there", c.name)
		}
	}
}

// TestContextsEnd captures programs on a driver that does not tell contexts apart: the calls that
// end them do, under each name and version that programs and CUDA's runtime ask for.
func TestContextsEnd(t *testing.T) {
	b := newBench(t)
	t.Setenv("OLD_DRIVER", "1")
	for name, want := range map[string][]string{
		"reset":         {"000-add", "001-go", "002-add", "003-go"},
		"reset-runtime": {"000-add", "001-add", "002-add"},
	} {
		o, status, log := b.run(t, name, nil)
		if got := folders(t, o.Dir); status != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: status %d, folders %v, want %v; said: %s", name, status, got, want, log)
		}
	}
}

// TestFolder looks into a folder, and runs it on the machine.
func TestFolder(t *testing.T) {
	b := newBench(t)
	for _, old := range []string{"", "1"} {
		if old != "" {
			t.Setenv("OLD_DRIVER", old) // it does not say where parameters lie
		}
		o, _, _ := b.run(t, "crash", nil)
		const want = `# Captured on a card made of C (sm_90, driver for CUDA 13.0): launch 0, in stream 0x1 of process P.
# SHA-256 of the PTX: H.
ptx: "kernel.ptx"
kernel: "add"
grid: [1, 1, 1]
block: [128, 1, 1]
registers: 16
buffers:
  b1: {type: u32, shape: [100], fill: {file: "b1.npy.zst"}, base: A}
variables:
  "count": {type: u8, shape: [4], fill: {file: "b0.npy.zst"}, base: A}
args:
  - {ptr: "b1"}
  - {u32: 100}
expect:
  b1: {file: "b1.after.npy.zst"}
`
		if got := text(t, filepath.Join(o.Dir, "000-add")); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		agree(t, filepath.Join(o.Dir, "000-add"))
		agree(t, filepath.Join(o.Dir, "001-add")) // what `count` was then
		for _, d := range []string{"", "000-add", "000-add/launch.yaml", "000-add/b1.npy.zst"} {
			info, err := os.Stat(filepath.Join(o.Dir, d))
			if err != nil || info.Mode().Perm()&0o77 != 0 {
				t.Errorf("%s: %v, %v: others may read it", d, info.Mode(), err)
			}
		}
	}
}

// TestLinked: the units that a kernel's code was linked from, and no others, become the launch
// file's modules, whoever linked them.
func TestLinked(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"link", "jitlink", "jitlink-dlsym", "link dry", "jitlink dry"} {
		name, isDry := strings.CutSuffix(name, " dry")
		o, status, log := b.run(t, name, func(o *Options) {
			if isDry {
				o.As = 100
			}
		})
		if got := folders(t, o.Dir); status != 0 || !slices.Equal(got, []string{"000-add"}) {
			t.Errorf("%s: status %d, folders %v: %s", name, status, got, log)
			continue
		}
		dir := filepath.Join(o.Dir, "000-add")
		if got, want := text(t, dir), `ptx: ["kernel.ptx", "kernel.1.ptx"]`; !strings.Contains(got, want) || strings.Contains(got, "PTX was found") {
			t.Errorf("%s: want %s in\n%s", name, want, got)
		}
		if _, err := os.Stat(filepath.Join(dir, "kernel.2.ptx")); err == nil {
			t.Errorf("%s: the module that is not needed is written", name)
		}
		if !isDry {
			agree(t, dir)
		}
	}
}

// TestDry: the program is told of another card, the driver is given kernels with nothing in
// them, and nothing runs; the folder has the kernel that the program has.
func TestDry(t *testing.T) {
	b := newBench(t)
	o, status, log := b.run(t, "device", func(o *Options) { o.As = 100 })
	const stub = `NVIDIA B200, 10.0: 99
.version 8.3
.target sm_90
.address_size 64
.visible .global .align 4 .u32 count;
.visible .entry add(
	.param .u64 p,
	.param .u32 n
)
{
	ret;
}
`
	if lines := strings.ReplaceAll(log, "\n\n", "\n"); status != 0 || !strings.Contains(lines, stub) {
		t.Errorf("status %d: %s", status, log)
	}
	const want = `# Captured on a card made of C (sm_90, driver for CUDA 13.0): launch 0, in stream 0x1 of process P.
# The capture was dry, as if on NVIDIA B200 (sm_100): no kernel ran, and buffers hold what the host and other copies left there.
# SHA-256 of the PTX: H.
ptx: "kernel.ptx"
kernel: "add"
grid: [1, 1, 1]
block: [128, 1, 1]
buffers:
  b1: {type: u32, shape: [100], fill: {file: "b1.npy.zst"}, base: A}
variables:
  "count": {type: u8, shape: [4], fill: {file: "b0.npy.zst"}, base: A}
args:
  - {ptr: "b1"}
  - {u32: 100}
`
	dir := filepath.Join(o.Dir, "000-add")
	if got := text(t, dir); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, status, log = b.run(t, "device", nil); status != 0 || !strings.Contains(log, "a card made of C, 9.0: 106\n.version") {
		t.Errorf("not dry: status %d: %s", status, log)
	}
	t.Setenv("OLD_PTX", "1")
	o, status, log = b.run(t, "device", func(o *Options) { o.As = 100 })
	if want := "is not captured any further: the driver refuses what stands for code in a dry capture: CUDA's error 222\n"; status != 0 || strings.Count(log, want) != 1 || len(folders(t, o.Dir)) > 0 {
		t.Errorf("refused: status %d: %s", status, log)
	}
}

// TestDryLimits: limits are those of the card that the program is told of, and tensor maps
// that the card which is there cannot encode are told in words.
func TestDryLimits(t *testing.T) {
	b := newBench(t)
	t.Setenv("OLD_DRIVER", "1") // its kernels have parameters of their own
	if _, status, log := b.run(t, "maps", nil); status != 52 {
		t.Fatalf("not dry: status %d, want that the second map is refused: %s", status, log)
	}
	o, status, log := b.run(t, "maps", func(o *Options) { o.As = 120 })
	if status != 0 {
		t.Fatalf("status %d: %s", status, log)
	}
	const want = `
# The tensor map at byte 128 of the parameters is not one of sm_90: type 6, shape 64x256, strides 128, box 32x16, steps 1x1, interleave 0, swizzle 4, fill 0; its bytes are in an encoding of muster's own.
# The tensor map at byte 256 of the parameters is not one of sm_90: type 14, shape 64x256, strides 128, box 32x16, steps 1x1, interleave 0, swizzle 3, fill 0; its bytes are a name: the innermost dimension has 64 elements of type b4x16_p64, not a multiple of 128.
# The tensor map at byte 384 of the parameters is not one of sm_90: type 14, shape 128x256, strides 128, box 128x16, steps 1x1, interleave 0, swizzle 4, fill 0; its bytes are in an encoding of muster's own.
`
	dir := filepath.Join(o.Dir, "000-wait")
	if got := text(t, dir); !strings.Contains(got, want) {
		t.Errorf("want %s in\n%s", want, got)
	}
	got, err := os.ReadFile(filepath.Join(dir, "p0.bin"))
	if err != nil || len(got) != 512 || got[0] != 3 || !bytes.HasPrefix(got[256:], []byte("tensor map_1 of muster capture --dry\x00")) {
		t.Fatalf("parameters %q, %v", got, err)
	}
	yaml, err := os.ReadFile(filepath.Join(dir, "launch.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, base, _ := strings.Cut(string(yaml), "shape: [32768], fill: {file: \"b0.npy.zst\"}, base: ") // only the last map leads to it
	base, _, _ = strings.Cut(base, "}")
	buffer, err := strconv.ParseUint(base, 0, 64)
	if err != nil {
		t.Errorf("no buffer of the last map in %s", yaml)
	}
	for at, want := range map[int]tma.Map{
		128: {Type: tma.F16, Rank: 2, Address: 0x7f0000001000, Dims: [5]uint64{64, 256}, Strides: [4]uint64{128}, Box: [5]uint32{32, 16}, ElementStrides: [5]uint32{1, 1}, Swizzle: tma.Swizzle128Atom32, L2: tma.L2Fetch64},
		384: {Type: tma.B4x16P64, Rank: 2, Address: buffer, Dims: [5]uint64{128, 256}, Strides: [4]uint64{128}, Box: [5]uint32{128, 16}, ElementStrides: [5]uint32{1, 1}, Swizzle: tma.Swizzle128Atom32, L2: tma.L2Fetch64},
	} {
		if m, err := tma.Decode([tma.Size]byte(got[at:])); err != nil || m != want {
			t.Errorf("the map at byte %d: %v, %+v", at, err, m)
		}
	}
}

// TestDryWide: a map in a wide mode of im2col, which the card that is there has not, is told in
// words and written in an encoding of muster's own.
func TestDryWide(t *testing.T) {
	b := newBench(t)
	t.Setenv("OLD_DRIVER", "1")
	if _, status, log := b.run(t, "wide", nil); status != 51 {
		t.Fatalf("not dry: status %d, want that the first map is refused: %s", status, log)
	}
	o, status, log := b.run(t, "wide", func(o *Options) { o.As = 100 })
	if status != 0 {
		t.Fatalf("status %d: %s", status, log)
	}
	const want = `
# The tensor map at byte 0 of the parameters is not one of sm_90: type 6, shape 64x20x10x2, strides 128x2560x25600, steps 1x1x1x1, im2col wide mode 0, corners -1 and -2, channels 64, pixels 32, interleave 0, swizzle 3, fill 0; its bytes are in an encoding of muster's own.
# The tensor map at byte 128 of the parameters is not one of sm_90: type 6, shape 64x20x10x2, strides 128x2560x25600, steps 1x1x1x1, im2col wide mode 1, corners -1 and -2, channels 64, pixels 32, interleave 0, swizzle 3, fill 0; its bytes are in an encoding of muster's own.
`
	dir := filepath.Join(o.Dir, "000-wait")
	if got := text(t, dir); !strings.Contains(got, want) {
		t.Errorf("want %s in\n%s", want, got)
	}
	got, err := os.ReadFile(filepath.Join(dir, "p0.bin"))
	if err != nil || len(got) != 256 {
		t.Fatalf("parameters %q, %v", got, err)
	}
	of := tma.Map{Mode: tma.Im2colW, Type: tma.F16, Rank: 4, Address: 0x7f0000001000, Dims: [5]uint64{64, 20, 10, 2}, Strides: [4]uint64{128, 2560, 25600},
		Lower: [3]int32{-1}, Upper: [3]int32{-2}, Channels: 64, Pixels: 32, ElementStrides: [5]uint32{1, 1, 1, 1}, Swizzle: tma.Swizzle128}
	for at, mode := range []tma.Mode{tma.Im2colW, tma.Im2colW128} {
		if of.Mode = mode; mode == tma.Im2colW128 {
			of.Pixels = 0 // it has none
		}
		if m, err := tma.Decode([tma.Size]byte(got[128*at:])); err != nil || m != of {
			t.Errorf("map %d: %v, %+v", at, err, m)
		}
	}
}

// TestStub: a stub keeps what the driver is asked about.
func TestStub(t *testing.T) {
	m := &module{}
	var err error
	m.mod, err = ptx.Parse("k.ptx", []byte(`.version 8.6
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 dynamic[];
.shared .align 16 .b8 fixed[64];
.global .align 8 .u64 table[2] = {1, 2};
.global .align 8 .u64 inside = table+8;
.global .align 8 .u64 calls[] = {f, generic(table)};
.func (.param .b32 r) f(.param .b32 x) { ret; }
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 .ptr .global .align 16 p)
.reqntid 384, 1, 1
.minnctapersm 1
.reqnctapercluster 2, 1, 1
{
	.shared .align 8 .b64 bars[4];
	.reg .b32 %r<4>;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [fixed], 512;
	{ .shared .b32 bars2; }
	ret;
}
.visible .entry other() { ret; }
`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := stubOf([]*module{m, m}, 90)
	if err != nil {
		t.Fatal(err)
	}
	const want = `.version 8.3
.target sm_90
.address_size 64
.extern .shared .align 1024 .b8 dynamic[];
.shared .align 16 .b8 fixed[64];
.visible .global .align 8 .u64 table[2] = {1, 2};
.visible .global .align 8 .u64 inside = table+8;
.visible .global .align 8 .u64 calls[2];
.visible .entry k(
	.param .align 64 .b8 map[128],
	.param .u64 .ptr .global .align 16 p
)
.reqntid 384, 1, 1
.minnctapersm 1
.reqnctapercluster 2, 1, 1
{
	st.volatile.shared.u8 [fixed], 0;
	.shared .align 8 .b64 muster_shared_0[4];
	st.volatile.shared.u8 [muster_shared_0], 0;
	.shared .b32 muster_shared_1;
	st.volatile.shared.u8 [muster_shared_1], 0;
	ret;
}
.visible .entry other
{
	ret;
}
`
	if got := strings.ReplaceAll(text, "\n\n", "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMachineCode: where a program loads machine code, PTX is found by the kernel's name in a
// folder that is named; without, one line says what to do.
func TestMachineCode(t *testing.T) {
	b := newBench(t)
	for name, want := range map[string]string{
		"machine":      "add is not captured: it was loaded as machine code; name a folder with its PTX by --ptx\n",
		"machine part": "add is not captured: program has machine code for sm_90 and no PTX; if it is yours, build it with nvcc -gencode arch=compute_90a,code=[sm_90a,compute_90a], or name a folder with its PTX by --ptx\n",
	} {
		if _, _, log := b.run(t, name, nil); strings.Count(log, want) != 1 {
			t.Errorf("%s: %s", name, log)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/other.ptx": ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry adder(.param .u64 p) { ret; }\n",
		"b/add.ptx":   ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry add(.param .u64 p, .param .u32 n) { ret; }\n",
		"b/bad.ptx":   ".visible .entry add(",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"machine", "machine part"} {
		for _, as := range []int{0, 100} {
			o, _, log := b.run(t, name, func(o *Options) { o.PTX, o.As = []string{dir}, as })
			if got := folders(t, o.Dir); !slices.Equal(got, []string{"000-add"}) {
				t.Fatalf("%s: folders %v: %s", name, got, log)
			}
			if got := text(t, filepath.Join(o.Dir, "000-add")); !strings.Contains(got, "# Its PTX was found by the kernel's name alone, in "+filepath.Join(dir, "b", "add.ptx")+".\n") {
				t.Error(got)
			}
		}
	}
	// PTX that cannot be that of the code
	if err := os.WriteFile(filepath.Join(dir, "b", "add.ptx"), []byte(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry add(.param .u64 p) { ret; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, _, log := b.run(t, "machine", func(o *Options) { o.PTX = []string{dir} })
	if got := folders(t, o.Dir); len(got) > 0 || !strings.Contains(log, "add is not captured: its PTX and its code have 1 and 2 parameters\n") {
		t.Errorf("folders %v: %s", got, log)
	}
}

// TestWay: which tool made a kernel is seen of its name and of what the process has loaded.
func TestWay(t *testing.T) {
	const site = "/usr/lib/python3/site-packages/"
	for _, c := range []struct {
		surrounding
		want string
	}{
		{surrounding{from: "/x/libcublasLt.so.13", capability: 90}, "NVIDIA ships libcublasLt.so.13 so"},
		{surrounding{from: "/x/libcudnn_engines_precompiled.so.9", capability: 90}, "NVIDIA ships"},
		{surrounding{kernel: "nvjet_sm90_hsh_64x8_64x16_1x2_h_bz_NNT", libraries: []string{"/x/libnvrtc.so.13"}, capability: 90}, "it is cuBLAS's"},
		{surrounding{from: "/x/libcurandom.so", capability: 80}, "build it with nvcc -gencode arch=compute_80,code=[sm_80,compute_80]"},
		{surrounding{from: "/x/flash_attn_3_cuda.so", libraries: []string{site + "torch/lib/libtorch_cuda.so"}, capability: 90}, "TORCH_CUDA_ARCH_LIST='9.0a+PTX'"},
		{surrounding{kernel: "triton_poi_fused_add_0", libraries: []string{"/x/libtriton.so", "/x/libnvrtc.so.13"}, capability: 90}, "TORCHINDUCTOR_CACHE_DIR"},
		{surrounding{kernel: "_attn_fwd", libraries: []string{"/x/libtriton.so", "/x/libnvrtc.so.13"}, capability: 90}, "run with TRITON_ALWAYS_COMPILE=1"},
		{surrounding{kernel: "kernel_cutlass_kernel_0", libraries: []string{"/x/libtriton.so"}, capability: 100}, "CUTE_DSL_KEEP_PTX=1 CUTE_DSL_DUMP_DIR=DIR"},
		{surrounding{kernel: "loop_add_fusion", libraries: []string{site + "jax_plugins/xla_cuda13/xla_cuda_plugin.so"}, capability: 90}, "JAX made it"},
		{surrounding{kernel: "k", libraries: []string{site + "cupy_backends/cuda/api/driver.cpython-312.so", "/x/libnvrtc.so.13"}, capability: 90}, "CUPY_CACHE_IN_MEMORY=1"},
		{surrounding{kernel: "k", libraries: []string{"/x/libnvrtc.so.13"}, capability: 90}, "if NVRTC made it"},
		{surrounding{kernel: "k", capability: 90}, "name a folder with its PTX by --ptx"},
	} {
		if got := c.way(); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.surrounding, got, c.want)
		}
	}
}

// TestDependent: a launch that may begin before the one before it has ended is one sequence
// with it, unless something lies between.
func TestDependent(t *testing.T) {
	b := newBench(t)
	o, _, log := b.run(t, "dependent", nil)
	for folder, want := range map[string]int{"000-add": 1, "001-add": 2, "002-add": 3, "003-add": 1, "004-add": 1, "005-add": 2} {
		f, err := yaml.ReadFile(filepath.Join(o.Dir, folder, LaunchFile))
		if err != nil {
			t.Fatalf("%v: %s", err, log)
		}
		if len(f.Launches) != want {
			t.Errorf("%s has %d launches, want %d: %s", folder, len(f.Launches), want, text(t, filepath.Join(o.Dir, folder)))
			continue
		}
		for i, before := range f.Order() {
			if i > 0 && !slices.Equal(before, []launch.Prerequisite{{Launch: i - 1, Programmatic: true}}) {
				t.Errorf("%s: %d comes after %v", folder, i, before)
			}
		}
		compared := 1
		if folder == "005-add" { // the first of its launches is a repetition of 0
			compared = 0
		}
		if got := runSequence(t, f); got != compared {
			t.Errorf("%s: %d buffers compared", folder, got)
		}
	}
}

// runSequence runs the launches of a file on the machine, and returns how many buffers were
// compared.
func runSequence(t *testing.T, f *launch.File) (compared int) {
	t.Helper()
	s, err := muster.LoadSequence(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Each(context.Background(), func(i int, l *muster.Launch) (*muster.RunResult, error) {
		r, err := l.Run(context.Background(), muster.RunOptions{})
		if err != nil {
			return nil, err
		}
		for _, c := range r.Comparisons {
			if compared++; !c.OK() {
				t.Errorf("%s: %+v", f.Name, c)
			}
		}
		return r, nil
	})
	if err != nil {
		t.Errorf("%s: %v", f.Name, err)
	}
	return compared
}

// TestEnvironment: JAX dumps PTX for the capture, unless the program says where it does.
func TestEnvironment(t *testing.T) {
	newBench(t)
	for _, c := range []struct{ flags, mosaic, want string }{
		{"", "", `^X--xla_dump_to=/.*/dumps --xla_dump_emitter_re=\.\*X M/.*/dumpsM$`},
		{"--a=b", "/m", `^X--a=b --xla_dump_to=/.*/dumps --xla_dump_emitter_re=\.\*X M/mM$`},
		{"--xla_dump_to=/d", "", `^X--xla_dump_to=/dX M/.*/dumpsM$`},
	} {
		t.Setenv("XLA_FLAGS", c.flags)
		t.Setenv("MOSAIC_GPU_DUMP_TO", c.mosaic)
		var out, log bytes.Buffer
		o := &Options{Dir: filepath.Join(t.TempDir(), "captured"), MaxBytes: 1, Log: &log}
		if _, err := Run(context.Background(), o, []string{"sh", "-c", `echo "X${XLA_FLAGS}X M${MOSAIC_GPU_DUMP_TO}M"`}, nil, &out, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%q, want %s", got, c.want)
		}
	}
}

// TestBeyond: what a launch file cannot have is said of the kernels that use it, and of no others.
func TestBeyond(t *testing.T) {
	m := &module{}
	var err error
	m.mod, err = ptx.Parse("k.ptx", []byte(`.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.func viaHeap() { .reg .b64 %r; { .param .b64 n; .param .b64 r; call (r), malloc, (n); } ret; }
.func leaf() { ret; }
.visible .entry plain() { call leaf; ret; }
.visible .entry image(.param .u64 t) { .reg .b64 %t; .reg .f32 %f<4>; .reg .s32 %x; tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%x}]; ret; }
.visible .entry heap() { { call viaHeap; } ret; }
.visible .entry given(.param .u64 f) { .reg .b64 %f; p: .callprototype _ (); ld.param.u64 %f, [f]; call %f, p; ret; }
.visible .entry own() { .reg .b64 %f; p: .callprototype _ (); mov.u64 %f, leaf; call %f, p; ret; }
`))
	if err != nil {
		t.Fatal(err)
	}
	for kernel, want := range map[string]string{
		"plain": "", "own": "",
		"image": "it reads or writes textures or surfaces, which are not captured",
		"heap":  "it uses the device's heap (of 8.39 MB), whose contents are not captured",
		"given": "it calls functions through pointers from memory or parameters, which are addresses of the card",
	} {
		if got := strings.Join(m.notes(kernel, 8<<20), "; "); got != want {
			t.Errorf("%s: %q, want %q", kernel, got, want)
		}
	}
}

// TestSharedPTX: folders of one module share its text.
func TestSharedPTX(t *testing.T) {
	b := newBench(t)
	o, _, _ := b.run(t, "crash", nil)
	var infos []os.FileInfo
	for _, d := range []string{"000-add", "001-add"} {
		info, err := os.Stat(filepath.Join(o.Dir, d, "kernel.ptx"))
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	if !os.SameFile(infos[0], infos[1]) {
		t.Error("two files")
	}
}

// TestNotes holds the first lines of launch files to what happened.
func TestNotes(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ name, folder, want string }{
		{"repeat", "000-add", "# 9999 later launches had the same parameters.\n"},
		{"killed", "000-add", "stream 0x1 of process P.\n# SHA-256 of the PTX: H.\nptx"},
		{"waits", "000-wait", "# It did not end within 100ms: what it left is not kept.\n"},
		{"waits", "001-go", "# Launched before what came before it had ended: its buffers are not kept.\n"},
		{"refused", "000-add", "# The launch failed with CUDA's error 1.\n"},
		{"refused", "001-add", "b1.after.npy.zst"},
		{"peer", "000-add", "# Buffer b1 belongs to another GPU: its contents are not kept.\n"},
		{"broken", "000-add", "stream 0x1 of process P.\n# SHA-256 of the PTX: H.\nptx"},
	} {
		o, _, _ := b.run(t, c.name, nil)
		if got := text(t, filepath.Join(o.Dir, c.folder)); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %s in\n%s", c.name, c.want, got)
		}
	}
}

// TestFileLimit: a limit on the size of files, and a disk that is full, end the capture and
// nothing else.
func TestFileLimit(t *testing.T) {
	b := newBench(t)
	// The program has the limit, and this process has not.
	script := filepath.Join(t.TempDir(), "limited")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nulimit -f 8\nexec "+b.program+" many\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := &Options{Dir: filepath.Join(t.TempDir(), "captured"), MaxBytes: 1 << 20, PerKernel: 64, Contents: All, Wait: time.Second, Log: &log}
	status, err := Run(context.Background(), o, []string{script}, nil, nil, &log)
	if err != nil || status != 0 {
		t.Errorf("status %d, %v", status, err)
	}
	if got := log.String(); !regexp.MustCompile(`is not captured any further: .*: File too large\n`).MatchString(got) || strings.Count(got, "not captured") != 1 {
		t.Errorf("said: %s", got)
	}
	if len(folders(t, o.Dir)) == 0 {
		t.Error("what was captured before is lost")
	}
}

// TestDescriptors: a program that closes what it did not open, and has the numbers for files of
// its own, finds nothing in them, and is captured on.
func TestDescriptors(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "victim")
	o, status, log := b.run(t, "closes "+file, nil)
	if got := folders(t, o.Dir); status != 0 || len(got) != 3 {
		t.Errorf("status %d, folders %v: %s", status, got, log)
	}
	_, status, log = b.run(t, "quiet "+file, nil)
	data, err := os.ReadFile(file)
	if status != 0 || err != nil || len(data) > 0 || strings.Count(log, "is not captured any further") != 1 {
		t.Errorf("status %d, %q, %v: %s", status, data, err, log)
	}
}

// TestRemoved: a program that removes the folder of its capture loses that alone.
func TestRemoved(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(t.TempDir(), "captured")
	_, status, log := b.run(t, "removes "+dir, func(o *Options) { o.Dir = dir })
	if status != 3 || strings.Count(log, "cannot be written in "+dir+": No such file or directory") != 1 || !strings.Contains(log, "nothing is kept: "+dir+" was removed while the program ran\n") {
		t.Errorf("status %d: %s", status, log)
	}
}

// TestErrorsFull: where standard error is a file that may not grow, the capture's line does not
// end the program.
func TestErrorsFull(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "limited")
	text := "#!/bin/sh\nhead -c 8192 /dev/zero > " + dir + "/errors\nulimit -f 8\nexec " + b.program + " many 2>> " + dir + "/errors\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := &Options{Dir: filepath.Join(t.TempDir(), "captured"), MaxBytes: 1 << 20, PerKernel: 64, Contents: All, Wait: time.Second, Log: &log}
	status, err := Run(context.Background(), o, []string{script}, nil, nil, &log)
	if err != nil || status != 0 || strings.Count(log.String(), "is not captured any further") != 1 || strings.Contains(log.String(), os.TempDir()+"/muster-") {
		t.Errorf("status %d, %v: %s", status, err, &log)
	}
}

// TestSignals: what ends muster ends the program, and the capture is kept.
func TestSignals(t *testing.T) {
	b := newBench(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if typed(sig) || signal.Ignored(sig) {
			continue // this is the foreground of a terminal, or runs below nohup
		}
		done := make(chan bool)
		var o *Options
		var status int
		var log string
		go func() {
			defer close(done)
			o, status, log = b.run(t, "sleeps", func(o *Options) {
				go func() {
					for record := filepath.Join(o.Dir, recordName); ; time.Sleep(20 * time.Millisecond) {
						if after, _ := filepath.Glob(record + "/*/*.a*"); len(after) > 0 {
							break
						}
					}
					time.Sleep(100 * time.Millisecond)
					_ = syscall.Kill(os.Getpid(), sig)
				}()
			})
		}()
		<-done
		if group, front := groups("1 (a b) c) S 2 77 4 5 77 0"); group != "77" || front != "77" {
			t.Errorf("groups %s, %s", group, front)
		}
		if got := folders(t, o.Dir); status != 128+int(sig) || len(got) != 1 {
			t.Errorf("%v: status %d, folders %v: %s", sig, status, got, log)
		}
	}
}

// TestTogether: of two captures into one folder at once, one is refused.
func TestTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "captured")
	o := &Options{Dir: dir, MaxBytes: 1, Log: io.Discard}
	if _, err := prepare(o); err != nil {
		t.Fatal(err)
	}
	if record, err := prepare(o); record != "" || err == nil || !strings.Contains(err.Error(), "another capture writes to "+dir) {
		t.Errorf("%q, %v", record, err)
	}
}

// TestPreloaded stands beside a library that is preloaded as an allocator is, and asks for
// the function behind itself.
func TestPreloaded(t *testing.T) {
	b := newBench(t)
	t.Setenv("LD_PRELOAD", filepath.Join(filepath.Dir(b.program), "next.so"))
	o, status, log := b.run(t, "once", nil)
	if got := folders(t, o.Dir); status != 3 || len(got) != 1 {
		t.Errorf("status %d, folders %v: %s", status, got, log)
	}
}

// TestRefused: what cannot be captured is said before the program runs.
func TestRefused(t *testing.T) {
	b := newBench(t)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command []string
		dir     string
		want    string
	}{
		{[]string{b.program, "once"}, full, "is there already, with x in it"},
		{[]string{b.program, "once"}, filepath.Join(full, "x", "y"), "not a directory"},
		{[]string{"no-such-program"}, t.TempDir(), "executable file not found"},
		{[]string{full}, t.TempDir(), "permission denied|is a directory"},
	} {
		var log bytes.Buffer
		_, err := Run(context.Background(), &Options{Dir: c.dir, MaxBytes: 1, Log: &log}, c.command, nil, nil, nil)
		if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%v: %v, want %s", c.command, err, c.want)
		}
	}
}

// TestPTXFolders: what is no folder is refused.
func TestPTXFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{file, "it is no folder"}, {file + "y", "no such file or directory"}} {
		if err := areFolders([]string{t.TempDir(), c[0]}); err == nil || !strings.Contains(err.Error(), "--ptx "+c[0]+": "+c[1]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

// TestNoCompiler: there is one line, and the program does not run.
func TestNoCompiler(t *testing.T) {
	b := newBench(t)
	t.Setenv("PATH", t.TempDir())
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "captured")
	_, err := Run(context.Background(), &Options{Dir: dir, MaxBytes: 1, Log: &log}, []string{b.program, "once"}, nil, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "install gcc or clang") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s was made", dir)
	}
}

// TestNoHome: who has no home, and no folder for what is temporary, captures all the same.
func TestNoHome(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(file, "cache")) // no user can make these
	t.Setenv("TMPDIR", filepath.Join(file, "tmp"))
	var log bytes.Buffer
	o := &Options{Dir: filepath.Join(dir, "captured"), MaxBytes: 1 << 20, PerKernel: 64, Contents: All, Wait: time.Second, Log: &log}
	status, err := Run(context.Background(), o, []string{b.program, "once"}, nil, nil, &log)
	if got := folders(t, o.Dir); err != nil || status != 3 || len(got) != 1 {
		t.Errorf("status %d, %v, folders %v: %s", status, err, got, &log)
	}
}

// TestShort holds names of folders to kernels' names.
func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"add":            "add",
		"_Z5saxpy4Pairi": "saxpy",
		"_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEE": "device_kernel",
		"_Z":                         "_Z",
		"_Z99x":                      "_Z99x",
		"_ZN3a..":                    "a",
		"void f<int>(a/../b)":        "voidfintab",
		strings.Repeat("k", 100):     strings.Repeat("k", maxShort),
		"triton_poi_fused_add_0d1d2": "triton_poi_fused_add_0d1d2",
	} {
		if got := short(name); got != want {
			t.Errorf("short(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestGraphFolder: a graph is one sequence, with its edges, and leaves on the machine what it
// left on the driver.
func TestGraphFolder(t *testing.T) {
	b := newBench(t)
	o, _, _ := b.run(t, "graphs", nil)
	for _, folder := range []string{"000-graph", "001-graph"} {
		f, err := yaml.ReadFile(filepath.Join(o.Dir, folder, LaunchFile))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range f.Launches {
			names = append(names, f.Launches[i].Name)
		}
		if !slices.Equal(names, []string{"fill", "add", "copy", "add-2"}) {
			t.Errorf("names %q", names)
		}
		if got := strings.Count(text(t, filepath.Join(o.Dir, folder)), "# SHA-256 of the PTX: "); got != 1 {
			t.Errorf("%d lines with the PTX's hash", got)
		}
		order := f.Order()
		if len(order) != 4 || !slices.Equal(order[3], []launch.Prerequisite{{Launch: 1, Programmatic: true}, {Launch: 2}}) {
			t.Errorf("order %v", order)
		}
		if want := map[string]uint64{"000-graph": 20, "001-graph": 7}[folder]; f.Launches[3].Args[1].Bits != want {
			t.Errorf("%s: the last kernel's n is %d, want %d", folder, f.Launches[3].Args[1].Bits, want)
		}
		if compared := runSequence(t, f); compared != 2 {
			t.Errorf("%s: %d buffers compared", folder, compared)
		}

	}
}
