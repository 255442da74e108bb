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
)

// conditions runs a program once and returns which of C0 to C7 fail; ended is false
// if the run did not end, or its kernel does not keep C9.
func conditions(p *brute.Program) (failed []confluence.Failure, ended bool, err error) {
	cfg, err := config(p)
	if err != nil {
		return nil, false, err
	}
	if len(cfg.Program.Dependences()) > 0 {
		return nil, false, nil
	}
	m, err := machine.New(cfg)
	if err != nil {
		return nil, false, err
	}
	c := confluence.New(confluence.Config{Shape: m.Shape()})
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
// They accept at least 84 in a hundred of the programs where that is true.
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
	for i := range uint64(few(*programs)) {
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
