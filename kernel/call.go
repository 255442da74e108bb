package kernel

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"muster/internal/num"
	"muster/launch"
	"muster/ptx"
)

// A Call is a kernel with its grid and its arguments: a launch, in Go. Package muster
// runs and checks it on the machine (muster.LoadCall), package gpu launches it on a GPU.
// Write writes it to files, for the command muster.
type Call struct {
	Kernel *Kernel
	Module *ptx.Module
	// File is the launch. Its buffers hold the slices themselves, not copies; Launch
	// returns a launch with copies.
	File *launch.File
	At   Place // of the call in the Go program

	memory []*memory
}

// Grid returns the size of a grid in CTAs, in one to three dimensions.
func Grid(x int, yz ...int) [3]int {
	if len(yz) > 2 {
		return [3]int{} // rejected by Call
	}
	g := [3]int{x, 1, 1}
	copy(g[1:], yz)
	return g
}

// Call builds the kernel and gives it arguments, one for each parameter in order:
//
//   - A parameter that is a pointer takes a slice of numbers, of the kernel's
//     element type: []float32 for F32, []uint16 (the bits) for F16 and BF16,
//     []uint8 for E4M3 and E5M2. Slices of bytes match every element type, and
//     untyped elements match every slice. nil is a null pointer.
//   - A scalar parameter takes a Go number. One of F16 or BF16 is rounded to
//     it, but a uint16 gives the bits.
//   - A tensor map takes what MapOf or MapIm2col made.
//
// A slice is read when the launch is loaded, and Take copies its final contents back.
// Slices that share memory (the same one twice, or part of another) share it in the
// launch too. Uninitialized and Scratch mark a slice; Memory may replace one.
//
// A mistake is an *Error with the line of the call; several are Errors.
func (k *Kernel) Call(grid [3]int, args ...any) (*Call, error) {
	m, err := k.Build()
	if err != nil {
		return nil, err
	}
	c := &Call{Kernel: k, Module: m, At: k.here()}
	l, errs := c.launch(grid, args)
	switch {
	case len(errs) == 1:
		return nil, errs[0]
	case len(errs) > 1:
		return nil, errs
	}
	c.File.Launches = []launch.Launch{*l}
	if err := c.File.Validate(); err != nil {
		return nil, c.invalid("", err)
	}
	return c, nil
}

func (c *Call) errorf(format string, args ...any) Errors {
	return Errors{{c.At, "kernel " + c.Kernel.name + ": " + fmt.Sprintf(format, args...)}}
}

// invalid wraps an error of package launch about the call.
func (c *Call) invalid(where string, err error) *Error {
	var e *launch.Error
	if errors.As(err, &e) {
		return c.errorf("%s%s", where, e.Msg)[0]
	}
	return c.errorf("%s%v", where, err)[0]
}

// launch builds the launch from its shape and arguments.
func (c *Call) launch(grid [3]int, args []any) (*launch.Launch, Errors) {
	k := c.Kernel
	c.File = &launch.File{Name: k.name + ".yaml", Version: 1}
	l := &launch.Launch{Pos: launch.Pos{File: c.At.String()}, PTX: k.name + ".ptx", Kernel: k.name, Shared: uint32(k.SharedBytes())}
	most := [3]int{launch.MaxGridX, launch.MaxGridYZ, launch.MaxGridYZ}
	for i := range grid {
		if grid[i] < 1 || grid[i] > most[i] {
			return nil, c.errorf("a grid of %v; it has one to three dimensions, of 1 to %d, %d and %d CTAs", grid, most[0], most[1], most[2])
		}
		if n := max(1, k.cluster[i]); grid[i]%n != 0 {
			return nil, c.errorf("the grid is %d in %c, no multiple of the cluster's %d", grid[i], "xyz"[i], n)
		}
		l.Grid[i], l.Block[i], l.Cluster[i] = uint32(grid[i]), uint32(k.block[i]), uint32(k.cluster[i])
	}
	if k.block[0] == 0 {
		return nil, c.errorf("a call needs the threads of a CTA; give New the option Block")
	}
	if len(args) != len(k.params) {
		return nil, c.errorf("it has %s, and the call %s", count(len(k.params), "parameter"), count(len(args), "argument"))
	}
	var errs Errors
	list := make([]argument, len(args))
	for i, a := range args {
		var err error
		if list[i], err = c.argument(k.params[i], a); err != nil {
			errs = append(errs, c.errorf("argument %d, %s: %v", i+1, k.params[i].Name, err)...)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if errs = c.place(list); len(errs) > 0 {
		return nil, errs
	}
	for i := range list {
		l.Args = append(l.Args, list[i].arg())
	}
	return l, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// An argument is a kernel argument before memory is laid out.
type argument struct {
	param *ptx.Var
	mem   *memory               // what it points to; nil for a scalar
	at    int                   // its offset in the buffer, in bytes
	spec  *launch.TensorMapSpec // of a tensor map
	value launch.Arg            // of a scalar or a null pointer
}

func (a *argument) arg() launch.Arg {
	switch {
	case a.spec != nil:
		a.spec.Of = a.mem.buffer
		a.spec.Offset += int64(a.at)
		return launch.Arg{Kind: launch.ArgTensorMap, Map: a.spec}
	case a.mem != nil:
		return launch.Arg{Kind: launch.ArgPointer, Ptr: &launch.Pointer{Buffer: a.mem.buffer, Offset: int64(a.at)}}
	}
	return a.value
}

// paramType is the key, in a kernel's state, of the element type that a parameter holds
// or points to.
type paramType struct{ v *ptx.Var }

func (c *Call) argument(p *ptx.Var, a any) (argument, error) {
	elem, _ := c.Kernel.state[paramType{p}].(Type)
	m, isMap := a.(*Map)
	switch {
	case m == nil && isMap:
		return argument{}, fmt.Errorf("it is a nil *kernel.Map; MapOf makes one")
	case isMap && len(p.Dims) == 0:
		return argument{}, fmt.Errorf("it is no tensor map's parameter, and MapOf makes a tensor map")
	case isMap:
		return m.argument(p)
	case len(p.Dims) > 0:
		return argument{}, fmt.Errorf("want a tensor map, as MapOf makes it, got %s", described(a))
	case p.Ptr != nil && a == nil:
		return argument{param: p, value: launch.Arg{Kind: launch.ArgNull}}, nil
	case p.Ptr != nil:
		mem, err := memoryOf(a, elem)
		return argument{param: p, mem: mem}, err
	}
	if elem == "" {
		elem = Type(p.Type)
	}
	t, ok := launch.ParseType(p.Type)
	if !ok {
		return argument{}, fmt.Errorf("a parameter of type %s takes no number", p.Type)
	}
	bits, err := scalar(elem, a)
	return argument{param: p, value: launch.Arg{Kind: launch.ArgScalar, Type: t, Bits: bits}}, err
}

// described describes an argument in an error.
func described(a any) string {
	if a == nil {
		return "nil"
	}
	return fmt.Sprintf("a %T", a)
}

// scalar encodes a Go number for a parameter.
func scalar(t Type, a any) (uint64, error) {
	rv := reflect.ValueOf(a)
	f, ok := toFloat(a)
	switch {
	case !ok:
		return 0, fmt.Errorf("want a number of type %s, got %s", t, described(a))
	case (t == F16 || t == BF16 || t == F16x2 || t == BF16x2) && rv.CanUint() && rv.Type().Bits() == 8*t.Size():
		return rv.Uint(), nil
	case t.float():
		return float(t, f)
	case rv.CanFloat():
		return 0, fmt.Errorf("want an integer of type %s, got %v", t, a)
	}
	return whole(t, rv)
}

// float rounds a number to a type.
func float(t Type, f float64) (bits uint64, err error) {
	var back float64
	switch t {
	case F64:
		return math.Float64bits(f), nil
	case F32:
		bits, back = uint64(math.Float32bits(float32(f))), float64(float32(f))
	case F16:
		b := F16Bits(float32(f))
		bits, back = uint64(b), float64(F16Value(b))
	case BF16:
		b := BF16Bits(float32(f))
		bits, back = uint64(b), float64(BF16Value(b))
	default:
		return 0, fmt.Errorf("a parameter of type %s is given by its bits, in an unsigned integer of %d bits", t, 8*t.Size())
	}
	if math.IsInf(back, 0) && !math.IsInf(f, 0) {
		return 0, fmt.Errorf("%v is too large for type %s", f, t)
	}
	return bits, nil
}

// whole encodes an integer.
func whole(t Type, rv reflect.Value) (uint64, error) {
	n := 8 * t.Size()
	least, most := int64(math.MinInt64), uint64(math.MaxUint64)>>(64-n)
	switch t.kind() {
	case 's':
		least, most = -1<<(n-1), most>>1
	case 'u':
		least = 0
	default:
		least = -1 << (n - 1)
	}
	if rv.CanUint() && rv.Uint() > most || rv.CanInt() && (rv.Int() < least || rv.Int() > 0 && uint64(rv.Int()) > most) {
		return 0, fmt.Errorf("%v does not fit type %s", rv, t)
	}
	if rv.CanUint() {
		return rv.Uint(), nil
	}
	return uint64(rv.Int()) & (math.MaxUint64 >> (64 - n)), nil
}

// F16Bits and BF16Bits return a number as the bits of a half, rounded to nearest even;
// F16Value and BF16Value decode them.
func F16Bits(f float32) uint16   { return num.F32ToF16(math.Float32bits(f)) }
func BF16Bits(f float32) uint16  { return num.F32ToBF16(math.Float32bits(f)) }
func F16Value(b uint16) float32  { return math.Float32frombits(num.F16ToF32(b)) }
func BF16Value(b uint16) float32 { return math.Float32frombits(num.BF16ToF32(b)) }
