package prove

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/internal/undefined"
	"muster/ptx"
)

// Launch control. A request for a cluster that has not started gets one, which then never
// starts, or none: that is the schedule's choice, and nobody else's. What a cluster does is
// decided by the list of clusters that it gets: proven by a run of it alone for each list, in
// which the first requests get these clusters and the next one none. In a schedule each
// cluster of the grid starts, or is got by one that did; so two clusters that start have
// nothing in common, neither themselves nor what they get. If every byte of global memory that
// some run writes is touched by runs alone that have one cluster in common, no two that come
// together in a schedule touch it, and each does what its run did.

// grantsDecide is why a launch with requests for clusters is not proven by one run.
const grantsDecide = "how many clusters have started decides what a request for one gets"

// grantsMatter reports whether requests may get a cluster.
func grantsMatter(l *trial.Subject) bool {
	return l.Program.Cancels() && !l.Lone && l.Start.ClusterCount() > 1
}

// asks reports whether a dependence is only that a request for a cluster is made.
func asks(p *machine.Program, d *machine.Dependence) bool {
	return d.From == d.PC && p.Inst(d.PC).Effect().Has(ptx.Cancels)
}

// maxGranting is how many clusters a grid may have: of n, lists for 2^n - 1 sets of clusters.
const maxGranting = 10

// A grant is one list: a cluster, and those that it gets. Clusters start in the order of their
// numbers, and are got in that order.
type grant struct {
	cluster int
	gets    []int32
	all     uint32 // both, by number
}

// grants lists the lists of n clusters.
func grants(n int) (list []grant) {
	for all := uint32(1); all < 1<<n; all++ {
		g := grant{cluster: bits.TrailingZeros32(all), all: all}
		for rest := all & (all - 1); rest != 0; rest &= rest - 1 {
			g.gets = append(g.gets, int32(bits.TrailingZeros32(rest)))
		}
		list = append(list, g)
	}
	return list
}

// byGrants tries to decide every schedule by a run for each list.
func byGrants(l *trial.Subject, w *trial.Budget, jobs int, skip bool) (p Proof, r trial.Result) {
	n := l.Start.ClusterCount()
	if why := together(l, n); why != "" {
		p.because(l, Reason{Condition: "C9", Text: grantsDecide + ", and " + why, PC: -1})
		return p, r
	}
	list := grants(n)
	parts, touched := make([]Part, len(list)), make([]trial.Accesses, len(list))
	unknown := make([]bool, len(list))
	prove := func(i int) {
		one := l.Granted(list[i].cluster, list[i].gets)
		parts[i] = provePart(one, w, runOf{skip: skip, n: 1, beside: &touched[i]})
		unknown[i] = undefined.DropUnreached(one, w, &parts[i].Result)
		w.Meter.Did(1)
	}
	// First the one that gets all: it shows most of what is wrong.
	w.Meter.Stage("proof by the lists of clusters that one may get", "list", len(list))
	last, begin := len(list)-1, time.Now()
	prove(last)
	var first Proof
	first.Take(l, &parts[last])
	// It does the work of n clusters, all of them that of n times 2^(n-1).
	rest := time.Since(begin) << (n - 1) / time.Duration(cmp.Or(max(jobs, 0), runtime.GOMAXPROCS(0)))
	switch end, limited := w.Context.Deadline(); {
	case !first.onlyAssumed() || len(parts[last].Gaps) > 0 || parts[last].Wrong():
	case limited && time.Until(end) < rest:
		p.because(l, Reason{Condition: CutShort, Text: fmt.Sprintf("%d runs, one for each list of clusters that a cluster may get, would take longer than half of the time", len(list)), PC: -1})
		return p, r
	default:
		parallel.Each(jobs, last, prove)
	}
	for i := range parts {
		r.Add(&parts[i].Result)
		p.Take(l, &parts[i])
	}
	p.Found(l, &r)
	p.sumsMatter(l)
	if slices.Contains(unknown, true) {
		p.because(l, Reason{Condition: "C9", Text: "the driver or the part decides a value that matters", PC: -1})
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; rules.MayReach(f) || rules.Dropped(f) {
			p.because(l, Reason{Condition: "C9", Text: "a value that nobody defined, which may matter where a cluster gets others", PC: f.Sites[len(f.Sites)-1].PC})
		}
	}
	if len(p.Reasons) == 0 && !apart(list, touched, n) {
		p.because(l, Reason{Condition: "C9", Text: grantsDecide + ", and clusters touch bytes that others write, whoever does the work of which", PC: -1})
	}
	p.Grants = len(list)
	p.concludes()
	return p, r
}

// together says why the clusters of a launch cannot be proven one by one for each list; empty
// if they can.
func together(l *trial.Subject, n int) string {
	switch {
	case len(l.Shape.Grids) > 0:
		return "launches overlap"
	case l.Program.HasStrongGlobalAccess():
		return "the kernel reads global memory by strong operations"
	case l.Program.Allocates():
		return "CTAs share a heap"
	case l.Start.SharesMultiprocessors():
		return "CTAs share tensor memory"
	case n > maxGranting:
		return fmt.Sprintf("there are %d: no more than %d are gone through", n, maxGranting)
	}
	return ""
}

// apart reports whether all runs that touch a byte that some run writes have a cluster in
// common.
func apart(list []grant, touched []trial.Accesses, n int) bool {
	var written, left trial.Bytes
	for i := range touched {
		written.Join(&touched[i].Written)
	}
	left.Join(&written)
	for c := range n {
		var own, others trial.Bytes
		own.Join(&written)
		for i := range list {
			if list[i].all>>c&1 == 0 {
				others.Join(&touched[i].Read)
				others.Join(&touched[i].Written)
			}
		}
		own.Remove(&others)
		left.Remove(&own)
	}
	return left.Empty()
}
