package tma

// A Type is the type of an element, numbered as CUtensorMapDataType.
type Type uint8

const (
	U8 Type = iota
	U16
	U32
	S32
	U64
	S64
	F16
	F32
	F64
	BF16
	F32FTZ
	TF32
	TF32FTZ
	B4x16    // 16U4_ALIGN8B
	B4x16P64 // 16U4_ALIGN16B
	B6x16P32 // 16U6_ALIGN16B; in stores the ISA calls it .b6p2x16
)

// types has a row for each Type: its name, its size in bits, and the contents of
// bits 71-74 and 80 of a map.
var types = [...]struct {
	name string
	bits int
	code uint64
	tf32 uint64
}{
	U8: {"u8", 8, 0, 0}, U16: {"u16", 16, 1, 0}, U32: {"u32", 32, 2, 0}, S32: {"s32", 32, 3, 0},
	U64: {"u64", 64, 4, 0}, S64: {"s64", 64, 5, 0}, F16: {"f16", 16, 6, 0}, F32: {"f32", 32, 7, 0},
	F64: {"f64", 64, 9, 0}, BF16: {"bf16", 16, 10, 0}, F32FTZ: {"f32.ftz", 32, 8, 0},
	TF32: {"tf32", 32, 7, 1}, TF32FTZ: {"tf32.ftz", 32, 8, 1},
	B4x16: {"b4x16", 4, 11, 0}, B4x16P64: {"b4x16_p64", 4, 12, 0}, B6x16P32: {"b6x16_p32", 6, 13, 0},
}

// Size is the number of bytes of an element, 0 of one that is smaller than a byte.
func (t Type) Size() int { return types[t].bits / 8 }

// bytes is how much of global memory n elements take.
func (t Type) bytes(n int64) int64 { return n * int64(types[t].bits) / 8 }

// String is the type's name.
func (t Type) String() string {
	if int(t) >= len(types) {
		return "no type"
	}
	return types[t].name
}

// Float reports whether NaN can fill what is out of bounds.
func (t Type) Float() bool { return t >= F16 && t < B4x16 }

// An Interleave is the layout of channels, numbered as CUtensorMapInterleave.
type Interleave uint8

const (
	InterleaveNone Interleave = iota
	Interleave16              // slices of 16 bytes
	Interleave32              // slices of 32 bytes
)

// slice is the number of bytes of a slice.
func (i Interleave) slice() int { return []int{0, 16, 32}[i] }

// An L2Promotion is how much the L2 cache fetches, numbered as
// CUtensorMapL2promotion. It changes no result.
type L2Promotion uint8

const (
	L2None L2Promotion = iota
	L2Fetch64
	L2Fetch128
	L2Fetch256
)

// A Fill is what a load writes for elements out of bounds.
type Fill uint8

const (
	FillZero Fill = iota
	FillNaN       // 0x7ff7 in every two bytes
)

// A Mode says how a box is traversed: the encoder that made the map, and the mode
// that it was given.
type Mode uint8

const (
	Tiled Mode = iota
	Im2col
	Im2colW    // cuTensorMapEncodeIm2colWide, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W
	Im2colW128 // the same, MODE_W128
)

// String is the modifier of copies in that mode.
func (m Mode) String() string {
	return [...]string{"tile", "im2col", "im2col::w", "im2col::w::128"}[m]
}

// wide reports whether a mode walks along W alone (ISA 5.5.5).
func (m Mode) wide() bool { return m >= Im2colW }

// A Map is a tensor map in the arguments of the driver's encoders. Dimensions
// go from the innermost out. Entries beyond the rank are ignored, and zero in
// what Decode returns, as are Box in the im2col modes and Lower, Upper, Channels
// and Pixels in tiled mode. The wide modes use the corners of W alone, and
// Im2colW128 no Pixels.
type Map struct {
	Mode           Mode
	Type           Type
	Rank           int
	Address        uint64
	Dims           [5]uint64
	Strides        [4]uint64 // bytes, of dimensions 1 to 4
	Box            [5]uint32
	Lower, Upper   [3]int32 // of W, H, D
	Channels       uint32   // per pixel
	Pixels         uint32   // per column
	ElementStrides [5]uint32
	Interleave     Interleave
	Swizzle        Swizzle
	L2             L2Promotion
	Fill           Fill
}

// MaxBoxBytes is the largest box that the driver takes.
const MaxBoxBytes = 228 << 10

// boxBytes is what the driver writes as the size of a box. It divides by the
// element strides rounding down and uses the innermost one too, so where one is
// not 1 it is not the number of bytes that move: that is TxBytes.
func (m *Map) boxBytes() uint64 {
	n := uint64(1)
	switch m.Mode {
	case Tiled:
		for i := range m.Rank {
			n *= uint64(m.Box[i] / m.ElementStrides[i])
		}
	case Im2colW128:
		n = uint64(m.Channels) * w128Pixels
	default:
		n = uint64(m.Channels) * uint64(m.Pixels)
	}
	if m.Type.padded() {
		return n
	}
	return uint64(m.Type.bytes(int64(n)))
}

// corners is how many dimensions the bounding box has.
func (m *Map) corners() int {
	if m.Mode.wide() {
		return 1
	}
	return m.Rank - 2
}

// cornerBits is the width of one coordinate of a corner of the bounding box.
func (m *Map) cornerBits() int { return [...]int{1: 16, 2: 8, 3: 5}[m.corners()] }

// spatial is the dimension of W: interleaved maps begin with it, the others
// with the channels.
func (m *Map) spatial() int {
	if m.Interleave != InterleaveNone {
		return 0
	}
	return 1
}
