package mbarriertest_test

import (
	"sync"
	"testing"

	"muster/mbarrier"
	"muster/mbarrier/mbarriertest"
)

func TestDeadlock(t *testing.T) {
	report := mbarriertest.Deadlock(t, func(t *testing.T) {
		full := mbarrier.New(2, mbarrier.WithName("full"))
		var wg sync.WaitGroup
		wg.Go(func() { full.ArriveAndWait(); full.ArriveAndWait() })
		wg.Go(func() { full.ArriveTx(1, 512) })
		wg.Go(func() { full.CompleteTx(512) })
		wg.Wait()
	})
	t.Log(report)
}
