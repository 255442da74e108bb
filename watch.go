package muster

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"muster/internal/machine"
	"muster/internal/rules"
)

// A watch ends runs that are cancelled, or that cost more than they may.
type watch struct {
	ctx    context.Context
	limits Limits
	until  time.Time
	given  func() bool // a test's own limit
}

// until is the key of the moment at which everything that a context is for ends.
type until struct{}

// trip is the key of a function that stands in for the clock in tests.
type trip struct{}

// WithTime returns a context for which a time limit begins now: all that is done
// with it, one thing after the other, ends when that time is over, as if
// Limits.Time had run out. A moment that ctx has already counts if it is earlier.
func WithTime(ctx context.Context, limit time.Duration) context.Context {
	t := time.Now().Add(limit)
	if u, ok := ctx.Value(until{}).(time.Time); ok && u.Before(t) {
		return ctx
	}
	return context.WithValue(ctx, until{}, t)
}

// within has all watches of a context end after a part of the time that the limits
// allow, or earlier if they do so already.
func (l *Launch) within(ctx context.Context, part time.Duration) context.Context {
	return WithTime(ctx, l.limits.Time/part)
}

func (l *Launch) watch(ctx context.Context) *watch { return newWatch(ctx, l.limits) }

func newWatch(ctx context.Context, limits Limits) *watch {
	ctx = WithTime(ctx, limits.Time)
	w := &watch{ctx: ctx, limits: limits, until: ctx.Value(until{}).(time.Time)}
	w.given, _ = ctx.Value(trip{}).(func() bool)
	return w
}

// Over says why what is done with a context has to end now: it was cancelled, its
// time (WithTime) or the memory is spent. It is empty while it may go on.
func Over(ctx context.Context, limits Limits) string {
	return newWatch(ctx, limits.filled()).over()
}

// over says why runs have to end now; it is empty while they may go on.
func (w *watch) over() string {
	switch {
	case w.ctx.Err() != nil:
		return fmt.Sprintf("interrupted (%v)", context.Cause(w.ctx))
	case time.Now().After(w.until), w.given != nil && w.given():
		return fmt.Sprintf("the time limit of %v ran out (--limit-time)", w.limits.Time)
	case tooLarge(uint64(w.limits.Memory)):
		return fmt.Sprintf("the memory limit of %d bytes ran out (--limit-memory)", w.limits.Memory)
	}
	return ""
}

// stop returns the function that one run asks now and then whether to end, and
// the function that tells why it did. Once that is so it stays so.
func (w *watch) stop() (stop func() bool, why func() string) {
	reason := ""
	stop = func() bool {
		if reason == "" {
			reason = w.over()
		}
		return reason != ""
	}
	return stop, func() string { return reason }
}

// collecting lets one run at a time collect garbage to see what is needed.
var collecting sync.Mutex

// tooLarge reports whether the process needs more memory than limit. What it holds
// includes garbage; where only that exceeds the limit, it is collected.
func tooLarge(limit uint64) bool {
	if held, _ := memory(); held <= limit {
		return false
	}
	collecting.Lock()
	defer collecting.Unlock()
	held, live := memory()
	if held <= limit {
		return false // another run has collected it
	}
	// Where little is garbage, collecting it would soon be all that is done.
	if live > limit/10*9 {
		return true
	}
	debug.FreeOSMemory()
	held, _ = memory()
	return held > limit
}

// memory tells how many bytes the process holds of the operating system's, and how
// many of them were in use at the last collection.
func memory() (held, live uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64(), s[2].Value.Uint64()
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
