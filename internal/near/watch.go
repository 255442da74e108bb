package near

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
)

// A watch observes a run and notes what the CTAs of some findings do to synchronize.
type watch struct {
	prog   *machine.Program
	shape  machine.Shape
	sought []sought
	ctas   map[int32]bool
	sites  map[int32]bool // instructions of the findings
	log    []act
}

// An act is one event of the run, as far as it can order anything.
type act struct {
	kind      machine.Kind
	pc        int32
	cta, warp int32
	mask      uint32
	group     machine.Group
	done      *[32]uint32
	read      bool
	fence     machine.Fence
	space     machine.Spaces
	scope     machine.Scope
	sem       machine.Sem
	named     int32
	gen       uint64
	op        machine.MbarOp
	bar       machine.BarRef
	phase     int64
	bytes     uint32
}

// A sought is a finding whose two places are looked for in the run.
type sought struct {
	*rules.Finding
	need        *rules.Need
	first, then int // where the log was at these places; -1: not seen
	seq         uint32
	phase       int64 // that the operation First was charged to; unknown until it was
	charged     bool
	open        groups
}

func newWatch(p *machine.Program, shape machine.Shape, fs []*rules.Finding) *watch {
	w := &watch{prog: p, shape: shape, ctas: map[int32]bool{}, sites: map[int32]bool{}}
	for _, f := range fs {
		n := &f.Need
		w.sought = append(w.sought, sought{Finding: f, need: n, first: -1, then: -1, open: groups{least: -1}})
		for _, s := range []*rules.Site{&n.First, &n.Then} {
			w.ctas[s.CTA], w.sites[s.PC] = true, true
		}
		if n.Bar.Mem.Kind() == machine.SharedMemory && (n.Lack == rules.LacksPhase || n.Lack == rules.LacksArrival) {
			w.ctas[n.Bar.Mem.CTA()] = true
		}
	}
	return w
}

// found reports whether the run came to both places of a finding.
func (s *sought) found() bool {
	return s.then >= 0 && (s.first >= 0 || s.need.Lack.Behind())
}

// Observe makes a watch a machine.Observer.
func (w *watch) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind == machine.EvMbar && ev.Op != nil && ev.Mbar.Op == machine.MbarCompleteTx {
		w.charge(ev)
	}
	if !w.ctas[ev.CTA] || len(w.log) >= mostNoted {
		return
	}
	if w.sites[ev.PC] {
		for i := range w.sought {
			w.meet(&w.sought[i], ev)
		}
	}
	a := act{kind: ev.Kind, pc: ev.PC, cta: ev.CTA, warp: ev.Warp, mask: ev.Mask, group: ev.Group, read: ev.Read,
		fence: ev.Fence, space: ev.Space, scope: ev.Scope, sem: ev.Sem, named: ev.Bar, gen: ev.Gen}
	switch ev.Kind {
	case machine.EvGroupWait:
		done := *ev.Done
		a.done = &done
		w.grouped(&a)
	case machine.EvCommit:
		w.grouped(&a)
	case machine.EvIssue:
		if ev.Op.Group == machine.NoGroup {
			return
		}
		a.group = ev.Op.Group
	case machine.EvMbar:
		if ev.Op == nil {
			a.mask = 1 << uint(ev.Lane&31)
		}
		a.op, a.bar, a.phase, a.bytes = ev.Mbar.Op, ev.Mbar.Bar, ev.Mbar.Phase, ev.Mbar.Bytes
	case machine.EvMbarWait:
		if !ev.Mbar.OK {
			return
		}
		a.op, a.bar, a.phase = ev.Mbar.Op, ev.Mbar.Bar, ev.Mbar.Phase
	case machine.EvAccess:
		if ev.Sem < machine.Acquire {
			return
		}
	case machine.EvFence, machine.EvBarArrive, machine.EvBarPass, machine.EvClusterArrive, machine.EvClusterWait, machine.EvWarpSync:
	default:
		return
	}
	if a.mask == 0 {
		a.mask = ^uint32(0)
	}
	w.log = append(w.log, a)
}

// charge notes the phase that an operation's bytes are charged to.
func (w *watch) charge(ev *machine.Event) {
	for i := range w.sought {
		s := &w.sought[i]
		if s.need.FirstOp == ev.Op.ID && s.need.Bar.Mem == ev.Mbar.Bar.Mem && s.need.Bar.Addr == ev.Mbar.Bar.Addr {
			s.phase, s.charged = ev.Mbar.Phase, true
		}
	}
}

// meet notes that the run comes to one of the places of a finding.
func (w *watch) meet(s *sought, ev *machine.Event) {
	n := s.need
	if n.Lack == rules.LacksGroupWait && ev.Kind == machine.EvIssue && ev.PC == n.First.PC && ev.CTA == n.First.CTA && ev.Warp == n.First.Warp {
		s.open.issue(ev.Op)
	}
	if !n.Lack.Behind() && is(&n.First, n.FirstOp, ev) && s.then < 0 {
		s.first = len(w.log)
		if ev.Kind == machine.EvIssue {
			s.seq = ev.Op.Seq
		}
	} else if is(&n.Then, n.ThenOp, ev) && (s.first >= 0 || n.Lack.Behind()) {
		if s.then < 0 {
			s.then = len(w.log)
		}
	}
	if n.Lack == rules.LacksGroupWait && touches(&n.Then, n.ThenOp, ev) {
		s.open.touch(ev)
	}
}

// is reports whether an event is that of a place: the issue of an operation, or an access.
func is(t *rules.Site, op int64, ev *machine.Event) bool {
	if op >= 0 {
		return ev.Kind == machine.EvIssue && ev.Op.ID == op
	}
	return touches(t, op, ev) && (t.Len == 0 || ev.Kind != machine.EvAccess || overlaps(ev, t.Mem, t.Addr, t.Len))
}

// touches reports whether an event is what the instruction of a place does, in its threads.
func touches(t *rules.Site, op int64, ev *machine.Event) bool {
	if ev.PC != t.PC || ev.CTA != t.CTA || ev.Warp != t.Warp {
		return false
	}
	switch ev.Kind {
	case machine.EvIssue:
		return op >= 0
	case machine.EvAccess, machine.EvRegister:
		return op < 0 && ev.Mask&t.Lanes != 0
	case machine.EvMbar:
		return op < 0 && t.Lanes>>uint(ev.Lane&31)&1 != 0
	}
	return false
}

// overlaps reports whether lanes of an access touch a range.
func overlaps(ev *machine.Event, mem machine.MemID, addr, n uint64) bool {
	if ev.Addr == nil || ev.Mem != mem {
		return false
	}
	for m := ev.Mask; m != 0; m &= m - 1 {
		if a := ev.Addr[bits.TrailingZeros32(m)&31]; a < addr+n && addr < a+uint64(ev.Size) {
			return true
		}
	}
	return false
}

// by reports whether the threads of a place, or some of them, did an act.
func (a *act) by(t *rules.Site) bool {
	return a.cta == t.CTA && a.warp == t.Warp && a.mask&t.Lanes != 0
}

// allBy reports whether all threads of a place did an act together.
func (a *act) allBy(t *rules.Site) bool { return a.by(t) && t.Lanes&^a.mask == 0 }

// next returns the first act from log position from on, and before position to, of which is
// says true; -1 if there is none.
func (w *watch) next(from, to int, is func(*act) bool) int {
	for i := max(from, 0); i < min(to, len(w.log)); i++ {
		if is(&w.log[i]) {
			return i
		}
	}
	return -1
}

// last is next from the end.
func (w *watch) last(from, to int, is func(*act) bool) int {
	for i := min(to, len(w.log)) - 1; i >= max(from, 0); i-- {
		if is(&w.log[i]) {
			return i
		}
	}
	return -1
}

// places lists the instructions of acts, each once, in the order of the run.
func (w *watch) places(from, to int, is func(*act) bool) (pcs []int32) {
	for i := max(from, 0); i < min(to, len(w.log)); i++ {
		if pc := w.log[i].pc; is(&w.log[i]) && !slices.Contains(pcs, pc) {
			pcs = append(pcs, pc)
		}
	}
	return pcs
}
