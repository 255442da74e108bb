package script

import (
	"fmt"
	"slices"

	"muster/mbarrier"
)

// A choice is the phase that a wait or test asks about.
type choice struct {
	parity uint32
	meant  uint64 // the phase that the author intends, if known
	known  bool
}

// choose evaluates the selector of a command and reports errors in it.
func (r *runner) choose(b *barrier, c *command) (choice, error) {
	ch := choice{parity: c.n & 1}
	now := b.state.Phase
	switch c.how {
	case byPhase:
		ch.meant, ch.known = c.phase, true
	case byToken:
		t, ok := r.tokens[c.target]
		if !ok {
			return ch, r.errorf(c.args[1], "no line above keeps a token %q; a wait is by token, parity P or phase N", c.target)
		}
		ch.parity, ch.meant, ch.known = t.value.Parity(), t.phase, t.bar == b
		switch {
		case t.bar != b:
			r.find("stale-token", "%s is a token of %s, not of %s: only its parity is compared", c.target, t.bar.name, b.name)
		case t.phase+1 < now:
			r.find("stale-token", "%s is of phase %d, and %s is in phase %d: a token serves for the current phase and the one before", c.target, t.phase, b.name, now)
		}
	case byParity:
		if mbarrier.CheckParity(c.n) != 0 {
			r.find("range", "a parity is 0 or 1, not %d; an H200 looks at its lowest bit", c.n)
		}
	}
	return ch, nil
}

// judge reports when the phase selected by parity is not the intended one.
func (r *runner) judge(b *barrier, c *command, ch choice) (lapped bool) {
	now := b.state.Phase
	if !ch.known || c.how != byPhase {
		return false
	}
	passes := b.state.Word.TestWaitParity(ch.parity)
	switch {
	case ch.meant+1 < now && !passes:
		r.find("lapped-wait", "phase %d is meant, long complete; its parity %d is that of phase %d, which is not", ch.meant, ch.parity, now)
		return true
	case ch.meant+1 < now:
		r.find("lapped-wait", "phase %d is meant, and phase %d has ended since: the parity %d answers for that one", ch.meant, now-1, ch.parity)
	case ch.meant > now && passes:
		r.find("early-wait", "phase %d is meant, which has not begun; parity %d is that of %s complete", ch.meant, ch.parity, before(now))
	case ch.meant > now:
		r.find("early-wait", "phase %d is meant, which has not begun; parity %d is that of phase %d", ch.meant, ch.parity, now)
	}
	return false
}

// before names the phase before phase n, for a sentence that ends in 'complete'.
func before(n uint64) string {
	if n == 0 {
		return "the phase before the first, which counts as"
	}
	return fmt.Sprintf("phase %d, which is", n-1)
}

// wait is `wait` and `try`: the actor passes, or waits.
func (r *runner) wait(c *command) error {
	b := r.barrier(c)
	if b == nil {
		return nil
	}
	ch, err := r.choose(b, c)
	if err != nil {
		return err
	}
	if b.state.Word.TestWaitParity(ch.parity) {
		r.say("%s passes: %s is complete", c.actor.text, r.past(b))
		r.judge(b, c, ch)
		b.seen = b.state.Phase
		return nil
	}
	w := &waiter{actor: c.actor.text, bar: b, parity: ch.parity, phase: b.state.Phase, once: c.verb.text == "try", line: c.line}
	r.waits = append(r.waits, w)
	if w.once {
		r.say("%s is suspended until phase %d of %s is complete, or its time is up", w.actor, w.phase, b.name)
	} else {
		r.say("%s waits for phase %d of %s", w.actor, w.phase, b.name)
	}
	w.lapped = r.judge(b, c, ch)
	return nil
}

// past names the phase before the current one, which a passing wait observed.
func (r *runner) past(b *barrier) string {
	if b.state.Phase == 0 {
		return "the phase before the first of " + b.name
	}
	return fmt.Sprintf("phase %d of %s", b.state.Phase-1, b.name)
}

func (r *runner) test(c *command) error {
	b := r.barrier(c)
	if b == nil {
		return nil
	}
	ch, err := r.choose(b, c)
	if err != nil {
		return err
	}
	if b.state.Word.TestWaitParity(ch.parity) {
		r.say("true: %s is complete", r.past(b))
		b.seen = b.state.Phase
	} else {
		r.say("false: phase %d of %s is not complete", b.state.Phase, b.name)
	}
	r.judge(b, c, ch)
	return nil
}

func (r *runner) timeout(c *command) error {
	i := slices.IndexFunc(r.waits, func(w *waiter) bool { return w.actor == c.target })
	if i < 0 {
		return r.errorf(c.args[0], "%s waits for nothing", c.target)
	}
	w := r.waits[i]
	if !w.once {
		r.say("%s resumes with false, and its loop tries again: it waits for phase %d of %s", w.actor, w.phase, w.bar.name)
		return nil
	}
	r.waits = slices.Delete(r.waits, i, i+1)
	r.say("%s resumes with false: phase %d of %s is not complete", w.actor, w.bar.state.Phase, w.bar.name)
	return nil
}

func (r *runner) pendingCount(c *command) error {
	t, ok := r.tokens[c.target]
	if !ok {
		return r.errorf(c.args[0], "no line above keeps a token %q", c.target)
	}
	r.say("%d", t.value.PendingCount())
	if !t.noComplete {
		r.say("  the ISA defines this for tokens of .noComplete arrivals only")
	}
	return nil
}

// wake wakes all actors whose phase is complete.
func (r *runner) wake(b *barrier) {
	r.waits = slices.DeleteFunc(r.waits, func(w *waiter) bool {
		if w.bar != b || !b.state.Word.TestWaitParity(w.parity) {
			return false
		}
		b.seen = b.state.Phase
		switch {
		case w.once:
			r.say("  %s resumes with true", w.actor)
		default:
			r.say("  %s wakes", w.actor)
		}
		return true
	})
}

func (r *runner) flight(name string) int {
	return slices.IndexFunc(r.flights, func(f *flight) bool { return f.name == name })
}

// issue adds a copy in flight.
func (r *runner) issue(c *command, f *flight) error {
	if r.flight(f.name) >= 0 {
		return r.errorf(c.args[0], "%s is under way already", f.name)
	}
	r.flights = append(r.flights, f)
	return nil
}

func (r *runner) copy(c *command) error {
	b := r.barrier(c)
	if b == nil {
		return nil
	}
	r.say("%s is under way: %d bytes", c.target, c.n)
	if c.n > mbarrier.MaxTx {
		r.find("range", "%d bytes in one operation, %d at most", c.n, mbarrier.MaxTx)
	}
	return r.issue(c, &flight{name: c.target, bar: b, bytes: c.n, phase: b.state.Phase})
}

// cpAsync issues cp.async.mbarrier.arrive. Without noinc the card charges the tx-count at once.
func (r *runner) cpAsync(c *command) error {
	b := r.barrier(c)
	if b == nil {
		return nil
	}
	f := &flight{name: c.target, bar: b, async: true, noinc: c.noinc, phase: b.state.Phase}
	if err := r.issue(c, f); err != nil {
		return err
	}
	if c.noinc {
		r.say("%s is under way, and will arrive on %s", f.name, b.name)
		return nil
	}
	w, res := b.state.Word.CpAsyncArrive()
	if r.advance(b, w, res) {
		r.say("  %s is under way, and charged", f.name)
	}
	r.undefined(b, 1, res)
	if !r.dead {
		r.settle(b, f.phase, res)
	}
	return nil
}

func (r *runner) land(c *command) error {
	i := r.flight(c.target)
	if i < 0 {
		return r.errorf(c.args[0], "no copy %q is under way", c.target)
	}
	f := r.flights[i]
	r.flights = slices.Delete(r.flights, i, i+1)
	b := f.bar
	phase := b.state.Phase
	if !b.live {
		r.find("use-after-inval", "%s reports to %s, which was invalidated", f.name, b.name)
	}
	var w mbarrier.Word
	var res mbarrier.Result
	switch {
	case f.noinc:
		w, res = b.state.Word.CpAsyncLandNoinc()
	case f.async:
		w, res = b.state.Word.CpAsyncLand()
	default:
		w, res = b.state.Word.CompleteTx(f.bytes)
	}
	poisoned := b.state.Word.Poisoned()
	if !r.advance(b, w, res) {
		r.undefined(b, f.bytes, res)
		return nil
	}
	if f.phase != phase {
		r.say("  issued in phase %d, charged to phase %d", f.phase, phase)
	}
	if !poisoned && w.Poisoned() {
		r.find("arrivals-excess", "%s arrives where no arrival is pending: nobody faults, but the next operation on %s will", f.name, b.name)
	} else {
		r.undefined(b, f.bytes, res)
	}
	r.settle(b, phase, res)
	return nil
}
