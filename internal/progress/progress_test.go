package progress_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/internal/progress"
)

// A clock is one that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func told() (context.Context, *clock, *[]string) {
	c := &clock{time.Unix(1000, 0)}
	var list []string
	return progress.With(context.Background(), func(p progress.Progress) { list = append(list, p.String()) }, c.now), c, &list
}

// TestParts: a stage tells what it is at its beginning, then now and then which part it is
// at, and how long the others take as soon as some have shown that.
func TestParts(t *testing.T) {
	ctx, c, list := told()
	m := progress.Of(ctx)
	m.Stage("running schedules", "schedule", 5)
	m.Did(1) // too soon to be told
	for range 3 {
		c.at = c.at.Add(12 * time.Second)
		m.Did(1)
	}
	m.StageAtMost("directed runs", "run", 64)
	want := []string{
		"running schedules: schedule 1 of 5",
		"running schedules, about 18s left: schedule 3 of 5",
		"running schedules, about 16s left: schedule 4 of 5",
		"running schedules, about 9s left: schedule 5 of 5",
		"directed runs: run 1 of at most 64",
	}
	if !slices.Equal(*list, want) {
		t.Errorf("%q, want %q", *list, want)
	}
}

// TestExploration: the limit that is reached first bounds how long it still takes.
func TestExploration(t *testing.T) {
	ctx, c, list := told()
	m := progress.Of(ctx)
	m.Stage("exploring", "", 0)
	c.at = c.at.Add(time.Minute)
	m.Set(func(p *progress.Progress) {
		p.Schedules, p.MaxSchedules, p.Steps, p.MaxSteps, p.Units, p.UnitsDone, p.Findings = 100, 1000, 500_000, 1_000_000, 8, 3, 1
	})
	if want := "exploring, about 1m left: 100 of at most 1,000 schedules, 500,000 of at most 1,000,000 steps, 3 of 8 parts done, 1 finding"; (*list)[1] != want {
		t.Errorf("%q, want %q", (*list)[1], want)
	}
}

// TestTime: no more is left than the time limit leaves, and the latest end of several holds.
func TestTime(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	var last progress.Progress
	m := progress.Of(progress.With(context.Background(), func(p progress.Progress) { last = p }, c.now))
	m.Until(c.at.Add(time.Minute), time.Minute)
	m.Until(c.at.Add(30*time.Second), time.Minute) // of a piece
	m.Stage("s", "part", 10)
	c.at = c.at.Add(40 * time.Second)
	m.Did(2)
	if last.Time != 40*time.Second || last.MaxTime != time.Minute || last.Left != 20*time.Second || !last.LeftAtMost {
		t.Errorf("%+v", last)
	}
}

// TestPieces: pieces tell of what they are pieces; hidden ones tell nothing; the whole goes
// on with its own stage behind them.
func TestPieces(t *testing.T) {
	ctx, c, list := told()
	m := progress.Of(ctx)
	m.Stage("mutants", "mutant", 2)
	progress.Of(progress.In(progress.In(ctx, "launch 1 of 2"), "with the highest lanes")).Stage("a run", "", 0)
	progress.Of(progress.Hidden(ctx)).Stage("hidden", "", 0)
	c.at = c.at.Add(time.Second)
	m.Did(1)
	want := []string{"mutants: mutant 1 of 2", "launch 1 of 2: with the highest lanes: a run", "mutants: mutant 2 of 2"}
	if !slices.Equal(*list, want) {
		t.Errorf("%q, want %q", *list, want)
	}
}

// TestNone: without a Meter nothing happens.
func TestNone(t *testing.T) {
	ctx := progress.In(progress.Hidden(context.Background()), "x")
	m := progress.Of(ctx)
	m.Stage("s", "", 1)
	m.Did(1)
	m.Ran(1, 2)
	m.Until(time.Time{}, 0)
	if m != nil || m.Due() {
		t.Error("there is a meter")
	}
}

// TestTogether: jobs that tell side by side tell one at a time.
func TestTogether(t *testing.T) {
	n := 0
	tick := int64(0)
	m := progress.Of(progress.With(context.Background(), func(progress.Progress) { n++ }, func() time.Time { tick++; return time.Unix(tick, 0) }))
	m.Stage("s", "part", 400)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				m.Did(1)
			}
		})
	}
	group.Wait()
	if n != 401 {
		t.Errorf("told %d times", n)
	}
}

// TestShort: durations are no longer than a reader wants them.
func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 50 * time.Millisecond: "100ms", 1400 * time.Millisecond: "1s", time.Minute: "1m", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", time.Hour: "1h", 100 * time.Minute: "1h40m", 10*time.Hour + 20*time.Second: "10h",
	} {
		if got := progress.Short(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
