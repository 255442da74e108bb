package brute_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"muster"
	"muster/internal/brute"
)

var proofs = flag.Int("brute.proofs", 600, "how many small programs proofs are held against")

// proven reports whether one run decides for every schedule of a program.
func proven(p *brute.Program) (bool, error) {
	l, err := load(p)
	if err != nil {
		return false, err
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1, Explore: muster.ExploreOptions{Schedules: -1}, Schedules: []muster.Schedule{}})
	if err != nil {
		return false, err
	}
	return r.Proof != nil && r.Proof.All && r.Verdict == "clean", nil
}

// TestProofs holds proofs of small programs, the ones of TestSchedules among them,
// against brute force.
func TestProofs(t *testing.T) {
	begin := time.Now()
	var mu sync.Mutex
	n, independent, accepted, right := 0, 0, 0, 0
	one := func(i uint64) {
		p := brute.Small(rand.New(rand.NewPCG(*seed+2<<32, i)))
		r := all(p)
		if !r.Complete {
			return
		}
		ok, err := proven(p)
		mu.Lock()
		defer mu.Unlock()
		n++
		if r.Independent() {
			independent++
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
		if n%*smallEvery == 0 {
			t.Logf("%d programs: %d proven, %d of them independent", n, accepted, right)
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
	for i := range uint64(few(*proofs)) {
		next <- *smallFrom + i
	}
	close(next)
	wg.Wait()
	t.Logf("%d programs, %.0f/s: %d independent, %d proven, %d of them independent (%.1f%% of those)", n, float64(n)/time.Since(begin).Seconds(),
		independent, accepted, right, 100*float64(right)/float64(max(1, independent)))
}
