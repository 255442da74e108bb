package order

import "muster/internal/machine"

// PCs are two instructions, the one with the lower number first.
type PCs [2]int32

func pcsOf(a, b int32) PCs { return PCs{min(a, b), max(a, b)} }

// Pairs are the instructions whose accesses meet in a run: by different threads or operations,
// of one byte, one of them a write, with no other write between. At a byte where all that meets
// is in order, all conflicting accesses are, since order is transitive. Where something is not,
// a Tracker forgets, and another schedule may show others in no order. So all instructions that
// conflict there are open, and it takes a second run (Again) to tell which these are.
type Pairs struct {
	Met  map[PCs]bool
	Open map[PCs]bool
	last PCs
	// words are those with bytes at which something is in no order; of a second run, with the
	// instructions that come there.
	words map[word]map[int32]comer
	again bool
}

// A word is 4 bytes.
type word struct {
	mem  machine.MemID
	addr uint64
}

// A comer is what came to a word by one instruction.
type comer struct {
	first  stamp // by whom
	others bool  // by others, too
	writes bool
}

// one reports whether two stamps are of one thread, or of one operation.
func (s *stamp) one(o *stamp) bool {
	return s.who == o.who && s.lanes == o.lanes && s.layout() == o.layout() && !s.byMask()
}

// conflicts reports whether two instructions conflict at a word.
func (c *comer) conflicts(d *comer) bool {
	return (c.writes || d.writes) && (c.others || d.others || !c.first.one(&d.first))
}

// NewPairs returns no pairs.
func NewPairs() *Pairs {
	return &Pairs{Met: map[PCs]bool{}, Open: map[PCs]bool{}, last: PCs{-1, -1}, words: map[word]map[int32]comer{}}
}

// Again returns what takes a second run of the same schedule; nil if all is in order.
func (p *Pairs) Again() *Pairs {
	if len(p.words) == 0 {
		return nil
	}
	q := NewPairs()
	q.again = true
	for w := range p.words {
		q.words[w] = map[int32]comer{}
	}
	return q
}

// Shared adds what a second run showed: the instructions that conflict at words at which
// something is in no order.
func (p *Pairs) Shared(again *Pairs) {
	for _, at := range again.words {
		for a, first := range at {
			for b, second := range at {
				if a <= b && first.conflicts(&second) {
					p.Met[pcsOf(a, b)], p.Open[pcsOf(a, b)] = true, true
				}
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
			if at := p.words[word{ac.mem, ac.rowAddr + x}]; at != nil {
				c, known := at[ac.st.pc]
				if !known {
					c.first = ac.st
				}
				c.others, c.writes = c.others || !c.first.one(&ac.st), c.writes || ac.write
				at[ac.st.pc] = c
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
	if k := pcsOf(q.pc, ac.st.pc); q.who != 0 && !q.one(&ac.st) && k != p.last {
		p.Met[k], p.last = true, k
	}
}
