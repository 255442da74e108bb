package order

import "muster/internal/machine"

// Launches that run side by side. What a launch did is known, in all proxies, to those who
// know that it has completed: the launches that begin after it, and threads behind a
// griddepcontrol.wait that waits for it (ISA 9.7.13.13: its memory operations are performed
// and made visible to the dependent grid). That a launch has completed is one slot of a clock,
// as if of a CTA of its own.
//
// griddepcontrol.launch_dependents is a relaxed operation: what a fence before it released is
// known to the launches that it lets begin.

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

func (t *Tracker) onStart(ev *machine.Event) {
	c := t.at(ev.CTA)
	if len(t.cfg.Grids) == 0 {
		return
	}
	shape := &t.cfg.Grids[t.cfg.GridOf(ev.CTA)]
	for i := range c.warps {
		w := &c.warps[i]
		if w.live == 0 {
			continue
		}
		t.completed(w, w.live, shape.Before)
		for _, before := range shape.Triggers {
			a := acquirer{home: c, warp: int32(i), mask: w.live, pc: ev.PC, scope: machine.ScopeGPU}
			for k := range t.triggers[before].list {
				t.acquire(&t.triggers[before].list[k], &a)
			}
		}
	}
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
	set := &t.triggers[t.cfg.GridOf(ev.CTA)]
	c := contrib{cta: home.index, scope: machine.ScopeGPU, pc: ev.PC, relaxed: true}
	t.contribute(set, &c, home, ev.Warp, ev.Mask)
	t.handOn(set, &c, home, ev.Warp, ev.Mask, machine.NoScope)
}
