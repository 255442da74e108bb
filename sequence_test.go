package muster_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/report"
)

// TestSequences: each wrong file of testdata/sequences has the finding that its first line
// names, or is incomplete if it names that, and its right twin is proven, each launch for every
// schedule.
func TestSequences(t *testing.T) {
	files, err := filepath.Glob("testdata/sequences/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, wrong := strings.CutPrefix(strings.SplitN(string(text), "\n", 2)[0], "# kind: ")
			found, proven := checkSequence(t, file)
			switch {
			case wrong != strings.Contains(file, ".wrong."):
				t.Errorf("the first line names no kind")
			case wrong && !slices.Equal(found, []string{want}):
				t.Errorf("found %q, want %s", found, want)
			case !wrong && (len(found) > 0 || !proven):
				t.Errorf("found %q, proven %v", found, proven)
			}
		})
	}
}

// checkSequence checks each launch of a file, and returns the kinds of findings, notes left
// out, and whether all schedules are decided.
func checkSequence(t *testing.T, file string) (found []string, proven bool) {
	f, err := yaml.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := muster.LoadSequence(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	proven = true
	err = s.Each(context.Background(), func(i int, l *muster.Launch) (*muster.RunResult, error) {
		r, err := l.Check(context.Background(), muster.CheckOptions{})
		if err != nil {
			return nil, err
		}
		for _, x := range r.Findings {
			if x.Severity != report.SevNote {
				found = append(found, x.Kind)
			}
		}
		if r.Verdict == report.Incomplete {
			found = append(found, string(r.Verdict))
		}
		proven = proven && (r.Proof != nil && r.Proof.All || r.Explored != nil && r.Explored.Complete)
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return slices.Compact(found), proven
}

// TestSequenceOnly: a stage that is checked alone says that its verdict is about what one run
// of those before left, where that may matter.
func TestSequenceOnly(t *testing.T) {
	for _, c := range []struct {
		file string
		says bool
	}{{"handed-word.wrong", true}, {"handed-word.right", true}, {"fork-join.right", false}} {
		f, err := yaml.ReadFile("testdata/sequences/" + c.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := muster.LoadSequence(f, muster.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Only(context.Background(), "2")
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Check(context.Background(), muster.CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		says := strings.Contains(strings.Join(r.Assumptions, "\n"), "begins with that of one run")
		if r.Verdict != report.Clean || says != c.says {
			t.Errorf("%s: %s, assuming %q", c.file, r.Summary, r.Assumptions)
		}
	}
}

// TestSequenceBuiltin: a finding in a fill or a copy has a name for its text.
func TestSequenceBuiltin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "launch.yaml")
	text := "buffers:\n  a: {type: u32, shape: [4], fill: zeros}\n  b: {type: u32, shape: [4], fill: uninitialized}\nlaunches:\n" +
		"- {copy: {to: a, from: b, bytes: 4}}\n- {fill: {to: a, bytes: 4}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := yaml.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := muster.LoadSequence(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Only(context.Background(), "1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil || len(r.Findings) == 0 || r.Findings[0].Sites[0].PTX.File != "fill and copy" {
		t.Errorf("%+v, %v", r, err)
	}
}
