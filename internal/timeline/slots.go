package timeline

import (
	"cmp"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/report"
)

// This file shows slots: what the copies that signal one mbarrier fill, as a stage of a ring.
// A slot fills from the issue of a copy until the mbarrier's phase is complete; then it is full,
// and from the first read of it on it is being read, until a phase is complete of the mbarrier
// that frees it, or until it is filled again. What frees it is the mbarrier whose wait the warp
// that fills it has passed last, unless that one is a slot's own: a producer waits there for its
// consumers. Where there is none, a slot is being read until it is filled again.

// A slotState is what a slot is.
type slotState uint8

const (
	slotEmpty slotState = iota
	slotFilling
	slotFull
	slotRead
	slotStates
)

var slotWords = [slotStates]string{"empty", "filling", "full", "being read"}

// SlotEarly names the mark of a read of bytes that a copy in flight writes.
const SlotEarly = "read while a copy is in flight"

// A slot is one.
type slot struct {
	bar    barrier
	track  uint64
	state  slotState
	begin  int64
	bytes  int64 // of this filling
	copies []*machine.Op
	spans  []machine.Span
	frees  barrier
	freed  bool  // frees is known
	other  bool  // something else has written there since it was filled
	early  int64 // the last step that read what a copy in flight writes
}

// slots are all of a run. The methods take a nil receiver, of a Recorder without.
type slots struct {
	rows   bool // slices are wanted too, not only counters
	of     map[barrier]*slot
	list   []*slot           // in the order in which they came
	passed map[agent]barrier // the last wait of each warp
	ctas   map[int32]*slotCounts
	dirty  []*slotCounts
}

type agent struct{ cta, warp int32 }

// slotCounts counts the slots of a CTA by their states.
type slotCounts struct {
	n, shown [slotStates]int64
	track    [slotStates]uint64
	dirty    bool
}

// Slots makes the recorder show slots of rings: how many of a CTA are filling, full and being
// read, and with rows what each slot is.
func (r *Recorder) Slots(rows bool) {
	r.slots = &slots{rows: rows, of: map[barrier]*slot{}, passed: map[agent]barrier{}, ctas: map[int32]*slotCounts{}}
}

func (x *slots) observe(r *Recorder, ev *machine.Event) {
	if x == nil {
		return
	}
	switch ev.Kind {
	case machine.EvMbarWait:
		if ev.Mbar.OK {
			x.passed[agent{ev.CTA, ev.Warp}] = barrier{ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr}
		}
	case machine.EvMbar:
		x.mbar(r, ev)
	case machine.EvIssue:
		x.fill(r, ev.Op)
		if ev.Op.Kind != machine.OpMbarArrive {
			x.spans(r, ev.Op.Reads, ev.Op.PC)
		}
	case machine.EvWritten:
		if len(ev.Op.Bars) == 0 {
			x.overwritten(r, ev.Op.Writes)
		}
	case machine.EvSignal:
		x.landed(ev.Op)
	case machine.EvAccess:
		x.access(r, ev)
	}
}

// fills reports whether an operation fills slots: it writes shared memory and tells an mbarrier.
func fills(o *machine.Op) bool {
	return copies[o.Kind] && len(o.Bars) > 0 && len(o.Writes) > 0
}

// fill records the issue of an operation that fills slots.
func (x *slots) fill(r *Recorder, o *machine.Op) {
	if !fills(o) {
		return
	}
	for i := range o.Bars {
		s := x.slot(r, o.Bars[i])
		for _, w := range o.Writes {
			if w.Mem.Kind() == machine.SharedMemory && (len(o.Bars) == 1 || w.Mem.CTA() == s.bar.mem.CTA()) {
				s.cover(w)
			}
		}
		s.copies = append(s.copies, o)
		if s.state != slotFilling {
			s.bytes = 0
			x.learn(s, o)
			x.set(r, s, slotFilling, r.now.n-1)
		}
		if i < len(o.BarBytes) {
			s.bytes += int64(o.BarBytes[i])
		}
		s.other = false
	}
	x.refilled(r, o)
}

// refilled ends slots of other mbarriers whose bytes an operation fills.
func (x *slots) refilled(r *Recorder, o *machine.Op) {
	for _, s := range x.list {
		if slices.ContainsFunc(o.Bars, func(b machine.BarRef) bool { return s.bar == barrier{b.Mem, b.Addr} }) {
			continue
		}
		for _, p := range o.Writes {
			if s.touches(s.spans, p) {
				x.touched(r, s, p, machine.Write, -1)
				break
			}
		}
	}
}

// learn learns which mbarrier frees a slot that an operation begins to fill.
func (x *slots) learn(s *slot, o *machine.Op) {
	b, ok := x.passed[agent{o.CTA, o.Warp}]
	if !ok || x.of[b] != nil || s.freed && s.frees.mem == s.bar.mem {
		return
	}
	s.frees, s.freed = b, true
}

func (x *slots) slot(r *Recorder, ref machine.BarRef) *slot {
	at := barrier{ref.Mem, ref.Addr}
	if s := x.of[at]; s != nil {
		return s
	}
	cta := r.cta(at.mem.CTA())
	s := &slot{bar: at, begin: r.now.n - 1}
	if x.rows {
		s.track = r.track(report.TraceTrack{Parent: cta.track, Name: "slot of " + r.names.Mbar(ref, ref.Mem.CTA()), Text: "what the copies that signal the mbarrier fill",
			Rank: firstSlot + int(ref.Addr), Kind: report.TrackSlot})
	}
	n := x.ctas[at.mem.CTA()]
	if n == nil {
		n = &slotCounts{}
		for k := slotFilling; k < slotStates; k++ {
			n.track[k] = r.track(report.TraceTrack{Parent: cta.track, Name: "slots " + slotWords[k], Text: "how many, of those that copies fill which signal an mbarrier",
				Counter: true, Unit: "slots", Rank: firstSlot - int(slotStates) + int(k), Kind: report.TrackCounter})
		}
		x.ctas[at.mem.CTA()] = n
	}
	n.n[slotEmpty]++
	x.of[at] = s
	x.list = append(x.list, s)
	return s
}

// cover adds bytes to a slot's.
func (s *slot) cover(w machine.Span) {
	for i := range s.spans {
		if p := &s.spans[i]; p.Mem == w.Mem && w.Addr <= p.Addr+p.Len && p.Addr <= w.Addr+w.Len {
			end := max(p.Addr+p.Len, w.Addr+w.Len)
			p.Addr = min(p.Addr, w.Addr)
			p.Len = end - p.Addr
			return
		}
	}
	s.spans = append(s.spans, w)
}

// mbar records a phase that ends, which fills a slot or frees some, and a new life.
func (x *slots) mbar(r *Recorder, ev *machine.Event) {
	at := barrier{ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr}
	s := x.of[at]
	switch {
	case s != nil && ev.Mbar.Op == machine.MbarInit:
		x.set(r, s, slotEmpty, r.now.n)
		s.copies, s.freed = s.copies[:0], false
	case !ev.Mbar.Completed:
	case s != nil:
		if s.state == slotFilling {
			x.set(r, s, slotFull, r.now.n)
		}
	default:
		for _, s := range x.list {
			if s.freed && s.frees == at && s.state > slotFilling {
				x.set(r, s, slotEmpty, r.now.n)
			}
		}
	}
}

func (x *slots) landed(o *machine.Op) {
	if !fills(o) {
		return
	}
	for _, b := range o.Bars {
		if s := x.of[barrier{b.Mem, b.Addr}]; s != nil {
			s.copies = slices.DeleteFunc(s.copies, func(c *machine.Op) bool { return c.ID == o.ID })
		}
	}
}

// access records what lanes read and write.
func (x *slots) access(r *Recorder, ev *machine.Event) {
	if len(x.list) == 0 || ev.Mem.Kind() != machine.SharedMemory || ev.Mask == 0 {
		return
	}
	lo, hi := ^uint64(0), uint64(0)
	for k := ev.Mask; k != 0; k &= k - 1 {
		a := ev.Addr[bits.TrailingZeros32(k)]
		lo, hi = min(lo, a), max(hi, a)
	}
	all := machine.Span{Mem: ev.Mem, Addr: lo, Len: hi - lo + uint64(ev.Size)}
	for _, s := range x.list {
		if !s.touches(s.spans, all) {
			continue
		}
		for k := ev.Mask; k != 0; k &= k - 1 {
			one := machine.Span{Mem: ev.Mem, Addr: ev.Addr[bits.TrailingZeros32(k)], Len: uint64(ev.Size)}
			if s.touches(s.spans, one) {
				if x.touched(r, s, one, ev.Access, ev.PC); ev.Access&machine.Write != 0 || s.state == slotRead {
					break
				}
			}
		}
	}
}

func (x *slots) spans(r *Recorder, spans []machine.Span, pc int32) {
	for _, s := range x.list {
		for _, p := range spans {
			if s.touches(s.spans, p) {
				x.touched(r, s, p, machine.Read, pc)
				break
			}
		}
	}
}

func (x *slots) overwritten(r *Recorder, spans []machine.Span) {
	for _, s := range x.list {
		for _, p := range spans {
			if s.touches(s.spans, p) {
				x.touched(r, s, p, machine.Write, -1)
				break
			}
		}
	}
}

func (s *slot) touches(list []machine.Span, p machine.Span) bool {
	for i := range list {
		if q := &list[i]; q.Mem == p.Mem && p.Addr < q.Addr+q.Len && q.Addr < p.Addr+p.Len {
			return true
		}
	}
	return false
}

// touched records an access of a slot. What others write there makes it no slot until it is
// filled again: an epilogue uses the place for something else.
func (x *slots) touched(r *Recorder, s *slot, p machine.Span, does machine.Access, pc int32) {
	switch {
	case does&machine.Write != 0:
		if s.state > slotFilling {
			x.set(r, s, slotEmpty, r.now.n-1)
		}
		s.other = true
		return
	case s.other:
		return
	}
	if s.state == slotFull {
		x.set(r, s, slotRead, r.now.n-1)
	}
	for _, o := range s.copies {
		if s.touches(o.Writes, p) {
			x.early(r, s, pc)
			break
		}
	}
}

// early shows a read of what a copy in flight writes.
func (x *slots) early(r *Recorder, s *slot, pc int32) {
	if !x.rows || s.early == r.now.n || s.begin == r.now.n-1 {
		return
	}
	s.early = r.now.n
	p := r.place(pc)
	r.slice(s.track, r.now.n-1, r.now.n, report.TraceMark{Name: SlotEarly, Category: catSlot, File: p.file, Line: p.line, PTX: p.ptx, PTXLine: p.ptxLine})
}

// set changes the state of a slot at a time.
func (x *slots) set(r *Recorder, s *slot, to slotState, at int64) {
	if s.state == to {
		return
	}
	if x.rows && s.state != slotEmpty && at > s.begin {
		r.slice(s.track, s.begin, at, report.TraceMark{Name: slotWords[s.state], Category: catSlot, Args: []report.TraceArg{{Name: "bytes", Number: s.bytes}}})
	}
	n := x.ctas[s.bar.mem.CTA()]
	n.n[s.state]--
	n.n[to]++
	if !n.dirty {
		n.dirty = true
		x.dirty = append(x.dirty, n)
	}
	s.state, s.begin = to, at
}

// stepped shows the counts that the step changed.
func (x *slots) stepped(r *Recorder) {
	if x == nil {
		return
	}
	for _, n := range x.dirty {
		n.dirty = false
		for k := slotFilling; k < slotStates; k++ {
			if n.n[k] != n.shown[k] {
				n.shown[k] = n.n[k]
				r.out.Mark(report.TraceMark{Kind: report.TraceValue, Track: n.track[k], Time: r.now.n, Value: n.n[k]})
			}
		}
	}
	x.dirty = x.dirty[:0]
}

// gone forgets the slots of a CTA that has ended.
func (x *slots) gone(r *Recorder, cta int32) {
	if x == nil {
		return
	}
	x.list = slices.DeleteFunc(x.list, func(s *slot) bool {
		if s.bar.mem.CTA() != cta {
			return false
		}
		x.set(r, s, slotEmpty, r.now.n)
		delete(x.of, s.bar)
		return true
	})
	for a := range x.passed {
		if a.cta == cta {
			delete(x.passed, a)
		}
	}
}

// close ends what is open when the run ends.
func (x *slots) close(r *Recorder, end int64) {
	if x == nil {
		return
	}
	slices.SortStableFunc(x.list, func(a, b *slot) int {
		return cmp.Or(cmp.Compare(a.bar.mem, b.bar.mem), cmp.Compare(a.bar.addr, b.bar.addr))
	})
	for _, s := range x.list {
		x.set(r, s, slotEmpty, end)
	}
}
