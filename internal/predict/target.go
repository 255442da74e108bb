package predict

import (
	"fmt"
	"slices"

	"muster/internal/confluence"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/mbarrier"
)

// The targets of directed runs, and the monitors that see them met.

// A lane is one thread of the launch.
type lane struct {
	cta, warp int32
	lane      int8
}

// A laneHash is a trail, a hash of what a lane did so far: equal trails of two runs
// lead to the same operation of the lane. It leaves out what only the schedule
// decides: failed tests, and how often memory was polled.
type laneHash struct {
	lane
	hash trial.Hash
}

func (t *laneHash) takes(ev *machine.Event) bool {
	if ev.CTA != t.cta || ev.Warp != t.warp || ev.Mask>>uint(t.lane.lane)&1 == 0 {
		return false
	}
	switch ev.Kind {
	case machine.EvMbar:
		return ev.Op == nil
	case machine.EvMbarWait:
		return ev.Mbar.OK
	case machine.EvAccess:
		return ev.Access&machine.Write != 0 || ev.Sem == machine.Weak
	case machine.EvStart, machine.EvEnd, machine.EvCollective, machine.EvSource, machine.EvWritten, machine.EvSignal, machine.EvRegister, machine.EvDivergent, machine.EvOutside, machine.EvParted, machine.EvOperand, machine.EvUndefined, machine.EvPendingCount, machine.EvHeapFull:
		return false
	}
	return true
}

func (t *laneHash) observe(ev *machine.Event) {
	t.hash.Mix(uint64(ev.Kind)<<56 | uint64(uint32(ev.PC)))
	switch ev.Kind {
	case machine.EvAccess:
		t.hash.Mix(ev.Addr[t.lane.lane])
	case machine.EvMbar, machine.EvMbarWait:
		t.hash.Mix(uint64(uint32(ev.Mbar.Bar.Mem))<<32 ^ ev.Mbar.Bar.Addr)
	}
}

// A step is an operation of one run: what a lane does at pc after its trail, or
// the asynchronous operation that it issues there.
type step struct {
	lane
	pc    int32
	trail trial.Hash
	async bool
}

// A target is the other order of two steps, which a directed run is to bring about:
// the step falls into another phase than it did in the first run.
type target struct {
	step
	condition confluence.Condition
	bar       machine.BarRef
	named     int32  // of C6
	phase     int64  // that the step fell into in the first run
	lanes     uint32 // that made the step, this one and others
	mates     uint32 // of what is held back: that made it with the lanes held, and must not in the directed run
}

// residency is the target of a run in which only CTAs that have not started could go
// on.
const residency confluence.Condition = 255

// A hit is a target that a run met.
type hit struct {
	came int64
	act  rules.Site
	by   rules.Site // the step that came first
	word mbarrier.Word
	open int64
	then string
	on   int64 // the phase that a lapped wait passes on in the end
	// Of residency: the waiting split, and how many CTAs have started.
	stuck   machine.WaitingSplit
	started int
}

// A monitor watches a run for a target.
type monitor struct {
	target
	held  rules.Site // what the directed run held back; PC -1 if it is not known
	trail laneHash
	op    int64 // the step's operation, once it is issued
	hit   *hit

	started int // CTAs
}

func (a target) monitor() *monitor { return &monitor{target: a, trail: laneHash{lane: a.lane}} }

// Observe makes a monitor a machine.Observer.
func (s *monitor) Observe(m *machine.Machine, ev *machine.Event) {
	if s.hit == nil {
		s.look(m, ev)
	} else if s.hit.then == "" {
		s.after(ev)
	}
	if s.trail.takes(ev) {
		s.trail.observe(ev)
	}
}

// at reports whether an event is the step itself.
func (s *monitor) at(ev *machine.Event) bool {
	return ev.PC == s.pc && s.trail.takes(ev) && s.trail.hash == s.step.trail
}

func (s *monitor) look(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvStart:
		if s.condition == residency && s.hit == nil {
			s.start(m, ev)
		}
	case machine.EvIssue:
		if s.async && s.at(ev) {
			s.op = ev.Op.ID
		}
	case machine.EvMbar:
		if ev.Mbar.Bar == s.bar {
			s.mbar(m, ev)
		}
	case machine.EvMbarWait:
		if s.condition == confluence.C3Early && ev.Mbar.Bar == s.bar && s.at(ev) && ev.Mbar.Phase < s.phase {
			s.meet(ev, ev.Mbar.Phase, ev.Mbar.Phase+1)
		}
	case machine.EvBarArrive:
		if s.condition == confluence.C6 && ev.Bar == s.named && s.at(ev) && int64(ev.Gen) != s.phase {
			s.hit = &hit{came: int64(ev.Gen)}
		}
	}
}

// start checks, when a further CTA starts, whether any other one could go on.
func (s *monitor) start(m *machine.Machine, ev *machine.Event) {
	s.started++
	new := m.ClusterOf(ev.CTA)
	if len(m.InFlight()) > 0 {
		return
	}
	var at *machine.WaitingSplit
	for _, v := range m.Waiting() {
		switch {
		case slices.Contains(new, v.CTA):
		case v.Kind == machine.WaitNothing:
			return
		case at == nil && waitsOnGlobal(&v):
			at = &v
		}
	}
	if at != nil {
		s.hit = &hit{stuck: *at, started: s.started - 1}
	}
}

// waitsOnGlobal reports whether a split waits for a change of global memory; one that goes round
// then stands for its first read there.
func waitsOnGlobal(v *machine.WaitingSplit) bool {
	i := slices.IndexFunc(v.Looks, func(k machine.Look) bool { return k.Size > 0 && k.Mem == machine.Global })
	if v.Kind == machine.WaitSpin && i >= 0 {
		k := &v.Looks[i]
		v.PC, v.Mem, v.Addr, v.Size, v.Val = k.PC, k.Mem, k.Addr, k.Size, k.Val
		return true
	}
	return v.Kind == machine.WaitMemory && v.Mem == machine.Global
}

func (s *monitor) mbar(m *machine.Machine, ev *machine.Event) {
	b := &ev.Mbar
	switch s.condition {
	case confluence.C1:
		mine := s.async && ev.Op != nil && ev.Op.ID == s.op || !s.async && s.at(ev)
		if mine && b.Phase != s.phase {
			s.meet(ev, b.Phase, b.Phase)
		}
	case confluence.C3Late:
		if b.Completed && b.Phase == s.phase+1 && s.stands(m) {
			s.meet(ev, s.phase+2, b.Phase+1)
		}
	case confluence.C2:
		if b.Completed && b.Phase == s.phase && s.stands(m) {
			s.meet(ev, b.Phase+1, b.Phase+1)
		}
	case confluence.C4:
		if b.Completed && b.Phase == s.phase && (s.async && s.op != 0 && (ev.Op == nil || ev.Op.ID != s.op) || !s.async && s.stands(m)) {
			s.meet(ev, b.Phase+1, b.Phase+1)
		}
	}
}

// stands reports whether the step is what its lane does next.
func (s *monitor) stands(m *machine.Machine) bool {
	if s.trail.hash != s.step.trail {
		return false
	}
	for _, v := range m.Splits(s.cta, s.warp, nil) {
		if v.Mask>>uint(s.lane.lane)&1 != 0 {
			return v.PC == s.pc
		}
	}
	return false
}

// after records how a lapped wait goes on.
func (s *monitor) after(ev *machine.Event) {
	if s.condition == confluence.C3Late && ev.Kind == machine.EvMbarWait && ev.PC == s.pc && s.at(ev) {
		s.hit.on, s.hit.then = ev.Mbar.Phase, fmt.Sprintf("it passes on phase %d instead", ev.Mbar.Phase)
	}
}

func (s *monitor) meet(ev *machine.Event, came, open int64) {
	b := &ev.Mbar
	own := rules.Site{PC: s.pc, CTA: s.cta, Warp: s.warp, Lanes: s.lanes, Mem: s.bar.Mem, Addr: s.bar.Addr, Len: 8}
	own.Role = deed(s.condition, b.Op)
	by := barSite(ev)
	if s.condition == confluence.C1 || s.condition == confluence.C3Early {
		by = s.held // the event is the step
	}
	s.hit = &hit{came: came, act: own, by: by, word: b.After, open: open}
}

func deed(c confluence.Condition, op machine.MbarOp) string {
	switch c {
	case confluence.C3Early, confluence.C3Late:
		return "waits"
	case confluence.C2, confluence.C4:
		return "comes late"
	}
	return mbarRole(op)
}

func mbarRole(op machine.MbarOp) string {
	switch op {
	case machine.MbarExpectTx:
		return "expects"
	case machine.MbarIncrement:
		return "increments"
	case machine.MbarCompleteTx:
		return "lands"
	}
	return "arrives"
}

// barSite returns the site of an operation on a barrier.
func barSite(ev *machine.Event) rules.Site {
	b := &ev.Mbar
	s := rules.Site{Role: mbarRole(b.Op), PC: ev.PC, CTA: ev.CTA, Warp: ev.Warp, Lanes: ev.Mask, Mem: b.Bar.Mem, Addr: b.Bar.Addr, Len: 8}
	if ev.Op != nil && b.Op == machine.MbarAsyncArrive {
		s.Role = "arrives, when its copies are done"
	}
	return s
}
