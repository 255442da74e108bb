package muster_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// The counterexamples to simpler rules are internal/confluence/testdata/NN-name.txtar:
// wrong.ptx must be proven by no run, and a reason must be the condition that the
// line `condition:` of its comment begins with; right.ptx, the same kernel mended,
// is clean in all schedules. launch has its flags, or launch.wrong and launch.right.
func TestCounterexamples(t *testing.T) {
	files, err := filepath.Glob("internal/confluence/testdata/*.txtar")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d counterexamples: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			comment, twins := parts(string(text))
			_, condition, ok := strings.Cut(comment, "condition: ")
			if !ok {
				t.Fatal("no condition is named")
			}
			wrong := twin(t, twins, "wrong")
			if p := muster.Attempt(wrong); p.All {
				t.Errorf("wrong.ptx is proven")
			} else if !because(p.Reasons, strings.TrimSpace(condition)) {
				t.Errorf("wrong.ptx is not proven, but not by %s: %+v", condition, p.Reasons)
			}
			right := twin(t, twins, "right")
			r, err := right.Check(context.Background(), muster.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Proof == nil || !r.Proof.All || r.Verdict != "clean" {
				t.Errorf("right.ptx: %s; %+v; %+v", r.Summary, muster.Attempt(right).Reasons, r.Findings)
			}
		})
	}
}

// parts splits an archive into its comment and its files.
func parts(text string) (comment string, files map[string]string) {
	files = map[string]string{}
	sections := strings.Split("\n"+text, "\n-- ")
	for _, s := range sections[1:] {
		name, body, _ := strings.Cut(s, " --\n")
		files[name] = body + "\n"
	}
	return sections[0], files
}

func because(reasons []report.Reason, condition string) bool {
	return slices.ContainsFunc(reasons, func(r report.Reason) bool { return strings.HasPrefix(r.Condition, condition) })
}

// twin prepares one kernel of a counterexample.
func twin(t *testing.T, files map[string]string, which string) *muster.Launch {
	t.Helper()
	if several := files["launch.yaml"]; several != "" {
		dir := t.TempDir()
		for name, text := range map[string]string{which + ".ptx": files[which+".ptx"], "launch.yaml": strings.ReplaceAll(several, "wrong.ptx", which+".ptx")} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return readLaunch(t, filepath.Join(dir, "launch.yaml"))
	}
	flags, ok := files["launch."+which]
	if !ok {
		flags = files["launch"]
	}
	fl := flagsOf(t, flags)
	fl.PTX = which + ".ptx"
	f, err := launch.FromFlags(fl)
	if err != nil {
		t.Fatal(err)
	}
	src := []byte(files[which+".ptx"])
	mod, err := ptx.Parse(which+".ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, mod, src, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// flagsOf reads the launch of an archive: --name value, where a value goes on to
// the next word that starts with two hyphens.
func flagsOf(t *testing.T, text string) launch.Flags {
	t.Helper()
	var fl launch.Flags
	words := strings.Fields(text)
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && !strings.HasPrefix(words[i+n], "--") {
			n++
		}
		name, v := words[i], strings.Join(words[i+1:i+n], " ")
		i += n
		switch name {
		case "--grid":
			fl.Grid = v
		case "--block":
			fl.Block = v
		case "--cluster":
			fl.Cluster = v
		case "--shared":
			fl.Shared = v
		case "--registers":
			fl.Registers = v
		case "--maxrregcount":
			fl.MaxRegCount = v
		case "--kernel":
			fl.Kernel = v
		case "--buffer":
			fl.Buffers = append(fl.Buffers, v)
		case "--arg":
			fl.Args = append(fl.Args, v)
		default:
			t.Fatalf("launch: unknown flag %q", name)
		}
	}
	return fl
}
