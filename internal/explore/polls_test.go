package explore_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// everyEnd goes through all states that the machine's choices lead to, and returns
// what they end with; nil if there are more than most.
func everyEnd(t testing.TB, start *machine.Machine, n, most int) map[string]int {
	ends, known := map[string]int{}, map[uint64]bool{}
	var walk func(m *machine.Machine) bool
	walk = func(m *machine.Machine) bool {
		if h := m.Hash(); known[h] {
			return true
		} else if known[h] = true; len(known) > most {
			return false
		}
		ways := m.Ways(nil)
		if len(ways) == 0 {
			ends[endOf(t, m, n)]++
		}
		for i, c := range ways {
			next := m
			if i < len(ways)-1 {
				next = m.Clone()
			}
			next.Step(c)
			if !walk(next) {
				return false
			}
		}
		return true
	}
	if !walk(start.Fork(nil, nil)) {
		return nil
	}
	return ends
}

func endOf(t testing.TB, m *machine.Machine, n int) string {
	return fmt.Sprint(words(t, m, n), m.Done())
}

// An ender is a Watcher that keeps what runs end with.
type ender struct {
	t    testing.TB
	n    int
	ends map[string]int
}

func (*ender) Observe(*machine.Machine, *machine.Event) {}
func (e *ender) End(m *machine.Machine, _ []machine.Choice) {
	e.ends[endOf(e.t, m, e.n)]++
}

// drawPolls draws a program of warps, some lanes each, that change two words to and fro,
// and wait for values of them. Each lane stores the values that it reads in words of its
// own.
func drawPolls(r *rand.Rand, warps, lanes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\tshr.u32 %%r2, %%r1, 5;\n\tand.b32 %%r3, %%r1, 31;\n\tsetp.ge.u32 %%p1, %%r3, %d;\n\t@%%p1 bra DONE;\n", lanes)
	fmt.Fprintf(&b, "\tmad.lo.u32 %%r6, %%r2, %d, %%r3;\n", lanes)
	b.WriteString("\tmul.wide.u32 %rd2, %r6, 16;\n\tadd.s64 %rd2, %rd2, %rd1;\n\tmov.u32 %r8, 9;\n\tmov.u32 %r9, 9;\n\tmov.u32 %r10, 9;\n")
	for w := range warps {
		fmt.Fprintf(&b, "\tsetp.eq.u32 %%p2, %%r2, %d;\n\t@%%p2 bra W%d;\n", w, w)
	}
	sem := func(list ...string) string { return list[r.IntN(len(list))] }
	for w := range warps {
		fmt.Fprintf(&b, "W%d:\n", w)
		for i := range 1 + r.IntN(3) {
			word, v := 4*r.IntN(2)*r.IntN(2)*r.IntN(2), r.IntN(2)
			at, to := fmt.Sprintf("[%%rd1+%d]", word), fmt.Sprintf("%%r%d", 8+i)
			switch r.IntN(12) {
			case 0, 1:
				fmt.Fprintf(&b, "\tatom.%s.gpu.global.inc.u32 %%r4, %s, %d;\n", sem("relaxed", "acq_rel", "release"), at, 1+r.IntN(2)*r.IntN(2))
			case 2, 3:
				fmt.Fprintf(&b, "\tatom.%s.gpu.global.xor.b32 %%r4, %s, 1;\n", sem("relaxed", "acq_rel"), at)
			case 4:
				fmt.Fprintf(&b, "\tatom.%s.gpu.global.add.u32 %s, %s, %d;\n", sem("relaxed", "acq_rel"), to, at, 1+v)
			case 5:
				fmt.Fprintf(&b, "\tst.%s.gpu.global.u32 %s, %d;\n", sem("relaxed", "release"), at, v)
			case 6:
				fmt.Fprintf(&b, "\tld.%s.gpu.global.u32 %s, %s;\n", sem("relaxed", "acquire"), to, at)
			case 7:
				fmt.Fprintf(&b, "\tatom.%s.gpu.global.cas.b32 %s, %s, %d, %d;\n", sem("relaxed", "acq_rel"), to, at, v, 1+r.IntN(2))
			default:
				load := fmt.Sprintf("ld.acquire.gpu.global.u32 %%r5, %s;", at)
				if r.IntN(2) == 0 {
					load = fmt.Sprintf("atom.acq_rel.gpu.global.or.b32 %%r5, %s, 0;", at)
				}
				fmt.Fprintf(&b, "L%d_%d:\n\t%s\n\tsetp.%s.u32 %%p3, %%r5, %d;\n\t@!%%p3 bra L%d_%d;\n", w, i, load, sem("eq", "eq", "ge", "ne"), v, w, i)
			}
		}
		b.WriteString("\tbra OUT;\n")
	}
	b.WriteString("OUT:\n\tst.global.u32 [%rd2+16], %r8;\n\tst.global.u32 [%rd2+20], %r9;\n\tst.global.u32 [%rd2+24], %r10;\nDONE:\n")
	return b.String()
}

// every is the numbers of n instructions.
func every(n int) []int32 {
	pcs := make([]int32, n)
	for i := range pcs {
		pcs[i] = int32(i)
	}
	return pcs
}

var (
	polls     = flag.Int("polls", 60, "how many programs TestPolls draws")
	pollsFrom = flag.Uint64("pollsfrom", 0, "the seed of TestPolls' first")
)

// TestPolls: exploration reaches every final state, in programs whose words change to
// and fro while others wait for them.
func TestPolls(t *testing.T) {
	const most, buffer = 1500, 32
	waits, done := 0, 0
	n := uint64(*polls)
	if testing.Short() {
		n = min(n, 20)
	}
	for i := range n {
		seed := *pollsFrom + i
		r := rand.New(rand.NewPCG(seed, 1))
		warps, lanes := 2+r.IntN(2), 1
		if seed%2 == 1 {
			warps, lanes = 2, 2
		}
		body := drawPolls(r, warps, lanes)
		start := build(t, body, 1, uint32(32*warps), buffer)
		if lanes > 1 {
			start.Part(every(start.Program().Len()))
		}
		want := everyEnd(t, start, buffer, most)
		if want == nil {
			continue
		}
		e := &ender{t, buffer, map[string]int{}}
		cov := explore.NewSearch(&explore.Space{
			Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
			Watch: func() explore.Watcher { return e },
		}, explore.Limits{Schedules: 20000}).Run(nil)
		if !cov.Complete {
			continue
		}
		done++
		for end := range want {
			if strings.HasSuffix(end, "false") {
				waits++
			}
			if e.ends[end] == 0 {
				t.Errorf("program %d: exploration of %d kinds does not come to %s, one of %d ends:\n%s", seed, cov.Schedules, end, len(want), body)
				break
			}
		}
	}
	t.Logf("%d programs explored, %d of their ends are stuck", done, waits)
}

// TestToggle: a wait may end before the word has gone to and fro, or after.
func TestToggle(t *testing.T) {
	const buffer = 32
	body := `
	shr.u32 %r2, %r1, 5;
	and.b32 %r3, %r1, 31;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra DONE;
	setp.eq.u32 %p2, %r2, 1;
	@%p2 bra WAITS;
	atom.acq_rel.gpu.global.xor.b32 %r4, [%rd1], 1;
	atom.acq_rel.gpu.global.xor.b32 %r4, [%rd1], 1;
	bra DONE;
WAITS:
	ld.acquire.gpu.global.u32 %r5, [%rd1];
	setp.ne.u32 %p3, %r5, 0;
	@%p3 bra WAITS;
	atom.relaxed.gpu.global.add.u32 %r6, [%rd1], 16;
	st.global.u32 [%rd1+16], %r6;
DONE:
`
	start := build(t, body, 1, 64, buffer)
	want := everyEnd(t, start, buffer, 10000)
	e := &ender{t, buffer, map[string]int{}}
	explore.NewSearch(&explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
		Watch: func() explore.Watcher { return e },
	}, explore.Limits{}).Run(nil)
	if len(want) < 2 || len(e.ends) != len(want) {
		t.Errorf("exploration comes to %d of %d ends", len(e.ends), len(want))
	}
}
