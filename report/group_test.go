package report

import (
	"fmt"
	"testing"
)

// TestStretches: findings between instructions of the same kinds that nothing synchronizes, on
// one buffer and for want of the same, are one group; another stretch, buffer or want keeps them
// apart.
func TestStretches(t *testing.T) {
	at := func(line, stretch int, buffer, missing string) Finding {
		site := func(line int, text string) Site {
			return Site{Role: "does", PTX: &Place{File: "k.ptx", Line: line, Text: text}, Stretch: stretch, Memory: &Memory{Space: "shared", Symbol: buffer}}
		}
		return Finding{Kind: "read-in-flight", Severity: SevError, Missing: missing, Sites: []Site{site(line, "wgmma.mma_async;"), site(90, "cvt.rn;")}}
	}
	one := at(1, 1, "a", "no wait for line 1")
	for _, c := range []struct {
		name string
		with Finding
		all  bool
		want int // groups
	}{
		{"the same", at(2, 1, "a", "no wait for line 2"), false, 1},
		{"all", at(2, 1, "a", "no wait for line 2"), true, 2},
		{"another stretch", at(3, 2, "a", "no wait for line 3"), false, 2},
		{"another buffer", at(4, 1, "b", "no wait for line 4"), false, 2},
		{"another want", at(5, 1, "a", "no fence for line 5"), false, 2},
		{"a place that is not known", at(6, 0, "a", "no wait for line 6"), false, 2},
	} {
		r := Report{Findings: []Finding{one, c.with}}
		if got := len(r.groups(c.all)); got != c.want {
			t.Errorf("%s: %d groups, want %d", c.name, got, c.want)
		}
	}
}

// TestHabits: many findings of a habit are one group, by severity and reason; a few stay
// apart, and so do those of other kinds.
func TestHabits(t *testing.T) {
	list := func(n int, f Finding) (all []Finding) {
		for i := range n {
			f.Sites = []Site{{Source: []Place{{File: "k.cu", Line: i + 1}}}}
			all = append(all, f)
		}
		return all
	}
	fence := Finding{Kind: "tensor-fence", Severity: SevWarning, Habit: true}
	accepted := fence
	accepted.Accepted = "known"
	race := Finding{Kind: "race-shared", Severity: SevError}
	for _, c := range []struct {
		findings [][]Finding
		all      bool
		want     string
	}{
		{[][]Finding{list(1, race), list(5, fence), list(1, race)}, false, "[1 5 1]"},
		{[][]Finding{list(4, fence)}, false, "[1 1 1 1]"},
		{[][]Finding{list(5, race)}, false, "[1 1 1 1 1]"},
		{[][]Finding{list(5, fence), list(2, accepted)}, false, "[5 1 1]"},
		{[][]Finding{list(5, fence)}, true, "[1 1 1 1 1]"},
	} {
		var r Report
		for _, l := range c.findings {
			for _, f := range l {
				f.Sites[0].Source[0].File = fmt.Sprint(len(r.Findings), ".cu") // no two are copies of each other
				r.Findings = append(r.Findings, f)
			}
		}
		var sizes []int
		for _, g := range r.groups(c.all) {
			sizes = append(sizes, len(g))
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%d findings: groups of %s, want %s", len(r.Findings), got, c.want)
		}
	}
}
