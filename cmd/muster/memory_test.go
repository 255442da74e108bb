package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// memoryVerdicts says what each check of docs/memory.md must find, as fenceVerdicts does for
// docs/fences.md, whose kernels it borrows. It is written by hand, from the ISA, and so are the
// answers that the litmus tests state (TestFiles of internal/litmus holds those).
var memoryVerdicts = map[string]string{
	"words weak":              "error[race-global]",     // 8.7.1
	"words cg":                "error[relaxed-sync]",    // 9.7.9.1, 8.8
	"words cg_fence":          "clean",                  // 8.8
	"words nc":                "error[stale-nc]",        // 9.7.9.9
	"words halves":            "error[mixed-size-race]", // 8.7.2
	"words packed":            "clean",                  // 8.7: complete overlap
	"warp plain":              "error[race-lanes]",      // 9.7.13.2
	"warp syncwarp":           "clean",
	"mbarrier plain":          "clean",               // 9.7.13.15.13, .16
	"mbarrier relaxed_arrive": "error[relaxed-sync]", // the same
	"mbarrier relaxed_wait":   "error[relaxed-sync]",
	"mbarrier relaxed_fences": "clean", // 8.8
}

var (
	memoryCheckRE  = regexp.MustCompile(`(?m)^\$ muster (check docs/(memory|fences)/(\w+)\.yaml --kernel (\w+) --brief)$`)
	memoryLitmusRE = regexp.MustCompile(`docs/litmus/([\w-]+)\.litmus`)
)

// TestMemory: the checks of docs/memory.md find what the ISA calls for, every kernel of
// docs/memory and every litmus test of docs/litmus is shown, and each question of the list
// has an answer in bold, a run, and a section of the ISA. What the commands print is held by
// TestDocuments.
func TestMemory(t *testing.T) {
	t.Chdir("../..")
	src, err := os.ReadFile("docs/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	text, shown := string(src), map[string]bool{}
	for _, m := range memoryCheckRE.FindAllStringSubmatch(text, -1) {
		name, due := m[3]+" "+m[4], fenceVerdicts
		if m[2] == "memory" {
			due = memoryVerdicts
			shown[name] = true
		}
		status, out := command(strings.Fields(m[1])...)
		if err := fenceVerdict(due[name], status, out); err != nil {
			t.Errorf("muster %s: %v\n%s", m[1], err, out)
		}
	}
	if n := strings.Count(text, "\n$ muster check "); n != len(memoryCheckRE.FindAllString(text, -1)) {
		t.Errorf("of %d checks some were not run", n)
	}
	for name := range memoryVerdicts {
		if !shown[name] {
			t.Errorf("%s is not shown", name)
		}
	}
	for name := range kernelsOf(t, "docs/memory", 3) {
		if !shown[name] {
			t.Errorf("kernel %s is not shown", name)
		}
	}
	for _, m := range memoryLitmusRE.FindAllStringSubmatch(text, -1) {
		shown[m[1]] = true
	}
	files, err := filepath.Glob("docs/litmus/*.litmus")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d litmus tests, %v", len(files), err)
	}
	for _, file := range files {
		if !shown[strings.TrimSuffix(filepath.Base(file), ".litmus")] {
			t.Errorf("%s is not shown", file)
		}
	}
	memoryQuestions(t, text)
}

func memoryQuestions(t *testing.T, text string) {
	t.Helper()
	titles := fenceTitleRE.FindAllStringSubmatchIndex(text, -1)
	index := fenceIndexRE.FindAllStringSubmatch(text, -1)
	if len(titles) != len(index) || len(titles) < 19 {
		t.Fatalf("%d questions, of which %d in the list", len(titles), len(index))
	}
	for i, at := range titles {
		title, end := text[at[2]:at[3]], len(text)
		if i+1 < len(titles) {
			end = titles[i+1][0]
		}
		if title != index[i][1]+index[i][2] || index[i][3] != anchor(title) {
			t.Errorf("%q is %q in the list", title, index[i][0])
		}
		for what, re := range map[string]string{"an answer": `(?m)^\*\*|^The atomics`, "a run": `(?m)^\$ muster `, "a section": `\b(8|9)\.\d+(\.\d+)*[,:)]|Interoperability`} {
			if !regexp.MustCompile(re).MatchString(text[at[1]:end]) {
				t.Errorf("%q has not %s", title, what)
			}
		}
	}
}
