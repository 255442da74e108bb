package order

import (
	"slices"

	"muster/internal/machine"
)

// A FactKind says what a Fact is about.
type FactKind uint8

const (
	// ScopeDefaulted: A released and B acquired across CTAs, and one of them leaves
	// out its scope, which then is the CTA. They are ordered all the same.
	ScopeDefaulted FactKind = iota
	// InitNotOrdered: B uses an mbarrier, and A, its initialization, is not ordered
	// before B.
	InitNotOrdered
	// InvalNotOrdered: B invalidates an mbarrier, and A, a use of it, is not ordered
	// before B.
	InvalNotOrdered
	// BarrierTouched: B, not a barrier operation, touches the word of a live mbarrier
	// that A initialized.
	BarrierTouched
	// ExitInFlight: CTA B.CTA ended while operation A might touch its shared
	// memory.
	ExitInFlight
	// ExitBeforeRemote: CTA A.CTA may have ended when B touches its memory.
	ExitBeforeRemote
	// RemoteBeforeStart: B touches CTA A.CTA and is not ordered after its start.
	RemoteBeforeStart
	// GroupLeft: operation A's group was never waited for when B exited.
	GroupLeft
	// AskUnordered: B observed that a request of its CTA for a cluster failed, and A, a
	// request of the same CTA, is not ordered before that.
	AskUnordered
)

// A Fact is a finding about synchronization or lifetime that a rule may use, and that
// is not a conflict of two accesses.
type Fact struct {
	Kind  FactKind
	A, B  AccessRef
	Why   Why // InitNotOrdered: what is missing
	Span  machine.Span
	Issue bool // ExitBeforeRemote: B is the issue of an operation of a pair of CTAs
	Count int
	Apart Distance // how far apart A and B are, of those counted where it is most
}

// A log keeps what was found, once for each pair of instructions and reason,
// in the order of finding.
type log struct {
	conflicts []Conflict
	facts     []Fact
	byPair    map[pair]int
	byFact    map[factPair]int
	links     []Link
	raced     map[int32]*raced // by instruction
}

// A Link is a release and an acquire that met and do not synchronize: by
// their written scopes, or because one of them is relaxed (and no fence came
// yet). It is no defect by itself; it explains conflicts that say IfScopeWider
// or IfNotRelaxed.
type Link struct {
	Relaxed          bool
	Release, Acquire int32 // their PCs
}

type pair struct {
	prior, cur   int32
	pKind, cKind opAndAccess
	why          Why
	mem          bool // global
}

type opAndAccess struct {
	op     bool
	access machine.Access
	proxy  machine.Proxy
}

type factPair struct {
	kind FactKind
	a, b int32
	why  Why
}

func shapeOf(r *AccessRef) opAndAccess { return opAndAccess{r.Op >= 0, r.Access, r.Proxy} }

func pairOf(c *Conflict) pair {
	return pair{c.Prior.PC, c.Cur.PC, shapeOf(&c.Prior), shapeOf(&c.Cur), c.Why, c.Span.Mem == machine.Global}
}

func (l *log) has(c *Conflict) bool {
	_, ok := l.byPair[pairOf(c)]
	return ok
}

// conflict enters a conflict and reports whether it is new.
func (l *log) conflict(c *Conflict) bool {
	k := pairOf(c)
	if i, ok := l.byPair[k]; ok {
		old := &l.conflicts[i]
		old.Count++
		old.Apart, old.Away = max(old.Apart, c.Apart), old.Away || c.Away
		return false
	}
	if l.byPair == nil {
		l.byPair = make(map[pair]int)
	}
	l.byPair[k] = len(l.conflicts)
	l.conflicts = append(l.conflicts, *c)
	return true
}

func (l *log) fact(f *Fact) bool {
	k := factPair{f.Kind, f.A.PC, f.B.PC, f.Why}
	if i, ok := l.byFact[k]; ok {
		l.facts[i].Count++
		l.facts[i].Apart = max(l.facts[i].Apart, f.Apart)
		return false
	}
	if l.byFact == nil {
		l.byFact = make(map[factPair]int)
	}
	l.byFact[k] = len(l.facts)
	f.Count = 1
	l.facts = append(l.facts, *f)
	return true
}

func (l *log) clone() log {
	d := log{conflicts: append([]Conflict(nil), l.conflicts...), facts: append([]Fact(nil), l.facts...), links: slices.Clone(l.links), raced: cloneRaced(l.raced)}
	if l.byPair != nil {
		d.byPair = make(map[pair]int, len(l.byPair))
		for k, v := range l.byPair {
			d.byPair[k] = v
		}
	}
	if l.byFact != nil {
		d.byFact = make(map[factPair]int, len(l.byFact))
		for k, v := range l.byFact {
			d.byFact[k] = v
		}
	}
	return d
}

// Conflicts returns the conflicts found so far, in the order of finding.
func (t *Tracker) Conflicts() []Conflict { return append([]Conflict(nil), t.found.conflicts...) }

// Found is how many conflicts were found so far.
func (t *Tracker) Found() int { return len(t.found.conflicts) }

// Since returns the conflicts found after the first n. They must not be changed.
func (t *Tracker) Since(n int) []Conflict { return t.found.conflicts[n:] }

// FactList returns the facts found so far, in the order of finding.
func (t *Tracker) FactList() []Fact { return append([]Fact(nil), t.found.facts...) }

func (t *Tracker) fact(f *Fact) {
	if f.A.CTA >= 0 && f.B.CTA >= 0 {
		f.Apart = t.apart(&f.A, &f.B)
	}
	if t.found.fact(f) && t.cfg.Facts != nil {
		t.cfg.Facts(f)
	}
}

func (t *Tracker) scopeDefaulted(e *contrib, a *acquirer) {
	t.fact(&Fact{
		Kind: ScopeDefaulted,
		A:    AccessRef{CTA: e.cta, PC: e.pc, Scope: e.scope, Op: -1},
		B:    AccessRef{CTA: a.home.index, Warp: a.warp, Lanes: a.mask, PC: a.pc, Scope: a.scope, Op: -1},
	})
}

// link notes a release and an acquire that do not synchronize. A run has few
// such pairs of instructions.
func (t *Tracker) link(relaxed bool, e *contrib, a *acquirer) {
	l := Link{Relaxed: relaxed, Release: e.pc, Acquire: a.pc}
	if e.pc < 0 {
		return // a phase's completion has no releasing instruction
	}
	if len(t.found.links) < maxLinks && !slices.Contains(t.found.links, l) {
		t.found.links = append(t.found.links, l)
	}
}

const maxLinks = 64

// Links returns the links noted so far, in the order in which they were met.
func (t *Tracker) Links() []Link { return slices.Clone(t.found.links) }

func (t *Tracker) initNotOrdered(b *mbar, g *group, home *cta, w int32, lanes uint32, pc int32) {
	in := &b.init
	has := func(c *clock) bool { return in.lanes&^t.knownLanes(c, in.cta, in.warp, in.time) == 0 }
	f := Fact{Kind: InitNotOrdered, A: laneRef(in.cta, in.warp, in.lanes, in.pc), B: laneRef(home.index, w, lanes, pc), Why: NoEdge}
	switch {
	case in.cta == home.index && in.warp == w:
		f.Why = SameWarpLanes
	case has(g.know.wide()):
		f.Why = IfScopeWider
	case has(g.know.strong()):
		f.Why = IfNotRelaxed
	}
	t.fact(&f)
}

// wordWrite enters an init or inval as a write of the barrier's word. Lanes that
// initialize it together know what any of them knows.
func (t *Tracker) wordWrite(home *cta, ev *machine.Event, lanes uint32) {
	bar := ev.Mbar.Bar
	sh := t.shadowIn(bar.Mem)
	if sh == nil {
		return
	}
	w := &home.warps[ev.Warp]
	w.mark(lanes)
	ac := t.begin(home, ev.Warp)
	ac.as(t.issuers(ac.warp, lanes))
	ac.write, ac.mem = true, bar.Mem
	ac.st.pc, ac.st.shape, ac.st.lanes = ev.PC, shapeOfLanes(byMask, 3, 0), lanes
	ac.st.what = uint8(machine.Write)
	live := sh.row(t.id, bar.Addr).guarded
	sh.row(t.id, bar.Addr).guarded = 0
	t.span(sh, ac, bar.Addr, 8)
	sh.row(t.id, bar.Addr).guarded = live
}

// touchGuarded reports an access to bytes [a, b) of a row if they belong to a
// live barrier.
func (t *Tracker) touchGuarded(ac *access, a, b int) {
	owner := t.ctas[ac.mem.CTA()]
	lo, hi := ac.rowAddr+uint64(a), ac.rowAddr+uint64(b)
	for at := lo &^ 7; at < hi; at += 8 {
		bar := owner.bars[at]
		if bar == nil || !bar.live {
			continue
		}
		in := &bar.init
		t.fact(&Fact{
			Kind: BarrierTouched,
			A:    laneRef(in.cta, in.warp, in.lanes, in.pc),
			B:    t.curRef(ac, a),
			Span: machine.Span{Mem: ac.mem, Addr: at, Len: 8},
		})
	}
}
