package mbarrier_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "muster/mbarrier"
)

// hammered returns how long the hammer tests run, in phases.
func hammered(t *testing.T) int {
	if testing.Short() {
		return 100
	}
	return 1000
}

var crowd = []int{1, 2, 3, 8, 17, 64}

// TestBarrierPhases: every goroutine reads after the barrier what all wrote before it, in each phase.
func TestBarrierPhases(t *testing.T) {
	for _, n := range crowd {
		b := New(n)
		data := make([]int, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				for k := range hammered(t) {
					data[i] = k
					b.ArriveAndWait()
					if got := data[(i+1)%n]; got != k {
						t.Errorf("phase %d: neighbour at %d", 2*k, got)
					}
					b.Wait(b.Arrive())
				}
			})
		}
		wg.Wait()
		if s := b.State(); s.Phase != uint64(2*hammered(t)) || s.Word.Pending() != uint32(n) || b.Waiting() != 0 {
			t.Errorf("%d goroutines: %v, %d waiting", n, s, b.Waiting())
		}
	}
}

// TestFreeArrivals: any goroutine may arrive, so phases complete while an arrival is under way. Every
// completed phase must still have been named by exactly as many tokens as it expected.
func TestFreeArrivals(t *testing.T) {
	for _, start := range []uint64{0, 1<<21 - 300, 1<<63 - 300} {
		for _, n := range crowd {
			for _, expected := range []int{1, 2, 5} {
				for _, opts := range [][]Option{nil, {WithCompletion(func() {})}} {
					b := New(expected, opts...)
					b.Skip(start)
					each := hammered(t) / 10 * expected
					seen := make([][]uint64, n)
					var wg sync.WaitGroup
					for i := range n {
						wg.Go(func() {
							for range each {
								seen[i] = append(seen[i], b.Arrive().Phase())
							}
						})
					}
					wg.Wait()
					count := map[uint64]int{}
					for _, s := range seen {
						last := start
						for _, p := range s {
							if p < last {
								t.Fatalf("a token of phase %d after one of %d", p, last)
							}
							last = p
							count[p]++
						}
					}
					for p := start; p < start+uint64(n*each/expected); p++ {
						if count[p] != expected {
							t.Fatalf("%d goroutines from phase %d: %d of %d arrivals in phase %d", n, start, count[p], expected, p)
						}
					}
				}
			}
		}
	}
}

// TestManyPhases runs more phases than one word can distinguish.
func TestManyPhases(t *testing.T) {
	b := New(1)
	var token ArrivalToken
	for k := range uint64(1)<<21 + 10 {
		if token = b.Arrive(); token.Phase() != k {
			t.Fatalf("token of phase %d in phase %d", token.Phase(), k)
		}
	}
	b.Wait(token)
	if s := b.State(); s.Phase != 1<<21+10 || s.Word.Parity() != 0 {
		t.Error(s)
	}
}

// TestHammer mixes everything: arrivals of all forms, bytes that land on other goroutines, drops, waits of
// all forms, and waiters that do not arrive.
func TestHammer(t *testing.T) {
	for _, n := range crowd[1:] {
		var completions int
		b := New(n+1, WithCompletion(func() { completions++ }))
		phases := hammered(t)
		var landed atomic.Int64
		var wg, io sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				stay := phases
				if i%3 == 1 {
					stay = r.IntN(phases)
				}
				for k := range stay {
					var token ArrivalToken
					switch r.IntN(4) {
					case 0:
						bytes := r.IntN(1000)
						io.Go(func() { landed.Add(1); b.CompleteTx(bytes) })
						token = b.ArriveTx(1, bytes)
					case 1:
						bytes := r.IntN(1000)
						b.ExpectTx(bytes)
						io.Go(func() { landed.Add(1); b.CompleteTx(bytes) })
						token = b.Arrive()
					case 2:
						token = b.ArriveN(1)
					case 3:
						b.ArriveAndWait()
						continue
					}
					if token.Phase() != uint64(k) {
						t.Errorf("token of phase %d in phase %d", token.Phase(), k)
					}
					switch r.IntN(4) {
					case 0:
						b.Wait(token)
					case 1:
						for !b.TryWait(token) {
							runtime.Gosched()
						}
					case 2:
						b.WaitParity(k & 1)
					case 3:
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(100))*time.Microsecond)
						if b.WaitContext(ctx, token) != nil {
							b.Wait(token)
						}
						cancel()
					}
				}
				if stay < phases {
					b.ArriveAndDrop()
				}
			})
		}
		for range phases {
			b.ArriveAndWait()
		}
		wg.Wait()
		io.Wait()
		if s := b.State(); completions != phases || s.Phase != uint64(phases) || s.Word.Tx() != 0 || b.Waiting() != 0 {
			t.Errorf("%d goroutines: %d completions, %v, %d waiting", n, completions, s, b.Waiting())
		}
	}
}

// TestSleepers: goroutines that wait parked, with and without a context, are all released and not counted
// any more.
func TestSleepers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(2, WithName("b"))
		token := b.Arrive()
		released, timedOut := 0, 0
		var mu sync.Mutex
		for i := range 30 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%3)*time.Second)
				defer cancel()
				var err error
				switch i % 5 {
				case 0:
					b.Wait(token)
				case 1:
					b.WaitParity(0)
				default:
					err = b.WaitContext(ctx, token)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					released++
				} else if errors.Is(err, context.DeadlineExceeded) {
					timedOut++
				}
			}()
		}
		synctest.Wait()
		if b.Waiting() != 30 {
			t.Errorf("%d waiting, want 30", b.Waiting())
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if b.Waiting() != 24 || timedOut != 6 {
			t.Errorf("%d waiting, %d timed out after 1.5 s", b.Waiting(), timedOut)
		}
		b.Arrive()
		synctest.Wait()
		if b.Waiting() != 0 || released != 24 || timedOut != 6 {
			t.Errorf("%d waiting, %d released, %d timed out in the end", b.Waiting(), released, timedOut)
		}
	})
}

// TestCompletionBlocks: a completion function may sleep. Meanwhile no waiter is released, operations wait for
// it, and the bubble's clock still advances.
func TestCompletionBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(2, WithCompletion(func() { time.Sleep(time.Minute) }))
		start := time.Now()
		token := b.Arrive()
		go b.Arrive()
		synctest.Wait()
		if s := b.State(); b.TryWait(token) || s.Phase != 0 || s.Word.Pending() != 1 {
			t.Errorf("released before the completion function returned: %v", s)
		}
		var wg sync.WaitGroup
		wg.Go(func() { b.CompleteTx(7) })
		wg.Go(func() {
			if next := b.Arrive(); next.Phase() != 1 {
				t.Errorf("an arrival during the completion function is of phase %d", next.Phase())
			}
		})
		b.Wait(token)
		wg.Wait()
		if d := time.Since(start); d != time.Minute {
			t.Errorf("it took %v", d)
		}
		if got, want := b.String(), "barrier: phase 1 (parity 1): pending 1 of 2, tx -7"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func message(f func()) (text string) {
	defer func() {
		if e := recover(); e != nil {
			text = e.(string)
		}
	}()
	f()
	return "no panic"
}

func TestBrokenCompletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(2, WithName("b"), WithCompletion(func() { panic("boom") }))
		token := b.Arrive()
		got := make(chan string)
		go func() { got <- message(func() { b.Wait(token) }) }()
		go func() { got <- message(func() { b.WaitContext(t.Context(), token) }) }()
		synctest.Wait()
		if m := message(func() { b.Arrive() }); m != "boom" {
			t.Error(m)
		}
		const after = " a completion function that did not return; b is at phase 0 (parity 0): pending 1 of 2, tx 0"
		for range 2 {
			if m, want := <-got, "mbarrier: a wait for"+after; m != want {
				t.Errorf("%s\nwant %s", m, want)
			}
		}
		if m, want := message(func() { b.ExpectTx(1) }), "mbarrier: ExpectTx after"+after; m != want {
			t.Errorf("%s\nwant %s", m, want)
		}
		var out strings.Builder
		Dump(&out, b)
		if !strings.Contains(out.String(), "its completion function did not return") {
			t.Error(out.String())
		}
	})
}

func TestMisuse(t *testing.T) {
	const at = "; b is at phase 0 (parity 0): "
	fresh := func() *Barrier { return New(5, WithName("b")) }
	other := New(1).Arrive()
	with := func(f func(b *Barrier)) *Barrier {
		b := fresh()
		f(b)
		return b
	}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { New(0) }, "New with 0 expected arrivals: 1 to 1048575 are possible"},
		{func() { New(Max + 1) }, "New with 1048576 expected arrivals: 1 to 1048575 are possible"},
		{func() { new(Barrier).Arrive() }, "Arrive on a Barrier that is not from New"},
		{func() { new(Barrier).WaitParity(0) }, "WaitParity on a Barrier that is not from New"},
		{func() { (*Barrier)(nil).CompleteTx(1) }, "CompleteTx on a Barrier that is not from New"},
		{func() { fresh().ArriveN(6) }, "ArriveN over-arrives: 6 arriving where the phase still waits for 5" + at + "pending 5 of 5, tx 0"},
		{func() { fresh().ArriveN(0) }, "ArriveN of 0 arrivals: 1 to 1048575 are possible" + at + "pending 5 of 5, tx 0"},
		{func() { fresh().ArriveN(math.MinInt) }, "ArriveN of -9223372036854775808 arrivals: 1 to 1048575 are possible" + at + "pending 5 of 5, tx 0"},
		{func() { with(func(b *Barrier) { b.ArriveTx(5, 8) }).Arrive() }, "Arrive over-arrives: 1 arriving where the phase still waits for 0" + at + "pending 0 of 5, tx 8"},
		{func() { with(func(b *Barrier) { b.ArriveTx(5, 8) }).ArriveTx(1, 8) }, "ArriveTx over-arrives: 1 arriving where the phase still waits for 0" + at + "pending 0 of 5, tx 8"},
		{func() { with(func(b *Barrier) { b.ArriveTx(5, 8) }).ArriveAndDrop() }, "ArriveAndDrop over-arrives: 1 arriving where the phase still waits for 0" + at + "pending 0 of 5, tx 8"},
		{func() {
			b := New(1, WithName("b"))
			b.ArriveAndDrop()
			b.Arrive()
		}, "Arrive after everyone has dropped; b is at phase 1 (parity 1): pending 0 of 0, tx 0"},
		{func() { fresh().ExpectTx(-1) }, "ExpectTx of -1 bytes: 0 to 1048575 are possible" + at + "pending 5 of 5, tx 0"},
		{func() { fresh().ExpectTx(MaxTx + 1) }, "ExpectTx of 1048576 bytes: 0 to 1048575 are possible" + at + "pending 5 of 5, tx 0"},
		{func() { fresh().ArriveTx(1, math.MaxInt) }, "ArriveTx of 9223372036854775807 bytes: 0 to 1048575 are possible" + at + "pending 5 of 5, tx 0"},
		{func() { with(func(b *Barrier) { b.ExpectTx(MaxTx) }).ExpectTx(1) }, "ExpectTx overflows the bytes: 1048575 and +1 leave -1048575..1048575" + at + "pending 5 of 5, tx 1048575"},
		{func() { with(func(b *Barrier) { b.ExpectTx(MaxTx) }).ArriveTx(5, 2) }, "ArriveTx overflows the bytes: 1048575 and +2 leave -1048575..1048575" + at + "pending 5 of 5, tx 1048575"},
		{func() { with(func(b *Barrier) { b.CompleteTx(MaxTx) }).CompleteTx(1) }, "CompleteTx overflows the bytes: -1048575 and -1 leave -1048575..1048575" + at + "pending 5 of 5, tx -1048575"},
		{func() { fresh().Wait(ArrivalToken{}) }, "Wait with the zero token, which no arrival returned" + at + "pending 5 of 5, tx 0"},
		{func() { fresh().Wait(other) }, "Wait with a token of another barrier (barrier)" + at + "pending 5 of 5, tx 0"},
		{func() {
			b := fresh()
			t := b.ArriveN(5)
			b.ArriveN(5)
			b.TryWait(t)
		}, "TryWait with a stale token: it is of phase 0, 2 before the current one, and only the current phase and the one before it can be waited for; b is at phase 2 (parity 0): pending 5 of 5, tx 0"},
		{func() { fresh().WaitParity(2) }, "WaitParity for parity 2: a parity is 0 or 1" + at + "pending 5 of 5, tx 0"},
		{func() { fresh().TryWaitParity(-1) }, "TryWaitParity for parity -1: a parity is 0 or 1" + at + "pending 5 of 5, tx 0"},
		{func() { NewPipeline(0, 1, 1) }, "NewPipeline with 0 stages: at least 1 is needed"},
		{func() { NewPipeline(2, 1, 1).Producer().Commit() }, "Commit without a stage acquired"},
		{func() { NewPipeline(2, 1, 1).Consumer().Release() }, "Release without an item waited for"},
		{func() {
			p := NewPipeline(2, 1, 1)
			p.Producer()
			p.Producer()
		}, "producer 2 of a pipeline that was made for 1"},
		{func() {
			r := NewPipeline(2, 1, 1).Producer()
			for range 3 {
				r.Acquire(t.Context())
			}
		}, "Acquire with all 2 stages acquired and none committed"},
		{func() {
			r := NewPipeline(2, 1, 1).Producer()
			r.Quit()
			r.Quit()
			r.Acquire(t.Context())
		}, "Acquire after Quit"},
		{func() {
			c := NewPipeline(2, 1, 1).Consumer()
			c.Quit()
			c.Wait(t.Context())
		}, "Wait after Quit"},
		{func() {
			p := NewPipeline(1, 1, 1)
			r, c := p.Producer(), p.Consumer()
			r.Acquire(t.Context())
			r.Commit()
			c.Wait(t.Context())
			c.Wait(t.Context())
		}, "Wait with all 1 stages waited for and none released"},
		{func() {
			m := NewGroup(2, WithName("b")).Member(1)
			m.Arrive()
			m.Arrive()
		}, "member 1 arrives twice without a Wait between; b: phase 0 (parity 0): pending 1 of 2, tx 0"},
		{func() { NewGroup(2, WithName("b")).Member(1).Wait() }, "member 1 waits without having arrived; b: phase 0 (parity 0): pending 2 of 2, tx 0"},
		{func() {
			m := NewGroup(2, WithName("b")).Member(1)
			m.Exit()
			m.Exit()
			m.Arrive()
		}, "member 1 arrives after Exit; b: phase 0 (parity 0): pending 1 of 1, tx 0"},
		{func() {
			n := NewNamed(2, WithName("b"))
			n.Arrive()
			n.And(true)
		}, "And in one phase with Sync or Arrive, which have no vote; b: phase 0 (parity 0): pending 1 of 2, tx 0"},
	} {
		if got, want := message(c.f), "mbarrier: "+c.want; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestMisuseChangesNothing(t *testing.T) {
	b := New(2)
	before := b.State()
	for range 3 {
		message(func() { b.ArriveN(3) })
		message(func() { b.ExpectTx(-1) })
	}
	if b.State() != before {
		t.Errorf("%v, want %v", b.State(), before)
	}
	b.ArriveN(2)
}

// TestAllocations: nothing after New allocates, whether it parks or not, except WaitContext.
func TestAllocations(t *testing.T) {
	b := New(1)
	n := NewNamed(1)
	p := NewPipeline(3, 1, 1)
	r, c := p.Producer(), p.Consumer()
	g := NewGroup(1).Member(0)
	ctx := context.Background()
	for name, f := range map[string]func(){
		"Arrive, Wait":         func() { b.Wait(b.Arrive()) },
		"ArriveAndWait":        b.ArriveAndWait,
		"ArriveTx, CompleteTx": func() { t := b.ArriveTx(1, 8); b.CompleteTx(8); b.TryWait(t) },
		"ExpectTx, ArriveN":    func() { b.CompleteTx(8); b.ExpectTx(8); b.ArriveN(1) },
		"WaitParity":           func() { b.WaitParity(1 - int(b.State().Phase&1)) },
		"WaitContext at once":  func() { b.WaitContext(ctx, b.Arrive()) },
		"Sync":                 n.Sync,
		"Member.Sync":          g.Sync,
		"Pipeline": func() {
			s, _ := r.Acquire(ctx)
			r.CommitTx(5)
			p.CompleteTx(s, 5)
			c.Wait(ctx)
			c.Release()
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}

	pair := New(2)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			for pair.Waiting() == 0 {
				runtime.Gosched()
			}
			pair.ArriveAndWait()
		}
	})
	if n := testing.AllocsPerRun(100, pair.ArriveAndWait); n != 0 {
		t.Errorf("a parked wait: %v allocations", n)
	}
	stop.Store(true)
	pair.ArriveAndWait()
	wg.Wait()
}
