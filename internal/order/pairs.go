package order

// PCs are two instructions, the one with the lower number first.
type PCs [2]int32

func pcsOf(a, b int32) PCs { return PCs{min(a, b), max(a, b)} }

// Pairs are the instructions whose accesses met in a run: by different threads or operations,
// of one byte, with no write between them, and one of them a write. What is not in Open was in
// order each time. Accesses with a write between them need no look: where they are in no order,
// neither are both in order with the write.
type Pairs struct {
	Met  map[PCs]bool
	Open map[PCs]bool
	last PCs
}

// NewPairs returns no pairs.
func NewPairs() *Pairs { return &Pairs{Met: map[PCs]bool{}, Open: map[PCs]bool{}, last: PCs{-1, -1}} }

// Leave notes that two instructions are open.
func (p *Pairs) Leave(a, b int32) { p.Met[pcsOf(a, b)], p.Open[pcsOf(a, b)] = true, true }

// Join adds what another run showed.
func (p *Pairs) Join(o *Pairs) {
	for k := range o.Met {
		p.Met[k] = true
	}
	for k := range o.Open {
		p.Open[k] = true
	}
}

// meet notes the pairs of an access with the accesses before it.
func (p *Pairs) meet(s *seg, ac *access) {
	p.note(ac, &s.write)
	if ac.write {
		p.note(ac, &s.read)
	}
	if s.more == nil {
		return
	}
	for i := range s.more.list {
		if q := &s.more.list[i]; q.what&observer == 0 && (ac.write || q.writes()) {
			p.note(ac, q)
		}
	}
}

func (p *Pairs) note(ac *access, q *stamp) {
	st := &ac.st
	one := q.who == st.who && q.lanes == st.lanes && q.layout() == st.layout() && !q.byMask()
	if k := pcsOf(q.pc, st.pc); q.who != 0 && !one && k != p.last {
		p.Met[k], p.last = true, k
	}
}
