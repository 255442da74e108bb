// Package garbage says how much garbage may gather before it is collected.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Runs make much garbage and keep little, so that at the runtime's own 100 percent collecting it
// takes up to half of the time of tests that check many launches. Garbage may be four times what lives, but where that is
// much, no more than spare bytes or as much again.
const (
	most  = 400 // percent of what lives
	spare = 256 << 20
)

// Gather lets garbage gather in this process from now on, unless the environment has GOGC.
func Gather() {
	if os.Getenv("GOGC") == "" {
		once.Do(gather)
	}
}

var once sync.Once

func gather() {
	debug.SetGCPercent(most)
	runtime.SetFinalizer(&allowance{percent: most}, (*allowance).collected)
}

// An allowance is how much garbage may gather. Nothing refers to it, so that its finalizer runs
// after each collection, when what lives is known.
type allowance struct {
	percent int
	sample  [1]metrics.Sample
}

func (a *allowance) collected() {
	a.sample[0].Name = "/gc/heap/live:bytes"
	metrics.Read(a.sample[:])
	if p := percent(a.sample[0].Value.Uint64()); p != a.percent {
		a.percent = p
		debug.SetGCPercent(p)
	}
	runtime.SetFinalizer(a, (*allowance).collected)
}

func percent(live uint64) int {
	return int(min(most, max(1, spare/max(live, 1))*100))
}
