package order

import "muster/internal/machine"

// LastWrite returns the access that last wrote a byte of memory; false if there is
// none, or the memory is gone.
func (t *Tracker) LastWrite(mem machine.MemID, addr uint64) (AccessRef, bool) {
	sh := t.shadowIn(mem)
	if sh == nil || sh.pages[addr/pageBytes] == nil {
		return AccessRef{}, false
	}
	at := int(addr % rowBytes)
	r := &sh.pages[addr/pageBytes].rows[addr/rowBytes%pageRows]
	s := &r.one
	for i := range r.segs {
		if g := &r.segs[i]; int(g.off) <= at && at < int(g.off)+int(g.n) {
			s = g
		}
	}
	if s.write.who == 0 || !s.write.writes() {
		return AccessRef{}, false
	}
	return t.refOf(&s.write, at, mem), true
}
