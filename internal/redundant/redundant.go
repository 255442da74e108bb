// Package redundant finds the fences, barriers and waits for groups that a proven launch could do
// without.
//
// The proof's run is repeated for each fence and each barrier, hiding it from the
// judge and the prover. What they see is then a run of the program without it: a
// fence changes nothing in the machine, and without a barrier this run is still a
// possible one. A wait for a group, and wgmma.fence, which change what the machine knows of
// registers in use, are passed over by the machine itself. If the conditions hold there, they decide for every schedule of that
// program, and the instruction orders nothing that is not ordered without it.
package redundant

import (
	"cmp"
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/prove"
	"muster/internal/rules"
	"muster/internal/trial"
)

// maxCandidates bounds how many instructions a check leaves out in turn.
const maxCandidates = 64

// A candidate is a fence, a wait, or instructions that meet at one barrier.
type candidate struct {
	rules.Redundant
	pcs           map[int32]bool
	barrier, wait bool
}

// hide returns the View that hides these instructions.
func hide(pcs map[int32]bool) prove.View {
	return func(o machine.Observer) machine.Observer { return masked{o, pcs} }
}

// masked is an observer from which some instructions are hidden.
type masked struct {
	machine.Observer
	pcs map[int32]bool
}

func (h masked) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvFence, machine.EvWarpSync, machine.EvBarArrive, machine.EvBarPass:
		if h.pcs[ev.PC] {
			return
		}
	}
	h.Observer.Observe(m, ev)
}

// Find lists the fences, barriers and waits for groups that a proven launch could do without, and says
// what it did not try.
func Find(l *trial.Subject, w *trial.Budget, jobs int, skip bool) (findings []rules.Finding, notices []string) {
	say := func(format string, args ...any) {
		notices = append(notices, "CheckOptions.Cost: "+fmt.Sprintf(format, args...))
	}
	w.Meter.Stage("the proof again, for what it could do without", "", 0)
	base, known := prove.One(l, w, jobs, skip, nil)
	led, of := prove.Proof{Holds: true}, trial.Result{} // with other leaders
	if other := l.Program.Elects() && !l.Highest; other && base.Holds {
		led, of = prove.One(l.Led(), w, jobs, skip, nil)
	}
	stop, why := w.Stop()
	if stop() {
		say("nothing was tried: %s", why())
		return nil, notices
	}
	if !base.Holds || !led.Holds {
		say("the proof goes through several orders, and what it could do without is not known")
		return nil, notices
	}
	list := candidates(l, w, skip)
	if n := len(list) - maxCandidates; n > 0 {
		say("%d fences, barriers and waits, from %s on, were not tried: at most %d are", n, l.Line(list[maxCandidates].Sites[0].PC), maxCandidates)
		list = list[:maxCandidates]
	}
	w.Meter.Stage("leaving out fences and barriers one by one", "one", len(list))
	meter := w.Meter
	w = w.Quietly()
	without := func(jobs int, pcs map[int32]bool) bool {
		stands := func(l *trial.Subject, base *prove.Proof, known *trial.Result) bool {
			p, r := prove.One(l.Leaving(pcs), w, jobs, skip, hide(pcs))
			return p.Holds && (base.Contents || !p.Contents) && (base.Earlier || !p.Earlier) && known.Covers(&r)
		}
		return stands(l, &base, &known) && (l.Highest || !l.Program.Elects() || stands(l.Led(), &led, &of))
	}
	stands := make([]bool, len(list))
	parallel.Each(jobs, len(list), func(i int) {
		stands[i] = without(1, list[i].pcs)
		meter.Did(1)
	})
	if stop() {
		say("not everything was tried: %s", why())
		return nil, notices
	}
	var needless []candidate
	for i := range list {
		if stands[i] {
			needless = append(needless, list[i])
		}
	}
	meter.Stage("leaving out several of them together", "try", max(len(needless)-1, 0))
	together(needless, func(pcs map[int32]bool) bool {
		defer meter.Did(1)
		return without(jobs, pcs)
	})
	if stop() {
		say("which of them can go together was not tried: %s", why())
		return nil, notices
	}
	if n := len(needless); n > 1 {
		say("%s", atOnce(n, needless))
	}
	for _, c := range needless {
		if c.wait {
			findings = append(findings, rules.RedundantWait(c.Redundant))
		} else if c.barrier {
			findings = append(findings, rules.RedundantBarrier(c.Redundant))
		} else {
			findings = append(findings, rules.RedundantFence(c.Redundant))
		}
	}
	return findings, notices
}

// together finds which can go at once, in the order of the program, and notes on the
// rest that they cannot go with those.
func together(list []candidate, without func(map[int32]bool) bool) {
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

// atOnce says whether the n that are named can go together, or only each alone.
func atOnce(n int, list []candidate) string {
	alone := 0
	for i := range list {
		if len(list[i].Unless) > 0 {
			alone++
		}
	}
	switch {
	case alone == 0:
		return fmt.Sprintf("all %d that are named can go together", n)
	case n == 2:
		return "either of the 2 that are named can go, and not both"
	case n-alone == 1:
		return fmt.Sprintf("each of the %d that are named can go alone, the later ones not together with the first", n)
	}
	return fmt.Sprintf("%d of the %d that are named can go together; each of the others, which a note tells, can go alone, and not together with those", n-alone, n)
}

// candidates lists what the proof's run executes that could be left out, in the order
// of the program.
func candidates(l *trial.Subject, w *trial.Budget, skip bool) []candidate {
	s := &collector{prog: l.Program, found: map[int32]*collected{}, inits: map[warpOf]bool{}, came: map[warpOf]uint32{}, gens: map[namedGen]openGen{}}
	m := l.Part(s, skip, 0, 1)
	if _, err := l.Follow(w, m, trial.ProofSchedule); err != nil || !m.Done() {
		return nil
	}
	return s.list()
}

// A collector notes the fences, barriers and waits of a run, and which of these meet.
type collector struct {
	prog  *machine.Program
	found map[int32]*collected
	inits map[warpOf]bool   // the last thing that a warp did to memory was mbarrier.init
	came  map[warpOf]uint32 // its lanes at its last arrival
	gens  map[namedGen]openGen
	// apart: diverged lanes met at a bar.warp.sync, perhaps some at another one, so
	// that neither could go alone.
	apart bool
}

// A collected is one instruction. Those that meet at a barrier have one root.
type collected struct {
	site    rules.Site
	count   int
	barrier bool
	warp    bool // bar.warp.sync
	wait    bool // for groups
	kept    bool // it may serve what is not observed here
	root    int32
}

type warpOf struct{ cta, warp int32 }

// A namedGen is a place for one generation of a named barrier. Four places suffice,
// since at most two generations are under way.
type namedGen struct {
	cta, bar int32
	place    uint64
}

type openGen struct {
	gen uint64
	pc  int32
}

func (s *collector) at(ev *machine.Event, role string) *collected {
	x := s.found[ev.PC]
	if x == nil {
		x = &collected{site: rules.Site{Role: role, PC: ev.PC, CTA: ev.CTA, Warp: ev.Warp, Lanes: ev.Mask}, root: ev.PC}
		s.found[ev.PC] = x
	}
	return x
}

func (s *collector) Observe(_ *machine.Machine, ev *machine.Event) {
	who := warpOf{ev.CTA, ev.Warp}
	switch ev.Kind {
	case machine.EvFence:
		s.fence(ev, who)
	case machine.EvGroupWait:
		x := s.at(ev, "waits")
		x.count++
		x.wait = true
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

// fence notes a fence with which package order may order accesses of this launch.
func (s *collector) fence(ev *machine.Event, who warpOf) {
	switch ev.Fence {
	case machine.FenceMemory, machine.FenceProxyAsync, machine.FenceProxyAsyncGenericAcquire, machine.FenceProxyAsyncGenericRelease,
		machine.FenceTensorBefore, machine.FenceTensorAfter, machine.FenceWgmma:
		x := s.at(ev, "fences")
		x.count++
		columns := ev.Fence == machine.FenceTensorBefore || ev.Fence == machine.FenceTensorAfter
		x.kept = x.kept || s.inits[who] && !columns && ev.Fence != machine.FenceWgmma || ev.Fence == machine.FenceMemory && ev.Scope == machine.ScopeSys
	}
}

func (s *collector) arrive(ev *machine.Event) *collected {
	role := "syncs"
	if ev.Mode == machine.BarArrive {
		role = "arrives"
	}
	x := s.at(ev, role)
	x.count++
	x.barrier = true
	// Lanes that arrive and go on may have diverged, which is not observed lane by
	// lane.
	in := s.prog.Inst(ev.PC)
	apart := ev.Mode == machine.BarArrive && (in == nil || !in.Aligned())
	x.kept = x.kept || ev.Mode == machine.BarRed || apart
	return x
}

// meets joins the instructions of one generation.
func (s *collector) meets(ev *machine.Event, x *collected) {
	key := namedGen{ev.CTA, ev.Bar, ev.Gen % 4}
	g, ok := s.gens[key]
	if !ok || g.gen != ev.Gen {
		s.gens[key] = openGen{ev.Gen, ev.PC}
		return
	}
	a, b := s.root(g.pc), s.root(ev.PC)
	s.found[max(a, b)].root = min(a, b)
}

func (s *collector) root(pc int32) int32 {
	for s.found[pc].root != pc {
		pc = s.found[pc].root
	}
	return pc
}

func (s *collector) list() []candidate {
	groups := map[int32]*candidate{}
	kept := map[int32]bool{}
	for pc, x := range s.found {
		root := s.root(pc)
		kept[root] = kept[root] || x.kept || x.warp && s.apart
		c := groups[root]
		if c == nil {
			c = &candidate{pcs: map[int32]bool{}, barrier: x.barrier, wait: x.wait}
			c.Program = s.prog
			groups[root] = c
		}
		c.pcs[pc] = true
		c.Sites = append(c.Sites, x.site)
		c.Count += x.count
	}
	var list []candidate
	for root, c := range groups {
		if !kept[root] {
			slices.SortFunc(c.Sites, func(a, b rules.Site) int { return cmp.Compare(a.PC, b.PC) })
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.Sites[0].PC, b.Sites[0].PC) })
	return list
}
