package order

import "muster/internal/machine"

// An operation over many rows, such as a wgmma that reads two tiles, mostly finds
// them in one state: one operation wrote them, and the same ones have read them
// since. The result at one segment then holds at the next: the stamps are the same,
// and knowledge does not change within one event.

// maxRepeats is the number of segment states that an operation remembers. A row of
// 128 bytes is read in parts of 16 bytes at least.
const maxRepeats = 8

// repeats are the last segment states that an operation met without a report, and
// what they became. Their sets are shared, so never written again.
type repeats struct {
	off  bool // for tests
	on   bool // the operation touches enough rows to pay off
	n    int  // states entered; the latest replaces the oldest
	list [maxRepeats]repeat
}

// A repeat applies to a segment in state was. With accesses by lanes, which differ
// from byte to byte, it applies at the same bytes only.
type repeat struct {
	lanes       bool
	was, became seg
}

// begin starts a new operation.
func (rs *repeats) begin(op *machine.Op) {
	rows := uint64(0)
	for _, s := range op.Reads {
		rows += 1 + s.Len/rowBytes
	}
	for _, s := range op.Writes {
		rows += 1 + s.Len/rowBytes
	}
	rs.on, rs.n = rows > 8 && !rs.off, 0
}

// forget drops the states: the access has changed, and so may its results.
func (rs *repeats) forget() { rs.n = 0 }

// touchByOp is touch for an access by an operation that is not strong.
func (t *Tracker) touchByOp(s *seg, ac *access, a, b int) {
	rs := &t.alike
	if !rs.on || t.cfg.Pairs != nil {
		t.touchNew(s, ac, a, b)
		return
	}
	if rs.again(s, ac.write) {
		return
	}
	was := *s
	was.more.share()
	before := t.reports
	t.touchNew(s, ac, a, b)
	if t.reports != before {
		return // each place must be reported
	}
	s.more.share()
	rs.list[rs.n%maxRepeats] = repeat{lanes: was.byLanes(ac.write), was: was, became: *s}
	rs.n++
}

// again applies a remembered result to a segment, and reports whether there was one.
func (rs *repeats) again(s *seg, write bool) bool {
	for i := range min(rs.n, maxRepeats) {
		x := &rs.list[i]
		if !x.holds(s) {
			continue
		}
		if s.read = x.became.read; write {
			s.write = x.became.write
		}
		if s.more != x.became.more {
			s.more = x.became.more
		}
		return true
	}
	return false
}

// rereadRow is touchRow for the common case: bytes [a, b) are one of several
// segments of equal length, in a state that the operation at hand met before.
func (t *Tracker) rereadRow(r *row, ac *access, a, b int) bool {
	if t.alike.n == 0 || t.cfg.Pairs != nil || !ac.st.isOp() || ac.write || ac.st.strong() || r.guarded != 0 || len(r.segs) == 0 {
		return false
	}
	i := a * len(r.segs) / rowBytes
	s := &r.segs[i]
	if int(s.off) != a || int(s.n) != b-a || !t.alike.again(s, false) {
		return false
	}
	if i > 0 && r.segs[i-1].alike(s) || i+1 < len(r.segs) && s.alike(&r.segs[i+1]) {
		r.fuse(i, i+1)
	}
	return true
}

func (x *repeat) holds(s *seg) bool {
	return x.was.more == s.more && x.was.read == s.read && x.was.write == s.write &&
		(!x.lanes || x.was.off == s.off && x.was.n == s.n)
}

// byLanes reports whether lanes made any of the accesses that a read or a write is
// checked against.
func (s *seg) byLanes(write bool) bool {
	lanes := func(p *stamp) bool { return p.who != 0 && !p.isOp() && (write || p.writes()) }
	if lanes(&s.write) || lanes(&s.read) {
		return true
	}
	if s.more != nil {
		for i := range s.more.list {
			if lanes(&s.more.list[i]) {
				return true
			}
		}
	}
	return false
}
