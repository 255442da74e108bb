package story

import (
	"cmp"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
)

// This file chooses which steps are told.

// mostTold is how many steps a short story tells: two screens.
const mostTold = 28

// A told is a step to tell, and which site of the finding it is; -1 for none.
type told struct {
	step int
	site int
}

// Told returns the steps of a run of n to tell, in order.
func (s *Scout) Told(n int) []told {
	var list []told
	want := map[int]bool{}
	add := func(step, site int) {
		if step >= 1 && step <= n && (!want[step] || site >= 0) {
			want[step] = true
			list = append(list, told{step, site})
		}
	}
	if s.finding != nil {
		if a, b, ok := s.pair(); ok {
			s.between(a, b, add)
		} else {
			s.throughout(add)
		}
	}
	add(s.last[0], -1)
	add(s.last[1], -1)
	slices.SortFunc(list, func(a, b told) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(b.site, a.site)) })
	return slices.CompactFunc(list, func(a, b told) bool { return a.step == b.step })
}

// pair finds the two accesses of a race: the first step that is the finding's
// second place and comes after one that is its first, and the last such.
func (s *Scout) pair() (a, b told, ok bool) {
	var places []int
	for i := range s.finding.Sites {
		if t := &s.finding.Sites[i]; t.Len > 0 && t.PC >= 0 {
			places = append(places, i)
		}
	}
	if len(places) != 2 || !sameBytes(s, places) {
		return a, b, false
	}
	for _, k := range s.marks {
		if k.what != siteHit {
			continue
		}
		switch int(k.site) {
		case places[0]:
			if a.step > 0 && s.finding.Sites[places[0]].PC == s.finding.Sites[places[1]].PC && s.sameWarp(places) {
				return a, told{k.step, places[1]}, true // one instruction with itself
			}
			a = told{k.step, places[0]}
		case places[1]:
			if a.step > 0 {
				return a, told{k.step, places[1]}, true
			}
			b = told{k.step, places[1]}
		}
	}
	if a.step > 0 && b.step > 0 { // the other way round in this run
		return b, a, true
	}
	return a, b, false
}

func (s *Scout) sameWarp(places []int) bool {
	a, b := &s.finding.Sites[places[0]], &s.finding.Sites[places[1]]
	return a.CTA == b.CTA && a.Warp == b.Warp
}

// sameBytes reports whether two places meet: those of a race do, an arrive and
// the copy that it should have waited for do not.
func sameBytes(s *Scout, places []int) bool {
	a, b := &s.finding.Sites[places[0]], &s.finding.Sites[places[1]]
	return a.Mem == b.Mem && a.Addr < b.Addr+b.Len && b.Addr < a.Addr+a.Len
}

// between tells two accesses, and what their warps and others did to the
// barriers between them that could order them.
func (s *Scout) between(a, b told, add func(step, site int)) {
	used := map[barrier]bool{}
	for _, k := range s.marks {
		if k.what == barOp && k.own && k.step >= a.step && k.step <= b.step {
			used[k.bar] = true
		}
	}
	var inits, middle []int
	for _, k := range s.marks {
		switch {
		case k.what == barOp && k.init && used[k.bar] && k.step < a.step:
			inits = append(inits, k.step)
		case k.step <= a.step || k.step >= b.step:
		case k.what == barOp && used[k.bar], k.what == syncOp, k.what == touch, k.what == siteHit:
			middle = append(middle, k.step)
		}
	}
	addEnds(inits, 2, 2, add)
	add(a.step, a.site)
	addEnds(middle, 8, mostTold-14, add)
	add(b.step, b.site)
}

// throughout tells what happened to the finding's barriers and bytes. Where it
// names no barrier and the run hangs, they are those that are waited for.
func (s *Scout) throughout(add func(step, site int)) {
	about := map[barrier]bool{}
	hit := map[int]bool{}
	for _, k := range s.marks {
		if k.what == siteHit {
			hit[k.step] = true
		}
	}
	for i := range s.finding.Sites {
		t := &s.finding.Sites[i]
		if t.Mem >= 0 && t.Len == 8 {
			about[barrier{mem: t.Mem, addr: t.Addr, is: true}] = true
		}
		if t.Mem >= 0 && t.Len > 0 && int32(t.Mem) != t.CTA {
			s.remote(t, add)
		}
	}
	for _, k := range s.marks {
		if k.what == barOp && hit[k.step] && (k.bar.named || len(about) == 0) {
			about[k.bar] = true
		}
	}
	if len(about) == 0 {
		for _, b := range s.waits {
			about[b] = true
		}
	}
	var inits, rest []int
	sites := map[int8][]int{}
	for _, k := range s.marks {
		switch {
		case k.what == siteHit:
			sites[k.site] = append(sites[k.site], k.step)
		case k.what == barOp && about[k.bar] && k.init:
			inits = append(inits, k.step)
		case k.what == barOp && about[k.bar], k.what == touch:
			rest = append(rest, k.step)
		}
	}
	addEnds(inits, 1, 1, add)
	addEnds(rest, 5, mostTold-16, add)
	for site, steps := range sites {
		addEnds(steps, 1, 1, func(step, _ int) { add(step, int(site)) })
	}
}

// remote tells when the CTA whose memory a place uses from afar ended, and what
// the warp did before its access so that it would not.
func (s *Scout) remote(t *rules.Site, add func(step, site int)) {
	var syncs []int
	for _, k := range s.marks {
		switch {
		case k.what == leaves && k.cta == int32(t.Mem):
			add(k.step, -1)
		case k.what == syncOp && k.own:
			syncs = append(syncs, k.step)
		}
	}
	addEnds(syncs, 0, 6, add)
}

// addEnds adds the first and the last of some steps, which ascend.
func addEnds(steps []int, first, last int, add func(step, site int)) {
	steps = slices.Compact(steps)
	for i, n := range steps {
		if i < first || i >= len(steps)-last {
			add(n, -1)
		}
	}
}

// All tells every step of a run of n.
func All(n int) []told {
	list := make([]told, n)
	for i := range list {
		list[i] = told{i + 1, -1}
	}
	return list
}

// A Print tells runs apart: a hash of their choices, events, and end.
type Print struct {
	hash   uint64
	Events int
}

func (p *Print) mix(v uint64) {
	p.hash ^= v
	p.hash *= 0x9e3779b97f4a7c15
	p.hash ^= p.hash >> 29
}

func (p *Print) choice(c machine.Choice) {
	p.mix(uint64(c.Kind)<<56 | uint64(uint32(c.CTA))<<24 | uint64(uint32(c.Warp))<<8 | uint64(uint8(c.Lane)))
	p.mix(uint64(c.Op))
}

func (p *Print) event(ev *machine.Event) {
	p.Events++
	p.mix(uint64(ev.Kind)<<56 | uint64(uint32(ev.PC)))
	p.mix(uint64(uint32(ev.CTA))<<32 | uint64(uint32(ev.Warp)))
	p.mix(uint64(ev.Mask))
	switch ev.Kind {
	case machine.EvAccess:
		for lane, a := range ev.Addr {
			if ev.Mask>>lane&1 != 0 {
				p.mix(a)
			}
		}
	case machine.EvMbar, machine.EvMbarWait:
		p.mix(ev.Mbar.Bar.Addr)
		p.mix(uint64(ev.Mbar.After))
	}
}

func (p *Print) close(m *machine.Machine) { p.mix(m.Hash()) }

// Same reports whether two runs were one and the same.
func (p *Print) Same(o *Print) bool { return *p == *o }
