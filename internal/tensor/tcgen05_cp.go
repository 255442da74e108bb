package tensor

import (
	"fmt"
	"sync"
)

// A TensorCopy is one form of tcgen05.cp (ISA 9.7.18.9.2): rows of 128 or 256 bits in shared memory, K-major as its descriptor places them,
// are copied to lanes of tensor memory, four or eight columns. Which lanes is
// taken from CuTe's traits of these copies:
//
//	128x256b, 128x128b   row r to lane r
//	4x256b               row r to lane 32r, from taddr's lane on
//	64x128b.warpx2::02_13  row r to lanes r and r+64
//	64x128b.warpx2::01_23  row r to lanes r and r+32; from row 32 on, r+32 and r+64
//	32x128b.warpx4       row r to lanes r, r+32, r+64 and r+96
//
// With decompression a row has groups of 16 elements of 4 bits and 8 bytes of
// padding, or of 6 bits and 4 bytes, and each element goes to the low bits of a
// byte, whose other bits become zero. The ISA has figures of that (9.7.18.9.1), to
// which ldmatrix refers for the same formats; of ldmatrix CUTLASS says so
// (mma_traits_sm120.hpp). Padding is not read.
//
// Both CTAs of .cta_group::2 do the same, each in its own memories. That the
// source of 4x256b is the first four rows of a group of eight is assumed.
//
// A TensorCopy is immutable, and may be used by many goroutines.
type TensorCopy struct {
	Shape, Multicast string
	Format           string // of the source: "", b4x16_p64 or b6x16_p32
	Rows, Columns    int
	o                operand
	lanes            [][]int // by row
	runs             []run   // all of them
}

// NewTensorCopy returns a form, or an error that says why the ISA has none.
func NewTensorCopy(shape, multicast, format string) (*TensorCopy, error) {
	c := &TensorCopy{Shape: shape, Multicast: multicast, Format: format, Columns: 4, runs: allLanes}
	var lanes func(row int) []int
	switch shape + " " + multicast {
	case "128x256b ", "128x128b ":
		c.Rows, lanes = 128, func(r int) []int { return []int{r} }
	case "4x256b ":
		c.Rows, lanes = 4, func(r int) []int { return []int{32 * r} }
		c.runs = []run{{0, 1}, {32, 1}, {64, 1}, {96, 1}}
	case "64x128b warpx2::02_13":
		c.Rows, lanes = 64, func(r int) []int { return []int{r, r + 64} }
	case "64x128b warpx2::01_23":
		c.Rows, lanes = 64, func(r int) []int { return []int{r + r/32*32, r + r/32*32 + 32} }
	case "32x128b warpx4":
		c.Rows, lanes = 32, func(r int) []int { return []int{r, r + 32, r + 64, r + 96} }
	default:
		return nil, fmt.Errorf("tcgen05.cp has no shape %s with multicast %q: 64x128b has warpx2::02_13 or warpx2::01_23, 32x128b has warpx4, and 128x256b, 4x256b, 128x128b have none (ISA 9.7.18.9.2)", shape, multicast)
	}
	if shape == "128x256b" || shape == "4x256b" {
		c.Columns = 8
	}
	for r := range c.Rows {
		c.lanes = append(c.lanes, lanes(r))
	}
	c.o = operand{rows: c.Rows, width: c.Columns * laneBytes}
	switch format {
	case "":
	case "b4x16_p64":
		c.o.pad = 8
	case "b6x16_p32":
		c.o.pad = 4
	default:
		return nil, fmt.Errorf("tcgen05.cp has no source format %q: b4x16_p64 and b6x16_p32 are decompressed to b8x16 (ISA 9.7.18.9.2)", format)
	}
	return c, nil
}

// Lanes are the lanes that a row is copied to, relative to taddr.
func (c *TensorCopy) Lanes(row int) []int { return c.lanes[row] }

// SpansShared returns the bytes of a CTA's shared window that are read.
func (c *TensorCopy) SpansShared(desc uint64) []Span {
	return spansOf(TensorDescriptor(desc).canonical(), &c.o)
}

// SpansTensor returns the bytes of a CTA's tensor memory that are written.
func (c *TensorCopy) SpansTensor(taddr uint32) []Span {
	lane, column := TensorCell(taddr)
	runs := c.runs
	if lane != 0 {
		runs = nil
		for _, r := range c.runs {
			runs = append(runs, run{r.first + lane, r.n})
		}
	}
	return cellSpans(runs, column, c.Columns)
}

// CheckShared says in one sentence why the ISA forbids a descriptor, or wraps
// ErrNotModelled.
func (c *TensorCopy) CheckShared(desc uint64) error {
	d := TensorDescriptor(desc)
	if err := d.Check(); err != nil {
		return err
	}
	if d.Absolute() {
		return fmt.Errorf("shared memory descriptor 0x%016x has leading dimension mode 1 in bit 52, an absolute address, which only K of 96 of tcgen05.mma has, on sm_103a (ISA 9.7.18.4.1)", desc)
	}
	if d.Wide() {
		return fmt.Errorf("shared memory descriptor 0x%016x has swizzling mode 1 for a copy, whose K-major matrix has no layout in the ISA: %w", desc, ErrNotModelled)
	}
	return nil
}

// CheckTensor says in one sentence that the destination does not lie in tensor
// memory.
func (c *TensorCopy) CheckTensor(taddr uint32) error {
	lane, column := TensorCell(taddr)
	last := c.runs[len(c.runs)-1]
	if last.first+last.n+lane > TensorLanes {
		return fmt.Errorf("shape %s at tensor address 0x%08x writes up to lane %d, where tensor memory has lanes 0 to %d (ISA 9.7.18.1)", c.Shape, taddr, last.first+last.n+lane-1, TensorLanes-1)
	}
	return checkColumns(fmt.Sprintf("shape %s at tensor address 0x%08x", c.Shape, taddr), column, c.Columns)
}

// A copyScratch is the scratch memory of one Copy.
type copyScratch struct {
	raw  [128*32 + 16]byte
	rows [128 * 32]byte
	cell [8 * columnBytes]byte
}

var copyScratches = sync.Pool{New: func() any { return new(copyScratch) }}

// Copy copies in one CTA: read copies bytes of its shared window, the ranges of
// SpansShared, and write takes bytes of its tensor memory, those of SpansTensor.
func (c *TensorCopy) Copy(taddr uint32, desc uint64, read, write func(addr uint32, b []byte)) {
	s := copyScratches.Get().(*copyScratch)
	defer copyScratches.Put(s)
	l, base := placeOf(TensorDescriptor(desc).canonical(), &c.o)
	l.read(s.raw[:], base, read)
	l.gather(s.rows[:], s.raw[:], &c.o)
	lane, column := TensorCell(taddr)
	for r, to := range c.lanes {
		row := s.rows[r*c.o.width:][:c.o.width]
		for i := range c.Columns {
			for _, to := range to {
				*(*[laneBytes]byte)(s.cell[TensorOffset(lane+to, i):]) = [laneBytes]byte(row[laneBytes*i:])
			}
		}
	}
	for _, p := range c.SpansTensor(taddr) {
		write(p.Addr, s.cell[p.Addr-TensorOffset(0, column):][:p.Len])
	}
}
