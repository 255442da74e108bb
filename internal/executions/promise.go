package executions

import (
	"fmt"
	"hash/maphash"
	"slices"

	"muster/internal/coherence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/order"
)

// Whether a read could return a write that comes after it is tried: the run is made again up to the
// read, which gets what the write writes, and from there all executions are explored. If none of
// them comes to that write, at its place in coherence order, behind the read by program order,
// reads-from and barriers but not in causality order, there is no such execution. Each execution
// with load buffering shows so, for some read: not everything that leads from that read to the
// write depends on the read, or it would be forbidden (8.10.4), so that some run has the write, and
// what leads to it, while the read returns something else.

// Bounds on what is tried: runs and steps of one write that is read early, and of all; what is
// beyond them is named.
const (
	maxPromised = 4000
	maxAhead    = 20_000
	maxAllAhead = 100_000
)

// A promiseKey is a write that is read early, and where.
type promiseKey struct {
	path uint64 // hash of the choices before the read
	word machine.Word
	by   machine.Version
	read int8
	val  uint64
	any  bool // any value
}

// reads reports whether a read of a run could return a write of it, both nodes.
func (x *explorer) reads(d *depending, read, write int) bool {
	r, w := d.words.Node(read), d.words.Node(write)
	first := d.record().first
	at, _ := slices.BinarySearch(first, read+1)
	if at--; r.Several || r.Word.Size > 8 || at >= len(d.path) {
		return true
	}
	prefix := d.path[:at]
	k := promiseKey{path: pathHash(prefix), word: r.Word, by: machine.Promised(w.CTA, w.Warp, w.Lane), read: r.Lane}
	p := &promise{x: x, prefix: prefix, step: d.path[at], read: r, key: k}
	update := d.words.Writes(read)
	if !update || x.varies() {
		for _, v := range d.wouldWrite(write) {
			if p.key.val = v; x.once(p, p.promised) {
				return true
			}
		}
	}
	if update {
		p.key.path, p.key.any, p.key.val = pathHash(d.path[:at+1]), true, 0
		return x.once(p, p.promisedAny)
	}
	return false
}

// varies reports whether values decide what orders the accesses of a thread, so that causality
// order may be another one where a read returns something else.
func (x *explorer) varies() bool { return x.judge().Program.OrderVaries() }

// once returns what a promise came to, tried once for each key.
func (x *explorer) once(p *promise, try func() bool) bool {
	k := p.key
	is, ok := x.promises[k]
	if !ok {
		is = try()
		x.promises[k] = is
	}
	return is
}

// wouldWrite lists what a write writes, and what a read-modify-write does where it finds something
// else that the word held, a compare-and-swap also what is near to that.
func (d *depending) wouldWrite(node int) (vals []uint64) {
	of := d.words.Node(node)
	if d.words.Writes(node) {
		vals = append(vals, d.record().nodes[node].wrote.lo)
	}
	if d.at == nil {
		d.replay()
	}
	b := d.at[node]
	if b == nil {
		return vals
	}
	tried := d.held(b.m, of.Word)
	if b.m.Program().Compares(of.PC) {
		tried = d.values(b.m, of.Word, d.record().nodes[node].read)
	}
	for _, v := range tried {
		if list, _, _ := d.run(b, node, v, false); len(list) > 0 && list[0].word == of.Word && !slices.Contains(vals, list[0].lo) {
			vals = append(vals, list[0].lo)
		}
	}
	return vals
}

// promisedAny tries a promise for each value that the write may have where the read is a
// read-modify-write. What this writes is to come behind the write that it reads, so that the other
// may read what comes before: what it writes is what it would then.
func (p *promise) promisedAny() bool {
	var vals []uint64
	p.sees = func(v uint64) {
		if !slices.Contains(vals, v) {
			vals = append(vals, v)
		}
	}
	c := p.search(p.loosened)
	if p.sees = nil; !c.Complete {
		return true
	}
	for _, v := range vals {
		if p.key.val = v; p.promised() {
			return true
		}
	}
	return false
}

var pathSeed = maphash.MakeSeed()

func pathHash(path []machine.Choice) uint64 {
	var h maphash.Hash
	h.SetSeed(pathSeed)
	for _, c := range path {
		fmt.Fprint(&h, c, ",")
	}
	return h.Sum64()
}

// A promise explores the executions in which a read returns a write before it is made.
type promise struct {
	x      *explorer
	prefix []machine.Choice
	read   coherence.Access
	key    promiseKey
	step   machine.Choice  // of the read, in the run
	after  machine.Version // the version before it
	now    *promising      // the run at hand
	met    bool
	// fences: a run has a fence.sc. The one behind the read may come later in Fence-SC order than
	// one that is executed after it and precedes the write. So all is tried once more with weak,
	// which takes each for a fence.acq_rel; what the two then order, Run.contrary looks at.
	fences, weak bool
	sees         func(val uint64) // if set, no value is promised yet: it gets what the writer writes
}

// promised reports whether some execution goes on so that the read returns the write.
func (p *promise) promised() bool {
	m := p.begin()
	if m.At(p.read.CTA, p.read.Warp, p.read.Lane) != p.read.PC {
		return true
	}
	for _, after := range p.now.words.Places(m, p.read.CTA, p.read.Warp, p.read.Lane, p.key.word) {
		p.after = after
		if !m.Fork(nil, nil).Promise(p.key.word, after, p.key.by, p.key.val) {
			continue
		}
		if c := p.search(p.fork); p.met || !c.Complete {
			return true
		}
		if !p.fences {
			continue
		}
		p.weak = true
		c := p.search(p.fork)
		if p.weak = false; p.met || !c.Complete {
			return true
		}
	}
	return false
}

// search explores what comes behind the read.
func (p *promise) search(fork func(machine.Observer) *machine.Machine) (c explore.Coverage) {
	if p.x.ahead >= maxAllAhead {
		return c
	}
	s := *p.x.space
	s.Watch = func() explore.Watcher { return p.watch() }
	s.WeakFences = p.weak || p.x.o.WeakFences
	s.Fork = fork
	s.Allows = func(w explore.Watcher, m *machine.Machine, c machine.Choice) bool {
		words := w.(*promising).words
		return !words.Breaks(m, c) && words.Allows(m, c)
	}
	c = explore.NewSearch(&s, explore.Limits{Schedules: maxPromised, Steps: maxAhead, Length: maxLength}).Run(func() bool { return p.met })
	p.x.ahead += c.Steps
	return c
}

func (p *promise) watch() *promising {
	c := p.x.judge()
	t := order.New(order.Config{Shape: c.Shape, Executions: true, WeakFences: p.weak || p.x.o.WeakFences, Equal: c.Equal, Unused: c.Unused})
	p.now = &promising{p: p, order: t, words: coherence.NewRun(t, c.Program)}
	return p.now
}

// begin makes the steps before the read, watched by a run of its own.
func (p *promise) begin() *machine.Machine {
	m := p.x.fork(p.watch())
	for _, s := range p.prefix {
		m.Step(s)
	}
	return m
}

// loosened returns a machine behind the read, before whose own write others may come.
func (p *promise) loosened(o machine.Observer) *machine.Machine {
	m := p.x.fork(o)
	for _, s := range p.prefix {
		m.Step(s)
	}
	m.Step(p.step)
	m.Loosen(p.key.word, p.now.words.Follow(p.key.by))
	p.now.begun = true
	return m
}

// fork returns a machine behind the read.
func (p *promise) fork(o machine.Observer) *machine.Machine {
	m := p.x.fork(o)
	for _, s := range p.prefix {
		m.Step(s)
	}
	m.Promise(p.key.word, p.after, p.key.by, p.key.val)
	p.now.words.Promise(p.key.word, p.after, p.key.by)
	m.Step(machine.Choice{Kind: machine.Pick, CTA: p.read.CTA, Warp: p.read.Warp, Lane: p.read.Lane, Op: int64(p.key.by)})
	p.now.begun = true
	return m
}

// A promising watches one run.
type promising struct {
	p     *promise
	order *order.Tracker
	words *coherence.Run
	begun bool
}

func (w *promising) Observe(m *machine.Machine, ev *machine.Event) {
	w.settle(m)
	w.p.fences = w.p.fences || ev.Kind == machine.EvFence && ev.Fence == machine.FenceMemory && ev.Sem == machine.SC
	w.words.Observe(m, ev)
	w.order.Observe(m, ev)
}

// settle looks at the writes that may be the promised one, once they are made.
func (w *promising) settle(m *machine.Machine) {
	if !w.begun {
		return
	}
	for _, name := range w.words.Kept() {
		lo, _, ok := m.Held(w.p.key.word, name)
		switch {
		case !ok:
		case w.p.sees != nil:
			w.p.sees(lo)
		case lo == w.p.key.val:
			w.p.met = true
		}
	}
}

func (w *promising) End(m *machine.Machine, _ []machine.Choice) { w.settle(m) }
