package muster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/rules"
)

// What a proven launch could do without. The proof's run is made again for each
// fence and each barrier, and neither the judge nor the prover is shown that one.
// What they see is then a run of the program without it: a fence changes nothing in
// the machine, and whatever a barrier's absence permits, this run is one of it. If
// the conditions hold there, they decide for every schedule of that program, and the
// instruction orders nothing that is not ordered without it.

// mostCostly bounds how many instructions a check leaves out in turn.
const mostCostly = 64

// A costly is a fence, or instructions that meet at one barrier.
type costly struct {
	rules.Redundant
	pcs     map[int32]bool
	barrier bool
}

// hide shows an observer everything but that.
func hide(pcs map[int32]bool) view {
	return func(o machine.Observer) machine.Observer { return hider{o, pcs} }
}

type hider struct {
	machine.Observer
	pcs map[int32]bool
}

func (h hider) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvFence, machine.EvWarpSync, machine.EvBarArrive, machine.EvBarPass:
		if h.pcs[ev.PC] {
			return
		}
	}
	h.Observer.Observe(m, ev)
}

// cost adds to all which fences and barriers of a proven launch are redundant.
func (l *Launch) cost(ctx context.Context, o CheckOptions, skip bool, all *merged) {
	switch {
	case !o.Cost:
		return
	case all.proof == nil || !all.proof.All:
		all.notices = append(all.notices, "--cost: this launch is not proven for all schedules, so that nothing can be said of its fences and barriers")
		return
	}
	w := l.watch(ctx)
	base, known := l.proveParts(w, o.Jobs, skip, nil)
	led, of := proof{holds: true}, result{} // with other leaders
	if other := l.config.Program.Elects() && !l.highest; other && base.holds {
		led, of = l.led().proveParts(w, o.Jobs, skip, nil)
	}
	if stop, why := w.stop(); stop() {
		all.notices = append(all.notices, "--cost: nothing was tried: "+why())
		return
	}
	if !base.holds || !led.holds {
		all.notices = append(all.notices, "--cost: the proof goes through several orders, and what it could do without is not known")
		return
	}
	list := l.costlies(w, skip)
	if n := len(list) - mostCostly; n > 0 {
		all.notices = append(all.notices, fmt.Sprintf("--cost: %d fences and barriers, from %s on, were not tried: at most %d are", n, l.line(list[mostCostly].Sites[0].PC), mostCostly))
		list = list[:mostCostly]
	}
	without := func(jobs int, pcs map[int32]bool) bool {
		stands := func(l *Launch, base *proof, known *result) bool {
			p, r := l.proveParts(w, jobs, skip, hide(pcs))
			return p.holds && (base.contents || !p.contents) && (base.earlier || !p.earlier) && known.covers(&r)
		}
		return stands(l, &base, &known) && (l.highest || !l.config.Program.Elects() || stands(l.led(), &led, &of))
	}
	stands := make([]bool, len(list))
	parallel.Each(o.Jobs, len(list), func(i int) { stands[i] = without(1, list[i].pcs) })
	if stop, why := w.stop(); stop() {
		all.notices = append(all.notices, "--cost: not everything was tried: "+why())
		return
	}
	var needless []costly
	for i := range list {
		if stands[i] {
			needless = append(needless, list[i])
		}
	}
	together(needless, func(pcs map[int32]bool) bool { return without(o.Jobs, pcs) })
	if stop, why := w.stop(); stop() {
		all.notices = append(all.notices, "--cost: which of them can go together was not tried: "+why())
		return
	}
	var r result
	for _, c := range needless {
		if c.barrier {
			r.findings = append(r.findings, rules.RedundantBarrier(c.Redundant))
		} else {
			r.findings = append(r.findings, rules.RedundantFence(c.Redundant))
		}
	}
	all.findings = append(all.findings, r.findings...)
}

// together finds what can go at once, in the order of the program, and notes on
// the rest that it cannot go with those.
func together(list []costly, without func(map[int32]bool) bool) {
	if len(list) < 2 {
		return
	}
	gone := map[int32]bool{}
	var first []int32 // of each that can go
	for i := range list {
		for pc := range list[i].pcs {
			gone[pc] = true
		}
		if i == 0 || without(gone) {
			first = append(first, list[i].Sites[0].PC)
			continue
		}
		for pc := range list[i].pcs {
			delete(gone, pc)
		}
		list[i].Unless = slices.Clone(first)
	}
}

// covers reports whether another result shows nothing that r does not, and nothing
// more often.
func (r *result) covers(o *result) bool {
	for i := range o.findings {
		g := &o.findings[i]
		if !slices.ContainsFunc(r.findings, func(f rules.Finding) bool { return f.Key() == g.Key() && f.Count >= g.Count }) {
			return false
		}
	}
	return o.err == nil && len(o.gaps) == 0
}

// costlies lists what the proof's run executes that could be left out, in the order
// of the program.
func (l *Launch) costlies(w *watch, skip bool) []costly {
	s := &surveyor{prog: l.config.Program, found: map[int32]*surveyed{}, inits: map[warpOf]bool{}, came: map[warpOf]uint32{}, gens: map[namedGen]openGen{}}
	m := l.part(s, skip, 0, 1)
	if _, err := l.follow(w, m, proofSchedule); err != nil || !m.Done() {
		return nil
	}
	return s.list()
}

// A surveyor notes the fences and barriers of a run, and which of these meet.
type surveyor struct {
	prog  *machine.Program
	found map[int32]*surveyed
	inits map[warpOf]bool   // the last thing that a warp did to memory was mbarrier.init
	came  map[warpOf]uint32 // its lanes at its last arrival
	gens  map[namedGen]openGen
	// apart: lanes met at a bar.warp.sync that had come apart, perhaps to another
	// one, so that neither could go alone.
	apart bool
}

// A surveyed is one instruction. Those that meet at a barrier have one root.
type surveyed struct {
	site    rules.Site
	count   int
	barrier bool
	warp    bool // bar.warp.sync
	kept    bool // it may be there for what is not seen here
	root    int32
}

type warpOf struct{ cta, warp int32 }

// Two generations of a barrier are under way at most, so four places suffice.
type namedGen struct {
	cta, bar int32
	place    uint64
}

type openGen struct {
	gen uint64
	pc  int32
}

func (s *surveyor) at(ev *machine.Event, role string) *surveyed {
	x := s.found[ev.PC]
	if x == nil {
		x = &surveyed{site: rules.Site{Role: role, PC: ev.PC, CTA: ev.CTA, Warp: ev.Warp, Lanes: ev.Mask}, root: ev.PC}
		s.found[ev.PC] = x
	}
	return x
}

func (s *surveyor) Observe(_ *machine.Machine, ev *machine.Event) {
	who := warpOf{ev.CTA, ev.Warp}
	switch ev.Kind {
	case machine.EvFence:
		s.fence(ev, who)
	case machine.EvMbar:
		s.inits[who] = ev.Op == nil && ev.Mbar.Op == machine.MbarInit
	case machine.EvAccess, machine.EvMbarWait, machine.EvIssue:
		s.inits[who] = false
	case machine.EvWarpSync:
		x := s.at(ev, "syncs the warp")
		x.count++
		x.barrier, x.warp = true, true
		s.apart = s.apart || ev.Count > 1
	case machine.EvBarArrive:
		s.came[who] = ev.Mask
		s.meets(ev, s.arrive(ev))
	case machine.EvBarPass:
		x := s.at(ev, "syncs")
		x.barrier, x.kept = true, x.kept || ev.Mask != s.came[who]
		s.meets(ev, x)
	}
}

// fence notes one that package order knows to order accesses of this launch.
func (s *surveyor) fence(ev *machine.Event, who warpOf) {
	switch ev.Fence {
	case machine.FenceMemory, machine.FenceProxyAsync, machine.FenceProxyAsyncGenericAcquire, machine.FenceProxyAsyncGenericRelease:
		x := s.at(ev, "fences")
		x.count++
		x.kept = x.kept || s.inits[who] || ev.Fence == machine.FenceMemory && ev.Scope == machine.ScopeSys
	}
}

func (s *surveyor) arrive(ev *machine.Event) *surveyed {
	role := "syncs"
	if ev.Mode == machine.BarArrive {
		role = "arrives"
	}
	x := s.at(ev, role)
	x.count++
	x.barrier = true
	// Who arrives and goes on, and may have come apart, is not seen lane by lane.
	in := s.prog.Inst(ev.PC)
	apart := ev.Mode == machine.BarArrive && (in == nil || in.Op == "barrier" && !slices.Contains(in.Mods, "aligned"))
	x.kept = x.kept || ev.Mode == machine.BarRed || apart
	return x
}

// meets joins the instructions of one generation.
func (s *surveyor) meets(ev *machine.Event, x *surveyed) {
	key := namedGen{ev.CTA, ev.Bar, ev.Gen % 4}
	g, ok := s.gens[key]
	if !ok || g.gen != ev.Gen {
		s.gens[key] = openGen{ev.Gen, ev.PC}
		return
	}
	a, b := s.root(g.pc), s.root(ev.PC)
	s.found[max(a, b)].root = min(a, b)
}

func (s *surveyor) root(pc int32) int32 {
	for s.found[pc].root != pc {
		pc = s.found[pc].root
	}
	return pc
}

func (s *surveyor) list() []costly {
	groups := map[int32]*costly{}
	kept := map[int32]bool{}
	for pc, x := range s.found {
		root := s.root(pc)
		kept[root] = kept[root] || x.kept || x.warp && s.apart
		c := groups[root]
		if c == nil {
			c = &costly{pcs: map[int32]bool{}, barrier: x.barrier}
			c.Program = s.prog
			groups[root] = c
		}
		c.pcs[pc] = true
		c.Sites = append(c.Sites, x.site)
		c.Count += x.count
	}
	var list []costly
	for root, c := range groups {
		if !kept[root] {
			slices.SortFunc(c.Sites, func(a, b rules.Site) int { return cmp.Compare(a.PC, b.PC) })
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b costly) int { return cmp.Compare(a.Sites[0].PC, b.Sites[0].PC) })
	return list
}
