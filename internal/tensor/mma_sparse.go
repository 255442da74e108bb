package tensor

import "fmt"

// Sparse A (ISA 9.7.14.6.1). Of every chunk of a row, half is stored, and a
// nibble of metadata holds two indices of two bits that say which half:
//
//	f16, bf16, s8, u8, fp8   2 of 4 elements; an index an element
//	s4, u4                   2 of 4 pairs of elements; an index a pair
//	tf32                     1 of 2 elements; an index a half of 16 bits
//
// The nibbles of a row follow each other, low bits first. A row has 16, 32 or
// 64 bits of them, the two rows of a group of four lanes twice that. The
// sparsity selector says which lanes of the group hold them: one of four, one
// pair of two, or all. With elements of 16 and 32 bits a lane holds 16 bits of
// the upper row and above them as many of the lower; with 8 and 4 bits it holds
// 32 bits of one row, the even lanes of the upper. The ISA has this only in
// pictures (9.7.14.6.2); it was measured on the card.

// metadata sets the layout of the metadata operand.
func (w *WarpMMA) metadata() {
	bits := w.K // of a row: a nibble for four elements
	switch w.a.bits {
	case 4:
		bits = w.K / 2
	case 32:
		bits = 2 * w.K
	}
	w.Selectors = 64 / bits
	w.rowsInLane = w.a.bits >= 16
}

// nibble returns the n-th chunk's indices of a row.
func (w *WarpMMA) nibble(meta *[32]uint32, selector, row, n int) uint32 {
	lane := row&7<<2 + selector*(4/w.Selectors)
	if w.rowsInLane {
		return meta[lane+n>>2] >> (row>>3<<4 + n&3<<2) & 15
	}
	return meta[lane+n>>3<<1+row>>3] >> (n & 7 << 2) & 15
}

// CheckOrder says in one sentence that indices do not ascend where they must: "otherwise
// behavior is undefined" (ISA 9.7.14.6.3). Of tf32, indices of halves, that is not asked.
func (w *WarpMMA) CheckOrder(meta *[32]uint32, selector int) error {
	if !w.Ordered || w.a.bits == 32 {
		return nil
	}
	each := 4 // elements of a nibble
	if w.a.bits == 4 {
		each = 8
	}
	for row := range w.M {
		for n := range w.K / each {
			if x := w.nibble(meta, selector, row, n); x&3 >= x>>2 {
				return fmt.Errorf("sparse metadata of row %d of A is 0b%04b for elements %d to %d, where indices that ascend are defined (ISA 9.7.14.6.3)", row, x, each*n, each*n+each-1)
			}
		}
	}
	return nil
}

// meets lists, row by row, the columns of A's stored elements. Metadata that the
// ISA leaves undefined is taken literally, as on the card: indices in falling
// order, or twice the same column. It reports whether every element meets one:
// for tf32 other values than 0b0100 and 0b1110 pick two halves, see runHalves.
func (w *WarpMMA) meets(met []uint8, meta *[32]uint32, selector int) bool {
	for row := range w.M {
		at := met[row*w.columns:][:w.columns]
		for n := 0; len(at) > 0; n++ {
			x := uint8(w.nibble(meta, selector, row, n))
			low, high, c := x&3, x>>2, uint8(n)
			switch w.a.bits {
			case 32:
				if x != 0x4 && x != 0xe {
					return false
				}
				at[0], at = 2*c+low>>1, at[1:]
			case 4:
				at[0], at[1] = 8*c+2*low, 8*c+2*low+1
				at[2], at[3] = 8*c+2*high, 8*c+2*high+1
				at = at[4:]
			default:
				at[0], at[1] = 4*c+low, 4*c+high
				at = at[2:]
			}
		}
	}
	return true
}

// runHalves is a sparse tf32 product with metadata that the ISA leaves
// undefined: each nibble picks the low and the high half of what an element
// meets among the four halves of its chunk. This is what the card does; 0b0100
// and 0b1110 pick the two halves of one element.
func (w *WarpMMA) runHalves(s *scratch, meta *[32]uint32, selector int) {
	for i := range w.M {
		s.va.reset()
		for _, x := range s.a[i*w.columns:][:w.columns] {
			w.rule.AppendA(&s.va, x)
		}
		for j := range 8 {
			s.vb.reset()
			for n := range w.columns {
				x := w.nibble(meta, selector, i, n)
				chunk := uint64(s.b[j*w.K+2*n]) | uint64(s.b[j*w.K+2*n+1])<<32
				low, high := chunk>>(x&3*16)&0xffff, chunk>>(x>>2*16)&0xffff
				w.rule.AppendB(&s.vb, uint32(low|high<<16))
			}
			c := &s.c[8*i+j]
			*c = w.rule.Dot(*c, &s.va, &s.vb)
		}
	}
}

func (v *Vector) reset() { v.val, v.exp = v.val[:0], v.exp[:0] }
