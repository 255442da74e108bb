package order_test

import (
	"fmt"
	"testing"

	"muster/internal/machine"
	"muster/internal/order"
)

// TestWidths lets one thread write and another read, write or update, at every pair
// of widths and every way in which naturally aligned locations overlap or are just
// adjacent. Overlapping ones race, as a mixed-size race where the locations differ;
// with strong operations only those do.
func TestWidths(t *testing.T) {
	widths := []int32{1, 2, 4, 8, 16}
	for _, strong := range []bool{false, true} {
		for _, wa := range widths {
			for _, wb := range widths {
				for at := uint64(64 - 16); at < 64+16+16; at += uint64(wb) {
					for _, acc := range []machine.Access{machine.Read, machine.Write} {
						name := fmt.Sprintf("strong %v: write %d at 64, %v %d at %d", strong, wa, acc, wb, at)
						tr := order.New(order.Config{Shape: machine.Shape{CTAs: 1, Warps: 2}})
						feedOne(tr, 0, machine.Write, wa, 64, strong)
						feedOne(tr, 1, acc, wb, at, strong)
						overlap := at < 64+uint64(wa) && 64 < at+uint64(wb)
						checkWidths(t, name, tr.Conflicts(), overlap && !(strong && wa == wb), wa, wb, at)
					}
				}
			}
		}
	}
}

func feedOne(tr *order.Tracker, w int32, acc machine.Access, size int32, at uint64, strong bool) {
	ev := machine.Event{Kind: machine.EvAccess, Warp: w, Mask: 1, PC: w, Access: acc, Mem: machine.SharedOf(0), Size: size, Addr: &[32]uint64{at}}
	if strong {
		ev.Sem, ev.Scope = machine.Relaxed, machine.ScopeCTA
	}
	tr.Feed(nil, &ev)
}

func checkWidths(t *testing.T, name string, found []order.Conflict, want bool, wa, wb int32, at uint64) {
	t.Helper()
	if !want {
		if len(found) != 0 {
			t.Errorf("%s: %+v", name, found)
		}
		return
	}
	if len(found) != 1 {
		t.Errorf("%s: %d conflicts, want 1", name, len(found))
		return
	}
	c := found[0]
	if mixed := c.Why&order.PartialOverlap != 0; mixed != (wa != wb) {
		t.Errorf("%s: partial overlap %v", name, mixed)
	}
	want64, n := max(at, 64), uint64(min(wa, wb))
	if c.Span.Addr != want64 || c.Span.Len != n {
		t.Errorf("%s: span %+v, want %d+%d", name, c.Span, want64, n)
	}
}

// TestFences checks the notes of fences that order something and of those that do
// not.
func TestFences(t *testing.T) {
	s := newScript(order.Config{Shape: machine.Shape{CTAs: 2, Warps: 1}})
	lines := []string{
		"c0.w0.0: st g 0",
		"c0.w0.0: fence acq_rel.gpu", // handed on
		"c0.w0.0: st g 4096 relaxed.gpu",
		"c1.w0.0: ld g 4096 relaxed.gpu",
		"c1.w0.0: fence acq_rel.gpu", // completes an acquire pattern
		"c1.w0.0: proxy",             // lets what was acquired pass
		"c1.w0.0: proxy",             // has nothing left to do
		"c1.w0.0: fence acq_rel.gpu", // nor has this
	}
	if err := s.play(lines, 0); err != nil {
		t.Fatal(err)
	}
	want := map[int32]bool{2: true, 5: true, 6: true, 7: false, 8: false}
	for _, f := range s.tr.Fences() {
		if f.Count != 1 || f.Ordered > 0 != want[f.PC] {
			t.Errorf("fence of line %d: %+v, want ordered %v", f.PC, f, want[f.PC])
		}
		delete(want, f.PC)
	}
	if len(want) != 0 {
		t.Errorf("no note of %v", want)
	}
}
