package tensor

import (
	"slices"
	"sync"
)

// A place is an operand in shared memory: what is read, and where each 16-byte
// chunk lies in the concatenated spans.
type place struct {
	spans []Span
	at    []uint32
	size  uint32 // bytes of the spans together
}

func newPlace(c canonical, o *operand) *place {
	l, size := new(place), uint32(16-o.pad)
	var addr []uint32
	c.chunks(o, func(a uint32) { addr = append(addr, a) })
	sorted := slices.Clone(addr)
	slices.Sort(sorted)
	for _, a := range slices.Compact(sorted) {
		if n := len(l.spans); n > 0 && l.spans[n-1].Addr+l.spans[n-1].Len == a {
			l.spans[n-1].Len += size
		} else {
			l.spans = append(l.spans, Span{a, size})
		}
		l.size += size
	}
	begin := make([]uint32, len(l.spans))
	for i := 1; i < len(begin); i++ {
		begin[i] = begin[i-1] + l.spans[i-1].Len
	}
	l.at = addr
	for i, a := range addr {
		n, found := slices.BinarySearchFunc(l.spans, a, func(s Span, a uint32) int { return int(s.Addr) - int(a) })
		if !found {
			n--
		}
		l.at[i] = begin[n] + a - l.spans[n].Addr
	}
	return l
}

// placeKey names a place. The start's high bits are left out, for they only shift
// it: the swizzle depends on the low ten.
type placeKey struct {
	c canonical
	o operand
}

const (
	pattern   = 1024 // bytes after which every swizzle repeats
	maxPlaces = 1024 // kept; a program that makes up descriptors starts over
)

var places = struct {
	sync.RWMutex
	m map[placeKey]*place
}{m: map[placeKey]*place{}}

// placeOf returns the place of an operand and what to add to its addresses.
func placeOf(c canonical, o *operand) (*place, uint32) {
	base := c.start &^ (pattern - 1)
	if c.next {
		base = min(base, c.lead&^(pattern-1))
		c.lead -= base
	}
	c.start -= base
	return cachedPlace(placeKey{c, *o}), base
}

func cachedPlace(k placeKey) *place {
	places.RLock()
	l := places.m[k]
	places.RUnlock()
	if l != nil {
		return l
	}
	l = newPlace(k.c, &k.o)
	places.Lock()
	defer places.Unlock()
	if len(places.m) >= maxPlaces {
		clear(places.m)
	}
	places.m[k] = l
	return l
}

// spansOf returns an operand's spans, in ascending order.
func spansOf(c canonical, o *operand) []Span {
	l, base := placeOf(c, o)
	spans := make([]Span, len(l.spans))
	for i, s := range l.spans {
		spans[i] = Span{base + s.Addr, s.Len}
	}
	return spans
}

// read fills raw with the operand's spans, one after the other. raw has size
// bytes and 16 more, for the padding of the last chunk.
func (l *place) read(raw []byte, base uint32, read func(addr uint32, b []byte)) {
	off := uint32(0)
	for _, p := range l.spans {
		read(base+p.Addr, raw[off:off+p.Len])
		off += p.Len
	}
}

// gather makes rows, elements in the order of k, out of what read has read.
func (l *place) gather(dst, raw []byte, o *operand) {
	if !o.mn {
		for i, at := range l.at {
			*(*[16]byte)(dst[16*i:]) = o.unpadded([16]byte(raw[at:]))
		}
		return
	}
	per := 16 / o.elem
	n := o.rows / per
	for i, at := range l.at {
		k, m := i/n, i%n
		src := o.unpadded([16]byte(raw[at:]))
		switch o.elem {
		case 1:
			for e, x := range src {
				dst[(per*m+e)*o.width+k] = x
			}
		case 2:
			for e := range 8 {
				to := dst[(8*m+e)*o.width+2*k:]
				to[0], to[1] = src[2*e], src[2*e+1]
			}
		default:
			for e := range 4 {
				*(*[4]byte)(dst[(4*m+e)*o.width+4*k:]) = [4]byte(src[4*e:])
			}
		}
	}
}

// unpadded makes 16 bytes, an element in each, of a chunk of 16 elements of 4
// bits and 8 bytes of padding, or of 6 bits and 4 bytes (ISA 9.7.18.10.4.4). It
// leaves other chunks as they are.
func (o *operand) unpadded(chunk [16]byte) [16]byte {
	if o.pad == 0 {
		return chunk
	}
	bits := 8 - o.pad/2
	for i := 15; i >= 0; i-- { // no element is read after its bytes are written
		at := i * bits
		pair := uint(chunk[at/8])
		if at/8 < 15 {
			pair |= uint(chunk[at/8+1]) << 8
		}
		chunk[i] = byte(pair >> (at % 8) & (1<<bits - 1))
	}
	return chunk
}
