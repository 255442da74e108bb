package tensor

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// Compute writes one warp's part of D.
//
// acc are the AccRegs registers of D, lane-wide; they are read where scaleD is
// true and C is +0 otherwise. a are A's four registers where they hold A; meta
// is the register of sp-meta for a sparse form, nil otherwise. read copies bytes
// of the CTA's shared window, the ranges of SpansA and SpansB.
func (w *WGMMA) Compute(warp int, acc, a []*[32]uint32, descA, descB uint64, meta *[32]uint32, scaleD bool, read func(addr uint32, b []byte)) {
	s := wgScratches.Get().(*wgScratch)
	defer wgScratches.Put(s)
	if w.ARegs {
		fragmentA(s.a[:], a)
	} else {
		s.panel(s.a[:], Descriptor(descA), &w.a[warp], read)
	}
	s.panel(s.b[:w.N*w.b.width], Descriptor(descB), &w.b, read)
	if w.NegA {
		w.negate(s.a[:])
	}
	s.pa.ResetA(w.rule, 256/w.bits)
	for i := range 16 {
		s.pa.AddBytes(s.a[32*i:][:32])
	}
	w.decodeB(s)
	d := s.d[:16*w.N]
	if scaleD {
		w.unpack(d, acc)
	} else {
		clear(d)
	}
	switch {
	case !w.Sparse:
		w.rule.Tile(d, &s.pa, &s.pb)
	case w.bits == 32 && w.CheckMeta(meta) != nil:
		w.tileHalves(d, s, meta)
	default:
		w.rule.TileSparse(d, &s.pa, &s.pb, w.positions(s.met[:], meta))
	}
	w.pack(acc, d)
}

// A wgScratch is the scratch memory of one Compute.
type wgScratch struct {
	raw    [256 * 64]byte // shared memory, span after span
	a      [16 * 32]byte  // rows of A, elements in the order of k
	b      [256 * 64]byte // columns of B, likewise
	pa, pb Panel          // the same, decoded
	was    [256 * 64]byte // what pb was made of, and how
	how    decoding
	met    [16 * 32]uint8   // of a sparse A, see positions
	d      [16 * 256]uint32 // rows of C, then of D
}

// A decoding is how columns of B were decoded.
type decoding struct {
	format     Format
	n, k, size int
	neg        bool
}

// decodeB makes the panel of B, unless the scratch has it from another warp's
// part, or from another instruction with the same B.
func (w *WGMMA) decodeB(s *wgScratch) {
	b := s.b[:w.N*w.b.width]
	how := decoding{w.rule.b, w.N, w.K, len(b), w.NegB}
	if s.how == how && bytes.Equal(b, s.was[:len(b)]) {
		return
	}
	s.how = how
	copy(s.was[:], b)
	if w.NegB {
		w.negate(b)
	}
	s.pb.ResetB(w.rule, w.K)
	for i := range w.N {
		s.pb.AddBytes(b[i*w.b.width:][:w.b.width])
	}
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
	l, base := placeOf(d.canonical(), o)
	l.read(s.raw[:], base, read)
	l.gather(dst, s.raw[:], o)
}

// negate flips the signs of floating-point elements.
func (w *WGMMA) negate(b []byte) {
	n := w.bits / 8
	for i := n - 1; i < len(b); i += n {
		b[i] ^= 0x80
	}
}

// A register of D holds, in lane 4g+t, columns of row g or g+8 and of eight
// columns those from 2t on: one of two, or both where they are f16.

// unpack makes rows of N elements out of the accumulators.
func (w *WGMMA) unpack(d []uint32, acc []*[32]uint32) {
	if w.D == "f16" {
		for i, r := range acc {
			for g := range 8 {
				to := (*[8]uint32)(d[(g+i%2*8)*w.N+i/2*8:])
				x := (*[4]uint32)(r[4*g:])
				*to = [8]uint32{x[0] & 0xffff, x[0] >> 16, x[1] & 0xffff, x[1] >> 16, x[2] & 0xffff, x[2] >> 16, x[3] & 0xffff, x[3] >> 16}
			}
		}
		return
	}
	for i, r := range acc {
		for g := range 8 {
			to := (*[7]uint32)(d[(g+i/2%2*8)*w.N+i/4*8+i%2:])
			x := (*[4]uint32)(r[4*g:])
			to[0], to[2], to[4], to[6] = x[0], x[1], x[2], x[3]
		}
	}
}

// pack is the reverse of unpack.
func (w *WGMMA) pack(acc []*[32]uint32, d []uint32) {
	if w.D == "f16" {
		for i, r := range acc {
			for g := range 8 {
				from := (*[8]uint32)(d[(g+i%2*8)*w.N+i/2*8:])
				*(*[4]uint32)(r[4*g:]) = [4]uint32{from[0] | from[1]<<16, from[2] | from[3]<<16, from[4] | from[5]<<16, from[6] | from[7]<<16}
			}
		}
		return
	}
	for i, r := range acc {
		for g := range 8 {
			from := (*[7]uint32)(d[(g+i/2%2*8)*w.N+i/4*8+i%2:])
			*(*[4]uint32)(r[4*g:]) = [4]uint32{from[0], from[2], from[4], from[6]}
		}
	}
}
