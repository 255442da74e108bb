package kernel

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"muster/launch"
)

// Memory is memory other than a Go slice: on a GPU, as package gpu's buffers are. A call
// with such an argument runs only on that GPU.
type Memory interface {
	// Device returns the memory's address there, its number of elements and their type.
	Device() (address uint64, elements int, elem launch.Type)
}

// A memory is the target of a pointer argument: a slice, or memory elsewhere.
type memory struct {
	param  string
	buffer string // that it lies in
	typ    launch.Type
	addr   uint64
	size   int
	data   unsafe.Pointer // nil elsewhere
	uninit bool
	free   bool // its final contents are no result
}

func (m *memory) end() uint64 { return m.addr + uint64(m.size) }

// bytes returns the slice's own bytes.
func (m *memory) bytes() []byte { return unsafe.Slice((*byte)(m.data), m.size) }

// A marked argument is a slice with attributes.
type marked struct {
	slice        any
	uninit, free bool
}

// Uninitialized says that a launch does not receive the slice's contents, for memory that
// the kernel only writes. A kernel that reads it anyway finds zeros, on the machine and
// on a GPU.
func Uninitialized(slice any) any { return mark(slice, func(m *marked) { m.uninit = true }) }

// Scratch says that a slice's final contents are no result: comparisons of runs skip it,
// because it may differ between runs, as addresses do.
func Scratch(slice any) any { return mark(slice, func(m *marked) { m.free = true }) }

func mark(slice any, set func(*marked)) any {
	m, ok := slice.(marked)
	if !ok {
		m = marked{slice: slice}
	}
	set(&m)
	return m
}

// memoryOf returns the target of a pointer argument, for a kernel with that element type.
func memoryOf(a any, elem Type) (*memory, error) {
	k, _ := a.(marked)
	if k.slice != nil {
		a = k.slice
	}
	m := &memory{uninit: k.uninit, free: k.free}
	if d, ok := a.(Memory); ok {
		var n int
		m.addr, n, m.typ = d.Device()
		if m.typ.Size() == 0 || n < 1 || m.addr == 0 {
			return nil, fmt.Errorf("the memory on the GPU is closed or empty")
		}
		m.size = n * m.typ.Size()
	} else if err := m.slice(a); err != nil {
		return nil, err
	}
	if m.uninit && m.data == nil {
		return nil, fmt.Errorf("only a Go slice can be Uninitialized")
	}
	if !points(elem, m.typ, m.size) {
		return nil, fmt.Errorf("the kernel has elements of type %s there, and it is %s", elem, described(a))
	}
	if t, ok := launch.ParseType(string(elem)); ok && elem.float() && t.Size() == m.typ.Size() {
		m.typ = t
	}
	return m, nil
}

// numbers maps Go's number types to element types.
var numbers = map[reflect.Kind]launch.Type{
	reflect.Int8: launch.S8, reflect.Int16: launch.S16, reflect.Int32: launch.S32, reflect.Int64: launch.S64,
	reflect.Uint8: launch.U8, reflect.Uint16: launch.U16, reflect.Uint32: launch.U32, reflect.Uint64: launch.U64,
	reflect.Float32: launch.F32, reflect.Float64: launch.F64,
}

// slice fills in a slice of numbers, without copying.
func (m *memory) slice(a any) error {
	rv := reflect.ValueOf(a)
	if !rv.IsValid() || rv.Kind() != reflect.Slice {
		return fmt.Errorf("want a slice of numbers, got %s", described(a))
	}
	t, ok := numbers[rv.Type().Elem().Kind()]
	switch {
	case !ok:
		return fmt.Errorf("want a slice of numbers of a fixed size, got %s", described(a))
	case rv.IsNil():
		return fmt.Errorf("the slice is nil; a null pointer is written as nil alone")
	case rv.Len() == 0:
		return fmt.Errorf("the slice is empty")
	}
	m.typ, m.data, m.size = t, rv.UnsafePointer(), rv.Len()*t.Size()
	m.addr = uint64(uintptr(m.data))
	return nil
}

// points reports whether a pointer to elements of a type can point to numbers of a Go
// type: to those of the same kind, to the bits of floating-point numbers, or to halves in
// pairs. Bytes and untyped bits match everything.
func points(elem Type, t launch.Type, size int) bool {
	n := elem.Size()
	switch {
	case n == 0:
		return true
	case elem.kind() == 'b' || t == launch.U8 || t == launch.B8:
		return size%n == 0
	case elem.pair() && t.Size() == n/2:
		return size%n == 0
	case t.Size() != n:
		return false
	}
	switch t {
	case launch.F32:
		return elem == F32 || elem == TF32
	case launch.F64:
		return elem == F64
	case launch.S8, launch.S16, launch.S32, launch.S64:
		return !elem.float()
	}
	return true
}

// place makes buffers for the pointer arguments: one for all slices that share memory.
func (c *Call) place(list []argument) (errs Errors) {
	var all []*argument
	for i := range list {
		if m := list[i].mem; m != nil {
			m.param = list[i].param.Name
			all = append(all, &list[i])
		}
	}
	byAddress := slices.Clone(all)
	slices.SortStableFunc(byAddress, func(a, b *argument) int {
		switch {
		case (a.mem.data == nil) != (b.mem.data == nil):
			if a.mem.data == nil {
				return 1
			}
			return -1
		case a.mem.addr != b.mem.addr:
			if a.mem.addr < b.mem.addr {
				return -1
			}
			return 1
		}
		return b.mem.size - a.mem.size
	})
	whole := map[*argument]*memory{}
	var last *memory
	for _, a := range byAddress {
		m := a.mem
		if last == nil || (m.data == nil) != (last.data == nil) || m.addr >= last.end() {
			n := *m
			last = &n
		} else {
			if m.uninit != last.uninit {
				errs = append(errs, c.errorf("%s and %s share memory, and only one of them is Uninitialized", last.param, m.param)...)
			}
			last.free = last.free && m.free
			last.size = max(last.size, int(m.end()-last.addr))
			if last.size%last.typ.Size() != 0 {
				last.typ = launch.U8
			}
		}
		whole[a] = last
	}
	for _, a := range all {
		m := whole[a]
		if m.buffer == "" {
			c.add(m, a.mem.param)
		}
		a.at, a.mem = int(a.mem.addr-m.addr), m
	}
	return errs
}

// add makes a buffer, named after the first parameter that points to it.
func (c *Call) add(m *memory, param string) {
	m.param = param
	name := strings.ReplaceAll(strings.TrimLeft(param, "_$"), "$", "_")
	if name == "" || name == "null" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	for c.File.Buffer(name) != nil {
		name += "_"
	}
	m.buffer = name
	b := launch.Buffer{Name: name, Pos: launch.Pos{File: c.At.String()}, Type: m.typ, Shape: []int64{int64(m.size / m.typ.Size())}}
	if m.data != nil && !m.uninit {
		b.Fill = launch.Fill{Kind: launch.FillData, Data: m.bytes()}
	}
	c.File.Buffers = append(c.File.Buffers, b)
	c.memory = append(c.memory, m)
}

// Launch returns the launch with copies of the slices' current contents, unaffected by
// later changes. It is an error if an argument is on a GPU.
func (c *Call) Launch() (*launch.File, error) {
	f := *c.File
	f.Buffers = slices.Clone(f.Buffers)
	for i, m := range c.memory {
		if m.data == nil {
			return nil, c.errorf("%s is memory of a GPU; the machine takes Go slices", m.param)[0]
		}
		if f.Buffers[i].Fill.Kind == launch.FillData {
			f.Buffers[i].Fill.Data = bytes.Clone(m.bytes())
		}
	}
	return &f, nil
}

// Device returns the address of a buffer that is already in a GPU's memory.
func (c *Call) Device(buffer string) (address uint64, ok bool) {
	for _, m := range c.memory {
		if m.buffer == buffer && m.data == nil {
			return m.addr, true
		}
	}
	return 0, false
}

// Results names the buffers whose contents are results, in the order of the parameters:
// all except Scratch.
func (c *Call) Results() (names []string) {
	for _, m := range c.memory {
		if !m.free {
			names = append(names, m.buffer)
		}
	}
	return names
}

// Take copies the final contents of a launch's buffers into the slices of the call.
// buffer returns the bytes of one by its name, as (*muster.RunResult).Buffer does. If it
// fails for one, no slice changes.
func (c *Call) Take(buffer func(name string) ([]byte, error)) error {
	left := make([][]byte, len(c.memory))
	for i, m := range c.memory {
		if m.data == nil {
			continue
		}
		b, err := buffer(m.buffer)
		if err != nil {
			return err
		}
		if len(b) != m.size {
			return fmt.Errorf("buffer %q has %d bytes, and the slice %d", m.buffer, len(b), m.size)
		}
		left[i] = b
	}
	for i, m := range c.memory {
		if m.data != nil {
			copy(m.bytes(), left[i])
		}
	}
	return nil
}

// Expect sets the contents that the launch must leave in a slice that is one of its
// arguments: a slice of the same type and length. A run compares them (muster.RunResult
// has the outcome). The zero Tolerance asks for equal numbers.
func (c *Call) Expect(slice, want any, tolerance launch.Tolerance) error {
	var got, due memory
	if err := got.slice(slice); err != nil {
		return c.errorf("Expect: %v", err)[0]
	}
	if err := due.slice(want); err != nil {
		return c.errorf("Expect: what it must hold: %v", err)[0]
	}
	for _, m := range c.memory {
		if m.data != got.data || m.size != got.size {
			continue
		}
		if due.typ != got.typ || due.size != got.size {
			return c.errorf("Expect: %s is %d elements of %T, and it must hold %d of %T", m.param,
				got.size/got.typ.Size(), slice, due.size/due.typ.Size(), want)[0]
		}
		x := launch.Expect{Pos: launch.Pos{File: c.At.String()}, Buffer: m.buffer, Tolerance: tolerance, Data: bytes.Clone(due.bytes())}
		f := *c.File
		f.Expect = append(slices.Clone(f.Expect), x)
		if err := f.Validate(); err != nil {
			return c.invalid("Expect: ", err)
		}
		c.File.Expect = f.Expect
		return nil
	}
	return c.errorf("Expect: the slice is not one of the call's arguments, as a whole")[0]
}
