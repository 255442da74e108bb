package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/ptx"
)

var barrierAfterExit = register(Kind{
	Name:     "barrier-after-exit",
	Severity: Warning,
	Order:    Effect,
	Title:    "an aligned barrier that a warp executes after some of its lanes have exited",
	Section:  "9.7.13.1, 9.7.13.3",
	Text: `bar, barrier with .aligned and barrier.cluster with .aligned want every thread to come: "all
threads in CTA will execute the same barrier instruction" (ISA 9.7.13.1), "all threads in
the warp must execute the same barrier.cluster instruction" (ISA 9.7.13.3), and "in
conditionally executed code" they are defined only where all threads "evaluate the
condition identically". Read by the letter, a thread that has exited does not execute
them. But the same sections have the barrier wait "for all non-exited threads", and for
old targets the rule is "all threads in warp (except for those have exited)". So the text
is open.

On an H200 it is harmless: a warp counts as arrived with the lanes that it has left, and
whoever has exited is not waited for (internal/rules/testdata/h200). Early exit before
__syncthreads() is in a great deal of code.

Where the other lanes live and go elsewhere it is divergent-barrier, an error.

To be within the letter, let all lanes come to the barrier and guard the work instead, or
use barrier.sync without .aligned, which is for single threads.`,
})

// alignedBarrier reports whether an instruction is a barrier that whole warps execute.
func alignedBarrier(in *ptx.Inst) bool {
	return in != nil && in.IsOf(ptx.ClassBarrier) && in.Aligned()
}

// afterExit reports a warp that arrives at an aligned barrier after some of its lanes
// exited.
func (j *Judge) afterExit(ev *machine.Event) {
	x := j.warp(ev.CTA, ev.Warp)
	if len(x.exits) == 0 || x.diverged || !alignedBarrier(j.Program.Inst(ev.PC)) {
		return
	}
	j.note(barrierAfterExit, -1, ev.PC, func() Finding {
		gone, at := uint32(0), int32(-1)
		for _, e := range x.exits {
			gone |= e.mask
			at = max(at, e.pc)
		}
		return Finding{
			Headline: fmt.Sprintf("%s, which is aligned, is executed by %s of warp %d of CTA %d after %s exited (%s)", j.at(ev.PC), laneNames(ev.Mask), ev.Warp, ev.CTA, laneNames(gone), j.at(at)),
			Sites:    []Site{eventSite("reaches", ev)},
			Missing:  "an aligned barrier is for warps of which all threads execute it; whether exited ones count, the ISA leaves open",
			Fix:      "let all lanes come to the barrier and guard the work instead; or use barrier.sync without .aligned",
			Notes: []string{
				"the ISA says of aligned barriers that \"all threads in the warp must execute the same\" instruction, and of old targets \"all threads in warp (except for those have exited)\"; an H200 counts the warp as arrived without the lanes that have exited",
			},
		}
	})
}
