package rules

import "muster/internal/order"

// widened tells conflicts that are one finding, of a kind and two instructions, how far apart
// the most distant of them are: what mends the finding has to mend all of them.
func widened(all []order.Conflict, named []*Kind) {
	type one struct {
		kind *Kind
		a, b int32
	}
	key := func(i int) one {
		c := &all[i]
		return one{named[i], min(c.Prior.PC, c.Cur.PC), max(c.Prior.PC, c.Cur.PC)}
	}
	most := map[one]order.Conflict{}
	for i := range all {
		m := most[key(i)]
		m.Apart, m.Away = max(m.Apart, all[i].Apart), m.Away || all[i].Away
		most[key(i)] = m
	}
	for i := range all {
		m := most[key(i)]
		all[i].Apart, all[i].Away = m.Apart, m.Away
	}
}

// widenedFacts is widened for facts.
func widenedFacts(facts []order.Fact) {
	type one struct {
		kind order.FactKind
		a, b int32
	}
	most := map[one]order.Distance{}
	for i := range facts {
		k := one{facts[i].Kind, facts[i].A.PC, facts[i].B.PC}
		most[k] = max(most[k], facts[i].Apart)
	}
	for i := range facts {
		facts[i].Apart = most[one{facts[i].Kind, facts[i].A.PC, facts[i].B.PC}]
	}
}

func (j *Judge) oneCluster(a, b int32) bool { return j.ClusterOf(a) == j.ClusterOf(b) }

// distance is how far apart threads of two CTAs are.
func (j *Judge) distance(a, b int32) order.Distance {
	switch {
	case a == b:
		return order.OneCTA
	case j.oneCluster(a, b):
		return order.OneCluster
	}
	return order.OneGrid
}

// scope is the narrowest scope that includes agents that far apart.
func scope(d order.Distance) string {
	return [...]string{".cta", ".cta", ".cta", ".cluster", ".gpu"}[d]
}

// syncBetween names a synchronization that orders agents that far apart.
func syncBetween(d order.Distance) string {
	switch d {
	case order.OneThread, order.OneWarp:
		return "bar.warp.sync"
	case order.OneCTA:
		return "bar.sync of the threads on both sides, or an mbarrier that the one arrives at and the other waits for,"
	case order.OneCluster:
		return "barrier.cluster.arrive and barrier.cluster.wait, or a remote mbarrier arrive, counted at init, with .release.cluster and a wait with .acquire.cluster,"
	}
	return "a release at .gpu scope (fence.acq_rel.gpu and a strong store of a flag, or red.release.gpu) and an acquire at .gpu scope that sees it"
}
