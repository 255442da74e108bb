package kernel_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual checks that the package reads as a manual: every exported function
// has a comment, or is directly below one that has, and every exported type has
// an example.
func TestManual(t *testing.T) {
	fset := token.NewFileSet()
	var files, tests []*ast.File
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, f)
		} else {
			files = append(files, f)
		}
	}
	shown := map[string]bool{}
	for _, e := range doc.Examples(tests...) {
		typ, _, _ := strings.Cut(e.Name, "_")
		shown[typ] = true
		if e.Output == "" && !e.EmptyOutput {
			t.Errorf("Example%s prints nothing that is held to", e.Name)
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				if n := s.(*ast.TypeSpec).Name.Name; ast.IsExported(n) && !shown[n] {
					t.Errorf("%s: type %s has no example", fset.Position(s.Pos()), n)
				}
			}
		}
	}
	described(t, fset, files)
}

// described reports exported functions without a comment, except those directly
// under a function that has one.
func described(t *testing.T, fset *token.FileSet, files []*ast.File) {
	for _, f := range files {
		last := -1 // the line where a described function ends
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			begin, end := fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line
			if fn.Doc == nil && begin > last+1 {
				t.Errorf("%s: %s has no comment", fset.Position(fn.Pos()), fn.Name.Name)
			}
			last = end
		}
	}
}
