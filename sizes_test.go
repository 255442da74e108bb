package muster_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"muster"
)

// sizesOf reads a claim about clusters of two sizes.
func sizesOf(t *testing.T, name string) *muster.Launch {
	t.Helper()
	for _, c := range readClaims(t, "testdata/blackwell/clustersizes.ptx") {
		if strings.HasPrefix(c.name, name) {
			l, err := c.load()
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
	}
	t.Fatalf("no claim %q", name)
	return nil
}

// TestSizesReplay: what only some sizes of clusters show names them, in its note and in its
// schedule, and the schedule shows it again, told and shrunk.
func TestSizesReplay(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct{ claim, kind, begins, note string }{
		{"slots for two CTAs", "race-shared", "c/", "all clusters have the preferred size, 4x1x1"},
		{"an mbarrier that counts four", "arrivals-missing", "", "all clusters have the regular size, 2x1x1"},
		{"results at the number of the cluster", "race-global", "c4/", "the cluster that begins at CTA 4 has the preferred size, 4x1x1, and the others the regular one, 2x1x1"},
	} {
		l := sizesOf(t, c.claim)
		r, err := l.Check(ctx, muster.CheckOptions{})
		if err != nil || len(r.Findings) != 1 {
			t.Fatalf("%s: %v, %+v", c.claim, err, r)
		}
		f := &r.Findings[0]
		note := func(n string) bool { return strings.HasSuffix(n, c.note) }
		if f.Kind != c.kind || !strings.HasPrefix(f.Schedule, c.begins) || c.begins == "" && strings.HasPrefix(f.Schedule, "c") || !slices.ContainsFunc(f.Notes, note) {
			t.Errorf("%s: %s in schedule %s, %q", c.claim, f.Kind, f.Schedule, f.Notes)
		}
		s, err := muster.ParseSchedule(f.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := l.Replay(ctx, s); err != nil || len(again.Findings) != 1 || again.Findings[0].ID != f.ID {
			t.Errorf("%s: replayed: %v, %+v", c.claim, err, again)
		}
		got, err := l.Shrink(ctx, s, f.ID, muster.ShrinkOptions{})
		if err != nil || !strings.HasPrefix(got.Schedule.String(), strings.TrimSuffix(c.begins, "/")) {
			t.Errorf("%s: shrunk to %v, %v", c.claim, got.Schedule, err)
		}
		if told, err := l.Tell(ctx, got.Schedule, muster.TellOptions{Finding: f.ID}); err != nil || told.Schedule != got.Schedule.String() {
			t.Errorf("%s: told: %v", c.claim, err)
		}
		if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"cluster":[2,1,1],"preferred_cluster":[4,1,1]`) {
			t.Errorf("%s: %v: %s", c.claim, err, text)
		}
	}
}

// TestSizesApart: of kernels that are right by what their clusters touch, each mix is right.
func TestSizesApart(t *testing.T) {
	t.Parallel()
	for _, claim := range []string{"right: a slot", "right: it counts", "right: at the number"} {
		l := sizesOf(t, claim)
		for _, first := range []string{"", "c/", "c0/", "c4/", "c0,c4/"} {
			s, err := muster.ParseSchedule(first + "earliest")
			if err != nil {
				t.Fatal(err)
			}
			if r, err := l.Replay(context.Background(), s); err != nil || r.Verdict != muster.Clean {
				t.Errorf("%s: %s: %v, %+v", claim, first, err, r)
			}
		}
		for _, wrong := range []string{"c1/earliest", "c8/earliest", "c,c0/earliest", "s0,c/earliest"} {
			s, err := muster.ParseSchedule(wrong)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Replay(context.Background(), s); err == nil {
				t.Errorf("%s: %s: no error", claim, wrong)
			}
		}
	}
}
