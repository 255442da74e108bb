package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"muster/report"
)

// reported is the report of a check.
func reported(t *testing.T, args []string) report.Report {
	t.Helper()
	_, out, stderr := run(t, append(args, "--format", "json")...)
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s%s", args, out, stderr)
	}
	return r
}

// TestAtLeast: what an exploration is said to need at least is more than it had, and with one
// less it is incomplete still, whatever its budget was: of few runs, of many in units, and by
// steps. With what all of it takes it is decided.
func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		warps, each int
		flag        string
		from        int64
		all         int64 // is enough
	}{
		{4, 1, "--schedules", 9, 60},
		{5, 1, "--schedules", 20, 400},
		{4, 1, "--steps", 20, 2000},
		{6, 1, "--steps", 2000, 60000},
	} {
		t.Run(fmt.Sprintf("%d warps, %d each, %s", c.warps, c.each, c.flag), func(t *testing.T) {
			if c.warps > 5 && testing.Short() {
				t.Skip("explores for long")
			}
			launch := ticketLaunch(t, c.warps, c.each)
			with := func(n int64) report.Report {
				return reported(t, cmdline("check", launch, "--schedules", "100000", c.flag, fmt.Sprint(n)))
			}
			said, needed := 0, int64(0)
			for n := c.from; n < c.all; n += n + 1 {
				r := with(n)
				if r.Verdict == report.Clean {
					break
				}
				var l *report.Limit
				for i := range r.Explored.Limits {
					if r.Explored.Limits[i].Option == c.flag {
						l = &r.Explored.Limits[i]
					}
				}
				if l == nil || l.Value != n || l.AtLeast <= n || !strings.Contains(r.Explored.Needs, c.flag+" of at least ") {
					t.Fatalf("with %d: %+v, %s", n, r.Explored.Limits, r.Explored.Needs)
				}
				if said++; l.AtLeast > n+1 {
					if less := with(l.AtLeast - 1); less.Verdict != report.Incomplete {
						t.Errorf("with %d it needs at least %d, it says, and %d decides: %s", n, l.AtLeast, l.AtLeast-1, less.Summary)
					}
				}
				needed = max(needed, l.AtLeast)
			}
			if said == 0 {
				t.Error("it was incomplete with no number")
			}
			if r := with(c.all); r.Verdict != report.Clean || needed > c.all {
				t.Errorf("with %d, and said to need %d: %s", c.all, needed, r.Summary)
			}
		})
	}
}

// TestDecidedOfKernels: of kernels as compilers make them, checked with a small budget, the
// pairs that are open are named, in the order of the text, each at a line, whatever --jobs is.
func TestDecidedOfKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("it has no goroutines of its own, and the race detector takes minutes")
	}
	for _, name := range []string{"staged"} {
		r := reported(t, []string{"check", "../../examples/corpus/" + name + ".yaml", "--schedules", "8", "--jobs", "1"})
		d := r.Decided
		if r.Verdict != report.Incomplete || d == nil || d.EverySchedule || d.Cut || d.Ordered < 1 || d.Ordered >= d.Pairs || len(d.Open) != min(d.Pairs-d.Ordered, 8) {
			t.Fatalf("%s: %s: %+v", name, r.Summary, d)
		}
		for _, p := range d.Open {
			if p.First == nil || p.Second == nil || p.First.Line > p.Second.Line || p.First.Text == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		two := reported(t, []string{"check", "../../examples/corpus/" + name + ".yaml", "--schedules", "8", "--jobs", "2"}).Decided
		if fmt.Sprint(d.Pairs, d.Ordered, d.Open) != fmt.Sprint(two.Pairs, two.Ordered, two.Open) {
			t.Errorf("%s: %+v with one job, %+v with two", name, d, two)
		}
		for _, g := range r.Gaps {
			if g.Needs == "" {
				t.Errorf("%s: nothing says what %q needs", name, g.What)
			}
		}
	}
	// A proven kernel says nothing of pairs.
	if r := reported(t, []string{"check", "../../examples/ring/ring.yaml"}); r.Decided != nil {
		t.Errorf("%s: %+v", r.Summary, r.Decided)
	}
}
