package conform

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var (
	store  = flag.String("schemastore", "", "a `folder` with github-action.json and pre-commit-hooks.json of schemastore.org")
	commit = flag.Bool("precommit", false, "run pre-commit, which builds muster in an environment of its own: some minutes")
)

// action.yml and .pre-commit-hooks.yaml are what schemastore.org says of such files.
func TestStore(t *testing.T) {
	if *store == "" {
		t.Skip("needs -schemastore")
	}
	for name, of := range map[string]string{"action.yml": "github-action.json", ".pre-commit-hooks.yaml": "pre-commit-hooks.json"} {
		text, err := os.ReadFile(filepath.Join(*store, of))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := yaml.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema(t, text).Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A hook is an entry of .pre-commit-hooks.yaml.
type hook struct {
	ID, Entry, Language, Files string
	Pass                       *bool `yaml:"pass_filenames"`
}

// The hooks call what the command understands.
func TestHooks(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var hooks []hook
	if err := yaml.Unmarshal(data, &hooks); err != nil {
		t.Fatal(err)
	}
	if len(hooks) != 2 {
		t.Fatalf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		if h.Language != "golang" || h.Entry != "muster check" {
			t.Errorf("%+v", h)
		}
		// pre-commit appends args and then the files to the entry.
		args := append(strings.Fields(h.Entry)[1:], "--format", "line", "examples/ring/ring.yaml", "examples/found/bulk_store.yaml")
		if out, status := muster(t, args...); status != 0 || !strings.Contains(string(out), "muster: clean: all 2 files") {
			t.Errorf("%v: exit status %d: %s", args, status, out)
		}
	}
}

// pre-commit itself, with the hooks of the last commit, in a small repository.
func TestPreCommit(t *testing.T) {
	if !*commit {
		t.Skip("needs -precommit")
	}
	dir, home := t.TempDir(), t.TempDir()
	run := func(name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		// Go makes the folders of its module cache read-only, and they lie below home.
		c.Dir, c.Env = dir, append(os.Environ(), "PRE_COMMIT_HOME="+home, "GOFLAGS=-modcacherw")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	must := func(name string, args ...string) string {
		t.Helper()
		out, err := run(name, args...)
		if err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
		return out
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	must("git", "init", "-q", ".")
	for name, as := range map[string]string{"broken_bulk_store.ptx": "", "bulk_store.ptx": "", "bulk_store.npy": "", "broken_bulk_store.yaml": "launch.yaml", "bulk_store.yaml": "right.launch.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, "examples", "found", name))
		if err != nil {
			t.Fatal(err)
		}
		if as == "" {
			as = name
		}
		if err := os.WriteFile(filepath.Join(dir, as), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	config := "repos:\n  - repo: " + here + "\n    rev: " + strings.TrimSpace(must("git", "-C", here, "rev-parse", "HEAD")) +
		"\n    hooks:\n      - id: muster\n        args: [--format, line]\n      - id: muster-all\n        args: [right.launch.yaml]\n"
	if err := os.WriteFile(filepath.Join(dir, ".pre-commit-config.yaml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	must("git", "add", ".")
	out, err := run("pre-commit", "run", "--all-files")
	if err == nil || !strings.Contains(out, "broken_bulk_store.ptx:37:2: error: ") || !strings.Contains(out, "muster: findings: launch.yaml (of 2 files)") || strings.Count(out, "Passed") != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	must("git", "rm", "-q", "-f", "launch.yaml")
	if out := must("pre-commit", "run", "--all-files"); strings.Count(out, "Passed") != 2 {
		t.Error(out)
	}
}
