package mbarrier_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	. "muster/mbarrier"
	"muster/mbarrier/internal/others"
)

// phaseImpls are this package's barrier and what Go has in its place.
var phaseImpls = append([]others.Barrier{{Name: "mbarrier", Make: wordBarrier}}, others.Barriers...)

func wordBarrier(n int) func(rank, k int) {
	b := New(n)
	return func(int, int) { b.ArriveAndWait() }
}

// BenchmarkPhase measures one phase: all goroutines arrive, all wait. Command mbarrier/speed compares in
// interleaved rounds.
func BenchmarkPhase(b *testing.B) {
	for _, n := range []int{2, 8, 64} {
		for _, impl := range phaseImpls {
			b.Run(fmt.Sprintf("goroutines=%d/impl=%s", n, impl.Name), func(b *testing.B) {
				b.ReportAllocs()
				through := impl.Make(n)
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
		for _, kind := range others.Rings {
			b.Run(fmt.Sprintf("depth=%d/impl=%s", depth, kind.Name), func(b *testing.B) {
				b.ReportAllocs()
				put, take := kind.Make(depth)
				go func() {
					for k := range b.N {
						put(k)
					}
				}()
				for k := range b.N {
					if got := take(); got != k {
						b.Fatal(got, k)
					}
				}
			})
		}
	}
}
