package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"muster/internal/rules"
)

// words splits a command line like a shell, for the quoting that Quote does.
func words(line string) []string {
	var list []string
	word, open, any := "", false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			open, any = !open, true
		case open:
			word += string(c)
		case c == '\\':
			i++
			word, any = word+string(line[i]), true
		case c == ' ':
			if any {
				list = append(list, word)
			}
			word, any = "", false
		default:
			word, any = word+string(c), true
		}
	}
	if any {
		list = append(list, word)
	}
	return list
}

// launchWords reads the launch of a rule's example: --name value, where a
// value goes on to the next word that starts with two hyphens.
func launchWords(text string) []string {
	var list []string
	for _, w := range strings.Fields(text) {
		if n := len(list); strings.HasPrefix(w, "--") || n > 0 && strings.HasPrefix(list[n-1], "--") {
			list = append(list, w)
		} else {
			list[n-1] += " " + w
		}
	}
	return list
}

// TestKindsReplay takes the wrong kernel of every kind through the command:
// the kind is found, checking again with other jobs says the same bytes, and
// every finding comes back by its replay line, byte for byte.
func TestKindsReplay(t *testing.T) {
	files, err := filepath.Glob("../../internal/rules/testdata/*.txtar")
	if err != nil || len(files) < len(rules.Kinds()) {
		t.Fatalf("%d examples for %d kinds, %v", len(files), len(rules.Kinds()), err)
	}
	for i, file := range files {
		if i%8 != 0 && testing.Short() {
			continue
		}
		kind, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			args := append([]string{"check"}, wrongKernel(t, file)...)
			costs := strings.HasPrefix(kind, "redundant-")
			if costs {
				args = append(args, "--cost")
			}
			_, all, stderr := run(t, append(args, "--all", "--jobs", "1")...)
			if !strings.Contains(all, "["+kind+"]") {
				t.Fatalf("%s is not found\n%s%s", kind, all, stderr)
			}
			if _, again, _ := run(t, append(args, "--all", "--jobs", "4")...); again != all {
				t.Errorf("other bytes with other jobs\n%s\n%s", all, again)
			}
			if costs {
				return // no one run shows it; its replay line is this check
			}
			replayed := 0
			for _, block := range strings.Split(all, "\n\n") {
				if replay(t, strings.TrimLeft(block, "\n")) {
					replayed++
				}
			}
			if n := strings.Count(all, "  replay:  "); replayed != n || n == 0 {
				t.Errorf("%d of %d findings replayed", replayed, n)
			}
		})
	}
}

// wrongKernel writes the wrong kernel of an example and returns how to launch
// it.
func wrongKernel(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range txtar.Parse(data).Files {
		files[f.Name] = string(f.Data)
	}
	name := filepath.Join(t.TempDir(), "wrong.ptx")
	if err := os.WriteFile(name, []byte(files["wrong.ptx"]), 0o666); err != nil {
		t.Fatal(err)
	}
	if several := files["launch.yaml"]; several != "" {
		at := filepath.Join(filepath.Dir(name), "launch.yaml")
		if err := os.WriteFile(at, []byte(several), 0o666); err != nil {
			t.Fatal(err)
		}
		return []string{at}
	}
	flags := files["launch.wrong"]
	if flags == "" {
		flags = files["launch"]
	}
	return append([]string{name}, launchWords(flags)...)
}

// replay replays the finding of a block of text, if it is one.
func replay(t *testing.T, block string) bool {
	t.Helper()
	evidence, _, _ := strings.Cut(block, "  seen: ")
	evidence, _, _ = strings.Cut(evidence, "  follows: ")
	_, line, ok := strings.Cut(evidence, "  replay:  muster ")
	if !ok {
		return false
	}
	line, _, _ = strings.Cut(line, "\n")
	status, again, stderr := run(t, words(line)...)
	if status != exitFindings || !strings.Contains(again, evidence) {
		t.Errorf("muster %s: exit %d\n%s%s\nwant\n%s", line, status, again, stderr, evidence)
	}
	return true
}

// TestExplainEveryKind: each kind has a text and both kernels.
func TestExplainEveryKind(t *testing.T) {
	for _, k := range rules.Kinds() {
		status, out, _ := run(t, "explain", k.Name)
		for _, want := range []string{k.Name + " (" + k.Severity.String() + "): " + k.Title, "PTX ISA (version " + k.Edition() + ") " + k.Section, strings.TrimSpace(k.Text), "\nWrong:\n\n    ", "\nRight:\n\n    "} {
			if status != 0 || !strings.Contains(out, want) {
				t.Errorf("explain %s: exit %d, no %q", k.Name, status, want)
			}
		}
	}
}
