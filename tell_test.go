package muster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
)

// told are launches with findings of several kinds.
var told = []string{"ring/broken_count", "ring/broken_parity", "ring/broken_no_release", "bulk_store/broken_no_fence", "cluster_exchange/broken_exit",
	"cluster_exchange/broken_start", "named_barrier/broken_no_empty", "ldgsts/broken_inc"}

func example(t testing.TB, name string) *muster.Launch {
	t.Helper()
	f, err := yaml.ReadFile("examples/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestShrunkSchedulesShow: for every finding, the shrunk schedule shows it again
// by its text, is no larger, and its story numbers every step of the run once.
func TestShrunkSchedulesShow(t *testing.T) {
	for _, name := range told {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			l := example(t, name)
			r, err := l.Check(context.Background(), muster.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]bool{}
			for i := range r.Findings {
				f := &r.Findings[i]
				if f.Schedule == "" || kinds[f.Kind] {
					continue
				}
				kinds[f.Kind] = true
				shrunk(t, l, f)
			}
			if len(kinds) == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

func shrunk(t *testing.T, l *muster.Launch, f *muster.Finding) {
	t.Helper()
	s, err := muster.ParseSchedule(f.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Shrink(context.Background(), s, f.ID, muster.ShrinkOptions{Runs: 150})
	var not *muster.NotShown
	if errors.As(err, &not) {
		got.Schedule, got.Size = s, got.From // a prediction, which a judge alone does not see
	} else if err != nil {
		t.Fatalf("%s: %v", f.ID, err)
	}
	if got.Size.Switches > got.From.Switches || got.Size.Switches == got.From.Switches && got.Size.Steps > got.From.Steps {
		t.Errorf("%s: grew from %+v to %+v", f.ID, got.From, got.Size)
	}
	again, err := muster.ParseSchedule(got.Schedule.String())
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Replay(context.Background(), again)
	if err != nil {
		t.Fatal(err)
	}
	shows := false
	for i := range r.Findings {
		shows = shows || r.Findings[i].Is(f.ID)
	}
	if !shows {
		t.Errorf("%s: %v does not show it", f.ID, again)
	}
	for _, all := range []bool{false, true} {
		tell(t, l, again, f.ID, all)
	}
}

// tell holds a story to its run.
func tell(t *testing.T, l *muster.Launch, s muster.Schedule, id string, all bool) {
	t.Helper()
	var first bytes.Buffer
	for range 2 {
		story, err := l.Tell(context.Background(), s, muster.TellOptions{Finding: id, All: all})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		next, roles := 1, 0
		for i := range story.Steps {
			p := &story.Steps[i]
			if p.First != next || p.Last < p.First || p.Choice != "" && (p.Last != p.First || len(p.Does) == 0) || all && p.Choice == "" {
				t.Fatalf("%s: step %d: %+v", id, next, p)
			}
			next = p.Last + 1
			if p.Role != "" {
				roles++
			}
		}
		if next != story.Total+1 || story.End == "" {
			t.Errorf("%s: told to step %d of %d, end %q", id, next-1, story.Total, story.End)
		}
		if !all && (roles == 0 || len(story.Steps) > 120) {
			t.Errorf("%s in %v: %d entries, %d of them places of the finding", id, s, len(story.Steps), roles)
		}
		var text bytes.Buffer
		if err := story.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		if first.Len() == 0 {
			first = text
		} else if !bytes.Equal(first.Bytes(), text.Bytes()) {
			t.Errorf("%s: told twice, it differs", id)
		}
	}
}

// TestPlacesOfARace: a story's two places are the accesses that the finding names, where the
// same instructions conflict before: by other warps, or for want of a fence alone.
func TestPlacesOfARace(t *testing.T) {
	for _, c := range []struct{ name, schedule, id, want string }{
		{"ring/broken_parity", "random:1", "race-shared@broken_parity.ptx:254,143", "1: warp 4 at 143; 0: warp 0, lane 0 at 254; "},
		{"found/broken_async_copy_four", "earliest", "race-shared@broken_async_copy_four.ptx:51,68", "1: warp 1 at 68; 0: warp 2 at 51; "},
	} {
		s, err := muster.ParseSchedule(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		story, err := example(t, c.name).Tell(context.Background(), s, muster.TellOptions{Finding: c.id})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range story.Steps {
			if p := &story.Steps[i]; p.Role != "" {
				got += fmt.Sprintf("%d: %s at %d; ", p.Site, p.Who, p.PTX.Line)
			}
		}
		if got != c.want {
			t.Errorf("%s: the places are %q, want %q", c.id, got, c.want)
		}
	}
}

// TestShrinkOfAnother: a schedule that does not show a finding is no answer to
// it.
func TestShrinkOfAnother(t *testing.T) {
	l := example(t, "ring/ring")
	s, err := muster.ParseSchedule("latest")
	if err != nil {
		t.Fatal(err)
	}
	var not *muster.NotShown
	if _, err := l.Shrink(context.Background(), s, "race-shared@ring.ptx:1,2", muster.ShrinkOptions{}); !errors.As(err, &not) {
		t.Errorf("it says %v", err)
	}
	if _, err := l.Tell(context.Background(), s, muster.TellOptions{Finding: "race-shared@ring.ptx:1,2"}); !errors.As(err, &not) {
		t.Errorf("it says %v", err)
	}
}
