package tensor

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// Compute writes one warp's part of D.
//
// acc are the AccRegs registers of D, lane-wide; they are read where scaleD is
// true and C is +0 otherwise. a are A's four registers where they hold A; meta
// is the register of sp-meta of a sparse form, nil otherwise. read copies bytes
// of the CTA's shared window, the ranges of SpansA and SpansB.
func (w *WGMMA) Compute(warp int, acc, a []*[32]uint32, descA, descB uint64, meta *[32]uint32, scaleD bool, read func(addr uint32, b []byte)) {
	s := wgScratches.Get().(*wgScratch)
	defer wgScratches.Put(s)
	if w.ARegs {
		fragmentA(s.a[:], a)
	} else {
		s.panel(s.a[:], Descriptor(descA), &w.a[warp], read)
	}
	s.panel(s.b[:], Descriptor(descB), &w.b, read)
	if !scaleD {
		for _, r := range acc {
			*r = [32]uint32{}
		}
	}
	if w.Sparse {
		w.positions(&s.pos, meta)
	}
	switch {
	case w.rule != nil:
		w.floats(s, acc)
	case w.bits == 1:
		w.bitSums(s, acc)
	default:
		w.intSums(s, acc)
	}
}

// A wgScratch is what one Compute works in.
type wgScratch struct {
	raw  [256 * 64]byte  // shared memory, span after span
	a    [16 * 32]byte   // rows of A, elements in the order of k
	b    [256 * 64]byte  // columns of B, likewise
	pos  [16][32]uint8   // of a sparse A's stored elements along K, by row
	rows [16]Vector      // of A
	cols Vector          // of B, one after the other
	met  Vector          // what a sparse row meets of a column
	ints [256 * 64]int32 // B
}

var wgScratches = sync.Pool{New: func() any { return new(wgScratch) }}

// fragmentA makes rows out of A's registers: lane 4g+t holds bytes 4t to 4t+3
// of 16 of row g in register 0, of row g+8 in register 1, and of the next 16
// in registers 2 and 3.
func fragmentA(dst []byte, a []*[32]uint32) {
	for i, r := range a {
		for lane, x := range r {
			row := lane/4 + i%2*8
			binary.LittleEndian.PutUint32(dst[row*32+i/2*16+lane%4*4:], x)
		}
	}
}

// panel gathers an operand's rows.
func (s *wgScratch) panel(dst []byte, d Descriptor, o *operand, read func(addr uint32, b []byte)) {
	l, base := placeOf(d, o)
	off := uint32(0)
	for _, p := range l.spans {
		read(base+p.Addr, s.raw[off:off+p.Len])
		off += p.Len
	}
	if !o.mn {
		for i, at := range l.at {
			*(*[16]byte)(dst[16*i:]) = [16]byte(s.raw[at:])
		}
		return
	}
	n := o.rows / 8
	for i, at := range l.at {
		k, m := i/n, i%n
		src := (*[16]byte)(s.raw[at:])
		for e := range 8 {
			to := dst[(8*m+e)*o.width+2*k:]
			to[0], to[1] = src[2*e], src[2*e+1]
		}
	}
}

// positions decodes the metadata: for stored element i of a row, which of the
// K elements it is. Two bits an element; 32-bit elements are two of 16 bits.
// Of 16- and 32-bit types, lane 4g+t of the two that the selector names holds
// row g in its low half and row g+8 in the high half, for one half of K each;
// of 8-bit types every lane holds one half of K of one row.
func (w *WGMMA) positions(pos *[16][32]uint8, meta *[32]uint32) {
	for g := range 8 {
		if w.bits == 8 {
			for t := range 4 {
				chunk4(pos[g+t%2*8][t/2*16:][:16], meta[4*g+t], t/2*32)
			}
			continue
		}
		for h := range 2 {
			e := meta[4*g+2*w.Selector+h]
			for up := range 2 {
				row := &pos[g+8*up]
				if w.bits == 16 {
					chunk4(row[8*h:][:8], e>>(16*up), 16*h)
					continue
				}
				for j := range 4 {
					row[4*h+j] = uint8(8*h + 2*j + int(e>>(16*up+4*j+3)&1))
				}
			}
		}
	}
}

// chunk4 decodes two elements of each four, from k on.
func chunk4(dst []uint8, e uint32, k int) {
	for i := range dst {
		dst[i] = uint8(k + i/2*4 + int(e>>(2*i)&3))
	}
}

// floats is D for floating-point types.
func (w *WGMMA) floats(s *wgScratch, acc []*[32]uint32) {
	na, nb := 256/w.bits, w.K
	for i := range s.rows {
		decodeRow(w.rule, &s.rows[i], s.a[32*i:32*i+32], w.bits, w.NegA, true)
	}
	decodeRow(w.rule, &s.cols, s.b[:w.N*w.b.width], w.bits, w.NegB, false)
	_ = na
	half := w.D == "f16"
	for col := range w.N {
		b := s.cols.Slice(col*nb, col*nb+nb)
		for row := range 16 {
			r, lane, shift := accumulator(row, col, half)
			met := &b
			if w.Sparse {
				met = s.meet(&b, s.pos[row][:na])
			}
			if half {
				d := w.rule.Dot(acc[r][lane]>>shift&0xffff, &s.rows[row], met)
				acc[r][lane] = acc[r][lane]&^(0xffff<<shift) | d<<shift
			} else {
				acc[r][lane] = w.rule.Dot(acc[r][lane], &s.rows[row], met)
			}
		}
	}
}

// accumulator says where an element of D lies: register, lane and shift.
func accumulator(row, col int, half bool) (reg, lane, shift int) {
	lane = row%8*4 + col%8/2
	if half {
		return col/8*2 + row/8, lane, col % 2 * 16
	}
	return col/8*4 + row/8*2 + col%2, lane, 0
}

// meet is what the stored elements of a sparse row meet of a column.
func (s *wgScratch) meet(b *Vector, pos []uint8) *Vector {
	s.met.val, s.met.exp = s.met.val[:0], s.met.exp[:0]
	for _, p := range pos {
		s.met.push(b.val[p], b.exp[p])
	}
	return &s.met
}

func decodeRow(r *Rule, v *Vector, b []byte, width int, negate, isA bool) {
	v.val, v.exp = v.val[:0], v.exp[:0]
	var flip uint32
	if negate {
		flip = 1 << (width - 1)
	}
	for i := 0; i < len(b); i += width / 8 {
		var x uint32
		switch width {
		case 8:
			x = uint32(b[i])
		case 16:
			x = uint32(binary.LittleEndian.Uint16(b[i:]))
		case 32:
			x = binary.LittleEndian.Uint32(b[i:])
		}
		if isA {
			r.AppendA(v, x^flip)
		} else {
			r.AppendB(v, x^flip)
		}
	}
}

// bitSums is D for b1.
func (w *WGMMA) bitSums(s *wgScratch, acc []*[32]uint32) {
	for col := range w.N {
		b := s.b[32*col : 32*col+32]
		for row := range 16 {
			a := s.a[32*row : 32*row+32]
			n := 0
			for i := 0; i < 32; i += 8 {
				n += bits.OnesCount64(binary.LittleEndian.Uint64(a[i:]) & binary.LittleEndian.Uint64(b[i:]))
			}
			r, lane, _ := accumulator(row, col, false)
			acc[r][lane] += uint32(n)
		}
	}
}

func widen(dst []int32, src []byte, signed bool) {
	for i, x := range src {
		if signed {
			dst[i] = int32(int8(x))
		} else {
			dst[i] = int32(x)
		}
	}
}

// intSums is D for s8 and u8.
func (w *WGMMA) intSums(s *wgScratch, acc []*[32]uint32) {
	var a, met [32]int32
	widen(s.ints[:], s.b[:w.N*w.b.width], w.B == "s8")
	for row := range 16 {
		widen(a[:], s.a[32*row:32*row+32], w.A == "s8")
		for col := range w.N {
			b := s.ints[col*w.K : col*w.K+w.K]
			if w.Sparse {
				for i, p := range s.pos[row] {
					met[i] = b[p]
				}
				b = met[:]
			}
			r, lane, _ := accumulator(row, col, false)
			acc[r][lane] = uint32(DotInt(w.Satfinite, int32(acc[r][lane]), a[:], b))
		}
	}
}
