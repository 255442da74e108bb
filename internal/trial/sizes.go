package trial

import (
	"slices"

	"muster/internal/machine"
)

// Preferred clusters. Which clusters of a launch have the preferred size is a choice of the
// schedule (machine/sizes.go). Each choice is a subject of its own.

// Sized returns the subject in which the clusters have the preferred size that these choices
// name. It is nil if a choice names none.
func (s *Subject) Sized(choices []machine.Choice) *Subject {
	start := s.Start.Fork(nil, nil)
	var firsts []int32
	for _, c := range choices {
		if c.CTA < 0 {
			if len(choices) > 1 || len(start.PreferredClusters()) == 0 {
				return nil
			}
			start.PreferAll()
		} else {
			firsts = append(firsts, c.CTA)
		}
	}
	if !start.Prefer(firsts...) {
		return nil
	}
	n := NewSubject(start, s.Limits)
	n.Highest, n.equal = s.Highest, s.equal
	return n
}

// byCell is which bytes of global memory the CTAs touched that would form one preferred
// cluster, by its first CTA.
type byCell map[int32]*touched

// Observe makes byCell a machine.Observer.
func (c byCell) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess && ev.Kind != machine.EvIssue {
		return
	}
	cell := m.PreferredOf(ev.CTA)
	t := c[cell]
	if t == nil {
		t = newTouched()
		c[cell] = t
	}
	t.Observe(m, ev)
}

// Apart reports whether what a preferred cluster, or the regular ones in its place, does
// cannot depend on the sizes of others. s is the launch with regular clusters alone, o that
// with preferred ones alone, and each is proven by one run, so that its run touches what
// every schedule touches. If no CTAs of one preferred cluster touch, in either run, what
// those of another write in either, then every mix of the two sizes does in each place what
// one of the runs did there: clusters share nothing but global memory. They do share more
// where requests cancel clusters, on a heap, and where CTAs share a multiprocessor's tensor
// memory.
//
// same reports whether both leave the same global memory; it is asked for with values.
func (s *Subject) Apart(o *Subject, b *Budget, values bool) (apart, same bool) {
	if len(s.Shape.Grids) > 0 || s.Program.Allocates() || s.Program.Cancels() || s.Start.SharesMultiprocessors() {
		return false, false
	}
	cells := byCell{}
	var left []*machine.Machine
	for _, of := range []*Subject{s, o} {
		m := of.Part(cells, !values && of.Skips(), 0, 1)
		if gap, err := of.Follow(b, m, ProofSchedule); gap != nil || err != nil || !m.Done() {
			return false, false
		}
		left = append(left, m)
	}
	all := newTouched()
	for _, t := range cells {
		// A part may touch what it has written itself: join compares with others alone.
		if !all.join(t) {
			return false, false
		}
	}
	return true, values && sameMemory(left[0], left[1])
}

// sameMemory reports whether two machines have the same global memory.
func sameMemory(a, b *machine.Machine) bool {
	for i := range a.Regions() {
		base, size, _ := a.Initialized(i)
		was, is := make([]byte, size), make([]byte, size)
		a.ReadGlobal(base, was)
		b.ReadGlobal(base, is)
		if !slices.Equal(was, is) {
			return false
		}
	}
	return true
}
