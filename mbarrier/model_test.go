package mbarrier_test

import (
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	. "muster/mbarrier"
)

var histories = flag.Int("histories", 40_000, "random histories that TestModel draws")

// TestModel draws histories of operations and applies each to a Barrier and to the pure word. They must
// agree on the state after each, on every token at every time, on both parities, on when the completion
// function runs, and on what is refused: the Barrier panics if the word faults or leaves the ISA's range.
func TestModel(t *testing.T) {
	n := *histories
	if testing.Short() {
		n /= 20
	}
	was := flag.Lookup("rapid.checks").Value.String()
	flag.Set("rapid.checks", fmt.Sprint(n))
	defer flag.Set("rapid.checks", was)
	common := func(common []int, rare ...int) *rapid.Generator[int] {
		var all []int
		for range 20 {
			all = append(all, common...)
		}
		return rapid.SampledFrom(append(all, rare...))
	}
	counts := common([]int{1, 1, 2}, 0, 3, 4, 5, 6, 1000, MaxCount, MaxCount+1)
	bytes := common([]int{1, 1, 2}, 0, 3, MaxTx/2, MaxTx-1, MaxTx, MaxTx+1)
	sizes := common([]int{1, 2, 3, 5}, MaxCount, MaxCount-1)
	starts := rapid.SampledFrom([]uint64{0, 0, 1, 1<<21 - 2, 1<<21 - 1, 1<<22 - 3, 1 << 40})
	ops := rapid.SliceOfN(common([]int{0, 0, 0, 1, 2, 3, 4, 6, 6}, 5), 10, 40)
	rapid.Check(t, func(t *rapid.T) {
		expected := sizes.Draw(t, "expected")
		var opts []Option
		completions := uint64(0)
		if expected&1 == 1 {
			opts = append(opts, WithCompletion(func() { completions++ }))
		}
		b := New(expected, opts...)
		w, _ := Init(uint32(expected))
		start := starts.Draw(t, "start")
		b.Skip(start)
		want := State{Word: w&^(1<<63) | Word(start&1)<<63, Phase: start}
		var tokens []ArrivalToken

		for _, op := range ops.Draw(t, "ops") {
			var n, tx int
			if op == 1 || op == 2 {
				n = counts.Draw(t, "count")
			}
			if op >= 2 && op < 5 {
				tx = bytes.Draw(t, "bytes")
			}
			if op == 6 { // the change that brings the tx-count to zero
				op, tx = 4, int(want.Word.Tx())
				if tx < 0 {
					op, tx = 3, -tx
				}
			}
			got := ""
			var token ArrivalToken
			var next Word
			var r Result
			switch op {
			case 0:
				next, r = want.Word.Arrive(1)
				got = message(func() { token = b.Arrive() })
			case 1:
				next, r = want.Word.Arrive(uint32(n))
				got = message(func() { token = b.ArriveN(n) })
			case 2: // the word's form arrives once; the other arrivals must fit too
				next, r = want.Word.ArriveExpectTx(uint32(tx))
				if n == 0 || n > MaxCount {
					r.Undefined |= CountRange
				} else if n > 1 && r.Fault == NoFault {
					if uint32(n) > want.Word.Pending() {
						r.Fault = ArrivesOver
					} else {
						u := r.Undefined
						next, r = next.Arrive(uint32(n - 1))
						r.Undefined |= u
					}
				}
				got = message(func() { token = b.ArriveTx(n, tx) })
			case 3:
				next, r = want.Word.ExpectTx(uint32(tx))
				got = message(func() { b.ExpectTx(tx) })
			case 4:
				next, r = want.Word.CompleteTx(uint32(tx))
				got = message(func() { b.CompleteTx(tx) })
			case 5:
				next, r = want.Word.ArriveDrop(1)
				got = message(b.ArriveAndDrop)
			}
			bad := r.Fault != NoFault || r.Undefined&(CountRange|TxRange) != 0
			if bad != (got != "no panic") {
				t.Fatalf("%v: operation %d, %d arrivals, %d bytes: %s, and the word: %v, %v", want, op, n, tx, got, r.Fault, r.Undefined)
			}
			if !bad {
				if op <= 2 {
					if token.Phase() != want.Phase {
						t.Fatalf("token of phase %d in %v", token.Phase(), want)
					}
					tokens = append(tokens, token)
				}
				want = want.Next(next, r)
			}
			if got := b.State(); got != want {
				t.Fatalf("%v, and the word is at %v", got, want)
			}
			if len(opts) > 0 && completions != want.Phase-start {
				t.Fatalf("%d completions in %v", completions, want)
			}
			for parity := range 2 {
				if b.TryWaitParity(parity) != want.Word.TestWaitParity(uint32(parity)) {
					t.Fatalf("parity %d in %v", parity, want)
				}
			}
			for _, token := range tokens {
				var done bool
				stale := message(func() { done = b.TryWait(token) }) != "no panic"
				if age := want.Phase - token.Phase(); stale != (age > 1) || !stale && done != (age == 1) {
					t.Fatalf("token of phase %d in %v: complete %v, stale %v", token.Phase(), want, done, stale)
				}
			}
		}
	})
}
