package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// often is how many phases or items pass between two looks at the clock.
const often = 16

// passPhases lets n goroutines pass phases from the given one on for about that time. Goroutine 0 decides
// which is the last. The others are in the phase of goroutine 0 or one further until it arrives, so all
// learn in time that the phase after the next is the last.
func passPhases(n int, through func(rank, k int), from int, span time.Duration) (time.Duration, int) {
	var last atomic.Int64
	last.Store(math.MaxInt64)
	var ready, done sync.WaitGroup
	ready.Add(n)
	start := make(chan struct{})
	var began time.Time
	for rank := range n {
		done.Go(func() {
			ready.Done()
			<-start
			for k := from; int64(k) <= last.Load(); k++ {
				if rank == 0 && k%often == 0 && last.Load() == math.MaxInt64 && time.Since(began) > span {
					last.Store(int64(k + 2))
				}
				through(rank, k)
			}
		})
	}
	ready.Wait()
	began = time.Now()
	close(start)
	done.Wait()
	return time.Since(began), int(last.Load()) - from + 1
}

// passItems sends items through a ring for about that time; a negative one ends them.
func passItems(put func(int), take func() int, span time.Duration) (time.Duration, int) {
	var done sync.WaitGroup
	began := time.Now()
	done.Go(func() {
		for k := 0; ; k++ {
			if k%often == 0 && time.Since(began) > span {
				put(-1)
				return
			}
			put(k)
		}
	})
	items := 1
	for take() >= 0 {
		items++
	}
	done.Wait()
	return time.Since(began), items
}

// A result is the times of an implementation, one for each round.
type result struct {
	name  string
	times []float64
}

// report writes the lines of one case: the median time of each implementation, and the ratio of the first
// to each of the others, of which the best is marked.
func report(out io.Writer, title string, results []result) {
	ours, rest := results[0], results[1:]
	best := slices.MinFunc(rest, func(a, b result) int { return cmp.Compare(median(a.times), median(b.times)) })
	fmt.Fprintf(out, "%s\n  %-14s %10.0f ns\n", title, ours.name, median(ours.times))
	for _, r := range rest {
		mid, low, high := ratio(ours.times, r.times)
		fmt.Fprintf(out, "  %-14s %10.0f ns   %s ÷ it: %.2f [%.2f, %.2f]", r.name, median(r.times), ours.name, mid, low, high)
		if r.name == best.name {
			fmt.Fprint(out, "  best")
		}
		fmt.Fprintln(out)
	}
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// ratio returns the median of the rounds' ratios and its 95 % interval. The interval lies between two of
// the sorted ratios: the number of them below the true median has a binomial distribution.
func ratio(a, b []float64) (mid, low, high float64) {
	var r []float64
	for i := range a {
		r = append(r, a[i]/b[i])
	}
	slices.Sort(r)
	n := len(r)
	p, below := math.Pow(0.5, float64(n)), 0.0
	k := 0
	for ; k < n/2 && below+p <= 0.025; k++ {
		below += p
		p *= float64(n-k) / float64(k+1)
	}
	if k > 0 {
		k--
	}
	return median(r), r[k], r[n-1-k]
}

// exchange measures how long a cache line takes from one processor to another and back, as far as the
// operating system lets two threads run at once.
func exchange() string {
	if runtime.GOMAXPROCS(0) < 2 || runtime.NumCPU() < 2 {
		return "no time: there is one processor"
	}
	const laps = 20_000
	var best time.Duration = math.MaxInt64
	for range 5 {
		var ball atomic.Int64
		var wg sync.WaitGroup
		began := time.Now()
		for side := range int64(2) {
			wg.Go(func() {
				runtime.LockOSThread()
				for k := side; k < 2*laps; k += 2 {
					for i := 0; ball.Load() != k; i++ {
						if i%100_000 == 99_999 {
							runtime.Gosched()
						}
					}
					ball.Store(k + 1)
				}
			})
		}
		wg.Wait()
		best = min(best, time.Since(began)/laps)
	}
	return best.String()
}
