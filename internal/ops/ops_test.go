package ops_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/ops"
	"muster/report"
)

// undecided are the cases whose verdict is incomplete, each with what its gaps say. A
// wait with a time limit gives its lanes an answer each.
var undecided = map[string][]string{
	"surfaces/special-registers-of-a-run": {"the driver or the part decides"},
	"surfaces/try-wait-for":               {"%globaltimer decides something", "lanes of one warp test one mbarrier here in one step"},
}

// TestClean checks every case on the machine: it is right in every schedule.
func TestClean(t *testing.T) {
	for _, c := range ops.All() {
		t.Run(c.Name, func(t *testing.T) {
			call, err := c.Make()
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadCall(call, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
			if err != nil {
				t.Fatal(err)
			}
			want, open := muster.Clean, undecided[c.Name]
			if open != nil {
				want = muster.Incomplete
			}
			if r.Verdict != want || slices.ContainsFunc(r.Gaps, func(g report.Gap) bool {
				return !slices.ContainsFunc(open, func(what string) bool { return strings.Contains(g.What, what) })
			}) {
				t.Errorf("%s", r.Summary)
				for _, f := range r.Findings {
					t.Errorf("%+v", f)
				}
				for _, g := range r.Gaps {
					t.Errorf("%s (%v)", g.What, g.Place)
				}
			}
		})
	}
}
