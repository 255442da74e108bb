package tensor

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
// pair of two, or all. With 16-bit indices' worth a row (f16, bf16, tf32) a lane
// holds 16 bits of the upper row and, above them, of the lower; with 8- and
// 4-bit elements it holds 32 bits of one row, even lanes of the upper.

// metadata sets what the metadata operand is like.
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
	lane, shift := row&7<<2, 4*n
	lanes := 4 / w.Selectors
	lane += selector * lanes
	if w.rowsInLane {
		lane, shift = lane+n>>2, row>>3<<4+n&3<<2
	} else {
		lane, shift = lane+n>>3<<1+row>>3, n&7<<2
	}
	return meta[lane] >> shift & 15
}

// meets lists the columns that the stored elements of a row are of; for tf32 the
// nibbles themselves. Values that the ISA leaves undefined select as they read,
// on the card too: indices in falling order, or twice the same column.
func (w *WarpMMA) meets(met *[128]uint8, meta *[32]uint32, selector, row int) {
	at := 0
	add := func(column int, n int) {
		for range n {
			met[at] = uint8(column)
			at++
			column++
		}
	}
	for n := 0; at < w.columns; n++ {
		x := int(w.nibble(meta, selector, row, n))
		switch w.a.bits {
		case 32:
			add(x, 1)
		case 4:
			add(8*n+2*(x&3), 2)
			add(8*n+2*(x>>2), 2)
		default:
			add(4*n+x&3, 1)
			add(4*n+x>>2, 1)
		}
	}
}

// halves is what the stored tf32 elements of a row meet in column j of B: each
// nibble picks the low and the high half among the four halves of its chunk.
// The ISA gives 0b0100 and 0b1110 a meaning, which pick the two halves of one
// element; the card does so with any.
func (w *WarpMMA) halves(s *scratch, nibbles *[128]uint8, j int) Vector {
	s.sp.reset()
	for n, x := range nibbles[:w.columns] {
		chunk := uint64(s.b[j*w.K+2*n]) | uint64(s.b[j*w.K+2*n+1])<<32
		low, high := chunk>>(x&3*16)&0xffff, chunk>>(x>>2*16)&0xffff
		w.rule.AppendB(&s.sp, uint32(low|high<<16))
	}
	return s.sp
}
