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
)

// types has a row for each Type: its name, its size in bytes, and the contents of
// bits 71-74 and 80 of a map.
var types = [...]struct {
	name string
	size int
	code uint64
	tf32 uint64
}{
	U8: {"u8", 1, 0, 0}, U16: {"u16", 2, 1, 0}, U32: {"u32", 4, 2, 0}, S32: {"s32", 4, 3, 0},
	U64: {"u64", 8, 4, 0}, S64: {"s64", 8, 5, 0}, F16: {"f16", 2, 6, 0}, F32: {"f32", 4, 7, 0},
	F64: {"f64", 8, 9, 0}, BF16: {"bf16", 2, 10, 0}, F32FTZ: {"f32.ftz", 4, 8, 0},
	TF32: {"tf32", 4, 7, 1}, TF32FTZ: {"tf32.ftz", 4, 8, 1},
}

// Size is the number of bytes of an element.
func (t Type) Size() int { return types[t].size }

// String is the type's name.
func (t Type) String() string {
	if int(t) >= len(types) {
		return "no type"
	}
	return types[t].name
}

// Float reports whether NaN can fill what is out of bounds.
func (t Type) Float() bool { return t >= F16 }

// An Interleave is the layout of channels, numbered as CUtensorMapInterleave.
type Interleave uint8

const (
	InterleaveNone Interleave = iota
	Interleave16              // slices of 16 bytes
	Interleave32              // slices of 32 bytes
)

// slice is the number of bytes of a slice.
func (i Interleave) slice() int { return []int{0, 16, 32}[i] }

// A Swizzle is a pattern in shared memory, numbered as CUtensorMapSwizzle.
type Swizzle uint8

const (
	SwizzleNone Swizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
)

// Span is the width of the pattern in bytes, 0 for none.
func (s Swizzle) Span() int { return []int{0, 32, 64, 128}[s] }

// Align is the alignment in shared memory at which the pattern repeats.
func (s Swizzle) Align() int { return []int{16, 256, 512, 1024}[s] }

// Apply gives the shared address at which the byte with address a really lies.
func (s Swizzle) Apply(a uint32) uint32 {
	if s == SwizzleNone {
		return a
	}
	return a ^ (a>>7&(1<<s-1))<<4
}

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

// A Mode says how a box is traversed.
type Mode uint8

const (
	Tiled Mode = iota
	Im2col
)

// A Map is a tensor map in the arguments of the driver's encoders. Dimensions
// go from the innermost out. Entries beyond the rank are ignored, and zero in
// what Decode returns, as are Box in im2col mode and Lower, Upper, Channels and
// Pixels in tiled mode.
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
	n := uint64(types[m.Type].size)
	if m.Mode == Im2col {
		return n * uint64(m.Channels) * uint64(m.Pixels)
	}
	for i := range m.Rank {
		n *= uint64(m.Box[i] / m.ElementStrides[i])
	}
	return n
}

// cornerBits is the width of one coordinate of a corner of the bounding box.
func (m *Map) cornerBits() int { return [...]int{3: 16, 4: 8, 5: 5}[m.Rank] }

// spatial is the dimension of W: interleaved maps begin with it, the others
// with the channels.
func (m *Map) spatial() int {
	if m.Interleave != InterleaveNone {
		return 0
	}
	return 1
}
