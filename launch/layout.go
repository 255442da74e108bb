package launch

import (
	"fmt"
	"io"
	"math"
	"sort"
)

// Addresses. Everything from MaxAddress on is left to the windows of other state spaces.
const (
	FirstBase    = 0x7f00_0000_0000 // of the first buffer without a stated base
	MinAddress   = 1 << 16          // a null pointer with an index stays below
	MaxAddress   = 1 << 49          // the width of a virtual address on Hopper
	DefaultAlign = 256              // what cudaMalloc promises
	GuardGap     = 64 << 10         // unowned bytes around each buffer
)

// DefaultMemoryLimit bounds the total size of all buffers, in bytes.
const DefaultMemoryLimit = 8 << 30

// A Layout is the contents and plan of global memory before the first launch.
type Layout struct {
	Buffers []PlacedBuffer // in the file's order
	byName  map[string]int
}

// A PlacedBuffer is a buffer with its address and initial contents.
type PlacedBuffer struct {
	Name  string
	Pos   Pos
	Type  Type
	Shape []int64
	Base  uint64
	Size  uint64 // bytes
	// Data has Size bytes, or is nil where Initialized is false. It belongs to the
	// Layout: copy it before writing.
	Data        []byte
	Initialized bool
	Maps        []PlacedMap // tensor maps that Data holds
}

// End returns the address after the last byte.
func (b *PlacedBuffer) End() uint64 { return b.Base + b.Size }

// Buffer finds a buffer by name; nil if there is none.
func (l *Layout) Buffer(name string) *PlacedBuffer {
	if i, ok := l.byName[name]; ok {
		return &l.Buffers[i]
	}
	return nil
}

// Layout plans memory: it gives every buffer its address and contents. The total size is
// limited to limit bytes (0: DefaultMemoryLimit), which is checked before any of it is
// allocated.
func (f *File) Layout(limit int64) (*Layout, error) {
	return f.layout(limit, func(l *Layout) error { return l.place(f.Buffers) })
}

// LayoutAt is Layout with addresses from another allocator, as the driver of a GPU. It
// calls place once for each buffer, in the file's order, with its size in bytes and its
// alignment. A buffer with a stated base is an error.
func (f *File) LayoutAt(limit int64, place func(name string, size, align uint64) (uint64, error)) (*Layout, error) {
	return f.layout(limit, func(l *Layout) error {
		for i := range f.Buffers {
			b, p := &f.Buffers[i], &l.Buffers[i]
			if b.Fixed {
				return errorf(b.basePos, "buffer %q states its base, %#x; here the driver chooses addresses", b.Name, b.Base)
			}
			var err error
			if p.Base, err = place(b.Name, p.Size, b.alignment()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *File) layout(limit int64, place func(*Layout) error) (*Layout, error) {
	if limit <= 0 {
		limit = DefaultMemoryLimit
	}
	l := &Layout{byName: make(map[string]int)}
	total := uint64(0)
	for i := range f.Buffers {
		b := &f.Buffers[i]
		p := PlacedBuffer{Name: b.Name, Pos: b.Pos, Type: b.Type, Shape: b.Shape}
		if err := measure(b, &p); err != nil {
			return nil, err
		}
		if p.Size > uint64(limit)-total {
			return nil, overLimit(&p, total, uint64(limit))
		}
		total += p.Size
		l.byName[b.Name] = len(l.Buffers)
		l.Buffers = append(l.Buffers, p)
	}
	if err := place(l); err != nil {
		return nil, err
	}
	for i := range f.Buffers {
		if err := l.fill(&f.Buffers[i], &l.Buffers[i]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (b *Buffer) alignment() uint64 {
	if b.Align == 0 {
		return DefaultAlign
	}
	return b.Align
}

func overLimit(p *PlacedBuffer, before, limit uint64) error {
	if before == 0 {
		return errorf(p.Pos, "buffer %q takes %s; the memory limit is %s", p.Name, formatSize(p.Size), formatSize(limit))
	}
	return errorf(p.Pos, "buffer %q takes %s besides %s for the buffers before it; the memory limit is %s",
		p.Name, formatSize(p.Size), formatSize(before), formatSize(limit))
}

// measure computes shape and size, from the fill's file if the shape is not stated.
func measure(b *Buffer, p *PlacedBuffer) error {
	if b.Shape == nil {
		f, h, err := openArrayFile(b.Fill.Pos, b.Fill.File, b.Type, nil, b.Name)
		if err != nil {
			return err
		}
		f.Close()
		p.Shape = h.Shape
		if b.Type == TensorMapType {
			p.Shape = h.Shape[:len(h.Shape)-1]
		}
	}
	n, ok := elements(p.Shape)
	if !ok || n > math.MaxInt64/int64(b.Type.Size()) {
		return errorf(b.Pos, "buffer %q of shape %s takes more than 2^63 bytes", b.Name, formatShape(p.Shape))
	}
	p.Size = uint64(n) * uint64(b.Type.Size())
	return nil
}

// A span is an occupied range of addresses.
type span struct {
	base, end uint64
	buf       *PlacedBuffer
}

// place assigns addresses: first those stated, then the others in the file's
// order, each at the lowest address that is free with a gap on both sides.
func (l *Layout) place(buffers []Buffer) error {
	fixed, err := l.placeFixed(buffers)
	if err != nil {
		return err
	}
	taken := append(fixed, span{base: MaxAddress + GuardGap, end: math.MaxUint64})
	cursor := uint64(FirstBase)
	for i := range buffers {
		if buffers[i].Fixed {
			continue
		}
		p, align := &l.Buffers[i], buffers[i].alignment()
		if p.Base, taken = firstFree(taken, cursor, p.Size, align); p.Base == 0 {
			return errorf(p.Pos, "no room for buffer %q of %s: addresses end at %#x", p.Name, formatSize(p.Size), uint64(MaxAddress))
		}
		cursor = p.End() + GuardGap
	}
	return nil
}

func (l *Layout) placeFixed(buffers []Buffer) ([]span, error) {
	var fixed []span
	for i := range buffers {
		b, p := &buffers[i], &l.Buffers[i]
		if !b.Fixed {
			continue
		}
		p.Base = b.Base
		switch {
		case b.Align != 0 && b.Base%b.Align != 0:
			return nil, errorf(b.basePos, "base %#x of buffer %q is no multiple of its align, %d", b.Base, b.Name, b.Align)
		case b.Base < MinAddress || b.Base > MaxAddress-p.Size:
			return nil, errorf(b.basePos, "buffer %q at %#x does not lie between %#x and %#x", b.Name, b.Base, uint64(MinAddress), uint64(MaxAddress))
		}
		fixed = append(fixed, span{p.Base, p.End(), p})
	}
	sort.SliceStable(fixed, func(i, j int) bool { return fixed[i].base < fixed[j].base })
	return fixed, checkOverlap(fixed)
}

// checkOverlap checks sorted spans. An empty buffer overlaps nothing.
func checkOverlap(fixed []span) error {
	var last *PlacedBuffer
	for _, s := range fixed {
		if s.base == s.end {
			continue
		}
		if last != nil && s.base < last.End() {
			return errorf(s.buf.Pos, "buffer %q at %#x to %#x overlaps buffer %q at %#x to %#x",
				s.buf.Name, s.base, s.end-1, last.Name, last.Base, last.End()-1)
		}
		last = s.buf
	}
	return nil
}

// firstFree finds the lowest aligned address from cursor on with size free bytes and a
// gap to every span taken; 0 if there is none. The last span is the end of memory. It
// also returns the spans above that address.
func firstFree(taken []span, cursor, size, align uint64) (uint64, []span) {
	for ; len(taken) > 0; taken = taken[1:] {
		s := taken[0]
		base, ok := alignUp(cursor, align)
		if ok && base+size+GuardGap <= s.base {
			return base, taken
		}
		if s.end > MaxAddress {
			break
		}
		cursor = max(cursor, s.end+GuardGap)
	}
	return 0, nil
}

// fill builds the initial contents, after addresses are assigned.
func (l *Layout) fill(b *Buffer, p *PlacedBuffer) error {
	switch b.Fill.Kind {
	case FillUninitialized:
		return nil
	case FillFile:
		data, err := readArrayFile(b.Fill.Pos, b.Fill.File, b.Type, p.Shape, b.Name)
		p.Data, p.Initialized = data, true
		return err
	case FillData:
		if uint64(len(b.Fill.Data)) != p.Size {
			return errorf(b.Pos, "buffer %q of %d bytes is filled with %d", b.Name, p.Size, len(b.Fill.Data))
		}
		p.Data, p.Initialized = b.Fill.Data, true
		return nil
	}
	p.Data, p.Initialized = make([]byte, p.Size), true
	if b.Fill.Kind == FillValues {
		return l.fillValues(b, p)
	}
	if element := b.Fill.element(b.Type); element != nil {
		fillElements(p.Data, b.Type.Size(), element)
	}
	return nil
}

// element returns the generator of a fill; nil for zeros.
func (f *Fill) element(t Type) func(uint64) uint64 {
	constant := func(bits uint64) func(uint64) uint64 { return func(uint64) uint64 { return bits } }
	switch f.Kind {
	case FillZeros:
		return nil
	case FillOnes:
		return constant(t.encodeInt(1))
	case FillNaN:
		return constant(t.info().float.nan)
	case FillIota:
		return t.encodeInt
	case FillMod:
		return func(i uint64) uint64 { return t.encodeInt(i % f.Mod) }
	case FillRandom:
		return func(i uint64) uint64 { return f.Random.element(t, i) }
	}
	panic(fmt.Sprintf("BUG: fill %d has no generator", f.Kind))
}

func fillElements(data []byte, size int, element func(uint64) uint64) {
	for i := 0; i < len(data)/size; i++ {
		putBits(data[i*size:], size, element(uint64(i)))
	}
}

func (l *Layout) fillValues(b *Buffer, p *PlacedBuffer) error {
	size := b.Type.Size()
	for i, v := range b.Values {
		off := i * size
		switch {
		case v.Map != nil:
			m, err := v.Map.resolve(l.Buffer(v.Map.Of))
			if err != nil {
				return err
			}
			p.Maps = append(p.Maps, placeMap(p.Data[off:], off, m))
		case v.Ptr != nil:
			addr, err := l.Address(v.Ptr)
			if err != nil {
				return err
			}
			putBits(p.Data[off:], size, addr)
		default:
			putBits(p.Data[off:], size, v.Bits)
		}
	}
	return nil
}

// Address resolves a pointer, which may be one past the end of the buffer, as in C.
func (l *Layout) Address(p *Pointer) (uint64, error) {
	b := l.Buffer(p.Buffer)
	if b == nil {
		return 0, errorf(p.Pos, "no buffer is called %s", quote(p.Buffer))
	}
	if p.Offset < 0 || uint64(p.Offset) > b.Size {
		return 0, errorf(p.Pos, "offset %d lies outside buffer %q of %d bytes", p.Offset, b.Name, b.Size)
	}
	return b.Base + uint64(p.Offset), nil
}

// putBits stores the low size bytes, little endian; size is 1, 2, 4 or 8.
func putBits(data []byte, size int, bits uint64) {
	for i := range size {
		data[i] = byte(bits >> (8 * i))
	}
}

func getBits(data []byte, size int) uint64 {
	var bits uint64
	for i := range size {
		bits |= uint64(data[i]) << (8 * i)
	}
	return bits
}

// WriteArray writes contents of the buffer as an .npy, in the form that fill and expect
// accept.
func (b *PlacedBuffer) WriteArray(w io.Writer, data []byte) error {
	shape := b.Shape
	if b.Type == TensorMapType {
		shape = append(append([]int64{}, shape...), int64(b.Type.Size()))
	}
	return WriteNpy(w, &Array{Descr: b.Type.NpyDescr(), Shape: shape, Data: data})
}
