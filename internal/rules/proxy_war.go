package rules

import (
	"fmt"

	"muster/internal/order"
)

var proxyWar = register(Kind{
	Name:     "proxy-war",
	Severity: Warning,
	Title:    "the asynchronous proxy overwrites what ordinary accesses just used, without a proxy fence",
	Habit:    true,
	Section:  "8.6, 9.7.9.25.2",
	Text: `A bulk copy overwrites memory that ordinary loads read before. Synchronization
orders the two, but no fence.proxy.async stands on the path between them. (Where
ordinary stores wrote it, that is proxy-waw.)

Who disagrees. By the letter of the ISA accesses through different proxies need a
cross-proxy fence in whichever direction they conflict (8.6, 9.7.9.25.2), and
several libraries have fixed its absence as a bug. Others leave it out on purpose:
the pipelines of public GEMM libraries release a stage by a plain mbarrier
arrive after their loads, and the producer refills it after a wait. Their argument:
a load whose value arrived has been performed, and what is issued after the wait
cannot come before it.

What is reported. A combine of DeepEP summed wrongly on GB200, and no longer with
fence.proxy.async.shared::cta between the loads and the arrive (deepseek-ai/DeepEP#621
and #642); a kernel that derives from it left corrupted outputs (NVIDIA/nccl-extensions#8).
In both an elected lane arrives for its warp, with no __syncwarp behind the loads of the
other lanes, which is an error of its own (race-lanes): so it is open which of the two was
missing. NVIDIA/TransformerEngine#2695 added the fence against a race that it calls
potential. We have seen no failure on an H200. That is why this is a warning.

To be on the safe side, execute fence.proxy.async of the memory's state space in every
reader, after its last ordinary access and before the arrive that releases the buffer; or
in the producer, after its wait and directly before it issues the copy.`,
})

func (j *Judge) proxyOverwrite(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s overwrites through the asynchronous proxy what %s %s through the generic one", place(c.Span), agent(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no fence.proxy.async between %s and %s", j.instr(a), j.instr(b)),
		Fix:      j.proxyFenceFix(c),
		Need:     j.need(LacksFence, c),
		Notes: []string{"contested: the ISA's letter asks for the fence, and public pipelines leave it out on purpose; wrong sums on GB200 are reported that went away with it (deepseek-ai/DeepEP#621, #642), " +
			"in code where lanes were not synced before the arrive either, so that it is open which of the two was missing"},
	}
}
