package brute_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"muster"
	"muster/internal/brute"
	"muster/launch"
	"muster/ptx"
)

var (
	programs = flag.Int("brute.n", 600, "how many programs")
	seed     = flag.Uint64("brute.seed", 1, "the first program's")
	jobs     = flag.Int("brute.jobs", runtime.GOMAXPROCS(0), "programs at a time")
	limit    = flag.Int("brute.states", 300000, "states of one program")
)

// load prepares the kernel of a program.
func load(p *brute.Program) (*muster.Launch, error) {
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
	return muster.LoadModule(f, mod, []byte(text), muster.Limits{})
}

func check(p *brute.Program) (*muster.Report, *muster.Launch, error) {
	l, err := load(p)
	if err != nil {
		return nil, nil, err
	}
	o := muster.CheckOptions{Jobs: 1, Explore: muster.ExploreOptions{Schedules: -1}, Schedules: muster.Handful(muster.DefaultRandom)}
	r, err := l.Check(context.Background(), o)
	return r, l, err
}

// all joins what the ISA and the card let happen.
func all(p *brute.Program) brute.Result {
	r := brute.Explore(p, false, *limit)
	if !strings.Contains(p.String(), "cp.async.arrive(") {
		return r
	}
	c := brute.Explore(p, true, *limit)
	r.Complete = r.Complete && c.Complete
	r.Stuck, r.Fault, r.Race, r.Phases = r.Stuck || c.Stuck, r.Fault || c.Fault, r.Race || c.Race, r.Phases || c.Phases
	for _, m := range c.Final {
		if !slices.Contains(r.Final, m) {
			r.Final = append(r.Final, m)
		}
	}
	r.Memories = len(r.Final)
	r.States += c.States
	return r
}

// ran compares what a run leaves with what can come out.
func ran(p *brute.Program, l *muster.Launch, s muster.Schedule, want []brute.Memory) error {
	res, err := l.Run(context.Background(), muster.RunOptions{Schedule: s})
	if err != nil {
		return err
	}
	if res.Report != nil {
		return nil // it did not end
	}
	data, err := res.Buffer("data")
	if err != nil {
		return err
	}
	out, err := res.Buffer("out")
	if err != nil {
		return err
	}
	var got brute.Memory
	for i := brute.FirstGlob; i < brute.Slots; i++ {
		got.Slots[i] = data[16*(i-brute.FirstGlob)]
	}
	for i := range got.Seen {
		got.Seen[i] = uint8(binary.LittleEndian.Uint32(out[4*i:]))
	}
	for _, m := range want {
		if m == got {
			return nil
		}
	}
	return fmt.Errorf("schedule %v leaves %v, which is none of %d that can come out, like %v", s, got, len(want), want[0])
}

// A tally counts what became of programs.
type tally struct {
	sync.Mutex
	n, independent, dependent, undecided int
	proved, provedIndependent            int
	defects                              int // independent, with a finding
	byReason                             map[string]int
	smallest                             map[string]*brute.Program
	missed                               map[string]int
	missedSmallest                       map[string]*brute.Program
	bad                                  []string
	states                               int
}

func newTally() *tally {
	return &tally{byReason: map[string]int{}, smallest: map[string]*brute.Program{}, missed: map[string]int{}, missedSmallest: map[string]*brute.Program{}}
}

func keepSmallest(m map[string]*brute.Program, key string, p *brute.Program) {
	if old := m[key]; old == nil || p.Size() < old.Size() {
		m[key] = p
	}
}

// what says how a program's schedules differ.
func what(r *brute.Result) string {
	var w []string
	for _, x := range []struct {
		is   bool
		name string
	}{{r.Stuck, "stuck"}, {r.Fault, "fault"}, {r.Race, "race"}, {r.Memories > 1, "memory"}, {r.Memories == 0, "never ends"}} {
		if x.is {
			w = append(w, x.name)
		}
	}
	return strings.Join(w, "+")
}

// unsound reports whether a program is proven and brute force disagrees.
func unsound(p *brute.Program) bool {
	rep, _, err := check(p)
	if err != nil || rep.Proof == nil || !rep.Proof.All || rep.Verdict != "clean" {
		return false
	}
	r := all(p)
	return r.Complete && !allows(&r, rep)
}

// allows reports whether a proof is consistent with brute force's result. Stores of
// equal values race by the letter of the ISA; a proof that says so must still hold for
// the values that the program leaves and reads.
func allows(r *brute.Result, rep *muster.Report) bool {
	named := slices.ContainsFunc(rep.Findings, func(f muster.Finding) bool { return f.Kind == "same-value" })
	return r.Independent() || r.Complete && r.Race && named && r.Memories == 1 && !r.Stuck && !r.Fault
}

// shrink leaves out operations and threads while a program keeps a property.
func shrink(p *brute.Program, keeps func(*brute.Program) bool) *brute.Program {
	for again := true; again; {
		again = false
		for _, q := range p.Smaller() {
			if keeps(q) {
				p, again = q, true
				break
			}
		}
	}
	return p
}

func (c *tally) one(p *brute.Program) {
	r := all(p)
	rep, l, err := check(p)
	var disagrees string
	switch {
	case err != nil:
		disagrees = fmt.Sprintf("does not load: %v\n%v%s", err, p, p.PTX())
	default:
		// Where one can fault or hang, the machine may go on: it lets exits open named
		// barriers, and reports what is undefined.
		comparable := r.Complete && !r.Fault && !r.Stuck && r.Memories < brute.MostMemories
		if !comparable {
			break
		}
		if err := ran(p, l, muster.Schedule{}, r.Final); err != nil {
			disagrees = fmt.Sprintf("%v\n%v%s", err, p, p.PTX())
		}
	}
	c.Lock()
	defer c.Unlock()
	c.n++
	c.states += r.States
	if disagrees != "" {
		c.bad = append(c.bad, disagrees)
		return
	}
	proved := rep.Proof != nil && rep.Proof.All && rep.Verdict == "clean"
	switch {
	case !r.Complete:
		c.undecided++
		return
	case r.Independent():
		c.independent++
	default:
		c.dependent++
	}
	if proved {
		c.proved++
		if allows(&r, rep) {
			if r.Independent() {
				c.provedIndependent++
			}
			if r.Phases {
				c.byReason["proved, and phases differ"]++
				keepSmallest(c.smallest, "proved, and phases differ", p)
			}
			return
		}
		c.Unlock()
		q := shrink(p, unsound)
		c.Lock()
		x := all(q)
		c.bad = append(c.bad, fmt.Sprintf("proven, and brute force finds %s:\n%v%s", what(&x), q, q.PTX()))
		return
	}
	if r.Independent() {
		key := reasons(rep)
		if len(findings(rep)) > 0 {
			c.defects++
		}
		if r.Phases {
			key = "phases differ; " + key
		}
		c.byReason[key]++
		keepSmallest(c.smallest, key, p)
		return
	}
	if rep.Verdict == "clean" {
		key := what(&r)
		c.missed[key]++
		keepSmallest(c.missedSmallest, key, p)
	}
}

// reasons names why a program is not proven.
func reasons(rep *muster.Report) string {
	if kinds := findings(rep); len(kinds) > 0 {
		return "findings: " + strings.Join(kinds, ", ")
	}
	var list []string
	for _, x := range rep.Proof.Reasons {
		t := x.Condition
		if t == "C9" {
			t += " " + afterLine(x.Text)
		}
		if i := strings.Index(x.Text, ", where only"); t == "C8" && i >= 0 {
			t += " " + x.Text[:i]
		} else if t == "the run" {
			t += " " + x.Text
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	sort.Strings(list)
	if len(list) == 0 {
		list = append(list, fmt.Sprint("verdict ", rep.Verdict))
	}
	return strings.Join(list, ", ")
}

// afterLine leaves out what differs from program to program.
func afterLine(text string) string {
	text, _, _ = strings.Cut(text, " depends on")
	return text
}

// findings lists the kinds of the errors that were found.
func findings(rep *muster.Report) []string {
	var kinds []string
	for _, f := range rep.Findings {
		if f.Severity == "error" && !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	sort.Strings(kinds)
	return kinds
}

// campaign runs programs made by gen.
func campaign(t *testing.T, n int, gen func(r *rand.Rand) *brute.Program) *tally {
	c := newTally()
	begin := time.Now()
	next := make(chan uint64)
	var wg sync.WaitGroup
	for range *jobs {
		wg.Go(func() {
			for i := range next {
				c.one(gen(rand.New(rand.NewPCG(*seed, i))))
			}
		})
	}
	for i := range uint64(n) {
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d programs in %v, %d states each: %d independent, %d not, %d past the limit", c.n, time.Since(begin).Round(time.Millisecond), c.states/max(1, c.n), c.independent, c.dependent, c.undecided)
	right := c.independent - c.defects
	t.Logf("proven %d of %d that are independent and without a finding: %.1f%%; %d more are independent, with a finding", c.provedIndependent, right, 100*float64(c.provedIndependent)/float64(max(1, right)), c.defects)
	c.list(t, "independent and not proven", c.byReason, c.smallest)
	c.list(t, "clean in 7 schedules, and not independent", c.missed, c.missedSmallest)
	for i, b := range c.bad {
		if i < 5 {
			t.Errorf("%s", b)
		}
	}
	if len(c.bad) > 0 {
		t.Errorf("%d disagreements", len(c.bad))
	}
	return c
}

func (c *tally) list(t *testing.T, title string, m map[string]int, ex map[string]*brute.Program) {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return m[keys[i]] > m[keys[j]] || m[keys[i]] == m[keys[j]] && keys[i] < keys[j] })
	for i, k := range keys {
		if i >= 25 {
			t.Logf("%s: %d more", title, len(keys)-i)
			break
		}
		if testing.Verbose() {
			t.Logf("%s: %6d  %s\n%v", title, m[k], k, ex[k])
		}
	}
}

// few is a tenth where tests are to be short, as under the race detector.
func few(n int) int {
	if testing.Short() {
		return min(n, max(n/10, 100))
	}
	return n
}

// TestPrograms holds every proof against brute force.
func TestPrograms(t *testing.T) {
	c := campaign(t, few(*programs), brute.Generate)
	if 5*c.independent < c.n || 5*c.dependent < c.n {
		t.Errorf("of %d programs %d are independent of the schedule and %d are not: want a fifth of each", c.n, c.independent, c.dependent)
	}
}
