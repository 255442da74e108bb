package brute_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"muster/internal/brute"
	"muster/internal/explore"
)

var (
	smallN     = flag.Int("brute.small", 3000, "how many small programs a search of schedules is compared on")
	smallFrom  = flag.Uint64("brute.smallfrom", 10000000, "the number of the first")
	smallEvery = flag.Int("brute.every", 100000, "how often to say how far it is")
)

// Of every so many small programs one may be large.
const (
	smallStates = 400
	largeStates = 3000
	oneLarge    = 20
	maxRuns     = 20000
)

// A verdict is what became of a program.
type verdict struct {
	want   *outcome
	skip   string // why it is not compared
	differ string
	runs   int
	hidden int  // races that another at their place hides
	apart  bool // some races are of operations that no interleaving has next to each other
}

// judge compares all schedules by brute force with one of each kind, each judged.
func judge(p *brute.Program, states int) verdict {
	want, _ := byBrute(p, states)
	v := verdict{want: want}
	if !want.complete {
		v.skip = "too large"
		return v
	}
	if want.faults {
		v.skip = "can fault"
		return v
	}
	x, err := newSubject(p)
	if err != nil {
		v.differ = err.Error()
		return v
	}
	got, cov, err := bySearch(x, explore.Limits{Schedules: maxRuns})
	v.runs = cov.Schedules + cov.Left
	switch {
	case err != nil:
		v.differ = err.Error()
	case !got.complete && cov.Schedules+cov.Left >= maxRuns:
		v.skip = "too many schedules"
	case !got.complete:
		v.differ = cov.Why
	default:
		// A pair hidden by a hidden one is hidden too.
		seen, shown := map[[2]int]bool{}, maps.Clone(got.races)
		for again := true; again; {
			again = false
			for k := range want.races {
				if !shown[k] && hidden(p, k, shown) {
					shown[k], again = true, true
					v.hidden++
				}
			}
		}
		for k := range want.races {
			if got.races[k] || !shown[k] {
				seen[k] = true
			}
		}
		all := *want
		all.races = seen
		if more(got.races, seen) {
			// Accesses that no interleaving has adjacent may still be unordered.
			unordered, complete := brute.Unordered(p, true, 1000*states)
			for k := range got.races {
				if !seen[k] && unordered[k] {
					v.apart, seen[k] = true, true
				}
			}
			if !complete {
				v.skip = "too large"
			}
		}
		v.differ = all.differ(got, "brute force", "the search")
	}
	return v
}

func more(a, b map[[2]int]bool) bool {
	for k := range a {
		if !b[k] {
			return true
		}
	}
	return false
}

// hidden reports whether a pair of operations that race at a place need not show in
// any run, because one of them races there with another, and that shows. A judge
// remembers the last access to a place, and an operation in flight counts from its
// issue: an access that comes before both, or between them, in every run is the only
// one that the later one meets.
func hidden(p *brute.Program, k [2]int, found map[[2]int]bool) bool {
	a, b := p.Operation(k[0]), p.Operation(k[1])
	for slot := range uint8(brute.Slots) {
		if !a.Conflicts(b, slot) {
			continue
		}
		for f := range found {
			for i, with := range f {
				if (with == k[0] || with == k[1]) && p.Operation(with).Conflicts(p.Operation(f[1-i]), slot) {
					return true
				}
			}
		}
	}
	return false
}

// TestSchedules compares, over small programs, the outcome of every schedule by
// brute force with that of one schedule of each kind that a search runs: the final
// memories, the states in which threads are stuck, and the operations that race.
func TestSchedules(t *testing.T) {
	if *smallN == 0 {
		t.Skip("-brute.small 0")
	}
	begin := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	n, runs, states, most := 0, 0, 0, 0
	independent, stuck, racing, memories, withHidden, apart, bad := 0, 0, 0, 0, 0, 0, 0
	skipped := map[string]int{}
	say := func() {
		took := time.Since(begin)
		t.Logf("%d programs, %.0f/s: %d independent (%.1f%%), %d with more than one memory, %d with stuck states, %d with races (%d of them with hidden ones, %d with some in no order though never next to each other); "+
			"%.1f schedules and %d states each, at most %d schedules; not compared: %v; %d differ",
			n, float64(n)/took.Seconds(), independent, 100*float64(independent)/float64(max(1, n)), memories, stuck, racing, withHidden, apart,
			float64(runs)/float64(max(1, n)), states/max(1, n), most, skipped, bad)
	}
	one := func(i uint64) {
		limit := smallStates
		if i%oneLarge == 0 {
			limit = largeStates
		}
		p := brute.Small(rand.New(rand.NewPCG(*seed+2<<32, i)))
		v := judge(p, limit)
		mu.Lock()
		if v.skip != "" {
			skipped[v.skip]++
			mu.Unlock()
			return
		}
		n++
		runs += v.runs
		states += v.want.states
		most = max(most, v.runs)
		if len(v.want.finals) > 1 {
			memories++
		}
		if len(v.want.stuck) > 0 {
			stuck++
		}
		if len(v.want.races) > 0 {
			racing++
		}
		if v.apart {
			apart++
		}
		if v.hidden > 0 {
			withHidden++
		}
		if len(v.want.finals) == 1 && len(v.want.stuck) == 0 && len(v.want.races) == 0 {
			independent++
		}
		if v.differ != "" {
			bad++
		}
		report := v.differ != "" && bad <= 20
		if n%*smallEvery == 0 {
			say()
		}
		mu.Unlock()
		if report {
			q := shrink(p, func(q *brute.Program) bool { w := judge(q, limit); return w.skip == "" && w.differ != "" })
			t.Errorf("program %d: %s%vshrunk: %s%v", i, v.differ, p, judge(q, limit).differ, q)
		}
	}
	next := make(chan uint64)
	for range *jobs {
		wg.Go(func() {
			for i := range next {
				one(i)
			}
		})
	}
	for i := *smallFrom; ; i++ {
		mu.Lock()
		enough := n >= few(*smallN)
		mu.Unlock()
		if enough {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	say()
	if 5*independent < n || 5*(n-independent) < n {
		t.Errorf("of %d programs %d are independent of the schedule: want a fifth, and a fifth not", n, independent)
	}
	if bad > 0 {
		t.Errorf("%d differ", bad)
	}
}
