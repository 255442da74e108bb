package mbarrier_test

import (
	"testing"

	. "muster/mbarrier"
)

// model is the barrier as the ISA describes it, in separate integers, with the card's limits. It
// shares no code with Word.
type model struct {
	phase, pending, expected, tx int64
	dead                         bool
}

func (m *model) settle() {
	if m.pending == 0 && m.tx == 0 {
		m.phase++
		m.pending = m.expected
	}
}

// step applies an operation and reports whether the card continues.
func (m *model) step(arrivals, drops, expect, complete int64) bool {
	tx := m.tx + expect - complete
	switch {
	case m.dead, expect > MaxTx, complete > MaxTx, tx > MaxTx+1, tx < -MaxTx, arrivals > m.pending, drops > m.expected:
		return false
	}
	m.tx, m.pending, m.expected = tx, m.pending-arrivals, m.expected-drops
	m.settle()
	return true
}

// fuzzOps pairs each transition with the model's arguments for it.
var fuzzOps = []struct {
	name  string
	word  func(Word, uint32) (Word, Result)
	model func(m *model, a int64) bool
}{
	{"arrive", Word.Arrive, func(m *model, a int64) bool { return m.step(a, 0, 0, 0) }},
	{"arrive.noComplete", Word.ArriveNoComplete, func(m *model, a int64) bool { return m.step(a, 0, 0, 0) }},
	{"arrive_drop", Word.ArriveDrop, func(m *model, a int64) bool { return m.step(a, a, 0, 0) }},
	{"arrive_drop.noComplete", Word.ArriveDropNoComplete, func(m *model, a int64) bool { return m.step(a, a, 0, 0) }},
	{"expect_tx", Word.ExpectTx, func(m *model, a int64) bool { return m.step(0, 0, a, 0) }},
	{"complete_tx", Word.CompleteTx, func(m *model, a int64) bool { return m.step(0, 0, 0, a) }},
	{"arrive.expect_tx", Word.ArriveExpectTx, func(m *model, a int64) bool { return m.step(1, 0, a, 0) }},
	{"arrive_drop.expect_tx", Word.ArriveDropExpectTx, func(m *model, a int64) bool { return m.step(1, 1, a, 0) }},
	{"cp.async issue", func(w Word, _ uint32) (Word, Result) { return w.CpAsyncArrive() }, func(m *model, _ int64) bool { return m.step(0, 0, 1, 0) }},
	{"cp.async land", func(w Word, _ uint32) (Word, Result) { return w.CpAsyncLand() }, func(m *model, _ int64) bool { return m.step(0, 0, 0, 1) }},
	{"cp.async noinc", func(w Word, _ uint32) (Word, Result) { return w.CpAsyncLandNoinc() }, func(m *model, _ int64) bool {
		if !m.dead && m.pending == 0 {
			m.dead = true
			return true
		}
		return m.step(1, 0, 0, 0)
	}},
}

// operand turns a byte into an operand near interesting values: small, the barrier's own counts, limits.
func operand(b byte, m model) int64 {
	near := int64(b&3) - 1
	base := [...]int64{1, m.pending, m.expected, m.tx, -m.tx, MaxTx, MaxTx - m.tx, MaxTx + m.tx, 1 << 31, 512, 0, 1 << 19}[int(b>>2)%12]
	return int64(uint32(base + near))
}

func FuzzWord(f *testing.F) {
	f.Add(uint32(1), []byte{0, 1, 4, 200, 5, 13})
	f.Add(uint32(5), []byte{2, 1, 2, 9, 0, 5, 6, 4, 5, 13, 10, 0, 0, 0})
	f.Add(uint32(MaxCount), []byte{4, 21, 4, 2, 5, 21, 0, 5, 7, 0})
	f.Fuzz(func(t *testing.T, count uint32, script []byte) {
		count = 1 + count%MaxCount
		m := model{pending: int64(count), expected: int64(count)}
		w, r := Init(count)
		s := State{Word: w}
		if r != (Result{}) {
			t.Fatalf("init %d: %+v", count, r)
		}
		for ; len(script) >= 2; script = script[2:] {
			op, a := fuzzOps[int(script[0])%len(fuzzOps)], operand(script[1], m)
			before, phase := s, m.phase
			w, r := op.word(s.Word, uint32(a))
			ok := op.model(&m, a)
			if ok != (r.Fault == NoFault) {
				t.Fatalf("%v, %s %d: %v, model goes on: %v", before, op.name, a, r.Fault, ok)
			}
			if !ok {
				if w != before.Word || r.Undefined == 0 || r.Completed || r.Token != 0 {
					t.Fatalf("%v, %s %d: fault left %v %+v", before, op.name, a, w, r)
				}
				return
			}
			s = s.Next(w, r)
			got := model{int64(s.Phase), int64(w.Pending()), int64(w.Expected()), int64(w.Tx()), w.Poisoned()}
			if got != m || uint32(m.phase&1) != w.Parity() || r.Completed != (m.phase != phase) {
				t.Fatalf("%v, %s %d: %v %+v, model %+v", before, op.name, a, s, r, m)
			}
			if r.Token != 0 && r.Token.PendingCount()&MaxCount != before.Word.Pending() {
				t.Fatalf("%v, %s %d: token %x", before, op.name, a, r.Token)
			}
			if r.Token != 0 && before.Word.Pending() != 0 && w.CheckToken(r.Token) != 0 {
				t.Fatalf("%v, %s %d: its own token is stale", before, op.name, a)
			}
		}
	})
}

// FuzzAnyWord: the transitions accept any 64 bits, never change bit 0 and never panic.
func FuzzAnyWord(f *testing.F) {
	f.Add(uint64(0x8000000000200000), uint32(0), byte(0))
	f.Add(uint64(0xffffffffffffffff), uint32(1<<20), byte(4))
	f.Fuzz(func(t *testing.T, bits uint64, a uint32, op byte) {
		w, r := fuzzOps[int(op)%len(fuzzOps)].word(Word(bits), a)
		if (uint64(w)^bits)&1 != 0 {
			t.Errorf("bit 0 changed: %x %x", bits, uint64(w))
		}
		if Word(bits).Poisoned() && r.Fault != Poisoned && w != Word(bits) {
			t.Errorf("%v went on to %v", Word(bits), w)
		}
		if r.Fault != NoFault && w != Word(bits) {
			t.Errorf("fault %v changed %v to %v", r.Fault, Word(bits), w)
		}
		_, _ = w.String(), r.Undefined.String()
	})
}

func TestUndefined(t *testing.T) {
	for _, c := range []struct {
		ops   []string
		fault Fault
		undef Undefined
		state string
	}{
		{[]string{"init 0"}, NoFault, InitRange, "parity 1: pending 0 of 0, tx -1"},
		{[]string{"init 1048576"}, NoFault, InitRange, "parity 0: pending 0 of 0, tx 0"},
		{[]string{"init 5", "arrive 0"}, NoFault, CountRange, "parity 0: pending 5 of 5, tx 0"},
		{[]string{"init 5", "arrive 6"}, ArrivesOver, ArriveOver, "parity 0: pending 5 of 5, tx 0"},
		{[]string{"init 5", "arrive 1048576"}, ArrivesOver, ArriveOver | CountRange, "parity 0: pending 5 of 5, tx 0"},
		{[]string{"init 5", "arrive 4", "arrive.noComplete 1"}, NoFault, NoCompleteCompletes, "parity 1: pending 5 of 5, tx 0"},
		{[]string{"init 5", "expect_tx 1048576"}, TxOperand, TxRange, "parity 0: pending 5 of 5, tx 0"},
		{[]string{"init 5", "expect_tx 1048575", "expect_tx 1"}, NoFault, TxRange, "parity 0: pending 5 of 5, tx 1048576"},
		{[]string{"init 5", "expect_tx 1048575", "expect_tx 2"}, TxOverflow, TxRange, "parity 0: pending 5 of 5, tx 1048575"},
		{[]string{"init 5", "complete_tx 1048575", "complete_tx 1"}, TxOverflow, TxRange, "parity 0: pending 5 of 5, tx -1048575"},
		{[]string{"init 1", "complete_tx 8", "arrive 1", "expect_tx 8"}, NoFault, ExpectCompletes, "parity 1: pending 1 of 1, tx 0"},
		{[]string{"init 2", "arrive_drop 2"}, NoFault, ExpectedZero, "parity 1: pending 0 of 0, tx 0"},
		{[]string{"st 0x4000000000000000", "arrive_drop 1"}, DropsOver, DropOver, "parity 0: pending 524288 of 0, tx 0"},
		{[]string{"init 1048575", "cp.async.mbarrier.arrive"}, NoFault, 0, "parity 0: pending 1048575 of 1048575, tx 0"},
		{[]string{"init 1", "arrive.expect_tx 64", "cp.async.mbarrier.arrive.noinc"}, NoFault, ArriveOver, "parity 0: pending 0 of 1, tx 64, poisoned"},
		{[]string{"init 1", "arrive.expect_tx 64", "cp.async.mbarrier.arrive.noinc", "complete_tx 64"}, Poisoned, ArriveOver, "parity 0: pending 0 of 1, tx 64, poisoned"},
	} {
		var w Word
		var r Result
		for _, op := range c.ops {
			w, r = do(t, w, op)
		}
		if r.Fault != c.fault || r.Undefined != c.undef || w.String() != c.state {
			t.Errorf("%q: %v; %v; %v", c.ops, r.Fault, r.Undefined, w)
		}
	}
}

func TestCheckToken(t *testing.T) {
	w, _ := Init(3)
	w1, first := w.Arrive(2)
	w2, _ := w1.Arrive(1)
	w3, second := w2.Arrive(3)
	if w1.CheckToken(first.Token)|w2.CheckToken(first.Token)|w3.CheckToken(second.Token) != 0 {
		t.Error("a valid token is called stale")
	}
	_, last := w1.Arrive(1) // pending was 1: in phase 2, with 3 pending, it can only be older
	if w3.CheckToken(last.Token) != TokenStale {
		t.Error("a token two phases old, with too few pending, passes")
	}
	if w3.CheckToken(0) != TokenStale || CheckParity(2) != ParityRange || CheckParity(1) != 0 {
		t.Error("what is no token or no parity passes")
	}
}

func TestCpAsyncAtFullPending(t *testing.T) {
	w, _ := Init(MaxCount)
	w, r := w.CpAsyncArrive()
	if r.Undefined != PendingRange || w.Pending() != MaxCount || w.Tx() != 1 {
		t.Errorf("%v %+v", w, r)
	}
}

func TestStateString(t *testing.T) {
	w, r := Init(5)
	s := State{Word: w}.Next(w, r)
	for range 3 {
		w, r = s.Word.Arrive(5)
		s = s.Next(w, r)
	}
	w, r = s.Word.Arrive(3)
	s = s.Next(w, r)
	w, r = s.Word.ArriveExpectTx(512)
	s = s.Next(w, r)
	if got, want := s.String(), "phase 3 (parity 1): pending 1 of 5, tx 512"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

var sinkWord Word
var sinkBool bool

func BenchmarkArrive(b *testing.B) {
	w, _ := Init(4)
	for b.Loop() {
		w, _ = w.Arrive(1)
	}
	sinkWord = w
}

func BenchmarkExpectComplete(b *testing.B) {
	w, _ := Init(4)
	for b.Loop() {
		w, _ = w.ExpectTx(64)
		w, _ = w.CompleteTx(64)
	}
	sinkWord = w
}

func BenchmarkTestWaitParity(b *testing.B) {
	w, _ := Init(4)
	var p uint32
	for b.Loop() {
		sinkBool = w.TestWaitParity(p)
		p ^= 1
	}
}
