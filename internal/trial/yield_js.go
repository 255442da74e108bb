package trial

import "time"

// apart is the time between two turns of the event loop, in which progress is told.
const apart = 200 * time.Millisecond

var yielded time.Time

// yield lets everything else have its turn now and then. In a browser the program has one
// thread that nothing preempts: timers, the line of progress and the callbacks of files run
// when a goroutine waits, and what they begin ends in the browser's event loop, which has its
// turn when all of them do.
func yield() {
	now := time.Now()
	if yielded.IsZero() {
		yielded = now
	}
	if now.Sub(yielded) >= apart {
		time.Sleep(time.Microsecond)
		yielded = time.Now()
	}
}
