package kernel_test

import (
	"testing"

	"muster/kernel"
)

// TestNamedBarrierMismatch: a barrier counts one warp too many. Build cannot
// detect that; a check has a finding at the lines that wait.
func TestNamedBarrierMismatch(t *testing.T) {
	k := kernel.New("mismatch", kernel.Block(96))
	bar := k.NamedBarrier(96)
	k.SingleWarp(0, func() { bar.Arrive() })
	k.SingleWarp(1, func() {
		bar.Sync() // one warp is missing
	})
	call, err := k.Call(kernel.Grid(1))
	if err != nil {
		t.Fatal(err)
	}
	r := check(t, call)
	line := lineOf(t, "named_test.go", "// one warp is missing")
	for _, f := range r.Findings {
		if f.Severity == "error" && names(f, "named_test.go", line) {
			return
		}
	}
	t.Errorf("no finding names line %d: %s %+v", line, r.Summary, r.Findings)
}

// TestBarriersAreShared checks that groups and named barriers take their
// numbers from one pool, and that a group keeps its number.
func TestBarriersAreShared(t *testing.T) {
	k := kernel.New("pool", kernel.Block(128))
	first := k.NamedBarrier(64)
	var a, b, c kernel.SyncKind
	k.Warps(0, 2, func() { a = k.Sync() })
	second := k.NamedBarrier(128)
	k.Warps(2, 2, func() { b = k.Sync() })
	k.Warps(0, 2, func() { c = k.Sync() })
	if first.ID() != 1 || a.Barrier != 2 || second.ID() != 3 || b.Barrier != 4 || c != a {
		t.Errorf("%d %v %d %v %v", first.ID(), a, second.ID(), b, c)
	}
	if second.Threads() != 128 {
		t.Errorf("%d threads", second.Threads())
	}
}
