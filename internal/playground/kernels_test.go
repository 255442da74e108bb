package playground

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/internal/rules"
)

// offered are the examples as the site has them.
func offered(t testing.TB) *Kernels {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(site(t), "kernels.json"))
	if err != nil {
		t.Fatal(err)
	}
	var k Kernels
	if err := json.Unmarshal(text, &k); err != nil {
		t.Fatal(err)
	}
	return &k
}

// native runs the command of this machine on an item's files, and returns its exit status and
// both outputs.
func native(t testing.TB, i *Item, args ...string) (status int, out, errs string) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range i.Files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(site(t), "muster"), args...)
	var o, e bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// TestKernels holds each example to the verdict and the finding that it promises.
func TestKernels(t *testing.T) {
	k := offered(t)
	ids := map[string]bool{}
	for g := range k.Groups {
		if len(k.Groups[g].Items) < 50 {
			t.Errorf("group %s has %d items", k.Groups[g].ID, len(k.Groups[g].Items))
		}
		for n := range k.Groups[g].Items {
			i := &k.Groups[g].Items[n]
			if ids[i.ID] || i.Files[i.Launch] == nil || !slices.Contains(i.Args, i.Launch) || i.Name == "" {
				t.Errorf("%s: an id that is there twice, no launch, or no name", i.ID)
			}
			ids[i.ID] = true
			if testing.Short() && n%8 != 0 {
				continue
			}
			t.Run(i.ID, func(t *testing.T) {
				t.Parallel()
				holds(t, i)
			})
		}
	}
	for _, kind := range rules.Kinds() {
		if !ids[kind.Name+"/wrong"] || !ids[kind.Name+"/right"] {
			t.Errorf("%s is not in the catalogue", kind.Name)
		}
	}
}

// holds runs the command of one example.
func holds(t *testing.T, i *Item) {
	if i.Args[0] == "barrier" {
		status, out, errs := native(t, i, i.Args...)
		if status != 0 || !strings.HasSuffix(errs, i.Expect+"\n") || i.Wrong != strings.Contains(out, "["+i.Kind+"]") {
			t.Errorf("exit %d, want %q and kind %q\n%s%s", status, i.Expect, i.Kind, out, errs)
		}
		return
	}
	_, out, errs := native(t, i, append(i.Args, "--format", "json")...)
	var report struct {
		Verdict  string
		Findings []struct{ Kind, Severity string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	due := false
	for _, f := range report.Findings {
		due = due || f.Kind == i.Kind && f.Severity == i.Severity
	}
	if report.Verdict != i.Expect || due != i.Wrong {
		t.Errorf("verdict %s, want %s; the finding %q is there: %v\n%s", report.Verdict, i.Expect, i.Kind, due, out)
	}
}
