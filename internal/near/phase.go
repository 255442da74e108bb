package near

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/rules"
)

// phaseWait says what stands near a wait for the phase of an mbarrier that is missing.
func (w *watch) phaseWait(s *sought) string {
	n := s.need
	if !s.charged {
		return ""
	}
	waits := func(a *act) bool {
		return a.kind == machine.EvMbarWait && a.bar.Mem == n.Bar.Mem && a.bar.Addr == n.Bar.Addr
	}
	own := func(a *act) bool { return waits(a) && a.allBy(&n.Then) }
	who := rules.Who(n.Then.CTA, n.Then.Warp, n.Then.Lanes)
	if i := w.next(s.then, len(w.log), func(a *act) bool { return own(a) && a.phase == s.phase }); i >= 0 {
		return fmt.Sprintf("%s waits for that phase, but %s executes it only after %s", w.at(w.log[i].pc), who, w.at(n.Then.PC))
	}
	if i := w.last(0, s.then, own); i >= 0 && w.log[i].phase < s.phase {
		return fmt.Sprintf("%s by %s stands before %s, but has waited for %s; the bytes of %s are charged to phase %d",
			w.at(w.log[i].pc), who, w.at(n.Then.PC), phaseName(w.log[i].phase), w.at(n.First.PC), s.phase)
	}
	if i := w.last(0, s.then, func(a *act) bool { return waits(a) && !a.by(&n.Then) && a.phase >= s.phase }); i >= 0 {
		a := &w.log[i]
		return fmt.Sprintf("%s by %s waits for it; what is missing is the way from there to %s", w.at(a.pc), rules.Who(a.cta, a.warp, a.mask), w.at(n.Then.PC))
	}
	return w.bypassed(s)
}

// bypassed says which branch leads the threads of the second place around a wait for their
// mbarrier, or for that at the same place in another CTA, which others execute.
func (w *watch) bypassed(s *sought) string {
	n := s.need
	pcs := w.places(0, len(w.log), func(a *act) bool {
		return a.kind == machine.EvMbarWait && a.bar.Addr == n.Bar.Addr && w.reaches(a.pc, n.Then.PC)
	})
	for _, pc := range pcs {
		if w.next(0, len(w.log), func(a *act) bool { return a.pc == pc && a.kind == machine.EvMbarWait && a.by(&n.Then) }) >= 0 {
			continue
		}
		if around := w.around(w.prog.Begin(&w.prog.Entry)-1, pc, n.Then.PC); around != "" {
			return fmt.Sprintf("%s stands before %s, but for %s, %s", w.at(pc), w.at(n.Then.PC), rules.Who(n.Then.CTA, n.Then.Warp, n.Then.Lanes), around)
		}
	}
	return ""
}

// matrixFence says that the last wgmma.fence of a warp comes before what it would have to follow.
func (w *watch) matrixFence(s *sought) string {
	t := &s.need.Then
	i := w.last(0, s.then, func(a *act) bool { return a.kind == machine.EvFence && a.fence == machine.FenceWgmma && a.by(t) })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s is the last before %s, and comes before that access", w.at(w.log[i].pc), w.at(t.PC))
}

func phaseName(n int64) string {
	if n < 0 {
		return "the phase before the first, which a fresh barrier has complete"
	}
	return fmt.Sprintf("phase %d", n)
}

// arrival says which arrival of the thread that books a debt comes before the debt, and how
// the phase stood when it completed.
func (w *watch) arrival(s *sought) string {
	n := s.need
	at := func(a *act) bool {
		return a.kind == machine.EvMbar && a.bar.Mem == n.Bar.Mem && a.bar.Addr == n.Bar.Addr
	}
	end := s.then
	if end < 0 {
		return ""
	}
	var landed, expected uint64
	for i := range w.log[:end] {
		if a := &w.log[i]; at(a) && a.phase == n.Phase {
			switch a.op {
			case machine.MbarCompleteTx:
				landed += uint64(a.bytes)
			case machine.MbarExpectTx, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
				expected += uint64(a.bytes)
			}
		}
	}
	late := &w.log[min(end, len(w.log)-1)]
	if at(late) && late.phase > n.Phase && late.bytes > 0 {
		s.Ledger = append(s.Ledger, fmt.Sprintf("phase %d, when it completed: %d bytes landed of %d expected by then; %s expects %d more, too late", n.Phase, landed, expected, w.at(n.Then.PC), late.bytes))
	}
	own := func(a *act) bool { return at(a) && a.by(&n.Then) && arrives(a.op) }
	i := w.last(0, end, own)
	if i < 0 || w.log[i].phase != n.Phase {
		return ""
	}
	a := &w.log[i]
	text := fmt.Sprintf("%s by the same thread arrives at this barrier, but before %s", w.at(a.pc), w.at(n.Then.PC))
	if a.pc+1 == n.Then.PC {
		text += ": exchanged, the two are in order"
	}
	return text
}
