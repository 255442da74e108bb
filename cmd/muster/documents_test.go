package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateDocuments = flag.Bool("update.documents", false, "rewrite the outputs in the documents that TestDocuments runs")

// documents are those whose commands are run.
var documents = []string{"README.md", "docs/quickstart.md", "docs/report.md", "docs/ci.md", "docs/needed.md", "docs/from-compute-sanitizer.md", "docs/profile.md", "docs/litmus.md", "docs/memory.md"}

// TestDocuments does what the documents say, in order, each in a folder of its own that has
// the project's examples. A block "console" has commands behind "$ ", and below each what it
// prints, to both outputs; a line "…" stands for any lines, and 'echo $?' tells the status of
// the command before. A block whose info has a second word is a file of that name.
func TestDocuments(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "docs/memory.md" {
				t.Skip("runs a hundred litmus tests and kernels one after the other")
			}
			t.Parallel()
			file := filepath.Join(root, filepath.FromSlash(name))
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := document{t: t, dir: t.TempDir(), root: root}
			for _, link := range []string{"examples", "docs"} {
				if err := os.Symlink(filepath.Join(root, link), filepath.Join(d.dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			done := documentBlock.ReplaceAllStringFunc(string(text), d.block)
			if d.commands == 0 {
				t.Error("there is no command")
			}
			if *updateDocuments && done != string(text) {
				if err := os.WriteFile(file, []byte(done), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var documentBlock = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

// A document is one that is run.
type document struct {
	t         *testing.T
	dir, root string
	commands  int
}

// block does what a block says, and returns it with the outputs that there were.
func (d *document) block(block string) string {
	m := documentBlock.FindStringSubmatch(block)
	switch info, name, text := m[1], m[2], m[3]; {
	case name != "":
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o666); err != nil {
			d.t.Fatal(err)
		}
	case info == "console":
		return "```console\n" + d.console(text) + "```"
	}
	return block
}

// console runs the commands of a block.
func (d *document) console(text string) string {
	var done strings.Builder
	status := 0
	steps := strings.Split("\n"+text, "\n$ ")
	if steps[0] != "" {
		d.t.Errorf("a block does not begin with a command:\n%s", text)
		return text
	}
	for _, step := range steps[1:] {
		step = strings.TrimSuffix(step, "\n") + "\n"
		command, want, _ := strings.Cut(step, "\n")
		for strings.HasSuffix(command, `\`) {
			more, rest, _ := strings.Cut(want, "\n")
			command, want = command+"\n"+more, rest
		}
		d.commands++
		got := d.run(command, &status)
		if !alike(want, got) {
			if !*updateDocuments {
				d.t.Errorf("$ %s\n%s\nand the document says\n%s\n(-update.documents)", command, got, want)
			} else if strings.Contains("\n"+want, "\n…\n") {
				d.t.Errorf("$ %s\n%s\nand the document, which leaves lines out, says\n%s", command, got, want)
			} else {
				want = got
			}
		}
		fmt.Fprintf(&done, "$ %s\n%s", command, want)
	}
	return done.String()
}

// run runs a command by a shell, behind one of the status.
func (d *document) run(command string, status *int) string {
	cmd := exec.Command("sh", "-c", fmt.Sprintf("(exit %d)\n%s", *status, command))
	cmd.Dir = d.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	*status = cmd.ProcessState.ExitCode()
	return progressLine.ReplaceAllString(out.String(), "")
}

// progressLine is what a command that takes half a minute or more writes besides, as under the race
// detector or on a busy machine.
var progressLine = regexp.MustCompile(`(?m)^muster: \S+ of \S+: .*\n`)

// alike reports whether an output is as wanted, where lines "…" stand for one or more lines.
func alike(want, got string) bool {
	parts := strings.Split("\n"+want, "\n…\n")
	pattern := regexp.QuoteMeta(parts[0])
	for _, p := range parts[1:] {
		pattern += `\n(?s:.+)\n` + regexp.QuoteMeta(p)
	}
	ok, err := regexp.MatchString(`\A`+pattern+`\z`, "\n"+got)
	return ok && err == nil
}

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a\nb\n", "a\nb\n", true}, {"a\nb\n", "a\nc\n", false}, {"", "", true}, {"", "a\n", false},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true}, {"a\n…\nd\n", "a\nd\n", false}, {"a\n…\n", "a\nb\n", true}, {"…\nd\n", "a\nd\n", true}, {"…\nd\n", "a\nde\n", false},
	} {
		if alike(c.want, c.got) != c.ok {
			t.Errorf("%q as %q: %v", c.got, c.want, !c.ok)
		}
	}
}
