package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
)

var collectorMisuse = register(Kind{
	Name:     "collector-misuse",
	Severity: Error,
	Title:    "a tcgen05.mma takes a matrix from a collector buffer, which holds another one",
	Section:  "9.7.18.10, 9.7.18.10.10.1",
	Text: `tcgen05.mma with .collector::a::fill keeps its A in a buffer of the tensor core, and
.collector::a::use or ::lastuse lets the next take A from there. That "requires a previous
fill to the collector buffer to be still valid" (ISA 9.7.18.10.10.1); "reuse is opportunistic in
that the TensorCore may reload a matrix even when it has permission to reuse that matrix"
(9.7.18.10). So the A that such an instruction names must be the one of the fill: the same
address or descriptor, format and shape, and bytes that nobody has written since. Else one
card multiplies by the old A and another by the new one, and both are right.

The check computes with the A that the instruction names, which is one of the two.

tcgen05.mma.ws keeps B in the same way, in one of four buffers (.collector::b0 to ::b3; ISA
9.7.18.10.10.3).

A use with no fill before it, or with one whose buffer a multiplication without a qualifier or
with ::discard or ::lastuse has given up since, is a warning: the text requires a fill, public
kernels have ::lastuse on all of their multiplications, and we know of no failure on a card.

Which of several threads' multiplications the buffer is filled by depends on their order, which
is not followed: where one of them uses it, and another of the CTA or its pair multiplies too,
the check is incomplete.

Mend it with ::fill on each multiplication that has a new A, and ::use or ::lastuse on those
alone that follow it with the same.`,
})

// A collectorKey names a collector buffer of a CTA or a pair.
type collectorKey struct {
	cta    int32
	buffer machine.CollectorBuffer
}

// A collectorWatch is what is known of a collector buffer.
type collectorWatch struct {
	fill    *machine.Op // whose matrix it holds; nil if none is valid
	holds   []machine.Span
	by      Site
	changed *Site // a write to that matrix
	// uses: some multiplication fills or uses it. several: of more threads than first.
	uses, several bool
	first         *machine.Op
}

// collectsMatrix follows the collector buffer at the issue of a tcgen05.mma.
func (j *Judge) collectsMatrix(ev *machine.Event) {
	usage, buffer, cta, ok := ev.Op.Collector()
	if !ok {
		return
	}
	w, key := &j.watch, collectorKey{cta, buffer}
	if w.collectors == nil {
		w.collectors, w.filled = map[collectorKey]*collectorWatch{}, map[collectorKey]*collectorWatch{}
	}
	c := w.collectors[key]
	if c == nil {
		first := *ev.Op
		c = &collectorWatch{first: &first}
		w.collectors[key] = c
	}
	op, f := *ev.Op, c.first
	c.several = c.several || op.CTA != f.CTA || op.Warp != f.Warp || op.Lane != f.Lane
	c.uses = c.uses || usage != machine.CollectorDiscard
	if c.several && c.uses {
		j.sharedCollector(ev.PC)
	}
	switch usage {
	case machine.CollectorFill:
		*c = collectorWatch{fill: &op, holds: op.Collected(), by: eventSite("fills", ev), uses: true, several: c.several, first: f}
		w.filled[key] = c
		return
	case machine.CollectorUse, machine.CollectorLastUse:
		j.usesCollector(c, ev)
	}
	if usage != machine.CollectorUse {
		c.fill, c.holds, c.changed = nil, nil, nil
		delete(w.filled, key)
	}
}

// sharedCollector enters that several threads multiply, of which one uses the buffer.
func (j *Judge) sharedCollector(pc int32) {
	const what = "a collector buffer that several threads multiply with"
	for _, g := range j.gaps {
		if g.What == what {
			return
		}
	}
	j.gaps = append(j.gaps, Gap{What: what, PC: pc})
}

// usesCollector reports a use of the collector buffer that does not hold the instruction's A.
func (j *Judge) usesCollector(c *collectorWatch, ev *machine.Event) {
	sites := []Site{eventSite("uses", ev)}
	f := Finding{}
	_, buffer, _, _ := ev.Op.Collector()
	the, own := buffer.Matrix(), ".collector::a::"
	if buffer > 0 {
		own = fmt.Sprintf(".collector::b%d::", buffer-1)
	}
	switch {
	case c.fill == nil:
		f.Severity = Warning
		f.Headline = "and no multiplication before it leaves one there"
		f.Missing = "a use of the collector buffer requires a previous fill that is still valid"
		f.Fix = "put " + own + "fill on the first multiplication with this " + the + ", or leave the qualifier out"
		f.Notes = []string{"contested: the ISA requires the fill; public kernels have ::lastuse on all multiplications, and we know of no failure on a card"}
	case !ev.Op.SameCollected(c.fill):
		sites = append([]Site{c.by}, sites...)
		f.Headline = "where " + j.at(c.by.PC) + " left another one"
		f.Missing = "the card may multiply by the " + the + " that was filled, or by the one that the instruction names"
		f.Fix = "put " + own + "fill on " + j.at(ev.PC) + ", or give it the " + the + " of the fill"
	case c.changed != nil:
		sites = append([]Site{c.by, *c.changed}, sites...)
		f.Headline = "and " + j.at(c.changed.PC) + " has written that " + the + " since " + j.at(c.by.PC) + " filled it"
		f.Missing = "the card may multiply by the " + the + " that was filled, or by the one that memory holds now"
		f.Fix = "put " + own + "fill on " + j.at(ev.PC) + ", since its " + the + " is new"
	default:
		return
	}
	f.Headline = fmt.Sprintf("%s of warp %d of CTA %d may take %s from %s, %s", j.at(ev.PC), ev.Warp, ev.CTA, the, buffer, f.Headline)
	f.Sites = sites
	j.note(collectorMisuse, sites[0].PC, ev.PC, func() Finding { return f })
}

// collectedAccess notes that a thread writes to a matrix in a collector buffer.
func (j *Judge) collectedAccess(ev *machine.Event) {
	for k := ev.Mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		j.collected(machine.Span{Mem: ev.Mem, Addr: ev.Addr[l], Len: uint64(ev.Size)}, ev)
	}
}

// collectedWrite notes that an operation has written to a matrix in a collector buffer.
func (j *Judge) collectedWrite(ev *machine.Event) {
	for _, s := range ev.Op.Writes {
		j.collected(s, ev)
	}
}

func (j *Judge) collected(s machine.Span, ev *machine.Event) {
	for _, c := range j.watch.filled {
		for _, h := range c.holds {
			if c.changed == nil && h.Mem == s.Mem && h.Addr < s.Addr+s.Len && s.Addr < h.Addr+h.Len {
				site := eventSite("writes", ev)
				site.Mem, site.Addr, site.Len = s.Mem, s.Addr, s.Len
				c.changed = &site
			}
		}
	}
}
