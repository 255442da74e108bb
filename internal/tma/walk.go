package tma

// rowBytes is the number of bytes of a row: of what is contiguous on both
// sides. With interleave that is one slice.
func (m *Map) rowBytes() int {
	switch {
	case m.Interleave != InterleaveNone:
		return m.Interleave.slice()
	case m.Mode != Tiled:
		return int(m.Type.bytes(int64(m.Channels)))
	}
	return int(m.Type.bytes(int64(m.Box[0])))
}

// pitch is the distance of two rows in shared memory.
func (m *Map) pitch() int {
	if m.Interleave != InterleaveNone {
		return m.rowBytes()
	}
	row := m.rowBytes()
	if m.Type.padded() {
		row = row / m.Type.group() * groupShared
	}
	return max(row, m.Swizzle.Span())
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

func (m *Map) rowCount(a Access) int {
	switch {
	case a.Four:
		return 4
	case m.Mode == Im2colW:
		return int(m.Pixels) + int(a.wide()[0])
	case m.Mode == Im2colW128:
		return w128Pixels + w128Parts*int(a.wide()[0])
	case m.Mode == Im2col:
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
func (m *Map) rows(a Access, f func(at uint32, x *[5]int64) bool) {
	var x [5]int64
	for i := range m.Rank {
		x[i] = int64(a.Coords[i])
	}
	switch {
	case a.Four:
		m.four(x[0], a.Coords[1:], f)
	case m.Mode.wide():
		m.pixelsAlongW(x, a.wide(), f)
	case m.Mode == Im2col:
		m.pixels(x, a.Offsets, f)
	default:
		m.tiles(x, f)
	}
}

// four walks four rows of a tensor, which lie one after the other in shared memory
// (ISA 5.5.3.4).
func (m *Map) four(column int64, rows []int32, f func(at uint32, x *[5]int64) bool) {
	for i, r := range rows {
		if !f(uint32(i*m.pitch()), &[5]int64{column, int64(r)}) {
			return
		}
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

// What Im2colW128 walks: 128 pixels, with a halo after each 32 of them.
const (
	w128Pixels = 128
	w128Parts  = 4
)

// wide gives wHalo and wOffset.
func (a Access) wide() (out [2]int64) {
	for i, o := range a.Offsets[:min(len(a.Offsets), 2)] {
		out[i] = int64(o)
	}
	return out
}

// pixelsAlongW walks pixels of the wide modes (ISA 5.5.5): along W from its coordinate
// on, and past the far edge of the bounding box from the near edge of the next image. H
// and D stay. wOffset moves the box and where the walk begins in it.
//
// The halo is what the walk would come to next: in Im2colW after all pixels, in
// Im2colW128 after each 32 of them. The ISA shows only in figure 19 where the latter lie
// in shared memory. Here they follow the 128 pixels, the first ones of the four parts
// and then the second ones: so tcgen05.cp.4x256b takes four to the four partitions of
// lanes in tensor memory that tcgen05.shift leaves without a next row.
func (m *Map) pixelsAlongW(x [5]int64, o [2]int64, f func(at uint32, x *[5]int64) bool) {
	n, parts := int64(m.Pixels), int64(1)
	if m.Mode == Im2colW128 {
		n, parts = w128Pixels, w128Parts
	}
	halo, lower, last := o[0], int64(m.Lower[0])+o[1], m.last(0)+o[1]
	// at gives the pixel at a distance of the first: from the near edge on, an image has
	// `turn` steps.
	step := int64(m.ElementStrides[1])
	first := x[1] + o[1]
	until, turn := (last-first)/step+1, (last-lower)/step+1
	at := func(i int64) *[5]int64 {
		y := x
		if i < until {
			y[1] = first + i*step
			return &y
		}
		y[1] = lower + (i-until)%turn*step
		y[m.Rank-1] += 1 + (i-until)/turn
		return &y
	}
	pitch := uint32(m.pitch())
	for i := range n + parts*halo {
		p := i
		if k := i - n; k >= 0 {
			p = (k%parts+1)*(n/parts) + k/parts
		}
		if !f(uint32(i)*pitch, at(p)) {
			return
		}
	}
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
	unit := m.Type.bytes
	if m.Interleave != InterleaveNone {
		unit = func(n int64) int64 { return n * int64(m.rowBytes()) }
	}
	r := row{global: m.Address + uint64(unit(x[0])), n: m.rowBytes()}
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
	r.lo = int(min(max(unit(-x[0]), 0), int64(r.n)))
	r.hi = int(min(max(unit(int64(m.Dims[0])-x[0]), int64(r.lo)), int64(r.n)))
	return r
}
