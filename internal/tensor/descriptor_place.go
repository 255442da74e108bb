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

func newPlace(d Descriptor, o *operand) *place {
	l := new(place)
	var addr []uint32
	o.chunks(d, func(a uint32) { addr = append(addr, a) })
	sorted := slices.Clone(addr)
	slices.Sort(sorted)
	for _, a := range slices.Compact(sorted) {
		if n := len(l.spans); n > 0 && l.spans[n-1].Addr+l.spans[n-1].Len == a {
			l.spans[n-1].Len += 16
		} else {
			l.spans = append(l.spans, Span{a, 16})
		}
		l.size += 16
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
	d Descriptor
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
func placeOf(d Descriptor, o *operand) (*place, uint32) {
	base := d.Start() &^ (pattern - 1)
	return cachedPlace(placeKey{d - Descriptor(base>>4), *o}), base
}

func cachedPlace(k placeKey) *place {
	places.RLock()
	l := places.m[k]
	places.RUnlock()
	if l != nil {
		return l
	}
	l = newPlace(k.d, &k.o)
	places.Lock()
	defer places.Unlock()
	if len(places.m) >= maxPlaces {
		clear(places.m)
	}
	places.m[k] = l
	return l
}

// spansOf returns an operand's spans, in ascending order.
func spansOf(d Descriptor, o *operand) []Span {
	l, base := placeOf(d, o)
	spans := make([]Span, len(l.spans))
	for i, s := range l.spans {
		spans[i] = Span{base + s.Addr, s.Len}
	}
	return spans
}
