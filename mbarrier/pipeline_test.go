package mbarrier_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "muster/mbarrier"
)

// TestPipelineHammer: producers that quit at different items, consumers that quit early, bytes that land
// later on other goroutines, contexts that run out. Every consumer that stays sees every item that any
// producer committed, in order, with all that each of its producers wrote.
func TestPipelineHammer(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 0))
		stages, producers, consumers := 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(4)
		p := NewPipeline(stages, producers, consumers)
		slots := make([][]int, stages)
		for s := range slots {
			slots[s] = make([]int, producers)
		}
		until := make([]int, producers)
		for i := range until {
			until[i] = r.IntN(40)
		}
		last := slices.Max(until)
		leave := make([]int, consumers)
		for i := range leave {
			if leave[i] = last + 1; i > 0 && r.IntN(2) == 0 {
				leave[i] = r.IntN(last + 1)
			}
		}
		var wg sync.WaitGroup
		for i := range producers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(1+i)))
				w := p.Producer()
				defer w.Quit()
				for k := 0; k < until[i]; {
					ahead := min(1+r.IntN(stages), until[i]-k)
					var got []int
					for range ahead {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(50))*time.Microsecond)
						s, err := w.Acquire(ctx)
						if cancel(); err != nil {
							break
						}
						got = append(got, s)
					}
					for _, s := range got {
						if s != k%stages {
							t.Errorf("item %d in stage %d of %d", k, s, stages)
						}
						item := k
						write := func() { slots[s][i] = item }
						switch r.IntN(3) {
						case 0:
							write()
							w.Commit()
						case 1:
							w.CommitTx(9)
							go func() { write(); p.CompleteTx(s, 9) }()
						case 2:
							w.ExpectTx(5)
							w.ExpectTx(4)
							go func() { p.CompleteTx(s, 2); write(); p.CompleteTx(s, 7) }()
							w.Commit()
						}
						k++
					}
				}
			})
		}
		for i := range consumers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(100+i)))
				c := p.Consumer()
				defer c.Quit()
				held := 0
				for k := 0; ; k++ {
					if k == leave[i] {
						return
					}
					s, err := c.Wait(t.Context())
					if err != nil {
						if err != io.EOF || k != last {
							t.Errorf("seed %d, consumer %d, item %d of %d: %v", seed, i, k, last, err)
						}
						return
					}
					for j, got := range slots[s] {
						if k < until[j] && got != k {
							t.Errorf("seed %d, consumer %d, item %d: producer %d wrote %d", seed, i, k, j, got)
						}
					}
					for held++; held > 0 && (held == stages || r.IntN(2) == 0); held-- {
						c.Release()
					}
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
	}
}

// TestPipelineEnds: the results on each side after the other has quit.
func TestPipelineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		p := NewPipeline(2, 1, 2)
		r, c, d := p.Producer(), p.Consumer(), p.Consumer()
		acquired := make(chan error)
		for range 2 {
			r.Acquire(ctx)
			r.Commit()
		}
		go func() { _, err := r.Acquire(ctx); acquired <- err }()
		synctest.Wait()
		c.Quit()
		synctest.Wait()
		select {
		case err := <-acquired:
			t.Errorf("acquired with a consumer left: %v", err)
		default:
		}
		d.Wait(ctx)
		d.Release()
		if err := <-acquired; err != nil {
			t.Errorf("a stage that the last consumer released: %v", err)
		}
		d.Quit()
		if _, err := r.Acquire(ctx); err != ErrNoConsumers {
			t.Error(err)
		}
		r.Quit()

		p = NewPipeline(2, 2, 1)
		r, q, c := p.Producer(), p.Producer(), p.Consumer()
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := c.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		q.Quit()
		s, _ := r.Acquire(ctx)
		r.CommitTx(100)
		r.Quit()
		go func() { time.Sleep(time.Hour); p.CompleteTx(s, 100) }()
		start := time.Now()
		if got, err := c.Wait(ctx); got != s || err != nil || time.Since(start) != time.Hour {
			t.Error(got, err, time.Since(start))
		}
		for range 2 {
			if _, err := c.Wait(ctx); err != io.EOF {
				t.Error(err)
			}
		}
	})
}

// TestNamed: producers arrive and go on, consumers wait; the roles change sides by phase.
func TestNamed(t *testing.T) {
	full, empty := NewNamed(2), NewNamed(2)
	slot := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := range 500 {
			empty.Sync()
			slot = k
			full.Arrive()
		}
	})
	for k := range 500 {
		empty.Arrive()
		full.Sync()
		if slot != k {
			t.Errorf("%d in phase %d", slot, k)
		}
	}
	wg.Wait()
}

func TestNamedReductions(t *testing.T) {
	for _, n := range crowd {
		b := NewNamed(n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				for k := range hammered(t) / 3 {
					if got, want := b.Popc(i <= k%n), k%n+1; got != want {
						t.Errorf("popc of %d in phase %d: %d, want %d", n, k, got, want)
					}
					if got, want := b.And(i != k), k >= n; got != want {
						t.Errorf("and of %d in phase %d: %v", n, k, got)
					}
					if got, want := b.Or(i == k), k < n; got != want {
						t.Errorf("or of %d in phase %d: %v", n, k, got)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestGroup: members work between Arrive and Wait, and leave at different times.
func TestGroup(t *testing.T) {
	for _, n := range crowd {
		g := NewGroup(n)
		at := make([]int, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				m := g.Member(i)
				defer m.Exit()
				for k := range hammered(t) / (1 + i%2) {
					at[i] = k
					m.Arrive()
					m.Wait()
					if j := (i + 2) % n; j%2 == i%2 && at[j] != k {
						t.Errorf("member %d in phase %d: member %d at %d", m.Rank(), k, j, at[j])
					}
					m.Sync()
				}
				if i%3 == 0 {
					m.Arrive() // Exit waits
				}
			})
		}
		wg.Wait()
		if s := g.Barrier().State(); s.Word.Expected() != 0 || g.Len() != n {
			t.Errorf("%d members: %v", g.Len(), s)
		}
	}
}
