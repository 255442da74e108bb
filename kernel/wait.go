package kernel

import (
	"slices"

	"muster/ptx"
)

// This file is the waits of an Mbarrier (ISA 9.7.13.15.16). Accesses before the arrivals
// of a phase happen before a thread's accesses after its wait for the phase, unless one
// of the two is Relaxed.

// TestWait reports whether the phase of a token is complete. It emits mbarrier.test_wait.
func (m Mbarrier) TestWait(tok Token, mods ...Mod) Pred {
	return m.testToken("TestWait", "mbarrier.test_wait", tok, mods)
}

// TryWait reports whether the phase of a token is complete, and may suspend the thread
// for some time first. It emits mbarrier.try_wait.
func (m Mbarrier) TryWait(tok Token, mods ...Mod) Pred {
	return m.testToken("TryWait", "mbarrier.try_wait", tok, mods)
}

// TestWaitParity reports whether the phase with that parity is complete: the current
// phase, or the one before it. The first phase has parity 0; at a new barrier parity 1
// counts as complete. The parity is a number or a register of 32 bits that is 0 or 1. It
// emits mbarrier.test_wait.parity.
func (m Mbarrier) TestWaitParity(parity Num, mods ...Mod) Pred {
	return m.testParity("TestWaitParity", "mbarrier.test_wait.parity", parity, mods)
}

// TryWaitParity is TestWaitParity that may suspend the thread for some time
// first. It emits mbarrier.try_wait.parity.
func (m Mbarrier) TryWaitParity(parity Num, mods ...Mod) Pred {
	return m.testParity("TryWaitParity", "mbarrier.try_wait.parity", parity, mods)
}

// Wait waits until the phase of a token is complete: TryWait until it is true.
func (m Mbarrier) Wait(tok Token, mods ...Mod) {
	m.spin("Wait", func() Pred { return m.testToken("Wait", "mbarrier.try_wait", tok, mods) })
}

// WaitParity waits until the phase with that parity is complete: TryWaitParity until it
// is true.
func (m Mbarrier) WaitParity(parity Num, mods ...Mod) {
	m.spin("WaitParity", func() Pred { return m.testParity("WaitParity", "mbarrier.try_wait.parity", parity, mods) })
}

// spin emits a loop around a test.
func (m Mbarrier) spin(what string, test func() Pred) {
	k := m.kernel()
	if k.guard != nil {
		k.fail("%s inside of Guard: it is a loop, and only plain instructions take a predicate; use If", what)
		return
	}
	again := k.label("wait")
	n := len(k.errs)
	k.Place(again)
	if p := test(); len(k.errs) == n {
		k.branch(p.Not(), again, false)
	}
}

// test emits a test of this CTA's barrier. Without a modifier its scope is the CTA, since
// only this CTA's threads and copies arrive; widen makes it the cluster if the kernel
// arrives at barriers of other CTAs. The difference matters for speed: a successful
// acquire at cluster scope invalidates the L1 cache (CCTL.IVALL of sm_90, by ptxas 13.0).
func (m Mbarrier) test(what, op string, mods []Mod, operands ...any) Pred {
	k := m.k
	p := k.pred()
	n := len(k.at.stmts)
	k.Inst(op+m.ordering(what, mods, Acquire, CTA)+".shared::cta.b64", append([]any{p, m.ptr}, operands...)...)
	if slices.Contains(mods, CTA) || slices.Contains(mods, Cluster) || len(k.at.stmts) == n {
		return p
	}
	if in, ok := k.at.stmts[len(k.at.stmts)-1].(*ptx.Inst); ok {
		m.set.waits = append(m.set.waits, in)
	}
	return p
}

// widen gives waits without an explicit scope cluster scope.
func (s *mbarriers) widen() {
	for _, in := range s.waits {
		if i := slices.Index(in.Mods, "cta"); i >= 0 {
			in.Mods[i] = "cluster"
		}
	}
}

func (m Mbarrier) testToken(what, op string, tok Token, mods []Mod, hint ...any) Pred {
	k, ok := m.own(what)
	switch {
	case !ok:
		return k.lostPred()
	case tok.Reg.k == nil:
		k.noToken(what, tok)
		return k.lostPred()
	case tok.bar.k == k && (tok.bar.set != m.set || tok.bar.index != m.index && tok.bar.index >= 0 && m.index >= 0):
		k.fail("%s of mbarrier %s with a token of mbarrier %s: a token is of the barrier that was arrived at", what, m, tok.bar)
		return k.lostPred()
	}
	return m.test(what, op, mods, append([]any{tok.Reg}, hint...)...)
}

func (m Mbarrier) testParity(what, op string, parity Num, mods []Mod, hint ...any) Pred {
	k, ok := m.own(what)
	if !ok {
		return k.lostPred()
	}
	if n, isNum := toInt(parity); isNum && n != 0 && n != 1 {
		k.fail("%s(%d) of mbarrier %s: a parity is 0 or 1", what, n, m)
		return k.lostPred()
	}
	return m.test(what, op, mods, append([]any{parity}, hint...)...)
}
