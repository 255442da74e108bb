package executions_test

import (
	"testing"

	"muster/internal/executions"
)

// TestWeakFences: what is right with each fence.sc as a fence.acq_rel is right by the axioms, and
// all that these leave in memory was seen.
func TestWeakFences(t *testing.T) {
	right, wrong, needed := 0, 0, 0
	for seed := *from; seed < *from+*drawn; seed++ {
		p := draw(seed)
		if !subject(t, p).Program.FencesSC() {
			continue
		}
		want, err := p.Allowed(20_000)
		seq, err2 := p.Interleave(100_000)
		if err != nil || err2 != nil || want.Cut || seq.Cut {
			continue
		}
		odd := false
		for f := range want.Final {
			odd = odd || !seq.Final[f]
		}
		got, r := outcomes(t, p, executions.Options{Schedules: 20_000, WeakFences: true})
		if !r.Coverage.Complete || !r.Right() {
			if wrong++; !want.Race && !odd {
				needed++
			}
			continue
		}
		right++
		if want.Race || odd {
			t.Fatalf("%d: right with weak fences; race %v, stale %v\n%s", seed, want.Race, odd, p.PTX())
		}
		for f := range want.Final {
			if !got[f] {
				t.Fatalf("%d: lacks %s\n%s", seed, words(f, 8, 8+16), p.PTX())
			}
		}
	}
	t.Logf("%d right, %d not, of which %d need the order of fence.sc", right, wrong, needed)
	if right < int(*drawn)/20 || needed == 0 {
		t.Errorf("too little was compared")
	}
}
