package executions_test

import (
	"flag"
	"testing"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

var clausesMost = flag.Uint64("executions.clausesmost", 3000, "how many programs may show that a clause is left out")

// TestEachClause leaves out the axioms, and the clauses of what they are defined by, one by one:
// drawn programs then show that the axioms and the machine differ. Atomicity and SC per Location
// forbid what the other does, where an atomic operation is one event: each is left out where the
// other one is, and then shows in what it adds.
func TestEachClause(t *testing.T) {
	const both = flow.WithoutAtomicity | flow.WithoutPerLocation
	for _, c := range []struct {
		name          string
		without, also flow.Clause
	}{
		{"coherence", flow.WithoutCoherence, 0},
		{"fence-sc", flow.WithoutFenceSC, 0},
		{"causality", flow.WithoutCausality, 0},
		{"atomicity", both, flow.WithoutPerLocation},
		{"sc per location", both, flow.WithoutAtomicity},
		{"observation through atomic operations", flow.WithoutChains, 0},
		{"observation before base causality", flow.WithoutObservation, 0},
		{"barriers", flow.WithoutBarriers, 0},
		{"release", flow.WithoutRelease, 0},
		{"release before a write", flow.WithoutReleaseBefore, 0},
		{"fence before a write", flow.WithoutReleaseFence, 0},
		{"acquire", flow.WithoutAcquire, 0},
		{"acquire behind a read", flow.WithoutAcquireBehind, 0},
		{"fence behind a read", flow.WithoutAcquireFence, 0},
		{"moral strength of the ends of patterns", flow.WithoutStrongPatterns, 0},
		{"moral strength of fence.sc", flow.WithoutStrongFences, 0},
		{"the CTA of a barrier", flow.WithoutBarrierScope, 0},
		{"reductions form no acquire pattern", flow.WithoutReductions, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := uint64(0); n < *clausesMost; n++ {
				p := draw(*from + n)
				if !differs(t, p, c.without, c.also) {
					continue
				}
				t.Logf("shown by program %d", n+1)
				return
			}
			t.Errorf("%d programs do not show it", *clausesMost)
		})
	}
}

// TestMoralStrengthOfObservation leaves out that a write and the read that observes it are morally
// strong (8.9.2). Where they are not, they race, unless another thread of the reader's CTA
// observed the write before; drawn programs hardly have that.
func TestMoralStrengthOfObservation(t *testing.T) {
	relaxed := func(kind flow.Kind, scope axiom.Scope, at uint32) flow.Instr {
		return flow.Instr{Kind: kind, Sem: axiom.Relaxed, Scope: scope, At: flow.V(at)}
	}
	data, flag := relaxed(flow.Store, axiom.GPU, 0), relaxed(flow.Store, axiom.GPU, 1)
	data.Sem, data.Src, flag.Src = axiom.Weak, []flow.Value{flow.V(1)}, []flow.Value{flow.V(1)}
	fence := flow.Instr{Kind: flow.Fence, Sem: axiom.AcqRel, Scope: axiom.GPU}
	seen, again, read := relaxed(flow.Load, axiom.GPU, 1), relaxed(flow.Load, axiom.CTA, 1), relaxed(flow.Load, axiom.GPU, 0)
	seen.Dst, again.Dst, read.Dst, read.Sem = []int{0}, []int{0}, []int{1}, axiom.Weak
	tells := flow.Instr{Kind: flow.Store, Sem: axiom.Weak, At: flow.V(2), Src: []flow.Value{flow.R(0)}}
	told := flow.Instr{Kind: flow.Load, Sem: axiom.Weak, At: flow.V(2), Dst: []int{2}}
	if1 := func(r int, body ...flow.Instr) flow.Instr {
		return flow.Instr{Kind: flow.If, Cmp: flow.Eq, Src: []flow.Value{flow.R(r), flow.V(1)}, Body: body}
	}
	barrier := flow.Step{Kind: flow.Barrier}
	p := &flow.Program{Words: 32, CTAs: 2, Warps: []flow.Warp{
		{CTA: 0, Steps: segment([]flow.Instr{data, fence, flag})},
		{CTA: 1, Steps: append(segment([]flow.Instr{seen, tells}), barrier)},
		{CTA: 1, Index: 1, Steps: append([]flow.Step{barrier}, segment([]flow.Instr{told, if1(2, again, fence, read)})...)},
	}}
	if c := compare(t, p, 0); c.wrong != "" || !c.races {
		t.Errorf("%v: %s", c.races, c.wrong)
	}
	if c := compare(t, p, flow.WithoutStrongObservation); c.wrong == "" {
		t.Errorf("it does not show")
	}
}

// differs reports whether the axioms without some clauses differ from the machine, and without
// the others do not. Where they agree with the axioms there is nothing to ask the machine.
func differs(t *testing.T, p *flow.Program, without, also flow.Clause) bool {
	all, buffers, err := p.Without(also).Built(maxGraphs)
	if err != nil {
		t.Fatal(err)
	}
	less, more, err := p.Without(without).Built(maxGraphs)
	if err != nil {
		t.Fatal(err)
	}
	if all.Cut || less.Cut || all.Race == less.Race && buffers == more && len(all.Final) == len(less.Final) {
		return false
	}
	c := compare(t, p, without)
	return c.wrong != "" && compare(t, p, also).wrong == ""
}
