package flow_test

import (
	"testing"

	"muster/internal/axiom/flow"
)

// TestShrink makes programs smaller while the axioms allow a race, and checks that
// the rest has two short threads.
func TestShrink(t *testing.T) {
	t.Parallel()
	n := 0
	for s := uint64(0); n < 10; s++ {
		p := flow.Generate(s)
		racy := func(q *flow.Program) bool {
			race, _, err := q.Races(1000)
			return err == nil && race
		}
		if !racy(p) {
			continue
		}
		n++
		before := p.PTX()
		q := p.Shrink(racy)
		if p.PTX() != before {
			t.Errorf("program %d: shrinking changed what it was given", s)
		}
		if !racy(q) || q.Instructions() > 4 {
			t.Errorf("program %d: %d instructions are left\n%s", s, q.Instructions(), q.PTX())
		}
	}
}
