package rules

import (
	"fmt"

	"muster/internal/machine"
)

var registerInFlight = register(Kind{
	Name:     "register-in-flight",
	Severity: Error,
	Order:    Conflict,
	Title:    "registers of a wgmma touched while it may still use them, or without wgmma.fence",
	Section:  "9.7.15.5.2, 9.7.15.7",
	Text: `wgmma.mma_async runs beside the warps that issue it, and reads and writes their
registers while they go on: the accumulators, and the fragments of A where A is in
registers. Until a wgmma.wait_group covers it, touching any of those registers is
undefined (ISA 9.7.15.7.3), reading included. Each warp of the warpgroup has
to wait itself: the registers are its own.

The other side is wgmma.fence (9.7.15.7.1): it must stand before the first
wgmma of a warp, and again wherever the warp's own instructions accessed a
register that a later wgmma uses, as accumulator or as fragment of A: what was
written to the register may otherwise not have arrived when the wgmma
reads it. Wgmmas of one shape that follow each other on the same accumulators
need no fence between them. Reading a fragment of A asks for none here: two reads
do not conflict.

The usual shapes: accumulators zeroed or rescaled, and no fence before the next
wgmma; the epilogue begins after wait_group 1 where the last group is the one that
it needs; A converted in registers for the next step while the last still reads
them.

ptxas moves instructions around wgmma as if the rule were kept. Where it can see
that it is not it serializes the wgmmas and warns; where it cannot, the
result is whatever was in the register.

Mend it by wgmma.wait_group 0 (or as many groups as may stay in flight) before the
access, and by wgmma.fence between an access and the next wgmma.`,
})

// touched reports an instruction that misuses registers of a wgmma. All that
// touch the registers of one wgmma in flight lack the same wait: they are one
// finding, at the first of them.
func (j *Judge) touched(ev *machine.Event) {
	t := *ev.Touch
	by, pc := int32(-1), ev.PC
	if t.InFlight {
		by, pc = t.ByPC, -1
	}
	j.note(registerInFlight, by, pc, func() Finding {
		what := "register " + t.Register
		if t.More > 0 {
			what = fmt.Sprintf("%s and %d more", what, t.More)
		}
		role := "fragment of A"
		if t.Accumulator {
			role = "accumulator"
		}
		who := fmt.Sprintf("warp %d of CTA %d", ev.Warp, ev.CTA)
		if !t.InFlight {
			f := Finding{
				Headline: fmt.Sprintf("%s: %s uses %s (%s), which it accessed since its last wgmma.fence", j.at(ev.PC), who, what, role),
				Sites:    []Site{eventSite("issues wgmma", ev)},
				Need:     Need{Lack: LacksMatrixFence, First: eventSite("issues wgmma", ev), Then: eventSite("issues wgmma", ev), FirstOp: -1, ThenOp: -1},
				Missing:  fmt.Sprintf("no wgmma.fence between the last access to %s and %s", t.Register, j.at(ev.PC)),
				Fix:      fmt.Sprintf("wgmma.fence.sync.aligned after the last such access and before %s", j.at(ev.PC)),
			}
			if t.First {
				f.Headline = fmt.Sprintf("%s: %s has executed no wgmma.fence before its first wgmma", j.at(ev.PC), who)
				f.Missing = fmt.Sprintf("no wgmma.fence before %s", j.at(ev.PC))
			}
			return f
		}
		issue := eventSite("issues wgmma", ev)
		issue.PC = t.ByPC
		issue.Op = fmt.Sprintf("wgmma %d", t.By)
		touch := eventSite("touches its registers", ev)
		return Finding{
			Need:     Need{Lack: LacksGroupWait, First: issue, Then: touch, FirstOp: t.By, ThenOp: -1, Group: machine.GroupWgmma, All: true, Known: true},
			Headline: fmt.Sprintf("%s: %s touches %s, %s of %s, which it has not waited for", j.at(ev.PC), who, what, role, j.at(t.ByPC)),
			Sites:    []Site{issue, touch},
			Missing:  fmt.Sprintf("no wgmma.wait_group that covers %s stands before %s", j.at(t.ByPC), j.at(ev.PC)),
			Fix:      fmt.Sprintf("wgmma.commit_group after %s and wgmma.wait_group 0 (or as many groups as may stay in flight) before %s, in every warp", j.at(t.ByPC), j.at(ev.PC)),
		}
	})
}
