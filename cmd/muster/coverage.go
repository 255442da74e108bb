package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/machine"
	"muster/ptx"
)

// This file shows the instruction table with what becomes of each row. Nothing
// is listed by hand: a row is parsed if its example parses back to it,
// executed if the machine's decoder takes that example, checked if running it
// shows an observer what it does (or does nothing that another agent could
// see), and tested if a kernel that the tests execute contains it.

// testedForms names the rows that occur in kernels which tests execute;
// TestTestedForms makes it and keeps it true.
//
//go:embed testdata/tested.txt
var testedForms string

// A coverage is one row.
type coverage struct {
	Form     string `json:"form"`
	Class    string `json:"class"`
	Synopsis string `json:"synopsis"`
	Section  string `json:"section"`
	Version  string `json:"since"`
	SM       string `json:"sm"`
	Parsed   bool   `json:"parsed"`
	Executed bool   `json:"executed"`
	// Checked is "yes", "no", or "-" for what no other agent can see.
	Checked string `json:"checked"`
	Tested  bool   `json:"tested"`
}

func coverageCommand(c *console) *cobra.Command {
	var format formatFlag
	var class string
	cmd := &cobra.Command{
		Use:   "coverage",
		Short: "Show the instruction table: what is parsed, executed, checked, tested",
		Long: `Coverage prints every row of the instruction table, with four columns:

  parsed    the row's example parses, and back to this row
  executed  the machine runs it; the others make a verdict incomplete when a
            kernel reaches them, by name and line
  checked   the checker sees what it does to memory and barriers; '-' for what
            no other thread or operation could notice
  tested    a kernel that the project's tests execute contains it

and then the counts by class.`,
		Example: "  muster coverage\n  muster coverage --class barrier\n  muster coverage --format json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows := coverageRows(class)
			if len(rows) == 0 {
				return fmt.Errorf("--class %s: no instruction has this class", class)
			}
			if format == "json" {
				e := json.NewEncoder(c.out)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				return e.Encode(struct {
					Version int        `json:"version"`
					Rows    []coverage `json:"rows"`
				}{1, rows})
			}
			c.coverage(rows)
			return nil
		},
	}
	format.register(cmd.Flags())
	cmd.Flags().StringVar(&class, "class", "", "only rows of this `class`")
	return cmd
}

func coverageRows(class string) []coverage {
	tested := strings.Fields(testedForms)
	var rows []coverage
	for _, f := range ptx.Forms() {
		if class != "" && f.Class != class {
			continue
		}
		row := coverage{
			Form: f.Name, Class: f.Class, Synopsis: f.String(), Section: f.Section,
			Version: fmt.Sprintf("%d.%d", f.Version.Major, f.Version.Minor),
			SM:      fmt.Sprintf("sm_%d%s", f.SM.Number, f.SM.Suffix),
			Tested:  slices.Contains(tested, f.Name),
		}
		row.try(f)
		rows = append(rows, row)
	}
	return rows
}

// try parses, decodes and runs the form's example.
func (row *coverage) try(f *ptx.Form) {
	row.Checked = "no"
	mod, in := exampleModule(f)
	if in == nil || in.Form != f {
		return
	}
	row.Parsed = true
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		return
	}
	row.Executed = true
	saw := &seen{inst: in, prog: prog}
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: make([]byte, 64),
		Observer: saw, MaxInstrs: 1000, Registers: 128,
	})
	if err != nil {
		return
	}
	for range 1000 {
		choices := m.Enabled(nil)
		if len(choices) == 0 {
			break
		}
		m.Step(choices[0])
	}
	if s := m.Stopped(); s != nil && prog.Inst(s.PC) == in {
		row.Executed = s.Kind != machine.Unmodelled
		saw.any = saw.any || row.Executed // a fault here is a finding
	}
	switch {
	case !row.Executed:
	case saw.any:
		row.Checked = "yes"
	case private(f):
		row.Checked = "-"
	}
}

// private reports whether no other agent can see what the form does.
func private(f *ptx.Form) bool {
	return f.Async == "none" && f.Barrier == "none" && (f.Space == "none" || f.Space == "local" || f.Space == "param" || f.Space == "const")
}

// seen observes whether an instruction shows itself.
type seen struct {
	inst *ptx.Inst
	prog *machine.Program
	any  bool
}

func (s *seen) Observe(_ *machine.Machine, ev *machine.Event) {
	pc := ev.PC
	if ev.Op != nil {
		pc = ev.Op.PC
	}
	if ev.Kind != machine.EvStart && ev.Kind != machine.EvEnd && s.prog.Inst(pc) == s.inst {
		s.any = true
	}
}

// exampleModule is a kernel whose first instruction is the form's example.
func exampleModule(f *ptx.Form) (*ptx.Module, *ptx.Inst) {
	text := f.Example()
	if text == "" {
		return nil, nil
	}
	mod, err := ptx.Parse(f.Name, []byte(exampleText(text)))
	if err != nil {
		return nil, nil
	}
	for _, it := range mod.Items {
		k, ok := it.(*ptx.Func)
		if !ok || k.Name != "k" {
			continue
		}
		for _, s := range k.Body.Stmts {
			if in, ok := s.(*ptx.Inst); ok {
				return mod, in
			}
		}
	}
	return nil, nil
}

// exampleText declares what examples name: registers by their prefix, labels
// by their number.
func exampleText(inst string) string {
	var b strings.Builder
	b.WriteString(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n")
	for _, r := range []string{"pred %p", "b16 %rs", "b32 %r", "b64 %rd", "b128 %rq", "f32 %f", "f64 %fd"} {
		fmt.Fprintf(&b, "\t.reg .%s<40>;\n", r)
	}
	b.WriteString("\t" + strings.TrimSuffix(inst, ";") + ";\n")
	for i := range 10 {
		fmt.Fprintf(&b, "L%d:\n", i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

func (c *console) coverage(rows []coverage) {
	mark := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	fmt.Fprintf(c.out, "%-7s %-9s %-8s %-7s %s\n", "parsed", "executed", "checked", "tested", "instruction")
	class := ""
	for _, r := range rows {
		if r.Class != class {
			class = r.Class
			fmt.Fprintf(c.out, "\n%s\n", class)
		}
		fmt.Fprintf(c.out, "%-7s %-9s %-8s %-7s %s\n", mark(r.Parsed), mark(r.Executed), r.Checked, mark(r.Tested), r.Synopsis)
	}
	fmt.Fprintf(c.out, "\n%-12s %6s %8s %9s %8s %7s\n", "class", "rows", "parsed", "executed", "checked", "tested")
	for _, s := range summarize(rows) {
		fmt.Fprintf(c.out, "%-12s %6d %8d %9d %8d %7d\n", s.class, s.rows, s.parsed, s.executed, s.checked, s.tested)
	}
}

type classCount struct {
	class                                   string
	rows, parsed, executed, checked, tested int
}

// summarize counts by class, and last the whole; what needs no checking
// counts as checked.
func summarize(rows []coverage) []classCount {
	var list []classCount
	all := classCount{class: "all"}
	for _, r := range rows {
		i := slices.IndexFunc(list, func(s classCount) bool { return s.class == r.Class })
		if i < 0 {
			i, list = len(list), append(list, classCount{class: r.Class})
		}
		list[i].add(r)
		all.add(r)
	}
	return append(list, all)
}

func (s *classCount) add(r coverage) {
	one := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	s.rows++
	s.parsed += one(r.Parsed)
	s.executed += one(r.Executed)
	s.checked += one(r.Checked != "no")
	s.tested += one(r.Tested)
}
