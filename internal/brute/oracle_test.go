package brute_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/brute"
)

var (
	oracleN     = flag.Int("brute.oracle", 1200, "how many programs of each of the oracle's seeds")
	oracleSeeds = flag.Int("brute.oracleseeds", 5, "how many of its seeds, from 1 on")
)

// apart says how the schedules of a program of barriers differ, by the rules of the
// ISA or of an H200 where those are not the same; empty if they do not.
func apart(p *brute.Program) string {
	if w := brute.Disagree(p, brute.ISARules); w != "" {
		return w
	}
	if w := brute.Disagree(p, brute.CardRules); w != "" {
		return "on a card: " + w
	}
	return ""
}

// accepts reports whether one run decides by C0 to C7 and C9. If not, it says why.
func accepts(p *brute.Program) (bool, string) {
	failed, ended, err := conditions(p)
	switch {
	case err != nil:
		return false, err.Error()
	case !ended:
		return false, "the run did not end, or C9"
	}
	var list []string
	for _, f := range failed {
		if s := f.Condition.String(); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return len(list) == 0, strings.Join(list, ", ")
}

// A share counts programs: those made, those of them whose run ends, those whose
// schedules agree, those that are accepted, both of these, and those wrongly so.
type share struct{ generated, kept, independent, accepted, both, wrong int }

func (c share) String() string {
	return fmt.Sprintf("%d programs of %d made: %d independent, %d accepted, %d of them independent (%.2f%% of those), %d wrongly",
		c.kept, c.generated, c.independent, c.accepted, c.both, 100*float64(c.both)/float64(max(1, c.independent)), c.wrong)
}

// TestOracle holds conditions C0 to C7 against brute force on the programs of the
// oracle, seed by seed: none that they accept has schedules that differ, and they
// accept at least 84 in a hundred of those that have none.
func TestOracle(t *testing.T) {
	begin := time.Now()
	var mu sync.Mutex
	var total share
	why, without := map[string]int{}, map[string]int{}
	smallest := map[string]*brute.Program{}
	for seed := 1; seed <= *oracleSeeds; seed++ {
		var c share
		one := func(p *brute.Program) {
			same := brute.Disagree(p, brute.OracleRules) == ""
			accepted, reason := accepts(p)
			// Where one condition alone refuses, it is held to what would be wrong
			// without it.
			alone := !accepted && !strings.Contains(reason, ",")
			differ := ""
			if accepted || alone {
				differ = apart(p)
			}
			mu.Lock()
			defer mu.Unlock()
			c.kept++
			if same {
				c.independent++
			}
			if accepted {
				c.accepted++
			}
			switch {
			case alone && differ != "":
				without[reason]++
			case differ != "":
				c.wrong++
				if c.wrong <= 3 {
					q := shrink(p, func(q *brute.Program) bool { ok, _ := accepts(q); return ok && apart(q) != "" })
					t.Errorf("seed %d: accepted: %s\n%v%s", seed, apart(q), q, q.PTX())
				}
			case same && accepted:
				c.both++
			case same:
				why[reason]++
				keepSmallest(smallest, reason, p)
			}
		}
		o := brute.NewOracle(int64(1000 * seed))
		next := make(chan *brute.Program, 64)
		var wg sync.WaitGroup
		for range *jobs {
			wg.Go(func() {
				for p := range next {
					one(p)
				}
			})
		}
		for range few(*oracleN) {
			next <- o.Next()
		}
		close(next)
		wg.Wait()
		c.generated = o.Generated
		t.Logf("seed %d: %s", seed, c)
		total.kept += c.kept
		total.generated += c.generated
		total.independent += c.independent
		total.accepted += c.accepted
		total.both += c.both
		total.wrong += c.wrong
	}
	took := time.Since(begin)
	t.Logf("all: %s; %v, %.0f programs/s", total, took.Round(time.Second/10), float64(total.kept)/took.Seconds())
	for k, n := range why {
		t.Logf("independent, not accepted: %d %s\n%v", n, k, smallest[k])
	}
	for _, condition := range []string{"C1", "C2", "C3 (early)", "C3 (late)", "C4", "C6"} {
		t.Logf("without %s, accepted wrongly: %d", condition, without[condition])
		if without[condition] == 0 && total.kept >= 20000 {
			t.Errorf("nothing shows what %s is for", condition)
		}
	}
	if 100*total.both < 84*total.independent {
		t.Errorf("of %d independent programs C0 to C7 accept %d: want 84%%", total.independent, total.both)
	}
}
