package kernel_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/ops"
)

// program holds the symbols that package kernel and packages written on it declare,
// and those that their tests and cases use.
type program struct {
	declared map[string]bool            // "Mbarrier.Arrive", "inst.Popc"
	tests    map[string]map[string]bool // "kernel.TestRing", "mbarrier/drop" to the symbols
	roots    map[string]ast.Node        // the tests' code
	decls    map[string][]ast.Node      // by key, the bodies and values of functions and variables
	local    map[types.Object]ast.Node  // the values of local variables
	info     *types.Info
}

// surfaceDirs are the folders of packages that are written on kernel. Their code is
// followed from tests and cases; for kernel and inst only that of tests.
var surfaceDirs = []string{"../internal/ops", "../examples/kernels"}

// loadSurfaces type-checks tests, cases and examples against the compiled packages, as
// the go command gives them.
func loadSurfaces(t *testing.T) *program {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-test", "-f", "{{.ImportPath}}\t{{.Export}}", ".", "./inst", "../internal/ops", "../examples/kernels").Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("go list: %s", ee.Stderr)
		}
		t.Fatal(err)
	}
	exports := map[string]string{}
	for _, line := range strings.Split(string(out), "\n") {
		if path, file, ok := strings.Cut(line, "\t"); ok {
			exports[path] = file
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		data, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(data)), err
	})
	p := &program{map[string]bool{}, map[string]map[string]bool{}, map[string]ast.Node{}, map[string][]ast.Node{}, map[types.Object]ast.Node{}, &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, path := range []string{"muster/kernel", "muster/kernel/inst"} {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		p.declare(pkg)
	}
	for _, dir := range append([]string{".", "inst"}, surfaceDirs...) {
		for name, files := range parsePackages(t, fset, dir) {
			cfg := &types.Config{Importer: imports, Error: func(error) {}} // broken code fails its own build
			path := "muster/" + filepath.ToSlash(filepath.Join("kernel", dir))
			if strings.HasSuffix(name, "_test") {
				path += "_test"
			}
			pkg, _ := cfg.Check(path, fset, files, p.info)
			p.collect(fset, pkg, files, slices.Contains(surfaceDirs, dir))
		}
	}
	for name, body := range p.roots {
		p.tests[name] = p.reach(body, true)
	}
	for _, c := range ops.All() {
		if p.tests[c.Name] == nil {
			p.tests[c.Name] = p.oneOf(c)
		}
	}
	for name := range p.roots {
		if strings.HasSuffix(name, "*") {
			delete(p.tests, name)
		}
	}
	return p
}

// oneOf returns the symbols used by a case that is one of several made in a loop. A
// case also uses symbols from its row of a table: Uses lists them.
func (p *program) oneOf(c ops.Case) map[string]bool {
	root := ""
	for name := range p.roots {
		if prefix, star := strings.CutSuffix(name, "*"); star && strings.HasPrefix(c.Name, prefix) && len(name) > len(root) {
			root = name
		}
	}
	if root == "" {
		return map[string]bool{}
	}
	uses, wide := p.reach(p.roots[root], false), p.reach(p.roots[root], true)
	for _, name := range c.Uses {
		uses[name] = wide[name]
	}
	return uses
}

// parsePackages reads the packages of a folder: name, and name_test.
func parsePackages(t *testing.T, fset *token.FileSet, dir string) map[string][]*ast.File {
	t.Helper()
	pkgs := map[string][]*ast.File{}
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkgs[f.Name.Name] = append(pkgs[f.Name.Name], f)
	}
	return pkgs
}

// declare records the exported names of a package.
func (p *program) declare(pkg *types.Package) {
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		p.declared[surfaceSymbol(obj)] = true
		named, ok := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !ok || !isType {
			continue
		}
		for i := range named.NumMethods() {
			if m := named.Method(i); m.Exported() {
				p.declared[surfaceSymbol(m)] = true
			}
		}
		if st, ok := named.Underlying().(*types.Struct); ok {
			for i := range st.NumFields() {
				if f := st.Field(i); f.Exported() {
					p.declared[surfaceSymbol(obj)+"."+f.Name()] = true
				}
			}
		}
	}
}

// surfaceSymbol returns the name of a symbol of ours, as the tables have it, or "".
func surfaceSymbol(obj types.Object) string {
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	prefix := ""
	switch obj.Pkg().Path() {
	case "muster/kernel":
	case "muster/kernel/inst":
		prefix = "inst."
	default:
		return ""
	}
	if f, ok := obj.(*types.Func); ok {
		if r := f.Signature().Recv(); r != nil {
			return prefix + namedType(r.Type()) + "." + obj.Name()
		}
	}
	if obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return prefix + obj.Name()
}

func namedType(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// declKey returns a key for a declaration, the same for source and for the compiler's
// export data.
func declKey(obj types.Object) string {
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	recv := ""
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
		recv = namedType(f.Signature().Recv().Type())
	} else if obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return obj.Pkg().Path() + " " + recv + " " + obj.Name()
}

// collect records the tests, examples and cases of a package, and the bodies and
// values of functions and variables: of its tests, or of the whole package.
func (p *program) collect(fset *token.FileSet, pkg *types.Package, files []*ast.File, all bool) {
	for _, f := range files {
		isTest := strings.HasSuffix(fset.Position(f.Pos()).Filename, "_test.go")
		if !isTest && !all {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body == nil {
					continue
				}
				k := declKey(p.info.Defs[d.Name])
				p.decls[k] = append(p.decls[k], d.Body)
				if isTest && d.Recv == nil && (strings.HasPrefix(d.Name.Name, "Test") || strings.HasPrefix(d.Name.Name, "Example")) {
					p.roots[strings.TrimSuffix(pkg.Name(), "_test")+"."+d.Name.Name] = d.Body
				}
				p.locals(d.Body)
				if all && !isTest {
					p.addedIn(d.Body)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for i, id := range v.Names {
							if k := declKey(p.info.Defs[id]); i < len(v.Values) {
								p.decls[k] = append(p.decls[k], v.Values[i])
							}
						}
					}
				}
			}
		}
	}
}

// addedIn finds the calls add("name", uses, function) of the cases. A computed name is
// recorded as its prefix and a star.
func (p *program) addedIn(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			return true
		}
		if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "add" {
			return true
		}
		first, star := call.Args[0], ""
		switch x := first.(type) {
		case *ast.BinaryExpr:
			first, star = x.X, "*"
		case *ast.CallExpr: // fmt.Sprintf
			first, star = x.Args[0], "*"
		}
		if lit, ok := first.(*ast.BasicLit); ok {
			if name, err := strconv.Unquote(lit.Value); err == nil {
				name, _, _ = strings.Cut(name, "%")
				p.roots[name+star] = call.Args[2]
			}
		}
		return true
	})
}

// locals records the values of a function's variables: functions, and the tables that
// a loop ranges over.
func (p *program) locals(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE && i < len(n.Rhs) && p.info.Defs[id] != nil {
					p.local[p.info.Defs[id]] = n.Rhs[i]
				}
			}
		case *ast.RangeStmt:
			if id, ok := n.Value.(*ast.Ident); ok && p.info.Defs[id] != nil {
				p.local[p.info.Defs[id]] = n.X
			}
		}
		return true
	})
}

// reach returns the symbols that code uses, through functions and variables of the
// tests and, if locals is set, of its own function.
func (p *program) reach(n ast.Node, locals bool) map[string]bool {
	uses, done, within := map[string]bool{}, map[string]bool{}, map[types.Object]bool{}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if tv, ok := p.info.Types[e]; ok && tv.Type != nil {
				t := tv.Type
				if ptr, ok := t.(*types.Pointer); ok {
					t = ptr.Elem()
				}
				if named, ok := t.(*types.Named); ok {
					uses[surfaceSymbol(named.Obj())] = true
				}
			}
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if s := p.info.Selections[sel]; s != nil && s.Kind() == types.FieldVal {
				uses[namedType(s.Recv())+"."+sel.Sel.Name] = true
			}
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := p.info.Uses[id]
		if s := surfaceSymbol(obj); s != "" {
			uses[s] = true
		}
		if k := declKey(obj); k != "" && !done[k] {
			done[k] = true
			for _, body := range p.decls[k] {
				ast.Inspect(body, visit)
			}
		}
		if x := p.local[obj]; x != nil && locals && !within[obj] {
			within[obj] = true
			ast.Inspect(x, visit)
		}
		return true
	}
	ast.Inspect(n, visit)
	return uses
}
