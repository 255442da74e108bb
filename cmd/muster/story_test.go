package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestStories holds stories to testdata/story/NAME.txt: each of a finding in
// its smallest schedule, for a person to read. -update writes them.
func TestStories(t *testing.T) {
	lapped := []string{wrongTwin(t, "../../internal/confluence/testdata/02-lapped-wait.txtar"), "--grid", "1", "--block", "64",
		"--buffer", "data=u32[32]:iota", "--buffer", "out=u32[64]:zeros", "--arg", "data", "--arg", "out"}
	tensor := func(name string) []string {
		return []string{wrongTwin(t, "../../internal/rules/testdata/"+name+".txtar"), "--grid", "1", "--block", "128", "--buffer", "out=u32[128]", "--arg", "out"}
	}
	for _, c := range []struct {
		name, kind string
		launch     []string
	}{
		{"race_tensor", "race-tensor", tensor("race-tensor")},
		{"fault_columns", "tensor-unallocated", tensor("tensor-unallocated")},
		{"hang_columns", "never-completes", []string{wrongTwin(t, "testdata/hang_columns.txtar"), "--grid", "1", "--block", "64"}},
		{"hang_lapped_wait", "lapped-wait", lapped},
		{"hang_parity", "never-completes", []string{"../../examples/ring/broken_parity.yaml"}},
		{"hang_count", "arrivals-missing", []string{"../../examples/ring/broken_count.yaml"}},
		{"race_proxy", "proxy-raw", []string{"../../examples/bulk_store/broken_no_fence.yaml"}},
		{"race_lanes", "race-lanes", []string{"../../examples/ring/broken_no_release.yaml"}},
		{"race_in_flight", "read-in-flight", []string{"../../examples/same_thread/broken_no_wait.yaml"}},
		{"cluster_exit", "exit-before-remote", []string{"../../examples/cluster_exchange/broken_exit.yaml"}},
		{"named_barrier", "named-barrier-mismatch", []string{"../../examples/named_barrier/broken_no_empty.yaml"}},
		{"fault_arrivals", "arrivals-excess", []string{"../../examples/same_thread/broken_all_arrive.yaml"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := storyOf(t, c.kind, c.launch)
			golden := filepath.Join("testdata/story", c.name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the story is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// storyOf is the story of the first finding of a kind.
func storyOf(t *testing.T, kind string, launch []string) string {
	t.Helper()
	status, out, stderr := run(t, append([]string{"check"}, launch...)...)
	if status != exitFindings {
		t.Fatalf("check: exit %d\n%s%s", status, out, stderr)
	}
	_, block, ok := strings.Cut("\n"+out, "\nerror["+kind+"] ")
	if !ok {
		t.Fatalf("no %s\n%s", kind, out)
	}
	_, line, _ := strings.Cut(block, "  replay:  muster ")
	line, _, _ = strings.Cut(line, "\n")
	status, out, stderr = run(t, append(words(line), "--shrink")...)
	_, story, ok := strings.Cut(out, "\nstory of ")
	if status != exitFindings || !ok {
		t.Fatalf("muster %s --shrink: exit %d\n%s%s", line, status, out, stderr)
	}
	return "story of " + story
}

// wrongTwin writes the wrong kernel of a counterexample.
func wrongTwin(t *testing.T, file string) string {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		if f.Name == "wrong.ptx" {
			name := filepath.Join(dir, "wrong.ptx")
			if err := os.WriteFile(name, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
			return name
		}
	}
	t.Fatalf("%s has no wrong.ptx", file)
	return ""
}
