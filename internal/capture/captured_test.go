package capture

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

// captured are the folders of testdata/captured: which kind of finding a check has, and how
// many buffers a run compares with what an H200 left.
var captured = map[string]struct {
	kind     string
	compared int
}{
	"reverse":   {"race-shared", 0}, // what it leaves depends on the schedule
	"graph":     {"", 3},
	"dependent": {"", 2},
	"units":     {"", 1},
	"linked":    {"", 1},
	"variables": {"", 1},
	"gather":    {"", 1},
	"triton":    {"", 1},
	"pallas":    {"", 1},
	"mosaic":    {"", 1},
	"dry":       {"", 0},
}

// TestCaptured runs and checks launches that were captured on an H200.
func TestCaptured(t *testing.T) {
	dirs, err := os.ReadDir("testdata/captured")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		want, ok := captured[d.Name()]
		if !ok {
			t.Errorf("what is expected of %s?", d.Name())
		}
		seen++
		t.Run(d.Name(), func(t *testing.T) {
			f, err := yaml.ReadFile(filepath.Join("testdata/captured", d.Name(), "launch.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := muster.LoadSequence(f, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			compared := 0
			err = s.Each(context.Background(), func(i int, l *muster.Launch) (*muster.RunResult, error) {
				c, err := l.Check(context.Background(), muster.CheckOptions{})
				if err != nil {
					return nil, err
				}
				if len(c.Findings) == 0 && c.Verdict != report.Clean {
					t.Errorf("%v", c.Verdict)
				}
				for _, x := range c.Findings {
					kinds = append(kinds, x.Kind)
				}
				r, err := l.Run(context.Background(), muster.RunOptions{})
				if err != nil {
					return nil, err
				}
				for _, x := range r.Comparisons {
					if want.compared > 0 {
						compared++
						if !x.OK() {
							t.Errorf("%v", x)
						}
					}
				}
				return r, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(kinds)
			kinds = slices.Compact(kinds)
			if got := strings.Join(kinds, " "); got != want.kind || compared != want.compared {
				t.Errorf("findings %q, want %q; %d buffers compared, want %d", got, want.kind, compared, want.compared)
			}
		})
	}
	if seen != len(captured) {
		t.Errorf("%d folders of %d", seen, len(captured))
	}
}
