package kernels_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var fenceRE = regexp.MustCompile("(?ms)^```(\\w+) (\\S+)\n(.*?)^```$")

// TestTour holds docs/machine.md to the examples: a block of Go is a piece of
// the file that it names, and a block of output lies in the output of the
// example that it names, line for line.
func TestTour(t *testing.T) {
	doc, err := os.ReadFile("../../docs/machine.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := fenceRE.FindAllStringSubmatch(string(doc), -1)
	if n := strings.Count(string(doc), "\n```"); n != 2*len(blocks) {
		t.Errorf("%d fences, and %d blocks that say what they are", n, len(blocks))
	}
	outputs := outputs(t)
	for _, b := range blocks {
		kind, name, text := b[1], b[2], b[3]
		switch kind {
		case "go":
			src, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			} else if !contains(string(src), text) {
				t.Errorf("not in %s:\n%s", name, text)
			}
		case "output":
			out, ok := outputs[name]
			if !ok {
				t.Errorf("no example %s", name)
			} else if !strings.Contains("\n"+out, "\n"+text) {
				t.Errorf("not in the output of %s:\n%s\nwhich is\n%s", name, text, out)
			}
		default:
			t.Errorf("a block of %q", kind)
		}
	}
}

// contains finds lines in a file, whatever their indentation.
func contains(src, text string) bool {
	return strings.Contains("\n"+flat(src), "\n"+flat(text))
}

// flat makes runs of blanks one, and takes those at a line's beginning away.
func flat(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

var exampleRE = regexp.MustCompile(`(?s)func (Example\w+)\(\) \{.*?// Output:\n(.*?)\n\}`)

// outputs gives what the examples of this package print.
func outputs(t *testing.T) map[string]string {
	src, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for _, m := range exampleRE.FindAllStringSubmatch(string(src), -1) {
		var b strings.Builder
		for line := range strings.Lines(m[2]) {
			b.WriteString(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "//"), " ") + "\n")
		}
		list[m[1]] = b.String()
	}
	return list
}
