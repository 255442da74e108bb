package muster_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// public are the packages that people import.
var public = []string{".", "report", "launch", "ptx", "mbarrier", "mbarrier/mbarriertest", "kernel", "kernel/inst"}

// sources parses a package's files without its tests.
func sources(t *testing.T, fset *token.FileSet, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestPublicTypes: what is exported is made of what is exported, by packages that people
// can import.
func TestPublicTypes(t *testing.T) {
	for _, dir := range public {
		fset := token.NewFileSet()
		for _, f := range sources(t, fset, dir) {
			inner := map[string]bool{}
			for _, i := range f.Imports {
				if path, _ := strconv.Unquote(i.Path.Value); strings.Contains(path, "/internal/") {
					inner[path[strings.LastIndexByte(path, '/')+1:]] = true
				}
			}
			for _, d := range f.Decls {
				exposed(d, func(e ast.Expr, of string, local map[string]bool) {
					if name := hidden(e, inner, local); name != "" {
						t.Errorf("%s: %s is exported and has %s in it", fset.Position(e.Pos()), of, name)
					}
				})
			}
		}
	}
}

// exposed visits the types that an exported declaration shows, with its name and its
// type parameters.
func exposed(d ast.Decl, visit func(e ast.Expr, of string, local map[string]bool)) {
	fields := func(list *ast.FieldList, of string, all bool, local map[string]bool) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			shown := all || len(f.Names) == 0
			for _, n := range f.Names {
				shown = shown || n.IsExported()
			}
			if shown {
				visit(f.Type, of, local)
			}
		}
	}
	params := func(list *ast.FieldList, local map[string]bool) {
		if list != nil {
			for _, f := range list.List {
				for _, n := range f.Names {
					local[n.Name] = true
				}
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		local := map[string]bool{}
		params(d.Type.TypeParams, local)
		if d.Recv != nil {
			ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
				if x, ok := n.(*ast.IndexExpr); ok {
					if p, ok := x.Index.(*ast.Ident); ok {
						local[p.Name] = true
					}
				}
				if x, ok := n.(*ast.IndexListExpr); ok {
					for _, i := range x.Indices {
						if p, ok := i.(*ast.Ident); ok {
							local[p.Name] = true
						}
					}
				}
				return true
			})
			if name := base(d.Recv.List[0].Type); !ast.IsExported(name) {
				return
			}
		}
		if d.Name.IsExported() {
			fields(d.Type.Params, d.Name.Name, true, local)
			fields(d.Type.Results, d.Name.Name, true, local)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if !s.Name.IsExported() {
					continue
				}
				local := map[string]bool{}
				params(s.TypeParams, local)
				switch x := s.Type.(type) {
				case *ast.StructType:
					fields(x.Fields, s.Name.Name, false, local)
				case *ast.InterfaceType:
					fields(x.Methods, s.Name.Name, false, local)
				default:
					visit(s.Type, s.Name.Name, local)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Type != nil {
						visit(s.Type, n.Name, nil)
					}
				}
			}
		}
	}
}

// base is the name of a receiver's type.
func base(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return base(e.X)
	case *ast.IndexExpr:
		return base(e.X)
	case *ast.IndexListExpr:
		return base(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// hidden names a type in e that a reader outside cannot name.
func hidden(e ast.Expr, inner, local map[string]bool) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if p, ok := x.X.(*ast.Ident); ok && inner[p.Name] {
				name = p.Name + "." + x.Sel.Name
			}
			return false
		case *ast.Field:
			if hiding := hidden(x.Type, inner, local); hiding != "" {
				name = hiding
			}
			return false
		case *ast.Ident:
			if !x.IsExported() && !local[x.Name] && !predeclared[x.Name] {
				name = x.Name
			}
		}
		return true
	})
	return name
}

var predeclared = map[string]bool{"any": true, "bool": true, "byte": true, "comparable": true, "complex64": true, "complex128": true, "error": true,
	"float32": true, "float64": true, "int": true, "int8": true, "int16": true, "int32": true, "int64": true, "rune": true, "string": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true, "uintptr": true}

// flagged lists the library files that may name the command's flags: they read flags, or
// write a command line.
var flagged = map[string]string{
	"launch/flags.go":               "a launch is made from flags",
	"launch/flagarg.go":             "a launch is made from flags",
	"launch/missing.go":             "what a launch lacks that is made from flags, in flags",
	"launch/schema.go":              "it is the reference of what the command reads",
	"internal/capture/sources.go":   "it reads flags of JAX",
	"internal/capture/without.go":   "it says what to type where there is no PTX",
	"internal/capture/capture.go":   "it sets flags of JAX",
	"report/report.go":              "replay lines are command lines",
	"internal/alike/main.go":        "it runs the command",
	"internal/release/main.go":      "it is a command",
	"internal/mcp/input.go":         "it translates the command's answers",
	"internal/lsp/check.go":         "replay lines are command lines",
	"internal/undecided/causes.go":  "it is what the command explains",
	"internal/litmus/answer.go":     "it is what the command answers",
	"internal/litmus/replay.go":     "it is what the command answers",
	"internal/litmus/text.go":       "it is what the command answers",
	"internal/picture/svg.go":       "its flags are variables of CSS",
	"internal/playground/gather.go": "it gives the command its arguments",
}

// TestNoFlags: no text of the library names a flag of the command.
func TestNoFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[ (])--[a-z][a-z-]+`)
	command := regexp.MustCompile(`muster check [^)]*`) // which an explanation may name
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "cmd" || name == "gpu" || name == "examples" || d.Name() == "testdata" || d.Name() == "gen" || name != "." && strings.HasPrefix(d.Name(), ".") || isCampaign(name)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || flagged[name] != "":
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && flag.MatchString(command.ReplaceAllString(strings.Trim(l.Value, "\"`"), "")) {
				t.Errorf("%s: %s names a flag", fset.Position(l.Pos()), l.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isCampaign reports whether a package draws programs and writes their command lines.
func isCampaign(dir string) bool {
	for _, of := range []string{"internal/brute", "internal/axiom", "internal/campaign", "internal/mutate/table"} {
		if dir == of {
			return true
		}
	}
	return false
}

// TestLibraryExample builds and runs a program of another module, which can import
// nothing internal.
func TestLibraryExample(t *testing.T) {
	run := func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = filepath.Join("examples", "library")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := run("vet", "."); status != 0 {
		t.Fatal(out)
	}
	program := filepath.Join(t.TempDir(), "audit")
	if out, status := run("build", "-o", program, "."); status != 0 {
		t.Fatal(out)
	}
	for _, c := range []struct {
		file   string
		status int
		says   []string
	}{
		{"ring.json", 0, []string{"one run, earliest: clean", "128 elements agree", "clean: all schedules of this launch"}},
		{"broken.json", 1, []string{"arrivals-missing@broken_count.ptx:", "shown again: true", "told\n"}},
		{"none.json", 2, []string{"none.json"}},
	} {
		cmd := exec.Command(program, c.file)
		cmd.Dir = filepath.Join("examples", "library")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != c.status {
			t.Errorf("%s: exit status %d, want %d", c.file, got, c.status)
		}
		for _, want := range c.says {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s does not say %q:\n%s", c.file, want, fmt.Sprint(string(out)))
			}
		}
	}
}
