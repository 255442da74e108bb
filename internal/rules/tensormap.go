package rules

import (
	"fmt"

	"muster/internal/order"
)

var tensormapStale = register(Kind{
	Name:     "tensormap-stale",
	Severity: Error,
	Title:    "a modified tensor map used without a fence of the tensor-map proxy",
	Section:  "8.6, 8.9.4, 9.7.13.4, 9.7.13.16",
	Text: `Copies read their tensor map through a proxy of its own, with a cache of its own.
A map that the kernel wrote (tensormap.replace, stores, a copy) is seen
there only after a release and an acquire of the tensor-map proxy (ISA 9.7.13.4):
  - the writer releases with fence.proxy.tensormap::generic.release or, for a map
    that was made in shared memory, tensormap.cp_fenceproxy, which copies and
    releases in one (9.7.13.16);
  - ordinary synchronization leads from there to the user;
  - the user acquires with fence.proxy.tensormap::generic.acquire [map], 128.
Both fences need a scope that holds writer and user, and the acquire the address of
that very map. A barrier between, however wide, is no such fence, and neither is
fence.proxy.async. One thread that writes and uses a map needs both fences too.

A map that was there when the kernel started needs no release here. By the letter
one in global memory wants the acquire, 'when needed' (8.9.4), for the start of a
kernel gives none; muster knows nothing of what wrote it, and does not ask.

A copy through a stale map goes where the old one said, or fails on half a map.`,
})

var tensormapInFlight = register(Kind{
	Name:     "tensormap-in-flight",
	Severity: Error,
	Order:    Conflict,
	Title:    "a tensor map modified while copies through it may be in flight",
	Section:  "9.7.9.25, 9.7.9.25.5.2, 9.7.9.25.6.2",
	Text: `A copy reads its tensor map some time after it was issued: that is the first step of
the operation (ISA 9.7.9.25). Changing the map before that (tensormap.replace, a
store, tensormap.cp_fenceproxy to the same place) is a race: the copy may follow the
old map, the new one, or a mixture.

Grouped kernels rewrite one map for problem after problem. Before each rewrite all
copies through it have to be known to have read it, and an order has to lead from
there to the write:
  - stores and reductions by cp.async.bulk.wait_group in the thread that issued them;
    .read suffices, it waits for the map as for the source (9.7.9.25.6.2);
  - loads by a wait for the phase of their mbarrier; or, for the map alone, by the
    same wait_group: a load is in the bulk async-group of its thread for that purpose
    (9.7.9.25.5.2), so that commit_group and wait_group.read 0 in the issuing thread
    let it rewrite the map while the data is still on its way.
Or the kernel alternates between two maps.`,
})

// staleMap is a copy through a map that was changed.
func (j *Judge) staleMap(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	release := fmt.Sprintf("fence.proxy.tensormap::generic.release%s in every thread that executes %s, %s (or tensormap.cp_fenceproxy in place of a copy)", scope(c.Apart), j.instr(a), behind(a))
	acquire := fmt.Sprintf("fence.proxy.tensormap::generic.acquire%s [map], 128 in every thread that issues %s, directly before it", scope(c.Apart), j.instr(b))
	f := Finding{
		Headline: fmt.Sprintf("%s: %s reads the tensor map that %s wrote, through the tensor-map proxy", place(c.Span), agent(b), agent(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no release and acquire of the tensor-map proxy between %s and %s", j.instr(a), j.instr(b)),
		Fix:      release + ", and " + acquire,
	}
	switch {
	case c.Why&order.MapReleased != 0:
		f.Missing = fmt.Sprintf("no acquire of the tensor-map proxy, which %s was released to, before %s", j.instr(a), j.instr(b))
		f.Fix = acquire
	case c.Why&order.MapAcquired != 0:
		f.Missing = fmt.Sprintf("no release of %s to the tensor-map proxy that an acquire before %s would see", j.instr(a), j.instr(b))
	}
	if c.Why&(order.IfProxyFence|order.MapReleased) == 0 {
		f.Fix = release + ", synchronization from there, and " + acquire
		f.Notes = append(f.Notes, "the two are not ordered otherwise either")
	}
	return f
}

// movedMap is a write to a map that copies may be reading.
func (j *Judge) movedMap(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s changes the tensor map of %s, which may be in flight", place(c.Span), agent(b), agent(a)),
		Sites:    j.pair(c),
		Missing:  j.missingWait(c),
		Fix:      j.completionFix(c),
		Notes:    j.mapNotes(c),
	}
}

// mapNotes names the other way to wait for a load's map.
func (j *Judge) mapNotes(c *order.Conflict) []string {
	if !c.Prior.Barrier {
		return nil
	}
	return []string{fmt.Sprintf("for the map alone cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 in the thread that issued %s suffice", j.instr(&c.Prior))}
}
