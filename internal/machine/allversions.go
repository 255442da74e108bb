package machine

// Versions of weak accesses. What a weak access reads, and what a strong one reads of it, is
// open to the axioms too (ISA 8.10), but nothing about a race is worth exploring for a verdict:
// the race is the finding. A litmus test asks for the outcomes behind it. A machine that keeps
// all versions keeps those of weak writes, and a read picks any of them. They are in the order of
// the steps, not in coherence order, which racing writes have none in (8.9.6): a write takes no
// place among them, and what is last is no more than what was written last.

// KeepAllVersions makes the machine, which has not begun, keep the versions of weak accesses too.
// Each access is to one word at a time, of one size. same, if set, gives the word that one stands
// for, in the same allocation: another virtual address of a location has the same versions (ISA
// 8.2.2).
func (m *Machine) KeepAllVersions(same func(Word) Word) {
	m.KeepVersions()
	m.versions.all, m.versions.same = true, same
}

// word returns the word whose versions an access to one takes.
func (m *Machine) word(w Word) Word {
	if m.versions == nil || m.versions.same == nil {
		return w
	}
	return m.versions.same(w)
}

// keepsAll reports whether an access takes versions that are in the order of the steps: its event
// names the one.
func (m *Machine) keepsAll(a *access) bool {
	return m.versions != nil && m.versions.all && m.versioned(a)
}

// aliases reports whether an access may use another address of the word that it touches.
func (m *Machine) aliases(a *access) bool {
	return m.versions != nil && m.versions.same != nil && m.versioned(a)
}

// Versioned reports whether an access is one of those whose versions are kept.
func (m *Machine) Versioned(ev *Event) bool {
	return m.versions != nil && (ev.Sem != Weak || m.versions.all) && ev.Proxy == Generic && ev.Mem != Local
}

// WordAt returns the word that a lane of an access touches.
func (m *Machine) WordAt(ev *Event, lane int) Word {
	return m.word(Word{ev.Mem, ev.Addr[lane], ev.Size})
}

// Value returns what a version of a word holds, in 8 bytes at most.
func (m *Machine) Value(w Word, v Version) (value uint64, ok bool) {
	list := m.current(w)
	if len(list) == 0 && v == Initial {
		value, _ = m.contents(w)
		return value, true
	}
	for i := range list {
		if list[i].name == v {
			return list[i].lo, true
		}
	}
	return 0, false
}

// Reads returns what the lane of an access is about to read of its word, in 8 bytes at most.
func (m *Machine) Reads(ev *Event, lane int) (value uint64, ok bool) {
	w := m.WordAt(ev, lane)
	if ev.Picks {
		return m.Value(w, ev.Pick)
	}
	if w.Size > 8 {
		return 0, false
	}
	return m.Peek(w.Mem, w.Addr, int(w.Size))
}

// A Next is the access that a lane is about to make.
type Next struct {
	Word  Word
	Addr  uint64 // that it uses
	PC    int32
	Does  Access // of a compare-and-swap that fails: Read
	Sem   Sem
	Scope Scope
	Takes Version // that it reads, if it reads
}

// NextAccess returns what a choice accesses, if versions of it are kept.
func (m *Machine) NextAccess(c Choice) (n Next, ok bool) {
	at, ok := m.stand(c)
	if !ok || len(at.words) != 1 {
		return n, false
	}
	n.Word, n.Does = at.words[0], at.a.acc
	w := m.ctas[c.CTA].warps[c.Warp]
	s := w.find(c.Lane)
	in := &m.prog.code[s.pc]
	a, l := in.x.(*access), int(c.Lane)
	n.PC, n.Sem, n.Scope = s.pc, a.sem, a.scope
	x := m.enter(w, s)
	x.addressesOf(a, &m.addr)
	_, n.Addr, _ = x.resolve(a.space, m.addr[l])
	n.Takes = m.Last(n.Word)
	if c.Kind == Pick {
		n.Takes = Version(c.Op)
	}
	if v, known := m.Value(n.Word, n.Takes); known && a.atom == atomCas && x.value(a.regs[0], a.t, l).lo != v {
		n.Does = Read
	}
	return n, true
}
