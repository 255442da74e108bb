package story

import (
	"cmp"
	"slices"

	"muster/internal/machine"
)

// This file selects the steps to tell.

// maxMiddle bounds the steps told about barriers, and maxAsleep the splits told
// that wait at the end.
const (
	maxMiddle = 16
	maxAsleep = 6
)

// A told is a step to tell, and which site of the finding it is; -1 for none.
type told struct {
	step int
	site int
	// asleep: the step is that site only if it puts the split to sleep there.
	asleep bool
}

// Told returns the steps of a run of n to tell, in order.
func (s *Scout) Told(n int) []told {
	var list []told
	add := func(step, site int) {
		if step >= 1 && step <= n {
			list = append(list, told{step: step, site: site})
		}
	}
	if s.finding == nil {
		s.latest(add)
		return inOrder(list)
	}
	if a, b, ok := s.pair(); ok {
		s.between(a, b, add)
		return inOrder(list)
	}
	s.throughout(add)
	if s.shown == 0 {
		s.latest(add)
	}
	list = inOrder(list)
	for i := range list {
		for _, t := range s.asleep {
			if list[i].site < 0 && t.step == list[i].step {
				list[i] = t
			}
		}
	}
	return list
}

// latest tells the last steps.
func (s *Scout) latest(add func(step, site int)) {
	add(s.last[0], -1)
	add(s.last[1], -1)
}

// inOrder sorts steps, each once: as a place of the finding if it is one.
func inOrder(list []told) []told {
	slices.SortFunc(list, func(a, b told) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(b.site, a.site)) })
	return slices.CompactFunc(list, func(a, b told) bool { return a.step == b.step })
}

// pair returns the two accesses of a race: the step that shows it, and the last
// one before it that is the finding's other place. An operation's is its issue.
func (s *Scout) pair() (a, b told, ok bool) {
	if s.shown == 0 || len(s.finding.Sites) != 2 || s.finding.Sites[0].Len == 0 || s.finding.Sites[1].Len == 0 {
		return a, b, false
	}
	at := slices.IndexFunc(s.marks, func(k mark) bool { return k.what == siteHit && k.step == s.shown })
	if at < 0 {
		return a, b, false
	}
	b = told{step: s.shown, site: int(s.marks[at].site)}
	a.site = 1 - b.site
	for _, k := range s.marks {
		if k.what == siteHit && int(k.site) == a.site && k.step < b.step {
			a.step = k.step
		}
	}
	return a, b, a.step > 0
}

// between tells two accesses, and the operations between them on barriers that
// could order them, by their warps and others.
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
		case k.what == behind:
			add(k.step, -1)
		case s.allocates(&k) && k.step < b.step:
			inits = append(inits, k.step)
		case k.what == barOp && k.init && used[k.bar] && k.step < a.step:
			inits = append(inits, k.step)
		case k.step <= a.step || k.step >= b.step:
		case k.what == barOp && used[k.bar] && (k.own || !k.wait), k.own && (k.what == syncOp || k.what == touch):
			middle = append(middle, k.step)
		}
	}
	addEnds(inits, 2, 2, add)
	add(a.step, a.site)
	addEnds(middle, 4, maxMiddle-4, add)
	add(b.step, b.site)
}

// throughout tells the operations on the finding's barriers and bytes. If the
// finding names no barrier and the run hangs, it takes the barriers that splits
// wait for; if it is about none, the synchronization of its warps.
func (s *Scout) throughout(add func(step, site int)) {
	marks := s.marks
	if s.shown > 0 {
		n := len(marks)
		for n > 0 && marks[n-1].step > s.shown {
			n--
		}
		marks = marks[:n]
	}
	about := s.about(marks)
	var inits, rest, own []int
	sites := map[int8][]int{}
	looked := map[int8]bool{} // the last event at a site was an unsuccessful wait
	for _, k := range marks {
		switch {
		case k.what == siteHit && k.idle && looked[k.site], k.what != siteHit && k.idle:
		case k.what == behind:
			add(k.step, -1)
		case k.what == siteHit:
			looked[k.site] = k.idle
			sites[k.site] = append(sites[k.site], k.step)
		case k.what == barOp && about[k.bar] && k.init:
			inits = append(inits, k.step)
		case k.what == barOp && about[k.bar], k.what == touch, s.allocates(&k):
			rest = append(rest, k.step)
		case k.own && (k.what == syncOp || k.what == barOp):
			own = append(own, k.step)
		}
	}
	addEnds(inits, 1, 1, add)
	addEnds(rest, 4, maxMiddle-4, add)
	if len(about) == 0 {
		addEnds(own, 4, 8, add)
	}
	for site, steps := range sites {
		addEnds(steps, 1, 1, func(step, _ int) { add(step, int(site)) })
	}
	for i, t := range s.asleep {
		if i < maxAsleep {
			add(t.step, -1)
		}
	}
	add(s.shown, -1)
}

// about returns the barriers that the finding is about.
func (s *Scout) about(marks []mark) map[barrier]bool {
	about := map[barrier]bool{}
	hit := map[int]bool{}
	for _, k := range marks {
		if k.what == siteHit {
			hit[k.step] = true
		}
	}
	for _, k := range marks {
		if k.what != barOp || !hit[k.step] {
			continue
		}
		for i := range s.finding.Sites {
			if t := &s.finding.Sites[i]; k.bar.named || t.Len == 0 || t.Mem == k.bar.mem && t.Addr == k.bar.addr {
				about[k.bar] = true
			}
		}
	}
	if len(about) == 0 {
		for _, b := range s.waits {
			about[b] = true
		}
	}
	return about
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
		list[i] = told{step: i + 1, site: -1}
	}
	return list
}

// A Print is a fingerprint of a run: a hash of its choices, events, and end.
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
