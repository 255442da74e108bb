package mbarrier_test

import (
	"sync"
	"testing"

	. "muster/mbarrier"
)

func TestBarrierPhases(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 64} {
		b := New(n)
		data := make([]int, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				for k := range 200 {
					data[i] = k
					b.ArriveAndWait()
					if got := data[(i+1)%n]; got != k {
						t.Errorf("phase %d: neighbour at %d", 2*k, got)
					}
					b.Wait(b.Arrive())
				}
			})
		}
		wg.Wait()
		if s := b.State(); s.Phase != 400 {
			t.Errorf("%d goroutines: %v", n, s)
		}
	}
}
