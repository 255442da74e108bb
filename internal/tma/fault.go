package tma

import "fmt"

// A FaultError says why the H200 ends a launch with an illegal instruction at a
// copy whose map the driver took.
type FaultError struct{ Text string }

func (e *FaultError) Error() string { return e.Text }

// CheckLoad gives a *FaultError if a load at these coordinates faults.
func (m *Map) CheckLoad(coords []int32) error {
	if m.Interleave == InterleaveNone {
		if at := int64(coords[0]) * int64(m.Type.Size()); at%16 != 0 {
			return &FaultError{fmt.Sprintf("innermost coordinate %d is at byte %d, not a multiple of 16", coords[0], at)}
		}
	}
	if m.Mode == Tiled {
		return nil
	}
	for i := range m.Rank - 2 {
		c := int64(coords[m.spatial()+i])
		if c < int64(m.Lower[i]) || c > m.last(i) {
			return &FaultError{fmt.Sprintf("%c coordinate %d is outside the bounding box, %d to %d", "WHD"[i], c, m.Lower[i], m.last(i))}
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
			return &FaultError{fmt.Sprintf("a store at coordinate %d of dimension %d", c, i)}
		}
	}
	if m.Mode == Tiled {
		return nil
	}
	for i := range m.Rank - 2 {
		if m.Lower[i] < 0 || m.Upper[i] > 0 {
			return &FaultError{fmt.Sprintf("a store with a bounding box beyond the tensor: corners %d and %d of %c", m.Lower[i], m.Upper[i], "WHD"[i])}
		}
	}
	return nil
}
