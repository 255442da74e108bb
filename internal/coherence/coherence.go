// Package coherence says which versions of a word a strong access may take: what the axioms of
// the PTX memory consistency model (ISA 8.10) allow in an execution that has come so far.
//
// An execution is built one operation after the other, in an order in which each read comes
// after the write that it reads. A machine that keeps versions (machine.KeepVersions) holds for
// each word what was written to it, in coherence order (8.9.6). The next access of a lane may
// read, or follow, the version v if no later one precedes the access in causality order (8.9.5):
// then Coherence (8.10.1), Causality (8.10.6) and SC per Location (8.10.5) hold, and
// if not they do not. A read-modify-write follows what it reads at once, so that it cannot read
// what another has read, and nothing is written between the two (Atomicity, 8.10.3). Fence-SC
// (8.10.2) holds since the order of morally strong fence.sc is that of their steps, which
// causality order includes (package order, Config.Executions).
//
// So every execution is built in which program order, reads-from, Fence-SC and the order of
// barriers have no cycle, and each part of such an execution that is closed under these orders
// is one itself. Of the others, which have load buffering, a Run says whether there may be some
// (Loose).
//
// That is for executions without a data race. Racing says the same where accesses race, for litmus
// tests: coherence order is partial there, and is gone through word by word.
package coherence

import (
	"math/bits"
	"slices"
	"sort"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/outcome"
)

// A Run follows one run, beside the tracker that knows its causality order. It must observe each
// event before that tracker does.
type Run struct {
	order   *order.Tracker
	control *outcome.Control
	words   map[machine.Word]*word
	list    []*word
	fences  []fence
	settled int // of the tracker's ChosenFences
	nodes   []node
	lanes   []lanePlace         // that made accesses
	of      map[lanePlace][]int // their nodes
	loose   []Open
	buffer  []buffering
	promise *promised
	// fixed: no value that is loaded decides which accesses there are.
	fixed bool
	// varies: values may decide what orders accesses.
	varies bool
	stale  *Stale
	over   bool
}

type lanePlace struct {
	cta, warp int32
	lane      int8
}

// A word holds the versions of a word, and who read them.
type word struct {
	at       machine.Word
	versions []version // in coherence order; the first is machine.Initial
	reads    []read
}

// A version is a write, and the reads that observed it (8.9.2), the first of each lane.
type version struct {
	name   machine.Version
	by     order.Moment // of Initial: the first reads alone count
	seen   []order.Moment
	node   int // -1: Initial
	update bool
	// swaps: it was written by a compare-and-swap, which may find another value and fail.
	swaps bool
	// above are the nodes of versions that come before it in every coherence order.
	above []int
}

// A read is a strong read.
type read struct {
	order.Moment
	control order.Moment
	pc      int32
	of      machine.Version
	node    int
	update  bool // it wrote a version, whatever it read
	modify  bool // it may write a version
	// floor is the last version that precedes the read in causality order; what comes before
	// it in coherence order cannot be read. behind are the versions that accesses behind the
	// read took.
	floor  machine.Version
	behind []machine.Version
}

// A node is a strong access of a lane to a word.
type node struct {
	Access
	control order.Moment
	after   []int // the last node of each lane that precedes it for any reason: program order, reads-from, barriers
	from    int   // the node that wrote what it reads, -1 if none did
	reads   bool
	writes  bool
	of      machine.Version // that it reads
	made    machine.Version // that it writes
	fences  []uint32        // of each fence.sc, the lanes that precede it in base causality order
	first   int             // the node of the first word of the same access, to several words
	whole   bool            // an interleaving has all nodes of the access at once
}

func (n *node) lane() lanePlace { return lanePlace{n.CTA, n.Warp, n.Lane} }

// An Access is a strong access of a lane to a word; Several: it is one of several words.
type Access struct {
	PC        int32
	CTA, Warp int32
	Lane      int8
	Several   bool
	Word      machine.Word
}

// A Stale says which access took another version than the last: it read or followed Took, and
// Over came next in coherence order. A version that no strong write of the run made has PC -1.
// Torn: the run is an interleaving of accesses of which the elements of a vector come apart.
type Stale struct {
	Access
	Writes     bool
	Torn       bool
	Took, Over Access
}

// most bounds the strong accesses of a run that are followed.
const most = 4096

// NewRun watches a run that has not begun, whose causality order t derives.
func NewRun(t *order.Tracker, p *machine.Program) *Run {
	return &Run{order: t, control: outcome.NewControl(t.Config().Shape, p.HasBarriers(), true), words: map[machine.Word]*word{}, of: map[lanePlace][]int{}, fixed: p.Fixed(), varies: p.OrderVaries()}
}

// Observe takes the next event.
func (r *Run) Observe(m *machine.Machine, ev *machine.Event) {
	r.chosen()
	switch {
	case ev.Kind == machine.EvFence && ev.Fence == machine.FenceMemory:
		if r.promise != nil {
			r.promise.fence(r, ev)
		}
		if ev.Sem == machine.SC {
			r.fence(ev)
		}
	case ev.Kind == machine.EvAccess && ev.Sem != machine.Weak && ev.Proxy == machine.Generic:
		for k := ev.Mask; k != 0; k &= k - 1 {
			r.access(m, ev, bits.TrailingZeros32(k)&31)
		}
	}
	r.control.Observe(m, ev)
}

// word returns what is known of a word.
func (r *Run) word(at machine.Word) *word {
	w := r.words[at]
	if w == nil {
		w = &word{at: at, versions: []version{{name: machine.Initial, node: -1}}}
		r.words[at] = w
		r.list = append(r.list, w)
	}
	return w
}

func (r *Run) access(m *machine.Machine, ev *machine.Event, lane int) {
	if len(r.nodes) == most {
		r.over = true
		return
	}
	w := r.word(machine.Word{Mem: ev.Mem, Addr: ev.Addr[lane], Size: ev.Size})
	w.agree(m.Versions(w.at))
	i := len(w.versions) - 1
	if ev.Picks {
		i = slices.IndexFunc(w.versions, func(v version) bool { return v.name == ev.Pick })
		if i < 0 {
			return
		}
	}
	n := r.enter(ev, lane, w)
	if i < len(w.versions)-1 && r.stale == nil {
		r.stale = &Stale{Access: r.nodes[n].Access, Writes: ev.Access == machine.Write, Took: r.made(&w.versions[i]), Over: r.made(&w.versions[i+1])}
	}
	writes := ev.Access&machine.Write != 0
	switch {
	case r.promise != nil && writes:
		r.promise.keeps(r, m, ev, lane, w, i)
	case r.promise == nil && (writes || m.Program().Compares(ev.PC)):
		r.buffers(ev, lane, w, i, n, writes) // before it reads, so that this tells nothing
	}
	took := w.versions[i].name
	if ev.Access == machine.Write {
		took = r.names(m, ev, lane)
	}
	if r.fixed {
		r.follow(ev, lane, w, took)
	}
	r.nodes[n].fences = r.fencesBefore(ev, lane)
	now, control := r.order.Moment(ev, 1<<lane), r.nodes[n].control
	update, swaps := ev.Access&machine.Update != 0, m.Program().Compares(ev.PC)
	if r.promise != nil {
		r.promise.notes(r, ev, lane, n)
	}
	if ev.Access&machine.Read != 0 || update {
		if from := w.versions[i].node; from >= 0 {
			r.nodes[n].after = append(r.nodes[n].after, from)
			r.nodes[n].from = from
		}
		r.nodes[n].reads, r.nodes[n].of = true, w.versions[i].name
		if p := r.promise; p != nil && p.by == nil {
			p.takes(r, ev, n, now, control)
		}
		w.versions[i].observe(now)
		w.reads = append(w.reads, read{Moment: now, control: control, pc: ev.PC, of: w.versions[i].name, node: n, modify: update || swaps, update: update && !swaps && ev.Access&machine.Write != 0, floor: r.floor(ev, lane, w)})
	}
	if ev.Access&machine.Write != 0 {
		r.nodes[n].writes, r.nodes[n].made = true, r.names(m, ev, lane)
		above := r.above(ev, lane, w, i, update)
		w.versions = slices.Insert(w.versions, i+1, version{above: above, name: r.names(m, ev, lane), by: now, node: n, update: update, swaps: swaps})
	}
}

// names returns the name of the version that a lane is about to write.
func (r *Run) names(m *machine.Machine, ev *machine.Event, lane int) machine.Version {
	name := m.NextVersion(ev.CTA, ev.Warp, lane)
	if ev.Whole > 0 {
		name += machine.Version(ev.Part / ev.Size)
	}
	return name
}

// made returns the access that wrote a version.
func (r *Run) made(v *version) Access {
	if v.node < 0 {
		return Access{PC: -1}
	}
	return r.nodes[v.node].Access
}

// enter adds the node of an access. The words of one access are in no order (ISA 8.2.4, 8.2.5). In
// an interleaving a load or a store has all of them at once; an atomic operation has not, for it is
// atomic for each word alone (9.7.13.6).
func (r *Run) enter(ev *machine.Event, lane int, w *word) int {
	at := len(r.nodes)
	n := node{from: -1, Access: Access{ev.PC, ev.CTA, ev.Warp, int8(lane), ev.Whole > 0, w.at}, control: r.control.Order.Moment(ev, 1<<lane), first: at}
	if ev.Whole > 0 {
		n.whole = ev.Access&machine.Update == 0
		for i := at - 1; !ev.First && i >= 0; i-- {
			if o := &r.nodes[i]; o.CTA == ev.CTA && o.Warp == ev.Warp && o.Lane == int8(lane) {
				n.first = o.first
				break
			}
		}
	}
	// What a lane did is in order: its last access that precedes stands for those before.
	own := lanePlace{ev.CTA, ev.Warp, int8(lane)}
	for _, who := range r.lanes {
		list := r.of[who]
		k := sort.Search(len(list), func(k int) bool { return !r.controls(ev, lane, r.nodes[list[k]].control) })
		for k > 0 && r.nodes[list[k-1]].first == n.first {
			k--
		}
		for i := k - 1; i >= 0 && r.nodes[list[i]].first == r.nodes[list[k-1]].first; i-- {
			n.after = append(n.after, list[i])
		}
	}
	if r.of[own] == nil {
		r.lanes = append(r.lanes, own)
	}
	r.of[own] = append(r.of[own], len(r.nodes))
	r.nodes = append(r.nodes, n)
	return at
}

// controls reports whether a moment precedes what a lane is about to do, for any reason.
func (r *Run) controls(ev *machine.Event, lane int, of order.Moment) bool {
	return r.control.Order.Known(ev.CTA, ev.Warp, lane, of) != 0
}

// Over reports that there were more strong accesses than are followed.
func (r *Run) Over() bool { return r.over }

// Stale returns the first access that took another version than the last, nil if none did or if
// some interleaving has the same execution: if order for any reason, coherence order and reads
// before overwriting have no cycle.
func (r *Run) Stale() *Stale {
	if r.stale == nil || r.sequential(true) {
		return nil
	}
	r.stale.Torn = r.sequential(false)
	return r.stale
}

// sequential reports whether some interleaving has the execution; whole: one in which a load or a
// store has all of its words at once.
func (r *Run) sequential(whole bool) bool {
	n := len(r.nodes)
	next := make([][]int, n)
	edge := func(a, b int) {
		if whole {
			a, b = r.step(a), r.step(b)
		}
		if a != b {
			next[a] = append(next[a], b)
		}
	}
	for i := range r.nodes {
		for _, k := range r.nodes[i].after {
			edge(k, i)
		}
	}
	for _, w := range r.list {
		for i := 1; i < len(w.versions); i++ {
			if a, b := w.versions[i-1].node, w.versions[i].node; a >= 0 && b >= 0 {
				edge(a, b)
			}
		}
		for k := range w.reads {
			d := &w.reads[k]
			for i := range w.versions[:len(w.versions)-1] {
				if b := w.versions[i+1].node; w.versions[i].name == d.of && b >= 0 {
					edge(d.node, b)
				}
			}
		}
	}
	// An order exists if every node can be removed once all before it are.
	before := make([]int, n)
	for i := range next {
		for _, k := range next[i] {
			before[k]++
		}
	}
	var ready []int
	for i := range before {
		if before[i] == 0 {
			ready = append(ready, i)
		}
	}
	gone := 0
	for ; len(ready) > 0; gone++ {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, k := range next[i] {
			if before[k]--; before[k] == 0 {
				ready = append(ready, k)
			}
		}
	}
	return gone == n
}

// step returns the node that stands for one in an interleaving.
func (r *Run) step(n int) int {
	if r.nodes[n].whole {
		return r.nodes[n].first
	}
	return n
}

// agree drops versions that the machine has dropped, since a weak operation wrote the word.
func (w *word) agree(names []machine.Version) {
	if len(names) == 0 {
		if len(w.versions) > 1 {
			w.versions = []version{{name: machine.Initial, node: -1}}
		}
		return
	}
	if len(names) == len(w.versions) && names[len(names)-1] == w.versions[len(names)-1].name {
		return // versions are dropped all together
	}
	w.versions = slices.DeleteFunc(w.versions, func(v version) bool { return !slices.Contains(names, v.name) })
}

func (v *version) observe(now order.Moment) {
	for i := range v.seen {
		if o := &v.seen[i]; o.CTA == now.CTA && o.Warp == now.Warp && o.Lanes == now.Lanes {
			return
		}
	}
	v.seen = append(v.seen, now)
}

// Allows reports whether the axioms allow a choice: that of an access that takes the last
// version always, and that of one that picks another if causality order leaves it open.
func (r *Run) Allows(m *machine.Machine, c machine.Choice) bool {
	if c.Kind != machine.Pick {
		return true
	}
	words, took := m.WordsOf(c), c.Picked()
	for i, at := range words {
		if !r.open(m, c, at, took[i]) {
			return false
		}
	}
	return len(words) > 0
}

// open reports whether causality order leaves it open that the lane of a choice takes a version of
// a word.
func (r *Run) open(m *machine.Machine, c machine.Choice, at machine.Word, took machine.Version) bool {
	if took == m.Last(at) {
		return true
	}
	w := r.words[at]
	if w == nil {
		return false
	}
	i := slices.IndexFunc(w.versions, func(v version) bool { return v.name == took })
	if i < 0 {
		return false
	}
	for k := i + 1; k < len(w.versions); k++ {
		if r.known(&w.versions[k], c.CTA, c.Warp, int(c.Lane)) {
			return false
		}
	}
	return true
}

// known reports whether a write comes before a lane's next access in causality order: in base
// causality order, or because that follows a read that observed the write.
func (r *Run) known(v *version, cta, warp int32, lane int) bool {
	if v.by.Lanes != 0 && r.order.Known(cta, warp, lane, v.by) != 0 {
		return true
	}
	for i := range v.seen {
		if r.order.Known(cta, warp, lane, v.seen[i]) != 0 {
			return true
		}
	}
	return false
}
