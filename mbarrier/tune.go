package mbarrier

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// A mode is what a waiter does first, and how sleepers are woken.
type mode = int32

const (
	handOver  mode = iota // sleeps; one wakes the next, so that they take turns on one processor
	broadcast             // sleeps; all are woken at once, so that idle processors find them
	yielding              // lets other goroutines run, a few times, before it sleeps
	spinning              // looks for a while before it sleeps
	modes
)

// A tuner chooses the mode of a barrier, or of a pipeline's barriers, by the time that phases take in each.
// Which is the fastest follows from nothing that a program can ask for: whether two processors share a
// cache, whether other goroutines or processes want them, how much work lies between two phases. So it is
// measured, while the barrier runs.
//
// At home in one mode, the tuner now and then tries another for some windows of phases, and moves there if
// the windows' median is lower, averaged with earlier trials'. It starts in handOver, which takes no processor from anybody. A trial ends
// early if a window takes far too long, or once a waiter spins or yields in vain; a home is given up for
// handOver by the waiters themselves, when that happens twice in a window. What a trial took longer than the
// same phases at home sets how long none follows: trials take at most one part in patience of the time, and
// a mode that loses again waits twice as long.
//
// That is competitive spinning (Karlin, Li, Manasse, Owicki, 'Empirical studies of competitive spinning for
// a shared-memory multiprocessor', SOSP 1991): spin no longer than what blocking costs, and adapt to what
// earlier waits showed. Their choice is between two; here the Go scheduler gives four.
type tuner struct {
	mode    atomic.Int32
	home    atomic.Int32
	vain    atomic.Int32  // waits in vain in this window
	phase   atomic.Uint64 // of the last one, plus 1
	lost    atomic.Int64  // nanoseconds that they took
	settles atomic.Bool   // the mode has just changed
	calm    atomic.Bool   // long enough ago to settle again
	_       [24]byte

	ticking atomic.Bool // who set it owns what follows
	n       int         // goroutines that meet
	set     mode        // by the last tick; waiters may have changed it
	last    time.Duration
	now     time.Duration // that phases have taken, without the rests of the program
	since   time.Duration // of the trial, or of the stay at home
	count   int           // windows since then that counted
	settled int           // windows in a row that did not, while goroutines settled
	unrest  time.Duration // when these began
	times   [samples]float64
	long    float64        // nanoseconds a phase in the last window of the trial, if they were far too many
	means   [modes]float64 // of the medians in each mode, in nanoseconds a phase; later ones weigh more
	changed time.Duration  // when pauses last began anew
	rest    time.Duration  // no trial before
	hogged  bool           // yielding was in vain when last tried: others keep the processors
	next    [modes]time.Duration
	pause   [modes]time.Duration
}

const (
	window   = 32   // phases
	settling = 3    // windows after a change of mode that do not count: goroutines change processors
	samples  = 7    // windows of which the median counts
	gain     = 0.95 // of the time at home
	parkGain = 0.98 // where waiters sleep at home and on trial: a wrong move costs little
	patience = 64
	minPause = time.Millisecond
	maxPause = 4 * time.Second

	// What a trial costs at least: goroutines move to other processors and back.
	trialCost = 100 * time.Microsecond

	// A trial counts as no costlier: who made it so may be gone soon.
	longestTrial = 250 * time.Millisecond

	// Where phases take longer, neither yielding nor spinning is tried.
	longPhase = 100 * time.Microsecond

	// A waiter stops spinning after what it takes to wake an idle processor, or several while
	// goroutines settle.
	spinLimit   = 20 * time.Microsecond
	settleLimit = 200 * time.Microsecond

	// A goroutine that never waits keeps its processor for 10 ms at a time, from a waiter that yields.
	yieldLimit = 5 * time.Millisecond

	yields   = 3 // in a row
	sampling = 8 // of so many phases, the yields of one are timed
	enough   = 2 // waits in vain in a window
)

var began = time.Now()

func clock() time.Duration { return time.Since(began) }

func newTuner(n int) *tuner { return &tuner{n: n} }

func (t *tuner) current() mode { return t.mode.Load() }

// parks reports whether waiters sleep at once.
func (t *tuner) parks() bool { return t.mode.Load() <= broadcast }

// limit returns how long a waiter may spin.
func (t *tuner) limit() time.Duration {
	if t.settles.Load() {
		return settleLimit
	}
	return spinLimit
}

// watches reports whether all yields are to be timed.
func (t *tuner) watches() bool { return t.settles.Load() || t.vain.Load() > 0 }

// inVain is told by a waiter that in phase p it spun or yielded for d, in mode m, to no use. That ends a
// trial, and a stay if it happens in another phase of the window too: once may be the operating system, which
// took the processor away from a thread, and would have in any mode. Spinning first settles again, once: after
// a rest of the program its goroutines begin on one processor.
func (t *tuner) inVain(m mode, p uint64, d time.Duration) {
	if t.phase.Swap(p+1) == p+1 {
		return
	}
	t.lost.Add(int64(d))
	if m == spinning && !t.settles.Load() && t.calm.Swap(false) {
		t.settles.Store(true)
	} else if home := t.home.Load(); m != home {
		t.mode.CompareAndSwap(m, home)
	} else if t.vain.Add(1) >= enough {
		t.mode.CompareAndSwap(m, handOver)
	}
}

// tick is called once in a window, by whoever ended its last phase.
func (t *tuner) tick() {
	if t.ticking.Swap(true) {
		return
	}
	now := clock()
	if d := now - t.last; d > 0 && t.last > 0 {
		t.took(d)
	}
	t.last = now
	t.ticking.Store(false)
}

// took is told of a window that ended now and took that long.
func (t *tuner) took(span time.Duration) {
	t.vain.Store(0)
	lost := 2 * time.Duration(t.lost.Swap(0)) // with what it takes to come together again
	m, home := t.mode.Load(), t.home.Load()
	long := 8*t.means[home] + float64(minPause)/window
	before := t.now
	t.now += min(span, time.Duration(long*window))
	if m != t.set {
		if t.set != home {
			t.reject(lost, true)
		} else {
			t.giveUp(lost)
		}
		return
	}
	d := float64(span) / window
	full := false
	if t.settles.Load() {
		t.settle(before)
	} else {
		t.times[t.count%samples] = d
		t.count++
		full = t.count%samples == 0
	}
	if m == home {
		if full {
			t.stay()
		}
		return
	}
	// One long window may be a rest that the program takes. Two are not.
	if d > long && t.long > 0 {
		t.reject(window*time.Duration(d+t.long), false)
	} else if full {
		t.judge()
	} else if t.long = 0; d > long {
		t.long = d
	}
}

// settle counts a window after a change of mode, which began at before. Spinning has settled only when an
// idle processor has had the time to wake. At home again, the trial turns out to have cost what these windows
// took too long.
func (t *tuner) settle(before time.Duration) {
	if t.settled == 0 {
		t.unrest = before
	}
	t.settled++
	took := t.now - t.unrest
	if t.settled < settling || t.set == spinning && took < settleLimit {
		return
	}
	t.settles.Store(false)
	if t.count == 0 && t.set == t.home.Load() {
		excess := took - time.Duration(float64(t.settled*window)*t.means[t.set])
		t.rest = max(t.rest, t.rest+patience*min(excess, longestTrial))
	}
	t.settled = 0
}

func (t *tuner) median() float64 {
	s := t.times
	slices.Sort(s[:])
	return s[samples/2]
}

// stay compares windows at home with earlier ones, and begins a trial if one is due.
func (t *tuner) stay() {
	t.calm.Store(true)
	here, before := t.median(), t.means[t.set]
	t.learn(here)
	if here > 2*before || 2*here < before { // other times: what lost may win now
		clear(t.means[:])
		t.learn(here)
		if t.now > t.changed+patience*minPause {
			t.changed = t.now
			clear(t.next[:])
			clear(t.pause[:])
		}
	}
	if t.now < t.rest {
		return
	}
	for _, m := range []mode{yielding, spinning, broadcast, handOver} {
		if m != t.set && t.now >= t.next[m] && t.fits(m, t.means[t.set]) {
			t.enter(m)
			return
		}
	}
}

// learn takes a median of windows into the mean of the present mode, or in its place if it is far off.
func (t *tuner) learn(d float64) {
	if mean := &t.means[t.set]; d > 2**mean || 2*d < *mean {
		*mean = d
	} else {
		*mean += (d - *mean) / 4
	}
}

// fits reports whether a mode is worth a trial where phases take that long.
func (t *tuner) fits(m mode, here float64) bool {
	switch m {
	case broadcast:
		return t.n > 2 && !t.hogged // since yielding was tried before, hogged is known
	case yielding:
		return here < float64(longPhase)
	case spinning:
		if t.hogged {
			return false
		}
		procs := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
		return here < float64(longPhase) && procs > 1 && t.n <= procs
	}
	return true
}

// judge ends a trial by the mode's mean, its median window included.
func (t *tuner) judge() {
	t.learn(t.median())
	home := t.home.Load()
	here, there := t.means[home], t.means[t.set]
	most := gain
	if home <= broadcast && t.set <= broadcast {
		most = parkGain
	}
	if there >= most*here {
		t.reject(time.Duration((t.median()-here)*window*(settling+samples)), false)
		return
	}
	t.hogged = t.hogged && t.set != yielding
	t.rest = t.now + patience*trialCost
	t.postpone(home, minPause)
	t.home.Store(t.set)
	t.enter(t.set)
}

// reject ends a trial that lost, and lost that much time.
func (t *tuner) reject(cost time.Duration, vain bool) {
	if t.set == yielding {
		t.hogged = vain
	}
	cost = min(max(cost, 0)+trialCost, longestTrial)
	t.rest = t.now + patience*cost
	t.postpone(t.set, patience*cost)
	t.enter(t.home.Load())
}

// giveUp leaves a home whose waiters waited in vain. A long stay has paid for that.
func (t *tuner) giveUp(cost time.Duration) {
	cost = min(cost+trialCost, longestTrial)
	if t.now-t.since > patience*cost {
		t.pause[t.set], cost = 0, 0
	}
	t.hogged = t.set == yielding
	t.postpone(t.set, patience*cost)
	t.home.Store(handOver)
	t.enter(handOver)
}

// postpone lets no trial of m begin for so long, and for twice as long as last time.
func (t *tuner) postpone(m mode, d time.Duration) {
	t.pause[m] = max(minPause, d, min(2*t.pause[m], maxPause))
	t.next[m] = t.now + t.pause[m]
}

func (t *tuner) enter(m mode) {
	t.since, t.count, t.settled, t.long = t.now, 0, 0, 0
	t.settles.Store(true)
	t.calm.Store(true)
	t.set = m
	t.mode.Store(m)
}
