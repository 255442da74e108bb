package main

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/mbarrier/internal/others"
)

func TestBadArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"more", `unexpected argument "more"`},
		{"-goroutines 2,0", `-goroutines: "0" is no number from 1 to 65536`},
		{"-depths x", `-depths: "x" is no number from 1 to 65536`},
		{"-procs -1", `-procs: "-1" is no number from 1 to 65536`},
		{"-goroutines 1", `-goroutines: 1: a barrier is measured with 2 at least`},
		{"-neighbours many", `-neighbours: "many" is none of none, goroutines, processes`},
		{"-rounds 0", "rounds and spans must be positive"},
	} {
		var out strings.Builder
		if err := run(strings.Fields(c.args), &out); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestPasses: all goroutines pass the same phases, and as many as are counted; so do a ring's items.
func TestPasses(t *testing.T) {
	for _, impl := range []func(n int) func(rank, k int){others.Barriers[0].Make, ours} {
		through := impl(3)
		var passed atomic.Int64
		next := 0
		for range 3 {
			passed.Store(0)
			_, phases := passPhases(3, func(rank, k int) { passed.Add(1); through(rank, k) }, next, time.Millisecond)
			next += phases
			if got := passed.Load(); got != int64(3*phases) {
				t.Errorf("%d passes of %d phases by 3", got, phases)
			}
		}
	}
	put, take := pipeline(2)
	sent := 0
	if _, items := passItems(func(k int) { sent++; put(k) }, take, time.Millisecond); items != sent {
		t.Errorf("%d of %d items", items, sent)
	}
}

func TestRatio(t *testing.T) {
	var a, b []float64
	for i := range 21 {
		a, b = append(a, float64(i)), append(b, 1)
	}
	// Of 21 values the 6th and the 16th lie about the median in 97.3 % of cases; the 7th and the 15th in 92 %.
	if mid, low, high := ratio(a, b); mid != 10 || low != 5 || high != 15 {
		t.Errorf("%v [%v, %v], want 10 [5, 15]", mid, low, high)
	}
	if mid, low, high := ratio([]float64{3}, []float64{2}); mid != 1.5 || low != 1.5 || high != 1.5 {
		t.Errorf("%v [%v, %v] of one round", mid, low, high)
	}
}
