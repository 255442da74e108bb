package muster

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"muster/internal/explore"
	"muster/internal/order"
	"muster/internal/prove"
	"muster/internal/trial"
	"muster/launch"
)

// hiddenPair meets in order at the first word, where a barrier stands between, and in no order
// at the second, where another load by the same thread stands between: of a thread's loads the
// last is kept.
const hiddenPair = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	setp.eq.u32 %p2, %r1, 32;
	mov.u32 %r2, 0;
LOOP:
	setp.eq.u32 %p3, %r2, 1;
	and.pred %p4, %p1, %p3;
	@%p1 ld.relaxed.gpu.global.u32 %r3, [%rd1];
	@%p4 ld.relaxed.gpu.global.u32 %r4, [%rd1];
	@%p3 bra SECOND;
	bar.sync 0;
SECOND:
	@%p2 st.relaxed.gpu.global.u32 [%rd1], %r2;
	add.s64 %rd1, %rd1, 4;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p5, %r2, 2;
	@%p5 bra LOOP;
	ret;
}
`

// strongWrites has words that barriers order and one that they do not, and no value that
// decides anything.
const strongWrites = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
	.shared .align 4 .b8 s[512];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, s;
	shl.b32 %r3, %r1, 2;
	add.u32 %r4, %r2, %r3;
	st.shared.u32 [%r4], %r1;
	bar.sync 0;
	xor.b32 %r5, %r3, 508;
	add.u32 %r5, %r5, %r2;
	ld.shared.u32 %r6, [%r5];
	bar.sync 0;
	st.shared.u32 [%r4], %r6;
	and.b32 %r7, %r1, 31;
	setp.ne.u32 %p1, %r7, 0;
	@%p1 bra DONE;
	red.relaxed.gpu.global.add.u32 [%rd1], 1;
	st.relaxed.gpu.global.u32 [%rd1], %r1;
DONE:
	ret;
}
`

func launchOf(t *testing.T, text, block string) *Launch {
	t.Helper()
	name := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := launch.FromFlags(launch.Flags{PTX: name, Grid: "1", Block: block, Buffers: []string{"out=u32[64]:zeros"}, Args: []string{"out"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := LoadFile(f, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func pairsOf(t *testing.T, l *Launch, s trial.Schedule) *order.Pairs {
	t.Helper()
	p, _, ended := prove.Pairs(l.subject, l.subject.Budget(context.Background()), s, enoughWatched, false)
	if !ended {
		t.Fatalf("%v does not come to its end", s)
	}
	return p
}

// TestHiddenPair: a pair that is in no order somewhere is open, though what was noted of it is
// in order, whichever of the two comes first.
func TestHiddenPair(t *testing.T) {
	l := launchOf(t, hiddenPair, "64")
	for _, s := range []trial.Schedule{trial.ProofSchedule, {}, {Policy: explore.Random, Seed: 1}, {Policy: explore.Random, Seed: 2}, {Policy: explore.Random, Seed: 3}} {
		p := pairsOf(t, l, s)
		for pair := range p.Met {
			if !p.Open[pair] {
				t.Errorf("%v: %s and %s are not open", s, l.subject.NameAt(pair[0]), l.subject.NameAt(pair[1]))
			}
		}
		if len(p.Met) == 0 {
			t.Errorf("%v: nothing met", s)
		}
	}
}

// TestOrderedInEverySchedule: where a report says that pairs are ordered in every schedule, no
// other schedule shows one of them open, and none that the report does not have.
func TestOrderedInEverySchedule(t *testing.T) {
	l := launchOf(t, strongWrites, "128")
	r, err := l.Check(context.Background(), CheckOptions{Explore: ExploreOptions{Schedules: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Decided; d == nil || !d.EverySchedule || d.Ordered != 2 || d.Pairs-d.Ordered != len(d.Open) {
		t.Fatalf("%s: %+v", r.Summary, r.Decided)
	}
	known := pairsOf(t, l, trial.ProofSchedule)
	for seed := range uint64(100) {
		p := pairsOf(t, l, trial.Schedule{Policy: explore.Random, Seed: seed})
		for pair := range p.Met {
			if !known.Met[pair] || p.Open[pair] && !known.Open[pair] {
				t.Fatalf("random:%d: %s and %s, open: %v", seed, l.subject.NameAt(pair[0]), l.subject.NameAt(pair[1]), p.Open[pair])
			}
		}
	}
}

// TestNotEverySchedule: where a value that an access gives decides an address, no more is said
// than of the schedules that were watched.
func TestNotEverySchedule(t *testing.T) {
	text := `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	and.b32 %r7, %r1, 31;
	setp.ne.u32 %p1, %r7, 0;
	@%p1 bra DONE;
	atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1;
	shr.u32 %r4, %r1, 5;
	and.b32 %r4, %r4, 1;
	mad.lo.u32 %r3, %r3, 2, %r4; // not by the ticket alone
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3+4], %r1;
DONE:
	ret;
}
`
	r, err := launchOf(t, text, "192").Check(context.Background(), CheckOptions{Explore: ExploreOptions{Schedules: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Decided; d == nil || d.EverySchedule || d.Schedules != maxWatched || d.Pairs != 1 || d.Ordered != 0 {
		t.Fatalf("%s: %+v", r.Summary, r.Decided)
	}
}
