package rules

import (
	"fmt"

	"muster/internal/order"
)

var initNotOrdered = register(Kind{
	Name:     "init-not-ordered",
	Severity: Error,
	Title:    "an mbarrier used by a thread that its init is not ordered before",
	Section:  "9.7.13.15.9",
	Text: `mbarrier.init writes the barrier's word as an ordinary store does. A thread
that arrives, waits, or issues a copy that signals the barrier must be ordered after
it; here it is not, so that the operation may meet a word which is no barrier yet:
it is lost, or corrupts the count, and the kernel hangs or faults.

Between threads of one CTA it takes a barrier (bar.sync) or another synchronization
after the init. Between CTAs of a cluster it takes cluster scope: the init, then
fence.mbarrier_init.release.cluster or an arrive that releases, then a cluster
barrier that every CTA passes before the first remote arrive or multicast copy.
Within a warp it takes bar.warp.sync.

No proxy fence is needed for a copy of the CTA itself: copies access their
mbarrier through the generic proxy. Some libraries put one there; it does no harm.`,
})

func (j *Judge) unorderedInit(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	sync := syncBetween(f.Apart)
	if f.Apart == order.OneCluster {
		sync = "fence.mbarrier_init.release.cluster, then barrier.cluster.arrive and barrier.cluster.wait by both CTAs,"
	}
	missing := fmt.Sprintf("no synchronization leads from %s to %s", j.at(a.PC), j.at(b.PC))
	switch {
	case f.Why&order.IfScopeWider != 0:
		missing = fmt.Sprintf("the way from %s to %s names a scope narrower than %s", j.at(a.PC), j.at(b.PC), scope(f.Apart))
	case f.Why&order.IfNotRelaxed != 0:
		missing = fmt.Sprintf("the way from %s to %s goes through a relaxed operation that no fence completes", j.at(a.PC), j.at(b.PC))
	case f.Why&order.SameWarpLanes != 0:
		missing = fmt.Sprintf("no bar.warp.sync between %s and %s", j.at(a.PC), j.at(b.PC))
	}
	return Finding{
		Headline: fmt.Sprintf("%s uses an mbarrier that %s initialized, not ordered after that", lanesText(b), lanesText(a)),
		Sites:    []Site{j.opSite("initializes", a), j.opSite(j.deed(b.PC), b)},
		Missing:  missing,
		Fix:      fmt.Sprintf("%s after %s and before %s", sync, j.at(a.PC), j.at(b.PC)),
	}
}
