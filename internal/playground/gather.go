package playground

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"muster/internal/rules"
	"muster/internal/yaml"
	"muster/launch"
)

// lessons are the scripts of examples/barrier that come first, in the order of the tour of
// docs/mbarrier.md: what holds before what goes wrong.
var lessons = []string{
	"one_arrival", "wait_comes_first", "two_debts", "debts_in_pieces", "bytes_before_expected", "fresh_barrier", "phases_and_parity", "tokens",
	"producer_consumer", "ring_of_two", "two_consumers", "simulated_copy", "cp_async", "cp_async_noinc", "drop", "drop_with_bytes", "try_wait_suspends",
	"inval_and_init", "limits",
}

// tour is the scripts of examples/barrier: the lessons, then the others in the order of their
// names.
func tour(root string) (Group, error) {
	g := Group{ID: "barrier", Name: "The barrier, step by step", Text: "Scripts of mbarrier operations: the word and its ledger after each."}
	names, err := filepath.Glob(filepath.Join(root, "examples/barrier/*.txt"))
	if err != nil || len(names) == 0 {
		return g, fmt.Errorf("%s has no examples/barrier: %v", root, err)
	}
	place := func(name string) int {
		if i := slices.Index(lessons, strings.TrimSuffix(filepath.Base(name), ".txt")); i >= 0 {
			return i
		}
		return len(lessons)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return g, err
		}
		file := filepath.Base(name)
		kind, severity := "", ""
		if m := found.FindSubmatch(text); m != nil {
			severity, kind = string(m[1]), string(m[2])
		}
		g.Items = append(g.Items, Item{
			ID: "barrier/" + strings.TrimSuffix(file, ".txt"), Name: title(file), Text: comment(string(text)), Wrong: kind != "", Kind: kind, Severity: severity, Expect: AsExpected,
			Launch: file, Files: map[string]File{file: text}, Args: []string{"barrier", file},
		})
	}
	return g, nil
}

// AsExpected is what a script is due to do: what it says.
const AsExpected = "as expected"

// found is how a script's output names a finding.
var found = regexp.MustCompile(`(?m)^\s*(error|warning|note)\[([a-z0-9-]+)\]`)

// catalogue is the wrong and the right kernel of each kind of finding.
func catalogue(string) (Group, error) {
	g := Group{ID: "catalogue", Name: "The catalogue", Text: "Each kind of finding, by a kernel that has it and the same kernel mended."}
	for _, k := range rules.Kinds() {
		e, ok := rules.ExampleOf(k.Name)
		if !ok {
			return g, fmt.Errorf("BUG: kind %s has no example", k.Name)
		}
		for _, side := range []string{"wrong", "right"} {
			i, err := twin(k, e, side)
			if err != nil {
				return g, fmt.Errorf("%s, %s: %w", k.Name, side, err)
			}
			g.Items = append(g.Items, i)
		}
	}
	return g, nil
}

// twin is one of a kind's two kernels.
func twin(k *rules.Kind, e rules.Archive, side string) (Item, error) {
	i := Item{ID: k.Name + "/" + side, Name: k.Name + ", " + side, Text: k.Title + ".", Expect: "clean", Launch: "launch.yaml"}
	if side == "wrong" {
		i.Wrong, i.Text = true, e.Text
		i.due(k)
	}
	text, err := launchFile(e, side)
	if err != nil {
		return i, err
	}
	kernel := side + ".ptx"
	i.Files = map[string]File{i.Launch: text, kernel: File(want.ReplaceAllString(e.Files[kernel], "// <- here"))}
	i.Args = []string{"check", i.Launch}
	if strings.HasPrefix(k.Name, "redundant-") {
		i.Args = append(i.Args, "--cost")
	}
	return i, nil
}

// due says which finding an item is due to have. Those that are no errors leave a verdict clean.
func (i *Item) due(k *rules.Kind) {
	i.Kind, i.Severity = k.Name, k.Severity.String()
	if slices.Contains(raised, k.Name) {
		i.Severity = rules.Error.String()
	}
	if i.Severity == rules.Error.String() || slices.Contains(beside, k.Name) {
		i.Expect = "findings"
	}
}

// raised are kinds of warnings that are errors where a value that nobody has written decides
// something, as it does in their examples; beside are those whose example has an error of
// another kind besides.
var (
	raised = []string{"undefined-shuffle", "uninitialized-shared", "uninitialized-tensor"}
	beside = []string{"idle-wait"}
)

// want is what tests read at the lines of a finding.
var want = regexp.MustCompile(`// want: .*`)

// launchFile is the launch of a kernel of the catalogue, as a file.
func launchFile(e rules.Archive, side string) (File, error) {
	if several := e.Files["launch.yaml"]; several != "" {
		return File(strings.ReplaceAll(several, "wrong.ptx", side+".ptx")), nil
	}
	words, ok := e.Files["launch."+side]
	if !ok {
		words = e.Files["launch"]
	}
	fl, err := flags(words)
	if err != nil {
		return nil, err
	}
	fl.PTX = side + ".ptx"
	f, err := launch.FromFlags(fl)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = f.Write(&out, "")
	return out.Bytes(), err
}

// flags reads the launch of an example: --name value, where a value goes on to the next word
// that starts with two hyphens.
func flags(text string) (launch.Flags, error) {
	var fl launch.Flags
	for _, flag := range strings.Split(" "+strings.Join(strings.Fields(text), " "), " --")[1:] {
		name, value, _ := strings.Cut(flag, " ")
		switch name {
		case "grid":
			fl.Grid = value
		case "block":
			fl.Block = value
		case "cluster":
			fl.Cluster = value
		case "shared":
			fl.Shared = value
		case "registers":
			fl.Registers = value
		case "maxrregcount":
			fl.MaxRegCount = value
		case "kernel":
			fl.Kernel = value
		case "buffer":
			fl.Buffers = append(fl.Buffers, value)
		case "arg":
			fl.Args = append(fl.Args, value)
		default:
			return fl, fmt.Errorf("launch: unknown flag --%s", name)
		}
	}
	return fl, nil
}

// mostData bounds a launch's arrays: those of the products would be most of what the page loads.
const mostData = 32 << 10

// folders are the examples that the page has, all of whose launches it checks while one waits.
var folders = []string{"ring", "same_thread", "bulk_store", "named_barrier", "cluster_exchange", "ldgsts", "libcuxx", "found"}

// examples are the launches of some folders of examples.
func examples(root string) (Group, error) {
	g := Group{ID: "examples", Name: "Whole kernels", Text: "Kernels of nvcc and by hand, and broken twins with one realistic mistake each."}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(root, "examples", folder, "*.yaml"))
		if err != nil || len(names) == 0 {
			return g, fmt.Errorf("%s has no examples/%s: %v", root, folder, err)
		}
		slices.SortStableFunc(names, func(a, b string) int { // the right ones first
			return strings.Compare(fmt.Sprint(isBroken(a)), fmt.Sprint(isBroken(b)))
		})
		for _, name := range names {
			i, err := example(folder, name)
			if err != nil {
				return g, err
			}
			if i.data() <= mostData {
				g.Items = append(g.Items, i)
			}
		}
	}
	return g, nil
}

func isBroken(name string) bool { return strings.HasPrefix(filepath.Base(name), "broken_") }

// data is how many bytes of arrays an item has.
func (i *Item) data() (n int) {
	for name, f := range i.Files {
		if filepath.Ext(name) == ".npy" {
			n += len(f)
		}
	}
	return n
}

// begins is how a broken example's first comment begins.
var begins = regexp.MustCompile(`^([a-z-]+): `)

// example is a launch file with all that it names, and its source.
func example(folder, name string) (Item, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return Item{}, err
	}
	base := filepath.Base(name)
	i := Item{
		ID: folder + "/" + strings.TrimSuffix(base, ".yaml"), Name: folder + ": " + title(base), Text: comment(string(text)), Wrong: isBroken(name), Expect: "clean",
		Launch: base, Files: map[string]File{base: text}, Args: []string{"check", base},
	}
	if i.Wrong {
		m := begins.FindStringSubmatch(i.Text)
		if m == nil || rules.Lookup(m[1]) == nil {
			return i, fmt.Errorf("%s: its first line names no finding", name)
		}
		i.due(rules.Lookup(m[1]))
	}
	f, err := yaml.ReadFile(name)
	if err != nil {
		return i, err
	}
	for _, of := range named(f) {
		if filepath.Dir(of) != filepath.Dir(name) {
			return i, fmt.Errorf("%s: %s lies in another folder", name, of)
		}
		data, err := os.ReadFile(of)
		if err != nil {
			return i, err
		}
		i.Files[filepath.Base(of)] = data
		for _, m := range source.FindAllSubmatch(data, -1) {
			at := filepath.Join(filepath.Dir(of), string(m[1]))
			if data, err := os.ReadFile(at); err == nil {
				i.Files[filepath.Base(at)] = data
			}
		}
	}
	return i, nil
}

// source is how PTX names the file that it was compiled from.
var source = regexp.MustCompile(`(?m)^\s*\.file\s+\d+\s+"(?:[^"]*/)?([^"/]+)"`)

// named are the files that a launch file names.
func named(f *launch.File) (list []string) {
	for _, l := range f.Launches {
		list = append(append(list, l.PTX), l.Link...)
	}
	for _, b := range f.Buffers {
		list = append(list, b.Fill.File)
	}
	for _, v := range f.Variables {
		list = append(list, v.Array.Fill.File)
	}
	for _, e := range f.Expect {
		list = append(list, e.File)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(name string) bool { return name == "" })
}

// title is a file's name in words.
func title(file string) string {
	name, _, _ := strings.Cut(file, ".")
	return strings.ReplaceAll(name, "_", " ")
}

// comment is the comment that a text begins with.
func comment(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		list = append(list, strings.TrimSpace(rest))
	}
	return strings.Join(list, " ")
}
