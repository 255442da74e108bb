package kernel_test

import (
	"strings"
	"testing"

	"muster/kernel"
)

// TestTimedWaitMistakes checks the mistakes of waits with a timeout.
func TestTimedWaitMistakes(t *testing.T) {
	k := kernel.New("k", kernel.Block(32), kernel.Clusters(2))
	bar, other := k.Mbarrier("bar", 32), k.Mbarrier("other", 32)
	k.InitMbarriers()
	tok := bar.Arrive()
	p := k.TidX().Lt(3)
	k.Guard(p, func() {
		bar.TryWaitFor(tok, 100) // a loop in a guard
	})
	bar.TryWaitFor(tok, 1<<32)                        // too long
	bar.TryWaitFor(tok, k.Const(kernel.U64, 1))       // of 64 bits
	other.TryWaitFor(tok, 1)                          // another barrier's token
	bar.Remote(1).TryWaitParityFor(0, 1)              // another CTA's barrier
	bar.TryWaitParityFor(2, 1)                        // no parity
	bar.ArriveAndWait(kernel.Release)                 // an order that waits do not have
	k.Pipeline("p", 2, 1, 1).Consumer().WaitFor("1s") // no number
	k.InitMbarriers()
	_, err := k.Build()
	if err == nil {
		t.Fatal("no mistakes")
	}
	want := []string{
		"extra_test.go:18: TryWaitFor inside of Guard: it is a loop, and only plain instructions take a predicate; use If",
		"extra_test.go:20: TryWaitFor of mbarrier bar: 4294967296 ns; a time is 0 to 2^32-1 ns",
		"extra_test.go:21: TryWaitFor of mbarrier bar: the time is a register of type u64; it is a number or a register of 32 bits",
		"extra_test.go:22: TryWaitFor of mbarrier other with a token of mbarrier bar: a token is of the barrier that was arrived at",
		"extra_test.go:23: TryWaitParityFor of mbarrier bar of another CTA: a CTA can arrive there and announce bytes, nothing else",
		"extra_test.go:24: TryWaitParityFor(2) of mbarrier bar: a parity is 0 or 1",
		"extra_test.go:25: Wait of mbarrier bar: modifier release; it takes acquire or relaxed, and cta or cluster",
		"extra_test.go:26: TryWaitParityFor of mbarrier p_full: the time is a string; it is a number or a register of 32 bits",
	}
	if got := err.Error(); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
