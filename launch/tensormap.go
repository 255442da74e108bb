package launch

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"muster/internal/tma"
)

// A TensorMapSpec is a tensor map as stated in a launch file (ISA, section 'Tensors').
// Omitted fields are nil or zero and are taken from the buffer. All lists are in the
// order of the shape, outermost first: the reverse of the driver's.
//
// The form is checked here: known names, matching ranks, non-negative sizes.
// TensorMap.Encode reports what the driver would refuse beyond that.
type TensorMapSpec struct {
	Pos            Pos
	Of             string // buffer
	Offset         int64  // bytes from its base to the tensor's first element
	Type           ElementType
	Shape          []int64
	Strides        []int64 // bytes, of each dimension but the innermost
	Box            []int64 // nil with Im2col
	ElementStrides []int64
	Interleave     Interleave
	Swizzle        Swizzle
	L2             L2Promotion
	Fill           OOBFill
	Im2col         *Im2col // nil for tiled mode
}

// Im2col is the bounding box of im2col mode. Lower and Upper have one entry per spatial
// dimension: all but the outermost and the innermost. A wide mode has a bounding box in the
// inner one of these dimensions alone.
type Im2col struct {
	Wide         WideMode
	Lower, Upper []int64
	Channels     int64 // per pixel
	Pixels       int64 // per column
}

// An ElementType is the driver's data type of a tensor map.
type ElementType uint8

const (
	ElementDefault ElementType = iota // the buffer's type
	ElementU8
	ElementU16
	ElementU32
	ElementS32
	ElementU64
	ElementS64
	ElementF16
	ElementF32
	ElementF64
	ElementBF16
	ElementF32FTZ
	ElementTF32
	ElementTF32FTZ
	ElementB4x16
	ElementB4x16P64
	ElementB6x16P32
)

// elementTypes: name, bits, and the buffer types for which it is the default. The driver
// has no type for most signed types, bit types and fp8; maps of those use unsigned
// integers. Elements of 4 and 6 bits have the names of the ISA (5.5.1.1).
var elementTypes = [...]struct {
	name string
	bits int64
	of   []Type
}{
	ElementDefault:  {},
	ElementU8:       {"u8", 8, []Type{U8, S8, B8, E4M3, E5M2}},
	ElementU16:      {"u16", 16, []Type{U16, S16, B16}},
	ElementU32:      {"u32", 32, []Type{U32, B32}},
	ElementS32:      {"s32", 32, []Type{S32}},
	ElementU64:      {"u64", 64, []Type{U64, B64}},
	ElementS64:      {"s64", 64, []Type{S64}},
	ElementF16:      {"f16", 16, []Type{F16}},
	ElementF32:      {"f32", 32, []Type{F32}},
	ElementF64:      {"f64", 64, []Type{F64}},
	ElementBF16:     {"bf16", 16, []Type{BF16}},
	ElementF32FTZ:   {"f32.ftz", 32, nil},
	ElementTF32:     {"tf32", 32, nil},
	ElementTF32FTZ:  {"tf32.ftz", 32, nil},
	ElementB4x16:    {"b4x16", 4, nil},
	ElementB4x16P64: {"b4x16_p64", 4, nil},
	ElementB6x16P32: {"b6x16_p32", 6, nil},
}

// String returns the name, as a launch file writes it.
func (e ElementType) String() string { return elementTypes[e].name }

// Size returns the bytes of one element; 0 for ElementDefault, and for elements that are
// smaller than a byte.
func (e ElementType) Size() int64 { return elementTypes[e].bits / 8 }

func defaultElement(t Type) ElementType {
	for e, info := range elementTypes {
		for _, of := range info.of {
			if of == t {
				return ElementType(e)
			}
		}
	}
	return ElementDefault
}

// Interleave, Swizzle, L2Promotion and OOBFill are the driver's enumerations,
// with its values. Swizzle96B is none of the driver's.
type (
	Interleave  uint8
	Swizzle     uint8
	L2Promotion uint8
	OOBFill     uint8
)

const (
	InterleaveNone Interleave = iota
	Interleave16B
	Interleave32B
)

const (
	SwizzleNone Swizzle = iota
	Swizzle32B
	Swizzle64B
	Swizzle128B
	Swizzle128BAtom32B
	Swizzle128BAtom32BFlip8B
	Swizzle128BAtom64B
	Swizzle96B
)

// A WideMode is the driver's mode of a map for im2col::w, more one.
type WideMode uint8

const (
	NotWide WideMode = iota
	WideW
	WideW128
)

const (
	L2None L2Promotion = iota
	L2Bytes64
	L2Bytes128
	L2Bytes256
)

const (
	FillOOBZeros OOBFill = iota
	FillOOBNaN
)

var (
	interleaveNames = []string{"none", "16B", "32B"}
	swizzleNames    = []string{"none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B", "96B"}
	wideNames       = []string{"none", "W", "W128"}
	l2Names         = []string{"none", "64B", "128B", "256B"}
	oobFillNames    = []string{"zeros", "nan"}
)

// MaxTensorRank bounds the dimensions of a tensor map.
const MaxTensorRank = 5

func (d *decoder) tensorMap(n *Node) (*TensorMapSpec, error) {
	m := &TensorMapSpec{Pos: d.pos(n)}
	sizes := func(to *[]int64, what string) func(*Node) error {
		return func(n *Node) (err error) {
			*to, err = d.integers(n, what, 0, math.MaxInt64, MaxTensorRank)
			if err == nil && len(*to) == 0 && what != "strides" {
				err = d.errorf(n, "%s is empty", what)
			}
			return
		}
	}
	err := d.fields(n, "a tensor map", []field{
		{"of", true, func(n *Node) (err error) { m.Of, err = d.str(n, "of"); return }},
		{"box", false, sizes(&m.Box, "box")},
		{"type", false, func(n *Node) (err error) { m.Type, err = d.elementType(n); return }},
		{"shape", false, sizes(&m.Shape, "shape")},
		{"strides", false, sizes(&m.Strides, "strides")},
		{"offset", false, func(n *Node) (err error) { m.Offset, err = d.integer(n, "offset", 0, math.MaxInt64); return }},
		{"element_strides", false, sizes(&m.ElementStrides, "element_strides")},
		{"interleave", false, word(d, &m.Interleave, "interleave", interleaveNames)},
		{"swizzle", false, word(d, &m.Swizzle, "swizzle", swizzleNames)},
		{"fill", false, word(d, &m.Fill, "fill", oobFillNames)},
		{"l2", false, word(d, &m.L2, "l2", l2Names)},
		{"im2col", false, func(n *Node) (err error) { m.Im2col, err = d.im2col(n); return }},
	})
	switch {
	case err != nil:
		return nil, err
	case m.Box == nil && m.Im2col == nil:
		return nil, d.errorf(n, "a tensor map needs the key \"box\" (or \"im2col\")")
	case m.Box != nil && m.Im2col != nil:
		return nil, d.errorf(n, "box and im2col exclude each other")
	}
	return m, nil
}

func word[E ~uint8](d *decoder, to *E, what string, names []string) func(*Node) error {
	return func(n *Node) error {
		i, err := d.choice(n, what, names)
		*to = E(i)
		return err
	}
}

func (d *decoder) elementType(n *Node) (ElementType, error) {
	if n.Kind == StringNode {
		if t, ok := ParseType(n.Text); ok && t != TensorMapType {
			return defaultElement(t), nil
		}
	}
	var names []string
	for _, info := range elementTypes[1:] {
		names = append(names, info.name)
	}
	if i := slices.Index(names, n.Text); n.Kind == StringNode && i >= 0 {
		return ElementType(i + 1), nil
	}
	for _, name := range typeNames() {
		if name != TensorMapType.String() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n.Kind != StringNode {
		return 0, d.errorf(n, "type is a name, not %s%s", describe(n), unknownType(n.Text, names))
	}
	return 0, d.errorf(n, "unknown type %s%s", quote(n.Text), unknownType(n.Text, names))
}

func (d *decoder) im2col(n *Node) (*Im2col, error) {
	c := &Im2col{}
	const spatial = MaxTensorRank - 2
	err := d.fields(n, "im2col", []field{
		{"wide", false, word(d, &c.Wide, "wide", wideNames)},
		{"lower", true, func(n *Node) (err error) {
			c.Lower, err = d.integers(n, "lower", math.MinInt32, math.MaxInt32, spatial)
			return
		}},
		{"upper", true, func(n *Node) (err error) {
			c.Upper, err = d.integers(n, "upper", math.MinInt32, math.MaxInt32, spatial)
			return
		}},
		{"channels", true, func(n *Node) (err error) { c.Channels, err = d.integer(n, "channels", 0, math.MaxUint32); return }},
		{"pixels", true, func(n *Node) (err error) { c.Pixels, err = d.integer(n, "pixels", 0, math.MaxUint32); return }},
	})
	return c, err
}

// A TensorMap is a spec with every default filled in.
type TensorMap struct {
	Spec           *TensorMapSpec // for the enumerations, Box, Im2col and Pos
	Address        uint64
	Type           ElementType
	Shape          []int64 // outermost first, as all lists
	Strides        []int64 // bytes; one fewer than Shape
	ElementStrides []int64
}

// resolve fills in the defaults from the buffer, and checks that all lists have the same
// rank.
func (m *TensorMapSpec) resolve(b *PlacedBuffer) (TensorMap, error) {
	t := TensorMap{Spec: m, Address: b.Base + uint64(m.Offset), Type: m.Type, Shape: m.Shape, Strides: m.Strides, ElementStrides: m.ElementStrides}
	if uint64(m.Offset) > b.Size {
		return t, errorf(m.Pos, "offset %d lies outside buffer %q of %d bytes", m.Offset, b.Name, b.Size)
	}
	if t.Type == ElementDefault {
		t.Type = defaultElement(b.Type)
	}
	if t.Type == ElementDefault {
		return t, errorf(m.Pos, "a map of buffer %q, whose type is %s, needs the key \"type\"", b.Name, b.Type)
	}
	if t.Shape == nil {
		if t.Type.Size() == 0 {
			return t, errorf(m.Pos, "a map of type %s needs the key \"shape\": that of buffer %q counts elements of %s", t.Type, b.Name, b.Type)
		}
		t.Shape = b.Shape
	}
	if t.ElementStrides == nil {
		for range t.Shape {
			t.ElementStrides = append(t.ElementStrides, 1)
		}
	}
	if err := m.packStrides(&t); err != nil {
		return t, err
	}
	return t, m.checkRanks(&t)
}

// packStrides fills in missing strides, those of a packed array.
func (m *TensorMapSpec) packStrides(t *TensorMap) error {
	rank := len(t.Shape)
	if m.Strides != nil || rank == 0 {
		return nil
	}
	t.Strides = make([]int64, rank-1)
	hi, lo := bits.Mul64(uint64(elementTypes[t.Type].bits), uint64(t.Shape[rank-1]))
	if rank > 1 && lo%8 != 0 {
		return errorf(m.Pos, "shape %s of type %s has rows that are no whole bytes, and needs the key \"strides\"", formatShape(t.Shape), t.Type)
	}
	hi, lo = hi>>3, hi<<61|lo>>3
	for i := rank - 1; i > 0; i-- {
		if hi != 0 || lo > math.MaxInt64 {
			return errorf(m.Pos, "shape %s has a stride of more than 2^63 bytes", formatShape(t.Shape))
		}
		t.Strides[i-1] = int64(lo)
		hi, lo = bits.Mul64(lo, uint64(t.Shape[i-1]))
	}
	return nil
}

func (m *TensorMapSpec) checkRanks(t *TensorMap) error {
	rank := len(t.Shape)
	if rank < 1 || rank > MaxTensorRank {
		return errorf(m.Pos, "a tensor of shape %s has %d dimensions; a map has 1 to %d", formatShape(t.Shape), rank, MaxTensorRank)
	}
	if m.Im2col != nil && rank < 3 {
		return errorf(m.Pos, "im2col needs 3 to %d dimensions; the tensor has %d", MaxTensorRank, rank)
	}
	type list struct {
		name      string
		got, want int
	}
	lists := []list{{"element_strides", len(t.ElementStrides), rank}, {"strides", len(t.Strides), rank - 1}}
	if c := m.Im2col; c != nil {
		corners := rank - 2
		if c.Wide != NotWide {
			corners = 1
		}
		lists = append(lists, list{"lower", len(c.Lower), corners}, list{"upper", len(c.Upper), corners})
	} else {
		lists = append(lists, list{"box", len(m.Box), rank})
	}
	for _, l := range lists {
		if l.got != l.want {
			return errorf(m.Pos, "%s has %d entries; for shape %s it needs %d", l.name, l.got, formatShape(t.Shape), l.want)
		}
	}
	return nil
}

// A PlacedMap is a tensor map at a byte offset of a buffer or of the parameters.
type PlacedMap struct {
	Offset  uint64
	Map     TensorMap
	Refused string // the driver's reason to refuse it, with zero bytes; else empty
}

// placeMap encodes a map into its place.
func placeMap(to []byte, off int, t TensorMap) PlacedMap {
	p := PlacedMap{Offset: uint64(off), Map: t}
	b, err := t.Encode()
	if err != nil {
		p.Refused = err.Error()
	} else {
		copy(to, b[:])
	}
	return p
}

// TensorMapSize is the size of an encoded tensor map in bytes (CUtensorMap).
const TensorMapSize = tma.Size

// Encode returns the 128 bytes that cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col or
// cuTensorMapEncodeIm2colWide would write; of what they write from sm_100 on not all is
// known (package tma says what), and there an encoding of our own stands. The error gives the driver's reason to refuse it, in one line.
func (t *TensorMap) Encode() ([TensorMapSize]byte, error) {
	m, err := t.driver()
	if err != nil {
		return [TensorMapSize]byte{}, err
	}
	return m.Encode()
}

// driver converts a map to the driver's order, innermost dimension first. A number
// outside the driver's type is an error.
func (t *TensorMap) driver() (tma.Map, error) {
	s := t.Spec
	m := tma.Map{
		Type: tma.Type(t.Type - ElementU8), Rank: len(t.Shape), Address: t.Address,
		Interleave: tma.Interleave(s.Interleave), Swizzle: tma.Swizzle(s.Swizzle), L2: tma.L2Promotion(s.L2), Fill: tma.Fill(s.Fill),
	}
	reverse(m.Dims[:], t.Shape)
	reverse(m.Strides[:], t.Strides)
	if err := reverse32(m.ElementStrides[:], t.ElementStrides, "element_strides"); err != nil {
		return m, err
	}
	c := s.Im2col
	if c == nil {
		return m, reverse32(m.Box[:], s.Box, "box")
	}
	m.Mode, m.Channels, m.Pixels = [...]tma.Mode{tma.Im2col, tma.Im2colW, tma.Im2colW128}[c.Wide], uint32(c.Channels), uint32(c.Pixels)
	reverse(m.Lower[:], c.Lower)
	reverse(m.Upper[:], c.Upper)
	return m, nil
}

// reverse converts numbers that are known to fit, in reverse order.
func reverse[T ~int32 | ~uint32 | ~uint64](to []T, from []int64) {
	for i, v := range from {
		to[len(from)-1-i] = T(v)
	}
}

func reverse32(to []uint32, from []int64, key string) error {
	for _, v := range from {
		if v > math.MaxUint32 {
			return fmt.Errorf("%s has the entry %d, which is no number of 32 bits", key, v)
		}
	}
	reverse(to, from)
	return nil
}
