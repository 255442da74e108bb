package machine

// Memory is pages of 32-bit words, copied on write. A page belongs to the one
// machine whose owner number it carries; any other machine that shares it
// copies before it writes. Words rather than bytes: the accesses that matter
// are whole words, and a warp's row of 32 of them is one copy.

import (
	"hash/maphash"
	"maps"
	"math/bits"
)

const (
	pageBytes = 4096
	pageWords = pageBytes / 4
)

type page struct {
	owner uint64
	full  bool       // every byte is initialized
	shade *pageShade // in a run that tracks undefined values
	words [pageWords]uint32
	init  [pageBytes / 32]uint32 // one bit a byte
}

// A region is a contiguous range of addresses with its pages; a nil page is
// untouched: zero bytes, initialized only if the region is born so.
type region struct {
	name  string
	base  uint64
	size  uint64
	born  bool // untouched bytes count as initialized
	fixed bool // read-only (constants, parameters)
	pages []*page
}

func newRegion(name string, base, size uint64) region {
	return region{name: name, base: base, size: size, pages: make([]*page, (size+pageBytes-1)/pageBytes)}
}

func (r *region) clone() region {
	c := *r
	c.pages = append([]*page(nil), r.pages...)
	return c
}

// within reports whether [off, off+n) lies in the region; off is relative to
// its base.
func (r *region) within(off, n uint64) bool { return off <= r.size && n <= r.size-off }

// write returns the page that holds off, owned by owner.
func (r *region) write(off uint64, owner uint64) *page {
	p := r.pages[off/pageBytes]
	if p != nil && p.owner == owner {
		return p
	}
	return r.own(off/pageBytes, owner)
}

func (r *region) own(i uint64, owner uint64) *page {
	n := new(page)
	if p := r.pages[i]; p != nil {
		*n = *p
		if p.shade != nil {
			s := *p.shade
			s.drawn = maps.Clone(s.drawn)
			n.shade = &s
		}
	} else if r.born {
		n.full = true
	}
	n.owner = owner
	r.pages[i] = n
	return n
}

// load32 reads the aligned word at off.
func (r *region) load32(off uint64) uint32 {
	p := r.pages[off/pageBytes]
	if p == nil {
		return 0
	}
	return p.words[off%pageBytes/4]
}

// load reads size bytes (1, 2, 4 or 8), aligned to size, at off.
func (r *region) load(off uint64, size int32) uint64 {
	switch size {
	case 4:
		return uint64(r.load32(off))
	case 8:
		return uint64(r.load32(off)) | uint64(r.load32(off+4))<<32
	case 2:
		return uint64(r.load32(off&^3) >> (off & 2 * 8) & 0xffff)
	}
	return uint64(r.load32(off&^3) >> (off & 3 * 8) & 0xff)
}

// store writes size bytes, aligned to size, at off.
func (r *region) store(off uint64, size int32, v uint64, owner uint64) {
	p := r.write(off, owner)
	i := off % pageBytes / 4
	switch size {
	case 4:
		p.words[i] = uint32(v)
	case 8:
		p.words[i], p.words[i+1] = uint32(v), uint32(v>>32)
	case 2:
		sh := off & 2 * 8
		p.words[i] = p.words[i]&^(0xffff<<sh) | uint32(v&0xffff)<<sh
	default:
		sh := off & 3 * 8
		p.words[i] = p.words[i]&^(0xff<<sh) | uint32(v&0xff)<<sh
	}
	if p.shade != nil {
		p.clean(off%pageBytes, uint64(size))
	}
	if !p.full {
		p.mark(uint32(off%pageBytes), uint32(size))
	}
}

// mark marks n bytes from off in the page as initialized.
func (p *page) mark(off, n uint32) {
	if off%32 == 0 && n == 128 {
		w := p.init[off/32 : off/32+4]
		w[0], w[1], w[2], w[3] = ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)
		return
	}
	for n > 0 {
		i, sh := off/32, off%32
		k := min(32-sh, n)
		p.init[i] |= uint32(1<<k-1) << sh
		off += k
		n -= k
	}
}

// mark marks n bytes from off as initialized, and leaves what they hold.
func (r *region) mark(off, n, owner uint64) {
	for n > 0 {
		k := min(pageBytes-off%pageBytes, n)
		if p := r.write(off, owner); !p.full {
			p.mark(uint32(off%pageBytes), uint32(k))
		}
		off += k
		n -= k
	}
}

// forget marks n bytes from off as not initialized.
func (r *region) forget(off, n, owner uint64) {
	for n > 0 {
		k := min(pageBytes-off%pageBytes, n)
		if r.pages[off/pageBytes] != nil {
			p := r.write(off, owner)
			for i := off % pageBytes; i < off%pageBytes+k; i++ {
				p.init[i/32] &^= 1 << (i % 32)
			}
		}
		off += k
		n -= k
	}
}

// marked reports whether n bytes from off in the page are initialized.
func (p *page) marked(off, n uint32) bool {
	for n > 0 {
		i, sh := off/32, off%32
		k := min(32-sh, n)
		if m := uint32(1<<k-1) << sh; p.init[i]&m != m {
			return false
		}
		off += k
		n -= k
	}
	return true
}

// initialized reports whether n bytes from off have been written. The range
// lies in the region.
func (r *region) initialized(off, n uint64) bool {
	if p := r.pages[off/pageBytes]; p != nil && off%pageBytes+n <= pageBytes {
		return p.full || p.marked(uint32(off%pageBytes), uint32(n))
	}
	for n > 0 {
		k := min(pageBytes-off%pageBytes, n)
		p := r.pages[off/pageBytes]
		switch {
		case p == nil:
			if !r.born {
				return false
			}
		case !p.full && !p.marked(uint32(off%pageBytes), uint32(k)):
			return false
		}
		off += k
		n -= k
	}
	return true
}

// read copies n bytes from off into b.
func (r *region) read(off uint64, b []byte) {
	for len(b) > 0 {
		k := int(min(pageBytes-off%pageBytes, uint64(len(b))))
		if p := r.pages[off/pageBytes]; p == nil {
			clear(b[:k])
		} else {
			p.bytes(uint32(off%pageBytes), b[:k])
		}
		b = b[k:]
		off += uint64(k)
	}
}

func (p *page) bytes(off uint32, b []byte) {
	i := 0
	for ; i < len(b) && (off+uint32(i))%4 != 0; i++ {
		b[i] = byte(p.words[(off+uint32(i))/4] >> ((off + uint32(i)) % 4 * 8))
	}
	for ; i+4 <= len(b); i += 4 {
		v := p.words[(off+uint32(i))/4]
		b[i], b[i+1], b[i+2], b[i+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	for ; i < len(b); i++ {
		b[i] = byte(p.words[(off+uint32(i))/4] >> ((off + uint32(i)) % 4 * 8))
	}
}

// put writes b at off and marks it initialized.
func (r *region) put(off uint64, b []byte, owner uint64) {
	for len(b) > 0 {
		k := int(min(pageBytes-off%pageBytes, uint64(len(b))))
		p := r.write(off, owner)
		p.set(uint32(off%pageBytes), b[:k])
		p.clean(off%pageBytes, uint64(k))
		if !p.full {
			p.mark(uint32(off%pageBytes), uint32(k))
		}
		b = b[k:]
		off += uint64(k)
	}
}

func (p *page) set(off uint32, b []byte) {
	i := 0
	for ; i < len(b) && (off+uint32(i))%4 != 0; i++ {
		p.setByte(off+uint32(i), b[i])
	}
	for ; i+4 <= len(b); i += 4 {
		p.words[(off+uint32(i))/4] = uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
	}
	for ; i < len(b); i++ {
		p.setByte(off+uint32(i), b[i])
	}
}

func (p *page) setByte(off uint32, v byte) {
	sh := off % 4 * 8
	p.words[off/4] = p.words[off/4]&^(0xff<<sh) | uint32(v)<<sh
}

func (r *region) hash(h *maphash.Hash) { r.hashSince(h, nil) }

// hashSince hashes the pages that differ from o's, or all if o is nil.
func (r *region) hashSince(h *maphash.Hash, o *region) {
	for i, p := range r.pages {
		if p == nil || o != nil && p.like(o.pages[i]) {
			continue
		}
		maphash.WriteComparable(h, i)
		maphash.WriteComparable(h, p.words)
		if !p.full {
			maphash.WriteComparable(h, p.init)
		}
	}
}

func (p *page) like(q *page) bool {
	return p == q || p != nil && q != nil && p.words == q.words && p.full == q.full && (p.full || p.init == q.init)
}

// An addressMap is global memory: regions sorted by base.
type addressMap struct {
	regions  []region
	last     int      // the region that the last lookup hit
	heap     []region // blocks of malloc, sorted by base; they lie above the others
	heapUsed uint64   // bytes of them
	heapMost uint64   // the sum of laneHeap.most
}

// find returns the region that holds address a, or nil.
func (g *addressMap) find(a uint64) *region {
	if g.last < len(g.regions) {
		if r := &g.regions[g.last]; a-r.base < r.size {
			return r
		}
	}
	if a >= heapAt {
		return g.block(a)
	}
	lo, hi := 0, len(g.regions)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if g.regions[mid].base <= a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if r := &g.regions[lo-1]; a-r.base < r.size {
		g.last = lo - 1
		return r
	}
	return nil
}

func (g *addressMap) clone() addressMap {
	c := addressMap{regions: make([]region, len(g.regions)), heapUsed: g.heapUsed, heapMost: g.heapMost}
	for i := range g.regions {
		c.regions[i] = g.regions[i].clone()
	}
	for i := range g.heap {
		c.heap = append(c.heap, g.heap[i].clone())
	}
	return c
}

func lowest(mask uint32) int { return bits.TrailingZeros32(mask) }

// GlobalHash returns a hash of global memory, equal for equal contents within
// one process.
func (m *Machine) GlobalHash() uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for i := range m.global.regions {
		m.global.regions[i].hash(&h)
	}
	m.global.hashHeap(&h, nil)
	return h.Sum64()
}

// RegionOf numbers the buffer or variable of global memory that holds addr; -1 for none, and
// for the heap.
func (m *Machine) RegionOf(addr uint64) int {
	if addr >= heapAt || m.global.find(addr) == nil {
		return -1
	}
	return m.global.last
}
