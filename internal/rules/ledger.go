package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/mbarrier"
)

// A ledger records one life of an mbarrier: the arrivals of the open phase and of
// the one before, the bytes expected and landed, and the copies in flight.
type ledger struct {
	bar   machine.BarRef
	live  bool
	word  mbarrier.Word
	count uint32 // as initialized
	begun Site   // init
	ended Site   // inval
	open  phase
	last  phase
	seen  int64 // the highest phase that a wait has found complete

	usual   []lanes           // threads that arrived, in any phase
	waited  []lanes           // threads that waited with success; last is the phase
	passed  map[agentID]int64 // the phase of each thread's last such wait
	arrives []Site
	expects []Site
	copies  []Site
	brings  []lanes // threads whose bytes landed, in any phase
	flight  []flight
	paired  bool // cp.async.mbarrier.arrive without .noinc tracks copies here

	// The first evidence of a phase that completed with a copy in flight, and of
	// an arrival beyond the count.
	early  *evidence
	excess *evidence

	tokens map[uint64]made
	own    map[agentID]*[8]made
	// registers propagates the counts of setmaxnreg.
	registers handing
	ring      *served // made when asked for
}

// A phase is the account of one phase.
type phase struct {
	n        int64
	who      []lanes
	brought  []lanes // threads whose bytes landed
	expected int64
	landed   int64
	ended    int64 // when it completed
	by       Site  // the expect-tx of its bytes
}

// A flight is a copy in flight that will report its bytes to the barrier.
type flight struct {
	op    int64
	bytes uint32
	known int64 // the time up to which its issuer knew of events
	site  Site  // of its issue
}

// An evidence is the first occurrence of something, and how often it occurred.
type evidence struct {
	phase phase // without the agent
	count int
	text  string
	site  Site
}

// A made is the origin of a token.
type made struct {
	token uint64
	phase int64
	pc    int32
	set   bool
}

type agentID struct {
	cta, warp int32
	lane      int8
}

// ledgerOf returns the account of a barrier, nil if it was never initialized.
func (j *Judge) ledgerOf(b machine.BarRef) *ledger { return j.watch.words[word{b.Mem, b.Addr}] }

// barName names a barrier.
func barName(b machine.BarRef) string {
	return fmt.Sprintf("the mbarrier at shared+%d of CTA %d", b.Addr, b.Mem.CTA())
}

// wordSite is the place of an operation on a barrier.
func wordSite(role string, ev *machine.Event) Site {
	s := eventSite(role, ev)
	s.Mem, s.Addr, s.Len = ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr, 8
	return s
}

// mbarEvent records an operation on an mbarrier.
func (j *Judge) mbarEvent(ev *machine.Event) {
	b := &ev.Mbar
	l := j.ledgerOf(b.Bar)
	if b.Op == machine.MbarInit {
		j.initialized(l, ev)
		return
	}
	if !b.Live || l == nil {
		j.notLive(l, ev, wordSite("uses", ev))
		return
	}
	if ev.Op == nil {
		j.warp(ev.CTA, ev.Warp).step(j.watch.now, ev.PC, ev.Lane)
		j.guards(ev.CTA, ev.Warp, ev.PC)
	}
	j.undefined(l, ev)
	if b.Fault != mbarrier.NoFault {
		return
	}
	l.word = b.After
	known := j.warp(ev.CTA, ev.Warp).knows(ev.Lane)
	if ev.Op != nil {
		known = l.landing(ev.Op.ID, known)
	}
	switch b.Op {
	case machine.MbarInval:
		l.live = false
		l.ended = wordSite("invalidates", ev)
		for i := range l.flight {
			j.stillSignals(l, l.flight[i].site)
		}
	case machine.MbarExpectTx:
		l.expect(ev)
		j.comesTo(l, ev.CTA, ev.Warp, ev.PC)
	case machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
		l.expect(ev)
		j.arrives(l, ev, known)
	case machine.MbarArrive, machine.MbarArriveDrop:
		j.arrives(l, ev, known)
	case machine.MbarAsyncArrive:
		if b.NoComplete {
			j.arrives(l, ev, known)
		} else {
			l.paired = true
			l.arrives = enter(l.arrives, wordSite("arrives", ev))
		}
	case machine.MbarCompleteTx:
		l.open.landed += int64(b.Bytes)
		e := lanes{cta: ev.CTA, warp: ev.Warp, mask: 1 << uint(ev.Lane&31)}
		l.brings, l.open.brought = join(l.brings, e), join(l.open.brought, e)
		if ev.Op == nil {
			l.copies = enter(l.copies, wordSite("completes", ev))
			j.comesTo(l, ev.CTA, ev.Warp, ev.PC)
		}
	}
	if b.Completed {
		l.complete(j.watch.now)
	}
}

// initialized opens a new life.
func (j *Judge) initialized(old *ledger, ev *machine.Event) {
	b := &ev.Mbar
	if b.Undefined&mbarrier.InitRange != 0 {
		j.outOfRange(ev, fmt.Sprintf("mbarrier.init with count %d", b.Count))
	}
	if old != nil && b.Live {
		j.note(reinitWithoutInval, old.begun.PC, ev.PC, func() Finding { return reinitialized(old, ev) })
	}
	if old != nil {
		j.settle(old, ended)
	}
	l := &ledger{bar: b.Bar, live: true, word: b.After, count: b.Count, begun: wordSite("initializes", ev), seen: -1}
	l.last.n = -1
	j.watch.words[word{b.Bar.Mem, b.Bar.Addr}] = l
	if old == nil {
		c := j.cta(b.Bar.Mem.CTA())
		c.bars = append(c.bars, b.Bar.Addr)
	}
}

// undefined turns the ISA's undefined cases into findings.
func (j *Judge) undefined(l *ledger, ev *machine.Event) {
	b := &ev.Mbar
	u := b.Undefined
	switch {
	case u&mbarrier.CountRange != 0:
		j.outOfRange(ev, fmt.Sprintf("an arrival with count %d", b.Count))
	case u&mbarrier.TxRange != 0 && b.Bytes > mbarrier.MaxTx:
		j.outOfRange(ev, fmt.Sprintf("a transaction of %d bytes", b.Bytes))
	case u&mbarrier.TxRange != 0:
		j.outOfRange(ev, fmt.Sprintf("a tx-count that leaves -(2^20-1)..2^20-1 by %d bytes more", b.Bytes))
	case u&mbarrier.PendingRange != 0:
		j.outOfRange(ev, "a pending count above 2^20-1")
	}
	if u&mbarrier.NoCompleteCompletes != 0 {
		j.note(noCompleteCompletes, ev.PC, -1, func() Finding { return l.noCompleteCompleted(ev) })
	}
	if u&mbarrier.ArriveOver != 0 && b.Fault == mbarrier.NoFault {
		l.overrun(ev, "an asynchronous arrival came when no arrival was pending")
	}
}

// landing removes a copy from the list and returns the time up to which its issuer knew
// of events.
func (l *ledger) landing(op, known int64) int64 {
	for i := range l.flight {
		if l.flight[i].op == op {
			known = l.flight[i].known
			l.flight = append(l.flight[:i], l.flight[i+1:]...)
			break
		}
	}
	return known
}

func (l *ledger) expect(ev *machine.Event) {
	l.open.expected += int64(ev.Mbar.Bytes)
	l.open.by = wordSite("expects", ev)
	l.expects = enter(l.expects, l.open.by)
}

// arrives records an arrival at the open phase.
func (j *Judge) arrives(l *ledger, ev *machine.Event, known int64) {
	b := &ev.Mbar
	lane := uint32(1) << uint(ev.Lane&31)
	burst := j.watch.now
	if ev.Op == nil {
		burst = j.warp(ev.CTA, ev.Warp).burst
	}
	switch {
	case !j.watch.strong && l.late(ev, lane, known, burst, j.watch.together):
		l.overrun(ev, fmt.Sprintf("%s arrives in phase %d without knowing that phase %d is complete, and would be one more there", wordAgent(ev), l.open.n, l.last.n))
	case len(l.open.who) == 0 && l.open.n > 0 && l.seen < l.open.n-1 && l.excess == nil:
		j.note(unobservedPhase, ev.PC, -1, func() Finding { return l.unobserved(ev) })
	}
	e := lanes{cta: ev.CTA, warp: ev.Warp, mask: lane, count: b.Count, pc: ev.PC, first: j.watch.now, last: j.watch.now}
	l.open.who = join(l.open.who, e)
	l.usual = join(l.usual, e)
	l.arrives = enter(l.arrives, wordSite("arrives", ev))
	j.comesTo(l, ev.CTA, ev.Warp, ev.PC)
	if j.watch.tokens && ev.Op == nil {
		l.remember(ev)
	}
}

// late reports whether an arrival at the open phase is one too many for the phase
// before: its thread took no part in that phase, and knows of none of the
// arrivals that completed it, so that all of them could come later. Lanes of its
// own warp count like others, unless collectives may have ordered them: then
// those of another instruction prove nothing. If a thread arrived twice in that
// phase, that thread is the one too many, and not this one.
func (l *ledger) late(ev *machine.Event, lane uint32, known, burst int64, together bool) bool {
	p := &l.last
	if p.n < 0 || len(p.who) == 0 {
		return false
	}
	some := false
	for i := range p.who {
		a := &p.who[i]
		if a.again {
			return false
		}
		if a.cta == ev.CTA && a.warp == ev.Warp {
			if a.mask&lane != 0 {
				return false
			}
			if together {
				some = some || a.first >= burst
				continue
			}
		}
		if a.first <= known {
			return false
		}
		some = true
	}
	return some
}

// overrun records the evidence of an arrival too many.
func (l *ledger) overrun(ev *machine.Event, text string) {
	l.arrives = enter(l.arrives, wordSite("arrives", ev))
	if l.excess != nil {
		l.excess.count++
		return
	}
	n := l.last.n
	if ev.Mbar.Fault != mbarrier.NoFault {
		n = l.open.n
	}
	l.excess = &evidence{phase: phase{n: n}, count: 1, text: text, site: wordSite("arrives", ev)}
}

// complete closes the open phase.
func (l *ledger) complete(now int64) {
	l.open.ended = now
	for i := range l.flight {
		if l.flight[i].bytes == 0 {
			continue
		}
		if l.early != nil {
			l.early.count++
			break
		}
		p := l.open
		p.who = nil
		l.early = &evidence{phase: p, count: 1, text: fmt.Sprintf("phase %d completed with %d bytes landed of %d expected, while a copy of %d bytes to it was still under way",
			p.n, p.landed, p.expected, l.flight[i].bytes)}
		break
	}
	l.last, l.open = l.open, phase{n: l.open.n + 1, who: l.last.who[:0], brought: l.last.brought[:0]}
}

// signals is the site of an operation that will signal a barrier.
func signals(ev *machine.Event, b machine.BarRef) Site {
	s := eventSite("signals", ev)
	s.Mem, s.Addr, s.Len = b.Mem, b.Addr, 8
	return s
}

// issued records an operation that will signal barriers.
func (j *Judge) issued(m *machine.Machine, ev *machine.Event) {
	op := ev.Op
	for i, b := range op.Bars {
		if j.isGone(b.Mem) {
			continue
		}
		l := j.ledgerOf(b)
		now, ok := m.BarrierAt(b.Mem, b.Addr)
		if l == nil || !ok || !now.Live {
			s := eventSite("uses", ev)
			s.Mem, s.Addr, s.Len = b.Mem, b.Addr, 8
			j.notLive(l, ev, s)
			continue
		}
		j.idleBrings(ev, b)
		j.comesTo(l, op.CTA, op.Warp, ev.PC)
		l.flight = append(l.flight, flight{op: op.ID, bytes: op.BarBytes[i], known: j.warp(op.CTA, op.Warp).knows(op.Lane), site: signals(ev, b)})
		if op.BarBytes[i] > 0 {
			s := eventSite("copies", ev)
			if len(op.Writes) > i {
				s.Mem, s.Addr, s.Len = op.Writes[i].Mem, op.Writes[i].Addr, op.Writes[i].Len
			}
			l.copies = enter(l.copies, s)
		}
	}
}

// mbarWait records a test of a barrier.
func (j *Judge) mbarWait(ev *machine.Event) {
	b := &ev.Mbar
	l := j.ledgerOf(b.Bar)
	if !b.Live || l == nil {
		j.notLive(l, ev, wordSite("waits", ev))
		return
	}
	if b.Undefined&mbarrier.ParityRange != 0 {
		j.outOfRange(ev, fmt.Sprintf("a phase parity of %d", b.Token))
	}
	if !b.Parity {
		open := b.Phase
		if b.OK {
			open++
		}
		j.tokenWait(l, ev, open)
	}
	if !b.OK {
		return
	}
	j.idled(l, ev)
	j.passes(l, ev.CTA, ev.Warp)
	l.seen = max(l.seen, b.Phase)
	l.waited = join(l.waited, lanes{cta: ev.CTA, warp: ev.Warp, mask: ev.Mask, pc: ev.PC, last: b.Phase})
	x := j.warp(ev.CTA, ev.Warp)
	switch {
	case b.Phase == l.last.n:
		j.learn(x, ev.Mask, l.last.ended)
	case b.Phase >= 0:
		j.learn(x, ev.Mask, j.watch.now)
	}
}

// line is the barrier's state for a reader.
func (l *ledger) line() string {
	s := mbarrier.State{Word: l.word, Phase: uint64(l.open.n)}
	text := barName(l.bar) + ", " + s.String()
	if l.open.expected != 0 || l.open.landed != 0 || len(l.copies) > 0 {
		text += fmt.Sprintf("; %d bytes landed of %d expected in this phase", l.open.landed, l.open.expected)
	}
	return text
}

// settle turns a barrier's evidence into findings. Bytes that no phase expects
// count if the barrier's life is over; in a run that stopped, the cause of the
// stop decides whether they matter; in one that was cut they may yet be expected,
// or be explained. A count out of range, or too many arrivals, explains the bytes
// too: a phase completed too early does not yet expect bytes to come.
func (j *Judge) settle(l *ledger, how parting) {
	valid := l.count-1 < mbarrier.MaxCount
	early := l.early != nil && how != cut || l.word.Tx() < 0 && how == ended
	switch {
	case !valid:
	case l.excess != nil:
		j.add(arrivalsExcess, l.tooMany())
	case early:
		j.add(bytesEarly, j.tooEarly(l))
		l.word = 0
	}
	l.early, l.excess = nil, nil
}
