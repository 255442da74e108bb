package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Launches that run side by side. What a launch did is known, in all proxies, to those who
// know that it has completed: the launches that begin after it, and threads behind a
// griddepcontrol.wait that waits for it (ISA 9.7.13.13: its memory operations are performed
// and made visible to the dependent grid). That a launch has completed is one slot of a clock,
// as if of a CTA of its own.
//
// griddepcontrol.launch_dependents is a relaxed operation: what a fence before it released is
// known to the launches that it lets begin. A launch begins when each CTA has executed it once,
// by any of its threads.

// completion returns the part of a clock that knows whether a launch has completed.
func (t *Tracker) completion(launch int) int32 { return int32(t.cfg.CTAs + launch) }

// launchOver reports whether an access knows that the launch of an earlier one has completed.
func (t *Tracker) launchOver(ac *access, p *stamp) bool {
	if len(t.cfg.Grids) == 0 {
		return false
	}
	owner, _ := t.split(p.who)
	if p.isOp() {
		owner = t.ops.ref(p.op()).CTA
	}
	of := t.cfg.GridOf(owner)
	return of != t.cfg.GridOf(ac.home.index) && ac.group.know.gen.at(t.completion(of), 0) != 0
}

// A trigger is what a CTA's griddepcontrol.launch_dependents hands on. The first one counts,
// by whichever thread: of several that nothing orders, what each of them hands on.
type trigger struct {
	by       []triggering
	released know // by fences of the GPU or wider
	relaxed  know // for diagnosis: all that preceded
}

// A triggering is a trigger of lanes of a warp, at a time of the warp.
type triggering struct {
	warp  int32
	lanes uint32
	time  uint32
}

func (g *trigger) clone() *trigger {
	return &trigger{append([]triggering(nil), g.by...), g.released.clone(), g.relaxed.clone()}
}

func (t *Tracker) onStart(ev *machine.Event) {
	c := t.at(ev.CTA)
	if len(t.cfg.Grids) == 0 {
		return
	}
	shape := &t.cfg.Grids[t.cfg.GridOf(ev.CTA)]
	begin := t.beginning(t.cfg.GridOf(ev.CTA))
	t.begins[ev.CTA] = begin
	for i := range c.warps {
		w := &c.warps[i]
		if w.live == 0 {
			continue
		}
		t.completed(w, w.live, shape.Before)
		g := &w.groups[0]
		g.know.join(&begin.released)
		g.know.joinStrong(&begin.relaxed)
		w.learned(g)
	}
}

// A beginning is what lets the CTAs of a launch begin, as of a number of triggers and exits.
type beginning struct {
	of  *trigger // it does not change
	now int
}

// beginning returns what lets a CTA of a launch begin now.
func (t *Tracker) beginning(launch int) *trigger {
	if b := t.begun[launch]; b.of != nil && b.now == t.lets {
		return b.of
	}
	begin := &trigger{}
	for _, before := range t.cfg.Grids[launch].Triggers {
		of := &t.cfg.Grids[before]
		for k := range int32(of.CTAs) {
			first := t.triggers[int32(of.First)+k]
			if first == nil {
				first = t.exits[int32(of.First)+k]
			}
			if first != nil {
				begin.released.join(&first.released)
				begin.relaxed.join(&first.relaxed)
			}
		}
	}
	begin.released.freeze()
	begin.relaxed.freeze()
	t.begun[launch] = beginning{begin, t.lets}
	return begin
}

// letsBegin reports whether a launch lets others begin.
func (t *Tracker) letsBegin(launch int) bool {
	return slices.ContainsFunc(t.cfg.Grids, func(g machine.GridShape) bool { return slices.Contains(g.Triggers, launch) })
}

// completed tells lanes of a warp that launches have completed.
func (t *Tracker) completed(w *warp, mask uint32, launches []int) {
	if len(launches) == 0 {
		return
	}
	w.split(mask)
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&mask == 0 {
			continue
		}
		for _, l := range launches {
			g.know.gen.raise(t.completion(l), 0, 1)
			for k := range g.know.rows {
				if g.know.rows[k].view.kind.overGeneric() {
					g.know.rows[k].clk.raise(t.completion(l), 0, 1)
				}
			}
		}
		w.learned(g)
	}
	w.merge()
}

func (t *Tracker) onGridWait(ev *machine.Event) {
	c := t.at(ev.CTA)
	t.completed(&c.warps[ev.Warp], lanesOf(ev), t.cfg.Grids[t.cfg.GridOf(ev.CTA)].Awaited)
}

func (t *Tracker) onTrigger(ev *machine.Event) {
	home := t.at(ev.CTA)
	w := &home.warps[ev.Warp]
	w.mark(ev.Mask)
	if !t.letsBegin(t.cfg.GridOf(ev.CTA)) {
		return
	}
	t.lets++
	first := t.triggers[ev.CTA]
	if first != nil {
		first = first.clone()
	}
	for m := lanesOf(ev); m != 0; m &= m - 1 {
		lane := m & -m
		if first != nil && t.afterTrigger(home, ev.Warp, lane, first) {
			continue
		}
		now := t.handsOn(home, ev, lane)
		by := triggering{ev.Warp, lane, w.time - 1}
		if first == nil {
			first = now
		} else {
			t.meet(&first.released, &now.released)
			first.relaxed.join(&now.relaxed)
		}
		first.by = append(first.by, by)
	}
	t.triggers[ev.CTA] = first
}

// handsOn is what lanes of one group hand on, all together, to the launches that they let
// begin.
func (t *Tracker) handsOn(home *cta, ev *machine.Event, lane uint32) *trigger {
	var set relSet
	c := contrib{cta: home.index, scope: machine.ScopeGPU, pc: ev.PC, relaxed: true}
	t.contribute(&set, &c, home, ev.Warp, lane)
	t.handOn(&set, &c, home, ev.Warp, lane, machine.NoScope)
	now := &trigger{}
	for i := range set.list {
		switch e := &set.list[i]; {
		case e.relaxed:
			now.relaxed.join(&e.know)
		case e.scope >= machine.ScopeGPU && !e.async:
			now.released.join(&e.know)
		}
	}
	// What let the launch begin precedes, for everybody, what begins after it.
	if begin := t.begins[ev.CTA]; begin != nil {
		now.released.join(&begin.released)
	}
	t.completions(&now.released.gen, &home.warps[ev.Warp].group(bits.TrailingZeros32(lane)).know.gen)
	return now
}

// exitLaunch adds what exiting lanes hand on. A CTA that ends without launch_dependents has
// let the launches that depend on it begin with its last thread.
func (t *Tracker) exitLaunch(home *cta, ev *machine.Event) {
	if t.triggers[ev.CTA] != nil || !t.letsBegin(t.cfg.GridOf(ev.CTA)) {
		return // what lets them begin is known
	}
	t.lets++
	all := &trigger{}
	if before := t.exits[ev.CTA]; before != nil {
		all = before.clone()
	}
	w := &home.warps[ev.Warp]
	w.mark(lanesOf(ev))
	for i := range w.groups {
		in := w.groups[i].mask & lanesOf(ev)
		if in == 0 {
			continue
		}
		now := t.handsOn(home, ev, in)
		all.released.join(&now.released)
		all.relaxed.join(&now.relaxed)
	}
	t.exits[ev.CTA] = all
}

// completions adds the launches that a thread knows to have completed. That is so for
// everybody: a launch which has waited, and then lets another begin, need not release it.
func (t *Tracker) completions(to, from *clock) { to.joinFrom(from, t.completion(0)) }

// afterTrigger reports whether a lane is ordered behind all triggers that count so far, so that
// its own is never the first.
func (t *Tracker) afterTrigger(home *cta, w int32, lane uint32, first *trigger) bool {
	g := home.warps[w].group(bits.TrailingZeros32(lane))
	for _, by := range first.by {
		if by.warp == w && by.lanes == lane {
			continue
		}
		if by.lanes&^t.knownLanes(&g.know.gen, home.index, by.warp, by.time) != 0 {
			return false
		}
	}
	return true
}

// meet leaves in k what src knows, too.
func (t *Tracker) meet(k, src *know) {
	t.meetClocks(&k.gen, &src.gen)
	rows := k.rows[:0]
	for i := range k.rows {
		if c := src.row(k.rows[i].view); c != nil {
			t.meetClocks(&k.rows[i].clk, c)
			rows = append(rows, k.rows[i])
		}
	}
	k.rows = rows
}

// spread makes the slots of lanes say what the slots of their warps say.
func (t *Tracker) spread(c *clock) {
	for i := range c.parts {
		p := &c.parts[i]
		if int(p.cta) >= len(t.ctas) || t.ctas[p.cta] == nil {
			continue
		}
		for w, base := range t.ctas[p.cta].lanes {
			if base == 0 || 1+w >= len(p.v) || p.v[1+w] == 0 {
				continue
			}
			p.v = grown(p.v, base+32)
			for l := range 32 {
				p.v[base+l] = max(p.v[base+l], p.v[1+w])
			}
		}
	}
}

func (t *Tracker) meetClocks(c, src *clock) {
	if c.below != src.below {
		c.flatten()
		src.flatten()
	}
	for i := range src.parts {
		if cta := src.parts[i].cta; c.vec(cta) != nil {
			c.ensure(cta, 0)
		}
	}
	t.spread(c)
	t.spread(src)
	for i := range c.parts {
		p := &c.parts[i]
		for slot := range p.v {
			p.v[slot] = min(p.v[slot], src.at(p.cta, slot))
		}
	}
}
