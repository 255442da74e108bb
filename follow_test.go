package muster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/ptx"
)

// followed are the kinds whose fixes TestFollow carries out to the letter, and how many kernels
// each is to be carried out in, at least.
var followed = map[string]int{
	"proxy-raw": 12, "proxy-raw-cp-async": 2, "proxy-war": 2, "proxy-waw": 1, "async-async": 1,
	"relaxed-sync": 10, "tensormap-stale": 5, "race-lanes": 3, "race-launches": 4, "overwrite-in-flight": 4,
}

// leftOpen are kernels whose check stays incomplete when the fix is carried out: lanes of a warp
// that wait by a relaxed test of one mbarrier, with their fences behind it, are not looked at apart.
var leftOpen = map[string]bool{"relaxed-sync.3": true}

// ofSome are kernels in which a barrier belongs among the warps of one role; this test writes none
// with a number of threads.
var ofSome = map[string]bool{"found/broken_reduce_release.yaml": true}

// TestFollow does what the fixes of wrong kernels say, word for word, in each way that they
// offer, and checks again: nothing is found but what the right twin may show.
func TestFollow(t *testing.T) {
	done := map[string]int{}
	for _, k := range append(wrongKernels(t), brokenExamples(t)...) {
		t.Run(k.name, func(t *testing.T) {
			for way := range 2 {
				if k.follow(t, way) && way == 0 {
					done[k.kind]++
				}
			}
		})
	}
	for kind, least := range followed {
		if done[kind] < least {
			t.Errorf("%s: a fix was followed in %d kernels, want %d", kind, done[kind], least)
		}
	}
}

// A wrongKernel is a kernel of which a kind is found.
type wrongKernel struct {
	name, kind, text string
	load             func(t *testing.T, text string) *muster.Launch
	allow            []string
}

func wrongKernels(t *testing.T) []wrongKernel {
	t.Helper()
	var list []wrongKernel
	files, err := filepath.Glob("internal/rules/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		kind, _, _ := strings.Cut(base, ".")
		if followed[kind] == 0 {
			continue
		}
		comment, twins := parts(string(src))
		k := wrongKernel{name: base, kind: kind, text: twins["wrong.ptx"], load: func(t *testing.T, text string) *muster.Launch {
			files := map[string]string{"wrong.ptx": text}
			for name, text := range twins {
				if name != "wrong.ptx" {
					files[name] = text
				}
			}
			return twin(t, files, "wrong")
		}}
		for line := range strings.Lines(comment) {
			if kinds, ok := strings.CutPrefix(line, "allow right:"); ok {
				k.allow = append(k.allow, strings.Fields(kinds)...)
			}
		}
		list = append(list, k)
	}
	for _, f := range []struct{ name, ptx, kernel, kind string }{
		{"tma_store", "", "without", "proxy-raw"},
		{"tma_store", "", "too_early", "proxy-raw"},
		{"global_load", "", "without", "proxy-raw"},
		{"wgmma_operands", "", "without", "proxy-raw"},
		{"wgmma_operands", "", "cp_async", "proxy-raw-cp-async"},
		{"refill", "", "without", "proxy-war"},
		{"refill", "", "elected", "race-lanes"},
		{"cluster", "", "relaxed", "relaxed-sync"},
		{"flag", "", "volatile", "relaxed-sync"},
		{"flag", "", "writer_fence", "relaxed-sync"},
		{"flag", "", "relaxed_poll", "relaxed-sync"},
		{"tensormap", "", "without", "tensormap-stale"},
		{"tensormap", "", "async", "tensormap-stale"},
		{"tensormap", "", "release", "tensormap-stale"},
		{"dependent_early", "dependent", "", "race-launches"},
		{"dependent_without", "dependent", "", "race-launches"},
		{"store_reuse", "", "without", "overwrite-in-flight"},
		{"store_reuse", "", "others", "overwrite-in-flight"},
		{"store_reuse", "", "one_open", "overwrite-in-flight"},
	} {
		list = append(list, documented(t, f.name, f.ptx, f.kernel, f.kind))
	}
	return list
}

// brokenExamples are broken twins of examples of which one of the kinds is found, and no other.
func brokenExamples(t *testing.T) []wrongKernel {
	t.Helper()
	files, err := filepath.Glob("examples/[bf]*/broken_*.yaml") // bulk_store, found
	if err != nil {
		t.Fatal(err)
	}
	var list []wrongKernel
	for _, name := range files {
		f, err := yaml.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Launches) != 1 {
			continue
		}
		src, err := os.ReadFile(f.Launches[0].PTX)
		if err != nil {
			t.Fatal(err)
		}
		k := wrongKernel{text: string(src), load: func(t *testing.T, text string) *muster.Launch {
			mod, err := ptx.Parse(f.Launches[0].PTX, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadModule(f, mod, []byte(text), muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}}
		r := check(t, k.load(t, k.text), muster.CheckOptions{})
		var kinds []string
		for i := range r.Findings {
			if kind := r.Findings[i].Kind; !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		if len(kinds) == 1 && followed[kinds[0]] > 0 {
			k.name, k.kind = strings.TrimPrefix(name, "examples/"), kinds[0]
			if !ofSome[k.name] {
				list = append(list, k)
			}
		}
	}
	return list
}

// documented is a kernel of docs/fences, by the names of its launch file and of its PTX.
func documented(t *testing.T, name, text, kernel, kind string) wrongKernel {
	t.Helper()
	if text == "" {
		text = name
	}
	src, err := os.ReadFile(filepath.Join("docs/fences", text+".ptx"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join("docs/fences", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if kernel != "" {
		file = append([]byte("kernel: "+kernel+"\n"), file...)
	}
	return wrongKernel{name: strings.TrimSpace(name + " " + kernel), kind: kind, text: string(src), load: func(t *testing.T, mended string) *muster.Launch {
		dir := t.TempDir()
		for name, data := range map[string][]byte{text + ".ptx": []byte(mended), "launch.yaml": file} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return readLaunch(t, filepath.Join(dir, "launch.yaml"))
	}}
}

// follow reports whether all findings of the kernel's kind have a fix that can be carried out
// here, in one of two ways, and checks what is left.
func (k *wrongKernel) follow(t *testing.T, way int) bool {
	t.Helper()
	var edits []edit
	var fixes []string
	r := check(t, k.load(t, k.text), muster.CheckOptions{})
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind != k.kind {
			continue
		}
		list := instructions(f.Fix, way, k.text)
		if len(list) == 0 {
			if way == 0 {
				t.Logf("not followed: %s", f.Fix)
			}
			return false
		}
		edits, fixes = append(edits, list...), append(fixes, f.Fix)
	}
	if len(fixes) == 0 {
		t.Fatalf("%s is not found", k.kind)
	}
	mended := carryOut(k.text, edits)
	r = check(t, k.load(t, mended), muster.CheckOptions{})
	for i := range r.Findings {
		if f := &r.Findings[i]; !slices.Contains(k.allow, f.Kind) {
			t.Errorf("way %d of the fix\n%s\nleaves %s: %s\nfix: %s", way, strings.Join(fixes, "\n"), f.Kind, f.Headline, f.Fix)
		}
	}
	if len(r.Gaps) > 0 && !leftOpen[k.name] {
		t.Errorf("way %d of the fix\n%s\nleaves the check incomplete: %v", way, strings.Join(fixes, "\n"), r.Gaps)
	}
	return true
}

// An edit puts text before a line (counted from 0), or changes the line.
type edit struct {
	line     int
	text     string
	old, new string // if old is not empty
}

// carryOut makes the edits, from the last line to the first.
func carryOut(text string, edits []edit) string {
	lines := strings.Split(text, "\n")
	slices.SortStableFunc(edits, func(a, b edit) int { return b.line - a.line })
	for _, e := range slices.Compact(edits) {
		if e.old != "" {
			lines[e.line] = strings.Replace(lines[e.line], e.old, e.new, 1)
		} else {
			lines = slices.Insert(lines, e.line, e.text)
		}
	}
	return strings.Join(lines, "\n")
}

var (
	inWriters   = regexp.MustCompile(`(fence\.\S+) in every thread that executes \S+ at line (\d+), after (it|the wait for its completion) and before that thread's next barrier, arrive or release`)
	inIssuers   = regexp.MustCompile(`(fence\.\S+)( \[map\], 128)? in every thread that issues \S+ at line (\d+), directly before it`)
	directlyAt  = regexp.MustCompile(`(fence\.acq_rel\.\w+) directly (before|after) \S+ at line (\d+)`)
	qualified   = regexp.MustCompile(`(\.(?:release|acquire)\S*) in place of \.relaxed at \S+ at line (\d+)`)
	leftOut     = regexp.MustCompile(`leave \.relaxed out of \S+ at line (\d+)`)
	instead     = regexp.MustCompile(`(\w\S*) in place of (\w\S*) at line (\d+)`)
	warpSynced  = regexp.MustCompile(`bar\.warp\.sync with the mask of all lanes that take part, after \S+ at line (\d+) and before`)
	gridWaits   = regexp.MustCompile(`griddepcontrol\.wait \(cudaGridDependencySynchronize\) before \S+ at line (\d+), in each thread that executes it`)
	gridLets    = regexp.MustCompile(`after \S+ at line (\d+) and in this order: a barrier of all threads of the CTA, (fence\.acq_rel\.gpu), and the CTA's first (griddepcontrol\.launch_dependents)`)
	groupWaits  = regexp.MustCompile(`(\S+wait_group\S*) 0 \(or as many groups as may stay open\) in the thread that issued \S+ at line (\d+), behind its (\S+) and before \S+ at line (\d+)(; and, between that wait and \S+ at line \d+, bar\.sync of the threads on both sides,)?(; and, unless it is there, bar\.sync of the threads on both sides, .* after \S+ at line (\d+) and before \S+ at line \d+)?`)
	mapOperand  = regexp.MustCompile(`\[\s*([%\w]+)\s*,\s*\{`)
	entryOpens  = regexp.MustCompile(`^\s*(?:\.visible\s+)?\.entry\b`)
	triggerLine = regexp.MustCompile(`^\s*griddepcontrol\.launch_dependents;`)
)

// instructions reads a fix as edits of a kernel's text, in one of the two ways that it may
// offer; none if it is not of the forms known here, or offers one way alone.
func instructions(fix string, way int, text string) []edit {
	fix, _, _ = strings.Cut(fix, "; or, in place of all of these,")
	if first, late, ok := strings.Cut(fix, "; or in every thread that issues"); ok {
		fence, _, _ := strings.Cut(fix, " ")
		fix = [2]string{first, fence + " in every thread that issues" + late}[way]
	} else if wait, release, ok := strings.Cut(fix, "; or, in the earlier launch, "); ok {
		fix = [2]string{wait, release}[way]
	} else if directlyAt.MatchString(fix) {
		if way == 0 {
			fix = instead.ReplaceAllString(fix, "")
		} else {
			fix = directlyAt.ReplaceAllString(fix, "")
		}
	} else if way == 1 {
		return nil
	}
	e := editor{lines: strings.Split(text, "\n")}
	e.fences(fix)
	e.qualifiers(fix)
	e.waits(fix)
	return e.edits
}

// An editor collects edits.
type editor struct {
	lines []string
	edits []edit
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err) // the pattern matches digits
	}
	return n - 1
}

// past is the line behind the instruction that begins on a line.
func (e *editor) past(line int) int {
	for !strings.Contains(e.lines[line], ";") {
		line++
	}
	return line + 1
}

// behind is the line past the next one that contains a word.
func (e *editor) behind(line int, word string) int {
	for !strings.Contains(e.lines[line], word) {
		line++
	}
	return line + 1
}

func (e *editor) insert(line int, text string) {
	e.edits = append(e.edits, edit{line: line, text: "\t" + text + ";"})
}

func (e *editor) fences(fix string) {
	for _, m := range inWriters.FindAllStringSubmatch(fix, -1) {
		at := e.past(number(m[2]))
		if m[3] != "it" {
			at = e.behind(at, "wait_")
		}
		e.insert(at, m[1])
	}
	for _, m := range inIssuers.FindAllStringSubmatch(fix, -1) {
		at := number(m[3])
		if m[2] != "" {
			operand := mapOperand.FindStringSubmatch(strings.Join(e.lines[at:e.past(at)], " "))
			m[1] += fmt.Sprintf(" [%s], 128", operand[1])
		}
		e.insert(at, m[1])
	}
	for _, m := range directlyAt.FindAllStringSubmatch(fix, -1) {
		at := number(m[3])
		if m[2] == "after" {
			at = e.past(at)
		}
		e.insert(at, m[1])
	}
	for _, m := range warpSynced.FindAllStringSubmatch(fix, -1) {
		e.insert(e.past(number(m[1])), "bar.warp.sync 0xffffffff")
	}
}

func (e *editor) qualifiers(fix string) {
	for _, m := range qualified.FindAllStringSubmatch(fix, -1) {
		at := number(m[2])
		old := regexp.MustCompile(`\.relaxed(\.(cta|cluster|gpu|sys))?`).FindString(e.lines[at])
		e.edits = append(e.edits, edit{line: at, old: old, new: m[1]})
	}
	for _, m := range leftOut.FindAllStringSubmatch(fix, -1) {
		e.edits = append(e.edits, edit{line: number(m[1]), old: ".relaxed", new: ""})
	}
	for _, m := range instead.FindAllStringSubmatch(fix, -1) {
		e.edits = append(e.edits, edit{line: number(m[3]), old: m[2], new: m[1]})
	}
}

func (e *editor) waits(fix string) {
	for _, m := range gridWaits.FindAllStringSubmatch(fix, -1) {
		e.insert(number(m[1]), "griddepcontrol.wait")
	}
	for _, m := range gridLets.FindAllStringSubmatch(fix, -1) {
		at := e.past(number(m[1]))
		e.insert(at, "bar.sync 0;\n\t"+m[2]+";\n\t"+m[3])
		for line := at; line > 0 && !entryOpens.MatchString(e.lines[line]); line-- {
			if triggerLine.MatchString(e.lines[line]) { // it would be the first
				e.edits = append(e.edits, edit{line: line, old: "griddepcontrol.launch_dependents;", new: ""})
			}
		}
	}
	for _, m := range groupWaits.FindAllStringSubmatch(fix, -1) {
		e.insert(e.behind(number(m[2]), m[3]), m[1]+" 0")
		if m[5] != "" {
			e.insert(number(m[4]), "bar.sync 0")
		}
		if m[6] != "" {
			e.insert(e.past(number(m[7])), "bar.sync 0")
		}
	}
}
