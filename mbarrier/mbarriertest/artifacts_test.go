package mbarriertest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/mbarrier/mbarriertest"
)

// stuckTest runs a test of testdata/stuck, which fails, and returns what go test prints and the files that it
// leaves.
func stuckTest(t *testing.T, name string, flags ...string) (out string, files []string) {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"test", "-count=1", "-run", "^" + name + "$", "-outputdir", dir}, flags...)
	b, err := exec.Command("go", append(args, "./testdata/stuck")...).CombinedOutput()
	if (err == nil) != (name == "TestRecovered") {
		t.Fatalf("go test: %v\n%s", err, b)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b), files
}

var pageRE = regexp.MustCompile(`page: (.*mbarriers\.html)`)

// TestArtifacts: with -artifacts a test that fails leaves its page and says where, however it fails; one that
// passes leaves none.
func TestArtifacts(t *testing.T) {
	for name, says := range map[string]string{
		"TestRing":  "The test is stuck: every goroutine waits, and nothing that is left can wake one.",
		"TestCheck": "The test has failed: a check of the test failed",
		"TestPanic": "The test has failed: mbarrier: ArriveN over-arrives: 3 arriving where the phase still waits for 2; done is at phase 0 (parity 0): pending 2 of 2, tx 0",
	} {
		t.Run(name, func(t *testing.T) {
			out, files := stuckTest(t, name, "-artifacts")
			m := pageRE.FindStringSubmatch(out)
			if m == nil || len(files) != 2 {
				t.Fatalf("files %q, and go test says\n%s", files, out)
			}
			if _, err := os.Stat(m[1]); err != nil {
				t.Error(err)
			}
			text, err := os.ReadFile(strings.TrimSuffix(m[1], ".html") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var r mbarriertest.Report
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			if r.Words[0] != says {
				t.Errorf("the report says %q", r.Words)
			}
			holds(t, &r)
		})
	}
	if out, files := stuckTest(t, "TestRecovered", "-artifacts"); len(files) != 0 {
		t.Errorf("a test that passes leaves %q\n%s", files, out)
	}
}

// TestNoArtifacts: without -artifacts a failure says what the flag would leave, and nothing is left.
func TestNoArtifacts(t *testing.T) {
	out, files := stuckTest(t, "TestRing")
	if len(files) != 0 || !strings.Contains(out, "go test -artifacts leaves a page of who waits for whom") {
		t.Errorf("files %q, and go test says\n%s", files, out)
	}
}

// TestDocument: the tour shows the program, the test and the failure as they are.
func TestDocument(t *testing.T) {
	tour, err := os.ReadFile("../../docs/mbarrier.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(tour), "\n## When a test is stuck\n")
	if !ok {
		t.Fatal("the tour has no such section")
	}
	source := ""
	for _, file := range []string{"../../examples/stuck/stuck.go", "testdata/stuck/stuck_test.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(b)
	}
	out, _ := stuckTest(t, "TestRing")
	// Which goroutine comes first depends on the scheduler.
	sorted := func(s string) string {
		s = strings.ReplaceAll(s, `"producer" waits at "empty[1]" for "consumer", "consumer" waits at "full[1]" for "producer"`, `"consumer" waits at "full[1]" for "producer", "producer" waits at "empty[1]" for "consumer"`)
		return strings.Join(strings.Fields(s), " ")
	}
	blocks := regexp.MustCompile("(?ms)^```\n(.*?)^```$").FindAllStringSubmatch(section, -1)
	if len(blocks) != 2 {
		t.Fatalf("the section has %d blocks", len(blocks))
	}
	for part := range strings.SplitSeq(strings.TrimSpace(blocks[0][1]), "\n\n") {
		if !strings.Contains(source, part) {
			t.Errorf("not in the sources:\n%s", part)
		}
	}
	_, said, _ := strings.Cut(blocks[1][1], "\n    ") // the command, and how long it took
	said, page, _ := strings.Cut(said, "page: ")
	if said = sorted(said); !strings.Contains(sorted(out), said) || !strings.HasSuffix(page, "mbarriers.html\n") {
		t.Errorf("go test says\n%s\nand the tour\n%s", out, said)
	}
}
