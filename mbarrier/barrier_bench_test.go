package mbarrier_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	. "muster/mbarrier"
)

// The alternatives to this package in Go. Each returns the function with which goroutine rank of n
// passes its k-th phase.

func condBarrier(n int) func(rank, k int) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	arrived, phase := 0, 0
	return func(int, int) {
		mu.Lock()
		defer mu.Unlock()
		if arrived++; arrived == n {
			arrived = 0
			phase++
			cond.Broadcast()
			return
		}
		for p := phase; p == phase; {
			cond.Wait()
		}
	}
}

// closeBarrier closes one channel per phase.
func closeBarrier(n int) func(rank, k int) {
	var mu sync.Mutex
	arrived, gate := 0, make(chan struct{})
	return func(int, int) {
		mu.Lock()
		mine := gate
		if arrived++; arrived == n {
			arrived = 0
			gate = make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		<-mine
	}
}

// chanBarrier collects a message from each and answers each; it allocates nothing. Successive phases
// answer on different channels, or a fast goroutine would take the answer of a slow one.
func chanBarrier(n int) func(rank, k int) {
	arrive := make(chan struct{}, n)
	release := [2]chan struct{}{make(chan struct{}, n), make(chan struct{}, n)}
	return func(rank, k int) {
		if rank != 0 {
			arrive <- struct{}{}
			<-release[k%2]
			return
		}
		for range n - 1 {
			<-arrive
		}
		for range n - 1 {
			release[k%2] <- struct{}{}
		}
	}
}

// groupBarrier has a WaitGroup for each phase, three in rotation: when phase k+1 is complete, every
// goroutine has returned from the Wait of phase k.
func groupBarrier(n int) func(rank, k int) {
	var wg [3]sync.WaitGroup
	for i := range wg {
		wg[i].Add(n)
	}
	return func(rank, k int) {
		g := &wg[k%3]
		g.Done()
		g.Wait()
		if rank == 0 && k > 0 {
			wg[(k-1)%3].Add(n)
		}
	}
}

func wordBarrier(n int) func(rank, k int) {
	b := New(n)
	return func(int, int) { b.ArriveAndWait() }
}

var phaseImpls = []struct {
	name string
	make func(n int) func(rank, k int)
}{
	{"mbarrier", wordBarrier},
	{"mutex+cond", condBarrier},
	{"chan-close", closeBarrier},
	{"chan-messages", chanBarrier},
	{"waitgroup", groupBarrier},
}

func TestBaselines(t *testing.T) {
	for _, impl := range phaseImpls {
		for _, n := range []int{2, 5} {
			through := impl.make(n)
			at := make([]int, n)
			var wg sync.WaitGroup
			for rank := range n {
				wg.Go(func() {
					for k := range 300 {
						at[rank] = k
						through(rank, 2*k)
						if at[(rank+1)%n] != k {
							t.Errorf("%s: no barrier", impl.name)
						}
						through(rank, 2*k+1)
					}
				})
			}
			wg.Wait()
		}
	}
}

// BenchmarkPhase measures one phase: all goroutines arrive, all wait.
func BenchmarkPhase(b *testing.B) {
	for _, n := range []int{2, 8, 64} {
		for _, impl := range phaseImpls {
			b.Run(fmt.Sprintf("goroutines=%d/impl=%s", n, impl.name), func(b *testing.B) {
				b.ReportAllocs()
				through := impl.make(n)
				var ready, wg sync.WaitGroup
				ready.Add(n)
				start := make(chan struct{})
				for rank := range n {
					wg.Go(func() {
						ready.Done()
						<-start
						for k := range b.N {
							through(rank, k)
						}
					})
				}
				ready.Wait()
				b.ResetTimer()
				close(start)
				wg.Wait()
			})
		}
	}
}

// BenchmarkAlone measures the operations without waiters.
func BenchmarkAlone(b *testing.B) {
	bar := New(1)
	b.Run("op=ArriveAndWait", func(b *testing.B) {
		for b.Loop() {
			bar.ArriveAndWait()
		}
	})
	b.Run("op=ExpectTx+CompleteTx", func(b *testing.B) {
		for b.Loop() {
			bar.ExpectTx(64)
			bar.CompleteTx(64)
		}
	})
	b.Run("op=TryWait", func(b *testing.B) {
		t := bar.Arrive()
		for b.Loop() {
			sinkBool = bar.TryWait(t)
		}
	})
}

// BenchmarkRing measures one item through a ring of that depth, from one goroutine to another.
func BenchmarkRing(b *testing.B) {
	ctx := context.Background()
	for _, depth := range []int{1, 4, 64} {
		b.Run(fmt.Sprintf("depth=%d/impl=pipeline", depth), func(b *testing.B) {
			b.ReportAllocs()
			p := NewPipeline(depth, 1, 1)
			slots := make([]int, depth)
			go func() {
				r := p.Producer()
				for k := range b.N {
					s, _ := r.Acquire(ctx)
					slots[s] = k
					r.Commit()
				}
				r.Quit()
			}()
			c := p.Consumer()
			for k := 0; ; k++ {
				s, err := c.Wait(ctx)
				if err != nil {
					break
				}
				if slots[s] != k {
					b.Fatal(slots[s], k)
				}
				c.Release()
			}
		})
		b.Run(fmt.Sprintf("depth=%d/impl=channel", depth), func(b *testing.B) {
			b.ReportAllocs()
			ch := make(chan int, depth)
			go func() {
				for k := range b.N {
					ch <- k
				}
				close(ch)
			}()
			k := 0
			for got := range ch {
				if got != k {
					b.Fatal(got, k)
				}
				k++
			}
		})
		b.Run(fmt.Sprintf("depth=%d/impl=two-channels", depth), func(b *testing.B) {
			b.ReportAllocs()
			// The same ring of slots filled in place, with a channel for each direction.
			free, full := make(chan int, depth), make(chan int, depth)
			slots := make([]int, depth)
			for s := range depth {
				free <- s
			}
			go func() {
				for k := range b.N {
					s := <-free
					slots[s] = k
					full <- s
				}
				close(full)
			}()
			k := 0
			for s := range full {
				if slots[s] != k {
					b.Fatal(slots[s], k)
				}
				k++
				free <- s
			}
		})
	}
}
