package explore_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// TestBounded: two warps that take eight tickets each have 12,870 orders, but few with
// few preemptions. Two sequences of eight with j switches, the last not counted, are
// cut at j of the seven places in each: with k preemptions they have 2 Σ C(7, ⌊j/2⌋)
// C(7, ⌈j/2⌉) orders, j from 0 to k.
func TestBounded(t *testing.T) {
	p := private(2, 0, 8)
	start := p.start(t)
	run := func(most int) (explore.Coverage, int) {
		l := &log{t, map[string]int{}, 1024}
		c := explore.NewSearch(&explore.Space{
			Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
			Watch: func() explore.Watcher { return l },
		}, explore.Limits{Preemptions: most}).Run(nil)
		return c, len(l.ends)
	}
	for most, want := range []int{2, 2 + 14, 2 + 14 + 98, 2 + 14 + 98 + 294} {
		bound := most
		if bound == 0 {
			bound = -1
		}
		c, ends := run(bound)
		t.Logf("at most %d preemptions: %d runs, %d ends", most, c.Schedules, ends)
		if c.Complete || !c.Cut || c.Why != "" || ends != want {
			t.Errorf("at most %d preemptions: %+v, %d ends, want %d", most, c, ends, want)
		}
	}
	c, ends := run(0)
	t.Logf("any number: %d runs, %d ends", c.Schedules, ends)
	if !c.Complete || ends != 12870 {
		t.Errorf("any number: %+v, %d ends", c, ends)
	}
}
