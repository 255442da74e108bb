package mbarrier

import "fmt"

// What a barrier refuses, and how it says so.

func (b *Barrier) check(op string) {
	if b == nil || b.crowd.cond.L == nil {
		panic("mbarrier: " + op + " on a Barrier that is not from New")
	}
}

func (b *Barrier) checkToken(op string, t ArrivalToken) {
	b.check(op)
	switch now := b.now(); {
	case t.b == nil:
		b.misuse(op, "with the zero token, which no arrival returned")
	case t.b != b:
		b.misuse(op, "with a token of another barrier (%s)", t.b.label())
	case now > t.phase+1:
		b.misuse(op, "with a stale token: it is of phase %d, %d before the current one, and only the current phase and the one before it can be waited for", t.phase, now-t.phase)
	}
}

// parity returns the current phase and whether the phase with that parity is complete.
func (b *Barrier) parity(op string, parity int) (uint64, bool) {
	b.check(op)
	if parity != 0 && parity != 1 {
		b.misuse(op, "for parity %d: a parity is 0 or 1", parity)
	}
	p := b.now()
	ok := p&1 != uint64(parity)
	if b.trace != nil {
		b.trace.asked(op, p, ok)
	}
	return p, ok
}

func (b *Barrier) misuse(op, format string, args ...any) {
	b.panics(fmt.Sprintf("mbarrier: "+op+" "+format+"; %s is at %v", append(args, b.label(), b.State())...))
}

// panics panics, and a trace has the reason.
func (b *Barrier) panics(text string) {
	if b.trace != nil {
		text += b.trace.refused(text)
	}
	panic(text)
}

// refuse panics with the reason why c is not allowed in s.
func (b *Barrier) refuse(op string, s State, r Result, c change) {
	why := ""
	switch left := s.Word.Pending(); {
	case r.Fault == ArrivesOver && s.Word.Expected() == 0 && left == 0:
		why = "after everyone has dropped"
	case r.Fault == ArrivesOver:
		why = fmt.Sprintf("over-arrives: %d arriving where the phase still waits for %d", c.count, left)
	case r.Fault == DropsOver:
		why = fmt.Sprintf("drops %d of %d expected", c.drop, s.Word.Expected())
	case r.Fault == TxOverflow || r.Fault == NoFault:
		why = fmt.Sprintf("overflows the bytes: %d and %+d leave -%d..%d", s.Word.Tx(), -c.delta, MaxTx, MaxTx)
	default:
		why = r.Fault.String()
	}
	b.panics(fmt.Sprintf("mbarrier: %s %s; %s is at %v", op, why, b.label(), s))
}
