package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateFences = flag.Bool("update.fences", false, "rewrite the reports of docs/fences.md")

// fenceVerdicts says what each check of docs/fences.md must find, by the file of docs/fences and
// what follows it on the command line. It is written by hand, from the ISA, so that an update of the
// document cannot turn an answer round.
var fenceVerdicts = map[string]string{
	"tma_store without":             "error[proxy-raw]",
	"tma_store writers":             "clean",
	"tma_store issuer":              "clean",
	"tma_store too_early":           "error[proxy-raw]",
	"global_load without":           "error[proxy-raw]",
	"global_load with":              "clean",
	"wgmma_operands without":        "error[proxy-raw]",
	"wgmma_operands with":           "clean",
	"wgmma_operands cp_async":       "warning[proxy-raw-cp-async]",
	"wgmma_operands cp_async_with":  "clean",
	"mbarrier_init barrier":         "clean",
	"mbarrier_init fenced":          "clean",
	"mbarrier_init no_barrier":      "error[init-not-ordered]",
	"mbarrier_init_cluster without": "error[init-not-ordered]",
	"mbarrier_init_cluster with":    "clean",
	"mbarrier_init_cluster release": "clean",
	"load_then_read without":        "clean",
	"load_then_read with --cost":    "note[redundant-fence]",
	"load_then_read no_wait":        "error[read-in-flight]",
	"refill without":                "warning[proxy-war]",
	"refill readers":                "clean",
	"refill producer":               "clean",
	"refill elected":                "error[race-lanes]",
	"refill elected_with":           "clean",
	"store_reuse without":           "error[overwrite-in-flight]",
	"store_reuse read":              "clean",
	"store_reuse full":              "clean",
	"store_reuse one_open":          "error[overwrite-in-flight]",
	"store_reuse others":            "error[overwrite-in-flight]",
	"store_flag read":               "error[read-in-flight]",
	"store_flag full":               "clean",
	"wgmma_fence none":              "error[register-in-flight]",
	"wgmma_fence first":             "clean",
	"wgmma_fence each":              "clean",
	"wgmma_fence scaled":            "error[register-in-flight]",
	"wgmma_fence scaled_with":       "clean",
	"tensormap without":             "error[tensormap-stale]",
	"tensormap async":               "error[tensormap-stale]",
	"tensormap release":             "error[tensormap-stale]",
	"tensormap with":                "clean",
	"flag volatile":                 "error[relaxed-sync]",
	"flag writer_fence":             "error[relaxed-sync]",
	"flag both_fence":               "clean",
	"flag relaxed_poll":             "error[relaxed-sync]",
	"flag acquire":                  "clean",
	"flag acquire_fence --cost":     "note[redundant-fence]",
	"cluster cta":                   "error[race-shared]",
	"cluster relaxed":               "error[relaxed-sync]",
	"cluster fenced":                "clean",
	"cluster release":               "clean",
	"cluster both --cost":           "note[redundant-fence]",
	"dependent_without":             "error[race-launches]",
	"dependent_early":               "error[race-launches]",
	"dependent_with":                "clean",
	"dependent_released":            "clean",
	"tcgen05 without":               "warning[tensor-fence]",
	"tcgen05 with":                  "clean",
	"tcgen05 relaxed":               "error[race-tensor]",
	"tcgen05 relaxed_with":          "clean",
}

const fencesDoc = "docs/fences.md"

var (
	fenceCheckRE  = regexp.MustCompile(`(?m)^\$ muster (check docs/fences/(\w+)\.yaml(?: --kernel (\w+))?( --cost)?( --brief)?)\n((?:[^$\x60].*\n|\n)*)`)
	fenceCodeRE   = regexp.MustCompile("(?ms)^```ptx (\\w+) (\\w+)\n(.*?)^```$")
	fenceEntryRE  = regexp.MustCompile(`(?ms)^\.visible \.entry (\w+)\(.*?^}`)
	fenceKindRE   = regexp.MustCompile(`\b(?:error|warning|note)\[[\w-]+\]`)
	fenceLeftOut  = regexp.MustCompile(`(?m)^  (?:assuming|count:|replay:|seen:) .*\n(?:           .*\n)*`)
	fenceTitleRE  = regexp.MustCompile(`(?m)^## (\d+\. .*)\n`)
	fenceIndexRE  = regexp.MustCompile(`(?m)^(\d+\. )\[(.*)\]\(#(.*)\)\n`)
	fenceIssueRE  = regexp.MustCompile(`(?m)^\*\*Asked in\*\* [\w-]+/[\w-]+#\d+`)
	fenceNumberRE = regexp.MustCompile(`(?m)^\*\*Why\.\*\*.*\(\d+\.\d+[\d.]* `)
	fenceGapsRE   = regexp.MustCompile(`\n\n+`)
)

// fenceReport is what a check prints, as the document shows it.
func fenceReport(out string) string {
	out = fenceGapsRE.ReplaceAllString(fenceLeftOut.ReplaceAllString(out, ""), "\n\n")
	return strings.TrimSuffix(out, "\n") + "\n"
}

// TestFences: below each command of docs/fences.md stands what it prints, and that is the verdict
// that the answer calls for. Every kernel of docs/fences is shown.
func TestFences(t *testing.T) {
	t.Chdir("../..")
	src, err := os.ReadFile(fencesDoc)
	if err != nil {
		t.Fatal(err)
	}
	text, shown := string(src), map[string]bool{}
	for _, m := range fenceCheckRE.FindAllStringSubmatch(text, -1) {
		line, name, want := m[1], strings.TrimSpace(m[2]+" "+m[3])+m[4], m[6]
		status, out := command(strings.Fields(line)...)
		got := fenceReport(out)
		shown[name] = true
		if err := fenceVerdict(fenceVerdicts[name], status, out); err != nil {
			t.Errorf("muster %s: %v\n%s", line, err, out)
		}
		switch {
		case *updateFences:
			text = strings.Replace(text, m[0], "$ muster "+line+"\n"+got, 1)
		case got != want:
			t.Errorf("%s: muster %s prints\n%sand not\n%s", fencesDoc, line, got, want)
		}
	}
	if *updateFences && text != string(src) {
		if err := os.WriteFile(fencesDoc, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(text, "\n$ muster "); n != len(shown) {
		t.Errorf("%s has %d commands, of which %d were run", fencesDoc, n, len(shown))
	}
	for _, name := range slices.Sorted(maps.Keys(fenceVerdicts)) {
		if !shown[name] {
			t.Errorf("%s does not show %s", fencesDoc, name)
		}
	}
	for name := range fenceKernels(t) {
		if !shown[name] && !shown[name+" --cost"] && !strings.HasPrefix(name, "dependent ") {
			t.Errorf("%s does not show %s", fencesDoc, name)
		}
	}
}

// fenceVerdict compares a report with the verdict that is due: nothing at all is found in a clean
// kernel, in another what is named, and nothing worse.
func fenceVerdict(want string, status int, out string) error {
	kinds := fenceKindRE.FindAllString(out, -1)
	due := exitClean
	if strings.HasPrefix(want, "error[") {
		due = 1
	}
	switch {
	case want == "":
		return fmt.Errorf("fenceVerdicts has no verdict for it")
	case status != due:
		return fmt.Errorf("exit %d, want %d and %s", status, due, want)
	case want == "clean" && len(kinds) > 0, want != "clean" && !slices.Contains(kinds, want):
		return fmt.Errorf("found %v, want %s", kinds, want)
	}
	return nil
}

// fenceKernels gives the text of each kernel of docs/fences, by its file and its name.
func fenceKernels(t *testing.T) map[string]string {
	t.Helper()
	return kernelsOf(t, "docs/fences", 12)
}

// kernelsOf gives those of a folder, which has so many files of them at least.
func kernelsOf(t *testing.T, dir string, least int) map[string]string {
	t.Helper()
	kernels := map[string]string{}
	files, err := filepath.Glob(dir + "/*.ptx")
	if err != nil || len(files) < least {
		t.Fatalf("%d files of kernels, %v", len(files), err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fenceEntryRE.FindAllStringSubmatch(string(src), -1) {
			kernels[strings.TrimSuffix(filepath.Base(file), ".ptx")+" "+m[1]] = m[0]
		}
	}
	return kernels
}

// TestFencesText: the lines of PTX in docs/fences.md stand in the kernels that they are taken from,
// in that order, and the index lists the twelve questions, each with a section of the ISA and an
// issue.
func TestFencesText(t *testing.T) {
	t.Chdir("../..")
	src, err := os.ReadFile(fencesDoc)
	if err != nil {
		t.Fatal(err)
	}
	text, kernels := string(src), fenceKernels(t)
	for _, m := range fenceCodeRE.FindAllStringSubmatch(text, -1) {
		rest := kernels[m[1]+" "+m[2]]
		for line := range strings.Lines(m[3]) {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(line)+"\n")
			if !ok {
				t.Errorf("%s: kernel %s of %s.ptx has no line %q there", fencesDoc, m[2], m[1], strings.TrimSpace(line))
				break
			}
			rest = after
		}
	}
	var index []string
	for _, m := range fenceIndexRE.FindAllStringSubmatch(text, -1) {
		index = append(index, m[1]+m[2])
		if want := anchor(m[1] + m[2]); m[3] != want {
			t.Errorf("%s: the index leads to #%s, want #%s", fencesDoc, m[3], want)
		}
	}
	var titles []string
	parts := fenceTitleRE.FindAllStringSubmatchIndex(text, -1)
	for i, m := range parts {
		end := len(text)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		title, body := text[m[2]:m[3]], text[m[1]:end]
		titles = append(titles, title)
		if !fenceIssueRE.MatchString(body) || !fenceNumberRE.MatchString(body) {
			t.Errorf("%s: %q has no public issue, or no section of the ISA", fencesDoc, title)
		}
	}
	if len(titles) != 12 || !slices.Equal(titles, index) {
		t.Errorf("%s: the questions are\n%s\nand the index has\n%s", fencesDoc, strings.Join(titles, "\n"), strings.Join(index, "\n"))
	}
}

// anchor is what GitHub makes of a heading for links to it.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			return r
		}
		return -1
	}, strings.ToLower(title))
}
