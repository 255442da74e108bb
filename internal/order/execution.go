package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Executions that are no interleavings (Config.Executions). The machine says which version of a
// word a strong access takes (machine.Version), so that a location has a state for each: what
// the release pattern that its write ends hands to those who read it, and a chain of
// read-modify-writes to those who read a later one. Of two morally strong fence.sc the one that
// is executed first comes first in Fence-SC order (ISA 8.9.4): exploration tries both orders, so
// that nothing has to be inferred from what was read (fencesc.go, unseen.go).

// Versions tells of the words of a machine that keeps versions.
type Versions interface {
	// NextVersion names the next strong write of a lane.
	NextVersion(cta, warp int32, lane int) machine.Version
	// Shuffled reports whether some write of a word came before one that was there.
	Shuffled(machine.Word) bool
}

// An scMade is a fence.sc that was executed, and what precedes it.
type scMade struct {
	n     int // which fence.sc of the run it is
	cta   int32
	scope machine.Scope
	clk   clock
}

// A Chosen is two morally strong fence.sc, by their numbers in the run, whose order nothing but
// that of their steps gives.
type Chosen struct{ Prior, Cur int }

// ChosenFences returns the pairs so far, in the order of the later ones.
func (t *Tracker) ChosenFences() []Chosen { return t.chosen }

// loosely reports whether the strong access at hand is to a word whose versions are not in the
// order of the steps; then observation order is not followed through turns (observe.go), which
// are.
func (t *Tracker) loosely(ev *machine.Event) bool {
	if !t.cfg.Executions {
		return false
	}
	v, ok := t.mem.(Versions)
	return ev.Picks || ok && v.Shuffled(machine.Word{Mem: ev.Mem, Addr: ev.Addr[bits.TrailingZeros32(ev.Mask)&31], Size: ev.Size})
}

// version returns the state of a location's version: the one that a lane's event picks, or else
// the last; nil if it holds nothing.
func (l *locTable) version(loc location, ev *machine.Event, lane int) *locState {
	list := l.m[loc.granule()]
	name, picks := ev.PickAt(lane, loc.addr)
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].loc == loc && (!picks || list[i].name == name) {
			return &list[i]
		}
	}
	return nil
}

// newVersion adds the state of the version that a lane is about to write, which begins as that
// of the one before it.
func (t *Tracker) newVersion(ev *machine.Event, lane int, loc location) *locState {
	tab := t.writeLocs()
	s := locState{loc: loc}
	if old := tab.version(loc, ev, lane); old != nil {
		s = *old
		s.set, s.over = old.set.clone(), nil
		need := t.needed(old.writer, ev.CTA)
		scope := machine.Scope(t.ac.st.scope())
		s.versionOf = versionOf{from: old.name, linked: ev.Access&machine.Update != 0 && old.scope >= need && scope >= need}
		if s.linked && ev.Access&machine.Read == 0 {
			t.sights(old, lane) // a reduction reads, too
		}
	}
	s.made = t.oneLane(lane)
	if t.cfg.AllVersions {
		t.ownBegun(ev, lane, &s, tab)
	}
	if v, ok := t.mem.(Versions); ok {
		s.name = v.NextVersion(ev.CTA, ev.Warp, lane)
		if ev.Whole > 0 {
			s.name += machine.Version(ev.Part / ev.Size)
		}
	}
	g := loc.granule()
	list := tab.m[g]
	for i := range list {
		if list[i].loc == loc {
			s.set.begin(&list[i].set, int32(t.who(ev.CTA, ev.Warp)), 1<<lane)
		}
	}
	at := len(list)
	if ev.Picks && !t.cfg.AllVersions {
		// What was there before all strong writes comes before the location's first state.
		at = slices.IndexFunc(list, func(o locState) bool { return o.loc == loc })
		for i := range list {
			if list[i].loc == loc && list[i].name == ev.Pick {
				at = i + 1
			}
		}
		if at < 0 {
			at = len(list)
		}
	}
	tab.m[g] = slices.Insert(list, at, s)
	if sh := t.shadowIn(loc.mem); sh != nil {
		sh.row(t.id, loc.addr).syncs = true
	}
	return &tab.m[g][at]
}

// begin takes what release operations of a lane at the location began from the state of another
// version: it may be later in coherence order than the lane's release, and the lane's next strong
// write hands it on all the same (ISA 8.8, second release pattern).
func (r *relSet) begin(of *relSet, who int32, lane uint32) {
	for i := range of.list {
		if e := of.list[i]; e.began && e.warp == who && e.lanes == lane {
			e.link = idle
			r.slot(&e).know.join(&of.list[i].know)
		}
	}
}

// inOrder orders a fence.sc of some lanes after all that were executed before it and are morally
// strong with it.
func (t *Tracker) inOrder(c *cta, ev *machine.Event, mask uint32) bool {
	w := &c.warps[ev.Warp]
	w.dirty = true
	upto := w.publish()
	w.split(mask)
	news := false
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&mask == 0 {
			continue
		}
		was := g.know.gen.clone()
		for k := range t.made {
			f := &t.made[k]
			if need := t.needed(f.cta, c.index); f.scope >= need && ev.Scope >= need {
				if !was.covers(&f.clk) {
					t.chosen = append(t.chosen, Chosen{f.n, t.fencesSC})
				}
				news = g.know.join(&know{gen: f.clk}) || news
			}
		}
		w.learned(g)
	}
	for i := range w.groups {
		g := &w.groups[i]
		if in := g.mask & mask; in != 0 {
			f := scMade{n: t.fencesSC, cta: c.index, scope: ev.Scope}
			f.clk.join(&g.know.gen)
			if upto != 0 {
				c.markKnown(&f.clk, ev.Warp, in, upto)
			}
			t.made = append(t.made, f)
		}
	}
	t.fencesSC++
	return news
}

// ownBegun takes, for the version that a lane is about to write, what its release operations of
// the location began from its own last version (ISA 8.8, second release pattern): the one that
// it reads may be older than that, or another lane's weak one, which has no state.
func (t *Tracker) ownBegun(ev *machine.Event, lane int, s *locState, tab *locTable) {
	who := int32(t.who(ev.CTA, ev.Warp))
	own := func(e *contrib) bool { return e.began && e.warp == who && e.lanes == 1<<lane }
	list := tab.m[s.loc.granule()]
	for i := len(list) - 1; i >= 0; i-- {
		o := &list[i]
		cta, warp, l, _ := o.name.By()
		if o.loc != s.loc || o.name == machine.Initial || cta != ev.CTA || warp != ev.Warp || int(l) != lane {
			continue
		}
		s.set.list = slices.DeleteFunc(s.set.list, func(e contrib) bool { return own(&e) })
		last := o.set.clone()
		for k := range last.list {
			if own(&last.list[k]) {
				s.set.list = append(s.set.list, last.list[k])
			}
		}
		return
	}
}
