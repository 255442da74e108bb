package tensor

import (
	"encoding/binary"
	"fmt"
)

// positions decodes the metadata: which of the K elements of a row each stored
// element is, 256/bits a row. Of 16- and 32-bit types, lane 4g+t of the two of
// each four that the selector names holds row g in its low half and row g+8 in
// its high half, one half of K each; of 8-bit types every lane holds one half
// of K of one row. An element has two bits, its place among four; a 32-bit
// element is two of 16 bits.
func (w *WGMMA) positions(met []uint8, meta *[32]uint32) []uint8 {
	n := 256 / w.bits
	for g := range 8 {
		if w.bits == 8 {
			for t := range 4 {
				ofFour(met[(g+t%2*8)*n+t/2*16:][:16], meta[4*g+t], t/2*32)
			}
			continue
		}
		for h := range 2 {
			e := meta[4*g+2*w.Selector+h]
			for up := range 2 {
				row := met[(g+8*up)*n+h*n/2:][:n/2]
				if w.bits == 16 {
					ofFour(row, e>>(16*up), 16*h)
					continue
				}
				for j := range row {
					row[j] = uint8(8*h + 2*j + int(e>>(16*up+4*j+3)&1))
				}
			}
		}
	}
	return met[:16*n]
}

// ofFour decodes places of two elements among each four, from k on.
func ofFour(dst []uint8, e uint32, k int) {
	for i := range dst {
		dst[i] = uint8(k + i/2*4 + int(e>>(2*i)&3))
	}
}

// CheckMeta says in one sentence why the ISA leaves the result of a sparse form
// undefined for this metadata (ISA 9.7.15.6.1). With two equal places an H200
// uses the same element of B twice; of tf32 it picks each half of an element by
// itself. Compute does the same.
func (w *WGMMA) CheckMeta(meta *[32]uint32) error {
	if !w.Sparse {
		return nil
	}
	for lane, e := range meta {
		if w.bits != 8 && lane%4/2 != w.Selector {
			continue
		}
		for i := 0; i < 32; i += 4 {
			switch n := e >> i & 15; {
			case w.bits == 32 && n != 0b0100 && n != 0b1110:
				return fmt.Errorf("sparse metadata 0x%08x of lane %d has 0b%04b, where only 0b0100 and 0b1110 are defined", e, lane, n)
			case n>>2 == n&3:
				return fmt.Errorf("sparse metadata 0x%08x of lane %d has 0b%04b, the same place twice", e, lane, n)
			}
		}
	}
	return nil
}

// tileHalves is TileSparse for tf32 and any metadata: of four halves of two
// elements of B, the nibble's low bits name the lower and its high bits the
// upper half of what the stored element meets.
func (w *WGMMA) tileHalves(d []uint32, s *wgScratch, meta *[32]uint32) {
	var a, b Panel
	var met [8]uint32
	for row := range 16 {
		a.ResetA(w.rule, len(met))
		a.AddBytes(s.a[32*row:][:32])
		b.ResetB(w.rule, len(met))
		for col := range w.N {
			for i := range met {
				e := meta[row%8*4+2*w.Selector+i/4] >> (row/8*16 + i%4*4)
				two := s.was[64*col+8*i:][:8]
				met[i] = uint32(binary.LittleEndian.Uint16(two[2*(e&3):])) | uint32(binary.LittleEndian.Uint16(two[2*(e>>2&3):]))<<16
				if w.NegB {
					met[i] ^= 1 << 31
				}
			}
			b.Add(met[:])
		}
		w.rule.Tile(d[row*w.N:][:w.N], &a, &b)
	}
}
