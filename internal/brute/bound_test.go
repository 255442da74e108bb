package brute_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"muster/internal/brute"
	"muster/internal/explore"
	"muster/internal/machine"
)

var (
	boundN      = flag.Int("brute.bound", 10, "how many small programs a bounded search is compared on")
	boundStates = flag.Int("brute.boundstates", 2000, "states of one of them")
	boundOps    = flag.Int("brute.boundops", 5, "operations of one of them")
)

// within takes the machine through every schedule of at most so many preemptions,
// state by state.
func within(x *subject, most, limit int) (*outcome, error) {
	type state struct {
		hash  uint64
		on    machine.Choice
		spent int
	}
	type at struct {
		m *machine.Machine
		state
	}
	first, err := machine.New(x.cfg)
	if err != nil {
		return nil, err
	}
	o := newOutcome()
	seen := map[state]bool{}
	var todo []at
	arrive := func(m *machine.Machine, on machine.Choice, spent int) {
		s := state{m.Hash(), on, spent}
		if !seen[s] {
			seen[s] = true
			todo = append(todo, at{m, s})
		}
	}
	arrive(first, machine.Choice{CTA: -1}, 0)
	for len(todo) > 0 {
		if len(seen) > limit {
			return o, nil
		}
		a := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ways := a.m.Ways(nil)
		if len(ways) == 0 {
			// Let the tests of splits that wait for ever fail until the run ends.
			explore.Run(a.m, explore.Schedule{Policy: explore.Latest}, nil)
			o.end(x, a.m)
			continue
		}
		could := false
		for _, c := range ways {
			could = could || c == a.on && !a.m.AtWait(c)
		}
		for _, c := range ways {
			on, spent := a.on, a.spent
			if c.Kind == machine.Run || c.Kind == machine.GiveUp {
				on = c
				on.Kind = machine.Run
				if could && on != a.on {
					spent++
				}
			}
			if spent > most {
				continue
			}
			n := a.m.Clone()
			n.Step(c)
			arrive(n, on, spent)
		}
	}
	o.complete, o.states = true, len(seen)
	return o, nil
}

// bound is a number of preemptions as explore.Limits has it.
func bound(most int) int {
	if most == 0 {
		return -1
	}
	return most
}

// TestBound compares a search of at most so many preemptions with all schedules of
// at most so many: the final memories, and the states in which threads are stuck. And
// where nothing was cut, with all schedules.
func TestBound(t *testing.T) {
	count := few(*boundN)
	n, cut, more, runs, naive, skipped := [3]int{}, [3]int{}, [3]int{}, [3]int{}, [3]int{}, 0
	for i := uint64(0); n[0] < count; i++ {
		p := brute.Small(rand.New(rand.NewPCG(*seed+3<<32, i)))
		if p.Size() > *boundOps {
			continue
		}
		x, err := newSubject(p)
		if err != nil {
			t.Fatal(err)
		}
		before := newOutcome()
		for most := range 3 {
			want, err := within(x, most, *boundStates)
			if err != nil {
				t.Fatal(err)
			}
			if !want.complete || want.faults {
				skipped++
				break
			}
			got, cov, err := bySearch(x, explore.Limits{Schedules: maxRuns, Preemptions: bound(most)})
			if err != nil {
				t.Fatal(err)
			}
			if cov.Why != "" {
				t.Logf("program %d, %d preemptions: %s", i, most, cov.Why)
				skipped++
				break
			}
			got.races = nil
			if d := want.differ(got, "all schedules", "the search"); d != "" {
				t.Errorf("program %d, %d preemptions: %s%v", i, most, d, p)
			}
			n[most]++
			runs[most] += cov.Schedules
			naive[most] += want.states
			if cov.Cut {
				cut[most]++
			}
			if len(want.finals)+len(want.stuck) > len(before.finals)+len(before.stuck) {
				more[most]++
			}
			before = want
			if !cov.Cut {
				all, err := byMachine(x, 20000)
				if err != nil {
					t.Fatal(err)
				}
				all.races = nil
				if d := all.differ(got, "every schedule", "the search"); all.complete && d != "" {
					t.Errorf("program %d, %d preemptions are all that there can be: %s%v", i, most, d, p)
				}
			}
		}
	}
	t.Logf("with 0, 1, 2 preemptions: %d programs, %d with more ahead, %d with more outcomes than with one fewer; %d runs for %d states; %d not compared", n, cut, more, runs, naive, skipped)
	if cut[0] == 0 || n[2] == 0 {
		t.Error("the bound left nothing out, or never reached 2")
	}
}
