package mbarrier

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"muster/mbarrier/internal/history"
)

// A trace is the record of a traced barrier for [Dump].
type trace struct {
	// Under the latch.
	phase           uint64
	arrived, before map[caller]int // arrivals of this phase and of the one before it
	bytes           map[caller]int // expected minus landed, in this phase

	asleep []*sleeper // under the crowd's Mutex

	log *history.Log // of the bubble, if package mbarriertest watches it
	id  int          // in the log
}

// A site is the call stack of a call into the package: the innermost return addresses.
type site history.Site

// A caller is a goroutine at a site. The goroutine's number distinguishes callers and is not shown.
type caller struct {
	at        site
	goroutine string
}

type sleeper struct {
	at    site
	phase uint64 // that it waits for
	step  int    // of the log, in which it began to wait
}

var (
	tracing  atomic.Bool
	registry struct {
		sync.Mutex
		live []weak.Pointer[Barrier]
	}
)

// WithTrace makes the barrier record, for [Dump], the callers of this phase and the last. It costs
// microseconds and allocations per operation.
func WithTrace() Option {
	return func(b *Barrier) {
		if b.trace == nil {
			b.trace = new(trace)
		}
	}
}

// TraceAll turns tracing on or off for all barriers made from now on, as with [WithTrace], and returns the
// previous setting. It is for tests.
func TraceAll(on bool) (was bool) { return tracing.Swap(on) }

func register(b *Barrier, expected int) {
	registry.Lock()
	defer registry.Unlock()
	if len(registry.live) == cap(registry.live) {
		registry.live = slices.DeleteFunc(registry.live, func(p weak.Pointer[Barrier]) bool { return p.Value() == nil })
	}
	registry.live = append(registry.live, weak.Make(b))
	if b.trace.log = history.Mine(); b.trace.log != nil {
		b.trace.id = b.trace.log.Make(b.label(), weak.Make(b), history.State{Pending: expected, Expected: expected}, history.Site(here()))
	}
}

// Traced returns the traced barriers that are still in use, the oldest first.
func Traced() []*Barrier {
	registry.Lock()
	defer registry.Unlock()
	var all []*Barrier
	for _, p := range registry.live {
		if b := p.Value(); b != nil {
			all = append(all, b)
		}
	}
	return all
}

func here() (s site) {
	runtime.Callers(3, s[:])
	return s
}

func goroutine() string {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)] // goroutine 18 [running]:
	_, rest, _ := strings.Cut(string(head), " ")
	id, _, _ := strings.Cut(rest, " ")
	return id
}

// note records an operation in phase p, after which the word is next. The caller holds the latch.
func (t *trace) note(p uint64, c change, next Word, completed bool) {
	if t.arrived == nil || p != t.phase {
		if t.before = nil; p == t.phase+1 {
			t.before = t.arrived
		}
		t.phase, t.arrived, t.bytes = p, map[caller]int{}, map[caller]int{}
	}
	at := caller{here(), goroutine()}
	if c.count != 0 {
		t.arrived[at] += int(c.count)
	}
	if c.delta != 0 {
		t.bytes[at] -= int(c.delta)
	}
	if t.log != nil {
		t.log.Add(history.Event{Kind: history.Changed, Barrier: t.id, Phase: int64(p), Count: int(c.count), Drop: int(c.drop), Bytes: -int(c.delta), Completed: completed, After: after(p, next, completed), By: at.goroutine}, history.Site(at.at))
	}
}

func newSleeper(p uint64) *sleeper { return &sleeper{at: here(), phase: p} }

func (t *trace) enter(s *sleeper) {
	t.asleep = append(t.asleep, s)
	if t.log != nil && s.step == 0 {
		s.step = t.log.Add(history.Event{Kind: history.Waits, Barrier: t.id, Phase: int64(s.phase)}, history.Site(s.at))
	}
}

func (t *trace) exit(s *sleeper) {
	if t != nil {
		t.asleep = slices.DeleteFunc(t.asleep, func(o *sleeper) bool { return o == s })
	}
}

// Waiting returns how many goroutines are parked until the current phase completes.
func (b *Barrier) Waiting() int {
	b.crowd.Mutex.Lock()
	defer b.crowd.Mutex.Unlock()
	return b.asleep()
}

// Dump writes a report on the barriers, or without arguments on all traced ones: each one's ledger, what
// the current phase still waits for, and the number of goroutines that wait for it. For a traced barrier
// ([WithTrace], [TraceAll]) it also shows where those goroutines are, the callers that arrived, expected or
// landed bytes in this phase, and those that arrived only in the phase before: in a deadlock, the missing
// arrivals.
//
// Waiting goroutines are counted once they are parked. Dump may be called at any time, also while the
// barriers are in use.
func Dump(w io.Writer, barriers ...*Barrier) error {
	if len(barriers) == 0 {
		barriers = Traced()
	}
	var out strings.Builder
	for _, b := range barriers {
		b.check("Dump")
		b.dump(&out)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (b *Barrier) dump(out *strings.Builder) {
	asleep := map[site]int{}
	b.crowd.Mutex.Lock()
	n := b.asleep()
	if b.trace != nil {
		for _, s := range b.trace.asleep {
			asleep[s.at]++
		}
	}
	b.crowd.Mutex.Unlock()

	s, t, ok := b.audit()
	fmt.Fprintf(out, "%s: %v\n", b.label(), s)
	switch {
	case b.broken.Load():
		fmt.Fprintf(out, "  its completion function did not return\n")
	case !ok:
		fmt.Fprintf(out, "  its completion function is running\n")
	case s.Word.Expected() == 0 && s.Word.Pending() == 0 && s.Word.Tx() == 0:
		fmt.Fprintf(out, "  everyone has dropped\n")
	default:
		fmt.Fprintf(out, "  phase %d is owed %s\n", s.Phase, owed(s.Word))
	}
	if n > 0 {
		fmt.Fprintf(out, "  %s for phase %d\n", plural(n, "goroutine waits", "goroutines wait"), s.Phase)
	}
	if t == nil {
		return
	}
	places(out, "%d", asleep, 3)
	arrived, before, bytes := t.arrived, t.before, t.bytes
	if t.phase != s.Phase { // no operation in this phase yet
		if arrived, before, bytes = nil, nil, nil; t.phase+1 == s.Phase {
			before = t.arrived
		}
	}
	here := map[string]bool{}
	for c := range arrived {
		here[c.goroutine] = true
	}
	maps.DeleteFunc(before, func(c caller, _ int) bool { return here[c.goroutine] })
	section := func(of map[caller]int, format, title string, args ...any) {
		if len(of) > 0 {
			fmt.Fprintf(out, "  "+title+"\n", args...)
			at := map[site]int{}
			for c, n := range of {
				at[c.at] += n
			}
			places(out, format, at, 1)
		}
	}
	section(arrived, "%d", "arrived in phase %d", s.Phase)
	section(before, "%d", "arrived in phase %d, but not in phase %d", s.Phase-1, s.Phase)
	section(bytes, "%+d", "bytes announced (+) and landed (-) in phase %d", s.Phase)
}

// audit returns the barrier's state, a copy of its trace under the latch, and whether it got the latch;
// during a completion function it does not.
func (b *Barrier) audit() (State, *trace, bool) {
	for {
		v := b.word.Load()
		if v&latched == 0 && b.word.CompareAndSwap(v, v|latched) {
			s := State{unpack(v, b.expected.Load()), b.epoch.Load()<<lowBits | low(v)}
			var t *trace
			if b.trace != nil {
				t = &trace{phase: b.trace.phase, arrived: maps.Clone(b.trace.arrived), before: maps.Clone(b.trace.before), bytes: maps.Clone(b.trace.bytes)}
			}
			b.word.Store(v)
			return s, t, true
		}
		if b.completing.Load() {
			return b.State(), nil, false
		}
		runtime.Gosched()
	}
}

func owed(w Word) string {
	var parts []string
	if n := int(w.Pending()); n > 0 {
		parts = append(parts, plural(n, "arrival", "arrivals"))
	}
	switch tx := int(w.Tx()); {
	case tx > 0:
		parts = append(parts, plural(tx, "byte", "bytes"))
	case tx < 0:
		parts = append(parts, "the announcement of "+plural(-tx, "landed byte", "landed bytes"))
	}
	return strings.Join(parts, " and ")
}

func plural(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return fmt.Sprintf("%d %s", n, one)
}

// places writes a line for each place in user code, with its total.
func places(out *strings.Builder, format string, of map[site]int, depth int) {
	sums := map[string]int{}
	for at, n := range of {
		sums[at.text(depth)] += n
	}
	for _, text := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(out, "    "+format+" at %s\n", sums[text], text)
	}
}

// text names the innermost functions outside of the package.
func (s site) text(depth int) string {
	n := slices.Index(s[:], 0)
	if n < 0 {
		n = len(s)
	}
	var names []string
	frames := runtime.CallersFrames(s[:n])
	for more := n > 0; more && len(names) < depth; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "" || history.Library(f.Function) {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%s:%d)", f.Function[strings.LastIndexByte(f.Function, '/')+1:], filepath.Base(f.File), f.Line))
	}
	if len(names) == 0 {
		return "an unknown place"
	}
	return strings.Join(names, ", called by ")
}
