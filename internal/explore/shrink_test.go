package explore_test

import (
	"testing"

	"pgregory.net/rapid"

	"muster/internal/explore"
	"muster/internal/machine"
)

// between: warp 0 writes 1 and then 2; warp 1 sees the 1 only if it reads
// between the two, which takes two switches: from warp 0 and back to it. The
// other warps count.
const between = `
	shr.u32 %r2, %r1, 5;
	and.b32 %r3, %r1, 31;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra DONE;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra FIRST;
	setp.eq.u32 %p1, %r2, 1;
	@%p1 bra SECOND;
	atom.global.add.u32 %r4, [%rd1+12], 1;
	atom.global.add.u32 %r4, [%rd1+12], 1;
	bra DONE;
FIRST:
	st.volatile.global.u32 [%rd1], 1;
	st.volatile.global.u32 [%rd1], 2;
	st.volatile.global.u32 [%rd1+8], 5;
	bra DONE;
SECOND:
	ld.volatile.global.u32 %r4, [%rd1];
	st.volatile.global.u32 [%rd1+16], %r4;
DONE:
`

// trial asks whether the word at index at holds want at the end.
func trial(t testing.TB, body string, block uint32, at int, want uint32) explore.Trial {
	first := build(t, body, 1, block, 8)
	return func() (*machine.Machine, explore.Question) {
		return first.Fork(nil, nil), explore.Question{Bad: func(m *machine.Machine) bool { return m.Done() && words(t, m, 8)[at] == want }}
	}
}

// showing returns a random schedule that shows it.
func showing(t testing.TB, start explore.Trial, seed uint64) explore.Schedule {
	for ; ; seed++ {
		m, q := start()
		s := explore.Schedule{Policy: explore.Random, Seed: seed}
		finish(t, m, s)
		if q.Bad(m) {
			return s
		}
	}
}

// TestShrinkToTheSame: from any random schedule that shows it, shrinking ends at two
// switches among two warps and the start, and at the same size.
func TestShrinkToTheSame(t *testing.T) {
	for _, c := range []struct {
		block    uint32
		switches int
	}{{64, 3}, {128, 5}} { // one for the start of the CTA, one more for each further warp
		start := trial(t, between, c.block, 4, 1)
		var first explore.Shrunk
		for seed := uint64(1); seed < 40; seed += 3 {
			s := showing(t, start, seed*100)
			got, ok := explore.Shrink(start, s, explore.ShrinkOptions{})
			if !ok || !got.Local {
				t.Fatalf("%v: not shrunk: %+v", s, got)
			}
			if got.Size.Switches != c.switches {
				t.Errorf("%d threads, %v: %d switches, want %d: %v", c.block, s, got.Size.Switches, c.switches, got.Schedule)
			}
			if first.Size.Text == "" {
				first = got
				t.Logf("%v: %d switches, %d steps: %v after %d runs", s, got.From.Switches, got.From.Steps, got.Schedule, got.Runs)
			}
			if got.Size != first.Size {
				t.Errorf("%v: %+v, from another schedule %+v", s, got.Size, first.Size)
			}
		}
	}
}

// TestShrinkProperties: if a schedule shows a finding, the shrunk schedule, parsed from
// its text, shows it too, is no larger, and shrinks to itself.
func TestShrinkProperties(t *testing.T) {
	kernels := map[string]explore.Trial{
		"between": trial(t, between, 96, 4, 1),
		"stale":   trial(t, stale, 32, 4, 77),
		"landed":  trial(t, stale, 32, 4, 1),
		"tickets": trial(t, tickets, 128, 2, 3),
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"between", "stale", "landed", "tickets"}).Draw(t, "kernel")
		start := kernels[name]
		s := explore.Schedule{Policy: explore.Policy(rapid.IntRange(0, 3).Draw(t, "policy"))}
		if s.Policy == explore.Random {
			s.Seed = rapid.Uint64Range(0, 500).Draw(t, "seed")
		}
		got, ok := explore.Shrink(start, s, explore.ShrinkOptions{})
		if m, q := start(); true {
			if explore.Run(m, s, nil); q.Bad(m) != ok {
				t.Fatalf("%v shows it: %v; shrink says %v", s, q.Bad(m), ok)
			}
		}
		if !ok {
			return
		}
		again, err := explore.Parse(got.Size.Text)
		if err != nil {
			t.Fatal(err)
		}
		m, q := start()
		run, _ := explore.Record(m, again, nil)
		if !q.Bad(m) || len(run) != got.Size.Steps || explore.Switches(run) != got.Size.Switches {
			t.Fatalf("%s: %v does not show it, or not in %+v", name, again, got.Size)
		}
		if got.Size.Compare(got.From) > 0 {
			t.Fatalf("%s: grew from %+v to %+v", name, got.From, got.Size)
		}
		twice, ok := explore.Shrink(start, again, explore.ShrinkOptions{})
		if !ok || twice.Size != got.Size {
			t.Fatalf("%s: shrinks again, from %+v to %+v", name, got.Size, twice.Size)
		}
	})
}

// TestShrinkShown: where a run shows it before its end, only the steps up to there
// count, and the schedule ends there.
func TestShrinkShown(t *testing.T) {
	first := build(t, between, 1, 128, 8)
	whole := trial(t, between, 128, 4, 1)
	start := func() (*machine.Machine, explore.Question) {
		m := first.Fork(nil, nil)
		return m, explore.Question{
			Bad:   func(m *machine.Machine) bool { return words(t, m, 8)[4] == 1 },
			Shown: func() bool { return words(t, m, 8)[4] == 1 },
		}
	}
	for seed := range uint64(5) {
		s := showing(t, whole, 50*seed)
		got, ok := explore.Shrink(start, s, explore.ShrinkOptions{})
		// The start, one store of warp 0, and two steps of warp 1.
		if !ok || !got.Local || got.Size.Steps != 4 || got.Size.Switches != 2 {
			t.Errorf("%v: %+v", s, got)
		}
		m, q := whole()
		if finish(t, m, got.Schedule); !q.Bad(m) {
			t.Errorf("%v does not show it in a whole run", got.Schedule)
		}
	}
}

// TestShrinkShownTooSoon: what a run shows after one step but not as a whole is no
// finding; then whole runs count.
func TestShrinkShownTooSoon(t *testing.T) {
	first := build(t, between, 1, 64, 8)
	whole := trial(t, between, 64, 4, 1)
	start := func() (*machine.Machine, explore.Question) {
		m := first.Fork(nil, nil)
		over := false
		return m, explore.Question{
			Bad: func(m *machine.Machine) bool {
				w := words(t, m, 8)
				return w[4] == 1 && w[2] == 5 || over && !m.Done()
			},
			Shown: func() bool { over = over || words(t, m, 8)[0] == 2; return over },
		}
	}
	s := showing(t, whole, 9)
	got, ok := explore.Shrink(start, s, explore.ShrinkOptions{})
	m, q := whole()
	if finish(t, m, got.Schedule); !ok || !q.Bad(m) {
		t.Errorf("%v to %+v, which does not show it", s, got)
	}
}

// TestShrinkBounds: with few runs allowed it returns the best so far, which still
// shows it.
func TestShrinkBounds(t *testing.T) {
	start := trial(t, between, 128, 4, 1)
	s := showing(t, start, 7)
	for runs := 1; runs < 30; runs += 4 {
		got, ok := explore.Shrink(start, s, explore.ShrinkOptions{Runs: runs})
		m, q := start()
		finish(t, m, got.Schedule)
		if !ok || got.Runs > runs || got.Local || !q.Bad(m) {
			t.Fatalf("%d runs: %+v", runs, got)
		}
	}
}

// TestRecord: a recording makes the same run again, choice by choice, under every
// policy.
func TestRecord(t *testing.T) {
	for name, body := range map[string]string{"between": between, "stale": stale, "tickets": tickets} {
		for _, s := range explore.Handful(3) {
			a, b, c := build(t, body, 2, 128, 16), build(t, body, 2, 128, 16), build(t, body, 2, 128, 16)
			run, ok := explore.Record(a, s, nil)
			finish(t, c, s)
			if !ok || a.Hash() != c.Hash() {
				t.Fatalf("%s, %v: a recorded run differs from one that is not", name, s)
			}
			for i, choice := range run {
				if !b.Offers(choice) {
					t.Fatalf("%s, %v: choice %d, %v, is not offered", name, s, i, choice)
				}
				b.Step(choice)
			}
			if !b.Done() || b.Hash() != a.Hash() {
				t.Errorf("%s, %v: the recorded choices make another run", name, s)
			}
		}
	}
}

// fewest tries every schedule, and returns the fewest switches, then steps, of those
// that show it.
func fewest(start explore.Trial) (switches, steps int) {
	switches, steps = 1<<30, 1<<30
	var walk func(m *machine.Machine, q explore.Question, last machine.Choice, n, sw int)
	walk = func(m *machine.Machine, q explore.Question, last machine.Choice, n, sw int) {
		if sw > switches || sw == switches && n >= steps {
			return
		}
		all := m.Enabled(nil)
		if len(all) == 0 {
			if m.Conclude(); q.Bad(m) {
				switches, steps = sw, n
			}
			return
		}
		// The agent that ran last goes first: it costs no switch.
		for _, same := range []bool{true, false} {
			for _, c := range all {
				if explore.SameAgent(c, last) != same {
					continue
				}
				next := m.Clone()
				next.Step(c)
				more := sw
				if !same && n > 0 {
					more++
				}
				walk(next, q, c, n+1, more)
			}
		}
	}
	m, q := start()
	walk(m, q, machine.Choice{}, 0, 0)
	return switches, steps
}

// TestShrinkIsLeast compares what Shrink finds, from random schedules, with the least
// of all schedules. Its moves are local: a start from which they end elsewhere would
// be worth a look, not a broken promise; there is none among these.
func TestShrinkIsLeast(t *testing.T) {
	// passed: warp 1 stores what warp 0 last let it see, in two rounds.
	const passed = `
	and.b32 %r3, %r1, 31;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra DONE;
	shr.u32 %r2, %r1, 5;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra FIRST;
	ld.volatile.global.u32 %r4, [%rd1];
	ld.volatile.global.u32 %r5, [%rd1];
	mad.lo.u32 %r4, %r4, 10, %r5;
	st.volatile.global.u32 [%rd1+16], %r4;
	bra DONE;
FIRST:
	st.volatile.global.u32 [%rd1], 1;
	st.volatile.global.u32 [%rd1], 2;
	st.volatile.global.u32 [%rd1], 3;
DONE:
`
	for _, c := range []struct {
		name  string
		trial explore.Trial
	}{
		{"between", trial(t, between, 64, 4, 1)},
		{"between, the end", trial(t, between, 64, 4, 2)},
		{"passed 1 and 2", trial(t, passed, 64, 4, 12)},
		{"passed 1 and 3", trial(t, passed, 64, 4, 13)},
		{"passed 2 and 2", trial(t, passed, 64, 4, 22)},
		{"passed 0 and 1", trial(t, passed, 64, 4, 1)},
		{"stale", trial(t, stale, 32, 4, 77)},
		{"landed", trial(t, stale, 32, 4, 1)},
	} {
		switches, steps := fewest(c.trial)
		for seed := range uint64(8) {
			got, ok := explore.Shrink(c.trial, showing(t, c.trial, seed*1000), explore.ShrinkOptions{})
			if !ok || got.Size.Switches != switches || got.Size.Steps != steps {
				t.Errorf("%s, from seed %d: %+v; of all schedules the least has %d switches and %d steps", c.name, seed*1000, got.Size, switches, steps)
			}
		}
	}
}
