package explore_test

import (
	"fmt"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// A log is a Watcher that keeps the results of runs.
type log struct {
	t    testing.TB
	ends map[string]int
	want int
}

func (l *log) Observe(*machine.Machine, *machine.Event) {}

func (l *log) End(m *machine.Machine, path []machine.Choice) {
	end := fmt.Sprint(words(l.t, m, l.want))
	if s := m.Stopped(); s != nil {
		end = fmt.Sprint("stopped ", s.Kind)
	}
	l.ends[end]++
}

// search explores a kernel and returns what its runs leave in the buffer.
func search(t testing.TB, body string, grid, block uint32, n int) (map[string]int, explore.Coverage) {
	t.Helper()
	start := build(t, body, grid, block, n)
	l := &log{t, map[string]int{}, n}
	s := explore.NewSearch(&explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
		Watch: func() explore.Watcher { return l },
	}, explore.Limits{Schedules: 100000})
	return l.ends, s.Run(nil)
}

func TestSearch(t *testing.T) {
	const apart = `
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd2, %rd2, %rd1;
	st.global.u32 [%rd2], 7;
	ld.global.u32 %r2, [%rd2];
	st.global.u32 [%rd2+4096], %r2;
`
	for _, c := range []struct {
		name        string
		body        string
		grid, block uint32
		words       int
		ends, runs  int
	}{
		{"nothing shared", apart, 1, 128, 2048, 1, 1},
		{"tickets of two", tickets, 1, 64, 16, 2, 2},
		{"tickets of three", tickets, 1, 96, 16, 6, 6},
		{"tickets of four CTAs", tickets, 4, 32, 16, 24, 24},
	} {
		ends, cov := search(t, c.body, c.grid, c.block, c.words)
		if len(ends) != c.ends || cov.Schedules != c.runs || !cov.Complete {
			t.Errorf("%s: %d ends of %+v, want %d of %d", c.name, len(ends), cov, c.ends, c.runs)
		}
	}
}

// TestUnits: what is left of a search, split into units, finds what the search would
// have found; so does one that is saved and resumed.
func TestUnits(t *testing.T) {
	const all = 720
	start := build(t, tickets, 3, 64, 16)
	for _, solo := range []int{2, 100, 719} {
		l := &log{t, map[string]int{}, 16}
		space := &explore.Space{
			Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
			Watch: func() explore.Watcher { return l },
		}
		s := explore.NewSearch(space, explore.Limits{Schedules: solo})
		runs := s.Run(nil).Schedules
		if runs != solo {
			t.Fatalf("%d runs of %d", runs, solo)
		}
		units := s.Split(explore.Limits{})
		for _, u := range units {
			for n := 0; ; n++ {
				left := 2000 << n // steps, and then it is saved
				c := u.Run(func() bool { left--; return left < 0 })
				if c.Complete {
					runs += c.Schedules
					break
				}
				again, err := explore.Resume(space, explore.Limits{}, u.Snapshot())
				if err != nil {
					t.Fatal(err)
				}
				u = again
			}
		}
		if runs > 2*all || len(l.ends) != all {
			t.Errorf("%d alone, then %d units: %d runs, %d ends, want %d of at most twice as many", solo, len(units), runs, len(l.ends), all)
		}
	}
}
