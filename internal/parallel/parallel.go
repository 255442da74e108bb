// Package parallel does several things at a time.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Panic is a panic of a call that Each made, raised again where Each was called.
type Panic struct {
	Value any
	Stack []byte // where it was raised first
}

func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Each calls f for 0 to n-1, jobs at a time (0: one a processor). Workers take the
// next in order; each result has its place, so that nothing depends on who took it.
// A panic of f ends Each with a *Panic, so that whoever recovers panics of the
// caller recovers those, too.
func Each(jobs, n int, f func(i int)) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var failed atomic.Pointer[Panic]
	worker := func() {
		defer func() {
			if v := recover(); v != nil {
				p, ok := v.(*Panic)
				if !ok {
					p = &Panic{v, debug.Stack()}
				}
				failed.CompareAndSwap(nil, p)
			}
		}()
		for i := int(next.Add(1)) - 1; i < n && failed.Load() == nil; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var group sync.WaitGroup
	for range min(jobs, n) {
		group.Go(worker)
	}
	group.Wait()
	if p := failed.Load(); p != nil {
		panic(p)
	}
}
