package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/launch"
	"muster/ptx"
)

func TestMain(m *testing.M) {
	Worker()
	os.Exit(m.Run())
}

// open returns the GPU, or skips the test with the reason.
func open(t *testing.T) *Device {
	t.Helper()
	d, err := Open()
	var none *NoDevice
	if errors.As(err, &none) {
		t.Skipf("%v; the tests in pure_test.go ran all the same", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func run(t *testing.T, d *Device, keys string) *Result {
	t.Helper()
	r, err := d.Run(t.Context(), parse(t, keys), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func words(b []byte) (list []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		list = append(list, binary.LittleEndian.Uint32(b))
	}
	return list
}

func TestPointers(t *testing.T) {
	r := run(t, open(t), `"kernel": "follow", "grid": 1, "block": 4, "buffers": {
		"in": {"type": "u32", "shape": [8], "fill": "iota", "align": 65536},
		"where": {"type": "u64", "values": [{"ptr": "in", "offset": 8}]},
		"out": {"type": "u32", "shape": [5]}},
		"args": ["where", {"struct": [{"ptr": "out", "offset": 4}, {"u32": 100}, {"pad": 4}]}]`)
	if got := words(r.Buffer("out").Data); !reflect.DeepEqual(got, []uint32{0, 102, 103, 104, 105}) {
		t.Error(got)
	}
	if r.Buffer("in").Base%65536 != 0 || r.Time <= 0 || r.Registers == 0 {
		t.Errorf("%+v", r)
	}
}

func TestClusters(t *testing.T) {
	d := open(t)
	for _, size := range []string{"1", "2", "8", "16"} {
		r := run(t, d, `"kernel": "ranks", "grid": 16, "block": 32, "cluster": `+size+`, "buffers": {"out": {"type": "u32", "shape": [16, 2]}}, "args": ["out"]`)
		n := r.Buffer("out")
		for i, w := range words(n.Data) {
			want := map[string]uint32{"1": 1, "2": 2, "8": 8, "16": 16}[size]
			if i%2 == 1 && w != want || i%2 == 0 && w != uint32(i/2)%want {
				t.Fatalf("cluster %s: %v", size, words(n.Data))
			}
		}
	}
}

func TestDynamicShared(t *testing.T) {
	r := run(t, open(t), `"kernel": "far", "grid": 1, "block": 1, "shared": 232448, "buffers": {"out": {"type": "u32", "shape": [1]}}, "args": ["out", {"u32": 232448}]`)
	if got := words(r.Buffer("out").Data); got[0] != 77 {
		t.Error(got)
	}
}

// TestTensorMaps: a map reaches the GPU intact, tiled and im2col, as a
// parameter and in a buffer.
func TestTensorMaps(t *testing.T) {
	d := open(t)
	for _, m := range []string{
		`{"of": "in", "box": [8, 16], "swizzle": "64B", "l2": "128B", "fill": "nan"}`,
		`{"of": "in", "shape": [256], "box": [64]}`,
		`{"of": "in", "shape": [2, 4, 4, 8], "im2col": {"lower": [-1, -1], "upper": [-1, 0], "channels": 8, "pixels": 16}}`,
	} {
		f := parse(t, `"kernel": "bytes", "grid": 1, "block": 16, "buffers": {"in": {"type": "f32", "shape": [16, 16]},
			"maps": {"type": "tensormap", "values": [`+m+`]}, "out": {"type": "u8", "shape": [128]}},
			"args": [{"tensormap": `+m+`}, "out"]`)
		r, err := d.Run(t.Context(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, placed := r.Buffer("out").Data, r.Buffer("maps").Data
		if !reflect.DeepEqual(got, placed) || reflect.DeepEqual(got, make([]byte, 128)) {
			t.Errorf("% x\n% x", got, placed)
		}
		if at := binary.LittleEndian.Uint64(got); at != r.Buffer("in").Base {
			t.Logf("the first word of a map is %#x, the tensor lies at %#x", at, r.Buffer("in").Base)
		}
	}
}

func TestTensorMapRefused(t *testing.T) {
	f := parse(t, `"kernel": "bytes", "grid": 1, "block": 16, "buffers": {"in": {"type": "f32", "shape": [16, 16]}, "out": {"type": "u8", "shape": [128]}},
		"args": [{"tensormap": {"of": "in", "box": [257, 16]}}, "out"]`)
	_, err := open(t).Run(t.Context(), f, Options{})
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != 1 || !strings.HasPrefix(err.Error(), "testdata/x.json:2:26: tensor map: ") {
		t.Error(err)
	}
}

// TestBox copies a box that extends over two edges: elements outside are zero.
func TestBox(t *testing.T) {
	r := run(t, open(t), `"kernel": "box", "grid": 1, "block": 1, "buffers": {"in": {"type": "u32", "shape": [16, 64], "fill": "iota"}, "out": {"type": "u32", "shape": [8, 32], "fill": "ones"}},
		"args": [{"tensormap": {"of": "in", "box": [8, 32]}}, "out", {"s32": 40}, {"s32": -2}]`)
	got := words(r.Buffer("out").Data)
	for i := range got {
		y, x := i/32-2, i%32+40
		want := uint32(64*y + x)
		if y < 0 || x >= 64 {
			want = 0
		}
		if got[i] != want {
			t.Fatalf("%d: got %d, want %d", i, got[i], want)
		}
	}
}

func TestAssemblerSays(t *testing.T) {
	d := open(t)
	mod, err := ptx.Parse("bad.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .f32 %f; add.s32 %f, %f, 1; ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Run(t.Context(), parse(t, `"grid": 1, "block": 1`), Options{Module: mod})
	var refused *Error
	if !errors.As(err, &refused) || refused.Op != "cuModuleLoadDataEx" || !strings.Contains(refused.Log, "Arguments mismatch for instruction 'add'") || refused.Fault() {
		t.Error(err)
	}
	mod, err = ptx.Parse("good.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := d.Run(t.Context(), parse(t, `"grid": 1, "block": 1`), Options{Module: mod}); err != nil || r.Kernel != "k" {
		t.Error(r, err)
	}
}

// TestExamples: the machine and the GPU leave the same bits.
func TestExamples(t *testing.T) {
	open(t)
	for _, keys := range []string{
		`"kernel": "follow", "grid": 1, "block": 4, "buffers": {"in": {"type": "u32", "shape": [8], "fill": "iota"},
			"where": {"type": "u64", "values": [{"ptr": "in", "offset": 8}]}, "out": {"type": "u32", "shape": [4]}},
			"args": ["where", {"struct": [{"ptr": "out"}, {"u32": 100}, {"pad": 4}]}]`,
		`"kernel": "ranks", "grid": 8, "block": 32, "cluster": 4, "buffers": {"out": {"type": "u32", "shape": [8, 2]}}, "args": ["out"]`,
	} {
		f := parse(t, keys)
		l, err := muster.LoadFile(f, muster.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Run(t.Context(), muster.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := RunApart(t.Context(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		diffs, err := r.Compare(f, m.Buffer)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range diffs {
			if d.Count > 0 {
				t.Error(d)
			}
		}
	}
}

// TestHang: a kernel that never ends is killed, and the GPU stays usable.
func TestHang(t *testing.T) {
	d := open(t)
	begin := time.Now()
	_, err := RunApart(t.Context(), parse(t, `"kernel": "spin", "grid": 1, "block": 1, "buffers": {"flag": {"type": "u32", "shape": [1]}}, "args": ["flag"]`), Options{Timeout: 2 * time.Second})
	var late *TimeoutError
	if !errors.As(err, &late) {
		t.Fatal(err)
	}
	t.Log("ended after", time.Since(begin))
	run(t, d, `"kernel": "empty", "grid": 1, "block": 1, "args": [null, null, {"u32": 1}]`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := RunApart(ctx, parse(t, `"kernel": "spin", "grid": 1, "block": 1, "buffers": {"flag": {"type": "u32", "shape": [1]}}, "args": ["flag"]`), Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestFault: a fault carries the driver's error code, and stays in its process.
func TestFault(t *testing.T) {
	d := open(t)
	_, err := RunApart(t.Context(), parse(t, `"kernel": "fault", "grid": 1, "block": 1`), Options{})
	var fault *Error
	if !errors.As(err, &fault) || fault.Code != 700 || !fault.Fault() {
		t.Error(err)
	}
	run(t, d, `"kernel": "empty", "grid": 1, "block": 1, "args": [null, null, {"u32": 1}]`)
}

func TestLaunchAllocatesNothing(t *testing.T) {
	d := open(t)
	for _, cluster := range []string{"", `"cluster": 1, `} {
		p, err := d.Prepare(parse(t, cluster+`"kernel": "empty", "grid": 1, "block": 1, "args": [null, null, {"u32": 1}]`), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if n := testing.AllocsPerRun(100, func() {
			if err := p.Launch(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v allocations a launch", n)
		}
		if err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		o, err := p.Overhead(t.Context(), 20, 100, os.Getenv("MUSTER_GPU_LOOP"))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(o)
	}
}

// TestWorkerWithoutGPU: input errors and a missing GPU keep their types on the
// way back from a worker.
func TestWorkerWithoutGPU(t *testing.T) {
	_, err := RunApart(t.Context(), parse(t, `"kernel": "none", "grid": 1, "block": 1`), Options{})
	var none *NoDevice
	var input *launch.Error
	if !errors.As(err, &none) && !errors.As(err, &input) {
		t.Errorf("%T: %v", err, err)
	}
	t.Log(filepath.Base(os.Args[0])+":", err)
}
