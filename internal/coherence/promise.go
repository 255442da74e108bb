package coherence

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// Load buffering, tried: a run in which a lane reads a version that another one is yet to write
// (machine.Promise). If the writer comes to make it, right before that version in coherence order,
// behind the read for some reason but not in causality order, the execution in which the read
// returns that write is one that the axioms allow. The version hands on nothing, so that
// causality order is that of the execution, or less.

// A promised is a version that is read before it is written.
type promised struct {
	word   *word
	name   machine.Version
	cta    int32
	warp   int32
	lane   int8
	by     *node // that read it
	before order.Moment
	kept   []machine.Version
	// all: there is no such version, and each write of the lane behind the read is kept.
	all bool
	// Where the write releases, and the read acquires, what precedes the one precedes what comes
	// behind the other: scope is that of the read. behind are the accesses behind it, from acquired
	// on; noted are all accesses, and released those of them that precede the writer's last fence.
	scope    machine.Scope
	acquires bool
	acquired order.Moment
	behind   []int
	noted    []order.Moment
	released map[machine.Scope][]int
}

// Places lists the versions of a word behind which one could come that a lane's next access takes.
func (r *Run) Places(m *machine.Machine, cta, warp int32, lane int8, at machine.Word) (list []machine.Version) {
	w := r.word(at)
	w.agree(m.Versions(at))
	for i := len(w.versions) - 1; i >= 0; i-- {
		list = append(list, w.versions[i].name)
		if r.known(&w.versions[i], cta, warp, int(lane)) {
			break
		}
	}
	return list
}

// Promise adds a version of a word, by a lane that is yet to write it, behind another one. The
// machine has it already, and the next access takes it.
func (r *Run) Promise(at machine.Word, after, name machine.Version) {
	w := r.word(at)
	w.versions = slices.Insert(w.versions, w.index(after)+1, version{name: name, node: -1})
	r.promise = &promised{word: w, name: name, released: map[machine.Scope][]int{}}
	r.promise.cta, r.promise.warp, r.promise.lane, _ = name.By()
	r.order.Promise(at, after, name)
	r.control.Order.Promise(at, after, name)
}

// Follow keeps from now on what the lane of by, a promised version, writes behind the last access, a
// read-modify-write, and returns the version that this wrote.
func (r *Run) Follow(by machine.Version) machine.Version {
	n := &r.nodes[len(r.nodes)-1]
	w := r.words[n.Word]
	r.promise = &promised{word: w, all: true, before: n.control, by: n, acquired: w.reads[len(w.reads)-1].Moment}
	r.promise.cta, r.promise.warp, r.promise.lane, _ = by.By()
	return n.made
}

// Breaks reports whether a choice keeps the writer from making the promised write: it takes that
// version itself or a later one of the word, or knows of one, or of the read.
func (r *Run) Breaks(m *machine.Machine, c machine.Choice) bool {
	p := r.promise
	if c.CTA != p.cta || c.Warp != p.warp || c.Lane != p.lane {
		return false
	}
	words := m.WordsOf(c)
	if len(words) == 0 {
		return false
	}
	if p.all {
		return r.order.Known(c.CTA, c.Warp, int(c.Lane), p.acquired) != 0
	}
	at := p.word.index(p.name)
	if at < 0 {
		return true
	}
	for i := at; i < len(p.word.versions); i++ {
		if r.known(&p.word.versions[i], c.CTA, c.Warp, int(c.Lane)) {
			return true
		}
	}
	if c.Kind != machine.Pick {
		c = m.Named(c)
	}
	took := c.Picked()
	for n, w := range words {
		if w == p.word.at && p.word.index(took[n]) >= at {
			return true
		}
	}
	return false
}

// takes notes the read of the promised version.
func (p *promised) takes(r *Run, ev *machine.Event, n int, now, control order.Moment) {
	p.by, p.before, p.scope = &node{Access: r.nodes[n].Access}, control, ev.Scope
	p.acquires = ev.Access&machine.Read != 0 // not a reduction (8.11.1)
	if p.acquires && (ev.Sem == machine.Acquire || ev.Sem == machine.AcqRel) {
		p.acquired = now
	}
}

// notes takes an access of a lane, before it is performed.
func (p *promised) notes(r *Run, ev *machine.Event, lane, n int) {
	if p.all {
		return
	}
	for len(p.noted) < n {
		p.noted = append(p.noted, order.Moment{})
	}
	p.noted = append(p.noted, r.order.Moment(ev, 1<<lane))
	if p.acquired.Lanes != 0 && r.order.Known(ev.CTA, ev.Warp, lane, p.acquired) != 0 {
		p.behind = append(p.behind, n)
	}
}

// fence takes a fence that is about to be executed.
func (p *promised) fence(r *Run, ev *machine.Event) {
	if p.all {
		return
	}
	if ev.Mask>>uint(p.lane)&1 != 0 && ev.CTA == p.cta && ev.Warp == p.warp && ev.Sem != machine.Acquire {
		p.released[ev.Scope] = p.preceding(r)
	}
	if by := p.by; by != nil && p.acquires && p.acquired.Lanes == 0 && ev.CTA == by.CTA && ev.Warp == by.Warp && ev.Mask>>uint(by.Lane)&1 != 0 &&
		ev.Sem != machine.Release && ev.Scope >= r.order.Needed(p.cta, by.CTA) {
		p.acquired = r.order.Moment(ev, 1<<by.Lane)
	}
}

// preceding lists the accesses that precede the writer's next operation in base causality order.
func (p *promised) preceding(r *Run) (list []int) {
	for n, at := range p.noted {
		if at.Lanes != 0 && r.order.Known(p.cta, p.warp, int(p.lane), at) != 0 {
			list = append(list, n)
		}
	}
	return list
}

// keeps notes a write that could be the promised one.
func (p *promised) keeps(r *Run, m *machine.Machine, ev *machine.Event, lane int, w *word, i int) {
	if w != p.word || ev.CTA != p.cta || ev.Warp != p.warp || int8(lane) != p.lane {
		return
	}
	if p.all {
		if r.controls(ev, lane, p.before) {
			p.kept = append(p.kept, r.names(m, ev, lane))
		}
		return
	}
	if i+1 >= len(w.versions) || w.versions[i+1].name != p.name {
		return
	}
	if p.by != nil && r.controls(ev, lane, p.before) && !p.contrary(r, ev) {
		p.kept = append(p.kept, r.names(m, ev, lane))
	}
}

// contrary reports whether the write synchronizes with the read (8.9.4), and something that
// precedes the one in causality order comes, in the order of versions, behind what the other
// precedes (8.10.1, 8.10.6).
func (p *promised) contrary(r *Run, ev *machine.Event) bool {
	need := r.order.Needed(p.cta, p.by.CTA)
	if len(p.behind) == 0 || ev.Scope < need || p.scope < need {
		return false
	}
	var before []int
	if ev.Sem == machine.Release || ev.Sem == machine.AcqRel {
		before = p.preceding(r)
	}
	for scope, list := range p.released {
		if scope >= need {
			before = append(before, list...)
		}
	}
	for _, b := range before {
		for _, a := range p.behind {
			if x, y := &r.nodes[b], &r.nodes[a]; x.Word == y.Word && r.words[x.Word].after(x, y) {
				return true
			}
		}
	}
	return false
}

// after reports whether an access comes behind another one of the same word in the order of
// versions, so that it cannot precede it in causality order.
func (w *word) after(x, y *node) bool {
	last := func(n *node) int {
		if n.writes {
			return w.index(n.made)
		}
		return w.index(n.of)
	}
	i, k := last(x), last(y)
	return i >= 0 && k >= 0 && (i > k || i == k && y.writes && !x.writes)
}

// Kept lists the writes that came where the promised one is to come: it is one of them that
// writes the same value.
func (r *Run) Kept() []machine.Version { return r.promise.kept }

// Strays reports whether program order, reads-from and barriers lead from a read to a write of its
// word in another way than by reads of the same word alone. Where they do not, the write cannot be
// read: it precedes what comes behind the read, step by step, in program order, by barriers, and in
// coherence order (8.10.1, 8.10.5, 8.10.6). That is for executions without a data race.
func (r *Run) Strays(read, write int) bool { return len(r.hops(read, write)) > 0 }

// hops lists the reads of other words by which a write comes behind a read.
func (r *Run) hops(read, write int) (list []Hop) {
	comes, leads := make([]bool, write-read+1), make([]bool, write-read+1)
	comes[0], leads[write-read] = true, true
	for n := read + 1; n <= write; n++ {
		for _, k := range r.nodes[n].after {
			comes[n-read] = comes[n-read] || k >= read && comes[k-read]
		}
	}
	for n := write; n > read; n-- {
		for _, k := range r.nodes[n].after {
			if k >= read {
				leads[k-read] = leads[k-read] || leads[n-read]
			}
		}
	}
	for n := read + 1; n <= write; n++ {
		k := r.nodes[n].from
		if k >= read && comes[k-read] && leads[n-read] && r.nodes[k].Word != r.nodes[read].Word {
			list = append(list, Hop{r.nodes[k].PC, r.nodes[n].PC})
		}
	}
	return list
}
