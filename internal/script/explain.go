package script

import (
	"fmt"
	"slices"

	"muster/internal/rules"
	"muster/mbarrier"
)

// title gives the catalogue's words for a kind.
func title(kind string) (severity, text string) {
	if k := rules.Lookup(kind); k != nil {
		return k.Severity.String(), k.Title
	}
	panic("BUG: no kind " + kind)
}

// find reports a defect: the catalogue's title, then the details.
func (r *runner) find(kind, format string, a ...any) {
	severity, text := title(kind)
	r.say("  %s[%s]: %s", severity, kind, text)
	r.say("    %s", fmt.Sprintf(format, a...))
	if severity == "error" && !slices.Contains(r.kinds, kind) {
		r.kinds = append(r.kinds, kind)
	}
}

// undefined reports a fault and what the ISA leaves undefined in a transition.
func (r *runner) undefined(b *barrier, n uint32, res mbarrier.Result) {
	switch res.Fault {
	case mbarrier.Poisoned:
		r.find("arrivals-excess", "an arrival of a copy before this operation was one too many")
	case mbarrier.ArrivesOver:
		r.find("arrivals-excess", "%d %s, and %s waits for %d", n, plural(n, "arrival"), b.name, b.state.Word.Pending())
	case mbarrier.DropsOver:
		r.find("arrivals-excess", "%d dropped, and %s expects %d", n, b.name, b.state.Word.Expected())
	case mbarrier.TxOperand:
		r.find("range", "%d bytes in one operation, %d at most", n, mbarrier.MaxTx)
	case mbarrier.TxOverflow:
		r.find("range", "a tx-count of %d and %d more bytes: it goes from -%d to %d", b.state.Word.Tx(), n, mbarrier.MaxTx, mbarrier.MaxTx)
	default:
		r.allowed(b, n, res.Undefined)
	}
}

// allowed reports what the card accepts and the ISA does not define.
func (r *runner) allowed(b *barrier, n uint32, u mbarrier.Undefined) {
	has := func(bit mbarrier.Undefined) bool { return u&bit != 0 }
	if has(mbarrier.InitRange) {
		r.find("range", "a count is 1 to %d, not %d; an H200 stores what its arithmetic gives", mbarrier.MaxCount, n)
	}
	if has(mbarrier.CountRange) {
		r.find("range", "a count is 1 to %d, not %d; an H200 takes it", mbarrier.MaxCount, n)
	}
	if has(mbarrier.TxRange) {
		r.find("range", "the tx-count is %d, %d at most; an H200 takes one more", b.state.Word.Tx(), mbarrier.MaxTx)
	}
	if has(mbarrier.PendingRange) {
		r.find("range", "the ISA adds one to a pending count that is %d already; an H200 adds it to the tx-count", mbarrier.MaxCount)
	}
	if has(mbarrier.NoCompleteCompletes) {
		r.find("nocomplete-completes", "an H200 completes the phase all the same")
	}
	if has(mbarrier.ExpectCompletes) {
		r.find("expect-late", "all arrivals were in before these bytes were expected: an H200 completes the phase here, the ISA says nothing of it")
	}
	if has(mbarrier.ExpectedZero) && !b.dropped {
		b.dropped = true
		r.say("  everyone has dropped: %s is not to be used again", b.name)
	}
}

// unobserved warns of an arrival in a phase if no thread observed that the one before was complete.
func (r *runner) unobserved(b *barrier, phase uint64) {
	if b.seen < phase && !b.unseen {
		b.unseen = true
		r.find("unobserved-phase", "an arrival of phase %d, and no wait or test saw phase %d complete", phase, phase-1)
	}
}

// leftBehind reports copies in flight whose phase has completed without them.
func (r *runner) leftBehind(b *barrier, phase uint64) {
	for _, f := range r.flights {
		if f.bar == b && f.phase == phase && !f.async && !f.warned {
			f.warned = true
			r.find("bytes-early", "%s has not landed: its %d bytes will be charged to phase %d", f.name, f.bytes, phase+1)
		}
	}
}

// end reports the actors that still wait, and why.
func (r *runner) end(*command) error {
	if r.dead {
		r.say("the launch has ended")
		return nil
	}
	var told []*barrier
	for _, w := range r.waits {
		verb := "waits for"
		if w.once {
			verb = "is suspended for"
		}
		r.say("%s still %s phase %d of %s: %s", w.actor, verb, w.phase, w.bar.name, owed(w.bar.state.Word))
		if w.lapped {
			r.say("  it meant an earlier phase, and waits for one that nobody may begin")
		} else if !slices.Contains(told, w.bar) {
			told = append(told, w.bar)
			r.why(w.bar)
		}
	}
	for _, f := range r.flights {
		if !slices.Contains(told, f.bar) {
			r.say("%s is under way to %s", f.name, f.bar.name)
		}
	}
	if len(r.waits) == 0 {
		r.say("nobody waits")
	}
	return nil
}

// owed formats the two counts of a word.
func owed(w mbarrier.Word) string {
	return fmt.Sprintf("pending %d of %d, tx %d", w.Pending(), w.Expected(), w.Tx())
}

// why names what keeps a barrier's phase from completing: first the copies in flight, then the
// bytes, then the arrivals.
func (r *runner) why(b *barrier) {
	w := b.state.Word
	tx, flying, arriving := int64(w.Tx()), int64(0), uint32(0)
	for _, f := range r.flights {
		switch {
		case f.bar != b:
		case f.noinc:
			arriving++
		case f.async:
			flying++
		default:
			flying += int64(f.bytes)
		}
		if f.bar == b {
			r.say("  %s is under way", f.name)
		}
	}
	left := tx - flying
	pending := int64(w.Pending()) - int64(arriving)
	switch {
	case pending <= 0 && left == 0:
		r.say("  once that lands, the phase is complete")
	case pending > 0 && w.Pending() == w.Expected() && tx == 0 && flying == 0:
		r.find("never-completes", "nothing of phase %d has come, no arrival and no byte", b.state.Phase)
	case pending > 0:
		r.find("arrivals-missing", "%d %s still to come, and nobody is left to make %s", pending, plural(uint32(pending), "arrival"), them(pending))
	case left > 0:
		r.find("bytes-missing", "%d %s expected that no copy will bring", left, plural(uint32(left), "byte"))
	default:
		r.find("bytes-early", "%d %s more than were expected: the tx-count has stepped past zero", -left, plural(uint32(-left), "byte"))
	}
	if pending > 0 && left < 0 {
		r.say("    besides, %d bytes have no expect_tx", -left)
	}
}

func plural(n uint32, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func them(n int64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
