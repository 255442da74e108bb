package mbarrier_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "muster/mbarrier"
)

// The behaviour that libcu++ tests of its barrier, its pipeline and memcpy_async, restated. The files are
// those of github.com/NVIDIA/cccl at 571f2fc3, under libcudacxx/test/libcudacxx.
//
//	std/thread/thread.barrier/arrive.pass.cpp                      TestLibArrive
//	std/thread/thread.barrier/arrive_and_drop.pass.cpp             TestLibArriveAndDrop
//	std/thread/thread.barrier/arrive_and_wait.pass.cpp             TestLibArriveAndWait
//	std/thread/thread.barrier/completion.pass.cpp                  TestLibCompletion
//	std/thread/thread.barrier/max.pass.cpp                         TestLibMax
//	std/thread/thread.barrier/try_wait_for.pass.cpp                TestLibTryWaitFor
//	std/thread/thread.barrier/try_wait_until.pass.cpp              TestLibTryWaitFor
//	std/thread/thread.barrier/try_wait_parity_for.pass.cpp         TestLibTryWaitParity
//	std/thread/thread.barrier/try_wait_parity_until.pass.cpp       TestLibTryWaitParity
//	heterogeneous/barrier.pass.cpp                                 TestLibTokenShared, TestLibCompletionOncePerPhase
//	heterogeneous/barrier_parity.{cuda,std}.pass.cpp               TestLibParityBeforeArrival
//	cuda/barrier/init.pass.cpp                                     TestLibInit
//	cuda/barrier/native_handle.pass.cpp                            TestLibNativeHandle
//	cuda/barrier/arrive_tx.h, arrive_tx_{cta,thread,warp}.pass.cpp TestLibArriveTx, one step
//	cuda/barrier/expect_tx_{cta,thread,warp}.pass.cpp              TestLibArriveTx, two steps
//	cuda/barrier/cp_async_bulk.pass.cpp                            TestLibBulkCopy
//	cuda/barrier/cp_async_bulk_tensor_{1,2,3,4,5}d.pass.cpp        TestLibBulkCopy: to the barrier they are one
//	cuda/memcpy_async/memcpy_async_{8,16,32,64,large}.pass.cpp     TestLibMemcpyAsync
//	cuda/memcpy_async/memcpy_async_block.pass.cpp                  TestLibGroupMemcpyAsync
//	cuda/memcpy_async/group_memcpy_async_{16b,32b,64b}.pass.cpp    TestLibGroupMemcpyAsync
//	cuda/memcpy_async/memcpy_async_tx.pass.cpp                     TestLibBulkCopy
//	cuda/pipeline/pipeline_arrive_on.pass.cpp                      TestLibArriveOn
//	cuda/pipeline/pipeline_divergent_threads.pass.cpp              TestLibDivergentThreads
//	cuda/pipeline/pipeline_memcpy_async_producer_consumer.pass.cpp TestLibProducerConsumer
//	cuda/pipeline/pipeline_memcpy_async_thread_scope_*.pass.cpp    TestLibUnifiedPipeline
//	cuda/pipeline/pipeline_group_concept_*.pass.cpp                TestLibUnifiedPipeline, of one thread
//
// Tests of the language or the hardware have no counterpart: version.pass.cpp, arrive_tx_feature_test,
// cp_async_bulk_feature_test, cp_async_bulk_ptx_compiles and the ptx.*.compile tests (does it compile),
// arrive_tx_static_asserts_pre_sm90.fail (does it refuse old hardware), arrive_tx_{cluster,device}.runfail
// and expect_tx_device.runfail (does it refuse a barrier outside shared memory of the CTA),
// memcpy_async/preconditions (alignment and overlap of the copied ranges), annotated_ptr/memcpy_async (cache
// hints), and the thread scopes and memory spaces that each test repeats.

// together runs each function on a goroutine and waits for all.
func together(fs ...func()) {
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(f)
	}
	wg.Wait()
}

// One goroutine arrives on behalf of another, and a third waits with the token. Then one arrives for both.
func TestLibArrive(t *testing.T) {
	b := New(2)
	token := b.Arrive()
	together(
		func() { b.Wait(token) },
		func() { b.Arrive() },
	)
	b.Wait(b.ArriveN(2))
	if s := b.State(); s.Phase != 2 {
		t.Error(s)
	}
}

// One leaves; in the second phase the other is the only participant.
func TestLibArriveAndDrop(t *testing.T) {
	b := New(2)
	together(
		func() { b.ArriveAndDrop() },
		func() { b.ArriveAndWait(); b.ArriveAndWait() },
	)
	if s := b.State(); s.Phase != 2 || s.Word.Expected() != 1 {
		t.Error(s)
	}
}

func TestLibArriveAndWait(t *testing.T) {
	b := New(2)
	worker := func() {
		for range 10 {
			b.ArriveAndWait()
		}
	}
	together(worker, worker)
	if s := b.State(); s.Phase != 10 {
		t.Error(s)
	}
}

// All waiters see the completion function's plain writes, and so do goroutines that join them.
func TestLibCompletion(t *testing.T) {
	x := 0
	b := New(2, WithCompletion(func() { x++ }))
	worker := func() {
		for range 10 {
			b.ArriveAndWait()
		}
		if x != 10 {
			t.Errorf("a worker sees %d", x)
		}
	}
	together(worker, worker)
	if x != 10 {
		t.Error(x)
	}
}

func TestLibMax(t *testing.T) {
	if Max != 1<<20-1 {
		t.Error(Max)
	}
	b := New(Max)
	b.Wait(b.ArriveN(Max))
}

// A timed wait gives up at its time, without taking the arrival back, and succeeds when the other arrives.
func TestLibTryWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, delay := range []time.Duration{0, time.Millisecond} {
			b := New(2)
			token := b.Arrive()
			tries := 0
			together(
				func() {
					for {
						ctx, cancel := context.WithTimeout(t.Context(), delay)
						err := b.WaitContext(ctx, token)
						cancel()
						if err == nil {
							return
						}
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						tries++
						time.Sleep(time.Millisecond)
					}
				},
				func() { time.Sleep(9500 * time.Microsecond); b.Arrive() },
			)
			if tries == 0 {
				t.Error("the wait did not time out")
			}
			if err := b.WaitContext(t.Context(), b.ArriveN(2)); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
			if err := b.WaitContext(ctx, b.ArriveN(2)); err != nil {
				t.Errorf("a completed phase, after the deadline: %v", err)
			}
			cancel()
		}
	})
}

func TestLibTryWaitParity(t *testing.T) {
	b := New(2)
	phase := 0
	b.Arrive()
	together(
		func() {
			for !b.TryWaitParity(phase) {
				time.Sleep(time.Microsecond)
			}
		},
		func() { b.Arrive() },
	)
	b.ArriveN(2)
	for !b.TryWaitParity(1 - phase) {
		t.Error("phase 1 is not complete")
	}
}

// Two goroutines wait with one token, whose phase is complete by the time the second waits.
func TestLibTokenShared(t *testing.T) {
	b := New(2)
	tokens := make(chan ArrivalToken, 4)
	together(
		func() { tokens <- b.Arrive() },
		func() { tokens <- b.Arrive() },
	)
	token := <-tokens
	together(func() { b.Wait(token) }, func() { b.Wait(token) })
	b.Wait(token)
}

func TestLibCompletionOncePerPhase(t *testing.T) {
	completed := false
	b := New(2, WithCompletion(func() {
		if completed {
			t.Error("completed twice in a phase")
		}
		completed = true
	}))
	for range 2 {
		var token ArrivalToken
		together(func() { token = b.Arrive() }, func() { b.Arrive() })
		b.Wait(token)
		if !completed {
			t.Error("released before the completion function")
		}
		completed = false
		b.Wait(token)
	}
}

// A goroutine that waits by parity need not arrive, and may wait first; the other parity does not block.
func TestLibParityBeforeArrival(t *testing.T) {
	for parity := range 2 {
		b := New(2)
		waiting := make(chan bool)
		arrive := func() { <-waiting; b.ArriveAndWait() }
		together(
			func() { close(waiting); b.WaitParity(parity) },
			arrive, arrive,
		)
	}
}

// A barrier is initialized again with another count.
func TestLibInit(t *testing.T) {
	b := New(3)
	b.Arrive()
	b = New(2)
	token := b.Arrive()
	b.ArriveAndWait()
	b.Wait(token)
}

// The handle of libcu++ corresponds to State: an arrival on the word itself and one on the barrier agree.
func TestLibNativeHandle(t *testing.T) {
	b := New(2)
	w, r := b.State().Word.Arrive(1)
	token := b.Arrive()
	if b.State().Word != w || token.Phase()&1 != uint64(r.Token.Parity()) {
		t.Errorf("%v, and the word %v", b.State(), w)
	}
	b.ArriveAndWait()
}

// Each thread announces a byte, arrives once or twice, lands its byte and waits.
func TestLibArriveTx(t *testing.T) {
	for _, threads := range []int{1, 2, 32, 256} {
		for _, each := range []int{1, 2} {
			for _, split := range []bool{false, true} {
				b := New(each * threads)
				var landed sync.Map
				var all []func()
				for i := range threads {
					all = append(all, func() {
						var token ArrivalToken
						if split {
							b.ExpectTx(1)
							token = b.ArriveN(each)
						} else {
							token = b.ArriveTx(each, 1)
						}
						landed.Store(i, true)
						b.CompleteTx(1)
						b.Wait(token)
						for j := range threads {
							if _, ok := landed.Load(j); !ok {
								t.Errorf("released before byte %d", j)
							}
						}
					})
				}
				together(all...)
			}
		}
	}
}

// copyAsync is a bulk copy: it returns at once and reports its bytes when they have landed.
func copyAsync(b *Barrier, dst, src []byte) {
	go func() {
		copy(dst, src)
		b.CompleteTx(len(src))
	}()
}

func filled(n int, x byte) []byte {
	s := make([]byte, n)
	for i := range s {
		s[i] = x + byte(i)
	}
	return s
}

// One of many threads starts a copy and arrives with its bytes, before or after; the rest only arrive.
func TestLibBulkCopy(t *testing.T) {
	const threads = 64
	src := filled(4096, 3)
	for _, before := range []bool{false, true} {
		b := New(threads)
		dst := make([]byte, len(src))
		var all []func()
		for i := range threads {
			all = append(all, func() {
				var token ArrivalToken
				switch {
				case i > 0:
					token = b.Arrive()
				case before: // the bytes may land before they are announced
					copyAsync(b, dst, src)
					token = b.ArriveTx(1, len(src))
				default:
					token = b.ArriveTx(1, len(src))
					copyAsync(b, dst, src)
				}
				b.Wait(token)
				for j := i; j < len(src); j += threads {
					if dst[j] != src[j] {
						t.Errorf("byte %d is %d", j, dst[j])
					}
				}
			})
		}
		together(all...)
	}
}

// memcpyAsync is cuda::memcpy_async on a barrier: the copy binds to the current phase, whoever arrives.
func memcpyAsync(b *Barrier, dst, src []byte) {
	b.ExpectTx(len(src))
	copyAsync(b, dst, src)
}

func TestLibMemcpyAsync(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8, 4096} {
		for _, opts := range [][]Option{nil, {WithCompletion(func() {})}} {
			b := New(1, opts...)
			dst := make([]byte, size)
			for _, x := range []byte{12, 24} {
				src := filled(size, x)
				memcpyAsync(b, dst, src)
				b.ArriveAndWait()
				if string(dst) != string(src) {
					t.Errorf("%d bytes: %v", size, dst)
				}
			}
		}
	}
}

// A group copies together, each member its part, and each sees the whole.
func TestLibGroupMemcpyAsync(t *testing.T) {
	const threads, size = 64, 67 * 64
	b := New(threads)
	src, dst := filled(size, 12), make([]byte, size)
	var all []func()
	for i := range threads {
		all = append(all, func() {
			lo, hi := i*size/threads, (i+1)*size/threads
			memcpyAsync(b, dst[lo:hi], src[lo:hi])
			b.ArriveAndWait()
			if string(dst) != string(src) {
				t.Errorf("thread %d sees an unfinished copy", i)
			}
		})
	}
	together(all...)
}

// Each thread issues many copies and then ties them to the barrier at once; later rounds copy more.
func TestLibArriveOn(t *testing.T) {
	const threads = 32
	b := New(threads)
	for copies := 1; copies < 20; copies += copies {
		src, dst := filled(copies*threads, byte(copies)), make([]byte, copies*threads)
		var all []func()
		for i := range threads {
			all = append(all, func() {
				for k := range copies {
					at := k*threads + i
					copyAsync(b, dst[at:at+1], src[at:at+1])
				}
				b.ExpectTx(copies)
				b.ArriveAndWait()
				for k := range copies {
					if at := k*threads + (i+threads/2)%threads; dst[at] != src[at] {
						t.Errorf("byte %d is %d", at, dst[at])
					}
				}
			})
		}
		together(all...)
	}
}

// Every thread produces and consumes, two stages, and the threads drift apart.
func TestLibDivergentThreads(t *testing.T) {
	const threads, batches = 32, 10
	ctx := t.Context()
	p := NewPipeline(2, threads, threads)
	src := filled(threads*batches, 1)
	shared := make([]byte, 2*threads)
	var all []func()
	for i := range threads {
		r, c := p.Producer(), p.Consumer()
		all = append(all, func() {
			fetch := func(batch int) {
				s, _ := r.Acquire(ctx)
				r.CommitTx(1)
				go func() {
					shared[s*threads+i] = src[batch*threads+i]
					p.CompleteTx(s, 1)
				}()
			}
			use := func(batch int) {
				s, _ := c.Wait(ctx)
				if got, want := string(shared[s*threads:(s+1)*threads]), string(src[batch*threads:(batch+1)*threads]); got != want {
					t.Errorf("thread %d, batch %d: %q", i, batch, got)
				}
				time.Sleep(time.Duration(i) * 10 * time.Microsecond)
				c.Release()
			}
			fetch(0)
			for batch := 1; batch < batches; batch++ {
				fetch(batch)
				use(batch - 1)
			}
			use(batches - 1)
		})
	}
	together(all...)
}

// Half of 64 threads produce and half consume, alternately or in blocks; they quit when done.
func TestLibProducerConsumer(t *testing.T) {
	const threads, items = 64, 3
	ctx := t.Context()
	for _, stages := range []int{1, 8} {
		for _, producer := range []func(rank int) bool{
			func(rank int) bool { return rank%2 == 1 },
			func(rank int) bool { return rank < threads/2 },
		} {
			p := NewPipeline(stages, threads/2, threads/2)
			src := []int{12, 24, 36}
			dst := make([][threads]int, items)
			var all []func()
			for rank := range threads {
				all = append(all, func() {
					if producer(rank) {
						r := p.Producer()
						defer r.Quit()
						for k := range items {
							s, err := r.Acquire(ctx)
							if err != nil || s != k%stages {
								t.Error(s, err)
							}
							r.ExpectTx(8)
							go func() {
								dst[k][rank] = src[k]
								p.CompleteTx(s, 8)
							}()
							r.Commit()
						}
						return
					}
					c := p.Consumer()
					defer c.Quit()
					for k := range items {
						if s, err := c.Wait(ctx); err != nil || s != k%stages {
							t.Error(s, err)
						}
						for i, got := range dst[k] {
							if producer(i) && got != src[k] {
								t.Errorf("item %d of producer %d: %d", k, i, got)
							}
						}
						c.Release()
					}
					if _, err := c.Wait(ctx); err != io.EOF {
						t.Errorf("after the last item: %v", err)
					}
				})
			}
			together(all...)
		}
	}
}

// One thread is producer and consumer, and waits with and without a time limit.
func TestLibUnifiedPipeline(t *testing.T) {
	for _, stages := range []int{1, 2} {
		p := NewPipeline(stages, 1, 1)
		r, c := p.Producer(), p.Consumer()
		dst := make([]byte, 8)
		for k, x := range []byte{12, 24, 42} {
			src := filled(8, x)
			s, _ := r.Acquire(t.Context())
			r.CommitTx(len(src))
			go func() { copy(dst, src); p.CompleteTx(s, len(src)) }()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			if k == 0 {
				ctx = context.Background()
			}
			if got, err := c.Wait(ctx); err != nil || got != s {
				t.Error(got, err)
			}
			cancel()
			if string(dst) != string(src) {
				t.Error(dst)
			}
			c.Release()
		}
	}
}
