// Package parallel runs independent calls in parallel.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Panic is a panic of a call made by Each, raised again in Each's caller.
type Panic struct {
	Value any
	Stack []byte // where it was raised originally
}

func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Each calls f for 0 to n-1, jobs at a time (0: one per processor). Workers take the next
// index in order; results are stored by index, so that nothing depends on scheduling. A
// panic of f makes Each panic with a *Panic, so that the caller's recover handles it too.
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
