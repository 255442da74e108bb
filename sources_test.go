package muster_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/internal/rules"
	"muster/ptx"
)

// fewest is how many statements docs/tables/sources.md has at least.
const fewest = 120

// A statement is one row of docs/tables/sources.md.
type statement struct {
	line                                  int
	number, text, source, ours, tests, ok string
}

var (
	codeRE   = regexp.MustCompile("`([^`]+)`")
	linkRE   = regexp.MustCompile(`\[([a-z0-9_]+)\]\(\.\./\.\./examples/barrier/([a-z0-9_]+)\.txt\)`)
	lookupRE = regexp.MustCompile(`^rules\.Lookup\("([a-z-]+)"\)$`)
)

// readStatements reads the table of statements, and the sources that it may cite.
func readStatements(t *testing.T) (rows []statement, sources []string) {
	t.Helper()
	text, err := os.ReadFile("docs/tables/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		switch {
		case !strings.HasPrefix(line, "| ") || cells[0] == "#" || cells[0] == "source":
		case len(cells) == 2:
			sources = append(sources, cells[0])
		case len(cells) == 6:
			rows = append(rows, statement{i + 1, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]})
		default:
			t.Errorf("docs/tables/sources.md:%d: %d cells", i+1, len(cells))
		}
	}
	return rows, sources
}

// TestSources checks docs/tables/sources.md: every symbol, test and script that it names exists, each
// statement that does not hold has a script, and there are enough statements.
func TestSources(t *testing.T) {
	rows, sources := readStatements(t)
	if len(rows) < fewest {
		t.Errorf("%d statements, %d at least", len(rows), fewest)
	}
	names := declared(t)
	failing := 0
	for i, s := range rows {
		bad := func(format string, a ...any) {
			t.Errorf("docs/tables/sources.md:%d: %s", s.line, fmt.Sprintf(format, a...))
		}
		if s.number != strconv.Itoa(i+1) || s.text == "" {
			bad("statement %q, want %d", s.number, i+1)
		}
		if !cites(s.source, sources) {
			bad("no source %q in the table above", s.source)
		}
		symbols := codeRE.FindAllStringSubmatch(s.ours, -1)
		if len(symbols) == 0 {
			bad("no symbol")
		}
		for _, m := range symbols {
			if !names.symbol(m[1]) {
				bad("no symbol %s", m[1])
			}
		}
		tests := codeRE.FindAllStringSubmatch(s.tests, -1)
		for _, m := range tests {
			if !names.test(t, m[1]) {
				bad("no test %s", m[1])
			}
		}
		if len(tests)+len(linkRE.FindAllString(s.tests, -1)) == 0 {
			bad("no test")
		}
		for _, m := range linkRE.FindAllStringSubmatch(s.tests+s.ok, -1) {
			if _, err := os.Stat("examples/barrier/" + m[2] + ".txt"); err != nil || m[1] != m[2] {
				bad("script %s: %v", m[2], err)
			}
		}
		switch {
		case strings.HasPrefix(s.ok, "holds"):
		case !strings.HasPrefix(s.ok, "**does not hold**: "):
			bad("a verdict is 'holds' or '**does not hold**: why'")
		case !linkRE.MatchString(s.ok):
			bad("what does not hold has a script in its verdict")
		default:
			failing++
		}
	}
	text, err := os.ReadFile("docs/tables/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\n%d statements of public texts", len(rows)); !strings.Contains(string(text), want) {
		t.Errorf("docs/tables/sources.md does not say%s", want)
	}
	if want := fmt.Sprintf("%d do not, and each of those has a script", failing); !strings.Contains(string(text), want) {
		t.Errorf("docs/tables/sources.md does not say that %s", want)
	}
}

func cites(source string, known []string) bool {
	for _, k := range known {
		if strings.HasPrefix(source, k) {
			return true
		}
	}
	return false
}

// names are the declarations of the packages, and the tests with the files beside them.
type names struct {
	declared map[string]bool   // "mbarrier.Word.Arrive"
	tests    map[string]string // "mbarrier.TestH200Cases" to its folder
	beside   map[string]string // a folder's test code, and the names and text of its testdata
}

// declared reads every package of this module.
func declared(t *testing.T) *names {
	t.Helper()
	n := &names{map[string]bool{}, map[string]string{}, map[string]string{}}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			return n.file(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *names) file(path string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	pkg := strings.TrimSuffix(f.Name.Name, "_test")
	isTest := strings.HasSuffix(path, "_test.go")
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := pkg + "." + receiver(d) + d.Name.Name
			if isTest {
				n.tests[name] = dir
			} else {
				n.declared[name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				n.spec(pkg, s)
			}
		}
	}
	return nil
}

// receiver is "Word." for a method of Word.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expr := d.Recv.List[0].Type
	if p, ok := expr.(*ast.StarExpr); ok {
		expr = p.X
	}
	if id, ok := expr.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

func (n *names) spec(pkg string, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		n.declared[pkg+"."+s.Name.Name] = true
		if st, ok := s.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				for _, id := range f.Names {
					n.declared[pkg+"."+s.Name.Name+"."+id.Name] = true
				}
			}
		}
	case *ast.ValueSpec:
		for _, id := range s.Names {
			n.declared[pkg+"."+id.Name] = true
		}
	}
}

// symbol reports whether a declaration, or a kind in the catalogue, has that name.
func (n *names) symbol(name string) bool {
	if m := lookupRE.FindStringSubmatch(name); m != nil {
		return rules.Lookup(m[1]) != nil
	}
	return n.declared[name] && ast.IsExported(name[strings.LastIndexByte(name, '.')+1:])
}

// test reports whether there is such a test and, after a slash, such a case: a file of its testdata,
// or a name in its code or its data.
func (n *names) test(t *testing.T, name string) bool {
	function, sub, _ := strings.Cut(name, "/")
	dir, ok := n.tests[function]
	if !ok || sub == "" {
		return ok
	}
	if _, ok := n.beside[dir]; !ok {
		n.beside[dir] = around(t, dir)
	}
	return strings.Contains(n.beside[dir], strconv.Quote(sub)) || strings.Contains(n.beside[dir], "\nfile "+sub+".")
}

func around(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != dir && d.Name() != "testdata" && !strings.Contains(path, "testdata") {
				return filepath.SkipDir
			}
			return err
		}
		fmt.Fprintf(&b, "\nfile %s\n", d.Name())
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".jsonl") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMbarrierForms holds what docs/tables/sources.md says of the instructions' forms to the table.
func TestMbarrierForms(t *testing.T) {
	for _, c := range []struct {
		form, version string
		sm            int
		section       string
	}{
		{"mbarrier.init", "7.0", 80, ".9"},
		{"mbarrier.inval", "7.0", 80, ".10"},
		{"mbarrier.expect_tx", "8.0", 90, ".11"},
		{"mbarrier.complete_tx", "8.0", 90, ".12"},
		{"mbarrier.arrive", "7.0", 80, ".13"},
		{"mbarrier.arrive.cluster", "8.0", 90, ".13"},
		{"mbarrier.arrive.expect_tx", "8.0", 90, ".13"},
		{"mbarrier.arrive.noComplete", "7.0", 80, ".13"},
		{"mbarrier.arrive_drop", "7.0", 80, ".14"},
		{"cp.async.mbarrier.arrive", "7.0", 80, ".15"},
		{"mbarrier.test_wait", "7.0", 80, ".16"},
		{"mbarrier.test_wait.parity", "7.1", 80, ".16"},
		{"mbarrier.try_wait", "7.8", 90, ".16"},
		{"mbarrier.try_wait.parity", "7.8", 90, ".16"},
		{"mbarrier.pending_count", "7.0", 80, ".17"},
	} {
		f := ptx.LookupForm(c.form)
		if f == nil {
			t.Errorf("no form %s", c.form)
			continue
		}
		if got := fmt.Sprintf("%d.%d", f.Version.Major, f.Version.Minor); got != c.version || f.SM.Number != c.sm || f.Section != "9.7.13.15"+c.section {
			t.Errorf("%s: PTX %s, sm_%d, section %s", c.form, got, f.SM.Number, f.Section)
		}
		if c.form != "mbarrier.pending_count" && f.Proxy != "generic" {
			t.Errorf("%s goes through the %s proxy", c.form, f.Proxy)
		}
	}
	for form, want := range map[string]string{"mbarrier.arrive": "release", "mbarrier.test_wait": "acquire", "mbarrier.try_wait.parity": "acquire", "mbarrier.expect_tx": "relaxed"} {
		f := ptx.LookupForm(form)
		sem, _ := f.Slot("sem")
		scope, _ := f.Slot("scope")
		if sem.Default != want || scope.Default != "cta" || !scope.Tied {
			t.Errorf("%s: default %s.%s", form, sem.Default, scope.Default)
		}
	}
	for _, name := range []string{"barrier.cluster.arrive", "barrier.cluster.wait"} {
		if f := ptx.LookupForm(name); f.SM.Number != 90 {
			t.Errorf("%s needs sm_%d", name, f.SM.Number)
		}
	}
}

// TestMbarrierSyntax: what may be written of an mbarrier in another CTA, and of a token.
func TestMbarrierSyntax(t *testing.T) {
	for text, want := range map[string]bool{
		"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%a];":               true,
		"mbarrier.arrive.release.cluster.shared::cluster.b64 %s, [%a];":              false,
		"mbarrier.arrive.shared::cta.b64 _, [%a];":                                   true,
		"mbarrier.arrive.shared::cta.b64 %s, [%a], 2;":                               true,
		"mbarrier.arrive.release.shared::cta.b64 %s, [%a];":                          false,
		"mbarrier.arrive.cluster.shared::cta.b64 %s, [%a];":                          false,
		"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%a], 64;": true,
		"mbarrier.arrive.expect_tx.shared::cta.b64 %s, [%a], 64;":                    true,
		"mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%a], 64;":           true,
		"mbarrier.expect_tx.release.cta.shared::cta.b64 [%a], 64;":                   false,
		"mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%a], 64;":         true,
		"mbarrier.test_wait.parity.shared::cta.b64 %p, [%a], 0;":                     true,
		"mbarrier.test_wait.parity.shared::cluster.b64 %p, [%a], 0;":                 false,
		"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%a], 0, 100;": true,
		"mbarrier.try_wait.parity.shared::cluster.b64 %p, [%a], 0;":                  false,
		"mbarrier.init.shared::cluster.b64 [%a], 1;":                                 false,
		"mbarrier.inval.shared::cluster.b64 [%a];":                                   false,
	} {
		src := ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %a;\n.reg .b64 %s;\n.reg .pred %p;\n" + text + "\nret;\n}\n"
		m, err := ptx.Parse("k.ptx", []byte(src))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := len(ptx.Validate(m)) == 0; got != want {
			t.Errorf("%s: allowed %v, want %v", text, got, want)
		}
	}
}
