package tma

import "fmt"

// A Rule is a reason for which the driver refuses a map with
// CUDA_ERROR_INVALID_VALUE. The driver gives no reason; these were found by
// trying.
type Rule uint8

const (
	RuleType          Rule = iota + 1 // a known type
	RuleRank                          // 1 to 5, and at least 3 for im2col and interleave
	RuleEnum                          // a known interleave, swizzle, L2 promotion, fill
	RuleNaN                           // NaN fills floating-point types only
	RuleAddress                       // a multiple of 16, of 32 with interleave 32B, below 2^57
	RuleDim                           // 1 to 2^32
	RuleStride                        // a multiple of 16, of 32 with interleave 32B, below 2^40
	RuleElementStride                 // 1 to 8
	RuleBox                           // 1 to 256
	RuleInner                         // the inner row a multiple of 16 bytes
	RuleSpan                          // the inner row at most the span of the swizzle, without interleave
	RuleBoxBytes                      // at most MaxBoxBytes
	RuleCorner                        // corners in the range of the rank
	RulePixels                        // 1 to 1024
	RuleChannels                      // 1 to 256
	RuleBoundingBox                   // not empty
	RuleSubByte                       // what an element smaller than a byte asks for
	RuleSwizzle                       // a swizzle that goes with the type, the mode and the interleave
)

// A RefusedError says why the driver would refuse a map.
type RefusedError struct {
	Rule Rule
	Text string
}

func (e *RefusedError) Error() string { return e.Text }

func refuse(r Rule, format string, args ...any) error {
	return &RefusedError{r, fmt.Sprintf(format, args...)}
}

// dimension names a dimension in a message, whose reader may list dimensions in either
// order.
func dimension(i int) string {
	if i == 0 {
		return "the innermost dimension"
	}
	return fmt.Sprintf("dimension %d from the innermost", i)
}

// Check gives a *RefusedError if the driver would refuse m. What the card accepts
// differs: see Read.
func (m *Map) Check() error {
	for _, f := range [...]func(*Map) error{(*Map).checkKinds, (*Map).checkTensor, (*Map).checkBox} {
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

func (m *Map) checkKinds() error {
	switch {
	case int(m.Type) >= len(types):
		return refuse(RuleType, "a map has no type %d", m.Type)
	case m.Rank < 1 || m.Rank > 5:
		return refuse(RuleRank, "rank %d is not in 1 to 5", m.Rank)
	case m.Mode > Im2colW128 || m.Interleave > Interleave32 || int(m.Swizzle) >= len(swizzles) || m.L2 > L2Fetch256 || m.Fill > FillNaN:
		return refuse(RuleEnum, "no such mode, interleave, swizzle, L2 promotion or fill")
	case m.Rank < 3 && m.Mode != Tiled:
		return refuse(RuleRank, "rank %d is below 3, which im2col mode needs", m.Rank)
	case m.Rank < 3 && m.Interleave != InterleaveNone:
		return refuse(RuleRank, "rank %d is below 3, which an interleaved layout needs", m.Rank)
	case m.Fill == FillNaN && !m.Type.Float():
		return refuse(RuleNaN, "type %s cannot be filled with NaN", m.Type)
	}
	return m.checkSwizzle()
}

// checkSwizzle checks what the newer swizzles, types and modes have together: of the
// older ones the driver takes each with each.
func (m *Map) checkSwizzle() error {
	s := m.Swizzle
	switch {
	case s == Swizzle96 && (m.Interleave != InterleaveNone || m.Type.padded() || m.Mode == Im2colW128): // ISA 9.7.10.28.5.1
		return refuse(RuleSwizzle, "swizzle 96B goes with no interleaved layout, no type %s and %s, and no mode im2col::w::128", B4x16P64, B6x16P32)
	case m.Mode.wide() && m.Interleave != InterleaveNone: // ISA 5.5.6
		return refuse(RuleSwizzle, "mode im2col::w has no interleaved layout")
	case m.Mode.wide() && s != Swizzle64 && s != Swizzle128 && s != Swizzle128Atom32 && s != Swizzle96:
		return refuse(RuleSwizzle, "mode im2col::w has no swizzle %s", s)
	case m.Type.padded() && m.Interleave != InterleaveNone:
		return refuse(RuleSubByte, "type %s has no interleaved layout", m.Type)
	case m.Type == B4x16P64 && s != SwizzleNone && s != Swizzle128 && s != Swizzle128Atom32,
		m.Type == B6x16P32 && s != SwizzleNone && s != Swizzle128 && s != Swizzle128Atom32 && s != Swizzle128Atom64:
		return refuse(RuleSwizzle, "type %s has no swizzle %s", m.Type, s)
	}
	return nil
}

// unit returns the alignment of address and strides in bytes.
func (m *Map) unit() uint64 {
	if m.Interleave == Interleave32 || m.Type.padded() {
		return 32
	}
	return 16
}

func (m *Map) checkTensor() error {
	unit := m.unit()
	if m.Address%unit != 0 || m.Address>>57 != 0 {
		return refuse(RuleAddress, "address %#x is not a multiple of %d below 2^57", m.Address, unit)
	}
	for i := range m.Rank {
		if m.Dims[i] < 1 || m.Dims[i] > 1<<32 {
			return refuse(RuleDim, "%s is %d, not in 1 to 2^32", dimension(i), m.Dims[i])
		}
		if s := m.ElementStrides[i]; s < 1 || s > 8 {
			return refuse(RuleElementStride, "the element stride of %s is %d, not in 1 to 8", dimension(i), s)
		}
		if i > 0 && (m.Strides[i-1]%unit != 0 || m.Strides[i-1]>>40 != 0) {
			return refuse(RuleStride, "the stride of %s is %d bytes, not a multiple of %d below 2^40", dimension(i), m.Strides[i-1], unit)
		}
	}
	return m.checkElements(refuse)
}

// paddedRow is how many elements a row of padded groups has: in a box, and the tensor a
// multiple of it.
const paddedRow = 128

// checkElements checks numbers of elements that are smaller than a byte.
func (m *Map) checkElements(bad func(Rule, string, ...any) error) error {
	inner := m.Box[0]
	if m.Mode != Tiled {
		inner = m.Channels
	}
	switch {
	case m.Type == B4x16 && m.Dims[0]%2 != 0:
		return bad(RuleSubByte, "the innermost dimension has %d elements of type %s, not a multiple of 2", m.Dims[0], m.Type)
	case m.Type.padded() && m.Dims[0]%paddedRow != 0:
		return bad(RuleSubByte, "the innermost dimension has %d elements of type %s, not a multiple of %d", m.Dims[0], m.Type, paddedRow)
	case m.Type.padded() && inner != paddedRow:
		return bad(RuleSubByte, "the box is %d elements of type %s wide, not %d", inner, m.Type, paddedRow)
	}
	return nil
}

func (m *Map) checkBox() error {
	if m.Mode != Tiled {
		if err := m.checkPixels(); err != nil {
			return err
		}
	} else {
		for i, b := range m.Box[:m.Rank] {
			if b < 1 || b > 256 {
				return refuse(RuleBox, "the box of %s is %d, not in 1 to 256", dimension(i), b)
			}
		}
	}
	if err := m.checkRow(refuse); err != nil {
		return err
	}
	if n := m.boxBytes(); n > MaxBoxBytes {
		return refuse(RuleBoxBytes, "the box has %d bytes, more than %d", n, MaxBoxBytes)
	}
	return nil
}

// checkRow checks the innermost row of a box. So does the driver with interleave
// too, where that row has no meaning.
func (m *Map) checkRow(bad func(Rule, string, ...any) error) error {
	inner := m.Box[0]
	if m.Mode != Tiled {
		inner = m.Channels
	}
	row := int(inner) * types[m.Type].bits
	if row%128 != 0 {
		return bad(RuleInner, "the box is %v bytes wide, not a multiple of 16", float64(row)/8)
	}
	row /= 8
	if m.Type.padded() {
		row = int(inner)
	}
	if m.Interleave == InterleaveNone && m.Swizzle != SwizzleNone && row > m.Swizzle.Span() {
		return bad(RuleSpan, "the box is %d bytes wide, more than the %d of its swizzle", row, m.Swizzle.Span())
	}
	return nil
}

func (m *Map) checkPixels() error {
	if m.Channels < 1 || m.Channels > 256 {
		return refuse(RuleChannels, "%d channels per pixel is not in 1 to 256", m.Channels)
	}
	if m.Mode != Im2colW128 && (m.Pixels < 1 || m.Pixels > 1024) {
		return refuse(RulePixels, "%d pixels per column is not in 1 to 1024", m.Pixels)
	}
	lim := int32(1) << (m.cornerBits() - 1)
	for i := range m.corners() {
		lo, up := m.Lower[i], m.Upper[i]
		if lo < -lim || lo >= lim || up < -lim || up >= lim {
			return refuse(RuleCorner, "corners %d and %d are not both in %d to %d, which rank %d asks for", lo, up, -lim, lim-1, m.corners()+2)
		}
		// The driver computes in 32 bits, so whether it refuses a dimension
		// beyond 2^31 depends on the corners.
		if int32(uint32(m.Dims[m.spatial()+i])+uint32(up)-uint32(lo)) <= 0 {
			return refuse(RuleBoundingBox, "the bounding box is empty: %c has %d, the corners are %d and %d", "WHD"[i], m.Dims[m.spatial()+i], lo, up)
		}
	}
	return nil
}
