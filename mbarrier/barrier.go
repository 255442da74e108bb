package mbarrier

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Max is the most arrivals that a [Barrier] can expect: what barrier::max() of libcu++ returns on a GPU.
const Max = MaxCount

// latched is the spare bit of the word. Here it is a latch: whoever has set it makes the transition.
const latched = 1

// A Barrier is an mbarrier for goroutines: the [Word] with its transitions, and goroutines that wait for
// its phases. It has the operations of cuda::barrier in libcu++, and so those of std::barrier.
//
// A Barrier goes through phases, numbered from 0. A phase owes two debts: arrivals, of which it starts
// with the expected count, and bytes, of which it starts with none. [Barrier.Arrive] pays arrivals;
// [Barrier.ExpectTx] announces bytes and [Barrier.CompleteTx] pays them, in either order. The operation
// that leaves neither debt completes the phase: it runs the completion function where there is one,
// starts the next phase, and then releases those who wait.
//
// To arrive and to wait are two steps, and work that needs nobody else goes between them. Arrive returns
// a token of the phase it arrived in; Wait with that token returns once that phase is complete. Waiting
// is no arrival: any number of goroutines may wait, whether they arrived or not.
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
// Beside package sync: Arrive is to Wait as Done is to Wait of a [sync.WaitGroup], for one phase after
// another, with no Add between them that could come too late; beside [sync.Cond], a token cannot miss
// the wake-up, since it names the phase; beside a closed channel, nothing is allocated for the next phase.
// Nothing here is weaker than those: there is no .relaxed. The race detector sees these edges and no others.
//
// # Misuse
//
// What the card answers with a fault, or the ISA leaves undefined, panics here, with a sentence that ends
// in the barrier's ledger: more arrivals than the phase still waits for, a count outside 1..Max, bytes
// outside 0..MaxTx or a balance outside -MaxTx..MaxTx, a token that is neither of the current phase nor of
// the one before it, a token of another barrier, a parity other than 0 and 1, a Barrier that is not from
// New. The operation that panics has changed nothing. It stays the caller's duty to arrive in every phase
// where it is expected: nobody can tell a missing arrival from a late one, but see [Dump].
//
// A Barrier must not be copied. Its methods may be called by any goroutine at any time, except by
// the completion function.
type Barrier struct {
	// Those that arrive and those that spin share this line.
	word       atomic.Uint64 // a Word; bit 0 is the latch
	phase      atomic.Uint64 // changes under the latch; who sees it past p is released from p
	sleepers   atomic.Int32  // goroutines parked for the current phase; rises under park.Mutex
	completing atomic.Bool   // the latch is held for a completion function
	broken     atomic.Bool   // a completion function did not return
	due        uint32        // under the latch: arrivals to drop when the next phase starts
	_          [32]byte

	// What does not change after New has the next.
	spin       int
	completion func()
	name       string
	trace      *trace

	park parkLock
	cond sync.Cond
	done chan struct{} // under park.Mutex: closed when the phase completes, made by WaitContext
}

// An Option changes how [New], [NewPipeline], [NewNamed] and [NewGroup] make their barriers.
type Option func(*Barrier)

// WithCompletion has f called exactly once a phase: after the last arrival and byte, before anybody is
// released, by the goroutine whose operation completes the phase. Operations that come meanwhile wait for
// it to return. It must not use the barrier. Where it panics or exits its goroutine, the barrier is broken:
// the phase never completes, and everybody who waits or comes later panics too.
func WithCompletion(f func()) Option { return func(b *Barrier) { b.completion = f } }

// WithName gives the name that reports and panics call the barrier by.
func WithName(name string) Option { return func(b *Barrier) { b.name = name } }

// New returns a barrier whose phases each expect that many arrivals, 1 to [Max].
func New(expected int, opts ...Option) *Barrier {
	if expected < 1 || expected > Max {
		panic(fmt.Sprintf("mbarrier: New with %d expected arrivals: 1 to %d are possible", expected, Max))
	}
	b := new(Barrier)
	w, _ := Init(uint32(expected))
	b.word.Store(uint64(w))
	b.cond.L = &b.park
	b.spin = spins(expected)
	if tracing.Load() {
		b.trace = new(trace)
	}
	for _, o := range opts {
		o(b)
	}
	if b.trace != nil {
		register(b)
	}
	return b
}

// An ArrivalToken is what an arrival returns and a wait takes: it names the barrier and the phase, by its
// number and not its parity alone, so that a stale one never passes for a current one. It corresponds to
// barrier::arrival_token of libcu++. Tokens may be copied, shared, and waited for more than once. The zero
// token belongs to no barrier.
type ArrivalToken struct {
	b     *Barrier
	phase uint64
}

// Phase returns the number of the phase that the arrival counted in.
func (t ArrivalToken) Phase() uint64 { return t.phase }

// Arrive is one arrival in the current phase: b.ArriveN(1).
func (b *Barrier) Arrive() ArrivalToken { return b.arrive("Arrive", 1, 0) }

// ArriveN is n arrivals at once, 1 up to those that the phase still waits for. Different goroutines may
// arrive in different phases and for one another; only the count matters.
func (b *Barrier) ArriveN(n int) ArrivalToken { return b.arrive("ArriveN", n, 0) }

// ArriveTx announces bytes and then arrives n times, in one step: the phase cannot complete between the
// two, nor before that many bytes were reported to [Barrier.CompleteTx]. It corresponds to
// cuda::device::barrier_arrive_tx and mbarrier.arrive.expect_tx.
func (b *Barrier) ArriveTx(n, bytes int) ArrivalToken { return b.arrive("ArriveTx", n, bytes) }

// ArriveAndWait arrives once and waits for the phase to complete.
func (b *Barrier) ArriveAndWait() { b.await(b.arrive("ArriveAndWait", 1, 0).phase) }

// ArriveAndDrop arrives once and leaves: this phase waits for one arrival less, and so does each later
// one. When all have dropped, nobody can arrive any more.
func (b *Barrier) ArriveAndDrop() {
	b.check("ArriveAndDrop")
	w := b.latch("ArriveAndDrop")
	next, r := w.ArriveDrop(1)
	b.commit("ArriveAndDrop", w, next, r, 1, 0)
}

// ExpectTx has the current phase wait for so many more bytes, 0 to [MaxTx]. It does not arrive. So that
// the phase cannot complete before the bytes were announced, announce them before the arrival that would
// complete it, or with it: see [Barrier.ArriveTx].
func (b *Barrier) ExpectTx(bytes int) { b.transact("ExpectTx", Word.ExpectTx, bytes, bytes) }

// CompleteTx reports that so many bytes, 0 to [MaxTx], have landed. They may land before they are
// announced: the balance is then below zero until they are, and the phase goes on. Bytes that come after
// the phase has completed count in the next one.
func (b *Barrier) CompleteTx(bytes int) { b.transact("CompleteTx", Word.CompleteTx, bytes, -bytes) }

// Wait returns once the token's phase is complete. The token must be of the current phase or of the one
// before, whose wait returns at once.
func (b *Barrier) Wait(t ArrivalToken) {
	b.checkToken("Wait", t)
	b.await(t.phase)
}

// TryWait reports whether the token's phase is complete, without blocking: mbarrier.test_wait. (PTX's
// try_wait may block for a while; that is [Barrier.WaitContext] with a deadline.)
func (b *Barrier) TryWait(t ArrivalToken) bool {
	b.checkToken("TryWait", t)
	return b.phase.Load() > t.phase
}

// WaitContext waits until the token's phase is complete, and then returns nil, or until ctx is done, and
// then returns ctx.Err(). The arrival stands in either case. WaitContext allocates when it has to wait.
func (b *Barrier) WaitContext(ctx context.Context, t ArrivalToken) error {
	b.checkToken("WaitContext", t)
	return b.awaitContext(ctx, t.phase)
}

// WaitParity waits for the phase of that parity, 0 or 1, to complete: it returns at once when the current
// phase has the other parity, which then is the phase before or, for parity 1 at a fresh barrier, none.
// That rule lets a ring's producer start with the parity of a phase that never was. Nothing tells a parity
// two phases old from a new one: who may fall behind that far needs a token.
func (b *Barrier) WaitParity(parity int) {
	if p, ok := b.parity("WaitParity", parity); !ok {
		b.await(p)
	}
}

// TryWaitParity reports whether the phase of that parity, 0 or 1, is complete, as [Barrier.WaitParity]
// means it, without blocking.
func (b *Barrier) TryWaitParity(parity int) bool {
	_, ok := b.parity("TryWaitParity", parity)
	return ok
}

// State returns the barrier's word and the number of its phase, at some moment during the call.
func (b *Barrier) State() State {
	b.check("State")
	for {
		p, w := b.phase.Load(), Word(b.word.Load()&^latched)
		// Under the latch the phase is ahead of the word for a moment, and a word may have come
		// and gone twice between the two loads; only a phase seen on both sides of it is the word's.
		if b.phase.Load() == p && w.Parity() == uint32(p&1) {
			return State{Word: w, Phase: p}
		}
		runtime.Gosched()
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
	w := b.latch(op)
	var next Word
	var r Result
	if bytes == 0 {
		next, r = w.Arrive(uint32(n))
	} else {
		next, r = w.transact(uint32(bytes), -int32(bytes), uint32(n), 0)
	}
	return ArrivalToken{b, b.commit(op, w, next, r, n, bytes)}
}

func (b *Barrier) transact(op string, f func(Word, uint32) (Word, Result), bytes, charge int) {
	b.check(op)
	if bytes < 0 || bytes > MaxTx {
		b.misuse(op, "of %d bytes: 0 to %d are possible", bytes, MaxTx)
	}
	w := b.latch(op)
	next, r := f(w, uint32(bytes))
	b.commit(op, w, next, r, 0, charge)
}

// leave takes one participant away who has arrived in every phase before p and in none from p on. The
// current phase is p or p-1; in the latter its arrival waits for p to start.
func (b *Barrier) leave(op string, p uint64) {
	w := b.latch(op)
	if b.phase.Load() < p {
		b.due++
		b.word.Store(uint64(w))
		return
	}
	next, r := w.ArriveDrop(1)
	b.commit(op, w, next, r, 1, 0)
}

// latch takes the right to make the next transition and returns the word.
func (b *Barrier) latch(op string) Word {
	for tries := 1; ; tries++ {
		if w := b.word.Load(); w&latched == 0 && b.word.CompareAndSwap(w, w|latched) {
			if b.broken.Load() {
				b.word.Store(w)
				b.misuse(op, "after a completion function that did not return")
			}
			return Word(w)
		}
		if tries%64 == 0 {
			// The order of the two loads matters: a phase read first is at most the one whose
			// completion function is seen to run.
			if p := b.phase.Load(); b.completing.Load() {
				b.await(p)
			} else {
				runtime.Gosched()
			}
		}
	}
}

// commit ends a transition from w to next: it releases the latch and returns the phase that the operation
// took effect in.
func (b *Barrier) commit(op string, w, next Word, r Result, arrivals, charge int) uint64 {
	p := b.phase.Load()
	if r.Fault != NoFault || r.Undefined&TxRange != 0 {
		b.word.Store(uint64(w))
		b.fault(op, State{w, p}, r, arrivals, charge)
	}
	if b.trace != nil {
		b.trace.note(p, arrivals, charge)
	}
	if !r.Completed {
		b.word.Store(uint64(next))
		return p
	}
	if b.completion != nil {
		b.complete(w)
	}
	after := p + 1
	for b.due > 0 {
		n := b.due
		b.due = 0
		if next, r = next.ArriveDrop(n); r.Completed {
			after++
		}
	}
	b.phase.Store(after)
	b.word.Store(uint64(next))
	if b.sleepers.Load() != 0 {
		b.wake()
	}
	return p
}

// complete runs the completion function under the latch. Where it does not return, w is what remains.
func (b *Barrier) complete(w Word) {
	returned := false
	b.completing.Store(true)
	defer func() {
		if !returned {
			b.broken.Store(true)
			b.word.Store(uint64(w))
		}
		b.completing.Store(false)
		if !returned {
			b.wake()
		}
	}()
	b.completion()
	returned = true
}

// A parkLock is the lock of the condition that waiters park on. Who is woken need not take it again.
type parkLock struct{ sync.Mutex }

func (*parkLock) Lock()     {}
func (l *parkLock) Unlock() { l.Mutex.Unlock() }

func (b *Barrier) wake() {
	b.park.Mutex.Lock()
	b.sleepers.Store(0)
	if b.done != nil {
		close(b.done)
		b.done = nil
	}
	b.cond.Broadcast()
	b.park.Mutex.Unlock()
}

// spins is how often a waiter looks before it lets others run. Where there are more participants than
// processors it cannot be all that keeps it waiting, so it lets them run at once.
func spins(expected int) int {
	if expected > runtime.GOMAXPROCS(0) || runtime.GOMAXPROCS(0) == 1 {
		return 0
	}
	return 500
}

const yields = 4

// await returns when the phase is past p.
func (b *Barrier) await(p uint64) {
	if !b.soon(p) {
		b.sleep(p)
	}
}

func (b *Barrier) soon(p uint64) bool {
	for range b.spin + 1 {
		if b.phase.Load() > p {
			return true
		}
	}
	for range yields {
		runtime.Gosched()
		if b.phase.Load() > p {
			return true
		}
	}
	return false
}

// sleep parks until the phase is past p. Either it sees the phase that commit has stored, or commit sees
// the sleeper that it has counted.
func (b *Barrier) sleep(p uint64) {
	var rec *sleeper
	if b.trace != nil {
		rec = newSleeper()
	}
	b.park.Mutex.Lock()
	b.sleepers.Add(1)
	if b.phase.Load() > p || b.broken.Load() {
		b.sleepers.Add(-1)
		b.park.Mutex.Unlock()
	} else {
		b.trace.enter(rec)
		b.cond.Wait()
		b.leaveSleep(rec)
	}
	if b.phase.Load() <= p {
		b.misuse("a wait", "for a completion function that did not return")
	}
}

func (b *Barrier) leaveSleep(rec *sleeper) {
	if rec != nil {
		b.park.Mutex.Lock()
		b.trace.exit(rec)
		b.park.Mutex.Unlock()
	}
}

// awaitContext is await with another way out.
func (b *Barrier) awaitContext(ctx context.Context, p uint64) error {
	quit := ctx.Done()
	if quit == nil {
		b.await(p)
		return nil
	}
	if b.soon(p) {
		return nil
	}
	var rec *sleeper
	if b.trace != nil {
		rec = newSleeper()
	}
	b.park.Mutex.Lock()
	b.sleepers.Add(1)
	if b.phase.Load() > p || b.broken.Load() {
		b.sleepers.Add(-1)
		b.park.Mutex.Unlock()
	} else {
		if b.done == nil {
			b.done = make(chan struct{})
		}
		done := b.done
		b.trace.enter(rec)
		b.park.Mutex.Unlock()
		select {
		case <-done:
			b.leaveSleep(rec)
		case <-quit:
			b.park.Mutex.Lock()
			b.trace.exit(rec)
			if b.done == done { // nobody has reset the count of sleepers
				b.sleepers.Add(-1)
			}
			b.park.Mutex.Unlock()
			if b.phase.Load() > p {
				return nil
			}
			return ctx.Err()
		}
	}
	if b.phase.Load() <= p {
		b.misuse("a wait", "for a completion function that did not return")
	}
	return nil
}

func (b *Barrier) check(op string) {
	if b == nil || b.cond.L == nil {
		panic("mbarrier: " + op + " on a Barrier that is not from New")
	}
}

func (b *Barrier) checkToken(op string, t ArrivalToken) {
	b.check(op)
	switch now := b.phase.Load(); {
	case t.b == nil:
		b.misuse(op, "with the zero token, which no arrival returned")
	case t.b != b:
		b.misuse(op, "with a token of another barrier (%s)", t.b.label())
	case now > t.phase+1:
		b.misuse(op, "with a stale token: it is of phase %d, %d before the current one, and only the current phase and the one before it can be waited for", t.phase, now-t.phase)
	}
}

// parity returns the current phase and whether the phase of that parity is complete.
func (b *Barrier) parity(op string, parity int) (uint64, bool) {
	b.check(op)
	if parity != 0 && parity != 1 {
		b.misuse(op, "for parity %d: a parity is 0 or 1", parity)
	}
	p := b.phase.Load()
	return p, p&1 != uint64(parity)
}

func (b *Barrier) misuse(op, format string, args ...any) {
	panic(fmt.Sprintf("mbarrier: "+op+" "+format+"; "+b.label()+" is at "+b.snapshot(), args...))
}

// snapshot is the ledger without the wait for a completion function.
func (b *Barrier) snapshot() string {
	p, w := b.phase.Load(), Word(b.word.Load()&^latched)
	return State{w, p}.String()
}

// fault says in a sentence why the transition from s was refused.
func (b *Barrier) fault(op string, s State, r Result, arrivals, charge int) {
	why := ""
	switch left := s.Word.Pending(); {
	case r.Fault == ArrivesOver && s.Word.Expected() == 0 && left == 0:
		why = "after everyone has dropped"
	case r.Fault == ArrivesOver:
		why = fmt.Sprintf("over-arrives: %d arriving where the phase still waits for %d", arrivals, left)
	case r.Fault == DropsOver:
		why = fmt.Sprintf("drops %d of %d expected", arrivals, s.Word.Expected())
	case r.Fault == TxOverflow || r.Fault == NoFault:
		why = fmt.Sprintf("overflows the bytes: %d and %+d leave -%d..%d", s.Word.Tx(), charge, MaxTx, MaxTx)
	default:
		why = r.Fault.String()
	}
	panic(fmt.Sprintf("mbarrier: %s %s; %s is at %v", op, why, b.label(), s))
}
