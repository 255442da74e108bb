package lanes_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"muster"
	"muster/internal/brute/lanes"
	"muster/launch"
	"muster/ptx"
)

var (
	programs  = flag.Int("brute.lanes", 300, "how many programs of lanes to check")
	from      = flag.Uint64("brute.lanesfrom", 0, "the number of the first")
	seed      = flag.Uint64("brute.lanesseed", 1, "what programs are drawn from")
	jobs      = flag.Int("brute.jobs", runtime.GOMAXPROCS(0), "programs at a time")
	limit     = flag.Int("brute.lanesstates", 150_000, "states of one program")
	show      = flag.Int("brute.lanesshow", 5, "how many disagreements of a kind are shown, made small")
	apart     = flag.Int("brute.lanesapart", 40, "how many programs to check with each lane in a warp of its own")
	with      = flag.String("brute.laneswith", "", "only programs with an operation of this name")
	tolerated = flag.Bool("brute.lanesmeasure", false, "count disagreements only")
)

func draw(n uint64) *lanes.Program { return lanes.Generate(rand.New(rand.NewPCG(*seed, n))) }

// drawApart is draw with each lane in a warp of its own, without votes.
func drawApart(n uint64) *lanes.Program {
	p := draw(n)
	for _, ops := range p.Warps {
		for i, o := range ops {
			if o.Kind == lanes.Vote || o.Kind == lanes.Shuffle {
				ops[i] = lanes.Op{Kind: lanes.WarpSync, Only: o.Only}
			}
		}
	}
	p.Idle = lanes.Apart
	return p
}

func load(p *lanes.Program) (*muster.Launch, error) {
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

func check(l *muster.Launch) (*muster.Report, error) {
	return l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
}

// ran compares what a run leaves with what can come out.
func ran(l *muster.Launch, s muster.Schedule, want []lanes.Memory) error {
	res, err := l.Run(context.Background(), muster.RunOptions{Schedule: s})
	if err != nil {
		return err
	}
	if res.Report != nil {
		return fmt.Errorf("schedule %v does not end: %s", s, res.Report.Summary)
	}
	var got lanes.Memory
	for name, bytes := range map[string][]uint8{"data": got.Data[:], "out": got.Out[:]} {
		words, err := res.Buffer(name)
		if err != nil {
			return err
		}
		for i := range min(len(bytes), len(words)/4) {
			bytes[i] = uint8(binary.LittleEndian.Uint32(words[4*i:]))
		}
	}
	if !slices.Contains(want, got) {
		return fmt.Errorf("schedule %v leaves %v, which is none of %d that can come out, like %v", s, got, len(want), want[0])
	}
	return nil
}

func proven(r *muster.Report) bool {
	return r.Verdict == "clean" && r.Proof != nil && r.Proof.All
}

// wrong says why a verdict must not stand beside what can come out, nothing if it may.
// Lanes that tell each other values may race though the accesses are never next to each
// other; walks find some of these races.
func wrong(p *lanes.Program, res *lanes.Result, rep *muster.Report) string {
	if rep.Verdict == "clean" && rep.Proof != nil && rep.Proof.Together {
		if p.Skips() {
			return "" // lanes of a wait need not come to it together
		}
		q := *p
		q.Joint = true
		joint := lanes.Explore(&q, *limit)
		res = &joint
	}
	if rep.Verdict == "clean" && res.Bad() == "" && p.Tells() && !p.Asynchronous() {
		res.Race = lanes.Walk(p, rand.New(rand.NewPCG(1, 1)), 40, warns(rep, "collective-order"))
	}
	switch bad := res.Bad(); {
	case rep.Verdict != "clean":
		return ""
	case bad != "" && proven(rep):
		return "proven, " + bad
	case bad != "":
		return "clean, " + bad
	case proven(rep) && len(res.Finals) > 1 && !(rep.Proof.Draws && draws(p)):
		return "proven, more than one final memory"
	}
	return ""
}

// draws reports whether lanes of a program draw numbers: who gets which may show in memory.
func draws(p *lanes.Program) bool {
	for _, ops := range p.Warps {
		if slices.ContainsFunc(ops, func(o lanes.Op) bool { return o.Kind == lanes.Atom }) {
			return true
		}
	}
	return false
}

// warns reports whether a report has a warning of a kind.
func warns(rep *muster.Report, kind string) bool {
	return slices.ContainsFunc(rep.Findings, func(f muster.Finding) bool { return f.Severity == "warning" && f.Kind == kind })
}

func errors(rep *muster.Report) string {
	var kinds []string
	for _, f := range rep.Findings {
		if f.Severity == "error" && !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	sort.Strings(kinds)
	return strings.Join(kinds, ", ")
}

// disagrees names how a check and every interleaving disagree on a program.
func disagrees(p *lanes.Program) string {
	l, err := load(p)
	if err != nil {
		return "does not load"
	}
	rep, err := check(l)
	if err != nil {
		return "is not checked"
	}
	res := lanes.Explore(p, *limit)
	if s := wrong(p, &res, rep); s != "" {
		return s
	}
	if e := errors(rep); right(p, &res) && p.Robust() && e != "" {
		return "false alarm, " + e
	}
	return ""
}

// right reports whether nothing is wrong with a program.
func right(p *lanes.Program, res *lanes.Result) bool {
	return res.Complete && res.Bad() == "" && !res.Phases && !res.Loose && !p.ComesTwice()
}

// shape is what a program is made of, to tell kinds of disagreements apart.
func shape(p *lanes.Program) string {
	set := map[string]bool{}
	for _, ops := range p.Warps {
		for _, o := range ops {
			set[p.Name(o)] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), " ")
}

// shrink leaves out what it can while a program keeps a property.
func shrink(p *lanes.Program, keeps func(*lanes.Program) bool) *lanes.Program {
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

type tally struct {
	sync.Mutex
	draw                         func(n uint64) *lanes.Program
	n, undecided, phases, states int
	bad                          map[string]int // by outcome
	right, clean, proven         int
	robust, robustClean          int
	wrong                        map[string]int
	numbers                      map[string][]uint64
	verdicts                     map[string]int // of the bad ones
	failed                       []string
	slowest                      time.Duration
	slow                         uint64
	exploring, checking          time.Duration
}

func (c *tally) one(n uint64) {
	p := c.draw(n)
	begin := time.Now()
	res := lanes.Explore(p, *limit)
	mid := time.Now()
	var rep *muster.Report
	l, err := load(p)
	if err == nil {
		rep, err = check(l)
	}
	end := time.Now()
	if err == nil && res.Complete && res.Bad() == "" {
		err = cmp.Or(ran(l, muster.Schedule{}, res.Finals), ran(l, muster.Handful(2)[3+n%2], res.Finals))
	}
	c.Lock()
	defer c.Unlock()
	c.n++
	c.states += res.States
	c.exploring += mid.Sub(begin)
	c.checking += end.Sub(mid)
	if d := end.Sub(begin); d > c.slowest {
		c.slowest, c.slow = d, n
	}
	if err != nil {
		c.failed = append(c.failed, fmt.Sprintf("program %d: %v\n%v%s", n, err, p, p.PTX()))
		return
	}
	bad := res.Bad()
	switch {
	case bad != "":
		c.bad[bad]++
		c.verdicts[string(rep.Verdict)]++
	case !res.Complete:
		c.undecided++
		return
	case res.Phases || res.Loose:
		c.phases++
	default:
		c.right++
		if rep.Verdict == "clean" {
			c.clean++
		}
		if proven(rep) {
			c.proven++
		}
		if p.Robust() {
			c.robust++
			if rep.Verdict == "clean" {
				c.robustClean++
			}
		}
	}
	key := wrong(p, &res, rep)
	if e := errors(rep); key == "" && right(p, &res) && e != "" && p.Robust() {
		key = "false alarm, " + e
	}
	if key != "" {
		c.wrong[key]++
		c.numbers[key] = append(c.numbers[key], n)
	}
}

// TestLanes holds verdicts to every interleaving of lanes.
func TestLanes(t *testing.T) { campaign(t, draw, few(*programs)) }

// TestLanesApart does the same with each lane in a warp of its own, where a check has
// every order of them: what it says of the program is to hold for its lanes too.
func TestLanesApart(t *testing.T) { campaign(t, drawApart, few(*apart)) }

// few is a tenth where tests are to be short.
func few(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func campaign(t *testing.T, draw func(n uint64) *lanes.Program, count int) {
	c := &tally{draw: draw, bad: map[string]int{}, wrong: map[string]int{}, numbers: map[string][]uint64{}, verdicts: map[string]int{}}
	begin := time.Now()
	next := make(chan uint64)
	var wg sync.WaitGroup
	for range *jobs {
		wg.Go(func() {
			for i := range next {
				c.one(i)
			}
		})
	}
	for i := range uint64(count) {
		if *with == "" || slices.Contains(strings.Fields(shape(draw(*from+i))), *with) {
			next <- *from + i
		}
	}
	close(next)
	wg.Wait()
	c.tell(t, time.Since(begin))
	bad := 0
	for _, n := range c.bad {
		bad += n
	}
	if *with == "" && count >= 100 && (3*bad < c.n || 3*c.right < c.n) {
		t.Errorf("of %d programs %d are bad and %d are right: want a third of each", c.n, bad, c.right)
	}
}

func (c *tally) tell(t *testing.T, took time.Duration) {
	all := 0
	for _, n := range c.bad {
		all += n
	}
	t.Logf("%d programs in %v, %d states each, %d undecided; exploring %v, checking %v, slowest %d: %v", c.n, took.Round(time.Millisecond), c.states/max(1, c.n), c.undecided,
		c.exploring.Round(time.Millisecond), c.checking.Round(time.Millisecond), c.slow, c.slowest)
	t.Logf("bad: %d %v, verdicts %v", all, c.bad, c.verdicts)
	t.Logf("%d others are unclear: phases differ, or what the ISA does not say; right: %d, clean %d, proven %d; robust %d, clean %d", c.phases, c.right, c.clean, c.proven, c.robust, c.robustClean)
	for _, f := range c.failed[:min(*show, len(c.failed))] {
		t.Error(f)
	}
	var keys []string
	for k := range c.wrong {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		t.Logf("%6d %s", c.wrong[k], k)
	}
	if *tolerated {
		return
	}
	for _, k := range keys {
		numbers := c.numbers[k]
		slices.Sort(numbers)
		smallest, where := map[string]*lanes.Program{}, map[string]uint64{}
		for _, n := range numbers[:min(*show, len(numbers))] {
			q := shrink(c.draw(n), func(q *lanes.Program) bool { return disagrees(q) == k })
			if s := shape(q); smallest[s] == nil || q.Size() < smallest[s].Size() {
				smallest[s], where[s] = q, n
			}
		}
		for _, s := range slices.Sorted(maps.Keys(smallest)) {
			q := smallest[s]
			x := q.Launch()
			t.Errorf("program %d: %s; %s\n%v// --grid %s --block %s --cluster %s --buffer '%s' --arg data --arg out\n%s", where[s], k, s, q,
				x.Grid, x.Block, x.Cluster, strings.Join(x.Buffers, "' --buffer '"), q.PTX())
		}
	}
}
