package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMended holds docs/mended.md to the kernels: what an agent changed mends the launch, and the
// results are those that the launch file expects.
func TestMended(t *testing.T) {
	if testing.Short() {
		t.Skip("it has no goroutines of its own, and the race detector takes minutes")
	}
	t.Chdir("../..")
	page, err := os.ReadFile("docs/mended.md")
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := filepath.Glob("docs/mended/*.diff")
	if err != nil || len(diffs) != 10 {
		t.Fatalf("%d mends, %v", len(diffs), err)
	}
	for _, name := range diffs {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".diff"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			of, mended := patched(t, string(text))
			file := strings.TrimSuffix(of, ".ptx") + ".yaml"
			if !strings.Contains(string(page), file) || !strings.Contains(string(page), filepath.Base(name)) {
				t.Errorf("docs/mended.md has no row for %s and %s", file, filepath.Base(name))
			}
			expectStatus(t, exitFindings, "check", file)
			ptx := filepath.Join(t.TempDir(), "mended.ptx")
			if err := os.WriteFile(ptx, []byte(mended), 0o666); err != nil {
				t.Fatal(err)
			}
			out := expectStatus(t, exitClean, "check", file, "--ptx", ptx)
			if !strings.Contains(out, "clean: all schedules of this launch") {
				t.Errorf("%s", out)
			}
			expectStatus(t, exitClean, "run", file, "--ptx", ptx)
		})
	}
}

// TestMendedByLess: a mend that takes out the work is clean, and run tells.
func TestMendedByLess(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("examples/bulk_store/broken_no_fence.ptx")
	if err != nil {
		t.Fatal(err)
	}
	copies := regexp.MustCompile(`(?m)^\s*cp\.async\.bulk\.global\.shared::cta\.bulk_group .*;$`)
	if n := len(copies.FindAll(text, -1)); n == 0 {
		t.Fatal("there is no copy to take out")
	}
	ptx := filepath.Join(t.TempDir(), "less.ptx")
	if err := os.WriteFile(ptx, copies.ReplaceAll(text, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	expectStatus(t, exitClean, "check", "examples/bulk_store/broken_no_fence.yaml", "--ptx", ptx)
	expectStatus(t, exitFindings, "run", "examples/bulk_store/broken_no_fence.yaml", "--ptx", ptx)
}

func expectStatus(t *testing.T, want int, args ...string) string {
	t.Helper()
	got, out := command(args...)
	if got != want {
		t.Errorf("%s: status %d, want %d\n%s", strings.Join(args, " "), got, want, out)
	}
	return out
}

// patched applies a diff in the unified form to the file that it names. Every line of it must be
// there, at the line that it says.
func patched(t *testing.T, diff string) (file, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	file = strings.TrimPrefix(lines[0], "--- ")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	from, to, at := strings.Split(string(old), "\n"), []string(nil), 0
	take := func(want string) {
		if at >= len(from) || from[at] != want {
			t.Fatalf("%s:%d: not %q", file, at+1, want)
		}
		at++
	}
	hunk := regexp.MustCompile(`^@@ -(\d+)`)
	for _, l := range lines[2:] {
		mark, rest := l[0], l[1:]
		switch mark {
		case '@':
			n, err := strconv.Atoi(hunk.FindStringSubmatch(l)[1])
			if err != nil || n-1 < at {
				t.Fatalf("%s: %s", file, l)
			}
			to, at = append(to, from[at:n-1]...), n-1
		case '-':
			take(rest)
		case '+':
			to = append(to, rest)
		case ' ':
			take(rest)
			to = append(to, rest)
		default:
			t.Fatalf("%s: %q", file, l)
		}
	}
	return file, strings.Join(slices.Concat(to, from[at:]), "\n")
}
