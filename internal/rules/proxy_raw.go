package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
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
then. So it may stand with every writer, after its stores and before the barrier
or arrive that publishes them; or with the issuer, after that barrier and before
the asynchronous instruction. One writer's fence before the barrier covers its own
stores alone. It must name the state space of the memory, or none:
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
		Need:     j.need(LacksFence, c),
	}
}

// proxyFenceFix names the fence and the two possible places for it. Many threads may have made
// the earlier access, though the finding shows one pair: a fence of one of them, before a
// barrier, covers its own accesses alone.
func (j *Judge) proxyFenceFix(c *order.Conflict) string {
	a, b := &c.Prior, &c.Cur
	late := fmt.Sprintf("in every thread that issues %s, directly before it", j.instr(b))
	if a.Op >= 0 && a.Group == machine.NoGroup {
		return fmt.Sprintf("fence.proxy.async%s %s", fenceSpace(c), late) // no thread need wait for it
	}
	return fmt.Sprintf("fence.proxy.async%s in every thread that executes %s, %s; or %s", fenceSpace(c), j.instr(a), behind(a), late)
}

// behind says where a thread fences its own access, so that all it goes on to tell is told
// behind the fence.
func behind(r *order.AccessRef) string {
	after := "after it"
	if r.Op >= 0 {
		after = "after the wait for its completion"
	}
	return after + " and before that thread's next barrier, arrive or release"
}

// crossing is what a fix says besides of a synchronization that leads to an access of the
// asynchronous proxy; empty if that access needs no fence, or one may stand on the way.
func (j *Judge) crossing(c *order.Conflict, from, to *order.AccessRef) string {
	if to.Proxy != machine.Async || from.Proxy == machine.Async || j.fenced(from.PC, to.PC) {
		return ""
	}
	return fmt.Sprintf("; and fence.proxy.async%s in every thread that issues %s, directly before it", fenceSpace(c), j.instr(to))
}

// fenced reports whether fences of the asynchronous proxy stand on every way between two
// instructions; if no way leads from the one to the other, whether one may.
func (j *Judge) fenced(from, to int32) bool {
	fence := func(in *ptx.Inst) bool { return in.IsOf(ptx.ClassFence) && in.Form.Proxy == "async" }
	behind := j.Program.Reach(from + 1)
	if behind[to] {
		return !j.Program.ReachWithout(fence, from+1)[to]
	}
	for pc := range int32(j.Program.Len()) { // instructions of different threads
		if in := j.Program.Inst(pc); in != nil && fence(in) && (behind[pc] || j.Program.Reach(pc)[to]) {
			return true
		}
	}
	return false
}

// fenceSpace is the narrowest state space that a proxy fence must name.
func fenceSpace(c *order.Conflict) string {
	switch {
	case c.Span.Mem == machine.Global:
		return ".global"
	case c.Away:
		return ".shared::cluster"
	}
	return ".shared::cta"
}
