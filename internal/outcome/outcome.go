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
// vector (ISA 8.2.4), half of a packed value (8.2.5). A word is *open* if two
// morally strong accesses to it, one of them a write, by two threads are not related
// by causality order in some interleaving, and it shows which of them comes first.
// Threads are lanes: the warp orders nothing (3.2). The *word graph* of a launch has
// an edge from open word A to open word B where, in some interleaving, an access to A
// comes before an access to B in base causality order (8.9.5: program order and what
// synchronizes).
//
// If no interleaving has a data race, and the word graph has no cycle, then every
// execution that the axioms of 8.10 allow is an interleaving.
//
// Take an execution, and the largest part of it that is closed under dependency and
// reads-from and has an interleaving; so far all words that are not open have their
// accesses in causality order. Let the next thing not be that of an interleaving.
// Either it reads what is not the last write; then the accesses have a cycle of
// causality order and of the orders of words (reads-from, coherence, from-read). Words
// that are not open add none of the latter that causality does not have (axioms
// Coherence and Causality). A cycle stays in one word, which SC-per-location and
// Causality forbid, or leads from open word to open word by causality order: along a
// cycle of the graph. Or there is nothing next: each thread stands before a read of
// what another will only write after its own such read (load buffering). By
// No-Thin-Air not all of these writes depend on those reads. One that does not is
// made, with the same value, in the interleaving where its thread's read takes what
// is there; so the word of the read and the word of the write are open, and program
// order leads from the one to the other; going round gives a cycle of the graph,
// unless all is one word, which coherence forbids.
//
// Barriers that synchronize are in causality order. One that is used by relaxed
// operations, or in a scope too narrow, orders control alone; it is then a word of the
// graph, which is always open, and of which nobody asks what it holds.
package outcome

import (
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// A Facts says of a program's instructions what the text tells.
type Facts struct {
	Program *machine.Program
	// Decides reports whether what the instruction at pc reads decides something.
	Decides func(pc int32) bool
	Cluster int // CTAs a cluster

	relaxed bool // barriers are used by relaxed operations, or narrow ones
	nature  []nature
}

// New returns the facts of a program.
func New(p *machine.Program, cluster int, decides func(pc int32) bool) *Facts {
	f := &Facts{Program: p, Decides: decides, Cluster: cluster}
	f.natures()
	for pc := range int32(p.Len()) {
		if in := p.Inst(pc); in != nil && (in.Op == "mbarrier" || in.Op == "barrier") {
			f.relaxed = f.relaxed || slices.Contains(in.Mods, "relaxed") || cluster > 1 && slices.Contains(in.Mods, "cta")
		}
	}
	return f
}

// most bounds how many words a run is watched at.
const most = 512

// A Run watches one run, beside the tracker that judges it. It is to observe each
// event before the tracker does.
type Run struct {
	facts *Facts
	order *order.Tracker
	words map[key]*word
	list  []*word
	over  bool // there were more words than are watched
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
	memory  kind = iota
	mbar         // an mbarrier
	cluster      // the barrier of a cluster, by its first CTA
)

// A word is what a run showed of one.
type word struct {
	id      int
	key     key
	open    bool
	visits  []order.Moment // the first by each lane
	from    []uint64       // words that causality leads here from, as bits
	pcs     []int32        // of accesses that are not related
	several []int32        // instructions that several lanes of a warp made together
	// together are these steps. parted: somebody may see a part of one.
	together []step
	parted   bool
}

// A step is what lanes of a warp did together.
type step struct {
	order.Moment
	pc int32
}

// NewRun watches a run that has not begun.
func (f *Facts) NewRun(t *order.Tracker) *Run {
	return &Run{facts: f, order: t, words: map[key]*word{}}
}

// Observe takes the next event.
func (r *Run) Observe(m *machine.Machine, ev *machine.Event) {
	r.ev = ev
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Sem != machine.Weak && ev.Proxy == machine.Generic {
			r.access(ev)
		}
	case machine.EvMbar:
		if !byLane(ev.Mbar.Op) {
			return
		}
		r.charge(ev)
		if r.facts.relaxed {
			b := ev.Mbar.Bar
			r.barrier(ev, key{mbar, b.Mem, b.Addr}, 1<<uint(ev.Lane))
		}
	case machine.EvMbarWait:
		if ev.Mbar.OK {
			r.waited(ev)
		}
		if r.facts.relaxed && ev.Mbar.OK {
			b := ev.Mbar.Bar
			r.barrier(ev, key{mbar, b.Mem, b.Addr}, ev.Mask)
		}
	case machine.EvClusterArrive, machine.EvClusterWait:
		if r.facts.relaxed {
			r.barrier(ev, key{cluster, machine.MemID(m.ClusterFirst(ev.CTA)), 0}, ev.Mask)
		}
	}
}

// barrier takes an operation on a barrier, of a program in which some are relaxed.
func (r *Run) barrier(ev *machine.Event, k key, lanes uint32) {
	if w := r.word(k); w != nil {
		w.open = w.open || ev.Sem == machine.Relaxed || r.facts.Cluster > 1 && ev.Scope == machine.ScopeCTA
		r.visit(w, ev, lanes)
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
	r.charges[ev.Mbar.Bar] = append(keep, charge{step{r.order.Moment(ev, 1<<lane), ev.PC}, ev.Mbar.Phase})
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
	r.waits[ev.Mbar.Bar] = append(list, charge{step{r.order.Moment(ev, ev.Mask), ev.PC}, ev.Mbar.Phase})
}

// lapped looks for lanes whose wait for a phase comes before nothing that is charged to
// the next one: other lanes of their warp could complete that before they have looked.
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
			if w.CTA == ev.CTA && w.Warp == ev.Warp {
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
	phase int64
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
			continue
		}
		r.looks(w, ev, same)
		r.visit(w, ev, same)
		r.elements(w, ev, ev.Addr[l])
		if several && !slices.Contains(w.several, ev.PC) {
			w.several = append(w.several, ev.PC)
		}
		if several {
			w.together = append(w.together, step{r.order.Moment(ev, ev.Mask), ev.PC})
		}
		if same&(same-1) != 0 && ev.Access&machine.Write != 0 && r.shows(ev.PC, ev.PC) && !equal(ev, same) {
			w.unrelated(ev.PC, ev.PC)
		}
	}
}

// elements has the elements of one access lead to each other: they have no order
// (ISA 8.2.4).
func (r *Run) elements(w *word, ev *machine.Event, addr uint64) {
	for part := ev.Part; part > 0; part -= ev.Size {
		addr -= uint64(ev.Size)
		if o := r.words[key{memory, ev.Mem, addr}]; o != nil {
			w.follows(o)
			o.follows(w)
		}
	}
}

// looks notes a word at which a thread looks at what lanes of a warp did in one step,
// of which it may see a part: nothing orders the step before what it does, but
// perhaps what it sees.
func (r *Run) looks(w *word, ev *machine.Event, lanes uint32) {
	for i := range w.together {
		s := &w.together[i]
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
		r.over = true
		return nil
	}
	w = &word{id: len(r.list), key: k}
	r.words[k] = w
	r.list = append(r.list, w)
	return w
}

// visit notes that lanes come to a word, and from which others causality leads there.
func (r *Run) visit(w *word, ev *machine.Event, lanes uint32) {
	for _, from := range r.list {
		if from != w && !w.comesFrom(from.id) && r.leads(from, ev, lanes) {
			w.follows(from)
		}
	}
	fresh := lanes
	for i := range w.visits {
		if v := &w.visits[i]; v.CTA == ev.CTA && v.Warp == ev.Warp {
			fresh &^= v.Lanes
		}
	}
	if fresh != 0 {
		w.visits = append(w.visits, r.order.Moment(ev, fresh))
	}
}

// follows enters an edge of the word graph.
func (w *word) follows(from *word) {
	for len(w.from) <= from.id>>6 {
		w.from = append(w.from, 0)
	}
	w.from[from.id>>6] |= 1 << (from.id & 63)
}

func (w *word) comesFrom(id int) bool {
	return id>>6 < len(w.from) && w.from[id>>6]>>(id&63)&1 != 0
}

func (r *Run) leads(from *word, ev *machine.Event, lanes uint32) bool {
	for i := range from.visits {
		for k := lanes; k != 0; k &= k - 1 {
			if r.order.Known(ev.CTA, ev.Warp, bits.TrailingZeros32(k), from.visits[i]) != 0 {
				return true
			}
		}
	}
	return false
}

// Strong is order.Config's.
func (r *Run) Strong(p order.Pair) {
	if !r.shows(p.Prior, p.Cur) || r.ev == nil || r.ev.Kind != machine.EvAccess {
		return
	}
	for k := r.ev.Mask; k != 0; k &= k - 1 {
		at := r.ev.Addr[bits.TrailingZeros32(k)]
		if at+uint64(r.ev.Size) <= p.At.Addr || p.At.Addr+p.At.Len <= at {
			continue
		}
		if w := r.words[key{memory, p.At.Mem, at}]; w != nil {
			w.unrelated(p.Prior, p.Cur)
		}
	}
}

func (w *word) unrelated(pcs ...int32) {
	w.open = true
	for _, pc := range pcs {
		if !slices.Contains(w.pcs, pc) {
			w.pcs = append(w.pcs, pc)
		}
	}
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
		if in := p.Inst(pc); in != nil && (in.Op == "membar" || in.Op == "fence") && !slices.Contains(in.Mods, "proxy") {
			fences[pc] = true
		}
	}
	fenced := p.Reach(slices.Collect(maps.Keys(fences))...)
	for pc := range f.nature {
		in, at := p.Inst(int32(pc)), int32(pc)
		n := nature{writes: in == nil || in.Op != "ld"}
		switch {
		case in == nil:
			n.decides = true
		case in.Op == "ld", p.Polls()[at] != nil:
			n.decides = true
		case in.Op == "atom":
			acquires := slices.ContainsFunc(in.Mods, func(m string) bool { return m == "acquire" || m == "acq_rel" })
			n.decides = acquires || f.Decides(at)
			for behind, comes := range p.Reach(at) {
				n.acquires = n.acquires || comes && fences[int32(behind)]
			}
		}
		n.releases = in != nil && n.writes && (fenced[at] || slices.ContainsFunc(in.Mods, func(m string) bool { return m == "release" || m == "acq_rel" }))
		if in != nil && (in.Op == "red" || in.Op == "atom") && (p.Commutes(at) == "" || p.FloatSum(at)) {
			name := p.Operation(at)
			if kinds[name] == 0 {
				kinds[name] = int32(len(kinds) + 1)
			}
			n.adds = kinds[name]
		}
		f.nature[pc] = n
	}
}

func (f *Facts) writes(pc int32) bool { return f.nature[pc].writes }
