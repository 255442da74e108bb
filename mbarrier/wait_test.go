package mbarrier_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "muster/mbarrier"
)

// TestModes: in each mode, on one processor and on two, with and without participants that never wait,
// every goroutine reads after the barrier what all wrote before it, and all end.
func TestModes(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		was := runtime.GOMAXPROCS(procs)
		for m := range Modes {
			for _, n := range []int{2, 3, 9} {
				b := New(n)
				b.Fix(m)
				data := make([]int, n)
				var wg sync.WaitGroup
				for i := range n {
					wg.Go(func() {
						for k := range hammered(t) / 5 {
							data[i] = k
							b.ArriveAndWait()
							if got := data[(i+1)%n]; got != k {
								t.Errorf("mode %d, %d processors, %d goroutines, phase %d: neighbour at %d", m, procs, n, 2*k, got)
							}
							token := b.Arrive()
							if i == 0 {
								b.WaitContext(t.Context(), token)
							} else {
								b.Wait(token)
							}
						}
					})
				}
				wg.Wait()
				if got := b.Waiting(); got != 0 {
					t.Errorf("mode %d: %d waiting", m, got)
				}
			}
		}
		runtime.GOMAXPROCS(was)
	}
}

// TestOvertaken: waiters that do not arrive, of which there are more than slots, are each released by the
// end of their phase although several phases follow before they run.
func TestOvertaken(t *testing.T) {
	for m := range Modes {
		for _, n := range []int{2, 3} {
			synctest.Test(t, func(t *testing.T) {
				b := New(n)
				b.Fix(m)
				for ahead := range 6 {
					token := b.Arrive()
					var wg sync.WaitGroup
					for range 4 {
						wg.Go(func() { b.Wait(token) })
					}
					synctest.Wait()
					if got := b.Waiting(); got != 4 {
						t.Errorf("mode %d, %d expected: %d of 4 waiting", m, n, got)
					}
					b.ArriveN(n - 1)
					for range ahead {
						b.ArriveN(n)
					}
					wg.Wait()
					if got := b.Waiting(); got != 0 {
						t.Errorf("mode %d, %d expected: %d waiting after the phase", m, n, got)
					}
				}
			})
		}
	}
}

// TestModesInBubble: in each mode a waiter that waits long is durably blocked in the end, so that the
// bubble's clock advances and its deadlocks are found; a barrier from outside of the bubble is no exception.
func TestModesInBubble(t *testing.T) {
	for m := range Modes {
		for _, n := range []int{2, 3} {
			outside := New(n)
			synctest.Test(t, func(t *testing.T) {
				for _, b := range []*Barrier{outside, New(n)} {
					b.Fix(m)
					start := time.Now()
					var wg sync.WaitGroup
					for i := range n {
						wg.Go(func() {
							if i == 0 {
								time.Sleep(time.Hour)
							}
							b.ArriveAndWait()
						})
					}
					synctest.Wait()
					if got := b.Waiting(); got != n-1 {
						t.Errorf("mode %d: %d of %d waiting", m, got, n-1)
					}
					wg.Wait()
					if d := time.Since(start); d != time.Hour {
						t.Errorf("mode %d: it took %v", m, d)
					}
				}
			})
		}
	}
}

// TestModesBroken: in each mode, whoever sleeps when the completion function fails is told.
func TestModesBroken(t *testing.T) {
	for m := range Modes {
		for _, n := range []int{2, 6} {
			synctest.Test(t, func(t *testing.T) {
				b := New(n, WithCompletion(func() { panic("boom") }))
				b.Fix(m)
				told := make(chan string, n)
				for range n - 1 {
					go func() { told <- message(b.ArriveAndWait) }()
				}
				synctest.Wait()
				message(b.ArriveAndWait)
				for range n - 1 {
					if got := <-told; len(got) < 16 || got[:16] != "mbarrier: a wait" {
						t.Errorf("mode %d: %s", m, got)
					}
				}
			})
		}
	}
}

// TestContextBeside: waiters with and without a context sleep for one phase, some give up, and the others
// are all released.
func TestContextBeside(t *testing.T) {
	for m := range Modes {
		b := New(3)
		b.Fix(m)
		for range hammered(t) / 5 {
			token := b.Arrive()
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { b.Wait(token) })
			wg.Go(func() { b.WaitContext(ctx, token) })
			wg.Go(func() { b.WaitContext(t.Context(), token) })
			wg.Go(b.ArriveAndWait)
			cancel()
			b.ArriveAndWait()
			wg.Wait()
		}
		if got := b.Waiting(); got != 0 {
			t.Errorf("mode %d: %d waiting", m, got)
		}
	}
}
