package explore_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/ptx"
)

const bufAt = 0x7f00_0000_0000

// build makes a machine of a kernel whose only parameter is a buffer of words,
// which counts up from 0.
func build(t testing.TB, body string, grid, block uint32, words int) *machine.Machine {
	t.Helper()
	return buildFor(t, "sm_90a", body, grid, block, words)
}

func buildFor(t testing.TB, target, body string, grid, block uint32, words int, more ...machine.Launch) *machine.Machine {
	t.Helper()
	text := ".version 8.7\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 buf)\n{\n" +
		"\t.reg .pred %p<8>;\n\t.reg .b32 %r<16>;\n\t.reg .b64 %rd<16>;\n\tld.param.u64 %rd1, [buf];\n\tmov.u32 %r1, %tid.x;\n" + body + "\tret;\n}\n"
	mod, err := ptx.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4*words)
	for i := range words {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(i))
	}
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{grid, 1, 1}, Block: [3]uint32{block, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, bufAt),
		Buffers:   []machine.Buffer{{Name: "buf", Base: bufAt, Size: uint64(len(data)), Data: data, Init: true}},
		MaxInstrs: 1 << 22, More: more,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func words(t testing.TB, m *machine.Machine, n int) []uint32 {
	t.Helper()
	b := make([]byte, 4*n)
	if !m.ReadGlobal(bufAt, b) {
		t.Fatal("the buffer cannot be read")
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func finish(t testing.TB, m *machine.Machine, s explore.Schedule) {
	t.Helper()
	if !explore.Run(m, s, nil) || !m.Done() {
		t.Fatalf("%v: did not come to its end: %+v", s, m.Stopped())
	}
}

// tickets: each warp takes a ticket and stores it: the order of the warps.
const tickets = `
	and.b32 %r2, %r1, 31;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra DONE;
	atom.global.add.u32 %r3, [%rd1], 1;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %ntid.x;
	mad.lo.u32 %r4, %r4, %r5, %r1;
	shr.u32 %r4, %r4, 5;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd2, %rd2, %rd1;
	st.global.u32 [%rd2+4], %r3;
DONE:
`

// stale: a thread reads what a bulk copy brings without waiting for it, and
// only then waits.
const stale = `
	.shared .align 16 .b8 tile[16];
	.shared .align 8 .b64 bar;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra DONE;
	mbarrier.init.shared.b64 [bar], 1;
	st.shared.u32 [tile+4], 77;
	fence.proxy.async.shared::cta;
	mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 16;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 16, [bar];
	ld.shared.u32 %r2, [tile+4];
WAIT:
	mbarrier.try_wait.shared.b64 %p2, [bar], %rd3;
	@!%p2 bra WAIT;
	st.global.u32 [%rd1+16], %r2;
DONE:
`

func TestExtremesOfAsynchrony(t *testing.T) {
	for _, c := range []struct {
		policy explore.Policy
		want   uint32
	}{{explore.Earliest, 1}, {explore.Latest, 77}} {
		m := build(t, stale, 1, 32, 8)
		finish(t, m, explore.Schedule{Policy: c.policy})
		if got := words(t, m, 8)[4]; got != c.want {
			t.Errorf("%v: the unwaited read saw %d, want %d", c.policy, got, c.want)
		}
	}
}

func TestSameScheduleSameRun(t *testing.T) {
	for _, s := range explore.Handful(6) {
		a, b := build(t, tickets, 3, 128, 16), build(t, tickets, 3, 128, 16)
		finish(t, a, s)
		finish(t, b, s)
		ia, la := a.Instrs()
		ib, lb := b.Instrs()
		if x, y := words(t, a, 16), words(t, b, 16); !slices.Equal(x, y) || ia != ib || la != lb {
			t.Errorf("%v: %v and %v", s, x, y)
		}
	}
}

// TestSeedsDiffer: random schedules with different seeds order warps differently.
func TestSeedsDiffer(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		m := build(t, tickets, 3, 128, 16)
		finish(t, m, explore.Schedule{Policy: explore.Random, Seed: seed})
		w := words(t, m, 16)
		if w[0] != 12 {
			t.Fatalf("seed %d: %d tickets, want 12", seed, w[0])
		}
		orders[fmt.Sprint(w[1:13])] = true
	}
	if len(orders) < 15 {
		t.Errorf("20 seeds made %d orders of 12 warps", len(orders))
	}
}

// TestRoundRobinIsFair: a warp that counts up to a large number does not delay the
// first step of another. Latest runs it to its end.
func TestRoundRobinIsFair(t *testing.T) {
	const race = `
	shr.u32 %r2, %r1, 5;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra SECOND;
	mov.u32 %r3, 0;
LOOP:
	ld.volatile.global.u32 %r4, [%rd1+8];
	st.volatile.global.u32 [%rd1+4], %r3;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p2, %r3, 1000;
	@%p2 bra LOOP;
	bra DONE;
SECOND:
	ld.volatile.global.u32 %r5, [%rd1+4];
	st.volatile.global.u32 [%rd1+12], %r5;
DONE:
`
	m := build(t, race, 1, 64, 4)
	finish(t, m, explore.Schedule{Policy: explore.RoundRobin})
	if got := words(t, m, 4)[3]; got > 2 {
		t.Errorf("the other warp came after %d rounds of the first", got)
	}
	m = build(t, race, 1, 64, 4)
	finish(t, m, explore.Schedule{Policy: explore.Latest})
	if got := words(t, m, 4)[3]; got != 999 {
		t.Errorf("latest: the other warp saw %d; a split runs for as long as it can", got)
	}
}

// TestPollingDoesNotStarve: a loop that polls in a way that is not recognized as
// waiting (it counts) must let the other warp reach its store, under every policy.
func TestPollingDoesNotStarve(t *testing.T) {
	const poll = `
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra SECOND;
LOOP:
	atom.global.add.u32 %r3, [%rd1+8], 1;
	ld.volatile.global.u32 %r4, [%rd1+12];
	setp.eq.u32 %p2, %r4, 3;
	@%p2 bra LOOP;
	bra DONE;
SECOND:
	st.volatile.global.u32 [%rd1+12], 42;
DONE:
`
	for _, s := range explore.Handful(3) {
		finish(t, build(t, poll, 1, 64, 4), s)
	}
}

func TestStop(t *testing.T) {
	const forever = `
LOOP:
	add.u32 %r1, %r1, 1;
	st.volatile.global.u32 [%rd1], %r1;
	bra LOOP;
`
	for _, s := range explore.Handful(1) {
		m, asked := build(t, forever, 1, 32, 4), 0
		if explore.Run(m, s, func() bool { asked++; return asked == 3 }) {
			t.Errorf("%v: ran to its end, which it does not have", s)
		}
		if asked != 3 {
			t.Errorf("%v: asked %d times", s, asked)
		}
	}
}

// TestMilestoneStops: a milestone may fault, which ends the run, whatever else is
// under way: here an arrival at a barrier that was never initialized.
func TestMilestoneStops(t *testing.T) {
	const unready = `
	.shared .align 8 .b64 bar;
	.shared .align 16 .b8 tile[512];
	mov.u32 %r2, tile;
	shl.b32 %r3, %r1, 2;
	add.u32 %r2, %r2, %r3;
	cp.async.ca.shared.global [%r2], [%rd1], 4;
	cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
`
	for _, s := range explore.Handful(2) {
		m := build(t, unready, 1, 32, 4)
		if !explore.Run(m, s, nil) || m.Done() || m.Stopped() == nil {
			t.Errorf("%v: it came to its end", s)
		}
	}
}

// TestPrefix: a prefix of choices is taken literally, and the policy goes on from
// there.
func TestPrefix(t *testing.T) {
	s, err := explore.Parse("s0,r0.3.0,r0.1.0/earliest")
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, tickets, 1, 128, 8)
	finish(t, m, s)
	if w := words(t, m, 5); w[4] != 0 || w[2] != 1 || w[1]+w[3] != 5 {
		t.Errorf("tickets %v; want warp 3 first, then 1, then the others", w[1:])
	}
}

func TestScheduleText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := explore.Schedule{Policy: explore.Policy(rapid.IntRange(0, 3).Draw(t, "policy"))}
		if s.Policy == explore.Random {
			s.Seed = rapid.Uint64().Draw(t, "seed")
		}
		small := rapid.Int32Range(0, 1<<22)
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			c := machine.Choice{Kind: rapid.SampledFrom([]machine.ChoiceKind{machine.Run, machine.GiveUp, machine.Alone, machine.Milestone, machine.Refuse, machine.Start, machine.Prefer}).Draw(t, "kind")}
			switch c.Kind {
			case machine.Milestone, machine.Refuse:
				c.Op = int64(small.Draw(t, "op"))
			case machine.Prefer:
				c.CTA = rapid.Int32Range(-1, 1<<22).Draw(t, "cta")
			case machine.Start:
				c.CTA = small.Draw(t, "cta")
			default:
				c.CTA, c.Warp, c.Lane = small.Draw(t, "cta"), int32(rapid.IntRange(0, 31).Draw(t, "warp")), int8(rapid.IntRange(0, 31).Draw(t, "lane"))
			}
			for range rapid.IntRange(1, 4).Draw(t, "times") {
				s.Prefix = append(s.Prefix, c)
			}
		}
		got, err := explore.Parse(s.String())
		if err != nil || got.String() != s.String() || got.Policy != s.Policy || got.Seed != s.Seed || !slices.Equal(got.Prefix, s.Prefix) {
			t.Fatalf("%v came back as %v, %v", s, got, err)
		}
	})
}

func TestBadScheduleText(t *testing.T) {
	for _, text := range []string{"", "sooner", "random", "random:", "random:-1", "random:1e3", "earliest:1", "/earliest", "x/earliest", "r1/latest", "m/latest", "r0.0.0,/latest", "r0.0.0", "m1 /latest", "s-/latest", "n/latest", "c-1/latest", "cx/latest",
		"m1*/latest", "m1*0/latest", "m1*-1/latest", "m1*01/latest", "m1*2*2/latest", "*2/latest", "m1*9999999999/latest", "m1*4194304,m2/latest"} {
		if s, err := explore.Parse(text); err == nil {
			t.Errorf("%q is taken as %v", text, s)
		}
	}
}

func TestHandful(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range explore.Handful(4) {
		seen[s.String()] = true
	}
	if len(seen) != 7 {
		t.Errorf("a handful of %d different schedules, want 7", len(seen))
	}
}
