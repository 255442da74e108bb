package kernels_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/examples/kernels"
)

// TestRight checks every example as it stands: proven for all schedules, and
// its results what they must be.
func TestRight(t *testing.T) {
	for _, e := range kernels.All() {
		t.Run(e.Name, func(t *testing.T) {
			w, err := e.Make("")
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadCall(w.Call, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Run(t.Context(), muster.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Call.Take(r.Buffer); err != nil {
				t.Fatal(err)
			}
			if err := w.Verify(); err != nil {
				t.Error(err)
			}
			c := judge(t, l)
			if c.Verdict != "clean" || c.Proof == nil || !c.Proof.All {
				t.Errorf("%s", c.Summary)
				tell(t, c)
			}
		})
	}
}

// TestMistakes finds every mistake, by its kind and at a line of this package.
func TestMistakes(t *testing.T) {
	for _, e := range kernels.All() {
		for i, m := range e.Mistakes {
			if testing.Short() && i > 0 {
				break // one of each kernel
			}
			t.Run(e.Name+"/"+m.Name, func(t *testing.T) {
				w, err := e.Make(m.Name)
				if err != nil {
					t.Fatal(err)
				}
				l, err := muster.LoadCall(w.Call, muster.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				c := judge(t, l)
				if c.Verdict != "findings" {
					t.Fatalf("%s", c.Summary)
				}
				for _, kind := range m.Finds {
					if !slices.ContainsFunc(c.Findings, func(f muster.Finding) bool { return f.Kind == kind }) {
						t.Errorf("no %s", kind)
						tell(t, c)
					}
				}
			})
		}
	}
}

func judge(t *testing.T, l *muster.Launch) *muster.Report {
	t.Helper()
	c, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tell(t *testing.T, c *muster.Report) {
	for _, f := range c.Findings {
		var b strings.Builder
		fmt.Fprintf(&b, "%+v", f)
		t.Log(b.String())
	}
}
