package tensor

import (
	"encoding/binary"
	"fmt"
)

// Sparse A (ISA 9.7.18.10.8). Half of a row is stored, and a nibble of metadata for
// each chunk of it says which half, two indices of two bits:
//
//	f16, f8f6f4, mxf8f6f4, i8   2 of 4 elements; an index an element
//	mxf4, mxf4nvf4              2 of 4 pairs of elements; an index a pair
//	tf32                        1 of 2 elements: 0b0100 the first, 0b1110 the second
//
// The metadata lies in tensor memory. Where an element has 16 or 32 bits it has one
// column: in each 16 lanes that D has rows of, lane r%8 + 8·(n/4) has nibble n of row
// r in bits 4·(n%4) and, of the last eight rows, 16 more. Else it has two columns:
// nibble n of row r is in that row's lane of D, column n/8, bits 4·(n%8).
//
// Under layouts E and G each group of D's columns has a copy of its own, as of A.
//
// The figures are replaced by CuTe's tmem_e_frg and tmem_e_frg_ws, of which the first has M of 128 a CTA. For M of 64
// (layouts C and F), whose rows are 16 of each 32 lanes, that is assumed. A sparsity
// selector other than 0 is in figures only, and CUTLASS has none.

// checkSparsity checks the fields of the descriptor about a sparse A.
func (t *TCGen05) checkSparsity() error {
	const table = "9.7.18.4.2"
	d := t.Desc
	switch sparse := d>>2&1 != 0; {
	case sparse && !t.Sparse:
		return t.bad(table, "sparsity", "2", 1, "tcgen05.mma without .sp wants 0, dense")
	case !sparse && t.Sparse:
		return t.bad(table, "sparsity", "2", 0, "tcgen05.mma.sp wants 1, sparse")
	case d&3 == 0 || t.blockScaled():
		return nil
	case !sparse:
		return t.bad(table, "sparsity selector", "0-1", d&3, "a dense A has none: it must be 0")
	case t.Kind == "f8f6f4" || t.Kind == "i8":
		return t.bad("9.7.18.10.8.4.5", "sparsity selector", "0-1", d&3, "kind %s has none: it must be 0", t.Kind)
	}
	return fmt.Errorf("tcgen05.mma.sp with a sparsity selector other than 0, whose place is in figures of the ISA only (9.7.18.10.8.4), is %w", ErrNotModelled)
}

// wideMeta reports whether the metadata of a row lies in one lane.
func (t *TCGen05) wideMeta() bool { return widthOf[t.A] == 8 }

// Nibbles is how many nibbles of metadata a row of A has: none of a dense A.
func (t *TCGen05) Nibbles() int {
	switch {
	case !t.Sparse:
		return 0
	case t.wideMeta():
		return 16
	}
	return 8
}

// ColumnsMeta is how many columns the metadata has.
func (t *TCGen05) ColumnsMeta() int { return t.Nibbles() / 8 }

// CellMeta is the CTA of a nibble of metadata of a row, its cell relative to the
// metadata's address, and its first bit.
func (t *TCGen05) CellMeta(m, n int) (cta, lane, column, bit int) {
	cta, lane, _ = t.CellD(m, 0)
	if t.wideMeta() {
		return cta, lane, n / 8, n % 8 * 4
	}
	r := m % 16
	return cta, lane - r + r%8 + n/4*8, 0, n%4*4 + r/8*16
}

// CopiesMeta are the lanes from one copy of the metadata to the others.
func (t *TCGen05) CopiesMeta() (lanes []int) {
	for i := range t.groups() {
		lanes = append(lanes, i*t.Rows())
	}
	return lanes
}

// SpansMeta returns the bytes of tensor memory that hold the metadata, the same in each
// CTA. None of a dense A.
func (t *TCGen05) SpansMeta(taddr uint32) []Span {
	if !t.Sparse {
		return nil
	}
	_, column := TensorCell(taddr)
	return cellSpans(t.lanes(taddr), column, t.ColumnsMeta())
}

// CheckMetaAt says in one sentence why the ISA forbids an address of metadata with
// that of D.
func (t *TCGen05) CheckMetaAt(taddr, d uint32) error {
	if !t.Sparse {
		return nil
	}
	if err := t.checkTensor("metadata", taddr, t.ColumnsMeta()); err != nil {
		return err
	}
	return t.sameLane("metadata", taddr, d)
}

// readMeta reads the metadata of one CTA, and decodes what the stored elements meet.
func (t *TCGen05) readMeta(s *tcScratch, x *TCGen05Call, cta int) {
	if !t.Sparse {
		return
	}
	t.readCells(s.meta[:], x, cta, x.Meta, t.SpansMeta(x.Meta))
	lane0, _ := TensorCell(x.Meta)
	k := t.stored()
	for i := range t.Rows() * t.groups() {
		r, lane0 := i%t.Rows(), lane0+i/t.Rows()*t.Rows()
		met := s.met[i*k:][:k]
		for n := range t.Nibbles() {
			low, high := t.nibble(s, lane0, r, n)
			switch {
			case t.packed():
				copy(met[4*n:], []uint8{uint8(8*n) + 2*low, uint8(8*n) + 2*low + 1, uint8(8*n) + 2*high, uint8(8*n) + 2*high + 1})
			case t.A == TF32:
				met[n] = uint8(2*n) + high>>1
			default:
				met[2*n], met[2*n+1] = uint8(4*n)+low, uint8(4*n)+high
			}
		}
	}
}

// nibble is the two indices of a chunk of a row of the CTA.
func (t *TCGen05) nibble(s *tcScratch, lane0, row, n int) (low, high uint8) {
	_, lane, column, bit := t.CellMeta(row, n)
	x := uint8(binary.LittleEndian.Uint32(s.meta[TensorOffset(lane0+lane, column):]) >> bit & 15)
	return x & 3, x >> 2
}

// CheckMeta says in one sentence that metadata of one CTA is none of the values that
// the ISA defines: read copies bytes of its tensor memory, those of SpansMeta.
func (t *TCGen05) CheckMeta(taddr uint32, read func(addr uint32, b []byte)) error {
	if !t.Sparse {
		return nil
	}
	s := tcScratches.Get().(*tcScratch)
	defer tcScratches.Put(s)
	t.readCells(s.meta[:], &TCGen05Call{ReadTensor: func(_ int, addr uint32, b []byte) { read(addr, b) }}, 0, taddr, t.SpansMeta(taddr))
	lane0, column0 := TensorCell(taddr)
	for i := range t.Rows() * t.groups() {
		r, lane0 := i%t.Rows(), lane0+i/t.Rows()*t.Rows()
		for n := range t.Nibbles() {
			low, high := t.nibble(s, lane0, r, n)
			x := high<<2 | low
			if t.A == TF32 && x == 0b0100 || x == 0b1110 || t.A != TF32 && low != high && (low < high || x == 0b0110) {
				continue
			}
			want := "0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110 and 0b1110 are"
			if t.A == TF32 {
				want = "0b0100 and 0b1110 are"
			}
			_, lane, column, bit := t.CellMeta(r, n)
			return fmt.Errorf("sparse metadata of row %d of A is 0b%04b in bits %d-%d of lane %d, column %d, where %s defined (ISA 9.7.18.10.8)",
				r, x, bit, bit+3, lane0+lane, column0+column, want)
		}
	}
	return nil
}
