package order

import (
	"muster/internal/machine"
)

// The k-th wgmma.mma_async of each of a warpgroup's four warps is one operation in four
// parts, a team: no part reads before all four are issued, and one warp's wait shows
// that all four have read. What a warp's part reads must be ordered before that warp's own
// issue. What is ordered only because the four begin and end together has views of its own
// (view.go), for diagnosis.

// A teamKey names a team: the seq-th wgmma of each warp of a warpgroup.
type teamKey struct {
	cta, group int32
	seq        uint32
}

// A team is the parts of one operation of a warpgroup.
type team struct {
	key   teamKey
	parts [machine.WarpgroupSize]int32 // records, plus 1; 0: not issued
	alive int                          // records that name it
	// waits are the times of each warp at which it first knew the parts' reads to be
	// over; 0 if it does not yet.
	waits [machine.WarpgroupSize]uint32
	// all is what any of the warps knew or had done when it issued its part; nil until
	// all have.
	all *know
	// Until then: the parts' operations, and what each warp knew when it issued its part.
	ops  [machine.WarpgroupSize]*machine.Op
	from [machine.WarpgroupSize]*moment
}

// A moment is what a warp knows at one time. It does not change.
type moment struct {
	upto     uint32 // the last time that is over
	versions uint64 // of the warp's knowledge
	group    group
	crossed  []crossing
}

// crossing returns the moment's crossings for a view, nil if there are none.
func (m *moment) crossing(v view) *crossing {
	for i := range m.crossed {
		if m.crossed[i].view == v {
			return &m.crossed[i]
		}
	}
	return nil
}

type teamTable struct {
	list []team
	free []int32
	open map[teamKey]int32 // teams that lack a part
	last map[teamKey]*know // by warpgroup (seq 0): what all knew at the last team
	// lastFrom are the moments that last was made of.
	lastFrom map[teamKey][machine.WarpgroupSize]*moment
}

func (tt *teamTable) clone() teamTable {
	d := teamTable{list: append([]team(nil), tt.list...), free: append([]int32(nil), tt.free...)}
	if tt.open != nil {
		d.open = make(map[teamKey]int32, len(tt.open))
		for k, v := range tt.open {
			d.open[k] = v
		}
	}
	return d
}

// now returns what a warp knows, as a whole, and the last such moment if nothing has
// changed since.
func (t *Tracker) now(w *warp, mask uint32) *moment {
	upto := w.publish()
	if m := w.moment; m != nil && m.upto == upto && m.versions == w.versions && m.group.mask == mask {
		return m
	}
	m := &moment{upto: upto, versions: w.versions, crossed: append([]crossing(nil), w.crossed...)}
	g := t.issuers(w, mask)
	m.group = group{mask: mask, know: g.know.clone()}
	w.moment = m
	return m
}

// issuePart adds a warp's part to its team, and enters the team's reads once every warp
// has issued its part.
func (t *Tracker) issuePart(home *cta, i int32, op *machine.Op, mask uint32) {
	key := teamKey{op.CTA, op.Warp / machine.WarpgroupSize, op.Seq}
	tt := &t.teams
	n, ok := tt.open[key]
	if !ok {
		n = tt.take(key)
	}
	tm, k := &tt.list[n], op.Warp%machine.WarpgroupSize
	tm.parts[k], tm.ops[k], tm.from[k] = i+1, op, t.now(&home.warps[op.Warp], mask)
	tm.alive++
	t.ops.recs[i].team = n + 1
	first := key.group * machine.WarpgroupSize
	for w := first; w < first+machine.WarpgroupSize && int(w) < len(home.warps); w++ {
		if tm.parts[w-first] == 0 && home.warps[w].live != 0 {
			return
		}
	}
	delete(tt.open, key)
	tm.all = t.anyKnew(home, tm)
	for k, part := range tm.parts {
		if part != 0 {
			t.enterOp(home, part-1, tm.ops[k], tm.from[k].group.mask, tm.from[k])
			t.learnTogether(&home.warps[first+int32(k)], tm)
		}
	}
	tt.list[n].ops = [machine.WarpgroupSize]*machine.Op{}
}

func (tt *teamTable) take(key teamKey) int32 {
	var n int32
	if f := len(tt.free); f > 0 {
		n = tt.free[f-1]
		tt.free = tt.free[:f-1]
	} else {
		n = int32(len(tt.list))
		tt.list = append(tt.list, team{})
	}
	tt.list[n] = team{key: key}
	if tt.open == nil {
		tt.open = map[teamKey]int32{}
	}
	tt.open[key] = n
	return n
}

// leave removes a record from its team, which is free for reuse when all have left.
func (tt *teamTable) leave(r *opRec) {
	if r.team == 0 {
		return
	}
	tm := &tt.list[r.team-1]
	if tm.alive--; tm.alive == 0 {
		delete(tt.open, tm.key)
		*tm = team{}
		tt.free = append(tt.free, r.team-1)
	}
}

// anyKnew joins what the warps of a team knew and had done when each issued its part, as
// if they had met at a barrier.
func (t *Tracker) anyKnew(home *cta, tm *team) *know {
	tt := &t.teams
	at := tm.key
	at.seq = 0
	if tt.last[at] != nil && tt.lastFrom[at] == tm.from {
		return tt.last[at]
	}
	all := new(know)
	first := tm.key.group * machine.WarpgroupSize
	for k, m := range tm.from {
		if m == nil {
			continue
		}
		w := first + int32(k)
		one := m.group.know.clone()
		home.markOwn(&one, w, m.group.mask, m.upto)
		home.markCrossed(&one, m.crossed, w, m.group.mask)
		all.join(&one)
	}
	if tt.last == nil {
		tt.last, tt.lastFrom = map[teamKey]*know{}, map[teamKey][machine.WarpgroupSize]*moment{}
	}
	tt.last[at], tt.lastFrom[at] = all, tm.from
	return all
}

// waitedTogether notes a warp's wait for a part: the reads of all parts are over.
func (t *Tracker) waitedTogether(w *warp, r *opRec) *team {
	if r.team == 0 {
		return nil
	}
	tm := &t.teams.list[r.team-1]
	if k := r.warp % machine.WarpgroupSize; tm.waits[k] == 0 {
		tm.waits[k] = w.time
	}
	return tm
}

// learnTogether tells a warp of a team that all have issued, or that waited for it, what is
// ordered before that only because the four warps begin together.
func (t *Tracker) learnTogether(w *warp, tm *team) {
	if tm == nil || tm.all == nil {
		return
	}
	for i := range w.groups {
		g := &w.groups[i]
		if t.cfg.Together && g.know.join(tm.all) || g.know.joinTogether(tm.all) {
			w.learned(g)
		}
	}
}

// tellTogether tells the lanes of a collective what one of them knows of other warps: by
// the letter shfl and vote order nothing, but no lane goes on before all have come.
func (t *Tracker) tellTogether(ev *machine.Event) {
	if c := t.ctas[ev.CTA]; !ev.Tells || c == nil || len(c.warps[ev.Warp].groups) < 2 {
		return
	}
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	var told clock
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&ev.Mask != 0 {
			told.join(g.know.said(view{kind: ifTogether}))
		}
	}
	c.forget(&told, ev.Warp)
	w.split(ev.Mask)
	for i := range w.groups {
		g := &w.groups[i]
		if g.mask&ev.Mask != 0 && !g.know.said(view{kind: ifTogether}).covers(&told) {
			g.know.make(view{kind: ifTogether}).join(&told)
			w.learned(g)
		}
	}
}

// teamKnownTo reports whether a clock, or the program order of a warp that waited, knows
// that the parts of a team have read.
func (t *Tracker) teamKnownTo(ac *access, r *opRec, c *clock, lanes uint32) bool {
	tm := &t.teams.list[r.team-1]
	for k, by := range tm.waits {
		if by == 0 {
			continue
		}
		w := tm.key.group*machine.WarpgroupSize + int32(k)
		if lanes != 0 && r.cta == ac.home.index && w == ac.wi || t.knownLanes(c, r.cta, w, by) != 0 {
			return true
		}
	}
	return false
}

// afterIssue reports whether a warp of an operation's team made an earlier access after
// it had issued its own part: then the access, not the operation, came too early.
func (t *Tracker) afterIssue(ac *access, p *stamp) bool {
	if ac.moment == nil || p.isOp() {
		return false
	}
	tm := &t.teams.list[t.ops.recs[ac.st.op()].team-1]
	owner, w := t.split(p.who)
	if owner != tm.key.cta || w/machine.WarpgroupSize != tm.key.group {
		return false
	}
	m := tm.from[w%machine.WarpgroupSize]
	return m != nil && p.time > m.upto
}

// knownTogether reports whether an access would know an earlier one of lanes if the warps
// of a warpgroup knew of each other at a wgmma, with or without the proxy fence that an
// asynchronous access needs besides.
func (t *Tracker) knownTogether(ac *access, owner, w int32, lanes, upto uint32) Why {
	if ac.mem.Kind() != machine.SharedMemory {
		return 0
	}
	left := lanes
	for _, k := range [2]*know{&ac.group.know, ac.all} {
		if k == nil || ac.proxy != machine.Async {
			continue
		}
		for _, v := range [2]view{{kind: togetherShared}, {kind: togetherIn, mem: ac.mem}} {
			if c := k.said(v); c != nil {
				left &^= t.knownLanes(c, owner, w, upto)
			}
		}
	}
	if ac.proxy == machine.Async && left == 0 {
		return IfTogether
	}
	left = lanes
	for _, k := range [2]*know{&ac.group.know, ac.all} {
		if k != nil {
			left &^= t.knownLanes(k.said(view{kind: ifTogether}), owner, w, upto)
		}
	}
	switch {
	case left != 0:
		return 0
	case ac.proxy == machine.Async:
		return IfTogether | IfProxyFence
	}
	return IfTogether
}

// opKnownTogether is knownTogether for an earlier operation.
func (t *Tracker) opKnownTogether(ac *access, p *stamp, lanes uint32) Why {
	if ac.mem.Kind() != machine.SharedMemory {
		return 0
	}
	fence := ac.proxy == machine.Async && t.ops.recs[p.op()].proxy != machine.Async
	why := Why(0)
	for _, k := range [2]*know{&ac.group.know, ac.all} {
		if k == nil {
			continue
		}
		for _, v := range [2]view{{kind: togetherShared}, {kind: togetherIn, mem: ac.mem}} {
			if c := k.said(v); c != nil && ac.proxy == machine.Async && t.opKnownTo(ac, p, c, 0) {
				return IfTogether
			}
		}
		if t.opKnownTo(ac, p, k.said(view{kind: ifTogether}), lanes) {
			if !fence {
				return IfTogether
			}
			why = IfTogether | IfProxyFence
		}
	}
	return why
}
