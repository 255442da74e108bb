package executions_test

import (
	"testing"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

// TestOlderReadKeepsObservation reads an older version, and then follows the newest by an atomic
// operation: what comes behind that follows the write that it observed (8.9.5), and does not race
// with it though it is not morally strong with it.
func TestOlderReadKeepsObservation(t *testing.T) {
	at := flow.V(0)
	p := &flow.Program{Words: 32, CTAs: 2, Warps: []flow.Warp{
		{CTA: 0, Steps: segment([]flow.Instr{{Kind: flow.Atom, Op: flow.Cas, Sem: axiom.Acquire, Scope: axiom.Sys, At: at, Src: []flow.Value{flow.V(0), flow.V(2)}, Dst: []int{0}}})},
		{CTA: 1, Steps: segment([]flow.Instr{
			{Kind: flow.Load, Sem: axiom.Volatile, At: at, Dst: []int{0}},
			{Kind: flow.Atom, Op: flow.Add, Sem: axiom.AcqRel, Scope: axiom.GPU, At: at, Src: []flow.Value{flow.V(1)}, Dst: []int{1}},
			{Kind: flow.Load, Sem: axiom.Relaxed, Scope: axiom.CTA, At: at, Dst: []int{2}},
		})},
	}}
	c := compare(t, p, 0)
	if c.wrong != "" || c.left != "" {
		t.Errorf("%s%s", c.wrong, c.left)
	}
	t.Logf("races: %v", c.races)
}
