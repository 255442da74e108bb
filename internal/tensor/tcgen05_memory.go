package tensor

import "fmt"

// Tensor memory of a CTA: cells of 32 bits in lanes and columns (ISA 9.7.18.1).
const (
	TensorLanes   = 128
	TensorColumns = 512
)

// A tensor address has the lane in its upper and the column in its lower half
// (ISA 9.7.18.1.1). A CTA's tensor memory is kept as bytes, column by column: a
// warp's 32 lanes of a column are 128 bytes together, and columns follow each
// other. Spans of tensor memory are of this space.
const (
	laneBytes   = 4
	columnBytes = TensorLanes * laneBytes
)

// TensorBytes is the size of a CTA's tensor memory.
const TensorBytes = TensorColumns * columnBytes

// TensorAddress is the address of a cell.
func TensorAddress(lane, column int) uint32 { return uint32(lane)<<16 | uint32(column) }

// TensorCell is the cell that an address names.
func TensorCell(addr uint32) (lane, column int) { return int(addr >> 16), int(addr & 0xffff) }

// TensorOffset is where a cell's four bytes begin.
func TensorOffset(lane, column int) uint32 {
	return uint32(column)*columnBytes + uint32(lane)*laneBytes
}

// A run is lanes that follow each other.
type run struct{ first, n int }

var allLanes = []run{{0, TensorLanes}}

// cellSpans are the bytes of the runs' lanes, which ascend and do not touch, in
// columns that follow each other.
func cellSpans(runs []run, column, columns int) []Span {
	if len(runs) == 0 || columns == 0 {
		return nil
	}
	if runs[0].n == TensorLanes {
		return []Span{{TensorOffset(0, column), uint32(columns) * columnBytes}}
	}
	spans := make([]Span, 0, len(runs)*columns)
	for c := range columns {
		for _, r := range runs {
			s := Span{TensorOffset(r.first, column+c), uint32(r.n) * laneBytes}
			if n := len(spans); n > 0 && spans[n-1].Addr+spans[n-1].Len == s.Addr {
				spans[n-1].Len += s.Len
			} else {
				spans = append(spans, s)
			}
		}
	}
	return spans
}

// within removes from runs the lanes whose bit is set in off, which has 128 bits.
func within(runs []run, off []uint32) []run {
	var out []run
	for _, r := range runs {
		for lane := r.first; lane < r.first+r.n; lane++ {
			if off[lane/32]>>(lane%32)&1 != 0 {
				continue
			}
			if n := len(out); n > 0 && out[n-1].first+out[n-1].n == lane {
				out[n-1].n++
			} else {
				out = append(out, run{lane, 1})
			}
		}
	}
	return out
}

// checkColumns says that columns from one on lie in tensor memory.
func checkColumns(what string, column, columns int) error {
	if column < 0 || column+columns > TensorColumns {
		return fmt.Errorf("%s has columns %d to %d, where tensor memory has columns 0 to %d (ISA 9.7.18.1)", what, column, column+columns-1, TensorColumns-1)
	}
	return nil
}
