package kernel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"muster"
	"muster/internal/yaml"
	"muster/kernel"
	"muster/launch"
	"muster/ptx"
)

// takes is a kernel with a parameter of every kind.
func takes(t *testing.T) *kernel.Kernel {
	t.Helper()
	k := kernel.New("takes", kernel.Block(32))
	for _, e := range []kernel.Type{kernel.F32, kernel.F16, kernel.E4M3, kernel.S32, kernel.B32, kernel.BF16x2, kernel.B128} {
		k.GlobalPtr("p_"+string(e), e)
	}
	for _, e := range []kernel.Type{kernel.U8, kernel.S16, kernel.U64, kernel.S64, kernel.F16, kernel.F32, kernel.F64} {
		k.Param("s_"+string(e), e)
	}
	return k
}

func right() []any {
	return []any{[]float32{1}, []uint16{1}, []uint8{1}, []int32{1}, []float32{1}, []uint16{1, 2}, []uint64{1, 2},
		1, -1, uint64(math.MaxUint64), -1, 1.5, 1.5, 1.5}
}

func TestArguments(t *testing.T) {
	k := takes(t)
	c, err := k.Call(kernel.Grid(1), right()...)
	if err != nil {
		t.Fatal(err)
	}
	var types []launch.Type
	for _, b := range c.File.Buffers {
		types = append(types, b.Type)
	}
	if want := []launch.Type{launch.F32, launch.F16, launch.E4M3, launch.S32, launch.F32, launch.U16, launch.U64}; !reflect.DeepEqual(types, want) {
		t.Error(types)
	}
	var bits []uint64
	for _, a := range c.File.Launches[0].Args[7:] {
		bits = append(bits, a.Bits)
	}
	if want := []uint64{1, 0xffff, math.MaxUint64, math.MaxUint64, 0x3e00, 0x3fc00000, 0x3ff8000000000000}; !reflect.DeepEqual(bits, want) {
		t.Errorf("%x", bits)
	}
	if _, err := muster.LoadCall(c, muster.Limits{}); err != nil {
		t.Error(err)
	}
}

// TestBits: parameters of types that Go lacks are given by their bits, and
// pointers accept slices with the bits of their elements.
func TestBits(t *testing.T) {
	k := kernel.New("bits", kernel.Block(1))
	k.Param("pair", kernel.F16x2)
	k.Param("half", kernel.BF16)
	k.Param("raw", kernel.B32)
	k.Param("all", kernel.B64)
	p := k.GlobalPtr("p", kernel.F64)
	k.GlobalPtr("null", kernel.TF32)
	k.GlobalPtr("_0", kernel.F16x2)
	k.GlobalPtr("$$", kernel.B8)
	p.Store(0.5)
	x, h := make([]uint64, 2), make([]uint32, 1)
	c, err := k.Call(kernel.Grid(1), uint32(0x3c003c00), uint16(0x3f80), -1, 2, x, []float32{1}, h, []int8{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	var bits []uint64
	for _, a := range c.File.Launches[0].Args[:4] {
		bits = append(bits, a.Bits)
	}
	if want := []uint64{0x3c003c00, 0x3f80, 0xffffffff, 2}; !reflect.DeepEqual(bits, want) {
		t.Errorf("%#x", bits)
	}
	if got := c.Results(); !reflect.DeepEqual(got, []string{"p", "_null", "_0", "_"}) {
		t.Error(got)
	}
	if err := c.Take(runCall(t, c).Buffer); err != nil || x[0] != math.Float64bits(0.5) {
		t.Error(x, err)
	}
	if _, err := k.Call(kernel.Grid(1), 1.5, 1, 1, 1, x, nil, h, h); err == nil || !strings.HasSuffix(err.Error(), "argument 1, pair: a parameter of type f16x2 is given by its bits, in an unsigned integer of 32 bits") {
		t.Error(err)
	}
}

// TestArgumentMistakes: every mistake is one sentence, at the line of the call.
func TestArgumentMistakes(t *testing.T) {
	k := takes(t)
	for _, tt := range []struct {
		i    int
		a    any
		want string
	}{
		{0, []int32{1}, "p_f32: the kernel has elements of type f32 there, and it is a []int32"},
		{0, []float64{1}, "p_f32: the kernel has elements of type f32 there, and it is a []float64"},
		{0, []byte{1, 2, 3}, "p_f32: the kernel has elements of type f32 there, and it is a []uint8"},
		{0, []int{1}, "p_f32: want a slice of numbers of a fixed size, got a []int"},
		{0, []float32{}, "p_f32: the slice is empty"},
		{0, []float32(nil), "p_f32: the slice is nil; a null pointer is written as nil alone"},
		{0, new(float32), "p_f32: want a slice of numbers, got a *float32"},
		{0, kernel.Uninitialized(7), "p_f32: want a slice of numbers, got a int"},
		{0, kernel.MapOf([]float32{1}, kernel.F32, []int{1}, []int{1}), "p_f32: it is no tensor map's parameter, and MapOf makes a tensor map"},
		{1, []float32{1}, "p_f16: the kernel has elements of type f16 there, and it is a []float32"},
		{3, []float32{1}, "p_s32: the kernel has elements of type s32 there, and it is a []float32"},
		{5, []uint16{1}, "p_bf16x2: the kernel has elements of type bf16x2 there, and it is a []uint16"},
		{5, []float32{1}, "p_bf16x2: the kernel has elements of type bf16x2 there, and it is a []float32"},
		{6, []uint64{1}, "p_b128: the kernel has elements of type b128 there, and it is a []uint64"},
		{7, 256, "s_u8: 256 does not fit type u8"},
		{7, -1, "s_u8: -1 does not fit type u8"},
		{7, 1.0, "s_u8: want an integer of type u8, got 1"},
		{7, nil, "s_u8: want a number of type u8, got nil"},
		{7, "1", "s_u8: want a number of type u8, got a string"},
		{8, 32768, "s_s16: 32768 does not fit type s16"},
		{8, uint64(math.MaxUint64), "s_s16: 18446744073709551615 does not fit type s16"},
		{9, -1, "s_u64: -1 does not fit type u64"},
		{10, uint64(1 << 63), "s_s64: 9223372036854775808 does not fit type s64"},
		{11, 70000.0, "s_f16: 70000 is too large for type f16"},
		{12, 1e300, "s_f32: 1e+300 is too large for type f32"},
	} {
		args := right()
		args[tt.i] = tt.a
		_, err := k.Call(kernel.Grid(1), args...)
		var at *kernel.Error
		if !errors.As(err, &at) || !strings.HasSuffix(at.Place.File, "call_test.go") || !strings.HasSuffix(at.Msg, tt.want) || !strings.HasPrefix(at.Msg, "kernel takes: argument ") {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	args := right()
	args[0], args[13] = 1, "x"
	_, err := k.Call(kernel.Grid(1), args...)
	var both kernel.Errors
	if !errors.As(err, &both) || len(both) != 2 {
		t.Error(err)
	}
	for _, tt := range []struct {
		grid [3]int
		args []any
		want string
	}{
		{kernel.Grid(1), []any{1}, "kernel takes: it has 14 parameters, and the call 1 argument"},
		{kernel.Grid(0), right(), "kernel takes: a grid of [0 1 1]; it has one to three dimensions, of 1 to 2147483647, 65535 and 65535 CTAs"},
		{kernel.Grid(1, 1<<16), right(), "kernel takes: a grid of [1 65536 1]; it has"},
		{kernel.Grid(1, 2, 3, 4), right(), "kernel takes: a grid of [0 0 0]; it has"},
	} {
		if _, err := k.Call(tt.grid, tt.args...); err == nil || !strings.Contains(err.Error(), ": "+tt.want) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	if _, err := kernel.New("bare").Call(kernel.Grid(1)); err == nil || !strings.HasSuffix(err.Error(), "kernel bare: a call needs the threads of a CTA; give New the option Block") {
		t.Error(err)
	}
	if _, err := kernel.New("pairs", kernel.Block(1), kernel.Clusters(2)).Call(kernel.Grid(3)); err == nil || !strings.HasSuffix(err.Error(), "kernel pairs: the grid is 3 in x, no multiple of the cluster's 2") {
		t.Error(err)
	}
}

// copying is out[i] = a[i] + b[i] for one warp.
func copying(t *testing.T) *kernel.Kernel {
	t.Helper()
	k := kernel.New("copying", kernel.Block(32))
	a, b, out := k.GlobalPtr("a", kernel.U32), k.GlobalPtr("b", kernel.U32), k.GlobalPtr("$out", kernel.U32)
	i := k.TidX()
	out.At(i).Store(a.At(i).Load().Add(b.At(i).Load()))
	return k
}

func runCall(t *testing.T, c *kernel.Call) *muster.RunResult {
	t.Helper()
	l, err := muster.LoadCall(c, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Report != nil {
		t.Fatal(r.Report.Summary)
	}
	return r
}

func counted(n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(i)
	}
	return s
}

// TestSharedMemory: slices that share memory share a buffer, whichever parts they
// are; other slices do not, however close they lie.
func TestSharedMemory(t *testing.T) {
	k := copying(t)
	all := counted(100)
	for _, tt := range []struct {
		a, b, out []uint32
		names     string
		offsets   []int64
		sizes     []int64
	}{
		{all[0:32], all[32:64], all[64:96], "a b out", []int64{0, 0, 0}, []int64{32, 32, 32}},
		{all[0:32], all[0:32], all[0:32], "a", []int64{0, 0, 0}, []int64{32}},
		{all[10:42], all, all[60:92], "a", []int64{40, 0, 240}, []int64{100}},
		{all[0:32], all[31:63], all[62:100], "a", []int64{0, 124, 248}, []int64{100}},
		{all[50:82], all[0:32], all[81:100:100], "a b", []int64{0, 0, 124}, []int64{50, 32}},
	} {
		c, err := k.Call(kernel.Grid(1), tt.a, tt.b, tt.out)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var sizes, offsets []int64
		for _, b := range c.File.Buffers {
			names, sizes = append(names, b.Name), append(sizes, b.Shape[0])
		}
		for _, a := range c.File.Launches[0].Args {
			offsets = append(offsets, a.Ptr.Offset)
		}
		if got := strings.Join(names, " "); got != tt.names || !reflect.DeepEqual(sizes, tt.sizes) || !reflect.DeepEqual(offsets, tt.offsets) || !reflect.DeepEqual(c.Results(), names) {
			t.Errorf("buffers %s %v, offsets %v; want %s %v %v", got, sizes, offsets, tt.names, tt.sizes, tt.offsets)
		}
	}
	// The slices share memory in a run, too.
	c, err := k.Call(kernel.Grid(1), all[0:32], all[10:42], all[40:72])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Take(runCall(t, c).Buffer); err != nil {
		t.Fatal(err)
	}
	want := counted(100)
	for i := range uint32(32) {
		want[40+i] = i + 10 + i
	}
	if !reflect.DeepEqual(all, want) {
		t.Error(all)
	}
	if _, err := k.Call(kernel.Grid(1), all[:40], kernel.Uninitialized(all[39:]), nil); err == nil || !strings.HasSuffix(err.Error(), "kernel copying: a and b share memory, and only one of them is Uninitialized") {
		t.Error(err)
	}
}

// TestSharedMemoryAtRandom: for random parts of an array as arguments, each
// points to its own first element, and no two buffers share a byte.
func TestSharedMemoryAtRandom(t *testing.T) {
	k := copying(t)
	rng := rand.New(rand.NewPCG(6, 1))
	shared := 0
	for range 500 {
		all := counted(64)
		var slices [3][]uint32
		for i := range slices {
			from := rng.IntN(60)
			slices[i] = all[from : from+1+rng.IntN(min(20, 64-from))]
		}
		c, err := k.Call(kernel.Grid(1), slices[0], slices[1], slices[2])
		if err != nil {
			t.Fatal(err)
		}
		taken := map[*byte]string{}
		for _, b := range c.File.Buffers {
			for i := range b.Fill.Data {
				if other, ok := taken[&b.Fill.Data[i]]; ok {
					t.Fatalf("%s and %s share memory", other, b.Name)
				}
				taken[&b.Fill.Data[i]] = b.Name
			}
		}
		for i, a := range c.File.Launches[0].Args {
			b := c.File.Buffer(a.Ptr.Buffer)
			if int(a.Ptr.Offset)+4*len(slices[i]) > len(b.Fill.Data) || unsafe.Pointer(&b.Fill.Data[a.Ptr.Offset]) != unsafe.Pointer(&slices[i][0]) {
				t.Fatalf("argument %d is elsewhere", i)
			}
		}
		shared += 3 - len(c.File.Buffers)
	}
	if shared < 100 {
		t.Error("arguments shared memory", shared, "times")
	}
}

// TestLoadedOnce: a launch keeps the slices' contents from the time of loading;
// Take changes the slices, not the launch.
func TestLoadedOnce(t *testing.T) {
	a, b, out := counted(32), counted(32), make([]uint32, 32)
	c, err := copying(t).Call(kernel.Grid(1), a, b, kernel.Scratch(out))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Results(); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Error(got)
	}
	l, err := muster.LoadCall(c, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		clear(a)
		r, err := l.Run(context.Background(), muster.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Take(r.Buffer); err != nil {
			t.Fatal(err)
		}
		if a[31] != 31 || out[31] != 62 {
			t.Error(a, out)
		}
	}
	mine := errors.New("mine")
	out[0] = 99
	if err := c.Take(func(name string) ([]byte, error) {
		if name == "out" {
			return nil, mine
		}
		return make([]byte, 128), nil
	}); err != mine || a[31] != 31 || out[0] != 99 {
		t.Error("a slice was taken though another failed:", err)
	}
	if err := c.Take(func(string) ([]byte, error) { return make([]byte, 4), nil }); err == nil || err.Error() != `buffer "a" has 4 bytes, and the slice 128` {
		t.Error(err)
	}
}

// TestUninitialized: a launch does not receive the slice's contents.
func TestUninitialized(t *testing.T) {
	a, b, out := counted(32), counted(32), make([]uint32, 32)
	c, err := copying(t).Call(kernel.Grid(1), a, kernel.Uninitialized(b), kernel.Scratch(kernel.Uninitialized(out)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Take(runCall(t, c).Buffer); err != nil || !reflect.DeepEqual(out, counted(32)) || b[31] != 0 {
		t.Error(err, b, out)
	}
	if got := c.Results(); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

// TestExpect: a run compares its results with the call's expected contents.
func TestExpect(t *testing.T) {
	a, b, out := counted(32), counted(32), make([]uint32, 32)
	c, err := copying(t).Call(kernel.Grid(1), a, b, out)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]uint32, 32)
	for i := range want {
		want[i] = uint32(2 * i)
	}
	if err := c.Expect(out, want, launch.Tolerance{}); err != nil {
		t.Fatal(err)
	}
	want[5]++ // Expect has a copy
	if r := runCall(t, c); !r.OK() || len(r.Comparisons) != 1 || r.Comparisons[0].Buffer != "out" {
		t.Error(r.Comparisons)
	}
	if err := c.Expect(a, want, launch.Tolerance{Abs: 0.5}); err != nil {
		t.Fatal(err)
	}
	if r := runCall(t, c); r.OK() || r.Comparisons[1].Count != 31 {
		t.Error(r.Comparisons)
	}
	for _, tt := range []struct {
		slice, want any
		tol         launch.Tolerance
		text        string
	}{
		{out, want, launch.Tolerance{}, `Expect: buffer "out" is expected twice`},
		{b, want, launch.Tolerance{ULP: 1, ByULP: true}, `Expect: ulp needs floating point; buffer "b" is u32`},
		{b, want[:3], launch.Tolerance{}, "Expect: b is 32 elements of []uint32, and it must hold 3 of []uint32"},
		{b, []int32{1}, launch.Tolerance{}, "Expect: b is 32 elements of []uint32, and it must hold 1 of []int32"},
		{b[1:], want[1:], launch.Tolerance{}, "Expect: the slice is not one of the call's arguments, as a whole"},
		{7, want, launch.Tolerance{}, "Expect: want a slice of numbers, got a int"},
		{b, nil, launch.Tolerance{}, "Expect: what it must hold: want a slice of numbers, got nil"},
	} {
		if err := c.Expect(tt.slice, tt.want, tt.tol); err == nil || !strings.HasSuffix(err.Error(), tt.text) {
			t.Errorf("got  %v\nwant %s", err, tt.text)
		}
	}
	if len(c.File.Expect) != 2 {
		t.Error(c.File.Expect)
	}
}

// mapped is a kernel with the parameters map and p, and an empty body.
func mapped(t *testing.T) *kernel.Kernel {
	t.Helper()
	k := kernel.New("mapped", kernel.Block(32))
	k.TensorMap("map")
	k.GlobalPtr("p", kernel.B8)
	return k
}

// TestMaps: shape and box are in the order of a launch file, and a map of a part
// of a slice begins at that part.
func TestMaps(t *testing.T) {
	k := mapped(t)
	x := make([]float32, 64*48)
	e := make([]uint8, 4096)
	h := make([]uint16, 2*6*6*16)
	for _, tt := range []struct {
		m    *kernel.Map
		all  any
		want launch.TensorMapSpec
	}{
		{kernel.MapOf(x, kernel.F32, []int{48, 64}, []int{8, 32}, kernel.Swizzled(128), kernel.FilledWithNaN(), kernel.PromotedL2(256)), x,
			launch.TensorMapSpec{Type: launch.ElementF32, Shape: []int64{48, 64}, Box: []int64{8, 32}, Swizzle: launch.Swizzle128B, Fill: launch.FillOOBNaN, L2: launch.L2Bytes256}},
		{kernel.MapOf(x[64:], kernel.TF32, []int{40, 32}, []int{4, 4}, kernel.Strided(256), kernel.Stepped(1, 2)), x,
			launch.TensorMapSpec{Type: launch.ElementTF32, Offset: 256, Shape: []int64{40, 32}, Box: []int64{4, 4}, Strides: []int64{256}, ElementStrides: []int64{1, 2}}},
		{kernel.MapOf(e, kernel.E4M3, []int{64, 64}, []int{8, 16}), e,
			launch.TensorMapSpec{Type: launch.ElementU8, Shape: []int64{64, 64}, Box: []int64{8, 16}}},
		{kernel.MapOf(e, kernel.B64, []int{512}, []int{16}), e,
			launch.TensorMapSpec{Type: launch.ElementU64, Shape: []int64{512}, Box: []int64{16}}},
		{kernel.MapIm2col(h, kernel.BF16, []int{2, 6, 6, 16}, []int{-1, -1}, []int{1, 1}, 16, 8, kernel.Interleaved(0)), h,
			launch.TensorMapSpec{Type: launch.ElementBF16, Shape: []int64{2, 6, 6, 16}, Im2col: &launch.Im2col{Lower: []int64{-1, -1}, Upper: []int64{1, 1}, Channels: 16, Pixels: 8}}},
		{kernel.MapOf(x, kernel.F32, []int{64}, []int{8}, kernel.Spec(func(s *launch.TensorMapSpec) { s.Type, s.Offset = launch.ElementF32FTZ, 16 })), x,
			launch.TensorMapSpec{Type: launch.ElementF32FTZ, Offset: 16, Shape: []int64{64}, Box: []int64{8}}},
	} {
		c, err := k.Call(kernel.Grid(1), tt.m, tt.all)
		if err != nil {
			t.Error(err)
			continue
		}
		got := *c.File.Launches[0].Args[0].Map
		tt.want.Of = "map"
		if tt.want.Pos = got.Pos; !strings.HasPrefix(got.Pos.String(), "call_test.go:") {
			t.Errorf("the map is made at %s", got.Pos)
		}
		if !reflect.DeepEqual(got, tt.want) || len(c.File.Buffers) != 1 {
			t.Errorf("got  %+v\nwant %+v", got, tt.want)
		}
		if _, err := muster.LoadCall(c, muster.Limits{}); err != nil {
			t.Error(err)
		}
		// A map can be used in several calls.
		if again, err := k.Call(kernel.Grid(1), tt.m, tt.all); err != nil || !reflect.DeepEqual(*again.File.Launches[0].Args[0].Map, tt.want) {
			t.Error("the second call has another map:", err)
		}
	}
}

// TestRefusedMap: a refusal by the driver is reported at the line that made the map.
func TestRefusedMap(t *testing.T) {
	k, x := mapped(t), make([]float32, 64)
	m := kernel.MapOf(x, kernel.F32, []int{8, 8}, []int{8, 3}) // here: refused map
	c, err := k.Call(kernel.Grid(1), m, x)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(c, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(t.Context(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("call_test.go:%d: the driver refuses the tensor map of argument 1: the box is 12 bytes wide, not a multiple of 16", lineOf(t, "call_test.go", "// here: refused map"))
	if len(r.Findings) != 1 || r.Findings[0].Headline != want {
		t.Errorf("%+v", r.Findings)
	}
}

func TestMapMistakes(t *testing.T) {
	k := mapped(t)
	x := make([]float32, 64)
	for _, tt := range []struct {
		m    any
		want string
	}{
		{x, "want a tensor map, as MapOf makes it, got a []float32"},
		{nil, "want a tensor map, as MapOf makes it, got nil"},
		{(*kernel.Map)(nil), "it is a nil *kernel.Map; MapOf makes one"},
		{kernel.MapOf(7, kernel.F32, []int{64}, []int{8}), "tensor map: want a slice of numbers, got a int"},
		{kernel.MapOf(x, kernel.F16, []int{64}, []int{8}), "tensor map: the kernel has elements of type f16 there, and it is a []float32"},
		{kernel.MapOf(make([]uint64, 2), kernel.B128, []int{1}, []int{1}), "tensor map: a tensor has no elements of type b128"},
		{kernel.MapOf(x, kernel.F32, []int{8, 9}, []int{8, 8}), "tensor map: a tensor of shape [8 9], type f32, takes 288 bytes, and the slice has 256"},
		{kernel.MapOf(x, kernel.F32, []int{1 << 40, 1 << 40}, []int{8, 8}), "and the slice has 256"},
		{kernel.MapOf(x, kernel.F32, []int{8, 2}, []int{8, 8}, kernel.Strided(48)), "tensor map: a tensor of shape [8 2], type f32, takes 344 bytes, and the slice has 256"},
		{kernel.MapOf(x, kernel.F32, []int{0, 8}, []int{8, 8}), "tensor map: shape [0 8]: every dimension is at least 1"},
		{kernel.MapOf(x, kernel.F32, nil, nil), "tensor map: a tensor has 1 to 5 dimensions, and the shape is []"},
		{kernel.MapOf(x, kernel.F32, []int{8, 8}, []int{8}), "tensor map: box [8] for shape [8 8]: it has an entry for each dimension"},
		{kernel.MapOf(x, kernel.F32, []int{8, 8}, []int{8, 8}, kernel.Strided(8, 8)), "tensor map: Strided [8 8] for shape [8 8]: it has an entry for each dimension but the innermost"},
		{kernel.MapOf(x, kernel.F32, []int{8, 8}, []int{8, 8}, kernel.Stepped(1)), "tensor map: Stepped [1] for shape [8 8]: it has an entry for each dimension"},
		{kernel.MapIm2col(x, kernel.F32, []int{8, 8}, nil, nil, 8, 8), "tensor map: im2col: corners [] and [] for shape [8 8]; they have an entry for each dimension between the outermost and the innermost, one at least"},
		{kernel.MapOf(x, kernel.F32, []int{64}, []int{8}, kernel.Swizzled(48)), "Swizzled(48): a swizzle has 32, 64 or 128 bytes, or 0 for none"},
		{kernel.MapOf(x, kernel.F32, []int{64}, []int{8}, kernel.Interleaved(8)), "Interleaved(8): slices have 16 or 32 bytes, or 0 for no interleaving"},
		{kernel.MapOf(x, kernel.F32, []int{64}, []int{8}, kernel.PromotedL2(8)), "PromotedL2(8): it is 64, 128 or 256 bytes, or 0 for none"},
	} {
		if _, err := k.Call(kernel.Grid(1), tt.m, []byte{1}); err == nil || !strings.HasSuffix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// card is a stub for memory of a GPU.
type card struct {
	at uint64
	n  int
}

func (c card) Device() (uint64, int, launch.Type) { return c.at, c.n, launch.U32 }

// TestMemory: memory of a GPU is a buffer without contents, and parts of it share
// the buffer; the machine refuses it.
func TestMemory(t *testing.T) {
	c, err := copying(t).Call(kernel.Grid(1), card{0x7000, 64}, counted(32), card{0x7080, 32})
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := c.Device("a"); at != 0x7000 || !ok || len(c.File.Buffers) != 2 || c.File.Launches[0].Args[2].Ptr.Offset != 0x80 {
		t.Errorf("%#x %v %+v", at, ok, c.File)
	}
	if _, ok := c.Device("b"); ok {
		t.Error("a slice lies on a GPU")
	}
	if _, err := muster.LoadCall(c, muster.Limits{}); err == nil || !strings.HasSuffix(err.Error(), "kernel copying: a is memory of a GPU; the machine takes Go slices") {
		t.Error(err)
	}
	if err := c.Take(func(name string) ([]byte, error) { return make([]byte, 128), nil }); err != nil {
		t.Error(err)
	}
	for _, a := range []any{card{}, kernel.Uninitialized(card{1, 1})} {
		if _, err := copying(t).Call(kernel.Grid(1), a, nil, nil); err == nil {
			t.Errorf("%v was taken", a)
		}
	}
}

// TestWrite: the files of a call describe the same launch: the same text at the
// same lines, the same memory, the same parameters.
func TestWrite(t *testing.T) {
	x := make([]float32, 64)
	for i := range x {
		x[i] = float32(math.Sqrt(float64(i)))
	}
	k := mapped(t)
	k.Param("n", kernel.F16)
	c, err := k.Call(kernel.Grid(2), kernel.MapOf(x, kernel.F32, []int{8, 8}, []int{4, 8}, kernel.Swizzled(32)), x[4:], 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Expect(x, x, launch.Tolerance{Abs: 1}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name, err := c.Write(dir)
	if err != nil || name != filepath.Join(dir, "mapped.yaml") {
		t.Fatal(name, err)
	}
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	mod, src, err := muster.ReadModule(f)
	if err != nil || string(src) != c.Module.String() || mod.String() != c.Module.String() {
		t.Error("another module:", err)
	}
	params := []launch.Param{{Name: "map", Size: 128, Align: 64}, {Name: "p", Type: launch.U64, Size: 8, Align: 8}, {Name: "n", Type: launch.B16, Size: 2, Align: 2}}
	var blocks [][]byte
	for _, f := range []*launch.File{f, c.File} {
		l, err := f.Layout(0)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Buffers) != 1 || binary.LittleEndian.Uint32(l.Buffers[0].Data[8:]) != math.Float32bits(x[2]) {
			t.Error(l.Buffers)
		}
		p, err := l.EncodeParams(&f.Launches[0], params)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, p.Bytes)
		got, err := l.Compare(f.Expect[0], l.Buffers[0].Data)
		if err != nil || !got.OK() || f.Expect[0].Tolerance.Abs != 1 {
			t.Error(got, err)
		}
	}
	if !bytes.Equal(blocks[0], blocks[1]) {
		t.Errorf("% x\n% x", blocks[0], blocks[1])
	}
	if _, err := c.Write(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := ptx.Parse("mapped.ptx", src); err != nil {
		t.Error(err)
	}
}

// TestHalves: halves convert to bits and back.
func TestHalves(t *testing.T) {
	for _, f := range []float32{0, 1, -2.5, 65504, float32(math.Inf(1))} {
		if got := kernel.F16Value(kernel.F16Bits(f)); got != f {
			t.Error(f, got)
		}
	}
	if kernel.BF16Bits(1) != 0x3f80 || kernel.BF16Value(0x3f80) != 1 || kernel.F16Bits(1+1.0/2048) != 0x3c00 {
		t.Error("a rounding other than to nearest even")
	}
}
