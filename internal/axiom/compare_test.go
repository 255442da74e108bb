package axiom_test

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"muster/internal/axiom"
)

var (
	tests = flag.Uint64("axiom.n", 700, "generated litmus tests to compare")
	dig   = flag.Bool("axiom.dig", false, "look behind hidden races: take operations away until nothing hides them")
	kind  = flag.Int("axiom.kind", -1, "only seeds that leave this remainder by 16, as generate tells them apart")
	seed0 = flag.Uint64("axiom.seed", 0, "the first one's seed")
)

// A difference is a pair on which the axioms and the Tracker disagree.
type difference uint8

const (
	// falseAlarm: reported, and no execution has the race.
	falseAlarm difference = 1 + iota
	// missed: not reported, though an interleaving has the race.
	missed
	// hidden: the same, but in each of these executions a reported race hides this
	// one: it is between accesses after the first and before the second of the
	// pair, or between one of the pair and a third access. A Tracker keeps for
	// each byte what matters for the next access, not every access so far, and
	// nothing from before a race that it reported.
	hidden
	// weakOnly: not reported, and no interleaving has the race, though an
	// execution under the axioms does.
	weakOnly
)

var differenceNames = [...]string{"agree", "false alarm", "missed", "hidden", "weak only"}

// A comparison is the result of one litmus test.
type comparison struct {
	p     *axiom.Program
	racy  map[axiom.Pair]axiom.Strength
	ran   *explorer
	by    map[axiom.Pair]difference
	pairs int // conflicting pairs, racy or not
}

func compare(t testing.TB, p *axiom.Program) *comparison {
	t.Helper()
	racy, err := p.Races()
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{p: p, racy: racy, ran: explore(t, p, false), by: map[axiom.Pair]difference{}, pairs: p.Conflicting()}
	if c.ran.broken != "" {
		t.Fatalf("%s: %s\n%s", p.Name, c.ran.broken, text(p))
	}
	if c.ran.steps > maxSteps {
		return c // too many schedules: not compared
	}
	for q := range c.ran.found {
		if racy[q] == 0 {
			c.by[q] = falseAlarm
		}
	}
	for q, how := range racy {
		switch {
		case c.ran.found[q]:
		case how&axiom.Sequential == 0:
			c.by[q] = weakOnly
		default:
			c.by[q] = hidden
		}
	}
	c.unhide(t)
	return c
}

// unhide tells missed pairs from hidden ones.
func (c *comparison) unhide(t testing.TB) {
	if !slices.Contains(slices.Collect(maps.Values(c.by)), hidden) {
		return
	}
	err := c.p.Together(func(races []axiom.Pair, before func(a, b axiom.Access) bool) {
		for _, q := range races {
			if c.by[q] == hidden && !slices.ContainsFunc(races, func(r axiom.Pair) bool { return c.ran.found[r] && covers(r, q, before) }) {
				c.by[q] = missed
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// covers reports whether race r hides race q: it lies within it, or has an
// access in common.
func covers(r, q axiom.Pair, before func(a, b axiom.Access) bool) bool {
	from := func(a, b axiom.Access) bool { return a == b || before(a, b) }
	within := func(x, y, a, b axiom.Access) bool { return from(x, a) && from(b, y) }
	return r.A == q.A || r.A == q.B || r.B == q.A || r.B == q.B ||
		within(q.A, q.B, r.A, r.B) || within(q.A, q.B, r.B, r.A) || within(q.B, q.A, r.A, r.B) || within(q.B, q.A, r.B, r.A)
}

// mixed reports whether a race of different sizes is among those of the axioms:
// then they do not apply (ISA 8.7.2).
func (c *comparison) mixed() bool {
	op := func(a axiom.Access) *axiom.Op { return &c.p.Threads[a.Thread].Ops[a.Op] }
	for r := range c.racy {
		if a, b := op(r.A), op(r.B); a.Kind <= axiom.Red && b.Kind <= axiom.Red && a.Size != b.Size {
			return true
		}
	}
	return false
}

// racingFlag reports whether a false alarm is of a pair that an order of fence.sc
// alone orders, which an access of a flag forces that races itself: with none of
// these fences the pair races, and with every other access in a race strong, of
// the widest scope, the alarm is gone.
func (c *comparison) racingFlag(t testing.TB, q axiom.Pair) bool {
	p := copyOf(c.p)
	for i := range p.Threads {
		for j := range p.Threads[i].Ops {
			if o := &p.Threads[i].Ops[j]; o.Kind == axiom.Fence && o.Sem == axiom.SC {
				o.Sem = axiom.AcqRel
			}
		}
	}
	if racy, err := p.Races(); err != nil || racy[q] == 0 {
		return false
	}
	p, changed := copyOf(c.p), false
	for r := range c.racy {
		for _, a := range []axiom.Access{r.A, r.B} {
			o := &p.Threads[a.Thread].Ops[a.Op]
			if o.Kind > axiom.Red || a == q.A || a == q.B {
				continue
			}
			if o.Scope, changed = axiom.Sys, true; o.Sem == axiom.Weak {
				o.Sem = axiom.Relaxed
			}
		}
	}
	return changed && !explore(t, p, false).found[q]
}

// explain names what explains a difference, "" if nothing does.
func (c *comparison) explain(t testing.TB, q axiom.Pair) string {
	switch d := c.by[q]; {
	case d == falseAlarm && c.mixed():
		return "mixed sizes"
	case d == falseAlarm && c.racingFlag(t, q):
		return "a flag that races"
	case d == falseAlarm || d == missed:
		return ""
	}
	return c.by[q].String()
}

func (d difference) String() string { return differenceNames[d] }

// text prints a litmus test.
func text(p *axiom.Program) string {
	var b strings.Builder
	l := emit(p)
	for t, th := range p.Threads {
		fmt.Fprintf(&b, "T%d (CTA %d, cluster %d, warp %d, lane %d)\n", t, th.CTA, th.CTA/max(p.ClusterSize, 1), th.Warp, th.Lane)
		for i := range th.Ops {
			o := &th.Ops[i]
			g := ""
			if o.Guard != nil {
				g = fmt.Sprintf("if %d == %d: ", o.Guard.Read, o.Guard.Value)
			}
			fmt.Fprintf(&b, "  %d: %s%s\n", i, g, l.instr(t, i, o))
		}
	}
	return b.String()
}

// has reports whether a litmus test shows a difference of a kind.
func has(t testing.TB, p *axiom.Program, d difference) bool {
	if p.Check() != nil {
		return false
	}
	if explore(t, p, false).broken != "" {
		return false // a barrier counts on what is gone
	}
	c := compare(t, p)
	for q, x := range c.by {
		if x == d && c.explain(t, q) == "" {
			return true
		}
	}
	return false
}

// shrink takes away operations, guards and threads while a difference stays.
func shrink(t testing.TB, p *axiom.Program, d difference) *axiom.Program {
	for again := true; again; {
		again = false
		for _, q := range smaller(p) {
			if has(t, q, d) {
				p, again = q, true
				break
			}
		}
	}
	return p
}

func copyOf(p *axiom.Program) *axiom.Program {
	q := *p
	q.Threads = slices.Clone(p.Threads)
	for t := range q.Threads {
		q.Threads[t].Ops = slices.Clone(p.Threads[t].Ops)
		for i := range q.Threads[t].Ops {
			if g := q.Threads[t].Ops[i].Guard; g != nil {
				c := *g
				q.Threads[t].Ops[i].Guard = &c
			}
		}
	}
	return &q
}

func smaller(p *axiom.Program) []*axiom.Program {
	var all []*axiom.Program
	for t := range p.Threads {
		q := copyOf(p)
		q.Threads = slices.Delete(q.Threads, t, t+1)
		all = append(all, q)
	}
	for t := range p.Threads {
		for i := range p.Threads[t].Ops {
			if q := without(p, t, i); q != nil {
				all = append(all, q)
			}
		}
	}
	for t := range p.Threads {
		for i := range p.Threads[t].Ops {
			o := &p.Threads[t].Ops[i]
			change := func(f func(o *axiom.Op)) {
				q := copyOf(p)
				f(&q.Threads[t].Ops[i])
				all = append(all, q)
			}
			if o.Guard != nil {
				change(func(o *axiom.Op) { o.Guard = nil })
			}
			if o.Size == 8 {
				change(func(o *axiom.Op) { o.Size = 0 })
			}
			switch {
			case o.Kind == axiom.Red || o.Kind == axiom.Add:
				change(func(o *axiom.Op) { o.Kind, o.Sem = axiom.Exch, axiom.Relaxed })
			case o.Kind == axiom.Exch:
				change(func(o *axiom.Op) { o.Kind, o.Sem = axiom.Load, axiom.Relaxed })
				change(func(o *axiom.Op) { o.Kind, o.Sem = axiom.Store, axiom.Relaxed })
			case o.Kind <= axiom.Store && o.Sem == axiom.Volatile:
				change(func(o *axiom.Op) { o.Sem, o.Scope = axiom.Relaxed, axiom.Sys })
			case o.Kind <= axiom.Store && o.Sem >= axiom.Acquire:
				change(func(o *axiom.Op) { o.Sem = axiom.Relaxed })
			case o.Kind <= axiom.Store && o.Sem == axiom.Relaxed:
				change(func(o *axiom.Op) { o.Sem = axiom.Weak })
			}
		}
	}
	return all
}

// without takes out an operation, and both halves of a barrier for all.
func without(p *axiom.Program, t, i int) *axiom.Program {
	q := copyOf(p)
	gone := q.Threads[t].Ops[i]
	for u := range q.Threads {
		var ops []axiom.Op
		moved := map[int]int{}
		for k, o := range q.Threads[u].Ops {
			same := u == t && k == i
			switch gone.Kind {
			case axiom.BarSync, axiom.BarArrive:
				same = same || (o.Kind == axiom.BarSync || o.Kind == axiom.BarArrive) && o.Bar == gone.Bar
			case axiom.WarpSync:
				same = same || o.Kind == axiom.WarpSync && o.Bar == gone.Bar
			case axiom.ClusterArrive, axiom.ClusterWait:
				same = same || o.Kind == axiom.ClusterArrive || o.Kind == axiom.ClusterWait
			}
			if same {
				continue
			}
			moved[k] = len(ops)
			if o.Guard != nil {
				r, ok := moved[o.Guard.Read]
				if !ok {
					return nil
				}
				o.Guard.Read = r
			}
			ops = append(ops, o)
		}
		q.Threads[u].Ops = ops
	}
	return q
}

// digUp looks for a missed race in the tests that a few operations less make.
func digUp(t *testing.T, p *axiom.Program, depth int) {
	for _, q := range smaller(p) {
		if q.Check() != nil || t.Failed() {
			continue
		}
		c := compare(t, q)
		deeper := false
		for r, d := range c.by {
			if d == missed && c.explain(t, r) == "" {
				q = shrink(t, q, missed)
				t.Errorf("behind %s:\n%s%v", p.Name, text(q), compare(t, q).by)
				return
			}
			deeper = deeper || d == hidden
		}
		if deeper && depth > 1 {
			digUp(t, q, depth-1)
		}
	}
}

// A tally counts the results of comparisons.
type tally struct {
	tests, left, pairs, racy, runs int
	by                             [len(differenceNames)]int
	names                          map[string]int
	shown                          map[difference]int
}

func (y *tally) add(z *tally) {
	y.tests += z.tests
	y.left += z.left
	y.pairs += z.pairs
	y.racy += z.racy
	y.runs += z.runs
	for i := range y.by {
		y.by[i] += z.by[i]
	}
	for name, n := range z.names {
		y.names[name] += n
	}
}

// TestGenerated compares generated litmus tests, some on each processor.
func TestGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // forks live for a step
	shards := make([]tally, runtime.GOMAXPROCS(0))
	t.Run("shards", func(t *testing.T) {
		for i := range shards {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				shards[i] = tally{names: map[string]int{}, shown: map[difference]int{}}
				for s := *seed0 + uint64(i); s < *seed0+*tests; s += uint64(len(shards)) {
					if *kind >= 0 && s%16 != uint64(*kind) {
						continue
					}
					shards[i].seed(t, s)
				}
			})
		}
	})
	sum := tally{names: map[string]int{}}
	for i := range shards {
		sum.add(&shards[i])
	}
	t.Logf("%d tests and %d too long, %d schedules, %d conflicting pairs, %d racy", sum.tests, sum.left, sum.runs, sum.pairs, sum.racy)
	for d, n := range sum.by[1:] {
		t.Logf("%s: %d", differenceNames[d+1], n)
	}
	t.Logf("explained: %v", sum.names)
}

// seed compares one generated litmus test.
func (y *tally) seed(t *testing.T, s uint64) {
	p := generate(s)
	p.Name = fmt.Sprintf("seed %d", s)
	c := compare(t, p)
	if c.ran.steps > maxSteps {
		y.left++
		return
	}
	y.tests++
	y.pairs += c.pairs
	y.racy += len(c.racy)
	y.runs += c.ran.runs
	per := map[difference]bool{}
	if *dig && slices.Contains(slices.Collect(maps.Values(c.by)), hidden) {
		digUp(t, p, 1)
	}
	for q, d := range c.by {
		y.by[d]++
		if name := c.explain(t, q); name != "" {
			if d == falseAlarm || d == missed {
				y.names[name]++
			}
			continue
		}
		per[d] = true
	}
	for d := range per {
		if y.shown[d] < 12 {
			y.shown[d]++
			q := shrink(t, p, d)
			t.Errorf("%s: %s\n%s%v", p.Name, differenceNames[d], text(q), compare(t, q).by)
		}
	}
}
