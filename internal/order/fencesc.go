package order

import (
	"slices"

	"muster/internal/machine"
)

// scFence orders two fence.sc where reads-from forces their order, so in every run
// with the same reads-from: the first precedes, in causality order, a strong write
// that another thread reads before the second. Were the second first in the Fence-SC
// order, that read would precede the write that it reads (ISA 8.9.2, 8.10). This
// makes "write, __threadfence(), barrier, one thread counts" right, whose counting
// thread has no fence after the barrier. An order that no read observes is not used:
// Fence-SC is total, so it would hide the race of any kernel that fences on both
// sides and never looks.
func (t *Tracker) scFence(c *cta, ev *machine.Event, mask uint32) bool {
	if t.cfg.Executions {
		return !t.cfg.WeakFences && t.inOrder(c, ev, mask)
	}
	w := &c.warps[ev.Warp]
	if !t.cfg.MustOnly {
		t.fenced = true
		w.dirty = true // so that knowledge of the access just before does not include the fence
	}
	upto := w.publish()
	w.split(mask)
	w.splitLessons(mask)
	made := t.class(c.index, ev.Scope)
	news := false
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&mask == 0 {
			continue
		}
		w.tell(&g.know, g.mask)
		news = t.fenceAfter(&g.know, c.index, ev.Scope) || news
		g.know.make(made.of(scPassed)).join(&g.know.gen)
		w.learned(g)
		if !t.cfg.MustOnly {
			n := w.newNote()
			n.lanes, n.upto, n.class, n.cta = g.mask&mask, upto, made, c.index
			n.clk.join(&g.know.gen)
			n.without.reset()
			n.without.join(&g.know.gen)
			if upto != 0 {
				c.markKnown(&n.clk, ev.Warp, n.lanes, upto)
			}
		}
	}
	w.cross(made.of(scPassed)).pass(mask, upto)
	return news
}

// class returns the widest set of fence.sc that are all morally strong with one of
// that CTA and scope, as a view of no kind: those of GPU scope or wider; those of a
// cluster, of its scope or wider; those of a CTA.
func (t *Tracker) class(cta int32, s machine.Scope) view {
	switch {
	case s >= machine.ScopeGPU:
		return view{mem: machine.Global}
	case s == machine.ScopeCluster && t.cfg.Cluster > 1:
		return view{mem: machine.SharedOf(t.cfg.ClusterOf(cta)), addr: ofCluster}
	}
	return view{mem: machine.SharedOf(cta)}
}

// ofCluster marks a view whose mem names a cluster.
const ofCluster = 1

// of returns the view of a kind for a class of fence.sc.
func (v view) of(kind viewKind) view {
	v.kind = kind
	return v
}

// fenceAfter joins into k what precedes the fence.sc that this one must follow, and
// reports whether that was new.
func (t *Tracker) fenceAfter(k *know, cta int32, s machine.Scope) bool {
	news := false
	for i := 0; i < len(k.rows); i++ {
		v := k.rows[i].view
		if v.kind != scSeen && v.kind != scUnseen {
			continue
		}
		take := func(clk *clock) {
			if v.kind == scSeen {
				news = k.join(&know{gen: *clk}) || news
			} else {
				news = k.make(view{kind: unseen}).join(clk) || news
			}
		}
		switch {
		case t.meets(v, cta, s):
			take(&k.rows[i].clk)
		case v.mem == machine.Global || v.addr == ofCluster && v.mem == machine.SharedOf(t.cfg.ClusterOf(cta)):
			t.narrower(&k.rows[i].clk, cta, s, take)
		}
	}
	return news
}

// meets reports whether a fence.sc of a CTA is morally strong with every one of a
// class.
func (t *Tracker) meets(v view, cta int32, s machine.Scope) bool {
	switch {
	case v.mem == machine.Global:
		return s >= machine.ScopeGPU
	case v.addr == ofCluster:
		return s >= machine.ScopeCluster && v.mem == machine.SharedOf(t.cfg.ClusterOf(cta))
	}
	return v.mem == machine.SharedOf(cta)
}

// narrower calls take for each fence.sc of a wider class that is morally strong with
// one of a narrower scope.
func (t *Tracker) narrower(wide *clock, cta int32, s machine.Scope, take func(clk *clock)) {
	for i, c := range t.ctas {
		if c == nil || c.ended || int32(i) != cta && (s != machine.ScopeCluster || t.cfg.ClusterOf(int32(i)) != t.cfg.ClusterOf(cta)) {
			continue
		}
		for j := range c.warps {
			if c.warps[j].sc == nil {
				continue
			}
			for l := range c.warps[j].sc.notes {
				if n := &c.warps[j].sc.notes[l]; n.cta == c.index && wide.covers(&n.clk) {
					take(&n.clk)
				}
			}
		}
	}
}

// An scNote is a fence.sc that precedes what some lanes do after time upto: its
// class, what precedes it (clk), and its CTA if the lanes issued it, else nobody.
type scNote struct {
	lanes uint32
	upto  uint32
	class view
	cta   int32
	clk   clock
	// without is clk without the lanes' own accesses before their fence.
	without clock
}

// maxFences bounds the fence.sc kept for a warp. A forgotten one orders nothing over
// a race, or over an unseen write.
const maxFences = 8

// An scState is a warp's state for fence.sc: those that precede what its lanes do,
// the latest last, and what its lanes learned of others (unseen.go).
type scState struct {
	notes   []scNote
	lessons []lesson
}

func (s *scState) clone() *scState {
	if s == nil {
		return nil
	}
	d := &scState{slices.Clone(s.notes), slices.Clone(s.lessons)}
	for i := range d.notes {
		d.notes[i].clk, d.notes[i].without = d.notes[i].clk.clone(), d.notes[i].without.clone()
	}
	for i := range d.lessons {
		d.lessons[i].clk = d.lessons[i].clk.clone()
	}
	return d
}

func (w *warp) fences() *scState {
	if w.sc == nil {
		w.sc = new(scState)
	}
	return w.sc
}

// newNote returns an empty note, in place of the oldest if there are many.
func (w *warp) newNote() *scNote {
	var n scNote
	s := w.fences()
	if len(s.notes) == maxFences {
		n = s.notes[0]
		s.notes = append(s.notes[:0], s.notes[1:]...)
	}
	n.clk.reset()
	s.notes = append(s.notes, n)
	return &s.notes[len(s.notes)-1]
}

// noteFences notes the fence.sc that a group's knowledge includes.
func (t *Tracker) noteFences(w *warp, g *group) {
	for i := range g.know.rows {
		r := &g.know.rows[i]
		if r.view.kind != scPassed || w.noted(g, r) {
			continue
		}
		n := w.newNote()
		n.lanes, n.upto, n.class, n.cta = g.mask, w.publish(), r.view.of(0), nobody
		n.clk.join(&r.clk)
	}
}

func (w *warp) noted(g *group, r *viewRow) bool {
	if w.sc == nil {
		return false
	}
	for i := range w.sc.notes {
		if n := &w.sc.notes[i]; n.class == r.view.of(0) && g.mask&^n.lanes == 0 && n.clk.covers(&r.clk) {
			return true
		}
	}
	return false
}

// fencesBefore makes an access learn, in a view of that kind, the fence.sc that
// precede an earlier access at bytes [a, b).
func (t *Tracker) fencesBefore(ac *access, p *stamp, a, b int, kind viewKind) {
	owner, wi := t.split(p.who)
	c := t.ctas[owner]
	if c == nil || c.ended || c.warps[wi].sc == nil {
		return
	}
	lanes := uint32(0)
	for x := a; x < b; x++ {
		lanes |= p.lanesAt(x)
	}
	notes := c.warps[wi].sc.notes
	for i := range notes {
		n := &notes[i]
		if n.upto >= p.time || lanes&^n.lanes != 0 {
			continue
		}
		clk := &n.clk
		if n.cta == c.index && lanes != n.lanes {
			own := n.without.clone()
			if n.upto != 0 {
				c.markKnown(&own, int32(wi), lanes, n.upto)
			}
			clk = &own
		}
		t.learn(ac, ac.lanesIn(a, b), n.class.of(kind), clk)
	}
}

// sawRacing makes a read that races with the write it reads see the writer's earlier
// fence.sc: by the axiom of causality (ISA 8.10.6) no read precedes the write that it
// reads, whatever the strength of the two. A chain of read-modify-writes carries this
// on only over morally strong links.
func (t *Tracker) sawRacing(s *seg, ac *access, p *stamp, a, b int) {
	if t.cfg.MustOnly || p.isOp() || ac.st.isOp() {
		return
	}
	t.hear(s, ac, p, a)
	t.fencesBefore(ac, p, a, b, scSeen)
}
