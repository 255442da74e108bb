package mbarrier

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A waiter looks, may spin, and then sleeps. Whether it spins, and how sleepers are woken, is the tuner's
// decision (tune.go). Sleeping has two places: a slot, for one waiter, which needs no lock; and the crowd,
// for any number, which has one.

// over reports whether phase p is no longer the current one, where p is known not to be older by two
// million phases.
func (b *Barrier) over(p uint64) bool { return low(b.word.Load()) != p&lowMask }

// await returns once the current phase is later than p.
func (b *Barrier) await(p uint64) { b.arriveAndAwait(false, p) }

// arriveAndAwait arrives once, if it is to, and returns once the current phase is later than p, or than the
// phase of the arrival. It is one function, since each frame between the caller and the scheduler costs a
// waiter time: a processor predicts returns by the calls that it made, and after a switch to another
// goroutine predicts each of them wrong.
func (b *Barrier) arriveAndAwait(arrive bool, p uint64) {
	counted := false // in the crowd, and the Mutex is held
	if arrive {
		b.check("ArriveAndWait")
	}
	switch {
	case !arrive:
	case b.few || !b.tuner.parks():
		epoch, v := b.epoch.Load(), b.word.Load()
		if next := b.once(v); next == 0 || !b.word.CompareAndSwap(v, next) {
			p = b.do("ArriveAndWait", change{count: 1})
		} else if p = b.recent(epoch<<lowBits|low(v), epoch); low(next) != low(v) {
			b.ended(p)
			return
		}
	default:
		p, counted = b.arriveInCrowd()
	}
	if !counted {
		if b.over(p) || !b.tuner.parks() && b.soon(p) {
			if b.trace != nil && !arrive {
				b.trace.passed(p)
			}
			return
		}
		if s := &b.pair[p&1]; b.few && s.claim(p) {
			for !b.broken.Load() {
				if s.cond.Wait(); b.over(p) || b.now() > p {
					s.until.Store(0)
					return
				}
			}
			s.until.Store(0)
		}
	}
	c, rec := &b.crowd, b.sleeper(p)
	for counted || b.enter(p, &c.parked, rec) {
		roused := c.roused
		c.cond.Wait() // unlocks the Mutex
		if c.chain.Load() > 0 {
			c.pass()
		}
		if rec != nil {
			b.exit(rec)
		}
		if b.over(p) || b.now() > p {
			if rec != nil {
				b.trace.resumed(rec, true)
			}
			return
		}
		c.uncount(roused)
		counted = false
	}
}

// soon reports whether phase p is over or, if waiters are to spin, is over soon.
func (b *Barrier) soon(p uint64) bool {
	if b.over(p) {
		return true
	}
	switch b.tuner.current() {
	case yielding:
		return b.yield(p)
	case spinning:
		return b.spin(p)
	}
	return false
}

// yield lets other goroutines run and reports whether phase p is over then. Where others keep the processor
// for long, as those do that never wait, the tuner must know.
func (b *Barrier) yield(p uint64) bool {
	var start time.Duration
	timed := p%sampling == 0 || b.tuner.watches()
	if timed {
		start = clock()
	}
	over := false
	for i := 0; i < yields && !over; i++ {
		runtime.Gosched()
		over = b.over(p)
	}
	if timed {
		if d := clock() - start; d > yieldLimit {
			b.tuner.inVain(yielding, p, d)
		}
	}
	return over
}

// looks is how often a spinning waiter looks before it looks at the clock: about a microsecond. In a bubble
// of testing/synctest the clock stands, so the number of looks is bounded too.
const (
	looks    = 500
	maxLooks = 1000 * looks
)

// spin looks for the end of phase p until the tuner's limit, and reports whether it came.
func (b *Barrier) spin(p uint64) bool {
	if b.tuner.settles.Load() {
		runtime.Gosched() // makes this goroutine available to any processor, and what it woke last runs here
	}
	var until time.Duration
	for i := 1; i < maxLooks; i++ {
		if b.over(p) {
			return true
		}
		if i%looks == 0 {
			now := clock()
			if until == 0 {
				until = now + b.tuner.limit()
			} else if now > until {
				break
			}
		}
	}
	b.tuner.inVain(spinning, p, b.tuner.limit())
	return b.now() > p
}

// ended follows the change that ended phase p: it wakes who sleeps for it.
func (b *Barrier) ended(p uint64) {
	if b.few || b.sole {
		b.pair[p&1].cond.Broadcast()
	}
	if b.crowd.sleepers.Load() {
		b.wake(p)
	}
	b.pace(p)
}

func (b *Barrier) pace(p uint64) {
	if p%window == window-1 && b.paces {
		b.tuner.tick()
	}
}

func (b *Barrier) wake(p uint64) {
	b.pair[p&1].cond.Broadcast()
	if b.crowd.sleepers.Load() {
		b.crowd.Mutex.Lock()
		b.rouse() // unlocks the Mutex
	}
}

// A slot is a place for one sleeper, its owner. Its condition has no lock. Instead, the owner looks again once
// it has its ticket of the condition, in the call of Unlock within Wait: either it sees there that the phase is
// over, and wakes itself, or who ends the phase sees the ticket. A late signal may wake the next owner for
// nothing, so waiting is a loop.
type slot struct {
	cond    sync.Cond
	until   atomic.Uint64 // the phase that the owner waits for, plus 1; 0 if free
	barrier *Barrier
}

// claim makes the caller, who waits for phase p, the owner of the slot, and reports whether it is.
func (s *slot) claim(p uint64) bool {
	return s.until.Load() == 0 && s.until.CompareAndSwap(0, p+1)
}

// Lock and Unlock make the slot the lock of its condition.
func (s *slot) Lock() {}

func (s *slot) Unlock() {
	if s.barrier.over(s.until.Load()-1) || s.barrier.broken.Load() {
		s.cond.Signal()
	}
}

// bed returns the condition on which the barrier's only waiter is to wait for phase p, or nil if p is over
// soon. The waiter itself calls Wait, and looks again: see arriveAndAwait for what a frame costs.
func (b *Barrier) bed(p uint64) *sync.Cond {
	if !b.tuner.parks() && b.soon(p) {
		return nil
	}
	s := &b.pair[p&1]
	s.until.Store(p + 1)
	return &s.cond
}

// A crowd is the place for any number of sleepers. What has no other word is under the Mutex.
type crowd struct {
	sleepers atomic.Bool // somebody sleeps; set under the Mutex
	chain    atomic.Int32
	sync.Mutex
	cond     sync.Cond
	parked   int32         // sleepers of the condition since the last rouse
	selected int32         // sleepers of done
	roused   uint32        // number of rouses
	done     chan struct{} // closed when the phase completes, made by WaitContext
}

// Lock and Unlock make the crowd the lock of its condition: a woken waiter need not lock it again.
func (*crowd) Lock()     {}
func (c *crowd) Unlock() { c.Mutex.Unlock() }

// rouse wakes the sleepers, one by one or at once; the caller holds the Mutex, which it unlocks. One by one,
// each hands its processor over to the next when it sleeps again: the woken goroutine is the next to run where
// the waker ran. That spares the run queues, and whoever waits there. A rouse adds the sleepers to the chain
// and wakes one; everyone who wakes takes itself off and wakes the next if any is left. So there are as many
// signals as sleepers, and they wake the oldest first.
func (b *Barrier) rouse() {
	c := &b.crowd
	c.sleepers.Store(false)
	c.roused++
	if c.done != nil {
		close(c.done)
		c.done = nil
	}
	n := c.parked
	c.parked, c.selected = 0, 0
	all := b.tuner.current() == broadcast || b.tuner.current() == spinning
	if !all {
		c.chain.Add(n)
	}
	c.Mutex.Unlock() // whom the signal wakes may want it at once
	switch {
	case n == 0:
	case all:
		c.cond.Broadcast()
	default:
		c.cond.Signal()
	}
}

// pass continues the chain.
func (c *crowd) pass() {
	for n := c.chain.Load(); n > 0; n = c.chain.Load() {
		if c.chain.CompareAndSwap(n, n-1) {
			if n > 1 {
				c.cond.Signal()
			}
			return
		}
	}
}

// uncount takes a sleeper off the count whom a late signal woke for nothing, if no rouse has done so.
func (c *crowd) uncount(roused uint32) {
	c.Mutex.Lock()
	if c.roused == roused {
		c.parked--
	}
	c.Mutex.Unlock()
}

// enter returns false if phase p is over. Otherwise it has counted a sleeper and holds the Mutex. Either it
// sees the phase stored by do, or do sees that somebody sleeps.
func (b *Barrier) enter(p uint64, count *int32, rec *sleeper) bool {
	c := &b.crowd
	c.Mutex.Lock()
	c.sleepers.Store(true)
	past, broken := b.over(p), b.broken.Load()
	if !past && !broken {
		*count++
		if b.trace != nil {
			b.trace.enter(rec)
		}
		return true
	}
	c.Mutex.Unlock()
	if !past {
		b.misuse("a wait", "for a completion function that did not return")
	}
	return false
}

// arriveInCrowd arrives in one critical section with what follows: it wakes who sleeps for the phase, or
// counts the caller, who then holds the Mutex. Many that sleep must take the Mutex in any case, and under it
// they do not get into each other's way at the word.
func (b *Barrier) arriveInCrowd() (p uint64, counted bool) {
	c := &b.crowd
	c.Mutex.Lock()
	for {
		epoch, v := b.epoch.Load(), b.word.Load()
		next := b.once(v)
		if next == 0 {
			c.Mutex.Unlock()
			return b.do("ArriveAndWait", change{count: 1}), false
		}
		ends := low(next) != low(v)
		if !ends && !c.sleepers.Load() {
			c.sleepers.Store(true)
		}
		if !b.word.CompareAndSwap(v, next) {
			continue
		}
		p = b.recent(epoch<<lowBits|low(v), epoch)
		if !ends && !b.over(p) {
			c.parked++
			return p, true
		}
		if ends {
			b.rouse() // unlocks the Mutex
			b.pace(p)
		} else {
			c.Mutex.Unlock()
		}
		return p, false
	}
}

// awaitContext is await with cancellation.
func (b *Barrier) awaitContext(ctx context.Context, p uint64) error {
	quit := ctx.Done()
	if quit == nil {
		b.await(p)
		return nil
	}
	if b.soon(p) {
		if b.trace != nil {
			b.trace.passed(p)
		}
		return nil
	}
	c, rec := &b.crowd, b.sleeper(p)
	for b.enter(p, &c.selected, rec) {
		if c.done == nil {
			c.done = make(chan struct{})
		}
		done := c.done
		c.Mutex.Unlock()
		select {
		case <-done:
			b.exit(rec)
			if b.now() > p {
				if rec != nil {
					b.trace.resumed(rec, true)
				}
				return nil
			}
		case <-quit:
			c.Mutex.Lock()
			if c.done == done { // the count of sleepers was not reset
				c.selected--
			}
			c.Mutex.Unlock()
			b.exit(rec)
			over := b.now() > p
			if rec != nil {
				b.trace.resumed(rec, over)
			}
			if over {
				return nil
			}
			return ctx.Err()
		}
	}
	return nil
}

// sleeper returns a trace record for a goroutine about to park, if there is a trace.
func (b *Barrier) sleeper(p uint64) *sleeper {
	if b.trace == nil {
		return nil
	}
	return newSleeper(p)
}

func (b *Barrier) exit(rec *sleeper) {
	if rec != nil {
		b.crowd.Mutex.Lock()
		b.trace.exit(rec)
		b.crowd.Mutex.Unlock()
	}
}

// asleep returns how many goroutines sleep; the caller holds the Mutex.
func (b *Barrier) asleep() int {
	n, p := int(b.crowd.parked+b.crowd.selected), b.now()
	for i := range b.pair {
		if b.pair[i].until.Load() == p+1 {
			n++
		}
	}
	return n
}
