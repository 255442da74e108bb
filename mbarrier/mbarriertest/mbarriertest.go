// Package mbarriertest runs tests of code that waits at barriers, and reports the missing arrivals of a
// deadlock.
package mbarriertest

import (
	"strings"
	"testing"
	"testing/synctest"

	"muster/mbarrier"
)

// Test runs f in a bubble, as [synctest.Test] does, with tracing for every barrier made in it. If all
// goroutines in the bubble are blocked, or f has returned and left goroutines that wait, the test fails
// with [mbarrier.Dump]'s report on the barriers with waiters, where synctest would panic. The goroutines of
// that bubble never end.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if report := Deadlock(t, f); report != "" {
		t.Fatal(report)
	}
}

// Deadlock is Test for a test that expects the deadlock: it returns the report, or "" if f ends normally.
func Deadlock(t *testing.T, f func(*testing.T)) (report string) {
	t.Helper()
	before := map[*mbarrier.Barrier]bool{}
	for _, b := range mbarrier.Traced() {
		before[b] = true
	}
	was := mbarrier.TraceAll(true)
	defer func() {
		mbarrier.TraceAll(was)
		e := recover()
		if e == nil {
			return
		}
		err, ok := e.(error)
		if !ok || !strings.HasPrefix(err.Error(), "deadlock") {
			panic(e)
		}
		var out strings.Builder
		out.WriteString(err.Error() + "\n")
		for _, b := range mbarrier.Traced() {
			if !before[b] && b.Waiting() > 0 {
				mbarrier.Dump(&out, b)
			}
		}
		report = out.String()
	}()
	synctest.Test(t, f)
	return ""
}
