package conform

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"
)

// An action is action.yml, as far as the tests need it.
type action struct {
	Inputs map[string]struct {
		Default string
	}
	Runs struct {
		Steps []struct {
			ID, Run string
			Env     map[string]string
			Dir     string `yaml:"working-directory"`
		}
	}
}

// A workflow that uses the action with each of its inputs and outputs is right by actionlint,
// which knows them from action.yml; one that misspells them is not.
func TestActionlint(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "action.yml"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lint := func(inputs, output string) []*actionlint.Error {
		t.Helper()
		name := filepath.Join(dir, ".github", "workflows", "check.yml")
		workflow := "on: push\njobs:\n  check:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - uses: ./\n        id: muster\n        with:\n" + inputs +
			"      - run: echo \"${{ steps.muster.outputs." + output + " }}\"\n        if: always()\n"
		if err := os.WriteFile(name, []byte(workflow), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := actionlint.NewLinter(os.Stderr, &actionlint.LinterOptions{Shellcheck: "", Pyflakes: "", Format: "{{range .}}{{end}}", WorkingDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		p, err := actionlint.NewProject(dir)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.LintFile(name, p)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	all := ""
	for name := range readAction(t).Inputs {
		all += "          " + name + ": x\n"
	}
	for _, output := range []string{"sarif", "json", "status"} {
		for _, e := range lint(all, output) {
			t.Error(e)
		}
	}
	for _, bad := range [][2]string{{"          format: x\n", "sarif"}, {all + "          frob: x\n", "sarif"}, {all, "frob"}} {
		if len(lint(bad[0], bad[1])) == 0 {
			t.Errorf("nothing wrong with %q", bad)
		}
	}
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// perform runs the shell steps of action.yml as a runner does, with inputs and their defaults, in
// a folder. It returns the outputs of the last step, what the steps wrote, and the status of
// the one that failed.
func perform(t *testing.T, dir string, inputs map[string]string) (outputs map[string]string, log string, status int) {
	t.Helper()
	a := readAction(t)
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	values := map[string]string{"github.action_path": here}
	for name, in := range a.Inputs {
		values["inputs."+name] = in.Default
		if v, ok := inputs[name]; ok {
			values["inputs."+name] = v
		}
	}
	filled := func(s string) string {
		for name, v := range values {
			s = strings.ReplaceAll(s, "${{ "+name+" }}", v)
		}
		if strings.Contains(s, "${{") {
			t.Fatalf("%s has no value", s)
		}
		return s
	}
	for _, step := range a.Runs.Steps {
		if step.Run == "" { // actions/setup-go, which is asked for by an input alone
			continue
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %s has an input in its script", step.ID)
		}
		file := filepath.Join(temp, step.ID)
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		// As https://docs.github.com/en/actions/reference/workflow-syntax-for-github-actions
		// has it for 'shell: bash'.
		c := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		c.Dir = dir
		if d := filled(step.Dir); d != "" && d != "." {
			c.Dir = filepath.Join(dir, d)
		}
		c.Env = append(os.Environ(), "GITHUB_OUTPUT="+file, "RUNNER_TEMP="+temp)
		for name, v := range step.Env {
			c.Env = append(c.Env, name+"="+filled(v))
		}
		out, err := c.CombinedOutput()
		log += string(out)
		text, e := os.ReadFile(file)
		if e != nil {
			t.Fatal(e)
		}
		outputs = map[string]string{}
		for line := range strings.Lines(string(text)) {
			name, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			outputs[name] = v
			values["steps."+step.ID+".outputs."+name] = v
		}
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return outputs, log, failed.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return outputs, log, 0
}

// The steps of the action, in a repository with launch files.
func TestAction(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "kernels"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"broken_bulk_store.yaml", "broken_bulk_store.ptx", "bulk_store.yaml", "bulk_store.ptx", "bulk_store.npy"} {
		text, err := os.ReadFile(filepath.Join(root, "examples", "found", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kernels", strings.Replace(name, "broken_bulk_store.yaml", "a $(b) 'c'.yaml", 1)), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("ptx: k.ptx\ngrid: many\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "odd"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\nb.yaml", "c d.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, "odd", name), []byte("ptx: k.ptx\ngrid: many\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := sarifSchema(t)
	for _, c := range []struct {
		name   string
		inputs map[string]string
		status int
		log    string
	}{
		{"clean", map[string]string{"files": "kernels/bulk_store.yaml"}, 0, "::notice title=muster::clean: "},
		{"glob", map[string]string{"files": "kernels/*.yaml"}, 1, "::error file=kernels/broken_bulk_store.ptx,line=37,"},
		{"deep glob", map[string]string{"files": "\n  **/bulk*.yaml  \n"}, 0, "clean: "},
		{"one name", map[string]string{"files": "a $(b) 'c'.yaml", "working-directory": "kernels", "format": "line"}, 1, "broken_bulk_store.ptx:37:2: error: "},
		{"own command", map[string]string{"files": "kernels/bulk_store.yaml", "muster": command}, 0, "clean: "},
		{"arguments", map[string]string{"files": "kernels/broken_bulk_store.ptx", "args": "--grid=1\n--block=128\n--buffer=in=u32[128]:iota\n--buffer=out=u32[128]:zeros\n--arg=in\n--arg=out\n", "muster": command}, 1, "proxy-raw"},
		{"bad", map[string]string{"files": "bad.yaml", "muster": command}, 2, "::error file=bad.yaml,line=2,"},
		{"incomplete", map[string]string{"files": "kernels/bulk_store.yaml", "args": "--limit-instrs=20", "muster": command}, 3, "title=muster%3A incomplete::the limit of 20 "},
		{"nothing", map[string]string{"files": "none/*.yaml", "muster": command}, 2, "::error title=muster::no file is called none/*.yaml"},
		{"nothing with signs", map[string]string{"files": "100%.yaml", "muster": command}, 2, "::error title=muster::no file is called 100%25.yaml"},
		{"glob of a newline", map[string]string{"files": "odd/*.yaml", "args": "--brief", "format": "text", "muster": command}, 2, `file 1 of 2, odd/a\nb.yaml`},
		{"no command", map[string]string{"files": "kernels/bulk_store.yaml", "muster": "/no/such"}, 2, "::error title=muster::no command /no/such"},
		{"format", map[string]string{"files": "kernels/bulk_store.yaml", "format": "xml", "muster": command}, 2, "there are text, json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, log, status := perform(t, dir, c.inputs)
			if status != c.status || !strings.Contains(log, c.log) {
				t.Fatalf("exit status %d, want %d, and %q in %s", status, c.status, c.log, log)
			}
			if c.name == "nothing" || c.name == "nothing with signs" || c.name == "no command" {
				if out["sarif"] != "" {
					t.Errorf("outputs %v", out)
				}
				return
			}
			data, err := os.ReadFile(out["sarif"])
			if err != nil || out["status"] != string(rune('0'+status)) || out["json"] == "" {
				t.Fatalf("outputs %v, %v", out, err)
			}
			limits(t, valid(t, s, data))
		})
	}
	// What was found before is a baseline.
	out, _, _ := perform(t, dir, map[string]string{"files": "kernels/*.yaml", "muster": command})
	if _, log, status := perform(t, dir, map[string]string{"files": "kernels/*.yaml", "muster": command, "baseline": out["json"]}); status != 0 {
		t.Errorf("exit status %d of what is known: %s", status, log)
	}
}
