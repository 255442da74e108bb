package tensor

import "fmt"

// Where D lies in tensor memory (ISA 9.7.18.10.5, whose figures are replaced by
// CuTe's tmem_frg). Element (m, n) of D, with m' = m mod Rows, is in CTA m/Rows:
//
//	layout A, two CTAs, M = 256   lane m'                   column n
//	layout B, two CTAs, M = 128   lane m' + 64·(n ≥ N/2)    column n mod N/2
//	layout C, the same, sparse A  as layout F
//	layout D, one CTA, M = 128    lane m'                   column n
//	layout F, one CTA, M = 64     lane m'/16·32 + m'%16     column n
//	layout E, .ws, M = 64         lane m' + 64·(n ≥ N/2)    column n mod N/2
//	layout G, .ws, M = 32         lane m' + 32·(n/(N/4))    column n mod N/4
//
// from taddr on, whose lane is 0, or 0 or 16 for layouts C and F. An element has a cell
// of its own: an f16 is in its low half, and its high half becomes zero here,
// which the ISA leaves open.
//
// A in tensor memory has the same lanes and eight columns, K packed in them. For
// layouts B and E, lanes 0 to 63 and lanes 64 to 127 must hold the same rows: each half
// computes its columns of D from its own copy, so two that differ are used as
// they are; and so for the quarters of layout G. Under layouts C and F, A, D and the
// metadata must begin at the same lane.

// Layout is the letter of the layout, A to G.
func (t *TCGen05) Layout() byte {
	switch {
	case t.CTAs == 2 && t.M == 256:
		return 'A'
	case t.CTAs == 2 && t.Sparse:
		return 'C'
	case t.CTAs == 2:
		return 'B'
	case t.M == 128:
		return 'D'
	case t.WS && t.M == 64:
		return 'E'
	case t.WS:
		return 'G'
	}
	return 'F'
}

// halfLanes reports whether a layout has 16 of each 32 lanes.
func (t *TCGen05) halfLanes() bool { return t.Layout() == 'C' || t.Layout() == 'F' }

// ColumnsD is how many columns D has in each CTA.
func (t *TCGen05) ColumnsD() int {
	if t.Layout() == 'B' {
		return t.N / 2
	}
	return t.N / t.groups()
}

// ColumnsTA is how many columns a matrix A in tensor memory has: 256 bits of K.
const ColumnsTA = 8

// CellD is the CTA of an element of D, and its cell relative to taddr.
func (t *TCGen05) CellD(m, n int) (cta, lane, column int) {
	cta, lane, column = m/t.Rows(), m%t.Rows(), n
	switch t.Layout() {
	case 'B':
		if n >= t.N/2 {
			lane, column = lane+64, n-t.N/2
		}
	case 'E', 'G':
		each := t.N / t.groups()
		lane, column = lane+n/each*t.M, n%each
	case 'C', 'F':
		lane = lane/16*32 + lane%16
	}
	return cta, lane, column
}

// CellTA is the CTA of an element of A in tensor memory, its cell relative to
// taddr, and which of the cell's bits is its first. For layouts B and E there is a
// second copy 64 lanes below, for layout G one each 32 lanes.
func (t *TCGen05) CellTA(m, k int) (cta, lane, column, bit int) {
	cta, lane, _ = t.CellD(m, 0)
	at := k*t.bits(t.A) + t.lead()
	return cta, lane, at / 32, at % 32
}

// lead is the bits below an element of A in its byte of tensor memory: of e2m1 two, and
// two above; e2m3 and e3m2 have two above. The ISA has figures (9.7.18.10.4.3); so mma.sync
// of the same kinds has them, in words (9.7.14.5).
func (t *TCGen05) lead() int {
	if t.A == E2M1 && !t.packed() {
		return 2
	}
	return 0
}

// A part is columns of D that a CTA computes from one half, or all, of B: their
// rows are lanes of these runs, in order.
type part struct {
	lanes  []run
	column int // of D's, in tensor memory
}

var (
	evenLanes = []run{{0, 16}, {32, 16}, {64, 16}, {96, 16}}
	oddLanes  = []run{{16, 16}, {48, 16}, {80, 16}, {112, 16}}
	halfParts = []part{{lanes: []run{{0, 64}}}, {lanes: []run{{64, 64}}}}
	quarters  = []part{{lanes: []run{{0, 32}}}, {lanes: []run{{32, 32}}}, {lanes: []run{{64, 32}}}, {lanes: []run{{96, 32}}}}
)

// parts has a part for each CTA's half of B, or for each group of D's columns.
func (t *TCGen05) parts(taddr uint32) []part {
	switch t.Layout() {
	case 'A', 'C':
		lanes := t.lanes(taddr)
		return []part{{lanes: lanes}, {lanes: lanes, column: t.N / 2}}
	case 'B', 'E':
		return halfParts
	case 'G':
		return quarters
	}
	return []part{{lanes: t.lanes(taddr)}}
}

// lanes are all lanes of A and D in a CTA.
func (t *TCGen05) lanes(taddr uint32) []run {
	lane, _ := TensorCell(taddr)
	switch {
	case !t.halfLanes():
		return allLanes
	case lane == 16:
		return oddLanes
	}
	return evenLanes
}

// SpansD returns the bytes of tensor memory of a CTA that are D's: written, and
// read where enable-input-d is true. off is disable-output-lane, four words a CTA,
// those of CTA 0 first, or nil; lanes that it disables are not among them.
func (t *TCGen05) SpansD(taddr uint32, cta int, off []uint32) []Span {
	_, column := TensorCell(taddr)
	return cellSpans(t.lanesD(taddr, cta, off), column, t.ColumnsD())
}

func (t *TCGen05) lanesD(taddr uint32, cta int, off []uint32) []run {
	lanes := t.lanes(taddr)
	if len(off) == 0 || [4]uint32(off[4*cta:]) == [4]uint32{} {
		return lanes
	}
	return within(lanes, off[4*cta:][:4])
}

// SpansTA returns the bytes of tensor memory that are read of A, the same in each
// CTA. None where A is in shared memory.
func (t *TCGen05) SpansTA(taddr uint32) []Span {
	if !t.ATensor {
		return nil
	}
	_, column := TensorCell(taddr)
	return cellSpans(t.lanes(taddr), column, ColumnsTA)
}

// CheckD says in one sentence why the ISA forbids an address of D.
func (t *TCGen05) CheckD(taddr uint32) error { return t.checkTensor("matrix D", taddr, t.ColumnsD()) }

// CheckTA says in one sentence why the ISA forbids an address of A with that of D.
func (t *TCGen05) CheckTA(taddr, d uint32) error {
	if !t.ATensor {
		return nil
	}
	if err := t.checkTensor("matrix A", taddr, ColumnsTA); err != nil {
		return err
	}
	return t.sameLane("matrix A", taddr, d)
}

// sameLane says that something begins at another lane than D.
func (t *TCGen05) sameLane(what string, taddr, d uint32) error {
	if taddr>>16 != d>>16 {
		return fmt.Errorf("%s at tensor address 0x%08x begins at lane %d and matrix D at lane %d, where layout %c wants the same lane (ISA 9.7.18.10.5)", what, taddr, taddr>>16, d>>16, t.Layout())
	}
	return nil
}

func (t *TCGen05) checkTensor(what string, taddr uint32, columns int) error {
	lane, column := TensorCell(taddr)
	if lane != 0 && (!t.halfLanes() || lane != 16) {
		want := "0"
		if t.halfLanes() {
			want = "0 or 16"
		}
		return fmt.Errorf("%s at tensor address 0x%08x begins at lane %d, where layout %c, of M = %d with .cta_group::%d, begins at lane %s (ISA 9.7.18.10.5)", what, taddr, lane, t.Layout(), t.M, t.CTAs, want)
	}
	return checkColumns(fmt.Sprintf("%s at tensor address 0x%08x", what, taddr), column, columns)
}

// CheckDisabled says in one sentence that disable-output-lane has another size
// than the ISA's.
func (t *TCGen05) CheckDisabled(off []uint32) error {
	if n := len(off); n != 0 && n != 4*t.CTAs {
		return fmt.Errorf("disable-output-lane has %d elements, where .cta_group::%d has %d (ISA 9.7.18.10.10.1)", n, t.CTAs, 4*t.CTAs)
	}
	return nil
}
