package tensor

import (
	"encoding/binary"
	"math"
	"sync"
)

// A TCGen05Call is one execution of a tcgen05.mma. Its functions copy bytes of
// the memories of the CTA that has the first half of D's rows (0) or the second
// (1): from a shared window the ranges of SpansA and SpansB, from tensor memory
// those of SpansTA, SpansSFA, SpansSFB and SpansD, to it those of SpansD. All is read before anything
// is written.
type TCGen05Call struct {
	D      uint32      // address in tensor memory, the same in both CTAs
	A      uint64      // descriptor, or address in tensor memory
	B      uint64      // descriptor
	SFA    uint32      // address of A's factors in tensor memory
	SFB    uint32      // of B's
	Meta   uint32      // of the metadata of a sparse A
	Zero   ZeroColumns // of .ws
	Input  bool        // enable-input-d; C is +0 otherwise
	NoLane []uint32    // disable-output-lane, or nil

	ReadShared  func(cta int, addr uint32, b []byte)
	ReadTensor  func(cta int, addr uint32, b []byte)
	WriteTensor func(cta int, addr uint32, b []byte)
}

// A tcScratch is the scratch memory of one Compute. D is computed transposed, as
// the columns of B times the rows of A, for so its elements come in the order of
// tensor memory: column by column, lane by lane.
type tcScratch struct {
	raw           [288*64 + 16]byte // shared memory, span after span
	a             [4][128 * 48]byte // rows of A, by part where they may differ
	b             [2][288 * 64]byte // columns of B, by CTA
	pa            [4]Panel          // decoded
	pb            [4]Panel
	cell          [2][256 * columnBytes]byte // D's columns, by CTA
	d, was, byRow [256 * TensorLanes]uint32  // C and D of one part, C, and D row by row
	odd           []scaled

	sfa, sfb       [16 * columnBytes]byte // cells of the factors
	codesA, codesB [8]byte                // of one row and column
	facB           [256][8]factor         // of the columns of B
	expA           [TensorLanes]int32     // exponents of factors
	expB           [256]int32
	meta           [2 * columnBytes]byte // cells of the metadata
	met            [128 * 64]uint8       // what the stored elements of A meet, by row
	num            [3][256 * 128]int8    // e2m1 in halves: rows of A and columns of B of one part
}

var tcScratches = sync.Pool{New: func() any { return new(tcScratch) }}

// Compute executes the instruction in all its CTAs.
func (t *TCGen05) Compute(x *TCGen05Call) {
	s := tcScratches.Get().(*tcScratch)
	defer tcScratches.Put(s)
	for cta := range t.CTAs {
		t.readB(s, x, cta)
	}
	for cta := range t.CTAs {
		if x.Input {
			for _, p := range t.SpansD(x.D, cta, x.NoLane) {
				x.ReadTensor(cta, p.Addr, s.cells(x.D, cta, p))
			}
		}
		copies := t.readA(s, x, cta)
		t.readScales(s, x, cta)
		t.readMeta(s, x, cta)
		for i, p := range t.parts(x.D) {
			t.part(s, x, cta, &p, i, min(i, copies-1))
		}
	}
	for cta := range t.CTAs {
		for _, p := range t.SpansD(x.D, cta, x.NoLane) {
			x.WriteTensor(cta, p.Addr, s.cells(x.D, cta, p))
		}
	}
}

// cells are the bytes of D's cells in the scratch memory.
func (s *tcScratch) cells(taddr uint32, cta int, p Span) []byte {
	_, column := TensorCell(taddr)
	return s.cell[cta][p.Addr-TensorOffset(0, column):][:p.Len]
}

func (t *TCGen05) readB(s *tcScratch, x *TCGen05Call, cta int) {
	if t.WS {
		t.readBWS(s, x)
		return
	}
	rows := s.b[cta][:t.b.rows*t.b.width]
	s.matrix(rows, TensorDescriptor(x.B).canonical(), &t.b, func(addr uint32, b []byte) { x.ReadShared(cta, addr, b) })
	if t.packed() {
		flip(rows, E2M1, t.NegB, true)
		return
	}
	panel(&s.pb[cta], rows, t.b.width, t.B, t.NegB, t.resetB)
}

// resetB begins a panel of columns of B.
func (t *TCGen05) resetB(p *Panel) {
	if t.Sparse {
		p.ResetB(t.rule, t.K)
	} else {
		p.ResetA(t.turn, t.K)
	}
}

// readA makes the panels of A, and returns how many: several where the halves or
// quarters of D's columns are computed from copies of their own.
func (t *TCGen05) readA(s *tcScratch, x *TCGen05Call, cta int) (copies int) {
	copies = 1
	size := t.Rows() * t.a.width
	if t.ATensor {
		copies = t.readTA(s, x, cta)
		if t.AShift {
			shiftRows(s.a[0][:size])
		}
	} else {
		s.matrix(s.a[0][:size], TensorDescriptor(x.A).canonical(), &t.a, func(addr uint32, b []byte) { x.ReadShared(cta, addr, b) })
	}
	for i := range copies {
		if t.packed() {
			flip(s.a[i][:size], E2M1, t.NegA, true)
			continue
		}
		panel(&s.pa[i], s.a[i][:size], t.a.width, t.A, t.NegA, func(p *Panel) {
			if t.Sparse {
				p.ResetA(t.rule, t.stored())
			} else {
				p.ResetB(t.turn, t.K)
			}
		})
	}
	return copies
}

// readTA makes rows of A out of tensor memory.
func (t *TCGen05) readTA(s *tcScratch, x *TCGen05Call, cta int) (copies int) {
	var raw [ColumnsTA * columnBytes]byte
	_, column := TensorCell(uint32(x.A))
	for _, p := range t.SpansTA(uint32(x.A)) {
		x.ReadTensor(cta, p.Addr, raw[p.Addr-TensorOffset(0, column):][:p.Len])
	}
	parts := t.parts(uint32(x.A))
	if t.Layout() != 'B' && t.groups() == 1 {
		parts = parts[:1]
	}
	for i, p := range parts {
		row := 0
		for _, r := range p.lanes {
			for lane := r.first; lane < r.first+r.n; lane++ {
				for c := range ColumnsTA {
					copy(s.a[i][row*32+4*c:], raw[TensorOffset(lane, c):][:4])
				}
				row++
			}
		}
		if t.A >= E2M3 && !t.packed() {
			mask := byte(1)<<(layouts[t.A].exp+layouts[t.A].frac+1) - 1
			for b := range s.a[i][:row*32] {
				s.a[i][b] = s.a[i][b] >> t.lead() & mask
			}
		}
	}
	return len(parts)
}

// matrix gathers an operand's rows from shared memory.
func (s *tcScratch) matrix(dst []byte, c canonical, o *operand, read func(addr uint32, b []byte)) {
	l, base := placeOf(c, o)
	l.read(s.raw[:], base, read)
	l.gather(dst, s.raw[:], o)
}

// flip changes the signs of a matrix if neg.
func flip(rows []byte, f Format, neg, packed bool) {
	if !neg {
		return
	}
	at, sign := widthOf[f]/8, byte(0x80)
	if f >= E2M3 {
		sign = 1 << (layouts[f].exp + layouts[f].frac)
	}
	if packed {
		sign |= sign << 4
	}
	for i := at - 1; i < len(rows); i += at {
		rows[i] ^= sign
	}
}

// panel decodes rows of some bytes, whose signs it flips first if neg.
func panel(p *Panel, rows []byte, width int, f Format, neg bool, reset func(*Panel)) {
	flip(rows, f, neg, false)
	reset(p)
	for ; len(rows) > 0; rows = rows[width:] {
		p.AddBytes(rows[:width])
	}
}

// part computes one part of D in one CTA, from a half of B and a copy of A.
func (t *TCGen05) part(s *tcScratch, x *TCGen05Call, cta int, p *part, half, copied int) {
	rows := t.Rows()
	d := s.d[:rows*t.N/(t.CTAs*t.groups())]
	cells := s.cell[cta][p.column*columnBytes:]
	s.odd = s.odd[:0]
	if x.Input {
		load(d, cells, p.lanes)
		if t.D == F16 {
			for i := range d {
				d[i] &= 0xffff
			}
		}
		if t.ScaleD > 0 {
			t.scale(s, d)
		}
	} else {
		clear(d)
	}
	switch {
	case t.packed():
		t.packedTile(s, d, half, copied)
	case t.blockScaled():
		t.scaledTile(s, d, half, copied)
	default:
		t.tile(s, d, half, copied)
		for _, c := range s.odd {
			d[c.at] = t.scaledDot(s, &c, half, copied)
		}
	}
	store(cells, d, p.lanes)
}

// tile computes the elements of D, column by column.
func (t *TCGen05) tile(s *tcScratch, d []uint32, half, copied int) {
	a, b := &s.pa[copied], &s.pb[half]
	if !t.Sparse {
		t.turn.Tile(d, b, a)
		return
	}
	rows, columns := t.Rows(), len(d)/t.Rows()
	byRow := s.byRow[:len(d)]
	for i, c := range d {
		byRow[i%rows*columns+i/rows] = c
	}
	met := s.met[:rows*t.stored()]
	if t.groups() > 1 {
		met = s.met[half*len(met):][:len(met)]
	}
	t.rule.TileSparse(byRow, a, b, met)
	for i := range d {
		d[i] = byRow[i%rows*columns+i/rows]
	}
}

// load takes words out of the lanes of columns.
func load(d []uint32, cells []byte, lanes []run) {
	for len(d) > 0 {
		for _, r := range lanes {
			from, to := cells[r.first*laneBytes:][:r.n*laneBytes], d[:r.n]
			for i := range to {
				to[i] = binary.LittleEndian.Uint32(from[laneBytes*i:])
			}
			d = d[r.n:]
		}
		cells = cells[columnBytes:]
	}
}

// store is the reverse of load.
func store(cells []byte, d []uint32, lanes []run) {
	for len(d) > 0 {
		for _, r := range lanes {
			to := cells[r.first*laneBytes:][:r.n*laneBytes]
			for i, x := range d[:r.n] {
				binary.LittleEndian.PutUint32(to[laneBytes*i:], x)
			}
			d = d[r.n:]
		}
		cells = cells[columnBytes:]
	}
}

// A scaled element of C is one that the accumulator's format does not have as a
// normal number.
type scaled struct {
	at int // in D
	c  uint32
}

// scale multiplies C by 2^-scale-input-d. That is exact, also below the smallest
// normal number of D's format: such elements are put aside in s.odd.
func (t *TCGen05) scale(s *tcScratch, d []uint32) {
	frac, top := 23, uint32(0xff)
	if t.D == F16 {
		frac, top = 10, 0x1f
	}
	for i, c := range d {
		switch e := c >> frac & top; {
		case e == top || c&(top<<frac|1<<frac-1) == 0: // infinity, NaN, zero
		case e > uint32(t.ScaleD):
			d[i] -= uint32(t.ScaleD) << frac
		default:
			s.odd = append(s.odd, scaled{i, c})
			d[i] = 0
		}
	}
}

// scaledDot is one element of D whose C has an exponent that its format does not
// have.
func (t *TCGen05) scaledDot(s *tcScratch, c *scaled, half, copied int) uint32 {
	v, e := decode(t.D, c.c)
	var x, y Vector
	t.vectors(&x, &y, s, c.at%t.Rows(), half, c.at/t.Rows(), copied)
	return t.rule.group(math.Ldexp(v, -t.ScaleD), e-int32(t.ScaleD), &x, &y)
}

// elementAt is the element of n bytes at the start of b.
func elementAt(b []byte, n int) (x uint32) {
	for i := n - 1; i >= 0; i-- {
		x = x<<8 | uint32(b[i])
	}
	return x
}
