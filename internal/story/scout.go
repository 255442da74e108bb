package story

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
)

// A Scout observes a run and notes which of its steps matter to a finding.
type Scout struct {
	Print
	// Shown, unless nil, is asked after every step whether the run has shown the
	// finding by now.
	Shown   func() bool
	shown   int // the step that did; 0 if none
	finding *rules.Finding
	step    int
	marks   []mark
	waits   []barrier // the barriers that splits wait for at the end
	asleep  []told    // the last steps of the splits that wait at the end
	short   bool      // a split waits for columns of tensor memory at the end
	turns   map[split]int
	busy    bool   // the step did more than an unsuccessful wait
	last    [2]int // the last two steps that did
}

// A mark is one reason to tell a step.
type mark struct {
	step int
	what reason
	site int8    // of siteHit
	bar  barrier // of barOp and syncOp
	init bool
	own  bool // of a warp that the finding names
	wait bool // it only waits: found complete, or passed
	idle bool // it was only an unsuccessful wait
	cta  int32
}

type reason uint8

const (
	siteHit reason = iota // it is a place of the finding
	touch                 // it touches bytes of the finding
	barOp                 // it uses a barrier
	syncOp                // it synchronizes, without a barrier in memory
	behind                // it is a place of what the finding may come of
	leaves                // the last threads of cta have exited
	columns               // it allocates or frees columns of the tensor memory of cta
)

// A barrier is an mbarrier, or a named barrier (named), or none.
type barrier struct {
	mem   machine.MemID
	addr  uint64 // or its number
	named bool
	is    bool
}

// A split identifies lanes of a warp by the lowest.
type split struct {
	cta, warp int32
	lane      int8
}

// maxMarks bounds what a scout keeps.
const maxMarks = 1 << 20

// NewScout returns a scout for a finding; f is nil if there is none to explain.
func NewScout(f *rules.Finding) *Scout { return &Scout{finding: f, turns: map[split]int{}} }

// Go steps a machine that the scout observes through a run, to step until.
func (s *Scout) Go(m *machine.Machine, run []machine.Choice, until int) {
	for i, c := range run[:until] {
		s.step, s.busy = i+1, false
		s.choice(c)
		before := m.Stopped()
		m.Step(c)
		if before == nil {
			s.faults(m.Stopped())
		}
		if s.shown == 0 && s.Shown != nil && s.Shown() {
			s.shown = s.step
		}
		if s.busy {
			if c.Kind == machine.Run {
				s.turns[split{c.CTA, c.Warp, c.Lane}] = s.step
			}
			s.last = [2]int{s.last[1], s.step}
		}
	}
	if until == len(run) {
		m.Conclude()
	}
	s.close(m)
	if st := m.Stopped(); st != nil && st.Kind == machine.Deadlock {
		for _, v := range m.Waiting() {
			if n := s.fell(&v); n > 0 && v.Kind != machine.WaitNothing {
				s.asleep = append(s.asleep, told{step: n, site: s.siteOf(&v), asleep: true})
			}
			for _, t := range v.Tests {
				s.waits = append(s.waits, barrier{mem: t.Bar.Mem, addr: t.Bar.Addr, is: true})
			}
			s.short = s.short || v.Kind == machine.WaitColumns || v.Kind == machine.WaitPair
			if v.Kind == machine.WaitNamed {
				s.waits = append(s.waits, barrier{mem: machine.SharedOf(v.CTA), addr: uint64(v.Bar), named: true, is: true})
			}
		}
	}
}

// faults notes that a step ends the run at a place of the finding: what faults has no event.
func (s *Scout) faults(st *machine.Stop) {
	if st == nil || s.finding == nil || st.PC < 0 {
		return
	}
	for i := range s.finding.Sites {
		if t := &s.finding.Sites[i]; t.PC == st.PC && t.CTA == st.CTA && t.Warp == st.Warp {
			s.busy = true
			s.add(mark{step: s.step, what: siteHit, site: int8(i), own: true})
		}
	}
}

// siteOf returns the place of the finding where a split waits; -1 if it waits
// at none.
func (s *Scout) siteOf(v *machine.WaitingSplit) int {
	if s.finding == nil {
		return -1
	}
	return slices.IndexFunc(s.finding.Sites, func(t rules.Site) bool {
		return t.PC == v.PC && t.CTA == v.CTA && t.Warp == v.Warp && t.Lanes&v.Mask != 0
	})
}

// fell returns the last step at which a split did something; 0 if there is none.
func (s *Scout) fell(v *machine.WaitingSplit) int {
	last := 0
	for l := range int8(32) {
		if v.Mask>>l&1 != 0 {
			last = max(last, s.turns[split{v.CTA, v.Warp, l}])
		}
	}
	return last
}

// Observe makes a Scout a machine.Observer.
func (s *Scout) Observe(m *machine.Machine, ev *machine.Event) {
	s.event(ev)
	s.busy = s.busy || ev.Kind != machine.EvMbarWait || ev.Mbar.OK
	if s.finding == nil || len(s.marks) >= maxMarks {
		return
	}
	k := mark{step: s.step, own: s.involved(ev.CTA, ev.Warp), cta: ev.CTA,
		wait: ev.Kind == machine.EvMbarWait || ev.Kind == machine.EvBarPass || ev.Kind == machine.EvIssue,
		idle: ev.Kind == machine.EvMbarWait && !ev.Mbar.OK}
	for i := range s.finding.Sites {
		if s.is(&s.finding.Sites[i], ev) {
			s.add(mark{step: s.step, what: siteHit, site: int8(i), own: true, idle: k.idle})
		}
	}
	for i := range s.finding.Behind {
		if s.is(&s.finding.Behind[i], ev) {
			s.add(mark{step: s.step, what: behind, own: true})
		}
	}
	switch ev.Kind {
	case machine.EvAccess, machine.EvSource, machine.EvWritten:
		if s.touches(ev) {
			k.what = touch
			s.add(k)
		}
	case machine.EvMbar, machine.EvMbarWait:
		k.what, k.bar, k.init = barOp, mbarOf(ev), ev.Kind == machine.EvMbar && ev.Mbar.Op == machine.MbarInit
		s.add(k)
	case machine.EvIssue:
		for _, b := range ev.Op.Bars {
			k.what, k.bar = barOp, barrier{mem: b.Mem, addr: b.Addr, is: true}
			s.add(k)
		}
	case machine.EvBarArrive, machine.EvBarPass:
		k.what, k.bar = barOp, barrier{mem: machine.SharedOf(ev.CTA), addr: uint64(ev.Bar), named: true, is: true}
		s.add(k)
	case machine.EvEnd:
		k.what = leaves
		s.add(k)
	case machine.EvTensorAsk, machine.EvTensorRelinquish, machine.EvTensorAlloc, machine.EvTensorFree, machine.EvTensorLeft:
		k.what = columns
		s.add(k)
	case machine.EvFence, machine.EvClusterArrive, machine.EvClusterWait, machine.EvWarpSync, machine.EvCommit, machine.EvGroupWait:
		if k.own {
			k.what = syncOp
			s.add(k)
		}
	}
}

// add appends a mark, unless the step has it already.
func (s *Scout) add(k mark) {
	for i := len(s.marks) - 1; i >= 0 && s.marks[i].step == k.step; i-- {
		if s.marks[i] == k {
			return
		}
	}
	s.marks = append(s.marks, k)
}

func mbarOf(ev *machine.Event) barrier {
	return barrier{mem: ev.Mbar.Bar.Mem, addr: ev.Mbar.Bar.Addr, is: true}
}

// involved reports whether the finding names a warp.
func (s *Scout) involved(cta, warp int32) bool {
	for i := range s.finding.Sites {
		if t := &s.finding.Sites[i]; t.CTA == cta && t.Warp == warp {
			return true
		}
	}
	return false
}

// is reports whether an event is that of a site of the finding. For an
// asynchronous operation that is its issue, and the milestone that reads or
// writes. A site that is no instruction is the end of a CTA.
func (s *Scout) is(t *rules.Site, ev *machine.Event) bool {
	if t.PC < 0 {
		return ev.Kind == machine.EvEnd && ev.CTA == t.CTA
	}
	if ev.PC != t.PC || ev.CTA != t.CTA || ev.Warp != t.Warp {
		return false
	}
	switch ev.Kind {
	case machine.EvAccess:
		return t.Len == 0 || ev.Mem == t.Mem && accessTouches(ev, t.Addr, t.Len)
	case machine.EvIssue:
		return t.Len == 0 || spansTouch(ev.Op.Reads, t) || spansTouch(ev.Op.Writes, t) || barsTouch(ev.Op.Bars, t)
	case machine.EvSource:
		return t.Op != "" && t.Len > 0 && spansTouch(ev.Op.Reads, t)
	case machine.EvWritten:
		return t.Op != "" && t.Len > 0 && spansTouch(ev.Op.Writes, t)
	case machine.EvMbar, machine.EvMbarWait:
		return t.Len == 0 || ev.Mbar.Bar.Mem == t.Mem && ev.Mbar.Bar.Addr < t.Addr+t.Len && t.Addr < ev.Mbar.Bar.Addr+8
	case machine.EvSignal, machine.EvExit, machine.EvEnd:
		return false
	}
	return true
}

func barsTouch(bars []machine.BarRef, t *rules.Site) bool {
	return slices.ContainsFunc(bars, func(b machine.BarRef) bool { return b.Mem == t.Mem && b.Addr < t.Addr+t.Len && t.Addr < b.Addr+8 })
}

// allocates reports whether a step that allocates or frees columns belongs to the finding: it
// is about tensor memory of that CTA, or columns are waited for.
func (s *Scout) allocates(k *mark) bool {
	return k.what == columns && (s.short || slices.ContainsFunc(s.finding.Sites, func(t rules.Site) bool {
		return t.Len > 0 && t.Mem == machine.TensorOf(k.cta)
	}))
}

// touches reports whether an event reads or writes bytes of the finding.
func (s *Scout) touches(ev *machine.Event) bool {
	for i := range s.finding.Sites {
		t := &s.finding.Sites[i]
		if t.Len == 0 {
			continue
		}
		switch ev.Kind {
		case machine.EvAccess:
			if ev.Mem == t.Mem && accessTouches(ev, t.Addr, t.Len) {
				return true
			}
		case machine.EvSource:
			if spansTouch(ev.Op.Reads, t) {
				return true
			}
		case machine.EvWritten:
			if spansTouch(ev.Op.Writes, t) {
				return true
			}
		}
	}
	return false
}

func accessTouches(ev *machine.Event, addr, n uint64) bool {
	if ev.Addr == nil {
		return false
	}
	for l := range 32 {
		if a := ev.Addr[l]; ev.Mask>>l&1 != 0 && a < addr+n && addr < a+uint64(ev.Size) {
			return true
		}
	}
	return false
}

func spansTouch(spans []machine.Span, t *rules.Site) bool {
	return slices.ContainsFunc(spans, func(s machine.Span) bool {
		return s.Mem == t.Mem && s.Addr < t.Addr+t.Len && t.Addr < s.Addr+s.Len
	})
}
