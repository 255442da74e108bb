// Package outcome decides whether the strong accesses of a launch may have an outcome
// that no interleaving has.
//
// Exploration runs interleavings: one step after the other, each read returning the
// last write. The memory consistency model of the ISA (chapter 8) promises this only
// where causality order relates the accesses. Where it does not relate strong
// accesses, a thread may see a flag and not yet what was stored before it.
//
// # The theorem
//
// A *word* is what one access of the memory model touches: a scalar, an element of a
// vector (ISA 8.2.4), half of a packed value (8.2.5), or an mbarrier that some thread
// tests. A word is *open* if, in some interleaving, two threads make morally strong
// accesses to it, one of them a write, that causality order does not relate, and a
// result shows which comes first. What an access itself acquires does not count,
// except for a wait that nothing else ends. Threads are lanes: the warp orders
// nothing (3.2).
//
// A *visit* is all that lanes of one warp do to one word. The *word graph* of a
// launch has an edge from visit A to visit B where, in some interleaving, an access
// of A precedes an access of B for any reason: causality, or one step that waits for
// another (control.go).
//
// If no interleaving has a data race, if no path of edges leads from a visit of an
// open word to another of it by way of a second open word, and if control alone never
// orders two accesses that causality does not relate (such a word is *placed*), then
// every execution that the axioms of 8.10 allow is an interleaving. docs/schedules.md
// has the proof.
package outcome

import (
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// A Facts holds what the text of a program says of its instructions.
type Facts struct {
	Program *machine.Program
	// Decides reports whether the value read at pc affects anything.
	Decides func(pc int32) bool
	Cluster int // CTAs a cluster

	looks    bool // mbarriers are tested, and the program uses either answer
	polls    bool // words are waited for
	barriers bool // there are barriers of CTAs
	nature   []nature
}

// New returns the facts of a program.
func New(p *machine.Program, cluster int, decides func(pc int32) bool) *Facts {
	f := &Facts{Program: p, Decides: decides, Cluster: cluster}
	f.natures()
	f.polls = len(p.Polls()) > 0
	for pc := range int32(p.Len()) {
		if in := p.Inst(pc); in != nil {
			f.looks = f.looks || onBarrier(in) && f.nature[pc].decides
			f.barriers = f.barriers || in.IsOf(ptx.ClassBarrier)
		}
	}
	return f
}

// most bounds the words that a run watches.
const most = 512

// maxVisits bounds the visits to them.
const maxVisits = 4096

// A Run watches one run, beside the tracker that judges it. It must observe each
// event before the tracker does.
type Run struct {
	facts   *Facts
	order   *order.Tracker // causality
	control *Control       // what precedes what in this run for any reason
	meets   *order.Tracker // what precedes what, by all that waits but for words: in every run
	machine *machine.Machine
	words   map[key]*word
	list    []*word
	visits  []*visit
	over    bool // an unwatched word may have shown an order
	// missed is the kind of the reductions on words that are not watched.
	missed int32
	// uses are those of the last two phases of each mbarrier, parts the instructions
	// on mbarriers whose lanes have to execute one by one.
	uses  map[machine.BarRef][]use
	parts []int32
	ev    *machine.Event
}

type key struct {
	kind kind
	mem  machine.MemID
	addr uint64
}

type kind uint8

const (
	memory kind = iota
	mbar        // an mbarrier
)

// A word holds what a run showed of a word.
type word struct {
	key     key
	visits  []*visit
	done    []access // the last one of each instruction, per lane
	count   int      // of accesses
	past    []past
	forgot  bool    // past is incomplete
	pcs     []int32 // of accesses that causality does not relate
	several []int32 // instructions that several lanes of a warp executed together
	// placed: control, but not causality, ordered two accesses.
	placed bool
	// steps are joint steps of lanes of a warp. parted: a thread may see a part of
	// one.
	steps  []step
	parted bool
	// looks are tests of an mbarrier that may have either result; served:
	// asynchronous operations complete it, too.
	looks  []int32
	served bool
}

// A visit is all that lanes of one warp do to a word.
type visit struct {
	id        int
	word      *word
	cta, warp int32
	moments   []order.Moment // in the run's control: the first of each lane
	lanes     uint32
	from      []uint64 // bit set of visits with an edge to this one
	// loose: causality order does not relate it to a visit of another thread, and the
	// order shows; inside: to itself, by another lane of the warp.
	loose, inside bool
}

// A step is what lanes of a warp executed together.
type step struct {
	order.Moment
	pc int32
}

// An access is the last access by lanes of a warp through one instruction, and its index
// in the word's list of accesses.
type access struct {
	step
	control order.Moment // the same moment in the run's control
	n       int
}

// A past is a write, and the value that it overwrote.
type past struct {
	order.Moment
	before uint64
}

// NewRun watches a run that has not begun.
func (f *Facts) NewRun(t *order.Tracker) *Run {
	return &Run{facts: f, order: t, control: NewControl(t.Config().Shape, f.barriers, false), meets: newMeets(t), words: map[key]*word{}}
}

// Observe takes the next event.
func (r *Run) Observe(m *machine.Machine, ev *machine.Event) {
	r.ev, r.machine = ev, m
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Sem != machine.Weak && ev.Proxy == machine.Generic {
			r.access(ev)
		}
	case machine.EvIssue:
		r.issued(ev)
	case machine.EvMbar:
		r.charge(ev)
		switch {
		case byLane(ev.Mbar.Op):
			r.mbarrier(ev, 1<<uint(ev.Lane))
		case r.facts.looks:
			r.serve(ev)
		}
	case machine.EvMbarWait:
		if ev.Mbar.OK {
			r.waited(ev)
		}
		r.mbarrier(ev, ev.Mask)
	}
	r.control.Observe(m, ev)
	r.meet(m, ev)
}

// mbarrier takes an operation on an mbarrier, in a program that tests some mbarrier
// where either answer matters.
func (r *Run) mbarrier(ev *machine.Event, lanes uint32) {
	if !r.facts.looks {
		return
	}
	b := ev.Mbar.Bar
	w := r.word(key{mbar, b.Mem, b.Addr})
	if w == nil {
		r.over = true
		return
	}
	v := r.visit(w, ev, lanes)
	if v == nil {
		return
	}
	if ev.Kind == machine.EvMbarWait && r.facts.nature[ev.PC].decides {
		w.looks = append(w.looks, ev.PC)
		if w.served {
			v.loose = true
			w.unrelated(ev.PC)
		}
	}
	r.compare(w, v, ev, lanes)
}

// serve takes what an asynchronous operation does to an mbarrier.
func (r *Run) serve(ev *machine.Event) {
	b := ev.Mbar.Bar
	w := r.word(key{mbar, b.Mem, b.Addr})
	if w == nil {
		r.over = true
		return
	}
	w.served = true
	if len(w.looks) > 0 {
		for _, v := range w.visits {
			v.loose = true
		}
		w.unrelated(w.looks...)
	}
}

// byLane reports whether an operation on an mbarrier is a lane's instruction, and not
// the completion of an asynchronous operation.
func byLane(op machine.MbarOp) bool {
	return op != machine.MbarCompleteTx && op != machine.MbarAsyncArrive
}

// A use is what lanes did to an mbarrier in one step.
type use struct {
	step
	meets order.Moment // the same moment among what meets
	kind  useKind
	phase int64
	// open are the lanes whose use may still come later: of a wait, those that
	// precede no charge to a later phase; of a credit, those that precede no arrival
	// of its phase.
	open uint32
}

type useKind uint8

const (
	arrival useKind = iota
	credit          // what must not come last: an expect_tx or an increment by itself, .noComplete
	wait            // a test that found its phase complete
)

// by reports whether lanes of an event's warp made a use.
func (u *use) by(ev *machine.Event) bool { return u.CTA == ev.CTA && u.Warp == ev.Warp }

// charge takes an operation on an mbarrier. Lanes that take a step together may reach
// the barrier with other operations in between. They must execute one by one where
// that changes the phase that an operation is charged to, or what it finds.
func (r *Run) charge(ev *machine.Event) {
	mb := &ev.Mbar
	list := r.uses[mb.Bar]
	switch mb.Op {
	case machine.MbarInit, machine.MbarInval:
		r.ended(list, ev)
		delete(r.uses, mb.Bar)
		return
	}
	kind, own := arrival, byLane(mb.Op)
	counts := mb.Op != machine.MbarExpectTx && mb.Op != machine.MbarIncrement
	if !counts || mb.NoComplete {
		kind = credit
	}
	for i := range list {
		u := &list[i]
		if own && (u.kind == wait || u.kind == credit && counts) {
			u.open &^= r.knows(ev, u)
		}
		switch {
		case u.kind == wait:
			// Others could complete the next phase before these lanes have tested.
			if mb.Completed && u.phase < mb.Phase && u.open != 0 && (u.open != u.Lanes || u.by(ev)) {
				r.apart(u.pc, ev.PC)
			}
		case u.phase != mb.Phase:
			// Lanes of one warp must charge different phases in the order of the
			// phases.
			if own && u.by(ev) && r.knows(ev, u) != u.Lanes {
				r.apart(u.pc, ev.PC)
			}
		case u.kind == credit && mb.Completed && u.open != 0:
			// The phase could be complete before these lanes' credit.
			r.apart(u.pc, ev.PC)
		}
	}
	list = slices.DeleteFunc(list, func(u use) bool { return u.phase < mb.Phase-1 })
	if own {
		lane := uint32(1) << uint(ev.Lane)
		list = append(list, use{step{r.order.Moment(ev, lane), ev.PC}, r.meets.Moment(ev, lane), kind, mb.Phase, lane})
	}
	r.keep(mb.Bar, list)
}

// knows returns the lanes of a use that precedes what an event's lane does, in every
// interleaving.
func (r *Run) knows(ev *machine.Event, u *use) uint32 {
	return r.order.Known(ev.CTA, ev.Warp, int(ev.Lane), u.Moment) | r.meets.Known(ev.CTA, ev.Warp, int(ev.Lane), u.meets)
}

// keep keeps the uses of an mbarrier, the latest if there are many.
func (r *Run) keep(at machine.BarRef, list []use) {
	if r.uses == nil {
		r.uses = map[machine.BarRef][]use{}
	}
	if len(list) > maxUses {
		list = list[len(list)-maxUses:]
	}
	r.uses[at] = list
}

// maxUses bounds how many uses of an mbarrier are kept.
const maxUses = 4096

// issued takes the issue of an operation that will charge mbarriers.
func (r *Run) issued(ev *machine.Event) {
	for _, at := range ev.Op.Bars {
		list := r.uses[at]
		for i := range list {
			if u := &list[i]; u.kind == wait {
				u.open &^= r.knows(ev, u)
			}
		}
	}
}

// waited records that lanes found a phase complete.
func (r *Run) waited(ev *machine.Event) {
	r.keep(ev.Mbar.Bar, append(r.uses[ev.Mbar.Bar], use{step{r.order.Moment(ev, ev.Mask), ev.PC}, r.meets.Moment(ev, ev.Mask), wait, ev.Mbar.Phase, ev.Mask}))
}

// ended takes the end of an mbarrier's life. The end may follow the use by some lanes
// of a step and be unordered with that by others, whose use could then come after it.
func (r *Run) ended(list []use, ev *machine.Event) {
	type together struct {
		pc        int32
		cta, warp int32
		phase     int64
	}
	some := map[together]bool{} // steps with lanes that precede the end
	at := func(u *use) together { return together{u.pc, u.CTA, u.Warp, u.phase} }
	for i := range list {
		if u := &list[i]; u.by(ev) || r.knows(ev, u) != 0 {
			some[at(u)] = true
		}
	}
	for i := range list {
		if u := &list[i]; some[at(u)] && r.knows(ev, u) != u.Lanes {
			r.apart(u.pc, ev.PC)
		}
	}
}

// apart records instructions whose lanes have to execute one by one.
func (r *Run) apart(pcs ...int32) {
	for _, pc := range pcs {
		if !slices.Contains(r.parts, pc) {
			r.parts = append(r.parts, pc)
		}
	}
}

// access takes a strong access of lanes.
func (r *Run) access(ev *machine.Event) {
	several := ev.Mask&(ev.Mask-1) != 0
	for rest := ev.Mask; rest != 0; {
		l := bits.TrailingZeros32(rest)
		same := uint32(0)
		for k := rest; k != 0; k &= k - 1 {
			if i := bits.TrailingZeros32(k); ev.Addr[i] == ev.Addr[l] {
				same |= 1 << i
			}
		}
		rest &^= same
		w := r.word(key{memory, ev.Mem, ev.Addr[l]})
		if w == nil {
			r.miss(ev.PC)
			continue
		}
		r.looks(w, ev, same)
		v := r.visit(w, ev, same)
		if v == nil {
			continue
		}
		r.elements(v, ev, ev.Addr[l])
		r.compare(w, v, ev, same)
		if several && !slices.Contains(w.several, ev.PC) {
			w.several = append(w.several, ev.PC)
		}
		if several {
			w.steps = append(w.steps, step{r.order.Moment(ev, ev.Mask), ev.PC})
		}
		if same&(same-1) != 0 && ev.Access&machine.Write != 0 && r.shows(ev.PC, ev.PC) && !equal(ev, same) {
			v.loose, v.inside = true, true
			w.unrelated(ev.PC, ev.PC)
		}
	}
}

// miss takes an access to a word that is not watched. Reductions of a single kind do
// not show their order.
func (r *Run) miss(pc int32) {
	n := &r.facts.nature[pc]
	r.over = r.over || n.decides || n.acquires || n.adds == 0 || r.missed != 0 && r.missed != n.adds
	r.missed = n.adds
}

// elements enters edges both ways between the elements of one vector access: they
// have no order (ISA 8.2.4).
func (r *Run) elements(v *visit, ev *machine.Event, addr uint64) {
	for part := ev.Part; part > 0; part -= ev.Size {
		addr -= uint64(ev.Size)
		if w := r.words[key{memory, ev.Mem, addr}]; w != nil {
			if o := w.of(ev.CTA, ev.Warp); o != nil {
				v.follows(o)
				o.follows(v)
			}
		}
	}
}

// compare finds earlier accesses of others to a word that do not precede what the
// lanes are about to do. What the lanes acquire by this access does not count: it
// could have come before, or have read an older value.
func (r *Run) compare(w *word, v *visit, ev *machine.Event, lanes uint32) {
	settled := r.settled(w, ev, lanes)
	for i := range w.done {
		a := &w.done[i]
		if settled[i] || !r.contend(a.pc, ev.PC) || r.forced(w, ev, lanes) {
			continue
		}
		w.meet(v, w.of(a.CTA, a.Warp))
		w.unrelated(a.pc, ev.PC)
		w.placed = w.placed || !unknown(r.control.Order, a.control, ev, lanes)
	}
	w.count++
	now := access{step{r.order.Moment(ev, lanes), ev.PC}, r.control.Order.Moment(ev, lanes), w.count}
	keep := w.done[:0]
	for _, a := range w.done {
		if a.pc == ev.PC && a.CTA == ev.CTA && a.Warp == ev.Warp {
			a.Lanes &^= lanes
			a.control.Lanes = a.Lanes
		}
		if a.Lanes != 0 {
			keep = append(keep, a)
		}
	}
	w.done = append(keep, now)
	if w.key.kind == memory && ev.Access&machine.Write != 0 && r.facts.polls {
		if len(w.past) == maxPast {
			w.forgot = true
		} else if before, ok := r.machine.Peek(ev.Mem, w.key.addr, int(min(ev.Size, 8))); ok {
			w.past = append(w.past, past{now.Moment, before})
		}
	}
}

// maxPast bounds the writes of a word that are remembered.
const maxPast = 4096

// contend reports whether at least one of two accesses to a word writes, and a result
// shows which comes first.
func (r *Run) contend(a, b int32) bool {
	return (r.facts.writes(a) || r.facts.writes(b)) && r.shows(a, b)
}

// settled returns which accesses to a word precede what lanes are about to do there:
// in causality order, or through the word itself (Coherence, and observation order,
// 8.9.2), because a later access that precedes it is by the same thread, or contends
// with them.
func (r *Run) settled(w *word, ev *machine.Event, lanes uint32) []bool {
	known := make([]bool, len(w.done))
	for i := len(w.done) - 1; i >= 0; i-- { // the later ones first
		a := &w.done[i]
		known[i] = !unknown(r.order, a.Moment, ev, lanes)
		for k := i + 1; k < len(w.done) && !known[i]; k++ {
			b := &w.done[k]
			known[i] = known[k] && (r.contend(a.pc, b.pc) || a.CTA == b.CTA && a.Warp == b.Warp && a.Lanes&^b.Lanes == 0)
		}
	}
	return known
}

// meet marks two visits as not related by causality.
func (w *word) meet(a, b *visit) {
	a.loose, b.loose = true, true
	a.inside = a.inside || a == b
}

// unknown reports whether a Moment fails to precede what lanes are about to do.
func unknown(t *order.Tracker, of order.Moment, ev *machine.Event, lanes uint32) bool {
	for k := lanes; k != 0; k &= k - 1 {
		if t.Known(ev.CTA, ev.Warp, bits.TrailingZeros32(k), of) != of.Lanes {
			return true
		}
	}
	return false
}

// forced reports whether lanes wait for a word, and no value that they may read ends
// their wait except the current one. What they acquire by it then counts.
func (r *Run) forced(w *word, ev *machine.Event, lanes uint32) bool {
	if w.key.kind != memory {
		return false // a test that only the phase's completion ends decides nothing
	}
	poll := r.facts.Program.Polls()[ev.PC]
	if poll == nil || w.forgot {
		return false
	}
	for k := lanes; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k)
		with := r.machine.ComparedWith(poll, l)
		for i := range w.past {
			p := &w.past[i]
			if poll.Ends(p.before, with) && unknown(r.order, p.Moment, ev, 1<<l) {
				return false
			}
		}
	}
	return true
}

// looks marks a word as parted if a thread may see a part of what lanes of a warp did
// in one step: nothing orders the whole step before the thread's access, except
// perhaps what it reads.
func (r *Run) looks(w *word, ev *machine.Event, lanes uint32) {
	for i := range w.steps {
		s := &w.steps[i]
		if w.parted || !r.facts.writes(s.pc) && !r.facts.writes(ev.PC) || !r.shows(s.pc, ev.PC) {
			continue
		}
		for k := lanes; k != 0 && !w.parted; k &= k - 1 {
			w.parted = r.order.Known(ev.CTA, ev.Warp, bits.TrailingZeros32(k), s.Moment) != s.Lanes
		}
	}
}

// equal reports whether lanes store one value, so that their order cannot show.
func equal(ev *machine.Event, lanes uint32) bool {
	if ev.Access != machine.Write {
		return false
	}
	values := ev.Values()
	first := bits.TrailingZeros32(lanes)
	for k := lanes; k != 0; k &= k - 1 {
		for _, v := range values {
			if v[bits.TrailingZeros32(k)] != v[first] {
				return false
			}
		}
	}
	return len(values) > 0
}

func (r *Run) word(k key) *word {
	w := r.words[k]
	if w != nil {
		return w
	}
	if len(r.list) == most {
		return nil
	}
	w = &word{key: k}
	r.words[k] = w
	r.list = append(r.list, w)
	return w
}

// of returns a warp's visit, nil if it made none.
func (w *word) of(cta, warp int32) *visit {
	for _, v := range w.visits {
		if v.cta == cta && v.warp == warp {
			return v
		}
	}
	return nil
}

// visit records that lanes access a word, and from which other visits an edge leads
// there.
func (r *Run) visit(w *word, ev *machine.Event, lanes uint32) *visit {
	v := w.of(ev.CTA, ev.Warp)
	if v == nil {
		if len(r.visits) == maxVisits {
			r.over = true
			return nil
		}
		v = &visit{id: len(r.visits), word: w, cta: ev.CTA, warp: ev.Warp}
		r.visits, w.visits = append(r.visits, v), append(w.visits, v)
	}
	for _, from := range r.visits {
		if from != v && !v.comesFrom(from.id) && r.leads(from, ev, lanes) {
			v.follows(from)
		}
	}
	if fresh := lanes &^ v.lanes; fresh != 0 {
		v.lanes |= fresh
		v.moments = append(v.moments, r.control.Order.Moment(ev, fresh))
	}
	return v
}

// follows enters an edge of the word graph.
func (v *visit) follows(from *visit) {
	for len(v.from) <= from.id>>6 {
		v.from = append(v.from, 0)
	}
	v.from[from.id>>6] |= 1 << (from.id & 63)
}

func (v *visit) comesFrom(id int) bool {
	return id>>6 < len(v.from) && v.from[id>>6]>>(id&63)&1 != 0
}

func (r *Run) leads(from *visit, ev *machine.Event, lanes uint32) bool {
	for i := range from.moments {
		for k := lanes; k != 0; k &= k - 1 {
			if r.control.Order.Known(ev.CTA, ev.Warp, bits.TrailingZeros32(k), from.moments[i]) != 0 {
				return true
			}
		}
	}
	return false
}

// Strong serves as order.Config.Strong: two accesses are unordered, even with what
// the later one acquires.
func (r *Run) Strong(p order.Pair) {
	if !r.shows(p.Prior, p.Cur) || r.ev == nil || r.ev.Kind != machine.EvAccess {
		return
	}
	for k := r.ev.Mask; k != 0; k &= k - 1 {
		at := r.ev.Addr[bits.TrailingZeros32(k)]
		if at+uint64(r.ev.Size) <= p.At.Addr || p.At.Addr+p.At.Len <= at {
			continue
		}
		w := r.words[key{memory, p.At.Mem, at}]
		if w == nil {
			r.over = true
			continue
		}
		if p.Async {
			// Only a wait of a lane orders an operation's accesses among those of
			// lanes.
			if r.facts.Program.Polls()[p.Cur] == nil {
				w.placed = true
				w.unrelated(p.Cur)
			}
			continue
		}
		a, b := w.of(p.CTA, p.Warp), w.of(r.ev.CTA, r.ev.Warp)
		if a == nil || b == nil {
			r.over = true
			continue
		}
		w.meet(a, b)
		w.unrelated(p.Prior, p.Cur)
	}
}

// unrelated records instructions that causality order does not relate.
func (w *word) unrelated(pcs ...int32) {
	for _, pc := range pcs {
		if !slices.Contains(w.pcs, pc) {
			w.pcs = append(w.pcs, pc)
		}
	}
}

// open: see the theorem in the package comment.
func (w *word) open() bool {
	return slices.ContainsFunc(w.visits, func(v *visit) bool { return v.loose })
}

// shows reports whether a result shows which of two accesses to one word, at least
// one a write, comes first: one of them reads, and its value affects something, or
// both write, and the final value depends on the order. The rounding of
// floating-point sums alone does not count.
func (r *Run) shows(a, b int32) bool {
	if a < 0 || b < 0 {
		return true
	}
	x, y := &r.facts.nature[a], &r.facts.nature[b]
	return x.decides || y.decides || x.writes && y.writes && (x.adds == 0 || x.adds != y.adds) ||
		x.releases && y.acquires || y.releases && x.acquires
}

// A nature is what the text says of an instruction that accesses memory.
type nature struct {
	// decides: the program's behaviour depends on what it reads, by its value or
	// because it acquires.
	decides bool
	writes  bool
	// releases: a read of it may also see what came before it, by its own semantics
	// or an earlier fence. acquires: though an atomic's result is unused, a fence
	// after it may make it synchronize.
	releases, acquires bool
	// adds names a reduction whose kind leaves the same value in any order; 0 for
	// other instructions.
	adds int32
}

// natures computes the natures of a program's instructions.
func (f *Facts) natures() {
	p := f.Program
	kinds := map[string]int32{}
	f.nature = make([]nature, p.Len())
	fences := map[int32]bool{}
	for pc := range int32(p.Len()) {
		if in := p.Inst(pc); in != nil && in.PlainFence() {
			fences[pc] = true
		}
	}
	fenced := p.Reach(slices.Collect(maps.Keys(fences))...)
	for pc := range f.nature {
		in, at := p.Inst(int32(pc)), int32(pc)
		does := ptx.None
		if in != nil {
			does = in.Effect()
		}
		loads := does.Has(ptx.Reads) && !does.Has(ptx.Updates)
		n := nature{writes: !loads}
		switch {
		case in == nil:
			n.decides = true
		case onBarrier(in):
			test := does.Has(ptx.Tests)
			n.decides, n.writes, n.adds = test && !p.Awaits(at), !test, arrivals
		case loads, p.Polls()[at] != nil:
			n.decides = true
		case does.Has(ptx.Reads):
			n.decides = in.Sem().Acquires() || f.Decides(at)
			n.acquires = p.FenceBehind(at)
		}
		n.releases = in != nil && n.writes && (fenced[at] || in.Sem().Releases())
		if does.Has(ptx.Updates) && (p.Commutes(at) == "" || p.FloatSum(at)) {
			name := p.Operation(at)
			if kinds[name] == 0 {
				kinds[name] = int32(len(kinds) + 1)
			}
			n.adds = kinds[name]
		}
		f.nature[pc] = n
	}
}

// onBarrier reports whether an instruction is an operation of lanes on an mbarrier.
func onBarrier(in *ptx.Inst) bool {
	return in.IsOf(ptx.ClassMbarrier) && in.Form.Async == "none"
}

// arrivals is the kind of operations on an mbarrier: their order does not matter.
const arrivals = -1

func (f *Facts) writes(pc int32) bool { return f.nature[pc].writes }
