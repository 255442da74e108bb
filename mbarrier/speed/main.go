// Command speed measures the barriers and pipelines of package mbarrier against what Go has in their place
// (mbarrier/internal/others). docs/barrier-speed.md has its tables and says how to repeat them.
//
// For each case it runs 21 rounds. A round runs every implementation for a fixed time, in random order, in
// this one process; a ratio is of two times of one round. The table shows the median of a round's times, and
// of the ratio to the best other implementation with the interval that holds its median in 95 % of cases.
// Each implementation is made once for all rounds and runs one more round first, which is not counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/mbarrier"
	"muster/mbarrier/internal/others"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	sizes, depths []int
	procs         []int
	neighbours    []string
	rounds        int
	span, busy    time.Duration // that an implementation runs in a round, without and with neighbours
	burn          bool
	fresh         bool
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("speed", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	sizes := f.String("goroutines", "2,8,64", "barriers of so many `goroutines`; empty for none")
	depths := f.String("depths", "1,4,64", "pipelines of these `depths`; empty for none")
	procs := f.String("procs", "", "values of GOMAXPROCS (default: all processors)")
	neighbours := f.String("neighbours", "none,goroutines,processes", "what runs beside: none, goroutines or processes, two of each, that burn processor time")
	f.IntVar(&o.rounds, "rounds", 21, "rounds of each case")
	f.DurationVar(&o.span, "span", 20*time.Millisecond, "how long an implementation runs in a round")
	f.DurationVar(&o.busy, "busy-span", 300*time.Millisecond, "how long it runs with neighbours")
	f.BoolVar(&o.fresh, "fresh", false, "make the implementations anew in each round, and count how they begin")
	f.BoolVar(&o.burn, "burn", false, "be a neighbour: burn one processor until standard input ends")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(out)
		f.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.rounds < 1 || o.span <= 0 || o.busy <= 0 {
		return o, fmt.Errorf("rounds and spans must be positive")
	}
	for _, l := range []struct {
		name, text string
		to         *[]int
	}{{"goroutines", *sizes, &o.sizes}, {"depths", *depths, &o.depths}, {"procs", *procs, &o.procs}} {
		for s := range strings.SplitSeq(l.text, ",") {
			if l.text == "" {
				break
			}
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 || n > 1<<16 {
				return o, fmt.Errorf("-%s: %q is no number from 1 to 65536", l.name, s)
			}
			*l.to = append(*l.to, n)
		}
	}
	if slices.Contains(o.sizes, 1) {
		return o, fmt.Errorf("-goroutines: 1: a barrier is measured with 2 at least")
	}
	if len(o.procs) == 0 {
		o.procs = []int{runtime.GOMAXPROCS(0)}
	}
	for s := range strings.SplitSeq(*neighbours, ",") {
		if !slices.Contains([]string{"none", "goroutines", "processes"}, s) {
			return o, fmt.Errorf("-neighbours: %q is none of none, goroutines, processes", s)
		}
		o.neighbours = append(o.neighbours, s)
	}
	return o, nil
}

func run(args []string, out io.Writer) error {
	o, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.burn {
		go burn(nil)
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	fmt.Fprintf(out, "%s, %d processors; a cache line goes over and back in %s\n", runtime.Version(), runtime.NumCPU(), exchange())
	for _, procs := range o.procs {
		runtime.GOMAXPROCS(procs)
		for _, beside := range o.neighbours {
			stop, err := neighbours(beside)
			if err != nil {
				return err
			}
			span := o.span
			if beside != "none" {
				span = o.busy
			}
			for _, n := range o.sizes {
				report(out, fmt.Sprintf("phase, %d goroutines, GOMAXPROCS %d, neighbours: %s", n, procs, beside), measure(barriers(n), o, span))
			}
			for _, depth := range o.depths {
				report(out, fmt.Sprintf("item, depth %d, GOMAXPROCS %d, neighbours: %s", depth, procs, beside), measure(rings(depth), o, span))
			}
			stop()
		}
	}
	return nil
}

// neighbours starts two goroutines or processes that burn processor time, and returns what ends them.
func neighbours(kind string) (stop func(), err error) {
	const count = 2
	switch kind {
	case "goroutines":
		done := make(chan struct{})
		for range count {
			go burn(done)
		}
		return func() { close(done) }, nil
	case "processes":
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		var ends []func()
		for range count {
			c := exec.Command(self, "-burn")
			c.Env = append(os.Environ(), "GOMAXPROCS=1")
			in, err := c.StdinPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				return nil, err
			}
			ends = append(ends, func() { in.Close(); c.Wait() })
		}
		return func() {
			for _, end := range ends {
				end()
			}
		}, nil
	}
	return func() {}, nil
}

// burn uses one processor until done is closed.
func burn(done chan struct{}) {
	x := uint64(1)
	for {
		for range 1 << 12 {
			x = x*6364136223846793005 + 1
		}
		select {
		case <-done:
			runtime.KeepAlive(x)
			return
		default:
		}
	}
}

// An impl runs for a while and returns the nanoseconds for each phase or item.
type impl struct {
	name string
	make func() func(time.Duration) float64
}

func ours(n int) func(rank, k int) {
	b := mbarrier.New(n)
	return func(int, int) { b.ArriveAndWait() }
}

// barriers returns ours and the others.
func barriers(n int) []impl {
	kinds := append([]others.Barrier{{Name: "mbarrier", Make: ours}}, others.Barriers...)
	var all []impl
	for _, kind := range kinds {
		all = append(all, impl{kind.Name, func() func(time.Duration) float64 {
			through, next := kind.Make(n), 0
			return func(span time.Duration) float64 {
				d, phases := passPhases(n, through, next, span)
				next += phases
				return float64(d) / float64(phases)
			}
		}})
	}
	return all
}

// pipeline is a Pipeline in the form of the other rings.
func pipeline(depth int) (func(int), func() int) {
	ctx := context.Background()
	p := mbarrier.NewPipeline(depth, 1, 1)
	r, c := p.Producer(), p.Consumer()
	slots := make([]int, depth)
	put := func(k int) {
		s, _ := r.Acquire(ctx)
		slots[s] = k
		r.Commit()
	}
	take := func() int {
		s, _ := c.Wait(ctx)
		k := slots[s]
		c.Release()
		return k
	}
	return put, take
}

// rings returns the Pipeline and the others.
func rings(depth int) []impl {
	var all []impl
	for _, kind := range append([]others.Ring{{Name: "pipeline", Make: pipeline}}, others.Rings...) {
		all = append(all, impl{kind.Name, func() func(time.Duration) float64 {
			put, take := kind.Make(depth)
			return func(span time.Duration) float64 {
				d, items := passItems(put, take, span)
				return float64(d) / float64(items)
			}
		}})
	}
	return all
}

// measure returns the times of each implementation in each round.
func measure(impls []impl, o options, span time.Duration) []result {
	results := make([]result, len(impls))
	runs := make([]func(time.Duration) float64, len(impls))
	for round := range o.rounds + 1 {
		for _, i := range rand.Perm(len(impls)) {
			if runs[i] == nil || o.fresh {
				results[i].name, runs[i] = impls[i].name, impls[i].make()
			}
			runtime.GC()
			t := runs[i](span)
			if round > 0 || o.fresh {
				results[i].times = append(results[i].times, t)
			}
		}
	}
	return results
}
