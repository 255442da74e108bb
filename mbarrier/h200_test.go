package mbarrier_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "muster/mbarrier"
)

// ops maps the operations' names in PTX and in the golden data to transitions.
var ops = map[string]func(Word, uint32) (Word, Result){
	"init":                   func(_ Word, n uint32) (Word, Result) { return Init(n) },
	"inval":                  func(w Word, _ uint32) (Word, Result) { return w.Inval(), Result{} },
	"arrive":                 Word.Arrive,
	"arrive.noComplete":      Word.ArriveNoComplete,
	"arrive_drop":            Word.ArriveDrop,
	"arrive_drop.noComplete": Word.ArriveDropNoComplete,
	"expect_tx":              Word.ExpectTx,
	"complete_tx":            Word.CompleteTx,
	"arrive.expect_tx":       Word.ArriveExpectTx,
	"arrive_drop.expect_tx":  Word.ArriveDropExpectTx,
	"cp.async.mbarrier.arrive": func(w Word, _ uint32) (Word, Result) {
		w, r := w.CpAsyncArrive()
		if r.Fault != NoFault {
			return w, r
		}
		return w.CpAsyncLand()
	},
	"cp.async.mbarrier.arrive.noinc": func(w Word, _ uint32) (Word, Result) { return w.CpAsyncLandNoinc() },
}

// do runs one operation of the golden data; "_" marks a sink, whose token is discarded.
func do(t *testing.T, w Word, text string) (Word, Result) {
	t.Helper()
	name, operand, _ := strings.Cut(strings.Replace(text, " _", "", 1), " ")
	arg := uint64(0)
	if operand != "" {
		var err error
		if arg, err = strconv.ParseUint(operand, 0, 64); err != nil {
			t.Fatal(err)
		}
	}
	if name == "st" {
		return Word(arg), Result{}
	}
	op, ok := ops[name]
	if !ok {
		t.Fatalf("no operation %q", name)
	}
	return op(w, uint32(arg))
}

func readProbe(t *testing.T) []map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/h200/probe.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]json.RawMessage
	for d := json.NewDecoder(z); d.More(); {
		var row map[string]json.RawMessage
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func field[T any](t *testing.T, row map[string]json.RawMessage, name string) (v T) {
	t.Helper()
	if raw, ok := row[name]; ok {
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func TestH200Probe(t *testing.T) {
	counts := map[string]int{}
	for _, row := range readProbe(t) {
		group := field[string](t, row, "group")
		counts[group]++
		switch group {
		case "token":
			replayToken(t, row)
		case "parity":
			parity := field[uint32](t, row, "parity")
			for phase, w := range bothPhases() {
				if got := w.TestWaitParity(parity); got != answer(t, row, phase) {
					t.Errorf("test_wait.parity %d in phase %d: %v", parity, phase, got)
				}
			}
		default:
			if field[int](t, row, "fault") != 0 {
				counts["fault"]++
			}
			replaySequence(t, row)
		}
	}
	if counts["fault"] < 280 || counts["tame"] < 2400 || counts["token"] == 0 || counts["parity"] == 0 || counts["cp"] == 0 {
		t.Errorf("golden data is short: %v", counts)
	}
}

func bothPhases() [2]Word {
	zero, _ := Init(3)
	one, _ := zero.Arrive(3)
	return [2]Word{zero, one}
}

func answer(t *testing.T, row map[string]json.RawMessage, phase int) bool {
	return field[int](t, row, fmt.Sprintf("phase%d", phase)) == 1
}

func replayToken(t *testing.T, row map[string]json.RawMessage) {
	token := hexToken(t, field[string](t, row, "token"))
	if got, want := token.PendingCount(), field[uint32](t, row, "count"); got != want {
		t.Errorf("pending_count %#x = %d, card %d", token, got, want)
	}
	for phase, w := range bothPhases() {
		if got := w.TestWait(token); got != answer(t, row, phase) {
			t.Errorf("test_wait %#x in phase %d: %v", token, phase, got)
		}
	}
}

func hexToken(t *testing.T, s string) Token {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return Token(v)
}

func replaySequence(t *testing.T, row map[string]json.RawMessage) {
	t.Helper()
	steps, words, tokens := field[[]string](t, row, "ops"), field[[]string](t, row, "words"), field[[]string](t, row, "tokens")
	parity, tests, pending := field[[]string](t, row, "parity"), field[[]int64](t, row, "tests"), field[[]int64](t, row, "pending")
	fault := field[int](t, row, "fault")
	// A token taken while copies may be in flight shows a racing tx-count, and pending count if an arrival
	// is in flight too; the words were taken after the copies had landed.
	race := Token(0)
	if field[string](t, row, "group") == "cp" {
		race = 0x3ff << 32
		if slices.Contains(steps, "cp.async.mbarrier.arrive.noinc") {
			race = 0xffffffff << 32
		}
	}
	var w Word
	var seen []Token
	for i, step := range steps {
		next, r := do(t, w, step)
		if faults := fault == i+1; faults != (r.Fault != NoFault) {
			t.Fatalf("%q step %d: %v, card faults at step %d", steps, i+1, r.Fault, fault)
		} else if faults {
			if next != w || r.Undefined == 0 {
				t.Errorf("%q: a fault changed the word or is called defined: %v", steps, r)
			}
			return
		}
		if got := fmt.Sprintf("%016x", uint64(next)); got != words[i] {
			t.Fatalf("%q step %d: word %s (%v), card %s", steps, i+1, got, next, words[i])
		}
		if tokens[i] != "" {
			got, want := r.Token, hexToken(t, tokens[i])
			if (got^want)&^race != 0 {
				t.Fatalf("%q step %d: token %016x, card %016x", steps, i+1, got, want)
			}
			seen = append(seen, want)
		}
		if parity != nil && !strings.HasPrefix(step, "st ") && step != "inval" {
			replayQueries(t, next, steps[:i+1], seen, parity[i], tests[i], pending[i])
		}
		w = next
	}
}

func replayQueries(t *testing.T, w Word, steps []string, seen []Token, parity string, tests, pending int64) {
	t.Helper()
	for p := range uint32(2) {
		if got, want := w.TestWaitParity(p), parity[p] == '1'; got != want {
			t.Errorf("%q: test_wait.parity %d = %v", steps, p, got)
		}
	}
	for i, token := range seen {
		if got, want := w.TestWait(token), tests>>i&1 == 1; got != want {
			t.Errorf("%q: test_wait %016x = %v", steps, token, got)
		}
	}
	if pending >= 0 && int64(seen[len(seen)-1].PendingCount()) != pending {
		t.Errorf("%q: pending_count %d, card %d", steps, seen[len(seen)-1].PendingCount(), pending)
	}
}

// TestH200Cases replays the first 42 measured sequences. The probe measured where a sequence faults: group
// "original" repeats them.
func TestH200Cases(t *testing.T) {
	f, err := os.Open("testdata/mbarrier-h200.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	for lines := bufio.NewScanner(f); lines.Scan(); cases++ {
		var c h200Case
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Case, func(t *testing.T) { c.replay(t) })
	}
	if cases != 42 {
		t.Errorf("%d cases, want 42", cases)
	}
}

type h200Step struct {
	Op              string
	Arg             uint32
	Parity0Complete *bool `json:"parity0_complete"`
	Parity1Complete *bool `json:"parity1_complete"`
	TokenComplete   *bool `json:"token_complete"`
	Token, Word     string
	PendingCount    uint32 `json:"pending_count"`
}

type h200Case struct {
	Case, Fault string
	Steps, Ops  []h200Step
}

func (c h200Case) replay(t *testing.T) {
	var w Word
	for i, s := range append(c.Steps, c.Ops...) {
		next, r := do(t, w, fmt.Sprintf("%s %d", s.Op, s.Arg))
		if r.Fault != NoFault {
			if c.Fault == "" {
				t.Errorf("step %d faults: %v", i+1, r.Fault)
			}
			return
		}
		w = next
		s.check(t, w, r)
	}
	if c.Fault != "" {
		t.Error("no fault")
	}
}

func (s h200Step) check(t *testing.T, w Word, r Result) {
	t.Helper()
	if s.Word != "" && s.Word != fmt.Sprintf("0x%016x", uint64(w)) {
		t.Errorf("%s: word %016x, card %s", s.Op, uint64(w), s.Word)
	}
	for p, want := range []*bool{s.Parity0Complete, s.Parity1Complete} {
		if want != nil && w.TestWaitParity(uint32(p)) != *want {
			t.Errorf("%s: parity %d complete is not %v", s.Op, p, *want)
		}
	}
	if s.Token == "" {
		return
	}
	if got := fmt.Sprintf("0x%016x", uint64(r.Token)); got != s.Token {
		t.Errorf("%s: token %s, card %s", s.Op, got, s.Token)
	}
	if w.TestWait(r.Token) != *s.TokenComplete || r.Token.PendingCount() != s.PendingCount {
		t.Errorf("%s: token answers %v, %d", s.Op, w.TestWait(r.Token), r.Token.PendingCount())
	}
}
