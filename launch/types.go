package launch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Type is the type of a buffer's elements or of a scalar argument. The zero Type is
// invalid.
type Type uint8

const (
	U8 Type = iota + 1
	S8
	B8
	U16
	S16
	B16
	U32
	S32
	B32
	U64
	S64
	B64
	F16
	BF16
	F32
	F64
	E4M3
	E5M2
	TensorMapType // 128 opaque bytes
)

type class uint8

const (
	unsignedClass class = iota
	signedClass
	bitsClass
	floatClass
	opaqueClass
)

type typeInfo struct {
	name  string
	size  int
	class class
	npy   string // NumPy kinds and sizes that match, the preferred one first
	float floatFormat
}

// valid reports whether t is one of the types.
func (t Type) valid() bool { return t >= U8 && t <= TensorMapType }

// The table of types. Bit types match any array of their size; bf16 and fp8, missing from
// NumPy, are stored as raw unsigned integers (or as the void types that ml_dtypes saves).
var types = [...]typeInfo{
	U8:            {name: "u8", size: 1, class: unsignedClass, npy: "u1 b1"},
	S8:            {name: "s8", size: 1, class: signedClass, npy: "i1"},
	B8:            {name: "b8", size: 1, class: bitsClass, npy: "u1 i1 b1 V1"},
	U16:           {name: "u16", size: 2, class: unsignedClass, npy: "u2"},
	S16:           {name: "s16", size: 2, class: signedClass, npy: "i2"},
	B16:           {name: "b16", size: 2, class: bitsClass, npy: "u2 i2 f2 V2"},
	U32:           {name: "u32", size: 4, class: unsignedClass, npy: "u4"},
	S32:           {name: "s32", size: 4, class: signedClass, npy: "i4"},
	B32:           {name: "b32", size: 4, class: bitsClass, npy: "u4 i4 f4 V4"},
	U64:           {name: "u64", size: 8, class: unsignedClass, npy: "u8"},
	S64:           {name: "s64", size: 8, class: signedClass, npy: "i8"},
	B64:           {name: "b64", size: 8, class: bitsClass, npy: "u8 i8 f8 V8"},
	F16:           {name: "f16", size: 2, class: floatClass, npy: "f2", float: floatFormat{5, 10, 0x7bff, 0x7c00, 0x7e00}},
	BF16:          {name: "bf16", size: 2, class: floatClass, npy: "u2 V2", float: floatFormat{8, 7, 0x7f7f, 0x7f80, 0x7fc0}},
	F32:           {name: "f32", size: 4, class: floatClass, npy: "f4", float: floatFormat{8, 23, 0x7f7fffff, 0x7f800000, 0x7fc00000}},
	F64:           {name: "f64", size: 8, class: floatClass, npy: "f8", float: floatFormat{11, 52, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000}},
	E4M3:          {name: "e4m3", size: 1, class: floatClass, npy: "u1 V1", float: floatFormat{4, 3, 0x7e, 0, 0x7f}},
	E5M2:          {name: "e5m2", size: 1, class: floatClass, npy: "u1 V1", float: floatFormat{5, 2, 0x7b, 0x7c, 0x7e}},
	TensorMapType: {name: "tensormap", size: 128, class: opaqueClass, npy: "u1"},
}

// ParseType finds a type by its name: u8 … f64, e4m3, e5m2, tensormap.
func ParseType(name string) (Type, bool) {
	for t, info := range types {
		if info.name == name && name != "" {
			return Type(t), true
		}
	}
	return 0, false
}

func typeNames() []string {
	var names []string
	for _, info := range types[1:] {
		names = append(names, info.name)
	}
	return names
}

func (t Type) info() *typeInfo {
	if int(t) >= len(types) {
		return &types[0]
	}
	return &types[t]
}

// String returns the name, as a launch file writes it.
func (t Type) String() string {
	if name := t.info().name; name != "" {
		return name
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Size returns the bytes of one element; 0 for the zero Type.
func (t Type) Size() int { return t.info().size }

// IsFloat reports whether the type holds floating-point numbers.
func (t Type) IsFloat() bool { return t.info().class == floatClass }

// bits is the width of the type; types of at most 64 bits only.
func (t Type) bits() int { return 8 * t.Size() }

func (t Type) mask() uint64 { return math.MaxUint64 >> (64 - t.bits()) }

// floatFormat describes a binary floating-point format; inf is 0 where there
// is none (e4m3).
type floatFormat struct {
	exp, man            int
	maxFinite, inf, nan uint64
}

func (f floatFormat) bias() int { return 1<<(f.exp-1) - 1 }

func (f floatFormat) sign() uint64 { return 1 << (f.exp + f.man) }

// encode rounds v to nearest, ties to even. Past the largest finite number it
// gives infinity, or NaN where the format has no infinity.
func (f floatFormat) encode(v float64) uint64 {
	switch {
	case math.IsNaN(v):
		return f.nan
	case f.man == 52:
		return math.Float64bits(v)
	case f.man == 23:
		return uint64(math.Float32bits(float32(v)))
	}
	return f.round(v)
}

// round is encode for any format, except for NaN. encode converts wide formats in
// hardware, several times faster; a test compares the two.
func (f floatFormat) round(v float64) uint64 {
	var sign uint64
	if math.Signbit(v) {
		sign, v = f.sign(), -v
	}
	if v == 0 {
		return sign
	}
	over := f.inf
	if over == 0 {
		over = f.nan
	}
	if math.IsInf(v, 0) {
		return sign | over
	}
	_, exp := math.Frexp(v)
	e := max(exp-1, 1-f.bias())
	// v in units of its last place. The implicit bit, where there is one, adds
	// one to the exponent field below; so does a carry out of rounding.
	q := uint64(math.RoundToEven(math.Ldexp(v, f.man-e)))
	bits := uint64(e+f.bias()-1)<<f.man + q
	if bits > f.maxFinite {
		return sign | over
	}
	return sign | bits
}

// decode returns the value; every format here fits a float64.
func (f floatFormat) decode(bits uint64) float64 {
	mag := bits & (f.sign() - 1)
	v := 0.0
	switch e, m := int(mag>>f.man), mag&(1<<f.man-1); {
	case mag == f.inf && f.inf != 0:
		v = math.Inf(1)
	case mag > f.maxFinite:
		return math.NaN()
	case e == 0:
		v = math.Ldexp(float64(m), 1-f.bias()-f.man)
	default:
		v = math.Ldexp(float64(m|1<<f.man), e-f.bias()-f.man)
	}
	if bits&f.sign() != 0 {
		v = -v
	}
	return v
}

// encodeInt returns element i of a counting fill: integers keep the low bits.
func (t Type) encodeInt(i uint64) uint64 {
	if t.IsFloat() {
		return t.info().float.encode(float64(i))
	}
	return i & t.mask()
}

// signExtend interprets bits of a signed type.
func (t Type) signExtend(bits uint64) int64 {
	shift := 64 - t.bits()
	return int64(bits<<shift) >> shift
}

// Format formats one element: a number, with its bits if it is a NaN, or only the bits
// for bit types.
func (t Type) Format(bits uint64) string {
	switch t.info().class {
	case signedClass:
		return strconv.FormatInt(t.signExtend(bits), 10)
	case unsignedClass:
		return strconv.FormatUint(bits, 10)
	case floatClass:
		return t.formatFloat(bits)
	}
	return fmt.Sprintf("0x%0*x", 2*t.Size(), bits)
}

func (t Type) formatFloat(bits uint64) string {
	v := t.info().float.decode(bits)
	switch {
	case math.IsNaN(v):
		return fmt.Sprintf("nan (0x%0*x)", 2*t.Size(), bits)
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	case t == F64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 32)
}

// parseScalar reads the number that a node states for type t. A string or an integer that
// begins with 0x is a bit pattern, also for a float.
func parseScalar(t Type, n *Node) (uint64, error) {
	text := n.Text
	switch n.Kind {
	case IntNode, FloatNode:
	case StringNode:
		if !isHex(text) && !isSpecial(text) {
			return 0, errorf(n.Pos, "%s is no %s; %s", quote(text), t, t.numbers())
		}
	default:
		return 0, errorf(n.Pos, "want a number of type %s, not %s", t, n.Kind)
	}
	bits, msg := scalarBits(t, text)
	if msg != "" {
		return 0, errorf(n.Pos, "%s", msg)
	}
	return bits, nil
}

// numbers says what the elements of a type are written as.
func (t Type) numbers() string {
	if t.IsFloat() {
		return "a number, nan, inf, -inf or 0x… bits are"
	}
	return "a whole number or 0x… bits are"
}

func isHex(s string) bool { return strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") }

// isSpecial also accepts YAML's spelling, with a dot.
func isSpecial(s string) bool {
	switch strings.TrimPrefix(strings.TrimLeft(s, "+-"), ".") {
	case "nan", "inf", "NaN", "Inf", "NAN", "INF":
		return len(s) <= 5
	}
	return false
}

// scalarBits encodes the text of a number; msg is the error.
func scalarBits(t Type, text string) (bits uint64, msg string) {
	switch {
	case t.info().class == opaqueClass:
		return 0, fmt.Sprintf("%s is no number type", t)
	case isHex(text):
		return hexBits(t, text)
	case t.IsFloat():
		return floatBits(t, text)
	}
	return intBits(t, text)
}

func hexBits(t Type, text string) (uint64, string) {
	bits, err := strconv.ParseUint(text[2:], 16, 64)
	if err != nil && len(strings.Trim(text[2:], "0123456789abcdefABCDEF")) > 0 || len(text) == 2 {
		return 0, fmt.Sprintf("%s is no bit pattern", quote(text))
	}
	if err != nil || bits > t.mask() {
		return 0, fmt.Sprintf("%s has more bits than %s", quote(text), t)
	}
	return bits, ""
}

func floatBits(t Type, text string) (uint64, string) {
	f := t.info().float
	if isSpecial(text) {
		v, err := strconv.ParseFloat(strings.Replace(text, ".", "", 1), 64)
		if err != nil {
			return 0, fmt.Sprintf("%s is no number", quote(text))
		}
		if math.IsInf(v, 0) && f.inf == 0 {
			return 0, fmt.Sprintf("%s has no infinity", t)
		}
		return f.encode(v), ""
	}
	if strings.ContainsAny(text, "xX_") {
		return 0, fmt.Sprintf("%s is no number", quote(text))
	}
	size := 64
	if t == F32 {
		size = 32 // round once, from the decimal
	}
	v, err := strconv.ParseFloat(text, size)
	bits := f.encode(v)
	if v == 0 && strings.HasPrefix(text, "-") {
		bits = f.sign() // -0 was written so
	}
	switch {
	case err != nil && !math.IsInf(v, 0):
		return 0, fmt.Sprintf("%s is no number", quote(text))
	case err != nil || bits&^f.sign() > f.maxFinite:
		return 0, fmt.Sprintf("%s is too large for %s, whose largest is %s", quote(text), t, t.Format(f.maxFinite))
	}
	return bits, ""
}

func intBits(t Type, text string) (uint64, string) {
	digits := strings.TrimLeft(text, "+-")
	if len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		return 0, fmt.Sprintf("%s begins with 0: write 0o for octal, or leave it out", quote(text))
	}
	neg := strings.HasPrefix(text, "-")
	mag, err := strconv.ParseUint(digits, 0, 64)
	switch {
	case err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()), len(text)-len(digits) > 1:
		return 0, fmt.Sprintf("%s is no integer; %s is an integer type", quote(text), t)
	case err != nil || !inRange(t, neg, mag):
		lo, hi := t.limits()
		return 0, fmt.Sprintf("%s is out of range for %s, %s to %s", quote(text), t, lo, hi)
	case neg:
		mag = -mag
	}
	return mag & t.mask(), ""
}

func inRange(t Type, neg bool, mag uint64) bool {
	switch {
	case t.info().class != signedClass:
		return mag <= t.mask() && (!neg || mag == 0)
	case neg:
		return mag <= t.mask()/2+1
	}
	return mag <= t.mask()/2
}

func (t Type) limits() (lo, hi string) {
	if t.info().class == signedClass {
		return t.Format(t.mask()/2 + 1), t.Format(t.mask() / 2)
	}
	return "0", strconv.FormatUint(t.mask(), 10)
}
