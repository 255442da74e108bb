package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var proxyRaw = register(Kind{
	Name:     "proxy-raw",
	Severity: Error,
	Title:    "an ordinary write read through the asynchronous proxy without a proxy fence",
	Section:  "8.6, 9.7.9.25.2",
	Text: `An ordinary store (or cp.async, st.async, an atomic: the generic proxy) writes
memory which a bulk copy, a bulk reduction or a tensor-core instruction then reads
through the asynchronous proxy. Synchronization orders the two, but a proxy is a
path of its own to memory: accesses by different proxies need a cross-proxy fence
besides (ISA 8.6, 9.7.9.25.2). A barrier, however wide, is none.

On an H200 a planted case printed the right answer in each of three runs, and
compute-sanitizer says nothing of proxies. What may come out wrong is what the
buffer held before.

fence.proxy.async joins the two proxies where it stands, for what its thread knows
then. So it may stand with the writer, after the stores and before the barrier
or arrive that publishes them; or with the issuer, after that barrier and before
the asynchronous instruction. It must name the state space of the memory, or none:
.shared::cta for the CTA's own shared memory, .shared::cluster for that of any CTA
of the cluster, .global for global memory.

An asynchronous operation that brought the data needs no such fence: its
completion carries one for its own accesses.`,
})

// proxyRead is an ordinary write read by the asynchronous proxy.
func (j *Judge) proxyRead(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s reads through the asynchronous proxy what %s wrote through the generic one", place(c.Span), agent(b), agent(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no fence.proxy.async between %s and %s", j.instr(a), j.instr(b)),
		Fix:      j.proxyFenceFix(c),
	}
}

// proxyFenceFix names the fence and the two possible places for it.
func (j *Judge) proxyFenceFix(c *order.Conflict) string {
	a, b := &c.Prior, &c.Cur
	fence := "fence.proxy.async" + fenceSpace(c)
	if a.CTA == b.CTA && a.Warp == b.Warp && a.Lanes == b.Lanes {
		return fmt.Sprintf("%s after %s and before %s", fence, j.instr(a), j.instr(b))
	}
	return fmt.Sprintf("%s in the threads of %s, after it and before the barrier or arrive that publishes it; "+
		"or in the issuing thread after that barrier and before %s", fence, j.instr(a), j.instr(b))
}

// fenceSpace is the narrowest state space that a proxy fence must name.
func fenceSpace(c *order.Conflict) string {
	switch {
	case c.Span.Mem == machine.Global:
		return ".global"
	case c.Span.Mem == machine.SharedOf(c.Prior.CTA) && c.Span.Mem == machine.SharedOf(c.Cur.CTA):
		return ".shared::cta"
	}
	return ".shared::cluster"
}
