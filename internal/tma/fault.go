package tma

import "fmt"

// BoxAlign is the alignment of a box in shared memory in every copy, whatever its
// swizzle or interleave (misaligned address otherwise). The ISA requires more for
// a swizzle that repeats at more (Swizzle.Align) and with 32-byte interleave; the
// card swizzles by address.
const BoxAlign = 128

// A FaultError says why the card ends a launch at a copy through a map that the
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
	bad := func(_ Rule, format string, args ...any) error { return fault(format, args...) }
	if err := m.checkElements(bad); err != nil {
		return err
	}
	return m.checkRow(bad)
}

// CheckLoad gives a *FaultError if a load or a prefetch faults.
func (m *Map) CheckLoad(a Access) error {
	if m.Type == B6x16P32 && m.Swizzle == Swizzle128Atom64 {
		return fault("a load of type %s with swizzle %s, which only stores have", m.Type, m.Swizzle)
	}
	if err := m.checkCoords(a); err != nil || !m.Mode.wide() {
		return err
	}
	for i, o := range a.wide() {
		limits := [2]int64{512, 32}
		if m.Mode == Im2colW128 {
			limits[0] = 32
		}
		if o >= limits[i] {
			return fault("%s is %d, not below %d", [2]string{"wHalo", "wOffset"}[i], o, limits[i])
		}
	}
	return nil
}

// checkFour checks a map for .tile::gather4 and .tile::scatter4 (ISA 5.5.3.4).
func (m *Map) checkFour() error {
	switch {
	case m.Rank != 2 || m.Mode != Tiled:
		return fault("four rows through a map that is not tiled or not of 2 dimensions")
	case m.Box[1] != 1:
		return fault("four rows through a map whose box has %d rows, not 1", m.Box[1])
	}
	return nil
}

// checkCoords checks what loads and stores have in common.
func (m *Map) checkCoords(a Access) error {
	coords := a.Coords
	if a.Four {
		if err := m.checkFour(); err != nil {
			return err
		}
	}
	if m.Interleave == InterleaveNone {
		at := int64(coords[0]) * int64(types[m.Type].bits)
		switch {
		case m.Type.padded() && coords[0]%paddedRow != 0:
			return fault("innermost coordinate %d is not a multiple of %d, which type %s asks for", coords[0], paddedRow, m.Type)
		case at%128 != 0:
			return fault("innermost coordinate %d is at byte %v, not a multiple of 16", coords[0], float64(at)/8)
		}
	}
	if m.Mode == Tiled {
		return nil
	}
	if m.Mode.wide() { // left of the bounding box it may begin (ISA 5.5.5.1)
		if c := int64(coords[1]); c > m.last(0) {
			return fault("W coordinate %d is beyond the bounding box, %d to %d", c, m.Lower[0], m.last(0))
		}
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

// CheckStore gives a *FaultError if a store or reduction faults.
func (m *Map) CheckStore(a Access) error {
	switch {
	case m.Type == B4x16P64:
		return fault("a store of type %s, which only loads have", m.Type)
	case m.Swizzle == Swizzle128Atom32Flip8:
		return fault("a store with swizzle %s, which only loads have", m.Swizzle)
	case m.Mode.wide():
		return fault("a store through a map of mode im2col::w, which only loads have")
	}
	if err := m.checkCoords(a); err != nil {
		return err
	}
	coords := a.Coords
	if !a.Four {
		coords = coords[:m.Rank]
	}
	for i, c := range coords {
		if c < 0 {
			return fault("a store at coordinate %d of %s", c, dimension(min(i, m.Rank-1)))
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
