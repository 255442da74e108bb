package order

import (
	"muster/internal/machine"
)

// A request is a lane's last clusterlaunchcontrol.try_cancel. Who knows of that one knows of
// those that the lane gave before it.
//
// "If the executing CTA has already observed the completion of a clusterlaunchcontrol.try_cancel
// instruction as failed, then the behavior of issuing a subsequent" one is undefined (ISA
// 9.7.14.18). So an observation that a request failed and a request of the same CTA must come in
// one order, the request first. The machine tells of one that comes after.
type request struct {
	id   int64
	warp int32
	lane int8
	time uint32 // of its issue
	pc   int32
	bars []opBar // that its answers signalled
}

// asks notes a request.
func (c *cta) asks(op *machine.Op, pc int32) {
	r := request{id: op.ID, warp: op.Warp, lane: op.Lane, time: c.warps[op.Warp].time, pc: pc}
	for i := range c.requests {
		if o := &c.requests[i]; o.warp == r.warp && o.lane == r.lane {
			*o = r
			return
		}
	}
	c.requests = append(c.requests, r)
}

// answers notes the phases that a request's answers were charged to. The issue came before.
func (c *cta) answers(op *opRec) {
	for i := range c.requests {
		if r := &c.requests[i]; r.id == op.id {
			r.bars = append([]opBar(nil), op.bars...)
		}
	}
}

// onRefusal checks that the CTA's requests come before what lanes observe: that one failed.
// Control order decides, as it does at a CTA's end: scopes and relaxed forms do not matter. Who
// sees the answer of a request knows that it was given.
func (t *Tracker) onRefusal(ev *machine.Event) {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	for i := range c.requests {
		r := &c.requests[i]
		lane := uint32(1) << uint(r.lane&31)
		if r.warp == ev.Warp && ev.Mask&lane != 0 {
			continue // by program order
		}
		for k := range w.groups {
			g := &w.groups[k]
			in := g.mask & ev.Mask
			if in == 0 || t.knowsRequest(c, r, g.know.strong()) {
				continue
			}
			t.fact(&Fact{Kind: AskUnordered, A: laneRef(c.index, r.warp, lane, r.pc), B: laneRef(c.index, ev.Warp, in&-in, ev.PC)})
		}
	}
}

func (t *Tracker) knowsRequest(c *cta, r *request, known *clock) bool {
	if t.knownLanes(known, c.index, r.warp, r.time)>>uint(r.lane&31)&1 != 0 {
		return true
	}
	for i := range r.bars {
		if r.bars[i].knownTo(known) {
			return true
		}
	}
	return false
}
