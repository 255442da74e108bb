package tma

import (
	"encoding/binary"
	"iter"
)

// A Run is a piece of a copy that is contiguous in shared memory and, unless it
// is fill, in global memory.
type Run struct {
	Shared uint32 // address in shared memory
	Global uint64 // address in global memory, if not Fill
	Len    int    // bytes
	Fill   bool   // out of bounds: a load writes what WriteFill gives
}

// Load gives the runs of a load into the box at shared, in the order of the
// box. The coordinates, and in im2col mode the offsets of W, H and D, are the
// instruction's. Every byte that the load writes is in exactly one run. Check
// must accept m, and CheckLoad the coordinates.
func (m *Map) Load(shared uint32, coords []int32, offsets []uint16) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		o := output{yield: yield, swizzle: m.Swizzle}
		m.rows(coords, offsets, func(at uint32, x *[5]int64) bool {
			r := m.row(x)
			return o.add(shared+at, 0, r.lo, true) && o.add(shared+at+uint32(r.lo), r.global+uint64(r.lo), r.hi-r.lo, false) &&
				o.add(shared+at+uint32(r.hi), 0, r.n-r.hi, true)
		})
		o.flush()
	}
}

// Store gives the runs of a store or reduction from the box at shared: what
// falls outside the tensor is left out. Where the tensor's rows are no multiple
// of 16 bytes, a run ends up to 15 bytes beyond the row: the card writes these
// too. CheckStore must accept the coordinates.
func (m *Map) Store(shared uint32, coords []int32) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		o := output{yield: yield, swizzle: m.Swizzle}
		m.rows(coords, nil, func(at uint32, x *[5]int64) bool {
			r := m.row(x)
			hi := r.lo + (r.hi-r.lo+15)&^15
			return o.add(shared+at+uint32(r.lo), r.global+uint64(r.lo), hi-r.lo, false)
		})
		o.flush()
	}
}

// TxBytes is the number of bytes that a load counts on its mbarrier. It is that
// of the whole box, also where it is out of bounds; the gaps that a swizzle
// leaves between short rows do not count.
func (m *Map) TxBytes() int { return m.rowBytes() * m.rowCount() }

// SharedBytes is how much of shared memory a box takes, the gaps included.
func (m *Map) SharedBytes() int { return m.pitch() * m.rowCount() }

// Convert rounds the elements of b as a load does on its way to shared memory:
// tf32 to the nearest, ties to even, every NaN to 0x7fffe000. Other types, ftz
// included, stay.
func (m *Map) Convert(b []byte) {
	if m.Type != TF32 && m.Type != TF32FTZ {
		return
	}
	for ; len(b) >= 4; b = b[4:] {
		v := binary.LittleEndian.Uint32(b)
		if v&^(1<<31) > 0x7f800000 {
			v = 0x7fffe000
		} else {
			v = (v + 0xfff + v>>13&1) &^ 0x1fff
		}
		binary.LittleEndian.PutUint32(b, v)
	}
}

// WriteFill writes what a load leaves for elements out of bounds. b begins at
// an element.
func (m *Map) WriteFill(b []byte) {
	if m.Fill == FillZero {
		clear(b)
		return
	}
	for i := range b {
		b[i] = [2]byte{0xf7, 0x7f}[i&1]
	}
}

// rowBytes is the number of bytes of a row: of what is contiguous on both
// sides. With interleave that is one slice.
func (m *Map) rowBytes() int {
	switch {
	case m.Interleave != InterleaveNone:
		return m.Interleave.slice()
	case m.Mode == Im2col:
		return int(m.Channels) * m.Type.Size()
	}
	return int(m.Box[0]) * m.Type.Size()
}

// pitch is the distance of two rows in shared memory.
func (m *Map) pitch() int {
	if m.Interleave != InterleaveNone {
		return m.rowBytes()
	}
	return max(m.rowBytes(), m.Swizzle.Span())
}

// steps is how many rows a tiled box has along each dimension.
func (m *Map) steps() (n [5]int) {
	for i := range m.Rank {
		n[i] = int((m.Box[i] + m.ElementStrides[i] - 1) / m.ElementStrides[i])
	}
	if m.Interleave == InterleaveNone {
		n[0] = 1
	} else {
		n[m.Rank-2] = 1
	}
	return n
}

func (m *Map) rowCount() int {
	if m.Mode == Im2col {
		return int(m.Pixels)
	}
	c, n := 1, m.steps()
	for i := range m.Rank {
		c *= n[i]
	}
	return c
}

// rows calls f for each row of a box, with its offset before swizzling and the
// coordinates of its first element.
func (m *Map) rows(coords []int32, offsets []uint16, f func(at uint32, x *[5]int64) bool) {
	var x [5]int64
	for i := range m.Rank {
		x[i] = int64(coords[i])
	}
	if m.Mode == Im2col {
		m.pixels(x, offsets, f)
	} else {
		m.tiles(x, f)
	}
}

func (m *Map) tiles(first [5]int64, f func(at uint32, x *[5]int64) bool) {
	n, pitch := m.steps(), uint32(m.pitch())
	var j [5]int
	x := first
	for at := uint32(0); f(at, &x); at += pitch {
		i := 0
		for ; i < m.Rank; i++ {
			j[i]++
			x[i] += int64(m.ElementStrides[i])
			if j[i] < n[i] {
				break
			}
			j[i], x[i] = 0, first[i]
		}
		if i == m.Rank {
			return
		}
	}
}

func (m *Map) pixels(x [5]int64, offsets []uint16, f func(at uint32, x *[5]int64) bool) {
	pitch, w := uint32(m.pitch()), m.spatial()
	add := m.offsets(offsets)
	for p := range m.Pixels {
		y := x
		for i := range m.Rank - 2 {
			y[w+i] += add[i]
		}
		if !f(p*pitch, &y) {
			return
		}
		i := 0
		for ; i < m.Rank-2; i++ {
			x[w+i] += int64(m.ElementStrides[w+i])
			if x[w+i] <= m.last(i) {
				break
			}
			x[w+i] = int64(m.Lower[i])
		}
		if i == m.Rank-2 {
			x[m.Rank-1] += int64(m.ElementStrides[m.Rank-1])
		}
	}
}

// offsets gives the im2col offsets as they arrive: the instruction has 16 bits
// for them all. The compiler does not check them, so that for rank 5 what does
// not fit 5 bits runs into the next one; for rank 4 it takes the low byte of
// each.
func (m *Map) offsets(in []uint16) (out [3]int64) {
	var o [3]uint16
	copy(o[:], in)
	switch m.Rank {
	case 3:
		out[0] = int64(o[0])
	case 4:
		out[0], out[1] = int64(o[0]&0xff), int64(o[1]&0xff)
	case 5:
		p := o[0] + o[1]<<5 + o[2]<<10
		out = [3]int64{int64(p & 31), int64(p >> 5 & 31), int64(p >> 10 & 31)}
	}
	return out
}

// last is the last coordinate of the bounding box in spatial dimension i.
func (m *Map) last(i int) int64 {
	return int64(m.Dims[m.spatial()+i]) - 1 + int64(m.Upper[i])
}

// A row is where n contiguous bytes of a box lie in global memory; those from
// lo to hi are in bounds.
type row struct {
	global    uint64
	n, lo, hi int
}

func (m *Map) row(x *[5]int64) row {
	unit := m.Type.Size()
	if m.Interleave != InterleaveNone {
		unit = m.rowBytes()
	}
	r := row{global: m.Address + uint64(x[0]*int64(unit)), n: m.rowBytes()}
	for i := m.spatial(); i < m.Rank; i++ {
		if x[i] < 0 || x[i] >= int64(m.Dims[i]) {
			return r
		}
	}
	for i := 1; i < m.Rank; i++ {
		r.global += uint64(x[i]) * m.Strides[i-1]
	}
	if m.Interleave != InterleaveNone {
		r.hi = r.n
		return r
	}
	r.lo = int(min(max(-x[0]*int64(unit), 0), int64(r.n)))
	r.hi = int(min(max((int64(m.Dims[0])-x[0])*int64(unit), int64(r.lo)), int64(r.n)))
	return r
}

// output swizzles runs and joins those that continue each other.
type output struct {
	yield   func(Run) bool
	swizzle Swizzle
	last    Run
	done    bool
}

// add takes n bytes at an address before swizzling, and reports whether more
// are wanted.
func (o *output) add(shared uint32, global uint64, n int, fill bool) bool {
	for n > 0 && !o.done {
		k := n
		if o.swizzle != SwizzleNone {
			k = min(n, 16-int(shared&15))
		}
		o.join(Run{o.swizzle.Apply(shared), global, k, fill})
		shared += uint32(k)
		n -= k
		if !fill {
			global += uint64(k)
		}
	}
	return !o.done
}

func (o *output) join(r Run) {
	l := &o.last
	if l.Fill == r.Fill && l.Shared+uint32(l.Len) == r.Shared && (r.Fill || l.Global+uint64(l.Len) == r.Global) && l.Len > 0 {
		l.Len += r.Len
		return
	}
	o.flush()
	o.last = r
}

func (o *output) flush() {
	if o.last.Len > 0 && !o.done {
		o.done = !o.yield(o.last)
	}
	o.last = Run{}
}
