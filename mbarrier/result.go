package mbarrier

import (
	"fmt"
	"strings"
)

// A Result describes the effects of an operation other than the new word.
type Result struct {
	Token     Token     // of the arriving forms; zero for the others and after a fault
	Completed bool      // this operation completed the phase
	Fault     Fault     // the card ends the launch here; the word is unchanged
	Undefined Undefined // what the ISA leaves undefined in this operation
}

func (r Result) withToken(before Word, operand uint32) Result {
	if r.Fault == NoFault {
		r.Token = Token(uint64(before)>>32<<32 | uint64(operand))
	}
	return r
}

// A Fault is the reason why the card ends the launch (the card reports 'unspecified launch failure' for
// all).
type Fault uint8

const (
	NoFault     Fault = iota
	Poisoned          // an earlier asynchronous arrival was in excess
	TxOperand         // the bytes of one operation are 2^20 or more
	TxOverflow        // the tx-count would leave -(2^20-1)..2^20
	ArrivesOver       // more arrivals than the pending count
	DropsOver         // more arrivals dropped than the expected count
)

var faultText = [...]string{
	NoFault:     "no fault",
	Poisoned:    "an asynchronous arrival had overrun the phase",
	TxOperand:   "byte count of 2^20 or more",
	TxOverflow:  "tx-count out of range",
	ArrivesOver: "more arrivals than pending",
	DropsOver:   "more arrivals dropped than expected",
}

func (f Fault) String() string {
	if int(f) < len(faultText) {
		return faultText[f]
	}
	return fmt.Sprintf("fault %d", uint8(f))
}

// Undefined is a set of reasons why an operation is undefined in the ISA, or out of its ranges.
type Undefined uint16

const (
	InitRange           Undefined = 1 << iota // init count outside 1..2^20-1 (9.7.13.15.9)
	CountRange                                // arrive count outside 1..2^20-1 (9.7.13.15.13, .14)
	TxRange                                   // bytes above 2^20-1, or tx-count outside ±(2^20-1) (9.7.13.15.2)
	PendingRange                              // cp.async.mbarrier.arrive at a full pending count (9.7.13.15.15)
	ArriveOver                                // pending count below zero (9.7.13.15.2)
	DropOver                                  // expected count below zero (9.7.13.15.2)
	ExpectedZero                              // everyone has dropped: expected is 0, whose range starts at 1; harmless unless the barrier is used again
	NoCompleteCompletes                       // a .noComplete form completed the phase (9.7.13.15.13, .14)
	ExpectCompletes                           // expect_tx completed the phase, which 9.7.13.15.5.1 does not provide
	TokenStale                                // token of neither the current nor the preceding phase (9.7.13.15.16)
	ParityRange                               // phaseParity neither 0 nor 1 (9.7.13.15.16)
	undefinedEnd
)

var undefinedText = [...]string{
	"init count out of range", "arrive count out of range", "transactions out of range",
	"pending count above its limit", "more arrivals than pending", "more arrivals dropped than expected",
	"expected count zero", ".noComplete completes the phase", "expect_tx completes the phase",
	"stale token", "parity neither 0 nor 1",
}

// String lists the reasons, separated by commas; it is empty for the empty set.
func (u Undefined) String() string {
	var parts []string
	for i, text := range undefinedText {
		if u&(1<<i) != 0 {
			parts = append(parts, text)
		}
	}
	if rest := u &^ (undefinedEnd - 1); rest != 0 {
		parts = append(parts, fmt.Sprintf("undefined %#x", uint16(rest)))
	}
	return strings.Join(parts, ", ")
}

// String gives the word's ledger: 'parity 1: pending 1 of 5, tx 512'.
func (w Word) String() string {
	s := fmt.Sprintf("parity %d: pending %d of %d, tx %d", w.Parity(), w.Pending(), w.Expected(), w.Tx())
	if w.Poisoned() {
		s += ", poisoned"
	}
	return s
}

// A State is a word with the number of its phase; the word alone contains only the parity. The zero
// Phase belongs to a fresh Init.
type State struct {
	Word  Word
	Phase uint64
}

// Next returns the state after an operation that returned w and r.
func (s State) Next(w Word, r Result) State {
	if r.Completed {
		s.Phase++
	}
	s.Word = w
	return s
}

// String gives the ledger: 'phase 3 (parity 1): pending 1 of 5, tx 512'.
func (s State) String() string {
	ledger := s.Word.String()
	_, rest, _ := strings.Cut(ledger, ":")
	return fmt.Sprintf("phase %d (parity %d):%s", s.Phase, s.Word.Parity(), rest)
}
