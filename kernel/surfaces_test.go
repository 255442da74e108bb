package kernel_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/internal/ops"
)

var updateSurfaces = flag.Bool("update", false, "find tests for rows of docs/tables/kernel.md that have none that shows them")

// A surface is a row of docs/tables/kernel.md: names of another library, and our
// counterparts.
type surface struct {
	line                         int
	library                      string
	members, ours, shown, remark string
	open                         bool
}

var (
	codeWordRE    = regexp.MustCompile("`([^`]+)`")
	surfaceNameRE = regexp.MustCompile("^[A-Za-z_][A-Za-z0-9_.~]*$")
)

// surfaces reads the rows of the tables, one section per library.
func surfaces(t *testing.T) (rows []surface, text string) {
	t.Helper()
	src, err := os.ReadFile("../docs/tables/kernel.md")
	if err != nil {
		t.Fatal(err)
	}
	library := ""
	for i, line := range strings.Split(string(src), "\n") {
		if s, ok := strings.CutPrefix(line, "## "); ok {
			library = s
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 5 || strings.HasPrefix(line, "| member ") {
			continue
		}
		s := surface{i + 1, library, strings.TrimPrefix(cells[0], "| "), cells[2], cells[3], strings.TrimSuffix(strings.TrimSuffix(cells[4], "|"), " "), false}
		s.ours, s.open = strings.CutPrefix(s.ours, "open")
		rows = append(rows, s)
	}
	return rows, string(src)
}

// A tally counts the names of a library.
type tally struct{ members, rows, ours, open, none int }

func (n tally) String() string {
	return fmt.Sprintf("%d names in %d rows: %d have a counterpart and a test, %d are open, %d have none.", n.members, n.rows, n.ours, n.open, n.none)
}

// countSurfaces counts rows by library.
func countSurfaces(rows []surface) map[string]*tally {
	sums := map[string]*tally{}
	for _, s := range rows {
		n := sums[s.library]
		if n == nil {
			n = &tally{}
			sums[s.library] = n
		}
		members := len(codeWords(s.members))
		n.members += members
		n.rows++
		switch {
		case s.open:
			n.open += members
		case len(codeWords(s.ours)) == 0:
			n.none += members
		default:
			n.ours += members
		}
	}
	return sums
}

// TestSurfaces compares docs/tables/kernel.md with the code: every symbol of ours is
// declared, every test and case exists and uses one of the row's symbols, and each
// symbol is used by one of them. Only instructions of Blackwell are open.
func TestSurfaces(t *testing.T) {
	code := loadSurfaces(t)
	if *updateSurfaces {
		code.update(t)
	}
	rows, text := surfaces(t)
	seen := map[string]int{}
	for _, s := range rows {
		members := codeWords(s.members)
		if len(members) == 0 {
			t.Errorf("docs/tables/kernel.md:%d: no member", s.line)
		}
		for _, m := range members {
			if at, again := seen[s.library+" "+m]; again {
				t.Errorf("docs/tables/kernel.md:%d: %s has a row already, in line %d", s.line, m, at)
			}
			seen[s.library+" "+m] = s.line
			if !surfaceNameRE.MatchString(m) {
				t.Errorf("docs/tables/kernel.md:%d: %q is no name", s.line, m)
			}
		}
		for _, why := range code.wrong(s) {
			t.Errorf("docs/tables/kernel.md:%d: %s", s.line, why)
		}
	}
	sums := countSurfaces(rows)
	for library, n := range sums {
		if !strings.Contains(text, "\n## "+library+"\n\n"+n.String()) {
			t.Errorf("docs/tables/kernel.md does not begin its section on %s with: %s", library, n)
		}
	}
	if len(sums) != 3 {
		t.Errorf("%d libraries; they are pyptx, Tilus and libcu++", len(sums))
	}
}

// wrong returns the errors of a row.
func (p *program) wrong(s surface) (why []string) {
	bad := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	symbols, tests := codeWords(s.ours), codeWords(s.shown)
	if s.open && !strings.HasPrefix(s.remark, "Blackwell") {
		bad("an open row is of Blackwell, and says so")
	}
	for _, sym := range codeWords(s.remark) {
		if strings.HasPrefix(sym, "inst.") && !p.declared[sym] {
			bad("no symbol %s", sym)
		}
	}
	if len(symbols) == 0 && !s.open && !strings.HasPrefix(s.remark, "no counterpart: ") {
		bad("a row without a symbol says 'no counterpart: why'")
	}
	used := map[string]bool{}
	for _, name := range tests {
		uses, ok := p.tests[name]
		if !ok {
			bad("no test %s", name)
			continue
		}
		any := false
		for _, sym := range symbols {
			if uses[sym] {
				used[sym], any = true, true
			}
		}
		if !any {
			bad("%s uses none of the symbols", name)
		}
	}
	for _, sym := range symbols {
		switch {
		case !p.declared[sym]:
			bad("no symbol %s", sym)
		case !used[sym]:
			bad("no test named here uses %s", sym)
		}
	}
	return why
}

// update finds tests for rows with errors, and counts the names.
func (p *program) update(t *testing.T) {
	rows, text := surfaces(t)
	lines := strings.Split(text, "\n")
	for _, s := range rows {
		if symbols := codeWords(s.ours); len(symbols) > 0 && len(p.wrong(s)) > 0 {
			cells := strings.Split(lines[s.line-1], " | ")
			cells[3] = strings.Join(p.choose(symbols), " ")
			lines[s.line-1] = strings.Join(cells, " | ")
		}
	}
	sums := countSurfaces(rows)
	for i, line := range lines {
		if library, ok := strings.CutPrefix(line, "## "); ok && sums[library] != nil {
			lines[i+2] = sums[library].String()
		}
	}
	if err := os.WriteFile("../docs/tables/kernel.md", []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// choose finds tests that use the symbols. It prefers cases made to show one of
// them, then other cases, then examples, then other tests; among those the tests
// that use more of the symbols, then fewer others.
func (p *program) choose(symbols []string) (tests []string) {
	made := map[string][]string{}
	for _, c := range ops.All() {
		made[c.Name] = c.Uses
	}
	missing := slices.Clone(symbols)
	for len(missing) > 0 {
		best, most := "", []int{0, 0, 0}
		for _, name := range slices.Sorted(maps.Keys(p.tests)) {
			n := []int{1, 0, -len(p.tests[name])}
			switch {
			case strings.Contains(name, "/"):
				n[0] = 3
			case strings.Contains(name, ".Example"):
				n[0] = 2
			}
			for _, sym := range missing {
				if p.tests[name][sym] {
					n[1]++
					if slices.Contains(made[name], sym) {
						n[0] = 4
					}
				}
			}
			if n[1] > 0 && slices.Compare(n, most) > 0 {
				best, most = name, n
			}
		}
		if best == "" {
			break
		}
		tests = append(tests, "`"+best+"`")
		missing = slices.DeleteFunc(missing, func(sym string) bool { return p.tests[best][sym] })
	}
	return tests
}

func codeWords(s string) []string {
	var out []string
	for _, m := range codeWordRE.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	return out
}
