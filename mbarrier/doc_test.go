package mbarrier_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestManual: every exported symbol has a comment, and every exported type an example whose output is checked.
func TestManual(t *testing.T) {
	fset := token.NewFileSet()
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, n := range names {
		if strings.HasSuffix(n.Name(), ".go") && n.Name() != "export_test.go" {
			f, err := parser.ParseFile(fset, n.Name(), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	p, err := doc.NewFromFiles(fset, files, "muster/mbarrier")
	if err != nil {
		t.Fatal(err)
	}
	checked := func(examples []*doc.Example) bool {
		return slices.ContainsFunc(examples, func(e *doc.Example) bool { return e.Output != "" })
	}
	comment := func(name, text string) {
		if text == "" {
			t.Errorf("%s has no comment", name)
		}
	}
	funcs := func(of string, all []*doc.Func) {
		for _, f := range all {
			if f.Name != "String" {
				comment(of+f.Name, f.Doc)
			}
		}
	}
	funcs("", p.Funcs)
	for _, typ := range p.Types {
		comment(typ.Name, typ.Doc)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
		if !checked(typ.Examples) {
			t.Errorf("%s has no example with output", typ.Name)
		}
		for _, m := range typ.Methods {
			if typ.Name == "Barrier" && slices.Contains([]string{"Arrive", "Wait", "ArriveAndWait", "ArriveTx", "WaitContext"}, m.Name) && !checked(m.Examples) {
				t.Errorf("Barrier.%s has no example with output", m.Name)
			}
		}
	}
	if len(p.Types) < 15 || !checked(p.Examples) {
		t.Errorf("%d types, %d examples of the package", len(p.Types), len(p.Examples))
	}
}
