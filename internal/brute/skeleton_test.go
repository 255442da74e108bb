package brute_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"muster/internal/brute"
	"muster/internal/confluence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// conditions runs a program once and returns which of C0 to C7 fail; ended is false
// if the run did not come to its end.
func conditions(p *brute.Program) (failed []confluence.Failure, ended bool, err error) {
	mod, err := ptx.Parse("p.ptx", []byte(p.PTX()))
	if err != nil {
		return nil, false, err
	}
	x := p.Launch()
	f, err := launch.FromFlags(launch.Flags{PTX: "p.ptx", Grid: x.Grid, Block: x.Block, Cluster: x.Cluster, Buffers: x.Buffers, Args: x.Args})
	if err != nil {
		return nil, false, err
	}
	prog, err := machine.Decode(mod, "")
	if err != nil {
		return nil, false, err
	}
	layout, err := f.Layout(0)
	if err != nil {
		return nil, false, err
	}
	var params []launch.Param
	for _, q := range prog.Params {
		params = append(params, launch.Param{Name: q.Name, Size: int(q.Size), Align: int(q.Align)})
	}
	l := &f.Launches[0]
	block, err := layout.EncodeParams(l, params)
	if err != nil {
		return nil, false, err
	}
	cfg := machine.Config{Program: prog, Grid: l.Grid, Block: l.Block, Cluster: l.Cluster, Params: block.Bytes}
	for i := range layout.Buffers {
		b := &layout.Buffers[i]
		cfg.Buffers = append(cfg.Buffers, machine.Buffer{Name: b.Name, Base: b.Base, Size: b.Size, Data: b.Data, Init: b.Initialized})
	}
	m, err := machine.New(cfg)
	if err != nil {
		return nil, false, err
	}
	c := confluence.New(confluence.Shape{CTAs: m.CTAs(), Warps: m.WarpsPerCTA(), Cluster: m.ClusterSize(), Clusters: m.Clusters()})
	m = m.Fork(c, nil)
	m.ShowCollectives()
	explore.Run(m, explore.Schedule{Policy: explore.Latest}, nil)
	return c.Finish(), m.Done(), nil
}

// wrong says how C0 to C7 accept a program that brute force does not; empty if they
// do not.
func wrong(p *brute.Program) string {
	failed, ended, err := conditions(p)
	if err != nil {
		return err.Error()
	}
	if !ended || len(failed) > 0 {
		return ""
	}
	switch r := all(p); {
	case r.Complete && (r.Stuck || r.Fault || r.Phases):
		return fmt.Sprintf("stuck %v, fault %v, phases differ %v", r.Stuck, r.Fault, r.Phases)
	}
	return ""
}

// TestSkeletons holds conditions C0 to C7 against brute force on programs of
// barriers alone: where they accept, every schedule ends with the same phases.
// They accept at least 84 in a hundred of the programs of which that is true.
func TestSkeletons(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n, independent, accepted, bad := 0, 0, 0, 0
	why := map[string]int{}
	smallest := map[string]*brute.Program{}
	one := func(p *brute.Program) {
		r := all(p)
		good := r.Complete && !r.Stuck && !r.Fault && !r.Phases
		failed, ended, err := conditions(p)
		mu.Lock()
		defer mu.Unlock()
		n++
		if err != nil {
			t.Errorf("%v\n%v", err, p)
			return
		}
		holds := ended && len(failed) == 0
		if good {
			independent++
		}
		switch {
		case holds && good:
			accepted++
		case holds && r.Complete:
			bad++
			q := shrink(p, func(q *brute.Program) bool { return wrong(q) != "" })
			t.Errorf("accepted: %s\n%v%s", wrong(q), q, q.PTX())
		case good:
			var list []string
			for _, f := range failed {
				if s := f.Condition.String(); !strings.Contains(strings.Join(list, " "), s) {
					list = append(list, s)
				}
			}
			key := strings.Join(list, " ")
			if !ended {
				key = "the run did not end"
			}
			why[key]++
			keepSmallest(smallest, key, p)
		}
	}
	next := make(chan uint64)
	for range *jobs {
		wg.Go(func() {
			for i := range next {
				one(brute.Skeleton(rand.New(rand.NewPCG(*seed+1<<32, i))))
			}
		})
	}
	for i := range uint64(*programs) {
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d programs: %d independent, accepted %d: %.1f%%", n, independent, accepted, 100*float64(accepted)/float64(max(1, independent)))
	for k, v := range why {
		t.Logf("independent, not accepted: %d %s\n%v", v, k, smallest[k])
	}
	if 100*accepted < 84*independent {
		t.Errorf("of %d independent programs C0 to C7 accept %d: want 84%%", independent, accepted)
	}
}
