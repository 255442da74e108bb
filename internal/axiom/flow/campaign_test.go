package flow_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster"
	"muster/internal/axiom/flow"
	"muster/launch"
	"muster/ptx"
)

var (
	launches     = flag.Uint64("axiom.launches", 200, "how many programs to check as launches")
	launchesFrom = flag.Uint64("axiom.launchesfrom", 1, "the first program's number")
	jobs         = flag.Int("axiom.jobs", runtime.GOMAXPROCS(0), "programs at a time")
	verbose      = flag.Bool("axiom.print", false, "print each program")
	show         = flag.Int("axiom.show", 0, "how many programs that a check is wrong about to make small and print")
)

const (
	maxStates = 100_000
	maxGraphs = 50_000
	// maxInstrs is far above the length of any run that ends, and stops infinite
	// loops soon.
	maxInstrs = 100_000
	maxTries  = 1000 // of shrinking
)

// load prepares a program's launch.
func load(p *flow.Program) (*muster.Launch, error) {
	text := p.PTX()
	mod, err := ptx.Parse("p.ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	x := p.Launch()
	f, err := launch.FromFlags(launch.Flags{PTX: "p.ptx", Grid: x.Grid, Block: x.Block, Cluster: x.Cluster, Buffers: x.Buffers, Args: x.Args})
	if err != nil {
		return nil, err
	}
	return muster.LoadModule(f, mod, []byte(text), muster.Limits{Instrs: maxInstrs, Time: 24 * time.Hour})
}

// check gives the report on a program's launch.
func check(p *flow.Program) (*muster.Report, error) {
	l, err := load(p)
	if err != nil {
		return nil, err
	}
	return l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
}

// A judgement is what is so of a program, and what a check says.
type judgement struct {
	bad     flow.Bad
	cut     bool // a limit cut the search: unknown
	givesUp bool // some poll gives up
	verdict muster.Verdict
	report  *muster.Report
	spent   time.Duration // by the oracle
}

func judge(p *flow.Program) (judgement, error) {
	j := judgement{givesUp: p.GivesUp()}
	start := time.Now()
	seq, err := p.InterleaveWhole(maxStates) // a load or a store of a vector is one step
	if err != nil {
		return j, err
	}
	j.bad, j.cut, err = p.Worst(seq, maxGraphs)
	if err != nil {
		return j, err
	}
	switch {
	case j.bad != flow.None:
	case j.cut: // not all that the axioms allow was looked at, but interleavings they do
		switch {
		case seq.Trap:
			j.bad = flow.Trapped
		case seq.Out:
			j.bad = flow.Outside
		case seq.Hang:
			j.bad = flow.Hung
		}
		j.cut = j.bad == flow.None
	case seq.Trap:
		return j, fmt.Errorf("an interleaving traps, and the axioms do not allow it")
	case seq.Out:
		return j, fmt.Errorf("an interleaving is out of bounds, and the axioms do not allow it")
	case seq.Hang:
		return j, fmt.Errorf("an interleaving hangs, and the axioms do not allow it")
	}
	j.cut = j.cut || j.bad == flow.None && seq.Cut
	j.spent = time.Since(start)
	if j.cut {
		return j, nil
	}
	if j.report, err = check(p); err != nil {
		return j, err
	}
	j.verdict = j.report.Verdict
	return j, nil
}

func (j *judgement) wrongClean() bool {
	return !j.cut && j.bad != flow.None && warned(j.report) == "" && !(j.bad == flow.Trapped && j.givesUp && assumes(j.report, "timeout"))
}

// assumes reports whether a check says that it assumes something.
func assumes(r *muster.Report, what string) bool {
	return slices.ContainsFunc(r.Assumptions, func(a string) bool { return strings.Contains(a, what) })
}

func (j *judgement) falseAlarm() bool {
	return !j.cut && j.bad == flow.None && j.verdict == "findings"
}

// warned returns why a report is not clean: a finding, a warning, or that it is
// incomplete.
func warned(r *muster.Report) string {
	if r.Verdict != "clean" {
		return string(r.Verdict)
	}
	for _, f := range r.Findings {
		if f.Severity == "warning" {
			return f.Kind
		}
	}
	return ""
}

type tally struct {
	sync.Mutex
	programs, cut, fine, clean int
	bad, wrong                 map[flow.Bad]int
	alarms                     map[string]int
	failing                    []uint64
	shown                      map[string]int
	oracle, all                time.Duration
	slow                       string
	slowest                    time.Duration
	list                       []string
	seeds                      []uint64
}

// TestLaunches checks drawn programs as whole launches.
func TestLaunches(t *testing.T) {
	sum := &tally{bad: map[flow.Bad]int{}, wrong: map[flow.Bad]int{}, alarms: map[string]int{}, shown: map[string]int{}}
	next := make(chan uint64)
	var group sync.WaitGroup
	for range max(*jobs, 1) {
		group.Go(func() {
			for seed := range next {
				sum.one(t, seed)
			}
		})
	}
	most := *launches
	if testing.Short() {
		most = min(most, 8) // the race detector makes minutes of the others
	}
	for s := *launchesFrom; s < *launchesFrom+most; s++ {
		next <- s
	}
	close(next)
	group.Wait()
	bad, wrong := 0, 0
	for _, n := range sum.bad {
		bad += n
	}
	for _, n := range sum.wrong {
		wrong += n
	}
	t.Logf("%d programs, %d too large; %d with a bad outcome %v, %d of these called clean %v", sum.programs, sum.cut, bad, sum.bad, wrong, sum.wrong)
	t.Logf("%d without, %d of these clean (%.1f %%), false alarms %v", sum.fine, sum.clean, 100*float64(sum.clean)/float64(max(sum.fine, 1)), sum.alarms)
	t.Logf("%v of the oracle, %v of all; the slowest %s, %v", sum.oracle, sum.all, sum.slow, sum.slowest)
	slices.Sort(sum.list)
	for _, s := range sum.list {
		t.Log(s)
	}
	if wrong > 0 {
		t.Errorf("%d programs with a bad outcome are called clean", wrong)
	}
	if n := len(sum.alarms); n > 0 {
		t.Errorf("false alarms: %v", sum.alarms)
	}
	if len(sum.failing) > 0 {
		t.Logf("findings about a compare-and-swap that fails, which is no write by the letter (8.4): %v", sum.failing)
	}
	if *launches >= 300 && (4*bad < sum.programs || 4*sum.fine < sum.programs || 2*sum.clean < sum.fine) {
		t.Errorf("the campaign shows little: %d bad outcomes, %d programs without, %d of these clean", bad, sum.fine, sum.clean)
	}
	if *show > 0 {
		sum.smallest(t)
	}
}

// smallest prints one small program of each kind that a check is wrong about.
func (y *tally) smallest(t *testing.T) {
	var mu sync.Mutex
	found := map[string]*flow.Program{}
	text := map[string]string{}
	gate := make(chan bool, max(*jobs, 1))
	var group sync.WaitGroup
	slices.Sort(y.seeds)
	for _, s := range y.seeds[:min(len(y.seeds), *show)] {
		gate <- true
		group.Go(func() {
			q, k := small(s)
			key := k.bad.String() + "\n" + shape(q)
			mu.Lock()
			if found[key] == nil {
				found[key] = q
				x := q.Launch()
				text[key] = fmt.Sprintf("program %d; by the axioms: %v; check says %s %v\nflags: %s\n%s", s, k.bad, k.verdict, findings(k.report), x.String(), q.PTX())
			}
			mu.Unlock()
			<-gate
		})
	}
	group.Wait()
	keys := slices.Sorted(maps.Keys(found))
	slices.SortStableFunc(keys, func(a, b string) int { return len(text[a]) - len(text[b]) })
	for _, k := range keys {
		fmt.Printf("=== %s\n", text[k])
	}
	t.Logf("%d kinds", len(keys))
}

// compares reports whether a program has a compare-and-swap.
func compares(p *flow.Program) bool { return strings.Contains(p.PTX(), ".cas.") }

func findings(r *muster.Report) (kinds []string) {
	for _, f := range r.Findings {
		kinds = append(kinds, f.Kind)
	}
	return slices.Compact(kinds)
}

// small makes a program smaller that a check is wrong about.
func small(seed uint64) (*flow.Program, judgement) {
	p := flow.Generate(seed)
	j, _ := judge(p)
	wrong := (*judgement).falseAlarm
	if j.wrongClean() {
		wrong = func(k *judgement) bool { return k.wrongClean() && k.bad == j.bad }
	}
	tries := 0
	q := p.Shrink(func(q *flow.Program) bool {
		if tries++; tries > maxTries {
			return false
		}
		k, err := judge(q)
		return err == nil && wrong(&k)
	})
	k, _ := judge(q)
	return q, k
}

var constants = regexp.MustCompile(`\b\d+\b|%[a-z]+\d*|L\d+|W\d+`)

// shape is a program's text without numbers, so that programs of one kind are
// shown once.
func shape(p *flow.Program) string {
	_, body, _ := strings.Cut(p.PTX(), "exit;")
	return constants.ReplaceAllString(body, "_")
}

func (y *tally) one(t *testing.T, seed uint64) {
	p := flow.Generate(seed)
	p.Name = fmt.Sprintf("program %d", seed)
	if *verbose {
		x := p.Launch()
		t.Logf("%s: %s\n%s", p.Name, x.String(), p.PTX())
	}
	start := time.Now()
	j, err := judge(p)
	took := time.Since(start)
	y.Lock()
	defer y.Unlock()
	y.programs++
	y.oracle += j.spent
	y.all += took
	if took > y.slowest {
		y.slowest, y.slow = took, p.Name
	}
	switch {
	case err != nil:
		if y.shown["error"]++; y.shown["error"] < 4 {
			t.Errorf("%s: %v\n%s", p.Name, err, p.PTX())
		}
		return
	case j.cut:
		y.cut++
		return
	case j.bad != flow.None:
		y.bad[j.bad]++
	default:
		y.fine++
		if j.verdict == "clean" {
			y.clean++
		}
	}
	if j.wrongClean() || j.falseAlarm() {
		y.seeds = append(y.seeds, seed)
	}
	switch {
	case j.wrongClean():
		y.wrong[j.bad]++
		y.list = append(y.list, fmt.Sprintf("wrong clean: %s, %v", p.Name, j.bad))
	case j.falseAlarm() && compares(p):
		y.failing = append(y.failing, seed)
	case j.falseAlarm():
		kinds := findings(j.report)
		y.alarms[strings.Join(kinds, " ")]++
		y.list = append(y.list, fmt.Sprintf("false alarm: %s, %v", p.Name, kinds))
	}
}
