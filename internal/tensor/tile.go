package tensor

import "encoding/binary"

// A Panel is rows of A or columns of B, decoded once for the many dot products
// that each takes part in. The zero Panel is ready for [Panel.ResetA] or
// [Panel.ResetB]; it keeps its memory from one use to the next.
type Panel struct {
	format Format
	k      int  // elements in a row
	slots  int  // elements kept for a row: k, padded with zeros
	left   bool // of A
	step   int  // the rule's, if it is less than k; it and halves decide the order
	halves bool // of the slots
	rows   int

	// Of floating-point formats, see tile_float.go.
	val   [][block]float64         // of A, row by row
	cols  [][across][block]float64 // of B, strip by strip
	code  [][block]uint64
	span  []span
	strip []span // of eight columns together

	num  []int64  // of integers, see tile_int.go
	bits []uint64 // of b1

	words, raw, order []uint32 // the row being added, padded
	sum               []uint32
	met               *Panel
}

// ResetA empties the panel for rows of k elements of A: of a sparse A, of k
// stored elements.
func (p *Panel) ResetA(r *Rule, k int) { p.reset(r, r.a, k, true) }

// ResetB empties the panel for columns of k elements of B.
func (p *Panel) ResetB(r *Rule, k int) { p.reset(r, r.b, k, false) }

// block is how many elements the loops take a turn; rows are padded to a
// multiple of it with zeros, which change no sum.
const block = 8

// across is how many columns of B are processed together, see tile_float.go.
const across = 8

func padded(n int) int { return (n + block - 1) / block * block }

func (p *Panel) reset(r *Rule, f Format, k int, left bool) {
	p.format, p.k, p.left, p.halves, p.rows = f, k, left, r.halves, 0
	parts := r.parts(k)
	p.slots, p.step = parts*padded(k/parts), 0
	if parts > 1 {
		p.step = r.step
	}
	if f == B1 {
		p.slots = (k + 63) / 64
	}
	p.val, p.cols, p.code = p.val[:0], p.cols[:0], p.code[:0]
	p.span, p.strip = p.span[:0], p.strip[:0]
	p.num, p.bits = p.num[:0], p.bits[:0]
	if f != B1 {
		p.raw = extend(p.raw[:0], p.slots)
	}
}

// Rows is the number of rows that were added.
func (p *Panel) Rows() int { return p.rows }

// widthOf is the bits of an element in storage.
var widthOf = [...]int{F16: 16, BF16: 16, TF32: 32, E4M3: 8, E5M2: 8, F32: 32, S8: 8, U8: 8, S4: 4, U4: 4, B1: 1, S32: 32, E2M3: 8, E3M2: 8, E2M1: 8}

// AddWords adds a row of packed elements, the first in the low bits of the
// first word.
func (p *Panel) AddWords(row []uint32) {
	width := widthOf[p.format]
	if len(row)*32 != p.k*width {
		panic("BUG: a row of A or B of another length than it was said to have")
	}
	if p.format == B1 {
		p.addBits(row)
		return
	}
	raw := p.raw
	switch width {
	case 32:
		copy(raw, row)
	case 16:
		for i, w := range row {
			pair := (*[2]uint32)(raw[2*i:])
			pair[0], pair[1] = w&0xffff, w>>16
		}
	case 8:
		for i, w := range row {
			four := (*[4]uint32)(raw[4*i:])
			four[0], four[1], four[2], four[3] = w&0xff, w>>8&0xff, w>>16&0xff, w>>24
		}
	case 4:
		for i, w := range row {
			for e := range 8 {
				raw[8*i+e] = w >> (4 * e) & 15
			}
		}
	}
	p.addRaw()
}

// AddBytes adds a row of packed elements as they lie in memory.
func (p *Panel) AddBytes(row []byte) {
	p.words = p.words[:0]
	for ; len(row) >= 4; row = row[4:] {
		p.words = append(p.words, binary.LittleEndian.Uint32(row))
	}
	p.AddWords(p.words)
}

// Add adds a row of elements, each in the low bits of a word. Elements of b1
// come 32 in a word.
func (p *Panel) Add(row []uint32) {
	if p.format == B1 {
		p.addBits(row)
		return
	}
	copy(p.raw, row[:p.k])
	p.addRaw()
}

// addRaw adds the row in p.raw.
func (p *Panel) addRaw() {
	switch p.format {
	case S8, U8, S4, U4:
		p.addInts(p.raw[:p.k])
	default:
		p.addFloats()
	}
}

// slot returns the place of element i in a row. Elements that are summed
// separately lie together.
func (p *Panel) slot(i int) int {
	switch {
	case p.halves:
		return i>>1&1*(p.slots/2) + i>>2*2 + i&1
	case p.step != 0:
		return i/p.step*padded(p.step) + i%p.step
	}
	return i
}

// Tile computes D from C, in place: element (i, j), at d[i*b.Rows()+j], takes row
// i of a and row j of b, that is column j of B. Elements of f16 are in the low
// bits.
func (r *Rule) Tile(d []uint32, a, b *Panel) {
	d = d[:a.rows*b.rows]
	switch {
	case r.a == B1:
		r.tileBits(d, a, b)
	case r.integer():
		r.tileInts(d, a, b)
	case r.last || r.parts(a.k) > 1:
		r.tileSteps(d, a, b)
	default:
		r.tileFloats(d, a, b, 0, a.slots/block)
	}
}

// TileSparse is Tile for a sparse A: the stored element n of row i of a meets
// element met[i*k+n] of every column, where k is what ResetA was given. The
// same element may be met twice.
func (r *Rule) TileSparse(d []uint32, a, b *Panel, met []uint8) {
	row := *a
	for i := range a.rows {
		row.only(a, i)
		b.gather(a, met[i*a.k:][:a.k])
		r.Tile(d[i*b.rows:][:b.rows], &row, b.met)
	}
}

// only makes p a panel of row i of a only.
func (p *Panel) only(a *Panel, i int) {
	p.rows = 1
	if len(a.num) > 0 {
		p.num = a.single(i)
		return
	}
	n := a.slots / block
	p.val, p.code, p.span = a.val[i*n:][:n], a.code[i*n:][:n], a.span[i:i+1]
}

// gather fills p.met with the elements of each row of p that the elements of a row of a
// meet.
func (p *Panel) gather(a *Panel, at []uint8) {
	if p.met == nil {
		p.met = new(Panel)
	}
	m := p.met
	m.format, m.k, m.slots, m.step, m.halves, m.rows = p.format, a.k, a.slots, a.step, a.halves, p.rows
	if len(p.num) > 0 {
		m.num = extend(m.num[:0], p.rows*m.slots)
		for n, k := range at {
			for i := range p.rows {
				m.num[i*m.slots+n] = p.num[i*p.slots+int(k)]
			}
		}
		return
	}
	// The spans are of whole columns; what they bound holds for a subset of the
	// elements too.
	m.span, m.strip = append(m.span[:0], p.span...), append(m.strip[:0], p.strip...)
	to, from := m.slots/block, p.slots/block // blocks
	m.code = extend(m.code[:0], len(p.strip)*to)
	m.cols = extend(m.cols[:0], len(p.strip)*to)
	for n, k := range at {
		x, y := m.slot(n), p.slot(int(k))
		for i := range p.strip {
			dst, src := i*to+x/block, i*from+y/block
			m.code[dst][x%block] = p.code[src][y%block]
			d, s := &m.cols[dst], &p.cols[src]
			for j := range d {
				d[j][x&7] = s[j][y&7]
			}
		}
	}
}

// extend lengthens s by n zeros.
func extend[T any](s []T, n int) []T {
	if cap(s)-len(s) < n {
		s = append(make([]T, 0, 2*(len(s)+n)), s...)
	}
	tail := s[len(s) : len(s)+n]
	clear(tail)
	return s[:len(s)+n]
}

// tileSteps is Tile in several steps.
func (r *Rule) tileSteps(d []uint32, a, b *Panel) {
	sum := d
	if r.last {
		b.sum = extend(b.sum[:0], len(d))
		sum = b.sum
	}
	parts := r.parts(a.k)
	n := a.slots / block / parts
	for part := range parts {
		r.tileFloats(sum, a, b, part*n, n)
	}
	if r.last {
		for i, s := range sum {
			d[i] = r.add(d[i], s)
		}
	}
}
