package mbarrier

// The limits of an mbarrier's counts (ISA 9.7.13.15.2).
const (
	MaxCount = 1<<20 - 1 // arrivals: expected is 1..MaxCount, pending 0..MaxCount
	MaxTx    = 1<<20 - 1 // transactions: -MaxTx..MaxTx; the card lets the sum reach MaxTx+1
)

const (
	phaseBit      = 63
	pendingShift  = 43
	poisonBit     = 42
	txShift       = 21
	expectedShift = 1

	countMask = 1<<20 - 1
	txMask    = 1<<21 - 1
	poison    = Word(1) << poisonBit
	phaseMask = Word(1) << phaseBit
)

// A Word is an mbarrier object: see the package comment for its bits. Every value is a legal receiver.
type Word uint64

// Parity returns the parity of the current, incomplete phase: 0 or 1.
func (w Word) Parity() uint32 { return uint32(w >> phaseBit) }

// Pending returns how many arrivals the current phase still waits for, 0..MaxCount.
func (w Word) Pending() uint32 { return -uint32(w>>pendingShift) & countMask }

// Expected returns the arrivals that the next phase starts with, 0..MaxCount; 0 once all have dropped.
func (w Word) Expected() uint32 { return -uint32(w>>expectedShift) & countMask }

// Tx returns the transactions announced and not yet landed, -(2^20-1)..2^20; below zero where they
// landed before they were announced.
func (w Word) Tx() int32 {
	field := int32(w>>txShift&txMask) << 11 >> 11
	return -field
}

// Poisoned tells whether an asynchronous arrival overran the phase: the next operation faults.
func (w Word) Poisoned() bool { return w&poison != 0 }

// Init returns the word that mbarrier.init stores (ISA 9.7.13.15.9). The ISA wants 1..MaxCount; the
// card stores whatever the 32-bit arithmetic gives, and its faults come with the arrivals.
func Init(count uint32) (Word, Result) {
	var r Result
	if count-1 >= MaxCount {
		r.Undefined = InitRange
	}
	m := uint32(1<<20) - count
	return Word(m<<11)<<32 | Word(m<<1), r
}

// Inval returns what memory holds after mbarrier.inval (ISA 9.7.13.15.10): the word itself. On the
// card a later operation goes on from it, which the ISA leaves undefined and the word cannot tell.
func (w Word) Inval() Word { return w }

// Arrive is mbarrier.arrive with a count (ISA 9.7.13.15.13). The ISA wants 1..MaxCount, at most the
// pending count. The card faults beyond the pending count and takes 0 as an arrival of nobody.
func (w Word) Arrive(count uint32) (Word, Result) { return w.arrive(count, 0, count) }

// ArriveNoComplete is mbarrier.arrive.noComplete: as Arrive, but completing the phase, which the card
// does all the same, is undefined. The token's low half is 1 whatever the count.
func (w Word) ArriveNoComplete(count uint32) (Word, Result) {
	return noComplete(w.arrive(count, 0, 1))
}

// ArriveDrop is mbarrier.arrive_drop with a count (ISA 9.7.13.15.14): the expected count of this and
// all later phases sinks too. A count beyond the pending or the expected count faults.
func (w Word) ArriveDrop(count uint32) (Word, Result) { return w.arrive(count, count, count) }

// ArriveDropNoComplete is mbarrier.arrive_drop.noComplete.
func (w Word) ArriveDropNoComplete(count uint32) (Word, Result) {
	return noComplete(w.arrive(count, count, 1))
}

// ExpectTx is mbarrier.expect_tx (ISA 9.7.13.15.11): 0..MaxTx more transactions to wait for; more
// fault. On the card it completes the phase when it brings the tx-count to zero with no arrival
// pending; the ISA gives it no such step.
func (w Word) ExpectTx(bytes uint32) (Word, Result) {
	next, r := w.transact(bytes, -int32(bytes), 0, 0)
	if r.Completed {
		r.Undefined |= ExpectCompletes
	}
	return next, r
}

// CompleteTx is mbarrier.complete_tx (ISA 9.7.13.15.12), and what a bulk copy does when its bytes have
// landed: 0..MaxTx transactions; more fault.
func (w Word) CompleteTx(bytes uint32) (Word, Result) {
	return w.transact(bytes, int32(bytes), 0, 0)
}

// ArriveExpectTx is mbarrier.arrive.expect_tx: expect-tx and then one arrival, in one step. PTX 9.2
// gives the form no count operand. The token's low half is the bytes.
func (w Word) ArriveExpectTx(bytes uint32) (Word, Result) {
	next, r := w.transact(bytes, -int32(bytes), 1, 0)
	return next, r.withToken(w, bytes)
}

// ArriveDropExpectTx is mbarrier.arrive_drop.expect_tx: expect-tx and then the drop of one.
func (w Word) ArriveDropExpectTx(bytes uint32) (Word, Result) {
	next, r := w.transact(bytes, -int32(bytes), 1, 1)
	return next, r.withToken(w, bytes)
}

// CpAsyncArrive is the part of cp.async.mbarrier.arrive (ISA 9.7.13.15.15, without .noinc) that happens
// at once. The ISA adds one to the pending count. The card adds one to the tx-count, so that pending
// cannot overflow and a token keeps its pending count: this does as the card. CpAsyncLand pairs with it.
func (w Word) CpAsyncArrive() (Word, Result) {
	next, r := w.transact(1, -1, 0, 0)
	if w.Pending() == MaxCount {
		r.Undefined |= PendingRange
	}
	return next, r
}

// CpAsyncLand is the part of cp.async.mbarrier.arrive that happens when the copies have landed.
func (w Word) CpAsyncLand() (Word, Result) { return w.transact(1, 1, 0, 0) }

// CpAsyncLandNoinc is the arrival that cp.async.mbarrier.arrive.noinc makes once the copies have landed.
// Nobody is there to fault: an arrival that nobody waits for poisons the word instead.
func (w Word) CpAsyncLandNoinc() (Word, Result) {
	next, r := w.arrive(1, 0, 1)
	r.Token = 0
	if r.Fault == ArrivesOver {
		r.Fault, next = NoFault, w|poison
	}
	return next, r
}

// TestWait answers mbarrier.test_wait and try_wait with a token (ISA 9.7.13.15.16): whether the token's
// phase is complete. Only the parities are compared; CheckToken tells what can be told of a wrong one.
func (w Word) TestWait(t Token) bool { return (uint64(w)^uint64(t))>>phaseBit != 0 }

// TestWaitParity answers the .parity forms: whether the phase of that parity is complete, the current
// phase being incomplete and the one before complete. A fresh barrier says yes to 1. The ISA allows 0
// and 1; the card looks at bit 0.
func (w Word) TestWaitParity(parity uint32) bool { return w.Parity() != parity&1 }

// CheckToken returns what is surely wrong with a token for this word: it claims the current phase, yet
// waits for fewer arrivals than the phase does, which only shrink; or it is no token of a live barrier.
// Nothing returned does not mean valid: a token two phases old looks like one of the current phase.
// Who must know keeps the phase number beside the token.
func (w Word) CheckToken(t Token) Undefined {
	if n := t.PendingCount(); n > MaxCount || Word(t)&poison != 0 || !w.TestWait(t) && n < w.Pending() {
		return TokenStale
	}
	return 0
}

// CheckParity returns ParityRange where the operand of a .parity wait is neither 0 nor 1.
func CheckParity(parity uint32) Undefined {
	if parity > 1 {
		return ParityRange
	}
	return 0
}

// A Token is the state that mbarrier.arrive returns: the high half of the word before the arrival, over
// the operation's 32-bit operand (count or bytes; 1 for the .noComplete forms).
type Token uint64

// Parity returns the parity of the phase that the token was made in.
func (t Token) Parity() uint32 { return uint32(t >> phaseBit) }

// PendingCount answers mbarrier.pending_count (ISA 9.7.13.15.17): the pending count before the arrival
// that made the token. The ISA defines it for tokens of .noComplete forms, the card for any 64 bits; it
// gives 2^20 where no arrival was pending.
func (t Token) PendingCount() uint32 { return 1<<20 - uint32(t>>pendingShift)&countMask }

// arrive adds count arrivals, drop of which leave for good.
func (w Word) arrive(count, drop, operand uint32) (Word, Result) {
	var u Undefined
	if count-1 >= MaxCount {
		u = CountRange
	}
	next, r := w.advance(w, count, drop)
	r.Undefined |= u
	return next, r.withToken(w, operand)
}

// transact adds delta to the negated tx-count, then arrivals. The order shows only in which fault is
// named when there are two.
func (w Word) transact(bytes uint32, delta int32, count, drop uint32) (Word, Result) {
	if w.Poisoned() {
		return w, Result{Fault: Poisoned, Undefined: ArriveOver}
	}
	if bytes > MaxTx {
		return w, Result{Fault: TxOperand, Undefined: TxRange}
	}
	field := delta - w.Tx()
	if field < -(1<<20) || field > 1<<20-1 {
		return w, Result{Fault: TxOverflow, Undefined: TxRange}
	}
	charged := w&^(txMask<<txShift) | Word(field&txMask)<<txShift
	next, r := w.advance(charged, count, drop)
	if field == -(1 << 20) {
		r.Undefined |= TxRange
	}
	return next, r
}

// advance makes the arrivals on charged, which is w with its transactions booked, and ends the phase
// when nothing is left to wait for.
func (w Word) advance(charged Word, count, drop uint32) (Word, Result) {
	pending, expected := w.Pending(), w.Expected()
	switch {
	case w.Poisoned():
		return w, Result{Fault: Poisoned, Undefined: ArriveOver}
	case count > pending:
		return w, Result{Fault: ArrivesOver, Undefined: ArriveOver}
	case drop > expected:
		return w, Result{Fault: DropsOver, Undefined: DropOver}
	}
	var r Result
	if drop != 0 && drop == expected {
		r.Undefined = ExpectedZero
	}
	pending, expected = pending-count, expected-drop
	next := charged
	if pending == 0 && charged>>txShift&txMask == 0 {
		next, pending, r.Completed = next^phaseMask, expected, true
	}
	next &^= countMask<<pendingShift | countMask<<expectedShift
	return next | Word(-pending&countMask)<<pendingShift | Word(-expected&countMask)<<expectedShift, r
}

func noComplete(w Word, r Result) (Word, Result) {
	if r.Completed {
		r.Undefined |= NoCompleteCompletes
	}
	return w, r
}
