package muster_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster"
)

// predictedKinds are the kinds that only prediction finds.
var predictedKinds = []string{"early-wait", "expect-late", "lapped-wait", "needs-coresidency", "phase-mixing"}

// TestPredicted runs the examples of those kinds, and those that only executions show which are
// no interleavings: the wrong one is found where it
// is marked, and replays; the right one is clean.
func TestPredicted(t *testing.T) {
	files, err := filepath.Glob("internal/rules/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		comment, twins := parts(string(text))
		if by := comment + "\n"; !strings.Contains(by, "found by: prediction\n") && !strings.Contains(by, "found by: executions\n") {
			continue
		}
		n++
		kind, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txtar"), ".")
		t.Run(kind, func(t *testing.T) {
			l := twin(t, twins, "wrong")
			r, err := l.Check(context.Background(), muster.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := slices.IndexFunc(strings.Split(twins["wrong.ptx"], "\n"), func(s string) bool { return strings.HasSuffix(s, "// want: "+kind) }) + 1
			found := false
			for i := range r.Findings {
				f := &r.Findings[i]
				t.Logf("%s (%s): %s", f.Kind, f.Schedule, f.Headline)
				if f.Kind == kind && f.Sites[len(f.Sites)-1].PTX.Line == want {
					found = true
					replays(t, l, f)
				}
			}
			if !found {
				t.Errorf("%s is not found at line %d", kind, want)
			}
			spotless(t, twin(t, twins, "right"))
		})
	}
	if n < len(predictedKinds) {
		t.Errorf("%d examples, want %d", n, len(predictedKinds))
	}
}

// replays checks that the schedule of a finding shows it again, with the same
// evidence.
func replays(t *testing.T, l *muster.Launch, f *muster.Finding) {
	t.Helper()
	s, err := muster.ParseSchedule(f.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	choices, switches := muster.Explicit(s)
	t.Logf("schedule: %d explicit choices, %d switches", choices, switches)
	r, err := l.Replay(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Findings {
		g := r.Findings[i]
		if g.ID == f.ID {
			// How often it is seen, what it follows and its number among those alike are of the report.
			g.Seen, g.Follows, g.Fingerprint = f.Seen, f.Follows, f.Fingerprint
			if !reflect.DeepEqual(g, *f) {
				t.Errorf("the replay shows another:\n%+v\n%+v", g, *f)
			}
			return
		}
	}
	t.Errorf("%s does not show %s", f.Schedule, f.ID)
}

// spotless checks that a right kernel has no finding.
func spotless(t *testing.T, l *muster.Launch) {
	t.Helper()
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("right: %s (%s): %s", f.Kind, f.Schedule, f.Headline)
	}
}

// TestCounterexamplesFound: what breaks the simpler rules has a name, also where
// it goes well as a rule.
func TestCounterexamplesFound(t *testing.T) {
	for name, kind := range map[string]string{
		"01-phases-swap":       "phase-mixing",
		"02-early-wait":        "early-wait",
		"02-lapped-wait":       "lapped-wait",
		"03-late-expect":       "expect-late",
		"03-late-increment":    "expect-late",
		"04-other-phase-bytes": "phase-mixing",
		"05-no-expect":         "phase-mixing",
		"06-alone":             "named-barrier-mismatch",
		"10-not-resident":      "needs-coresidency",
		"11-range":             "range",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("internal/confluence/testdata/" + name + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			_, twins := parts(string(text))
			l := twin(t, twins, "wrong")
			r, err := l.Check(context.Background(), muster.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for i := range r.Findings {
				f := &r.Findings[i]
				t.Logf("%s (%s): %s", f.Kind, f.Schedule, f.Headline)
				if f.Kind == kind {
					found = true
					replays(t, l, f)
				}
			}
			if !found {
				t.Errorf("%s is not found", kind)
			}
		})
	}
}

// TestPredictLateSignals: where an inval need not come after every use, a run in which an
// operation is late shows it.
func TestPredictLateSignals(t *testing.T) {
	want := map[string]bool{"an inval that a copy in flight may meet": true, "right: an inval after the copy": false}
	for _, c := range readClaims(t, "testdata/claims/copies.ptx") {
		late, ok := want[c.name]
		if !ok {
			continue
		}
		delete(want, c.name)
		l, err := c.load()
		if err != nil {
			t.Fatal(err)
		}
		names := muster.PredictionNames(l)
		if got := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "C0 in ") }); got != late {
			t.Errorf("%s: predicted: %q", c.name, names)
		}
	}
	if len(want) > 0 {
		t.Errorf("no claims %v", want)
	}
}
