package launch

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"muster/internal/diag"
	"muster/internal/files"
)

// A Param is a parameter of a kernel, as its .entry declares it.
type Param struct {
	Name  string
	Size  int  // bytes
	Align int  // a power of two
	Type  Type // of a scalar; 0 for an array of bytes (.b8 name[n])
}

// String describes the parameter in an error.
func (p Param) String() string {
	if p.Type != 0 {
		return fmt.Sprintf(".%s %s", p.Type, p.Name)
	}
	return fmt.Sprintf(".b8 %s[%d]", p.Name, p.Size)
}

// A ParamBlock is the parameters of one launch as the kernel sees them.
type ParamBlock struct {
	Bytes   []byte
	Offsets []int       // of each parameter, in order
	Maps    []PlacedMap // tensor maps in Bytes, except raw ones
}

// Argument returns the index of the argument that contains m, one of Maps.
func (b *ParamBlock) Argument(m *PlacedMap) int {
	return sort.SearchInts(b.Offsets, int(m.Offset)+1) - 1
}

// EncodeParams turns a launch's arguments into parameter bytes. Parameters lie in order,
// each at its alignment. An argument must have its parameter's exact size and kind: an
// address needs eight bytes that are not floating point; a floating-point scalar does not
// match an integer of its size, nor the reverse (bit types do, and 16 and 8 bit floats
// match integers).
func (l *Layout) EncodeParams(launch *Launch, params []Param) (*ParamBlock, error) {
	b := &ParamBlock{}
	end := 0
	for _, p := range params {
		if p.Size < 0 || p.Align < 1 || p.Align&(p.Align-1) != 0 {
			panic(fmt.Sprintf("BUG: parameter %s of %d bytes, align %d", p.Name, p.Size, p.Align))
		}
		off := (end + p.Align - 1) &^ (p.Align - 1)
		if p.Align > MaxParams || p.Size > MaxParams || off > MaxParams-p.Size {
			return nil, errorf(launch.Pos, "parameter %s ends past %d bytes, the most that a kernel can have", p.Name, MaxParams)
		}
		b.Offsets = append(b.Offsets, off)
		end = off + p.Size
	}
	b.Bytes = make([]byte, end)
	if err := l.checkArgCount(launch, params); err != nil {
		return nil, err
	}
	for i, p := range params {
		if err := l.encodeArg(b, b.Offsets[i], launch.Args[i], p, i); err != nil {
			err.Msg += swapped(launch.Args, params, i)
			return nil, err
		}
	}
	return b, nil
}

func (l *Layout) checkArgCount(launch *Launch, params []Param) error {
	n := len(launch.Args)
	switch {
	case n < len(params):
		p := launch.Pos
		switch {
		case launch.byFlags:
			p = Pos{}
		case launch.argsPos.Line > 0:
			p = launch.argsPos
		}
		return errorf(p, "%s", missing(launch, params, len(l.Buffers)))
	case n > len(params):
		return errorf(launch.Args[len(params)].Pos, "too many arguments: %d for %s", n, diag.Plural(len(params), "parameter"))
	}
	return nil
}

func (l *Layout) encodeArg(b *ParamBlock, off int, a Arg, p Param, index int) *Error {
	if !a.suits(p) {
		return errorf(a.Pos, "argument %d is %s; parameter %s cannot take it", index+1, a, p)
	}
	e := encoder{layout: l, block: b, start: off, off: off, room: p.Size}
	if err := e.arg(a); err != nil {
		var of *Error
		if !errors.As(err, &of) {
			of = &Error{Pos: a.Pos, Msg: err.Error(), Err: err}
		}
		return of
	}
	if got := e.off - off; got != p.Size {
		hint := ""
		if a.Kind == ArgStruct && got < p.Size {
			hint = fmt.Sprintf("; add {pad: %d}", p.Size-got)
		}
		return errorf(a.Pos, "argument %d is %s of %d bytes; parameter %s has %d%s", index+1, a, got, p, p.Size, hint)
	}
	return nil
}

// suits checks kinds, not sizes.
func (a Arg) suits(p Param) bool {
	switch a.Kind {
	case ArgPad:
		return false
	case ArgPointer, ArgNull:
		return !p.Type.IsFloat()
	case ArgTensorMap, ArgStruct:
		return p.Type == 0
	case ArgScalar:
		return scalarSuits(a.Type, p.Type)
	}
	return true
}

func scalarSuits(arg, param Type) bool {
	isBits := func(t Type) bool { return t == 0 || t.info().class == bitsClass }
	if isBits(arg) || isBits(param) || arg.IsFloat() == param.IsFloat() {
		return arg == param || !arg.IsFloat() || !param.IsFloat()
	}
	// For most versions, PTX has no parameters of these types: integers carry them.
	return arg.IsFloat() && arg.Size() <= 2
}

// An encoder writes the parts of one argument.
type encoder struct {
	layout *Layout
	block  *ParamBlock
	start  int // of the parameter
	off    int // of the next byte
	room   int // bytes from start on
}

// take reserves size bytes. Bytes beyond the parameter's end are only counted, so that
// the error can state the argument's length.
func (e *encoder) take(size int) []byte {
	begin := e.off
	e.off += size
	if e.off > e.start+e.room {
		return make([]byte, size)
	}
	return e.block.Bytes[begin:e.off]
}

func (e *encoder) arg(a Arg) error {
	switch a.Kind {
	case ArgPointer:
		addr, err := e.layout.Address(a.Ptr)
		if err != nil {
			return err
		}
		putBits(e.take(8), 8, addr)
	case ArgNull:
		e.take(8)
	case ArgScalar:
		putBits(e.take(a.Type.Size()), a.Type.Size(), a.Bits)
	case ArgTensorMap:
		return e.tensorMap(a.Map)
	case ArgPad:
		e.take(a.Pad)
	case ArgBytes:
		return e.raw(a)
	case ArgStruct:
		return e.parts(a)
	}
	return nil
}

// parts aligns each part relative to the struct's start.
func (e *encoder) parts(a Arg) error {
	for _, part := range a.Parts {
		align := part.alignment()
		if over := (e.off - e.start) % align; over != 0 {
			e.take(align - over)
		}
		if err := e.arg(part); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) tensorMap(m *TensorMapSpec) error {
	b := e.layout.Buffer(m.Of)
	if b == nil {
		return errorf(m.Pos, "no buffer is called %s", quote(m.Of))
	}
	t, err := m.resolve(b)
	if err != nil {
		return err
	}
	off := e.off
	e.block.Maps = append(e.block.Maps, placeMap(e.take(TensorMapType.Size()), off, t))
	return nil
}

func (e *encoder) raw(a Arg) error {
	f, err := openRegular(a.Path)
	if err != nil {
		return &Error{Pos: a.Pos, Msg: a.Path + ": " + files.Cause(err).Error(), Err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxParams+1))
	switch {
	case err != nil:
		return &Error{Pos: a.Pos, Msg: a.Path + ": " + files.Cause(err).Error(), Err: err}
	case len(data) > MaxParams:
		return errorf(a.Pos, "%s: more than the %d bytes that parameters can have", a.Path, MaxParams)
	}
	copy(e.take(len(data)), data)
	return nil
}
