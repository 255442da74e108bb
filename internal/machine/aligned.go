package machine

import "muster/ptx"

// Aligned instructions: all threads of the warp must execute them together. Which
// instructions are aligned, their modifiers say, and those that an instruction must have
// its row of the instruction table says; bar is barrier with .aligned (ISA 9.7.13.1). Lanes
// that are missing may come, and are waited for as long as anybody can go on (readyAligned
// and others); then the event EvDivergent tells of them, from this one place.

// mustMeet reports whether an instruction is aligned.
func mustMeet(in *ptx.Inst) bool {
	return in != nil && in.Aligned()
}

// aligned reports whether the instruction is one that all lanes of a warp must execute
// together.
func (in *instr) aligned() bool { return in.meet }

// meets tells of an aligned instruction that only the lanes in mask execute. A barrier
// asks nothing of lanes that have exited.
func (x *ctx) meets(in *instr, mask uint32) {
	all := allLanes
	if in.src.IsOf(ptx.ClassBarrier) {
		all = x.w.live
	}
	if mask != all && x.m.cfg.Observer != nil {
		ev := &x.m.ev
		ev.at(EvDivergent, x, mask)
		x.m.cfg.Observer.Observe(x.m, ev)
	}
}
