package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/internal/rules"
)

// command runs the command and returns its exit code and output.
func command(args ...string) (int, string) {
	var out, errs bytes.Buffer
	code := doMain(args, strings.NewReader(""), &out, &errs)
	return code, out.String() + errs.String()
}

var dueRE = regexp.MustCompile(`^# ([a-z-]+): `)

// TestExamples checks every example. A right one is free of errors but for those
// that its launch file accepts with a reason, clean unless the schedules run out,
// and runs to the output that an H200 computed (of found, plain Go); a broken twin is found under the name
// that its launch file's first line gives.
func TestExamples(t *testing.T) {
	for _, f := range exampleFiles(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(f), "../../examples/"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code, out := checkedExample(t, f)
			if !strings.HasPrefix(filepath.Base(f), "broken_") {
				if code != 0 && !(code == exitIncomplete && strings.Contains(out, "incomplete: nothing found in ")) {
					t.Errorf("check: exit %d\n%s", code, out)
				}
				if code, out := command("run", f); code != 0 {
					t.Errorf("run: exit %d\n%s", code, out)
				}
				return
			}
			due := dueRE.FindStringSubmatch(string(src))
			if due == nil {
				t.Fatal("the launch file's first line names no finding")
			}
			want, finding := 1, "error["+due[1]+"]"
			if rules.Lookup(due[1]).Severity == rules.Warning {
				want, finding = exitClean, "warning["+due[1]+"]"
			}
			if code != want || !strings.Contains(out, finding) {
				t.Errorf("check: exit %d, want %d and %s\n%s", code, want, finding, out)
			}
		})
	}
}

// Tests leave out what takes long; with -long they do that alone, as the gate does.
var long = flag.Bool("long", false, "what the tests leave out because it takes long, and nothing else")

// exampleFiles lists the launch files among the examples: all but the mistakes in large
// kernels, with -long those alone. With -short it has of each folder the smallest kernel, and the
// smallest mistake, if these are not large: as many goroutines as all others, under the race
// detector, which takes minutes for what they do besides.
func exampleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(files) < 25 {
		t.Fatal("examples are missing:", len(files), err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		return *long != (slow(t, f) && strings.HasPrefix(filepath.Base(f), "broken_"))
	})
	if testing.Short() {
		files = slices.DeleteFunc(files, func(f string) bool { return slow(t, f) })
		slices.SortStableFunc(files, func(a, b string) int { return int(kernelSize(t, a) - kernelSize(t, b)) })
		files = firstOfEach(files, func(f string) string {
			dir, name := filepath.Split(f)
			return fmt.Sprint(dir, strings.HasPrefix(name, "broken_"))
		})
		if len(files) < 10 {
			t.Fatal("few examples are small:", files)
		}
	}
	return files
}

// firstOfEach returns the first of each that have a key.
func firstOfEach(list []string, key func(string) string) (first []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if k := key(s); !seen[k] {
			seen[k] = true
			first = append(first, s)
		}
	}
	return first
}

// checkedExample returns what check says of a launch file among the examples,
// with every finding. Several tests ask, and it is checked once.
func checkedExample(t *testing.T, file string) (status int, text string) {
	budget := "20"
	if slow(t, file) {
		budget = "6"
	}
	type answer struct {
		status int
		text   string
	}
	f, _ := examplesChecked.LoadOrStore(file, sync.OnceValue(func() answer {
		status, text := command("check", file, "--all", "--schedules", budget)
		return answer{status, text}
	}))
	a := f.(func() answer)()
	return a.status, a.text
}

var examplesChecked sync.Map // from a file's name to what checks it once
