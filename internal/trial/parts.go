package trial

import (
	"fmt"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/parallel"
	"muster/internal/rules"
)

// What runs at the same time. Schedules are independent of each other. So are, within
// a schedule, clusters that do not interact: those that, run alone, complete and
// touch disjoint bytes of global memory, or only read. Every interleaving of them
// does what they do one by one, so that one judge for each sees everything. Running
// them shows whether clusters interact; where they do, the schedule is run again with
// all clusters together. What is run does not depend on the number of processors.

// maxParts bounds the runs into which a schedule is split.
const maxParts = 64

// All runs every schedule, jobs at a time, and returns their results in order.
func (s *Subject) All(b *Budget, list []Schedule, jobs int, skip bool) []Result {
	results := make([]Result, len(list))
	rest := make([]int, len(results))
	for i := range rest {
		rest[i] = i
	}
	if s.Parts() > 1 {
		// Each schedule by itself: what one shows must not depend on which
		// others were asked for, or it would not replay.
		rest = s.parted(b, list, jobs, rest, results, skip)
	}
	parallel.Each(jobs, len(rest), func(i int) {
		results[rest[i]], _ = s.Judge(b, list[rest[i]], skip, 0, 1)
		b.Meter.Did(1)
	})
	return results
}

// Parts returns into how many runs a schedule can be split. Programs that read global
// memory by strong operations do so to learn of other CTAs: these run as one. So do those
// that share a heap, and launches that may overlap.
func (s *Subject) Parts() int {
	if len(s.Shape.Grids) > 0 || s.Program.HasStrongGlobalAccess() || s.Program.Allocates() || s.Program.Cancels() || s.Start.SharesMultiprocessors() {
		return 1
	}
	return min(maxParts, s.Start.ClusterCount())
}

// Alike runs a schedule of a proven launch whose parts do not interact, and of parts that
// are alike one. It reports whether all came to their ends.
func (s *Subject) Alike(b *Budget, by Schedule, jobs int, skip bool, p Parts) (r Result, ended bool) {
	parts, ends := make([]Result, p.N), make([]bool, p.N)
	parallel.Each(jobs, p.N, func(i int) {
		if p.Class[i] == i {
			var print *order.Footprint
			parts[i], print = s.Judge(b, by, skip, i, p.N)
			ends[i] = print != nil
		}
	})
	for _, i := range p.Class {
		if !ends[i] {
			return Result{}, false
		}
		r.Add(&parts[i])
	}
	return r, true
}

// parted runs schedules part by part, and returns those that have to be run
// as a whole.
func (s *Subject) parted(b *Budget, list []Schedule, jobs int, which []int, results []Result, skip bool) (again []int) {
	n := s.Parts()
	type part struct {
		Result
		print *order.Footprint
	}
	all := make([]part, n*len(which))
	parallel.Each(jobs, len(all), func(i int) {
		if by := list[which[i/n]]; by.Prefix == nil {
			all[i].Result, all[i].print = s.Judge(b, by, skip, i%n, n)
		}
	})
	for k, i := range which {
		of := all[k*n:][:n]
		whole := false
		var r Result
		for j := range of {
			p := &of[j]
			whole = whole || p.print == nil || j > 0 && !of[0].print.Add(p.print)
			r.Add(&p.Result)
		}
		if whole {
			again = append(again, i)
		} else {
			results[i] = r
			b.Meter.Did(1)
		}
	}
	return again
}

// Add joins what two runs of disjoint clusters showed.
func (r *Result) Add(o *Result) {
	r.Instrs += o.Instrs
	if r.Raced == nil {
		r.Raced = machine.OperandBytes{}
	}
	r.Raced.Join(o.Raced)
	at := places(r.Findings)
	for _, f := range o.Findings {
		i, known := at[f.Key()]
		if !known {
			at[f.Key()] = len(r.Findings)
			r.Findings = append(r.Findings, f)
			continue
		}
		g := &r.Findings[i]
		count := g.Count + f.Count
		if f.Severity > g.Severity {
			*g = f
		}
		g.Count = count
	}
	r.Gaps = append(r.Gaps, o.Gaps...)
	if r.Err == nil {
		r.Err = o.Err
	}
}

// places returns where in a list findings are, by their keys.
func places(list []rules.Finding) map[string]int {
	at := make(map[string]int, len(list))
	for i := range list {
		at[list[i].Key()] = i
	}
	return at
}

// Judge runs part k of n of one schedule under a judge of its own. It returns the
// footprint of a part that completed, else nil.
func (s *Subject) Judge(b *Budget, by Schedule, skip bool, k, n int) (r Result, print *order.Footprint) {
	if why := b.Over(); why != "" { // in a large grid even a judge takes its time to make
		return Result{Gaps: []rules.Gap{{What: why, PC: -1}}}, nil
	}
	for { // each round adds stores; a program has finitely many
		c := s.Rules()
		c.Executions = c.Executions || by.Picks()
		j := rules.NewJudge(c)
		r, ended := s.RunPart(b, j, s.Part(j, skip, k, n), by)
		if r.Cut && !r.Wrong() {
			b = b.Enough(0)
			continue
		}
		more := s.Overlooked(j)
		if len(more) == 0 || r.Err != nil || b.Over() != "" {
			if ended {
				print = order.NewFootprint(j.Order)
			}
			return r, print
		}
		s = s.Attentive(more)
	}
}

// RunPart runs a machine that j watches, and reports whether it came to its end.
func (s *Subject) RunPart(b *Budget, j *rules.Judge, m *machine.Machine, by Schedule) (r Result, ended bool) {
	return s.runPart(b, j, m, by, explore.Run)
}

// RunProof is RunPart under ProofSchedule. Parts that are alike take the same steps.
func (s *Subject) RunProof(b *Budget, j *rules.Judge, m *machine.Machine, part bool) (r Result, ended bool) {
	if part {
		return s.runPart(b, j, m, ProofSchedule, explore.RunAlike)
	}
	return s.runPart(b, j, m, ProofSchedule, explore.Run)
}

func (s *Subject) runPart(b *Budget, j *rules.Judge, m *machine.Machine, by Schedule, run runner) (r Result, ended bool) {
	at := int64(-1) // how many instructions came before the first error
	cut := func() bool {
		n, _ := m.Instrs()
		if b.enough == 0 || at < 0 && !j.Wrong() {
			return false
		}
		if at < 0 {
			at = n
		}
		r.Cut = n-at > b.enough
		return r.Cut
	}
	gap, err := s.follow(b, m, by, run, cut)
	if err != nil {
		return Result{Err: err}, false
	}
	if r.Cut {
		gap = &rules.Gap{What: fmt.Sprintf("a run was ended %d warp instructions after its first error", b.enough), PC: -1}
	}
	r.Findings, r.Gaps = j.Finish(m)
	r.Raced = j.Order.Raced()
	r.Instrs, _ = m.Instrs()
	if gap != nil {
		r.Gaps = append(WithoutLimits(r.Gaps, m.Stopped()), *gap)
	}
	return r, m.Done() && len(r.Gaps) == 0
}
