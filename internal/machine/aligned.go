package machine

import "muster/ptx"

// Aligned instructions: all threads of the warp must execute them together. Modifiers say
// which instructions are aligned, the instruction table which modifiers are mandatory;
// bar is barrier with .aligned (ISA 9.7.13.1). The machine waits for missing lanes while
// any split can run (readyAligned and others); then it executes the instruction without
// them and emits EvDivergent, only here.

// mustMeet reports whether an instruction is aligned.
func mustMeet(in *ptx.Inst) bool {
	return in != nil && in.Aligned()
}

// aligned reports whether the instruction is one that all lanes of a warp must execute
// together.
func (in *instr) aligned() bool { return in.meet }

// meets emits EvDivergent if only the lanes in mask execute an aligned instruction. A
// barrier does not need lanes that have exited.
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
