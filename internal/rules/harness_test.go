package rules

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// The examples are testdata/KIND[.n].txtar, with the files
//
//	wrong.ptx     has the defect: KIND is found, in every schedule
//	right.ptx     the same kernel mended: nothing is found
//	launch        flags as package launch has them, --grid 1 --block 64 …;
//	              launch.wrong and launch.right where the twins need their own;
//	              --dependent K: kernel K is launched behind, dependent and with the same
//	              shape and arguments, for the command by launch.yaml, which says the same
//
// and testdata/correct/*.txtar, with right.ptx alone. A line of wrong.ptx that
// ends in `// want: KIND …` must be the first or last place of a finding of
// each of these kinds, and if there is such a line for KIND, every finding of
// it must lie on one. The comment before the first file is prose, but for
// lines of the form
//
//	allow: KIND …         further kinds that wrong.ptx may show
//	allow right: KIND …   kinds that right.ptx may show
//	schedules: some       not every schedule shows the defect; one must
//	found by: prediction  no schedule here need show it: the order of one run does,
//	                      and TestPredicted at the root holds it to that
//	found by: cost        a check that is asked for cost; TestCost at the root
//	found by: executions  no interleaving shows it; TestPredicted at the root
type example struct {
	name  string
	kind  string
	files map[string]string
	also  []string
	right []string
	some  bool
	// predicted: what finds it is above this package.
	predicted bool
}

func readExample(t *testing.T, file string) example {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(filepath.Base(file), ".txtar")
	kind, _, _ := strings.Cut(base, ".")
	e := example{name: base, kind: kind}
	comment, files := splitArchive(string(text))
	e.files = files
	for line := range strings.Lines(comment) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "allow":
			e.also = append(e.also, strings.Fields(value)...)
		case "allow right":
			e.right = append(e.right, strings.Fields(value)...)
		case "found by":
			by := strings.TrimSpace(value)
			if e.predicted = by == "prediction" || by == "cost" || by == "executions"; !e.predicted {
				t.Fatalf("%s: found by: %q; only 'prediction', 'cost' and 'executions' may be said", file, value)
			}
		case "schedules":
			if e.some = strings.TrimSpace(value) == "some"; !e.some {
				t.Fatalf("%s: schedules: %q; only 'some' may be said", file, value)
			}
		}
	}
	return e
}

func examples(t *testing.T, pattern string) []example {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples in %s: %v", pattern, err)
	}
	var all []example
	for _, f := range files {
		all = append(all, readExample(t, f))
	}
	return all
}

// flagsOf reads a launch file of an example: --name value, where a value goes
// on to the next word that starts with two hyphens.
func flagsOf(t *testing.T, text string) (fl launch.Flags, dependent string) {
	t.Helper()
	words := strings.Fields(text)
	for i := 0; i < len(words); {
		name := words[i]
		n := 1
		for i+n < len(words) && !strings.HasPrefix(words[i+n], "--") {
			n++
		}
		value := strings.Join(words[i+1:i+n], " ")
		i += n
		switch name {
		case "--grid":
			fl.Grid = value
		case "--block":
			fl.Block = value
		case "--cluster":
			fl.Cluster = value
		case "--shared":
			fl.Shared = value
		case "--registers":
			fl.Registers = value
		case "--maxrregcount":
			fl.MaxRegCount = value
		case "--kernel":
			fl.Kernel = value
		case "--dependent":
			dependent = value
		case "--buffer":
			fl.Buffers = append(fl.Buffers, value)
		case "--arg":
			fl.Args = append(fl.Args, value)
		default:
			t.Fatalf("launch: unknown flag %q", name)
		}
	}
	return fl, dependent
}

// prepare makes the machine's configuration of a kernel and its launch.
func prepare(t *testing.T, name, text, flags string) machine.Config {
	t.Helper()
	mod, err := ptx.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fl, dependent := flagsOf(t, flags)
	fl.PTX = name
	file, err := launch.FromFlags(fl)
	if err != nil {
		t.Fatal(err)
	}
	l := &file.Launches[0]
	kernels := []machine.Called{{Module: mod, Kernel: l.Kernel}}
	if dependent != "" {
		kernels = append(kernels, machine.Called{Module: mod, Kernel: dependent})
	}
	prog, err := machine.DecodeAll(kernels, len(kernels) > 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := file.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	var params []launch.Param
	for _, p := range prog.Params {
		typ, _ := launch.ParseType(scalarType(p.Type, p.Size))
		if int(p.Size) != typ.Size() {
			typ = 0 // an array
		}
		params = append(params, launch.Param{Name: p.Name, Size: int(p.Size), Align: int(p.Align), Type: typ})
	}
	block, err := layout.EncodeParams(l, params)
	if err != nil {
		t.Fatal(err)
	}
	cfg := machine.Config{
		Program: prog, Grid: l.Grid, Block: l.Block, Cluster: l.Cluster, Shared: uint64(l.Shared),
		Registers: prog.EntryRegisters(l.Registers, l.MaxRegCount), Params: block.Bytes, MaxInstrs: 1 << 20,
	}
	if dependent != "" {
		second := cfg.Launches()[0]
		second.Entry, second.After = 1, []machine.Prerequisite{{Launch: 0, Programmatic: true}}
		cfg.More = []machine.Launch{second}
	}
	for i := range layout.Buffers {
		b := &layout.Buffers[i]
		cfg.Buffers = append(cfg.Buffers, machine.Buffer{Name: b.Name, Base: b.Base, Size: b.Size, Data: b.Data, Init: b.Initialized})
	}
	return cfg
}

// scalarType names a parameter's type as package launch does: bits are
// unsigned.
func scalarType(typ string, size uint64) string {
	if bits, ok := strings.CutPrefix(typ, "b"); ok && size <= 8 {
		return "u" + bits
	}
	return typ
}

// judge runs one schedule.
func judge(t *testing.T, cfg machine.Config, s explore.Schedule) ([]Finding, []Gap, *machine.Machine) {
	t.Helper()
	bare, err := machine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	j := NewJudge(Config{Shape: bare.Shape(), Program: cfg.Program})
	cfg.Observer = j
	m, err := machine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !explore.Run(m, s, nil) {
		t.Fatalf("%s: the run was cut short", s)
	}
	fs, gaps := j.Finish(m)
	return fs, gaps, m
}

// check runs a kernel in a handful of schedules, each twice, and returns what
// each found.
func check(t *testing.T, name, text, flags string) [][]Finding {
	t.Helper()
	var all [][]Finding
	for _, s := range explore.Handful(4) {
		one, gaps, m := judge(t, prepare(t, name, text, flags), s)
		two, _, _ := judge(t, prepare(t, name, text, flags), s)
		if diff := gocmp.Diff(one, two); diff != "" {
			t.Errorf("%s under %s: two runs differ:\n%s", name, s, diff)
		}
		for _, g := range gaps {
			t.Errorf("%s under %s: incomplete: %s at line %d", name, s, g.What, lineOf(m.Program(), g.PC))
		}
		if st := m.Stopped(); st != nil && (st.Kind == machine.Unmodelled || st.Kind == machine.LimitInstrs || st.Kind == machine.LimitLocal) {
			t.Errorf("%s under %s: stopped at line %d: %s (kind %d)", name, s, lineOf(m.Program(), st.PC), st.Msg, st.Kind)
		}
		for i := range one {
			complete(t, &one[i])
		}
		all = append(all, one)
	}
	return all
}

// complete checks that a finding says what every finding must.
func complete(t *testing.T, f *Finding) {
	t.Helper()
	if k := Lookup(f.Kind); k == nil {
		t.Errorf("%s is no kind", f.Kind)
	}
	if f.Headline == "" || f.Fix == "" || len(f.Sites)+len(f.Waiting) == 0 || f.Count < 1 {
		t.Errorf("%s lacks a headline, a fix or a site: %+v", f.Kind, *f)
	}
}

func lineOf(p *machine.Program, pc int32) int { return int(p.Pos(pc).Line) }

// wants returns the lines that `// want:` marks, by kind.
func wants(text string) map[string][]int {
	w := make(map[string][]int)
	n := 0
	for line := range strings.Lines(text) {
		n++
		if _, kinds, ok := strings.Cut(line, "// want:"); ok {
			for _, k := range strings.Fields(kinds) {
				w[k] = append(w[k], n)
			}
		}
	}
	return w
}

// places returns the lines of a finding's first and last site, and of its
// waiters.
func places(p *machine.Program, f *Finding) []int {
	var lines []int
	if n := len(f.Sites); n > 0 {
		lines = append(lines, lineOf(p, f.Sites[0].PC), lineOf(p, f.Sites[n-1].PC))
	}
	for i := range f.Waiting {
		lines = append(lines, lineOf(p, f.Waiting[i].Site.PC))
	}
	return lines
}

// show writes a finding in a line, for failures.
func show(p *machine.Program, f *Finding) string {
	var sites []string
	for _, s := range f.Sites {
		sites = append(sites, fmt.Sprintf("%s@%d", s.Role, lineOf(p, s.PC)))
	}
	return f.Severity.String() + " " + f.Kind + " [" + strings.Join(sites, ", ") + "] " + f.Headline + " / " + f.Missing
}

func TestExamples(t *testing.T) {
	for _, e := range examples(t, "testdata/*.txtar") {
		t.Run(e.name, func(t *testing.T) {
			if Lookup(e.kind) == nil {
				t.Fatalf("%s is no kind", e.kind)
			}
			t.Run("wrong", e.wrong)
			t.Run("right", e.clean)
		})
	}
}

// TestCorrect runs patterns that are right although naive rules flag them.
func TestCorrect(t *testing.T) {
	for _, e := range examples(t, "testdata/correct/*.txtar") {
		t.Run(e.name, e.clean)
	}
}

func (e *example) launch(twin string) string {
	return cmp.Or(e.files["launch."+twin], e.files["launch"])
}

func (e *example) wrong(t *testing.T) {
	text := e.files["wrong.ptx"]
	prog := prepare(t, "wrong.ptx", text, e.launch("wrong")).Program
	want := wants(text)
	hit := make(map[string]map[int]bool)
	runs := 0
	for i, fs := range check(t, "wrong.ptx", text, e.launch("wrong")) {
		found := false
		for j := range fs {
			f := &fs[j]
			t.Logf("schedule %d: %s", i, show(prog, f))
			for _, l := range places(prog, f) {
				if hit[f.Kind] == nil {
					hit[f.Kind] = make(map[int]bool)
				}
				hit[f.Kind][l] = true
			}
			switch {
			case f.Kind == e.kind:
				found = true
				if lines := want[f.Kind]; len(lines) > 0 && !touches(prog, f, lines) {
					t.Errorf("schedule %d: on none of the lines %v: %s", i, lines, show(prog, f))
				}
			case !slices.Contains(e.also, f.Kind):
				t.Errorf("schedule %d: besides %s: %s", i, e.kind, show(prog, f))
			}
		}
		if found {
			runs++
		} else if !e.some && !e.predicted {
			t.Errorf("schedule %d (%s): %s is not found", i, explore.Handful(4)[i], e.kind)
		}
	}
	if e.predicted {
		return
	}
	if runs == 0 {
		t.Errorf("%s is not found in any schedule", e.kind)
	}
	for kind, lines := range want {
		for _, l := range lines {
			if !hit[kind][l] {
				t.Errorf("line %d: no %s found there", l, kind)
			}
		}
	}
}

func touches(p *machine.Program, f *Finding, lines []int) bool {
	for _, l := range places(p, f) {
		if slices.Contains(lines, l) {
			return true
		}
	}
	return false
}

func (e *example) clean(t *testing.T) {
	text := e.files["right.ptx"]
	cfg := prepare(t, "right.ptx", text, e.launch("right"))
	for i, fs := range check(t, "right.ptx", text, e.launch("right")) {
		for j := range fs {
			if !slices.Contains(e.right, fs[j].Kind) {
				t.Errorf("schedule %d: %s", i, show(cfg.Program, &fs[j]))
			}
		}
		_, _, m := judge(t, cfg, explore.Handful(4)[i])
		if st := m.Stopped(); st != nil || !m.Done() {
			t.Errorf("schedule %d: the run did not end well: %+v", i, st)
		}
	}
}

// TestEveryKindHasExample: every kind in the catalogue has an example.
func TestEveryKindHasExample(t *testing.T) {
	for _, k := range Kinds() {
		wrong, right := Example(k.Name)
		if wrong == "" || right == "" {
			t.Errorf("%s has no example", k.Name)
		}
	}
}

// TestExampleText: what an example shows is told to the end, and without what tests read.
func TestExampleText(t *testing.T) {
	for _, k := range Kinds() {
		e, _ := ExampleOf(k.Name)
		if !strings.HasSuffix(strings.TrimSuffix(e.Text, ")"), ".") || strings.Contains(e.Text, "allow: ") || strings.Contains(e.Text, "found by: ") {
			t.Errorf("%s: %q", k.Name, e.Text)
		}
	}
}
