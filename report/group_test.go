package report

import (
	"fmt"
	"testing"
)

// TestHabits: many findings of a habit are one group, by severity and reason; a few stay
// apart, and so do those of other kinds.
func TestHabits(t *testing.T) {
	list := func(n int, f Finding) (all []Finding) {
		for i := range n {
			f.Sites = []Site{{Source: []Place{{File: "k.cu", Line: i + 1}}}}
			all = append(all, f)
		}
		return all
	}
	fence := Finding{Kind: "tensor-fence", Severity: SevWarning, Habit: true}
	accepted := fence
	accepted.Accepted = "known"
	race := Finding{Kind: "race-shared", Severity: SevError}
	for _, c := range []struct {
		findings [][]Finding
		all      bool
		want     string
	}{
		{[][]Finding{list(1, race), list(5, fence), list(1, race)}, false, "[1 5 1]"},
		{[][]Finding{list(4, fence)}, false, "[1 1 1 1]"},
		{[][]Finding{list(5, race)}, false, "[1 1 1 1 1]"},
		{[][]Finding{list(5, fence), list(2, accepted)}, false, "[5 1 1]"},
		{[][]Finding{list(5, fence)}, true, "[1 1 1 1 1]"},
	} {
		var r Report
		for _, l := range c.findings {
			for _, f := range l {
				f.Sites[0].Source[0].File = fmt.Sprint(len(r.Findings), ".cu") // no two are copies of each other
				r.Findings = append(r.Findings, f)
			}
		}
		var sizes []int
		for _, g := range r.groups(c.all) {
			sizes = append(sizes, len(g))
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%d findings: groups of %s, want %s", len(r.Findings), got, c.want)
		}
	}
}
