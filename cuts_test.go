package muster_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/launch"
	"muster/report"
)

var (
	cuts     = flag.Int("cuts", 40, "TestCut: how many checks are cut")
	cutSeed  = flag.Uint64("cuts-seed", 1, "TestCut: the seed that says where")
	cutNames = flag.String("cuts-of", "", "TestCut: cut only kernels whose name contains this")
)

// A cuttable is a launch and what its check says when nothing cuts it.
type cuttable struct {
	name   string
	l      *muster.Launch
	o      muster.CheckOptions
	whole  *report.Report
	looks  int64 // at the limits, in that check
	instrs int64 // of one run
}

// cutPace is how many instructions lie between two looks at the limits: few, so
// that small kernels are cut at many places.
const cutPace = 128

// cuttables are the wrong and the right kernels of every kind of finding, the
// planted bugs with their twins, and the smaller examples.
func cuttables(t *testing.T) []*cuttable {
	var list []*cuttable
	add := func(name string, l *muster.Launch) {
		if strings.Contains(name, *cutNames) && !muster.Refused(l) {
			muster.SetPace(l, cutPace)
			list = append(list, &cuttable{name: name, l: l})
		}
	}
	for _, dir := range []string{"internal/rules/testdata", "testdata/planted"} {
		files, err := filepath.Glob(dir + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, twins := parts(string(text))
			for _, which := range []string{"wrong", "right"} {
				if twins[which+".ptx"] != "" {
					add(strings.TrimSuffix(filepath.Base(file), ".txtar")+" "+which, twin(t, twins, which))
				}
			}
		}
	}
	for _, dir := range []string{"ring", "bulk_store", "cluster_exchange", "named_barrier", "same_thread", "ldgsts", "libcuxx", "corpus", "gemm_mma_sync"} {
		files, err := filepath.Glob("examples/" + dir + "/*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			f, err := yaml.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains([]string{"staged.yaml", "pipeline_roles.yaml"}, filepath.Base(file)) { // seconds each
				add(file, loadFile(t, f))
			}
		}
	}
	return list
}

func loadFile(t *testing.T, f *launch.File) *muster.Launch {
	t.Helper()
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// run checks the launch as it is, and counts what a cut can choose from.
func (c *cuttable) run(t *testing.T) {
	c.o = muster.CheckOptions{Jobs: 1, Explore: muster.ExploreOptions{Schedules: 60}}
	ctx, looks := muster.Tripping(context.Background(), 1<<62)
	var err error
	if c.whole, err = c.l.Check(ctx, c.o); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	c.looks = looks()
	r, err := c.l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	c.instrs = r.Warps
}

// known reports whether the whole check has a finding of the cut one: of the same
// kind, at least as grave, at the same places or more.
func (c *cuttable) known(f *report.Finding) bool {
	return slices.ContainsFunc(c.whole.Findings, func(g report.Finding) bool {
		if f.Kind != g.Kind || rank(f.Severity) > rank(g.Severity) {
			return false
		}
		for _, s := range f.Sites {
			if !slices.ContainsFunc(g.Sites, func(o report.Site) bool {
				return s.PTX == nil && o.PTX == nil || s.PTX != nil && o.PTX != nil && *s.PTX == *o.PTX
			}) {
				return false
			}
		}
		return true
	})
}

func rank(s report.Severity) int {
	return slices.Index([]report.Severity{report.SevNote, report.SevWarning, report.SevError}, s)
}

// more says what a check that was cut claims beyond the whole check.
func (c *cuttable) more(r *report.Report) (list []string) {
	for i := range r.Findings {
		if f := &r.Findings[i]; !c.known(f) {
			list = append(list, fmt.Sprintf("%s %s: %s", f.Severity, f.ID, f.Headline))
		}
	}
	if r.Verdict == report.Clean && c.whole.Verdict != report.Clean {
		list = append(list, fmt.Sprintf("it is clean, the whole check is not: %s", c.whole.Summary))
	}
	return list
}

// TestCut cuts checks at any instruction, and at any test of the limits of time and
// memory: an uncut check must have all findings of a cut one.
func TestCut(t *testing.T) {
	list := cuttables(t)
	rng := rand.New(rand.NewPCG(*cutSeed, 0))
	rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	list = list[:min(len(list), *cuts/3+1)]
	for _, c := range list {
		c.run(t)
	}
	wrong, bad := 0, map[string]bool{}
	by := map[string]int{}
	for i := range *cuts {
		c := list[i%len(list)]
		l, ctx, how := c.l, context.Background(), ""
		if rng.IntN(2) == 0 {
			n := 1 + rng.Int64N(c.instrs+1)
			l, how = muster.LimitInstrs(l, n), fmt.Sprintf("at instruction %d of %d", n, c.instrs)
		} else {
			n := 1 + rng.Int64N(c.looks)
			ctx, _ = muster.Tripping(ctx, n)
			how = fmt.Sprintf("at look %d of %d", n, c.looks)
		}
		o := c.o
		if rng.IntN(8) == 0 {
			o.Explore.Schedules = -1
		}
		r, err := l.Check(ctx, o)
		if err != nil {
			t.Fatalf("%s cut %s: %v", c.name, how, err)
		}
		more := c.more(r)
		if len(more) == 0 {
			continue
		}
		wrong++
		bad[c.name] = true
		by[strings.Fields(how)[1]]++
		if wrong <= 40 || testing.Verbose() {
			var text bytes.Buffer
			if wrong <= 3 {
				_ = r.WriteText(&text, muster.TextOptions{})
			}
			t.Errorf("%s cut %s: %s\n%s", c.name, how, strings.Join(more, "; "), text.String())
		}
	}
	t.Logf("%d cuts of %d kernels: %d claim more (%v), of %d kernels", *cuts, len(list), wrong, by, len(bad))
}
