package order

import "muster/internal/machine"

// PCs are two instructions, the one with the lower number first.
type PCs [2]int32

func pcsOf(a, b int32) PCs { return PCs{min(a, b), max(a, b)} }

// Pairs are the instructions whose accesses meet in a run: by different threads or operations,
// of one byte, one of them a write, with no other write between. At a byte where all that meets
// is in order, all conflicting accesses are, since order is transitive. Where something is not,
// a Tracker forgets: there, any two instructions may be in no order. So it takes a second run
// (Again) to tell which of them come to such bytes.
type Pairs struct {
	Met  map[PCs]bool
	Open map[PCs]bool
	last PCs
	// words are those with bytes at which something is in no order; of a second run, with the
	// instructions that come there, and whether they write.
	words map[word]map[int32]bool
	again bool
}

// A word is 4 bytes.
type word struct {
	mem  machine.MemID
	addr uint64
}

// NewPairs returns no pairs.
func NewPairs() *Pairs {
	return &Pairs{Met: map[PCs]bool{}, Open: map[PCs]bool{}, last: PCs{-1, -1}, words: map[word]map[int32]bool{}}
}

// Again returns what takes a second run of the same schedule; nil if all is in order.
func (p *Pairs) Again() *Pairs {
	if len(p.words) == 0 {
		return nil
	}
	q := NewPairs()
	q.again = true
	for w := range p.words {
		q.words[w] = map[int32]bool{}
	}
	return q
}

// Shared adds what a second run showed: pairs that come to one word at which something is in
// no order are open.
func (p *Pairs) Shared(again *Pairs) {
	for k := range p.Met {
		for _, pcs := range again.words {
			a, first := pcs[k[0]]
			b, second := pcs[k[1]]
			if first && second && (a || b) {
				p.Open[k] = true
				break
			}
		}
	}
}

// Join adds what the runs of another schedule showed.
func (p *Pairs) Join(o *Pairs) {
	for k := range o.Met {
		p.Met[k] = true
	}
	for k := range o.Open {
		p.Open[k] = true
	}
}

// leave notes that two instructions are in no order at some bytes.
func (p *Pairs) leave(a, b int32, at machine.Span) {
	p.Met[pcsOf(a, b)], p.Open[pcsOf(a, b)] = true, true
	for x := at.Addr &^ 3; x < at.Addr+at.Len && !p.again; x += 4 {
		p.words[word{at.Mem, x}] = nil
	}
}

// meet notes the pairs of an access to bytes [a, b) of a row with the accesses before it.
func (p *Pairs) meet(s *seg, ac *access, a, b int) {
	if p.again {
		for x := uint64(a) &^ 3; x < uint64(b); x += 4 {
			if pcs := p.words[word{ac.mem, ac.rowAddr + x}]; pcs != nil {
				pcs[ac.st.pc] = pcs[ac.st.pc] || ac.write
			}
		}
		return
	}
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
