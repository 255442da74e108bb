package tma

import "fmt"

// BoxAlign is the alignment of a box in shared memory in every copy, whatever its
// swizzle or interleave (misaligned address otherwise). The ISA requires more for
// a swizzle that repeats at more (Swizzle.Align) and with 32-byte interleave; the
// card swizzles by address.
const BoxAlign = 128

// A FaultError says why the H200 ends a launch at a copy through a map that the
// driver accepted, or that no driver made.
type FaultError struct {
	Text       string
	Misaligned bool // a misaligned address, not an illegal instruction
}

func (e *FaultError) Error() string { return e.Text }

func fault(format string, args ...any) error {
	return &FaultError{Text: fmt.Sprintf(format, args...)}
}

// checkCard returns a *FaultError for a map through which every copy faults. It
// is weaker than Check: the card checks neither the box's size nor a swizzle with
// interleave. In one point it is stricter: the driver accepts dimensions that the
// card does not.
func (m *Map) checkCard() error {
	if err := m.checkKinds(); err != nil {
		return fault("%v", err)
	}
	unit := m.unit()
	if m.Address%unit != 0 {
		return &FaultError{Text: fmt.Sprintf("address %#x is not a multiple of %d", m.Address, unit), Misaligned: true}
	}
	for i := range m.Rank {
		if m.Dims[i] > 1<<31 {
			return fault("%s is %d, more than the 2^31 that a copy takes", dimension(i), m.Dims[i])
		}
		if i > 0 && m.Strides[i-1]%unit != 0 {
			return fault("the stride of %s is %d bytes, not a multiple of %d", dimension(i), m.Strides[i-1], unit)
		}
	}
	if m.Interleave != InterleaveNone {
		return nil
	}
	return m.checkRow(func(_ Rule, format string, args ...any) error { return fault(format, args...) })
}

// CheckLoad gives a *FaultError if a load or a prefetch at these coordinates
// faults.
func (m *Map) CheckLoad(coords []int32) error {
	if m.Interleave == InterleaveNone {
		if at := int64(coords[0]) * int64(m.Type.Size()); at%16 != 0 {
			return fault("innermost coordinate %d is at byte %d, not a multiple of 16", coords[0], at)
		}
	}
	if m.Mode == Tiled {
		return nil
	}
	for i := range m.Rank - 2 {
		c := int64(coords[m.spatial()+i])
		if c < int64(m.Lower[i]) || c > m.last(i) {
			return fault("%c coordinate %d is outside the bounding box, %d to %d", "WHD"[i], c, m.Lower[i], m.last(i))
		}
	}
	return nil
}

// CheckStore gives a *FaultError if a store or reduction at these coordinates
// faults.
func (m *Map) CheckStore(coords []int32) error {
	if err := m.CheckLoad(coords); err != nil {
		return err
	}
	for i, c := range coords[:m.Rank] {
		if c < 0 {
			return fault("a store at coordinate %d of %s", c, dimension(i))
		}
	}
	if m.Mode == Tiled {
		return nil
	}
	for i := range m.Rank - 2 {
		if m.Lower[i] < 0 || m.Upper[i] > 0 {
			return fault("a store with a bounding box beyond the tensor: corners %d and %d of %c", m.Lower[i], m.Upper[i], "WHD"[i])
		}
	}
	return nil
}
