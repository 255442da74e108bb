package trial

import (
	"math/bits"

	"muster/internal/machine"
)

const (
	touchedBits = 64 // bytes of global memory of one word of a touchedPage
	touchedPart = 64 // words of one
)

// A touched is which bytes of global memory runs read and wrote: a bit for each byte.
type touched struct {
	pages map[touchedPlace]*touchedPage
	last  touchedPlace
	page  *touchedPage // at last
}

// A touchedPlace is a page of a region. Neighbours may share the bytes of a page, but not
// the page.
type touchedPlace struct {
	region int
	number uint64
}

type touchedPage struct{ read, written [touchedPart]uint64 }

func newTouched() *touched { return &touched{pages: map[touchedPlace]*touchedPage{}} }

// Observe makes a touched a machine.Observer.
func (t *touched) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Mem != machine.Global {
			return
		}
		reads, writes := ev.Access&(machine.Read|machine.Update) != 0, ev.Access&(machine.Write|machine.Update) != 0
		if ev.Row && ev.Mask == 1<<32-1 {
			t.add(m, ev.Addr[0], 32*uint64(ev.Size), reads, writes)
			return
		}
		for k := ev.Mask; k != 0; k &= k - 1 {
			t.add(m, ev.Addr[bits.TrailingZeros32(k)], uint64(ev.Size), reads, writes)
		}
	case machine.EvIssue:
		op := ev.Op
		t.spans(m, op.Reads, true, false)
		t.spans(m, op.Writes, op.Element != 0, true)
		t.add(m, op.Map.Addr, op.Map.Len, true, false)
	}
}

func (t *touched) spans(m *machine.Machine, list []machine.Span, reads, writes bool) {
	for _, s := range list {
		if s.Mem == machine.Global {
			t.add(m, s.Addr, s.Len, reads, writes)
		}
	}
}

// at returns the page of a word, and its number there.
func (t *touched) at(region int, word uint64) (*touchedPage, uint64) {
	if at := (touchedPlace{region, word / touchedPart}); t.page == nil || at != t.last {
		if t.page = t.pages[at]; t.page == nil {
			t.page = new(touchedPage)
			t.pages[at] = t.page
		}
		t.last = at
	}
	return t.page, word % touchedPart
}

func (t *touched) add(m *machine.Machine, addr, n uint64, reads, writes bool) {
	if n == 0 {
		return
	}
	for region := m.RegionOf(addr); n > 0; {
		at := addr % touchedBits
		k := min(touchedBits-at, n)
		p, i := t.at(region, addr/touchedBits)
		mask := (^uint64(0) >> (64 - k)) << at
		if reads {
			p.read[i] |= mask
		}
		if writes {
			p.written[i] |= mask
		}
		addr += k
		n -= k
	}
}

// written returns the regions in which bytes were written.
func (t *touched) written() map[int]bool {
	list := map[int]bool{}
	for at, p := range t.pages {
		if p.written != [touchedPart]uint64{} {
			list[at.region] = true
		}
	}
	return list
}

// join adds what another run touched, and reports whether the two are disjoint: no byte
// that one writes is touched by the other.
func (t *touched) join(o *touched) bool {
	return t.joinMoved(o, func(int) (int64, bool) { return 0, true })
}

// joinMoved is join of what a run would touch whose addresses are moved: to says by how
// many bytes in a region, and whether the region counts.
func (t *touched) joinMoved(o *touched, to func(region int) (by int64, counts bool)) bool {
	disjoint := true
	add := func(region int, word, read, written uint64) {
		if read|written == 0 {
			return
		}
		p, i := t.at(region, word)
		if p.written[i]&(written|read) != 0 || p.read[i]&written != 0 {
			disjoint = false
		}
		p.read[i] |= read
		p.written[i] |= written
	}
	for at, q := range o.pages {
		by, counts := to(at.region)
		if !counts {
			continue
		}
		for i := range q.read {
			read, written := q.read[i], q.written[i]
			if read|written == 0 {
				continue
			}
			addr := (at.number*touchedPart+uint64(i))*touchedBits + uint64(by)
			word, up := addr/touchedBits, addr%touchedBits
			add(at.region, word, read<<up, written<<up)
			if up != 0 {
				add(at.region, word+1, read>>(64-up), written>>(64-up))
			}
		}
	}
	return disjoint
}
