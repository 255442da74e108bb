package executions_test

import (
	"slices"
	"testing"

	"muster/internal/executions"
)

// TestFinals samples executions of drawn programs without a race. The memories that interleavings
// leave are as many as those of a walk through all states of all interleavings; what is found
// then is a memory that the axioms allow and no interleaving leaves, and nothing stays in doubt.
func TestFinals(t *testing.T) {
	compared, stale, n := 0, 0, *drawn/2
	for seed := *from; seed < *from+n; seed++ {
		p := draw(seed)
		want, _, err := p.Built(maxGraphs)
		if err != nil {
			t.Fatal(err)
		}
		seq, err := p.Interleave(maxStates)
		if err != nil {
			t.Fatal(err)
		}
		if want.Cut || seq.Cut || want.Race {
			continue
		}
		l := subject(t, p)
		r := executions.Sample(l.Budget(t.Context()), l, executions.Options{Schedules: 1000, Interleavings: 1 << 20})
		if r.Finals == 0 { // no sample had another memory than that of an interleaving that was sampled
			continue
		}
		compared++
		if r.Finals != len(seq.Final) {
			t.Errorf("%d: interleavings leave %d memories, %d were found\n%s", seed, len(seq.Final), r.Finals, p.PTX())
		}
		odd := false
		for f := range want.Final {
			odd = odd || !seq.Final[f]
		}
		found := slices.ContainsFunc(r.Findings, func(f executions.Found) bool { return f.Kind == "stale-value" })
		if found && !odd || len(r.Doubts) > 0 {
			t.Errorf("%d: found %v, in doubt %v, by the axioms stale: %v\n%s", seed, r.Findings, r.Doubts, odd, p.PTX())
		}
		if found {
			stale++
		}
	}
	t.Logf("%d compared, %d have a stale value", compared, stale)
	if n >= 100 && (compared < int(n)/20 || stale < int(n)/100) {
		t.Errorf("too little was compared")
	}
}
