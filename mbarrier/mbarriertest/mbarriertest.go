// Package mbarriertest runs tests of code that waits at barriers, and says of a deadlock who owes what.
package mbarriertest

import (
	"strings"
	"testing"
	"testing/synctest"

	"muster/mbarrier"
)

// Test runs f in a bubble, as [synctest.Test] does, with every barrier that is made meanwhile traced. Where
// everybody in the bubble has come to wait for somebody else, or f has returned and left goroutines that
// wait, the test fails with [mbarrier.Dump]'s report of the barriers that are waited for, where synctest
// would panic. The goroutines of such a bubble never end.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if report := Deadlock(t, f); report != "" {
		t.Fatal(report)
	}
}

// Deadlock is Test for a test that wants the deadlock: it returns the report, and nothing where f ends well.
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
