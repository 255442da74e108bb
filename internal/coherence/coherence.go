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
// So every execution is built whose reads do not depend on themselves: in which program order,
// reads-from, Fence-SC and the order of barriers have no cycle. What the axioms allow of the
// others is load buffering (LoadBuffering).
package coherence

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// A Run follows one run, beside the tracker that knows its causality order. It must observe each
// event before that tracker does.
type Run struct {
	order *order.Tracker
	words map[machine.Word]*word
}

// A word holds the versions of a word that are no longer those of the beginning.
type word struct {
	versions []version // in coherence order
}

// A version is a write, and the reads that observed it (8.9.2), the first of each lane.
type version struct {
	name  machine.Version
	by    order.Moment // of Initial: the first reads alone count
	seen  []order.Moment
	cta   int32
	scope machine.Scope
}

// NewRun watches a run that has not begun, whose causality order t derives.
func NewRun(t *order.Tracker) *Run {
	return &Run{order: t, words: map[machine.Word]*word{}}
}

// Observe takes the next event.
func (r *Run) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || ev.Sem == machine.Weak || ev.Proxy != machine.Generic {
		return
	}
	for k := ev.Mask; k != 0; k &= k - 1 {
		r.access(m, ev, bits.TrailingZeros32(k)&31)
	}
}

func (r *Run) access(m *machine.Machine, ev *machine.Event, lane int) {
	at := machine.Word{Mem: ev.Mem, Addr: ev.Addr[lane], Size: ev.Size}
	w := r.words[at]
	if w == nil {
		if ev.Access&machine.Write == 0 {
			return // nothing is newer than what it reads
		}
		w = &word{versions: []version{{name: machine.Initial}}}
		r.words[at] = w
	}
	w.agree(m.Versions(at))
	i := len(w.versions) - 1
	if ev.Picks {
		i = slices.IndexFunc(w.versions, func(v version) bool { return v.name == ev.Pick })
		if i < 0 {
			return
		}
	}
	now := r.order.Moment(ev, 1<<lane)
	if ev.Access&machine.Read != 0 {
		w.versions[i].observe(now)
	}
	if ev.Access&machine.Write != 0 {
		name := m.NextVersion(ev.CTA, ev.Warp, lane)
		if ev.Whole > 0 {
			name += machine.Version(ev.Part / ev.Size)
		}
		w.versions = slices.Insert(w.versions, i+1, version{name: name, by: now, cta: ev.CTA, scope: ev.Scope})
	}
}

// agree drops versions that the machine has dropped, since a weak operation wrote the word.
func (w *word) agree(names []machine.Version) {
	if len(names) == 0 {
		w.versions = []version{{name: machine.Initial}}
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
		if r.precedes(&w.versions[k], c) {
			return false
		}
	}
	return true
}

// precedes reports whether a write comes before the next access of a choice's lane in causality
// order: in base causality order, or because that follows a read that observed the write.
func (r *Run) precedes(v *version, c machine.Choice) bool {
	if v.by.Lanes != 0 && r.order.Known(c.CTA, c.Warp, int(c.Lane), v.by) != 0 {
		return true
	}
	for i := range v.seen {
		if r.order.Known(c.CTA, c.Warp, int(c.Lane), v.seen[i]) != 0 {
			return true
		}
	}
	return false
}
