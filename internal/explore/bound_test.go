package explore_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// TestBounded: two warps that take eight tickets each have 12,870 orders of them;
// with few preemptions there are few.
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
	before := 0
	for _, most := range []int{-1, 1, 2, 3} {
		c, ends := run(most)
		t.Logf("at most %d preemptions: %d runs, %d ends", max(0, most), c.Schedules, ends)
		if c.Complete || !c.Cut || c.Why != "" || ends <= before {
			t.Errorf("at most %d preemptions: %+v, %d ends after %d", max(0, most), c, ends, before)
		}
		before = ends
	}
	c, ends := run(0)
	t.Logf("any number: %d runs, %d ends", c.Schedules, ends)
	if !c.Complete || ends <= before {
		t.Errorf("any number: %+v, %d ends after %d", c, ends, before)
	}
}
