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

// What a Barrier keeps in one atomic word is a [Word] in which the number of the phase, but for its parity,
// stands in the place of the expected count. So an operation is one compare-and-swap, and one that was
// overtaken by whole phases fails, though the counts look the same. Two bits that a Word has no use for here:
const (
	latched  = 1              // somebody has taken the word away, to return it changed
	careful  = uint64(poison) // a transition needs the latch: there is more to do than to change the word
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
	// Those that arrive, spin or park share this line.
	word     atomic.Uint64
	park     parkLock
	sleepers atomic.Int32 // goroutines parked for the current phase; rises under park.Mutex
	parks    atomic.Int32 // waits that park at once
	cond     sync.Cond
	done     chan struct{} // under park.Mutex: closed when the phase completes, made by WaitContext
	_        [40]byte

	// These seldom change: under the latch.
	epoch      atomic.Uint64 // the high bits of the phase
	expected   atomic.Uint32
	completing atomic.Bool  // the latch is held for a completion function
	broken     atomic.Bool  // a completion function did not return
	spare      uint8        // processors
	careful    bool         // what the word's bit starts each phase with
	due        uint32       // arrivals to drop when the next phase starts
	nextParks  atomic.Int32 // parks after the next vain look
	completion func()
	trace      *trace
	name       string
	_          [56]byte // makes it a size whose objects start at a cache line
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
	b.cond.L = &b.park
	b.spare = spare(expected)
	b.nextParks.Store(1)
	if tracing.Load() {
		b.trace = new(trace)
	}
	for _, o := range opts {
		o(b)
	}
	if b.trace != nil {
		register(b)
	}
	b.careful = b.trace != nil || b.completion != nil
	w, _ := Init(uint32(expected))
	b.expected.Store(uint32(expected))
	b.word.Store(pack(w, 0) | b.mark())
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
func (b *Barrier) ArriveAndWait() {
	b.check("ArriveAndWait")
	b.await(b.do("ArriveAndWait", change{count: 1}))
}

// ArriveAndDrop arrives once and leaves: this phase waits for one arrival less, and so does each later
// one. When all have dropped, nobody can arrive any more.
func (b *Barrier) ArriveAndDrop() {
	b.check("ArriveAndDrop")
	b.latchedDo("ArriveAndDrop", change{count: 1, drop: 1})
}

// ExpectTx has the current phase wait for so many more bytes, 0 to [MaxTx]. It does not arrive. So that
// the phase cannot complete before the bytes were announced, announce them before the arrival that would
// complete it, or with it: see [Barrier.ArriveTx].
func (b *Barrier) ExpectTx(bytes int) { b.transact("ExpectTx", bytes, -1) }

// CompleteTx reports that so many bytes, 0 to [MaxTx], have landed. They may land before they are
// announced: the balance is then below zero until they are, and the phase goes on. Bytes that come after
// the phase has completed count in the next one.
func (b *Barrier) CompleteTx(bytes int) { b.transact("CompleteTx", bytes, 1) }

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
	return b.now() > t.phase
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

// A change is what an operation does to the word: the arguments of [Word.transact].
type change struct {
	bytes       uint32
	delta       int32
	count, drop uint32
}

func (c change) of(w Word) (Word, Result) { return w.transact(c.bytes, c.delta, c.count, c.drop) }

// do makes a change and returns the phase that it took effect in.
func (b *Barrier) do(op string, c change) uint64 {
	for {
		epoch, v := b.epoch.Load(), b.word.Load()
		if v&(latched|careful) != 0 {
			return b.latchedDo(op, c)
		}
		p := epoch<<lowBits | low(v)
		// With no bytes about, an arrival is what the word was made for: the counts are negated, so it
		// is an addition, and the carry ends the phase. That is all of Word.Arrive in a few
		// instructions, in which there is little time to be overtaken.
		if f := v>>pendingShift&countMask + uint64(c.count); c.bytes == 0 && f > uint64(c.count) && c.count > 0 {
			next := v + uint64(c.count)<<pendingShift
			if f <= countMask {
				if b.word.CompareAndSwap(v, next) {
					return b.recent(p, epoch)
				}
				continue
			}
			if f == 1<<20 && v>>txShift&txMask == 0 && low(v) != lowMask {
				next = next&^ownField | uint64(-b.expected.Load()&countMask)<<pendingShift | (p+1)>>1&countMask<<expectedShift
				if !b.word.CompareAndSwap(v, next) {
					continue
				}
				if b.sleepers.Load() != 0 {
					b.wake()
				}
				return b.recent(p, epoch)
			}
		}
		next, r := c.of(unpack(v, b.expected.Load()))
		after := p
		if r.Completed {
			after++
		}
		if refused(r) || after>>lowBits != p>>lowBits {
			return b.latchedDo(op, c)
		}
		if !b.word.CompareAndSwap(v, pack(next, after)) {
			continue
		}
		if r.Completed && b.sleepers.Load() != 0 {
			b.wake()
		}
		return b.recent(p, epoch)
	}
}

// recent returns the phase p of a change that was made in it. Where the epoch changed before or after the
// change, its low bits are right: then it is the last such phase up to now, unless this goroutine was held up
// for two million phases.
func (b *Barrier) recent(p, epoch uint64) uint64 {
	if b.epoch.Load() == epoch {
		return p
	}
	now := b.now()
	return now - (now-p)&lowMask
}

// refused tells what a Barrier does not do: what faults, and the one tx-count that the card allows and the
// ISA does not.
func refused(r Result) bool { return r.Fault != NoFault || r.Undefined&TxRange != 0 }

// latch takes the word away and returns it with the phase that it is in.
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
			// The order of the two loads matters: a phase read first is at most the one whose
			// completion function is then seen to run.
			if p := b.now(); b.completing.Load() {
				b.await(p)
			} else {
				runtime.Gosched()
			}
		}
	}
}

// latchedDo is do with all that may come with a change.
func (b *Barrier) latchedDo(op string, c change) uint64 {
	p, v := b.latch(op)
	w := unpack(v, b.expected.Load())
	next, r := c.of(w)
	if refused(r) {
		b.word.Store(v)
		b.refuse(op, State{w, p}, r, c)
	}
	if b.trace != nil {
		b.trace.note(p, int(c.count), -int(c.delta))
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
		}
		b.epoch.Store(after >> lowBits)
		mark = b.mark()
	}
	b.expected.Store(next.Expected())
	b.word.Store(pack(next, after) | mark)
	if after != p && b.sleepers.Load() != 0 {
		b.wake()
	}
	return p
}

func (b *Barrier) mark() uint64 {
	if b.careful {
		return careful
	}
	return 0
}

// leave takes one participant away who has arrived in every phase before p and in none from p on. The
// current phase is p or p-1; in the latter the arrival waits for p to start.
func (b *Barrier) leave(op string, p uint64) {
	now, v := b.latch(op)
	if now < p {
		b.due++
		b.word.Store(v | careful)
		return
	}
	b.word.Store(v) // nobody can complete p meanwhile: it waits for this arrival
	b.latchedDo(op, change{count: 1, drop: 1})
}

// complete runs the completion function under the latch. Where it does not return, v is what remains.
func (b *Barrier) complete(v uint64) {
	returned := false
	b.completing.Store(true)
	defer func() {
		if !returned {
			b.broken.Store(true)
			b.word.Store(v)
		}
		b.completing.Store(false)
		if !returned {
			b.wake()
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

// look returns the phase and the word of one moment. It does not wait for a completion function.
func (b *Barrier) look() (phase, v uint64) {
	for tries := 1; ; tries++ {
		epoch := b.epoch.Load()
		v := b.word.Load()
		p := epoch<<lowBits | low(v)
		switch {
		case v&latched == 0 || low(v) != lowMask: // the word has the epoch that it was stored with
			if b.epoch.Load() == epoch {
				return p, v
			}
		case b.completing.Load(): // the epoch changes after the completion function, if it does
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

// A waiter looks for a while whether the phase completes: about as long as it takes to wake another processor.
// It looks in vain where what it waits for takes longer, or needs the processor that it spins on; so after a
// vain look the next waits park at once, more of them each time.
const (
	looks     = 20_000
	mostParks = 1 << 9
)

// Where there are more participants than processors, some of them may need the one that a waiter would spin
// on. A few take turns; a crowd would spend more on the queue they take turns in than on parking.
const (
	enough = iota // processors
	few
	none
)

func spare(expected int) uint8 {
	switch procs := runtime.GOMAXPROCS(0); {
	case expected > 8*procs:
		return none
	case expected > procs || procs == 1:
		return few
	}
	return enough
}

// await returns when the phase is past p.
func (b *Barrier) await(p uint64) {
	if !b.soon(p) {
		b.sleep(p)
	}
}

// soon reports whether the phase comes past p in the time that parking would take.
func (b *Barrier) soon(p uint64) bool {
	if low(b.word.Load()) != p&lowMask {
		return true
	}
	switch b.spare {
	case few:
		runtime.Gosched() // lets those that are ready arrive
		return low(b.word.Load()) != p&lowMask
	case none:
		return false
	}
	if n := b.parks.Load(); n > 0 {
		if b.parks.Store(n - 1); n == 1 {
			runtime.Gosched() // puts this goroutine where any processor finds it
		}
		return b.now() > p
	}
	next := b.nextParks.Load()
	for range looks {
		if low(b.word.Load()) != p&lowMask {
			if next > 1 {
				b.nextParks.Store(1)
			}
			return true
		}
	}
	b.parks.Store(next)
	b.nextParks.Store(min(2*next, mostParks))
	return b.now() > p
}

// sleep parks until the phase is past p. Either it sees the phase that do has stored, or do sees the
// sleeper that it has counted. It may be woken for a phase before p, by who was slow to wake.
func (b *Barrier) sleep(p uint64) {
	rec := b.sleeper()
	for b.enter(p, rec) {
		b.cond.Wait() // unlocks park.Mutex
		b.exit(rec)
		if b.now() > p {
			return
		}
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
	rec := b.sleeper()
	for b.enter(p, rec) {
		if b.done == nil {
			b.done = make(chan struct{})
		}
		done := b.done
		b.park.Mutex.Unlock()
		select {
		case <-done:
			b.exit(rec)
			if b.now() > p {
				return nil
			}
		case <-quit:
			b.park.Mutex.Lock()
			if b.done == done { // nobody has reset the count of sleepers
				b.sleepers.Add(-1)
			}
			b.park.Mutex.Unlock()
			b.exit(rec)
			if b.now() > p {
				return nil
			}
			return ctx.Err()
		}
	}
	return nil
}

// sleeper returns what the trace shows of a goroutine that parks, if there is a trace.
func (b *Barrier) sleeper() *sleeper {
	if b.trace == nil {
		return nil
	}
	return newSleeper()
}

// enter returns false when the phase is past p. Otherwise it has counted a sleeper and holds park.Mutex.
func (b *Barrier) enter(p uint64, rec *sleeper) bool {
	b.park.Mutex.Lock()
	b.sleepers.Add(1)
	past, broken := low(b.word.Load()) != p&lowMask, b.broken.Load()
	if !past && !broken {
		b.trace.enter(rec)
		return true
	}
	b.sleepers.Add(-1)
	b.park.Mutex.Unlock()
	if !past {
		b.misuse("a wait", "for a completion function that did not return")
	}
	return false
}

func (b *Barrier) exit(rec *sleeper) {
	if rec != nil {
		b.park.Mutex.Lock()
		b.trace.exit(rec)
		b.park.Mutex.Unlock()
	}
}

func (b *Barrier) check(op string) {
	if b == nil || b.cond.L == nil {
		panic("mbarrier: " + op + " on a Barrier that is not from New")
	}
}

func (b *Barrier) checkToken(op string, t ArrivalToken) {
	b.check(op)
	switch now := b.now(); {
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
	p := b.now()
	return p, p&1 != uint64(parity)
}

func (b *Barrier) misuse(op, format string, args ...any) {
	panic(fmt.Sprintf("mbarrier: "+op+" "+format+"; "+b.label()+" is at "+b.State().String(), args...))
}

// refuse says in a sentence why c cannot be done in s.
func (b *Barrier) refuse(op string, s State, r Result, c change) {
	why := ""
	switch left := s.Word.Pending(); {
	case r.Fault == ArrivesOver && s.Word.Expected() == 0 && left == 0:
		why = "after everyone has dropped"
	case r.Fault == ArrivesOver:
		why = fmt.Sprintf("over-arrives: %d arriving where the phase still waits for %d", c.count, left)
	case r.Fault == DropsOver:
		why = fmt.Sprintf("drops %d of %d expected", c.drop, s.Word.Expected())
	case r.Fault == TxOverflow || r.Fault == NoFault:
		why = fmt.Sprintf("overflows the bytes: %d and %+d leave -%d..%d", s.Word.Tx(), -c.delta, MaxTx, MaxTx)
	default:
		why = r.Fault.String()
	}
	panic(fmt.Sprintf("mbarrier: %s %s; %s is at %v", op, why, b.label(), s))
}
