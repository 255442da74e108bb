package order

import (
	"math/bits"

	"muster/internal/machine"
)

// A generation is one use of a named barrier: what its arrivals released, and
// how many lanes have yet to pass it. Generations overlap where warps that
// passed arrive again while others have not been scheduled.
type generation struct {
	bar     int32
	gen     uint64
	waiting int
	know    know
}

func (c *cta) generation(bar int32, gen uint64) *generation {
	for i := range c.named {
		if g := &c.named[i]; g.bar == bar && g.gen == gen {
			return g
		}
	}
	return nil
}

func (c *cta) newGeneration(bar int32, gen uint64) *generation {
	n := len(c.named)
	if n < cap(c.named) {
		c.named = c.named[:n+1]
	} else {
		c.named = append(c.named, generation{})
	}
	g := &c.named[n]
	g.bar, g.gen, g.waiting = bar, gen, 0
	g.know.reset()
	return g
}

// dropGeneration removes generation i and keeps its storage.
func (c *cta) dropGeneration(i int) {
	n := len(c.named) - 1
	c.named[i], c.named[n] = c.named[n], c.named[i]
	c.named = c.named[:n]
}

func (t *Tracker) onBarArrive(ev *machine.Event) {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	mask := ev.Mask
	if mask == 0 {
		mask = w.live
	}
	g := c.generation(ev.Bar, ev.Gen)
	if g == nil {
		g = c.newGeneration(ev.Bar, ev.Gen)
	}
	if ev.Mode != machine.BarArrive {
		g.waiting += bits.OnesCount32(mask)
	}
	upto := w.publish()
	for i := range w.groups {
		if w.groups[i].mask&mask != 0 {
			g.know.join(&w.groups[i].know)
		}
	}
	c.markKnow(&g.know, ev.Warp, mask, upto)
}

func (t *Tracker) onBarPass(ev *machine.Event) {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	mask := ev.Mask
	if mask == 0 {
		mask = w.live
	}
	gen := c.generation(ev.Bar, ev.Gen)
	if gen == nil {
		return
	}
	w.split(mask)
	whole := mask&w.live == w.live
	var into *group
	for i := 0; i < len(w.groups); i++ {
		g := &w.groups[i]
		switch {
		case g.mask&mask == 0:
		case into == nil:
			into = g
		default:
			// Each of these groups released into the barrier: all know the same from
			// here on.
			into.mask |= g.mask
			into.know.unite(&g.know)
			w.drop(i)
			i--
		}
	}
	if into != nil {
		into.know.join(&gen.know)
		w.learned(into)
		if t.fenced {
			t.noteFences(w, into)
		}
	}
	if whole && !w.dirty {
		w.touched = 0
	}
	gen.waiting -= bits.OnesCount32(mask)
	c.tidy(ev.Bar, ev.Gen)
}

// tidy drops generations before gen that no lane has still to pass. The one just
// passed stays until a later one is passed: lanes of one warp may arrive by different
// forms, and each form has an arrive event of its own.
func (c *cta) tidy(bar int32, gen uint64) {
	for i := 0; i < len(c.named); i++ {
		if g := &c.named[i]; g.bar == bar && g.gen < gen && g.waiting <= 0 {
			c.dropGeneration(i)
			i--
		}
	}
}

func (t *Tracker) onWarpSync(ev *machine.Event) {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	if len(w.groups) == 1 && !w.dirty && w.touched == 0 {
		return
	}
	if g := c.unite(ev.Warp, ev.Mask); g != nil && t.fenced {
		t.noteFences(w, g)
	}
}

// A clusterState is the barrier of one cluster: the generation filling up and
// the one before, which late waiters still take from.
type clusterState struct {
	gens [2]struct {
		gen  uint64
		used bool
		set  relSet
	}
}

func (s *clusterState) clone() clusterState {
	d := *s
	for i := range d.gens {
		d.gens[i].set = s.gens[i].set.clone()
	}
	return d
}

func (s *clusterState) at(gen uint64) *relSet {
	g := &s.gens[gen%2]
	if !g.used || g.gen != gen {
		g.gen, g.used = gen, true
		g.set.reset()
	}
	return &g.set
}

func (t *Tracker) onClusterArrive(ev *machine.Event) {
	home := t.at(ev.CTA)
	mask := ev.Mask
	if mask == 0 {
		mask = home.warps[ev.Warp].live
	}
	c := contrib{cta: home.index, scope: machine.ScopeCluster, pc: ev.PC, relaxed: ev.Sem == machine.Relaxed}
	set := t.cluster[t.cfg.ClusterOf(ev.CTA)].at(ev.Gen)
	t.contribute(set, &c, home, ev.Warp, mask)
	t.handOn(set, &c, home, ev.Warp, mask, c.beyond())
}

func (t *Tracker) onClusterWait(ev *machine.Event) {
	home := t.at(ev.CTA)
	w := &home.warps[ev.Warp]
	mask := ev.Mask
	if mask == 0 {
		mask = w.live
	}
	a := acquirer{home: home, warp: ev.Warp, mask: mask, pc: ev.PC, scope: machine.ScopeCluster}
	set := t.cluster[t.cfg.ClusterOf(ev.CTA)].at(ev.Gen)
	for i := range set.list {
		if ev.Sem == machine.Relaxed {
			t.see(&set.list[i], &a, location{})
		} else {
			t.acquire(&set.list[i], &a)
		}
	}
	w.merge()
}
