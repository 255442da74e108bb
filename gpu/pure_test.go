package gpu

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"muster/launch"
	"muster/ptx"
)

// parse reads a launch of one of testdata's kernels.
func parse(t *testing.T, keys string) *launch.File {
	t.Helper()
	f, err := launch.ParseJSON(filepath.Join("testdata", "x.json"), []byte(`{"ptx": "kernels.ptx", `+keys+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLayoutOfC: the structures have the sizes and offsets of cuda.h.
func TestLayoutOfC(t *testing.T) {
	var c launchConfig
	var a launchAttribute
	got := []uintptr{unsafe.Sizeof(c), unsafe.Offsetof(c.shared), unsafe.Offsetof(c.stream), unsafe.Offsetof(c.attributes), unsafe.Offsetof(c.numAttributes),
		unsafe.Sizeof(a), unsafe.Offsetof(a.value)}
	if want := []uintptr{56, 24, 32, 40, 48, 72, 8}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if list := launchAttributes(&launch.Launch{}); list != nil {
		t.Errorf("attributes of a plain launch: %v", list)
	}
	list := launchAttributes(&launch.Launch{Cluster: [3]uint32{1, 2, 3}, Cooperative: true})
	if len(list) != 2 || list[0].id != 4 || list[1].id != 2 || list[1].value != [64]byte{1} && list[1].value != [64]byte{3: 1} {
		t.Fatalf("%v", list)
	}
	if list := launchAttributes(&launch.Launch{Preferred: [3]uint32{4, 2, 1}}); len(list) != 1 || list[0].id != 11 || binary.NativeEndian.Uint32(list[0].value[4:]) != 2 {
		t.Errorf("preferred cluster: %v", list)
	}
	for i := range 3 {
		if v := list[0].value; binary.NativeEndian.Uint32(v[4*i:]) != uint32(i+1) {
			t.Errorf("% x", v[:12])
		}
	}
}

// TestDriverArgs: the driver reverses the dimensions, and its types are narrower.
func TestDriverArgs(t *testing.T) {
	m := launch.TensorMap{Spec: &launch.TensorMapSpec{Im2col: &launch.Im2col{Lower: []int64{-1, -2}, Upper: []int64{3, 4}}},
		Shape: []int64{2, 3, 4, 8}, Strides: []int64{384, 128, 32}, ElementStrides: []int64{1, 2, 3, 4}}
	got, err := driverArgs(&m)
	want := mapArgs{dims: []uint64{8, 4, 3, 2}, strides: []uint64{32, 128, 384}, elementStride: []uint32{4, 3, 2, 1}, lower: []int32{-2, -1}, upper: []int32{4, 3}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	m.Spec = &launch.TensorMapSpec{Pos: launch.Pos{File: "x.json", Line: 3, Col: 4}, Box: []int64{1, 1, 1, 1 << 32}}
	if _, err := driverArgs(&m); err == nil || err.Error() != "x.json:3:4: box: 4294967296 does not fit the driver's type" {
		t.Error(err)
	}
}

// TestTypesOfMaps: the driver's enumeration is package launch's, minus one.
func TestTypesOfMaps(t *testing.T) {
	for cu, e := range []launch.ElementType{launch.ElementU8, launch.ElementU16, launch.ElementU32, launch.ElementS32, launch.ElementU64, launch.ElementS64,
		launch.ElementF16, launch.ElementF32, launch.ElementF64, launch.ElementBF16, launch.ElementF32FTZ, launch.ElementTF32, launch.ElementTF32FTZ} {
		if int(e-launch.ElementU8) != cu {
			t.Errorf("%s is %d to the driver", e, cu)
		}
	}
}

// TestUnclosed: the garbage collector can free a launch that was not closed.
func TestUnclosed(t *testing.T) {
	for range 10 {
		p := newPrepared(&Device{drv: &driver{}})
		p.arguments(&launch.Launch{Cluster: [3]uint32{1, 1, 1}}, &launch.ParamBlock{Bytes: make([]byte, 64), Offsets: []int{0, 8}})
		if p.config == nil || len(p.pointers) != 2 {
			t.Fatal(p)
		}
	}
	for range 3 {
		runtime.GC() // panics over memory that stays pinned
	}
}

// TestCompare: bits decide, the first difference has its index, pointers compare
// by buffer and offset, and the file's tolerance applies.
func TestCompare(t *testing.T) {
	f := parse(t, `"grid": 1, "block": 1, "kernel": "empty", "buffers": {
		"a": {"type": "f32", "shape": [2, 2], "fill": "zeros"},
		"p": {"type": "u64", "values": [{"ptr": "a", "offset": 4}, 9]},
		"m": {"type": "tensormap", "shape": [1]}},
		"expect": {"a": {"file": "a.npy", "atol": 0.5}}`)
	plan, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	words := func(v ...uint32) (b []byte) {
		for _, w := range v {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	two := math.Float32bits(2)
	machine := map[string][]byte{"a": words(0, 0, two, 0), "p": plan.Buffer("p").Data, "m": make([]byte, 128)}
	get := func(name string) ([]byte, error) {
		if b, ok := machine[name]; ok {
			return b, nil
		}
		return nil, fs.ErrNotExist
	}
	r := &Result{Buffers: []Array{
		{Name: "a", Type: launch.F32, Shape: []int64{2, 2}, Base: 0x1000, Data: words(0, 0, two, 0)},
		{Name: "p", Type: launch.U64, Shape: []int64{2}, Base: 0x2000, Data: words(0x1004, 0, 9, 0)},
		{Name: "m", Type: launch.TensorMapType, Shape: []int64{1}, Base: 0x3000, Data: make([]byte, 128)},
	}}
	check := func(want ...string) {
		t.Helper()
		list, err := r.Compare(f, get)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range list {
			got = append(got, d.String())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	check("a: all 4 elements are bit-equal", "p: all 2 elements are bit-equal")
	// A negative zero has other bits, and is within any tolerance.
	r.Buffers[0].Data = words(0, 0, two, 0x80000000)
	check("a: 1 of 4 elements differ, first at [1 1]: the GPU has -0 (0x80000000), the machine 0 (0x00000000); within the tolerance of the launch file", "p: all 2 elements are bit-equal")
	r.Buffers[0].Data = words(0, two, 0, 0)
	r.Buffers[1].Data = words(0x1008, 0, 9, 0)
	list, err := r.Compare(f, get)
	if err != nil || list[0].OK() || list[0].Count != 2 || list[0].Index[1] != 1 || list[1].OK() || list[1].Index[0] != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if r.Buffers[1].Data[0] != 8 {
		t.Error("comparing changed the result")
	}
	delete(machine, "p")
	if _, err := r.Compare(f, get); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestRequestKeepsShapes: a request distinguishes a shape taken from the fill's
// file from a shape without dimensions.
func TestRequestKeepsShapes(t *testing.T) {
	f := parse(t, `"grid": [2, 3], "block": 1, "buffers": {"a": {"type": "f32", "shape": []}, "b": {"type": "f32", "fill": {"file": "b.npy"}},
		"p": {"type": "u64", "values": [{"ptr": "a"}, 18446744073709551615]}},
		"args": ["a", {"struct": [{"tensormap": {"of": "a", "box": [1]}}, {"s64": -1}]}], "expect": {"a": {"file": "a.npy", "atol": 1}}`)
	data, err := json.Marshal(request{File: withoutExpect(f)})
	if err != nil {
		t.Fatal(err)
	}
	var r request
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if b := r.File.Buffers; b[0].Shape == nil || b[1].Shape != nil || !reflect.DeepEqual(b[2].Values, f.Buffers[2].Values) {
		t.Errorf("%+v", b)
	}
	if got, want := r.File.Launches[0], f.Launches[0]; !reflect.DeepEqual(got.Args, want.Args) || got.Grid != want.Grid {
		t.Errorf("%+v", got)
	}
	if len(f.Expect) != 1 {
		t.Error("the caller's file was changed")
	}
}

// TestErrorsTravel: a worker's error keeps its type and its text.
func TestErrorsTravel(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("x.json:1:2: %w", &Error{Op: "cuX", Code: 1, Name: "N", Text: "t"}),
		&NoDevice{"none"},
		&launch.Error{Pos: launch.Pos{File: "x", Line: 1, Col: 2}, Msg: "m", Err: os.ErrNotExist},
		&ptx.Error{File: "k.ptx", Msg: "m"},
		errors.New("other"),
	} {
		var r reply
		r.sort(err)
		if got := r.err(); got.Error() != err.Error() {
			t.Errorf("got %v, want %v", got, err)
		}
	}
	var fault *Error
	r := reply{Text: "t", Fault: &Error{Code: 719}}
	if !errors.As(r.err(), &fault) || fault.Code != 719 || !fault.Fault() || (&Error{Code: 1}).Fault() {
		t.Error(r.err())
	}
}

// TestOpenWithoutDriver: without a GPU, Open's error is a *NoDevice.
func TestOpenWithoutDriver(t *testing.T) {
	d, err := Open()
	if err == nil {
		t.Log("there is a GPU:", d)
		d.Close()
		return
	}
	var none *NoDevice
	if !errors.As(err, &none) || !strings.HasPrefix(err.Error(), "no GPU: ") {
		t.Errorf("%T: %v", err, err)
	}
}

// TestHolder: on the card one buffer may begin where another ends.
func TestHolder(t *testing.T) {
	r := Result{Buffers: []Array{{Name: "a", Base: 0x1000, Data: make([]byte, 0x100)}, {Name: "b", Base: 0x1100, Data: make([]byte, 0x80)}}}
	for p, want := range map[uint64]string{0x1000: "a", 0x10ff: "a", 0x1100: "b", 0x1180: "b", 0x1181: "", 0xfff: ""} {
		got := ""
		if to := r.holder(p); to != nil {
			got = to.Name
		}
		if got != want {
			t.Errorf("%#x is in %q, not %q", p, got, want)
		}
	}
}
