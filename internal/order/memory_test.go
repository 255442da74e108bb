package order_test

import (
	"runtime"
	"testing"

	"muster/internal/machine"
)

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestRingMemory runs the ring over the same buffers for many times the tiles:
// what the Tracker keeps must not grow with them.
func TestRingMemory(t *testing.T) {
	size := func(tiles int) uint64 {
		before := heap()
		x := newRing()
		var op machine.Op
		for i := 0; i < tiles; i++ {
			x.tile(i, &op)
		}
		after := heap()
		if n := len(x.tr.Conflicts()); n != 0 {
			t.Fatalf("%d conflicts in a clean ring", n)
		}
		runtime.KeepAlive(x)
		return after - before
	}
	small, large := size(1000), size(30000)
	t.Logf("%d bytes after 1,000 tiles, %d after 30,000", small, large)
	if float64(large) > 1.2*float64(small)+65536 {
		t.Errorf("%d bytes after 1,000 tiles, %d after 30,000", small, large)
	}
}
