package order

import (
	"math"
	"slices"

	"muster/internal/machine"
)

// Commits (ISA 9.7.18.12.1), and what their arrivals hand on.
//
// Those of one thread arrive in the order of their issue (machine.CommitQueue). So each thread
// that commits has a slot in the clocks of its CTA: who knows value n there knows that its
// first n commits have arrived, at whichever barriers and in whichever CTAs, and with that all
// that any of them tracks. A wait shows it, for the commits that its phase counts. A phase that
// counts others' arrivals, too, is not known complete by that.

// A queue is the commits of one thread.
type queue struct {
	slot   int
	issued uint32
}

// A turn is a commit's place among those of its thread, from 1; n = 0: no commit.
type turn struct {
	cta  int32
	slot int
	n    uint32
}

// enqueue takes the next place.
func (c *cta) enqueue(of machine.CommitQueue) turn {
	if c.queues == nil {
		c.queues = map[machine.CommitQueue]queue{}
	}
	q, ok := c.queues[of]
	if !ok {
		q.slot = c.slot()
	}
	q.issued++
	c.queues[of] = q
	return turn{c.index, q.slot, q.issued}
}

// upcoming returns the turn of a thread's next commit.
func (c *cta) upcoming(op *machine.Op) turn {
	of := machine.CommitQueue{CTA: op.CTA, Warp: op.Warp, Lane: op.Lane, Pair: true}
	if c.queues == nil {
		c.queues = map[machine.CommitQueue]queue{}
	}
	q, ok := c.queues[of]
	if !ok {
		q.slot = c.slot()
		c.queues[of] = q
	}
	return turn{c.index, q.slot, q.issued + 1}
}

// knownTo reports whether a clock knows that the commit has arrived.
func (u turn) knownTo(c *clock) bool { return u.n != 0 && c.at(u.cta, u.slot) >= u.n }

// came returns which commits phase n, whose contributions are kept, counts so far.
func (b *mbar) came(n int64) *clock { return &b.sets[uint64(n)%uint64(len(b.sets))].came }

// commitsLeftOut reports whether commits of other CTAs, which a phase counts, are beyond the
// scope that is written where lanes wait for it. A commit's arrival has no scope of its own: the
// text's waits for it are at .cluster (ISA 9.7.18.6.4). Between CTAs a wait at .cta is not
// morally strong with it (8.7). Scopes left out are told where the commits' own contributions
// are acquired.
func (t *Tracker) commitsLeftOut(came *clock, a *acquirer) bool {
	return !a.defaulted && slices.ContainsFunc(came.parts, func(p part) bool { return a.scope < t.needed(p.cta, a.home.index) })
}

// committed notes that the last use by a lane, just kept, is a tcgen05.commit.
func (b *mbar) committed(home *cta, op *machine.Op, at turn, kept bool) {
	if !kept || at.n == 0 {
		return
	}
	for i := range b.users {
		u := &b.users[i]
		if u.cta != home.index || u.warp != op.Warp {
			continue
		}
		if u.turns == nil {
			u.turns = make([]turn, 32)
		}
		u.commits |= 1 << uint(op.Lane&31)
		u.turns[op.Lane&31] = at
	}
}

// phasesKnown returns the phases of mbarriers that lanes know to be complete, and the commits
// that they know to have arrived. Who learns of a commit knows what the tracked operations followed: that copies had brought what they read.
func (t *Tracker) phasesKnown(home *cta, g *group) *clock {
	known := &clock{}
	for _, c := range t.ctas {
		if c == nil || c.ended || t.cfg.ClusterOf(c.index) != t.cfg.ClusterOf(home.index) {
			continue
		}
		for _, b := range c.bars {
			if v := g.know.gen.at(c.index, b.slot); v > 0 {
				known.raise(c.index, b.slot, v)
			}
		}
		for _, q := range c.queues {
			if v := g.know.gen.at(c.index, q.slot); v > 0 {
				known.raise(c.index, q.slot, v)
			}
		}
	}
	return known
}

// An issuer is what the thread of a tcgen05.commit did and knew where it issued it, by the
// views that the commit's arrival hands on: committed, relayed and tensorSent.
type issuer struct {
	did, heard, sent clock
}

// issuedBy returns what a lane that issues a commit did, knows, and was told by commits. Of
// tcgen05 operations a commit hands on what tcgen05.fence::before_thread_sync would, which it
// implicitly performs (ISA 9.7.18.6.4.2).
func issuedBy(home *cta, w *warp, op *machine.Op, lane uint32) *issuer {
	upto := w.publish()
	k := &w.group(int(op.Lane)).know
	is := &issuer{did: k.gen.clone(), heard: k.gen.clone()}
	is.did.joinOf(k, committed)
	is.heard.joinOf(k, relayed)
	is.sent.joinOf(k, tensorSent)
	is.sent.joinOf(k, tensorTaken)
	home.markKnown(&is.did, op.Warp, lane, upto)
	home.markKnown(&is.sent, op.Warp, lane, upto)
	return is
}

// joinOf joins a view of k, if that says anything.
func (c *clock) joinOf(k *know, kind viewKind) {
	if v := k.of(kind); v != nil {
		c.join(v)
	}
}

// commits lets a commit's arrival hand on what its issuer knew to be complete; and notes the
// arrival for the end of the barrier's CTA.
//
// A copy's write precedes, in observation order, the multiplication that read it, and this the
// accesses of whoever waits for the commit: so the copy comes first (ISA 8.9.5), for threads
// and for the asynchronous proxy. What else the issuer did, the arrival does not release: the
// text names only the operations that it tracks (9.7.18.12.1), and of other operations that
// signal mbarriers it says so (8.9.1.1). Tensor memory is different: there a commit is the
// fence before the arrival, too.
func (t *Tracker) commits(r *opRec, b *mbar, phase int64, ref machine.BarRef) {
	k := contrib{cta: r.cta, scope: machine.ScopeSys, pc: r.pc}
	e := b.at(phase).slot(&k)
	e.know.gen.join(r.knew)
	e.know.make(view{kind: committed}).join(&r.behind.did)
	e.know.make(view{kind: relayed}).join(&r.behind.heard)
	e.know.make(view{kind: tensorSent}).join(&r.behind.sent)
	e.know.make(view{kind: asyncShared}).join(r.knew)
	e.know.make(view{kind: asyncGlobal}).join(r.knew)
	b.came(phase).raise(r.turn.cta, r.turn.slot, r.turn.n)
	owner := t.at(ref.Mem.CTA())
	if owner.ended {
		return
	}
	// Only the phase shows that the arrival has come, whatever is known of its thread.
	v := visitor{cta: r.cta, warp: r.warp, lanes: r.lanes, slot: b.slot, value: b.value(phase), time: math.MaxUint32, pc: r.pc,
		commit: r.id, turn: r.turn, bar: ref}
	for i := range owner.remote {
		if o := &owner.remote[i]; o.slot == v.slot && o.turn.n != 0 && o.turn.cta == v.turn.cta && o.turn.slot == v.turn.slot {
			*o = v // which comes after that one
			return
		}
	}
	owner.remote = append(owner.remote, v)
}
