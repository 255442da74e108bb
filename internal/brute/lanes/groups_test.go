package lanes_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
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

func loadGroup(g *lanes.Group) (*muster.Launch, error) {
	text := g.PTX()
	mod, err := ptx.Parse("g.ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	x := g.Launch()
	f, err := launch.FromFlags(launch.Flags{PTX: "g.ptx", Grid: x.Grid, Block: x.Block, Cluster: x.Cluster, Buffers: x.Buffers, Args: x.Args})
	if err != nil {
		return nil, err
	}
	return muster.LoadModule(f, mod, []byte(text), muster.Limits{})
}

// A groupJudged is a program of a warpgroup with what can come out and what a check says.
type groupJudged struct {
	g        *lanes.Group
	results  [lanes.Edges]lanes.GroupResult
	launch   *muster.Launch
	rep      *muster.Report
	err      error
	explored time.Duration
}

func judgeGroup(g *lanes.Group) *groupJudged {
	v := &groupJudged{g: g}
	begin := time.Now()
	for e := range lanes.Edges {
		v.results[e] = lanes.ExploreGroup(g, e, *limit)
	}
	v.explored = time.Since(begin)
	if v.launch, v.err = loadGroup(g); v.err == nil {
		v.rep, v.err = check(v.launch)
	}
	if v.err == nil && v.rep.Verdict == "clean" && v.rep.Proof != nil && v.rep.Proof.Together {
		q := *g
		q.Joint = true
		for e := range lanes.Edges {
			v.results[e] = lanes.ExploreGroup(&q, e, *limit)
		}
	}
	return v
}

// kinds lists what a check found that is more than a notice.
func (v *groupJudged) kinds() string {
	var kinds []string
	for _, f := range v.rep.Findings {
		if s := string(f.Severity) + " " + f.Kind; (f.Severity == "error" || f.Severity == "warning") && !slices.Contains(kinds, s) {
			kinds = append(kinds, s)
		}
	}
	sort.Strings(kinds)
	return strings.Join(kinds, ", ")
}

// fine reports whether nothing is wrong with a program.
func fine(r *lanes.GroupResult) bool { return r.Complete && r.Bad() == "" && !r.Phases && !r.Loose }

// contested reports whether a program is wrong by the letter alone, and an error for a proxy
// fence: a warp knows what was written, and another one executed the fence, which only the
// wgmma hands on. No card was asked whether it does.
func (v *groupJudged) contested() bool {
	letter := &v.results[lanes.Letter]
	return errors(v.rep) == "proxy-raw" && letter.Unfenced && fine(&v.results[lanes.Across])
}

// disagrees names how a check and what can come out disagree, nothing if they do not.
func (v *groupJudged) disagrees() string {
	if v.err != nil {
		return "is not checked: " + v.err.Error()
	}
	letter, across, together := &v.results[lanes.Letter], &v.results[lanes.Across], &v.results[lanes.Together]
	kinds := v.kinds()
	switch e := errors(v.rep); {
	case v.rep.Verdict == "clean" && together.Bad() != "":
		return "clean, " + together.Bad()
	case v.rep.Verdict == "clean" && kinds == "" && letter.Bad() != "":
		return "no finding, by the letter " + letter.Bad()
	case v.rep.Verdict == "clean" && kinds == "" && letter.Proxy:
		return "no finding, no proxy fence before a copy"
	case proven(v.rep) && len(together.Outs) > 1:
		return "proven, more than one final memory"
	case e != "" && fine(letter):
		return "false alarm, " + e
	case e != "" && fine(across) && !v.contested():
		return "an error for what a card orders, " + e
	case strings.Contains(kinds, "collective-order") && fine(letter):
		return "false alarm, collective-order"
	}
	return ""
}

// ran compares what a run leaves with what can come out.
func (v *groupJudged) ran(s muster.Schedule) error {
	res, err := v.launch.Run(context.Background(), muster.RunOptions{Schedule: s})
	if err != nil {
		return err
	}
	if res.Report != nil {
		return fmt.Errorf("schedule %v does not end: %s", s, res.Report.Summary)
	}
	bytes, err := res.Buffer("out")
	if err != nil {
		return err
	}
	var got [2 * lanes.GroupThreads]uint32
	for i := range got {
		got[i] = binary.LittleEndian.Uint32(bytes[4*i:])
	}
	if want := v.results[lanes.Together].Outs; !slices.Contains(want, got) {
		return fmt.Errorf("schedule %v leaves %v, which is none of %d that can come out, like %v", s, got, len(want), want[0])
	}
	return nil
}

var (
	groups     = flag.Int("brute.groups", 300, "how many programs of a warpgroup to check")
	groupsFrom = flag.Uint64("brute.groupsfrom", 0, "the number of the first")
)

func drawGroup(n uint64) *lanes.Group {
	return lanes.GenerateGroup(rand.New(rand.NewPCG(*seed+100, n)))
}

// A groupTally counts the programs of a campaign.
type groupTally struct {
	sync.Mutex
	n, undecided, unclear, states int
	bad                           map[string]int // by the letter, by outcome
	card                          int            // of them, those that a card orders
	contested                     int
	right, clean, proven          int
	verdicts                      map[string]int // of bad ones
	kinds                         map[string]int
	wrong                         map[string][]uint64
	failed                        []string
	exploring, checking, slowest  time.Duration
	slow                          uint64
}

func (c *groupTally) one(n uint64) {
	begin := time.Now()
	v := judgeGroup(drawGroup(n))
	letter, together := &v.results[lanes.Letter], &v.results[lanes.Together]
	took := time.Since(begin)
	err := v.err
	if err == nil && fine(together) {
		err = cmp.Or(v.ran(muster.Schedule{}), v.ran(muster.Handful(2)[3+n%2]))
	}
	c.Lock()
	defer c.Unlock()
	c.n++
	c.states += letter.States + together.States
	if took > c.slowest {
		c.slowest, c.slow = took, n
	}
	c.exploring += v.explored
	c.checking += took - v.explored
	if err != nil {
		c.failed = append(c.failed, fmt.Sprintf("program %d: %v\n%v%s", n, err, v.g, v.g.PTX()))
		return
	}
	switch {
	case letter.Bad() != "":
		c.bad[letter.Bad()]++
		if fine(together) {
			c.card++
		}
		c.verdicts[string(v.rep.Verdict)]++
	case !letter.Complete:
		c.undecided++
		return
	case !fine(letter):
		c.unclear++
	default:
		c.right++
		if v.rep.Verdict == "clean" {
			c.clean++
		}
		if proven(v.rep) {
			c.proven++
		}
	}
	if errors(v.rep) == "" {
		c.kinds[v.kinds()]++
	}
	if v.contested() {
		c.contested++
	}
	if d := v.disagrees(); d != "" {
		c.wrong[d] = append(c.wrong[d], n)
	}
}

// TestWarpgroups holds verdicts to every interleaving of programs of a warpgroup.
func TestWarpgroups(t *testing.T) {
	c := &groupTally{bad: map[string]int{}, verdicts: map[string]int{}, kinds: map[string]int{}, wrong: map[string][]uint64{}}
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
	for i := range uint64(*groups) {
		next <- *groupsFrom + i
	}
	close(next)
	wg.Wait()
	bad := 0
	for _, n := range c.bad {
		bad += n
	}
	t.Logf("%d programs in %v, %d states each, %d undecided; exploring %v, checking %v, slowest %d: %v", c.n, time.Since(begin).Round(time.Millisecond), c.states/max(1, c.n), c.undecided, c.exploring.Round(time.Millisecond), c.checking.Round(time.Millisecond), c.slow, c.slowest)
	t.Logf("bad by the letter: %d %v, of which %d not on a card; verdicts %v; contested: %d", bad, c.bad, c.card, c.verdicts, c.contested)
	t.Logf("right: %d, clean %d, proven %d; unclear %d", c.right, c.clean, c.proven, c.unclear)
	for _, k := range slices.Sorted(maps.Keys(c.kinds)) {
		t.Logf("%6d %s", c.kinds[k], cmp.Or(k, "no finding"))
	}
	for _, f := range c.failed[:min(*show, len(c.failed))] {
		t.Error(f)
	}
	for _, k := range slices.Sorted(maps.Keys(c.wrong)) {
		numbers := c.wrong[k]
		slices.Sort(numbers)
		t.Logf("%6d %s", len(numbers), k)
		if *tolerated {
			continue
		}
		smallest, where := map[string]*lanes.Group{}, map[string]uint64{}
		for _, n := range numbers[:min(*show, len(numbers))] {
			q := shrinkGroup(drawGroup(n), func(q *lanes.Group) bool { return judgeGroup(q).disagrees() == k })
			if s := q.Shape(); smallest[s] == nil || q.Size() < smallest[s].Size() {
				smallest[s], where[s] = q, n
			}
		}
		for _, s := range slices.Sorted(maps.Keys(smallest)) {
			q := smallest[s]
			x := q.Launch()
			t.Errorf("program %d: %s\n%v// --grid %s --block %s --buffer '%s' --arg in --arg out\n%s", where[s], k, q, x.Grid, x.Block, strings.Join(x.Buffers, "' --buffer '"), q.PTX())
		}
	}
	if *groups >= 100 && (4*bad < c.n || 3*c.right < c.n) {
		t.Errorf("of %d programs %d are bad and %d are right: want a quarter and a third", c.n, bad, c.right)
	}
}

// shrinkGroup leaves out what it can while a program keeps a property.
func shrinkGroup(g *lanes.Group, keeps func(*lanes.Group) bool) *lanes.Group {
	for again := true; again; {
		again = false
		for _, q := range g.Smaller() {
			if keeps(q) {
				g, again = q, true
				break
			}
		}
	}
	return g
}
