package explore

import (
	"slices"

	"muster/internal/machine"
)

// A bound on preemptions. A switch away from a split that could go on is a
// preemption, but where it stands at a wait, whether what it waits for has come or
// not: who completes a barrier, and goes on without waiting, is chance. What starts
// clusters and moves asynchronous operations on preempts nobody. Most bugs need few
// preemptions, and there are polynomially many schedules of at most so many
// (Musuvathi and Qadeer, Iterative context bounding, PLDI 2007).
//
// Equivalent schedules may differ in their preemptions, so that the reduction must
// not keep one that costs too much and leave one out that does not. The search is
// then bounded partial-order reduction (Coons, Musuvathi and McKinley, OOPSLA
// 2013): a race's other order is tried where the race is and also where the split
// that ran there began to run, at which a switch may cost nothing; and nothing
// sleeps.

// follow takes over what a state, which m is in, knows of preemptions from the one
// before it.
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

// reverseBounded has a race's other order tried, which a process brings that comes
// after before.
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

// lead has a process be tried at a state: or, where it cannot go on there, those
// whose steps lead up to it, or all.
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
