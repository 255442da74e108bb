package kernel

// This file is waits with a timeout, and libcu++'s combinations of barrier operations
// (cuda::barrier: arrive_and_wait, try_wait_for, try_wait_parity_for).

// ArriveAndWait is Arrive and Wait for the phase of that arrival: each thread of the
// group arrives once and continues when the phase is complete. It accepts the modifiers
// common to arrivals and waits: CTA, Cluster and Relaxed.
func (m Mbarrier) ArriveAndWait(mods ...Mod) { m.Wait(m.Arrive(mods...), mods...) }

// TryWaitFor waits until the phase of a token is complete, or ns nanoseconds of
// %globaltimer have passed, and reports which. ns is a number or a register of 32 bits.
// It emits a loop of mbarrier.try_wait with the time as its hint (ISA 9.7.13.15.16).
func (m Mbarrier) TryWaitFor(tok Token, ns Num, mods ...Mod) Pred {
	const what = "TryWaitFor"
	return m.timed(what, ns, func(hint Reg) Pred {
		return m.testToken(what, "mbarrier.try_wait", tok, mods, hint)
	})
}

// TryWaitParityFor is TryWaitFor for a phase given by its parity.
func (m Mbarrier) TryWaitParityFor(parity Num, ns Num, mods ...Mod) Pred {
	const what = "TryWaitParityFor"
	return m.timed(what, ns, func(hint Reg) Pred {
		return m.testParity(what, "mbarrier.try_wait.parity", parity, mods, hint)
	})
}

// timed emits a loop around a test, with a timeout. The test is repeated after the clock
// is read, so that a phase that completed in time counts.
func (m Mbarrier) timed(what string, ns Num, test func(hint Reg) Pred) Pred {
	k := m.kernel()
	if k.guard != nil {
		k.fail("%s inside of Guard: it is a loop, and only plain instructions take a predicate; use If", what)
		return k.lostPred()
	}
	if n, ok := toInt(ns); ok && (n < 0 || n >= 1<<32) {
		k.fail("%s of mbarrier %s: %d ns; a time is 0 to 2^32-1 ns", what, m, n)
		return k.lostPred()
	} else if r, isReg := ns.(Reg); !ok && (!isReg || r.k == nil || !r.t.integer() || r.t.Size() != 4) {
		k.fail("%s of mbarrier %s: the time is %s; it is a number or a register of 32 bits", what, m, describe(ns))
		return k.lostPred()
	}
	n := len(k.errs)
	hint := k.Const(U32, ns)
	start := k.Special("%globaltimer", U64)
	again, end := k.label("wait"), k.label("waited")
	k.Place(again)
	p := test(hint)
	if len(k.errs) > n {
		return k.lostPred()
	}
	k.branch(p, end, false)
	passed := k.Special("%globaltimer", U64).Sub(start)
	k.branch(passed.Lt(hint.Cvt(U64)), again, false)
	k.Place(end)
	return p
}
