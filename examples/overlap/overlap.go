package main

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"muster/mbarrier"
)

// A job copies size bytes in chunks, stages of them at a time. Each chunk is read in parts, by
// goroutines that stand for an I/O queue and finish in any order.
type job struct {
	from   io.ReaderAt
	to     io.WriterAt
	size   int64
	chunk  int
	stages int
	done   func(offset int64, asked time.Time) // called when that chunk is hashed and written, to measure
}

const parts = 2

// chunks yields each chunk's offset and length.
func (j job) chunks(yield func(offset int64, n int) bool) {
	for at := int64(0); at < j.size; at += int64(j.chunk) {
		if !yield(at, int(min(int64(j.chunk), j.size-at))) {
			return
		}
	}
}

// A request reads a part of a chunk and reports its bytes when they have landed. After an error it
// reports them too, so that no wait hangs, and the job fails.
type request struct {
	into   []byte
	offset int64
	landed func(bytes int)
}

// readers serves requests until the channel is closed.
func (j job) readers(wg *sync.WaitGroup, queue chan request, fail func(error)) {
	for range parts {
		wg.Go(func() {
			for r := range queue {
				if _, err := j.from.ReadAt(r.into, r.offset); err != nil {
					fail(err)
				}
				r.landed(len(r.into))
			}
		})
	}
}

// ask queues the parts of a chunk.
func ask(queue chan<- request, buf []byte, offset int64, landed func(int)) {
	for i := range parts {
		lo, hi := i*len(buf)/parts, (i+1)*len(buf)/parts
		queue <- request{buf[lo:hi], offset + int64(lo), landed}
	}
}

func viaPipeline(ctx context.Context, j job) ([32]byte, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var wg sync.WaitGroup
	queue := make(chan request, parts*j.stages)
	j.readers(&wg, queue, fail)

	p := mbarrier.NewPipeline(j.stages, 1, 2, mbarrier.WithName("copy"))
	type slot struct {
		offset int64
		buf    []byte
		asked  time.Time
		left   atomic.Int32
		landed func(int)
	}
	slots := make([]slot, j.stages)
	for s := range slots {
		slots[s].buf = make([]byte, j.chunk)
		slots[s].landed = func(n int) { p.CompleteTx(s, n) }
	}

	wg.Go(func() {
		r := p.Producer()
		defer r.Quit()
		defer close(queue)
		for offset, n := range j.chunks {
			s, err := r.Acquire(ctx)
			if err != nil {
				return
			}
			slot := &slots[s]
			slot.offset, slot.buf, slot.asked = offset, slot.buf[:n], time.Now()
			slot.left.Store(2)
			r.CommitTx(n) // full when all n bytes have landed
			ask(queue, slot.buf, offset, slot.landed)
		}
	})
	consume := func(use func(offset int64, chunk []byte) error) {
		c := p.Consumer()
		wg.Go(func() {
			defer c.Quit()
			for {
				s, err := c.Wait(ctx)
				if err != nil {
					return
				}
				slot := &slots[s]
				if err := use(slot.offset, slot.buf); err != nil {
					fail(err)
					return
				}
				if slot.left.Add(-1) == 0 && j.done != nil {
					j.done(slot.offset, slot.asked)
				}
				c.Release()
			}
		})
	}
	hash := sha256.New()
	consume(func(_ int64, chunk []byte) error { hash.Write(chunk); return nil })
	consume(func(offset int64, chunk []byte) error { _, err := j.to.WriteAt(chunk, offset); return err })
	wg.Wait()
	return [32]byte(hash.Sum(nil)), context.Cause(ctx)
}

func viaChannels(ctx context.Context, j job) ([32]byte, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var wg sync.WaitGroup
	queue := make(chan request, parts*j.stages)
	j.readers(&wg, queue, fail)

	type slot struct {
		offset  int64
		buf     []byte
		asked   time.Time
		left    atomic.Int32
		missing atomic.Int64
		full    chan struct{} // holds one message for each consumer
		landed  func(int)
	}
	free := make(chan *slot, j.stages)
	to := [2]chan *slot{make(chan *slot, j.stages), make(chan *slot, j.stages)}
	for range j.stages {
		s := &slot{buf: make([]byte, j.chunk), full: make(chan struct{}, 2)}
		s.landed = func(n int) {
			if s.missing.Add(-int64(n)) == 0 {
				s.full <- struct{}{}
				s.full <- struct{}{}
			}
		}
		free <- s
	}

	wg.Go(func() {
		defer close(to[0])
		defer close(to[1])
		defer close(queue)
		for offset, n := range j.chunks {
			var s *slot
			select {
			case s = <-free:
			case <-ctx.Done():
				return
			}
			s.offset, s.buf, s.asked = offset, s.buf[:n], time.Now()
			s.left.Store(2)
			s.missing.Store(int64(n))
			to[0] <- s
			to[1] <- s
			ask(queue, s.buf, offset, s.landed)
		}
	})
	consume := func(in chan *slot, use func(offset int64, chunk []byte) error) {
		wg.Go(func() {
			for s := range in {
				select {
				case <-s.full:
				case <-ctx.Done():
					return
				}
				if err := use(s.offset, s.buf); err != nil {
					fail(err)
					return
				}
				if s.left.Add(-1) == 0 {
					if j.done != nil {
						j.done(s.offset, s.asked)
					}
					free <- s
				}
			}
		})
	}
	hash := sha256.New()
	consume(to[0], func(_ int64, chunk []byte) error { hash.Write(chunk); return nil })
	consume(to[1], func(offset int64, chunk []byte) error { _, err := j.to.WriteAt(chunk, offset); return err })
	wg.Wait()
	return [32]byte(hash.Sum(nil)), context.Cause(ctx)
}

// oneByOne reads, hashes and writes in turn: what the overlap is worth.
func oneByOne(_ context.Context, j job) ([32]byte, error) {
	hash, buf := sha256.New(), make([]byte, j.chunk)
	for offset, n := range j.chunks {
		asked := time.Now()
		if _, err := j.from.ReadAt(buf[:n], offset); err != nil {
			return [32]byte{}, err
		}
		hash.Write(buf[:n])
		if _, err := j.to.WriteAt(buf[:n], offset); err != nil {
			return [32]byte{}, err
		}
		if j.done != nil {
			j.done(offset, asked)
		}
	}
	return [32]byte(hash.Sum(nil)), nil
}
