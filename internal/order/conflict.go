package order

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Why says why two conflicting accesses are unordered: a set of causes, each of
// which, if removed, might have ordered them.
type Why uint32

const (
	// NoEdge: no synchronization leads from one to the other.
	NoEdge Why = 1 << iota
	// IfProxyFence: ordered except for a missing fence between the generic and the
	// asynchronous proxy, for the space of the conflict's memory.
	IfProxyFence
	// IfScopeWider: ordered if the written scopes were wide enough.
	IfScopeWider
	// IfNotRelaxed: ordered if relaxed operations synchronized.
	IfNotRelaxed
	// SameWarpLanes: lanes of one warp; bar.warp.sync is missing, in the warp itself
	// or before the release of its accesses.
	SameWarpLanes
	// InFlight: the earlier access is an asynchronous operation's whose
	// completion the later agent does not know.
	InFlight
	// PartialOverlap: the locations overlap without being the same.
	PartialOverlap
	// BothAsyncOtherCTA: ordered, both in the asynchronous proxy, from
	// different CTAs, no proxy fence between.
	BothAsyncOtherCTA
	// SameValue: plain stores of equal bytes.
	SameValue
	// StaleConstant: a non-coherent read of data written in this launch.
	StaleConstant
	// NotMorallyStrong: both are strong, but their scopes or sizes do not match.
	NotMorallyStrong
	// IssueKnown: the earlier access is an operation's (InFlight), and the
	// later agent is ordered after its issue.
	IssueKnown
	// OneInstruction: stores by several lanes of one instruction, which share a
	// clock, to one place.
	OneInstruction
	// IfTensorFence: tcgen05 operations that are ordered by what synchronizes their threads,
	// and not by tcgen05.fence::before_thread_sync and after_thread_sync.
	IfTensorFence
	// IfDataCame: the earlier access is a tcgen05.ld whose registers were used, and what
	// follows their use is ordered with the later access. By the letter that orders nothing.
	IfDataCame
	// IfQueued: tcgen05 operations of one thread, the first a multiplication that reads what
	// the second overwrites, in no pipeline: ordered if the tensor core takes them as issued.
	IfQueued
	// IfCommitted: the address that tcgen05.alloc stored, read in its CTA: ordered if the
	// arrival of a tcgen05.commit released what its thread did before.
	IfCommitted
	// IfRelayed: accesses of a CTA's threads to its shared memory: ordered if the arrival of a
	// tcgen05.commit released what its thread had acquired before.
	IfRelayed
	// UnusedOperand: bytes of A or B of a tcgen05.mma of which no result is used
	// (Config.Unused).
	UnusedOperand
	// IfTogether: ordered only because the warps of a warpgroup begin and end a wgmma
	// together.
	IfTogether
	// MapReleased and MapAcquired: the later access reads a tensor map, to whose proxy the
	// earlier one was released; which an acquire there preceded.
	MapReleased
	MapAcquired
)

// An AccessRef is one side of a Conflict or Fact.
type AccessRef struct {
	CTA, Warp int32
	Lanes     uint32 // those that accessed the Span
	PC        int32
	Access    machine.Access
	Proxy     machine.Proxy
	Strong    bool
	Scope     machine.Scope
	// Of an asynchronous operation: its number (-1 for an access by lanes), kind,
	// stage and mechanism. CTA, Warp and Lanes are its issuer's.
	Op    int64
	Kind  machine.OpKind
	Stage machine.Stage
	Group machine.Group
	// Barrier reports that the operation completes on an mbarrier, Bar.
	Barrier bool
	Bar     machine.BarRef
	// ReadDone: a .read wait of the issuer covers the operation.
	ReadDone bool
}

// A Conflict is two conflicting accesses that nothing orders. Further ones of
// the same instructions for the same reason are counted.
type Conflict struct {
	Prior, Cur AccessRef
	Span       machine.Span
	Why        Why
	Count      int
	// Half says whose fence is missing, for IfNotRelaxed between lanes.
	Half Half
	// Apart is how far apart the two are, Away whether the memory is not the own shared
	// memory of both: of those counted, where it is most. What mends one of them need not
	// mend the others.
	Apart Distance
	Away  bool
}

// A Distance is how far apart two agents are.
type Distance uint8

// The distances.
const (
	OneThread Distance = iota // the same lanes of a warp
	OneWarp
	OneCTA
	OneCluster
	OneGrid
)

// apart returns how far apart two agents are.
func (t *Tracker) apart(a, b *AccessRef) Distance {
	switch {
	case a.CTA == b.CTA && a.Warp == b.Warp && a.Lanes == b.Lanes:
		return OneThread
	case a.CTA == b.CTA && a.Warp == b.Warp:
		return OneWarp
	case a.CTA == b.CTA:
		return OneCTA
	case t.cfg.ClusterOf(a.CTA) == t.cfg.ClusterOf(b.CTA):
		return OneCluster
	}
	return OneGrid
}

type relation uint8

const (
	ordered relation = iota
	// inferred: ordered by what was observed (observe.go), or was not (unseen.go).
	inferred
	morallyStrong
	racing
)

// relate classifies an access against an earlier one that follows did not settle, for
// bytes [a, b) of the row, and reports a conflict if the two race.
func (t *Tracker) relate(s *seg, ac *access, p *stamp, a, b int) relation {
	how := t.related(s, ac, p, a, b)
	if how == racing && t.cfg.Locks != nil && t.cfg.Locks.Raced != nil {
		t.cfg.Locks.Raced(machine.Span{Mem: ac.mem, Addr: ac.rowAddr + uint64(a), Len: uint64(b - a)})
	}
	if how != ordered && t.cfg.Pairs != nil {
		t.cfg.Pairs.leave(p.pc, ac.st.pc, machine.Span{Mem: ac.mem, Addr: ac.rowAddr + uint64(a), Len: uint64(b - a)})
	}
	return how
}

func (t *Tracker) related(s *seg, ac *access, p *stamp, a, b int) relation {
	if !ac.write && !p.writes() {
		return ordered
	}
	ac.from = a
	if t.launchOver(ac, p) {
		return ordered
	}
	if ac.proxy == machine.Constant {
		t.conflict(ac, p, a, b, StaleConstant)
		return racing
	}
	if p.isOp() {
		return t.relateOp(s, ac, p, a, b)
	}
	if ac.mem.Kind() == machine.TensorMemory && (t.freedBefore(ac, p) || t.followsColumns(ac, p)) {
		return ordered
	}
	if len(t.allocs) > 0 && p.who == ac.st.who && (t.allocs[p.pc] || t.allocs[ac.st.pc]) {
		return ordered // the whole warp stores the address, in program order (ISA 9.7.18.6.1)
	}
	at, ok := t.firstUnknown(nil, ac, p, a, b)
	if ok {
		return ordered
	}
	if t.morallyStrong(ac, p, at) {
		if t.cfg.Strong != nil {
			owner, w := t.split(p.who)
			t.cfg.Strong(Pair{Prior: p.pc, Cur: ac.st.pc, CTA: owner, Warp: w, OneWarp: p.who == ac.st.who, At: machine.Span{Mem: ac.mem, Addr: ac.rowAddr + uint64(at), Len: uint64(b - at)}})
		}
		return morallyStrong
	}
	if p.turn != 0 || ac.group.know.of(unseen) != nil {
		if at, ok = t.firstUnknown(s, ac, p, at, b); ok {
			return inferred
		}
	}
	if t.lacksFenceAlone(ac, p, at, b) {
		t.conflict(ac, p, at, b, IfProxyFence|t.shape(ac, p, at))
		return racing
	}
	if t.afterIssue(ac, p) {
		t.conflict(ac, p, at, b, InFlight|IssueKnown)
		return racing
	}
	// Lanes may race for different reasons: each reason is reported once.
	var told [8]Why
	n := 0
	for !ok {
		why := t.whyLanes(ac, p, at)
		if t.equalValues(ac, p, at) {
			why |= SameValue
		}
		if !slices.Contains(told[:n], why) && n < len(told) {
			told[n] = why
			n++
			t.conflictTogether(ac, p, at, b, why)
		}
		next := at + 1
		for next < b && p.lanesAt(next) == p.lanesAt(at) && ac.lanesAt(next) == ac.lanesAt(at) {
			next++
		}
		at, ok = t.firstUnknown(s, ac, p, next, b)
	}
	return racing
}

// lacksFenceAlone reports whether an access of the asynchronous proxy lacks only a
// proxy fence: its generic view knows the earlier access at all bytes of [a, b).
func (t *Tracker) lacksFenceAlone(ac *access, p *stamp, a, b int) bool {
	if ac.proxy == machine.Generic {
		return false
	}
	lanes := uint32(0)
	for x := a; x < b; x++ {
		lanes |= p.lanesAt(x)
	}
	owner, w := t.split(p.who)
	return t.whyUnknown(ac, owner, w, lanes, p.time) == IfProxyFence
}

// firstUnknown returns the first byte of [a, b) at which the access does not know an
// earlier one by lanes; true if it knows all. Given s, the segment of both, it also
// applies observation order and the unseen view.
func (t *Tracker) firstUnknown(s *seg, ac *access, p *stamp, a, b int) (int, bool) {
	known := t.knownOf(ac, p)
	if known == ^uint32(0) {
		return 0, true
	}
	if s != nil && ac.group.know.of(unseen) != nil {
		known |= t.knownUnseen(ac, p)
	}
	byOrder := t.byOrder(ac, p)
	for x := a; x < b; x++ {
		left := p.lanesAt(x) &^ known
		if left == 0 {
			continue
		}
		if byOrder {
			cur := ac.lanesAt(x)
			if cur&(cur-1) == 0 {
				left &^= cur
			}
			if left == 0 {
				continue
			}
		}
		if s != nil && p.turn != 0 && t.observed(s, ac, p, x) {
			continue
		}
		return x, false
	}
	return 0, true
}

// knownOf returns the lanes of stamp p whose access ac knows, without the program
// order of ac's own lanes.
func (t *Tracker) knownOf(ac *access, p *stamp) uint32 {
	owner, w := t.split(p.who)
	if ac.proxy == machine.Generic {
		return t.knownIn(&ac.group.know, ac.mem, owner, w, p.time)
	}
	known := uint32(0)
	if owner == ac.home.index && w == ac.wi {
		known = ac.passed(p.time)
	}
	for _, v := range ac.views {
		if v != nil {
			known |= t.knownLanes(v, owner, w, p.time)
		}
	}
	return known
}

// byOrder reports whether program order may relate an access to an earlier one.
func (t *Tracker) byOrder(ac *access, p *stamp) bool {
	return p.who == ac.st.who || ac.st.isOp() && ac.proxy == machine.Generic && p.who == t.who(ac.home.index, ac.wi)
}

// knownIn is knownLanes for a generic access to a memory.
func (t *Tracker) knownIn(k *know, mem machine.MemID, owner, w int32, upto uint32) uint32 {
	known := t.knownLanes(&k.gen, owner, w, upto)
	if mem == machine.Global || known == ^uint32(0) {
		return known
	}
	for i := range k.rows {
		if k.rows[i].view.restrictedTo(mem) {
			known |= t.knownLanes(&k.rows[i].clk, owner, w, upto)
		}
	}
	return known
}

// lanesAt returns the lanes that access a byte; of an operation, its issuer.
func (ac *access) lanesAt(x int) uint32 {
	if ac.st.isOp() {
		return ac.lane
	}
	return ac.st.lanesAt(x)
}

// morallyStrong applies ISA 8.7 to an access and an earlier one by lanes.
func (t *Tracker) morallyStrong(ac *access, p *stamp, at int) bool {
	if !ac.st.strong() || !p.strong() || ac.proxy != machine.Generic {
		return false
	}
	owner, _ := t.split(p.who)
	need := uint8(t.needed(owner, ac.home.index))
	return ac.st.scope() >= need && p.scope() >= need && ac.st.shift() == p.shift()
}

// whyLanes diagnoses a conflict with an earlier access by lanes.
func (t *Tracker) whyLanes(ac *access, p *stamp, at int) Why {
	owner, w := t.split(p.who)
	lanes := p.lanesAt(at)
	why := t.whyUnknown(ac, owner, w, lanes, p.time)
	if ac.proxy != machine.Generic && why == NoEdge {
		// Its issuer's program order leads here; the proxy fence is missing.
		if owner == ac.home.index && w == ac.wi && lanes&^ac.lane == 0 {
			why = IfProxyFence
		}
	}
	if why == NoEdge {
		why = t.byCommit(ac, p, owner, w, lanes)
	}
	if why == NoEdge && t.warpKnown(ac, owner, w, p.time) {
		why = SameWarpLanes
	}
	return why | t.shape(ac, p, at)
}

// whyUnknown finds the narrowest view in which the lanes are known.
func (t *Tracker) whyUnknown(ac *access, owner, w int32, lanes, upto uint32) Why {
	k := &ac.group.know
	self := uint32(0)
	if owner == ac.home.index && w == ac.wi && ac.st.isOp() {
		self = ac.lane
	}
	has := func(c *clock) bool { return lanes&^(t.knownLanes(c, owner, w, upto)|self) == 0 }
	if ac.proxy != machine.Generic && lanes&^(t.knownIn(k, ac.mem, owner, w, upto)|self) == 0 {
		return IfProxyFence
	}
	if why := t.knownTogether(ac, owner, w, lanes, upto); why != 0 {
		return why
	}
	if has(k.wide()) {
		return IfScopeWider
	}
	if has(k.strong()) {
		return IfNotRelaxed
	}
	return NoEdge
}

// byCommit tells whether two accesses of a CTA to its shared memory lack only that a commit's
// arrival be a release: of the address that tcgen05.alloc stored, which is complete before its
// warp goes on; or of what the commit's thread had acquired, and so is complete, too.
func (t *Tracker) byCommit(ac *access, p *stamp, owner, w int32, lanes uint32) Why {
	if ac.mem != machine.SharedOf(owner) || ac.home.index != owner || ac.proxy != machine.Generic {
		return NoEdge
	}
	k := &ac.group.know
	has := func(c *clock) bool { return c != nil && lanes&^t.knownLanes(c, owner, w, p.time) == 0 }
	switch {
	case t.allocs[p.pc] && has(k.of(committed)):
		return IfCommitted
	case has(k.of(relayed)):
		return IfRelayed
	}
	return NoEdge
}

// warpKnown reports whether only synchronization within the warp is missing: both
// accesses are of one warp, or some lane of the earlier access's warp is known up to
// that time.
func (t *Tracker) warpKnown(ac *access, owner, w int32, upto uint32) bool {
	return owner == ac.home.index && w == ac.wi || t.knownLanes(&ac.group.know.gen, owner, w, upto) != 0
}

// shape returns the causes that the widths and strengths of the two show.
func (t *Tracker) shape(ac *access, p *stamp, at int) Why {
	var why Why
	if p.shift() != ac.st.shift() && (!p.isOp() && !ac.st.isOp() || p.strong() && ac.st.strong()) {
		why |= PartialOverlap
	}
	if ac.st.strong() && p.strong() && ac.st.isOp() == p.isOp() { // by two proxies they never are (ISA 8.6)
		why |= NotMorallyStrong
	}
	return why
}

// conflictTogether reports a conflict. One that lacks a proxy fence and is ordered
// otherwise only by a wgmma is two.
func (t *Tracker) conflictTogether(ac *access, p *stamp, at, end int, why Why) {
	if why&(IfTogether|IfProxyFence) == IfTogether|IfProxyFence {
		t.conflict(ac, p, at, end, why&^IfProxyFence)
		why &^= IfTogether
	}
	t.conflict(ac, p, at, end, why)
}

// conflict reports a conflict at byte at of the row, in a segment that ends at
// byte end.
func (t *Tracker) conflict(ac *access, p *stamp, at, end int, why Why) {
	if op := t.multiplies(ac, p); op != nil && t.racesWith(op, ac, end) {
		why |= UnusedOperand
	}
	if ac.proxy == machine.TensorMap {
		why |= t.mapHalves(ac, p, at)
	}
	c := Conflict{Prior: t.refOf(p, at, ac.mem), Cur: t.curRef(ac, at), Why: why, Count: 1}
	c.Span = spanOf(ac, p, at, end)
	if why&InFlight != 0 && t.afterIssue(ac, p) {
		c.Prior, c.Cur = c.Cur, c.Prior
	}
	c.Apart = t.apart(&c.Prior, &c.Cur)
	c.Away = c.Span.Mem != machine.SharedOf(c.Prior.CTA) || c.Span.Mem != machine.SharedOf(c.Cur.CTA)
	t.reports++
	if why&IfNotRelaxed != 0 && !p.isOp() && !t.found.has(&c) {
		c.Half = t.half(ac, p, at)
	}
	if t.found.conflict(&c) && t.cfg.Sink != nil {
		t.cfg.Sink(&c)
	}
}

// refOf describes an earlier access.
func (t *Tracker) refOf(p *stamp, at int, mem machine.MemID) AccessRef {
	if p.isOp() {
		r := t.ops.refIn(p.op(), mem)
		r.Access = machine.Access(p.what &^ marks)
		if p.what&mapRead != 0 {
			r.Proxy = machine.TensorMap
		}
		return r
	}
	owner, w := t.split(p.who)
	return AccessRef{
		CTA: owner, Warp: w, Lanes: p.lanesAt(at), PC: p.pc, Op: -1,
		Access: machine.Access(p.what &^ marks), Proxy: proxyOf(p.what),
		Strong: p.strong(), Scope: machine.Scope(p.scope()),
	}
}

func proxyOf(what uint8) machine.Proxy {
	switch {
	case what&constantRead != 0:
		return machine.Constant
	case what&mapRead != 0:
		return machine.TensorMap
	}
	return machine.Generic
}

func (t *Tracker) curRef(ac *access, at int) AccessRef { return t.refOf(&ac.st, at, ac.mem) }

// spanOf returns the narrower of the two lanes' locations at a byte; for two
// operations, the rest of the segment.
func spanOf(ac *access, p *stamp, at, end int) machine.Span {
	lo, n := uint64(at), uint64(end-at)
	if sh := min(p.shift(), ac.st.shift()); sh < opShift {
		n = 1 << sh
		lo &^= n - 1
	}
	return machine.Span{Mem: ac.mem, Addr: ac.rowAddr + lo, Len: n}
}

// equalValues reports whether two plain stores write the same bytes: memory already
// holds the value of the new one.
func (t *Tracker) equalValues(ac *access, p *stamp, at int) bool {
	ev := t.ev
	if t.mem == nil || ev.Kind != machine.EvAccess || p.isOp() || ac.st.strong() || p.strong() {
		return false
	}
	if ev.Access != machine.Write || machine.Access(p.what&^current) != machine.Write || p.shift() != ac.st.shift() {
		return false
	}
	val := ev.Values()
	if val == nil {
		return false
	}
	lane := bits.TrailingZeros32(ac.st.lanesAt(at))
	if p.who == ac.st.who && p.time == ac.st.time && p.pc == ac.st.pc && p.lanes != ac.st.lanes && ev.Mask&p.lanesAt(at) != 0 {
		// Possibly the same instruction, whose stores are not performed yet.
		if other := bits.TrailingZeros32(p.lanesAt(at)); ev.Addr[other] == ev.Addr[lane] {
			return equalLanes(val, other, lane)
		}
	}
	if t.cfg.Equal != nil && p.what&current == 0 && t.cfg.Equal(p.pc) && t.cfg.Equal(ac.st.pc) {
		return false // another store came between, or may have
	}
	for k := range val {
		old, ok := t.mem.Peek(ac.mem, ev.Addr[lane]+8*uint64(k), min(8, int(ev.Size)-8*k))
		if !ok || old != val[k][lane] {
			return false
		}
	}
	return true
}

// equalLanes reports whether two lanes of a store write the same.
func equalLanes(val [][32]uint64, a, b int) bool {
	for k := range val {
		if val[k][a] != val[k][b] {
			return false
		}
	}
	return true
}

// sameInstruction reports plain stores of several lanes to one place.
func (t *Tracker) sameInstruction(ac *access, addr, size uint64) {
	ev := t.ev
	lanes := ac.st.lanes
	first := bits.TrailingZeros32(lanes)
	val := ev.Values()
	same := val != nil
	for m := lanes; m != 0 && same; m &= m - 1 {
		same = equalLanes(val, bits.TrailingZeros32(m), first)
	}
	c := Conflict{Why: NoEdge | SameWarpLanes | OneInstruction, Count: 1, Span: machine.Span{Mem: ac.mem, Addr: addr, Len: size}}
	if same {
		c.Why |= SameValue
	}
	if t.cfg.Pairs != nil {
		t.cfg.Pairs.leave(ac.st.pc, ac.st.pc, c.Span)
	}
	c.Prior, c.Cur = t.refOf(&ac.st, 0, ac.mem), t.refOf(&ac.st, 0, ac.mem)
	c.Prior.Lanes, c.Cur.Lanes = 1<<first, lanes&^(1<<first)
	c.Apart = OneWarp
	if t.found.conflict(&c) && t.cfg.Sink != nil {
		t.cfg.Sink(&c)
	}
}
