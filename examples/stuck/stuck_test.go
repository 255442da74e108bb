package stuck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/mbarrier/mbarriertest"
)

// tells is what the reports must say: who waits where, who owes it, known from what; circles; kinds of notes.
var tells = map[string][]string{
	"skipped-release": {
		"consumer waits for phase 2 of full[1]", "producer waits for phase 1 of empty[1]",
		"full[1] needs an arrival of producer (history)", "empty[1] needs an arrival of consumer (history)", "circle of 2, sure",
	},
	"deadlock-of-two": {
		"the test waits for phase 0 of full", "fill waits for phase 0 of empty",
		"full needs an arrival of fill (rest)", "empty needs an arrival of the test (rest)", "circle of 2, a guess",
	},
	"one-wait-too-many": {
		"ping waits for phase 3 of pong", "the test waits for phase 3 of ping",
		"ping needs an arrival of ping (history)", "pong needs an arrival of the test (history)", "circle of 2, sure",
	},
	"early-return": {
		"worker waits for phase 2 of step", "worker waits for phase 2 of step", "step needs an arrival of worker (history)", "ended",
	},
	"wrong-count": {"the test waits for phase 0 of done", "done needs an arrival of nobody (nothing)", "count"},
	"lapped-wait": {"the test waits for phase 2 of frame", "frame needs an arrival of render (history)", "ended", "lapped"},
	"leaked-slot": {
		"read waits for phase 1 of ring.empty[1]", "the test waits for phase 2 of ring.full[1]",
		"ring.empty[1] needs an arrival of hash (history)", "ring.full[1] needs an arrival of read (history)", "ended", "leak",
	},
	"missing-bytes": {"the test waits for phase 0 of ring.full[0]", "ring.full[0] needs bytes of load (history)", "ended"},
	"ring-of-five": {
		"neighbour waits for phase 1 of a", "neighbour waits for phase 1 of b", "neighbour waits for phase 1 of c", "neighbour waits for phase 1 of d", "neighbour waits for phase 1 of e",
		"a needs an arrival of neighbour (history)", "b needs an arrival of neighbour (history)", "c needs an arrival of neighbour (history)", "d needs an arrival of neighbour (history)", "e needs an arrival of neighbour (history)",
		"circle of 5, sure",
	},
}

// TestAll: each mistake ends in a deadlock, and its report says who waits for whom.
func TestAll(t *testing.T) {
	for _, m := range All {
		t.Run(m.Name, func(t *testing.T) {
			r := mbarriertest.Record(t, func(*testing.T) { m.Run() })
			if !strings.HasPrefix(r.Failure, "deadlock") {
				t.Fatalf("it ends with %q", r.Failure)
			}
			got, want := told(r), slices.Sorted(slices.Values(tells[m.Name]))
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("the report says\n%s\nwanted\n%s\nin words\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(r.Words, "\n"))
			}
		})
	}
}

func told(r *mbarriertest.Report) (all []string) {
	name := func(g int) string {
		if g < 0 {
			return "nobody"
		}
		n, _, _ := strings.Cut(r.Goroutines[g].Name, " #") // which one is which depends on the scheduler
		return n
	}
	for i, g := range r.Goroutines {
		if g.Waits != nil {
			all = append(all, fmt.Sprintf("%s waits for phase %d of %s", name(i), g.Waits.Phase, r.Barriers[g.Waits.Barrier].Name))
		}
	}
	for _, d := range r.Debts {
		what := map[string]string{"arrival": "an arrival", "bytes": "bytes"}[d.What]
		all = append(all, fmt.Sprintf("%s needs %s of %s (%s)", r.Barriers[d.Barrier].Name, what, name(d.Goroutine), d.Known))
	}
	for _, c := range r.Circles {
		sure := "a guess"
		if c.Sure {
			sure = "sure"
		}
		all = append(all, fmt.Sprintf("circle of %d, %s", len(c.Goroutines), sure))
	}
	for _, n := range r.Notes {
		all = append(all, n.Kind)
	}
	return all
}
