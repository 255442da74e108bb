package tensor

// A Fragment is how the 32 lanes of a warp hold a matrix in registers (ISA
// 9.7.14.5.1 to .13): every lane has Regs of them, and each holds Per elements,
// the first in its low bits, that follow each other along a row of the matrix
// or, if Down, along a column.
//
// All shapes and types follow from a few rules. A register of A holds what
// fills 32 bits (f64: 64) of one row; the four lanes of a group hold the next
// elements of the same row, the eight groups eight rows, the second register
// the eight rows below and the third and fourth the next columns. B is the same
// for columns, without the second eight. The accumulators are pairs along a
// row, as if each had 32 bits.
type Fragment struct {
	Regs, Per int
	Down      bool
	place     placing
}

// A placing is a rule for where the elements of a fragment lie.
type placing uint8

const (
	placeA placing = iota
	placeB
	placeC
	// Of m8n8k4 with f16, where lanes 4q to 4q+3 and 16+4q to 19+4q make a
	// computation of their own: one row a lane (A by rows, C of f16), or one
	// column (B by columns); A by columns and B by rows; C of f32.
	placeLaneRow
	placeLaneColumn
	placeColumnA
	placeRowB
	placeQuadC
)

// Matrix8 is how a warp holds an 8×8 matrix of 16-bit elements that ldmatrix
// reads and stmatrix writes (ISA 9.7.14.5.15); with .trans, the matrix in
// memory is its transpose, which is [Transposed8].
var Matrix8 = Fragment{Regs: 1, Per: 2, place: placeC}

// Transposed8 is [Matrix8] with .trans, and what movmatrix makes of it.
var Transposed8 = Fragment{Regs: 1, Per: 2, Down: true, place: placeB}

// At gives row and column of the first element in a register of a lane. For
// m8n8k4 with f16 they are those within the lane's own computation.
func (f *Fragment) At(lane, reg int) (row, col int) {
	group, t := lane>>2, lane&3
	high := lane >> 4 << 2
	switch f.place {
	case placeA:
		return group + reg&1<<3, (reg>>1<<2 + t) * f.Per
	case placeB:
		return (reg<<2 + t) * f.Per, group
	case placeC:
		e := reg * f.Per
		return group + e>>1<<3, t<<1 + e&1
	case placeLaneRow:
		return t + high, reg * f.Per
	case placeLaneColumn:
		return reg * f.Per, t + high
	case placeColumnA:
		return reg*f.Per + high, t
	case placeRowB:
		return t, reg*f.Per + high
	}
	return lane&1 + reg&2 + high, reg&4 + lane&2 + reg&1
}

// A walk places the first elements of a register in a matrix whose element (r, c)
// is at r*sr+c*sc: lane 0's at from, lane more for the next lane, group more for
// the next group of four lanes. Only for fragments of a whole warp.
type walk struct{ from, lane, group, step int }

func (f *Fragment) walk(reg, sr, sc int) walk {
	at := func(lane int) int {
		r, c := f.At(lane, reg)
		return r*sr + c*sc
	}
	w := walk{from: at(0), step: sc}
	w.lane, w.group = at(1)-w.from, at(4)-w.from
	if f.Down {
		w.step = sr
	}
	return w
}

// unpack takes the elements of f out of the registers of a warp. That of row r
// and column c goes to m[r*sr+c*sc].
func unpack[T uint32 | uint64](m []T, sr, sc int, f *Fragment, bits uint, regs []*[32]T) {
	bits &= 63
	low := T(1)<<bits - 1
	for reg, words := range regs[:f.Regs] {
		w := f.walk(reg, sr, sc)
		for lane, v := range words {
			at := w.from + lane>>2*w.group + lane&3*w.lane
			switch f.Per {
			case 1:
				m[at] = v
			case 2:
				m[at], m[at+w.step] = v&low, v>>bits
			default:
				for range f.Per {
					m[at] = v & low
					v >>= bits
					at += w.step
				}
			}
		}
	}
}

// pack is the inverse of unpack, for accumulators.
func pack[T uint32 | uint64](regs []*[32]T, f *Fragment, bits uint, m []T, sr int) {
	for reg, words := range regs[:f.Regs] {
		w := f.walk(reg, sr, 1)
		for lane := range words {
			at := w.from + lane>>2*w.group + lane&3*w.lane
			v := m[at]
			if f.Per == 2 {
				v |= m[at+1] << bits
			}
			words[lane] = v
		}
	}
}

// unpackTeam and packTeam do the same for the lanes of one of several
// computations, whose places are no walk.
func unpackTeam(m []uint32, sr, sc int, f *Fragment, bits uint, regs []*[32]uint32, team uint32) {
	step := sc
	if f.Down {
		step = sr
	}
	for reg, words := range regs[:f.Regs] {
		for lane, v := range words {
			if team>>lane&1 == 0 {
				continue
			}
			r, c := f.At(lane, reg)
			at := r*sr + c*sc
			m[at] = v
			if f.Per == 2 {
				m[at], m[at+step] = v&(1<<bits-1), v>>bits
			}
		}
	}
}

func packTeam(regs []*[32]uint32, f *Fragment, bits uint, m []uint32, team uint32) {
	for reg, words := range regs[:f.Regs] {
		for lane := range words {
			if team>>lane&1 == 0 {
				continue
			}
			r, c := f.At(lane, reg)
			v := m[8*r+c]
			if f.Per == 2 {
				v |= m[8*r+c+1] << bits
			}
			words[lane] = v
		}
	}
}
