package order

import "muster/internal/machine"

// A view is one aspect of what an agent knows. A proxy, or an operation whose
// effect is restricted to some accesses, costs a row here and no field
// elsewhere.
type view struct {
	kind viewKind
	mem  machine.MemID // asyncIn, sharedIn, initIn: whose shared memory
	addr uint64        // tensorMap: the address of the map
}

type viewKind uint8

const (
	// asyncGlobal, asyncShared and asyncIn: passed a fence between the generic
	// and the asynchronous proxy for global memory, for the shared memory of
	// every CTA of the cluster, for that of one.
	asyncGlobal viewKind = iota
	asyncShared
	asyncIn
	// sharedOnly and sharedIn: base causality by fences restricted to shared
	// memory (.sync_restrict), of every CTA of the cluster and of one; they
	// extend the generic view for that memory alone.
	sharedOnly
	sharedIn
	// initIn: the same by fence.mbarrier_init; extends it for mbarrier.init.
	initIn
	// mapReleased and mapAcquired: the two halves of fence.proxy.tensormap. The
	// first is a row for each releasing CTA (mem) and scope (addr).
	mapReleased
	mapAcquired
	// tensorSent: tcgen05 operations that come before what follows, by
	// tcgen05.fence::before_thread_sync or a commit. tensorHeard: the same, as far as only
	// relaxed operations told it. tensorTaken: what comes before later tcgen05 operations of
	// these lanes, by tcgen05.fence::after_thread_sync. tensorIfWide: what would have been told
	// if every scope were wide enough, for diagnosis. The last three do not travel (tensor.go).
	tensorSent
	tensorHeard
	tensorTaken
	tensorIfWide
	// committed: what a thread did and knew where it issued a tcgen05.commit, as far as
	// nothing but the commit's arrival tells it. relayed: the same without what the thread
	// did itself. By the letter both order nothing but tensor memory.
	committed
	relayed
	// paired: what comes before an alloc of both CTAs of a pair, which neither goes on from
	// before the other came; a dealloc only may wait so (ISA 9.7.18.7.1). It orders no memory:
	// what was issued by then.
	paired
	// scPassed: what came before a fence.sc of a class (Tracker.class); scSeen: the
	// same, handed here by strong operations of any kind. A fence.sc here takes it
	// over: see Tracker.scFence.
	scPassed
	scSeen
	// scUnseen: what came before a fence.sc that an access followed which did not see
	// a write made here; unseen: the same, after a fence.sc. It extends the generic
	// view where Tracker.told allows.
	scUnseen
	unseen
	// rumour: the accesses that racing reads showed to have happened.
	rumour
	// togetherShared and togetherIn: asyncShared and asyncIn, and ifTogether the generic
	// view, if the warps of a warpgroup learned of each other at a wgmma (team.go).
	// Absent while equal to those.
	togetherShared
	togetherIn
	ifTogether
	// ifWide: what would be known if every scope were wide enough; ifStrong: if
	// relaxed operations synchronized, too. Absent while equal to the generic view.
	// ifStrong contains ifWide contains generic.
	ifWide
	ifStrong
)

// restrictedTo reports whether a view extends the generic one for a shared
// memory.
func (v view) restrictedTo(mem machine.MemID) bool {
	return v.kind == sharedOnly && mem != machine.Global || v.kind == sharedIn && v.mem == mem
}

// asyncOf reports whether a view is the asynchronous proxy's of a shared memory.
func (v view) asyncOf(mem machine.MemID) bool {
	return v.kind == asyncShared || v.kind == asyncIn && v.mem == mem
}

// diagnostic reports whether an absent row stands for another view: base.
func (k viewKind) diagnostic() bool { return k >= togetherShared }

// overGeneric reports whether a view contains the generic one.
func (k viewKind) overGeneric() bool { return k >= ifTogether }

// together returns the view that contains v, an asynchronous view of shared memory, and
// what wgmma would add.
func (v view) together() (view, bool) {
	switch v.kind {
	case asyncShared:
		return view{kind: togetherShared}, true
	case asyncIn:
		return view{kind: togetherIn, mem: v.mem}, true
	}
	return view{}, false
}

// know is what an agent knows, or what a release hands on: the generic view
// and a row for each other view that says anything.
type know struct {
	gen  clock
	rows []viewRow
}

type viewRow struct {
	view view
	clk  clock
}

// row returns the clock of a view, nil if there is none.
func (k *know) row(v view) *clock {
	for i := range k.rows {
		if k.rows[i].view == v {
			return &k.rows[i].clk
		}
	}
	return nil
}

// of is row for kinds that have a single view.
func (k *know) of(kind viewKind) *clock {
	for i := range k.rows {
		if k.rows[i].view.kind == kind {
			return &k.rows[i].clk
		}
	}
	return nil
}

// make returns the clock of a view, adding it if absent: empty, or, for a diagnostic
// view, equal to the views that it contains.
func (k *know) make(v view) *clock {
	if c := k.row(v); c != nil {
		return c
	}
	n := len(k.rows)
	if n < cap(k.rows) {
		k.rows = k.rows[:n+1]
		k.rows[n].view = v
		k.rows[n].clk.reset()
	} else {
		k.rows = append(k.rows, viewRow{view: v})
	}
	c := &k.rows[n].clk
	if v.kind.diagnostic() {
		if b := k.base(v); b != nil {
			c.join(b)
		}
	}
	return c
}

// base returns what the absent row of a diagnostic view stands for; nil: nothing.
func (k *know) base(v view) *clock {
	switch v.kind {
	case togetherShared:
		return k.row(view{kind: asyncShared})
	case togetherIn:
		return k.row(view{kind: asyncIn, mem: v.mem})
	case ifStrong:
		return k.wide()
	}
	return &k.gen
}

// said returns the clock of a diagnostic view, or what its absent row stands for.
func (k *know) said(v view) *clock {
	if c := k.row(v); c != nil {
		return c
	}
	return k.base(v)
}

// wide returns the clock that would hold if scopes were wide enough.
func (k *know) wide() *clock {
	if c := k.of(ifWide); c != nil {
		return c
	}
	return &k.gen
}

// strong returns the clock that would hold if, moreover, nothing were relaxed.
func (k *know) strong() *clock {
	if c := k.of(ifStrong); c != nil {
		return c
	}
	return k.wide()
}

// join makes k know all that src knows, view by view.
func (k *know) join(src *know) bool {
	for i := range src.rows {
		if src.rows[i].view.kind.diagnostic() {
			k.make(src.rows[i].view) // from k's own generic view, before that grows
		}
	}
	news := k.gen.join(&src.gen)
	for i := range src.rows {
		r := &src.rows[i]
		if !r.view.kind.stays() && k.make(r.view).join(&r.clk) {
			news = true
		}
	}
	for i := range k.rows {
		if v := k.rows[i].view; v.kind.diagnostic() {
			if c := src.said(v); c != nil {
				k.rows[i].clk.join(c)
			}
		}
	}
	return news
}

// unite is join for lanes of one warp, which then are one group.
func (k *know) unite(src *know) {
	k.join(src)
	for i := range src.rows {
		if r := &src.rows[i]; r.view.kind.stays() {
			k.make(r.view).join(&r.clk)
		}
	}
}

// stays reports whether a view is the lanes' own, which no release hands on.
func (k viewKind) stays() bool { return k >= tensorHeard && k <= tensorIfWide }

// joinTogether adds src to what would be known if the warps of a warpgroup learned of
// each other at a wgmma, and reports whether it was new.
func (k *know) joinTogether(src *know) bool {
	news := false
	add := func(v view, c *clock) {
		if have := k.said(v); c != nil && (have == nil || !have.covers(c)) {
			k.make(v).join(c)
			news = true
		}
	}
	add(view{kind: ifTogether}, src.said(view{kind: ifTogether}))
	for i := range src.rows {
		v := src.rows[i].view
		if to, ok := v.together(); ok {
			v = to
		} else if v.kind != togetherShared && v.kind != togetherIn {
			continue
		}
		add(v, src.said(v))
	}
	return news
}

// joinWide adds src to what would be known with wider scopes.
func (k *know) joinWide(src *know) {
	if !k.gen.covers(src.wide()) || k.of(ifWide) != nil {
		k.make(view{kind: ifWide}).join(src.wide())
	}
	k.joinStrong(src)
}

// joinStrong adds src to what would be known if nothing were relaxed.
func (k *know) joinStrong(src *know) {
	if r := src.of(rumour); r != nil {
		k.make(view{kind: rumour}).join(r)
	}
	if k.strong().covers(src.strong()) {
		return
	}
	k.make(view{kind: ifStrong}).join(src.strong())
}

// glimpse adds as scSeen what preceded the fence.sc operations in src, which a strong
// operation saw: a later fence.sc takes it over.
func (k *know) glimpse(src *know) {
	for i := range src.rows {
		if r := &src.rows[i]; r.view.kind == scPassed {
			v := r.view
			v.kind = scSeen
			k.make(v).join(&r.clk)
		}
	}
}

// glimpsed reports whether k has all that glimpse would add.
func (k *know) glimpsed(src *know) bool {
	for i := range src.rows {
		r := &src.rows[i]
		if r.view.kind != scPassed || k.gen.covers(&r.clk) {
			continue
		}
		v := r.view
		v.kind = scSeen
		if have := k.row(v); have == nil || !have.covers(&r.clk) {
			return false
		}
	}
	return true
}

// freeze makes clones of k share what it knows.
func (k *know) freeze() {
	k.gen.freeze()
	for i := range k.rows {
		k.rows[i].clk.freeze()
	}
}

func (k *know) reset() {
	k.gen.reset()
	k.rows = k.rows[:0]
}

func (k *know) covers(src *know) bool {
	if !k.gen.covers(&src.gen) {
		return false
	}
	for i := range src.rows {
		r := &src.rows[i]
		switch have := k.row(r.view); {
		case have != nil:
			if !have.covers(&r.clk) {
				return false
			}
		case r.view.kind.diagnostic() && k.base(r.view) != nil:
			if !k.base(r.view).covers(&r.clk) {
				return false
			}
		case !r.clk.empty():
			return false
		}
	}
	return true
}

func (k *know) clone() know {
	d := know{gen: k.gen.clone()}
	if len(k.rows) > 0 {
		d.rows = make([]viewRow, len(k.rows))
	}
	for i := range k.rows {
		d.rows[i] = viewRow{view: k.rows[i].view, clk: k.rows[i].clk.clone()}
	}
	return d
}
