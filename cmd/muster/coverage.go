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

// This file shows the instruction table with the support for each row. Nothing is listed
// by hand: a row is parsed if its example round-trips, executed if the machine's decoder
// accepts that example, checked if a run reports its effect to an observer (or it has no
// effect visible to another agent), and tested if a kernel that the tests execute
// contains it.

// testedForms lists rows with how they are tested: h200 or h100, compared with a card bit
// for bit (approximate functions within their bound), kernel, contained in a kernel that tests
// execute, or pending, still to be run by a card. TestTestedForms generates it and checks it.
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
	// Checked is "yes", "no", or "-" for a row without effects visible to other agents.
	Checked string `json:"checked"`
	// Tested is "h200", "h100", "kernel", "pending" or "no".
	Tested string `json:"tested"`
}

func coverageCommand(c *console) *cobra.Command {
	var format formatFlag
	var class string
	cmd := &cobra.Command{
		Use:   "coverage",
		Short: "Show the instruction table: what is parsed, executed, tested",
		Long: `Coverage prints every row of the instruction table, with four columns:

  parsed    the row's example parses, and back to this row
  executed  the machine runs it; the others make a verdict incomplete when a
            kernel reaches them, by name and line
  checked   the checker sees what it does to memory and barriers; '-' for what
            no other thread or operation could notice
  tested    h200: its results were compared with an H200's, bit for bit (those
            of approximate functions within their bound); h100: with an H100's;
            kernel: a kernel that the project's tests execute contains it;
            pending: no card has run it yet

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
	tested := testedHow(testedForms)
	var rows []coverage
	for _, f := range ptx.Forms() {
		if class != "" && f.Class != class {
			continue
		}
		row := coverage{
			Form: f.Name, Class: f.Class, Synopsis: f.String(), Section: f.Section,
			Version: fmt.Sprintf("%d.%d", f.Version.Major, f.Version.Minor),
			SM:      fmt.Sprintf("sm_%d%s", f.SM.Number, f.SM.Suffix),
			Tested:  "no",
		}
		row.try(f)
		if how := tested[f.Name]; how != "" && row.Executed {
			row.Tested = how
		}
		rows = append(rows, row)
	}
	return rows
}

// testedHow parses testdata/tested.txt: a form and a word per line.
func testedHow(text string) map[string]string {
	how := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 {
			how[f[0]] = f[1]
		}
	}
	return how
}

// try parses, decodes and runs the form's example.
func (row *coverage) try(f *ptx.Form) {
	row.Checked = "no"
	prog, in := row.decode(f)
	if prog == nil {
		return
	}
	saw := observe(prog, in)
	row.Executed = !saw.unmodelled
	switch {
	case !row.Executed:
	case saw.any:
		row.Checked = "yes"
	case private(f):
		row.Checked = "-"
	}
}

// observe runs the kernel around an example and records what its instruction shows an
// observer.
func observe(prog *machine.Program, in *ptx.Inst) *seen {
	saw := &seen{inst: in, prog: prog}
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: make([]byte, 64),
		Observer: saw, MaxInstrs: 1000, Registers: 128,
	})
	if err != nil {
		panic("BUG: no machine for an example: " + err.Error())
	}
	for range 1000 {
		choices := m.Enabled(nil)
		if len(choices) == 0 {
			break
		}
		m.Step(choices[0])
	}
	if s := m.Stopped(); s != nil && s.Kind != machine.Deadlock && prog.Inst(s.PC) == in {
		saw.unmodelled = s.Kind == machine.Unmodelled
		saw.any = true // a fault here is a finding
	}
	return saw
}

// private reports whether no other agent can see the form's effects: it touches no
// barrier, and no memory but its thread's own or read-only memory. Warp collectives count
// as private: they exchange registers.
func private(f *ptx.Form) bool {
	if f.Async != "none" || !slices.Contains([]string{"none", "warp-mask", "pending-count"}, f.Barrier) {
		return false
	}
	return f.Proxy == "none" || f.Space == "local" || f.Space == "param" || f.Space == "const" || !touches(f.Operands)
}

func touches(args []ptx.Arg) bool {
	return slices.ContainsFunc(args, func(a ptx.Arg) bool {
		return a.Access != "none" && a.Access != "" || touches(a.Rest)
	})
}

// seen observes whether an instruction has a visible effect.
type seen struct {
	inst *ptx.Inst
	prog *machine.Program
	any  bool

	unmodelled bool
}

func (s *seen) Observe(_ *machine.Machine, ev *machine.Event) {
	pc := ev.PC
	if ev.Op != nil {
		pc = ev.Op.PC
	}
	switch ev.Kind {
	case machine.EvStart, machine.EvEnd, machine.EvRegister, machine.EvOperand, machine.EvUndefined:
		return // of the thread alone
	}
	s.any = s.any || s.prog.Inst(pc) == s.inst
}

// decode finds a context in which the decoder accepts the form's example.
func (row *coverage) decode(f *ptx.Form) (*machine.Program, *ptx.Inst) {
	example := strings.TrimSuffix(f.Example(), ";")
	if example == "" {
		return nil, nil
	}
	target := targetOf(f)
	for _, imm := range []string{"1", "16", "24", "128", "0"} {
		for _, labels := range labelKinds {
			text := fmt.Sprintf(exampleKernel, target, labels.module, example+";", labels.body)
			if imm != "1" {
				text = strings.ReplaceAll(text, " 1;", " "+imm+";")
			}
			mod, err := ptx.Parse(f.Name, []byte(text))
			if err != nil {
				continue
			}
			in := firstInst(mod)
			if in == nil || in.Form != f {
				continue
			}
			row.Parsed = true
			if prog, err := machine.Decode(mod, "k"); err == nil {
				row.Executed = true
				return prog, in
			}
		}
	}
	return nil, nil
}

// targetOf names a target that has the form: sm_90a, or the form's first if that is later.
func targetOf(f *ptx.Form) string {
	if f.SM.Number > 90 {
		return fmt.Sprintf("sm_%d%s", f.SM.Number, f.SM.Suffix)
	}
	return "sm_90a"
}

// exampleKernel declares the registers that examples name.
const exampleKernel = `.version 9.4
.target %s
.address_size 64
%s
.visible .entry k()
{
	.reg .pred %%p<40>;
	.reg .b8 %%rc<40>;
	.reg .b16 %%rs<40>;
	.reg .b32 %%r<40>;
	.reg .b64 %%rd<40>;
	.reg .b128 %%rq<40>;
	.reg .f32 %%f<40>;
	.reg .f64 %%fd<40>;
	%s
%s
M:
	ret;
}
`

// labelKinds lists what a name such as L1 in an example may be: a label, a function, a
// list of branch targets.
var labelKinds = []struct{ module, body string }{
	{"", "L0:\nL1:\nL2:\nL3:\nL4:\nL5:"},
	{".func L0() { ret; }", ""},
	{"", "L0: .branchtargets M;\nL1: .branchtargets M;"},
}

func firstInst(mod *ptx.Module) *ptx.Inst {
	for _, it := range mod.Items {
		if k, ok := it.(*ptx.Func); ok && k.Name == "k" {
			for _, s := range k.Body.Stmts {
				if in, ok := s.(*ptx.Inst); ok {
					return in
				}
			}
		}
	}
	return nil
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
		fmt.Fprintf(c.out, "%-7s %-9s %-8s %-7s %s\n", mark(r.Parsed), mark(r.Executed), r.Checked, r.Tested, r.Synopsis)
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

// summarize counts rows by class, then in total; rows that need no checking count as
// checked.
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
	s.tested += one(r.Tested != "no" && r.Tested != "pending")
}
