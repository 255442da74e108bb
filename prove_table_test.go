package muster_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/yaml"
	"muster/report"
)

// A rightLaunch is one that the project holds to be right.
type rightLaunch struct {
	name string
	load func(t *testing.T) *muster.Launch
}

// rightLaunches lists every right launch of the project: examples, the corpus,
// and the right twins of findings, of counterexamples and of planted bugs.
func rightLaunches(t *testing.T) []rightLaunch {
	var all []rightLaunch
	files, err := filepath.Glob("examples/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples: ", err)
	}
	for _, name := range files {
		if !strings.HasPrefix(filepath.Base(name), "broken_") {
			all = append(all, rightLaunch{strings.TrimSuffix(strings.TrimPrefix(name, "examples/"), ".yaml"), func(t *testing.T) *muster.Launch { return readLaunch(t, name) }})
		}
	}
	for _, dir := range []string{"internal/confluence/testdata", "internal/rules/testdata", "internal/rules/testdata/correct", "testdata/planted"} {
		files, err := filepath.Glob(dir + "/*.txtar")
		if err != nil || len(files) == 0 && dir != "testdata/planted" {
			t.Fatal(dir, ": no launches: ", err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, twins := parts(string(text))
			if twins["right.ptx"] != "" {
				short := strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(name, "internal/"), "/testdata", ""), ".txtar")
				all = append(all, rightLaunch{short, func(t *testing.T) *muster.Launch { return twin(t, twins, "right") }})
			}
		}
	}
	return all
}

func readLaunch(t *testing.T, name string) *muster.Launch {
	t.Helper()
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// mustBeProven are the launches that must be proven, at any share of the others.
var mustBeProven = []string{
	"ring/ring", "libcuxx/split_arrive_wait", "libcuxx/two_tiles_parity", "libcuxx/two_tiles_token",
	"triton_matmul_tma/triton_matmul_tma", "triton_matmul_cpasync/triton_matmul_cpasync",
	"pallas_matmul/pallas_matmul", "pallas_matmul_bf16/pallas_matmul_bf16",
}

// TestProvenTable proves every right launch. At least 95 of 100 hold for all
// schedules, and some by name. With -v it writes the table of docs/schedules.md:
// what became of each, and what a proof costs against one checked run. Both are
// made one part after the other, on a launch of their own, so that what a proof asks
// of the text is counted; and measured by the processor time of the process, which
// says the same however much else the machine does. Test with GOMAXPROCS=1 to have
// the garbage collector take its share on the same processor.
func TestProvenTable(t *testing.T) {
	if testing.Short() {
		t.Skip("proves every right launch")
	}
	all := rightLaunches(t)
	proven := map[string]bool{}
	var ratios, walls []float64
	jobs := 1
	if !testing.Verbose() { // nothing is measured
		jobs = runtime.GOMAXPROCS(0)
	}
	proofs := make([]*report.Proof, len(all))
	launches := make([]*muster.Launch, len(all))
	for i, r := range all {
		launches[i] = r.load(t)
	}
	parallel.Each(jobs, len(all), func(i int) { proofs[i] = muster.ProveAlone(launches[i]) })
	for i, r := range all {
		p := proofs[i]
		proven[r.name] = p.All
		became := "proven"
		if !p.All {
			became = "unproven"
			for _, why := range p.Reasons {
				became += "; " + why.Condition
				if why.Place != nil {
					became += fmt.Sprintf(" line %d", why.Place.Line)
				}
				became += ": " + why.Text
			}
			t.Logf("%-50s %s", r.name, became)
			continue
		}
		if testing.Verbose() {
			// Each on a launch of its own, since what the text tells is kept.
			load := func() *muster.Launch { return r.load(t) }
			proof := best(load, func(l *muster.Launch) { muster.ProveAlone(l) })
			run := best(load, func(l *muster.Launch) {
				if err := muster.RunAlone(l); err != nil {
					t.Fatal(err)
				}
			})
			ratios = append(ratios, float64(proof.cpu)/float64(run.cpu))
			walls = append(walls, float64(proof.wall)/float64(run.wall))
			t.Logf("%-50s %s; %8.2f ms, run %8.2f ms: %.2f (wall %.2f)", r.name, became, ms(proof.cpu), ms(run.cpu),
				ratios[len(ratios)-1], walls[len(walls)-1])
		}
	}
	n := 0
	for _, ok := range proven {
		if ok {
			n++
		}
	}
	t.Logf("%d of %d proven for all schedules", n, len(all))
	if n*100 < len(all)*95 {
		t.Errorf("fewer than 95 of 100")
	}
	for _, name := range mustBeProven {
		if ok, known := proven[name]; !ok {
			t.Errorf("%s is not proven (known: %v)", name, known)
		}
	}
	if len(proven) != len(all) {
		t.Errorf("names are not unique: %v", slices.Sorted(maps.Keys(proven)))
	}
	if len(ratios) > 0 {
		t.Logf("processor time of a proof by that of one checked run: %s", distribution(ratios))
		t.Logf("time of a proof by that of one checked run: %s", distribution(walls))
	}
}

// A cost is how long something took, and what of the processors.
type cost struct{ wall, cpu time.Duration }

// best is the least of five of each, each time on a launch of its own, with what
// is left of loading it swept up before.
func best(load func() *muster.Launch, f func(*muster.Launch)) cost {
	least := cost{1<<63 - 1, 1<<63 - 1}
	for range 5 {
		l := load()
		runtime.GC()
		cpu, start := processor(), time.Now()
		f(l)
		least.wall, least.cpu = min(least.wall, time.Since(start)), min(least.cpu, processor()-cpu)
	}
	return least
}

// distribution sums up ratios.
func distribution(of []float64) string {
	slices.Sort(of)
	at := func(percent int) float64 { return of[(len(of)-1)*percent/100] }
	return fmt.Sprintf("median %.2f; a tenth under %.2f, a quarter under %.2f, over %.2f, a tenth over %.2f; most %.2f; of %d",
		at(50), at(10), at(25), at(75), at(90), at(100), len(of))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// TestNothingWrongProven attempts to prove every wrong twin of a finding that is an
// error, and of a counterexample: none may be.
func TestNothingWrongProven(t *testing.T) {
	for _, dir := range []string{"internal/confluence/testdata", "internal/rules/testdata", "testdata/planted"} {
		files, err := filepath.Glob(dir + "/*.txtar")
		if err != nil || len(files) == 0 && dir != "testdata/planted" {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, twins := parts(string(text))
			kind, _, _ := strings.Cut(filepath.Base(name), ".")
			if k := rules.Lookup(kind); twins["wrong.ptx"] == "" || k != nil && k.Severity != rules.Error {
				continue
			}
			l := twin(t, twins, "wrong")
			if !muster.ProveAlone(l).All {
				continue
			}
			if strings.HasPrefix(kind, "uninitialized-") || kind == "undefined-value" {
				// An unwritten or undefined value is the same in every schedule: no proof finds it. A
				// check looks for it separately.
				if r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1}); err != nil || r.Verdict != "findings" {
					t.Errorf("%s: the wrong twin has no finding (%v)", name, err)
				}
				continue
			}
			// Some show a warning alone.
			r, err := l.Check(context.Background(), muster.CheckOptions{Schedules: muster.Handful(1), Jobs: 1, Mode: muster.OnlySchedules})
			if err != nil || r.Verdict != "clean" && !muster.Refused(l) {
				t.Errorf("%s: the wrong twin is proven (%v)", name, err)
			}
		}
	}
}
