package order

import "muster/internal/machine"

// Shadow memory remembers, for every byte, the last write and the reads (and
// unordered atomics) since. Bytes that one event touched alike are one
// segment: a warp's 32 consecutive words are one stamp, a bulk copy's row is
// one. A row of 128 bytes splits only where accesses differ.
type shadow struct {
	pages map[uint64]*page
	cache *[64]pageRef // by page number, for memories with scattered buffers
}

type pageRef struct {
	number uint64
	page   *page
}

const (
	rowBytes  = 128
	pageBytes = 4096
	pageRows  = pageBytes / rowBytes
)

type page struct {
	owner *identity
	rows  [pageRows]row
}

// A row is one segment, or several that partition it.
type row struct {
	one     seg
	segs    []seg
	guarded uint16 // live mbarriers that have bytes here
	syncs   bool   // some strong access released here
}

// A seg is bytes [off, off+n) of a row that were touched alike.
type seg struct {
	off, n uint8
	write  stamp
	read   stamp
	more   *stampSet // when read is not the only one
}

// A stamp is one access: by lanes of a warp at one warp time, or by an
// asynchronous operation. It does not depend on which bytes of the access its
// segment holds, so that splitting a segment copies stamps.
type stamp struct {
	who   uint32 // 0: none; else the warp's number in the grid, or asOp|index
	time  uint32
	pc    int32
	lanes uint32 // byRun: the lane of the row's byte 0, signed; byMask: a set
	shape shape
	what  uint8 // Read, Write, Update, with marks
	// turn counts writes of these bytes, root is the first turn that the access
	// observed or began: observe.go. 0: unknown.
	turn, root uint8
}

// A shape says what the lanes of a stamp mean, how wide each is, and how
// strong: log2 of the bytes a lane in bits 0 to 2, byMask in bit 3, the scope
// above, 0 if weak.
type shape uint8

func shapeOfLanes(form shape, shift int, scope uint8) shape {
	return form | shape(shift) | shape(scope)<<4
}

func (s *stamp) shift() uint8  { return uint8(s.shape & 7) }
func (s *stamp) byMask() bool  { return s.shape&byMask != 0 }
func (s *stamp) scope() uint8  { return uint8(s.shape >> 4) }
func (s *stamp) strong() bool  { return s.shape>>4 != 0 }
func (s *stamp) layout() shape { return s.shape & 15 }

const (
	byRun  shape = 0
	byMask shape = 1 << 3

	asOp         = 1 << 31
	constantRead = uint8(machine.Update << 1) // through the non-coherent path
	mapRead      = uint8(machine.Update << 2) // of a tensor map, by an operation
	otherRead    = constantRead | mapRead
)

// A stampSet is the accesses to a segment that its last write does not follow: reads
// since, and morally strong writes unordered with it. Sorted by who.
type stampSet struct {
	list   []stamp
	writes bool
	// shared: several segments hold the set, perhaps in pages of other Trackers, so
	// it is never written again. Its only holder marks it before sharing.
	shared bool
}

// lanesAt returns the lanes of the stamp at a byte of the row.
func (s *stamp) lanesAt(b int) uint32 {
	if s.byMask() {
		return s.lanes
	}
	return 1 << (uint(int32(s.lanes)+int32(b>>s.shift())) & 31)
}

func (s *stamp) isOp() bool   { return s.who&asOp != 0 }
func (s *stamp) op() int32    { return int32(s.who &^ asOp) }
func (s *stamp) writes() bool { return s.what&uint8(machine.Write) != 0 }

// observesAll reports whether the stamp may replace an earlier read in observation
// order: it observed all that the earlier one did.
func (s *stamp) observesAll(old *stamp) bool {
	return old.writes() || s.time == old.time && s.root <= old.root && s.turn >= old.turn
}

func (s *stamp) sameBy(o *stamp) bool {
	return s.who == o.who && s.lanes == o.lanes && s.layout() == o.layout()
}

// page returns the page of an address for writing: id's own, copied if need be.
func (s *shadow) page(id *identity, addr uint64) *page {
	n := addr / pageBytes
	if s.cache == nil {
		s.cache = new([64]pageRef)
	}
	c := &s.cache[n%uint64(len(s.cache))]
	if c.page != nil && c.number == n && c.page.owner == id {
		return c.page
	}
	if s.pages == nil {
		s.pages = make(map[uint64]*page)
	}
	p := s.pages[n]
	switch {
	case p == nil:
		p = &page{owner: id}
		s.pages[n] = p
	case p.owner != id:
		p = p.clone(id)
		s.pages[n] = p
	}
	*c = pageRef{n, p}
	return p
}

func (s *shadow) row(id *identity, addr uint64) *row {
	return &s.page(id, addr).rows[addr/rowBytes%pageRows]
}

func (s *shadow) clone() shadow {
	d := shadow{}
	if s.pages != nil {
		d.pages = make(map[uint64]*page, len(s.pages))
		for n, p := range s.pages {
			d.pages[n] = p
		}
	}
	return d
}

func (p *page) clone(id *identity) *page {
	d := *p
	d.owner = id
	for i := range d.rows {
		r := &d.rows[i]
		r.one.more = r.one.more.clone()
		r.segs = append([]seg(nil), r.segs...)
		for j := range r.segs {
			r.segs[j].more = r.segs[j].more.clone()
		}
	}
	return &d
}

// share marks the set, so that further segments may hold it.
func (s *stampSet) share() *stampSet {
	if s != nil && !s.shared {
		s.shared = true
	}
	return s
}

// clone copies a set for another Tracker's page; several may clone it at the same
// time.
func (s *stampSet) clone() *stampSet {
	if s == nil || s.shared {
		return s
	}
	return &stampSet{list: append([]stamp(nil), s.list...), writes: s.writes}
}

// guard marks the rows of a live mbarrier; unguard takes the mark back.
func (s *shadow) guard(id *identity, addr, n uint64) {
	for a := addr / rowBytes * rowBytes; a < addr+n; a += rowBytes {
		s.row(id, a).guarded++
	}
}

func (s *shadow) unguard(id *identity, addr, n uint64) {
	for a := addr / rowBytes * rowBytes; a < addr+n; a += rowBytes {
		if r := s.row(id, a); r.guarded > 0 {
			r.guarded--
		}
	}
}

// cover returns the segments of a row that make up bytes [a, b), splitting
// those that reach beyond, and the index of the first.
func (r *row) cover(a, b int) (segs []seg, first int) {
	if len(r.segs) == 0 {
		r.one.off, r.one.n = 0, rowBytes
		if r.segs == nil {
			r.segs = make([]seg, 0, 4)
		}
		r.segs = append(r.segs, r.one)
		r.one = seg{}
	}
	first = r.cut(a)
	last := first + 1
	if s := &r.segs[first]; int(s.off)+int(s.n) != b {
		last = r.cut(b)
	}
	return r.segs[first:last], first
}

// cut makes a segment begin at byte x and returns its index.
func (r *row) cut(x int) int {
	if x >= rowBytes {
		return len(r.segs)
	}
	i, hi := 0, len(r.segs)
	if even := x * hi / rowBytes; int(r.segs[even].off) == x {
		return even
	}
	for hi-i > 1 {
		if mid := int(uint(i+hi) >> 1); int(r.segs[mid].off) <= x {
			i = mid
		} else {
			hi = mid
		}
	}
	s := &r.segs[i]
	if int(s.off) == x {
		return i
	}
	left := uint8(x) - s.off
	r.segs = append(r.segs, seg{})
	copy(r.segs[i+1:], r.segs[i:])
	r.segs[i].n = left
	s = &r.segs[i+1]
	s.off += left
	s.n -= left
	s.more.share()
	return i + 1
}

// fuse joins equal neighbours among segments first-1 up to last, and makes
// the row one segment again where that is all there is.
func (r *row) fuse(first, last int) {
	lo, end := max(first-1, 0), min(last, len(r.segs)-1)
	for lo < end && !r.segs[lo].alike(&r.segs[lo+1]) {
		lo++
	}
	if lo == end && end > 0 {
		return
	}
	out := lo
	for i := lo + 1; i < len(r.segs); i++ {
		if i <= last && r.segs[out].alike(&r.segs[i]) {
			r.segs[out].n += r.segs[i].n
			continue
		}
		if out++; out != i {
			r.segs[out] = r.segs[i]
		}
	}
	clear(r.segs[out+1:])
	r.segs = r.segs[:out+1]
	if out == 0 {
		r.one = r.segs[0]
		r.segs = r.segs[:0]
	}
}

func (s *seg) alike(o *seg) bool {
	if s.write != o.write || s.read != o.read {
		return false
	}
	if s.more == o.more || s.more == nil || o.more == nil {
		return s.more == o.more
	}
	if len(s.more.list) != len(o.more.list) || s.more.writes != o.more.writes {
		return false
	}
	for i := range s.more.list {
		if s.more.list[i] != o.more.list[i] {
			return false
		}
	}
	return true
}

// search returns the index of the first stamp by who.
func (s *stampSet) search(who uint32) int {
	lo, hi := 0, len(s.list)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); s.list[mid].who < who {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// maxReads bounds the strong reads of the same lanes that are kept for what
// each observed; the first ones tell most.
const maxReads = 8

// add enters a stamp, replacing one by the same lanes that it supersedes: a clock
// that knows the later one knows the earlier.
func (t *Tracker) add(s *stampSet, st *stamp) {
	i := s.search(st.who)
	j, end := i, i
	if st.isOp() {
		j, end = s.search(asOp), len(s.list)
	}
	same := 0
	for ; j < len(s.list) && (s.list[j].who == st.who || j < end); j++ {
		if !t.supersedes(st, &s.list[j]) {
			if !s.list[j].sameBy(st) || s.list[j].what != st.what {
				continue
			}
			if same++; same < maxReads {
				continue
			}
		}
		if s.list[j].who == st.who {
			s.list[j] = *st
			return
		}
		s.list = append(s.list[:j], s.list[j+1:]...)
		i = s.search(st.who)
		break
	}
	s.list = append(s.list, stamp{})
	copy(s.list[i+1:], s.list[i:])
	s.list[i] = *st
	s.writes = s.writes || st.writes()
}

// supersedes reports whether every later access that conflicts with the earlier stamp
// conflicts with the new one: a clock that knows the new one knows the earlier.
// Operations of one thread under one group mechanism complete in order, and an
// arrive-on waits for all of its thread's cp.async before it.
func (t *Tracker) supersedes(st, old *stamp) bool {
	if st.what != old.what || st.strong() && (st.scope() != old.scope() || st.isOp() && st.shift() != old.shift()) || old.turn != 0 && !st.observesAll(old) {
		return false
	}
	if !st.isOp() || !old.isOp() {
		return st.sameBy(old) && !st.isOp()
	}
	a, b := &t.ops.recs[st.op()], &t.ops.recs[old.op()]
	return a.group != machine.NoGroup && a.group == b.group && a.cta == b.cta && a.warp == b.warp && a.lane == b.lane && t.standsFor(st, old)
}
