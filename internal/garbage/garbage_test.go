package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 64 << 20: 400, 65 << 20: 300, 128 << 20: 200, 129 << 20: 100, 1 << 30: 100, 1 << 40: 100} {
		if got := percent(live); got != want {
			t.Errorf("%d bytes live: %d percent, want %d", live, got, want)
		}
	}
}

// TestGather: the percentage follows what lives, from one collection to the next.
func TestGather(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	set := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	t.Setenv("GOGC", "50")
	if Gather(); set() != 100 {
		t.Errorf("GOGC is overruled: %d", set())
	}
	if gather(); set() != most {
		t.Errorf("little lives: %d percent", set())
	}
	becomes := func(want int) {
		for range 1000 {
			if runtime.GC(); set() == want {
				return
			}
			runtime.Gosched()
		}
		t.Errorf("it stays at %d percent, want %d", set(), want)
	}
	large := make([]byte, 2*spare)
	becomes(100)
	runtime.KeepAlive(large)
	becomes(most)
}
