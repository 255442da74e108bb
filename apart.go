package muster

import (
	"muster/internal/executions"
	"muster/internal/explore"
	"muster/internal/trial"
	"muster/report"
)

// Clusters that share nothing. Where what threads do depends on the schedule, but no byte of global
// memory that a cluster ever writes is touched by another one, clusters do not notice each other:
// each does in every schedule of the launch what it does in one by itself. So the executions of each
// are explored, and not all combinations of them.

// apart tries to decide by the executions of each cluster by itself. It finds no errors: where there
// is one, the launch is explored as any other, so that the schedule that shows it is the launch's.
func (c *checking) apart() bool {
	l := c.subject
	n := l.Start.ClusterCount()
	if n < 2 || c.Wrong() || c.explore.Final != nil || !c.separable() {
		return false
	}
	c.tell("an exploration of each cluster by itself")
	c.budget.Meter.Stage("exploring clusters by themselves", "cluster", n)
	coverage := report.Coverage{Complete: true, Executions: true}
	all, parts := &trial.Accesses{}, make([]*trial.Accesses, n)
	for i := range n {
		parts[i] = &trial.Accesses{}
		one := l.Cluster(i)
		r := executions.Explore(c.budget, one, executions.Options{
			Schedules: executionsEach*c.explore.Schedules - coverage.Schedules, Steps: stepsLeft(c.explore.Steps, coverage.Steps), Begin: c.explore.Prepare, Watch: parts[i],
		})
		if !r.Coverage.Complete || !r.Right() || meets(all, parts[i]) {
			return false
		}
		all.Read.Join(&parts[i].Read)
		all.Written.Join(&parts[i].Written)
		coverage.Schedules += r.Coverage.Schedules
		coverage.Steps += r.Coverage.Steps
		coverage.Longest = max(coverage.Longest, r.Coverage.Longest)
		c.budget.Meter.Did(1)
	}
	c.coverage = &coverage
	return true
}

// separable reports whether clusters share nothing but global memory, and in one run touch no byte
// of it that another writes.
func (c *checking) separable() bool {
	l := c.subject
	if len(l.Shape.Grids) > 0 || l.Shape.Clusters != nil || l.Program.Allocates() || l.Program.Cancels() || l.Start.SharesMultiprocessors() || writesStronglyLater(l.Program) {
		return false
	}
	all := &trial.Accesses{}
	stop, _ := c.budget.Stop()
	for i := range l.Start.ClusterCount() {
		one := &trial.Accesses{}
		m := l.Cluster(i).Machine(one, nil)
		m.StopWhen(stop)
		if stop() || !explore.Run(m, trial.ProofSchedule, stop) || !m.Done() || meets(all, one) {
			return false
		}
		all.Read.Join(&one.Read)
		all.Written.Join(&one.Written)
	}
	return true
}

// meets reports whether one touches a byte that the other writes.
func meets(a, b *trial.Accesses) bool {
	return a.Written.Meets(&b.Written) || a.Written.Meets(&b.Read) || a.Read.Meets(&b.Written)
}

// stepsLeft is a bound on steps less what was done; 0 is no bound.
func stepsLeft(most, done int64) int64 {
	if most <= 0 {
		return most
	}
	return max(most-done, 1)
}
