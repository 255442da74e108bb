package shapes_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/examples/shapes"
)

// TestRight proves every shape for all schedules, and compares what it computes.
func TestRight(t *testing.T) {
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			w, l := load(t, s, "")
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
			c := check(t, l)
			var kinds []string
			for _, f := range c.Findings {
				if f.Severity != "warning" || !slices.Contains(kinds, f.Kind) {
					kinds = append(kinds, f.Kind)
				}
			}
			if c.Verdict != "clean" || c.Proof == nil || !c.Proof.All || !slices.Equal(kinds, s.Warns) {
				t.Error(c.Summary)
				tell(t, c)
			}
		})
	}
}

var long = flag.Bool("long", false, "the mistakes that the tests leave out because they take long, and no others")

// maxTwins is how many mistakes of a shape the tests take; the gate takes the others.
const maxTwins = 3

// TestTwins finds every mistake, by the kinds that name its cause.
func TestTwins(t *testing.T) {
	for _, s := range shapes.All() {
		for i, twin := range s.Twins {
			if testing.Short() && i > 0 || *long != (i >= maxTwins) {
				continue
			}
			t.Run(s.Name+"/"+twin.Mistake, func(t *testing.T) {
				_, l := load(t, s, twin.Mistake)
				c := check(t, l)
				if c.Verdict == "incomplete" {
					t.Error(c.Summary)
				}
				for _, kind := range twin.Finds {
					if !slices.ContainsFunc(c.Findings, func(f muster.Finding) bool { return f.Kind == kind }) {
						t.Errorf("no %s", kind)
						tell(t, c)
					}
				}
			})
		}
	}
}

var update = flag.Bool("update", false, "write the table of README.md")

// TestReadme holds README.md's table to the shapes.
func TestReadme(t *testing.T) {
	var b strings.Builder
	b.WriteString("| shape | built like | twin | finding due |\n|---|---|---|---|\n")
	for _, s := range shapes.All() {
		name, model := "`"+s.Name+"`", s.Model
		for _, twin := range s.Twins {
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", name, model, twin.Mistake, strings.Join(twin.Finds, "`, `"))
			name, model = "", ""
		}
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(page), "| shape |")
	want := text + b.String()
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Error("README.md does not have the shapes as they are: go test ./examples/shapes -run TestReadme -update")
	}
}

func load(t *testing.T, s shapes.Shape, mistake string) (*shapes.Work, *muster.Launch) {
	t.Helper()
	w, err := s.Make(mistake)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(w.Call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return w, l
}

func check(t *testing.T, l *muster.Launch) *muster.Report {
	t.Helper()
	c, err := l.Check(t.Context(), muster.CheckOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tell(t *testing.T, c *muster.Report) {
	t.Helper()
	if err := c.WriteText(t.Output(), muster.TextOptions{}); err != nil {
		t.Error(err)
	}
}
