package rules

import (
	"fmt"

	"muster/internal/order"
	"muster/ptx"
)

var proxyWaw = register(Kind{
	Name:     "proxy-waw",
	Severity: Error,
	Title:    "the asynchronous proxy overwrites an ordinary write without a proxy fence",
	Section:  "8.6, 9.7.9.25.2",
	Text: `An ordinary store (or cp.async, st.async, an atomic: the generic proxy) writes
memory which a bulk copy then overwrites through the asynchronous proxy.
Synchronization orders the two, but no fence.proxy.async stands on the path between
them, and a proxy is a path of its own to memory (ISA 8.6, 9.7.9.25.2). Without the
fence nothing says that the store is performed when the copy writes: it may come
after it, and leave what it stored in place of what the copy brought.

The usual shape: threads clear a buffer, meet at a barrier, and one of them starts
the first load into it.

Mend it by fence.proxy.async of the memory's state space: in every writer, after its
stores and before the barrier or arrive that publishes them; or in the issuer, after
that barrier and before the copy. Or leave out the stores that the copy overwrites.

It is a warning where it is contested: for what tcgen05.alloc stores, which threads read before
the memory is used again; for what tensormap.replace writes, which tensormap.cp_fenceproxy reads
before; and for mbarrier.inval, which the ISA asks for before a word of an mbarrier is used for
anything else (9.7.13.15.10), without a word of a fence. Triton's kernels for sm_100 have
no fence in these places; its pass that sets fences leaves out mbarrier.inval on purpose.

Reads that the copy follows are another matter: see proxy-war.`,
})

// proxyRewrite is an ordinary write overwritten by the asynchronous proxy.
func (j *Judge) proxyRewrite(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{
		Headline: fmt.Sprintf("%s: %s overwrites through the asynchronous proxy what %s %s through the generic one", place(c.Span), agent(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no fence.proxy.async between %s and %s", j.instr(a), j.instr(b)),
		Fix:      j.proxyFenceFix(c),
		Need:     j.need(LacksFence, c),
	}
	if why := contestedWrite(j.Program.Inst(a.PC)); why != "" {
		f.Severity = Warning
		f.Notes = append(f.Notes, "contested: "+why+", and Triton's kernels leave the fence out; we know of no failure on a card")
	}
	return f
}

// contestedWrite says why an instruction's write may need no fence before a copy to its bytes;
// empty if it does.
func contestedWrite(in *ptx.Inst) string {
	switch {
	case in == nil:
	case in.IsOf(ptx.ClassTcgen05):
		return "what tcgen05.alloc stores is read before the memory is used again"
	case in.IsOf(ptx.ClassMbarrier) && in.Form.Barrier == "inval":
		return "the ISA asks for mbarrier.inval before the memory is used again, and names no fence after it"
	case in.IsOf(ptx.ClassTensormap) && in.Form.Proxy == "generic":
		return "what tensormap.replace writes is read by tensormap.cp_fenceproxy before the memory is used again"
	}
	return ""
}
