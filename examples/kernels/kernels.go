// Package kernels has asynchronous kernels in Go, from the simplest up. Each is
// right in every schedule, by proof, and computes on the machine what it
// computes on an H200; and each can make its famous mistakes, which are found.
//
// A kernel is a function that takes the name of a mistake, "" for none, and
// gives a call with its arguments. What it teaches stands above it.
package kernels

import (
	"fmt"

	"muster/kernel"
)

// An Example is a kernel with the mistakes that it can make.
type Example struct {
	Name     string
	Make     func(mistake string) (*Work, error)
	Mistakes []Mistake
}

// A Mistake is one line of a kernel gone wrong, and the kinds of findings that
// tell of it.
type Mistake struct {
	Name  string
	Finds []string
}

// A Work is a call, and what to hold its results to when it has run and its
// slices were taken back.
type Work struct {
	Call   *kernel.Call
	Verify func() error
}

// All gives every example, from the simplest up.
func All() []Example { return examples }

var examples = []Example{
	{"same-thread", SameThread, []Mistake{
		{"nobody waits", []string{"race-shared"}},
		{"one arrival too few", []string{"arrivals-missing"}},
	}},
	{"split", Split, []Mistake{
		{"one buffer", []string{"race-shared"}},
	}},
	{"two-tiles-token", TwoTilesByToken, []Mistake{
		{"the bytes of both tiles are expected at once", []string{"bytes-missing"}},
		{"the first token is waited for twice", []string{"stale-token", "read-in-flight"}},
	}},
	{"two-tiles-parity", TwoTilesByParity, []Mistake{
		{"the parity does not flip", []string{"read-in-flight"}},
		{"nothing holds the second tile back", []string{"lapped-wait"}},
		{"the arrival expects no bytes", []string{"bytes-early"}},
	}},
	{"roles", Roles, []Mistake{
		{"nobody says that the tile is read", []string{"race-shared"}},
		{"the producer waits for the wrong parity", []string{"never-completes"}},
	}},
	{"ring", Ring, []Mistake{
		{"the parity flips every turn", []string{"early-wait"}},
		{"the producer waits like a consumer", []string{"never-completes"}},
		{"one lane releases before the warp has read", []string{"race-lanes"}},
	}},
	{"bulk-store", BulkStore, []Mistake{
		{"no proxy fence", []string{"proxy-raw"}},
		{"the tile is overwritten while it is stored", []string{"overwrite-in-flight"}},
	}},
	{"ldgsts", LDGSTS, []Mistake{
		{"the last turn waits for all but one group", []string{"read-in-flight"}},
		{"no barrier behind the wait", []string{"read-in-flight"}},
	}},
	{"ping-pong", PingPong, []Mistake{
		{"both begin", []string{"race-shared"}},
	}},
	{"cluster-reduce", ClusterReduce, []Mistake{
		{"no barrier before the sum", []string{"race-shared"}},
		{"a CTA exits while others read it", []string{"exit-before-remote"}},
	}},
	{"tensor-copy", TensorCopy, []Mistake{
		{"only the tensor's own bytes are expected", []string{"bytes-early"}},
		{"no proxy fence", []string{"proxy-raw"}},
	}},
	{"product", Product, []Mistake{
		{"the accumulator is set without a fence", []string{"register-in-flight"}},
		{"the sums are read in flight", []string{"register-in-flight"}},
	}},
	{"multicast", Multicast, []Mistake{
		{"releases reach only the own CTA", []string{"phase-mixing", "overwrite-in-flight"}},
		{"no cluster barrier after the barriers are made", []string{"init-not-ordered", "remote-before-start"}},
		{"a CTA exits early", []string{"exit-before-remote"}},
		{"each CTA expects only its own half", []string{"bytes-early"}},
	}},
	{"gemm", Persistent, []Mistake{
		{"a relaxed release without its fence", []string{"relaxed-sync"}},
		{"a stage is given back while it is multiplied", []string{"overwrite-in-flight"}},
		{"a strip is overwritten while it is stored", []string{"overwrite-in-flight"}},
		{"no proxy fence", []string{"proxy-raw"}},
		{"a CTA exits early", []string{"exit-before-remote"}},
	}},
	{"grouped", Grouped, []Mistake{
		{"a map is used without an acquire", []string{"tensormap-stale"}},
		{"a map is stored and not released", []string{"tensormap-stale"}},
		{"the next problem's maps are written while copies run", []string{"tensormap-in-flight"}},
		{"all CTAs write their maps in one place", []string{"tensormap-in-flight"}},
	}},
}

// iota32 gives 0, 1, 2, … as floats.
func iota32(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	return x
}

// equal returns a check that each element of got equals want(i).
func equal[T comparable](got []T, want func(i int) T) func() error {
	return func() error {
		for i, g := range got {
			if w := want(i); g != w {
				return fmt.Errorf("element %d is %v; want %v", i, g, w)
			}
		}
		return nil
	}
}

// integers are numbers whose products have sums that are exact in any order.
func integers(n, period int) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = kernel.F16Bits(float32(i%period - period/2))
	}
	return x
}

// product holds z to x·yᵀ, of rows that are depth long; z has n columns.
func product(x, y []uint16, z []float32, n, depth int) error {
	for i, got := range z {
		sum := float32(0)
		for j := range depth {
			sum += kernel.F16Value(x[i/n*depth+j]) * kernel.F16Value(y[i%n*depth+j])
		}
		if got != sum {
			return fmt.Errorf("row %d, column %d is %v; want %v", i/n, i%n, got, sum)
		}
	}
	return nil
}

// work puts a call and its check together.
func work(verify func() error, call *kernel.Call, err error) (*Work, error) {
	if err != nil {
		return nil, err
	}
	return &Work{call, verify}, nil
}
