package mbarrier

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"muster/mbarrier/internal/history"
)

// Max bounds the expected count of a [Barrier]: what barrier::max() of libcu++ returns on a GPU.
const Max = MaxCount

// A Barrier keeps its state in one atomic word: a [Word] in which the phase number, except for its parity,
// replaces the expected count. An operation is one compare-and-swap, and it fails if whole phases have
// passed meanwhile, even if the counts are equal again. Two bits are unused in this Word and serve as
// flags:
const (
	latched  = 1              // the word is locked by a goroutine that will store it changed
	careful  = uint64(poison) // a transition needs the latch, for work beyond the change of the word
	lowBits  = 21             // of the phase in the word; the rest is the epoch
	lowMask  = 1<<lowBits - 1
	ownField = countMask<<expectedShift | latched | careful
)

func low(v uint64) uint64 { return v>>expectedShift&countMask<<1 | v>>phaseBit }

func pack(w Word, phase uint64) uint64 {
	return uint64(w)&^ownField | phase>>1&countMask<<expectedShift
}

func unpack(v uint64, expected uint32) Word {
	return Word(v&^ownField | uint64(-expected&countMask)<<expectedShift)
}

// A Barrier is an mbarrier for goroutines: the [Word] with its transitions, and goroutines that wait for
// its phases. It has the operations of cuda::barrier in libcu++, and thereby those of std::barrier.
//
// A Barrier goes through phases, numbered from 0. A phase has two counts: pending arrivals, starting at the
// expected count, and the tx-count in bytes, starting at zero. [Barrier.Arrive] lowers the pending count;
// [Barrier.ExpectTx] raises the tx-count and [Barrier.CompleteTx] lowers it, in either order. The operation
// that brings both to zero completes the phase: it runs the completion function, if any, starts the next
// phase, and then releases the waiters.
//
// Arriving and waiting are two steps, with time for independent work in between. Arrive returns a token for
// its phase; Wait with that token returns once that phase is complete. Waiting does not arrive: any number
// of goroutines may wait, whether they arrived or not.
//
// # Memory
//
// In the terms of the Go memory model, where p is a phase:
//
//   - Arrive, ArriveN, ArriveTx, ArriveAndWait, ArriveAndDrop, ExpectTx and CompleteTx, when they take
//     effect in phase p, are synchronized before the call of the completion function of p;
//   - the return of the completion function of p is synchronized before the return of every Wait,
//     WaitContext, WaitParity and ArriveAndWait that waits for p, and of every TryWait and TryWaitParity
//     that reports p complete; so are, without one, the operations themselves.
//
// So what was written before an arrival can be read after the wait: an arrival is a release and a wait is
// an acquire, as with the default .release and .acquire of PTX. TryWait that returns false orders nothing.
// Compared with package sync: Arrive is to Wait as Done is to Wait of a [sync.WaitGroup], for successive
// phases, without an Add that could be too late; unlike with [sync.Cond], a token cannot miss the wake-up,
// since it names the phase; unlike a closed channel, the next phase allocates nothing. The ordering is as
// strong as theirs: there is no .relaxed. The race detector sees exactly these edges.
//
// # Waiting
//
// A waiter parks, yields its processor or spins, whichever makes phases shortest: that is measured while the
// barrier runs. It spins for 20 µs at most, and then parks. docs/barrier-speed.md has the times.
//
// # Misuse
//
// Operations that fault on the card, or that the ISA leaves undefined, panic here, with a message that ends
// in the barrier's ledger: more arrivals than the pending count, a count outside 1..Max, bytes outside
// 0..MaxTx or a tx-count outside -MaxTx..MaxTx, a token that is neither of the current phase nor of the one
// before it, a token of another barrier, a parity other than 0 and 1, a Barrier that is not from New. The
// operation that panics changes nothing. The caller must arrive in every phase that expects it: a missing
// arrival cannot be told from a late one, but see [Dump].
//
// A Barrier must not be copied. Its methods may be called by any goroutine at any time, except by
// the completion function.
type Barrier struct {
	word  atomic.Uint64
	crowd crowd
	pair  [2]slot // by the phase's parity

	// Rarely changed, under the latch.
	epoch      atomic.Uint64 // the high bits of the phase
	expected   atomic.Uint32
	completing atomic.Bool // the latch is held for a completion function
	broken     atomic.Bool // a completion function did not return
	careful    bool        // initial value of the word's careful bit in each phase
	few        bool        // at most one goroutine waits, as a rule: it sleeps in a slot
	sole       bool        // only one goroutine uses the slots: a pipeline's
	paces      bool        // its phases are what the tuner measures
	due        uint32      // arrivals to drop when the next phase starts
	tuner      *tuner
	completion func()
	trace      *trace
	name       string
	_          [48]byte // pads the size to whole cache lines
}

// An Option changes how [New], [NewPipeline], [NewNamed] and [NewGroup] make their barriers.
type Option func(*Barrier)

// WithCompletion makes f run exactly once per phase: after the last arrival and byte, before any waiter is
// released, in the goroutine whose operation completes the phase. Concurrent operations wait until it
// returns. It must not use the barrier. If it panics or exits its goroutine, the barrier is broken: the
// phase never completes, and all waiters and later operations panic too.
func WithCompletion(f func()) Option { return func(b *Barrier) { b.completion = f } }

// WithName sets the barrier's name in reports and panics.
func WithName(name string) Option { return func(b *Barrier) { b.name = name } }

// New returns a barrier whose phases each expect that many arrivals, 1 to [Max].
func New(expected int, opts ...Option) *Barrier {
	if expected < 1 || expected > Max {
		panic(fmt.Sprintf("mbarrier: New with %d expected arrivals: 1 to %d are possible", expected, Max))
	}
	b := new(Barrier)
	b.crowd.cond.L = &b.crowd
	for i := range b.pair {
		b.pair[i].barrier, b.pair[i].cond.L = b, &b.pair[i]
	}
	b.tuner, b.paces = newTuner(max(2, expected)), true
	if tracing.Load() || history.Mine() != nil {
		b.trace = new(trace)
	}
	for _, o := range opts {
		o(b)
	}
	if b.trace != nil {
		register(b, expected)
	}
	b.few = expected <= 2 && b.trace == nil
	b.careful = b.trace != nil || b.completion != nil
	w, _ := Init(uint32(expected))
	b.expected.Store(uint32(expected))
	b.word.Store(pack(w, 0) | b.mark())
	return b
}

// An ArrivalToken is returned by an arrival and passed to a wait: it names the barrier and the phase, by
// number and not only by parity, so that a stale token never passes for a current one. It corresponds to
// barrier::arrival_token of libcu++. Tokens may be copied, shared, and waited for more than once. The zero
// token belongs to no barrier.
type ArrivalToken struct {
	b     *Barrier
	phase uint64
}

// Phase returns the number of the phase in which the arrival counted.
func (t ArrivalToken) Phase() uint64 { return t.phase }

// Arrive is one arrival in the current phase: b.ArriveN(1).
func (b *Barrier) Arrive() ArrivalToken { return b.arrive("Arrive", 1, 0) }

// ArriveN is n arrivals at once, 1 up to the pending count. Goroutines may arrive in different phases and
// for one another; only the count matters.
func (b *Barrier) ArriveN(n int) ArrivalToken { return b.arrive("ArriveN", n, 0) }

// ArriveTx raises the tx-count by bytes and then arrives n times, in one step: the phase cannot complete
// between the two, nor before that many bytes were passed to [Barrier.CompleteTx]. It corresponds to
// cuda::device::barrier_arrive_tx and mbarrier.arrive.expect_tx.
func (b *Barrier) ArriveTx(n, bytes int) ArrivalToken { return b.arrive("ArriveTx", n, bytes) }

// ArriveAndWait arrives once and waits for the phase to complete.
func (b *Barrier) ArriveAndWait() {
	b.arriveAndAwait(true, 0)
}

// ArriveAndDrop arrives once and leaves: the expected count of later phases is one lower. Once all have
// dropped, arriving is an error.
func (b *Barrier) ArriveAndDrop() {
	b.check("ArriveAndDrop")
	b.latchedDo("ArriveAndDrop", change{count: 1, drop: 1})
}

// ExpectTx raises the tx-count of the current phase by bytes, 0 to [MaxTx]. It does not arrive. To keep the
// phase from completing without these bytes, call it before the arrival that would complete the phase, or
// combine the two: see [Barrier.ArriveTx].
func (b *Barrier) ExpectTx(bytes int) { b.transact("ExpectTx", bytes, -1) }

// CompleteTx lowers the tx-count by bytes, 0 to [MaxTx], that have landed. They may land before ExpectTx:
// the tx-count is then negative in between, and the phase stays open. Bytes that land after the phase has
// completed count in the next one.
func (b *Barrier) CompleteTx(bytes int) { b.transact("CompleteTx", bytes, 1) }

// Wait returns once the token's phase is complete. The token must be of the current phase or of the one
// before, for which it returns at once.
func (b *Barrier) Wait(t ArrivalToken) {
	b.checkToken("Wait", t)
	b.await(t.phase)
}

// TryWait reports whether the token's phase is complete, without blocking: mbarrier.test_wait. (PTX's
// try_wait may block for a while; that is [Barrier.WaitContext] with a deadline.)
func (b *Barrier) TryWait(t ArrivalToken) bool {
	b.checkToken("TryWait", t)
	over := b.now() > t.phase
	if b.trace != nil {
		b.trace.polled(t.phase, over)
	}
	return over
}

// WaitContext waits until the token's phase is complete, and then returns nil, or until ctx is done, and
// then returns ctx.Err(). The arrival counts in either case. WaitContext allocates only if it waits.
func (b *Barrier) WaitContext(ctx context.Context, t ArrivalToken) error {
	b.checkToken("WaitContext", t)
	return b.awaitContext(ctx, t.phase)
}

// WaitParity waits for the phase with that parity, 0 or 1, to complete. If the current phase has the other
// parity, it returns at once: the phase with that parity is the one before, or none for parity 1 at a fresh
// barrier. This lets a ring's producer start with the parity of a phase that never existed. A parity does
// not distinguish phases two apart: a waiter that may fall behind that far needs a token.
func (b *Barrier) WaitParity(parity int) {
	if p, ok := b.parity("WaitParity", parity); !ok {
		b.await(p)
	}
}

// TryWaitParity reports whether the phase with that parity, 0 or 1, is complete, in the sense of
// [Barrier.WaitParity], without blocking.
func (b *Barrier) TryWaitParity(parity int) bool {
	_, ok := b.parity("TryWaitParity", parity)
	return ok
}

// State returns the barrier's word and the number of its phase, at one moment during the call.
func (b *Barrier) State() State {
	b.check("State")
	for tries := 1; ; tries++ {
		p, v := b.look()
		expected, running := b.expected.Load(), b.completing.Load()
		if v&latched != 0 && !running {
			runtime.Gosched()
		} else if b.word.Load() == v {
			return State{Word: unpack(v, expected), Phase: p}
		}
	}
}

// String gives the ledger with the barrier's name: 'full[2]: phase 3 (parity 1): pending 1 of 5, tx 512'.
func (b *Barrier) String() string { return b.label() + ": " + b.State().String() }

func (b *Barrier) label() string {
	if b.name == "" {
		return "barrier"
	}
	return b.name
}

func (b *Barrier) arrive(op string, n, bytes int) ArrivalToken {
	b.check(op)
	if n < 1 || n > Max {
		b.misuse(op, "of %d arrivals: 1 to %d are possible", n, Max)
	}
	if bytes < 0 || bytes > MaxTx {
		b.misuse(op, "of %d bytes: 0 to %d are possible", bytes, MaxTx)
	}
	return ArrivalToken{b, b.do(op, change{count: uint32(n), bytes: uint32(bytes), delta: -int32(bytes)})}
}

func (b *Barrier) transact(op string, bytes, sign int) {
	b.check(op)
	if bytes < 0 || bytes > MaxTx {
		b.misuse(op, "of %d bytes: 0 to %d are possible", bytes, MaxTx)
	}
	b.do(op, change{bytes: uint32(bytes), delta: int32(sign * bytes)})
}

// A change is an operation's change of the word: the arguments of [Word.transact].
type change struct {
	bytes       uint32
	delta       int32
	count, drop uint32
}

func (c change) of(w Word) (Word, Result) { return w.transact(c.bytes, c.delta, c.count, c.drop) }

// do applies a change and returns the phase in which it took effect.
func (b *Barrier) do(op string, c change) uint64 {
	for {
		epoch, v := b.epoch.Load(), b.word.Load()
		if v&(latched|careful) != 0 {
			return b.latchedDo(op, c)
		}
		p := epoch<<lowBits | low(v)
		next, after := uint64(0), p
		if c == (change{count: 1}) {
			next = b.once(v)
		}
		if next == 0 {
			w, r := c.of(unpack(v, b.expected.Load()))
			if r.Completed {
				after++
			}
			if refused(r) || after>>lowBits != p>>lowBits {
				return b.latchedDo(op, c)
			}
			next = pack(w, after)
		} else if low(next) != low(v) {
			after++
		}
		if !b.word.CompareAndSwap(v, next) {
			continue
		}
		if after != p {
			b.ended(p)
		}
		return b.recent(p, epoch)
	}
}

// refused reports the results that a Barrier rejects: faults, and the one tx-count that the card allows and
// the ISA does not.
func refused(r Result) bool { return r.Fault != NoFault || r.Undefined&TxRange != 0 }

// latch locks the word and returns its value and phase.
func (b *Barrier) latch(op string) (phase, v uint64) {
	for tries := 1; ; tries++ {
		if v := b.word.Load(); v&latched == 0 && b.word.CompareAndSwap(v, v|latched) {
			if b.broken.Load() {
				b.word.Store(v)
				b.misuse(op, "after a completion function that did not return")
			}
			return b.epoch.Load()<<lowBits | low(v), v
		}
		if tries%64 == 0 {
			// The order of the two loads matters: the phase loaded first is not later than the one whose
			// completion function is then seen to run.
			if p := b.now(); b.completing.Load() {
				b.await(p)
			} else {
				runtime.Gosched()
			}
		}
	}
}

// latchedDo is do under the latch, with what follows a change: the trace, the phase's
// completion, and the waiters to wake.
func (b *Barrier) latchedDo(op string, c change) uint64 {
	p, v := b.latch(op)
	w := unpack(v, b.expected.Load())
	next, r := c.of(w)
	if refused(r) {
		b.word.Store(v)
		b.refuse(op, State{w, p}, r, c)
	}
	if b.trace != nil {
		b.trace.note(p, c, next, r.Completed)
	}
	after, mark := p, v&careful
	if r.Completed {
		if b.completion != nil {
			b.complete(v)
		}
		after++
		if n := b.due; n > 0 {
			b.due = 0
			if next, r = next.ArriveDrop(n); r.Completed {
				after++
			}
			if b.trace != nil {
				b.trace.dropped(p+1, n, next, r.Completed)
			}
		}
		b.epoch.Store(after >> lowBits)
		mark = b.mark()
	}
	b.expected.Store(next.Expected())
	b.word.Store(pack(next, after) | mark)
	if after != p {
		b.ended(after - 1)
		if after-p > 1 {
			b.ended(p)
		}
	}
	return p
}

func (b *Barrier) mark() uint64 {
	if b.careful {
		return careful
	}
	return 0
}

// leave removes one participant that has arrived in every phase before p and in none from p on. The current
// phase is p or p-1; in the latter case the arrival is deferred to the start of p.
func (b *Barrier) leave(op string, p uint64) {
	now, v := b.latch(op)
	if now < p {
		b.due++
		if b.trace != nil {
			b.trace.leaving(p)
		}
		b.word.Store(v | careful)
		return
	}
	b.word.Store(v) // p cannot complete in between: it lacks this arrival
	b.latchedDo(op, change{count: 1, drop: 1})
}

// complete runs the completion function under the latch. If it does not return, the word becomes v.
func (b *Barrier) complete(v uint64) {
	returned := false
	b.completing.Store(true)
	defer func() {
		if !returned {
			b.broken.Store(true)
			if b.trace != nil {
				b.trace.broke()
			}
			b.word.Store(v)
		}
		b.completing.Store(false)
		if !returned {
			b.wake(low(v))
		}
	}()
	b.completion()
	returned = true
}

// now returns the current phase.
func (b *Barrier) now() uint64 {
	p, _ := b.look()
	return p
}

// look returns a consistent pair of phase and word. It does not wait for a completion function.
func (b *Barrier) look() (phase, v uint64) {
	for tries := 1; ; tries++ {
		epoch := b.epoch.Load()
		v := b.word.Load()
		p := epoch<<lowBits | low(v)
		switch {
		case v&latched == 0 || low(v) != lowMask: // the word belongs to the epoch loaded before
			if b.epoch.Load() == epoch {
				return p, v
			}
		case b.completing.Load(): // the completion function, if it returns, changes the epoch
			epoch = b.epoch.Load()
			if b.completing.Load() && b.word.Load() == v {
				return epoch<<lowBits | low(v), v
			}
		}
		if tries%64 == 0 {
			runtime.Gosched()
		}
	}
}
