package undecided

import (
	"regexp"
	"strings"
	"testing"
)

// TestCauses: each cause is known by its own example, and by no other cause's.
func TestCauses(t *testing.T) {
	for i := range Causes {
		c := &Causes[i]
		says := strings.TrimPrefix(c.Shown, "incomplete: ")
		if Why(says) != c {
			t.Errorf("%q is not known as %q", c.Shown, c.Title)
		}
		for j := range Causes {
			if j != i && regexp.MustCompile(Causes[j].Says).MatchString(says) {
				t.Errorf("%q is taken for %q", c.Shown, Causes[j].Title)
			}
		}
	}
	if Why("something else") != nil {
		t.Error("anything is known")
	}
}

// TestText: the texts fit 95 columns, behind an indent of no more than 4.
func TestText(t *testing.T) {
	all := []string{Overview}
	for i := range Causes {
		all = append(all, Causes[i].Text)
	}
	for i := range Conditions {
		c := &Conditions[i]
		e := c.Example()
		all = append(all, c.Text, c.Title, e.About)
		if Lookup(c.Name) != c || Lookup(strings.ToLower(c.Name)) != c {
			t.Errorf("%s is not found", c.Name)
		}
		for what, text := range map[string]string{"fails.ptx": e.Fails, "holds.ptx": e.Holds, "launch": e.Launch, "first": e.First, "then": e.Then, "about": e.About} {
			if text == "" {
				t.Errorf("%s: its example has no %s", c.Name, what)
			}
		}
	}
	for _, text := range all {
		for line := range strings.Lines(text) {
			if len(strings.TrimRight(line, "\n")) > 95 {
				t.Errorf("%d columns: %s", len(line)-1, line)
			}
		}
	}
}

func TestDiff(t *testing.T) {
	got := Diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nx\ne\nf\n")
	if want := " b\n c\n-d\n+x\n e\n f\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
