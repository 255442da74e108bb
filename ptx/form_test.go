package ptx_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/ptx"
)

// TestTableComplete fails on a row with an empty cell.
func TestTableComplete(t *testing.T) {
	names := map[string]bool{}
	for _, f := range ptx.Forms() {
		if names[f.Name] {
			t.Errorf("%s: two rows have this name", f.Name)
		}
		names[f.Name] = true
		cells := map[string]string{"name": f.Name, "op": f.Op, "class": f.Class, "space": f.Space, "proxy": f.Proxy,
			"scope": f.Scope, "async": f.Async, "barrier": f.Barrier, "section": f.Section}
		for _, k := range slices.Sorted(maps.Keys(cells)) {
			if cells[k] == "" {
				t.Errorf("%s: empty cell %s", f.Name, k)
			}
			if v := cells[k]; strings.HasPrefix(v, "<") {
				if _, ok := f.Slot(strings.Trim(v, "<>")); !ok {
					t.Errorf("%s: %s refers to no slot: %s", f.Name, k, v)
				}
			}
		}
		if f.Version.Major == 0 || f.SM.Number == 0 {
			t.Errorf("%s: no version or architecture", f.Name)
		}
		for _, s := range f.Slots {
			if s.Name == "" || len(s.Values) == 0 {
				t.Errorf("%s: empty slot", f.Name)
			}
		}
		for _, a := range f.Operands {
			checkArg(t, f, a)
		}
		if ptx.LookupForm(f.Name) != f {
			t.Errorf("%s: not found by its name", f.Name)
		}
	}
}

func checkArg(t *testing.T, f *ptx.Form, a ptx.Arg) {
	if a.Name == "" || a.Role == "" || a.Class == "" || a.Type == "" || a.Count == "" || a.Access == "" {
		t.Errorf("%s: operand with an empty cell: %+v", f.Name, a)
	}
	if (a.Class == "mem") != (a.Role == ptx.Address) {
		t.Errorf("%s: operand %s: role %s of class %s", f.Name, a.Name, a.Role, a.Class)
	}
	for _, r := range a.Rest {
		checkArg(t, f, r)
	}
	if a.Pred != nil {
		checkArg(t, f, *a.Pred)
	}
}

// TestExamples generates an example of every row, which must parse and match
// the row it came from.
func TestExamples(t *testing.T) {
	for _, f := range ptx.Forms() {
		text := f.Example()
		if text == "" {
			t.Errorf("%s: no example matches this row", f.Name)
			continue
		}
		m, err := ptx.Parse("example", []byte(".version 9.2\n.target sm_100a\n.func f()\n{\n"+text+"\n}\n"))
		if err != nil {
			t.Errorf("%s: %v", f.Name, err.(*ptx.Error).Detail())
			continue
		}
		in := m.Items[0].(*ptx.Func).Body.Stmts[0].(*ptx.Inst)
		if in.Form != f {
			t.Errorf("%s: example %s matches %v", f.Name, text, in.Form)
		}
		roundTrip(t, m)
	}
}

// TestFilesMatch fails on an instruction of compiler output that matches no
// row.
func TestFilesMatch(t *testing.T) {
	for _, file := range ptxFiles(t) {
		for _, err := range ptx.Validate(parseFile(t, file)) {
			t.Errorf("%v", err)
		}
	}
}
