// Package masks looks for runs in which it matters which lanes of a warp execute an activemask
// together.
//
// The ISA does not say which lanes are active together (3.2, 9.7.13.11): after a branch, lanes
// may have reconverged or not, and those that come to an activemask by one path may come one by
// one. The machine lets them come together. This package makes runs in which they fall into
// groups, in ways that kernels get wrong: each lane by itself, halves of the warp, one lane
// without the rest, and some drawn at random. That finds mistakes, and is no proof: the lanes of
// one warp fall into groups in more ways than can be run (Bell's number of 32 is 1.3e26).
package masks

import (
	"fmt"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
)

// A Found is a finding, and a schedule that shows it.
type Found struct {
	rules.Finding
	Schedule trial.Schedule
}

// A Result is what the runs showed.
type Result struct {
	Runs     int // that came to their end
	Findings []Found
	// Why, unless empty, says what ended the runs before all were made.
	Why string
}

// Roots lists the activemasks of a program whose result decides something.
func Roots(p *machine.Program) []int32 {
	var out []int32
	seen := map[int32]bool{}
	for _, d := range p.Dependences() {
		for _, pc := range d.Roots {
			if !seen[pc] && p.ShowsLanes(pc) {
				seen[pc] = true
				out = append(out, pc)
			}
		}
	}
	return out
}

// maxSteps bounds the steps of a run.
const maxSteps = 1 << 16

// Cuts lists the ways in which lanes fall into groups, with so many random ones.
func Cuts(random int) []explore.Cut {
	var list []explore.Cut
	add := func(name string, of func(lane int) int) {
		for _, last := range []bool{false, true} {
			for _, each := range []bool{true, false} {
				list = append(list, explore.Cut{Name: name, Of: of, Last: last, Each: each})
			}
		}
	}
	add("each lane by itself", func(l int) int { return l })
	add("halves", func(l int) int { return l / 16 })
	add("quarters", func(l int) int { return l / 8 })
	add("pairs", func(l int) int { return l / 2 })
	add("odd and even lanes", func(l int) int { return l & 1 })
	add("the first lane by itself", func(l int) int { return min(l, 1) })
	add("the last lane by itself", func(l int) int { return l / 31 })
	add("each lane by itself, after a first time", func(l int) int { return l })
	for i := len(list) - 4; i < len(list); i++ {
		list[i].Later = true
	}
	for seed := range random {
		n := uint64(2 + seed%3)
		of := func(l int) int { return int(mix(uint64(seed)<<8|uint64(l)) % n) }
		list = append(list, explore.Cut{Name: fmt.Sprintf("%d groups at random", n), Of: of, Last: seed&1 != 0, Each: seed&2 != 0})
	}
	return list
}

// Look makes a run for each way.
func Look(w *trial.Budget, l *trial.Subject, random int) *Result {
	r := &Result{}
	stop, why := w.Stop()
	seen := map[string]bool{}
	list := Cuts(random)
	w.Meter.Stage("letting lanes come to activemask in groups", "run", len(list))
	for i := range list {
		j := rules.NewJudge(l.Rules())
		m := l.Machine(j, nil)
		m.StopWhen(stop)
		d := explore.Direct(m)
		ended := d.Cutting(&list[i], maxSteps)
		if stop() {
			r.Why = why()
			return r
		}
		w.Meter.Did(1)
		if _, limit := l.LimitGap(m.Stopped()); !ended || limit {
			continue
		}
		r.Runs++
		findings, _ := j.Finish(m)
		for _, f := range findings {
			if k := f.Key(); !seen[k] {
				seen[k] = true
				r.Findings = append(r.Findings, Found{f, trial.Schedule{Policy: explore.Latest, Prefix: d.Run}})
			}
		}
	}
	return r
}

// mix is the finalizer of splitmix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
