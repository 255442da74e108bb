package rules

import (
	"fmt"

	"muster/internal/order"
)

var asyncAsync = register(Kind{
	Name:     "async-async",
	Severity: Warning,
	Order:    Conflict,
	Title:    "asynchronous accesses from different CTAs, ordered but without a proxy fence",
	Section:  "8.6, 9.7.9.25.2",
	Text: `A bulk operation of one CTA accesses global memory that a bulk operation of
another CTA accessed before. The first was waited for, and synchronization orders
the wait before the issue of the second; but no proxy fence stands on the path.

Who disagrees. The ISA lets accesses of one proxy count as one path only within
a thread block; between different ones it asks for a proxy fence on the way. The
completion of the first operation carries an implicit one for the generic proxy, in
the waiting thread; nothing carries it back into the asynchronous proxy of the
other CTA. Public kernels that hand tiles from one CTA to another by TMA store,
flag and TMA load do without, and we know of none that failed.

Multicast and distributed-shared copies that a CTA waits for on its own mbarrier
are exempt, and so are operations of one CTA.

Mend it by fence.proxy.async.global in the second CTA, after its acquire of the flag
and before it issues the load (or in the first, after the wait and before the
release).`,
})

func (j *Judge) asyncPair(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s %s what %s %s; ordered, but no proxy fence on the path", place(c.Span), agent(b), verb(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no fence.proxy.async between the completion of %s and %s", j.instr(a), j.instr(b)),
		Fix: fmt.Sprintf("fence.proxy.async%s in every thread that issues %s, directly before it",
			fenceSpace(c), j.instr(b)),
		Notes: []string{"contested: the ISA's letter asks for the fence between thread blocks, public kernels do without"},
	}
}
