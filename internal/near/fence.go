package near

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/rules"
)

// proxyFence says what stands near a fence.proxy.async that is missing.
func (w *watch) proxyFence(s *sought) string {
	n := s.need
	if n.FirstOp >= 0 || n.ThenOp < 0 {
		return ""
	}
	fence := func(a *act) bool { return a.kind == machine.EvFence && a.fence == machine.FenceProxyAsync }
	wide := func(a *act) bool { return fence(a) && covers(a.space, n.Space) }
	narrow := func(a *act) bool { return fence(a) && !covers(a.space, n.Space) }
	first, then := w.at(n.First.PC), w.at(n.Then.PC)
	end := len(w.log)
	if i := w.last(s.first, s.then, func(a *act) bool { return narrow(a) && (a.allBy(&n.First) || a.allBy(&n.Then)) }); i >= 0 {
		return fmt.Sprintf("%s stands between, but for another state space", w.at(w.log[i].pc))
	}
	if i := w.last(s.first, s.then, func(a *act) bool { return wide(a) && a.allBy(&n.Then) }); i >= 0 && !sameThreads(n) {
		return fmt.Sprintf("%s in the thread that issues %s stands before the synchronization by which that learns of %s", w.at(w.log[i].pc), then, first)
	}
	if i := w.next(s.first, end, func(a *act) bool { return wide(a) && a.allBy(&n.First) }); i >= 0 {
		if sameThreads(n) {
			return fmt.Sprintf("%s comes only after %s", w.at(w.log[i].pc), then)
		}
		text := fmt.Sprintf("%s in the threads of %s comes only after the synchronization that leads from there to %s", w.at(w.log[i].pc), first, then)
		pc := w.log[i].pc
		if w.next(0, end, func(a *act) bool { return a.pc == pc && a.by(&n.Then) }) < 0 && w.reaches(pc, n.Then.PC) {
			if around := w.around(n.First.PC, pc, n.Then.PC); around != "" {
				text += fmt.Sprintf(", and for %s, %s", rules.Who(n.Then.CTA, n.Then.Warp, n.Then.Lanes), around)
			}
		}
		return text
	}
	other := func(a *act) bool {
		return wide(a) && a.cta == n.First.CTA && !a.by(&n.First) && !a.by(&n.Then) && w.reaches(n.First.PC, a.pc) && w.reaches(a.pc, n.Then.PC)
	}
	if i := w.last(0, s.then, other); i >= 0 {
		a := &w.log[i]
		text := fmt.Sprintf("%s stands between, but %s executes it: it covers only what is known there by then", w.at(a.pc), rules.Who(a.cta, a.warp, a.mask))
		if around := w.around(n.First.PC, a.pc, n.Then.PC); around != "" {
			text += "; " + around
		}
		return text
	}
	if i := w.last(0, s.first, func(a *act) bool { return wide(a) && a.allBy(&n.First) }); i >= 0 && !w.reaches(n.First.PC, w.log[i].pc) {
		return fmt.Sprintf("%s stands before %s, and covers nothing that comes after it", w.at(w.log[i].pc), first)
	}
	return ""
}

// sameThreads reports whether the threads of the two places are in one warp and meet.
func sameThreads(n *rules.Need) bool {
	a, b := &n.First, &n.Then
	return a.CTA == b.CTA && a.Warp == b.Warp && a.Lanes&b.Lanes != 0
}

// covers reports whether a fence of some state spaces covers another.
func covers(space, need machine.Spaces) bool {
	if space&machine.SpaceSharedCluster != 0 {
		space |= machine.SpaceSharedCTA
	}
	return space == 0 || space&need == need
}

// scopes says which fences between two places have too narrow a scope.
func (w *watch) scopes(s *sought) string {
	n := s.need
	narrow := func(a *act) bool {
		return a.kind == machine.EvFence && a.fence == machine.FenceMemory && a.scope < n.Scope() && a.scope != machine.NoScope
	}
	var texts []string
	add := func(from, to int, t *rules.Site, where string, other int32) {
		for _, pc := range w.places(from, to, func(a *act) bool { return narrow(a) && a.by(t) }) {
			texts = append(texts, fmt.Sprintf("%s stands %s %s, with too narrow a scope", w.at(pc), where, w.at(other)))
		}
	}
	add(s.first, s.then, &n.First, "after", n.First.PC)
	if !sameThreads(n) {
		add(s.first, s.then, &n.Then, "before", n.Then.PC)
	}
	if len(texts) > 2 {
		return ""
	}
	return strings.Join(texts, "; ")
}

// sync says which barrier stands between two places, or beside them, and does not order them.
func (w *watch) sync(s *sought) string {
	n := s.need
	if n.FirstOp >= 0 {
		return ""
	}
	x, y := &n.First, &n.Then
	named := func(a *act) bool { return a.kind == machine.EvBarPass || a.kind == machine.EvBarArrive }
	warpSync := func(a *act) bool { return a.kind == machine.EvWarpSync }
	// executed by both between the two, and too narrow
	both := func(is func(*act) bool) int32 {
		mine := w.places(s.first, len(w.log), func(a *act) bool { return is(a) && a.by(x) })
		for i := w.last(0, s.then, func(a *act) bool { return is(a) && a.by(y) }); i >= 0; i = w.last(0, i, func(a *act) bool { return is(a) && a.by(y) }) {
			for _, pc := range mine {
				if pc == w.log[i].pc && w.between(n, pc) {
					return pc
				}
			}
		}
		if w.reaches(x.PC, y.PC) == w.reaches(y.PC, x.PC) {
			return -1
		}
		mine = w.places(0, len(w.log), func(a *act) bool { return is(a) && a.by(x) })
		for _, pc := range w.places(0, len(w.log), func(a *act) bool { return is(a) && a.by(y) }) {
			if slices.Contains(mine, pc) && w.between(n, pc) {
				return pc // which of the two came first in the run is chance
			}
		}
		return -1
	}
	if x.CTA != y.CTA {
		if pc := both(named); pc >= 0 && n.Apart == order.OneCluster {
			return fmt.Sprintf("%s stands between, but joins only the threads of its own CTA", w.at(pc))
		}
		return w.clusterSync(s)
	}
	if x.Warp == y.Warp {
		return ""
	}
	if n.Apart == order.OneCTA {
		if pc := both(warpSync); pc >= 0 {
			return fmt.Sprintf("%s stands between, but joins only lanes of one warp", w.at(pc))
		}
	}
	return w.ctaSync(s)
}

// between reports whether the text lets an instruction stand after the first place and before
// the second, or the other way around.
func (w *watch) between(n *rules.Need, pc int32) bool {
	a, b := n.First.PC, n.Then.PC
	return w.reaches(a, pc) && w.reaches(pc, b) || w.reaches(b, pc) && w.reaches(pc, a)
}

// clusterSync says that the cluster's barrier comes only after the later place.
func (w *watch) clusterSync(s *sought) string {
	n := s.need
	arrive := w.next(s.first, len(w.log), func(a *act) bool { return a.kind == machine.EvClusterArrive && a.by(&n.First) })
	wait := w.next(s.then, len(w.log), func(a *act) bool { return a.kind == machine.EvClusterWait && a.by(&n.Then) })
	if n.Apart != order.OneCluster || arrive < 0 || wait < 0 || w.log[arrive].gen != w.log[wait].gen {
		return ""
	}
	return fmt.Sprintf("%s joins both, but comes only after %s", w.at(w.log[wait].pc), w.at(n.Then.PC))
}

// ctaSync says of barriers of a CTA why none of them orders two of its warps.
func (w *watch) ctaSync(s *sought) string {
	n := s.need
	x, y := &n.First, &n.Then
	arrives := func(t *rules.Site) func(*act) bool {
		return func(a *act) bool { return a.kind == machine.EvBarArrive && a.by(t) }
	}
	joins := func(i int, t *rules.Site) int { // where the other joins that generation; -1
		b := w.log[i]
		return w.next(0, len(w.log), func(a *act) bool {
			return a.kind == machine.EvBarArrive && a.by(t) && a.named == b.named && a.gen == b.gen
		})
	}
	i := w.next(s.first, len(w.log), arrives(x))
	if i < 0 {
		return ""
	}
	k := joins(i, y)
	switch {
	case k < 0 && i < s.then:
		return fmt.Sprintf("%s stands after %s, but %s is not among its threads", w.at(w.log[i].pc), w.at(x.PC), rules.Who(y.CTA, y.Warp, y.Lanes))
	case k >= s.then:
		pc := w.log[k].pc
		before := w.last(0, s.first, func(a *act) bool { return arrives(x)(a) && a.pc == pc })
		if before >= 0 {
			if k := joins(before, y); k >= 0 && k < s.then {
				return fmt.Sprintf("%s joins both before the two and again after them, and not between", w.at(pc))
			}
		}
		return fmt.Sprintf("%s joins both, but comes only after %s", w.at(pc), w.at(y.PC))
	}
	return ""
}

// say says what stands near the thing that a finding lacks; empty if nothing does.
func (w *watch) say(s *sought) string {
	switch s.need.Lack {
	case rules.LacksGroupWait:
		return w.groupWait(s)
	case rules.LacksPhase:
		return w.phaseWait(s)
	case rules.LacksFence:
		return w.proxyFence(s)
	case rules.LacksSync:
		return w.sync(s)
	case rules.LacksScope:
		return w.scopes(s)
	case rules.LacksArrival:
		return w.arrival(s)
	case rules.LacksMatrixFence:
		return w.matrixFence(s)
	}
	return ""
}
