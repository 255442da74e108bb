package explore_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// drawCancels draws a program of CTAs of one thread that ask for clusters, one after the other
// or two at a time, and store what they get, and perhaps tickets, in words of their own.
func drawCancels(r *rand.Rand, most int) string {
	var b strings.Builder
	b.WriteString(`	.shared .align 16 .b8 resp[64];
	.shared .align 8 .b64 got[4];
	.reg .b128 %q1;
	mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r3, %r2, 4, 4;
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd2, %rd1, %rd2;
`)
	n, together, stops, ticket := 1+r.IntN(most), r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(4) == 0
	for i := range n {
		fmt.Fprintf(&b, "\tmbarrier.init.shared::cta.b64 [got+%d], 1;\n", 8*i)
	}
	ask := func(i int) {
		fmt.Fprintf(&b, "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [got+%d], 16;\n", 8*i)
		fmt.Fprintf(&b, "\tclusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [resp+%d], [got+%d];\n", 16*i, 8*i)
	}
	for i := range n {
		switch {
		case !together:
			ask(i)
		case i%2 == 0:
			for k := i; k < min(i+2, n); k++ {
				ask(k)
			}
		}
		fmt.Fprintf(&b, "GOT%d:\n\tmbarrier.try_wait.parity.shared::cta.b64 %%p4, [got+%d], 0;\n\t@!%%p4 bra GOT%d;\n", i, 8*i, i)
		fmt.Fprintf(&b, "\tld.shared.b128 %%q1, [resp+%d];\n\tclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %%p2, %%q1;\n", 16*i)
		fmt.Fprintf(&b, "\t@%%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %%r5, %%q1;\n\t@!%%p2 mov.u32 %%r5, 99;\n\tst.global.u32 [%%rd2+%d], %%r5;\n", 4*i)
		if stops {
			b.WriteString("\t@!%p2 bra DONE;\n")
		}
	}
	b.WriteString("DONE:\n")
	if ticket {
		b.WriteString("\tatom.relaxed.gpu.global.add.u32 %r6, [%rd1], 1;\n\tst.global.u32 [%rd2+12], %r6;\n")
	}
	return b.String()
}

// TestCancels: exploration reaches every final state, in programs whose clusters start, or are
// cancelled by others, as the schedule decides.
func TestCancels(t *testing.T) {
	const most, buffer = 4000, 32
	done, ends := 0, 0
	for seed := range uint64(34) {
		r := rand.New(rand.NewPCG(seed, 1))
		grid := 2 + uint32(r.IntN(3))
		body := drawCancels(r, int(5-grid))
		var more []machine.Launch
		if r.IntN(4) == 0 {
			grid = 2
			more = []machine.Launch{{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, bufAt+64)}}
		}
		start := buildFor(t, "sm_100a", body, grid, 1, buffer, more...)
		want := everyEnd(t, start, buffer, most)
		if want == nil {
			continue
		}
		e := &ender{t, buffer, map[string]int{}}
		cov := explore.NewSearch(&explore.Space{
			Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
			Watch: func() explore.Watcher { return e },
		}, explore.Limits{Schedules: 2000}).Run(nil)
		if !cov.Complete {
			continue
		}
		done++
		ends += len(want)
		for end := range want {
			if e.ends[end] == 0 {
				t.Errorf("program %d, %d CTAs, %d launches more: exploration of %d kinds does not come to %s, one of %d ends:\n%s", seed, grid, len(more), cov.Schedules, end, len(want), body)
				break
			}
		}
	}
	t.Logf("%d programs explored, with %d ends", done, ends)
	if done < 15 || ends < 2*done {
		t.Error("too few")
	}
}
