package muster

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"muster/internal/machine"
	"muster/internal/rules"
)

// A watch ends runs that are cancelled, or that cost more than they may.
type watch struct {
	ctx    context.Context
	limits Limits
	until  time.Time
	heap   uint64 // bytes it may come to
}

// until is the key of the moment at which all that a context is for has to end.
type until struct{}

// within has all watches of a context end after a part of the time that the limits
// allow, or earlier if they do so already.
func (l *Launch) within(ctx context.Context, part time.Duration) context.Context {
	t := time.Now().Add(l.limits.Time / part)
	if u, ok := ctx.Value(until{}).(time.Time); ok && u.Before(t) {
		return ctx
	}
	return context.WithValue(ctx, until{}, t)
}

// watch allows for a copy of the buffers in each run, and for the launch's own.
func (l *Launch) watch(ctx context.Context) *watch {
	buffers := uint64(0)
	for i := range l.layout.Buffers {
		buffers += l.layout.Buffers[i].Size
	}
	ctx = l.within(ctx, 1)
	return &watch{
		ctx: ctx, limits: l.limits, until: ctx.Value(until{}).(time.Time),
		heap: uint64(l.limits.Memory) + buffers*uint64(runtime.GOMAXPROCS(0)+1),
	}
}

// stop returns the function that a run asks now and then whether to end, and
// the function that tells why it did.
func (w *watch) stop() (stop func() bool, why func() string) {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	reason := ""
	stop = func() bool {
		metrics.Read(heap)
		switch {
		case w.ctx.Err() != nil:
			reason = "cancelled"
		case time.Now().After(w.until):
			reason = fmt.Sprintf("the time limit of %v ran out (--limit-time)", w.limits.Time)
		case heap[0].Value.Uint64() > w.heap:
			reason = fmt.Sprintf("the memory limit of %d bytes ran out (--limit-memory)", w.limits.Memory)
		}
		return reason != ""
	}
	return stop, func() string { return reason }
}

// limitGap says which limit a run ran out of, if one did.
func (l *Launch) limitGap(s *machine.Stop) (rules.Gap, bool) {
	if s == nil {
		return rules.Gap{}, false
	}
	switch s.Kind {
	case machine.LimitInstrs:
		return rules.Gap{What: fmt.Sprintf("the limit of %d warp instructions ran out here (--limit-instrs)", l.limits.Instrs), PC: s.PC}, true
	case machine.LimitLocal:
		return rules.Gap{What: fmt.Sprintf("the limit of %d bytes of local memory a thread, call stack included, ran out here (--limit-local)", l.limits.Local), PC: s.PC}, true
	case machine.Unmodelled:
		return rules.Gap{What: s.Msg + " is not modelled", PC: s.PC}, true
	}
	return rules.Gap{}, false
}
