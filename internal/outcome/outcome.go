// Package outcome decides whether the strong accesses of a launch could come out
// otherwise than in any interleaving.
//
// Exploration runs interleavings: one step after the other, each read taking what was
// written last. The memory consistency model of the ISA (chapter 8) promises that
// much only where accesses are related by causality order. Where strong accesses are
// not, a thread may see a flag and not yet what was stored before it.
//
// # The theorem
//
// A *word* is what one access of the memory model touches: a scalar, an element of a
// vector (ISA 8.2.4), half of a packed value (8.2.5), or an mbarrier that somebody looks
// at once. A word is *open* if two morally strong accesses to it, one of them a write, by
// two threads are not related by causality order in some interleaving, and it shows
// which of them comes first. What an access acquires by itself does not count, but of a
// wait that nothing else ends. Threads are lanes: the warp orders nothing (3.2).
//
// A *visit* is all that lanes of one warp do to one word. The *word graph* of a launch
// has an edge from visit A to visit B where, in some interleaving, an access of A comes
// before an access of B for any reason: causality, or what makes one step wait for
// another (control.go).
//
// If no interleaving has a data race, if no edges lead from a visit of an open word to
// another, by way of a second open word, and if control alone puts no two accesses in
// order that causality does not relate (a word so is *placed*), then every execution
// that the axioms of 8.10 allow is an interleaving. docs/schedules.md has the proof.
package outcome

import (
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// A Facts says of a program's instructions what the text tells.
type Facts struct {
	Program *machine.Program
	// Decides reports whether what the instruction at pc reads decides something.
	Decides func(pc int32) bool
	Cluster int // CTAs a cluster

	looks    bool // mbarriers are tested where both answers matter
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

// most bounds how many words a run is watched at.
const most = 512

// mostVisits bounds how many visits there are to them.
const mostVisits = 4096

// A Run watches one run, beside the tracker that judges it. It is to observe each
// event before the tracker does.
type Run struct {
	facts   *Facts
	order   *order.Tracker // causality
	control *control       // what comes after what in this run for any reason
	machine *machine.Machine
	words   map[key]*word
	list    []*word
	visits  []*visit
	over    bool // something may have shown at what is not watched
	// missed is the kind of the reductions of words that are not watched.
	missed int32
	// charges are those of the last two phases of each mbarrier, parts instructions on
	// mbarriers whose lanes have to be parted.
	charges map[machine.BarRef][]charge
	waits   map[machine.BarRef][]charge
	parts   []int32
	ev      *machine.Event
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

// A word is what a run showed of one.
type word struct {
	key     key
	visits  []*visit
	done    []access // the last of each instruction, by the lanes of each warp
	count   int      // of accesses
	past    []past
	forgot  bool    // there was more past
	pcs     []int32 // of accesses that are not related
	several []int32 // instructions that several lanes of a warp made together
	// placed: who came later did so for reasons that are none of causality.
	placed bool
	// steps are what lanes of a warp did together. parted: somebody may see a part of one.
	steps  []step
	parted bool
	// looks are tests of an mbarrier that may come out either way, and that is
	// completed by asynchronous operations, too.
	looks  []int32
	served bool
}

// A visit is all that lanes of one warp do to a word.
type visit struct {
	id        int
	word      *word
	cta, warp int32
	moments   []order.Moment // of the run's control: the first by each lane
	lanes     uint32
	from      []uint64 // visits from which causality leads here, as bits
	// loose: causality order does not relate it to that of another thread, and it shows
	// which comes first; inside: another of the same warp.
	loose, inside bool
}

// A step is what lanes of a warp did together.
type step struct {
	order.Moment
	pc int32
}

// An access is the last that lanes of a warp made by one instruction, and the
// how many-th of the word it was.
type access struct {
	step
	control order.Moment // the same, for the run's control
	n       int
}

// A past is a write, and what was there before it.
type past struct {
	order.Moment
	before uint64
}

// NewRun watches a run that has not begun.
func (f *Facts) NewRun(t *order.Tracker) *Run {
	return &Run{facts: f, order: t, control: newControl(t, f.barriers), words: map[key]*word{}}
}

// Observe takes the next event.
func (r *Run) Observe(m *machine.Machine, ev *machine.Event) {
	r.ev, r.machine = ev, m
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Sem != machine.Weak && ev.Proxy == machine.Generic {
			r.access(ev)
		}
	case machine.EvMbar:
		switch {
		case byLane(ev.Mbar.Op):
			r.charge(ev)
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
	r.control.observe(m, ev)
}

// mbarrier takes an operation on an mbarrier of a program that looks at some of them
// where both answers matter.
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

// byLane reports whether an operation on an mbarrier is an instruction's, and not that
// of an asynchronous operation which completes.
func byLane(op machine.MbarOp) bool {
	return op != machine.MbarCompleteTx && op != machine.MbarAsyncArrive
}

// charge takes a lane's operation on an mbarrier. Lanes of one warp that charge
// different phases must do so in the order in which the phases come.
func (r *Run) charge(ev *machine.Event) {
	switch ev.Mbar.Op {
	case machine.MbarInit, machine.MbarInval:
		delete(r.charges, ev.Mbar.Bar)
		delete(r.waits, ev.Mbar.Bar)
		return
	}
	r.lapped(ev)
	lane := int(ev.Lane)
	list := r.charges[ev.Mbar.Bar]
	keep := list[:0]
	for _, c := range list {
		if c.phase < ev.Mbar.Phase-1 {
			continue
		}
		keep = append(keep, c)
		if c.phase != ev.Mbar.Phase && c.CTA == ev.CTA && c.Warp == ev.Warp && r.order.Known(ev.CTA, ev.Warp, lane, c.Moment) != c.Lanes {
			r.apart(c.pc)
			r.apart(ev.PC)
		}
	}
	if r.charges == nil {
		r.charges = map[machine.BarRef][]charge{}
	}
	r.charges[ev.Mbar.Bar] = append(keep, charge{step{r.order.Moment(ev, 1<<lane), ev.PC}, ev.Mbar.Phase, 1 << lane})
}

// waited notes that lanes have found a phase complete.
func (r *Run) waited(ev *machine.Event) {
	if r.waits == nil {
		r.waits = map[machine.BarRef][]charge{}
	}
	list := r.waits[ev.Mbar.Bar]
	if len(list) >= most {
		list = list[1:]
	}
	r.waits[ev.Mbar.Bar] = append(list, charge{step{r.order.Moment(ev, ev.Mask), ev.PC}, ev.Mbar.Phase, ev.Mask})
}

// lapped looks for lanes whose wait for a phase comes before nothing that is charged to
// the next one, though that of other lanes of their warp does: these could go on, and
// they or others complete that phase before the first have looked.
func (r *Run) lapped(ev *machine.Event) {
	bar := ev.Mbar.Bar
	list := r.waits[bar]
	keep := list[:0]
	for _, w := range list {
		if w.phase < ev.Mbar.Phase {
			w.Lanes &^= r.order.Known(ev.CTA, ev.Warp, int(ev.Lane), w.Moment)
		}
		if w.Lanes == 0 {
			continue
		}
		if w.phase < ev.Mbar.Phase && ev.Mbar.Completed {
			if w.Lanes != w.together || w.CTA == ev.CTA && w.Warp == ev.Warp {
				r.apart(w.pc)
				r.apart(ev.PC)
			}
			continue
		}
		keep = append(keep, w)
	}
	if len(list) > 0 {
		r.waits[bar] = keep
	}
}

// A charge is what a lane did to a phase of an mbarrier, or that it waited for it.
type charge struct {
	step
	phase    int64
	together uint32 // lanes that did it in one step
}

// apart notes an instruction whose lanes have to be let go one by one.
func (r *Run) apart(pc int32) {
	if !slices.Contains(r.parts, pc) {
		r.parts = append(r.parts, pc)
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

// miss takes an access to a word that is not watched. Reductions of one kind show
// nothing of their order.
func (r *Run) miss(pc int32) {
	n := &r.facts.nature[pc]
	r.over = r.over || n.decides || n.acquires || n.adds == 0 || r.missed != 0 && r.missed != n.adds
	r.missed = n.adds
}

// elements has the elements of one access lead to each other: they have no order
// (ISA 8.2.4).
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

// compare looks for what others did to a word that does not come before what lanes are
// about to do. What these acquire by it does not count: they could have come before,
// or have read something older.
func (r *Run) compare(w *word, v *visit, ev *machine.Event, lanes uint32) {
	settled := r.settled(w, ev, lanes)
	for i := range w.done {
		a := &w.done[i]
		if settled[i] || !r.contend(a.pc, ev.PC) || r.forced(w, ev, lanes) {
			continue
		}
		w.meet(v, w.of(a.CTA, a.Warp))
		w.unrelated(a.pc, ev.PC)
		w.placed = w.placed || !unknown(r.control.order, a.control, ev, lanes)
	}
	w.count++
	now := access{step{r.order.Moment(ev, lanes), ev.PC}, r.control.order.Moment(ev, lanes), w.count}
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
		if len(w.past) == mostPast {
			w.forgot = true
		} else if before, ok := r.machine.Peek(ev.Mem, w.key.addr, int(min(ev.Size, 8))); ok {
			w.past = append(w.past, past{now.Moment, before})
		}
	}
}

// mostPast bounds how many writes of a word are remembered.
const mostPast = 4096

// contend reports whether it shows which of two accesses to a word comes first, and at
// least one of them writes.
func (r *Run) contend(a, b int32) bool {
	return (r.facts.writes(a) || r.facts.writes(b)) && r.shows(a, b)
}

// settled tells which accesses to a word come before what lanes are about to do there:
// in causality order, or since the word shows it (Coherence, and observation order,
// 8.9.2), because one that comes before it came after them by the same thread, or
// contends with them.
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

// meet notes that two visits are not related.
func (w *word) meet(a, b *visit) {
	a.loose, b.loose = true, true
	a.inside = a.inside || a == b
}

// unknown reports whether something does not come before what lanes are about to do.
func unknown(t *order.Tracker, of order.Moment, ev *machine.Event, lanes uint32) bool {
	for k := lanes; k != 0; k &= k - 1 {
		if t.Known(ev.CTA, ev.Warp, bits.TrailingZeros32(k), of) != of.Lanes {
			return true
		}
	}
	return false
}

// forced reports whether lanes wait for a word, and nothing that they may read but
// what is there ends their wait. What they then acquire they must.
func (r *Run) forced(w *word, ev *machine.Event, lanes uint32) bool {
	if w.key.kind != memory {
		return false // a test that nothing but its phase ends decides nothing
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

// looks notes a word at which a thread looks at what lanes of a warp did in one step,
// of which it may see a part: nothing orders the step before what it does, but
// perhaps what it sees.
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

// equal reports whether lanes store one value, which nobody can tell apart.
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

// of returns the visit of a warp, nil if it has not been there.
func (w *word) of(cta, warp int32) *visit {
	for _, v := range w.visits {
		if v.cta == cta && v.warp == warp {
			return v
		}
	}
	return nil
}

// visit notes that lanes come to a word, and from which other visits causality leads
// there.
func (r *Run) visit(w *word, ev *machine.Event, lanes uint32) *visit {
	v := w.of(ev.CTA, ev.Warp)
	if v == nil {
		if len(r.visits) == mostVisits {
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
		v.moments = append(v.moments, r.control.order.Moment(ev, fresh))
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
			if r.control.order.Known(ev.CTA, ev.Warp, bits.TrailingZeros32(k), from.moments[i]) != 0 {
				return true
			}
		}
	}
	return false
}

// Strong is order.Config's: two accesses are not related, what the later one acquires
// counted.
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
			// What an operation does has no place among what lanes do, but by what a
			// lane waits for.
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

// unrelated notes instructions that causality order does not relate.
func (w *word) unrelated(pcs ...int32) {
	for _, pc := range pcs {
		if !slices.Contains(w.pcs, pc) {
			w.pcs = append(w.pcs, pc)
		}
	}
}

// open: see the theorem.
func (w *word) open() bool {
	return slices.ContainsFunc(w.visits, func(v *visit) bool { return v.loose })
}

// shows reports whether it can be seen which of two accesses to one word, at least
// one a write, comes first: one of them reads, and that decides something, or both
// leave what the order decides. Floating-point sums do so by their rounding, which
// alone is no reason to look for more.
func (r *Run) shows(a, b int32) bool {
	if a < 0 || b < 0 {
		return true
	}
	x, y := &r.facts.nature[a], &r.facts.nature[b]
	return x.decides || y.decides || x.writes && y.writes && (x.adds == 0 || x.adds != y.adds) ||
		x.releases && y.acquires || y.releases && x.acquires
}

// A nature is what the text tells of an instruction that accesses memory.
type nature struct {
	// decides: what it reads decides something, by its value or because what it saw was
	// released.
	decides bool
	writes  bool
	// releases: what sees it may see, by its own semantics or a fence before it, what
	// came before. acquires: though nobody reads what an atomic returns, a fence behind
	// it may make it synchronize.
	releases, acquires bool
	// adds names a reduction that leaves the same in any order with others of its kind;
	// 0 of others.
	adds int32
}

// natures works out the natures of a program's instructions.
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
			for behind, comes := range p.Reach(at) {
				n.acquires = n.acquires || comes && fences[int32(behind)]
			}
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

// arrivals are the kind of operations on an mbarrier: they come to the same in any order.
const arrivals = -1

func (f *Facts) writes(pc int32) bool { return f.nature[pc].writes }
