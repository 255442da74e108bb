package ops_test

import (
	"context"
	"testing"

	"muster"
	"muster/internal/ops"
)

// TestClean checks every case on the machine: it is right in every schedule,
// and by proof.
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
			want := muster.Verdict("clean")
			if c.Name == "surfaces/special-registers-of-a-run" {
				want = "incomplete" // it stores a comparison of sizes that the driver decides
			}
			if r.Verdict != want {
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
