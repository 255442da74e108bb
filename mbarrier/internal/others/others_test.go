package others_test

import (
	"sync"
	"testing"

	. "muster/mbarrier/internal/others"
)

// TestBarriers: each kind is a barrier, so that the comparison is between equals.
func TestBarriers(t *testing.T) {
	for _, kind := range Barriers {
		for _, n := range []int{2, 5} {
			through := kind.Make(n)
			at := make([]int, n)
			var wg sync.WaitGroup
			for rank := range n {
				wg.Go(func() {
					for k := range 300 {
						at[rank] = k
						through(rank, 2*k)
						if at[(rank+1)%n] != k {
							t.Errorf("%s: no barrier", kind.Name)
						}
						through(rank, 2*k+1)
					}
				})
			}
			wg.Wait()
		}
	}
}

// TestRings: each kind hands on every item in order.
func TestRings(t *testing.T) {
	for _, kind := range Rings {
		for _, depth := range []int{1, 4} {
			put, take := kind.Make(depth)
			var wg sync.WaitGroup
			wg.Go(func() {
				for k := range 300 {
					put(k)
				}
			})
			for k := range 300 {
				if got := take(); got != k {
					t.Errorf("%s of depth %d: item %d is %d", kind.Name, depth, k, got)
				}
			}
			wg.Wait()
		}
	}
}
