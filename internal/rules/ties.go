package rules

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// What a finding may have led to. A protocol mistake at an mbarrier lets waits for its phases
// return at another time than the program means, so that what these waits should order is not
// ordered; a collective that some lanes skip does not cover what it should. A claim that one
// finding may follow from another has a reason in the run: the same barrier, or a ring of
// barriers that the same instructions serve, or the same collective.

// Ties are what links a finding to others: instructions, in program order. Two barriers that
// an instruction serves in turn are a ring, and a mistake in its protocol is one of them all.
type Ties struct {
	// Breaks are the instructions of the barriers, or of the collectives, that no longer say
	// what they should.
	Breaks []int32
	// Needs are those of the barriers, or of the collectives, that would have had to.
	Needs []int32
	// Early are operations that come before what they should come after.
	Early []int32
	// Of a conflict, whose earlier access reads (Reader), or writes what others read before the
	// later one, which overwrites it, and what they know to be written (Again).
	Reader, Again bool
}

// A Class says how near findings of a kind are to the mistake itself, where each of two could
// have led to the other.
type Class uint8

// The classes, the nearest first.
const (
	Misuse  Class = iota // an instruction or an operand is wrong
	Account              // a count or a number of bytes is wrong
	Access               // two accesses are in no order
	Timing               // an operation or a wait can meet another phase than it should
	Outcome              // a hang, an exit, an unwritten value
)

// accounts and timings are the kinds of these classes.
var (
	accounts = []**Kind{&arrivalsExcess, &arrivalsMissing, &bytesEarly, &bytesMissing, &expectLate, &noCompleteCompletes, &rangeKind}
	timings  = []**Kind{&phaseMixing, &lappedWait, &earlyWait, &idleWait, &mixedLanes, &lappedLanes, &staleToken, &unobservedPhase}
	// collectives are kinds about instructions that lanes or warps execute together.
	collectives = []**Kind{&divergentBarrier, &namedBarrierMismatch, &clusterBarrierMismatch, &outsideMask}
	// directed are kinds that a run shows which was made for them.
	directed = []**Kind{&expectLate, &phaseMixing, &lappedWait, &earlyWait, &mixedLanes, &lappedLanes}
	// unwritten are kinds about reads of what nobody has written, or not yet.
	unwritten = []**Kind{&uninitializedShared, &uninitializedTensor, &uninitializedGlobal}
)

func among(list []**Kind, k *Kind) bool {
	return slices.ContainsFunc(list, func(o **Kind) bool { return *o == k })
}

// Class returns the class of a kind.
func (k *Kind) Class() Class {
	switch {
	case among(accounts, k):
		return Account
	case among(timings, k):
		return Timing
	case k.Order == Conflict:
		return Access
	case k.Order == Effect:
		return Outcome
	}
	return Misuse
}

// Always reports whether a finding of a kind is about the program in every schedule, whichever
// shows it: as a wrong count is, or that a phase can be complete too early.
func (k *Kind) Always() bool { return k.Class() != Access && k.Class() != Outcome }

// Directed reports whether a run that is made for a finding of a kind shows it, and others need not.
func (k *Kind) Directed() bool { return among(directed, k) }

// ---- what a run tells ----

// A served is a barrier, or a collective, with those of other CTAs at the same place.
type served struct {
	pcs   []int32         // that arrive, bring bytes or take part
	comes map[roleOf]bool // warps that arrive or bring bytes
	waits map[roleOf]bool // warps that waited for it
}

// A servedAt names one by its place, and what made it.
type servedAt struct {
	addr uint64
	pc   int32
}

// Places of rings that are no mbarriers.
const (
	namedRings = 1 << 62
	groupRings = 1 << 63
)

// A roleOf is a warp as a barrier sees it: in its own CTA, or in another.
type roleOf struct {
	warp   int32
	remote bool
}

func roleAt(mem machine.MemID, cta, warp int32) roleOf { return roleOf{warp, mem.CTA() != cta} }

// A guard is what a warp has last waited for.
type guard struct {
	mbar, named *served
	remote      bool // mbar is another CTA's
}

// ring returns the ring at a place, which it makes.
func (w *watch) ring(at servedAt) *served {
	r := w.rings[at]
	if r == nil {
		if w.rings == nil {
			w.rings = map[servedAt]*served{}
		}
		r = &served{comes: map[roleOf]bool{}, waits: map[roleOf]bool{}}
		w.rings[at] = r
	}
	return r
}

func (w *watch) ringOf(l *ledger) *served {
	if l.ring == nil {
		l.ring = w.ring(servedAt{l.bar.Addr, l.begun.PC})
		l.ring.serve(l.begun.PC)
	}
	return l.ring
}

// serve enters an instruction.
func (r *served) serve(pc int32) {
	if i, ok := slices.BinarySearch(r.pcs, pc); !ok {
		r.pcs = slices.Insert(r.pcs, i, pc)
	}
}

// comesTo records that a warp arrives at a barrier, or brings bytes to it.
func (j *Judge) comesTo(l *ledger, cta, warp, pc int32) {
	r := j.watch.ringOf(l)
	r.serve(pc)
	r.comes[roleAt(l.bar.Mem, cta, warp)] = true
}

// guards records what an instruction's warp has waited for.
func (j *Judge) guards(cta, warp, pc int32) {
	if pc < 0 || j.watch.ctas == nil {
		return
	}
	if g := j.warp(cta, warp).guard; g.mbar != nil || g.named != nil {
		if j.watch.guarded == nil {
			j.watch.guarded = map[int32]guard{}
		}
		j.watch.guarded[pc] = g
	}
}

// guardsBefore records what the earlier warps of conflicts have waited for by now, where they
// accessed memory themselves: perhaps more than they had then.
func (j *Judge) guardsBefore(list []order.Conflict) {
	for i := range list {
		if a := &list[i].Prior; a.Op < 0 && a.CTA >= 0 && j.watch.ctas != nil && j.watch.ctas[a.CTA] != gone {
			if _, ok := j.watch.guarded[a.PC]; !ok {
				j.guards(a.CTA, a.Warp, a.PC)
			}
		}
	}
}

// passes records that a warp has waited for a phase.
func (j *Judge) passes(l *ledger, cta, warp int32) {
	r := j.watch.ringOf(l)
	r.waits[roleAt(l.bar.Mem, cta, warp)] = true
	g := &j.warp(cta, warp).guard
	g.mbar, g.remote = r, l.bar.Mem.CTA() != cta
}

// joins records that a warp takes part in a named barrier.
func (j *Judge) joins(ev *machine.Event, passes bool) {
	r := j.watch.ring(servedAt{addr: namedRings + uint64(ev.Bar)})
	r.serve(ev.PC)
	r.comes[roleOf{warp: ev.Warp}] = true
	if passes {
		j.warp(ev.CTA, ev.Warp).guard.named = r
	}
}

// ---- what ties findings ----

// Tie finds what ties findings that say nothing of it yet.
func (j *Judge) tie(list []Finding) {
	for i := range list {
		f := &list[i]
		if f.Ties.Breaks == nil && f.Ties.Needs == nil && f.Ties.Early == nil {
			f.Ties = j.Ties(f)
		}
	}
}

// Ties returns what ties a finding, other than a conflict, to others of its run.
func (j *Judge) Ties(f *Finding) (t Ties) {
	k := Lookup(f.Kind)
	switch c := k.Class(); {
	case among(collectives, k):
		for i := range f.Sites {
			t.Breaks = j.serves(t.Breaks, f.Sites[i].PC)
		}
	case c == Account || c == Timing:
		for i := range f.Sites {
			s := &f.Sites[i]
			t.Breaks = j.serves(t.Breaks, s.PC)
			if g, ok := j.watch.guarded[s.PC]; ok && g.mbar != nil {
				t.Early, t.Needs = union(t.Early, s.PC), union(t.Needs, g.mbar.pcs...)
			}
		}
		t.Needs = union(t.Needs, t.Breaks...)
		if c == Account {
			t.Breaks = j.behind(t.Breaks)
		}
	case c == Outcome:
		for i := range f.Waiting {
			t.Needs = j.awaits(t.Needs, &f.Waiting[i].Site)
		}
		for i := range f.Sites {
			s := &f.Sites[i]
			t.Needs = j.awaits(t.Needs, s)
			if g, ok := j.watch.guarded[s.PC]; ok && g.mbar != nil && among(unwritten, k) {
				t.Needs = union(t.Needs, g.mbar.pcs...)
			}
		}
		t.Needs = j.completions(t.Needs, f)
	case c == Access: // of registers
		t.Needs = j.completions(t.Needs, f)
	}
	return t
}

// conflictTies returns what ties conflict i to other findings. Where its order is missing
// altogether it would have come from the barrier that the earlier operation signals, or from the
// wait before the later access, if the earlier agent arrives there, or who waited for the
// earlier operation does.
func (j *Judge) conflictTies(all []order.Conflict, i int) (t Ties) {
	c := &all[i]
	a, b := &c.Prior, &c.Cur
	t.Reader = !writes(a)
	if b.Op >= 0 && writes(b) {
		t.Early = []int32{b.PC}
		t.Again = writes(a) && readBetween(all, c)
	}
	var signalled []*served
	if a.Op >= 0 && (a.Barrier || a.Kind == machine.OpWgmma) {
		signalled = j.ringsWith(a.PC)
		t.Needs = j.serves(t.Needs, a.PC)
	}
	t.Needs = j.leads(t.Needs, a, b, signalled)
	if a.Op < 0 && b.Op < 0 { // the order the other way round would do
		t.Needs = j.leads(t.Needs, b, a, nil)
	}
	return t
}

// leads adds the instructions of the barriers that lead from one access to another: what the
// warp of b had waited for last, if the warp of a arrives there, or one that waited for a.
func (j *Judge) leads(list []int32, a, b *order.AccessRef, signalled []*served) []int32 {
	g := j.watch.guarded[b.PC]
	from := roleOf{a.Warp, (a.CTA != b.CTA) != g.remote}
	if g.mbar != nil && (g.mbar.from(from, a.Kind == machine.OpWgmma && a.Op >= 0) ||
		slices.ContainsFunc(signalled, func(r *served) bool { return g.mbar.relays(r, from.remote) })) {
		list = union(list, g.mbar.pcs...)
	}
	if g.named != nil && a.CTA == b.CTA && g.named.comes[roleOf{warp: a.Warp}] {
		list = union(list, g.named.pcs...)
	}
	return list
}

// readBetween reports whether what a conflict's operation overwrites is read, by who knows it to
// be written, and the same operation overwrites it before that is over.
func readBetween(all []order.Conflict, c *order.Conflict) bool {
	return slices.ContainsFunc(all, func(o order.Conflict) bool {
		return o.Cur.PC == c.Cur.PC && !writes(&o.Prior) && o.Span.Mem == c.Span.Mem &&
			o.Span.Addr < c.Span.Addr+c.Span.Len && c.Span.Addr < o.Span.Addr+o.Span.Len &&
			!slices.ContainsFunc(all, func(r order.Conflict) bool { return r.Prior.PC == c.Prior.PC && r.Cur.PC == o.Prior.PC })
	})
}

// from reports whether a warp arrives at a ring, or for a wgmma one of its warpgroup.
func (r *served) from(who roleOf, group bool) bool {
	if !group {
		return r.comes[who]
	}
	first := who.warp - who.warp%machine.WarpgroupSize
	for w := first; w < first+machine.WarpgroupSize; w++ {
		if r.comes[roleOf{w, who.remote}] {
			return true
		}
	}
	return false
}

// relays reports whether a warp that waited for a barrier of its own CTA arrives at a ring.
func (r *served) relays(of *served, remote bool) bool {
	for who := range of.waits {
		if !who.remote && r.comes[roleOf{who.warp, remote}] {
			return true
		}
	}
	return false
}

// ringsWith lists the rings that an instruction serves.
func (j *Judge) ringsWith(pc int32) (list []*served) {
	for _, r := range j.watch.rings {
		if _, ok := slices.BinarySearch(r.pcs, pc); ok {
			list = append(list, r)
		}
	}
	return list
}

// serves adds the instructions of all rings that one serves.
func (j *Judge) serves(list []int32, pc int32) []int32 {
	if pc < 0 {
		return list
	}
	list = union(list, pc)
	for _, r := range j.ringsWith(pc) {
		list = union(list, r.pcs...)
	}
	return list
}

// behind adds the instructions of the barriers at which threads arrive, or to which they bring
// bytes, next after a wait for one of a list: where the count of that is wrong they come at
// another time, to another phase.
func (j *Judge) behind(list []int32) []int32 {
	for n := -1; n != len(list); {
		n = len(list)
		for at, r := range j.watch.rings {
			if at.addr < namedRings && slices.ContainsFunc(r.pcs, func(pc int32) bool {
				g := j.watch.guarded[pc].mbar
				return g != nil && slices.ContainsFunc(g.pcs, func(pc int32) bool { _, ok := slices.BinarySearch(list, pc); return ok })
			}) {
				list = union(list, r.pcs...)
			}
		}
	}
	return list
}

// completions adds the instructions of the barriers by which the operations of a finding are
// waited for, unless it is about what they read.
func (j *Judge) completions(list []int32, f *Finding) []int32 {
	for i := range f.Sites {
		if s := &f.Sites[i]; s.Op != "" && !among(unwritten, Lookup(f.Kind)) {
			list = j.serves(list, s.PC)
		}
	}
	return list
}

// awaits adds the instructions of the mbarriers that a site waits for.
func (j *Judge) awaits(list []int32, s *Site) []int32 {
	if s.Len != 8 || s.Mem.Kind() != machine.SharedMemory {
		return list
	}
	for at, r := range j.watch.rings {
		if at.addr == s.Addr {
			list = union(list, r.pcs...)
		}
	}
	return list
}

// union adds numbers to a sorted list.
func union(list []int32, more ...int32) []int32 {
	for _, n := range more {
		if i, ok := slices.BinarySearch(list, n); !ok {
			list = slices.Insert(list, i, n)
		}
	}
	return list
}
