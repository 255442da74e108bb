package launch

import (
	"math"
	"math/bits"
	"slices"
)

// A Buffer is a named array in global memory.
type Buffer struct {
	Name  string
	Pos   Pos
	Type  Type
	Shape []int64 // outermost first; nil: from Values, or from Fill's file
	Fill  Fill
	// Values are the elements in C order, for FillValues.
	Values []Value
	Align  uint64 // the base address is a multiple of it; 0 for DefaultAlign
	Base   uint64 // the base address, if Fixed
	Fixed  bool

	basePos Pos
}

// A FillKind says what a buffer holds initially.
type FillKind uint8

const (
	FillUninitialized FillKind = iota
	FillZeros
	FillOnes
	FillNaN
	FillIota
	FillMod
	FillRandom
	FillFile
	FillValues
	FillData // of a File built in Go
)

// fillWords are the fills written as a single word, indexed by FillKind.
var fillWords = []string{"uninitialized", "zeros", "ones", "nan", "iota"}

// A Fill describes a buffer's initial contents.
type Fill struct {
	Kind   FillKind
	Pos    Pos
	Mod    uint64 // FillMod: element i is i mod this
	Random Random // FillRandom
	File   string // FillFile: path of an .npy
	// Data are the buffer's bytes, for FillData: exactly the size of type and shape. They
	// are never modified.
	Data []byte
}

// A Value is one element of a buffer given by its elements.
type Value struct {
	Pos  Pos
	Bits uint64         // a number, encoded
	Ptr  *Pointer       // instead: an address
	Map  *TensorMapSpec // instead: a tensor map
}

// A Pointer is an address inside a buffer, or one past its end.
type Pointer struct {
	Pos    Pos
	Buffer string
	Offset int64 // bytes
}

// MaxRank bounds the dimensions of a buffer, as in NumPy.
const MaxRank = 32

const maxElements = math.MaxInt64

func (d *decoder) buffers(n *Node) ([]Buffer, error) {
	if n.Kind != MapNode {
		return nil, d.errorf(n, "buffers is a mapping from names, not %s", n.Kind)
	}
	var list []Buffer
	for _, e := range n.Entries {
		b, err := d.buffer(e)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

func (d *decoder) buffer(e Entry) (Buffer, error) {
	b := Buffer{Name: e.Key, Pos: at(d.file, e.Pos)}
	if !ValidName(b.Name) {
		return b, errorf(b.Pos, "bad buffer name %s: letters, digits, '_', '.', '-', not beginning with a digit, and not null", quote(b.Name))
	}
	var fill, values *Node
	err := d.fields(e.Value, "a buffer", append(d.contentFields(&b, &fill, &values), []field{
		{"align", false, func(n *Node) (err error) { b.Align, err = d.align(n); return }},
		d.baseField(&b),
	}...))
	if err != nil {
		return b, err
	}
	if fill != nil && values != nil {
		return b, d.errorf(values, "buffer %q has both fill and values", b.Name)
	}
	if err := d.contents(&b, fill, values); err != nil {
		return b, err
	}
	if b.Shape == nil && b.Fill.Kind != FillFile {
		return b, d.errorf(e.Value, "buffer %q needs a shape", b.Name)
	}
	return b, nil
}

// baseField is the key of an address.
func (d *decoder) baseField(b *Buffer) field {
	return field{"base", false, func(n *Node) (err error) {
		b.basePos, b.Fixed = d.pos(n), true
		b.Base, err = d.uint64(n, "base")
		return
	}}
}

// contentFields are the keys of an array's contents.
func (d *decoder) contentFields(b *Buffer, fill, values **Node) []field {
	return []field{
		{"type", true, func(n *Node) (err error) { b.Type, err = d.typ(n); return }},
		{"shape", false, func(n *Node) (err error) { b.Shape, err = d.shape(n); return }},
		{"fill", false, func(n *Node) error { *fill = n; return nil }},
		{"values", false, func(n *Node) error { *values = n; return nil }},
	}
}

// contents reads fill or values, once the type is known, and checks them against the
// shape.
func (d *decoder) contents(b *Buffer, fill, values *Node) error {
	switch {
	case fill != nil:
		return d.fill(b, fill)
	case values != nil:
		return d.values(b, values)
	}
	return nil
}

// ValidName reports whether a buffer may have a name.
func ValidName(s string) bool {
	for i, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '.' || c == '-'):
		default:
			return false
		}
	}
	return s != "" && s != "null"
}

func (d *decoder) typ(n *Node) (Type, error) {
	if n.Kind != StringNode {
		return 0, d.errorf(n, "type is a name, not %s%s", describe(n), unknownType(n.Text, typeNames()))
	}
	t, ok := ParseType(n.Text)
	if !ok {
		return 0, d.errorf(n, "unknown type %s%s", quote(n.Text), unknownType(n.Text, typeNames()))
	}
	return t, nil
}

func (d *decoder) shape(n *Node) ([]int64, error) {
	shape, err := d.integers(n, "shape", 0, maxElements, MaxRank)
	if err != nil {
		return nil, err
	}
	if _, ok := elements(shape); !ok {
		return nil, d.errorf(n, "shape %s has more than 2^63 elements", formatShape(shape))
	}
	return shape, nil
}

// elements returns the product of a shape, unless that product, with dimensions of 0 left
// out, is too large.
func elements(shape []int64) (int64, bool) {
	n, zero := uint64(1), false
	for _, dim := range shape {
		if dim == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(dim))
		if dim < 0 || hi != 0 || lo > maxElements {
			return 0, false
		}
		n = lo
	}
	if zero {
		return 0, true
	}
	return int64(n), true
}

// MaxAlign is the largest alignment a buffer may ask for: 1 GiB.
const MaxAlign = 1 << 30

func (d *decoder) align(n *Node) (uint64, error) {
	v, err := d.integer(n, "align", 1, MaxAlign)
	if err == nil && v&(v-1) != 0 {
		err = d.errorf(n, "align is %d, no power of two", v)
	}
	return uint64(v), err
}

func (d *decoder) fill(b *Buffer, n *Node) error {
	b.Fill.Pos = d.pos(n)
	if n.Kind == MapNode {
		if len(n.Entries) != 1 {
			return d.errorf(n, "a fill has one key: random, mod or file")
		}
		switch key := n.Entries[0].Key; {
		case slices.Contains(fillWords, key):
			return d.errorf(n, "fill %s has no value: write it alone", key)
		case !slices.Contains(valuedFills, key):
			return d.unknownFill(n, key)
		}
		if err := d.fields(n, "a fill", d.fillFields(b)); err != nil {
			return err
		}
	} else {
		k := slices.Index(fillWords, n.Text)
		switch {
		case n.Kind == StringNode && k >= 0:
			b.Fill.Kind = FillKind(k)
		case n.Kind == SeqNode:
			return d.errorf(n, "fill is a word, not a list; elements one by one are values")
		case n.Kind == NullNode:
			return d.errorf(n, "fill is empty; without the key a buffer is uninitialized")
		default:
			return d.unknownFill(n, n.Text)
		}
	}
	return d.place(checkFill(b))
}

func (d *decoder) fillFields(b *Buffer) []field {
	f := &b.Fill
	return []field{
		{"random", false, func(n *Node) (err error) { f.Kind = FillRandom; f.Random, err = d.random(n); return }},
		{"mod", false, func(n *Node) error {
			v, err := d.integer(n, "mod", 1, math.MaxInt64)
			f.Kind, f.Mod = FillMod, uint64(v)
			return err
		}},
		{"file", false, func(n *Node) (err error) { f.Kind = FillFile; f.File, err = d.path(n, "file"); return }},
	}
}

func (d *decoder) random(n *Node) (Random, error) {
	r := Random{Low: 0, High: 1}
	err := d.fields(n, "random", []field{
		{"seed", false, func(n *Node) (err error) { r.Seed, err = d.uint64(n, "seed"); return }},
		{"low", false, func(n *Node) (err error) { r.Low, err = d.float(n, "low"); return }},
		{"high", false, func(n *Node) (err error) { r.High, err = d.float(n, "high"); return }},
	})
	if err == nil && r.Low > r.High {
		err = d.errorf(n, "low %v is above high %v", r.Low, r.High)
	}
	return r, err
}

// checkFill rejects a fill that the buffer's type cannot hold.
func checkFill(b *Buffer) error {
	f := &b.Fill
	switch {
	case b.Type == TensorMapType && f.Kind != FillUninitialized && f.Kind != FillZeros && f.Kind != FillFile:
		return errorf(f.Pos, "a buffer of tensor maps can be filled with zeros, a file or nothing; list the maps under values")
	case f.Kind == FillNaN && !b.Type.IsFloat():
		return errorf(f.Pos, "%s has no nan", b.Type)
	case f.Kind == FillRandom:
		if msg := f.Random.check(b.Type); msg != "" {
			return errorf(f.Pos, "%s", msg)
		}
	}
	return nil
}

// checkGiven checks the contents of a buffer built in Go.
func checkGiven(b *Buffer) error {
	switch {
	case !b.Type.valid():
		return errorf(b.Pos, "buffer %q has type %d; there is none of that number", b.Name, uint8(b.Type))
	case b.Fill.Kind > FillData:
		return errorf(b.Pos, "buffer %q has fill %d; there is none of that number", b.Name, uint8(b.Fill.Kind))
	case b.Fill.Kind != FillData:
		return nil
	}
	n, ok := elements(b.Shape)
	size := int64(b.Type.Size())
	switch {
	case size == 0 || b.Type == TensorMapType:
		return errorf(b.Pos, "buffer %q of type %s cannot be filled with bytes", b.Name, b.Type)
	case b.Shape == nil:
		return errorf(b.Pos, "buffer %q needs a shape", b.Name)
	case !ok || n > math.MaxInt64/size || n*size != int64(len(b.Fill.Data)):
		return errorf(b.Pos, "buffer %q of shape %s, type %s, is filled with %d bytes", b.Name, formatShape(b.Shape), b.Type, len(b.Fill.Data))
	}
	return nil
}

func (d *decoder) values(b *Buffer, n *Node) error {
	if n.Kind != SeqNode {
		return d.errorf(n, "values is a list, not %s", n.Kind)
	}
	b.Fill = Fill{Kind: FillValues, Pos: d.pos(n)}
	for _, item := range n.Items {
		v, err := d.value(b.Type, item)
		if err != nil {
			return err
		}
		b.Values = append(b.Values, v)
	}
	if b.Shape == nil {
		b.Shape = []int64{int64(len(b.Values))}
	}
	if want, _ := elements(b.Shape); want != int64(len(b.Values)) {
		return d.errorf(n, "buffer %q has shape %s, %d elements, but %d values", b.Name, formatShape(b.Shape), want, len(b.Values))
	}
	return nil
}

func (d *decoder) value(t Type, n *Node) (Value, error) {
	v := Value{Pos: d.pos(n)}
	var err error
	switch {
	case n.Kind == SeqNode:
		return v, d.errorf(n, "values is one flat list in C order, whatever the shape")
	case t == TensorMapType:
		v.Map, err = d.tensorMap(n)
	case n.Kind == NullNode || n.Kind == MapNode:
		if t != U64 && t != S64 && t != B64 {
			return v, d.errorf(n, "an address needs a type of 64 bits; the buffer's is %s", t)
		}
		if n.Kind == MapNode {
			v.Ptr, err = d.pointer(n)
		}
	default:
		v.Bits, err = parseScalar(t, n)
	}
	return v, d.place(err)
}

func (d *decoder) pointer(n *Node) (*Pointer, error) {
	p := &Pointer{Pos: d.pos(n)}
	err := d.fields(n, "a pointer", []field{
		{"ptr", true, func(n *Node) (err error) { p.Buffer, err = d.str(n, "ptr"); return }},
		{"offset", false, func(n *Node) (err error) { p.Offset, err = d.integer(n, "offset", 0, math.MaxInt64); return }},
	})
	return p, err
}

func eachReference(v Value, check func(Pos, string) error) error {
	if v.Ptr != nil {
		return check(v.Ptr.Pos, v.Ptr.Buffer)
	}
	if v.Map != nil {
		return check(v.Map.Pos, v.Map.Of)
	}
	return nil
}
