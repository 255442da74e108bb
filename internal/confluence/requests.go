package confluence

import "muster/internal/machine"

// Requests for clusters that have not started. A run stands for the schedules in which the
// requests of each cluster get what they get in the run: the first of them a cluster each, and
// those after them none. So which request is the first must be the same in all of them. If each
// request comes after the answer to the one before, they are decided one after the other. A
// request after one that got none is not proven: whether some CTA has seen that answer by then
// may depend on the schedule, and then the request is undefined (ISA 9.7.15.18.1).

// A request is the last one of a cluster.
type request struct {
	number int
	op     int64
	pc     int32
	landed []landing
}

// A landing is a phase to which the bytes of an answer are charged.
type landing struct {
	bar   *bar
	phase int64
}

// requests enters a request, made by lanes with this view.
func (p *Prover) requests(ev *machine.Event, at view) {
	of := p.cfg.ClusterOf(ev.CTA)
	last := p.asking[of]
	now := &request{op: ev.Op.ID, pc: ev.PC}
	bad := func(text string, with int32) {
		p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: with, Warp: ev.CTA*int32(p.cfg.Warps) + ev.Warp, Lanes: ev.Mask, Text: text})
	}
	if last != nil {
		now.number = last.number + 1
		if !last.over(at) {
			bad("a request for a cluster that need not come after the answer to the one before", last.pc)
		}
	}
	if last != nil && now.number > p.cfg.Granted {
		bad("a request for a cluster after one that got none", last.pc)
	}
	if p.asking == nil {
		p.asking = map[int32]*request{}
	}
	p.asking[of] = now
}

// over reports whether a view comes after the answer to a request.
func (r *request) over(at view) bool {
	for _, l := range r.landed {
		if at.clk.known(l.bar.number) > l.phase {
			return true
		}
	}
	return false
}

// answered enters the bytes of an answer, which are charged to the open phase of a barrier.
func (p *Prover) answered(ev *machine.Event, b *bar) {
	if r := p.asking[p.cfg.ClusterOf(ev.Op.CTA)]; r != nil && r.op == ev.Op.ID {
		r.landed = append(r.landed, landing{b, b.open.n})
	}
}
