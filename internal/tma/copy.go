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
	Len    int    // bytes that move
	Span   int    // bytes of shared memory: Len, or a padded group's (see Map.Pack and Map.Padding)
	Fill   bool   // out of bounds: a load writes what WriteFill gives
}

// An Access is what the instruction of a copy says of its box.
type Access struct {
	Coords  []int32  // one for each dimension of the map; with Four a column and four rows
	Offsets []uint16 // im2col: of W, H and D; the wide modes: wHalo and wOffset
	Four    bool     // .tile::gather4 or .tile::scatter4
}

// Load gives the runs of a load into the box at shared, in the order of the
// box. Every byte that the load writes is in exactly one run. Check must accept m, and
// CheckLoad the access.
func (m *Map) Load(shared uint32, a Access) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		o := output{yield: yield, swizzle: m.Swizzle}
		m.rows(a, func(at uint32, x *[5]int64) bool {
			r := m.row(x)
			if m.Type.padded() {
				return o.groups(shared+at, &r, m.Type.group(), true)
			}
			return o.add(shared+at, 0, r.lo, true) && o.add(shared+at+uint32(r.lo), r.global+uint64(r.lo), r.hi-r.lo, false) &&
				o.add(shared+at+uint32(r.hi), 0, r.n-r.hi, true)
		})
		o.flush()
	}
}

// Store gives the runs of a store or reduction from the box at shared: what
// falls outside the tensor is left out. Where the tensor's rows are no multiple
// of 16 bytes, a run ends up to 15 bytes beyond the row: the card writes these
// too. CheckStore must accept the access.
func (m *Map) Store(shared uint32, a Access) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		o := output{yield: yield, swizzle: m.Swizzle}
		m.rows(Access{Coords: a.Coords, Four: a.Four}, func(at uint32, x *[5]int64) bool {
			r := m.row(x)
			if m.Type.padded() {
				return o.groups(shared+at, &r, m.Type.group(), false)
			}
			hi := r.lo + (r.hi-r.lo+15)&^15
			return o.add(shared+at+uint32(r.lo), r.global+uint64(r.lo), hi-r.lo, false)
		})
		o.flush()
	}
}

// TxBytes is the number of bytes that a load counts on its mbarrier. It is that
// of the whole box, also where it is out of bounds; the gaps that a swizzle
// leaves between short rows do not count, nor does the padding of groups.
func (m *Map) TxBytes(a Access) int { return m.rowBytes() * m.rowCount(a) }

// SharedBytes is how much of shared memory a box takes, the gaps included.
func (m *Map) SharedBytes(a Access) int { return m.pitch() * m.rowCount(a) }

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
		if c := o.swizzle.chunk(); o.swizzle != SwizzleNone {
			k = min(n, int(c-shared%c))
		}
		o.join(Run{o.swizzle.Apply(shared), global, k, k, fill})
		shared += uint32(k)
		n -= k
		if !fill {
			global += uint64(k)
		}
	}
	return !o.done
}

// groups takes a row of groups of n bytes, each padded in shared memory. It is in bounds
// as a whole or not at all.
func (o *output) groups(shared uint32, r *row, n int, fill bool) bool {
	inside := r.hi > r.lo
	if !inside && !fill {
		return !o.done
	}
	global := r.global
	for at := 0; at < r.n && !o.done; at += n {
		o.flush()
		o.last = Run{Shared: o.swizzle.Apply(shared), Len: n, Span: groupShared, Fill: !inside}
		if inside {
			o.last.Global = global
		}
		o.flush()
		shared, global = shared+groupShared, global+uint64(n)
	}
	return !o.done
}

func (o *output) join(r Run) {
	l := &o.last
	if l.Fill == r.Fill && l.Shared+uint32(l.Len) == r.Shared && (r.Fill || l.Global+uint64(l.Len) == r.Global) && l.Len > 0 {
		l.Len += r.Len
		l.Span += r.Span
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
