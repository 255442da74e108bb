package mbarrier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// ErrNoConsumers is what [Producer.Acquire] returns once every consumer has quit.
var ErrNoConsumers = errors.New("mbarrier: every consumer of the pipeline has quit")

// A Pipeline hands the stages of a ring from producers to consumers and back: the ring of full and empty
// mbarriers at the core of Hopper kernels, with the operations of cuda::pipeline in libcu++. It holds no
// data: a stage is a number, and its data (a buffer, a row of one) belong to the caller.
//
// Item k uses stage k modulo the number of stages. Every producer contributes to every item, and every
// consumer sees every item: full[stage] expects one arrival of each producer, and the bytes that they
// expect; empty[stage] one of each consumer. With one of each it is a queue whose slots are filled in
// place. With byte counts it includes asynchronous I/O: the producer commits an item whose bytes are still
// in flight, the I/O code reports them to [Pipeline.CompleteTx], and the consumer waits for both.
//
// Memory order: what the producers did to an item before Commit, and the I/O before CompleteTx, is visible
// to consumers after Wait; what the consumers did before Release is visible to producers after the Acquire
// of the same stage's next item.
type Pipeline struct {
	full, empty []*Barrier

	mu         sync.Mutex
	made       [2]int // producers and consumers created
	roles      [2]int
	end        atomic.Uint64 // items before this index were committed by a producer that has quit
	producers  atomic.Int64  // that have not quit
	consumers  atomic.Int64
	stageCount uint64
}

// NewPipeline returns a pipeline with the given stages, producers and consumers, each at least 1. WithName
// and WithTrace apply to its barriers; WithCompletion does not.
func NewPipeline(stages, producers, consumers int, opts ...Option) *Pipeline {
	if stages < 1 {
		panic(fmt.Sprintf("mbarrier: NewPipeline with %d stages: at least 1 is needed", stages))
	}
	p := &Pipeline{roles: [2]int{producers, consumers}, stageCount: uint64(stages)}
	p.producers.Store(int64(producers))
	p.consumers.Store(int64(consumers))
	var proto Barrier
	for _, o := range opts {
		o(&proto)
	}
	name := proto.name
	if name != "" {
		name += "."
	}
	opts = append(opts[:len(opts):len(opts)], WithCompletion(nil))
	t := newTuner(producers + consumers) // one for all: who waits here has just arrived there
	for i := range stages {
		p.full = append(p.full, New(producers, append(opts[:len(opts):len(opts)], WithName(fmt.Sprintf("%sfull[%d]", name, i)))...))
		p.empty = append(p.empty, New(consumers, append(opts[:len(opts):len(opts)], WithName(fmt.Sprintf("%sempty[%d]", name, i)))...))
		p.full[i].tuner, p.empty[i].tuner = t, t
		p.full[i].paces, p.empty[i].paces = i == 0, false
		p.full[i].few, p.empty[i].few = consumers == 1, producers == 1
	}
	return p
}

// Stages returns the number of stages.
func (p *Pipeline) Stages() int { return len(p.full) }

// Barriers returns the pipeline's barriers, full and empty of each stage in turn, for [Dump].
func (p *Pipeline) Barriers() []*Barrier {
	var all []*Barrier
	for i := range p.full {
		all = append(all, p.full[i], p.empty[i])
	}
	return all
}

// CompleteTx reports that bytes of the item in that stage have landed. The I/O code calls it.
func (p *Pipeline) CompleteTx(stage, bytes int) { p.full[stage].CompleteTx(bytes) }

// Producer creates one of the producers; it panics when there are no more.
func (p *Pipeline) Producer() *Producer {
	p.take(0, "producer")
	return &Producer{p: p}
}

// Consumer creates one of the consumers; it panics when there are no more.
func (p *Pipeline) Consumer() *Consumer {
	p.take(1, "consumer")
	return &Consumer{p: p}
}

func (p *Pipeline) take(side int, who string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made[side]++; p.made[side] > p.roles[side] {
		panic(fmt.Sprintf("mbarrier: %s %d of a pipeline that was made for %d", who, p.made[side], p.roles[side]))
	}
}

func (p *Pipeline) at(k uint64) (stage int, phase uint64) {
	return int(k % p.stageCount), k / p.stageCount
}

// A Producer is one producer's position in a [Pipeline]. It belongs to one goroutine at a time.
type Producer struct {
	p    *Pipeline
	next uint64 // item to acquire
	head uint64 // item to commit
	quit bool
}

// Acquire waits until the next stage is free and returns it. It may be called again before Commit, up to
// the number of stages; commits follow the same order. It returns ctx.Err() if ctx is done first and
// [ErrNoConsumers] if all consumers have quit; then no stage is acquired.
func (r *Producer) Acquire(ctx context.Context) (stage int, err error) {
	p := r.p
	switch {
	case r.quit:
		panic("mbarrier: Acquire after Quit")
	case r.next-r.head == p.stageCount:
		panic(fmt.Sprintf("mbarrier: Acquire with all %d stages acquired and none committed", p.stageCount))
	}
	stage, phase := p.at(r.next)
	if phase > 0 {
		if b := p.empty[stage]; ctx.Done() == nil {
			b.await(phase - 1)
		} else if err := b.awaitContext(ctx, phase-1); err != nil {
			return 0, err
		}
	}
	if p.consumers.Load() == 0 {
		return 0, ErrNoConsumers
	}
	r.next++
	return stage, nil
}

// ExpectTx raises the tx-count of the item that the next Commit commits: it is full only after
// [Pipeline.CompleteTx] has reported these bytes.
func (r *Producer) ExpectTx(bytes int) {
	stage := r.oldest("ExpectTx")
	r.p.full[stage].ExpectTx(bytes)
}

// Commit completes this producer's part of the oldest acquired item.
func (r *Producer) Commit() {
	stage := r.oldest("Commit")
	r.head++
	r.p.full[stage].arrive("Commit", 1, 0)
}

// CommitTx is ExpectTx and Commit in one step.
func (r *Producer) CommitTx(bytes int) {
	stage := r.oldest("CommitTx")
	r.p.full[stage].arrive("CommitTx", 1, bytes)
	r.head++
}

func (r *Producer) oldest(op string) int {
	if r.head == r.next {
		panic("mbarrier: " + op + " without a stage acquired")
	}
	stage, _ := r.p.at(r.head)
	return stage
}

// Quit leaves the pipeline: later items do not wait for this producer. When all have quit, consumers get
// io.EOF after the last item that any of them committed. Quitting again does nothing.
func (r *Producer) Quit() {
	if r.quit {
		return
	}
	r.quit = true
	p := r.p
	for {
		end := p.end.Load()
		if end >= r.head || p.end.CompareAndSwap(end, r.head) {
			break
		}
	}
	p.producers.Add(-1)
	for k := r.head; k < r.head+p.stageCount; k++ {
		stage, phase := p.at(k)
		p.full[stage].leave("Quit", phase)
	}
}

// A Consumer is one consumer's position in a [Pipeline]. It belongs to one goroutine at a time.
type Consumer struct {
	p    *Pipeline
	next uint64 // item to wait for
	tail uint64 // item to release
	quit bool
}

// Wait waits until the next item is full and returns its stage. It may be called again before Release, up
// to the number of stages; releases follow the same order. It returns ctx.Err() if ctx is done first and
// io.EOF if every producer has quit and no item is left.
func (c *Consumer) Wait(ctx context.Context) (stage int, err error) {
	p := c.p
	switch {
	case c.quit:
		panic("mbarrier: Wait after Quit")
	case c.next-c.tail == p.stageCount:
		panic(fmt.Sprintf("mbarrier: Wait with all %d stages waited for and none released", p.stageCount))
	}
	if p.producers.Load() == 0 && c.next >= p.end.Load() {
		return 0, io.EOF
	}
	stage, phase := p.at(c.next)
	if b := p.full[stage]; ctx.Done() == nil {
		b.await(phase)
	} else if err := b.awaitContext(ctx, phase); err != nil {
		return 0, err
	}
	if p.producers.Load() == 0 && c.next >= p.end.Load() {
		return 0, io.EOF
	}
	c.next++
	return stage, nil
}

// Release returns the stage of the oldest item waited for to the producers.
func (c *Consumer) Release() {
	if c.tail == c.next {
		panic("mbarrier: Release without an item waited for")
	}
	stage, _ := c.p.at(c.tail)
	c.tail++
	c.p.empty[stage].arrive("Release", 1, 0)
}

// Quit leaves the pipeline: stages are freed without this consumer. When all have quit, producers get
// [ErrNoConsumers]. Quitting again does nothing.
func (c *Consumer) Quit() {
	if c.quit {
		return
	}
	c.quit = true
	p := c.p
	p.consumers.Add(-1)
	for k := c.tail; k < c.tail+p.stageCount; k++ {
		stage, phase := p.at(k)
		p.empty[stage].leave("Quit", phase)
	}
}
