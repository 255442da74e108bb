package order

import "muster/internal/machine"

// A contrib is the knowledge that releases of one kind handed on. Other scopes and
// CTAs have contributions of their own, because the acquirer decides which of them
// count.
type contrib struct {
	cta       int32
	scope     machine.Scope // NoScope: too narrow for a link of its chain
	defaulted bool          // the text leaves the scope out
	relaxed   bool          // by a relaxed operation that no fence completes
	async     bool          // by fence.proxy.async::generic.release, for its acquire form
	pc        int32
	warp      int32  // of a location: number of the warp that stored plainly or released
	lanes     uint32 // of pending: that saw it. Of a location: that wrote it.
	began     bool   // of a location: begun by a release operation on it
	link      link   // of a location: its link to the last write
	loc       location
	last      int32  // the warp that contributed last, plus 1,
	version   uint64 // and its group's version then
	know      know
}

// A link says whether a read of a location's last write gets a contribution.
type link uint8

const (
	whole  link = iota
	narrow      // a link of its chain is not morally strong
	idle        // another's store came between
)

// A relSet is what a synchronization object holds: contributions by kind.
type relSet struct {
	list []contrib
}

// slot returns the contribution of c's kind, adding an empty one.
func (r *relSet) slot(c *contrib) *contrib {
	for i := range r.list {
		e := &r.list[i]
		if e.cta == c.cta && e.scope == c.scope && e.defaulted == c.defaulted && e.relaxed == c.relaxed && e.async == c.async && e.warp == c.warp && e.lanes == c.lanes && e.began == c.began && e.link == c.link && e.loc == c.loc && (!c.defaulted && !c.relaxed || e.pc == c.pc) {
			return e
		}
	}
	n := len(r.list)
	if n < cap(r.list) {
		r.list = r.list[:n+1]
	} else {
		r.list = append(r.list, contrib{})
	}
	e := &r.list[n]
	k := e.know
	*e = *c
	e.know = k
	e.know.reset()
	e.last = 0
	return e
}

func (r *relSet) reset() { r.list = r.list[:0] }

// remove drops contribution i and keeps its storage for later.
func (r *relSet) remove(i int) {
	n := len(r.list) - 1
	r.list[i], r.list[n] = r.list[n], r.list[i]
	r.list = r.list[:n]
}

func (r *relSet) clone() relSet {
	d := relSet{list: append([]contrib(nil), r.list...)}
	for i := range d.list {
		d.list[i].know = r.list[i].know.clone()
	}
	return d
}

// contribute joins what the lanes in mask of a warp know and did into the
// contribution of kind c.
func (t *Tracker) contribute(r *relSet, c *contrib, home *cta, w int32, mask uint32) {
	wp := &home.warps[w]
	upto := wp.publish()
	if t.ev != nil && t.ev.Kind == machine.EvAccess && t.ev.Whole > 0 {
		upto = wp.vector
	}
	e := r.slot(c)
	for i := range wp.groups {
		g := &wp.groups[i]
		if g.mask&mask == 0 || e.version == g.version && e.last == 1+w && home.index == e.cta {
			continue
		}
		e.know.join(&g.know)
		e.version, e.last = g.version, 1+w
	}
	home.markKnow(&e.know, w, mask, upto)
}

// A reach says whether a contribution's scope and an acquire's include each other.
type reach uint8

const (
	reached   reach = iota
	byDefault       // reached only because a scope left out is honoured
	tooNarrow       // a written scope excludes the other side
)

// reaches compares the scopes of a contribution and an acquire by a CTA.
func (t *Tracker) reaches(e *contrib, cta int32, scope machine.Scope, defaulted bool) reach {
	need := t.needed(e.cta, cta)
	if e.scope == machine.NoScope && !e.defaulted {
		return tooNarrow
	}
	if need == machine.ScopeCTA || e.scope >= need && scope >= need {
		return reached
	}
	if (e.scope >= need || e.defaulted) && (scope >= need || defaulted) {
		return byDefault
	}
	return tooNarrow
}

// An acquirer is the acquiring side: lanes, instruction and scope.
type acquirer struct {
	home      *cta
	warp      int32
	mask      uint32
	pc        int32
	scope     machine.Scope
	defaulted bool
}

// acquire joins a contribution into what the acquiring lanes know, or only into their
// diagnostic views if the two do not synchronize.
func (t *Tracker) acquire(e *contrib, a *acquirer) {
	if e.async {
		t.see(e, a, location{})
		return
	}
	how := t.reaches(e, a.home.index, a.scope, a.defaulted)
	w := &a.home.warps[a.warp]
	w.split(a.mask)
	heard := false
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&a.mask == 0 {
			continue
		}
		switch {
		case e.relaxed:
			g.know.joinStrong(&e.know)
			heard = g.know.hears(&e.know, how) || heard
			if e.scope != machine.NoScope {
				g.know.glimpse(&e.know)
			}
		case how == tooNarrow:
			g.know.joinWide(&e.know)
			g.know.hears(&e.know, how)
		default:
			g.know.join(&e.know)
		}
		w.learned(g)
		if t.fenced {
			t.noteFences(w, g)
		}
	}
	switch {
	case e.relaxed:
		t.link(true, e, a)
		if heard && how == byDefault {
			t.scopeDefaulted(e, a)
		}
	case how == byDefault:
		t.scopeDefaulted(e, a)
	case how == tooNarrow:
		t.link(false, e, a)
	}
}

// see keeps a contribution that a strong read or a relaxed wait observed for a later
// acquire fence of the same lanes; one for the asynchronous proxy, which any wait
// observes, for an acquire fence of that proxy. By itself it orders nothing. What it
// would order is noted for diagnosis: after a wait for its lanes, after a read for
// their whole groups, because lanes that read one location each (as in
// warp-synchronous exchanges by volatile) are not worth splitting for that.
func (t *Tracker) see(e *contrib, a *acquirer, loc location) {
	w := &a.home.warps[a.warp]
	if loc == (location{}) {
		w.split(a.mask)
	}
	if e.scope != machine.NoScope {
		t.seeFences(e, a)
	}
	how := t.reaches(e, a.home.index, a.scope, a.defaulted)
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&a.mask == 0 {
			continue
		}
		if g.know.hears(&e.know, how) {
			w.learned(g)
			if how == byDefault {
				t.scopeDefaulted(e, a)
			}
		}
		if !g.know.strong().covers(e.know.strong()) {
			g.know.joinStrong(&e.know)
			w.learned(g)
			t.link(true, e, a)
		}
	}
	if e.relaxed {
		return
	}
	seen := contrib{cta: e.cta, scope: e.scope, defaulted: e.defaulted, async: e.async, pc: e.pc, lanes: a.mask, loc: loc}
	if how == tooNarrow {
		seen.scope, seen.defaulted = machine.NoScope, false
	}
	w.pending.slot(&seen).know.join(&e.know)
}

// seeFences keeps what fence.sc operations handed on, for the lanes that saw it: a
// fence after a value cannot precede the write of that value, if every link between
// them is morally strong.
func (t *Tracker) seeFences(e *contrib, a *acquirer) {
	w := &a.home.warps[a.warp]
	for i := range w.groups {
		g := &w.groups[i]
		in := g.mask & a.mask
		switch {
		case in == 0 || g.know.glimpsed(&e.know):
		case in == g.mask:
			g.know.glimpse(&e.know)
			w.learned(g)
		default:
			for i := range e.know.rows {
				if r := &e.know.rows[i]; r.view.kind == scPassed && !g.know.gen.covers(&r.clk) {
					w.learn(g, in, r.view.of(scSeen), &r.clk)
				}
			}
		}
	}
}
