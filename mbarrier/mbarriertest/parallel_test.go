package mbarriertest_test

import (
	"testing"

	"muster/mbarrier"
	"muster/mbarrier/mbarriertest"
)

// TestParallel: tests that run at the same time do not see each other's barriers.
func TestParallel(t *testing.T) {
	for _, name := range []string{"one", "two", "three", "four"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				r := mbarriertest.Record(t, func(*testing.T) {
					b := mbarrier.New(2, mbarrier.WithName(name))
					go b.Arrive()
					b.ArriveAndWait()
					b.ArriveAndWait()
				})
				if len(r.Barriers) != 1 || r.Barriers[0].Name != name || r.Barriers[0].Waiting != 1 {
					t.Errorf("%s has %+v", name, r.Barriers)
				}
			}
		})
	}
}
