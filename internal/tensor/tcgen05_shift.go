package tensor

import "fmt"

// A shift moves 31 rows of 256 bits (shape 31x256b, ISA 9.7.18.2.3): eight columns of the 32
// lanes that a warp reaches.
const (
	shiftLanes   = 32
	shiftColumns = 8
)

// ShiftAssumes says what the ISA's text of tcgen05.shift leaves open: "shifting of 32-byte
// elements downwards across all the rows, except the last, by one row" (9.7.18.9.3).
const ShiftAssumes = "tcgen05.shift moves 31 rows, of the 32 lanes that begin with its address, to the next higher lane, and leaves the first as it is: the ISA says 'downwards' (9.7.18.9.3)"

// AShiftAssumes says the same of .ashift, which "shifts the rows of the A matrix down by one
// row, except for the last row in the Tensor Memory" (9.7.18.10.10.1).
const AShiftAssumes = "tcgen05.mma with .ashift multiplies each row of A, but the last, as the next one, and the first as the first, too, and leaves tensor memory as it is: the ISA says that it shifts the rows 'down' (9.7.18.10.10.1)"

// shiftRows moves rows of 32 bytes as .ashift does.
func shiftRows(rows []byte) { copy(rows[32:], rows[:len(rows)-32]) }

// ShiftSpans are the bytes that a tcgen05.shift reads and writes; a byte that is read goes to
// the place of the same number.
func ShiftSpans(taddr uint32) (reads, writes []Span) {
	lane, column := TensorCell(taddr)
	return cellSpans([]run{{lane, shiftLanes - 1}}, column, shiftColumns), cellSpans([]run{{lane + 1, shiftLanes - 1}}, column, shiftColumns)
}

// CheckShift says in one sentence why the ISA forbids an address of tcgen05.shift.
func CheckShift(taddr uint32) error {
	lane, column := TensorCell(taddr)
	switch {
	case lane%shiftLanes != 0:
		return fmt.Errorf("tcgen05.shift at tensor address 0x%08x begins at lane %d, where a multiple of 32 is allowed (ISA 9.7.18.9.3)", taddr, lane)
	case lane >= TensorLanes:
		return fmt.Errorf("tcgen05.shift at tensor address 0x%08x begins at lane %d, where tensor memory has lanes 0 to %d (ISA 9.7.18.1)", taddr, lane, TensorLanes-1)
	}
	return checkColumns(fmt.Sprintf("tcgen05.shift at tensor address 0x%08x", taddr), column, shiftColumns)
}
