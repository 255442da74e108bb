package order

import "muster/internal/machine"

// An operation over many rows, as a wgmma is that reads two tiles, mostly finds
// them touched alike: one operation wrote them, and the same ones have read them
// since. What it comes to at one segment it then comes to at the next, which need
// only be told so: the stamps are the same, and who knows what does not change
// while one event is looked at.

// mostRepeats is how many states of a segment an operation keeps in mind. A row
// of 128 bytes is read in parts of 16 bytes at least.
const mostRepeats = 8

// repeats are the last states of segments that an operation met and found nothing
// to report about, and what they became. Their sets are shared: they stay as
// they are.
type repeats struct {
	off  bool // for tests
	on   bool // the operation has rows enough for it to pay
	n    int  // states, of which the latest replaces the oldest
	list [mostRepeats]repeat
}

// A repeat holds where the segment is what it was; of one with accesses by lanes,
// who are others at other bytes, at the same bytes only.
type repeat struct {
	lanes       bool
	was, became seg
}

// begin is for a new operation.
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

// forget is for a change of the access: what it came to may be different now.
func (rs *repeats) forget() { rs.n = 0 }

// touchByOp is touch for an access by an operation that is not strong.
func (t *Tracker) touchByOp(s *seg, ac *access, a, b int) {
	rs := &t.alike
	if !rs.on {
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
		return // each place is to be told of
	}
	s.more.share()
	rs.list[rs.n%mostRepeats] = repeat{lanes: was.byLanes(ac.write), was: was, became: *s}
	rs.n++
}

// again makes a segment what one like it became.
func (rs *repeats) again(s *seg, write bool) bool {
	for i := range min(rs.n, mostRepeats) {
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
	if t.alike.n == 0 || !ac.st.isOp() || ac.write || ac.st.strong() || r.guarded != 0 || len(r.segs) == 0 {
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

// byLanes reports whether what a read or a write is held against was touched by
// lanes.
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
