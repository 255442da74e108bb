package lanes_test

import (
	"fmt"
	"testing"

	"muster/internal/brute/lanes"
)

// TestDraws has everything that a program can be made of come up now and then.
func TestDraws(t *testing.T) {
	const draws = 2000
	seen := map[string]int{}
	for n := range uint64(draws) {
		p := draw(n)
		set := map[string]bool{
			fmt.Sprint("CTAs ", p.CTAs, p.Cluster): true, fmt.Sprint("warps ", len(p.Warps)): true, fmt.Sprint("lanes ", p.Lanes): true, fmt.Sprint("turns ", p.Turns): true,
			fmt.Sprint("idle ", p.Idle): true, fmt.Sprint("order ", p.Order): true, fmt.Sprint("fence.sc ", p.SC): true, fmt.Sprint("robust ", p.Robust()): true,
		}
		for _, ops := range p.Warps {
			for _, o := range ops {
				set[fmt.Sprint("kind ", o.Kind)] = true
				set[fmt.Sprint("guarded ", o.Only != 1<<p.Lanes-1)] = true
				switch o.Kind {
				case lanes.Red, lanes.Atom:
					set[fmt.Sprint("kind ", o.Kind, " ", o.Do)] = true
				case lanes.Poll, lanes.Skip, lanes.Trap:
					set[fmt.Sprint("compares ", o.Cmp)] = true
				}
				if o.Kind == lanes.ArriveAsync {
					set[fmt.Sprint("counted ", o.N)] = true
				}
				if o.Kind < lanes.Arrive {
					set[fmt.Sprint("at ", o.At, p.Areas[o.Area].Shared)] = true
					set[fmt.Sprint("value ", o.Value)] = true
				}
			}
		}
		for k := range set {
			seen[k]++
		}
	}
	var want []string
	for k := lanes.Store; k <= lanes.Trap; k++ {
		want = append(want, fmt.Sprint("kind ", k))
	}
	for d := lanes.Add; d <= lanes.Cas; d++ {
		if d != lanes.Exch && d != lanes.Cas && d != lanes.Inc {
			want = append(want, fmt.Sprint("kind ", lanes.Red, " ", d))
		}
		if d != lanes.Min && d != lanes.Max {
			want = append(want, fmt.Sprint("kind ", lanes.Atom, " ", d))
		}
	}
	for n := range 5 {
		want = append(want, fmt.Sprint("compares ", n), fmt.Sprint("at ", n, true), fmt.Sprint("at ", n, false))
	}
	for n := range 4 {
		want = append(want, fmt.Sprint("value ", n), fmt.Sprint("order ", n), fmt.Sprint("warps ", n+1))
	}
	for n := range 3 {
		want = append(want, fmt.Sprint("idle ", n), fmt.Sprint("lanes ", n+2))
	}
	want = append(want, "CTAs 1 false", "CTAs 2 false", "CTAs 2 true", "turns 1", "turns 2", "fence.sc true", "robust true", "robust false", "guarded true", "guarded false", "counted 0", "counted 1")
	for _, k := range want {
		if seen[k] < draws/200 {
			t.Errorf("%s: in %d of %d programs", k, seen[k], draws)
		}
	}
}
