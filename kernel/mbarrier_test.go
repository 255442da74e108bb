package kernel_test

import (
	"strings"
	"testing"

	"muster/kernel"
)

// TestMbarrierText checks the instruction that each operation emits, with its
// order and scope.
func TestMbarrierText(t *testing.T) {
	k := kernel.New("text", kernel.Block(32), kernel.Clusters(2))
	bar := k.Mbarrier("bar", 32)
	k.InitMbarriers()
	tok := bar.Arrive()
	bar.Arrive(kernel.Relaxed)
	bar.Arrive(kernel.Cluster, kernel.Release)
	bar.ArriveCount(2)
	bar.ArriveNoComplete(3).Pending()
	bar.ArriveExpect(64)
	bar.ArriveDrop()
	bar.ArriveDropCount(4)
	bar.ArriveDropNoComplete(5)
	bar.ArriveDropExpect(6)
	bar.ExpectTx(7)
	bar.CompleteTx(8)
	bar.TestWait(tok)
	bar.TryWait(tok, kernel.CTA)
	bar.TestWaitParity(1, kernel.Relaxed)
	bar.WaitParity(0)
	bar.CpAsyncArrive()
	bar.CpAsyncArriveNoinc()
	far := bar.Remote(1)
	far.Arrive()
	far.Arrive(kernel.Relaxed, kernel.CTA)
	far.ArriveCount(9)
	far.ArriveExpect(10)
	far.ArriveDrop()
	far.ExpectTx(11)
	far.CompleteTx(12)
	bar.Inval()
	text, err := k.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".version 8.6",
		"mbarrier.init.shared::cta.b64 [bar], 32;",
		"fence.mbarrier_init.release.cluster;",
		"barrier.cluster.arrive.release.aligned;",
		"barrier.cluster.wait.acquire.aligned;",
		"mbarrier.arrive.release.cta.shared::cta.b64 %rd",
		"mbarrier.arrive.relaxed.cta.shared::cta.b64",
		"mbarrier.arrive.release.cluster.shared::cta.b64",
		"[bar], 2;",
		"mbarrier.arrive.noComplete.release.cta.shared::cta.b64",
		"mbarrier.pending_count.b64",
		"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64",
		"mbarrier.arrive_drop.release.cta.shared::cta.b64",
		"mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64",
		"mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64",
		"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 7;",
		"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;",
		"mbarrier.test_wait.acquire.cluster.shared::cta.b64",
		"mbarrier.try_wait.acquire.cta.shared::cta.b64",
		"mbarrier.test_wait.parity.relaxed.cluster.shared::cta.b64",
		"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64",
		"cp.async.mbarrier.arrive.shared::cta.b64 [bar];",
		"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];",
		"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r",
		"mbarrier.arrive.relaxed.cta.shared::cluster.b64 _, [%r",
		"], 9;",
		"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r",
		"mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r",
		"mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r",
		"mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r",
		"mbarrier.inval.shared::cta.b64 [bar];",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestMbarrierDescribes checks names and counts.
func TestMbarrierDescribes(t *testing.T) {
	k := kernel.New("names", kernel.Block(32), kernel.Clusters(2))
	one, many := k.Mbarrier("one", 3), k.Mbarriers("many", 4, 5)
	k.InitMbarriers()
	got := []string{one.String(), many.String(), many.At(2).String(), many.At(k.LaneID().And(3)).String(), one.Remote(1).String()}
	if want := "one many many[2] many one of another CTA"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", strings.Join(got, " "), want)
	}
	if one.Count() != 3 || many.Count() != 5 || one.Len() != 1 || many.Len() != 4 || many.At(1).Len() != 1 {
		t.Error(one.Count(), many.Count(), one.Len(), many.Len(), many.At(1).Len())
	}
	if p := many.At(2).Ptr(); p.Space() != kernel.SharedCTA || p.Elem() != kernel.B64 || len(p.Dims()) != 0 {
		t.Error(p.Space(), p.Elem(), p.Dims())
	}
}

// TestTwoInits: a program may initialize its barriers in two steps.
func TestTwoInits(t *testing.T) {
	k := kernel.New("two", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	word := k.Shared("word", kernel.U32)
	a := k.Mbarrier("a", 1)
	k.InitMbarriers(a)
	b := k.Mbarriers("b", 3, 64)
	k.InitMbarriers(b.At(1))
	k.InitMbarriers()
	k.SingleThread(func() {
		word.Store(5)
		a.Arrive()
	})
	a.WaitParity(0)
	out.At(k.TidX()).Store(word.Load())
	for i := range 3 {
		b.At(i).Wait(b.At(i).Arrive())
	}
	call, err := k.Call(kernel.Grid(1), make([]uint32, 64))
	if err != nil {
		t.Fatal(err)
	}
	if r := check(t, call); r.Verdict != "clean" || !r.Proof.All {
		t.Error(r.Summary)
	}
	text, _ := k.Text()
	if n := strings.Count(text, "mbarrier.init"); n != 4 {
		t.Errorf("%d inits, want 4:\n%s", n, text)
	}
}

// TestWrongParity waits for the wrong phase. A builder cannot detect that; the
// machine reports it at the line.
func TestWrongParity(t *testing.T) {
	k := kernel.New("wrong", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	word := k.Shared("word", kernel.U32)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers()
	k.SingleThread(func() {
		word.Store(5)
		bar.Arrive()
	})
	bar.WaitParity(1)
	out.At(k.TidX()).Store(word.Load()) // too soon
	call, err := k.Call(kernel.Grid(1), make([]uint32, 64))
	if err != nil {
		t.Fatal(err)
	}
	r := check(t, call)
	line := lineOf(t, "mbarrier_test.go", "// too soon")
	for _, f := range r.Findings {
		if f.Severity == "error" && names(f, "mbarrier_test.go", line) {
			return
		}
	}
	t.Errorf("no finding names line %d: %s %+v", line, r.Summary, r.Findings)
}

// swap returns a call with two CTAs that write to each other's memory and arrive
// there. mods are the modifiers of the waits.
func swap(t *testing.T, mods ...kernel.Mod) (*kernel.Call, string) {
	k := kernel.New("swap", kernel.Block(64), kernel.Clusters(2))
	out := k.GlobalPtr("out", kernel.U32)
	words := k.Shared("words", kernel.U32, 64)
	far, own := k.Mbarrier("far", 32), k.Mbarrier("own", 64)
	k.InitMbarriers()
	i := k.TidX()
	peer := k.ClusterRank().Xor(1)
	k.SingleWarp(1, func() {
		far.WaitParity(0, mods...) // before the kernel says who arrives
		out.At(peer.Mad(64, i)).Store(words.At(i.Xor(63)).Load())
	})
	k.SingleWarp(0, func() {
		words.Remote(peer).At(i).Store(i)
		far.Remote(peer).Arrive()
	})
	own.Wait(own.Arrive())
	k.ClusterSync()
	text, err := k.Text()
	if err != nil {
		t.Fatal(err)
	}
	call, err := k.Call(kernel.Grid(2), make([]uint32, 128))
	if err != nil {
		t.Fatal(err)
	}
	return call, text
}

// TestScope: a wait without a scope has cluster scope if other CTAs arrive, and
// CTA scope if only its own threads do; an explicit scope that is too narrow is
// found.
func TestScope(t *testing.T) {
	call, text := swap(t)
	for op, n := range map[string]int{
		"try_wait.parity.acquire.cluster.": 1, "try_wait.parity.acquire.cta.": 0,
		"try_wait.acquire.cta.": 1, "try_wait.acquire.cluster.": 0,
	} {
		if strings.Count(text, op) != n {
			t.Errorf("%s %d times, want %d", op, strings.Count(text, op), n)
		}
	}
	if r := check(t, call); r.Verdict != "clean" || !r.Proof.All || len(r.Findings) > 0 {
		t.Error(r.Summary, r.Findings)
	}
	call, _ = swap(t, kernel.CTA)
	r := check(t, call)
	for _, f := range r.Findings {
		if f.Kind == "scope-too-narrow" && f.Severity == "error" {
			return
		}
	}
	t.Errorf("%s: %v", r.Summary, r.Findings)
}
