package explore

import (
	"slices"

	"muster/internal/machine"
)

// A bound on preemptions. A switch away from a split that could go on is a
// preemption, unless the split stands at a wait, whether or not the wait is over:
// which split completes a barrier, and goes on without waiting, is chance. Cluster
// starts and milestones of asynchronous operations preempt no split. Most bugs need
// few preemptions, and there are polynomially many schedules of at most so many
// (Musuvathi and Qadeer, Iterative context bounding, PLDI 2007).
//
// Equivalent schedules may differ in their preemptions, so the reduction must not
// keep one beyond the bound and drop one within it. The search is therefore bounded
// partial-order reduction (Coons, Musuvathi and McKinley, OOPSLA 2013): a race's
// reversal is tried at the race, and also where the split that ran there began to
// run, where a switch may cost nothing; and there are no sleep sets.

// follow derives a node's preemption state from the node before it; m is in the
// node's state.
func (n *node) follow(before *node, by *step, m *machine.Machine) {
	n.ran, n.on, n.preemptions = before.ran, before.on, before.preemptions
	if p := process(by.choice); p.Kind == machine.Run {
		if before.preempts(p) {
			n.preemptions++
		}
		n.ran, n.on = true, p
	}
	n.busy = n.ran && slices.Contains(n.ways, n.on) && !m.AtWait(n.on)
}

// goesOn reports whether a process is the split that ran last.
func (n *node) goesOn(p machine.Choice) bool { return n.ran && n.on == p }

// preempts reports whether a process would run in place of a split that could go on.
func (n *node) preempts(p machine.Choice) bool {
	return n.busy && p.Kind == machine.Run && p != n.on
}

// tooMany reports whether the bound forbids a process at a state.
func (s *Search) tooMany(n *node, p machine.Choice) bool {
	most := s.limits.Preemptions
	return most != 0 && n.preempts(p) && n.preemptions >= max(0, most)
}

// reverseBounded has a race reversed by a process whose step comes after the steps in
// before: at the race, and where the split that ran there began to run.
func (s *Search) reverseBounded(r race, by machine.Choice, before set) {
	s.lead(r.first, r, by, before)
	at := r.first
	for at > 0 && s.nodes[at].busy && !s.nodes[at].preempts(process(s.steps[at].choice)) {
		at--
	}
	if at != r.first {
		s.lead(at, r, by, before)
	}
}

// lead offers a process at a state; if it is not enabled there, the processes whose
// steps lead up to it; if none of them is, all.
func (s *Search) lead(at int, r race, by machine.Choice, before set) {
	n := s.nodes[at]
	if n.can(by) {
		s.offer(n, by)
		return
	}
	found := false
	for i := at; i < r.second; i++ {
		if p := process(s.steps[i].choice); before.has(i) && n.can(p) {
			s.offer(n, p)
			found = true
		}
	}
	if found {
		return
	}
	for _, c := range n.ways {
		s.offer(n, process(c))
	}
}
