package brute_test

import (
	"flag"
	"math/rand/v2"
	"sync"
	"testing"

	"muster/internal/brute"
)

var commits = flag.Int("brute.commits", 400, "how many programs with commits")

// TestCommits holds proofs and searches of small programs with tcgen05.commit against brute
// force. Some proofs must rest on the order in which the commits of one thread arrive: were
// it any order, the program would go wrong.
func TestCommits(t *testing.T) {
	var mu sync.Mutex
	n, independent, accepted, right, ordered, compared, bad := 0, 0, 0, 0, 0, 0, 0
	skipped := map[string]int{}
	one := func(i uint64) {
		p := brute.Commits(rand.New(rand.NewPCG(*seed+3<<32, i)))
		r := all(p)
		if !r.Complete {
			return
		}
		ok, err := proven(p)
		v := judge(p, smallStates)
		rests := false
		if ok {
			loose := brute.ExploreLoose(p, *limit)
			rests = !loose.Independent()
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		if r.Independent() {
			independent++
		}
		if rests {
			ordered++
		}
		switch {
		case err != nil:
			t.Errorf("%v\n%v", err, p)
		case ok && r.Independent():
			right++
		}
		if ok {
			accepted++
		}
		if ok && !r.Independent() && accepted-right <= 5 {
			q := shrink(p, unsound)
			x := all(q)
			t.Errorf("proven, and brute force finds %s:\n%v%s", what(&x), q, q.PTX())
		}
		if v.skip != "" {
			skipped[v.skip]++
			return
		}
		compared++
		if v.differ == "" {
			return
		}
		if bad++; bad <= 10 {
			q := shrink(p, func(q *brute.Program) bool { w := judge(q, smallStates); return w.skip == "" && w.differ != "" })
			t.Errorf("program %d: %s%vshrunk: %s%v%s", i, v.differ, p, judge(q, smallStates).differ, q, q.PTX())
		}
	}
	next := make(chan uint64)
	var wg sync.WaitGroup
	for range *jobs {
		wg.Go(func() {
			for i := range next {
				one(i)
			}
		})
	}
	for i := range uint64(few(*commits)) {
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d programs: %d independent, %d proven, %d of them independent, %d only by the order of commits; %d searched, not compared: %v, %d differ", n, independent, accepted, right, ordered, compared, skipped, bad)
	if 50*ordered < n {
		t.Errorf("of %d programs %d are proven by the order of commits: want one in fifty", n, ordered)
	}
}
