package kernel

import (
	"fmt"
	"math"

	"muster/launch"
	"muster/ptx"
)

// A Map is a tensor map over a slice, as an argument of a call.
type Map struct {
	data any
	elem Type
	spec launch.TensorMapSpec
	err  error
}

// A MapOption configures a tensor map.
type MapOption func(*Map)

// MapOf makes a tensor map (cuTensorMapEncodeTiled) of a slice: a tensor with that
// element type and shape, which tensor copies move box by box. Shape and box are in
// elements, outermost dimension first, as in launch files and NumPy: the reverse of the
// driver's order and of the coordinates in PTX. By default, the tensor is packed, not
// swizzled and not interleaved; elements outside read as zeros. Options change that.
//
// elem is one of U8, U16, U32, S32, U64, S64, F16, BF16, F32, F64, TF32, or a type that
// is copied as unsigned integers of its size: E4M3, E5M2, S8, S16, B8 to B64.
func MapOf(slice any, elem Type, shape, box []int, opts ...MapOption) *Map {
	m := newMap(slice, elem, shape)
	m.spec.Box = wide(box)
	return m.with(opts)
}

// MapIm2col makes a tensor map in im2col mode (cuTensorMapEncodeIm2col): lower and upper
// are the corners of the bounding box, with one entry per dimension between the outermost
// and the innermost; a copy moves the given number of pixels with the given number of
// channels.
func MapIm2col(slice any, elem Type, shape, lower, upper []int, channels, pixels int, opts ...MapOption) *Map {
	m := newMap(slice, elem, shape)
	m.spec.Im2col = &launch.Im2col{Lower: wide(lower), Upper: wide(upper), Channels: int64(channels), Pixels: int64(pixels)}
	return m.with(opts)
}

func newMap(slice any, elem Type, shape []int) *Map {
	m := &Map{data: slice, elem: elem}
	m.spec.Shape = wide(shape)
	m.spec.Pos = launch.Pos{File: caller().String()} // for errors of the driver
	return m
}

func (m *Map) with(opts []MapOption) *Map {
	for _, o := range opts {
		if o != nil {
			o(m)
		}
	}
	return m
}

func wide(list []int) []int64 {
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}

// fail keeps the first mistake for Call, which knows its argument.
func (m *Map) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// Swizzled sets the swizzle pattern of boxes in shared memory to that many bytes: 32, 64
// or 128; 0 for none.
func Swizzled(bytes int) MapOption {
	return func(m *Map) {
		s, ok := map[int]launch.Swizzle{0: launch.SwizzleNone, 32: launch.Swizzle32B, 64: launch.Swizzle64B, 128: launch.Swizzle128B}[bytes]
		if !ok {
			m.fail("Swizzled(%d): a swizzle has 32, 64 or 128 bytes, or 0 for none", bytes)
		}
		m.spec.Swizzle = s
	}
}

// Interleaved says that the tensor's channels are interleaved in slices of that
// many bytes: 16 or 32 (NC/8HWC8 and NC/16HWC16); 0 for none.
func Interleaved(bytes int) MapOption {
	return func(m *Map) {
		i, ok := map[int]launch.Interleave{0: launch.InterleaveNone, 16: launch.Interleave16B, 32: launch.Interleave32B}[bytes]
		if !ok {
			m.fail("Interleaved(%d): slices have 16 or 32 bytes, or 0 for no interleaving", bytes)
		}
		m.spec.Interleave = i
	}
}

// PromotedL2 makes copies fetch that many bytes into L2: 64, 128 or 256; 0 for none.
func PromotedL2(bytes int) MapOption {
	return func(m *Map) {
		p, ok := map[int]launch.L2Promotion{0: launch.L2None, 64: launch.L2Bytes64, 128: launch.L2Bytes128, 256: launch.L2Bytes256}[bytes]
		if !ok {
			m.fail("PromotedL2(%d): it is 64, 128 or 256 bytes, or 0 for none", bytes)
		}
		m.spec.L2 = p
	}
}

// FilledWithNaN makes elements outside of the tensor read as NaN, not as zeros.
func FilledWithNaN() MapOption { return func(m *Map) { m.spec.Fill = launch.FillOOBNaN } }

// Strided sets the tensor's strides in bytes, outermost dimension first: one for every
// dimension but the innermost, which is packed.
func Strided(bytes ...int) MapOption { return func(m *Map) { m.spec.Strides = wide(bytes) } }

// Stepped makes a copy take every n-th element of a dimension: one number per dimension,
// outermost first (the driver's element strides).
func Stepped(n ...int) MapOption { return func(m *Map) { m.spec.ElementStrides = wide(n) } }

// Spec lets a function change any field of a tensor map.
func Spec(change func(*launch.TensorMapSpec)) MapOption { return func(m *Map) { change(&m.spec) } }

// argument checks a map against its slice.
func (m *Map) argument(p *ptx.Var) (argument, error) {
	if m.err != nil {
		return argument{}, m.err
	}
	mem, err := memoryOf(m.data, m.elem)
	if err != nil {
		return argument{}, fmt.Errorf("tensor map: %v", err)
	}
	spec := m.spec
	if spec.Type == launch.ElementDefault {
		if spec.Type = elementType(m.elem); spec.Type == launch.ElementDefault {
			return argument{}, fmt.Errorf("tensor map: a tensor has no elements of type %s", m.elem)
		}
	}
	if err := m.reach(&spec, mem.size); err != nil {
		return argument{}, fmt.Errorf("tensor map: %v", err)
	}
	return argument{param: p, mem: mem, spec: &spec}, nil
}

// elementType is the driver's type for elements.
func elementType(t Type) launch.ElementType {
	switch t {
	case S32:
		return launch.ElementS32
	case S64:
		return launch.ElementS64
	case F16:
		return launch.ElementF16
	case BF16:
		return launch.ElementBF16
	case F32:
		return launch.ElementF32
	case F64:
		return launch.ElementF64
	case TF32:
		return launch.ElementTF32
	}
	switch t.Size() {
	case 1:
		return launch.ElementU8
	case 2:
		return launch.ElementU16
	case 4:
		return launch.ElementU32
	case 8:
		return launch.ElementU64
	}
	return launch.ElementDefault
}

// reach checks the lists' lengths, and that the tensor lies in its slice.
func (m *Map) reach(s *launch.TensorMapSpec, size int) error {
	rank := len(s.Shape)
	if rank < 1 || rank > launch.MaxTensorRank {
		return fmt.Errorf("a tensor has 1 to %d dimensions, and the shape is %v", launch.MaxTensorRank, s.Shape)
	}
	if c := s.Im2col; c != nil && (rank < 3 || len(c.Lower) != rank-2 || len(c.Upper) != rank-2) {
		return fmt.Errorf("im2col: corners %v and %v for shape %v; they have an entry for each dimension between the outermost and the innermost, one at least", c.Lower, c.Upper, s.Shape)
	}
	if s.Im2col == nil && len(s.Box) != rank {
		return fmt.Errorf("box %v for shape %v: it has an entry for each dimension", s.Box, s.Shape)
	}
	if s.ElementStrides != nil && len(s.ElementStrides) != rank {
		return fmt.Errorf("Stepped %v for shape %v: it has an entry for each dimension", s.ElementStrides, s.Shape)
	}
	if s.Strides != nil && len(s.Strides) != rank-1 {
		return fmt.Errorf("Strided %v for shape %v: it has an entry for each dimension but the innermost", s.Strides, s.Shape)
	}
	far, stride := float64(s.Offset)+float64(s.Type.Size()), float64(s.Type.Size()) // exact below 2^53; beyond, only too large
	for i := rank - 1; i >= 0; i-- {
		if s.Shape[i] < 1 {
			return fmt.Errorf("shape %v: every dimension is at least 1", s.Shape)
		}
		step := stride
		if s.Strides != nil && i < rank-1 {
			step = float64(s.Strides[i])
		}
		far += float64(s.Shape[i]-1) * step
		stride *= float64(s.Shape[i])
	}
	if far > math.MaxInt64 || int64(far) > int64(size) {
		return fmt.Errorf("a tensor of shape %v, type %s, takes %.0f bytes, and the slice has %d", s.Shape, m.elem, far, size)
	}
	return nil
}
