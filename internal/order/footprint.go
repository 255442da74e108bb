package order

// A Footprint is the set of bytes of global memory that some runs read and wrote.
type Footprint struct {
	pages map[uint64]*pagePrint
}

// A pagePrint has a bit for each byte of a page.
type pagePrint struct {
	read, written [pageBytes / 64]uint64
}

// NewFootprint returns what the run that t followed touched.
func NewFootprint(t *Tracker) *Footprint {
	f := &Footprint{pages: map[uint64]*pagePrint{}}
	for n, p := range t.global.pages {
		pp := new(pagePrint)
		for i := range p.rows {
			pp.row(&p.rows[i], i*rowBytes)
		}
		f.pages[n] = pp
	}
	return f
}

func (pp *pagePrint) row(r *row, at int) {
	if len(r.segs) == 0 {
		pp.seg(&r.one, at, rowBytes)
		return
	}
	for i := range r.segs {
		s := &r.segs[i]
		pp.seg(s, at+int(s.off), int(s.n))
	}
}

func (pp *pagePrint) seg(s *seg, at, n int) {
	if s.write.who != 0 || s.more != nil && s.more.writes {
		setBits(&pp.written, at, n)
	}
	if s.read.who != 0 || s.more != nil {
		setBits(&pp.read, at, n)
	}
}

func setBits(b *[pageBytes / 64]uint64, at, n int) {
	for n > 0 {
		k := min(64-at%64, n)
		b[at/64] |= (1<<k - 1) << (at % 64)
		at += k
		n -= k
	}
}

// Add adds what other runs touched, and reports whether the two are disjoint:
// no byte that one writes is touched by the other.
func (f *Footprint) Add(g *Footprint) bool {
	disjoint := true
	for n, q := range g.pages {
		p := f.pages[n]
		if p == nil {
			f.pages[n] = q
			continue
		}
		for i := range p.read {
			if p.written[i]&(q.written[i]|q.read[i]) != 0 || p.read[i]&q.written[i] != 0 {
				disjoint = false
			}
			p.written[i] |= q.written[i]
			p.read[i] |= q.read[i]
		}
	}
	return disjoint
}
