package order

import (
	"slices"

	"muster/internal/machine"
)

// Observation order (ISA 8.9.2) where a strong read may take a version that was overwritten
// (Config.Executions): turns (observe.go) number writes in the order of the steps, so that each
// version keeps the strong reads that observed it.

// A versionOf is what the state of a version says of the write that made it.
type versionOf struct {
	// made is the write, by one lane.
	made stamp
	// from is the version that the write, a read-modify-write, read by morally strong operations.
	from   machine.Version
	linked bool
	// seen are the reads that observed it, by lane.
	seen []stamp
}

// oneLane returns the stamp of one lane of the strong access at hand.
func (t *Tracker) oneLane(lane int) stamp {
	s := t.ac.st
	s.shape, s.lanes = s.shape|byMask, 1<<lane
	s.turn, s.root = 0, 0
	return s
}

// sights notes that a lane's read observes a version, and those before it through a chain of
// read-modify-writes.
func (t *Tracker) sights(s *locState, lane int) {
	z := t.oneLane(lane)
	list, at, from := t.locs.m[s.loc.granule()], s.loc, s.name
	for i := len(list) - 1; i >= 0; i-- { // what a read-modify-write reads comes before it
		s := &list[i]
		if s.loc != at || s.name != from {
			continue
		}
		known := func(o stamp) bool { return o.who == z.who && o.lanes == z.lanes }
		if !slices.ContainsFunc(s.seen, known) { // what knows of a lane's later read knows of its first
			s.seen = append(s.seen, z)
		}
		if !s.linked {
			return
		}
		from = s.from
	}
}

// sighted reports whether a strong write precedes an access at a byte because the access follows a
// read that observed its version. A lane's writes of one word may have one time: all must be seen.
func (t *Tracker) sighted(ac *access, p *stamp, x int) bool {
	if !t.cfg.Executions || !p.strong() || p.isOp() {
		return false
	}
	at := ac.rowAddr + uint64(x)
	lanes, any := p.lanesAt(x), false
	list := t.locs.m[granule{ac.mem, at / 16}]
	for i := range list {
		s := &list[i]
		if !s.loc.overlaps(at, 1) || s.made.who != p.who || s.made.time != p.time || s.made.pc != p.pc || s.made.lanes&lanes == 0 {
			continue
		}
		if any = t.follows(ac, s.seen, x); !any {
			return false
		}
	}
	return any
}

// follows reports whether an access follows one of some reads.
func (t *Tracker) follows(ac *access, reads []stamp, x int) bool {
	for k := range reads {
		if reads[k].lanes&t.knownAt(ac, &reads[k], x) != 0 {
			return true
		}
	}
	return false
}
