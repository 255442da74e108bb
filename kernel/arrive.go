package kernel

// A Token names the phase of a barrier in which a thread arrived: 64 opaque bits, for
// waits at the same barrier and Pending (ISA 9.7.13.15.13). It is valid until the next
// phase completes.
type Token struct {
	// Reg holds the token. A Token made from a register alone, Token{Reg: r}, may belong
	// to any barrier.
	Reg Reg

	bar  Mbarrier
	none Place // of an arrival at another CTA's barrier, which returns no token
	// completes says that the arrival may have completed its phase.
	completes bool
}

// Pending gives the pending count of the phase before this arrival, from a token of
// ArriveNoComplete or ArriveDropNoComplete; for others PTX leaves it undefined. It emits
// mbarrier.pending_count (ISA 9.7.13.15.17).
func (t Token) Pending() Reg {
	if t.Reg.k == nil {
		if t.bar.k == nil {
			panic("kernel: the zero Token is of no arrival")
		}
		t.bar.k.noToken("Pending", t)
		return t.bar.k.lost(U32)
	}
	k := t.Reg.k
	if t.completes {
		k.fail("Pending of a token of mbarrier %s: PTX defines it for tokens of ArriveNoComplete and ArriveDropNoComplete only", t.bar)
		return k.lost(U32)
	}
	d := k.reg(U32)
	k.Inst("mbarrier.pending_count.b64", d, t.Reg)
	return d
}

// noToken reports the use of a token that does not exist.
func (k *Kernel) noToken(what string, t Token) {
	if t.none != (Place{}) {
		k.fail("%s: the token is of the arrival at %s, which is at another CTA's mbarrier and gives none: wait by parity", what, t.none)
		return
	}
	k.fail("%s: the zero Token is of no arrival", what)
}

// ordering returns the modifiers for order and scope of an operation; PTX requires both
// or neither.
func (m Mbarrier) ordering(what string, mods []Mod, sem, scope Mod) string {
	given := 0
	for _, x := range mods {
		switch x {
		case sem, Relaxed:
			sem = x
			given |= 1
		case CTA, Cluster:
			scope = x
			given |= 2
		default:
			m.k.fail("%s of mbarrier %s: modifier %s; it takes %s or relaxed, and cta or cluster", what, m, x, sem)
			return "." + string(sem) + "." + string(scope)
		}
	}
	return "." + string(sem) + "." + string(scope)
}

// arrive emits an arrival; a local one returns its token.
func (m Mbarrier) arrive(what, op string, mods []Mod, operands ...any) Token {
	k := m.one(what)
	if m.ptr.dims != nil {
		return Token{Reg: k.lost(U64)}
	}
	scope := CTA
	if m.remote {
		scope = Cluster
	}
	op += m.ordering(what, mods, Release, scope) + m.ptr.spaceMod() + ".b64"
	if m.remote {
		k.Inst(op, append([]any{Discard{}, m.ptr}, operands...)...)
		return Token{bar: m, none: k.here()}
	}
	t := k.reg(U64)
	k.Inst(op, append([]any{t, m.ptr}, operands...)...)
	return Token{Reg: t, bar: m, completes: true}
}

// counts checks a number of arrivals against the limit of a phase.
func (m Mbarrier) counts(what string, n Num) bool {
	c, ok := toInt(n)
	switch {
	case !ok:
	case c < 1 || c > maxCount:
		m.k.fail("%s(%d) of mbarrier %s: 1 to 2^20-1 arrivals at a time", what, c, m)
		return false
	case c > int64(m.set.count) && !m.set.another:
		m.k.fail("%s(%d) of mbarrier %s, which counts %d arrivals a phase", what, c, m, m.set.count)
		return false
	}
	return true
}

// bytes checks a number of bytes against the tx-count's limit.
func (m Mbarrier) bytes(what string, n Num) bool {
	if c, ok := toInt(n); ok && (c < 0 || c > maxCount) {
		m.k.fail("%s(%d) of mbarrier %s: a phase awaits 0 to 2^20-1 bytes", what, c, m)
		return false
	}
	return true
}

// Arrive is one arrival of each thread of the group. The thread's earlier accesses happen
// before the later accesses of threads that wait for the phase, unless the arrival is
// Relaxed. It emits mbarrier.arrive (ISA 9.7.13.15.13).
func (m Mbarrier) Arrive(mods ...Mod) Token {
	return m.arrive("Arrive", "mbarrier.arrive", mods)
}

// ArriveCount is n arrivals of each thread at once: 1 to 2^20-1, and at most the phase's
// pending count.
func (m Mbarrier) ArriveCount(n Num, mods ...Mod) Token {
	if k := m.kernel(); !m.counts("ArriveCount", n) {
		return Token{Reg: k.lost(U64)}
	}
	return m.arrive("ArriveCount", "mbarrier.arrive", mods, n)
}

// ArriveNoComplete is n arrivals that do not complete the phase: if they would, the
// behaviour is undefined. It is a release at CTA scope. It emits
// mbarrier.arrive.noComplete.
func (m Mbarrier) ArriveNoComplete(n Num) Token {
	return m.noComplete("ArriveNoComplete", "mbarrier.arrive.noComplete", n)
}

func (m Mbarrier) noComplete(what, op string, n Num) Token {
	k, ok := m.own(what)
	if !ok || !m.counts(what, n) {
		return Token{Reg: k.lost(U64)}
	}
	t := m.arrive(what, op, nil, n)
	t.completes = false
	return t
}

// ArriveExpect raises the phase's tx-count by the bytes that copies will write, 0 to
// 2^20-1, and then arrives, once for each thread. It emits mbarrier.arrive.expect_tx.
func (m Mbarrier) ArriveExpect(bytes Num, mods ...Mod) Token {
	if k := m.kernel(); !m.bytes("ArriveExpect", bytes) {
		return Token{Reg: k.lost(U64)}
	}
	return m.arrive("ArriveExpect", "mbarrier.arrive.expect_tx", mods, bytes)
}

// ArriveDrop is an arrival of each thread that also lowers the count of later phases by
// one. It emits mbarrier.arrive_drop (ISA 9.7.13.15.14).
func (m Mbarrier) ArriveDrop(mods ...Mod) Token {
	return m.arrive("ArriveDrop", "mbarrier.arrive_drop", mods)
}

// ArriveDropCount is n arrivals of each thread that also lower the count of later phases
// by n.
func (m Mbarrier) ArriveDropCount(n Num, mods ...Mod) Token {
	if k := m.kernel(); !m.counts("ArriveDropCount", n) {
		return Token{Reg: k.lost(U64)}
	}
	return m.arrive("ArriveDropCount", "mbarrier.arrive_drop", mods, n)
}

// ArriveDropNoComplete is ArriveDropCount that does not complete the phase: if it would,
// the behaviour is undefined. It is a release at CTA scope.
func (m Mbarrier) ArriveDropNoComplete(n Num) Token {
	return m.noComplete("ArriveDropNoComplete", "mbarrier.arrive_drop.noComplete", n)
}

// ArriveDropExpect raises this phase's tx-count by bytes and then arrives; the count of
// later phases drops by one for each thread. It emits mbarrier.arrive_drop.expect_tx.
func (m Mbarrier) ArriveDropExpect(bytes Num, mods ...Mod) Token {
	if k := m.kernel(); !m.bytes("ArriveDropExpect", bytes) {
		return Token{Reg: k.lost(U64)}
	}
	return m.arrive("ArriveDropExpect", "mbarrier.arrive_drop.expect_tx", mods, bytes)
}

// ExpectTx raises this phase's tx-count by the bytes that copies will write, 0 to 2^20-1,
// for each thread. An arrival of the same phase must follow it. It orders no memory. It
// emits mbarrier.expect_tx (ISA 9.7.13.15.11).
func (m Mbarrier) ExpectTx(bytes Num) { m.transaction("ExpectTx", "mbarrier.expect_tx", bytes) }

// CompleteTx lowers the tx-count by bytes, 0 to 2^20-1, as a copy does. It orders no
// memory and copies nothing. It emits mbarrier.complete_tx (ISA 9.7.13.15.12).
func (m Mbarrier) CompleteTx(bytes Num) { m.transaction("CompleteTx", "mbarrier.complete_tx", bytes) }

func (m Mbarrier) transaction(what, op string, bytes Num) {
	k := m.one(what)
	if m.ptr.dims != nil || !m.bytes(what, bytes) {
		return
	}
	scope := ".cta"
	if m.remote {
		scope = ".cluster"
	}
	k.Inst(op+".relaxed"+scope+m.ptr.spaceMod()+".b64", m.ptr, bytes)
}

// CpAsyncArrive makes each thread arrive when all of its earlier cp.async are complete.
// It raises the phase's pending count by one to match, so that the barrier's count
// excludes it. It emits cp.async.mbarrier.arrive (ISA 9.7.13.15.15).
func (m Mbarrier) CpAsyncArrive() { m.cpAsync("CpAsyncArrive", "cp.async.mbarrier.arrive") }

// CpAsyncArriveNoinc is CpAsyncArrive for an arrival that the barrier's count includes.
// It emits cp.async.mbarrier.arrive.noinc.
func (m Mbarrier) CpAsyncArriveNoinc() {
	m.cpAsync("CpAsyncArriveNoinc", "cp.async.mbarrier.arrive.noinc")
}

func (m Mbarrier) cpAsync(what, op string) {
	if k, ok := m.own(what); ok {
		k.Inst(op+".shared::cta.b64", m.ptr)
	}
}

// ArriveMulticast is one arrival of each thread at this barrier in every CTA whose bit is
// set in mask: bit r for the CTA of rank r in the cluster. The mask is a number, or a
// register of 16 or 32 bits. It emits mapa and mbarrier.arrive for each CTA; PTX has no
// single instruction for it.
func (m Mbarrier) ArriveMulticast(mask Num, mods ...Mod) {
	m.multicast("ArriveMulticast", mask, func(r Mbarrier) { r.Arrive(mods...) })
}

// ArriveExpectMulticast is ArriveExpect at this barrier in every CTA whose bit is set in
// mask.
func (m Mbarrier) ArriveExpectMulticast(mask, bytes Num) {
	if m.kernel(); !m.bytes("ArriveExpectMulticast", bytes) {
		return
	}
	m.multicast("ArriveExpectMulticast", mask, func(r Mbarrier) { r.ArriveExpect(bytes) })
}

func (m Mbarrier) multicast(what string, mask Num, arrive func(Mbarrier)) {
	k, ok := m.own(what)
	if !ok {
		return
	}
	if k.CTAs() == 1 {
		k.fail("%s: the kernel has no clusters; give New the option Clusters", what)
		return
	}
	if n, isNum := toInt(mask); isNum {
		if n <= 0 || n >= 1<<k.CTAs() {
			k.fail("%s: mask %#x; the cluster has the CTAs of mask %#x", what, n, 1<<k.CTAs()-1)
			return
		}
		for r := range k.CTAs() {
			if n>>r&1 != 0 {
				arrive(m.Remote(r))
			}
		}
		return
	}
	reg, isReg := mask.(Reg)
	if !isReg || reg.k == nil || !reg.t.integer() || reg.t.Size() > 4 {
		k.fail("%s: the mask is %s; it is a number, or a register of 16 or 32 bits", what, describe(mask))
		return
	}
	if k.guard != nil {
		k.fail("%s with a mask in a register inside of Guard: use If", what)
		return
	}
	for r := range k.CTAs() {
		remote := m.Remote(r)
		k.Guard(reg.And(1<<r).Ne(0), func() { arrive(remote) })
	}
}
