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
	loose   []int32
	whole   []int32
	stale   *Stale
	over    bool
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
}

// A read is a strong read.
type read struct {
	order.Moment
	control order.Moment
	pc      int32
	of      machine.Version
	node    int
	update  bool
}

// A fence is a fence.sc, at its moment in the order for any reason.
type fence struct {
	order.Moment
	pc int32
}

// A node is a strong access of a lane.
type node struct {
	Access
	control order.Moment
	after   []int // nodes that precede it for any reason: program order, reads-from, barriers
}

// An Access is a strong access of a lane to a word.
type Access struct {
	PC        int32
	CTA, Warp int32
	Lane      int8
	Word      machine.Word
}

// A Stale says which access took another version than the last: it read or followed Took, and
// Over came next in coherence order. A version that no strong write of the run made has PC -1.
type Stale struct {
	Access
	Writes     bool
	Took, Over Access
}

// most bounds the strong accesses of a run that are followed.
const most = 4096

// NewRun watches a run that has not begun, whose causality order t derives.
func NewRun(t *order.Tracker, barriers bool) *Run {
	return &Run{order: t, control: outcome.NewControl(t.Config().Shape, barriers, true), words: map[machine.Word]*word{}}
}

// Observe takes the next event.
func (r *Run) Observe(m *machine.Machine, ev *machine.Event) {
	r.chosen()
	switch {
	case ev.Kind == machine.EvFence && ev.Fence == machine.FenceMemory && ev.Sem == machine.SC:
		r.fences = append(r.fences, fence{r.control.Order.Moment(ev, ev.Mask), ev.PC})
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
	if ev.Whole > 0 && i > 0 && !r.known(&w.versions[i], ev.CTA, ev.Warp, lane) && !slices.Contains(r.whole, ev.PC) {
		r.whole = append(r.whole, ev.PC)
	}
	n := r.enter(ev, lane, w)
	if i < len(w.versions)-1 && r.stale == nil {
		r.stale = &Stale{Access: r.nodes[n].Access, Writes: ev.Access == machine.Write, Took: r.made(&w.versions[i]), Over: r.made(&w.versions[i+1])}
	}
	if ev.Access&machine.Write != 0 {
		r.buffers(ev, lane, w) // before it reads, so that this tells nothing
	}
	now, control := r.order.Moment(ev, 1<<lane), r.nodes[n].control
	update := ev.Access&machine.Update != 0
	if ev.Access&machine.Read != 0 || update {
		if from := w.versions[i].node; from >= 0 {
			r.nodes[n].after = append(r.nodes[n].after, from)
		}
		w.versions[i].observe(now)
		w.reads = append(w.reads, read{now, control, ev.PC, w.versions[i].name, n, update && ev.Access&machine.Write != 0})
	}
	if ev.Access&machine.Write != 0 {
		name := m.NextVersion(ev.CTA, ev.Warp, lane)
		if ev.Whole > 0 {
			name += machine.Version(ev.Part / ev.Size)
		}
		w.versions = slices.Insert(w.versions, i+1, version{name: name, by: now, node: n, update: update})
	}
}

// made returns the access that wrote a version.
func (r *Run) made(v *version) Access {
	if v.node < 0 {
		return Access{PC: -1}
	}
	return r.nodes[v.node].Access
}

// enter adds the node of an access.
func (r *Run) enter(ev *machine.Event, lane int, w *word) int {
	n := node{Access: Access{ev.PC, ev.CTA, ev.Warp, int8(lane), w.at}, control: r.control.Order.Moment(ev, 1<<lane)}
	for i := range r.nodes {
		if r.controls(ev, lane, r.nodes[i].control) {
			n.after = append(n.after, i)
		}
	}
	r.nodes = append(r.nodes, n)
	return len(r.nodes) - 1
}

// controls reports whether a moment precedes what a lane is about to do, for any reason.
func (r *Run) controls(ev *machine.Event, lane int, of order.Moment) bool {
	return r.control.Order.Known(ev.CTA, ev.Warp, lane, of) != 0
}

// buffers notes load buffering (8.10.4): an earlier read of the word precedes the write that is
// about to be made, by program order, reads-from and barriers, but not in causality
// order, so that the axioms let it read that write. An update that wrote a version does, if the
// write can come before that version.
func (r *Run) buffers(ev *machine.Event, lane int, w *word) {
	for k := range w.reads {
		d := &w.reads[k]
		if d.update && slices.ContainsFunc(w.versions, func(v version) bool { return v.node == d.node && r.known(&v, ev.CTA, ev.Warp, lane) }) {
			continue
		}
		if r.controls(ev, lane, d.control) && r.order.Known(ev.CTA, ev.Warp, lane, d.Moment) == 0 {
			r.loosens(d.pc)
		}
	}
}

// chosen notes, of the fence.sc whose order is that of their steps alone, those of which the first
// precedes the second for a reason that causality order has no part in: it could come after it in
// Fence-SC order, against the order of the steps.
func (r *Run) chosen() {
	list := r.order.ChosenFences()
	for ; r.settled < len(list); r.settled++ {
		c := list[r.settled]
		prior, cur := &r.fences[c.Prior], &r.fences[c.Cur]
		if r.control.Order.Known(cur.CTA, cur.Warp, bits.TrailingZeros32(cur.Lanes), prior.Moment) != 0 {
			r.loosens(cur.pc)
		}
	}
}

func (r *Run) loosens(pc int32) {
	if !slices.Contains(r.loose, pc) {
		r.loose = append(r.loose, pc)
	}
}

// Loose returns the instructions at which an execution may go on in another way that is not
// built: reads that could read a later write, and fence.sc that could come before earlier ones.
func (r *Run) Loose() []int32 {
	r.chosen()
	return r.loose
}

// Whole returns the vector accesses, and those of packed types, of which an element could have
// taken an older version: elements are not let differ.
func (r *Run) Whole() []int32 { return r.whole }

// Over reports that there were more strong accesses than are followed.
func (r *Run) Over() bool { return r.over }

// Stale returns the first access that took another version than the last, nil if none did or if
// some interleaving has the same execution: if order for any reason, coherence order and reads
// before overwriting have no cycle.
func (r *Run) Stale() *Stale {
	if r.stale == nil || r.sequential() {
		return nil
	}
	return r.stale
}

func (r *Run) sequential() bool {
	n := len(r.nodes)
	next := make([][]int, n)
	for i := range r.nodes {
		for _, k := range r.nodes[i].after {
			next[k] = append(next[k], i)
		}
	}
	for _, w := range r.list {
		for i := 1; i < len(w.versions); i++ {
			if a, b := w.versions[i-1].node, w.versions[i].node; a >= 0 && b >= 0 {
				next[a] = append(next[a], b)
			}
		}
		for k := range w.reads {
			d := &w.reads[k]
			for i := range w.versions[:len(w.versions)-1] {
				if b := w.versions[i+1].node; w.versions[i].name == d.of && b >= 0 && b != d.node {
					next[d.node] = append(next[d.node], b)
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

// agree drops versions that the machine has dropped, since a weak operation wrote the word.
func (w *word) agree(names []machine.Version) {
	if len(names) == 0 {
		if len(w.versions) > 1 {
			w.versions = []version{{name: machine.Initial, node: -1}}
		}
		return
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
	at, _, ok := m.WordOf(c)
	w := r.words[at]
	if !ok || w == nil {
		return false
	}
	i := slices.IndexFunc(w.versions, func(v version) bool { return v.name == machine.Version(c.Op) })
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
