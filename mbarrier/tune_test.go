package mbarrier

import (
	"runtime"
	"testing"
	"time"
)

// A world says how long phases take in each mode, in nanoseconds, and in which modes waiting is in vain.
type world struct {
	phase [modes]float64
	vain  [modes]time.Duration
}

// live lets a tuner live in a world for that long from now, and returns how long of it was not in the best
// mode.
func (w world) live(t *tuner, now *time.Duration, span time.Duration, best mode) (elsewhere time.Duration) {
	phase := uint64(*now)
	for end := *now + span; *now < end; phase += window {
		m := t.mode.Load()
		d := time.Duration(window * w.phase[m])
		if w.vain[m] > 0 {
			t.inVain(m, phase, w.vain[m])
			t.inVain(m, phase+1, w.vain[m])
			d += 2 * w.vain[m]
		}
		if *now += d; m != best {
			elsewhere += d
		}
		t.took(d)
	}
	return elsewhere
}

// TestTuner: a tuner finds the fastest mode of a world, stays there but for a small part of the time, and
// finds the fastest of the next world.
func TestTuner(t *testing.T) {
	if runtime.NumCPU() == 1 {
		t.Skip("one processor: spinning is not tried")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	worlds := []struct {
		name string
		world
		best mode
	}{
		{"a shared cache", world{phase: [modes]float64{15_000, 15_000, 13_000, 6000}}, spinning},
		{"one processor", world{phase: [modes]float64{15_000, 15_000, 10_000, 90_000}}, yielding},
		{"busy goroutines", world{phase: [modes]float64{20_000, 20_000, 10_000, 10_000}, vain: [modes]time.Duration{yielding: 10 * time.Millisecond, spinning: settleLimit}}, handOver},
		{"all alike", world{phase: [modes]float64{10_000, 10_000, 10_000, 10_000}}, handOver},
	}
	for i, from := range worlds {
		for j, to := range worlds {
			if to.name == "all alike" && i != j {
				continue // then there is no reason to move
			}
			tuner, now := newTuner(2), time.Duration(0)
			from.live(tuner, &now, 10*time.Second, from.best)
			to.live(tuner, &now, 10*time.Second, to.best)
			const span = 20 * time.Second
			if away := to.live(tuner, &now, span, to.best); away > span/20 {
				t.Errorf("from %s to %s: %v of %v not in the best mode", from.name, to.name, away, span)
			}
		}
	}
}

// TestTunerWork: where phases are long, neither spinning nor yielding is tried, and waking all at once is
// found if it is faster.
func TestTunerWork(t *testing.T) {
	tuner, now := newTuner(8), time.Duration(0)
	w := world{phase: [modes]float64{400_000, 300_000, 0, 0}}
	w.vain[yielding], w.vain[spinning] = time.Second, time.Second
	if away := w.live(tuner, &now, 10*time.Second, broadcast); away > time.Second {
		t.Errorf("%v of 10s not in the best mode", away)
	}
	if tuner.means[yielding] != 0 || tuner.means[spinning] != 0 || tuner.hogged {
		t.Error("a trial of yielding or spinning in phases of 300 µs")
	}
}

// TestTunerRest: a long rest of the program within a trial costs the mode on trial nothing.
func TestTunerRest(t *testing.T) {
	tuner, now := newTuner(2), time.Duration(0)
	w := world{phase: [modes]float64{150, 150, 100, 5000}}
	for tuner.mode.Load() != yielding {
		w.live(tuner, &now, 10*time.Microsecond, handOver)
	}
	was := tuner.now
	tuner.took(10 * time.Second)
	if d := tuner.now - was; d > 2*minPause {
		t.Errorf("a rest counts as %v of phases", d)
	}
	w.live(tuner, &now, time.Second, yielding)
	if tuner.home.Load() != yielding {
		t.Errorf("at home in mode %d after a rest", tuner.home.Load())
	}
}

// TestTunerSettles: a spin in vain at home makes goroutines settle again; spins that go on in vain end the stay.
func TestTunerSettles(t *testing.T) {
	if runtime.NumCPU() == 1 {
		t.Skip("one processor: spinning is not tried")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	tuner, now := newTuner(2), time.Duration(0)
	w := world{phase: [modes]float64{15_000, 15_000, 13_000, 6000}}
	w.live(tuner, &now, 10*time.Second, spinning)
	for tuner.mode.Load() != spinning || tuner.settles.Load() {
		w.live(tuner, &now, time.Millisecond, spinning)
	}
	tuner.inVain(spinning, 1, spinLimit)
	tuner.inVain(spinning, 2, settleLimit)
	if tuner.mode.Load() != spinning || tuner.home.Load() != spinning || !tuner.settles.Load() {
		t.Error("one spin in vain, and one while goroutines settle, end the stay")
	}
	tuner.inVain(spinning, 3, settleLimit)
	if tuner.mode.Load() != handOver {
		t.Error("it spins on although that is in vain")
	}
	w.live(tuner, &now, time.Millisecond, handOver)
	if tuner.home.Load() != handOver {
		t.Errorf("at home in mode %d", tuner.home.Load())
	}
}
