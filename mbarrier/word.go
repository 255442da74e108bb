package mbarrier

// The ranges of an mbarrier's counts (ISA 9.7.13.15.2).
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

// Pending returns the number of arrivals that the current phase still waits for, 0..MaxCount.
func (w Word) Pending() uint32 { return -uint32(w>>pendingShift) & countMask }

// Expected returns the pending count at the start of the next phase, 0..MaxCount; 0 once all have dropped.
func (w Word) Expected() uint32 { return -uint32(w>>expectedShift) & countMask }

// Tx returns the transactions expected and not yet landed, -(2^20-1)..2^20; negative if they landed before
// expect-tx.
func (w Word) Tx() int32 {
	field := int32(w>>txShift&txMask) << 11 >> 11
	return -field
}

// Poisoned reports whether an asynchronous arrival was in excess: the next operation faults.
func (w Word) Poisoned() bool { return w&poison != 0 }

// Init returns the word that mbarrier.init stores (ISA 9.7.13.15.9). The ISA requires 1..MaxCount; the card
// stores the result of 32-bit arithmetic, and faults only at later arrivals.
func Init(count uint32) (Word, Result) {
	var r Result
	if count-1 >= MaxCount {
		r.Undefined = InitRange
	}
	m := uint32(1<<20) - count
	return Word(m<<11)<<32 | Word(m<<1), r
}

// Inval returns the contents of memory after mbarrier.inval (ISA 9.7.13.15.10): the word itself. On the
// card a later operation uses it, which the ISA leaves undefined and the word cannot detect.
func (w Word) Inval() Word { return w }

// Arrive is mbarrier.arrive with a count (ISA 9.7.13.15.13). The ISA requires 1..MaxCount, at most the
// pending count. The card faults beyond the pending count and accepts 0 without an arrival.
func (w Word) Arrive(count uint32) (Word, Result) { return w.arrive(count, 0, count) }

// ArriveNoComplete is mbarrier.arrive.noComplete: like Arrive, but completing the phase, which the card
// does anyway, is undefined. The token's low half is 1 for any count.
func (w Word) ArriveNoComplete(count uint32) (Word, Result) {
	return noComplete(w.arrive(count, 0, 1))
}

// ArriveDrop is mbarrier.arrive_drop with a count (ISA 9.7.13.15.14): the expected count of this and all
// later phases decreases too. A count beyond the pending or the expected count faults.
func (w Word) ArriveDrop(count uint32) (Word, Result) { return w.arrive(count, count, count) }

// ArriveDropNoComplete is mbarrier.arrive_drop.noComplete.
func (w Word) ArriveDropNoComplete(count uint32) (Word, Result) {
	return noComplete(w.arrive(count, count, 1))
}

// ExpectTx is mbarrier.expect_tx (ISA 9.7.13.15.11): 0..MaxTx more transactions to wait for; more fault. On
// the card it completes the phase if it brings the tx-count to zero with no arrival pending; the ISA does
// not provide this.
func (w Word) ExpectTx(bytes uint32) (Word, Result) {
	next, r := w.transact(bytes, -int32(bytes), 0, 0)
	if r.Completed {
		r.Undefined |= ExpectCompletes
	}
	return next, r
}

// CompleteTx is mbarrier.complete_tx (ISA 9.7.13.15.12), and the effect of a bulk copy whose bytes have
// landed: 0..MaxTx transactions; more fault.
func (w Word) CompleteTx(bytes uint32) (Word, Result) {
	return w.transact(bytes, int32(bytes), 0, 0)
}

// ArriveExpectTx is mbarrier.arrive.expect_tx: expect-tx and then one arrival, in one step. The form has no
// count operand in PTX 9.2. The token's low half is the bytes.
func (w Word) ArriveExpectTx(bytes uint32) (Word, Result) {
	next, r := w.transact(bytes, -int32(bytes), 1, 0)
	return next, r.withToken(w, bytes)
}

// ArriveDropExpectTx is mbarrier.arrive_drop.expect_tx: expect-tx and then a drop of one.
func (w Word) ArriveDropExpectTx(bytes uint32) (Word, Result) {
	next, r := w.transact(bytes, -int32(bytes), 1, 1)
	return next, r.withToken(w, bytes)
}

// CpAsyncArrive is the immediate part of cp.async.mbarrier.arrive (ISA 9.7.13.15.15, without .noinc). The
// ISA adds one to the pending count. The card adds one to the tx-count, so that pending cannot overflow and
// a token keeps its pending count; this follows the card. CpAsyncLand pairs with it.
func (w Word) CpAsyncArrive() (Word, Result) {
	next, r := w.transact(1, -1, 0, 0)
	if w.Pending() == MaxCount {
		r.Undefined |= PendingRange
	}
	return next, r
}

// CpAsyncLand is the part of cp.async.mbarrier.arrive when the copies have landed.
func (w Word) CpAsyncLand() (Word, Result) { return w.transact(1, 1, 0, 0) }

// CpAsyncLandNoinc is the arrival of cp.async.mbarrier.arrive.noinc once the copies have landed. No thread
// can fault then: an excess arrival poisons the word instead.
func (w Word) CpAsyncLandNoinc() (Word, Result) {
	next, r := w.arrive(1, 0, 1)
	r.Token = 0
	if r.Fault == ArrivesOver {
		r.Fault, next = NoFault, w|poison
	}
	return next, r
}

// TestWait is the result of mbarrier.test_wait and try_wait with a token (ISA 9.7.13.15.16): whether the
// token's phase is complete. It compares only parities; CheckToken detects some invalid tokens.
func (w Word) TestWait(t Token) bool { return (uint64(w)^uint64(t))>>phaseBit != 0 }

// TestWaitParity is the result of the .parity forms: whether the phase with that parity is complete; the
// current phase is incomplete and the one before complete. A fresh barrier returns true for 1. The ISA
// allows 0 and 1; the card uses bit 0.
func (w Word) TestWaitParity(parity uint32) bool { return w.Parity() != parity&1 }

// CheckToken returns TokenStale for a token that is certainly invalid for this word: it claims the current
// phase, but with fewer pending arrivals than the phase has now, although they only decrease; or it is no
// token of a live barrier. 0 does not mean valid: a token two phases old looks like one of the current
// phase. To detect that, keep the phase number with the token.
func (w Word) CheckToken(t Token) Undefined {
	if n := t.PendingCount(); n > MaxCount || Word(t)&poison != 0 || !w.TestWait(t) && n < w.Pending() {
		return TokenStale
	}
	return 0
}

// CheckParity returns ParityRange if the operand of a .parity wait is neither 0 nor 1.
func CheckParity(parity uint32) Undefined {
	if parity > 1 {
		return ParityRange
	}
	return 0
}

// A Token is the state that mbarrier.arrive returns: the high half of the word before the arrival, above
// the operation's 32-bit operand (count or bytes; 1 for the .noComplete forms).
type Token uint64

// Parity returns the parity of the token's phase.
func (t Token) Parity() uint32 { return uint32(t >> phaseBit) }

// PendingCount is the result of mbarrier.pending_count (ISA 9.7.13.15.17): the pending count before the
// arrival that returned the token. The ISA defines it for tokens of .noComplete forms, the card for any 64
// bits; it returns 2^20 if no arrival was pending.
func (t Token) PendingCount() uint32 { return 1<<20 - uint32(t>>pendingShift)&countMask }

// arrive makes count arrivals, and lowers the expected count by drop.
func (w Word) arrive(count, drop, operand uint32) (Word, Result) {
	var u Undefined
	if count-1 >= MaxCount {
		u = CountRange
	}
	next, r := w.advance(w, count, drop)
	r.Undefined |= u
	return next, r.withToken(w, operand)
}

// transact adds delta to the negated tx-count, then makes the arrivals. The order decides only which of two
// faults is reported.
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

// advance makes the arrivals on charged, which is w with its transactions applied, and ends the phase if
// nothing is left to wait for.
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
