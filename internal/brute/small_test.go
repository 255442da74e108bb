package brute_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"muster/internal/brute"
)

var naiveN = flag.Int("brute.naive", 60, "how many programs the machine runs in every interleaving")

// compare says how the machine and brute force differ on a program; skip is true if
// the program can fault, where the machine and the ISA differ.
func compare(p *brute.Program, limit int) (want *outcome, differ string, skip bool) {
	want, _ = byBrute(p, limit)
	if !want.complete || want.faults {
		return want, "", true
	}
	x, err := newSubject(p)
	if err != nil {
		return want, err.Error(), false
	}
	got, err := byMachine(x, 4*want.states+1000)
	if err != nil {
		return want, err.Error(), false
	}
	if !got.complete {
		return want, fmt.Sprintf("brute force has %d states, the machine more than %d", want.states, got.states), false
	}
	return want, want.differ(got, "brute force", "the machine"), false
}

// TestInterleavings takes the machine through every interleaving of small programs.
func TestInterleavings(t *testing.T) {
	begin := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	n, skipped, states, independent, stuck, racing, bad := 0, 0, 0, 0, 0, 0, 0
	next := make(chan uint64)
	for range *jobs {
		wg.Go(func() {
			for i := range next {
				p := brute.Small(rand.New(rand.NewPCG(*seed+2<<32, i)))
				want, diff, skip := compare(p, smallStates)
				mu.Lock()
				if skip {
					skipped++
					mu.Unlock()
					continue
				}
				n++
				states += want.states
				if len(want.stuck) > 0 {
					stuck++
				}
				if len(want.races) > 0 {
					racing++
				}
				if len(want.finals) == 1 && len(want.stuck) == 0 && len(want.races) == 0 {
					independent++
				}
				if diff != "" {
					bad++
				}
				report := diff != "" && bad <= 5
				mu.Unlock()
				if report {
					q := shrink(p, func(q *brute.Program) bool { _, d, skip := compare(q, smallStates); return !skip && d != "" })
					_, d, _ := compare(q, smallStates)
					t.Errorf("%s%v%s", d, q, q.PTX())
				}
			}
		})
	}
	for i := range uint64(*naiveN) {
		next <- i
	}
	close(next)
	wg.Wait()
	took := time.Since(begin)
	t.Logf("%d programs, %d can be stuck, %d can race, %d independent, %d others can fault; %d states each; %v, %.0f programs/s; %d differ",
		n, stuck, racing, independent, skipped, states/max(1, n), took.Round(time.Second/10), float64(n)/took.Seconds(), bad)
}
