package trial

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"muster/internal/progress"
)

// Limits bound what a launch may cost. Every field is set.
type Limits struct {
	Instrs int64         // warp instructions of one run
	Memory int64         // bytes that the process takes
	Local  uint32        // bytes of local memory of one thread
	Time   time.Duration // of all that is done with one context
}

// A Budget ends runs that are cancelled, or that cost more than they may.
type Budget struct {
	Context context.Context
	// Meter tells the progress of what is done; nil tells nothing.
	Meter  *progress.Meter
	limits Limits
	until  deadline
	given  func() bool // a test's own limit
	enough int64       // see Enough; 0: no limit
}

// until is the context key of the deadline of all work with the context.
type until struct{}

// A deadline is when work ends, and the limit that says so.
type deadline struct {
	at    time.Time
	limit time.Duration
}

// trip is the context key of a function that stands in for the clock in tests.
type trip struct{}

// Tripping returns a context in which the time limit runs out as soon as given says so,
// which is asked wherever the clock is: for tests that cut a run at any place.
func Tripping(ctx context.Context, given func() bool) context.Context {
	return context.WithValue(ctx, trip{}, given)
}

// WithTime returns a context for which a time limit begins now: all work with it, one
// thing after the other, ends when that time is over, as if Limits.Time had run out.
// An earlier limit of ctx stays in force.
func WithTime(ctx context.Context, limit time.Duration) context.Context {
	return withDeadline(ctx, deadline{time.Now().Add(limit), limit})
}

func withDeadline(ctx context.Context, d deadline) context.Context {
	if u, ok := ctx.Value(until{}).(deadline); ok && u.at.Before(d.at) {
		return ctx
	}
	return context.WithValue(ctx, until{}, d)
}

// Within makes all budgets of a context end after the time limit divided by part, or
// earlier if they do so already.
func (s *Subject) Within(ctx context.Context, part time.Duration) context.Context {
	return withDeadline(ctx, deadline{time.Now().Add(s.Limits.Time / part), s.Limits.Time})
}

// Budget returns the budget of what is done with a context.
func (s *Subject) Budget(ctx context.Context) *Budget { return NewBudget(ctx, s.Limits) }

// NewBudget returns the budget of what is done with a context within limits.
func NewBudget(ctx context.Context, limits Limits) *Budget {
	ctx = WithTime(ctx, limits.Time)
	w := &Budget{Context: ctx, Meter: progress.Of(ctx), limits: limits, until: ctx.Value(until{}).(deadline)}
	w.Meter.Until(w.until.at, w.until.limit)
	w.given, _ = ctx.Value(trip{}).(func() bool)
	return w
}

// Over says why runs have to end now; it is empty while they may go on.
func (b *Budget) Over() string {
	yield()
	switch {
	case b.Context.Err() != nil:
		return fmt.Sprintf(interrupted+"%v)", context.Cause(b.Context))
	case time.Now().After(b.until.at), b.given != nil && b.given():
		return fmt.Sprintf("the time limit of %v ran out (Limits.Time)", b.until.limit)
	case tooLarge(uint64(b.limits.Memory)):
		return fmt.Sprintf("the memory limit of %d bytes ran out (Limits.Memory)", b.limits.Memory)
	}
	return ""
}

// LimitIn returns the option whose limit a text says ran out, as Over and LimitGap word it;
// empty if there is none.
func LimitIn(text string) string {
	for _, name := range []string{"Limits.Time", "Limits.Memory", "Limits.Instrs", "Limits.Local"} {
		if strings.Contains(text, "("+name+")") {
			return name
		}
	}
	return ""
}

// Interrupted reports whether a text says that work was cancelled, as Over words it.
func Interrupted(text string) bool { return strings.Contains(text, interrupted) }

const interrupted = "interrupted ("

// Enough returns a budget of which a run that a judge watches spends no more than some warp
// instructions once the judge knows an error.
func (b *Budget) Enough(instrs int64) *Budget {
	c := *b
	c.enough = instrs
	return &c
}

// Quietly returns a budget of work that tells nothing of its progress: pieces that go on side
// by side, which their whole counts.
func (b *Budget) Quietly() *Budget {
	c := *b
	c.Context, c.Meter = progress.Hidden(b.Context), nil
	return &c
}

// Stop returns the function that one run asks now and then whether to end, and the
// function that tells why it did. Once stop reports true it always does.
func (b *Budget) Stop() (stop func() bool, why func() string) {
	reason := ""
	stop = func() bool {
		if reason == "" {
			reason = b.Over()
		}
		return reason != ""
	}
	return stop, func() string { return reason }
}

// collecting lets only one run at a time collect garbage in tooLarge.
var collecting sync.Mutex

// tooLarge reports whether the process needs more memory than limit. What it holds
// includes garbage, which is collected if it alone may exceed the limit.
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
	// If little is garbage, the process would soon do nothing but collect it.
	if live > limit/10*9 {
		return true
	}
	debug.FreeOSMemory()
	held, _ = memory()
	return held > limit
}

// memory returns how many bytes of the operating system's the process holds, and how
// many of them were in use at the last collection.
func memory() (held, live uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64(), s[2].Value.Uint64()
}
