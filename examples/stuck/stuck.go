// Package stuck has small programs whose goroutines get stuck at barriers, or panic there, each for one famous
// mistake. The reports and pages of mbarrier/mbarriertest are tried with them: run one with mbarriertest.Test.
package stuck

import (
	"context"
	"sync"
	"time"

	"muster/mbarrier"
)

// A Mistake is a program with one.
type Mistake struct {
	Name string
	What string
	Run  func()
}

// All are the mistakes that end in a deadlock.
var All = []Mistake{
	{"skipped-release", "a consumer skips an item, and does not release its slot", SkippedRelease},
	{"deadlock-of-two", "producer and consumer each wait first", DeadlockOfTwo},
	{"one-wait-too-many", "two that take turns, and one of them waits twice", OneWaitTooMany},
	{"early-return", "a worker returns on an error, and arrives no more", EarlyReturn},
	{"wrong-count", "the barrier counts one that only waits", WrongCount},
	{"lapped-wait", "a wait by parity comes when two phases are over", LappedWait},
	{"leaked-slot", "a consumer of a pipeline returns without Release and Quit", LeakedSlot},
	{"missing-bytes", "fewer bytes land than were announced", MissingBytes},
	{"ring-of-five", "five that each wait for the next", RingOfFive},
}

// A ring is what a pipeline is made of: a full and an empty barrier for each slot.
type ring struct {
	full, empty [2]*mbarrier.Barrier
}

func newRing() *ring {
	r := &ring{}
	for i, n := range []string{"[0]", "[1]"} {
		r.full[i], r.empty[i] = mbarrier.New(1, mbarrier.WithName("full"+n)), mbarrier.New(1, mbarrier.WithName("empty"+n))
	}
	return r
}

// SkippedRelease: the consumer has nothing to do with item 3, and goes on without releasing its slot.
func SkippedRelease() {
	r := newRing()
	var wg sync.WaitGroup
	wg.Add(2)
	go producer(r, &wg)
	go consumer(r, &wg)
	wg.Wait()
}

func producer(r *ring, wg *sync.WaitGroup) {
	defer wg.Done()
	for item := range 8 {
		slot, parity := item%2, item/2%2
		r.empty[slot].WaitParity(1 - parity) // parity 1 passes at first: the slot is free
		r.full[slot].Arrive()
	}
}

func consumer(r *ring, wg *sync.WaitGroup) {
	defer wg.Done()
	for item := range 8 {
		slot, parity := item%2, item/2%2
		r.full[slot].WaitParity(parity)
		if item == 3 {
			continue
		}
		r.empty[slot].Arrive()
	}
}

// DeadlockOfTwo: the producer waits for a slot that is free at first, by the parity of a phase that nobody ends.
func DeadlockOfTwo() {
	full, empty := mbarrier.New(1, mbarrier.WithName("full")), mbarrier.New(1, mbarrier.WithName("empty"))
	go fill(full, empty)
	drain(full, empty)
}

func fill(full, empty *mbarrier.Barrier) {
	empty.WaitParity(0)
	full.Arrive()
}

func drain(full, empty *mbarrier.Barrier) {
	full.WaitParity(0)
	empty.Arrive()
}

// OneWaitTooMany: they take turns, and ping waits for two turns of pong at once.
func OneWaitTooMany() {
	a, b := mbarrier.New(1, mbarrier.WithName("ping")), mbarrier.New(1, mbarrier.WithName("pong"))
	go ping(a, b)
	pong(a, b)
}

func ping(a, b *mbarrier.Barrier) {
	for turn := range 4 {
		a.Arrive()
		b.WaitParity(turn % 2)
		if turn == 2 {
			b.WaitParity(1 - turn%2)
		}
	}
}

func pong(a, b *mbarrier.Barrier) {
	for turn := range 4 {
		a.WaitParity(turn % 2)
		b.Arrive()
	}
}

// EarlyReturn: one of three workers fails at item 2 and returns, without ArriveAndDrop.
func EarlyReturn() {
	step := mbarrier.New(3, mbarrier.WithName("step"))
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go worker(step, &wg, i == 1)
	}
	wg.Wait()
}

func worker(step *mbarrier.Barrier, wg *sync.WaitGroup, fails bool) {
	defer wg.Done()
	for item := range 4 {
		if fails && item == 2 {
			return
		}
		step.ArriveAndWait()
	}
}

// WrongCount: the barrier counts the coordinator too, which only waits.
func WrongCount() {
	const workers = 4
	done := mbarrier.New(workers+1, mbarrier.WithName("done"))
	for range workers {
		go finish(done)
	}
	done.WaitParity(0)
}

func finish(done *mbarrier.Barrier) { done.Arrive() }

// TooMany is the other wrong count: the barrier counts one too few, and the last arrival panics.
func TooMany() {
	done := mbarrier.New(2, mbarrier.WithName("done"))
	done.ArriveN(3)
}

// LappedWait: the watcher comes when two phases are over, and its parity is that of a phase to come.
func LappedWait() {
	frame := mbarrier.New(1, mbarrier.WithName("frame"))
	go render(frame)
	watch(frame)
}

func render(frame *mbarrier.Barrier) {
	for range 2 {
		frame.Arrive()
	}
}

func watch(frame *mbarrier.Barrier) {
	time.Sleep(time.Second) // of the bubble's clock: the others are done
	frame.WaitParity(0)
}

// LeakedSlot: one of two consumers returns while it holds a stage.
func LeakedSlot() {
	ctx := context.Background()
	p := mbarrier.NewPipeline(2, 1, 2, mbarrier.WithName("ring"))
	go read(ctx, p.Producer())
	go hash(ctx, p.Consumer())
	write(ctx, p.Consumer())
}

func read(ctx context.Context, p *mbarrier.Producer) {
	defer p.Quit()
	for range 6 {
		if _, err := p.Acquire(ctx); err != nil {
			return
		}
		p.Commit()
	}
}

func hash(ctx context.Context, c *mbarrier.Consumer) {
	for item := 0; ; item++ {
		if _, err := c.Wait(ctx); err != nil || item == 3 {
			return // neither Release nor Quit
		}
		c.Release()
	}
}

func write(ctx context.Context, c *mbarrier.Consumer) {
	for {
		if _, err := c.Wait(ctx); err != nil {
			return
		}
		c.Release()
	}
}

// MissingBytes: 64 bytes are announced and 40 land.
func MissingBytes() {
	ctx := context.Background()
	p := mbarrier.NewPipeline(2, 1, 1, mbarrier.WithName("ring"))
	go load(ctx, p)
	p.Consumer().Wait(ctx)
}

func load(ctx context.Context, p *mbarrier.Pipeline) {
	r := p.Producer()
	stage, _ := r.Acquire(ctx)
	r.CommitTx(64)
	p.CompleteTx(stage, 40)
}

// RingOfFive: five goroutines hand a token round, and each waits for its neighbour before it hands it on.
func RingOfFive() {
	var forks [5]*mbarrier.Barrier
	for i, n := range []string{"a", "b", "c", "d", "e"} {
		forks[i] = mbarrier.New(1, mbarrier.WithName(n))
	}
	var wg sync.WaitGroup
	for i := range forks {
		wg.Add(1)
		go neighbour(forks[i], forks[(i+1)%len(forks)], &wg)
	}
	wg.Wait()
}

func neighbour(mine, next *mbarrier.Barrier, wg *sync.WaitGroup) {
	defer wg.Done()
	mine.Arrive() // the first round needs nobody
	next.WaitParity(0)
	next.WaitParity(1)
	mine.Arrive()
}
