package muster

import (
	"context"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/parallel"
	"muster/internal/rules"
)

// Who runs what at the same time. Schedules are independent of each other. So
// are, within a schedule, clusters that do not interact: those whose runs alone
// come to their end and touch disjoint bytes of global memory, or read only.
// Every interleaving of such runs does what they do one by one, so a judge for
// each sees all that there is. Whether clusters interact is seen by running
// them; where they do, the schedule is run again with all clusters together.
// What is run does not depend on how many processors there are.

// parts is into how many runs a schedule is parted at most.
const parts = 64

// schedules runs every schedule, each result in its place.
func (l *Launch) schedules(ctx context.Context, o CheckOptions, skip bool) []result {
	results := make([]result, len(o.Schedules))
	w := l.watch(ctx)
	rest := make([]int, len(results))
	for i := range rest {
		rest[i] = i
	}
	if l.parts() > 1 {
		// Each schedule by itself: what one shows must not depend on which
		// others were asked for, or it would not replay.
		rest = l.parted(w, o, rest, results, skip)
	}
	parallel.Each(o.Jobs, len(rest), func(i int) {
		results[rest[i]], _ = l.judge(w, o.Schedules[rest[i]], skip, 0, 1)
	})
	return results
}

// parts returns into how many runs a schedule can be parted. Programs that
// read global memory by strong operations do so to learn of other CTAs.
func (l *Launch) parts() int {
	if l.config.Program.HasStrongGlobalAccess() {
		return 1
	}
	return min(parts, l.start.ClusterCount())
}

// parted runs schedules part by part, and returns those that have to be run
// as a whole.
func (l *Launch) parted(w *watch, o CheckOptions, which []int, results []result, skip bool) (again []int) {
	n := l.parts()
	type part struct {
		result
		print *order.Footprint
	}
	all := make([]part, n*len(which))
	parallel.Each(o.Jobs, len(all), func(i int) {
		s := o.Schedules[which[i/n]]
		if s.Prefix == nil {
			all[i].result, all[i].print = l.judge(w, s, skip, i%n, n)
		}
	})
	for k, i := range which {
		of := all[k*n:][:n]
		whole := false
		var r result
		for j := range of {
			p := &of[j]
			whole = whole || p.print == nil || j > 0 && !of[0].print.Add(p.print)
			r.add(&p.result)
		}
		if whole {
			again = append(again, i)
		} else {
			results[i] = r
		}
	}
	return again
}

// add joins what two runs of disjoint clusters showed.
func (r *result) add(o *result) {
	for _, f := range o.findings {
		known := false
		for i := range r.findings {
			g := &r.findings[i]
			if g.Key() != f.Key() {
				continue
			}
			known = true
			count := g.Count + f.Count
			if f.Severity > g.Severity {
				*g = f
			}
			g.Count = count
		}
		if !known {
			r.findings = append(r.findings, f)
		}
	}
	r.gaps = append(r.gaps, o.gaps...)
	if r.err == nil {
		r.err = o.err
	}
}

// judge runs part k of n of one schedule under a judge of its own. It returns
// the footprint of a part that came to its end, nil of one that did not.
func (l *Launch) judge(w *watch, s Schedule, skip bool, k, n int) (result, *order.Footprint) {
	if why := w.over(); why != "" { // in a large grid even a judge takes its time to make
		return result{gaps: []rules.Gap{{What: why, PC: -1}}}, nil
	}
	for { // each time with more stores, of which there are so many
		j := rules.NewJudge(l.shape)
		r, print := l.runPart(w, j, l.part(j, skip, k, n), s)
		more := l.overlooked(j)
		if len(more) == 0 || r.err != nil || w.over() != "" {
			return r, print
		}
		l = l.attentive(more)
	}
}

// overlooked are stores that a run showed to bring what others had, in no order with
// them, and at whose places its judge may have forgotten something.
func (l *Launch) overlooked(j *rules.Judge) []int32 { return without(j.Order.EqualStores(), l.equal) }

// attentive returns the launch for judges that forget nothing at the places of these
// stores, too.
func (l *Launch) attentive(equal []int32) *Launch {
	a := *l
	a.equal = join(l.equal, equal)
	a.shape.Equal = func(pc int32) bool { return slices.Contains(a.equal, pc) }
	return &a
}

// part returns a machine for part k of n of the launch's clusters, watched by o.
func (l *Launch) part(o machine.Observer, skip bool, k, n int) *machine.Machine {
	m := l.machine(o, nil)
	if skip {
		m.SkipMatrices()
	}
	if n > 1 {
		c := m.ClusterCount()
		m.Only(k*c/n, (k+1)*c/n-k*c/n)
	}
	return m
}

// runPart runs a machine that j watches to its end.
func (l *Launch) runPart(w *watch, j *rules.Judge, m *machine.Machine, s Schedule) (r result, print *order.Footprint) {
	gap, err := l.follow(w, m, s)
	if err != nil {
		return result{err: err}, nil
	}
	r.findings, r.gaps = j.Finish(m)
	if gap != nil {
		r.gaps = append(withoutLimits(r.gaps, m.Stopped()), *gap)
	}
	if m.Done() && len(r.gaps) == 0 {
		print = order.NewFootprint(j.Order)
	}
	return r, print
}
