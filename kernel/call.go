package kernel

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"muster/internal/num"
	"muster/launch"
	"muster/ptx"
)

// A Call is a kernel with its grid and its arguments: a launch, as Go has it.
// Package muster runs and checks it on the machine (muster.LoadCall), package
// gpu launches it on a GPU.
type Call struct {
	Kernel *Kernel
	Module *ptx.Module
	File   *launch.File
	// slices are the Go slices behind the buffers, by name.
	slices map[string][]byte
}

// Grid gives the CTAs of a grid, in one to three dimensions.
func Grid(x int, yz ...int) [3]int {
	g := [3]int{x, 1, 1}
	copy(g[1:], yz)
	return g
}

// Call builds the kernel and gives it arguments, one for each parameter in
// order. A pointer parameter takes a slice of numbers, a scalar one a Go
// number, and a tensor map what MapOf made. A slice is read and written: Take
// copies back what a run left. The same slice given twice is one buffer.
// Slices of uint16 carry f16 and bf16, slices of uint8 the types of 8 bits.
func (k *Kernel) Call(grid [3]int, args ...any) (*Call, error) {
	m, err := k.Build()
	if err != nil {
		return nil, err
	}
	c := &Call{Kernel: k, Module: m, slices: map[string][]byte{}}
	l := launch.Launch{PTX: k.name + ".ptx", Kernel: k.name, Shared: uint32(k.SharedBytes())}
	for i := range 3 {
		if grid[i] < 1 {
			return nil, fmt.Errorf("kernel %s: a grid of %v", k.name, grid)
		}
		l.Grid[i] = uint32(grid[i])
		l.Block[i] = uint32(max(1, k.block[i]))
		l.Cluster[i] = uint32(k.cluster[i])
	}
	if k.block[0] == 0 {
		return nil, fmt.Errorf("kernel %s: a call needs the threads of a CTA; give New the option Block", k.name)
	}
	if len(args) != len(k.params) {
		return nil, fmt.Errorf("kernel %s has %d parameters, and the call %d arguments", k.name, len(k.params), len(args))
	}
	c.File = &launch.File{Name: k.name, Version: 1}
	for i, a := range args {
		arg, err := c.argument(k.params[i], a)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: argument %d, %s: %w", k.name, i, k.params[i].Name, err)
		}
		l.Args = append(l.Args, arg)
	}
	c.File.Launches = []launch.Launch{l}
	if err := c.File.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Call) argument(p *ptx.Var, a any) (launch.Arg, error) {
	if m, ok := a.(*Map); ok {
		spec := m.spec
		var err error
		spec.Of, err = c.buffer(p.Name, m.data, m.elem, false)
		return launch.Arg{Kind: launch.ArgTensorMap, Map: &spec}, err
	}
	if p.Type == "b8" {
		return launch.Arg{}, fmt.Errorf("a tensor map is due, as MapOf makes it, and it is a %T", a)
	}
	if p.Ptr != nil {
		_, un := a.(uninit)
		if un {
			a = a.(uninit).slice
		}
		name, err := c.buffer(p.Name, a, "", un)
		return launch.Arg{Kind: launch.ArgPointer, Ptr: &launch.Pointer{Buffer: name}}, err
	}
	t, ok := launch.ParseType(p.Type)
	if !ok {
		return launch.Arg{}, fmt.Errorf("a parameter of type %s takes no number", p.Type)
	}
	bits, err := scalar(Type(p.Type), a)
	return launch.Arg{Kind: launch.ArgScalar, Type: t, Bits: bits}, err
}

// scalar encodes a Go number for a parameter.
func scalar(t Type, a any) (uint64, error) {
	f, ok := toFloat(a)
	if !ok {
		return 0, fmt.Errorf("a number of type %s is due, and it is a %T", t, a)
	}
	switch t {
	case F32:
		return uint64(math.Float32bits(float32(f))), nil
	case F64:
		return math.Float64bits(f), nil
	}
	rv := reflect.ValueOf(a)
	var bits uint64
	switch {
	case rv.CanInt():
		bits = uint64(rv.Int())
	case rv.CanUint():
		bits = rv.Uint()
	default:
		return 0, fmt.Errorf("an integer of type %s is due, and it is %v", t, a)
	}
	n := 8 * t.Size()
	if n < 64 {
		if s := int64(bits); s >= 1<<n || s < -(1<<(n-1)) || t.kind() == 'u' && s < 0 || t.kind() == 's' && s >= 1<<(n-1) {
			return 0, fmt.Errorf("%v does not fit type %s", a, t)
		}
		bits &= 1<<n - 1
	}
	return bits, nil
}

type uninit struct{ slice any }

// Uninitialized says that the kernel finds no values in a slice: a run that
// uses one is reported.
func Uninitialized(slice any) any { return uninit{slice} }

// buffer finds or adds the buffer of a slice.
func (c *Call) buffer(name string, slice any, elem Type, un bool) (string, error) {
	data, t, err := bytesOf(slice)
	if err != nil {
		return "", err
	}
	if elem != "" {
		if u, ok := launch.ParseType(string(elem)); ok {
			t = u
		}
	}
	for n, d := range c.slices {
		if unsafe.SliceData(d) == unsafe.SliceData(data) && len(d) == len(data) {
			return n, nil
		}
	}
	for strings.HasPrefix(name, "_") {
		name = name[1:]
	}
	b := launch.Buffer{Name: name, Type: t, Shape: []int64{int64(len(data) / t.Size())}}
	if !un {
		b.Fill = launch.Fill{Kind: launch.FillData, Data: data}
	}
	c.File.Buffers = append(c.File.Buffers, b)
	c.slices[name] = data
	return name, nil
}

// bytesOf gives a slice of numbers as its bytes, without copying.
func bytesOf(slice any) ([]byte, launch.Type, error) {
	rv := reflect.ValueOf(slice)
	if !rv.IsValid() || rv.Kind() != reflect.Slice {
		return nil, 0, fmt.Errorf("a slice of numbers is due, and it is a %T", slice)
	}
	t, ok := map[reflect.Kind]launch.Type{
		reflect.Int8: launch.S8, reflect.Int16: launch.S16, reflect.Int32: launch.S32, reflect.Int64: launch.S64,
		reflect.Uint8: launch.U8, reflect.Uint16: launch.U16, reflect.Uint32: launch.U32, reflect.Uint64: launch.U64,
		reflect.Float32: launch.F32, reflect.Float64: launch.F64,
	}[rv.Type().Elem().Kind()]
	if !ok {
		return nil, 0, fmt.Errorf("a slice of numbers of a fixed size is due, and it is a %T", slice)
	}
	if rv.Len() == 0 {
		return nil, 0, fmt.Errorf("the slice is empty")
	}
	return unsafe.Slice((*byte)(rv.UnsafePointer()), rv.Len()*t.Size()), t, nil
}

// Take copies what a launch left in its buffers into the slices of the call.
// buffer gives the bytes of one by its name, as (*muster.RunResult).Buffer
// does.
func (c *Call) Take(buffer func(name string) ([]byte, error)) error {
	for name, data := range c.slices {
		b, err := buffer(name)
		if err != nil {
			return err
		}
		copy(data, b)
	}
	return nil
}

// A Map is a tensor map over a slice, as an argument of a call.
type Map struct {
	data any
	elem Type
	spec launch.TensorMapSpec
}

// A MapOption says how a tensor map is made.
type MapOption func(*launch.TensorMapSpec)

// MapOf makes a tensor map of a slice: elements of that type in a tensor of
// that shape, outermost dimension first, that copies move box by box.
// Without options it does not swizzle, does not interleave, promotes nothing
// and fills with zeros.
func MapOf(slice any, elem Type, shape, box []int, opts ...MapOption) *Map {
	m := &Map{data: slice, elem: elem}
	for _, n := range shape {
		m.spec.Shape = append(m.spec.Shape, int64(n))
	}
	for _, n := range box {
		m.spec.Box = append(m.spec.Box, int64(n))
	}
	for _, o := range opts {
		o(&m.spec)
	}
	return m
}

// Swizzled has a tensor map store boxes with the pattern of that many bytes:
// 32, 64 or 128; 0 for none.
func Swizzled(bytes int) MapOption {
	return func(s *launch.TensorMapSpec) {
		s.Swizzle = map[int]launch.Swizzle{32: launch.Swizzle32B, 64: launch.Swizzle64B, 128: launch.Swizzle128B}[bytes]
	}
}

// Spec lets a function change anything of a tensor map.
func Spec(change func(*launch.TensorMapSpec)) MapOption { return change }

// F16Bits and BF16Bits give a number as the bits of a half, rounded to nearest
// even; F16Value and BF16Value read them.
func F16Bits(f float32) uint16   { return num.F32ToF16(math.Float32bits(f)) }
func BF16Bits(f float32) uint16  { return num.F32ToBF16(math.Float32bits(f)) }
func F16Value(b uint16) float32  { return math.Float32frombits(num.F16ToF32(b)) }
func BF16Value(b uint16) float32 { return math.Float32frombits(num.BF16ToF32(b)) }
