package mbarriertest_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/mbarrier"
	"muster/mbarrier/mbarriertest"
)

// Three planted defects, each leaving a barrier incomplete, and the report on each. Lines are written as
// L+n, counted from the first line of the function.
func TestDeadlock(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(*testing.T)
		want string
	}{
		{"arrivals", missingArrival, `deadlock: all goroutines in bubble are blocked
full: phase 1 (parity 1): pending 1 of 2, tx 0
  phase 1 is owed 1 arrival
  1 goroutine waits for phase 1
    1 at mbarriertest_test.missingArrival.func1 (L+5)
  arrived in phase 1
    1 at mbarriertest_test.missingArrival.func1 (L+5)
  arrived in phase 0, but not in phase 1
    1 at mbarriertest_test.missingArrival.func2 (L+8)
`},
		{"bytes", missingBytes, `deadlock: all goroutines in bubble are blocked
ring.full[0]: phase 0 (parity 0): pending 0 of 1, tx 24
  phase 0 is owed 24 bytes
  1 goroutine waits for phase 0
    1 at mbarriertest_test.missingBytes (L+8)
  arrived in phase 0
    1 at mbarriertest_test.missingBytes (L+4)
  bytes announced (+) and landed (-) in phase 0
    +64 at mbarriertest_test.missingBytes (L+4)
    -40 at mbarriertest_test.missingBytes.func1 (L+6)
`},
		{"left behind", leftBehind, `deadlock: main bubble goroutine has exited but blocked goroutines remain
barrier: phase 0 (parity 0): pending 1 of 2, tx -3
  phase 0 is owed 1 arrival and the announcement of 3 landed bytes
  2 goroutines wait for phase 0
    1 at mbarriertest_test.leftBehind.func1 (L+2)
    1 at mbarriertest_test.leftBehind.func2 (L+3)
  arrived in phase 0
    1 at mbarriertest_test.leftBehind.func1 (L+2)
  bytes announced (+) and landed (-) in phase 0
    -3 at mbarriertest_test.leftBehind (L+4)
`},
		{"none", func(t *testing.T) {
			b := mbarrier.New(2)
			go b.Arrive()
			time.Sleep(time.Hour)
			b.ArriveAndWait()
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := relative(t, mbarriertest.Deadlock(t, c.f)); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
	if was := mbarrier.TraceAll(false); was {
		t.Error("barriers are still traced")
	}
}

// The second goroutine exits after its first phase.
func missingArrival(*testing.T) {
	full := mbarrier.New(2, mbarrier.WithName("full"))
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 2 {
			full.ArriveAndWait()
		}
	})
	wg.Go(func() { full.ArriveAndWait() })
	wg.Wait()
}

// 64 bytes are announced and 40 land.
func missingBytes(t *testing.T) {
	p := mbarrier.NewPipeline(2, 1, 1, mbarrier.WithName("ring"))
	r, c := p.Producer(), p.Consumer()
	stage, _ := r.Acquire(t.Context())
	r.CommitTx(64)
	go func() {
		p.CompleteTx(stage, 40)
	}()
	c.Wait(t.Context())
}

func leftBehind(*testing.T) {
	b := mbarrier.New(2)
	go func() { b.ArriveAndWait() }()
	go func() { b.WaitParity(0) }()
	b.CompleteTx(3)
}

// relative rewrites line numbers in this file relative to their functions.
func relative(t *testing.T, report string) string {
	src, err := os.ReadFile("mbarriertest_test.go")
	if err != nil {
		t.Fatal(err)
	}
	start := 0
	for i, line := range strings.Split(string(src), "\n") {
		if strings.HasPrefix(line, "func ") {
			start = i + 1
		}
		report = strings.ReplaceAll(report, "(mbarriertest_test.go:"+strconv.Itoa(i+1)+")", "(L+"+strconv.Itoa(i+1-start)+")")
	}
	return report
}

// TestNoDeadlock: a test without a deadlock passes.
func TestNoDeadlock(t *testing.T) {
	mbarriertest.Test(t, func(t *testing.T) {
		mbarrier.New(1).ArriveAndWait()
	})
	if was := mbarrier.TraceAll(false); was {
		t.Error("barriers are still traced")
	}
}
