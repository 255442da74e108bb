package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/internal/rules"
	"muster/internal/undecided"
)

// TestConditions takes the example of every condition of a proof through the command: without
// an exploration, the report names the condition; the mended kernel is proven by one run. What
// the report says, without and with an exploration, is what the example has.
func TestConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("explorations that are long under the race detector, one after the other; others have the goroutines")
	}
	examples, err := filepath.Abs("../../internal/undecided/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // reports have the names of files as they were given
	for i := range undecided.Conditions {
		c := &undecided.Conditions[i]
		t.Run(c.Name, func(t *testing.T) {
			e := c.Example()
			said := func(name, text, flags string) string {
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				args := append([]string{"check", name, "--brief"}, strings.Fields(flags)...)
				_, out, stderr := run(t, args...)
				if out == "" {
					t.Fatal(stderr)
				}
				return withoutAssumptions(out)
			}
			first := said("fails.ptx", e.Fails, e.Launch)
			if !strings.Contains(first, "  unproven "+c.Name+" ") {
				t.Errorf("the report does not name %s:\n%s", c.Name, first)
			}
			flags := strings.Replace(e.Launch, " --schedules 1", "", 1)
			if flags == e.Launch {
				t.Errorf("the launch is not one without exploration: %s", e.Launch)
			}
			then := said("fails.ptx", e.Fails, flags)
			right := said("holds.ptx", e.Holds, e.LaunchHolds)
			if !strings.HasPrefix(right, "clean: all schedules of this launch, ") || strings.Contains(right, "explored") {
				t.Errorf("holds.ptx: %s", right)
			}
			if first != e.First || then != e.Then {
				if !*update {
					t.Errorf("first it says\n%sand then\n%s(-update, and go generate ./internal/undecided)", first, then)
					return
				}
				keep(t, filepath.Join(examples, c.Name+".txtar"), first, then)
			}
		})
	}
}

// withoutAssumptions drops the rows of assumptions from a report.
func withoutAssumptions(text string) string {
	var kept []string
	dropped := false
	for line := range strings.Lines(text) {
		dropped = strings.HasPrefix(line, "  assuming ") || dropped && strings.HasPrefix(line, "           ")
		if !dropped {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// keep replaces what an example says.
func keep(t *testing.T, name, first, then string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	kept, _, _ := strings.Cut(string(text), "-- first --\n")
	kept += "-- first --\n" + first + "-- then --\n" + then
	if err := os.WriteFile(name, []byte(kept), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestIncompletePage: docs/incomplete.md is what the texts make.
func TestIncompletePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/incomplete.md")
	if err != nil || !bytes.Equal(page, undecided.Page(rules.Names())) {
		t.Errorf("docs/incomplete.md is another page (%v): go generate ./internal/undecided", err)
	}
}

// TestKindsNamed: the findings that the texts name are kinds.
func TestKindsNamed(t *testing.T) {
	words := map[string]bool{"co-resident": true, "preferred-cluster": true, "floating-point": true, "all-clear": true, "limit-time": true, "tx-count": true}
	hyphenated := regexp.MustCompile(`[a-z]+(?:-[a-z]+)+`)
	n := 0
	named := func(text string) {
		for _, word := range hyphenated.FindAllString(text, -1) {
			if rules.Lookup(word) != nil {
				n++
			} else if !words[word] {
				t.Errorf("%q is no kind of findings", word)
			}
		}
	}
	for _, c := range undecided.Conditions {
		named(c.Text)
	}
	for _, c := range undecided.Causes {
		named(c.Text)
	}
	if n < 20 {
		t.Errorf("the texts name %d kinds", n)
	}
}

// TestExplainConditions: explain prints each condition with both kernels, and all causes.
func TestExplainConditions(t *testing.T) {
	for _, c := range undecided.Conditions {
		for _, name := range []string{c.Name, strings.ToLower(c.Name)} {
			status, out, _ := run(t, "explain", name)
			for _, want := range []string{c.Name + ": " + c.Title, c.Text, "\nFails:\n\n    ", "  unproven " + c.Name + " "} {
				if status != 0 || !strings.Contains(out, want) {
					t.Errorf("explain %s: exit %d, no %q", name, status, want)
				}
			}
		}
	}
	_, out, _ := run(t, "explain", "incomplete")
	if i := slices.IndexFunc(undecided.Causes, func(c undecided.Cause) bool {
		return !strings.Contains(out, c.Title) || !strings.Contains(out, strings.Split(c.Text, "\n")[0])
	}); i >= 0 {
		t.Errorf("explain incomplete does not tell of %s", undecided.Causes[i].Title)
	}
}
