package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"muster/internal/campaign"
	"muster/internal/machine"
	"muster/internal/tensor/wmmacard"
	"muster/ptx"
)

// TestTestedForms makes the list of tested rows anew, from the campaign's
// golden data and from the kernels that tests execute: the examples, the wrong
// and right kernels of the findings, and the pairs for sm_100a.
func TestTestedForms(t *testing.T) {
	how := map[string]string{}
	for name, text := range testedKernels(t) {
		m, err := ptx.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range m.Items {
			if f, ok := it.(*ptx.Func); ok && f.Body != nil {
				eachForm(f.Body, func(f *ptx.Form) { how[f.Name] = "kernel" })
			}
		}
	}
	for form := range campaign.Pending() {
		how[form] = "pending"
	}
	for _, form := range comparedForms(t) {
		how[form] = "h200"
	}
	eachForm(askedOfH100(t), func(f *ptx.Form) { how[f.Name] = "h100" })
	text := ""
	for _, name := range slices.Sorted(maps.Keys(how)) {
		text += fmt.Sprintf("%s %s\n", name, how[name])
	}
	if *update {
		if err := os.WriteFile("testdata/tested.txt", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if text != testedForms {
		t.Error("testdata/tested.txt is stale: go test ./cmd/muster -run TestTestedForms -update")
	}
}

func eachForm(b *ptx.Block, visit func(*ptx.Form)) {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Block:
			eachForm(s, visit)
		case *ptx.Inst:
			if s.Form != nil {
				visit(s.Form)
			}
		}
	}
}

func testedKernels(t *testing.T) map[string]string {
	kernels := map[string]string{}
	glob := func(pattern string, add func(name string, data []byte)) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("nothing matches", pattern, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			add(f, data)
		}
	}
	glob("../../examples/*/*.ptx", func(name string, data []byte) { kernels[name] = string(data) })
	glob("../../testdata/blackwell/*.ptx", func(name string, data []byte) { // claims, one behind the other
		for i, text := range strings.Split(string(data), "\n---\n") {
			kernels[fmt.Sprintf("%s:%d", name, i)] = text
		}
	})
	archive := func(name string, data []byte) {
		for _, f := range txtar.Parse(data).Files {
			if strings.HasSuffix(f.Name, ".ptx") {
				kernels[name+"/"+f.Name] = string(f.Data)
			}
		}
	}
	glob("../../internal/rules/testdata/*.txtar", archive)
	glob("../../internal/rules/testdata/correct/*.txtar", archive)
	return kernels
}

// askedOfH100 has an instruction of each form of wmma that an H100 answered
// (TestWMMACard of internal/machine).
func askedOfH100(t *testing.T) *ptx.Block {
	var forms []wmmacard.Form
	if err := wmmacard.Read("../../internal/machine/testdata/card/wmma", "forms.json", &forms); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range forms {
		if f.Error == "" {
			for i, typ := range []string{f.AB, f.AB, f.C} {
				fmt.Fprintf(&text, "wmma.load.%c.sync.aligned.%s.%s.%s {%%r0}, [%%rd0];\n", "abc"[i], []string{"row", "col", "row"}[i], f.Shape, typ)
			}
			fmt.Fprintf(&text, "wmma.%s {%%r0}, {%%r0}, {%%r0}, {%%r0};\n", strings.Join(f.Mods("row.col"), "."))
			fmt.Fprintf(&text, "wmma.store.d.sync.aligned.row.%s.%s [%%rd0], {%%r0};\n", f.Shape, f.D)
		}
	}
	m, err := ptx.Parse("wmma.ptx", []byte(".version 8.6\n.target sm_90a\n.address_size 64\n.entry k()\n{\n"+text.String()+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Items[len(m.Items)-1].(*ptx.Func).Body
}

// comparedForms are the rows of the cases that the card ran.
func comparedForms(t *testing.T) []string {
	return append(compared(t, "golden.gz", campaign.Cases()), compared(t, "matrix.gz", campaign.MatrixCases())...)
}

func compared(t *testing.T, golden string, cases []campaign.Case) []string {
	f, err := os.Open("../../internal/campaign/testdata/" + golden)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, recs, err := campaign.ReadGolden(f, cases)
	if err != nil {
		t.Fatal(err)
	}
	var forms []string
	for i := range cases {
		if r := recs[cases[i].Name]; r != nil && r.Refused == "" && r.Failed == "" {
			forms = append(forms, cases[i].Form)
		}
	}
	return forms
}

// TestCoverage holds the page to its own claims.
func TestCoverage(t *testing.T) {
	rows := coverageRows("")
	if len(rows) != len(ptx.Forms()) {
		t.Fatalf("%d rows for %d forms", len(rows), len(ptx.Forms()))
	}
	for _, r := range rows {
		switch {
		case !r.Parsed:
			t.Errorf("%s: its example does not parse", r.Form)
		case !r.Executed && (r.Checked != "no" || r.Tested != "no"):
			t.Errorf("%s: checked %s, tested %s, but not executed", r.Form, r.Checked, r.Tested)
		case r.Executed && r.Checked == "no":
			t.Errorf("%s: executed, and the checker does not see it", r.Form)
		case r.Class == "scalar" && r.Executed && r.Checked != "-":
			t.Errorf("%s: checked %s; it computes for its thread alone", r.Form, r.Checked)
		}
	}
	// A form that nothing executes must say so.
	if i := slices.IndexFunc(rows, func(r coverage) bool { return r.Form == "tcgen05.ld.spcompress" }); i < 0 || rows[i].Executed {
		t.Error("tcgen05.ld.spcompress is said to be executed")
	}
}

// TestVariants: a row that is executed is executed with every value of every
// modifier, not only with its example's. Variants that need registers of other
// widths are left to the campaign.
func TestVariants(t *testing.T) {
	ran := 0
	for _, f := range ptx.Forms() {
		var row coverage
		if row.try(f); !row.Executed {
			continue
		}
		_, in := row.decode(f)
		for _, s := range f.Slots {
			for _, v := range s.Values {
				if slices.Contains(notExecuted, v) {
					continue
				}
				text := variant(in, s.Name, v)
				if text == "" {
					continue
				}
				mod, err := ptx.Parse(f.Name, []byte(fmt.Sprintf(exampleKernel, targetOf(f), "", text, labelKinds[0].body)))
				if err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				prog, err := machine.Decode(mod, "k")
				if err != nil {
					continue
				}
				ran++
				if observe(prog, firstInst(mod)).unmodelled {
					t.Errorf("%s: executed, but not as %s", f.Name, text)
				}
			}
		}
	}
	if ran < 1000 {
		t.Errorf("only %d variants", ran)
	}
}

// notExecuted are modifiers of later PTX on rows that are executed without them.
var notExecuted = []string{"layout::v1", "exclusive", "ashift"}

// variant is in with another value of a slot; empty if that is no instruction
// of the form, or in itself.
func variant(in *ptx.Inst, slot, value string) string {
	c := *in
	old := in.Mod(slot)
	if old == value {
		return ""
	}
	for i := 0; i <= len(in.Mods); i++ {
		c.Mods = slices.Clone(in.Mods)
		switch {
		case old == "":
			c.Mods = slices.Insert(c.Mods, i, value)
		case i < len(in.Mods) && in.Mods[i] == old:
			c.Mods[i] = value
		default:
			continue
		}
		if ptx.Match(&c) == in.Form && c.Mod(slot) == value {
			return strings.TrimSuffix(c.String(), ";") + ";"
		}
	}
	return ""
}
