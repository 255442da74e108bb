package explore_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/internal/explore"
	"muster/internal/machine"
)

func TestSampledScheduleText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := explore.Schedule{Policy: explore.PCT, Seed: rapid.Uint64().Draw(t, "seed")}
		if rapid.Bool().Draw(t, "delay") {
			s.Policy = explore.Delay
		} else {
			s.Depth, s.Steps = rapid.IntRange(1, 1024).Draw(t, "depth"), rapid.IntRange(1, 1<<30).Draw(t, "steps")
		}
		if rapid.Bool().Draw(t, "prefix") {
			s.Prefix = []machine.Choice{{Kind: machine.Milestone, Op: 3}, {CTA: 1, Lane: 2}, {CTA: 1, Lane: 2}}
		}
		got, err := explore.Parse(s.String())
		if err != nil || got.String() != s.String() || got.Policy != s.Policy || got.Seed != s.Seed || got.Depth != s.Depth || got.Steps != s.Steps || !slices.Equal(got.Prefix, s.Prefix) {
			t.Fatalf("%v came back as %v, %v", s, got, err)
		}
	})
	if s := (explore.Schedule{Policy: explore.PCT, Seed: 7, Depth: 3, Steps: 400}).String(); s != "pct:7:3:400" {
		t.Errorf("it is written as %s", s)
	}
}

func TestBadSampledText(t *testing.T) {
	for _, text := range []string{"pct", "pct:", "pct:7", "pct:7:", "pct:7:3", "pct:7:3:", "pct:7:0:400", "pct:7:-1:400", "pct:7:1025:400", "pct:7:3:0", "pct:7:3:1073741825", "pct:7:3:99999999999999999999",
		"pct:7:3:400:", "pct:7:3:400:1", "pct:-7:3:400", "pct:7:3:4e2", "pct:7:3.0:400", "delay", "delay:", "delay:x", "delay:7:3", "delay:7:", "random:7:3", "earliest:1:2:3", "latest:", "m1/pct", "pct:7:3:400/latest"} {
		if s, err := explore.Parse(text); err == nil {
			t.Errorf("%q is taken as %v", text, s)
		}
	}
}

func TestSample(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range explore.Handful(1000) {
		seen[s.String()] = true
	}
	list := explore.Sample(900, 1, 400)
	count := map[explore.Policy]int{}
	for _, s := range list {
		if seen[s.String()] {
			t.Fatalf("%v comes twice", s)
		}
		seen[s.String()] = true
		count[s.Policy]++
		if s.Policy == explore.PCT && (s.Depth < 1 || s.Depth > 4 || s.Steps != 400) {
			t.Errorf("%v", s)
		}
		if again, err := explore.Parse(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%v comes back as %v, %v", s, again, err)
		}
	}
	if len(list) != 900 || count[explore.PCT] != 400 || count[explore.Delay] != 400 || count[explore.Random] != 100 {
		t.Errorf("%d schedules: %v", len(list), count)
	}
	for i, s := range explore.Sample(90, 1, 400) {
		if s.String() != list[i].String() {
			t.Fatalf("schedule %d is %v of 90, %v of 900", i, s, list[i])
		}
	}
	if a, b := explore.Sample(1, 1, 400)[0], explore.Sample(1, 2, 400)[0]; a.String() == b.String() {
		t.Errorf("seeds 1 and 2 both begin with %v", a)
	}
	// A launch with no known number of steps.
	for _, s := range explore.Sample(9, 0, 0, 2) {
		if _, err := explore.Parse(s.String()); err != nil || s.Policy == explore.PCT && (s.Depth != 2 || s.Steps != 1) {
			t.Errorf("%v, %v", s, err)
		}
	}
}

// TestSampledSameRun: a schedule's text makes the same run, choice by choice.
func TestSampledSameRun(t *testing.T) {
	for _, body := range []string{tickets, stale, relay} {
		for _, s := range explore.Sample(27, 3, 60) {
			again, err := explore.Parse(s.String())
			if err != nil {
				t.Fatal(err)
			}
			a, b := build(t, body, 2, 64, 16), build(t, body, 2, 64, 16)
			one, ok := explore.Record(a, s, nil)
			two, ok2 := explore.Log(b, again, 1<<20, nil)
			if !ok || !ok2 || !slices.Equal(one, two) || !a.Done() || a.GlobalHash() != b.GlobalHash() {
				t.Fatalf("%v: %v and %v", s, one, two)
			}
			// And so do its choices, written as a prefix.
			c := build(t, body, 2, 64, 16)
			finish(t, c, explore.Schedule{Policy: explore.Latest, Prefix: one})
			if c.GlobalHash() != a.GlobalHash() {
				t.Errorf("%v: its choices leave something else", s)
			}
		}
	}
}

// TestSamplesDiffer: samples show as many orders of warps as there can be.
func TestSamplesDiffer(t *testing.T) {
	orders := map[explore.Policy]map[string]bool{}
	for _, s := range explore.Sample(90, 1, 60) {
		m := build(t, tickets, 3, 128, 16)
		finish(t, m, s)
		if orders[s.Policy] == nil {
			orders[s.Policy] = map[string]bool{}
		}
		orders[s.Policy][fmt.Sprint(words(t, m, 16)[1:13])] = true
	}
	for p, o := range orders {
		if n := map[explore.Policy]int{explore.PCT: 30, explore.Delay: 30, explore.Random: 8}[p]; len(o) < n {
			t.Errorf("%v made %d orders, want %d", p, len(o), n)
		}
	}
}

// Loops that poll in ways that are not recognized as waiting. One is for one warp; in
// the other two warps wait for each other in turn, each time briefly, while a third
// holds what ends it.
const (
	counting = `
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra SECOND;
LOOP:
	atom.global.add.u32 %r3, [%rd1+8], 1;
	ld.volatile.global.u32 %r4, [%rd1+12];
	setp.eq.u32 %p2, %r4, 3;
	@%p2 bra LOOP;
	bra DONE;
SECOND:
	st.volatile.global.u32 [%rd1+12], 42;
DONE:
`
	pingpong = `
	shr.u32 %r2, %r1, 5;
	setp.eq.u32 %p1, %r2, 2;
	@%p1 bra THIRD;
LOOP:
	ld.volatile.global.u32 %r3, [%rd1];
	and.b32 %r4, %r3, 1;
	setp.ne.u32 %p2, %r4, %r2;
	@%p2 bra OVER;
	atom.global.add.u32 %r5, [%rd1], 1;
OVER:
	ld.volatile.global.u32 %r6, [%rd1+12];
	setp.eq.u32 %p3, %r6, 3;
	@%p3 bra LOOP;
	bra DONE;
THIRD:
	st.volatile.global.u32 [%rd1+12], 42;
DONE:
`
)

// TestSamplesEnd: every schedule reaches the end of a kernel that has one, also where
// far fewer steps were announced than there are.
func TestSamplesEnd(t *testing.T) {
	for _, k := range []int{1, 40, 5000} {
		for _, s := range explore.Sample(27, 5, k) {
			finish(t, build(t, counting, 1, 64, 4), s)
			finish(t, build(t, pingpong, 1, 96, 4), s)
			finish(t, build(t, tickets, 3, 128, 16), s)
			finish(t, build(t, stale, 2, 32, 8), s)
			finish(t, build(t, relay, 1, 64, 8), s)
		}
	}
}

func TestSamplesStop(t *testing.T) {
	const forever = `
LOOP:
	add.u32 %r1, %r1, 1;
	st.volatile.global.u32 [%rd1], %r1;
	bra LOOP;
`
	for _, s := range explore.Sample(9, 1, 100) {
		asked := 0
		if explore.Run(build(t, forever, 1, 64, 4), s, func() bool { asked++; return asked == 3 }) || asked != 3 {
			t.Errorf("%v: asked %d times", s, asked)
		}
	}
}

// TestSamplesFault: a fault ends the run.
func TestSamplesFault(t *testing.T) {
	const unready = `
	.shared .align 8 .b64 bar;
	.shared .align 16 .b8 tile[512];
	mov.u32 %r2, tile;
	shl.b32 %r3, %r1, 2;
	add.u32 %r2, %r2, %r3;
	cp.async.ca.shared.global [%r2], [%rd1], 4;
	cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
`
	for _, s := range explore.Sample(9, 1, 100) {
		m := build(t, unready, 1, 32, 4)
		if !explore.Run(m, s, nil) || m.Done() || m.Stopped() == nil {
			t.Errorf("%v: it came to its end", s)
		}
	}
}

// relay: one warp takes a word from 0 to 1, another from 1 to 2, the first from 2 to
// 3, and the other from 3 to 4. Each tries each step once, with something else in
// between. The value reached is the number of steps that came in that order, less
// one.
const relay = `
	shr.u32 %r2, %r1, 5;
	add.u32 %r3, %r2, 1;
	ld.volatile.global.u32 %r9, [%rd1+4];
	atom.global.cas.b32 %r4, [%rd1], %r2, %r3;
	add.u32 %r2, %r2, 2;
	add.u32 %r3, %r3, 2;
	ld.volatile.global.u32 %r9, [%rd1+4];
	ld.volatile.global.u32 %r9, [%rd1+8];
	atom.global.cas.b32 %r4, [%rd1], %r2, %r3;
	ld.volatile.global.u32 %r9, [%rd1+4];
`

// TestPCTBound: bugs of depth 1, 2 and 3 are found at least as often as the bound
// says, by runs of their depth and of a greater one.
func TestPCTBound(t *testing.T) {
	n, k, ok := explore.Extent(build(t, relay, 1, 64, 4), explore.Schedule{}, nil)
	if !ok || n != 3 || k < 9 { // two warps, and who starts the CTA
		t.Fatalf("%d threads, %d steps", n, k)
	}
	const seeds = 3000
	start := build(t, relay, 1, 64, 4)
	for depth := 1; depth <= 4; depth++ {
		var far [5]int
		for seed := range uint64(seeds) {
			m := start.Fork(nil, nil)
			finish(t, m, explore.Schedule{Policy: explore.PCT, Seed: seed, Depth: depth, Steps: k})
			far[words(t, m, 1)[0]]++
		}
		shown := 0
		for d := 3; d >= 1; d-- { // after d steps in order the word is d+1
			shown += far[d+1]
			rate, bound := float64(shown)/seeds, explore.PCTBound(n, k, depth)
			if d <= depth && rate < bound {
				t.Errorf("depth %d: a bug of depth %d shows in %d of %d runs, less than %.4f", depth, d, shown, seeds, bound)
			}
			if d > depth && shown > 0 {
				t.Errorf("depth %d: %d changes of turn in %d runs", depth, d, shown)
			}
			t.Logf("depth %d, bug of depth %d: %.4f of runs, bound %.4f", depth, d, rate, bound)
		}
	}
}

// TestPCTLateLanding: an operation is a thread, so that what reads too soon reads
// the old bytes as often as the bound says.
func TestPCTLateLanding(t *testing.T) {
	n, k, ok := explore.Extent(build(t, stale, 1, 32, 8), explore.Schedule{}, nil)
	if !ok || n != 4 { // a lane, the others, a copy, and who starts the CTA
		t.Fatalf("%d threads, %d steps", n, k)
	}
	old := 0
	for seed := range uint64(1000) {
		m := build(t, stale, 1, 32, 8)
		finish(t, m, explore.Schedule{Policy: explore.PCT, Seed: seed, Depth: 1, Steps: k})
		if words(t, m, 8)[4] == 77 {
			old++
		}
	}
	if bound := explore.PCTBound(n, k, 1); float64(old)/1000 < bound || old == 1000 {
		t.Errorf("%d of 1000 runs read the old bytes, want at least %.2f and not all", old, bound)
	}
}

func TestOdds(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }
	if p := explore.PCTBound(4, 100, 1); !near(p, 0.25) {
		t.Errorf("depth 1: %v", p)
	}
	if p := explore.PCTBound(4, 100, 3); !near(p, 1.0/40000) {
		t.Errorf("depth 3: %v", p)
	}
	if p := explore.PCTBound(0, 0, 0); p != 1 {
		t.Errorf("of nothing: %v", p)
	}
	if p := explore.Once(0.25, 2); !near(p, 1-0.75*0.75) {
		t.Errorf("twice: %v", p)
	}
	if p := explore.Once(1, 1); p != 1 {
		t.Errorf("sure: %v", p)
	}
	if p := explore.Once(0.5, 0); p != 0 {
		t.Errorf("no run: %v", p)
	}
	list := []explore.Schedule{
		{Policy: explore.Random}, {Policy: explore.PCT, Depth: 1, Steps: 10}, {Policy: explore.PCT, Depth: 2, Steps: 10},
		{Policy: explore.Delay}, {Policy: explore.PCT, Depth: 2, Steps: 10},
	}
	if p := explore.Odds(list, 4, 1); !near(p, 1-0.75*0.975*0.975) {
		t.Errorf("a bug of depth 1: %v", p)
	}
	if p := explore.Odds(list, 4, 2); !near(p, explore.Once(0.025, 2)) {
		t.Errorf("a bug of depth 2: %v", p)
	}
	if p := explore.Odds(list, 4, 3); p != 0 {
		t.Errorf("a bug of depth 3: %v", p)
	}
}

// TestShrinkSampled: explicit choices, and a policy that needs no seed, show what a
// sampled schedule shows.
func TestShrinkSampled(t *testing.T) {
	start := build(t, relay, 1, 64, 4)
	trial := func() (*machine.Machine, explore.Question) {
		return start.Fork(nil, nil), explore.Question{Bad: func(m *machine.Machine) bool { return words(t, m, 1)[0] == 3 }}
	}
	shrunk := 0
	for _, s := range explore.Sample(90, 1, 16) {
		small, bad := explore.Shrink(trial, s, explore.ShrinkOptions{})
		if !bad {
			continue
		}
		shrunk++
		m := start.Fork(nil, nil)
		finish(t, m, small.Schedule)
		if small.Schedule.Seed != 0 || small.Size.Switches != 3 || words(t, m, 1)[0] != 3 {
			t.Errorf("%v became %v, which leaves %d", s, small.Schedule, words(t, m, 1)[0])
		}
	}
	if shrunk == 0 {
		t.Error("no schedule shows it")
	}
}
