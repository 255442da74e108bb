package muster_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/internal/script"
)

var updateDocs = flag.Bool("update", false, "rewrite the output of the scripts in docs/mbarrier.md")

// A block is a fenced block of a document.
type block struct {
	info, text string
	line       int
}

var fenceRE = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

func blocks(text string) []block {
	var out []block
	for _, m := range fenceRE.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, block{text[m[2]:m[3]], text[m[4]:m[5]], 1 + strings.Count(text[:m[4]], "\n")})
	}
	return out
}

// TestTour runs docs/mbarrier.md: its scripts have the output that stands there, and its Go is the
// body of the example that it names.
func TestTour(t *testing.T) {
	const file = "docs/mbarrier.md"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	bodies := exampleBodies(t, "mbarrier")
	kinds := map[string]int{}
	for _, b := range blocks(text) {
		kind, name, _ := strings.Cut(b.info, " ")
		kinds[kind]++
		switch kind {
		case "barrier":
			got := runBlock(t, fmt.Sprintf("%s:%d", file, b.line), b.text)
			text = strings.Replace(text, b.text, got, 1)
		case "go":
			if want, ok := bodies[name]; !ok {
				t.Errorf("%s:%d: no example %q in mbarrier", file, b.line, name)
			} else if formatted(t, b.text) != want {
				t.Errorf("%s:%d: not the body of %s, which is\n%s", file, b.line, name, want)
			}
		case "":
		default:
			t.Errorf("%s:%d: a block of %q", file, b.line, b.info)
		}
	}
	if kinds["barrier"] < 10 || kinds["go"] < 5 {
		t.Errorf("blocks: %v", kinds)
	}
	if *updateDocs && text != string(src) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// runBlock compares a script with its output, and returns it with the output that it has.
func runBlock(t *testing.T, at, text string) string {
	t.Helper()
	s, err := script.Parse(at, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	switch {
	case err != nil:
		t.Fatal(err)
	case *updateDocs:
		if !strings.Contains(text, "\nend\n") {
			r.Text, _, _ = strings.Cut(r.Text, "\nend\n")
		}
		return r.Text
	case !s.Checked():
		t.Errorf("%s: a script without output", at)
	default:
		// A tour stops where it has shown its point: somebody may still wait.
		for d := range strings.SplitSeq(r.Diff(at), at+":") {
			if d != "" && !strings.Contains(d, "\n  end\n") {
				t.Errorf("%s:%s", at, d)
			}
		}
	}
	return text
}

// exampleBodies gives the body of each example of a package, formatted, without its output.
func exampleBodies(t *testing.T, dir string) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Example") {
				body := src[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset]
				body, _, _ = bytes.Cut(body, []byte("\t// Output:"))
				bodies[fn.Name.Name] = formatted(t, string(body))
			}
		}
	}
	return bodies
}

// formatted is code without the indentation of the function it stands in.
func formatted(t *testing.T, body string) string {
	t.Helper()
	body = strings.Trim(body, "\n")
	if strings.HasPrefix(body, "\t") {
		body = strings.ReplaceAll(body[1:], "\n\t", "\n")
	}
	out, err := format.Source([]byte(body))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	return strings.TrimSpace(string(out))
}
