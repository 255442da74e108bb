package gpu

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An Overhead is the caller's time per launch, in nanoseconds: the median over
// rounds, and the best round.
type Overhead struct {
	Rounds, Launches   int     // rounds, and launches in each
	Go, GoBest         float64 // Prepared.Launch
	Driver, DriverBest float64 // the same arguments from a loop in C; 0 without one
}

// String is one line for a person.
func (o Overhead) String() string {
	s := fmt.Sprintf("a launch from Go: %.0f ns (best %.0f)", o.Go, o.GoBest)
	if o.Driver > 0 {
		s += fmt.Sprintf("; from C: %.0f ns (best %.0f); beyond the driver's own: %.0f ns", o.Driver, o.DriverBest, o.Go-o.Driver)
	}
	return s + fmt.Sprintf("; %d rounds of %d launches", o.Rounds, o.Launches)
}

// loopSymbol is the function of a C library that calls a function n times:
//
//	int loop(void *fn, const uintptr_t *args, int nargs, int n)
const loopSymbol = "loop"

// Overhead times launches without waiting for them: rounds of n, each
// alternating with a round of the same n launches by the function `loop` of a C
// library (see testdata/loop.c), which measures the driver's own time. An empty
// path omits that. n must not fill the driver's queue, some 1,000 launches: a
// full queue makes the caller wait for the GPU.
func (p *Prepared) Overhead(ctx context.Context, rounds, n int, library string) (Overhead, error) {
	o := Overhead{Rounds: rounds, Launches: n}
	if err := p.usable(); err != nil {
		return o, err
	}
	inGo := func() error {
		for range n {
			if err := p.Launch(); err != nil {
				return err
			}
		}
		return nil
	}
	inC, err := p.loopInC(library, n)
	if err != nil {
		return o, err
	}
	var goTimes, cTimes []float64
	for range rounds + 1 {
		t, err := p.time(ctx, inGo)
		if err != nil {
			return o, err
		}
		goTimes = append(goTimes, t/float64(n))
		if inC == nil {
			continue
		}
		if t, err = p.time(ctx, inC); err != nil {
			return o, err
		}
		cTimes = append(cTimes, t/float64(n))
	}
	o.Go, o.GoBest = summary(goTimes)
	if inC != nil {
		o.Driver, o.DriverBest = summary(cTimes)
	}
	return o, nil
}

// summary returns median and best without the first round, which warms up.
func summary(times []float64) (median, best float64) {
	times = times[1:]
	slices.Sort(times)
	return times[len(times)/2], times[0]
}

// time returns the nanoseconds until launch has returned, then waits.
func (p *Prepared) time(ctx context.Context, launch func() error) (float64, error) {
	begin := time.Now()
	err := launch()
	took := time.Since(begin)
	if err != nil {
		return 0, err
	}
	return float64(took.Nanoseconds()), p.Wait(ctx)
}

func (p *Prepared) loopInC(library string, n int) (func() error, error) {
	if library == "" {
		return nil, nil
	}
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	loop, err := purego.Dlsym(lib, loopSymbol)
	if err != nil {
		return nil, err
	}
	return func() error {
		err := p.dev.drv.call(p.op, loop, p.call, uintptr(unsafe.Pointer(&p.args[0])), uintptr(len(p.args)), uintptr(n))
		runtime.KeepAlive(p)
		return err
	}, nil
}
