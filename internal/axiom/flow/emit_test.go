package flow_test

import (
	"context"
	"testing"

	"muster"
	"muster/internal/axiom/flow"
)

// TestEmitted holds the PTX of drawn programs to their interleavings: the memory that a
// run on the machine leaves is the final memory of one, and where a run does not end,
// some interleaving does not.
func TestEmitted(t *testing.T) {
	t.Parallel()
	ends, stops := 0, 0
	schedules := muster.Handful(6)
	for s := range *agree {
		p := flow.Generate(s)
		seq, err := p.Interleave(maxStates)
		if err != nil || seq.Cut {
			continue
		}
		l, err := load(p)
		if err != nil {
			t.Fatalf("program %d: %v\n%s", s, err, p.PTX())
		}
		for _, sched := range schedules {
			res, err := l.Run(context.Background(), muster.RunOptions{Schedule: sched})
			if err != nil {
				t.Fatalf("program %d: %v", s, err)
			}
			if res.Report != nil {
				if stops++; !seq.Trap && !seq.Out && !seq.Hang && !p.TimesOut() {
					t.Errorf("program %d does not end under %v, and by no interleaving\n%s", s, sched, p.PTX())
				}
				continue
			}
			got, err := res.Buffer("m")
			if err != nil {
				t.Fatal(err)
			}
			if ends++; !leaves(seq, string(got)) {
				t.Errorf("program %d leaves %x under %v, which no interleaving does\n%s", s, got, sched, p.PTX())
			}
		}
	}
	if ends == 0 || stops == 0 {
		t.Errorf("%d runs came to their end, %d did not", ends, stops)
	}
	t.Logf("%d runs came to their end, %d did not", ends, stops)
}

// leaves reports whether some interleaving leaves global memory so.
func leaves(seq *flow.Outcomes, global string) bool {
	for m := range seq.Final {
		if m[:len(global)] == global {
			return true
		}
	}
	return false
}
