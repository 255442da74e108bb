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

	mu        sync.Mutex
	made      [2]int // producers and consumers created
	roles     [2]int
	end       atomic.Uint64 // items before this index were committed by a producer that has quit
	producers atomic.Int64  // that have not quit
	consumers atomic.Int64
}

// NewPipeline returns a pipeline with the given stages, producers and consumers, each at least 1. WithName
// and WithTrace apply to its barriers; WithCompletion does not.
func NewPipeline(stages, producers, consumers int, opts ...Option) *Pipeline {
	if stages < 1 {
		panic(fmt.Sprintf("mbarrier: NewPipeline with %d stages: at least 1 is needed", stages))
	}
	p := &Pipeline{roles: [2]int{producers, consumers}}
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
		p.full[i].own(consumers)
		p.empty[i].own(producers)
	}
	ring(p.Barriers())
	return p
}

// own reserves the slots of a pipeline's barrier for the one that waits on its side, if it is one. Others may
// wait too, by [Pipeline.Barriers]: they sleep in the crowd.
func (b *Barrier) own(waiters int) { b.few, b.sole = false, waiters == 1 && b.trace == nil }

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

// A place in the sequence of items has the stage that the item uses, and the phase of the stage's barriers.
type place struct {
	item, phase uint64
	stage       int
}

// advance goes to the next item.
func (a *place) advance(p *Pipeline) {
	a.item++
	if a.stage++; a.stage == len(p.full) {
		a.stage = 0
		a.phase++
	}
}

// A Producer is one producer's position in a [Pipeline]. It belongs to one goroutine at a time.
type Producer struct {
	p    *Pipeline
	next place // of the item to acquire
	head place // of the item to commit
	quit bool
}

// Acquire waits until the next stage is free and returns it. It may be called again before Commit, up to
// the number of stages; commits follow the same order. It returns ctx.Err() if ctx is done first and
// [ErrNoConsumers] if all consumers have quit; then no stage is acquired.
func (r *Producer) Acquire(ctx context.Context) (stage int, err error) {
	p := r.p
	switch {
	case r.quit:
		p.empty[0].panics("mbarrier: Acquire after Quit")
	case r.next.item-r.head.item == uint64(len(p.full)):
		p.empty[r.next.stage].panics(fmt.Sprintf("mbarrier: Acquire with all %d stages acquired and none committed", len(p.full)))
	}
	stage = r.next.stage
	if last := r.next.phase - 1; r.next.phase > 0 {
		switch b := p.empty[stage]; {
		case ctx.Done() != nil:
			if err := b.awaitContext(ctx, last); err != nil {
				return 0, err
			}
		case b.sole:
			for !b.over(last) {
				if c := b.bed(last); c != nil {
					c.Wait()
				}
			}
		default:
			b.await(last)
		}
	} else if b := p.empty[stage]; b.trace != nil {
		b.trace.passed(last)
	}
	if p.consumers.Load() == 0 {
		return 0, ErrNoConsumers
	}
	r.next.advance(p)
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
	b := r.p.full[r.oldest("Commit")]
	r.head.advance(r.p)
	if !b.quick() {
		b.arrive("Commit", 1, 0)
	}
}

// CommitTx is ExpectTx and Commit in one step.
func (r *Producer) CommitTx(bytes int) {
	stage := r.oldest("CommitTx")
	r.p.full[stage].arrive("CommitTx", 1, bytes)
	r.head.advance(r.p)
}

func (r *Producer) oldest(op string) int {
	if r.head.item == r.next.item {
		r.none(op)
	}
	return r.head.stage
}

func (r *Producer) none(op string) {
	r.p.full[r.head.stage].panics("mbarrier: " + op + " without a stage acquired")
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
		if end >= r.head.item || p.end.CompareAndSwap(end, r.head.item) {
			break
		}
	}
	p.producers.Add(-1)
	for a := r.head; a.item < r.head.item+uint64(len(p.full)); a.advance(p) {
		p.full[a.stage].leave("Quit", a.phase)
	}
}

// A Consumer is one consumer's position in a [Pipeline]. It belongs to one goroutine at a time.
type Consumer struct {
	p    *Pipeline
	next place // of the item to wait for
	tail place // of the item to release
	quit bool
}

// Wait waits until the next item is full and returns its stage. It may be called again before Release, up
// to the number of stages; releases follow the same order. It returns ctx.Err() if ctx is done first and
// io.EOF if every producer has quit and no item is left.
func (c *Consumer) Wait(ctx context.Context) (stage int, err error) {
	p := c.p
	switch {
	case c.quit:
		p.full[0].panics("mbarrier: Wait after Quit")
	case c.next.item-c.tail.item == uint64(len(p.full)):
		p.full[c.next.stage].panics(fmt.Sprintf("mbarrier: Wait with all %d stages waited for and none released", len(p.full)))
	}
	if p.producers.Load() == 0 && c.next.item >= p.end.Load() {
		return 0, io.EOF
	}
	stage, phase := c.next.stage, c.next.phase
	switch b := p.full[stage]; {
	case ctx.Done() != nil:
		if err := b.awaitContext(ctx, phase); err != nil {
			return 0, err
		}
	case b.sole:
		for !b.over(phase) {
			if c := b.bed(phase); c != nil {
				c.Wait()
			}
		}
	default:
		b.await(phase)
	}
	if p.producers.Load() == 0 && c.next.item >= p.end.Load() {
		return 0, io.EOF
	}
	c.next.advance(p)
	return stage, nil
}

// Release returns the stage of the oldest item waited for to the producers.
func (c *Consumer) Release() {
	if c.tail.item == c.next.item {
		c.p.empty[c.tail.stage].panics("mbarrier: Release without an item waited for")
	}
	b := c.p.empty[c.tail.stage]
	c.tail.advance(c.p)
	if !b.quick() {
		b.arrive("Release", 1, 0)
	}
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
	for a := c.tail; a.item < c.tail.item+uint64(len(p.full)); a.advance(p) {
		p.empty[a.stage].leave("Quit", a.phase)
	}
}
