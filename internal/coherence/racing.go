package coherence

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// A Proxy is a method of access to memory (ISA 8.6). The machine performs all accesses alike.
type Proxy uint8

const (
	Generic Proxy = iota
	Texture
	Surface
	Constant
	Alias // of a proxy fence: between virtual addresses of one location
)

// Racing follows one run of a machine that keeps all versions (machine.KeepAllVersions), and says
// which of them a read may take where accesses race, or use several proxies or virtual addresses.
// It must observe each event before the tracker does that it asks for base causality order.
//
// A run says which write each read takes its value from, and the order of fence.sc. Coherence
// order is a partial order (8.9.6): two writes of a word are in it if causality order has them, or
// if they are morally strong, and then in either way. A read may take a version if the axioms
// leave some coherence order of its word: that is monotone, so that each execution is built in
// which program order, reads-from, Fence-SC and the order of barriers have no cycle.
type Racing struct {
	order *order.Tracker
	proxy func(pc int32) Proxy
	ops   []*op
	words map[machine.Word][]*op
}

// An op is an access of a lane to a word, or a proxy fence.
type op struct {
	order.Moment
	lane    int
	before  []uint64 // ops that precede it in base causality order (8.9.5), by number
	n       int
	fence   bool
	proxy   Proxy
	addr    uint64        // virtual
	scope   machine.Scope // NoScope: weak
	reads   bool
	writes  bool
	from    *op // the write that it reads; nil: none in this run
	name    machine.Version
	updates bool // an atomic read-modify-write
}

// mostOps bounds the accesses of a run.
const mostOps = 512

// NewRacing watches a run that has not begun, whose base causality order t derives. proxy, if
// set, gives the proxy by which an instruction accesses memory, or that a proxy fence is for.
func NewRacing(t *order.Tracker, proxy func(pc int32) Proxy) *Racing {
	if proxy == nil {
		proxy = func(int32) Proxy { return Generic }
	}
	return &Racing{order: t, proxy: proxy, words: map[machine.Word][]*op{}}
}

// Over reports that there were more accesses than are followed.
func (r *Racing) Over() bool { return len(r.ops) >= mostOps }

// Observe takes the next event.
func (r *Racing) Observe(m *machine.Machine, ev *machine.Event) {
	switch {
	case r.Over():
	case ev.Kind == machine.EvFence && ev.Fence == machine.FenceProxyAlias:
		for k := ev.Mask; k != 0; k &= k - 1 {
			o := r.enter(ev.CTA, ev.Warp, bits.TrailingZeros32(k)&31)
			o.fence, o.proxy = true, r.proxy(ev.PC)
			r.place(o, ev)
		}
	case ev.Kind == machine.EvAccess && m.Versioned(ev):
		for k := ev.Mask; k != 0; k &= k - 1 {
			lane := bits.TrailingZeros32(k) & 31
			w := m.WordAt(ev, lane)
			o := r.enter(ev.CTA, ev.Warp, lane)
			r.fill(o, w, &machine.Next{Word: w, Addr: ev.Addr[lane], PC: ev.PC, Does: ev.Access, Sem: ev.Sem, Scope: ev.Scope, Takes: ev.Pick})
			o.name = m.NextVersion(ev.CTA, ev.Warp, lane)
			r.place(o, ev)
			r.words[w] = append(r.words[w], o)
		}
	}
}

// enter makes the op that a lane is about to perform.
func (r *Racing) enter(cta, warp int32, lane int) *op {
	o := &op{lane: lane, n: len(r.ops), before: make([]uint64, len(r.ops)/64+1)}
	o.CTA, o.Warp = cta, warp
	for i, a := range r.ops {
		if r.order.Known(cta, warp, lane, a.Moment) != 0 {
			o.before[i/64] |= 1 << (i % 64)
		}
	}
	return o
}

// fill tells an op what it does.
func (r *Racing) fill(o *op, w machine.Word, a *machine.Next) {
	o.proxy, o.addr, o.scope = r.proxy(a.PC), a.Addr, a.Scope
	switch a.Sem {
	case machine.Weak:
		o.scope = machine.NoScope
	case machine.Volatile:
		o.scope = machine.ScopeSys // ISA 8.4.2
	}
	o.writes, o.updates = a.Does&machine.Write != 0, a.Does&machine.Update != 0
	if o.reads = !o.writes || o.updates; o.reads {
		if i := slices.IndexFunc(r.words[w], func(x *op) bool { return x.writes && x.name == a.Takes }); i >= 0 {
			o.from = r.words[w][i]
		}
	}
}

// place adds an op to the run.
func (r *Racing) place(o *op, ev *machine.Event) {
	o.Moment = r.order.Moment(ev, 1<<o.lane)
	r.ops = append(r.ops, o)
}

// Allows reports whether the axioms allow a choice: that of an access that reads, if they leave
// some coherence order of its word.
func (r *Racing) Allows(m *machine.Machine, c machine.Choice) bool {
	a, ok := m.NextAccess(c)
	if !ok || a.Does&machine.Write != 0 && a.Does&machine.Update == 0 || r.Over() {
		return true
	}
	o := r.enter(c.CTA, c.Warp, int(c.Lane))
	r.fill(o, a.Word, &a)
	return !r.orders(append(slices.Clip(r.words[a.Word]), o), func(*place) bool { return false })
}

// Last lists the versions of a word that may be the last in the end, each once: where writes
// race, coherence order may have several that none follows. None: the run contradicts the axioms.
func (r *Racing) Last(w machine.Word) (names []machine.Version) {
	r.orders(r.words[w], func(p *place) bool {
		for _, v := range p.newest() {
			if !slices.Contains(names, v) {
				names = append(names, v)
			}
		}
		return true
	})
	return names
}

// precedes reports whether an op comes before another one in base causality order.
func (a *op) precedes(b *op) bool { return a.n/64 < len(b.before) && b.before[a.n/64]>>(a.n%64)&1 != 0 }

// sameThread reports whether one thread performs both.
func (a *op) sameThread(b *op) bool { return a.CTA == b.CTA && a.Warp == b.Warp && a.lane == b.lane }

// strong reports whether two accesses of a word are morally strong (8.7): by one proxy and at one
// virtual address, which is like a proxy (8.6).
func (r *Racing) strong(a, b *op) bool {
	if a.proxy != b.proxy || a.addr != b.addr {
		return false
	}
	need := r.order.Needed(a.CTA, b.CTA)
	return a.sameThread(b) || a.scope >= need && b.scope >= need
}

// preserved reports whether an access precedes another one of its word in proxy-preserved base
// causality order (8.9.5): at one address by the generic proxy, or by one proxy in one CTA, or
// with a proxy fence along the way for each change, of a CTA whose accesses it is for. That other
// proxies than virtual aliases need theirs is 8.6, and Lustig, Cooksey and Giroux, Mixed-Proxy
// Extensions for the NVIDIA PTX Memory Consistency Model, ISCA 2022.
func (r *Racing) preserved(a, b *op) bool {
	if !a.precedes(b) {
		return false
	}
	if a.addr == b.addr && a.proxy == b.proxy && (a.proxy == Generic || a.CTA == b.CTA) {
		return true
	}
	way := []*op{a}
	if a.proxy != Generic {
		way = r.fenced(way, a.proxy, a.CTA)
	}
	if a.addr != b.addr {
		way = r.fenced(way, Alias, -1)
	}
	if b.proxy != Generic {
		way = r.fenced(way, b.proxy, b.CTA)
	}
	return slices.ContainsFunc(way, func(o *op) bool { return o.precedes(b) })
}

// fenced lists the fences of a proxy that some ops precede, of one CTA, or of any if that is
// negative.
func (r *Racing) fenced(after []*op, p Proxy, cta int32) (list []*op) {
	for _, f := range r.ops {
		if f.fence && f.proxy == p && (cta < 0 || f.CTA == cta) && slices.ContainsFunc(after, func(o *op) bool { return o.precedes(f) }) {
			list = append(list, f)
		}
	}
	return list
}

// observes reports whether a read observes a write (8.9.2): it reads from it, or from the last of
// a chain of atomic operations behind it, each morally strong with the one before.
func (r *Racing) observes(z, w *op) bool {
	for z.from != nil && r.strong(z.from, z) {
		if z.from == w {
			return true
		}
		if z = z.from; !z.updates {
			return false
		}
	}
	return false
}
