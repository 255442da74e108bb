package mbarrier_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	. "muster/mbarrier"
)

// Workers write their part, arrive, do independent work, and read the others' parts after the wait.
func Example() {
	const workers = 4
	bar := New(workers)
	part := make([]int, workers)
	sums := make([]int, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			part[i] = i * i
			token := bar.Arrive()
			// Work that needs nobody else goes here.
			bar.Wait(token)
			for _, x := range part {
				sums[i] += x
			}
		})
	}
	wg.Wait()
	fmt.Println(sums)
	// Output: [14 14 14 14]
}

func ExampleBarrier() {
	b := New(2, WithName("full"))
	fmt.Println(b)
	token := b.ArriveTx(1, 512) // one arrival and 512 bytes are still pending
	b.Arrive()
	fmt.Println(b)
	b.CompleteTx(512)
	fmt.Println(b, b.TryWait(token))
	// Output:
	// full: phase 0 (parity 0): pending 2 of 2, tx 0
	// full: phase 0 (parity 0): pending 0 of 2, tx 512
	// full: phase 1 (parity 1): pending 2 of 2, tx 0 true
}

func ExampleBarrier_Arrive() {
	b := New(2)
	first := b.Arrive()
	second := b.Arrive()
	third := b.Arrive()
	fmt.Println(first.Phase(), second.Phase(), third.Phase())
	// Output: 0 0 1
}

func ExampleBarrier_Wait() {
	b := New(1)
	x := 0
	go func() {
		x = 42
		b.Arrive()
	}()
	b.WaitParity(0) // without an arrival there is no token: wait by parity
	fmt.Println(x)

	token := b.Arrive()
	b.Wait(token) // returns at once: no other arrival was expected
	b.Wait(token) // and again, while the phase is the last one
	// Output: 42
}

func ExampleBarrier_ArriveAndWait() {
	b := New(3)
	at := make([]int, 3)
	var wg sync.WaitGroup
	for i := range at {
		wg.Go(func() {
			for step := range 100 {
				left := at[(i+2)%3] // no goroutine writes between the two barriers
				b.ArriveAndWait()
				at[i] = max(left, step) + 1
				b.ArriveAndWait()
			}
		})
	}
	wg.Wait()
	fmt.Println(at, b.State().Phase)
	// Output: [100 100 100] 200
}

func ExampleBarrier_ArriveTx() {
	// We arrive, the copier lands the bytes: the phase waits for both.
	full := New(1)
	src, dst := []byte("from afar"), make([]byte, 9)
	token := full.ArriveTx(1, len(src))
	go func() {
		copy(dst, src)
		full.CompleteTx(len(src))
	}()
	full.Wait(token)
	fmt.Printf("%s\n", dst)
	// Output: from afar
}

func ExampleBarrier_WaitContext() {
	b := New(2)
	token := b.Arrive()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(b.WaitContext(ctx, token))
	b.Arrive()
	fmt.Println(b.WaitContext(ctx, token)) // the phase is complete, and ctx does not matter any more
	// Output:
	// context deadline exceeded
	// <nil>
}

func ExampleArrivalToken() {
	b := New(1)
	old := b.Arrive()
	fmt.Println("phase", old.Phase(), "complete:", b.TryWait(old))
	b.Arrive()
	defer func() { fmt.Println(recover()) }()
	b.TryWait(old) // its parity alone would pass for that of the current phase
	// Output:
	// phase 0 complete: true
	// mbarrier: TryWait with a stale token: it is of phase 0, 2 before the current one, and only the current phase and the one before it can be waited for; barrier is at phase 2 (parity 0): pending 1 of 1, tx 0
}

func ExampleOption() {
	round := 0
	b := New(2, WithName("rounds"), WithCompletion(func() { round++ }))
	for range 3 {
		b.ArriveN(2)
	}
	fmt.Println(round, b)
	// Output: 3 rounds: phase 3 (parity 1): pending 2 of 2, tx 0
}

// A ring of two buffers: the producer fills, another goroutine lands the bytes, the consumer prints.
func ExamplePipeline() {
	ctx := context.Background()
	p := NewPipeline(2, 1, 1)
	var buffer [2][]byte
	go func() {
		r := p.Producer()
		defer r.Quit()
		for _, word := range []string{"slots", "filled", "in", "place"} {
			stage, err := r.Acquire(ctx)
			if err != nil {
				return
			}
			r.CommitTx(len(word)) // committed, but full only when the bytes have landed
			go func() {
				buffer[stage] = append(buffer[stage][:0], word...)
				p.CompleteTx(stage, len(word))
			}()
		}
	}()
	c := p.Consumer()
	for {
		stage, err := c.Wait(ctx)
		if err == io.EOF {
			break
		}
		fmt.Printf("%d: %s\n", stage, buffer[stage])
		c.Release()
	}
	// Output:
	// 0: slots
	// 1: filled
	// 0: in
	// 1: place
}

func ExampleProducer() {
	p := NewPipeline(3, 1, 1)
	r := p.Producer()
	for range 2 { // stages may be acquired ahead; they commit in order
		stage, _ := r.Acquire(context.Background())
		fmt.Println("fill stage", stage)
	}
	r.Commit()
	r.ExpectTx(64)
	r.Commit()
	fmt.Println(p.Barriers()[0])
	fmt.Println(p.Barriers()[2])
	// Output:
	// fill stage 0
	// fill stage 1
	// full[0]: phase 1 (parity 1): pending 1 of 1, tx 0
	// full[1]: phase 0 (parity 0): pending 0 of 1, tx 64
}

// Two consumers each see every item; a stage is free when both have released it.
func ExampleConsumer() {
	ctx := context.Background()
	p := NewPipeline(1, 1, 2)
	item, sum, product := 0, 0, 1
	var wg sync.WaitGroup
	for _, use := range []func(){
		func() { sum += item },
		func() { product *= item },
	} {
		c := p.Consumer()
		wg.Go(func() {
			defer c.Quit()
			for {
				if _, err := c.Wait(ctx); err != nil {
					return
				}
				use()
				c.Release()
			}
		})
	}
	r := p.Producer()
	for k := 1; k <= 5; k++ {
		r.Acquire(ctx)
		item = k
		r.Commit()
	}
	r.Quit()
	wg.Wait()
	fmt.Println(sum, product)
	// Output: 15 120
}

func ExampleNamed() {
	votes := NewNamed(3)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			n := votes.Popc(i != 1)
			all := votes.And(i != 1)
			if i == 0 {
				fmt.Println(n, all)
			}
		})
	}
	wg.Wait()
	// Output: 2 false
}

func ExampleGroup() {
	g := NewGroup(2, WithName("cluster"))
	shared := make([]int, g.Len())
	var wg sync.WaitGroup
	for i := range g.Len() {
		m := g.Member(i)
		wg.Go(func() {
			shared[i] = i + 1
			m.Sync() // every part is ready
			peer := shared[1-i]
			m.Arrive() // done with the peer's part
			if i == 0 {
				fmt.Println("peer:", peer)
			}
			m.Wait() // the peer is done with this one's
			shared[i] = 0
		})
	}
	wg.Wait()
	fmt.Println(g.Barrier())
	// Output:
	// peer: 2
	// cluster: phase 2 (parity 0): pending 2 of 2, tx 0
}

func ExampleMember() {
	m := NewGroup(2).Member(1)
	defer func() { fmt.Println(recover()) }()
	m.Arrive()
	m.Arrive()
	// Output: mbarrier: member 1 arrives twice without a Wait between; barrier: phase 0 (parity 0): pending 1 of 2, tx 0
}

func ExampleWord() {
	w, _ := Init(2)
	fmt.Printf("%016x  %v\n", uint64(w), w)
	w, _ = w.ArriveExpectTx(512)
	fmt.Printf("%016x  %v\n", uint64(w), w)
	w, _ = w.Arrive(1)
	fmt.Printf("%016x  %v\n", uint64(w), w)
	w, r := w.CompleteTx(512)
	fmt.Printf("%016x  %v, completed: %v\n", uint64(w), w, r.Completed)
	// Output:
	// 7ffff000001ffffc  parity 0: pending 2 of 2, tx 0
	// 7ffffbffc01ffffc  parity 0: pending 1 of 2, tx 512
	// 000003ffc01ffffc  parity 0: pending 0 of 2, tx 512
	// fffff000001ffffc  parity 1: pending 2 of 2, tx 0, completed: true
}

func ExampleState() {
	w, r := Init(1)
	s := State{Word: w}.Next(w, r)
	for range 3 {
		w, r = s.Word.Arrive(1)
		s = s.Next(w, r)
	}
	fmt.Println(s)
	// Output: phase 3 (parity 1): pending 1 of 1, tx 0
}

func ExampleResult() {
	w, _ := Init(3)
	_, r := w.Arrive(3)
	fmt.Println(r.Completed, r.Fault)
	_, r = w.Arrive(4)
	fmt.Println(r.Completed, r.Fault)
	// Output:
	// true no fault
	// false more arrivals than pending
}

func ExampleToken() {
	w, _ := Init(3)
	w, r := w.Arrive(1)
	fmt.Println(r.Token.PendingCount(), r.Token.Parity(), w.TestWait(r.Token))
	w, _ = w.Arrive(2)
	fmt.Println(w.TestWait(r.Token))
	// Output:
	// 3 0 false
	// true
}

func ExampleFault() {
	w, _ := Init(1)
	_, r := w.ExpectTx(1 << 20)
	fmt.Println(r.Fault)
	// Output: byte count of 2^20 or more
}

func ExampleUndefined() {
	w, r := Init(0)
	fmt.Println(r.Undefined)
	_, r = w.Arrive(0)
	fmt.Println(r.Undefined)
	// Output:
	// init count out of range
	// arrive count out of range
}
